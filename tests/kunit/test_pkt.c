// SPDX-License-Identifier: GPL-2.0
/* Builds and reads packets for tests, see test_pkt.h. */
#include <linux/string.h>

#include "test_pkt.h"
#include "wire/psn.h"

static unsigned int pad_of(u32 payload_len)
{
	return -payload_len & 3;
}

size_t test_pkt_len(const struct test_pkt *out)
{
	const struct mxe_opcode *row = &mxe_opcodes[out->opcode];
	size_t len = row->hdr_len + out->payload_len + pad_of(out->payload_len);
	unsigned int more = mxe_atomic_words(&out->atomic) - 1;

	if (row->flags & MXE_OP_MSKATOMICETH)
		len += MXE_MSKATOMIC_OPERANDS * more * sizeof(__be64);
	if (row->flags & MXE_OP_ATOMICACK)
		len += more * sizeof(__be64);
	return len;
}

static u8 *put(u8 *p, u64 value, unsigned int bytes)
{
	while (bytes--)
		*p++ = value >> 8 * bytes;
	return p;
}

static u8 *put_words(u8 *p, const u64 *words, unsigned int n)
{
	while (n--)
		p = put(p, words[n], 8);
	return p;
}

static u8 *put_atomic(u8 *p, const struct test_pkt *out, u32 flags)
{
	const struct mxe_atomic_args *a = &out->atomic;
	unsigned int n = mxe_atomic_words(a);

	p = put(p, out->va, 8);
	p = put(p, out->rkey, 4);
	if (flags & MXE_OP_ATOMICETH) {
		p = put(p, a->swap_add, 8);
		return put(p, a->compare, 8);
	}
	p = put(p, MXE_MSKATOMIC_VERSION, 1);
	p = put(p, a->log_size, 1);
	p = put(p, 0, 2);
	p = put_words(p, a->swap_add_words, n);
	p = put_words(p, a->compare_words, n);
	p = put_words(p, a->swap_mask_words, n);
	return put_words(p, a->compare_mask_words, n);
}

u8 *test_pkt_build(const struct test_pkt *out, u8 *buf)
{
	u32 flags = mxe_opcodes[out->opcode].flags;
	unsigned int pad = pad_of(out->payload_len);
	u8 *p = buf;

	p = put(p, out->opcode, 1);
	p = put(p, (out->solicited ? 0x80 : 0) | 0x40 | pad << 4, 1);
	p = put(p, out->pkey, 2);
	p = put(p, out->qpn | (flags & MXE_OP_CNP ? MXE_BTH_BECN : 0), 4);
	p = put(p, out->psn | (out->ack_req ? MXE_BTH_ACK_REQ : 0), 4);
	if (flags & MXE_OP_CNP)
		p = put(put(p, 0, 8), 0, 8);
	if (flags & MXE_OP_DETH)
		p = put(put(p, out->qkey, 4), out->src_qpn, 4);
	if (flags & MXE_OP_XRCETH)
		p = put(p, out->srqn, 4);
	if (flags & MXE_OP_FETH)
		p = put(p, out->flush_level << 4 | out->flush_type, 4);
	if (flags & MXE_OP_RETH)
		p = put(put(put(p, out->va, 8), out->rkey, 4), out->dma_len, 4);
	if (flags & (MXE_OP_ATOMICETH | MXE_OP_MSKATOMICETH))
		p = put_atomic(p, out, flags);
	if (flags & MXE_OP_AETH)
		p = put(p, out->syndrome << 24 | (out->msn & 0xffffff), 4);
	if (flags & MXE_OP_ATOMICACK)
		p = put_words(p, out->atomic_orig_words, mxe_atomic_words(&out->atomic));
	if (flags & MXE_OP_IMM)
		p = put(p, be32_to_cpu(out->imm), 4);
	if (flags & MXE_OP_IETH)
		p = put(p, out->inv_rkey, 4);
	memset(p + out->payload_len, 0, pad);
	return p;
}

static void read_headers(struct test_pkt *in, const struct mxe_pkt *pkt)
{
	if (pkt->flags & MXE_OP_DETH) {
		in->qkey = be32_to_cpu(mxe_pkt_deth(pkt)->qkey);
		in->src_qpn = be32_to_cpu(mxe_pkt_deth(pkt)->sqp) & MXE_BTH_QPN_MASK;
	}
	if (pkt->flags & MXE_OP_FETH) {
		in->flush_type = mxe_pkt_feth(pkt) & MXE_FETH_TYPE_MASK;
		in->flush_level = mxe_pkt_feth(pkt) >> MXE_FETH_LEVEL_SHIFT &
				  MXE_FETH_LEVEL_MASK;
	}
	if (pkt->flags & (MXE_OP_RETH | MXE_OP_ATOMICETH | MXE_OP_MSKATOMICETH)) {
		in->va = mxe_pkt_va(pkt);
		in->rkey = mxe_pkt_rkey(pkt);
	}
	if (pkt->flags & MXE_OP_RETH)
		in->dma_len = mxe_pkt_dma_len(pkt);
	if (pkt->flags & MXE_OP_AETH) {
		u32 smsn = get_unaligned_be32(pkt->eth);

		in->syndrome = mxe_pkt_syndrome(pkt);
		in->msn = smsn & 0xffffff;
	}
	if (pkt->flags & MXE_OP_IMM)
		in->imm = mxe_pkt_imm(pkt);
	if (pkt->flags & MXE_OP_IETH)
		in->inv_rkey = mxe_pkt_inv_rkey(pkt);
}

enum mxe_pkt_error test_pkt_read(struct test_pkt *in, const u8 *data, size_t len)
{
	struct mxe_pkt *pkt = &in->pkt;
	enum mxe_pkt_error err;

	memset(in, 0, sizeof(*in));
	err = mxe_pkt_parse(pkt, data, len);
	if (err)
		return err;
	in->flags = pkt->flags;
	in->opcode = pkt->bth->opcode;
	in->solicited = mxe_pkt_is_solicited(pkt);
	in->ack_req = mxe_pkt_asks_ack(pkt);
	in->pkey = be16_to_cpu(pkt->bth->pkey);
	in->qpn = mxe_pkt_qpn(pkt);
	in->psn = pkt->psn;
	in->srqn = mxe_pkt_srqn(pkt);
	in->payload = pkt->payload;
	in->payload_len = pkt->payload_len;
	read_headers(in, pkt);
	if (pkt->flags & MXE_OP_ATOMICACK) {
		in->atomic_num_words = mxe_pkt_result_words(pkt);
		mxe_pkt_result(pkt, in->atomic_orig_words);
	} else if (pkt->flags & (MXE_OP_ATOMIC | MXE_OP_ATOMIC_WRITE)) {
		mxe_pkt_atomic(pkt, &in->atomic);
	}
	return MXE_PKT_OK;
}
