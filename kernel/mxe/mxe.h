/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mxe is a software RoCEv2 device that executes masked atomics.  This header has the
 * device, its limits, and the rules for contexts and locks.
 *
 * Contexts in which the parts run
 *
 *   verb                        may sleep   interrupts off   bottom halves
 *   create, modify, destroy     yes         no               on
 *   post_send, post_recv        no          possibly         any
 *   poll_cq, req_notify_cq      no          possibly         any
 *   doorbell write()            yes         no               on
 *   polling ioctl()             yes         no               off while looking
 *   packet received             no          no               off (softirq)
 *   timers                      no          no               off (softirq)
 *   queue pair work             yes         no               on
 *   completion handlers called  no          no               off
 *
 * Locks, outer to inner (Documentation/locking.rst has the fields):
 *
 *   cq->notify_lock > qp->send_lock > qp->recv_lock > cq->lock
 *                                      qp->recv_lock > srq->lock
 *   cq->notify_lock > qp->sq.post_lock, post_lock of a receive queue
 *   sqpoll_set->lock > qp->send_lock
 *   qp->recv_lock > mw->lock, lock of dev->xrc_srqs
 *   xrcd->lock > qp->recv_lock
 *
 * A completion handler runs under notify_lock only, and may post from there.
 * send_lock and recv_lock are taken with bottom halves off and are never held
 * while a consumer's handler runs; post_lock and cq->lock are taken with
 * interrupts off, because verbs that take them may be called so.
 */
#ifndef MXE_H
#define MXE_H

#include <linux/list.h>
#include <linux/sizes.h>
#include <linux/netdevice.h>
#include <linux/netfilter.h>
#include <linux/xarray.h>
#include <rdma/ib_verbs.h>
#include <rdma/mxe-abi.h>
#include <rdma/mxe_user_ioctl_cmds.h>

#include "mcast.h"
#include "resource.h"
#include "stats.h"

struct mxe_netns;
struct mxe_qp;

/* Limits of a device.  What is reported is what create verbs enforce. */
#define MXE_MAX_QP		65536
#define MXE_MAX_QP_WR		16384
#define MXE_MAX_SGE		32
#define MXE_MAX_INLINE		512
#define MXE_MAX_SRQ		65536
#define MXE_MAX_SRQ_WR		32768
#define MXE_MAX_CQ		65536
#define MXE_MAX_CQE		1048576
#define MXE_MAX_MR		1048576
#define MXE_MAX_MW		1048576
#define MXE_MAX_PD		65536
#define MXE_MAX_XRCD		65536
#define MXE_MAX_AH		65536
#define MXE_MAX_RD_ATOMIC	128
#define MXE_MAX_MSG_SIZE	BIT(30)		/* 2^22 packets at most */
#define MXE_MAX_DM_SIZE		SZ_16M		/* of one device in all */
#define MXE_MAX_DEFERRED	SZ_32M		/* bytes of requests that wait */
#define MXE_MAX_FAST_REG_PAGES	512
#define MXE_GID_TABLE_LEN	128

/*
 * A device: one per `rdma link add`.
 *
 * Lifetime: allocated and freed by ib_core.  mxe_device_dealloc() runs when
 * the last user of the ib_device is gone and gives back ndev and mnet.  All
 * members but the counters, gsi, next_srqn and the list entries are set before
 * registration and do not change.
 */
struct mxe_dev {
	struct ib_device ibdev;
	struct net_device *ndev;	/* a reference is held */
	netdevice_tracker ndev_tracker;
	struct mxe_netns *mnet;		/* namespace of ndev; a user is held */
	struct list_head mnet_entry;	/* in mnet->devs, under mxe_netns_mutex */
#ifdef CONFIG_NETFILTER
	struct nf_hook_ops ingress;	/* of ndev, if has_ingress; see early_demux.h */
#endif
	bool has_ingress;		/* RTNL */
	bool ndev_gone;			/* or in another namespace; RTNL */
	struct list_head netdev_entry;	/* in mxe_netns_devs, under RTNL */
	struct xarray mrs;		/* and windows, by key >> 8; see mr.h */
	atomic_long_t mrs_generation;		/* counts regions taken out of it */
	struct xarray ahs;		/* of processes, by number; xa_lock_bh */
	struct xarray xrc_srqs;		/* by number; see xrc.h */
	u32 next_srqn;			/* lock of xrc_srqs */
	atomic_long_t deferred;		/* bytes of rq.deferred, all QPs */
	struct mxe_qp __rcu *gsi;	/* QP 1; the core makes one */
	struct mxe_mcast mcast;
	struct mxe_stats __percpu *stats;
	atomic_t resources[MXE_RESOURCE_COUNT];
	atomic_long_t dm_used;		/* bytes of device memory */
	bool port_up;			/* as last reported; RTNL */
	/* atomic_reply=be: results are big-endian or not given at all. */
	bool reply_be;
};

static inline struct mxe_dev *to_mdev(struct ib_device *ibdev)
{
	return container_of(ibdev, struct mxe_dev, ibdev);
}

/*
 * A verb that was asked for something it refuses: say why, count, and return
 * the error.  dev is a struct mxe_dev.
 */
#define mxe_refuse(dev, err, fmt, ...) ({				\
	ibdev_dbg(&(dev)->ibdev, "%s: " fmt "\n", __func__,		\
		  ##__VA_ARGS__);					\
	mxe_count(dev, refused_verbs);					\
	(err);								\
})

#endif /* MXE_H */
