/* SPDX-License-Identifier: GPL-2.0 */
/* The responder of RC, XRC and DC, and steps of a request (respond.c). */
#ifndef MXE_RESPOND_H
#define MXE_RESPOND_H

#include "memory/atomic.h"
#include "memory/rkey.h"
#include "mxe.h"
#include "queues/qp.h"
#include "trace.h"
#include "wire/psn.h"

int mxe_respond_request(struct mxe_qp *qp, const struct mxe_pkt *pkt,
			const struct sk_buff *skb);

/* ---- steps of a request, shared with the loopback path ----------------- */

/*
 * Check whether a request would be executed at once. The QP may be dying. The
 * first message in RTR is not, because it raises COMM_EST (IBTA 11.6.3.1).
 * Context: recv_lock held.
 */
static inline bool mxe_respond_is_ready(const struct mxe_qp *qp, u32 psn)
{
	const struct mxe_responder *resp = &qp->resp;

	return !qp->dying && !resp->halted && mxe_qp_can_receive(qp->state) &&
	       (qp->state != IB_QPS_RTR || resp->comm_est) && resp->epsn == psn &&
	       !resp->msg && !resp->read.active && skb_queue_empty(&resp->deferred);
}

/*
 * Return the rights to check the keys of a peer against. They are valid until
 * the lock is dropped. @srq, which the request names, is ignored except on an
 * XRC target, where its PD has the rights (IBTA annex A14).
 * Context: recv_lock held.
 */
static inline struct mxe_rights mxe_respond_rights(struct mxe_qp *qp,
						   const struct mxe_srq *srq)
{
	return (struct mxe_rights) {
		.dev = qp->dev,
		.pd = mxe_qp_is_xrc_tgt(qp) ? srq->ibsrq.pd : qp->pd,
		.qpn = qp->qpn,
		.cache = &qp->resp.mr_cache,
	};
}

/* Context: recv_lock held. */
static inline bool mxe_respond_may_write(const struct mxe_qp *qp)
{
	return qp->attr.qp_access_flags & IB_ACCESS_REMOTE_WRITE;
}

/*
 * Check the access flags and max_dest_rd_atomic of the QP.
 * Context: recv_lock held.
 */
static inline bool mxe_respond_may_read(const struct mxe_qp *qp)
{
	return qp->attr.qp_access_flags & IB_ACCESS_REMOTE_READ && qp->resp.num_res;
}

/*
 * True if the atomic is executed provided that its key is valid.
 * Context: recv_lock held.
 */
static inline bool mxe_respond_may_atomic(const struct mxe_qp *qp, u64 va,
					  const struct mxe_atomic_args *args)
{
	return qp->attr.qp_access_flags & IB_ACCESS_REMOTE_ATOMIC &&
	       qp->resp.num_res && args->op != MXE_ATOMIC_UNSUPPORTED &&
	       /* The virtual address is aligned, wherever it is mapped. */
	       IS_ALIGNED(va, mxe_atomic_align(mxe_atomic_size(args)));
}

/*
 * Execute an atomic of a peer, for which mxe_atomic_ready() is true. Set @orig
 * to the original value, as mxe_atomic_exec() does. This is inline, because a
 * call would be 2 % of an atomic on the loopback path.
 * Context: BHs disabled, recv_lock held.
 * Return: 0; -EINVAL if the QP or the memory does not allow it; or an error of
 * mxe_rkey_get(). After an error, nothing was executed.
 */
static inline int mxe_respond_exec_atomic(struct mxe_qp *qp, u32 rkey, u64 va,
					  const struct mxe_atomic_args *args,
					  u64 *orig)
{
	struct mxe_rights rights = mxe_respond_rights(qp, qp->resp.srq);
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

/*
 * Move on to the next message. The request that was executed takes @num_pkts
 * PSNs from the expected one on.
 * Context: recv_lock held.
 */
static inline void mxe_respond_advance(struct mxe_qp *qp, u32 num_pkts)
{
	qp->resp.nak_sent = false;
	qp->resp.msn++;
	qp->resp.epsn = mxe_psn_add(qp->resp.epsn, num_pkts);
}

/*
 * Take the slot for the result of a request. It is marked valid. The caller
 * sets all its other members.
 * Context: recv_lock held.
 */
static inline struct mxe_resp_res *mxe_respond_next_res(struct mxe_responder *resp)
{
	struct mxe_resp_res *res = &resp->res[resp->res_head];

	resp->res_head = (resp->res_head + 1) % resp->num_res;
	/*
	 * The peer has num_res of these requests outstanding at most, so it
	 * has received the response that was stored in this slot.
	 */
	if (res->valid)
		resp->tx.progress = true;
	res->valid = true;
	return res;
}

/* ---- packets ------------------------------------------------------------- */

int mxe_respond_data(struct mxe_qp *qp, const struct mxe_pkt *pkt);
void mxe_respond_read_run(struct mxe_qp *qp);
bool mxe_respond_flush(struct mxe_qp *qp);
void mxe_respond_reset(struct mxe_qp *qp);
void mxe_respond_forget(struct mxe_qp *qp, const struct mxe_srq *srq);

#endif /* MXE_RESPOND_H */
