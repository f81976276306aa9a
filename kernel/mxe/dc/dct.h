/* SPDX-License-Identifier: GPL-2.0 */
/* DC targets (dct.c).  A target has a responder for each session. */
#ifndef MXE_DCT_H
#define MXE_DCT_H

#include <linux/list.h>
#include <linux/siphash.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

#include "dc/dc.h"
#include "queues/qp.h"

/* Initiators that a target knows: those with an open session, and others. */
#define MXE_DCT_MAX_PEERS	65536
#define MXE_DCT_HASH_SIZE	1024

/* READs and atomics that a session has room for if the target does not say. */
#define MXE_DCT_RD_ATOMIC	16

struct mxe_dc_responder;

/*
 * A DC target.
 *
 * Sessions exist only while the QP is in RTR.  mxe_dct_update() ends them when
 * it leaves that state.
 *
 * Lifetime: mxe_dct_destroy() closes all sessions before the QP is freed.  The
 * target is freed a grace period later, because packets that have found the QP
 * before still look at it.  It sees that dying is true.
 */
struct mxe_dct {
	struct mxe_dc dc;

	/* Immutable after creation. */
	struct mxe_qp *qp;
	u64 key;

	/*
	 * Protects the members below and struct mxe_dct_peer.  BHs disabled.
	 * recv_lock of a responder is taken inside, and no other lock of mxe.
	 */
	spinlock_t lock;
	bool dying;
	bool open;			/* the QP is in RTR */
	bool armed;			/* the next wrong key raises an event */
	/* No other target had the number since; ns of the boot-time clock. */
	u64 since;
	siphash_key_t secret;		/* of tokens */
	struct hlist_head *hash;	/* MXE_DCT_HASH_SIZE lists of peers */
	struct list_head peers;		/* all; the scan moves them to the end */
	u32 num_peers;
	u32 num_open;			/* those with a session */
	u64 key_violations;
	struct list_head closed;	/* responders that the work frees */
	/* The one found last, unless it was closed.  Read with BHs disabled. */
	struct mxe_dc_responder __rcu *recent;

	struct delayed_work work;
	unsigned long scan_at;		/* next scan, in jiffies; only the work */
	struct rcu_head rcu;
};

static inline struct mxe_dct *to_mdct(const struct mxe_qp *qp)
{
	return container_of(qp->dc, struct mxe_dct, dc);
}

int mxe_dct_create(struct mxe_qp *qp, u64 key);
void mxe_dct_destroy(struct mxe_qp *qp);
void mxe_dct_update(struct mxe_qp *qp);

/* Numbers that describe the initiators of a target. */
struct mxe_dct_info {
	u32 num_open;			/* sessions */
	u32 num_known;			/* initiators, also those without one */
	u64 key_violations;
	bool armed;
};

void mxe_dct_query(struct mxe_qp *qp, struct mxe_dct_info *info);
void mxe_dct_arm(struct mxe_qp *qp);
void mxe_dct_addr_of(struct mxe_dct_addr *addr, const struct sk_buff *skb,
		     const struct mxe_dc_hdr *hdr);
struct mxe_qp *mxe_dct_responder(struct mxe_qp *qp, const struct mxe_dct_addr *addr,
				 u32 session);
struct mxe_qp *mxe_dct_find(struct mxe_qp *qp, const struct mxe_dc_hdr *hdr,
			    const struct sk_buff *skb);
void mxe_dct_disconnect(struct mxe_qp *qp, const struct mxe_dc_hdr *hdr,
			const struct sk_buff *skb);

#endif /* MXE_DCT_H */
