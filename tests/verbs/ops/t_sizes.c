// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Proves that masked atomics of 1 to 32 bytes have the result of a bit-by-bit
 * reference, by mxedv and by the experimental verbs, that the device reports
 * them, and that invalid ones are refused.
 */
#include <endian.h>
#include <errno.h>
#include <infiniband/verbs_exp.h>
#include <rdma/mxe-abi.h>
#include "tap.h"
#include "vt.h"

#define WORDS 4
#define ROUNDS 150

/* ---- reference --------------------------------------------------------- */

static unsigned int bit_of(const uint64_t *words, unsigned int bit)
{
	return words[bit / 64] >> bit % 64 & 1;
}

static void put_bit(uint64_t *words, unsigned int bit, unsigned int value)
{
	words[bit / 64] &= ~(1ULL << bit % 64);
	words[bit / 64] |= (uint64_t)value << bit % 64;
}

static void cmp_swap(uint64_t *value, unsigned int bits, uint64_t (*op)[WORDS])
{
	for (unsigned int i = 0; i < bits; i++)
		if (bit_of(op[2], i) && bit_of(op[0], i) != bit_of(value, i))
			return;
	for (unsigned int i = 0; i < bits; i++)
		if (bit_of(op[3], i))
			put_bit(value, i, bit_of(op[1], i));
}

static void fetch_add(uint64_t *value, unsigned int bits, uint64_t (*op)[WORDS])
{
	unsigned int carry = 0;

	for (unsigned int i = 0; i < bits; i++) {
		unsigned int sum = bit_of(value, i) + bit_of(op[0], i) + carry;

		put_bit(value, i, sum & 1);
		carry = bit_of(op[2], i) ? 0 : sum >> 1;
	}
}

/* ---- the operations ---------------------------------------------------- */

/* Fills the words with values that make long carries and equal parts likely. */
static void interesting(uint64_t *words)
{
	for (int i = 0; i < WORDS; i++) {
		switch (vt_random_u64() % 4) {
		case 0:
			words[i] = 0;
			break;
		case 1:
			words[i] = ~0ULL;
			break;
		case 2:
			words[i] = 1ULL << vt_random_u64() % 64;
			break;
		default:
			words[i] = vt_random_u64();
		}
	}
}

/* Loads a value from memory. One of less than 8 bytes is a number. */
static void load(uint64_t *words, const void *p, uint32_t log)
{
	uint16_t quarter;
	uint32_t half;

	memset(words, 0, 8 * WORDS);
	if (log == 2) {
		memcpy(&half, p, 4);
		words[0] = half;
	} else if (log == 1) {
		memcpy(&quarter, p, 2);
		words[0] = quarter;
	} else if (!log) {
		words[0] = *(const uint8_t *)p;
	} else {
		memcpy(words, p, 1U << log);
	}
}

static void store(void *p, const uint64_t *words, uint32_t log)
{
	uint32_t half = (uint32_t)words[0];
	uint16_t quarter = (uint16_t)words[0];

	if (log == 2)
		memcpy(p, &half, 4);
	else if (log == 1)
		memcpy(p, &quarter, 2);
	else if (!log)
		*(uint8_t *)p = (uint8_t)words[0];
	else
		memcpy(p, words, 1U << log);
}

/*
 * Stores a value as the result of an atomic: 8 bytes are in host byte order
 * unless be is set, all other sizes are big-endian words.
 */
static void store_result(void *p, const uint64_t *words, uint32_t log, bool be)
{
	uint64_t swapped[WORDS];
	uint64_t number = htobe64(words[0]);
	uint8_t *low = (uint8_t *)&number + 8 - (1U << log);

	if (log < 3) {
		memcpy(p, low, 1U << log);
		return;
	}
	for (int i = 0; i < WORDS; i++)
		swapped[i] = log == 3 && !be ? words[i] : htobe64(words[i]);
	memcpy(p, swapped, 1U << log);
}

static bool one_operation(struct vt_pair *p, enum vt_via via, uint32_t log,
			  bool be)
{
	/* One page ends in the middle of these bytes. */
	const uint64_t area = 4096 - 48;
	uint32_t size = 1U << log, align = size > 8 ? size / 2 : size;
	uint32_t at = align * (uint32_t)(vt_random_u64() % ((96 - size) / align + 1));
	uint8_t *buf = p->b.buf + area;
	uint64_t op[4][WORDS], value[WORDS];
	uint8_t want_b[96], want_a[64];
	struct ibv_sge sge = vt_sge(&p->a, 8, size);
	uint64_t small[4];
	struct vt_wr wr = {
		.op = vt_random_u64() & 1 ? VT_MCAS : VT_MFADD, .via = via,
		.log_arg_sz = log ? log : VT_LOG_0, .sge = &sge, .num_sge = 1,
		.raddr = vt_addr(&p->b, area + at), .rkey = p->b.mr->rkey,
		.wr_id = vt_random_u64(),
	};
	struct ibv_wc wc;

	interesting(value);
	for (int i = 0; i < 4; i++) {
		interesting(op[i]);
		store(&small[i], op[i], log < 3 ? log : 3);
		wr.operands[i] = log < 3 ? (void *)&small[i] : op[i];
	}
	if (vt_random_u64() % 4) {
		memcpy(op[0], value, sizeof(value));
		store(&small[0], op[0], log < 3 ? log : 3);
	}
	memset(buf, 0x5a, sizeof(want_b));
	store(buf + at, value, log);
	memcpy(want_b, buf, sizeof(want_b));
	memset(p->a.buf, 0xa5, sizeof(want_a));
	memcpy(want_a, p->a.buf, sizeof(want_a));
	load(value, buf + at, log);
	store_result(want_a + 8, value, log, be);
	if (wr.op == VT_MCAS)
		cmp_swap(value, 8 * size, op);
	else
		fetch_add(value, 8 * size, op);
	store(want_b + at, value, log);

	if (vt_do(&p->a, &wr, &wc) != IBV_WC_SUCCESS || wc.wr_id != wr.wr_id ||
	    wc.byte_len != size) {
		diag("%s, byte_len %u", vt_status(wc.status), wc.byte_len);
		return false;
	}
	return !memcmp(buf, want_b, sizeof(want_b)) &&
	       !memcmp(p->a.buf, want_a, sizeof(want_a));
}

static void test_operations(struct vt_dev *a, struct vt_dev *b, bool exp,
			    bool be)
{
	struct vt_conf conf = vt_defaults();
	struct vt_pair p;

	conf.exp = exp;
	conf.be_reply = be;
	conf.max_atomic_arg = 32;
	vt_pair_open(&p, a, b, &conf);
	for (uint32_t log = 0; log <= 5; log++) {
		int good = 0;

		while (good < ROUNDS &&
		       one_operation(&p, exp ? VT_EXP : VT_WR, log, be))
			good++;
		is_int(good, ROUNDS, "%u bytes by %s%s", 1U << log,
		       exp ? "ibv_exp_post_send" : "mxedv",
		       be ? ", big-endian replies" : "");
	}
	/* The same queue pair also takes requests without a size. */
	{
		struct vt_wr wr = {
			.op = VT_MFADD, .via = exp ? VT_EXP : VT_WR,
			.compare_add = 1, .compare_mask = 0x8000,
		};
		uint64_t old;

		*vt_word(&p.b, 0) = 0xffff;
		is_int(vt_atomic(&p, &wr, 0, &old), IBV_WC_SUCCESS,
		       "... and a request without a size");
		is_u64(*vt_word(&p.b, 0), 0, "... is executed");
	}
	vt_pair_close(&p);
}

static void test_query(struct vt_dev *dev)
{
	struct ibv_exp_device_attr exp = {
		.comp_mask = IBV_EXP_DEVICE_ATTR_MASKED_ATOMICS |
			     IBV_EXP_DEVICE_ATTR_EXT_ATOMIC_ARGS,
	};
	struct mxedv_device_attr dv;

	is_int(mxedv_query_device(dev->ctx, &dv, sizeof(dv)), 0,
	       "mxedv_query_device()");
	is_u64(dv.log_arg_sizes, 0x3f, "... 1 to 32 bytes");
	is_u64(dv.log_arg_sizes_be, 0x37, "... all but 8 in big-endian");
	is_int((int)dv.max_fa_bit_boundary, 256, "... fields of up to 256 bits");
	is_int(ibv_exp_query_device(dev->ctx, &exp), 0,
	       "ibv_exp_query_device()");
	is_u64(exp.masked_atomic.masked_log_atomic_arg_sizes, 0x3f,
	       "... 1 to 32 bytes");
	is_u64(exp.masked_atomic.masked_log_atomic_arg_sizes_network_endianness,
	       0x37, "... all but 8 in big-endian");
	is_int((int)exp.masked_atomic.max_fa_bit_boundary, 256,
	       "... fields of up to 256 bits");
	is_int((int)exp.masked_atomic.log_max_atomic_inline, 5,
	       "... log_max_atomic_inline");
	is_u64(exp.ext_atom.log_atomic_arg_sizes, 8,
	       "... only 8 bytes in ext_atom");
}

/* ---- refused ----------------------------------------------------------- */

static uint64_t zeroes[WORDS];

static struct vt_wr plain_wr(struct vt_pair *p, uint32_t log, uint64_t offset,
			     struct ibv_sge *sge)
{
	struct vt_wr wr = {
		.op = VT_MCAS, .via = VT_WR, .sge = sge,
		.log_arg_sz = log ? log : VT_LOG_0,
		.num_sge = 1, .raddr = vt_addr(&p->b, offset),
		.rkey = p->b.mr->rkey,
		.operands = { zeroes, zeroes, zeroes, zeroes },
	};

	return wr;
}

static void status_of(struct vt_dev *a, struct vt_dev *b, uint32_t log,
		      uint64_t offset, uint32_t length, int want,
		      const char *what)
{
	struct vt_conf conf = vt_defaults();
	struct ibv_sge sge;
	struct vt_pair p;
	struct vt_wr wr;

	conf.max_atomic_arg = 32;
	vt_pair_open(&p, a, b, &conf);
	sge = vt_sge(&p.a, 0, length);
	wr = plain_wr(&p, log, offset, &sge);
	is_int(vt_do(&p.a, &wr, NULL), want, "%u bytes, %s", 1U << log, what);
	vt_pair_close(&p);
}

static void test_errors(struct vt_dev *a, struct vt_dev *b)
{
	const uint64_t end = vt_defaults().size;
	struct vt_conf conf = vt_defaults();
	struct ibv_sge sge;
	struct vt_pair p;
	struct vt_wr wr;

	for (uint32_t log = 0; log <= 5; log++) {
		uint32_t size = 1U << log;

		status_of(a, b, log, end - size, size, IBV_WC_SUCCESS,
			  "at the end of the region");
		status_of(a, b, log, end, size, IBV_WC_REM_ACCESS_ERR,
			  "beyond the region");
		if (size > 1)
			status_of(a, b, log, size > 8 ? size / 4 : size / 2, size,
				  IBV_WC_REM_INV_REQ_ERR, "misaligned");
		status_of(a, b, log, 0, size - 1, IBV_WC_LOC_LEN_ERR,
			  "a buffer too short for the result");
	}

	for (uint32_t arg = 1; arg <= 32; arg *= 2) {
		conf.max_atomic_arg = arg;
		vt_pair_open(&p, a, b, &conf);
		for (uint32_t log = 0; log <= 6; log++) {
			sge = vt_sge(&p.a, 0, 1U << log);
			wr = plain_wr(&p, log, 0, &sge);
			is_int(vt_post(&p.a, &wr),
			       1U << log <= arg ? 0 : EINVAL,
			       "max_atomic_arg %u, log_arg_sz %u", arg, log);
		}
		vt_pair_close(&p);
	}
}

#define CHANGE(what, log, member, value)				\
	{ what, log, offsetof(struct mxe_send_wqe, member),		\
	  sizeof(((struct mxe_send_wqe *)0)->member), value }

/* Changes to requests of a queue pair with a max_atomic_arg of 16. */
static const struct {
	const char *what;
	uint32_t log;
	size_t offset, size;
	uint64_t value;
} changes[] = {
	CHANGE("a wider compare value than 1 byte", 0, atomic.compare_add, 1ULL << 8),
	CHANGE("a wider swap value than 2 bytes", 1, atomic.swap, 1ULL << 16),
	CHANGE("32 bytes, more than max_atomic_arg", 4, log_arg_sz, 5),
	CHANGE("64 bytes", 4, log_arg_sz, 6),
	CHANGE("2^255 bytes", 4, log_arg_sz, 255),
	CHANGE("4 bytes, a wider compare value", 2, atomic.compare_add, 1ULL << 32),
	CHANGE("4 bytes, a wider swap mask", 2, atomic.swap_mask, 1ULL << 63),
	CHANGE("a standard atomic of 16 bytes", 4, opcode,
	       IB_UVERBS_WR_ATOMIC_CMP_AND_SWP),
	CHANGE("a READ with a size", 4, opcode, IB_UVERBS_WR_RDMA_READ),
	CHANGE("inline", 4, flags, MXE_SEND_SIGNALED | MXE_SEND_INLINE),
	CHANGE("too many elements", 4, num_sge, 255),
	CHANGE("the number of an XRC receive queue", 4, remote_srqn, 1),
	CHANGE("a reserved field", 4, reserved1, 1),
};

static void test_hostile(struct vt_dev *a, struct vt_dev *b)
{
	struct vt_conf conf = vt_defaults();
	struct ibv_sge sge;
	struct ibv_wc wc;
	struct vt_wr wr, first;
	struct vt_pair p;

	conf.max_atomic_arg = 16;
	for (size_t i = 0; i < ARRAY_SIZE(changes); i++) {
		vt_pair_open(&p, a, b, &conf);
		memset(p.b.buf, 0x77, 64);
		sge = vt_sge(&p.a, 0, 16);
		wr = plain_wr(&p, changes[i].log, 0, &sge);
		wr.wr_id = 0;
		wr.flags = IBV_SEND_SIGNALED;
		/*
		 * In SQD the kernel takes the first request, which then waits.
		 * The second stays in the ring, where it can be changed.
		 */
		first = wr;
		first.op = VT_READ;
		first.log_arg_sz = 0;
		first.flags = 0;
		wr.wr_id = 0x5125e000 + i;
		if (vt_to_state(&p.a, IBV_QPS_SQD) || vt_post(&p.a, &first) ||
		    vt_post(&p.a, &wr))
			vt_bail("cannot post in SQD");
		vt_change_wqe(wr.wr_id, changes[i].offset, changes[i].size,
			      changes[i].value);
		if (vt_to_state(&p.a, IBV_QPS_RTS))
			vt_bail("SQD to RTS");
		wc.status = IBV_WC_SUCCESS;
		ok(vt_poll(p.a.cq, &wc, VT_MS), "%s: completes", changes[i].what);
		is_int(wc.status, IBV_WC_LOC_QP_OP_ERR, "%s: refused",
		       changes[i].what);
		ok(p.b.buf[0] == 0x77 && p.b.buf[15] == 0x77,
		   "%s: the memory does not change", changes[i].what);
		vt_pair_close(&p);
	}
}

int main(void)
{
	struct vt_dev *a, *b;

	plan(0);
	a = vt_open(vt_name_a());
	b = vt_open(vt_name_b());
	test_query(a);
	test_operations(a, b, false, false);
	test_operations(a, b, true, false);
	test_operations(a, b, false, true);
	test_operations(a, b, true, true);
	test_errors(a, b);
	test_hostile(a, b);
	vt_close(a);
	vt_close(b);
	return done_testing();
}
