// SPDX-License-Identifier: GPL-2.0
/*
 * Checks packets from the BTH on by a table of opcodes, and reads and writes
 * the operands of atomics.
 */
#include <linux/string.h>

#include "wire/pkt.h"
#include "wire/psn.h"

#define OP_ONLY		(MXE_OP_START | MXE_OP_END)
#define OP_SEND		(MXE_OP_REQUEST | MXE_OP_SEND | MXE_OP_PAYLOAD)
#define OP_WRITE	(MXE_OP_REQUEST | MXE_OP_WRITE | MXE_OP_PAYLOAD)
#define OP_READ		(MXE_OP_RESPONSE | MXE_OP_READ | MXE_OP_PAYLOAD)
#define OP_ATOMIC	(MXE_OP_REQUEST | MXE_OP_ATOMIC | OP_ONLY)
#define OP_ATOMIC_ACK \
	(MXE_OP_RESPONSE | MXE_OP_ATOMIC | MXE_OP_AETH | MXE_OP_ATOMICACK)
#define OP_FLUSH \
	(MXE_OP_REQUEST | MXE_OP_FLUSH | OP_ONLY | MXE_OP_FETH | MXE_OP_RETH)
#define OP_ATOMIC_WRITE \
	(MXE_OP_REQUEST | MXE_OP_ATOMIC_WRITE | OP_ONLY | MXE_OP_RETH | MXE_OP_PAYLOAD)

#define LEN(flags, bit, len)	((flags) & (bit) ? (len) : 0)
#define ETH_AT(flags)							\
	(sizeof(struct mxe_bth) +					\
	 LEN(flags, MXE_OP_DCETH, sizeof(struct mxe_dceth)) +		\
	 LEN(flags, MXE_OP_DETH, sizeof(struct mxe_deth)) +		\
	 LEN(flags, MXE_OP_XRCETH, sizeof(struct mxe_xrceth)) +		\
	 LEN(flags, MXE_OP_FETH, sizeof(struct mxe_feth)))
#define HDR_LEN(flags)							\
	(ETH_AT(flags) +						\
	 LEN(flags, MXE_OP_CNP, MXE_CNP_RESERVED_SIZE) +		\
	 LEN(flags, MXE_OP_RETH, sizeof(struct mxe_reth)) +		\
	 LEN(flags, MXE_OP_ATOMICETH, sizeof(struct mxe_atomiceth)) +	\
	 LEN(flags, MXE_OP_MSKATOMICETH,				\
	     sizeof(struct mxe_mskatomiceth) +				\
	     MXE_MSKATOMIC_OPERANDS * sizeof(__be64)) +			\
	 LEN(flags, MXE_OP_AETH, sizeof(struct mxe_aeth)) +		\
	 LEN(flags, MXE_OP_ATOMICACK, sizeof(__be64)) +			\
	 LEN(flags, MXE_OP_IMM | MXE_OP_IETH, sizeof(__be32)))

#define ROW(opcode, of, has)						\
	[opcode] = {							\
		.flags = (has),						\
		.transport = (of),					\
		.eth_at = ETH_AT(has),					\
		.hdr_len = HDR_LEN(has),				\
	}
#define OP(of, name, has)	ROW((of) << 5 | IB_OPCODE_##name, of, has)

/* SENDs and WRITEs, with the header @eth of a transport. */
#define MESSAGES(of, eth)						\
	OP(of, SEND_FIRST, OP_SEND | MXE_OP_START | (eth)),		\
	OP(of, SEND_MIDDLE, OP_SEND | (eth)),				\
	OP(of, SEND_LAST, OP_SEND | MXE_OP_END | (eth)),		\
	OP(of, SEND_LAST_WITH_IMMEDIATE,				\
	   OP_SEND | MXE_OP_END | MXE_OP_IMM | (eth)),			\
	OP(of, SEND_ONLY, OP_SEND | OP_ONLY | (eth)),			\
	OP(of, SEND_ONLY_WITH_IMMEDIATE,				\
	   OP_SEND | OP_ONLY | MXE_OP_IMM | (eth)),			\
	OP(of, RDMA_WRITE_FIRST,					\
	   OP_WRITE | MXE_OP_START | MXE_OP_RETH | (eth)),		\
	OP(of, RDMA_WRITE_MIDDLE, OP_WRITE | (eth)),			\
	OP(of, RDMA_WRITE_LAST, OP_WRITE | MXE_OP_END | (eth)),		\
	OP(of, RDMA_WRITE_LAST_WITH_IMMEDIATE,				\
	   OP_WRITE | MXE_OP_END | MXE_OP_IMM | (eth)),			\
	OP(of, RDMA_WRITE_ONLY,						\
	   OP_WRITE | OP_ONLY | MXE_OP_RETH | (eth)),			\
	OP(of, RDMA_WRITE_ONLY_WITH_IMMEDIATE,				\
	   OP_WRITE | OP_ONLY | MXE_OP_RETH | MXE_OP_IMM | (eth))

/*
 * All operations of a reliable transport, which has the header @eth in requests
 * and @ack_eth in responses.
 */
#define RELIABLE(of, eth, ack_eth)					\
	MESSAGES(of, eth),						\
	OP(of, SEND_LAST_WITH_INVALIDATE,				\
	   OP_SEND | MXE_OP_END | MXE_OP_IETH | (eth)),			\
	OP(of, SEND_ONLY_WITH_INVALIDATE,				\
	   OP_SEND | OP_ONLY | MXE_OP_IETH | (eth)),			\
	OP(of, RDMA_READ_REQUEST,					\
	   MXE_OP_REQUEST | MXE_OP_READ | OP_ONLY | MXE_OP_RETH | (eth)),	\
	OP(of, RDMA_READ_RESPONSE_FIRST,				\
	   OP_READ | MXE_OP_START | MXE_OP_AETH | (ack_eth)),		\
	OP(of, RDMA_READ_RESPONSE_MIDDLE, OP_READ | (ack_eth)),		\
	OP(of, RDMA_READ_RESPONSE_LAST,					\
	   OP_READ | MXE_OP_END | MXE_OP_AETH | (ack_eth)),		\
	OP(of, RDMA_READ_RESPONSE_ONLY,					\
	   OP_READ | OP_ONLY | MXE_OP_AETH | (ack_eth)),		\
	OP(of, ACKNOWLEDGE, MXE_OP_RESPONSE | MXE_OP_AETH | (ack_eth)),	\
	OP(of, ATOMIC_ACKNOWLEDGE, OP_ATOMIC_ACK | (ack_eth)),		\
	OP(of, COMPARE_SWAP, OP_ATOMIC | MXE_OP_ATOMICETH | (eth)),	\
	OP(of, FETCH_ADD, OP_ATOMIC | MXE_OP_ATOMICETH | (eth)),	\
	ROW((of) << 5 | MXE_OPCODE_RC_FLUSH, of, OP_FLUSH | (eth)),	\
	ROW((of) << 5 | MXE_OPCODE_RC_ATOMIC_WRITE, of, OP_ATOMIC_WRITE | (eth))

/* The opcodes of masked atomics do not contain the transport. */
#define MASKED(name, eth)						\
	ROW(MXE_OPCODE_##name##_MASKED_CMP_SWAP, MXE_TRANSPORT_##name,	\
	    OP_ATOMIC | MXE_OP_MSKATOMICETH | (eth)),			\
	ROW(MXE_OPCODE_##name##_MASKED_FETCH_ADD, MXE_TRANSPORT_##name,	\
	    OP_ATOMIC | MXE_OP_MSKATOMICETH | (eth))

/* BTH opcodes (IBTA 9.2), and those of mxe. */
const struct mxe_opcode mxe_opcodes[256] = {
	RELIABLE(MXE_TRANSPORT_RC, 0, 0),
	RELIABLE(MXE_TRANSPORT_XRC, MXE_OP_XRCETH, 0),
	RELIABLE(MXE_TRANSPORT_DC, MXE_OP_DCETH, MXE_OP_DCETH),
	MESSAGES(MXE_TRANSPORT_UC, 0),
	OP(MXE_TRANSPORT_UD, SEND_ONLY, OP_SEND | OP_ONLY | MXE_OP_DETH),
	OP(MXE_TRANSPORT_UD, SEND_ONLY_WITH_IMMEDIATE,
	   OP_SEND | OP_ONLY | MXE_OP_DETH | MXE_OP_IMM),
	MASKED(RC, 0),
	MASKED(XRC, MXE_OP_XRCETH),
	MASKED(DC, MXE_OP_DCETH),
	ROW(MXE_OPCODE_DC_CONTROL, MXE_TRANSPORT_DC,
	    MXE_OP_DC_CONTROL | MXE_OP_DCETH | MXE_OP_PAYLOAD),
	ROW(MXE_OPCODE_CNP, 0, MXE_OP_CNP),
};

/* ---- checking ------------------------------------------------------------ */

/*
 * Returns MXE_PKT_OK if the packet of a masked atomic, of @len bytes, is as
 * long as its header says, or if it does not say so.
 */
static enum mxe_pkt_error mxe_pkt_check_masked(const struct mxe_pkt *pkt, size_t len,
					       unsigned int pad)
{
	const struct mxe_mskatomiceth *eth = (const void *)pkt->eth;
	size_t eth_at = pkt->eth - (const u8 *)pkt->bth;

	if (len < eth_at + sizeof(*eth))
		return MXE_PKT_SHORT;
	if (pad)
		return MXE_PKT_LENGTH;
	if (eth->version != MXE_MSKATOMIC_VERSION || eth->log_arg_sz > 5)
		return MXE_PKT_OK;
	if (len != eth_at + sizeof(*eth) +
		   (MXE_MSKATOMIC_OPERANDS << max_t(u8, eth->log_arg_sz, 3)))
		return MXE_PKT_LENGTH;
	return MXE_PKT_OK;
}

/* Checks the length of a packet whose opcode has no payload. */
static enum mxe_pkt_error mxe_pkt_check_no_payload(struct mxe_pkt *pkt, unsigned int pad)
{
	unsigned int more = pkt->payload_len / sizeof(__be64);

	if (likely(!pkt->payload_len && !pad))
		return MXE_PKT_OK;
	/* A wider result, of two or four words. */
	if (!(pkt->flags & MXE_OP_ATOMICACK) || pad || pkt->payload_len % sizeof(__be64) ||
	    (more != 1 && more != 3))
		return MXE_PKT_LENGTH;
	pkt->payload += pkt->payload_len;
	pkt->payload_len = 0;
	return MXE_PKT_OK;
}

/*
 * Check a packet of @len bytes, which include the ICRC. The bytes are
 * contiguous. The ICRC is not checked here. Set @pkt, except for vlan_id. It is
 * undefined after an error. A masked atomic of an unknown version or operand
 * size is not an error, so that the responder refuses it with a NAK: see
 * mxe_pkt_atomic().
 * Return: MXE_PKT_OK or the reason to drop the packet.
 */
enum mxe_pkt_error mxe_pkt_parse(struct mxe_pkt *pkt, const u8 *data,
				 size_t len)
{
	const struct mxe_bth *bth = (const void *)data;
	const struct mxe_opcode *row;
	size_t connect = 0;
	unsigned int pad;

	if (len < sizeof(*bth) + MXE_ICRC_SIZE)
		return MXE_PKT_SHORT;
	if (bth->flags & MXE_BTH_TVER_MASK)
		return MXE_PKT_VERSION;
	row = &mxe_opcodes[bth->opcode];
	if (!row->flags)
		return MXE_PKT_OPCODE;

	len -= MXE_ICRC_SIZE;
	pad = (bth->flags & MXE_BTH_PAD_MASK) >> MXE_BTH_PAD_SHIFT;
	pkt->bth = bth;
	pkt->flags = row->flags;
	pkt->transport = row->transport;
	pkt->psn = be32_to_cpu(bth->apsn) & MXE_PSN_MASK;
	if (unlikely(row->flags & MXE_OP_DCETH)) {
		const struct mxe_dceth *dceth = mxe_pkt_dceth(pkt);

		if (len < sizeof(*bth) + sizeof(*dceth))
			return MXE_PKT_SHORT;
		if (dceth->version != MXE_DC_VERSION)
			return MXE_PKT_VERSION;
		if (dceth->flags & MXE_DC_FLAG_CONNECT)
			connect = sizeof(struct mxe_dcceth);
	}
	pkt->eth = data + row->eth_at + connect;
	pkt->payload = data + row->hdr_len + connect;
	if (row->flags & MXE_OP_MSKATOMICETH) {
		pkt->payload = data + len;
		pkt->payload_len = 0;
		return mxe_pkt_check_masked(pkt, len, pad);
	}
	if (len < row->hdr_len + connect + pad)
		return MXE_PKT_SHORT;
	pkt->payload_len = len - row->hdr_len - connect - pad;
	if ((pkt->payload_len + pad) % 4)
		return MXE_PKT_LENGTH;
	return row->flags & MXE_OP_PAYLOAD ? MXE_PKT_OK : mxe_pkt_check_no_payload(pkt, pad);
}

/* ---- operands ------------------------------------------------------------ */

/*
 * Operands and results are big-endian numbers, so the least significant word is
 * the last one.
 */
static inline const u8 *mxe_pkt_get_number(u64 *words, const u8 *p, unsigned int n)
{
	for (; unlikely(n > 1); p += sizeof(__be64))
		words[--n] = get_unaligned_be64(p);
	words[0] = get_unaligned_be64(p);
	return p + sizeof(__be64);
}

/*
 * Write @n words of 8 bytes, least significant first in @words. Return the end.
 */
u8 *mxe_pkt_write_number(u8 *p, const u64 *words, unsigned int n)
{
	for (; unlikely(n > 1); p += sizeof(__be64))
		put_unaligned_be64(words[--n], p);
	put_unaligned_be64(words[0], p);
	return p + sizeof(__be64);
}

/*
 * Get the mxe_pkt_result_words() words of the result in a response with
 * MXE_OP_ATOMICACK, least significant first.
 */
void mxe_pkt_result(const struct mxe_pkt *pkt, u64 *words)
{
	mxe_pkt_get_number(words, pkt->eth + sizeof(struct mxe_aeth),
			   mxe_pkt_result_words(pkt));
}

static bool mxe_pkt_atomic_standard(const struct mxe_pkt *pkt, struct mxe_atomic_args *a)
{
	const struct mxe_atomiceth *eth = (const void *)pkt->eth;
	bool is_swap = (pkt->bth->opcode & 0x1f) == IB_OPCODE_COMPARE_SWAP;

	a->op = is_swap ? MXE_ATOMIC_CMP_SWAP : MXE_ATOMIC_FETCH_ADD;
	a->log_size = 3;
	a->swap_add = be64_to_cpu(eth->swap_add);
	/* Unused, so a duplicate is the same request whatever it contains. */
	a->compare = is_swap ? be64_to_cpu(eth->compare) : 0;
	a->swap_mask = 0;
	a->compare_mask = 0;
	return true;
}

static bool mxe_pkt_is_masked_cmp_swap(const struct mxe_pkt *pkt)
{
	u8 opcode = pkt->bth->opcode;

	return opcode == MXE_OPCODE_RC_MASKED_CMP_SWAP ||
	       opcode == MXE_OPCODE_XRC_MASKED_CMP_SWAP ||
	       opcode == MXE_OPCODE_DC_MASKED_CMP_SWAP;
}

/* Returns true if the unused operands of n words of a fetch-and-add are 0. */
static bool mxe_pkt_unused_are_zero(const struct mxe_atomic_args *a, unsigned int n)
{
	u64 any = 0;

	while (n--)
		any |= a->compare_words[n] | a->swap_mask_words[n];
	return !any;
}

static bool mxe_pkt_atomic_masked(const struct mxe_pkt *pkt, struct mxe_atomic_args *a)
{
	const struct mxe_mskatomiceth *eth = (const void *)pkt->eth;
	bool is_swap = mxe_pkt_is_masked_cmp_swap(pkt);
	const u8 *p = (const u8 *)(eth + 1);
	unsigned int n;

	a->op = MXE_ATOMIC_UNSUPPORTED;
	if (eth->version != MXE_MSKATOMIC_VERSION || eth->reserved ||
	    eth->log_arg_sz > 5 || !(BIT(eth->log_arg_sz) & MXE_ATOMIC_LOG_SIZES))
		return false;
	a->log_size = eth->log_arg_sz;
	n = mxe_atomic_words(a);
	p = mxe_pkt_get_number(a->swap_add_words, p, n);
	p = mxe_pkt_get_number(a->compare_words, p, n);
	p = mxe_pkt_get_number(a->swap_mask_words, p, n);
	mxe_pkt_get_number(a->compare_mask_words, p, n);
	if (a->log_size < 3 && (a->swap_add | a->compare | a->swap_mask |
				a->compare_mask) >> (BITS_PER_BYTE << a->log_size))
		return false;
	if (!is_swap && !mxe_pkt_unused_are_zero(a, n))
		return false;
	a->op = is_swap ? MXE_ATOMIC_MASKED_CMP_SWAP : MXE_ATOMIC_MASKED_FETCH_ADD;
	return true;
}

/* The data are 8 bytes in memory order, not a number. */
static bool mxe_pkt_atomic_write(const struct mxe_pkt *pkt, struct mxe_atomic_args *a)
{
	a->op = MXE_ATOMIC_UNSUPPORTED;
	if (pkt->payload_len != MXE_ATOMIC_WRITE_SIZE)
		return false;
	a->op = MXE_ATOMIC_MASKED_CMP_SWAP;
	a->log_size = 3;
	a->swap_add = get_unaligned((const u64 *)pkt->payload);
	a->compare = 0;
	a->swap_mask = U64_MAX;
	a->compare_mask = 0;
	return true;
}

/*
 * Get the operands of a request with MXE_OP_ATOMIC or MXE_OP_ATOMIC_WRITE. An
 * ATOMIC WRITE is an unconditional masked compare-and-swap.
 * Return: false if the version, the operand size or the operands are not
 * supported. Then args->op is MXE_ATOMIC_UNSUPPORTED, and other members are
 * undefined.
 */
bool mxe_pkt_atomic(const struct mxe_pkt *pkt, struct mxe_atomic_args *args)
{
	if (pkt->flags & MXE_OP_ATOMICETH)
		return mxe_pkt_atomic_standard(pkt, args);
	if (pkt->flags & MXE_OP_MSKATOMICETH)
		return mxe_pkt_atomic_masked(pkt, args);
	return mxe_pkt_atomic_write(pkt, args);
}

/*
 * Write the header of an atomic, which depends on its operation. Return its
 * end.
 */
u8 *mxe_pkt_write_atomic(u8 *p, u64 va, u32 rkey, const struct mxe_atomic_args *args)
{
	struct mxe_mskatomiceth *masked = (void *)p;
	struct mxe_atomiceth *eth = (void *)p;
	unsigned int n;

	if (!mxe_atomic_is_masked(args->op)) {
		eth->va = cpu_to_be64(va);
		eth->rkey = cpu_to_be32(rkey);
		eth->swap_add = cpu_to_be64(args->swap_add);
		eth->compare = cpu_to_be64(args->compare);
		return p + sizeof(*eth);
	}
	masked->va = cpu_to_be64(va);
	masked->rkey = cpu_to_be32(rkey);
	masked->version = MXE_MSKATOMIC_VERSION;
	masked->log_arg_sz = args->log_size;
	masked->reserved = 0;
	p += sizeof(*masked);
	n = mxe_atomic_words(args);
	p = mxe_pkt_write_number(p, args->swap_add_words, n);
	p = mxe_pkt_write_number(p, args->compare_words, n);
	p = mxe_pkt_write_number(p, args->swap_mask_words, n);
	return mxe_pkt_write_number(p, args->compare_mask_words, n);
}
