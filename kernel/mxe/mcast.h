/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A multicast group is the set of queue pairs that get a copy of each datagram to a
 * GID (mcast.c).
 */
#ifndef MXE_MCAST_H
#define MXE_MCAST_H

#include <linux/hashtable.h>
#include <linux/mutex.h>
#include <linux/types.h>

struct ib_qp;
struct mxe_dev;
struct mxe_pkt;
struct sk_buff;
union ib_gid;

#define MXE_MAX_MCAST_GRP	1024
#define MXE_MAX_MCAST_QP_ATTACH	64	/* queue pairs of one group */

/*
 * The groups of a device.  Lifetime: a group is there while it has members,
 * and a queue pair that is a member cannot be destroyed.  Written under lock,
 * inside which RTNL is taken; read under RCU.
 */
struct mxe_mcast {
	struct mutex lock;		/* what is below; outside RTNL */
	u32 num_groups;
	DECLARE_HASHTABLE(groups, 6);
};

void mxe_mcast_init(struct mxe_mcast *mcast);
void mxe_mcast_uninit(struct mxe_mcast *mcast);

int mxe_attach_mcast(struct ib_qp *ibqp, union ib_gid *gid, u16 lid);
int mxe_detach_mcast(struct ib_qp *ibqp, union ib_gid *gid, u16 lid);

/*
 * Give every member of a group a copy; false if there is none.  Members for which
 * the slice has no budget left get theirs by their work.  skb holds pkt and stays
 * the caller's.  Context: softirq, RCU.
 */
bool mxe_mcast_rcv(struct mxe_dev *dev, const union ib_gid *gid,
		   const struct mxe_pkt *pkt, struct sk_buff *skb);

#endif /* MXE_MCAST_H */
