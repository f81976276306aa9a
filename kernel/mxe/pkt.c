// SPDX-License-Identifier: GPL-2.0
/*
 * Parses and builds packets from the BTH on, by a table of opcodes. hdr.h calls
 * the parser and tx.c the builder. It calls no other file of mxe.
 */
#include <linux/string.h>

#include "pkt.h"
#include "psn.h"

#define OP_REQ		(MXE_OP_VALID | MXE_OP_REQUEST)
#define OP_RESP	(MXE_OP_VALID | MXE_OP_RESPONSE)
#define OP_ONLY		(MXE_OP_START | MXE_OP_END)
#define OP_SEND	(OP_REQ | MXE_OP_SEND | MXE_OP_PAYLOAD)
#define OP_WRITE	(OP_REQ | MXE_OP_WRITE | MXE_OP_PAYLOAD)
#define OP_READ	(OP_RESP | MXE_OP_READ | MXE_OP_PAYLOAD)
#define OP_ATOMIC	(OP_REQ | MXE_OP_ATOMIC | OP_ONLY)
#define OP_FLUSH \
	(OP_REQ | MXE_OP_FLUSH | OP_ONLY | MXE_OP_FETH | MXE_OP_RETH)
#define OP_ATOMIC_WRITE \
	(OP_REQ | MXE_OP_ATOMIC_WRITE | OP_ONLY | MXE_OP_RETH | MXE_OP_PAYLOAD)

/*
 * XRC has the operations of RC, and one more header in requests.  The kernel
 * does not name its opcodes.
 */
#define XRC(rc_opcode)	(MXE_TRANSPORT_XRC << 5 | IB_OPCODE_##rc_opcode)
#define XRC_SEND	(OP_SEND | MXE_OP_XRCETH)
#define XRC_WRITE	(OP_WRITE | MXE_OP_XRCETH)
#define XRC_ATOMIC	(OP_ATOMIC | MXE_OP_XRCETH)

/* Behind the DCETH a DC packet is an RC packet, which dc.c uncovers. */
#define DC(rc_opcode)	(MXE_TRANSPORT_DC << 5 | (rc_opcode))
#define OP_DC		(MXE_OP_VALID | MXE_OP_DC | MXE_OP_PAYLOAD)

/*
 * Properties of an opcode. hdr_len counts bytes from the BTH to the payload.
 */
struct mxe_opcode {
	u32 flags;
	u8 hdr_len;
};

#define HDR(flags, bit, len)	((flags) & (bit) ? (len) : 0)
#define HDR_LEN(flags)							\
	(sizeof(struct mxe_bth) +					\
	 HDR(flags, MXE_OP_CNP, MXE_CNP_RESERVED_SIZE) +		\
	 HDR(flags, MXE_OP_DC, MXE_DCETH_SIZE) +			\
	 HDR(flags, MXE_OP_DETH, sizeof(struct mxe_deth)) +		\
	 HDR(flags, MXE_OP_XRCETH, sizeof(struct mxe_xrceth)) +		\
	 HDR(flags, MXE_OP_FETH, sizeof(struct mxe_feth)) +		\
	 HDR(flags, MXE_OP_RETH, sizeof(struct mxe_reth)) +		\
	 HDR(flags, MXE_OP_ATOMICETH, sizeof(struct mxe_atomiceth)) +	\
	 HDR(flags, MXE_OP_MSKATOMICETH,				\
	     sizeof(struct mxe_mskatomiceth) +				\
	     MXE_MSKATOMIC_OPERANDS * sizeof(__be64)) +			\
	 HDR(flags, MXE_OP_AETH, sizeof(struct mxe_aeth)) +		\
	 HDR(flags, MXE_OP_ATOMICACK, sizeof(__be64)) +			\
	 HDR(flags, MXE_OP_IMM | MXE_OP_IETH, sizeof(__be32)))
#define OP(flags)	{ flags, HDR_LEN(flags) }

/* BTH opcodes (IBTA 9.2), and those of mxe.  0: not supported. */
static const struct mxe_opcode mxe_opcode_table[256] = {
	[IB_OPCODE_RC_SEND_FIRST] = OP(OP_SEND | MXE_OP_START),
	[IB_OPCODE_RC_SEND_MIDDLE] = OP(OP_SEND),
	[IB_OPCODE_RC_SEND_LAST] = OP(OP_SEND | MXE_OP_END),
	[IB_OPCODE_RC_SEND_LAST_WITH_IMMEDIATE] =
		OP(OP_SEND | MXE_OP_END | MXE_OP_IMM),
	[IB_OPCODE_RC_SEND_ONLY] = OP(OP_SEND | OP_ONLY),
	[IB_OPCODE_RC_SEND_ONLY_WITH_IMMEDIATE] =
		OP(OP_SEND | OP_ONLY | MXE_OP_IMM),
	[IB_OPCODE_RC_RDMA_WRITE_FIRST] =
		OP(OP_WRITE | MXE_OP_START | MXE_OP_RETH),
	[IB_OPCODE_RC_RDMA_WRITE_MIDDLE] = OP(OP_WRITE),
	[IB_OPCODE_RC_RDMA_WRITE_LAST] = OP(OP_WRITE | MXE_OP_END),
	[IB_OPCODE_RC_RDMA_WRITE_LAST_WITH_IMMEDIATE] =
		OP(OP_WRITE | MXE_OP_END | MXE_OP_IMM),
	[IB_OPCODE_RC_RDMA_WRITE_ONLY] = OP(OP_WRITE | OP_ONLY | MXE_OP_RETH),
	[IB_OPCODE_RC_RDMA_WRITE_ONLY_WITH_IMMEDIATE] =
		OP(OP_WRITE | OP_ONLY | MXE_OP_RETH | MXE_OP_IMM),
	[IB_OPCODE_RC_RDMA_READ_REQUEST] =
		OP(OP_REQ | MXE_OP_READ | OP_ONLY | MXE_OP_RETH),
	[IB_OPCODE_RC_RDMA_READ_RESPONSE_FIRST] =
		OP(OP_READ | MXE_OP_START | MXE_OP_AETH),
	[IB_OPCODE_RC_RDMA_READ_RESPONSE_MIDDLE] = OP(OP_READ),
	[IB_OPCODE_RC_RDMA_READ_RESPONSE_LAST] =
		OP(OP_READ | MXE_OP_END | MXE_OP_AETH),
	[IB_OPCODE_RC_RDMA_READ_RESPONSE_ONLY] =
		OP(OP_READ | OP_ONLY | MXE_OP_AETH),
	[IB_OPCODE_RC_ACKNOWLEDGE] = OP(OP_RESP | MXE_OP_AETH),
	[IB_OPCODE_RC_ATOMIC_ACKNOWLEDGE] =
		OP(OP_RESP | MXE_OP_ATOMIC | MXE_OP_AETH | MXE_OP_ATOMICACK),
	[IB_OPCODE_RC_COMPARE_SWAP] = OP(OP_ATOMIC | MXE_OP_ATOMICETH),
	[IB_OPCODE_RC_FETCH_ADD] = OP(OP_ATOMIC | MXE_OP_ATOMICETH),
	[IB_OPCODE_UC_SEND_FIRST] = OP(OP_SEND | MXE_OP_START),
	[IB_OPCODE_UC_SEND_MIDDLE] = OP(OP_SEND),
	[IB_OPCODE_UC_SEND_LAST] = OP(OP_SEND | MXE_OP_END),
	[IB_OPCODE_UC_SEND_LAST_WITH_IMMEDIATE] =
		OP(OP_SEND | MXE_OP_END | MXE_OP_IMM),
	[IB_OPCODE_UC_SEND_ONLY] = OP(OP_SEND | OP_ONLY),
	[IB_OPCODE_UC_SEND_ONLY_WITH_IMMEDIATE] =
		OP(OP_SEND | OP_ONLY | MXE_OP_IMM),
	[IB_OPCODE_UC_RDMA_WRITE_FIRST] =
		OP(OP_WRITE | MXE_OP_START | MXE_OP_RETH),
	[IB_OPCODE_UC_RDMA_WRITE_MIDDLE] = OP(OP_WRITE),
	[IB_OPCODE_UC_RDMA_WRITE_LAST] = OP(OP_WRITE | MXE_OP_END),
	[IB_OPCODE_UC_RDMA_WRITE_LAST_WITH_IMMEDIATE] =
		OP(OP_WRITE | MXE_OP_END | MXE_OP_IMM),
	[IB_OPCODE_UC_RDMA_WRITE_ONLY] = OP(OP_WRITE | OP_ONLY | MXE_OP_RETH),
	[IB_OPCODE_UC_RDMA_WRITE_ONLY_WITH_IMMEDIATE] =
		OP(OP_WRITE | OP_ONLY | MXE_OP_RETH | MXE_OP_IMM),
	[IB_OPCODE_UD_SEND_ONLY] = OP(OP_SEND | OP_ONLY | MXE_OP_DETH),
	[IB_OPCODE_UD_SEND_ONLY_WITH_IMMEDIATE] =
		OP(OP_SEND | OP_ONLY | MXE_OP_DETH | MXE_OP_IMM),
	[IB_OPCODE_RC_SEND_LAST_WITH_INVALIDATE] =
		OP(OP_SEND | MXE_OP_END | MXE_OP_IETH),
	[IB_OPCODE_RC_SEND_ONLY_WITH_INVALIDATE] =
		OP(OP_SEND | OP_ONLY | MXE_OP_IETH),
	[XRC(SEND_FIRST)] = OP(XRC_SEND | MXE_OP_START),
	[XRC(SEND_MIDDLE)] = OP(XRC_SEND),
	[XRC(SEND_LAST)] = OP(XRC_SEND | MXE_OP_END),
	[XRC(SEND_LAST_WITH_IMMEDIATE)] =
		OP(XRC_SEND | MXE_OP_END | MXE_OP_IMM),
	[XRC(SEND_ONLY)] = OP(XRC_SEND | OP_ONLY),
	[XRC(SEND_ONLY_WITH_IMMEDIATE)] = OP(XRC_SEND | OP_ONLY | MXE_OP_IMM),
	[XRC(RDMA_WRITE_FIRST)] = OP(XRC_WRITE | MXE_OP_START | MXE_OP_RETH),
	[XRC(RDMA_WRITE_MIDDLE)] = OP(XRC_WRITE),
	[XRC(RDMA_WRITE_LAST)] = OP(XRC_WRITE | MXE_OP_END),
	[XRC(RDMA_WRITE_LAST_WITH_IMMEDIATE)] =
		OP(XRC_WRITE | MXE_OP_END | MXE_OP_IMM),
	[XRC(RDMA_WRITE_ONLY)] = OP(XRC_WRITE | OP_ONLY | MXE_OP_RETH),
	[XRC(RDMA_WRITE_ONLY_WITH_IMMEDIATE)] =
		OP(XRC_WRITE | OP_ONLY | MXE_OP_RETH | MXE_OP_IMM),
	[XRC(RDMA_READ_REQUEST)] =
		OP(OP_REQ | MXE_OP_READ | OP_ONLY | MXE_OP_RETH | MXE_OP_XRCETH),
	[XRC(RDMA_READ_RESPONSE_FIRST)] =
		OP(OP_READ | MXE_OP_START | MXE_OP_AETH),
	[XRC(RDMA_READ_RESPONSE_MIDDLE)] = OP(OP_READ),
	[XRC(RDMA_READ_RESPONSE_LAST)] = OP(OP_READ | MXE_OP_END | MXE_OP_AETH),
	[XRC(RDMA_READ_RESPONSE_ONLY)] = OP(OP_READ | OP_ONLY | MXE_OP_AETH),
	[XRC(ACKNOWLEDGE)] = OP(OP_RESP | MXE_OP_AETH),
	[XRC(ATOMIC_ACKNOWLEDGE)] =
		OP(OP_RESP | MXE_OP_ATOMIC | MXE_OP_AETH | MXE_OP_ATOMICACK),
	[XRC(COMPARE_SWAP)] = OP(XRC_ATOMIC | MXE_OP_ATOMICETH),
	[XRC(FETCH_ADD)] = OP(XRC_ATOMIC | MXE_OP_ATOMICETH),
	[XRC(SEND_LAST_WITH_INVALIDATE)] =
		OP(XRC_SEND | MXE_OP_END | MXE_OP_IETH),
	[XRC(SEND_ONLY_WITH_INVALIDATE)] = OP(XRC_SEND | OP_ONLY | MXE_OP_IETH),
	[MXE_OPCODE_RC_FLUSH] = OP(OP_FLUSH),
	[MXE_OPCODE_RC_ATOMIC_WRITE] = OP(OP_ATOMIC_WRITE),
	[MXE_TRANSPORT_XRC << 5 | MXE_OPCODE_RC_FLUSH] =
		OP(OP_FLUSH | MXE_OP_XRCETH),
	[MXE_TRANSPORT_XRC << 5 | MXE_OPCODE_RC_ATOMIC_WRITE] =
		OP(OP_ATOMIC_WRITE | MXE_OP_XRCETH),
	[MXE_OPCODE_CNP] = OP(MXE_OP_VALID | MXE_OP_CNP),
	[MXE_OPCODE_RC_MASKED_CMP_SWAP] = OP(OP_ATOMIC | MXE_OP_MSKATOMICETH),
	[MXE_OPCODE_RC_MASKED_FETCH_ADD] = OP(OP_ATOMIC | MXE_OP_MSKATOMICETH),
	[MXE_OPCODE_XRC_MASKED_CMP_SWAP] = OP(XRC_ATOMIC | MXE_OP_MSKATOMICETH),
	[MXE_OPCODE_XRC_MASKED_FETCH_ADD] =
		OP(XRC_ATOMIC | MXE_OP_MSKATOMICETH),
	[DC(IB_OPCODE_RC_SEND_FIRST) ... DC(IB_OPCODE_RC_SEND_ONLY_WITH_INVALIDATE)] =
		OP(OP_DC),
	[DC(MXE_OPCODE_RC_FLUSH)] = OP(OP_DC),
	[DC(MXE_OPCODE_RC_ATOMIC_WRITE)] = OP(OP_DC),
	[MXE_OPCODE_DC_MASKED_CMP_SWAP] = OP(OP_DC),
	[MXE_OPCODE_DC_MASKED_FETCH_ADD] = OP(OP_DC),
	[MXE_OPCODE_DC_CONTROL] = OP(OP_DC),
};

u32 mxe_opcode_flags(u8 opcode)
{
	return mxe_opcode_table[opcode].flags;
}

unsigned int mxe_opcode_hdr_len(u8 opcode)
{
	return mxe_opcode_table[opcode].hdr_len;
}

/*
 * Parses the header that UD or XRC adds to requests. Returns the next header.
 */
static const u8 *mxe_pkt_parse_transport(struct mxe_pkt *pkt, const u8 *p)
{
	if (pkt->flags & MXE_OP_DETH) {
		const struct mxe_deth *deth = (const void *)p;

		pkt->qkey = be32_to_cpu(deth->qkey);
		pkt->src_qpn = be32_to_cpu(deth->sqp) & MXE_BTH_QPN_MASK;
		return p + sizeof(*deth);
	}
	if (pkt->flags & MXE_OP_XRCETH) {
		const struct mxe_xrceth *xrceth = (const void *)p;

		pkt->srqn = be32_to_cpu(xrceth->srqn) & MXE_XRC_SRQN_MASK;
		return p + sizeof(*xrceth);
	}
	return p;
}

/*
 * Operands and results are big-endian numbers, so the least significant word is
 * the last one.
 */
static void mxe_pkt_get_number(u64 *words, const u8 *p, unsigned int n)
{
	if (n == 1) {
		*words = get_unaligned_be64(p);
		return;
	}
	while (n--) {
		words[n] = get_unaligned_be64(p);
		p += sizeof(__be64);
	}
}

static u8 *mxe_pkt_put_number(u8 *p, const u64 *words, unsigned int n)
{
	if (n == 1) {
		put_unaligned_be64(*words, p);
		return p + sizeof(__be64);
	}
	while (n--) {
		put_unaligned_be64(words[n], p);
		p += sizeof(__be64);
	}
	return p;
}

static void mxe_pkt_parse_atomiceth(struct mxe_pkt *pkt, const u8 *p)
{
	const struct mxe_atomiceth *eth = (const void *)p;
	struct mxe_atomic_args *a = &pkt->atomic;

	pkt->va = be64_to_cpu(eth->va);
	pkt->rkey = be32_to_cpu(eth->rkey);
	a->op = (pkt->opcode & 0x1f) == IB_OPCODE_COMPARE_SWAP ?
		MXE_ATOMIC_CMP_SWAP : MXE_ATOMIC_FETCH_ADD;
	a->log_size = 3;
	a->swap_add = be64_to_cpu(eth->swap_add);
	a->compare = be64_to_cpu(eth->compare);
	a->swap_mask = 0;
	a->compare_mask = 0;
	/* Unused, so a duplicate is the same request whatever it contains. */
	if (a->op == MXE_ATOMIC_FETCH_ADD)
		a->compare = 0;
}

static bool mxe_opcode_is_masked_cmp_swap(u8 opcode)
{
	return opcode == MXE_OPCODE_RC_MASKED_CMP_SWAP ||
	       opcode == MXE_OPCODE_XRC_MASKED_CMP_SWAP;
}

/* Returns true if the unused operands of n words of a fetch-and-add are 0. */
static bool mxe_pkt_unused_are_zero(const struct mxe_atomic_args *a, unsigned int n)
{
	u64 any = 0;

	while (n--)
		any |= a->compare_words[n] | a->swap_mask_words[n];
	return !any;
}

/*
 * Returns true if the operand size is supported and all bits that must be 0 are
 * 0.  An operand has n words.
 */
static bool mxe_pkt_masked_args_ok(const struct mxe_pkt *pkt, unsigned int n)
{
	const struct mxe_atomic_args *a = &pkt->atomic;

	if (!(BIT(a->log_size) & MXE_ATOMIC_LOG_SIZES))
		return false;
	if (a->log_size < 3 && (a->swap_add | a->compare | a->swap_mask |
				a->compare_mask) >> (BITS_PER_BYTE << a->log_size))
		return false;
	return mxe_opcode_is_masked_cmp_swap(pkt->opcode) ||
	       mxe_pkt_unused_are_zero(a, n);
}

/* len: bytes from this header to the end of the operands */
static enum mxe_pkt_error mxe_pkt_parse_mskatomiceth(struct mxe_pkt *pkt,
						     const u8 *p, size_t len)
{
	const struct mxe_mskatomiceth *eth = (const void *)p;
	struct mxe_atomic_args *a = &pkt->atomic;
	unsigned int n;

	pkt->va = be64_to_cpu(eth->va);
	pkt->rkey = be32_to_cpu(eth->rkey);
	if (eth->version != MXE_MSKATOMIC_VERSION || eth->log_arg_sz > 5)
		return MXE_PKT_OK;

	a->log_size = eth->log_arg_sz;
	n = mxe_atomic_words(a);
	if (len != sizeof(*eth) + MXE_MSKATOMIC_OPERANDS * n * sizeof(__be64))
		return MXE_PKT_LENGTH;

	p += sizeof(*eth);
	mxe_pkt_get_number(a->swap_add_words, p, n);
	p += n * sizeof(__be64);
	mxe_pkt_get_number(a->compare_words, p, n);
	p += n * sizeof(__be64);
	mxe_pkt_get_number(a->swap_mask_words, p, n);
	p += n * sizeof(__be64);
	mxe_pkt_get_number(a->compare_mask_words, p, n);
	if (eth->reserved || !mxe_pkt_masked_args_ok(pkt, n))
		return MXE_PKT_OK;
	a->op = mxe_opcode_is_masked_cmp_swap(pkt->opcode) ?
		MXE_ATOMIC_MASKED_CMP_SWAP : MXE_ATOMIC_MASKED_FETCH_ADD;
	return MXE_PKT_OK;
}

/* Reserved bits are ignored (IBTA 9.2). */
static void mxe_pkt_parse_feth(struct mxe_pkt *pkt, const u8 *p)
{
	const struct mxe_feth *feth = (const void *)p;
	u32 bits = be32_to_cpu(feth->bits);

	pkt->flush_type = bits & MXE_FETH_TYPE_MASK;
	pkt->flush_level = bits >> MXE_FETH_LEVEL_SHIFT & MXE_FETH_LEVEL_MASK;
}

/* The data are 8 bytes in memory order, not a number. */
static void mxe_pkt_parse_atomic_write(struct mxe_pkt *pkt)
{
	struct mxe_atomic_args *a = &pkt->atomic;

	/* Leave MXE_ATOMIC_UNSUPPORTED, which the responder refuses. */
	if (pkt->payload_len != MXE_ATOMIC_WRITE_SIZE)
		return;
	a->op = MXE_ATOMIC_MASKED_CMP_SWAP;
	a->log_size = 3;
	a->swap_add = get_unaligned((const u64 *)pkt->payload);
	a->compare = 0;
	a->swap_mask = U64_MAX;
	a->compare_mask = 0;
}

static void mxe_pkt_parse_aeth(struct mxe_pkt *pkt, const u8 *p)
{
	const struct mxe_aeth *aeth = (const void *)p;
	u32 smsn = be32_to_cpu(aeth->smsn);

	pkt->syndrome = smsn >> 24;
	pkt->msn = smsn & 0xffffff;
}

/* len: bytes from the BTH to the end of the result */
static enum mxe_pkt_error mxe_pkt_parse_atomic_ack(struct mxe_pkt *pkt, const u8 *p,
						   size_t len)
{
	len -= sizeof(struct mxe_bth) + sizeof(struct mxe_aeth);
	if (len != 8 && len != 16 && len != 32)
		return MXE_PKT_LENGTH;

	mxe_pkt_parse_aeth(pkt, p);
	pkt->atomic_num_words = len / sizeof(__be64);
	mxe_pkt_get_number(pkt->atomic_orig_words, p + sizeof(struct mxe_aeth),
			   pkt->atomic_num_words);
	return MXE_PKT_OK;
}

static enum mxe_pkt_error mxe_pkt_parse_bth(struct mxe_pkt *pkt, const u8 *data,
					    size_t len)
{
	const struct mxe_bth *bth = (const void *)data;

	if (len < sizeof(*bth) + MXE_ICRC_SIZE)
		return MXE_PKT_SHORT;
	if (bth->flags & MXE_BTH_TVER_MASK)
		return MXE_PKT_VERSION;

	pkt->opcode = bth->opcode;
	pkt->flags = mxe_opcode_table[bth->opcode].flags;
	if (!(pkt->flags & MXE_OP_VALID))
		return MXE_PKT_OPCODE;

	pkt->solicited = bth->flags & MXE_BTH_SE;
	pkt->pkey = be16_to_cpu(bth->pkey);
	pkt->qpn = be32_to_cpu(bth->qpn) & MXE_BTH_QPN_MASK;
	pkt->psn = be32_to_cpu(bth->apsn) & MXE_PSN_MASK;
	pkt->ack_req = be32_to_cpu(bth->apsn) & MXE_BTH_ACK_REQ;
	return MXE_PKT_OK;
}

enum mxe_pkt_error mxe_pkt_parse(struct mxe_pkt *pkt, const u8 *data,
				 size_t len)
{
	const struct mxe_bth *bth = (const void *)data;
	unsigned int hdr_len, pad;
	enum mxe_pkt_error err;
	const u8 *p;

	/* This sets atomic.op to MXE_ATOMIC_UNSUPPORTED. */
	mxe_pkt_clear(pkt, offsetof(struct mxe_pkt, atomic.swap_add));
	err = mxe_pkt_parse_bth(pkt, data, len);
	if (err)
		return err;

	len -= MXE_ICRC_SIZE;
	pad = (bth->flags & MXE_BTH_PAD_MASK) >> MXE_BTH_PAD_SHIFT;
	hdr_len = mxe_opcode_table[pkt->opcode].hdr_len;
	p = data + sizeof(*bth);

	if (pkt->flags & MXE_OP_MSKATOMICETH) {
		if (len < hdr_len - MXE_MSKATOMIC_OPERANDS * sizeof(__be64))
			return MXE_PKT_SHORT;
		if (pad)
			return MXE_PKT_LENGTH;
		p = mxe_pkt_parse_transport(pkt, p);
		return mxe_pkt_parse_mskatomiceth(pkt, p, data + len - p);
	}

	if (len < hdr_len + pad)
		return MXE_PKT_SHORT;
	if (pkt->flags & MXE_OP_ATOMICACK)
		return pad ? MXE_PKT_LENGTH : mxe_pkt_parse_atomic_ack(pkt, p, len);
	pkt->payload = data + hdr_len;
	pkt->payload_len = len - hdr_len - pad;
	if ((pkt->payload_len + pad) % 4)
		return MXE_PKT_LENGTH;
	if (!(pkt->flags & MXE_OP_PAYLOAD) && (pkt->payload_len || pad))
		return MXE_PKT_LENGTH;

	p = mxe_pkt_parse_transport(pkt, p);
	if (pkt->flags & MXE_OP_FETH) {
		mxe_pkt_parse_feth(pkt, p);
		p += sizeof(struct mxe_feth);
	}
	if (pkt->flags & MXE_OP_RETH) {
		const struct mxe_reth *reth = (const void *)p;

		pkt->va = be64_to_cpu(reth->va);
		pkt->rkey = be32_to_cpu(reth->rkey);
		pkt->dma_len = be32_to_cpu(reth->len);
		p += sizeof(*reth);
	}
	if (pkt->flags & MXE_OP_ATOMICETH)
		mxe_pkt_parse_atomiceth(pkt, p);
	if (pkt->flags & MXE_OP_AETH)
		mxe_pkt_parse_aeth(pkt, p);
	if (pkt->flags & MXE_OP_IMM)
		pkt->imm = get_unaligned((const __be32 *)p);
	if (pkt->flags & MXE_OP_IETH)
		pkt->inv_rkey = get_unaligned_be32(p);
	if (pkt->flags & MXE_OP_ATOMIC_WRITE)
		mxe_pkt_parse_atomic_write(pkt);
	return MXE_PKT_OK;
}

static unsigned int mxe_pkt_pad(u32 payload_len)
{
	return -payload_len & 3;
}

size_t mxe_pkt_len(const struct mxe_pkt_out *out)
{
	const struct mxe_opcode *opcode = &mxe_opcode_table[out->opcode];
	size_t len = opcode->hdr_len + out->payload_len +
		     mxe_pkt_pad(out->payload_len);
	unsigned int more = mxe_atomic_words(&out->atomic) - 1;

	if (likely(!more))
		return len;
	if (opcode->flags & MXE_OP_MSKATOMICETH)
		len += MXE_MSKATOMIC_OPERANDS * more * sizeof(__be64);
	if (opcode->flags & MXE_OP_ATOMICACK)
		len += more * sizeof(__be64);
	return len;
}

static u8 *mxe_pkt_build_transport(const struct mxe_pkt_out *out, u32 flags, u8 *p)
{
	if (flags & MXE_OP_DETH) {
		struct mxe_deth *deth = (void *)p;

		deth->qkey = cpu_to_be32(out->qkey);
		deth->sqp = cpu_to_be32(out->src_qpn);
		return p + sizeof(*deth);
	}
	if (flags & MXE_OP_XRCETH) {
		struct mxe_xrceth *xrceth = (void *)p;

		xrceth->srqn = cpu_to_be32(out->srqn);
		return p + sizeof(*xrceth);
	}
	return p;
}

static u8 *mxe_pkt_build_atomic(const struct mxe_pkt_out *out, u32 flags, u8 *p)
{
	const struct mxe_atomic_args *a = &out->atomic;

	if (flags & MXE_OP_ATOMICETH) {
		struct mxe_atomiceth *eth = (void *)p;

		eth->va = cpu_to_be64(out->va);
		eth->rkey = cpu_to_be32(out->rkey);
		eth->swap_add = cpu_to_be64(a->swap_add);
		eth->compare = cpu_to_be64(a->compare);
		return p + sizeof(*eth);
	}
	if (flags & MXE_OP_MSKATOMICETH) {
		struct mxe_mskatomiceth *eth = (void *)p;
		unsigned int n = mxe_atomic_words(a);

		eth->va = cpu_to_be64(out->va);
		eth->rkey = cpu_to_be32(out->rkey);
		eth->version = MXE_MSKATOMIC_VERSION;
		eth->log_arg_sz = a->log_size;
		eth->reserved = 0;
		p = mxe_pkt_put_number(p + sizeof(*eth), a->swap_add_words, n);
		p = mxe_pkt_put_number(p, a->compare_words, n);
		p = mxe_pkt_put_number(p, a->swap_mask_words, n);
		return mxe_pkt_put_number(p, a->compare_mask_words, n);
	}
	return p;
}

u8 *mxe_pkt_build(const struct mxe_pkt_out *out, u8 *buf)
{
	u32 flags = mxe_opcode_table[out->opcode].flags;
	struct mxe_bth *bth = (void *)buf;
	unsigned int pad = mxe_pkt_pad(out->payload_len);
	u8 *p = buf + sizeof(*bth);

	bth->opcode = out->opcode;
	bth->flags = (out->solicited ? MXE_BTH_SE : 0) | MXE_BTH_MIGREQ |
		     pad << MXE_BTH_PAD_SHIFT;
	bth->pkey = cpu_to_be16(out->pkey);
	bth->qpn = cpu_to_be32(out->qpn);
	bth->apsn = cpu_to_be32(out->psn | (out->ack_req ? MXE_BTH_ACK_REQ : 0));

	if (flags & MXE_OP_CNP) {
		bth->qpn |= cpu_to_be32(MXE_BTH_BECN);
		memset(p, 0, MXE_CNP_RESERVED_SIZE);
		p += MXE_CNP_RESERVED_SIZE;
	}
	p = mxe_pkt_build_transport(out, flags, p);
	if (flags & MXE_OP_FETH) {
		struct mxe_feth *feth = (void *)p;

		feth->bits = cpu_to_be32(out->flush_level <<
					 MXE_FETH_LEVEL_SHIFT |
					 out->flush_type);
		p += sizeof(*feth);
	}
	if (flags & MXE_OP_RETH) {
		struct mxe_reth *reth = (void *)p;

		reth->va = cpu_to_be64(out->va);
		reth->rkey = cpu_to_be32(out->rkey);
		reth->len = cpu_to_be32(out->dma_len);
		p += sizeof(*reth);
	}
	p = mxe_pkt_build_atomic(out, flags, p);
	if (flags & MXE_OP_AETH) {
		struct mxe_aeth *aeth = (void *)p;

		aeth->smsn = cpu_to_be32(out->syndrome << 24 |
					 (out->msn & 0xffffff));
		p += sizeof(*aeth);
	}
	if (flags & MXE_OP_ATOMICACK)
		p = mxe_pkt_put_number(p, out->atomic_orig_words,
				       mxe_atomic_words(&out->atomic));
	if (flags & MXE_OP_IMM) {
		put_unaligned(out->imm, (__be32 *)p);
		p += sizeof(__be32);
	}
	if (flags & MXE_OP_IETH) {
		put_unaligned_be32(out->inv_rkey, p);
		p += sizeof(__be32);
	}
	memset(p + out->payload_len, 0, pad);
	return p;
}
