/* SPDX-License-Identifier: GPL-2.0 */
/* Multicast groups: the QPs that receive each datagram to a GID (mcast.c). */
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
#define MXE_MAX_MCAST_QP_ATTACH	64	/* QPs of one group */

/*
 * The groups of a device.
 *
 * Lifetime: a group exists while it has members, and a QP that is a member
 * cannot be destroyed. Written under lock, read under RCU.
 */
struct mxe_mcast {
	struct mutex lock;		/* outside RTNL */
	u32 num_groups;
	DECLARE_HASHTABLE(groups, 6);
};

void mxe_mcast_init(struct mxe_mcast *mcast);

void mxe_mcast_uninit(struct mxe_mcast *mcast);

/* The contracts are those of attach_mcast and detach_mcast of ib_device_ops. */
int mxe_attach_mcast(struct ib_qp *ibqp, union ib_gid *gid, u16 lid);
int mxe_detach_mcast(struct ib_qp *ibqp, union ib_gid *gid, u16 lid);

bool mxe_mcast_rcv(struct mxe_dev *dev, const union ib_gid *gid,
		   const struct mxe_pkt *pkt, struct sk_buff *skb);

#endif /* MXE_MCAST_H */
