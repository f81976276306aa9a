/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Checks of loopback.c and loop_atomic.c that every request on the loopback
 * path has to pass.
 */
#ifndef MXE_LOOPBACK_PATH_H
#define MXE_LOOPBACK_PATH_H

#include <linux/jiffies.h>
#include <net/ipv6.h>
#include <net/net_namespace.h>

#include "mxe.h"
#include "netns.h"
#include "qp.h"

/**
 * mxe_loopback_path_learn() - Examine the path to the peer again.
 * @qp: QP of the requester
 * @routes: generation of the routes of its address family
 *
 * Context: BHs disabled, send_lock held.
 */
void mxe_loopback_path_learn(struct mxe_qp *qp, int routes);

/**
 * mxe_loopback_path_is_local() - Check whether packets would return untouched.
 * @qp: QP of the requester
 *
 * A new route is noticed at once, and a new hook in the next jiffy.
 *
 * Context: BHs disabled, send_lock held.
 * Return: true if packets to the peer would return to this host, and nothing on
 * the host could act on them.
 */
static inline bool mxe_loopback_path_is_local(struct mxe_qp *qp)
{
	const struct mxe_loopback *loop = &qp->sq.loopback;
	const struct net *net = qp->dev->mnet->net;
	unsigned long now = jiffies;
	int routes = qp->av.is_ipv4 ? rt_genid_ipv4(net) : rt_genid_ipv6(net);

	if (!loop->known || loop->routes != routes || loop->checked != now)
		mxe_loopback_path_learn(qp, routes);
	return loop->local;
}

/**
 * mxe_loopback_path_is_used() - Check whether requests may need no packets.
 * @qp: QP of the requester
 *
 * Context: BHs disabled, send_lock held.
 * Return: false if mxe_loopback_request() would execute no request.
 */
static inline bool mxe_loopback_path_is_used(struct mxe_qp *qp)
{
#ifdef MXE_WITHOUT_LOOPBACK
	return false;
#else
	return READ_ONCE(mxe_loopback_direct) && mxe_loopback_path_is_local(qp);
#endif
}

/**
 * mxe_loopback_path_is_between() - Check whether two QPs are connected.
 * @qp: QP of the requester
 * @peer: QP that it names
 *
 * Context: send_lock of @qp and recv_lock of @peer held.
 * Return: true if each of them would accept the packets of the other.
 */
static inline bool mxe_loopback_path_is_between(const struct mxe_qp *qp,
						const struct mxe_qp *peer)
{
	const struct mxe_av *a = &qp->av, *b = &peer->av;

	if (peer->transport != qp->transport || !b->valid ||
	    peer->dest_qpn != qp->qpn || peer->mtu != qp->mtu ||
	    a->is_ipv4 != b->is_ipv4)
		return false;
	if (a->is_ipv4)
		return a->v4.saddr == b->v4.daddr && a->v4.daddr == b->v4.saddr;
	return ipv6_addr_equal(&a->v6.saddr, &b->v6.daddr) &&
	       ipv6_addr_equal(&a->v6.daddr, &b->v6.saddr);
}

#endif /* MXE_LOOPBACK_PATH_H */
