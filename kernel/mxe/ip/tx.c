// SPDX-License-Identifier: GPL-2.0
/*
 * Transmission of packets: memory and headers for them, and the way to the IP
 * layer, one by one or in GSO batches of one QP.
 */
#include <linux/ipv6.h>
#include <linux/netdevice.h>
#include <net/if_inet6.h>
#include <net/ip.h>
#include <net/ip6_route.h>
#include <net/sock.h>

#include "dc/dc.h"
#include "fast/skb.h"
#include "ip/ah.h"
#include "ip/route.h"
#include "ip/tx.h"
#include "mxe.h"
#include "netns.h"
#include "queues/qp.h"
#include "trace.h"
#include "wire/psn.h"

#define MXE_TX_ALIGN	16

/* Returns an empty packet with room for @len bytes from the BTH on. */
static struct sk_buff *mxe_tx_alloc_empty(struct mxe_qp *qp, size_t len)
{
	/* Tunnels push headers onto each packet of a GSO batch. */
	size_t room = max_t(size_t, LL_RESERVED_SPACE(qp->dev->ndev),
			    NET_SKB_PAD) + MXE_HDR_MAX_SIZE;
	/*
	 * Align the first byte after the BTH, because the ICRC is computed by
	 * vector instructions.
	 */
	size_t headroom = ALIGN(room + sizeof(struct mxe_bth), MXE_TX_ALIGN) -
			  sizeof(struct mxe_bth);
	struct sk_buff *skb = mxe_skb_alloc(headroom + len + MXE_ICRC_SIZE);

	if (unlikely(!skb)) {
		mxe_count(qp->dev, send_no_memory);
		return NULL;
	}
	skb_reserve(skb, headroom);
	return skb;
}

/**
 * mxe_tx_alloc() - Allocate a packet and write its BTH and DC headers.
 * @qp: QP that sends it
 * @opcode: BTH opcode
 * @qpn: BTH destination QP, with other bits of that word
 * @apsn: PSN, with MXE_BTH_ACK_REQ
 * @more: bytes behind the headers: payload, or operands beyond 8 bytes each
 * @p: set to the first byte that the caller has to write
 *
 * The caller writes all other headers of the opcode and @more bytes.  Counts
 * send_no_memory if it fails.
 *
 * Context: BHs disabled.
 * Return: the packet, which begins at the BTH, or NULL.
 */
struct sk_buff *mxe_tx_alloc(struct mxe_qp *qp, u8 opcode, u32 qpn, u32 apsn,
			     u32 more, u8 **p)
{
	const struct mxe_opcode *row = &mxe_opcodes[opcode];
	/* Control packets have DC headers of their own. */
	bool has_dc = (row->flags & (MXE_OP_DCETH | MXE_OP_DC_CONTROL)) == MXE_OP_DCETH;
	unsigned int pad = -more & 3;
	size_t len = row->hdr_len + more + pad;
	struct sk_buff *skb;

	if (has_dc)
		len += mxe_dc_len(&qp->dc->hdr) - sizeof(struct mxe_dceth);
	skb = mxe_tx_alloc_empty(qp, len);
	if (unlikely(!skb))
		return NULL;
	*p = mxe_pkt_write_bth(__skb_put(skb, len), opcode, pad, qpn, apsn);
	if (has_dc)
		*p = mxe_dc_write(&qp->dc->hdr, *p);
	if (pad)
		memset(skb_tail_pointer(skb) - pad, 0, pad);
	return skb;
}

static void mxe_tx_trace(const struct mxe_qp *qp, const struct sk_buff *skb)
{
	struct mxe_pkt pkt;

	/* The ICRC is not there yet. */
	if (!mxe_pkt_parse(&pkt, skb->data, skb->len + MXE_ICRC_SIZE))
		trace_mxe_send(qp, pkt.bth->opcode, pkt.psn, pkt.payload_len);
}

/*
 * Returns true if IP takes the path for narrower than the netdev. Context: BHs
 * disabled.
 */
static bool mxe_tx_is_narrow6(const struct dst_entry *dst)
{
	const struct inet6_dev *idev = rcu_dereference_bh(dst->dev->ip6_ptr);

	return dst_metric_raw(dst, RTAX_MTU) ||
	       (idev && READ_ONCE(idev->cnf.mtu6) < READ_ONCE(dst->dev->mtu));
}

/*
 * Sends an IPv6 packet or GSO batch with a route. IPv6 takes the MTU of the
 * netdev only if the skb, and not just the call, has a socket that says so.
 */
static void mxe_tx_xmit_ipv6(struct mxe_dev *dev, struct sk_buff *skb)
{
	if (unlikely(mxe_tx_is_narrow6(skb_dst(skb))) &&
	    !skb_set_owner_sk_safe(skb, dev->mnet->sk6->sk)) {
		kfree_skb(skb);
		return;
	}
	ip6_local_out(dev->mnet->net, NULL, skb);
}

/* Sends num_pkts packets in one skb, which is consumed.  kept may be NULL. */
static void mxe_tx_xmit(struct mxe_dev *dev, const struct mxe_av *av,
			struct mxe_route *kept, struct sk_buff *skb,
			unsigned int num_pkts)
{
	struct dst_entry *dst;

	dst = mxe_route_get(dev, av, kept);
	if (IS_ERR(dst)) {
		mxe_count_by(dev, send_no_route, num_pkts);
		kfree_skb(skb);
		return;
	}

	skb_dst_set(skb, dst);
	mxe_count_by(dev, sent_pkts, num_pkts);
	if (num_pkts > 1)
		mxe_count(dev, sent_gso_batches);
	/* skb->cb is zeroed by mxe_skb_alloc(). */
	if (av->is_ipv4)
		ip_local_out(dev->mnet->net, dev->mnet->sk4->sk, skb);
	else
		mxe_tx_xmit_ipv6(dev, skb);
}

/*
 * Complete a packet of mxe_tx_alloc(), and add it to the GSO batch of @tx. A
 * batch without room for the packet is sent first. Consumes @skb.
 * Context: BHs disabled, lock of that side held.
 */
void mxe_tx_send(struct mxe_qp *qp, struct mxe_tx *tx, struct sk_buff *skb)
{
	struct mxe_gso *gso = &tx->gso;

	if (trace_mxe_send_enabled())
		mxe_tx_trace(qp, skb);
	if (!mxe_gso_has_room(gso, qp->dev->ndev, skb->len + MXE_ICRC_SIZE))
		mxe_tx_flush(qp, tx);
	mxe_hdr_push(&tx->hdr, &qp->av, skb, gso->num_pkts);
	mxe_gso_add(gso, skb);
}

/*
 * Send the GSO batch of @tx, which is not empty. Without a route, the packets
 * are dropped and counted in send_no_route. The protocol handles this like
 * packets lost on the wire.
 * Context: BHs disabled, lock of that side held.
 */
void mxe_tx_send_batch(struct mxe_qp *qp, struct mxe_tx *tx)
{
	unsigned int num_pkts = tx->gso.num_pkts;
	struct sk_buff *skb = mxe_gso_take(&tx->gso);

	if (tx->progress) {
		skb_set_dst_pending_confirm(skb, 1);
		tx->progress = false;
	}
	mxe_tx_xmit(qp->dev, &qp->av, &tx->route, skb, num_pkts);
}

/*
 * Check whether the requester already sends to the destination of @flow, which
 * another handle may name. Both may be NULL.
 * Context: send_lock held.
 */
bool mxe_tx_is_aimed(const struct mxe_qp *qp, const struct mxe_ah_flow *flow)
{
	const struct mxe_ah_flow *cur = qp->req.flow;

	lockdep_assert_held(&qp->send_lock);

	return flow == cur ||
	       (flow && cur && mxe_av_same(mxe_ah_flow_av(flow), &qp->av));
}

/*
 * Point the requester at the destination of a flow, or at none. Requests to the
 * same one share headers, route and GSO batch, whatever handles name it. Send a
 * batch to the last one first.
 * Context: BHs disabled, send_lock held.
 * Return: true if the address has changed.
 */
bool mxe_tx_aim(struct mxe_qp *qp, struct mxe_ah_flow *flow)
{
	struct mxe_requester *req = &qp->req;

	if (mxe_tx_is_aimed(qp, flow))
		return false;
	mxe_tx_flush(qp, &req->tx);
	if (req->flow)
		mxe_ah_store_flow(req->flow, &req->tx);
	mxe_ah_put_flow(req->flow);
	req->flow = flow;
	if (!flow)
		return true;
	mxe_ah_get_flow(flow);
	qp->av = *mxe_ah_flow_av(flow);
	mxe_ah_load_flow(flow, &req->tx);
	return true;
}

/*
 * Complete a packet of mxe_tx_alloc(), and send it to @av at once. Consumes
 * @skb.
 * Context: BHs disabled.
 */
void mxe_tx_send_to(struct mxe_qp *qp, const struct mxe_av *av,
		    struct sk_buff *skb)
{
	struct mxe_hdr hdr = {};

	if (trace_mxe_send_enabled())
		mxe_tx_trace(qp, skb);
	mxe_hdr_push(&hdr, av, skb, 0);
	mxe_tx_xmit(qp->dev, av, NULL, skb, 1);
}

/*
 * Send a control packet of a DC initiator or target to QP @qpn. It may be lost,
 * also because there is no memory.
 * Context: BHs disabled.
 */
void mxe_tx_send_dc_control(struct mxe_qp *qp, const struct mxe_av *av, u32 qpn,
			    const struct mxe_dc_hdr *hdr)
{
	u32 more = mxe_dc_has_token(hdr->code) ? sizeof(struct mxe_dctleth) : 0;
	struct sk_buff *skb;
	u8 *p;

	skb = mxe_tx_alloc(qp, MXE_OPCODE_DC_CONTROL, qpn, 0, more, &p);
	if (!skb)
		return;
	mxe_dc_write_control(hdr, p);
	mxe_tx_send_to(qp, av, skb);
}
