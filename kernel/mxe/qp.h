/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A queue pair has a state, two queues, and what the protocol engine keeps for it
 * (qp.c).
 *
 * Lifetime: the engine's object, struct mxe_qp, is found through mnet->qps and
 * used under RCU.  ib_core owns struct mxe_ib_qp, frees it as soon as destroy
 * returns, and the engine's object outlives that by a grace period.  Destroy
 * therefore waits for no grace period: it removes the queue pair from the
 * table, marks it dying under both of its locks, stops its timers and work, and
 * waits for event handlers that are running (refs).  A packet or doorbell that
 * found the queue pair before may still take a lock of it, but sees that it is
 * dying and touches nothing else.
 */
#ifndef MXE_QP_H
#define MXE_QP_H

#include <linux/completion.h>
#include <linux/refcount.h>
#include <linux/skbuff.h>
#include <linux/spinlock.h>
#include <linux/stddef.h>
#include <linux/timer.h>
#include <linux/workqueue.h>
#include <rdma/ib_verbs.h>

#include "ah.h"
#include "atomic.h"
#include "cq.h"
#include "loopback.h"
#include "mr.h"
#include "mw.h"
#include "pending.h"
#include "pkt.h"
#include "qpn.h"
#include "ring.h"
#include "rq.h"
#include "srq.h"
#include "tx.h"

struct mxe_dev;
struct mxe_netns;
struct mxe_sqpoll_set;
struct mxe_xrcd;

/* Packets that may be unacknowledged before the requester waits. */
#define MXE_MAX_UNACKED		128
/*
 * Work is done in slices, each in one section with BHs off.  A slice has a
 * budget, and everything that a process or a peer can ask for costs some of it:
 * a unit stands for 2,000 to 2,500 instructions, so that a slice has some 150,000
 * (Documentation/locking.rst).  What is left at its end is done by qp->work.
 * The budgets of both sides are full while their locks are free.
 */
#define MXE_SLICE		64
/* Slices of one doorbell, at the expense of the process. */
#define MXE_DOORBELL_SLICES	64
/* Requests that are flushed in one slice; nothing is done but a completion. */
#define MXE_FLUSH_SLICE		256

/* Of a packet with so many bytes to or from a list of SGEs. */
static inline u32 mxe_pkt_cost(u32 len, u32 num_sge)
{
	return 2 + len / 2048 + num_sge / 4;
}

/* Request packets that wait while the responder is busy with another. */
#define MXE_MAX_DEFERRED_PKTS	256
/* ... and that may do so whatever waits at others of the device. */
#define MXE_MIN_DEFERRED_PKTS	4

/* Where a datagram goes: a copy of the address handle's vector, and who. */
struct mxe_ud_dest {
	struct mxe_av av;
	u32 qpn;
	u32 qkey;
};

/* FLUSH: of memory of the peer. */
struct mxe_flush {
	u32 length;
	u8 type;
	u8 level;
};

/*
 * A send work request in the kernel: the validated copy of what was posted,
 * and its progress.
 */
struct mxe_send_wr {
	u64 wr_id;
	enum ib_wr_opcode opcode;
	u8 flags;			/* enum mxe_send_wqe_flags */
	bool started;			/* PSNs are assigned */
	bool done;			/* READ or atomic: response complete */
	u8 num_sge;			/* 0 if inline */
	enum ib_wc_status error;	/* found when it was taken up */
	u32 length;			/* bytes of all SGEs, or inline */
	u64 remote_addr;
	u32 rkey;			/* remote, or to be invalidated */
	__be32 imm;
	u32 srqn;			/* XRC: for which receive queue */
	u32 first_psn;
	u32 last_psn;
	/* Whatever the opcode and the transport have; the rest is undefined. */
	union {
		struct mxe_atomic_args atomic;	/* lowered if possible */
		u64 atomic_write;	/* the data, if there are no SGEs */
		struct mxe_flush flush;
		struct mxe_ud_dest ud;
		struct mxe_bind bind;	/* IB_WR_BIND_MW; rkey is the new key */
		struct mxe_reg reg;	/* IB_WR_REG_MR */
	};
	union {
		DECLARE_FLEX_ARRAY(struct ib_sge, sge);
		DECLARE_FLEX_ARRAY(u8, inline_data);
	};
};

/*
 * Requester and completer.  All under send_lock but: post_lock and posted,
 * which belong to kernel consumers that post, and what the first group says.
 *
 * Indices of work requests run freely: tail <= cur <= next <= fetched.  tail
 * is the oldest not completed, cur the one being sent (again), next the first
 * that was never sent, fetched the first not yet taken from the ring.
 */
struct mxe_sq {
	/* Immutable after creation. */
	u32 entries;			/* power of two; 0: no queue */
	u32 max_sge;
	u32 max_inline;
	/* What a process may post: opcodes and sizes of masked atomics, as bits. */
	u32 opcodes;
	u8 atomic_log_sizes;
	size_t wr_size;			/* of an element of wrs */
	void *wrs;
	struct mxe_ring ring;		/* a process's queue */
	bool is_polled;			/* if a thread does; see sqpoll.h */
	u32 poll_id;			/* in the user context */

	/* Serialises posting kernel consumers; irqsave: verbs of any context. */
	spinlock_t post_lock;
	u32 posted;

	/* Of a polled queue; sqpoll.c reads them without the lock, too. */
	bool watched;			/* a thread looks at the ring */
	u32 seen;			/* its producer, when last looked at */

	u32 fetched, next, cur, tail;
	u32 psn;			/* to send next */
	u32 sent_psn;			/* first never sent */
	u32 max_psn;			/* first not assigned to a request */
	u32 una;			/* first not acknowledged */
	u32 window;			/* packets unacknowledged, at most */
	u32 cnp_psn;			/* sent_psn at the last CNP that counted */
	u32 rd_atomic;			/* outstanding READs and atomics */
	s32 budget;			/* left of the slice; <= 0: go on later */
	/* The last READ that cost a whole slice, if a process sent it itself: */
	int read_cpu;			/* where, or -1: there is none */
	u32 reads_left;			/* mxe_reads_left of that CPU before */
	u8 retry_left;
	u8 rnr_retry_left;
	bool rnr_wait;			/* until rnr_timer fires */
	bool rewound;			/* no progress since going back */
	bool ack_left;			/* to a later request to ask for */
	bool halted;			/* an error waits to be reported */
	enum ib_wc_status local_error;	/* found while sending */
	u32 local_error_at;		/* the request that has it */
	bool sqd_notified;
	struct mxe_tx tx;
	struct mxe_loopback loopback;
	struct mxe_mr_cache mr_cache;	/* of local keys */
	struct timer_list retry_timer;
	bool retry_armed;		/* a request has a deadline: */
	unsigned long retry_at;		/* ... jiffies; the timer is not later */
	struct timer_list rnr_timer;	/* and when memory was short */
	unsigned long pending;		/* enum mxe_pending */
};

/*
 * What the responder keeps of a READ, atomic, FLUSH or ATOMIC WRITE, to answer a
 * duplicate (IBTA 9.7.5): values only, never references.
 */
struct mxe_resp_res {
	bool valid;
	u8 flush_type;
	u8 flush_level;
	u32 op;				/* the one flag of MXE_OP_RESOURCE */
	u32 first_psn;
	u32 last_psn;
	u64 va;
	u32 rkey;
	u32 length;			/* of memory */
	u32 msn;
	u32 srqn;			/* XRC */
	struct mxe_atomic_args atomic;
	u64 orig[MXE_ATOMIC_WORDS];	/* atomic: the answer */
};

/* A READ whose responses are being sent. */
struct mxe_resp_read {
	bool active;
	u64 va;
	u32 rkey;
	u32 left;			/* bytes */
	u32 psn;
	u32 msn;
	bool first;
	struct mxe_srq *srq;		/* XRC: by whose rights */
};

/* Responder.  All under recv_lock but what mxe_recv_queue excepts. */
struct mxe_rq {
	struct mxe_recv_queue q;	/* no entries if there is a shared one */
	/*
	 * Immutable after creation, but for a target of XRC: that of the
	 * message of which it is the turn, or NULL.
	 */
	struct mxe_srq *srq;

	struct mxe_recv_wr *cur;	/* the copy of the request in use */
	bool cur_valid;			/* cur is taken up, and not completed */
	bool last_wqe;			/* of a shared queue; reported */
	u32 offset;			/* bytes of the message so far */
	u32 epsn;
	u32 msn;
	u32 msg;			/* MXE_OP_SEND/WRITE: in a message; 0 */
	u64 write_va;
	u32 write_rkey;
	u32 write_left;
	bool nak_sent;			/* and not answered yet */
	bool halted;			/* an error waits for the state change */
	bool comm_est;
	struct mxe_resp_res *res;
	u32 num_res;
	u32 res_head;			/* next slot to use */
	struct mxe_resp_read read;
	struct mxe_mr_cache mr_cache;	/* of remote keys */
	struct mxe_mr_cache local_cache;	/* of what is received */
	struct mxe_tx tx;
	struct sk_buff *request;	/* being executed; NULL: none, or used */
	struct sk_buff_head deferred;	/* requests that wait, in order */
	u32 deferred_res;		/* those of them that need a res */
	s32 budget;			/* left of the slice */
	bool wants_locks;		/* the first is a wide atomic */
	unsigned long pending;		/* enum mxe_pending */
};

struct mxe_qp {
	struct mxe_dev *dev;

	/*
	 * Immutable after creation.  ibqp, pd and the completion queues are
	 * valid only until the queue pair is dying.
	 */
	struct ib_qp *ibqp;
	struct ib_pd *pd;
	u32 qpn;
	enum ib_qp_type type;
	struct mxe_cq *send_cq, *recv_cq;	/* or NULL: XRC */
	struct mxe_xrcd *xrcd;		/* of a target of XRC */
	struct list_head xrcd_entry;	/* xrcd->lock */
	struct ib_ucontext *uctx;	/* a process's; compared, not read */
	struct mxe_sqpoll_set *sqpoll_set;	/* of uctx, or NULL */
	bool is_user;
	bool be_reply;			/* results of atomics in big-endian */
	bool sig_all;

	u32 mcast_groups;	/* of which it is a member; mcast.lock */

	/*
	 * The state and the attributes are written with both locks held, so
	 * either suffices to read them.
	 */
	enum ib_qp_state state;
	bool dying;
	struct ib_qp_attr attr;
	u32 dest_qpn;
	u32 mtu;			/* bytes */
	struct mxe_av av;
	struct dst_cache dst_cache;	/* of av; bottom halves off */
	struct dst_entry __rcu *rx_dst;	/* of what comes; see rx_dst.h */
	u64 cnp_sent;			/* when; racy, see cnp.c */

	/* Requester and completer; bottom halves off. */
	spinlock_t send_lock;
	struct mxe_sq sq;

	/* Responder; bottom halves off; inside send_lock if both. */
	spinlock_t recv_lock;
	struct mxe_rq rq;

	/* What exceeds a slice, must sleep, or may not run inside a verb. */
	struct work_struct work;
	unsigned long work_events;	/* enum mxe_pending, of the send side */
	unsigned long recv_work_events;	/* and of the other */

	/*
	 * One for the verbs, and one for each handler that is running with no
	 * lock held.  Taken under a lock while the queue pair is not dying.
	 */
	refcount_t refs;
	struct completion released;
	struct rcu_head rcu;
};

/* The queue pair as ib_core sees it. */
struct mxe_ib_qp {
	struct ib_qp ibqp;
	/* NULL once destroyed: ib_core may still ask for its details. */
	struct mxe_qp __rcu *qp;
};

static inline struct mxe_ib_qp *to_mibqp(struct ib_qp *ibqp)
{
	return container_of(ibqp, struct mxe_ib_qp, ibqp);
}

/* Context: a verb, or another user that keeps the queue pair alive. */
static inline struct mxe_qp *to_mqp(struct ib_qp *ibqp)
{
	return rcu_dereference_protected(to_mibqp(ibqp)->qp, true);
}

static inline enum mxe_transport mxe_qp_transport(const struct mxe_qp *qp)
{
	switch (qp->type) {
	case IB_QPT_RC:
		return MXE_TRANSPORT_RC;
	case IB_QPT_UC:
		return MXE_TRANSPORT_UC;
	case IB_QPT_XRC_INI:
	case IB_QPT_XRC_TGT:
		return MXE_TRANSPORT_XRC;
	default:
		return MXE_TRANSPORT_UD;
	}
}

/* Returns true if requests are acknowledged: RC and XRC. */
static inline bool mxe_qp_is_reliable(const struct mxe_qp *qp)
{
	return qp->type == IB_QPT_RC || qp->type == IB_QPT_XRC_INI ||
	       qp->type == IB_QPT_XRC_TGT;
}

static inline bool mxe_qp_is_uc(const struct mxe_qp *qp)
{
	return qp->type == IB_QPT_UC;
}

static inline bool mxe_qp_is_ud(const struct mxe_qp *qp)
{
	return qp->type == IB_QPT_UD || qp->type == IB_QPT_GSI;
}

static inline bool mxe_qp_is_xrc_ini(const struct mxe_qp *qp)
{
	return qp->type == IB_QPT_XRC_INI;
}

static inline bool mxe_qp_is_xrc_tgt(const struct mxe_qp *qp)
{
	return qp->type == IB_QPT_XRC_TGT;
}

/*
 * The CQ of receive completions, or NULL: a target of XRC that has taken nothing up
 * has none.  Context: recv_lock held.
 */
static inline struct mxe_cq *mxe_qp_recv_cq(const struct mxe_qp *qp)
{
	const struct mxe_srq *srq = qp->rq.srq;

	if (!mxe_qp_is_xrc_tgt(qp))
		return qp->recv_cq;
	return srq ? to_mcq(srq->ibsrq.ext.cq) : NULL;
}

static inline struct mxe_send_wr *mxe_sq_wr(const struct mxe_sq *sq, u32 index)
{
	return sq->wrs + (index & (sq->entries - 1)) * sq->wr_size;
}

/* Can packets be received, and requests be sent? */
static inline bool mxe_qp_can_receive(enum ib_qp_state state)
{
	return state == IB_QPS_RTR || state == IB_QPS_RTS ||
	       state == IB_QPS_SQD || state == IB_QPS_SQE;
}

static inline bool mxe_qp_can_send(enum ib_qp_state state)
{
	return state == IB_QPS_RTS || state == IB_QPS_SQD;
}

/* ---- locks ------------------------------------------------------------- */

/* Take the lock of one side.  Bottom halves are off until the end. */
void mxe_sq_begin(struct mxe_qp *qp) __acquires(&qp->send_lock);
void mxe_rq_begin(struct mxe_qp *qp) __acquires(&qp->recv_lock);
/*
 * End a section of one side, and a slice of its work:
 *  - transmit the packets that the side has batched
 *  - fill its budget for the next slice
 *  - queue qp->work if it is pending, and drop the lock
 *  - without the lock: change the state to ERR, call the completion handlers and
 *    report the asynchronous events that are pending
 */
void mxe_sq_end(struct mxe_qp *qp) __releases(&qp->send_lock);
void mxe_rq_end(struct mxe_qp *qp) __releases(&qp->recv_lock);

/* mxe_sq_begin() with bottom halves off; ends with mxe_sq_end_deferred(). */
static inline void mxe_sq_begin_bh_off(struct mxe_qp *qp)
	__acquires(&qp->send_lock)
{
	spin_lock(&qp->send_lock);
}

/* mxe_sq_end_deferred() if there is something to transmit or pending. */
void mxe_sq_end_deferred_slow(struct mxe_qp *qp) __releases(&qp->send_lock);
/*
 * mxe_sq_end() inside a verb, where no handler may run.  qp->work calls the
 * completion handlers and reports the events.  The rest is done here: transmit,
 * fill the budget, drop the lock, change the state to ERR.
 * Context: RCU.  Bottom halves stay off.
 */
static inline void mxe_sq_end_deferred(struct mxe_qp *qp)
	__releases(&qp->send_lock)
{
	if (qp->sq.pending || !mxe_gso_is_empty(&qp->sq.tx.gso)) {
		mxe_sq_end_deferred_slow(qp);
		return;
	}
	qp->sq.budget = MXE_SLICE;
	spin_unlock(&qp->send_lock);
}

/*
 * The same for the receive side inside a verb of the peer, whose send_lock is held.
 * mxe_rq_end_deferred() leaves everything that is pending to qp->work, the change to
 * ERR too.  It transmits nothing, and the budget stays as it is.
 */
static inline void mxe_rq_begin_bh_off(struct mxe_qp *qp)
	__acquires(&qp->recv_lock)
{
	spin_lock(&qp->recv_lock);
}

void mxe_rq_end_deferred(struct mxe_qp *qp) __releases(&qp->recv_lock);

/* Take both locks, to change the state.  Bottom halves are off until the end. */
void mxe_qp_begin(struct mxe_qp *qp)
	__acquires(&qp->send_lock) __acquires(&qp->recv_lock);
/*
 * Transmit the packets that both sides have batched, and drop both locks.  What is
 * pending is left to the next end of its side, and the budgets stay as they are.
 */
void mxe_qp_end(struct mxe_qp *qp)
	__releases(&qp->recv_lock) __releases(&qp->send_lock);

/*
 * Do what mxe_sq_end_deferred() and mxe_rq_end_deferred() have left to qp->work.
 * Context: the work, no lock held.
 */
void mxe_qp_do_deferred(struct mxe_qp *qp);
/* Drop a reference; the last one wakes up mxe_destroy_qp(). */
void mxe_qp_put(struct mxe_qp *qp);

/* ---- state ------------------------------------------------------------- */

/* Context: both locks held. */
void mxe_qp_set_state(struct mxe_qp *qp, enum ib_qp_state state);
/*
 * Change the state to ERR.  A process has to ring from now on, and what it posted
 * before is seen by whoever flushes the queues next.  Context: both locks held.
 */
void mxe_qp_set_error(struct mxe_qp *qp);
/*
 * A side has halted: move to ERR; both queues are flushed by qp->work.
 * Context: no lock held.
 */
void mxe_qp_error(struct mxe_qp *qp);
/*
 * The same for the send queue alone: RTS to SQE (IBTA 10.3.1.7).
 * Context: send_lock held.
 */
void mxe_qp_sq_error(struct mxe_qp *qp);
/* Tell the process whether it has to ring.  Context: send_lock held. */
void mxe_sq_set_need_doorbell(struct mxe_qp *qp);
/* Queue qp->work. */
void mxe_qp_kick(struct mxe_qp *qp);

/* Remember what is to be done after a completion was added. */
void mxe_qp_completed(struct mxe_qp *qp, enum mxe_cq_result result,
		      unsigned long *pending);

/* Add a completion of a side; pending is that side's. */
static inline void mxe_qp_complete(struct mxe_qp *qp, struct mxe_cq *cq,
				   const struct mxe_wc *wc,
				   unsigned long *pending)
{
	enum mxe_cq_result result = mxe_cq_add(cq, qp, wc);

	if (result != MXE_CQ_ADDED)
		mxe_qp_completed(qp, result, pending);
}

/* Runs qp->work of all queue pairs. */
extern struct workqueue_struct *mxe_qp_wq;

/* For the module.  0 or -ENOMEM. */
int mxe_qp_init(void);
void mxe_qp_exit(void);

#endif /* MXE_QP_H */
