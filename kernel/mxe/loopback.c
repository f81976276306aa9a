// SPDX-License-Identifier: GPL-2.0
#include <linux/jiffies.h>

#include "complete.h"
#include "hooks.h"
#include "loopback.h"
#include "mxe.h"
#include "netns.h"
#include "psn.h"
#include "qpn.h"
#include "recv.h"
#include "request.h"
#include "rkey.h"
#include "route.h"
#include "sq.h"
#include "trace.h"
#include "wr.h"

bool mxe_loopback_direct = true;

/* ---- path -------------------------------------------------------------- */

void mxe_loopback_reset(struct mxe_qp *qp)
{
	lockdep_assert_held(&qp->send_lock);

	qp->sq.loopback.known = false;
	qp->sq.loopback.peer.qp = NULL;
}

static noinline void mxe_loopback_learn(struct mxe_qp *qp, int routes)
{
	struct mxe_loopback *loop = &qp->sq.loopback;

	/* What could act on the packets has to see packets. */
	rcu_read_lock();
	loop->local = mxe_route_is_local(qp) &&
		      !mxe_hooks_on_loopback(qp->dev->mnet, qp->av.is_ipv4);
	rcu_read_unlock();
	loop->routes = routes;
	loop->checked = jiffies;
	loop->known = true;
}

/*
 * Would packets come back to this host, and nothing act on them meanwhile?  A new
 * route counts at once, a new hook with the next jiffy.
 */
static bool mxe_loopback_is_local(struct mxe_qp *qp)
{
	const struct mxe_loopback *loop = &qp->sq.loopback;
	int routes = mxe_route_generation(qp->dev->mnet, qp->av.is_ipv4);

	if (!loop->known || loop->routes != routes ||
	    time_is_before_jiffies(loop->checked))
		mxe_loopback_learn(qp, routes);
	return loop->local;
}

/* Are they connected to each other, in every respect that packets tell? */
static bool mxe_loopback_connected(const struct mxe_qp *qp,
				   const struct mxe_qp *peer)
{
	const struct mxe_av *a = &qp->av, *b = &peer->av;

	if (peer->type != IB_QPT_RC || !b->valid ||
	    peer->dest_qpn != qp->qpn || peer->mtu != qp->mtu ||
	    a->is_ipv4 != b->is_ipv4)
		return false;
	if (a->is_ipv4)
		return a->v4.saddr == b->v4.daddr && a->v4.daddr == b->v4.saddr;
	return ipv6_addr_equal(&a->v6.saddr, &b->v6.daddr) &&
	       ipv6_addr_equal(&a->v6.daddr, &b->v6.saddr);
}

/*
 * Is the responder about to take this very request, with nothing to be told of
 * before?  The first message of all (IBTA 11.6.3.1) is left to packets.
 */
static bool mxe_loopback_ready(const struct mxe_qp *qp, const struct mxe_qp *peer)
{
	const struct mxe_rq *rq = &peer->rq;

	lockdep_assert_held(&peer->recv_lock);

	return !peer->dying && !rq->halted &&
	       mxe_qp_can_receive(peer->state) &&
	       (peer->state != IB_QPS_RTR || rq->comm_est) &&
	       rq->epsn == qp->sq.max_psn && !rq->msg && !rq->read.active &&
	       skb_queue_empty(&rq->deferred);
}

/* ---- data -------------------------------------------------------------- */

/* The other end of what is copied. */
struct mxe_loopback_data {
	struct mxe_qp *qp, *peer;
	const struct mxe_send_wr *wr;
	struct mxe_target target;	/* of the remote key; none: a SEND */
	u64 addr;			/* in its region */
};

static struct mxe_rights mxe_loopback_rights(struct mxe_qp *peer)
{
	return (struct mxe_rights) {
		.dev = peer->dev,
		.pd = peer->pd,
		.qpn = peer->qpn,
		.cache = &peer->rq.mr_cache,
	};
}

/* Bytes offset..offset+len of the message are, or belong, at p. */
static int mxe_loopback_copy_piece(const struct mxe_loopback_data *data, u32 offset,
				   void *p, u32 len)
{
	const struct mxe_recv_wr *recv = data->peer->rq.cur;

	if (!data->target.mr)
		return mxe_sge_copy_cached(data->peer->dev,
					   mxe_recv_pd(data->peer), recv->sge,
					   recv->num_sge, offset, p, len,
					   MXE_TO_MEMORY,
					   &data->peer->rq.local_cache);
	mxe_mr_copy(data->target.mr, data->addr + offset, p, len,
		    data->wr->opcode == IB_WR_RDMA_READ ? MXE_FROM_MEMORY :
							  MXE_TO_MEMORY);
	return 0;
}

static int mxe_loopback_copy_sge(const struct mxe_loopback_data *data, u32 offset,
				 const struct ib_sge *sge)
{
	int access = data->wr->opcode == IB_WR_RDMA_READ ?
		     IB_ACCESS_LOCAL_WRITE : 0;
	struct mxe_mr *mr = mxe_mr_get_cached(data->qp->dev, sge->lkey,
					      &data->qp->sq.mr_cache);
	u64 addr = sge->addr;
	u32 left = sge->length;
	int err;

	if (!mr)
		return -ENOENT;
	err = mxe_mr_check(mr, data->qp->pd, access, addr, left);
	while (left && !err) {
		u32 len;
		void *p = mxe_mr_ptr(mr, addr, &len);

		len = min(len, left);
		err = mxe_loopback_copy_piece(data, offset, p, len);
		offset += len;
		addr += len;
		left -= len;
	}
	mxe_mr_put(mr);
	return err;
}

/*
 * Copy all of the message.  If it fails some of it may have been copied, as
 * may be with packets; they begin again.
 */
static int mxe_loopback_copy(const struct mxe_loopback_data *data)
{
	const struct mxe_send_wr *wr = data->wr;
	u32 offset = 0;
	int i, err = 0;

	if (!wr->length)
		return 0;
	if (wr->flags & MXE_SEND_INLINE)
		return mxe_loopback_copy_piece(data, 0, (void *)wr->inline_data,
					   wr->length);
	for (i = 0; i < wr->num_sge && !err; i++) {
		if (!wr->sge[i].length)
			continue;
		err = mxe_loopback_copy_sge(data, offset, &wr->sge[i]);
		offset += wr->sge[i].length;
	}
	return err;
}

/* Copy from or to the memory that the request names. */
static int mxe_loopback_copy_remote(struct mxe_loopback_data *data, int access)
{
	const struct mxe_send_wr *wr = data->wr;
	struct mxe_rights rights = mxe_loopback_rights(data->peer);
	int err;

	/* Without bytes no key is needed (IBTA 9.7.4). */
	if (!wr->length)
		return 0;
	data->addr = wr->remote_addr;
	err = mxe_rkey_get(&rights, wr->rkey, access, &data->addr, wr->length,
			   &data->target);
	if (err)
		return err;
	err = mxe_loopback_copy(data);
	mxe_rkey_put(&data->target);
	return err;
}

/* ---- requests: 0, or an error with which nothing has changed ----------- */

/* The message has arrived: complete the receive request that it took. */
static void mxe_loopback_deliver(struct mxe_qp *peer, const struct mxe_send_wr *wr)
{
	struct mxe_wc wc = {
		.opcode = mxe_wr_is_write(wr->opcode) ?
			  MXE_WC_RECV_RDMA_WITH_IMM : MXE_WC_RECV,
		.solicited = wr->flags & MXE_SEND_SOLICITED,
		.src_qp = peer->dest_qpn,
	};

	if (wr->opcode != IB_WR_SEND) {
		wc.flags = MXE_CQE_WITH_IMM;
		wc.imm = wr->imm;
	}
	peer->rq.offset = wr->length;
	mxe_recv_end(peer, &wc);
}

static int mxe_loopback_send(struct mxe_loopback_data *data)
{
	struct mxe_qp *peer = data->peer;
	int err;

	err = mxe_recv_take(peer);
	if (err)
		return err;
	if (data->wr->length > peer->rq.cur->length)
		return -EMSGSIZE;
	err = mxe_loopback_copy(data);
	if (!err) {
		/* That of the requester's list is added by the caller. */
		if (unlikely(peer->rq.cur->num_sge >= 4))
			data->qp->sq.budget -= peer->rq.cur->num_sge / 4;
		mxe_loopback_deliver(peer, data->wr);
	}
	return err;
}

static int mxe_loopback_write(struct mxe_loopback_data *data)
{
	bool imm = data->wr->opcode == IB_WR_RDMA_WRITE_WITH_IMM;
	struct mxe_qp *peer = data->peer;
	int err;

	if (!(peer->attr.qp_access_flags & IB_ACCESS_REMOTE_WRITE))
		return -EINVAL;
	if (imm) {
		err = mxe_recv_take(peer);
		if (err)
			return err;
	}
	err = mxe_loopback_copy_remote(data, IB_ACCESS_REMOTE_WRITE);
	if (!err && imm)
		mxe_loopback_deliver(peer, data->wr);
	return err;
}

static int mxe_loopback_read(struct mxe_loopback_data *data)
{
	const struct mxe_qp *peer = data->peer;

	if (!(peer->attr.qp_access_flags & IB_ACCESS_REMOTE_READ) ||
	    !peer->rq.num_res || !data->qp->attr.max_rd_atomic)
		return -EINVAL;
	return mxe_loopback_copy_remote(data, IB_ACCESS_REMOTE_READ);
}

static noinline void mxe_loopback_trace_atomic(const struct mxe_qp *peer,
					       const struct mxe_send_wr *wr)
{
	struct mxe_pkt pkt = {
		.psn = peer->rq.epsn,
		.va = wr->remote_addr,
		.rkey = wr->rkey,
		.atomic = wr->atomic,
	};

	trace_mxe_atomic(peer, &pkt);
}

static int mxe_loopback_exec_atomic(struct mxe_qp *peer,
				    const struct mxe_send_wr *wr, u64 *orig)
{
	struct mxe_rights rights = mxe_loopback_rights(peer);
	int err;

	err = mxe_rkey_atomic(&rights, wr->rkey, IB_ACCESS_REMOTE_ATOMIC,
			      wr->remote_addr, &wr->atomic, orig);
	if (err)
		return err;
	mxe_count(peer->dev, atomics_executed);
	if (mxe_atomic_is_masked(wr->atomic.op))
		mxe_count(peer->dev, masked_atomics_executed);
	if (trace_mxe_atomic_enabled())
		mxe_loopback_trace_atomic(peer, wr);
	return 0;
}

/* The place of the result is made sure of first: it is executed only once. */
static int mxe_loopback_atomic(struct mxe_qp *qp, struct mxe_qp *peer,
			       const struct mxe_send_wr *wr)
{
	unsigned int size = mxe_atomic_size(&wr->atomic);
	u64 result[MXE_ATOMIC_WORDS];
	struct mxe_mr *mr;
	int err;

	if (!(peer->attr.qp_access_flags & IB_ACCESS_REMOTE_ATOMIC) ||
	    !peer->rq.num_res || !qp->attr.max_rd_atomic ||
	    !IS_ALIGNED(wr->remote_addr, size) ||
	    !mxe_atomic_ready(&wr->atomic))
		return -EINVAL;
	if (!wr->num_sge || wr->sge[0].length < size)
		return -EINVAL;

	mr = mxe_mr_get_cached(qp->dev, wr->sge[0].lkey, &qp->sq.mr_cache);
	if (!mr)
		return -ENOENT;
	err = mxe_mr_check(mr, qp->pd, IB_ACCESS_LOCAL_WRITE,
			   wr->sge[0].addr, size);
	if (!err)
		err = mxe_loopback_exec_atomic(peer, wr, result);
	if (!err) {
		mxe_complete_result(qp, &wr->atomic, result);
		mxe_mr_copy(mr, wr->sge[0].addr, result, size, MXE_TO_MEMORY);
	}
	mxe_mr_put(mr);
	return err;
}

static int mxe_loopback_transfer(struct mxe_qp *qp, struct mxe_qp *peer,
				 const struct mxe_send_wr *wr)
{
	struct mxe_loopback_data data = { .qp = qp, .peer = peer, .wr = wr };

	if (mxe_wr_is_send(wr->opcode))
		return mxe_loopback_send(&data);
	if (mxe_wr_is_write(wr->opcode))
		return mxe_loopback_write(&data);
	return mxe_loopback_read(&data);
}

/* Local operations, invalidations and memory placement take the long way. */
static bool mxe_loopback_has(enum ib_wr_opcode opcode)
{
	return !(mxe_wr_flags(opcode) & (MXE_WR_OP_INVALIDATE | MXE_WR_OP_LOCAL |
					 MXE_WR_OP_PLACEMENT));
}

/* ---- both sides -------------------------------------------------------- */

static bool mxe_loopback_with(struct mxe_qp *qp, struct mxe_qp *peer,
			      const struct mxe_send_wr *wr, u32 num_pkts)
{
	struct mxe_rq *rq = &peer->rq;
	int err = -EAGAIN;

	spin_lock(&peer->recv_lock);
	if (mxe_loopback_connected(qp, peer) && mxe_loopback_ready(qp, peer))
		err = mxe_wr_is_atomic(wr->opcode) ?
		      mxe_loopback_atomic(qp, peer, wr) :
		      mxe_loopback_transfer(qp, peer, wr);
	if (!err) {
		rq->nak_sent = false;
		rq->msn++;
		rq->epsn = mxe_psn_add(rq->epsn, num_pkts);
	}
	mxe_rq_end_deferred(peer);
	return !err;
}

/* As if all its packets were acknowledged. */
static void mxe_loopback_complete(struct mxe_qp *qp, u32 num_pkts)
{
	struct mxe_sq *sq = &qp->sq;

	sq->max_psn = mxe_psn_add(sq->max_psn, num_pkts);
	sq->psn = sq->max_psn;
	sq->sent_psn = sq->max_psn;
	sq->una = sq->max_psn;
	mxe_count(qp->dev, loop_requests);
	mxe_sq_complete_cur(qp, IB_WC_SUCCESS);
}

/* Packets to the peer would come back.  Inline, who only asks would pay for it. */
static noinline enum mxe_loopback_result
mxe_loopback_local(struct mxe_qp *qp, struct mxe_send_wr *wr)
{
	struct mxe_sq *sq = &qp->sq;
	u32 num_pkts = 1;
	struct mxe_qp *peer;
	s32 cost = 1;

	if (unlikely(wr->length > qp->mtu || wr->num_sge >= 4) &&
	    !mxe_wr_is_atomic(wr->opcode)) {
		num_pkts = mxe_request_num_pkts(qp, wr);
		if (num_pkts > MXE_BURST)
			return MXE_LOOPBACK_NO;
		cost = mxe_loopback_cost(wr->length, wr->num_sge);
		/* One that costs more than a slice has one to itself. */
		if (cost > sq->budget && sq->budget < MXE_SLICE) {
			sq->budget = 0;
			return MXE_LOOPBACK_LATER;
		}
	}
	/* Bottom halves are off, which is as good as RCU: the peer stays. */
	peer = mxe_qpn_find_cached(qp->dev->mnet, qp->dest_qpn, &sq->loopback.peer);
	if (!peer)
		return MXE_LOOPBACK_NO;
	/* What was sent comes first; its answer calls again. */
	if (sq->tail != sq->cur)
		return MXE_LOOPBACK_LATER;
	if (!mxe_loopback_with(qp, peer, wr, num_pkts)) {
		/* Some of it may have been copied. */
		if (cost > 1)
			sq->budget -= cost;
		return MXE_LOOPBACK_NO;
	}
	trace_mxe_loop(qp, wr);
	sq->budget -= cost;
	mxe_loopback_complete(qp, num_pkts);
	return MXE_LOOPBACK_DONE;
}

enum mxe_loopback_result mxe_loopback_request(struct mxe_qp *qp, struct mxe_send_wr *wr)
{
	lockdep_assert_held(&qp->send_lock);

	if (!READ_ONCE(mxe_loopback_direct) || qp->type != IB_QPT_RC ||
	    qp->state != IB_QPS_RTS || wr->error || !mxe_loopback_has(wr->opcode) ||
	    !mxe_loopback_is_local(qp))
		return MXE_LOOPBACK_NO;
	return mxe_loopback_local(qp, wr);
}
