/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A completion queue takes the completions of queue pairs and notifies its consumer
 * (cq.c).
 */
#ifndef MXE_CQ_H
#define MXE_CQ_H

#include <linux/hrtimer.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <rdma/ib_verbs.h>

#include "ring.h"

struct mxe_qp;

/* A completion on its way into a queue. */
struct mxe_wc {
	u64 wr_id;
	enum ib_wc_status status;
	enum mxe_wc_opcode opcode;
	u32 byte_len;
	u16 flags;			/* enum mxe_cqe_flags */
	bool solicited;
	union {
		__be32 imm;
		u32 inv_rkey;
	};
	u32 src_qp;
	u16 vlan_id;			/* VLAN_N_VID: none */
};

enum mxe_cq_armed {
	MXE_CQ_IDLE,
	MXE_CQ_ARMED_SOLICITED,
	MXE_CQ_ARMED,
};

/*
 * Lifetime: queue pairs that use the queue keep it alive through the core's
 * use count, so nothing here counts references.
 *
 * resize_mutex is outside lock: one resize at a time, and none while the
 * completions of a QP are removed.
 *
 * lock covers everything below it.  Entries are written by the kernel only;
 * those of a process are never read back, and what it says it has consumed
 * matters only for whether there is room.
 */
struct mxe_cq {
	struct ib_cq ibcq;
	/* Immutable after creation. */
	bool is_user;
	bool timestamps;

	struct mutex resize_mutex;	/* resize, or removal of a QP's */
	spinlock_t lock;		/* irqsave: verbs of any context */
	u32 entries;			/* power of two */
	struct mxe_ring ring;		/* a process's queue */
	struct ib_wc *wc;		/* a kernel consumer's queue */
	u32 producer;
	u32 consumer;			/* kernel consumers */
	enum mxe_cq_armed armed;
	bool overrun;

	/* Moderation: events wait for more completions or for the timer. */
	u16 mod_count;			/* completions; 0: no limit */
	u16 mod_period;			/* microseconds; 0: no moderation */
	bool event_due;			/* waits; armed was taken back for it */
	u32 event_count;		/* completions since, with the first */
	struct hrtimer event_timer;

	/* One handler at a time (infiniband/core_locking.rst). */
	spinlock_t notify_lock;
};

static inline struct mxe_cq *to_mcq(struct ib_cq *ibcq)
{
	return container_of(ibcq, struct mxe_cq, ibcq);
}

enum mxe_cq_result {
	MXE_CQ_ADDED,
	MXE_CQ_ADDED_NOTIFY,	/* call mxe_cq_notify(), no lock held */
	MXE_CQ_OVERRUN,		/* lost */
	MXE_CQ_OVERRUN_FIRST,	/* lost; call mxe_cq_error(), no lock held */
};

/* Add a completion of qp.  Context: any. */
enum mxe_cq_result mxe_cq_add(struct mxe_cq *cq, struct mxe_qp *qp,
			      const struct mxe_wc *wc);
/* Call the consumer's handler.  Context: no lock of a queue pair held. */
void mxe_cq_notify(struct mxe_cq *cq);
void mxe_cq_error(struct mxe_cq *cq);
/* Remove what a queue pair left in a kernel consumer's queue. */
void mxe_cq_clean(struct mxe_cq *cq, struct mxe_qp *qp);

int mxe_create_cq(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr,
		  struct ib_udata *udata);
int mxe_resize_cq(struct ib_cq *ibcq, unsigned int cqe, struct ib_udata *udata);
int mxe_modify_cq(struct ib_cq *ibcq, u16 count, u16 period);
int mxe_destroy_cq(struct ib_cq *ibcq, struct ib_udata *udata);
int mxe_poll_cq(struct ib_cq *ibcq, int num_entries, struct ib_wc *wc);
int mxe_req_notify_cq(struct ib_cq *ibcq, enum ib_cq_notify_flags flags);

#endif /* MXE_CQ_H */
