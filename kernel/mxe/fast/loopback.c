// SPDX-License-Identifier: GPL-2.0
/*
 * The loopback path: whether packets would return to this host untouched, and
 * the execution of a request by the steps of the responder and the completer.
 */
#include <linux/jiffies.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <net/dst.h>
#include <net/ipv6.h>
#include <net/net_namespace.h>
#include <net/xfrm.h>

#include "fast/hooks.h"
#include "fast/loopback.h"
#include "ip/qpn.h"
#include "ip/route.h"
#include "memory/rkey.h"
#include "mxe.h"
#include "netns.h"
#include "queues/wr.h"
#include "rc/complete.h"
#include "rc/recv.h"
#include "rc/request.h"
#include "rc/respond.h"
#include "rc/sq.h"
#include "tm/rndv.h"
#include "tm/tm_recv.h"
#include "trace.h"

bool mxe_loopback_direct = true;
module_param_named(direct_loop, mxe_loopback_direct, bool, 0644);
MODULE_PARM_DESC(direct_loop,
		 "execute requests between queue pairs of one network namespace without packets (default Y)");

/* ---- path -------------------------------------------------------------- */

/*
 * Returns true if IPsec accepts packets that no policy matches.  A change of
 * this setting increments the generation of the routes.
 */
static bool mxe_loopback_passes_ipsec(const struct net *net)
{
#ifdef CONFIG_XFRM
	return net->xfrm.policy_default[XFRM_POLICY_IN] ==
	       XFRM_USERPOLICY_ACCEPT &&
	       net->xfrm.policy_default[XFRM_POLICY_OUT] ==
	       XFRM_USERPOLICY_ACCEPT;
#else
	return true;
#endif
}

/*
 * Returns true if packets to the peer would return to this host.  The result is
 * valid until the generation of the routes changes.  Context: send_lock held.
 */
static bool mxe_loopback_route_is_local(struct mxe_qp *qp)
{
	struct dst_entry *dst;
	bool local;

	lockdep_assert_held(&qp->send_lock);

	dst = mxe_route_get(qp->dev, &qp->av, &qp->req.tx.route);
	if (IS_ERR(dst))
		return false;
	local = dst->dev->flags & IFF_LOOPBACK && !dst_xfrm(dst) &&
		mxe_loopback_passes_ipsec(qp->dev->mnet->net);
	dst_release(dst);
	return local;
}

static void mxe_loopback_learn(struct mxe_qp *qp, int routes)
{
	struct mxe_loopback *loop = &qp->req.loopback;

	/* Code of the host that could act on packets must see them. */
	rcu_read_lock();
	loop->local = mxe_loopback_route_is_local(qp) &&
		      !mxe_hooks_on_loopback(qp->dev->mnet, qp->av.is_ipv4);
	rcu_read_unlock();
	loop->routes = routes;
	loop->checked = jiffies;
	loop->known = true;
}

/*
 * Returns true if packets to the peer would return to this host, and nothing on
 * the host could act on them.  A new route is noticed at once, and a new hook
 * in the next jiffy.
 */
static bool mxe_loopback_is_local(struct mxe_qp *qp)
{
	const struct mxe_loopback *loop = &qp->req.loopback;
	const struct net *net = qp->dev->mnet->net;
	unsigned long now = jiffies;
	int routes = qp->av.is_ipv4 ? rt_genid_ipv4(net) : rt_genid_ipv6(net);

	if (!loop->known || loop->routes != routes || loop->checked != now)
		mxe_loopback_learn(qp, routes);
	return loop->local;
}

/* Returns true if each of two QPs would accept the packets of the other. */
static bool mxe_loopback_is_between(const struct mxe_qp *qp, const struct mxe_qp *peer)
{
	const struct mxe_av *a = &qp->av, *b = &peer->av;

	if (peer->transport != qp->transport || !b->valid ||
	    peer->dest_qpn != qp->qpn || peer->mtu != qp->mtu ||
	    a->is_ipv4 != b->is_ipv4)
		return false;
	if (a->is_ipv4)
		return a->v4.saddr == b->v4.daddr && a->v4.daddr == b->v4.saddr;
	return ipv6_addr_equal(&a->v6.saddr, &b->v6.daddr) &&
	       ipv6_addr_equal(&a->v6.daddr, &b->v6.saddr);
}

/* ---- data -------------------------------------------------------------- */

/* The data of a request. */
struct mxe_loopback_data {
	struct mxe_qp *qp, *peer;
	const struct mxe_send_wr *wr;
	struct mxe_target target;	/* of the remote key; mr NULL: a SEND */
	u64 addr;			/* in the region of target */
	u32 skip;			/* bytes of a header in front of a SEND's data */
};

/* Copies a piece of a SEND, and skips the header in front of its data. */
static int mxe_loopback_scatter(const struct mxe_loopback_data *data, u32 offset,
				const void *p, u32 len)
{
	if (unlikely(offset < data->skip)) {
		u32 skip = min(len, data->skip - offset);

		offset += skip;
		p += skip;
		len -= skip;
	}
	return mxe_recv_scatter(data->peer, offset - data->skip, p, len);
}

/* Copies bytes offset..offset+len of the message from or to @p. */
static int mxe_loopback_copy_piece(const struct mxe_loopback_data *data, u32 offset,
				   void *p, u32 len)
{
	if (!data->target.mr)
		return mxe_loopback_scatter(data, offset, p, len);
	mxe_mr_copy(data->target.mr, data->addr + offset, p, len,
		    mxe_wr_is_read(data->wr->opcode) ? MXE_FROM_MEMORY :
						       MXE_TO_MEMORY);
	return 0;
}

static int mxe_loopback_copy_sge(const struct mxe_loopback_data *data, u32 offset,
				 const struct ib_sge *sge)
{
	int access = mxe_wr_is_read(data->wr->opcode) ? IB_ACCESS_LOCAL_WRITE : 0;
	struct mxe_mr *mr = mxe_mr_get(data->qp->dev, sge->lkey,
				       &data->qp->req.mr_cache);
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
 * Copies the whole message.  After an error, part of it may have been copied.
 * This is harmless, because the packets copy it again.
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

/* Copies from or to the remote memory of the request. */
static int mxe_loopback_copy_remote(struct mxe_loopback_data *data, int access)
{
	const struct mxe_send_wr *wr = data->wr;
	struct mxe_rights rights = mxe_respond_rights(data->peer, data->peer->resp.srq);
	int err;

	/* A request of 0 bytes needs no key (IBTA 9.7.4). */
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

/* ---- requests ---------------------------------------------------------- */

/*
 * These functions execute a request.  They return 0, or an error, after which
 * the request has to be sent as packets.
 */

/* Completes the receive request of a SEND, or of immediate data. */
static void mxe_loopback_complete_recv(const struct mxe_loopback_data *data)
{
	const struct mxe_send_wr *wr = data->wr;
	struct mxe_qp *peer = data->peer;
	struct mxe_wc wc = {
		.opcode = mxe_wr_is_write(wr->opcode) ?
			  MXE_WC_RECV_RDMA_WITH_IMM : MXE_WC_RECV,
		.solicited = wr->flags & MXE_SEND_SOLICITED,
		.byte_len = wr->length - data->skip,
		.src_qp = peer->dest_qpn,
	};

	if (mxe_wr_has_imm(wr->opcode)) {
		wc.flags = MXE_CQE_WITH_IMM;
		wc.imm = wr->imm;
	}
	mxe_recv_end(peer, &wc);
}

/*
 * Matches the tag of a SEND.  The requester runs the search, so its slice pays
 * for it.  A rendezvous is sent as a packet, because its data follow by
 * packets.  Kept out of line, so that SENDs without tags stay cheap.
 */
static noinline int mxe_loopback_match(struct mxe_loopback_data *data)
{
	const struct mxe_send_wr *wr = data->wr;
	struct mxe_responder *resp = &data->peer->resp;
	struct mxe_rndv_hdr hdr;
	struct mxe_tm_data msg = { .hdr = &hdr, .len = wr->length, .is_last = true };
	int err;

	err = mxe_request_gather(data->qp, wr, 0, &hdr, min_t(u32, wr->length, sizeof(hdr)));
	if (err)
		return err;
	if (wr->length >= sizeof(hdr.tmh) && hdr.tmh.opcode == MXE_TMH_RNDV)
		return -EOPNOTSUPP;
	resp->budget = data->qp->req.budget;
	err = mxe_tm_recv_start(data->peer, &msg);
	data->qp->req.budget = resp->budget;
	resp->budget = MXE_SLICE;
	data->skip = msg.skip;
	return err;
}

static int mxe_loopback_send(struct mxe_loopback_data *data)
{
	struct mxe_qp *peer = data->peer;
	int err;

	err = mxe_qp_has_tm(peer) ? mxe_loopback_match(data) : mxe_recv_take(peer);
	if (err)
		return err;
	/* Do not copy a part of a message that is too long. */
	if (data->wr->length - data->skip > peer->resp.cur->length)
		return -EMSGSIZE;
	err = mxe_loopback_copy(data);
	if (err)
		return err;
	/* The caller charges for the SGEs of the requester. */
	if (unlikely(peer->resp.cur->num_sge >= 4))
		data->qp->req.budget -= peer->resp.cur->num_sge / 4;
	mxe_loopback_complete_recv(data);
	return 0;
}

static int mxe_loopback_write(struct mxe_loopback_data *data)
{
	bool imm = mxe_wr_has_imm(data->wr->opcode);
	struct mxe_qp *peer = data->peer;
	int err;

	if (!mxe_respond_may_write(peer))
		return -EINVAL;
	if (imm) {
		err = mxe_recv_take(peer);
		if (err)
			return err;
	}
	err = mxe_loopback_copy_remote(data, IB_ACCESS_REMOTE_WRITE);
	if (!err && imm)
		mxe_loopback_complete_recv(data);
	return err;
}

static int mxe_loopback_read(struct mxe_loopback_data *data)
{
	if (!mxe_respond_may_read(data->peer) || !data->qp->attr.max_rd_atomic)
		return -EINVAL;
	/* The local keys are of the PD of the SRQ. */
	if (mxe_rndv_owns(data->qp, data->wr))
		return -EOPNOTSUPP;
	return mxe_loopback_copy_remote(data, IB_ACCESS_REMOTE_READ);
}

/*
 * An atomic must not be executed twice, so the memory for its result is checked
 * first.  One that has to wait for mxe_atomic_use_locks() is sent as a packet.
 */
static int mxe_loopback_atomic(struct mxe_qp *qp, struct mxe_qp *peer,
			       const struct mxe_send_wr *wr)
{
	unsigned int size = mxe_atomic_size(&wr->atomic);
	u64 result[MXE_ATOMIC_WORDS] __uninitialized;
	struct mxe_mr *mr;
	int err;

	if (!qp->attr.max_rd_atomic || !mxe_atomic_ready(&wr->atomic) ||
	    !wr->num_sge || wr->sge[0].length < size)
		return -EINVAL;

	mr = mxe_mr_get(qp->dev, wr->sge[0].lkey, &qp->req.mr_cache);
	if (!mr)
		return -ENOENT;
	err = mxe_mr_check(mr, qp->pd, IB_ACCESS_LOCAL_WRITE,
			   wr->sge[0].addr, size);
	if (!err)
		err = mxe_respond_exec_atomic(peer, wr->rkey, wr->remote_addr,
					      &wr->atomic, result);
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

/*
 * Returns the QP that would receive the packets of a request, or NULL.  BHs are
 * disabled, which implies an RCU read-side section, so it is not freed.
 */
static struct mxe_qp *mxe_loopback_peer(struct mxe_qp *qp)
{
	struct mxe_qp *peer = mxe_qpn_find_cached(qp->dev->mnet, qp->dest_qpn,
						  &qp->req.loopback.peer_cache);

	if (!peer || peer->transport != qp->transport)
		return NULL;
	return unlikely(qp->ops->loop_peer) ? qp->ops->loop_peer(qp, peer) : peer;
}

/* ---- both sides -------------------------------------------------------- */

/* Executes a request if the peer is ready for it.  Returns false if not. */
static bool mxe_loopback_with(struct mxe_qp *qp, struct mxe_qp *peer,
			      const struct mxe_send_wr *wr, u32 num_pkts)
{
	int err = -EAGAIN;

	mxe_qp_recv_begin_bh_off(peer);
	if (mxe_loopback_is_between(qp, peer) &&
	    mxe_respond_is_ready(peer, qp->req.max_psn) &&
	    (likely(!peer->ops->select_srq) ||
	     !peer->ops->select_srq(peer, wr->srqn, true)))
		err = mxe_wr_is_atomic(wr->opcode) ?
		      mxe_loopback_atomic(qp, peer, wr) :
		      mxe_loopback_transfer(qp, peer, wr);
	if (!err)
		mxe_respond_advance(peer, num_pkts);
	mxe_qp_recv_end_deferred(peer);
	return !err;
}

/*
 * Executes a request whose packets would return to this host.  Kept out of line
 * so that the check alone stays cheap.
 */
static noinline enum mxe_loopback_result
mxe_loopback_local(struct mxe_qp *qp, struct mxe_send_wr *wr)
{
	struct mxe_requester *req = &qp->req;
	u32 num_pkts = 1;
	struct mxe_qp *peer;
	s32 cost = 1;

	if (unlikely(wr->length > qp->mtu || wr->num_sge >= 4) &&
	    !mxe_wr_is_atomic(wr->opcode)) {
		num_pkts = mxe_request_num_pkts(qp, wr);
		if (num_pkts > MXE_LOOPBACK_PKTS)
			return MXE_LOOPBACK_NO;
		cost = mxe_loopback_cost(wr->length, wr->num_sge);
		/* A request that exceeds the budget waits for a full one. */
		if (cost > req->budget && req->budget < MXE_SLICE) {
			req->budget = 0;
			return MXE_LOOPBACK_LATER;
		}
	}
	peer = mxe_loopback_peer(qp);
	if (!peer)
		return MXE_LOOPBACK_NO;
	/* Packets in flight come first.  Their ACK leads here again. */
	if (req->tail != req->cur)
		return MXE_LOOPBACK_LATER;
	if (!mxe_loopback_with(qp, peer, wr, num_pkts)) {
		/* Part of the data may have been copied. */
		if (cost > 1)
			req->budget -= cost;
		return MXE_LOOPBACK_NO;
	}
	trace_mxe_loop(qp, wr);
	req->budget -= cost;
	mxe_count(qp->dev, loop_requests);
	if (unlikely(qp->ops->loop_done))
		qp->ops->loop_done(qp);
	mxe_sq_complete_executed(qp, num_pkts);
	return MXE_LOOPBACK_DONE;
}

/*
 * Execute @wr, which is at req.cur and not started, without packets. Charge the
 * budget of the slice.
 * Context: BHs disabled, RCU read-side section, send_lock held. Takes and
 * releases recv_lock of the peer.
 */
enum mxe_loopback_result mxe_loopback_request(struct mxe_qp *qp, struct mxe_send_wr *wr)
{
	lockdep_assert_held(&qp->send_lock);

	if (!READ_ONCE(mxe_loopback_direct) || qp->state != IB_QPS_RTS ||
	    wr->error || mxe_wr_flags(wr->opcode) & qp->ops->loop_lacks ||
	    !mxe_loopback_is_local(qp))
		return MXE_LOOPBACK_NO;
	return mxe_loopback_local(qp, wr);
}
