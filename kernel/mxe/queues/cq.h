/* SPDX-License-Identifier: GPL-2.0 */
/* A completion queue collects completions and notifies its consumer (cq.c). */
#ifndef MXE_CQ_H
#define MXE_CQ_H

#include <linux/hrtimer.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <rdma/ib_verbs.h>

#include "memory/ring.h"

struct mm_struct;
struct mxe_qp;
struct mxe_tmh;

/* The data of a message that its completion contains. */
struct mxe_inline_recv {
	u64 addr;			/* where they belong */
	u32 len;			/* bytes; 0: there are none */
	u8 data[MXE_CQE_INLINE_SIZE];
};

/* A completion that is to be added to a CQ. */
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
	union {
		u16 vlan_id;		/* VLAN_N_VID: none */
		/* With MXE_CQE_TM_INFO: the header of the message. */
		const struct mxe_tmh *tmh;
		/* With MXE_CQE_INLINE: the data. */
		const struct mxe_inline_recv *inl;
	};
};

enum mxe_cq_armed {
	MXE_CQ_IDLE,
	MXE_CQ_ARMED_SOLICITED,
	MXE_CQ_ARMED,
};

/*
 * Lifetime: the QPs that use the CQ keep it alive through the use count of
 * ib_core.
 *
 * resize_mutex is taken before lock.  It serialises resizes, and the removal of
 * the completions of a QP.
 *
 * lock protects the members from entries to event_timer. Only the kernel
 * writes entries. It copies those of a process when the CQ is resized, but
 * never interprets them. The consumer index of a process is used only to check
 * for room, and for whether the CQ is empty when it is armed.
 */
struct mxe_cq {
	struct ib_cq ibcq;
	/* Immutable after creation. */
	bool is_user;
	bool timestamps;
	/* Of the process that created it, or NULL; never dereferenced. */
	const struct mm_struct *mm;

	struct mutex resize_mutex;	/* resize, removal of completions */
	/*
	 * irqsave, because kernel consumers call verbs in any context.  Adding
	 * to the CQ of a process needs only BHs disabled.
	 */
	spinlock_t lock;
	u32 entries;			/* power of two */
	struct mxe_ring ring;		/* entries, if is_user */
	struct ib_wc *wc;		/* entries, if not is_user */
	u32 producer;
	u32 consumer;			/* if not is_user */
	u32 solicited_end;		/* after the last solicited or failed */
	enum mxe_cq_armed armed;
	bool overrun;

	/* Moderation: an event is delayed until the count or the timer. */
	u16 mod_count;			/* completions; 0: no limit */
	u16 mod_period;			/* microseconds; 0: no moderation */
	bool event_due;			/* delayed; the CQ is not armed */
	u32 event_count;		/* completions since it is due */
	struct hrtimer event_timer;

	/* Serialises the handler (infiniband/core_locking.rst). */
	spinlock_t notify_lock;
};

static inline struct mxe_cq *to_mcq(struct ib_cq *ibcq)
{
	return container_of(ibcq, struct mxe_cq, ibcq);
}

enum mxe_cq_result {
	MXE_CQ_ADDED,
	MXE_CQ_ADDED_NOTIFY,	/* mxe_cq_notify() must be called */
	MXE_CQ_OVERRUN,		/* lost */
	MXE_CQ_OVERRUN_FIRST,	/* lost; mxe_cq_error() must be called */
};

enum mxe_cq_result mxe_cq_add(struct mxe_cq *cq, struct mxe_qp *qp,
			      const struct mxe_wc *wc);
void mxe_cq_notify(struct mxe_cq *cq);
void mxe_cq_error(struct mxe_cq *cq);
void mxe_cq_clean(struct mxe_cq *cq, struct mxe_qp *qp);

/* Verbs, see the members of struct ib_device_ops of the same names. */
int mxe_create_cq(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr,
		  struct ib_udata *udata);
int mxe_resize_cq(struct ib_cq *ibcq, unsigned int cqe, struct ib_udata *udata);
int mxe_modify_cq(struct ib_cq *ibcq, u16 count, u16 period);
int mxe_destroy_cq(struct ib_cq *ibcq, struct ib_udata *udata);
int mxe_poll_cq(struct ib_cq *ibcq, int num_entries, struct ib_wc *wc);
int mxe_req_notify_cq(struct ib_cq *ibcq, enum ib_cq_notify_flags flags);

#endif /* MXE_CQ_H */
