/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mxe is a software RoCEv2 device that executes masked atomics.  This header
 * defines the device, its limits, and the rules for contexts and locks.
 *
 * Contexts in which the parts run:
 *
 *   verb                        may sleep   interrupts off   BHs
 *   create, modify, destroy     yes         no               on
 *   post_send, post_recv        no          possibly         any
 *   poll_cq, req_notify_cq      no          possibly         any
 *   doorbell write()            yes         no               on
 *   packet received             no          no               off (softirq)
 *   timers                      no          no               off (softirq)
 *   QP work                     yes         no               off in each half
 *   completion handlers called  no          no               off
 *
 * Locks, outer to inner (Documentation/locking.rst has the fields):
 *
 *   cq->notify_lock > qp->send_lock > qp->recv_lock > cq->lock
 *                                      qp->recv_lock > srq->lock > cq->lock
 *   cq->notify_lock > qp->req.post_lock, post_lock of a receive queue
 *   qp->recv_lock > mw->lock > mxe_atomic_locks[]
 *   qp->recv_lock > lock of dev->srqs
 *   xrcd->lock > qp->recv_lock
 *   qp->send_lock > dct->lock > qp->recv_lock of a responder
 *
 * A completion handler runs under notify_lock only, so it may post requests.
 * send_lock and recv_lock are taken with BHs disabled and are never held while
 * a consumer's handler runs. post_lock and cq->lock are taken with interrupts
 * disabled, because the verbs that take them may be called in that state.
 * Adding a completion to the CQ of a process takes cq->lock with only BHs
 * disabled, because no hard interrupt takes the lock of such a CQ.
 */
#ifndef MXE_H
#define MXE_H

#include <linux/list.h>
#include <linux/sizes.h>
#include <linux/netdevice.h>
#include <linux/rhashtable-types.h>
#include <linux/xarray.h>
#include <rdma/ib_verbs.h>
#include <rdma/mxe-abi.h>
#include <rdma/mxe_user_ioctl_cmds.h>

#include "ip/mcast.h"
#include "resource.h"
#include "stats.h"

struct mxe_netns;
struct mxe_qp;

/*
 * Limits of a device. The create verbs enforce the values that are reported.
 */
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
#define MXE_MAX_DC_SESSIONS	65536
#define MXE_MAX_AH		65536
#define MXE_MAX_RD_ATOMIC	128
#define MXE_MAX_MSG_SIZE	BIT(30)		/* bytes, 2^22 packets */
#define MXE_MAX_DM_SIZE		SZ_16M		/* bytes, sum of a device */
#define MXE_MAX_DEFERRED	SZ_32M		/* bytes, deferred requests */
#define MXE_MAX_FAST_REG_PAGES	512
#define MXE_GID_TABLE_LEN	128
/* Of a tag-matching SRQ. */
#define MXE_TM_MAX_TAGS		1024
#define MXE_TM_MAX_OPS		1024
#define MXE_TM_MAX_SGE		4
#define MXE_TM_MAX_RNDV_HDR	64		/* bytes */

/*
 * A device.  Each `rdma link add` creates one.
 *
 * Lifetime: allocated and freed by ib_core. mxe_device_dealloc() runs after the
 * last user of the ib_device is gone, and drops the references to ndev and
 * mnet. All members are set before registration and immutable afterwards,
 * except the counters, gsi, next_srqn, the list entries, and those marked with
 * a lock.
 */
struct mxe_dev {
	struct ib_device ibdev;
	struct net_device *ndev;	/* holds a reference */
	netdevice_tracker ndev_tracker;
	struct mxe_netns *mnet;		/* netns of ndev, holds a user */
	struct list_head mnet_entry;	/* mxe_netns_mutex */
	bool ndev_gone;			/* or in another netns; RTNL */
	struct list_head netdev_entry;	/* mxe_netns_devs, RTNL */
	struct xarray mrs;		/* MRs and MWs by key; see mr.h */
	atomic_long_t mrs_generation;	/* number of removals from mrs */
	struct rhashtable pins;		/* memory of regions; pin.h */
	struct xarray ahs;		/* AHs of processes; xa_lock_bh */
	struct xarray srqs;		/* by number; see srq.h */
	u32 next_srqn;			/* under the lock of srqs */
	atomic_long_t deferred;		/* bytes in all resp.deferred */
	struct mxe_qp __rcu *gsi;	/* QP 1, which ib_core creates */
	struct mxe_mcast mcast;
	struct mxe_stats __percpu *stats;
	atomic_t resources[MXE_RESOURCE_COUNT];
	atomic_long_t dm_used;		/* bytes of device memory */
	bool port_up;			/* as last reported; RTNL */
	bool reply_be;			/* atomic_reply=be */
	bool coherent;			/* not coherent=N */
};

/*
 * Unlike !xa_empty(), false if only inner nodes are left, which are those of an
 * insertion that failed for lack of memory.
 * Context: Any. The caller excludes changes.
 */
static inline bool mxe_xa_has_entries(struct xarray *xa)
{
	unsigned long index = 0;

	return xa_find(xa, &index, ULONG_MAX, XA_PRESENT);
}

static inline struct mxe_dev *to_mdev(struct ib_device *ibdev)
{
	return container_of(ibdev, struct mxe_dev, ibdev);
}

/*
 * Logs at debug level why the calling verb refuses a request, counts the
 * refusal, and evaluates to err. dev points to the struct mxe_dev.
 */
#define mxe_refuse(dev, err, fmt, ...) ({				\
	ibdev_dbg(&(dev)->ibdev, "%s: " fmt "\n", __func__,		\
		  ##__VA_ARGS__);					\
	mxe_count(dev, refused_verbs);					\
	(err);								\
})

#endif /* MXE_H */
