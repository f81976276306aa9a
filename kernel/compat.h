/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The only file that depends on the kernel version. It is force-included into
 * every file of the modules (see kernel/Kbuild.include). The other files are
 * written for Linux 6.1, and this file maps the API changes of later kernels.
 * kernel/probe.sh defines MXE_HAVE_*, because stable kernels may change APIs
 * without a change of the version code.
 */
#ifndef MXE_COMPAT_H
#define MXE_COMPAT_H

#include <linux/version.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 1, 0)
#error "mxe needs Linux 6.1 or newer"
#endif

#ifndef CONFIG_64BIT
#error "mxe needs a 64-bit kernel: it reaches all memory without mapping it"
#endif

#include <linux/hrtimer.h>
#include <linux/timer.h>
#include <rdma/ib_verbs.h>
#include <rdma/mxe-abi.h>
#include <rdma/uverbs_ioctl.h>

/* Linux 6.12 moved the header. */
#ifdef MXE_HAVE_LINUX_UNALIGNED
#include <linux/unaligned.h>
#else
#include <asm/unaligned.h>
#endif

/* Linux 7.x, and stable kernels, moved the block iterator of an ib_umem. */
#ifdef MXE_HAVE_RDMA_ITER
#include <rdma/iter.h>
#endif

/* Linux 6.16 renamed from_timer(). */
#ifndef timer_container_of
#define timer_container_of(var, timer, field) from_timer(var, timer, field)
#endif

/* Linux 6.13 sets up a timer and its function in one call. */
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

/*
 * Since Linux 6.14 crc32_le() uses the CPU instructions that only the crypto
 * API used before.
 */
#ifdef MXE_HAVE_CRC32_OPTIMIZATIONS
#define mxe_crc32_le_is_fast() true
#else
#define mxe_crc32_le_is_fast() false
#endif

/* Linux 6.12 removed IPTOS_RT_MASK, and Linux 6.18 flowi4_tos. */
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

/* Linux 6.1 does not define this exemption from stack initialisation. */
#ifndef __uninitialized
#if __has_attribute(__uninitialized__)
#define __uninitialized __attribute__((__uninitialized__))
#else
#define __uninitialized
#endif
#endif

/*
 * Linux 6.2 defines FLUSH and ATOMIC WRITE. The module executes them on any
 * kernel, but the device reports them only if the kernel defines them.
 */
#ifdef MXE_HAVE_PLACEMENT
#define MXE_DEVICE_FLUSH IB_DEVICE_FLUSH_GLOBAL
#define MXE_DEVICE_PLACEMENT (MXE_DEVICE_FLUSH | IB_DEVICE_ATOMIC_WRITE)
#else
#define MXE_DEVICE_FLUSH 0
#define MXE_DEVICE_PLACEMENT 0
#define IB_WR_FLUSH ((enum ib_wr_opcode)MXE_WR_FLUSH)
#define IB_WR_ATOMIC_WRITE ((enum ib_wr_opcode)MXE_WR_ATOMIC_WRITE)
#define IB_WC_FLUSH ((enum ib_wc_opcode)MXE_WC_FLUSH)
#define IB_WC_ATOMIC_WRITE ((enum ib_wc_opcode)MXE_WC_ATOMIC_WRITE)
#define IB_FLUSH_GLOBAL BIT(0)
#define IB_FLUSH_RANGE 0
#define IB_FLUSH_MR 1
#define IB_ACCESS_FLUSH_GLOBAL BIT(8)
#define IB_ACCESS_FLUSH_PERSISTENT BIT(9)
#endif

/* Linux 6.6 renamed the tc hooks of a netdev. */
#if defined(MXE_HAVE_TCX) && defined(CONFIG_NET_XGRESS)
#define mxe_tc_hooks(ndev)						\
	((unsigned long)rcu_access_pointer((ndev)->tcx_ingress) |	\
	 (unsigned long)rcu_access_pointer((ndev)->tcx_egress))
#elif !defined(MXE_HAVE_TCX) && defined(CONFIG_NET_CLS_ACT)
#define mxe_tc_hooks(ndev)						\
	((unsigned long)rcu_access_pointer((ndev)->miniq_ingress) |	\
	 (unsigned long)rcu_access_pointer((ndev)->miniq_egress))
#else
#define mxe_tc_hooks(ndev) ((void)(ndev), 0UL)
#endif

/* Since Linux 6.17 the former default WQ_PERCPU must be explicit. */
#ifdef MXE_HAVE_WQ_PERCPU
#define MXE_WQ_PERCPU WQ_PERCPU
#else
#define MXE_WQ_PERCPU 0
#endif

/* Since Linux 7.x IPv6 is always built in and needs no stubs. */
#ifdef MXE_HAVE_IPV6_STUBS
#include <net/ipv6_stubs.h>
#define mxe_ip6_dst_lookup(net, sk, fl6) \
	ipv6_stub->ipv6_dst_lookup_flow(net, sk, fl6, NULL)
#else
#define mxe_ip6_dst_lookup(net, sk, fl6) \
	ip6_dst_lookup_flow(net, sk, fl6, NULL)
#endif

/* Since Linux 7.x the UDP tunnel functions take a struct sock. */
#ifdef MXE_HAVE_UDP_TUNNEL_SK
#define mxe_udp_tunnel_sock_setup(net, sock, cfg) \
	setup_udp_tunnel_sock(net, (sock)->sk, cfg)
#define mxe_udp_tunnel_sock_release(sock) udp_tunnel_sock_release((sock)->sk)
#else
#define mxe_udp_tunnel_sock_setup(net, sock, cfg) \
	setup_udp_tunnel_sock(net, sock, cfg)
#define mxe_udp_tunnel_sock_release(sock) udp_tunnel_sock_release(sock)
#endif

/* Linux 7.3 renamed ib_umem_get(). */
#ifdef MXE_HAVE_UMEM_GET_VA
#define mxe_umem_get(ibdev, addr, size, access) \
	ib_umem_get_va(ibdev, addr, size, access)
#else
#define mxe_umem_get(ibdev, addr, size, access) \
	ib_umem_get(ibdev, addr, size, access)
#endif

/* Linux 6.3 made vm_flags read-only. */
#ifdef MXE_HAVE_VM_FLAGS_SET
#define mxe_vm_flags_set(vma, flags) vm_flags_set(vma, flags)
#else
#define mxe_vm_flags_set(vma, flags) ((vma)->vm_flags |= (flags))
#endif

/*
 * Since Linux 6.11 create_cq() gets all attributes instead of the udata. They
 * are NULL for kernel consumers.
 */
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

/* Linux 6.18 added a DMA handle, which mxe does not support. */
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

/* Linux 6.12 replaced the udata by all attributes. Linux 6.18 added dmah. */
#ifdef MXE_HAVE_REG_DMABUF_ATTRS
struct ib_mr *mxe_reg_user_mr_dmabuf(struct ib_pd *pd, u64 offset, u64 length,
				     u64 iova, int fd, int access,
				     struct ib_udata *udata);

static inline struct ib_mr *
mxe_op_reg_user_mr_dmabuf(struct ib_pd *pd, u64 offset, u64 length, u64 iova,
			  int fd, int access,
#ifdef MXE_HAVE_REG_USER_MR_DMAH
			  struct ib_dmah *dmah,
#endif
			  struct uverbs_attr_bundle *attrs)
{
#ifdef MXE_HAVE_REG_USER_MR_DMAH
	if (dmah)
		return ERR_PTR(-EOPNOTSUPP);
#endif
	return mxe_reg_user_mr_dmabuf(pd, offset, length, iova, fd, access,
				      &attrs->driver_udata);
}
#else
#define mxe_op_reg_user_mr_dmabuf mxe_reg_user_mr_dmabuf
#endif

/*
 * Linux 6.2 added variants for callers that do not hold the reservation lock of
 * the buffer. mxe does not hold it.
 */
#ifdef MXE_HAVE_DMA_BUF_VMAP_UNLOCKED
#define mxe_dma_buf_vmap(buf, map) dma_buf_vmap_unlocked(buf, map)
#define mxe_dma_buf_vunmap(buf, map) dma_buf_vunmap_unlocked(buf, map)
#else
#define mxe_dma_buf_vmap(buf, map) dma_buf_vmap(buf, map)
#define mxe_dma_buf_vunmap(buf, map) dma_buf_vunmap(buf, map)
#endif

/* In later kernels, e.g. Linux 7.3, only CQs of processes can be resized. */
#ifdef MXE_HAVE_RESIZE_USER_CQ
#define mxe_ops_resize_cq resize_user_cq
#define mxe_op_resize_cq mxe_resize_cq
#else
#define mxe_ops_resize_cq resize_cq
int mxe_resize_cq(struct ib_cq *ibcq, unsigned int cqe, struct ib_udata *udata);

static inline int mxe_op_resize_cq(struct ib_cq *ibcq, int cqe,
				   struct ib_udata *udata)
{
	/* A negative number becomes too large, and is refused. */
	return mxe_resize_cq(ibcq, cqe, udata);
}
#endif

/*
 * Since Linux 6.18 the core reports changes of the state of the netdev, unless
 * the driver does so.
 */
#ifdef MXE_HAVE_REPORT_PORT_EVENT
#define mxe_core_reports_ports() true
#else
#define mxe_core_reports_ports() false
#endif

/*
 * Puts a device into the netns of its netdev before it is registered. It
 * matters only after "rdma system set netns exclusive", when a device belongs
 * to one netns. Before Linux 6.17, which added ib_alloc_device_with_net(), the
 * core puts every new device into the initial netns.
 */
static inline void mxe_device_set_netns(struct ib_device *ibdev,
					struct net *net)
{
	if (!rdma_dev_access_netns(ibdev, net))
		write_pnet(&ibdev->coredev.rdma_net, net);
}

#endif /* MXE_COMPAT_H */
