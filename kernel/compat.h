/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The one place that knows kernel versions.  Force-included into every file
 * of the modules (see kernel/Kbuild.include).  Core files are written against
 * Linux 6.1; what moved later is mapped here.  MXE_HAVE_* come from the probes
 * of kernel/probe.sh, since stable kernels move APIs without a version change.
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

#include <linux/timer.h>
#include <rdma/ib_verbs.h>

/* 6.2 renamed del_timer(), 6.16 from_timer(). */
#ifndef timer_container_of
#define timer_container_of(var, timer, field) from_timer(var, timer, field)
#endif

/* 7.x made these functions of IPv6, and took struct sock for the tunnels. */
#define mxe_ip6_dst_lookup(net, sk, fl6) \
	ipv6_stub->ipv6_dst_lookup_flow(net, sk, fl6, NULL)
#define mxe_udp_tunnel_sock_setup(net, sock, cfg) \
	setup_udp_tunnel_sock(net, sock, cfg)
#define mxe_udp_tunnel_sock_release(sock) udp_tunnel_sock_release(sock)

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
