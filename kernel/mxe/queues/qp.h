/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A queue pair (QP) as the protocol engine sees it: its state, its two sides
 * with their queues, and their locks (qp.c).
 *
 * Lifetime: ib_core owns struct mxe_ib_qp, and frees it as soon as destroy
 * returns.  The engine's object, struct mxe_qp, is found in mnet->qps under
 * RCU, and is freed a grace period later.  Destroy does not wait for that
 * grace period.  It removes the QP from the table, marks it dying under both
 * locks, stops its timers and its work item, and waits for handlers that are
 * running (refs).  A packet or doorbell that found the QP before may still
 * take one of the locks.  It then sees that the QP is dying, and does nothing.
 */
#ifndef MXE_QP_H
#define MXE_QP_H

#include <linux/completion.h>
#include <linux/mutex.h>
#include <linux/refcount.h>
#include <linux/skbuff.h>
#include <linux/spinlock.h>
#include <linux/stddef.h>
#include <linux/timer.h>
#include <linux/workqueue.h>
#include <rdma/ib_verbs.h>

#include "dc/dc.h"
#include "fast/loopback.h"
#include "fast/rx_dst.h"
#include "ip/ah.h"
#include "ip/qpn.h"
#include "ip/tx.h"
#include "memory/atomic.h"
#include "memory/mr.h"
#include "memory/mw.h"
#include "memory/ring.h"
#include "queues/cq.h"
#include "queues/pending.h"
#include "queues/rq.h"
#include "queues/srq.h"
#include "rc/transport.h"
#include "tm/tm.h"
#include "wire/pkt.h"

struct mem_cgroup;
struct mxe_dev;
struct mxe_netns;
struct mxe_rndv;
struct mxe_xrcd;

/* The requester waits when this many packets are unacknowledged. */
#define MXE_MAX_UNACKED		128
/*
 * Requests of a process that are copied to the kernel at once.  Each has at
 * least one packet, so more could not be sent.
 */
#define MXE_MAX_FETCHED		MXE_MAX_UNACKED
/*
 * A slice is the work between taking and dropping a lock of a QP, with BHs
 * disabled.  It has a budget of MXE_SLICE units, and everything that a process
 * or a peer can request costs some of it.  A unit is 2,000 to 2,500
 * instructions, so a slice is about 150,000 (Documentation/locking.rst).  Work
 * that is left at its end is done by the doorbell that began it, and then by
 * qp->work.  The budget of a side is full whenever its lock is free.
 */
#define MXE_SLICE		64
/* A doorbell sends this many slices at most, in the context of the process. */
#define MXE_DOORBELL_SLICES	64
/*
 * Requests that are flushed in a slice.  More than units of the budget, because
 * a flushed request costs no more than its completion.
 */
#define MXE_FLUSH_SLICE		256

/* Jiffies after which late_timer does the work of a QP. */
#define MXE_WORK_LATE		(msecs_to_jiffies(10) + 1)

/*
 * Return the cost in budget units of a packet with @len bytes that are copied.
 * @num_sge is 0 if there is no SGE list.
 */
static inline u32 mxe_pkt_cost(u32 len, u32 num_sge)
{
	return 2 + len / 2048 + num_sge / 4;
}

/* Request packets of a QP that may wait while its responder is busy. */
#define MXE_MAX_DEFERRED_PKTS	256
/* Those that may wait even if the device has reached MXE_MAX_DEFERRED. */
#define MXE_MIN_DEFERRED_PKTS	4

/* Destination of a datagram. */
struct mxe_ud_dest {
	struct mxe_ah_flow *flow;	/* with a reference; NULL after an error */
	u32 qpn;
	u32 qkey;
};

/* Operands of a FLUSH. */
struct mxe_flush {
	u32 length;			/* bytes of remote memory */
	u8 type;			/* IB_FLUSH_GLOBAL, ... */
	u8 level;			/* IB_FLUSH_RANGE, ... */
};

/*
 * A flag of a send request beside enum mxe_send_wqe_flags: it is the kernel's
 * own request (rndv.h).
 */
#define MXE_SEND_OWN	BIT(6)

/* A send request in the kernel: the checked copy of a WQE, and its progress. */
struct mxe_send_wr {
	u64 wr_id;
	enum ib_wr_opcode opcode;
	u8 flags;			/* enum mxe_send_wqe_flags, MXE_SEND_OWN */
	bool started;			/* PSNs are assigned */
	bool done;			/* has its response, if there is one */
	u8 num_sge;			/* 0 if inline */
	enum ib_wc_status error;	/* found when it was fetched */
	u32 length;			/* bytes of all SGEs, or inline */
	u64 remote_addr;
	u32 rkey;			/* remote, or to be invalidated */
	__be32 imm;
	u32 srqn;			/* XRC: SRQ that it is for */
	u32 first_psn;			/* if started */
	u32 last_psn;			/* if started */
	/* Only the member of this opcode or transport is defined. */
	union {
		struct mxe_atomic_args atomic;	/* lowered if possible */
		u64 atomic_write;	/* the data, if num_sge is 0 */
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
 * The requester of a QP, with its completer.  send_lock protects all but the
 * members that are immutable after creation, and post_lock and posted, which
 * kernel consumers use to post.
 *
 * Indices of requests run freely, with tail <= cur <= next <= fetched:
 *  - tail: the oldest request that is not completed
 *  - cur: the request to send from next; after a rewind it is below next
 *  - next: the first request that was never sent
 *  - fetched: the first request not yet taken from the ring
 */
struct mxe_requester {
	/* qp_resize.c replaces these, with both locks held. */
	u32 entries;			/* power of two; 0: no queue */
	u32 wr_mask;			/* number of elements of wrs - 1 */
	void *wrs;			/* see mxe_sq_wr() */
	struct mxe_ring ring;		/* shared with a process */

	/* Immutable after creation. */
	size_t wr_size;			/* bytes of an element of wrs */
	u32 max_sge;
	u32 max_inline;			/* bytes */
	/* Requests that a process may post. */
	u32 opcodes;			/* bit n: opcode n */
	u32 srqn_mask;			/* bits that an SRQ number may have */
	u8 atomic_log_sizes;		/* bit n: masked atomics of 2^n bytes */

	/* Interrupts disabled, because kernel consumers post in any context. */
	spinlock_t post_lock;
	u32 posted;			/* producer index of kernel consumers */

	u32 fetched, next, cur, tail;
	u32 psn;			/* next to send */
	u32 sent_psn;			/* first never sent */
	u32 max_psn;			/* first not assigned to a request */
	u32 una;			/* first not acknowledged */
	u32 window;			/* limit of unacknowledged packets */
	u32 rd_atomic;			/* outstanding READs, atomics, ... */
	s32 budget;			/* left; <= 0: end of the slice */
	enum ib_wc_status local_error;	/* found while sending, or 0 */
	u8 retry_left;
	u8 rnr_retry_left;
	bool rnr_wait;			/* RNR NAK: wait for rnr_timer */
	bool rewound;			/* and nothing acknowledged since */
	bool ack_left;			/* the next request asks for the ACK */
	bool halted;			/* stopped by a fatal error */
	bool sqd_notified;		/* was drained in SQD */
	bool retry_armed;		/* retry_at is valid */
	unsigned long retry_at;		/* deadline of an ACK, in jiffies */
	unsigned long pending;		/* bits of enum mxe_pending */
	struct mxe_mr_cache mr_cache;	/* of local keys */
	struct mxe_loopback loopback;
	struct timer_list retry_timer;	/* expires at retry_at or earlier */
	struct mxe_tx tx;
	struct mxe_ah_flow *flow;	/* UD, DC: that of tx, with a reference, or NULL */

	u32 local_error_at;		/* index of the request that failed */
	u32 cnp_psn;			/* sent_psn when a CNP last counted */
	struct timer_list rnr_timer;	/* RNR, or see mxe_retry_later() */
};

/*
 * A READ, atomic, FLUSH or ATOMIC WRITE that was executed, and its result, from
 * which the responder answers duplicates (IBTA 9.7.5).  Values only, never
 * references.
 */
struct mxe_resp_res {
	bool valid;
	u8 atomic_op;			/* enum mxe_atomic_op */
	u8 log_size;			/* as in struct mxe_atomic_args */
	u32 op;				/* one bit of MXE_OP_RESOURCE */
	u32 first_psn;
	u32 last_psn;
	u64 va;
	u32 rkey;
	u32 srqn;			/* XRC */
	u32 msn;
	u32 length;			/* bytes of memory */
	union {
		u32 feth;		/* of a FLUSH */
		/* An atomic of up to 8 bytes; else see struct mxe_resp_wide. */
		struct {
			u64 swap_add;
			u64 compare;
			u64 swap_mask;
			u64 compare_mask;
			u64 orig;	/* its result */
		};
	};
};

/*
 * Operands and result of an atomic of more than 8 bytes, which few peers use.
 */
struct mxe_resp_wide {
	struct mxe_atomic_args args;
	u64 orig[MXE_ATOMIC_WORDS];
};

/* A READ whose responses are being sent. */
struct mxe_resp_read {
	bool active;
	u64 va;
	u32 rkey;
	u32 left;			/* bytes not sent yet */
	u32 psn;			/* of the next response */
	u32 msn;
	bool first;			/* the next response is the first */
	struct mxe_srq *srq;		/* XRC: its PD has the rights */
};

/*
 * Of what packets allocate, in qp->memcg.  With GFP_ATOMIC, that could exceed
 * its limit.
 */
#define MXE_PKT_GFP	(GFP_NOWAIT | __GFP_ACCOUNT | __GFP_NOWARN)

/*
 * The responder of a QP.  recv_lock protects all but the members of q with
 * which requests are posted, see struct mxe_recv_queue.
 */
struct mxe_responder {
	/*
	 * Immutable after creation, except on an XRC target.  There it is the
	 * SRQ that the current or last message names, or NULL.
	 */
	struct mxe_srq *srq;
	u32 epsn;			/* expected PSN */
	u32 msn;
	u32 msg;			/* MXE_OP_SEND, _WRITE: within one */
	u32 offset;			/* bytes of the message so far */
	bool nak_sent;			/* a NAK for epsn was sent */
	bool halted;			/* stopped by a fatal error */
	bool comm_est;			/* COMM_EST was raised */
	bool cur_valid;			/* cur is taken up and not completed */
	bool last_wqe;			/* LAST_WQE_REACHED was raised */
	bool inline_recv;		/* immutable, see inline_recv.h */
	bool wants_locks;		/* a deferred atomic needs the locks */
	s32 budget;			/* left; <= 0: end of the slice */
	u32 deferred_res;		/* those with MXE_OP_RESOURCE */
	unsigned long pending;		/* bits of enum mxe_pending */
	struct sk_buff_head deferred;	/* requests that wait, in order */
	struct mxe_resp_res *res;	/* ring of num_res results */
	struct mxe_resp_wide *wide;	/* of the same slots, or NULL */
	u32 num_res;			/* max_dest_rd_atomic */
	u32 res_head;			/* next slot to use */
	struct mxe_mr_cache mr_cache;	/* of remote keys */
	struct mxe_tx tx;
	u64 write_va;			/* of the rest of a WRITE */
	u32 write_rkey;
	u32 write_left;			/* bytes */
	struct mxe_resp_read read;

	/* Messages that consume receive requests. */
	struct mxe_recv_queue q;	/* no entries if the QP has an SRQ */
	struct mxe_recv_wr *cur;	/* copy of the receive request in use */
	struct mxe_mr_cache local_cache;	/* of receive requests */
	struct mxe_inline_recv inl;	/* of the message in cur */
	struct mxe_tm_msg tm_msg;	/* with mxe_qp_has_tm() */
};

/*
 * Each side begins on a cache line with its lock, followed by what every small
 * operation uses.  What few operations use is at its end.
 */
struct mxe_qp {
	struct mxe_dev *dev;

	/*
	 * Immutable after creation.  ibqp, pd and the CQs must not be used once
	 * the QP is dying.
	 */
	struct ib_qp *ibqp;
	struct ib_pd *pd;
	u32 qpn;
	enum ib_qp_type type;
	enum mxe_transport transport;
	const struct mxe_transport_ops *ops;	/* of the transport */
	struct mxe_cq *send_cq, *recv_cq;	/* NULL: XRC */
	struct mxe_xrcd *xrcd;		/* of an XRC target */
	struct list_head xrcd_entry;	/* xrcd->lock */
	struct mxe_rndv *rndv;		/* see mxe_qp_has_tm() */
	struct mxe_dc *dc;		/* only with MXE_TRANSPORT_DC */
	struct ib_ucontext *uctx;	/* of a process; never dereferenced */
	/* Of the process, or NULL.  It pays for what packets allocate. */
	struct mem_cgroup *memcg;
	bool is_user;
	bool be_reply;			/* big-endian results of atomics */
	bool has_one_mapping;		/* for the rings of both queues */
	bool sig_all;

	u32 mcast_groups;		/* it is a member of; mcast.lock */
	struct mutex resize_mutex;	/* taken before the locks */

	/*
	 * The state and the attributes are written with both locks held, so
	 * either lock suffices to read them. A DC initiator has dest_qpn and av
	 * for its send side only, and writes them with send_lock held.
	 */
	enum ib_qp_state state;
	bool dying;
	struct ib_qp_attr attr;
	u32 dest_qpn;
	u32 mtu;			/* bytes */
	struct mxe_av av;
	struct mxe_rx_dst rx_dst;	/* route of received packets */
	u64 cnp_sent;			/* last CNP, in ns; racy, see cnp.c */

	/* Requester and completer.  BHs disabled. */
	spinlock_t send_lock ____cacheline_aligned;
	struct mxe_requester req;

	/* Responder.  BHs disabled; taken inside send_lock. */
	spinlock_t recv_lock ____cacheline_aligned;
	struct mxe_responder resp;

	/* Does work that exceeds a slice, sleeps, or must not run in a verb. */
	struct work_struct work;
	unsigned long work_queued;	/* jiffies; racy, a hint for late_timer */
	/*
	 * Does that work in softirq, slice by slice, if its CPU has not begun
	 * it after MXE_WORK_LATE, because the CPU runs only a thread of higher
	 * priority, or one that does not yield.
	 */
	struct timer_list late_timer;
	/* Bits of enum mxe_pending that are left to the work item. */
	unsigned long work_events;	/* of the send side */
	unsigned long recv_work_events;	/* of the receive side */

	/*
	 * One reference for the verbs, and one for each handler that is running
	 * without a lock.  Taken under a lock, and only if not dying.
	 */
	refcount_t refs;
	/*
	 * late_timer continues the send side.  Here because struct
	 * mxe_dc_responder, one for each DC session, then has 2 KiB.
	 */
	bool late_send;
	struct completion released;
	struct rcu_head rcu;
};

/* The QP as ib_core sees it. */
struct mxe_ib_qp {
	struct ib_qp ibqp;
	/* NULL once destroyed, because restrack may still ask for details. */
	struct mxe_qp __rcu *qp;
};

static inline struct mxe_ib_qp *to_mibqp(struct ib_qp *ibqp)
{
	return container_of(ibqp, struct mxe_ib_qp, ibqp);
}

/* Context: A verb, or other code that keeps the QP from being destroyed. */
static inline struct mxe_qp *to_mqp(struct ib_qp *ibqp)
{
	return rcu_dereference_protected(to_mibqp(ibqp)->qp, true);
}

static inline bool mxe_qp_is_reliable(const struct mxe_qp *qp)
{
	return qp->ops->is_reliable;
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
 * Return the CQ of receive completions, or NULL. That of an XRC target is the
 * CQ of resp.srq, if there is one.
 * Context: recv_lock held.
 */
static inline struct mxe_cq *mxe_qp_recv_cq(const struct mxe_qp *qp)
{
	const struct mxe_srq *srq = qp->resp.srq;

	if (!mxe_qp_is_xrc_tgt(qp))
		return qp->recv_cq;
	return srq ? to_mcq(srq->ibsrq.ext.cq) : NULL;
}

/*
 * Check for a tag-matching SRQ. Costs nothing until the first one is created.
 */
static inline bool mxe_qp_has_tm(const struct mxe_qp *qp)
{
	return static_branch_unlikely(&mxe_tm_used) && qp->rndv;
}

static inline bool mxe_qp_is_dci(const struct mxe_qp *qp)
{
	return qp->dc && qp->dc->kind == MXE_DC_INITIATOR;
}

/* The responders of a DC target are no DC targets. */
static inline bool mxe_qp_is_dct(const struct mxe_qp *qp)
{
	return qp->dc && qp->dc->kind == MXE_DC_TARGET;
}

/*
 * Check whether the QP has a peer, and the packet is from its address to that
 * of the QP.
 * Context: A lock of the QP held.
 */
static inline bool mxe_qp_is_from_peer(const struct mxe_qp *qp,
				       const struct sk_buff *skb)
{
	return qp->av.valid && mxe_av_sent(&qp->av, skb);
}

/*
 * Return the slot of a request. @index is free-running.
 * Context: send_lock held, or post_lock for an index that is not posted yet.
 */
static inline struct mxe_send_wr *mxe_sq_wr(const struct mxe_requester *req,
					    u32 index)
{
	return req->wrs + (index & req->wr_mask) * req->wr_size;
}

static inline bool mxe_qp_can_receive(enum ib_qp_state state)
{
	return state == IB_QPS_RTR || state == IB_QPS_RTS ||
	       state == IB_QPS_SQD || state == IB_QPS_SQE;
}

/* In SQD only requests that were started before are sent. */
static inline bool mxe_qp_can_send(enum ib_qp_state state)
{
	return state == IB_QPS_RTS || state == IB_QPS_SQD;
}

/* ---- locks ------------------------------------------------------------- */

void mxe_qp_send_begin(struct mxe_qp *qp) __acquires(&qp->send_lock);
void mxe_qp_recv_begin(struct mxe_qp *qp) __acquires(&qp->recv_lock);
void mxe_qp_send_end(struct mxe_qp *qp) __releases(&qp->send_lock);
void mxe_qp_recv_end(struct mxe_qp *qp) __releases(&qp->recv_lock);

/*
 * Take send_lock of a QP, which may be dying, until mxe_qp_send_end_deferred().
 * Context: BHs disabled, RCU read-side section.
 */
static inline void mxe_qp_send_begin_bh_off(struct mxe_qp *qp)
	__acquires(&qp->send_lock)
{
	spin_lock(&qp->send_lock);
}

void mxe_qp_send_end_deferred(struct mxe_qp *qp) __releases(&qp->send_lock);

/*
 * Take recv_lock of a QP that is the peer of another, and may be dying.
 * mxe_qp_recv_end_deferred() ends the section.
 * Context: BHs disabled, RCU read-side section, send_lock of the other QP held.
 */
static inline void mxe_qp_recv_begin_bh_off(struct mxe_qp *qp)
	__acquires(&qp->recv_lock)
{
	spin_lock(&qp->recv_lock);
}

void mxe_qp_recv_end_deferred(struct mxe_qp *qp) __releases(&qp->recv_lock);
void mxe_qp_begin(struct mxe_qp *qp)
	__acquires(&qp->send_lock) __acquires(&qp->recv_lock);
void mxe_qp_end(struct mxe_qp *qp)
	__releases(&qp->recv_lock) __releases(&qp->send_lock);
void mxe_qp_do_deferred(struct mxe_qp *qp);
void mxe_qp_defer_recv(struct mxe_qp *qp, unsigned long pending);
void mxe_qp_put(struct mxe_qp *qp);

/* ---- state ------------------------------------------------------------- */

void mxe_qp_set_state(struct mxe_qp *qp, enum ib_qp_state state);
void mxe_qp_set_error(struct mxe_qp *qp);
void mxe_qp_error(struct mxe_qp *qp);
void mxe_qp_sq_error(struct mxe_qp *qp);
void mxe_qp_kick(struct mxe_qp *qp);
void mxe_qp_completed(struct mxe_qp *qp, enum mxe_cq_result result,
		      unsigned long *pending);

/*
 * Write a completion to the CQ of a side. @pending are the bits of that side.
 * Context: Lock of that side held.
 */
static inline void mxe_qp_complete(struct mxe_qp *qp, struct mxe_cq *cq,
				   const struct mxe_wc *wc,
				   unsigned long *pending)
{
	enum mxe_cq_result result = mxe_cq_add(cq, qp, wc);

	if (result != MXE_CQ_ADDED)
		mxe_qp_completed(qp, result, pending);
}

void mxe_qp_prepare(struct mxe_qp *qp, work_func_t work,
		    void (*late)(struct timer_list *timer));
void mxe_qp_stop_work(struct mxe_qp *qp);

/* Runs the work items of all QPs. */
extern struct workqueue_struct *mxe_qp_wq;

int mxe_qp_init(void);

void mxe_qp_exit(void);

#endif /* MXE_QP_H */
