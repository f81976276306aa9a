// SPDX-License-Identifier: GPL-2.0
/*
 * Parses and writes the headers of dynamically connected (DC) packets.  tx.c,
 * dci.c, dct.c and dc_rx.c call it.  It calls no other file of mxe.
 */
#include <linux/skbuff.h>
#include <linux/udp.h>

#include "dc.h"
#include "pkt.h"
#include "psn.h"

DEFINE_STATIC_KEY_FALSE(mxe_dc_used);

static unsigned int mxe_dc_len(bool connect)
{
	return sizeof(struct mxe_dceth) + (connect ? sizeof(struct mxe_dcceth) : 0);
}

static u8 mxe_dc_rc_opcode(u8 opcode)
{
	if (opcode == MXE_OPCODE_DC_MASKED_CMP_SWAP)
		return MXE_OPCODE_RC_MASKED_CMP_SWAP;
	if (opcode == MXE_OPCODE_DC_MASKED_FETCH_ADD)
		return MXE_OPCODE_RC_MASKED_FETCH_ADD;
	return opcode & 0x1f;
}

bool mxe_dc_parse(const struct mxe_pkt *pkt, struct mxe_dc_hdr *hdr)
{
	/* mxe_pkt_parse() counts the DCETH as a header, but not the others. */
	const struct mxe_dceth *eth =
		(const void *)(pkt->payload - MXE_DCETH_SIZE);
	const struct mxe_dctleth *ctleth = (const void *)pkt->payload;
	const struct mxe_dcceth *ceth = (const void *)pkt->payload;

	static_assert(sizeof(*eth) == MXE_DCETH_SIZE);

	memset(hdr, 0, sizeof(*hdr));
	if (eth->version != MXE_DC_VERSION)
		return false;
	hdr->code = eth->code;
	hdr->connect = eth->flags & MXE_DC_FLAG_CONNECT;
	hdr->qpn = be32_to_cpu(eth->qpn) & MXE_BTH_QPN_MASK;
	hdr->session = be32_to_cpu(eth->session);
	hdr->instance = be64_to_cpu(eth->instance);
	/* Only control packets have a code. */
	if (pkt->opcode == MXE_OPCODE_DC_CONTROL) {
		if (!hdr->code || hdr->connect)
			return false;
		if (!mxe_dc_has_token(hdr->code))
			return !pkt->payload_len;
		if (pkt->payload_len != sizeof(*ctleth))
			return false;
		hdr->token = be64_to_cpu(ctleth->token);
		hdr->age = be64_to_cpu(ctleth->age);
		return true;
	}
	if (hdr->code)
		return false;
	if (!hdr->connect)
		return true;
	if (pkt->payload_len < sizeof(*ceth) ||
	    !(mxe_opcode_flags(mxe_dc_rc_opcode(pkt->opcode)) & MXE_OP_REQUEST))
		return false;
	hdr->key = be64_to_cpu(ceth->key);
	hdr->psn = be32_to_cpu(ceth->psn) & MXE_PSN_MASK;
	hdr->mtu = be32_to_cpu(ceth->psn) >> 24;
	hdr->life = be32_to_cpu(ceth->life);
	hdr->token = be64_to_cpu(ceth->token);
	return true;
}

unsigned int mxe_dc_put(const struct mxe_dc_hdr *hdr, u8 *p)
{
	struct mxe_dceth *eth = (void *)p;
	struct mxe_dctleth *ctleth = (void *)(eth + 1);
	struct mxe_dcceth *ceth = (void *)(eth + 1);

	eth->version = MXE_DC_VERSION;
	eth->flags = hdr->connect ? MXE_DC_FLAG_CONNECT : 0;
	eth->code = hdr->code;
	eth->reserved = 0;
	eth->qpn = cpu_to_be32(hdr->qpn);
	eth->session = cpu_to_be32(hdr->session);
	eth->instance = cpu_to_be64(hdr->instance);
	if (mxe_dc_has_token(hdr->code)) {
		ctleth->token = cpu_to_be64(hdr->token);
		ctleth->age = cpu_to_be64(hdr->age);
		return sizeof(*eth) + sizeof(*ctleth);
	}
	if (hdr->connect) {
		ceth->key = cpu_to_be64(hdr->key);
		ceth->psn = cpu_to_be32((u32)hdr->mtu << 24 | hdr->psn);
		ceth->life = cpu_to_be32(hdr->life);
		ceth->token = cpu_to_be64(hdr->token);
	}
	return mxe_dc_len(hdr->connect);
}

/* The opcodes of masked atomics do not have the transport in the upper bits. */
static u8 mxe_dc_opcode(u8 rc_opcode)
{
	if (rc_opcode == MXE_OPCODE_RC_MASKED_CMP_SWAP)
		return MXE_OPCODE_DC_MASKED_CMP_SWAP;
	if (rc_opcode == MXE_OPCODE_RC_MASKED_FETCH_ADD)
		return MXE_OPCODE_DC_MASKED_FETCH_ADD;
	return MXE_TRANSPORT_DC << 5 | rc_opcode;
}

int mxe_dc_decapsulate(struct sk_buff *skb, const struct mxe_dc_hdr *hdr)
{
	unsigned int len = mxe_dc_len(hdr->connect);
	struct mxe_bth *bth;
	u8 *from;

	/* A packet socket may have a clone. */
	if (skb_unclone(skb, GFP_ATOMIC))
		return -ENOMEM;
	from = skb_network_header(skb);
	bth = (struct mxe_bth *)(udp_hdr(skb) + 1);
	memmove(from + len, from, (u8 *)(bth + 1) - from);
	skb->network_header += len;
	skb->transport_header += len;
	bth = (struct mxe_bth *)(udp_hdr(skb) + 1);
	bth->opcode = mxe_dc_rc_opcode(bth->opcode);
	return 0;
}

int mxe_dc_encapsulate(struct sk_buff *skb, const struct mxe_dc_hdr *hdr,
		       unsigned int headroom)
{
	unsigned int len = mxe_dc_len(hdr->connect);
	struct mxe_bth *bth;

	if (skb_cow_head(skb, headroom + len))
		return -ENOMEM;
	bth = __skb_push(skb, len);
	memmove(bth, (u8 *)bth + len, sizeof(*bth));
	bth->opcode = mxe_dc_opcode(bth->opcode);
	mxe_dc_put(hdr, (u8 *)(bth + 1));
	return 0;
}
