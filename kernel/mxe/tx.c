// SPDX-License-Identifier: GPL-2.0
/*
 * Builds packets for request.c, respond.c, ud.c and cnp.c. Gives them to the IP
 * layer one by one, or in GSO batches of one QP. It calls hdr.c, gso.c, skb.c
 * and route.c.
 */
#include <linux/ipv6.h>
#include <linux/netdevice.h>
#include <net/if_inet6.h>
#include <net/ip.h>
#include <net/ip6_route.h>
#include <net/sock.h>

#include "ah.h"
#include "dc.h"
#include "mxe.h"
#include "netns.h"
#include "psn.h"
#include "qp.h"
#include "route.h"
#include "skb.h"
#include "trace.h"
#include "tx.h"

#define MXE_TX_ALIGN	16

struct sk_buff *mxe_tx_alloc_empty(struct mxe_qp *qp, size_t len)
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
	size_t size = headroom + len + MXE_ICRC_SIZE;
	struct sk_buff *skb;

	skb = mxe_skb_alloc(size);
	if (!skb) {
		mxe_count(qp->dev, send_no_memory);
		return NULL;
	}
	skb_reserve(skb, headroom);
	return skb;
}

struct sk_buff *mxe_tx_alloc(struct mxe_qp *qp, const struct mxe_pkt_out *out,
			     u8 **payload)
{
	size_t len = mxe_pkt_len(out);
	struct sk_buff *skb;

	skb = mxe_tx_alloc_empty(qp, len);
	if (skb)
		*payload = mxe_pkt_build(out, __skb_put(skb, len));
	return skb;
}

static void mxe_tx_trace(const struct mxe_qp *qp, const struct sk_buff *skb)
{
	const struct mxe_bth *bth = (const void *)skb->data;
	unsigned int pad = (bth->flags & MXE_BTH_PAD_MASK) >> MXE_BTH_PAD_SHIFT;

	trace_mxe_send(qp, bth->opcode, be32_to_cpu(bth->apsn) & MXE_PSN_MASK,
		       skb->len - mxe_opcode_hdr_len(bth->opcode) - pad);
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

/* Sends a packet of a DC QP, without a batch and without cached headers. */
static void mxe_tx_send_dc(struct mxe_qp *qp, struct mxe_tx *tx, struct sk_buff *skb)
{
	unsigned int room = LL_RESERVED_SPACE(qp->dev->ndev) + MXE_HDR_MAX_SIZE;
	struct mxe_hdr hdr = {};

	if (mxe_dc_encapsulate(skb, &qp->dc->hdr, room)) {
		mxe_count(qp->dev, send_no_memory);
		kfree_skb(skb);
		return;
	}
	mxe_hdr_push(&hdr, &qp->av, skb, 0);
	mxe_tx_xmit(qp->dev, &qp->av, &tx->route, skb, 1);
}

void mxe_tx_send(struct mxe_qp *qp, struct mxe_tx *tx, struct sk_buff *skb)
{
	struct mxe_gso *gso = &tx->gso;

	if (trace_mxe_send_enabled())
		mxe_tx_trace(qp, skb);
	if (mxe_qp_has_dc(qp)) {
		mxe_tx_send_dc(qp, tx, skb);
		return;
	}
	if (!mxe_gso_has_room(gso, qp->dev->ndev, skb->len + MXE_ICRC_SIZE))
		mxe_tx_flush(qp, tx);
	mxe_hdr_push(&tx->hdr, &qp->av, skb, gso->num_pkts);
	mxe_gso_add(gso, skb);
}

void mxe_tx_flush(struct mxe_qp *qp, struct mxe_tx *tx)
{
	unsigned int num_pkts = tx->gso.num_pkts;
	struct sk_buff *skb;

	if (!num_pkts)
		return;
	skb = mxe_gso_take(&tx->gso);
	if (tx->progress) {
		skb_set_dst_pending_confirm(skb, 1);
		tx->progress = false;
	}
	mxe_tx_xmit(qp->dev, &qp->av, &tx->route, skb, num_pkts);
}

void mxe_tx_send_to(struct mxe_qp *qp, const struct mxe_av *av,
		    struct sk_buff *skb)
{
	struct mxe_hdr hdr = {};

	if (trace_mxe_send_enabled())
		mxe_tx_trace(qp, skb);
	mxe_hdr_push(&hdr, av, skb, 0);
	mxe_tx_xmit(qp->dev, av, NULL, skb, 1);
}

void mxe_tx_send_dc_control(struct mxe_qp *qp, const struct mxe_av *av, u32 qpn,
			    const struct mxe_dc_hdr *hdr)
{
	struct mxe_pkt_out out = {
		.opcode = MXE_OPCODE_DC_CONTROL,
		.pkey = 0xffff,
		.qpn = qpn,
		/* mxe_dc_put() also writes the DCETH, which is a header. */
		.payload_len = mxe_dc_has_token(hdr->code) ? sizeof(struct mxe_dctleth) : 0,
	};
	struct sk_buff *skb;
	u8 *p;

	skb = mxe_tx_alloc(qp, &out, &p);
	if (!skb)
		return;
	mxe_dc_put(hdr, p);
	mxe_tx_send_to(qp, av, skb);
}
