// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Proves that every operation of an RC queue pair moves the right data and
 * completes correctly, however it is posted: by ibv_post_send(), by ibv_wr_*()
 * with mxedv_wr_*(), and by ibv_exp_post_send().
 */
#include <endian.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <infiniband/verbs_exp.h>
#include "masked_atomic.h"
#include "tap.h"
#include "vt.h"

#define BIG (1024 * 1024)
#define BUF_SIZE (BIG + 4096)

/* Prints the reason, since one check may cover several sizes. */
#define expect(cond, ...)					\
	do {							\
		if (!(cond)) {					\
			diag("  " __VA_ARGS__);			\
			return false;				\
		}						\
	} while (0)

static bool transfer(struct vt_pair *p, enum vt_opcode op, enum vt_via via,
		     uint32_t len, unsigned int flags)
{
	const char *wrong = vt_transfer(p, op, via, len, flags);

	expect(!wrong, "%u bytes: %s", len, wrong);
	return true;
}

static bool transfer_sizes(struct vt_pair *p, enum vt_opcode op,
			   enum vt_via via, uint32_t mtu, bool big)
{
	const uint32_t sizes[] = {
		0, 1, mtu - 1, mtu, mtu + 1, 3 * mtu + 5, BIG
	};

	for (unsigned int i = 0; i < (big ? 7 : 6); i++)
		if (!transfer(p, op, via, sizes[i], 0))
			return false;
	return true;
}

static void test_path_mtus(struct vt_dev *a, struct vt_dev *b)
{
	struct vt_conf conf = vt_defaults();
	struct vt_pair p;

	conf.size = BUF_SIZE;
	for (int mtu = IBV_MTU_256; mtu <= IBV_MTU_4096; mtu++) {
		conf.mtu = mtu;
		vt_pair_open(&p, a, b, &conf);
		for (int op = VT_SEND; op <= VT_READ; op++)
			ok(transfer_sizes(&p, op, VT_POST_SEND, 128U << mtu,
					  mtu == IBV_MTU_1024 ||
					  mtu == IBV_MTU_4096),
			   "%s, path MTU %d", vt_op_name[op], 128 << mtu);
		vt_pair_close(&p);
	}
}

/* ---- atomics ----------------------------------------------------------- */

static uint64_t expected(const struct vt_wr *wr, uint64_t old)
{
	switch (wr->op) {
	case VT_CAS:
		return old == wr->compare_add ? wr->swap : old;
	case VT_FADD:
		return old + wr->compare_add;
	case VT_MCAS:
		return masked_cmp_swap_u64(old, wr->compare_add,
					   wr->compare_mask, wr->swap,
					   wr->swap_mask);
	default:
		return masked_fetch_add_u64(old, wr->compare_add,
					    wr->compare_mask);
	}
}

/* Executes an atomic on a word whose neighbours must not change. */
static bool atomic_works(struct vt_pair *p, struct vt_wr *wr, uint64_t old,
			 uint64_t want, bool be_reply)
{
	uint64_t *word = vt_word(&p->b, 4096);
	uint64_t got;
	int status;

	word[-1] = word[1] = 0x0123456789abcdef;
	word[0] = old;
	status = vt_atomic(p, wr, 4096, &got);
	expect(status == IBV_WC_SUCCESS, "%s", vt_status(status));
	if (be_reply)
		got = be64toh(got);
	expect(got == old, "returned %#018" PRIx64 ", the word was %#018" PRIx64,
	       got, old);
	expect(word[0] == want, "stored %#018" PRIx64 ", expected %#018" PRIx64
	       " (was %#018" PRIx64 ", operands %#018" PRIx64 " %#018" PRIx64
	       " masks %#018" PRIx64 " %#018" PRIx64 ")", word[0], want, old,
	       wr->compare_add, wr->swap, wr->compare_mask, wr->swap_mask);
	expect(word[-1] == 0x0123456789abcdef && word[1] == word[-1],
	       "a neighbour changed");
	return true;
}

/* Results computed by hand, which also check expected(). */
static const struct atomic_row {
	const char *what;
	enum vt_opcode op;
	uint64_t old, compare_add, compare_mask, swap, swap_mask, want;
} rows[] = {
	{ "equal", VT_CAS, 5, 5, 0, 9, 0, 9 },
	{ "different", VT_CAS, 5, 6, 0, 9, 0, 5 },
	{ "all bits", VT_CAS, ~0ULL, ~0ULL, 0, 0, 0, 0 },
	{ "plain", VT_FADD, 40, 2, 0, 0, 0, 42 },
	{ "wraps", VT_FADD, ~0ULL, 2, 0, 0, 0, 1 },
	{ "one field taken", VT_MCAS, 0x1111000033334444, 0,
	  0x0000ffff00000000, 0x0000a5a500000000, 0x0000ffff00000000,
	  0x1111a5a533334444 },
	{ "one field busy", VT_MCAS, 0x1111222233334444, 0,
	  0x0000ffff00000000, 0x0000a5a500000000, 0x0000ffff00000000,
	  0x1111222233334444 },
	{ "compares one field, swaps another", VT_MCAS, 0x00000000000000aa,
	  0xffffffffffffffaa, 0xff, 0x77 << 8, 0xff00, 0x77aa },
	{ "compare mask 0 always swaps", VT_MCAS, 0x1234, 0x9999, 0, 0xffff,
	  0x0ff0, 0x1ff4 },
	{ "swap mask 0 never stores", VT_MCAS, 0x1234, 0x1234, ~0ULL, 0xffff,
	  0, 0x1234 },
	{ "full masks, equal", VT_MCAS, 7, 7, ~0ULL, 8, ~0ULL, 8 },
	{ "full masks, different", VT_MCAS, 7, 6, ~0ULL, 8, ~0ULL, 7 },
	{ "bit 63", VT_MCAS, 0, 0, 1ULL << 63, ~0ULL, 1ULL << 63, 1ULL << 63 },
	{ "four counters", VT_MFADD, 0x0001fffe7fffffff, 0x0001000100010001,
	  0x8000800080008000, 0, 0, 0x0002ffff80000000 },
	{ "eight counters, all wrap", VT_MFADD, ~0ULL, 0x0101010101010101,
	  0x8080808080808080, 0, 0, 0 },
	{ "boundary 0: one field", VT_MFADD, ~0ULL, 1, 0, 0, 0, 0 },
	{ "boundary at bit 63: one field", VT_MFADD, 0xffffffff, 1,
	  1ULL << 63, 0, 0, 0x100000000 },
	{ "every bit a field: exclusive or", VT_MFADD, 0xf0f0f0f0f0f0f0f0,
	  0xffff0000ffff0000, ~0ULL, 0, 0, 0x0f0ff0f00f0ff0f0 },
	{ "fields of 1 and 63 bits", VT_MFADD, 1, 3, 1, 0, 0, 2 },
	{ "uneven fields", VT_MFADD, 0x00000000000fffff, 0x1, 0x80008, 0, 0,
	  0xffff0 },
};

static void test_atomic_rows(struct vt_pair *p, enum vt_via via, bool be)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct atomic_row *r = &rows[i];
		struct vt_wr wr = {
			.op = r->op, .via = via,
			.compare_add = r->compare_add,
			.compare_mask = r->compare_mask,
			.swap = r->swap, .swap_mask = r->swap_mask,
		};

		if (via == VT_POST_SEND && r->op >= VT_MCAS)
			continue;
		ok(expected(&wr, r->old) == r->want &&
		   atomic_works(p, &wr, r->old, r->want, be),
		   "%s by %s%s: %s", vt_op_name[r->op], vt_via_name[via],
		   be ? ", big-endian reply" : "", r->what);
	}
}

static uint64_t random_mask(void)
{
	uint64_t r = vt_random_u64();

	switch (r & 3) {
	case 0:
		return vt_random_u64();
	case 1:
		return vt_random_u64() & vt_random_u64() & vt_random_u64();
	case 2:
		return 1ULL << (vt_random_u64() & 63);
	default:
		return 0xffffULL << (16 * (vt_random_u64() & 3));
	}
}

static bool random_atomics(struct vt_pair *p, enum vt_opcode op,
			   enum vt_via via, int count)
{
	while (count--) {
		uint64_t old = vt_random_u64();
		struct vt_wr wr = {
			.op = op, .via = via,
			.compare_add = vt_random_u64(),
			.compare_mask = random_mask(),
			.swap = vt_random_u64(), .swap_mask = random_mask(),
		};

		/* Half the comparisons succeed. */
		if (op != VT_FADD && op != VT_MFADD && (count & 1))
			wr.compare_add = op == VT_CAS ? old :
				(old & wr.compare_mask) |
				(wr.compare_add & ~wr.compare_mask);
		if (!atomic_works(p, &wr, old, expected(&wr, old), false))
			return false;
	}
	return true;
}

static void test_random_atomics(struct vt_pair *p, enum vt_via via)
{
	for (int op = VT_CAS; op <= VT_MFADD; op++) {
		if (via == VT_POST_SEND && op >= VT_MCAS)
			continue;
		ok(random_atomics(p, op, via, 40), "%s by %s: random operands",
		   vt_op_name[op], vt_via_name[via]);
	}
}

static void test_atomics(struct vt_dev *a, struct vt_dev *b)
{
	struct vt_conf conf = vt_defaults();
	struct vt_pair p;

	vt_pair_open(&p, a, b, &conf);
	test_atomic_rows(&p, VT_POST_SEND, false);
	test_atomic_rows(&p, VT_WR, false);
	test_random_atomics(&p, VT_POST_SEND);
	test_random_atomics(&p, VT_WR);
	vt_pair_close(&p);

	conf.exp = true;
	vt_pair_open(&p, a, b, &conf);
	test_atomic_rows(&p, VT_EXP, false);
	test_random_atomics(&p, VT_EXP);
	vt_pair_close(&p);

	conf.be_reply = true;
	vt_pair_open(&p, a, b, &conf);
	test_atomic_rows(&p, VT_EXP, true);
	vt_pair_close(&p);

	conf.exp = false;
	vt_pair_open(&p, a, b, &conf);
	test_atomic_rows(&p, VT_POST_SEND, true);
	test_atomic_rows(&p, VT_WR, true);
	vt_pair_close(&p);
}

/* ---- ways of posting --------------------------------------------------- */

static void test_interfaces(struct vt_dev *a, struct vt_dev *b)
{
	struct vt_conf conf = vt_defaults();
	struct vt_pair p;

	for (int via = VT_WR; via <= VT_EXP; via++) {
		conf.exp = via == VT_EXP;
		vt_pair_open(&p, a, b, &conf);
		for (int op = VT_SEND; op <= VT_READ; op++)
			ok(transfer_sizes(&p, op, via, 1024, false), "%s by %s",
			   vt_op_name[op], vt_via_name[via]);
		vt_pair_close(&p);
	}
}

static bool inline_works(struct vt_pair *p, enum vt_opcode op, enum vt_via via)
{
	static const uint32_t sizes[] = { 0, 1, 7, 8, 63, 64 };

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++)
		if (!transfer(p, op, via, sizes[i], IBV_SEND_INLINE))
			return false;
	return true;
}

/* The data of an inline request may be overwritten once it is posted. */
static bool inline_is_copied(struct vt_pair *p, enum vt_via via)
{
	char text[] = "inline data, not registered";
	struct ibv_sge sge[2] = {
		{ .addr = (uintptr_t)text, .length = 8 },
		{ .addr = (uintptr_t)(text + 8), .length = sizeof(text) - 8 },
	};
	struct vt_wr wr = {
		.op = VT_WRITE, .via = via,
		.flags = IBV_SEND_INLINE | IBV_SEND_SIGNALED,
		.sge = sge, .num_sge = 2,
		.raddr = vt_addr(&p->b, 0), .rkey = p->b.mr->rkey,
	};
	struct ibv_wc wc;

	memset(p->b.buf, 0, 64);
	if (vt_post(&p->a, &wr))
		vt_bail("inline write of two elements");
	memset(text, 'x', sizeof(text) - 1);
	expect(vt_poll(p->a.cq, &wc, VT_MS) && !wc.status, "not completed");
	expect(!strcmp((char *)p->b.buf, "inline data, not registered"),
	       "\"%.27s\"", (char *)p->b.buf);
	return true;
}

static void test_inline(struct vt_pair *p)
{
	for (int via = VT_POST_SEND; via <= VT_WR; via++) {
		for (int op = VT_SEND; op <= VT_WRITE_IMM; op++)
			ok(inline_works(p, op, via), "%s inline by %s",
			   vt_op_name[op], vt_via_name[via]);
		ok(inline_is_copied(p, via),
		   "inline data of two unregistered elements by %s",
		   vt_via_name[via]);
	}
}

/* Gathers 5000 bytes from four pieces, or scatters them to three, or both. */
static bool multi_sge(struct vt_pair *p, enum vt_opcode op, enum vt_via via)
{
	static const uint32_t out[4] = { 1, 0, 3333, 1666 };
	static const uint32_t in[3] = { 2500, 17, 2483 };
	struct ibv_sge from[4], to[3];
	struct vt_end *src = op == VT_READ ? &p->b : &p->a;
	struct vt_end *dst = op == VT_READ ? &p->a : &p->b;
	uint8_t sent[5000], got[5000];
	struct vt_wr wr = {
		.op = op, .via = via, .raddr = vt_addr(&p->b, 8192),
		.rkey = p->b.mr->rkey,
	};
	size_t pos = 0;
	struct ibv_wc wc;
	int status;

	vt_fill_random(src->buf, 32768);
	for (int i = 0; i < 4; i++) {
		from[i] = vt_sge(&p->a, 5000 * (size_t)i, out[i]);
		memcpy(sent + pos, p->a.buf + 5000 * (size_t)i, out[i]);
		pos += out[i];
	}
	for (int i = 0; i < 3; i++)
		to[i] = vt_sge(op == VT_READ ? &p->a : &p->b,
			       16384 + 4096 * (size_t)i, in[i]);
	if (op == VT_READ)
		memcpy(sent, p->b.buf + 8192, sizeof(sent));
	memset(dst->buf + (op == VT_WRITE ? 8192 : 16384), 0xee, 12288);

	wr.sge = op == VT_READ ? to : from;
	wr.num_sge = op == VT_READ ? 3 : 4;
	if (op == VT_SEND && vt_recv_sge(&p->b, 1, to, 3))
		vt_bail("ibv_post_recv");
	status = vt_do(&p->a, &wr, NULL);
	expect(status == IBV_WC_SUCCESS, "%s", vt_status(status));
	if (op == VT_SEND)
		expect(vt_poll(p->b.rcq, &wc, VT_MS) && !wc.status &&
		       wc.byte_len == 5000, "not received");
	pos = 0;
	for (int i = 0; i < 3 && op != VT_WRITE; i++) {
		memcpy(got + pos, dst->buf + 16384 + 4096 * (size_t)i, in[i]);
		expect(dst->buf[16384 + 4096 * (size_t)i + in[i]] == 0xee,
		       "piece %d: written beyond", i);
		pos += in[i];
	}
	if (op == VT_WRITE)
		memcpy(got, dst->buf + 8192, sizeof(got));
	expect(!memcmp(got, sent, sizeof(sent)), "data");
	return true;
}

static void test_multi_sge(struct vt_pair *p)
{
	for (int via = VT_POST_SEND; via <= VT_WR; via++) {
		ok(multi_sge(p, VT_SEND, via), "SEND, several elements, by %s",
		   vt_via_name[via]);
		ok(multi_sge(p, VT_WRITE, via),
		   "RDMA WRITE, several elements, by %s", vt_via_name[via]);
		ok(multi_sge(p, VT_READ, via),
		   "RDMA READ, several elements, by %s", vt_via_name[via]);
	}
}

/* The result of an atomic may be scattered, too. */
static void test_atomic_scatter(struct vt_pair *p)
{
	struct ibv_sge sge[2] = { vt_sge(&p->a, 0, 3), vt_sge(&p->a, 64, 5) };
	struct vt_wr wr = {
		.op = VT_MFADD, .via = VT_WR, .sge = sge, .num_sge = 2,
		.raddr = vt_addr(&p->b, 0), .rkey = p->b.mr->rkey,
		.compare_add = 1, .compare_mask = 0x80,
	};
	uint64_t old = 0x0807060504030201, got = 0;
	int status;

	*vt_word(&p->b, 0) = old;
	memset(p->a.buf, 0, 128);
	status = vt_do(&p->a, &wr, NULL);
	memcpy(&got, p->a.buf, 3);
	memcpy((uint8_t *)&got + 3, p->a.buf + 64, 5);
	ok(status == IBV_WC_SUCCESS, "result in two elements: %s",
	   vt_status(status));
	is_u64(got, old, "result in two elements: value");
}

static void test_abort(struct vt_pair *p)
{
	struct ibv_qp_ex *qpx = p->a.qpx;
	struct ibv_wc wc;

	*vt_word(&p->b, 0) = 77;
	ibv_wr_start(qpx);
	qpx->wr_id = 1;
	qpx->wr_flags = IBV_SEND_SIGNALED;
	mxedv_wr_masked_atomic_fetch_add(p->a.mqp, p->b.mr->rkey,
					 vt_addr(&p->b, 0), 1, 0x80);
	ibv_wr_set_sge(qpx, p->a.mr->lkey, vt_addr(&p->a, 0), 8);
	ibv_wr_abort(qpx);
	ok(!vt_poll(p->a.cq, &wc, 300) && *vt_word(&p->b, 0) == 77,
	   "ibv_wr_abort() posts nothing");
	ok(transfer(p, VT_WRITE, VT_WR, 100, 0), "... and the next request works");
}

/* Several builders between one start and one complete. */
static void test_batch(struct vt_pair *p)
{
	struct ibv_qp_ex *qpx = p->a.qpx;
	struct ibv_wc wc;
	bool good = true;
	int ret;

	*vt_word(&p->b, 0) = 0;
	memset(p->a.buf, 0xff, 64);
	ibv_wr_start(qpx);
	for (uint64_t i = 0; i < 4; i++) {
		qpx->wr_id = i;
		qpx->wr_flags = IBV_SEND_SIGNALED;
		mxedv_wr_masked_atomic_fetch_add(p->a.mqp, p->b.mr->rkey,
						 vt_addr(&p->b, 0),
						 0x00010001, 0x8000);
		ibv_wr_set_sge(qpx, p->a.mr->lkey, vt_addr(&p->a, 8 * i), 8);
	}
	ret = ibv_wr_complete(qpx);
	ok(!ret, "ibv_wr_complete() of four");
	for (uint64_t i = 0; i < 4; i++)
		good = good && vt_poll(p->a.cq, &wc, VT_MS) && !wc.status &&
		       wc.wr_id == i &&
		       *vt_word(&p->a, 8 * i) == i * 0x00010001;
	ok(good && *vt_word(&p->b, 0) == 0x00040004,
	   "four builders in one batch, in order");
}

/* ---- order ------------------------------------------------------------- */

static void test_unsignalled(struct vt_pair *p)
{
	struct ibv_sge sge = vt_sge(&p->a, 0, 8);
	struct ibv_wc wc;
	bool good = true;
	int total = 0;

	*vt_word(&p->b, 0) = 0;
	/* 192 requests wrap a queue of 64 three times. */
	for (int i = 0; i < 24 && good; i++) {
		for (int j = 0; j < 8; j++) {
			struct vt_wr wr = {
				.op = VT_MFADD, .via = VT_WR,
				.wr_id = (uint64_t)total++,
				.flags = j == 7 ? IBV_SEND_SIGNALED : 0,
				.sge = &sge, .num_sge = 1,
				.raddr = vt_addr(&p->b, 0),
				.rkey = p->b.mr->rkey,
				.compare_add = 0x100000001,
				.compare_mask = 0x80000000,
			};

			good = good && !vt_post(&p->a, &wr);
		}
		good = good && vt_poll(p->a.cq, &wc, VT_MS) && !wc.status &&
		       wc.wr_id == (uint64_t)total - 1;
	}
	ok(good, "one completion for eight requests, seven unsignalled");
	ok(!vt_poll(p->a.cq, &wc, 100), "... and no other completion");
	is_u64(*vt_word(&p->b, 0), 0xc0000000c0, "... all executed once");
}

/*
 * Checks a fenced WRITE of the data of a READ, and a chain of a WRITE, an
 * atomic and a READ.
 */
static void test_order(struct vt_pair *p)
{
	struct ibv_sge to = vt_sge(&p->a, 0, 30000);
	struct ibv_sge w = vt_sge(&p->a, 40000, 8);
	struct ibv_sge old = vt_sge(&p->a, 40008, 8);
	struct ibv_sge r = vt_sge(&p->a, 40016, 8);
	struct ibv_send_wr chain[3] = {
		{ .wr_id = 1, .sg_list = &w, .num_sge = 1,
		  .opcode = IBV_WR_RDMA_WRITE, .next = &chain[1],
		  .send_flags = IBV_SEND_SIGNALED,
		  .wr.rdma = { vt_addr(&p->b, 0), p->b.mr->rkey } },
		{ .wr_id = 2, .sg_list = &old, .num_sge = 1,
		  .opcode = IBV_WR_ATOMIC_FETCH_AND_ADD, .next = &chain[2],
		  .send_flags = IBV_SEND_SIGNALED,
		  .wr.atomic = { .remote_addr = vt_addr(&p->b, 0),
				 .compare_add = 11, .rkey = p->b.mr->rkey } },
		{ .wr_id = 3, .sg_list = &r, .num_sge = 1,
		  .opcode = IBV_WR_RDMA_READ,
		  .send_flags = IBV_SEND_SIGNALED,
		  .wr.rdma = { vt_addr(&p->b, 0), p->b.mr->rkey } },
	};
	struct ibv_send_wr *bad;
	struct vt_wr read = {
		.op = VT_READ, .sge = &to, .num_sge = 1,
		.raddr = vt_addr(&p->b, 0), .rkey = p->b.mr->rkey,
	};
	struct vt_wr write = {
		.op = VT_WRITE, .flags = IBV_SEND_FENCE, .sge = &to,
		.num_sge = 1, .raddr = vt_addr(&p->b, 32768),
		.rkey = p->b.mr->rkey,
	};
	struct ibv_wc wc;
	bool good = true;

	vt_fill_random(p->b.buf, 65536);
	memset(p->a.buf, 0, 30000);
	good = !vt_post(&p->a, &read) &&
	       vt_do(&p->a, &write, NULL) == IBV_WC_SUCCESS;
	ok(good && !memcmp(p->b.buf, p->b.buf + 32768, 30000),
	   "a fenced write sends the data of the read before it");

	*vt_word(&p->a, 40000) = 31;
	*vt_word(&p->b, 0) = 1;
	good = !ibv_post_send(p->a.qp, chain, &bad);
	for (uint64_t i = 1; i <= 3; i++)
		good = good && vt_poll(p->a.cq, &wc, VT_MS) && !wc.status &&
		       wc.wr_id == i;
	ok(good, "write, atomic, read in one chain complete in order");
	is_u64(*vt_word(&p->a, 40008), 31, "... the atomic saw the write");
	is_u64(*vt_word(&p->a, 40016), 42, "... the read saw the atomic");
}

/* The remote addresses of the region differ from the virtual addresses. */
static void test_iova(struct vt_pair *p)
{
	const uint64_t iova = 1ULL << 44;
	struct ibv_sge sge = vt_sge(&p->a, 0, 8);
	struct vt_wr wr = {
		.op = VT_MFADD, .via = VT_WR, .sge = &sge, .num_sge = 1,
		.raddr = iova + 4096 + 8, .compare_add = 0x10001,
		.compare_mask = 0x8000,
	};
	struct ibv_mr *mr = ibv_reg_mr_iova(p->b.dev->pd, p->b.buf, p->b.size,
					    iova, VT_ACCESS_ALL);

	if (!mr)
		vt_bail("ibv_reg_mr_iova");
	wr.rkey = mr->rkey;
	*vt_word(&p->b, 4096 + 8) = 0xffff;
	is_int(vt_do(&p->a, &wr, NULL), IBV_WC_SUCCESS,
	       "an atomic in a region with an IOVA");
	is_u64(*vt_word(&p->b, 4096 + 8), 0x10000, "... changes the word");
	ibv_dereg_mr(mr);
}

/* Posts more reads and atomics than may be outstanding. */
static void test_rd_atomic(struct vt_dev *a, struct vt_dev *b)
{
	struct vt_conf conf = vt_defaults();
	struct vt_pair p;
	struct ibv_wc wc;
	bool good = true;

	conf.rd_atomic = 1;
	vt_pair_open(&p, a, b, &conf);
	*vt_word(&p.b, 0) = 0;
	for (uint64_t i = 0; i < 40; i++) {
		struct ibv_sge sge = vt_sge(&p.a, 8 * i, 8);
		struct vt_wr wr = {
			.op = i & 1 ? VT_READ : VT_MFADD, .via = VT_WR,
			.wr_id = i, .flags = IBV_SEND_SIGNALED, .sge = &sge,
			.num_sge = 1, .raddr = vt_addr(&p.b, 0),
			.rkey = p.b.mr->rkey, .compare_add = 1,
			.compare_mask = 0x8000,
		};

		good = good && !vt_post(&p.a, &wr);
	}
	for (uint64_t i = 0; i < 40; i++)
		good = good && vt_poll(p.a.cq, &wc, VT_MS) && !wc.status &&
		       wc.wr_id == i && *vt_word(&p.a, 8 * i) == (i + 1) / 2;
	ok(good, "40 reads and atomics with one outstanding");
	vt_pair_close(&p);
}

/* ---- completion queues ------------------------------------------------- */

static void test_start_poll(struct vt_dev *a, struct vt_dev *b)
{
	struct vt_conf conf = vt_defaults();
	struct ibv_poll_cq_attr attr = { 0 };
	struct ibv_sge sge;
	struct ibv_cq_ex *cq;
	struct vt_pair p;
	struct vt_wr wr = {
		.op = VT_SEND_IMM, .wr_id = 21, .flags = IBV_SEND_SIGNALED,
		.sge = &sge, .num_sge = 1, .imm = 0xabcd,
	};
	uint64_t end;
	int ret;

	conf.ex_cq = true;
	vt_pair_open(&p, a, b, &conf);
	sge = vt_sge(&p.a, 0, 100);
	cq = (struct ibv_cq_ex *)p.b.rcq;
	is_int(ibv_start_poll(cq, &attr), ENOENT,
	       "ibv_start_poll() of an empty queue");
	if (vt_recv(&p.b, 22, 0, 200) || vt_recv(&p.b, 23, 0, 200) ||
	    vt_post(&p.a, &wr) || vt_post(&p.a, &wr))
		vt_bail("post");
	end = vt_now_ms() + VT_MS;
	do
		ret = ibv_start_poll(cq, &attr);
	while (ret == ENOENT && vt_now_ms() < end);
	is_int(ret, 0, "ibv_start_poll()");
	ok(cq->wr_id == 22 && cq->status == IBV_WC_SUCCESS &&
	   ibv_wc_read_opcode(cq) == IBV_WC_RECV &&
	   ibv_wc_read_byte_len(cq) == 100 &&
	   be32toh(ibv_wc_read_imm_data(cq)) == 0xabcd &&
	   ibv_wc_read_qp_num(cq) == p.b.qp->qp_num &&
	   ibv_wc_read_wc_flags(cq) & IBV_WC_WITH_IMM,
	   "fields of a receive completion");
	do
		ret = ibv_next_poll(cq);
	while (ret == ENOENT && vt_now_ms() < end);
	ok(!ret && cq->wr_id == 23, "ibv_next_poll()");
	is_int(ibv_next_poll(cq), ENOENT, "ibv_next_poll() at the end");
	ibv_end_poll(cq);
	is_int(ibv_start_poll(cq, &attr), ENOENT,
	       "ibv_start_poll() after all are consumed");
	vt_pair_close(&p);
}

static bool channel_event(struct vt_end *e, int ms)
{
	struct pollfd pfd = { .fd = e->chan->fd, .events = POLLIN };
	struct ibv_cq *cq;
	void *context;

	if (poll(&pfd, 1, ms) != 1)
		return false;
	if (ibv_get_cq_event(e->chan, &cq, &context) || cq != e->rcq)
		vt_bail("ibv_get_cq_event");
	ibv_ack_cq_events(cq, 1);
	return true;
}

static bool send_one(struct vt_pair *p, unsigned int flags)
{
	struct ibv_sge sge = vt_sge(&p->a, 0, 10);
	struct vt_wr wr = {
		.op = VT_SEND, .flags = flags, .sge = &sge, .num_sge = 1,
	};

	return !vt_recv(&p->b, 1, 0, 10) &&
	       vt_do(&p->a, &wr, NULL) == IBV_WC_SUCCESS;
}

static void test_events(struct vt_dev *a, struct vt_dev *b)
{
	struct vt_conf conf = vt_defaults();
	struct vt_pair p;
	struct ibv_wc wc;

	conf.channel = true;
	vt_pair_open(&p, a, b, &conf);
	ok(send_one(&p, 0) && !channel_event(&p.b, 200),
	   "no event before ibv_req_notify_cq()");
	vt_poll(p.b.rcq, &wc, VT_MS);
	is_int(ibv_req_notify_cq(p.b.rcq, 0), 0, "ibv_req_notify_cq()");
	ok(send_one(&p, 0) && channel_event(&p.b, VT_MS),
	   "an event for the next message");
	vt_poll(p.b.rcq, &wc, VT_MS);
	ok(send_one(&p, 0) && !channel_event(&p.b, 200),
	   "... and only one");
	vt_poll(p.b.rcq, &wc, VT_MS);
	is_int(ibv_req_notify_cq(p.b.rcq, 1), 0,
	       "ibv_req_notify_cq() for solicited messages only");
	ok(send_one(&p, 0) && !channel_event(&p.b, 200),
	   "no event for an unsolicited message");
	vt_poll(p.b.rcq, &wc, VT_MS);
	ok(send_one(&p, IBV_SEND_SOLICITED) && channel_event(&p.b, VT_MS),
	   "an event for a solicited message");
	vt_pair_close(&p);
}

static bool exp_poll(struct ibv_cq *cq, struct ibv_exp_wc *wc)
{
	uint64_t end = vt_now_ms() + VT_MS;
	int n;

	do
		n = ibv_exp_poll_cq(cq, 1, wc, sizeof(*wc));
	while (!n && vt_now_ms() < end);
	return n == 1;
}

/* Checks the opcodes with which masked atomics complete. */
static void test_wc_opcodes(struct vt_dev *a, struct vt_dev *b)
{
	struct vt_conf conf = vt_defaults();
	struct vt_wr cas = { .op = VT_MCAS, .via = VT_WR, .compare_mask = 1 };
	struct vt_wr add = { .op = VT_MFADD, .via = VT_WR, .compare_mask = 1 };
	struct ibv_exp_wc ewc;
	struct ibv_sge sge;
	struct vt_pair p;
	struct ibv_wc wc;

	for (int exp = 0; exp < 2; exp++) {
		conf.exp_wc_opcode = exp;
		vt_pair_open(&p, a, b, &conf);
		sge = vt_sge(&p.a, 0, 8);
		cas.sge = add.sge = &sge;
		cas.num_sge = add.num_sge = 1;
		cas.raddr = add.raddr = vt_addr(&p.b, 0);
		cas.rkey = add.rkey = p.b.mr->rkey;
		vt_do(&p.a, &cas, &wc);
		is_int(wc.opcode, exp ? 9 : IBV_WC_COMP_SWAP,
		       "opcode of a masked CMP_SWAP%s",
		       exp ? ", MXEDV_QP_CREATE_EXP_WC_OPCODE" : "");
		is_int(wc.byte_len, 8, "... byte_len");
		vt_do(&p.a, &add, &wc);
		is_int(wc.opcode, exp ? 10 : IBV_WC_FETCH_ADD,
		       "opcode of a masked FETCH_ADD%s",
		       exp ? ", MXEDV_QP_CREATE_EXP_WC_OPCODE" : "");
		vt_pair_close(&p);
	}

	conf.exp = true;
	vt_pair_open(&p, a, b, &conf);
	sge = vt_sge(&p.a, 0, 8);
	cas.via = add.via = VT_EXP;
	cas.raddr = add.raddr = vt_addr(&p.b, 0);
	cas.rkey = add.rkey = p.b.mr->rkey;
	cas.flags = add.flags = IBV_SEND_SIGNALED;
	cas.wr_id = 5;
	if (vt_post(&p.a, &cas) || vt_post(&p.a, &add))
		vt_bail("ibv_exp_post_send");
	ok(exp_poll(p.a.cq, &ewc) && !ewc.status && ewc.wr_id == 5 &&
	   ewc.exp_opcode == IBV_EXP_WC_MASKED_COMP_SWAP,
	   "ibv_exp_poll_cq(): IBV_EXP_WC_MASKED_COMP_SWAP");
	ok(exp_poll(p.a.cq, &ewc) && !ewc.status &&
	   ewc.exp_opcode == IBV_EXP_WC_MASKED_FETCH_ADD,
	   "ibv_exp_poll_cq(): IBV_EXP_WC_MASKED_FETCH_ADD");
	vt_pair_close(&p);
}

/* ---- paths ------------------------------------------------------------- */

static bool all_ops(struct vt_pair *p)
{
	for (int op = VT_SEND; op <= VT_READ; op++)
		if (!transfer(p, op, VT_POST_SEND, 5000, 0))
			return false;
	for (int op = VT_CAS; op <= VT_MFADD; op++)
		if (!random_atomics(p, op, VT_WR, 4))
			return false;
	return true;
}

static void test_paths(struct vt_dev *a, struct vt_dev *b)
{
	struct vt_conf conf = vt_defaults();
	struct vt_pair p;

	if (a->gid6_index < 0 || b->gid6_index < 0)
		vt_bail("a device has no GID of an IPv6 address");
	conf.ipv6 = true;
	for (int mtu = IBV_MTU_256; mtu <= IBV_MTU_4096; mtu += 4) {
		conf.mtu = mtu;
		vt_pair_open(&p, a, b, &conf);
		ok(all_ops(&p), "all operations over IPv6, path MTU %d",
		   128 << mtu);
		vt_pair_close(&p);
	}
	conf.ipv6 = false;
	conf.mtu = 0;
	vt_pair_open(&p, b, a, &conf);
	ok(all_ops(&p), "all operations in the other direction");
	vt_pair_close(&p);
	vt_pair_open(&p, a, a, &conf);
	ok(all_ops(&p), "all operations on one device, IPv4");
	vt_pair_close(&p);
	conf.ipv6 = true;
	vt_pair_open(&p, a, a, &conf);
	ok(all_ops(&p), "all operations on one device, IPv6");
	vt_pair_close(&p);
}

/* A queue pair that is its own peer. */
static void test_self(struct vt_dev *a)
{
	struct vt_conf conf = vt_defaults();
	struct vt_wr wr = {
		.op = VT_MCAS, .via = VT_WR, .compare_mask = 0xff,
		.swap = 0x1200, .swap_mask = 0xff00,
	};
	struct vt_pair p, self;
	uint64_t old;
	int status;

	vt_pair_create(&p, a, a, &conf);
	if (vt_to_init(&p.a, &conf) || vt_to_rtr(&p.a, &p.a, &conf) ||
	    vt_to_rts(&p.a, &conf))
		vt_bail("connect to itself");
	self = p;
	self.b = p.a;
	*vt_word(&p.a, 4096) = 0x5600;
	status = vt_atomic(&self, &wr, 4096, &old);
	is_int(status, IBV_WC_SUCCESS, "a queue pair that is its own peer");
	is_u64(old, 0x5600, "... old value");
	is_u64(*vt_word(&p.a, 4096), 0x1200, "... new value");
	vt_pair_close(&p);
}

int main(void)
{
	struct vt_conf conf = vt_defaults();
	struct vt_dev *a, *b;
	struct vt_pair p;

	plan(0);
	a = vt_open(vt_name_a());
	b = vt_open(vt_name_b());

	test_path_mtus(a, b);
	test_interfaces(a, b);
	test_atomics(a, b);
	vt_pair_open(&p, a, b, &conf);
	test_inline(&p);
	test_multi_sge(&p);
	test_atomic_scatter(&p);
	test_abort(&p);
	test_batch(&p);
	test_unsignalled(&p);
	test_order(&p);
	test_iova(&p);
	vt_pair_close(&p);
	test_rd_atomic(a, b);
	test_start_poll(a, b);
	test_events(a, b);
	test_wc_opcodes(a, b);
	test_paths(a, b);
	test_self(a);

	vt_close(a);
	vt_close(b);
	return done_testing();
}
