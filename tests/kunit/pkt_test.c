// SPDX-License-Identifier: GPL-2.0
/*
 * Proves that packets are built and parsed correctly, and that malformed
 * packets are rejected. Every buffer is exactly as long as the packet, so KASAN
 * detects a read past its end.
 */
#include <kunit/test.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/kernel.h>
#include <linux/slab.h>
#include <linux/udp.h>

#include "bth.h"
#include "common.h"
#include "test_pkt.h"
#include "wire/pkt.h"
#include "wire/psn.h"

/* ---- the opcodes, from IBTA tables 35 and 38 and our specification ------ */

struct opcode_row {
	const char *desc;
	u8 opcode;
	u8 hdr_len;		/* with BTH */
	bool payload;
	bool response;
	bool start, end;
};

static const struct opcode_row opcode_rows[] = {
	{ "SEND First", 0x00, 12, true, false, true, false },
	{ "SEND Middle", 0x01, 12, true, false, false, false },
	{ "SEND Last", 0x02, 12, true, false, false, true },
	{ "SEND Last with Immediate", 0x03, 16, true, false, false, true },
	{ "SEND Only", 0x04, 12, true, false, true, true },
	{ "SEND Only with Immediate", 0x05, 16, true, false, true, true },
	{ "RDMA WRITE First", 0x06, 28, true, false, true, false },
	{ "RDMA WRITE Middle", 0x07, 12, true, false, false, false },
	{ "RDMA WRITE Last", 0x08, 12, true, false, false, true },
	{ "RDMA WRITE Last with Immediate", 0x09, 16, true, false, false, true },
	{ "RDMA WRITE Only", 0x0a, 28, true, false, true, true },
	{ "RDMA WRITE Only with Immediate", 0x0b, 32, true, false, true, true },
	{ "RDMA READ Request", 0x0c, 28, false, false, true, true },
	{ "RDMA READ response First", 0x0d, 16, true, true, true, false },
	{ "RDMA READ response Middle", 0x0e, 12, true, true, false, false },
	{ "RDMA READ response Last", 0x0f, 16, true, true, false, true },
	{ "RDMA READ response Only", 0x10, 16, true, true, true, true },
	{ "Acknowledge", 0x11, 16, false, true, false, false },
	{ "ATOMIC Acknowledge", 0x12, 24, false, true, false, false },
	{ "CmpSwap", 0x13, 40, false, false, true, true },
	{ "FetchAdd", 0x14, 40, false, false, true, true },
	{ "SEND Last with Invalidate", 0x16, 16, true, false, false, true },
	{ "SEND Only with Invalidate", 0x17, 16, true, false, true, true },
	{ "UC SEND First", 0x20, 12, true, false, true, false },
	{ "UC SEND Middle", 0x21, 12, true, false, false, false },
	{ "UC SEND Last", 0x22, 12, true, false, false, true },
	{ "UC SEND Last with Immediate", 0x23, 16, true, false, false, true },
	{ "UC SEND Only", 0x24, 12, true, false, true, true },
	{ "UC SEND Only with Immediate", 0x25, 16, true, false, true, true },
	{ "UC RDMA WRITE First", 0x26, 28, true, false, true, false },
	{ "UC RDMA WRITE Middle", 0x27, 12, true, false, false, false },
	{ "UC RDMA WRITE Last", 0x28, 12, true, false, false, true },
	{ "UC WRITE Last with Immediate", 0x29, 16, true, false, false, true },
	{ "UC RDMA WRITE Only", 0x2a, 28, true, false, true, true },
	{ "UC WRITE Only with Immediate", 0x2b, 32, true, false, true, true },
	{ "UD SEND Only", 0x64, 20, true, false, true, true },
	{ "UD SEND Only with Immediate", 0x65, 24, true, false, true, true },
	{ "XRC SEND First", 0xa0, 16, true, false, true, false },
	{ "XRC SEND Middle", 0xa1, 16, true, false, false, false },
	{ "XRC SEND Last", 0xa2, 16, true, false, false, true },
	{ "XRC SEND Last with Imm", 0xa3, 20, true, false, false, true },
	{ "XRC SEND Only", 0xa4, 16, true, false, true, true },
	{ "XRC SEND Only with Imm", 0xa5, 20, true, false, true, true },
	{ "XRC RDMA WRITE First", 0xa6, 32, true, false, true, false },
	{ "XRC RDMA WRITE Middle", 0xa7, 16, true, false, false, false },
	{ "XRC RDMA WRITE Last", 0xa8, 16, true, false, false, true },
	{ "XRC WRITE Last with Imm", 0xa9, 20, true, false, false, true },
	{ "XRC RDMA WRITE Only", 0xaa, 32, true, false, true, true },
	{ "XRC WRITE Only with Imm", 0xab, 36, true, false, true, true },
	{ "XRC RDMA READ Request", 0xac, 32, false, false, true, true },
	{ "XRC READ response First", 0xad, 16, true, true, true, false },
	{ "XRC READ response Middle", 0xae, 12, true, true, false, false },
	{ "XRC READ response Last", 0xaf, 16, true, true, false, true },
	{ "XRC READ response Only", 0xb0, 16, true, true, true, true },
	{ "XRC Acknowledge", 0xb1, 16, false, true, false, false },
	{ "XRC ATOMIC Acknowledge", 0xb2, 24, false, true, false, false },
	{ "XRC CmpSwap", 0xb3, 44, false, false, true, true },
	{ "XRC FetchAdd", 0xb4, 44, false, false, true, true },
	{ "XRC SEND Last with Inv", 0xb6, 20, true, false, false, true },
	{ "XRC SEND Only with Inv", 0xb7, 20, true, false, true, true },
	{ "FLUSH", 0x1c, 32, false, false, true, true },
	{ "ATOMIC WRITE", 0x1d, 28, true, false, true, true },
	{ "XRC FLUSH", 0xbc, 36, false, false, true, true },
	{ "XRC ATOMIC WRITE", 0xbd, 32, true, false, true, true },
	{ "masked CmpSwap", 0xd3, 60, false, false, true, true },
	{ "masked FetchAdd", 0xd4, 60, false, false, true, true },
	{ "XRC masked CmpSwap", 0xd5, 64, false, false, true, true },
	{ "XRC masked FetchAdd", 0xd6, 64, false, false, true, true },
};

KT_ARRAY_PARAM(opcode, opcode_rows);

static bool is_masked(u8 opcode)
{
	return opcode >= BTH_RC_MASKED_CMP_SWAP && opcode <= BTH_XRC_MASKED_FETCH_ADD;
}

/* Returns true for XRC requests, including masked atomics. */
static bool has_xrceth(u8 opcode)
{
	return (opcode >= (BTH_XRC | BTH_SEND_FIRST) &&
		opcode <= (BTH_XRC | BTH_RDMA_READ_REQUEST)) ||
	       (opcode >= (BTH_XRC | BTH_CMP_SWAP) &&
		opcode <= (BTH_XRC | BTH_SEND_ONLY_INV)) ||
	       opcode == (BTH_XRC | BTH_FLUSH) || opcode == (BTH_XRC | BTH_ATOMIC_WRITE) ||
	       opcode == BTH_XRC_MASKED_CMP_SWAP || opcode == BTH_XRC_MASKED_FETCH_ADD;
}

/* The operation of an opcode of RC or XRC. */
static u8 operation(u8 opcode)
{
	return opcode & ~BTH_XRC;
}

/* Every field has a different value. */
static struct test_pkt sample(u8 opcode, u32 payload_len)
{
	struct test_pkt out = {
		.opcode = opcode,
		.pkey = 0xabcd,
		.qpn = 0x123456,
		.psn = 0xfedcba,
		.ack_req = true,
		.va = 0x0102030405060708ULL,
		.rkey = 0x11223344,
		.dma_len = 0x01234567,
		.qkey = 0x89abcdef,
		.src_qpn = 0x654321,
		.inv_rkey = 0x99aabbcc,
		.srqn = 0xf1e2d3,
		.flush_type = 0x9,
		.flush_level = 0x2,
		.payload_len = payload_len,
		.imm = cpu_to_be32(0xcafef00d),
		.syndrome = 0x65,
		.msn = 0x998877,
		.atomic_orig = 0xa0a1a2a3a4a5a6a7ULL,
		.atomic.swap_add = 0xb0b1b2b3b4b5b6b7ULL,
		.atomic.log_size = 3,
	};

	if (opcode == BTH_CMP_SWAP || opcode == (BTH_XRC | BTH_CMP_SWAP) ||
	    opcode == BTH_RC_MASKED_CMP_SWAP || opcode == BTH_XRC_MASKED_CMP_SWAP)
		out.atomic.compare = 0xc0c1c2c3c4c5c6c7ULL;
	if (opcode == BTH_RC_MASKED_CMP_SWAP || opcode == BTH_XRC_MASKED_CMP_SWAP)
		out.atomic.swap_mask = 0xd0d1d2d3d4d5d6d7ULL;
	if (is_masked(opcode))
		out.atomic.compare_mask = 0xe0e1e2e3e4e5e6e7ULL;
	return out;
}

/* Returns a packet with an invalid ICRC in a buffer of its own. */
static u8 *build(struct kunit *test, const struct test_pkt *out, size_t *len)
{
	size_t body = test_pkt_len(out);
	u8 *buf = kunit_kmalloc(test, body + MXE_ICRC_SIZE, GFP_KERNEL);
	u8 *payload;
	u32 i;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, buf);
	memset(buf, 0xee, body + MXE_ICRC_SIZE);
	payload = test_pkt_build(out, buf);
	for (i = 0; i < out->payload_len; i++)
		payload[i] = i + 1;
	*len = body + MXE_ICRC_SIZE;
	return buf;
}

/* Parses a copy of the first len bytes, whose buffer ends with them. */
static enum mxe_pkt_error parse_copy(struct kunit *test, struct test_pkt *pkt,
				     const u8 *data, size_t len)
{
	u8 *copy = kmemdup(data, len, GFP_KERNEL);
	enum mxe_pkt_error err;

	KUNIT_ASSERT_NOT_NULL(test, copy);
	memset(pkt, 0, sizeof(*pkt));
	err = test_pkt_read(pkt, copy, len);
	if (pkt->payload)
		pkt->payload = data + (pkt->payload - copy);
	kfree(copy);
	return err;
}

/* ---- well-formed packets ----------------------------------------------- */

static void check_fields(struct kunit *test, const struct opcode_row *row,
			 const struct test_pkt *out,
			 const struct test_pkt *pkt)
{
	KUNIT_EXPECT_EQ(test, pkt->opcode, row->opcode);
	KUNIT_EXPECT_EQ(test, pkt->pkey, out->pkey);
	KUNIT_EXPECT_EQ(test, pkt->qpn, out->qpn);
	KUNIT_EXPECT_EQ(test, pkt->psn, out->psn);
	KUNIT_EXPECT_EQ(test, pkt->ack_req, out->ack_req);
	KUNIT_EXPECT_EQ(test, pkt->solicited, out->solicited);
	KUNIT_EXPECT_EQ(test, !!(pkt->flags & MXE_OP_RESPONSE), row->response);
	KUNIT_EXPECT_EQ(test, !!(pkt->flags & MXE_OP_REQUEST), !row->response);
	KUNIT_EXPECT_EQ(test, !!(pkt->flags & MXE_OP_PAYLOAD), row->payload);
	KUNIT_EXPECT_EQ(test, pkt->srqn, has_xrceth(row->opcode) ? out->srqn : 0);
	if (operation(row->opcode) != BTH_ACKNOWLEDGE &&
	    operation(row->opcode) != BTH_ATOMIC_ACKNOWLEDGE) {
		KUNIT_EXPECT_EQ(test, !!(pkt->flags & MXE_OP_START), row->start);
		KUNIT_EXPECT_EQ(test, !!(pkt->flags & MXE_OP_END), row->end);
	}
	if (pkt->flags & (MXE_OP_RETH | MXE_OP_ATOMICETH | MXE_OP_MSKATOMICETH)) {
		KUNIT_EXPECT_EQ(test, pkt->va, out->va);
		KUNIT_EXPECT_EQ(test, pkt->rkey, out->rkey);
	}
	if (pkt->flags & MXE_OP_RETH)
		KUNIT_EXPECT_EQ(test, pkt->dma_len, out->dma_len);
	if (pkt->flags & MXE_OP_FETH) {
		KUNIT_EXPECT_EQ(test, pkt->flush_type, out->flush_type);
		KUNIT_EXPECT_EQ(test, pkt->flush_level, out->flush_level);
	}
	if (pkt->flags & MXE_OP_IETH)
		KUNIT_EXPECT_EQ(test, pkt->inv_rkey, out->inv_rkey);
	if (pkt->flags & MXE_OP_DETH) {
		KUNIT_EXPECT_EQ(test, pkt->qkey, out->qkey);
		KUNIT_EXPECT_EQ(test, pkt->src_qpn, out->src_qpn);
	}
	if (pkt->flags & MXE_OP_IMM)
		KUNIT_EXPECT_EQ(test, (__force u32)pkt->imm,
				(__force u32)out->imm);
	if (pkt->flags & MXE_OP_AETH) {
		KUNIT_EXPECT_EQ(test, pkt->syndrome, out->syndrome);
		KUNIT_EXPECT_EQ(test, pkt->msn, out->msn);
	}
	if (pkt->flags & MXE_OP_ATOMICACK)
		KUNIT_EXPECT_EQ(test, pkt->atomic_orig, out->atomic_orig);
	if (pkt->flags & (MXE_OP_ATOMICETH | MXE_OP_MSKATOMICETH)) {
		KUNIT_EXPECT_EQ(test, pkt->atomic.swap_add, out->atomic.swap_add);
		KUNIT_EXPECT_EQ(test, pkt->atomic.compare, out->atomic.compare);
		KUNIT_EXPECT_EQ(test, pkt->atomic.swap_mask,
				out->atomic.swap_mask);
		KUNIT_EXPECT_EQ(test, pkt->atomic.compare_mask,
				out->atomic.compare_mask);
	}
}

static void pkt_round_trip(struct kunit *test)
{
	const struct opcode_row *row = test->param_value;
	u32 payload_len, max = row->payload ? 9 : 0;

	KUNIT_EXPECT_EQ(test, mxe_opcodes[row->opcode].hdr_len, row->hdr_len);
	for (payload_len = 0; payload_len <= max; payload_len++) {
		struct test_pkt out = sample(row->opcode, payload_len);
		u32 i, pad = -payload_len & 3;
		struct test_pkt pkt;
		size_t len;
		u8 *buf;

		out.solicited = payload_len & 1;
		out.ack_req = payload_len & 2;
		buf = build(test, &out, &len);
		KUNIT_EXPECT_EQ(test, len, (size_t)row->hdr_len + payload_len +
				pad + MXE_ICRC_SIZE);
		KUNIT_EXPECT_EQ(test, buf[1] >> 4 & 3, pad);
		for (i = 0; i < pad; i++)
			KUNIT_EXPECT_EQ(test, buf[row->hdr_len + payload_len + i],
					0);

		KUNIT_ASSERT_EQ(test, (int)parse_copy(test, &pkt, buf, len),
				(int)MXE_PKT_OK);
		check_fields(test, row, &out, &pkt);
		if (!row->payload)
			continue;
		KUNIT_EXPECT_EQ(test, pkt.payload_len, payload_len);
		KUNIT_EXPECT_PTR_EQ(test, pkt.payload,
				    (const u8 *)buf + row->hdr_len);
	}
}

/* The operation in the operands does not depend on the transport. */
static void pkt_atomic_op(struct kunit *test)
{
	static const struct {
		u8 opcode;
		enum mxe_atomic_op op;
	} rows[] = {
		{ BTH_CMP_SWAP, MXE_ATOMIC_CMP_SWAP },
		{ BTH_FETCH_ADD, MXE_ATOMIC_FETCH_ADD },
		{ BTH_RC_MASKED_CMP_SWAP, MXE_ATOMIC_MASKED_CMP_SWAP },
		{ BTH_RC_MASKED_FETCH_ADD, MXE_ATOMIC_MASKED_FETCH_ADD },
		{ BTH_XRC | BTH_CMP_SWAP, MXE_ATOMIC_CMP_SWAP },
		{ BTH_XRC | BTH_FETCH_ADD, MXE_ATOMIC_FETCH_ADD },
		{ BTH_XRC_MASKED_CMP_SWAP, MXE_ATOMIC_MASKED_CMP_SWAP },
		{ BTH_XRC_MASKED_FETCH_ADD, MXE_ATOMIC_MASKED_FETCH_ADD },
		{ BTH_RDMA_WRITE_ONLY, MXE_ATOMIC_UNSUPPORTED },
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct test_pkt out = sample(rows[i].opcode, 0);
		struct test_pkt pkt;
		size_t len;
		u8 *buf = build(test, &out, &len);

		KUNIT_ASSERT_EQ(test, (int)parse_copy(test, &pkt, buf, len),
				(int)MXE_PKT_OK);
		KUNIT_EXPECT_EQ(test, (int)pkt.atomic.op, (int)rows[i].op);
	}
}

/* A FETCH ADD has no compare operand, so that field is ignored. */
static void pkt_fetch_add_ignores_compare(struct kunit *test)
{
	struct test_pkt out = sample(BTH_FETCH_ADD, 0);
	struct test_pkt pkt;
	size_t len;
	u8 *buf;

	out.atomic.compare = 0x77;
	buf = build(test, &out, &len);
	KUNIT_ASSERT_EQ(test, (int)parse_copy(test, &pkt, buf, len),
			(int)MXE_PKT_OK);
	KUNIT_EXPECT_EQ(test, pkt.atomic.compare, 0ULL);
}

/* The parser ignores reserved bits, FECN, BECN and MigReq. */
static void pkt_bth_reserved_bits(struct kunit *test)
{
	struct test_pkt out = sample(BTH_SEND_ONLY, 4);
	struct test_pkt pkt;
	size_t len;
	u8 *buf;

	out.ack_req = false;
	buf = build(test, &out, &len);
	KUNIT_EXPECT_EQ(test, buf[1], (u8)MXE_BTH_MIGREQ);
	buf[4] = 0xff;
	buf[8] = 0x7f;
	buf[1] &= ~MXE_BTH_MIGREQ;
	KUNIT_ASSERT_EQ(test, (int)parse_copy(test, &pkt, buf, len),
			(int)MXE_PKT_OK);
	KUNIT_EXPECT_EQ(test, pkt.qpn, 0x123456U);
	KUNIT_EXPECT_EQ(test, pkt.psn, 0xfedcbaU);
	KUNIT_EXPECT_FALSE(test, pkt.ack_req);
}

/* ---- malformed packets ------------------------------------------------- */

static enum mxe_pkt_error expect_truncated(const struct opcode_row *row,
					   size_t len, u32 pad)
{
	if (is_masked(row->opcode)) {
		if (len < row->hdr_len - 32 + MXE_ICRC_SIZE)
			return MXE_PKT_SHORT;
		return MXE_PKT_LENGTH;
	}
	if (len < row->hdr_len + pad + MXE_ICRC_SIZE)
		return MXE_PKT_SHORT;
	/* A whole number of words less is a shorter payload. */
	return (len - row->hdr_len) % 4 ? MXE_PKT_LENGTH : MXE_PKT_OK;
}

static void pkt_truncated(struct kunit *test)
{
	const struct opcode_row *row = test->param_value;
	u32 payload_len, max = row->payload ? 9 : 0;

	for (payload_len = 0; payload_len <= max; payload_len++) {
		struct test_pkt out = sample(row->opcode, payload_len);
		u32 pad = -payload_len & 3;
		size_t full, len;
		u8 *buf = build(test, &out, &full);

		for (len = 0; len < full; len++) {
			struct test_pkt pkt;
			int err = parse_copy(test, &pkt, buf, len);

			KUNIT_EXPECT_EQ_MSG(test, err,
					    (int)expect_truncated(row, len, pad),
					    "payload %u, %zu of %zu bytes",
					    payload_len, len, full);
			if (err == MXE_PKT_OK && row->payload)
				KUNIT_EXPECT_LE(test, pkt.payload_len,
						payload_len);
		}
	}
}

static void pkt_too_long(struct kunit *test)
{
	const struct opcode_row *row = test->param_value;
	struct test_pkt out = sample(row->opcode, 0);
	struct test_pkt pkt;
	u8 long_buf[80];
	size_t len, extra;
	u8 *buf = build(test, &out, &len);

	memset(long_buf, 0, sizeof(long_buf));
	memcpy(long_buf, buf, len);
	for (extra = 1; extra <= 12; extra++) {
		int err = parse_copy(test, &pkt, long_buf, len + extra);

		/* 8 more bytes make an atomic acknowledge one of 16 bytes. */
		if ((row->payload && extra % 4 == 0) ||
		    (operation(row->opcode) == BTH_ATOMIC_ACKNOWLEDGE && extra == 8))
			KUNIT_EXPECT_EQ(test, err, (int)MXE_PKT_OK);
		else
			KUNIT_EXPECT_EQ_MSG(test, err, (int)MXE_PKT_LENGTH,
					    "%zu more", extra);
	}
}

static void pkt_bad_pad_count(struct kunit *test)
{
	const struct opcode_row *row = test->param_value;
	struct test_pkt out = sample(row->opcode, 0);
	struct test_pkt pkt;
	size_t len;
	u8 *buf = build(test, &out, &len);
	unsigned int pad;

	/* There is no payload, so any padding is an error. */
	for (pad = 1; pad <= 3; pad++) {
		buf[1] = (buf[1] & ~MXE_BTH_PAD_MASK) | pad << MXE_BTH_PAD_SHIFT;
		KUNIT_EXPECT_NE(test, (int)parse_copy(test, &pkt, buf, len),
				(int)MXE_PKT_OK);
	}
}

static void pkt_bad_version(struct kunit *test)
{
	const struct opcode_row *row = test->param_value;
	struct test_pkt out = sample(row->opcode, 0);
	struct test_pkt pkt;
	size_t len;
	u8 *buf = build(test, &out, &len);
	u8 flags = buf[1];
	int tver;

	for (tver = 1; tver <= 15; tver++) {
		buf[1] = flags | tver;
		KUNIT_EXPECT_EQ(test, (int)parse_copy(test, &pkt, buf, len),
				(int)MXE_PKT_VERSION);
	}
}

/*
 * The upper bits of an opcode select the transport, except in masked atomics.
 * mxe_opcode_of() converts an opcode of RC.
 */
static void pkt_transport(struct kunit *test)
{
	const struct opcode_row *row;
	int i;

	for (i = 0; i < ARRAY_SIZE(opcode_rows); i++) {
		row = &opcode_rows[i];
		KUNIT_EXPECT_EQ_MSG(test, (int)mxe_opcodes[row->opcode].transport,
				    row->opcode >= BTH_XRC_MASKED_CMP_SWAP ? MXE_TRANSPORT_XRC :
				    row->opcode >= BTH_RC_MASKED_CMP_SWAP ? MXE_TRANSPORT_RC :
				    row->opcode >> 5, "%s", row->desc);
	}
	KUNIT_EXPECT_EQ(test, mxe_opcode_of(MXE_TRANSPORT_RC, BTH_RC_MASKED_FETCH_ADD),
			BTH_RC_MASKED_FETCH_ADD);
	KUNIT_EXPECT_EQ(test, mxe_opcode_of(MXE_TRANSPORT_XRC, BTH_RC_MASKED_CMP_SWAP),
			BTH_XRC_MASKED_CMP_SWAP);
	KUNIT_EXPECT_EQ(test, mxe_opcode_of(MXE_TRANSPORT_XRC, BTH_RC_MASKED_FETCH_ADD),
			BTH_XRC_MASKED_FETCH_ADD);
	KUNIT_EXPECT_EQ(test, mxe_opcode_of(MXE_TRANSPORT_XRC, BTH_SEND_ONLY_INV),
			BTH_XRC | BTH_SEND_ONLY_INV);
	KUNIT_EXPECT_EQ(test, mxe_opcode_of(MXE_TRANSPORT_UC, BTH_SEND_ONLY),
			BTH_UC | BTH_SEND_ONLY);
}

/* The upper byte of the XRCETH is reserved. */
static void pkt_srqn(struct kunit *test)
{
	struct test_pkt out = sample(BTH_XRC | BTH_SEND_ONLY, 4);
	struct test_pkt pkt;
	size_t len;
	u8 *buf = build(test, &out, &len);

	KUNIT_EXPECT_EQ(test, get_unaligned_be32(buf + 12), 0xf1e2d3U);
	buf[12] = 0xff;
	KUNIT_ASSERT_EQ(test, (int)parse_copy(test, &pkt, buf, len),
			(int)MXE_PKT_OK);
	KUNIT_EXPECT_EQ(test, pkt.srqn, 0xf1e2d3U);
}

static void pkt_every_opcode(struct kunit *test)
{
	struct test_pkt out = sample(BTH_SEND_ONLY, 200);
	struct test_pkt pkt;
	int opcode, i;
	size_t len;
	u8 *buf = build(test, &out, &len);

	for (opcode = 0; opcode < 256; opcode++) {
		bool known = false;

		for (i = 0; i < ARRAY_SIZE(opcode_rows); i++)
			known |= opcode_rows[i].opcode == opcode;
		/* A CNP has no transport. cnp_test.c tests it. */
		known |= opcode == MXE_OPCODE_CNP;
		/* dc_test.c tests those of DC. */
		known |= mxe_opcodes[opcode].flags & MXE_OP_DCETH;
		buf[0] = opcode;
		KUNIT_EXPECT_EQ_MSG(test, !!mxe_opcodes[opcode].flags, known,
				    "opcode %#x", opcode);
		KUNIT_EXPECT_EQ_MSG(test, parse_copy(test, &pkt, buf, len) !=
				    MXE_PKT_OPCODE, known, "opcode %#x", opcode);
	}
}

/* ---- header of the masked atomics -------------------------------------- */

#define ETH	12	/* where the header begins, from BTH */

/* Bytes of a packet with operands of 1 << log bytes, by the specification. */
static size_t masked_len(unsigned int log)
{
	static const size_t header[] = { 48, 48, 48, 48, 80, 144 };

	return ETH + header[log] + MXE_ICRC_SIZE;
}

static void masked_check(struct kunit *test, const u8 *buf, size_t len,
			 int want_err, int want_op)
{
	struct test_pkt pkt;
	int err = parse_copy(test, &pkt, buf, len);

	KUNIT_EXPECT_EQ_MSG(test, err, want_err,
			    "version %u log_arg_sz %u length %zu",
			    buf[ETH + 12], buf[ETH + 13], len);
	if (!err && !want_err)
		KUNIT_EXPECT_EQ_MSG(test, (int)pkt.atomic.op, want_op,
				    "version %u log_arg_sz %u", buf[ETH + 12],
				    buf[ETH + 13]);
}

static const struct opcode_row masked_rows[] = {
	{ "masked CmpSwap", BTH_RC_MASKED_CMP_SWAP },
	{ "masked FetchAdd", BTH_RC_MASKED_FETCH_ADD },
};

KT_ARRAY_PARAM(masked, masked_rows);

static int masked_op(u8 opcode)
{
	return opcode == BTH_RC_MASKED_CMP_SWAP ? MXE_ATOMIC_MASKED_CMP_SWAP :
				MXE_ATOMIC_MASKED_FETCH_ADD;
}

static u8 *masked_build(struct kunit *test, u8 opcode)
{
	struct test_pkt out = sample(opcode, 0);
	u8 *big = kunit_kzalloc(test, 256, GFP_KERNEL);
	size_t len;
	u8 *buf = build(test, &out, &len);

	KUNIT_ASSERT_NOT_NULL(test, big);
	KUNIT_ASSERT_EQ(test, len, masked_len(3));
	return memcpy(big, buf, len);
}

/* A header of an unknown version may have any length. */
static void pkt_masked_version(struct kunit *test)
{
	const struct opcode_row *row = test->param_value;
	u8 *buf = masked_build(test, row->opcode);
	int version;

	for (version = 0; version < 256; version++) {
		buf[ETH + 12] = version;
		masked_check(test, buf, masked_len(3), MXE_PKT_OK,
			     version == 1 ? masked_op(row->opcode) :
					    MXE_ATOMIC_UNSUPPORTED);
		if (version == 1)
			continue;
		masked_check(test, buf, ETH + 16 + MXE_ICRC_SIZE, MXE_PKT_OK,
			     MXE_ATOMIC_UNSUPPORTED);
		masked_check(test, buf, 200, MXE_PKT_OK, MXE_ATOMIC_UNSUPPORTED);
	}
}

static void pkt_masked_size(struct kunit *test)
{
	const struct opcode_row *row = test->param_value;
	u8 *buf = masked_build(test, row->opcode);
	int log, other;

	/* Operands of 0 are valid in every size. */
	memset(buf + ETH + 16, 0, 256 - ETH - 16);
	for (log = 0; log < 256; log++) {
		buf[ETH + 13] = log;
		if (log > 5) {
			masked_check(test, buf, masked_len(3), MXE_PKT_OK,
				     MXE_ATOMIC_UNSUPPORTED);
			continue;
		}
		masked_check(test, buf, masked_len(log), MXE_PKT_OK,
			     masked_op(row->opcode));
		masked_check(test, buf, masked_len(log) - 1, MXE_PKT_LENGTH, 0);
		masked_check(test, buf, masked_len(log) + 1, MXE_PKT_LENGTH, 0);
		masked_check(test, buf, masked_len(log) - 4, MXE_PKT_LENGTH, 0);
		masked_check(test, buf, masked_len(log) + 4, MXE_PKT_LENGTH, 0);
		for (other = 3; other <= 5; other++)
			if (masked_len(other) != masked_len(log))
				masked_check(test, buf, masked_len(other),
					     MXE_PKT_LENGTH, 0);
	}
}

static void pkt_masked_reserved(struct kunit *test)
{
	const struct opcode_row *row = test->param_value;
	u8 *buf = masked_build(test, row->opcode);
	int bit;

	for (bit = 0; bit < 16; bit++) {
		put_unaligned_be16(1 << bit, buf + ETH + 14);
		masked_check(test, buf, masked_len(3), MXE_PKT_OK,
			     MXE_ATOMIC_UNSUPPORTED);
	}
	put_unaligned_be16(0, buf + ETH + 14);
	masked_check(test, buf, masked_len(3), MXE_PKT_OK,
		     masked_op(row->opcode));
	/* Without payload there must be no padding. */
	buf[1] |= 1 << MXE_BTH_PAD_SHIFT;
	masked_check(test, buf, masked_len(3), MXE_PKT_LENGTH, 0);
}

/*
 * A fetch-and-add has no compare operand and no swap mask, so both fields must
 * be 0.
 */
static void pkt_masked_unused_operands(struct kunit *test)
{
	const struct opcode_row *row = test->param_value;
	bool used = row->opcode == BTH_RC_MASKED_CMP_SWAP;
	u8 *buf = masked_build(test, row->opcode);
	int bit, operand;

	for (operand = 1; operand <= 2; operand++) {
		u8 *p = buf + ETH + 16 + 8 * operand;
		u64 was = get_unaligned_be64(p);

		for (bit = 0; bit < 64; bit++) {
			put_unaligned_be64(1ULL << bit, p);
			masked_check(test, buf, masked_len(3), MXE_PKT_OK,
				     used ? masked_op(row->opcode) :
					    MXE_ATOMIC_UNSUPPORTED);
		}
		put_unaligned_be64(was, p);
	}
}

/* ---- invariant CRC ----------------------------------------------------- */

/*
 * Whole IP packets. Their ICRCs were computed with zlib, by the Python code in
 * Documentation/wire-format.rst. The first one is the example there.
 */
static const u8 vector_ipv4[] = {
	0x45, 0x00, 0x00, 0x5c, 0x00, 0x00, 0x40, 0x00,
	0x40, 0x11, 0x26, 0x8f, 0x0a, 0x00, 0x00, 0x01,
	0x0a, 0x00, 0x00, 0x02, 0xc0, 0x00, 0x12, 0xb7,
	0x00, 0x48, 0x00, 0x00, 0xd3, 0x40, 0xff, 0xff,
	0x00, 0x00, 0x00, 0x11, 0x80, 0x00, 0x10, 0x00,
	0x00, 0x00, 0x7f, 0x01, 0x23, 0x45, 0x67, 0x80,
	0x00, 0x00, 0x0a, 0x42, 0x01, 0x03, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x2a,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xff, 0xff,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xff, 0xff,
	0x41, 0xc2, 0x10, 0xf2,
};

/* SEND Only with Immediate, 5 bytes; traffic class, flow label, FECN, BECN. */
static const u8 vector_ipv6[] = {
	0x6b, 0x81, 0x23, 0x45, 0x00, 0x24, 0x11, 0x25,
	0xfd, 0x77, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01,
	0xfd, 0x77, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02,
	0xd1, 0x23, 0x12, 0xb7, 0x00, 0x24, 0x12, 0x34,
	0x05, 0xf0, 0xff, 0xff, 0xc0, 0xab, 0xcd, 0xef,
	0x80, 0xff, 0xff, 0xfe, 0xde, 0xad, 0xbe, 0xef,
	0x68, 0x65, 0x6c, 0x6c, 0x6f, 0x00, 0x00, 0x00,
	0xb4, 0xa3, 0x0e, 0x41,
};

static u32 vector_icrc(const u8 *ip, size_t len)
{
	bool v4 = ip[0] >> 4 == 4;
	size_t ip_len = v4 ? sizeof(struct iphdr) : sizeof(struct ipv6hdr);
	const u8 *udp = ip + ip_len, *bth = udp + sizeof(struct udphdr);
	size_t bth_len = ip + len - bth - MXE_ICRC_SIZE;
	__le32 icrc;

	local_bh_disable();
	if (v4)
		icrc = mxe_icrc_ipv4((const void *)ip, (const void *)udp, bth,
				     bth_len);
	else
		icrc = mxe_icrc_ipv6((const void *)ip, (const void *)udp, bth,
				     bth_len);
	local_bh_enable();
	return le32_to_cpu(icrc);
}

/*
 * Change each byte: the ICRC must change too, unless the byte may change on
 * the way.
 */
static void check_vector(struct kunit *test, const u8 *vector, size_t len,
			 const u8 *variant, size_t num_variant)
{
	u8 *copy = kunit_kmalloc(test, len, GFP_KERNEL);
	u32 good = get_unaligned_le32(vector + len - MXE_ICRC_SIZE);
	size_t i, j;

	KUNIT_ASSERT_NOT_NULL(test, copy);
	memcpy(copy, vector, len);
	KUNIT_ASSERT_EQ(test, vector_icrc(copy, len), good);
	for (i = 0; i < len - MXE_ICRC_SIZE; i++) {
		bool varies = false;
		/* The version of IP determines how the packet is parsed. */
		u8 flip = i ? 0xff : 0x0f;

		for (j = 0; j < num_variant; j++)
			varies |= variant[j] == i;
		copy[i] ^= flip;
		KUNIT_EXPECT_EQ_MSG(test, vector_icrc(copy, len) == good, varies,
				    "byte %zu", i);
		copy[i] ^= flip;
	}
}

static void pkt_icrc_ipv4(struct kunit *test)
{
	/* ToS, TTL, header checksum, UDP checksum, FECN and BECN. */
	static const u8 variant[] = { 1, 8, 10, 11, 26, 27, 32 };

	check_vector(test, vector_ipv4, sizeof(vector_ipv4), variant,
		     ARRAY_SIZE(variant));
}

static void pkt_icrc_ipv6(struct kunit *test)
{
	/* Traffic class, flow label, hop limit, UDP checksum, FECN and BECN. */
	static const u8 variant[] = { 0, 1, 2, 3, 7, 46, 47, 52 };

	check_vector(test, vector_ipv6, sizeof(vector_ipv6), variant,
		     ARRAY_SIZE(variant));
}

/* The example of the specification is parsed, and built unchanged. */
static void pkt_example(struct kunit *test)
{
	const u8 *bth = vector_ipv4 + sizeof(struct iphdr) +
			sizeof(struct udphdr);
	size_t len = vector_ipv4 + sizeof(vector_ipv4) - bth;
	struct test_pkt out = {
		.opcode = BTH_RC_MASKED_CMP_SWAP,
		.ack_req = true,
		.pkey = 0xffff,
		.qpn = 0x11,
		.psn = 0x1000,
		.va = 0x7f0123456780ULL,
		.rkey = 0xa42,
		.atomic = {
			.op = MXE_ATOMIC_MASKED_CMP_SWAP,
			.swap_add = 0x2a,
			.compare = 0,
			.swap_mask = 0xffff,
			.compare_mask = 0xffff,
			.log_size = 3,
		},
	};
	struct test_pkt pkt;
	size_t built_len;
	u8 *built = build(test, &out, &built_len);

	KUNIT_ASSERT_EQ(test, built_len, len);
	KUNIT_EXPECT_EQ(test, memcmp(built, bth, len - MXE_ICRC_SIZE), 0);
	KUNIT_ASSERT_EQ(test, (int)parse_copy(test, &pkt, bth, len),
			(int)MXE_PKT_OK);
	KUNIT_EXPECT_EQ(test, (int)pkt.atomic.op, (int)out.atomic.op);
	KUNIT_EXPECT_EQ(test, pkt.atomic.swap_add, out.atomic.swap_add);
	KUNIT_EXPECT_EQ(test, pkt.atomic.compare, out.atomic.compare);
	KUNIT_EXPECT_EQ(test, pkt.atomic.swap_mask, out.atomic.swap_mask);
	KUNIT_EXPECT_EQ(test, pkt.atomic.compare_mask, out.atomic.compare_mask);
	KUNIT_EXPECT_EQ(test, pkt.va, out.va);
	KUNIT_EXPECT_EQ(test, pkt.rkey, out.rkey);
	KUNIT_EXPECT_EQ(test, pkt.psn, out.psn);
	KUNIT_EXPECT_EQ(test, pkt.qpn, out.qpn);
}

static struct kunit_case pkt_cases[] = {
	KUNIT_CASE_PARAM(pkt_round_trip, opcode_gen_params),
	KUNIT_CASE(pkt_atomic_op),
	KUNIT_CASE(pkt_fetch_add_ignores_compare),
	KUNIT_CASE(pkt_bth_reserved_bits),
	KUNIT_CASE_PARAM(pkt_truncated, opcode_gen_params),
	KUNIT_CASE_PARAM(pkt_too_long, opcode_gen_params),
	KUNIT_CASE_PARAM(pkt_bad_pad_count, opcode_gen_params),
	KUNIT_CASE_PARAM(pkt_bad_version, opcode_gen_params),
	KUNIT_CASE(pkt_transport),
	KUNIT_CASE(pkt_srqn),
	KUNIT_CASE(pkt_every_opcode),
	KUNIT_CASE_PARAM(pkt_masked_version, masked_gen_params),
	KUNIT_CASE_PARAM(pkt_masked_size, masked_gen_params),
	KUNIT_CASE_PARAM(pkt_masked_reserved, masked_gen_params),
	KUNIT_CASE_PARAM(pkt_masked_unused_operands, masked_gen_params),
	KUNIT_CASE(pkt_icrc_ipv4),
	KUNIT_CASE(pkt_icrc_ipv6),
	KUNIT_CASE(pkt_example),
	{}
};

static struct kunit_suite pkt_suite = {
	.name = "mxe_pkt",
	.test_cases = pkt_cases,
};

kunit_test_suite(pkt_suite);
