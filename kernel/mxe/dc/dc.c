// SPDX-License-Identifier: GPL-2.0
/* Reads and writes the headers of dynamically connected (DC) packets. */
#include "dc/dc.h"
#include "wire/pkt.h"
#include "wire/psn.h"

/* For a control packet.  Returns false if it is not valid. */
static bool mxe_dc_parse_control(const struct mxe_pkt *pkt, struct mxe_dc_hdr *hdr)
{
	const struct mxe_dctleth *eth = (const void *)pkt->payload;

	if (!hdr->code || hdr->connect)
		return false;
	if (!mxe_dc_has_token(hdr->code))
		return !pkt->payload_len;
	if (pkt->payload_len != sizeof(*eth))
		return false;
	hdr->token = be64_to_cpu(eth->token);
	hdr->age = be64_to_cpu(eth->age);
	return true;
}

/* Set @hdr to the fields of a DCETH, and all others to 0. */
void mxe_dc_get(const struct mxe_dceth *eth, struct mxe_dc_hdr *hdr)
{
	*hdr = (struct mxe_dc_hdr) {
		.code = eth->code,
		.connect = eth->flags & MXE_DC_FLAG_CONNECT,
		.qpn = be32_to_cpu(eth->qpn) & MXE_BTH_QPN_MASK,
		.session = be32_to_cpu(eth->session),
		.instance = be64_to_cpu(eth->instance),
	};
}

/*
 * Check and parse the DC headers of a packet with MXE_OP_DCETH.
 * Return: false if the code or the length of a control packet is wrong, or a
 * response demands a session.
 */
bool mxe_dc_parse(const struct mxe_pkt *pkt, struct mxe_dc_hdr *hdr)
{
	const struct mxe_dceth *eth = mxe_pkt_dceth(pkt);
	const struct mxe_dcceth *ceth = (const void *)(eth + 1);

	mxe_dc_get(eth, hdr);
	if (pkt->flags & MXE_OP_DC_CONTROL)
		return mxe_dc_parse_control(pkt, hdr);
	if (hdr->code)
		return false;
	if (!hdr->connect)
		return true;
	if (!(pkt->flags & MXE_OP_REQUEST))
		return false;
	hdr->key = be64_to_cpu(ceth->key);
	hdr->psn = be32_to_cpu(ceth->psn) & MXE_PSN_MASK;
	hdr->mtu = be32_to_cpu(ceth->psn) >> 24;
	hdr->life = be32_to_cpu(ceth->life);
	hdr->token = be64_to_cpu(ceth->token);
	return true;
}

static void mxe_dc_write_dceth(const struct mxe_dc_hdr *hdr, struct mxe_dceth *eth)
{
	eth->version = MXE_DC_VERSION;
	eth->flags = hdr->connect ? MXE_DC_FLAG_CONNECT : 0;
	eth->code = hdr->code;
	eth->reserved = 0;
	eth->qpn = cpu_to_be32(hdr->qpn);
	eth->session = cpu_to_be32(hdr->session);
	eth->instance = cpu_to_be64(hdr->instance);
}

/* Write mxe_dc_len() bytes, the headers of a data packet. Return their end. */
u8 *mxe_dc_write(const struct mxe_dc_hdr *hdr, u8 *p)
{
	struct mxe_dceth *eth = (void *)p;
	struct mxe_dcceth *ceth = (void *)(eth + 1);

	mxe_dc_write_dceth(hdr, eth);
	if (!hdr->connect)
		return p + sizeof(*eth);
	ceth->key = cpu_to_be64(hdr->key);
	ceth->psn = cpu_to_be32((u32)hdr->mtu << 24 | hdr->psn);
	ceth->life = cpu_to_be32(hdr->life);
	ceth->token = cpu_to_be64(hdr->token);
	return p + sizeof(*eth) + sizeof(*ceth);
}

/* Write a struct mxe_dceth, and a struct mxe_dctleth if mxe_dc_has_token(). */
void mxe_dc_write_control(const struct mxe_dc_hdr *hdr, u8 *p)
{
	struct mxe_dceth *eth = (void *)p;
	struct mxe_dctleth *ctleth = (void *)(eth + 1);

	mxe_dc_write_dceth(hdr, eth);
	if (!mxe_dc_has_token(hdr->code))
		return;
	ctleth->token = cpu_to_be64(hdr->token);
	ctleth->age = cpu_to_be64(hdr->age);
}
