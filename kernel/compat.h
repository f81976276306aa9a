/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The one place that knows kernel versions.  Force-included into every file
 * of the modules (see kernel/Kbuild.include).  Core files are written against
 * Linux 6.1; what moved later is mapped here.  MXE_HAVE_* come from
 * kernel/probe.sh, since stable kernels move APIs without a version change.
 */
#ifndef MXE_COMPAT_H
#define MXE_COMPAT_H

#include <linux/version.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 1, 0)
#error "mxe needs Linux 6.1 or newer"
#endif

#ifndef CONFIG_64BIT
#error "mxe needs a 64-bit kernel: its atomics work on the kernel's linear map"
#endif

#include <linux/hrtimer.h>
#include <linux/timer.h>
#include <rdma/ib_verbs.h>
#include <rdma/uverbs_ioctl.h>

/* 6.12 moved it. */
#ifdef MXE_HAVE_LINUX_UNALIGNED
#include <linux/unaligned.h>
#else
#include <asm/unaligned.h>
#endif

/* 6.2 renamed del_timer(), 6.16 from_timer(). */
#ifndef timer_container_of
#define timer_container_of(var, timer, field) from_timer(var, timer, field)
#endif

/* 6.13 sets a timer and its function up in one. */
static inline void mxe_hrtimer_setup(struct hrtimer *timer,
				     enum hrtimer_restart (*function)(struct hrtimer *),
				     clockid_t clock, enum hrtimer_mode mode)
{
#ifdef MXE_HAVE_HRTIMER_SETUP
	hrtimer_setup(timer, function, clock, mode);
#else
	hrtimer_init(timer, clock, mode);
	timer->function = function;
#endif
}

/* 6.12 lost the mask of the bits that routing looks at, 6.18 the field. */
#ifdef MXE_HAVE_FLOWI4_DSCP
#define mxe_flowi4_set_tos(fl4, tos) \
	((fl4)->flowi4_dscp = inet_dsfield_to_dscp(tos))
#elif defined(MXE_HAVE_IPTOS_RT_MASK)
#define mxe_flowi4_set_tos(fl4, tos) \
	((fl4)->flowi4_tos = (tos) & IPTOS_RT_MASK)
#else
#define mxe_flowi4_set_tos(fl4, tos) \
	((fl4)->flowi4_tos = (tos) & INET_DSCP_MASK)
#endif

/* 7.x always has IPv6 in the kernel itself, so there are no stubs for it. */
#ifdef MXE_HAVE_IPV6_STUBS
#include <net/ipv6_stubs.h>
#define mxe_ip6_dst_lookup(net, sk, fl6) \
	ipv6_stub->ipv6_dst_lookup_flow(net, sk, fl6, NULL)
#else
#define mxe_ip6_dst_lookup(net, sk, fl6) \
	ip6_dst_lookup_flow(net, sk, fl6, NULL)
#endif

/* 7.x takes struct sock for the tunnels. */
#ifdef MXE_HAVE_UDP_TUNNEL_SK
#define mxe_udp_tunnel_sock_setup(net, sock, cfg) \
	setup_udp_tunnel_sock(net, (sock)->sk, cfg)
#define mxe_udp_tunnel_sock_release(sock) udp_tunnel_sock_release((sock)->sk)
#else
#define mxe_udp_tunnel_sock_setup(net, sock, cfg) \
	setup_udp_tunnel_sock(net, sock, cfg)
#define mxe_udp_tunnel_sock_release(sock) udp_tunnel_sock_release(sock)
#endif

/* 7.3 renamed ib_umem_get(). */
#ifdef MXE_HAVE_UMEM_GET_VA
#define mxe_umem_get(ibdev, addr, size, access) \
	ib_umem_get_va(ibdev, addr, size, access)
#else
#define mxe_umem_get(ibdev, addr, size, access) \
	ib_umem_get(ibdev, addr, size, access)
#endif

/* 6.3 made vm_flags read-only. */
#ifdef MXE_HAVE_VM_FLAGS_SET
#define mxe_vm_flags_set(vma, flags) vm_flags_set(vma, flags)
#else
#define mxe_vm_flags_set(vma, flags) ((vma)->vm_flags |= (flags))
#endif

/* 6.11 gives create_cq() all attributes; those of a process have its udata. */
#ifdef MXE_HAVE_CREATE_CQ_ATTRS
int mxe_create_cq(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr,
		  struct ib_udata *udata);

static inline int mxe_op_create_cq(struct ib_cq *ibcq,
				   const struct ib_cq_init_attr *attr,
				   struct uverbs_attr_bundle *attrs)
{
	return mxe_create_cq(ibcq, attr, attrs ? &attrs->driver_udata : NULL);
}
#else
#define mxe_op_create_cq mxe_create_cq
#endif

/* 6.18 lets a process give a DMA handle, which we have no use for. */
#ifdef MXE_HAVE_REG_USER_MR_DMAH
struct ib_mr *mxe_reg_user_mr(struct ib_pd *pd, u64 start, u64 length,
			      u64 iova, int access, struct ib_udata *udata);

static inline struct ib_mr *mxe_op_reg_user_mr(struct ib_pd *pd, u64 start,
					       u64 length, u64 iova, int access,
					       struct ib_dmah *dmah,
					       struct ib_udata *udata)
{
	if (dmah)
		return ERR_PTR(-EOPNOTSUPP);
	return mxe_reg_user_mr(pd, start, length, iova, access, udata);
}
#else
#define mxe_op_reg_user_mr mxe_reg_user_mr
#endif

/* Later kernels resize completion queues of processes only (found in 7.3). */
#ifdef MXE_HAVE_RESIZE_USER_CQ
#define mxe_ops_resize_cq resize_user_cq
#define mxe_op_resize_cq mxe_resize_cq
#else
#define mxe_ops_resize_cq resize_cq
int mxe_resize_cq(struct ib_cq *ibcq, unsigned int cqe, struct ib_udata *udata);

static inline int mxe_op_resize_cq(struct ib_cq *ibcq, int cqe,
				   struct ib_udata *udata)
{
	/* A negative number is more than there may be. */
	return mxe_resize_cq(ibcq, cqe, udata);
}
#endif

/* 6.18 reports the state of a port's netdev unless the driver says it does. */
#ifdef MXE_HAVE_REPORT_PORT_EVENT
#define mxe_core_reports_ports() true
#else
#define mxe_core_reports_ports() false
#endif

/*
 * With `rdma system set netns exclusive` a device belongs to one namespace:
 * that of its netdev.  Before 6.17 (ib_alloc_device_with_net()) the core puts
 * every new one into the initial namespace; a driver can change that until it
 * registers the device.
 */
static inline void mxe_device_set_netns(struct ib_device *ibdev,
					struct net *net)
{
	if (!rdma_dev_access_netns(ibdev, net))
		write_pnet(&ibdev->coredev.rdma_net, net);
}

#endif /* MXE_COMPAT_H */
