// SPDX-License-Identifier: GPL-2.0
/* The requester and the responder of UD QPs and QP 1. */
#include <linux/ip.h>
#include <linux/ipv6.h>

#include "ip/ah.h"
#include "ip/tx.h"
#include "mxe.h"
#include "queues/wr.h"
#include "rc/recv.h"
#include "rc/request.h"
#include "rc/sq.h"
#include "rc/ud.h"
#include "wire/psn.h"

/* A Q_Key with this bit in a request means that of the QP (IBTA 10.2.5). */
#define MXE_QKEY_CONTROLLED	BIT(31)

/* ---- sending ----------------------------------------------------------- */

enum ib_wc_status mxe_ud_parse_dest(struct mxe_qp *qp, struct mxe_send_wr *wr,
				    const struct mxe_send_wqe *wqe,
				    const struct mxe_send_wqe *entry)
{
	wr->ud.flow = NULL;
	if (wqe->ud.reserved[0] || wqe->ud.reserved[1] || wqe->ud.reserved1)
		return IB_WC_LOC_QP_OP_ERR;
	wr->ud.flow = mxe_ah_find_flow(qp->dev, qp->pd, wqe->ud.ah_num);
	if (!wr->ud.flow)
		return IB_WC_LOC_QP_OP_ERR;
	wr->ud.qpn = wqe->ud.remote_qpn & MXE_BTH_QPN_MASK;
	wr->ud.qkey = wqe->ud.remote_qkey;
	return IB_WC_SUCCESS;
}

int mxe_ud_copy_dest(struct mxe_send_wr *wr, const struct ib_send_wr *ibwr)
{
	const struct ib_ud_wr *udwr = ud_wr(ibwr);

	if (!udwr->ah)
		return -EINVAL;
	wr->ud.flow = mxe_ah_get_flow(to_mah(udwr->ah)->flow);
	wr->ud.qpn = udwr->remote_qpn & MXE_BTH_QPN_MASK;
	wr->ud.qkey = udwr->remote_qkey;
	return 0;
}

static u32 mxe_ud_mtu(const struct mxe_qp *qp)
{
	int mtu = iboe_get_mtu(READ_ONCE(qp->dev->ndev->mtu));

	return mtu ? ib_mtu_enum_to_int(mtu) : 0;
}

void mxe_ud_forget(struct mxe_qp *qp, struct mxe_send_wr *wr)
{
	mxe_ah_put_flow(wr->ud.flow);
}

void mxe_ud_reset(struct mxe_qp *qp)
{
	mxe_tx_aim(qp, NULL);
}

/* Without memory or a route the datagram is lost. */
static enum ib_wc_status mxe_ud_send(struct mxe_qp *qp, const struct mxe_send_wr *wr)
{
	u32 qkey = wr->ud.qkey & MXE_QKEY_CONTROLLED ? qp->attr.qkey : wr->ud.qkey;
	struct sk_buff *skb;
	u8 *p;

	if (wr->length > mxe_ud_mtu(qp))
		return IB_WC_LOC_LEN_ERR;
	skb = mxe_tx_alloc(qp, mxe_request_opcode(qp, wr, true, true), wr->ud.qpn,
			   qp->req.psn, wr->length, &p);
	/* Counted by mxe_tx_alloc().  Datagrams may be lost. */
	if (!skb)
		return IB_WC_SUCCESS;
	if (wr->flags & MXE_SEND_SOLICITED)
		mxe_pkt_set_solicited(skb->data);
	p = mxe_pkt_write_be32(p, qkey);
	p = mxe_pkt_write_be32(p, qp->qpn);
	if (mxe_wr_has_imm(wr->opcode))
		p = mxe_pkt_write_be32(p, be32_to_cpu(wr->imm));
	if (mxe_request_gather(qp, wr, 0, p, wr->length)) {
		mxe_count(qp->dev, local_access_errors);
		kfree_skb(skb);
		return IB_WC_LOC_PROT_ERR;
	}
	qp->req.psn = mxe_psn_add(qp->req.psn, 1);
	qp->req.max_psn = qp->req.psn;
	mxe_tx_aim(qp, wr->ud.flow);
	mxe_tx_send(qp, &qp->req.tx, skb);
	/* IP clones a datagram to a group, and GSO cannot split the clones. */
	if (mxe_av_is_multicast(&qp->av))
		mxe_tx_flush(qp, &qp->req.tx);
	return IB_WC_SUCCESS;
}

/* A datagram is one packet, and is not acknowledged. */
enum mxe_send_verdict mxe_ud_begin(struct mxe_qp *qp, struct mxe_send_wr *wr)
{
	qp->req.budget -= mxe_pkt_cost(wr->length, wr->num_sge);
	mxe_sq_complete_cur(qp, wr->error ?: mxe_ud_send(qp, wr));
	return MXE_SEND_VERDICT_NEXT;
}

/* ---- receiving --------------------------------------------------------- */

/* Writes the 40 bytes before the payload of a datagram (IBTA 11.4.1.2, A17). */
static void mxe_ud_grh(const struct sk_buff *skb, union rdma_network_hdr *grh)
{
	memset(grh, 0, sizeof(*grh));
	if (ip_hdr(skb)->version == 4)
		memcpy(&grh->roce4grh, ip_hdr(skb), sizeof(struct iphdr));
	else
		memcpy(&grh->ibgrh, ipv6_hdr(skb), sizeof(struct ipv6hdr));
}

static int mxe_ud_scatter(struct mxe_qp *qp, const struct mxe_pkt *pkt,
			  const struct sk_buff *skb)
{
	union rdma_network_hdr grh;
	int err;

	static_assert(sizeof(grh) == sizeof(struct ib_grh));
	mxe_ud_grh(skb, &grh);
	err = mxe_recv_scatter(qp, 0, &grh, sizeof(grh));
	return err ?: mxe_recv_scatter(qp, sizeof(grh), pkt->payload, pkt->payload_len);
}

/* Completes the receive request of a datagram of @len bytes with the GRH. */
static void mxe_ud_complete(struct mxe_qp *qp, const struct mxe_pkt *pkt,
			    const struct sk_buff *skb, u32 len)
{
	struct mxe_wc wc = {
		.opcode = MXE_WC_RECV,
		.solicited = mxe_pkt_is_solicited(pkt),
		.byte_len = len,
		.flags = MXE_CQE_GRH,
		.src_qp = be32_to_cpu(mxe_pkt_deth(pkt)->sqp) & MXE_BTH_QPN_MASK,
		.vlan_id = pkt->vlan_id,
	};

	if (ip_hdr(skb)->version == 4)
		wc.flags |= MXE_CQE_IPV4;
	if (pkt->flags & MXE_OP_IMM) {
		wc.flags |= MXE_CQE_WITH_IMM;
		wc.imm = mxe_pkt_imm(pkt);
	}
	mxe_recv_end(qp, &wc);
}

static void mxe_ud_accept(struct mxe_qp *qp, const struct mxe_pkt *pkt,
			  const struct sk_buff *skb)
{
	u32 len = sizeof(struct ib_grh) + pkt->payload_len;
	int err;

	err = mxe_recv_take(qp);
	if (err == -EAGAIN) {
		mxe_count(qp->dev, drop_no_recv);
		return;
	}
	if (err) {
		mxe_recv_fatal(qp, IB_WC_LOC_QP_OP_ERR);
		return;
	}
	/*
	 * Drop silently (IBTA 9.8.3), because a remote sender must not stop the
	 * QP.  The next datagram uses the same request.
	 */
	if (len > qp->resp.cur->length) {
		mxe_count(qp->dev, drop_recv_too_short);
		return;
	}
	if (mxe_ud_scatter(qp, pkt, skb)) {
		mxe_count(qp->dev, local_access_errors);
		mxe_recv_fatal(qp, IB_WC_LOC_PROT_ERR);
		return;
	}
	mxe_ud_complete(qp, pkt, skb, len);
}

int mxe_ud_request(struct mxe_qp *qp, const struct mxe_pkt *pkt, const struct sk_buff *skb)
{
	lockdep_assert_held(&qp->recv_lock);

	if (be32_to_cpu(mxe_pkt_deth(pkt)->qkey) == qp->attr.qkey)
		mxe_ud_accept(qp, pkt, skb);
	else
		mxe_count(qp->dev, drop_qkey);
	return 0;
}
