/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The list of tags of a tag-matching SRQ, and the operations on it (tm.c).
 *
 * A message whose tag matches is received into the buffer of the tag.  Any
 * other message is unexpected: it is received into a buffer of the SRQ, and
 * the program looks for a match itself.  It may post tags meanwhile, which must
 * not overtake the unexpected message.  Therefore the device counts unexpected
 * messages, the program reports how many it has handled, and tags that were
 * posted while the numbers differ match only after they have been equal.
 */
#ifndef MXE_TM_H
#define MXE_TM_H

#include <linux/jump_label.h>
#include <linux/list.h>
#include <rdma/ib_verbs.h>

#include "memory/ring.h"
#include "mxe.h"
#include "wire/pkt.h"

struct mxe_recv_wr;
struct mxe_srq;
struct mxe_wc;

/* A posted tag. */
struct mxe_tm_tag {
	struct list_head entry;		/* mask->buckets[], or tm->free_tags */
	struct hlist_node by_handle;	/* tm->handles[] */
	struct mxe_tm_mask *mask;
	u64 tag;
	u64 seq;			/* order of posting */
	u64 recv_wr_id;
	u32 handle;
	u32 num_sge;
	struct ib_sge sge[MXE_TM_MAX_SGE];
};

/* The tags with the same mask. */
struct mxe_tm_mask {
	struct list_head entry;		/* tm->masks, or tm->free_masks */
	u64 mask;
	u32 num_tags;
	/* Immutable after creation. */
	u32 num_buckets;		/* power of two */
	struct list_head *buckets;	/* in tm->tables, or only_bucket */
	struct list_head only_bucket;
};

/*
 * Each tag is in a bucket of its mask, behind those that were posted before.  A
 * message looks into one bucket for each mask in use, and the tag that was
 * posted first wins.  All tags with the same mask, which is the usual case,
 * therefore take one lookup.
 *
 * No bucket has tags of two masks, so a search looks at each tag once at most,
 * whichever tags and masks the process chooses.  The masks that are in use
 * first, MXE_TM_TABLES of them, have a hash table, and others have one bucket.
 *
 * Lifetime: that of the SRQ.  The lock of the SRQ protects the members behind
 * those that are immutable.
 */
struct mxe_tm {
	/* Immutable after creation. */
	u32 max_tags;
	u32 num_buckets;		/* power of two, of each table */
	u32 seed;			/* of the hash */
	struct ib_ucontext *uctx;	/* owner; never dereferenced */
	struct mxe_tm_tag *tags;	/* max_tags of them */
	struct mxe_tm_mask *mask_mem;	/* likewise */
	struct list_head *tables;	/* MXE_TM_TABLES times num_buckets */
	struct hlist_head *handles;
	struct mxe_ring ops;

	u32 steps;			/* of a search or an operation */
	struct list_head masks;		/* those in use */
	u32 num_masks;			/* of them; also read without the lock */
	struct list_head free_tags;
	struct list_head free_masks;
	u64 seq;			/* of the next tag */
	u64 enabled;			/* tags below this seq may match */
	u32 unexpected;			/* messages, counted by the device */
	u32 reported;			/* of them, handled by the program */
	u32 freed;			/* see struct mxe_ring_hdr */
	u32 consumed;			/* index of the ring; also read unlocked */
	bool halted;			/* the ring cannot be used */
};

/* Masks that have a hash table. */
#define MXE_TM_TABLES		4
/* Units of the operations that are executed under the lock. */
#define MXE_TM_SLICE		64
/* Units of an operation, besides those of its steps. */
#define MXE_TM_OP_COST		2
/* Masks that a message is compared with for a unit of the receive budget. */
#define MXE_TM_MASKS_PER_UNIT	32
/* Entries of a list that are looked at, and compared, for a unit. */
#define MXE_TM_STEPS_PER_UNIT	256

/* The kinds of messages to a tag-matching SRQ. */
enum mxe_tm_kind {
	MXE_TM_NONE,			/* not decided yet, or no SEND */
	MXE_TM_NO_TAG,			/* not subject to matching */
	MXE_TM_UNEXPECTED,
	MXE_TM_EAGER,			/* matched, as the next ones */
	MXE_TM_RNDV,			/* the device reads the data */
	MXE_TM_RNDV_INCOMPLETE,		/* the program has to read them */
};

/* The message in progress on a QP, under recv_lock. */
struct mxe_tm_msg {
	enum mxe_tm_kind kind;
	bool match_reported;		/* the match has a completion */
	u32 cost;			/* of its search, in units */
	struct mxe_rndv_hdr hdr;	/* rvh: of a rendezvous only */
};

/* Enabled when the first tag-matching SRQ is created, and never disabled. */
DECLARE_STATIC_KEY_FALSE(mxe_tm_used);

int mxe_tm_create(struct mxe_srq *srq, u32 max_tags, struct ib_ucontext *uctx);
void mxe_tm_destroy(struct mxe_srq *srq);
bool mxe_tm_ring(struct mxe_srq *srq);
u32 mxe_tm_cost(const struct mxe_tm *tm);
int mxe_tm_take(struct mxe_srq *srq, struct mxe_tm_msg *msg,
		struct mxe_recv_wr *wr, unsigned long *pending);
void mxe_tm_fill_wc(struct mxe_tm_msg *msg, struct mxe_wc *wc);
void mxe_tm_lost(struct mxe_srq *srq);

#endif /* MXE_TM_H */
