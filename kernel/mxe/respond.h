/* SPDX-License-Identifier: GPL-2.0 */
/* Responder: requests to memory and to the receive queue, and answers. */
#ifndef MXE_RESPOND_H
#define MXE_RESPOND_H

#include "atomic.h"
#include "mxe.h"
#include "psn.h"
#include "qp.h"
#include "rkey.h"
#include "trace.h"

/*
 * A request of a reliable connection, whose turn it is; consumes skb, which holds
 * pkt.  Returns -EBUSY, and leaves skb to the caller, if what it invalidates is being
 * accessed: to be called again.  Other errors have been answered.
 * Context: recv_lock held.
 */
int mxe_respond_request(struct mxe_qp *qp, const struct mxe_pkt *pkt,
			struct sk_buff *skb);

/* ---- steps of a request, shared with the loopback path; recv_lock held ---- */

/*
 * Returns true if the responder would execute a request with this PSN at once, and
 * has nothing to report before.  The first message in RTR is one to report (IBTA
 * 11.6.3.1).
 */
static inline bool mxe_respond_is_ready(const struct mxe_qp *qp, u32 psn)
{
	const struct mxe_rq *rq = &qp->rq;

	return !qp->dying && !rq->halted && mxe_qp_can_receive(qp->state) &&
	       (qp->state != IB_QPS_RTR || rq->comm_est) && rq->epsn == psn &&
	       !rq->msg && !rq->read.active && skb_queue_empty(&rq->deferred);
}

/*
 * The rights that the requester's keys are checked against.  srq: the shared queue
 * that the request names; with XRC its protection domain counts (IBTA annex A14).
 */
static inline struct mxe_rights mxe_respond_rights(struct mxe_qp *qp,
						   const struct mxe_srq *srq)
{
	return (struct mxe_rights) {
		.dev = qp->dev,
		.pd = mxe_qp_is_xrc_tgt(qp) ? srq->ibsrq.pd : qp->pd,
		.qpn = qp->qpn,
		.cache = &qp->rq.mr_cache,
	};
}

static inline bool mxe_respond_may_write(const struct mxe_qp *qp)
{
	return qp->attr.qp_access_flags & IB_ACCESS_REMOTE_WRITE;
}

static inline bool mxe_respond_may_read(const struct mxe_qp *qp)
{
	return qp->attr.qp_access_flags & IB_ACCESS_REMOTE_READ && qp->rq.num_res;
}

/* Returns true if the atomic would be executed, provided that its key is valid. */
static inline bool mxe_respond_may_atomic(const struct mxe_qp *qp, u64 va,
					  const struct mxe_atomic_args *args)
{
	return qp->attr.qp_access_flags & IB_ACCESS_REMOTE_ATOMIC &&
	       qp->rq.num_res && args->op != MXE_ATOMIC_UNSUPPORTED &&
	       /* The virtual address is aligned, wherever it is mapped. */
	       IS_ALIGNED(va, mxe_atomic_size(args));
}

/*
 * Execute an atomic for which mxe_atomic_ready().  Returns 0, with the original value
 * in orig as mxe_atomic_exec() stores it, or -EINVAL or an error of mxe_rkey_get(), if
 * nothing was executed.  Inline: a call would be 2 % of an atomic on the loopback path.
 */
static inline int mxe_respond_exec_atomic(struct mxe_qp *qp, u32 rkey, u64 va,
					  const struct mxe_atomic_args *args,
					  u64 *orig)
{
	struct mxe_rights rights = mxe_respond_rights(qp, qp->rq.srq);
	int err;

	if (!mxe_respond_may_atomic(qp, va, args))
		return -EINVAL;
	err = mxe_rkey_atomic(&rights, rkey, IB_ACCESS_REMOTE_ATOMIC, va, args, orig);
	if (err)
		return err;

	mxe_count(qp->dev, atomics_executed);
	if (mxe_atomic_is_masked(args->op))
		mxe_count(qp->dev, masked_atomics_executed);
	trace_mxe_atomic(qp, rkey, va, args);
	return 0;
}

/* The request whose turn it was is executed, and its message, of num_pkts PSNs, ends. */
static inline void mxe_respond_advance(struct mxe_qp *qp, u32 num_pkts)
{
	qp->rq.nak_sent = false;
	qp->rq.msn++;
	qp->rq.epsn = mxe_psn_add(qp->rq.epsn, num_pkts);
}

/* ---- packets ------------------------------------------------------------- */

/*
 * Put the data of a packet of a SEND or WRITE where they belong, and complete
 * the message's receive request with the last one; no answer is sent.  Errors
 * as of the memory layer; -EAGAIN: no receive request, -EIO: one that cannot
 * be used, -EMSGSIZE: too short a one.  Context: recv_lock held.
 */
int mxe_respond_data(struct mxe_qp *qp, const struct mxe_pkt *pkt);
/* Send more of a long READ, up to the end of the slice.  Context: recv_lock held. */
void mxe_respond_read_run(struct mxe_qp *qp);
/*
 * The queue pair is in ERR: forget a READ, and flush what is posted as
 * mxe_recv_flush() does.  Context: recv_lock held.
 */
void mxe_respond_flush(struct mxe_qp *qp);
/*
 * How often this CPU has left the rest of a READ to the work of a queue pair, modulo
 * 2^32.  mxe_doorbell_wait() looks whether it has changed.
 */
DECLARE_PER_CPU(u32, mxe_reads_left);
/* Forget a message in progress and everything stored. */
void mxe_respond_reset(struct mxe_qp *qp);
/*
 * A shared receive queue of XRC goes: let go of what is in progress for it.
 * Context: recv_lock held.
 */
void mxe_respond_forget(struct mxe_qp *qp, const struct mxe_srq *srq);

#endif /* MXE_RESPOND_H */
