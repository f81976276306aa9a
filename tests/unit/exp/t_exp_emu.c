// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Tests of the masked atomics that libibverbs_exp emulates with
 * compare-and-swap, on a fake device that executes one request at each call of
 * run().
 */
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "masked_atomic.h"
#include "tap.h"
#include "backend.h"
#include "emu_cq.h"
#include "emu_qp.h"
#include "emu_req.h"
#include "qp_table.h"

static void chain(struct req *r, int n)
{
	for (int i = 0; i + 1 < n; i++)
		r[i].wr.next = &r[i + 1].wr;
}

/* Checks the number, the wr_ids and the status of completions. */
static void is_wcs(const struct ibv_wc *wc, int n, const uint64_t *want,
		   int num, int status, const char *what)
{
	bool good = n == num;

	for (int i = 0; good && i < n; i++)
		good = wc[i].wr_id == want[i] &&
		       (int)wc[i].status == (i ? IBV_WC_WR_FLUSH_ERR : status);
	if (ok(good, "%s", what))
		return;
	diag("%d completions, not %d", n, num);
	for (int i = 0; i < n; i++)
		diag("wr_id %" PRIu64 " status %d", wc[i].wr_id, wc[i].status);
}

/*
 * ---- tests -----------------------------------------------------------------
 */

static void test_query(void)
{
	struct exp_caps caps;

	fake_reset();
	is_int(exp_backend_query(emu_ctx, &caps), 0, "query");
	ok(caps.masked && caps.emulated && caps.sizes == (1 | 2 | 4 | 8) &&
	   !caps.sizes_be && caps.be_reply &&
	   caps.max_fa_bit_boundary == 64 &&
	   caps.atomic_cap == IBV_EXP_ATOMIC_HCA, "... 1, 2, 4 and 8 bytes");
	fake.atomic_cap = IBV_ATOMIC_GLOB;
	exp_backend_query(emu_ctx, &caps);
	is_int(caps.atomic_cap, IBV_EXP_ATOMIC_GLOB, "... and the scope of the standard atomics");
	fake.atomic_cap = IBV_ATOMIC_NONE;
	exp_backend_query(emu_ctx, &caps);
	ok(!caps.masked && !caps.sizes, "none without atomics");
}

static void test_one(void)
{
	static const struct row {
		const char *name;
		bool is_cas;
		uint64_t mem;
		uint64_t arg[4];
	} rows[] = {
		{ "swap a field", true, 0xab10, { 0x10, 0xff, 0x22, 0xff } },
		{ "field differs", true, 0xab11, { 0x10, 0xff, 0x22, 0xff } },
		{ "compare nothing", true, 0xab11, { 0, 0, 0x22, 0xf0 } },
		{ "compare all", true, 0xab11, { 0xab11, ALL, 0x22, 0xf0 } },
		{ "bits outside of masks", true, 0xab10,
		  { 0xff10, 0xff, ALL, 0x0f } },
		{ "the field has the value already", true, 0xab22, { 0xab22, 0xff, 0x22, 0xff } },
		{ "plain", true, 0xab11, { 0xab11, ALL, 0x22, ALL } },
		{ "plain, differs", true, 0xab11, { 0, ALL, 0x22, ALL } },
		{ "swap nothing", true, 0xab11, { 1, 0, 0x22, 0 } },
		{ "add to a field", false, 0xabff, { 1, 0x80 } },
		{ "add nothing", false, 0xabff, { 0, 0x80 } },
		{ "plain add", false, 0xabff, { 1, 0 } },
		{ "top boundary", false, ALL, { 1, 1ULL << 63 } },
		{ "every bit", false, 0xff0f, { 0xf0f0, ALL } },
	};
	struct fake_cq *cq;
	struct fake_qp *qp;
	struct ibv_wc wc[4];
	struct req r;

	fake_reset();
	cq = new_cq();
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const uint64_t *a = rows[i].arg;
		uint64_t want = rows[i].is_cas ?
			masked_cmp_swap_u64(rows[i].mem, a[0], a[1], a[2],
					    a[3]) :
			masked_fetch_add_u64(rows[i].mem, a[0], a[1]);

		for (int be = 0; be < 2; be++) {
			qp = new_qp(cq, be ? BE : 0);
			fake.mem[0] = rows[i].mem;
			if (rows[i].is_cas)
				cas(&r, 7, SIGNALED, 0, a[0], a[1], a[2], a[3]);
			else
				add(&r, 7, SIGNALED, 0, a[0], a[1]);
			is_int(post(qp, &r.wr), 0, "%s%s: posted", rows[i].name,
			       be ? ", big-endian" : "");
			is_int(run_all(cq, qp, NULL, wc, 4), 1,
			       "... one completion");
			is_u64(wc[0].wr_id, 7, "... its wr_id");
			is_int((int)wc[0].opcode, rows[i].is_cas ?
			       IBV_EXP_WC_MASKED_COMP_SWAP :
			       IBV_EXP_WC_MASKED_FETCH_ADD, "... its opcode");
			is_int(wc[0].byte_len, 8, "... its length");
			is_u64(fake.mem[0], want, "... the word");
			is_u64(fake.buf[0], be ? htobe64(rows[i].mem) :
			       rows[i].mem, "... the old value");
			drop_qp(qp);
		}
	}
	is_int(fake.mrs, 0, "nothing stays registered");
	drop_cq(cq);
}

/* Makes a masked atomic one of 4 bytes, in the first or second half. */
static void halve(struct req *r, int second)
{
	r->wr.ext_op.masked_atomics.log_arg_sz = 2;
	r->wr.ext_op.masked_atomics.remote_addr += 4 * second;
	r->sge.length = 4;
}

/* Each half of a word, with operands of 4 bytes. */
static void test_half(void)
{
	static const struct row {
		const char *name;
		bool is_cas;
		uint32_t mem;
		uint64_t arg[4];
	} rows[] = {
		{ "swap a field", true, 0xab10, { 0x10, 0xff, 0x22, 0xff } },
		{ "field differs", true, 0xab11, { 0x10, 0xff, 0x22, 0xff } },
		{ "plain", true, 0xab11, { 0xab11, ALL, 0x22, ALL } },
		{ "swap nothing", true, 0xab11, { 1, 0, 0x22, 0 } },
		{ "upper bits of operands", true, 0xab11,
		  { 0x70000ab11, ALL, 0x900000022, ALL } },
		{ "add to a field", false, 0xabff, { 1, 0x80 } },
		{ "plain add", false, 0xabff, { 1, 0 } },
		{ "carry out of the operand", false, UINT32_MAX, { 1, 0 } },
		{ "top boundary", false, UINT32_MAX, { 2, 1ULL << 31 } },
		{ "every bit", false, 0xff0f, { 0xf0f0, ALL } },
	};
	struct ibv_exp_send_wr *bad;
	uint32_t half[2], buf[3];
	struct fake_cq *cq;
	struct fake_qp *qp;
	struct ibv_wc wc[4];
	struct req r;

	fake_reset();
	cq = new_cq();
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct row *row = &rows[i];
		const uint64_t *a = row->arg;
		uint32_t want = row->is_cas ?
			masked_cmp_swap_u32(row->mem, a[0], a[1], a[2], a[3]) :
			masked_fetch_add_u32(row->mem, a[0], a[1]);

		for (int second = 0; second < 2; second++) {
			for (int be = 0; be < 2; be++) {
				qp = new_qp(cq, be ? BE : 0);
				half[second] = row->mem;
				half[!second] = 0xfffffffe;
				memcpy(&fake.mem[0], half, sizeof(half));
				memset(buf, 0x77, sizeof(buf));
				if (row->is_cas)
					cas(&r, 7, SIGNALED, 0, a[0], a[1],
					    a[2], a[3]);
				else
					add(&r, 7, SIGNALED, 0, a[0], a[1]);
				halve(&r, second);
				r.sge.addr = (uintptr_t)&buf[1];
				is_int(post(qp, &r.wr), 0, "%s, half %d%s",
				       row->name, second,
				       be ? ", big-endian" : "");
				is_int(run_all(cq, qp, NULL, wc, 4), 1,
				       "... one completion");
				is_int(wc[0].byte_len, 4, "... its length");
				memcpy(half, &fake.mem[0], sizeof(half));
				is_u64(half[second], want, "... the half");
				is_u64(half[!second], 0xfffffffe,
				       "... the other half");
				is_u64(buf[1], be ? htobe32(row->mem) : row->mem,
				       "... the old value");
				ok(buf[0] == 0x77777777 && buf[2] == 0x77777777,
				   "... and no more bytes");
				drop_qp(qp);
			}
		}
	}

	qp = new_qp(cq, 0);
	add(&r, 1, SIGNALED, 0, 1, 0x80);
	halve(&r, 0);
	r.sge.length = 3;
	is_int(post(qp, &r.wr), EINVAL, "no room for a result of 4 bytes");
	for (int log = 4; log < 6; log++) {
		add(&r, 1, SIGNALED, 0, 1, 0x80);
		r.wr.ext_op.masked_atomics.log_arg_sz = log;
		r.sge.length = 32;
		is_int(ibv_exp_post_send(&qp->qp, &r.wr, &bad), EINVAL,
		       "%d bytes are refused", 1 << log);
	}
	add(&r, 1, SIGNALED, 0, 1, 0x80);
	halve(&r, 0);
	r.wr.ext_op.masked_atomics.remote_addr += 2;
	is_int(post(qp, &r.wr), 0, "4 bytes at an address that is not aligned");
	is_int(run_all(cq, qp, NULL, wc, 4), 1, "... complete");
	is_int(wc[0].status, IBV_WC_REM_INV_REQ_ERR, "... with an error");
	drop_qp(qp);
	drop_cq(cq);
}

/* Operands of 1 and 2 bytes at each place of a word. */
static void test_parts(void)
{
	struct fake_cq *cq;
	struct ibv_wc wc[4];
	struct req r;

	fake_reset();
	cq = new_cq();
	for (unsigned int how = 0; how < 2 * 2 * 2 * 8; how++) {
		bool is_cas = how & 1, be = how & 2;
		uint32_t log = how >> 2 & 1, size = 1U << log;
		unsigned int at = how >> 3;
		uint8_t want[8], buf[4], swapped[2] = { 0xc5, 0x80 };
		uint16_t old = 0x80c5, new;
		struct fake_qp *qp;

		if (at % size)
			continue;
		/* Boundaries inside, and a carry out of the operand. */
		new = is_cas ? masked_cmp_swap_u32(old, 0x05, 0x0f, 0x9a, 0xf0) :
			       masked_fetch_add_u32(old, 0xffcb, 0x0808);
		memset(want, 0x6e, sizeof(want));
		if (log)
			memcpy(want + at, &old, size);
		else
			want[at] = (uint8_t)old;
		memcpy(&fake.mem[0], want, sizeof(want));
		if (log)
			memcpy(want + at, &new, size);
		else
			want[at] = (uint8_t)new;
		qp = new_qp(cq, be ? BE : 0);
		/* Bits above the operands do not count. */
		if (is_cas)
			cas(&r, 7, SIGNALED, 0, 0xf0005, 0x000f, 0xf009a, 0x00f0);
		else
			add(&r, 7, SIGNALED, 0, 0xfffcb, 0xf0808);
		r.wr.ext_op.masked_atomics.log_arg_sz = log;
		r.wr.ext_op.masked_atomics.remote_addr += at;
		memset(buf, 0x77, sizeof(buf));
		r.sge.addr = (uintptr_t)&buf[1];
		r.sge.length = size;
		is_int(post(qp, &r.wr), 0, "%u bytes at %u, %s%s", size, at,
		       is_cas ? "cas" : "add", be ? ", big-endian" : "");
		is_int(run_all(cq, qp, NULL, wc, 4), 1, "... one completion");
		is_int(wc[0].byte_len, size, "... its length");
		ok(!memcmp(&fake.mem[0], want, sizeof(want)), "... the word");
		if (be) {
			uint16_t value = be16toh(old);

			memcpy(swapped, &value, 2);
			if (!log)
				swapped[0] = (uint8_t)old;
		} else if (log) {
			memcpy(swapped, &old, 2);
		} else {
			swapped[0] = (uint8_t)old;
		}
		ok(buf[0] == 0x77 && !memcmp(buf + 1, swapped, size) &&
		   buf[1 + size] == 0x77, "... the old value");
		drop_qp(qp);
	}
	drop_cq(cq);
}

/* Requests that need no loop are posted at once, even several in a row. */
static void test_lowered(void)
{
	struct fake_cq *cq;
	struct fake_qp *qp;
	struct req r[4];

	fake_reset();
	cq = new_cq();
	qp = new_qp(cq, 0);
	add(&r[0], 0, 0, 0, 1, 0);
	cas(&r[1], 1, 0, 0, 5, ALL, 6, ALL);
	cas(&r[2], 2, 0, 0, 5, ALL, 6, 0);
	init(&r[3], IBV_EXP_WR_ATOMIC_FETCH_AND_ADD, 3, SIGNALED, 0);
	chain(r, 4);
	is_int(post(qp, &r[0].wr), 0, "four that need no loop");
	is_int(qp->posted, 4, "... are all posted to the device");
	is_int(qp->posts, 1, "... by one doorbell");
	ok(qp->wrs[0].wr.opcode == IBV_WR_ATOMIC_FETCH_AND_ADD &&
	   qp->wrs[1].wr.opcode == IBV_WR_ATOMIC_CMP_AND_SWP &&
	   qp->wrs[2].wr.opcode == IBV_WR_ATOMIC_FETCH_AND_ADD &&
	   !qp->wrs[2].wr.wr.atomic.compare_add, "... as plain atomics");
	drop_qp(qp);
	drop_cq(cq);
}

static void test_order(void)
{
	static const uint64_t ids[] = { 11, 13 };
	struct ibv_wc wc[8], *w = wc;
	struct fake_cq *cq;
	struct fake_qp *qp;
	struct req r[5];
	int n;

	fake_reset();
	cq = new_cq();
	qp = new_qp(cq, 0);
	fake.mem[0] = 0x1234;
	fake.buf[1] = 0x77;
	init(&r[0], IBV_EXP_WR_RDMA_WRITE, 10, 0, 1);
	cas(&r[1], 11, SIGNALED, 0, 0x34, 0xff, 0x35, 0xff);
	add(&r[2], 12, 0, 0, 1, 0x80);
	init(&r[3], IBV_EXP_WR_RDMA_READ, 13, SIGNALED, 0);
	r[3].sge.addr = (uintptr_t)&fake.buf[3];
	init(&r[4], IBV_EXP_WR_RDMA_WRITE, 14, 0, 2);
	chain(r, 5);
	is_int(post(qp, &r[0].wr), 0, "a chain");
	is_int(qp->posted, 2, "requests after a loop wait");
	/* The program may reuse the memory of its requests. */
	memset(r, 0xee, sizeof(r));
	n = run_all(cq, qp, NULL, w, 8);
	is_wcs(wc, n < 1 ? n : 1, ids, 1, 0, "the first of two completions");
	is_wcs(wc + 1, n - 1, ids + 1, 1, 0, "the second");
	is_u64(fake.buf[3], 0x1236, "the requests before the read are executed");
	is_u64(fake.mem[1], 0x77, "the write is executed too");
	is_int(ibv_poll_cq(&cq->cq, 8, wc), 0, "no more");

	/* ibv_post_send() while the loop is in progress. */
	fake.mem[0] = 0x1234;
	cas(&r[0], 20, 0, 0, 0x34, 0xff, 0x35, 0xff);
	is_int(post(qp, &r[0].wr), 0, "one more");
	{
		struct ibv_sge sge = { (uintptr_t)&fake.buf[3], 8, LKEY };
		struct ibv_send_wr std = {
			.wr_id = 21, .sg_list = &sge, .num_sge = 1,
			.opcode = IBV_WR_RDMA_READ,
			.send_flags = IBV_SEND_SIGNALED,
			.wr.rdma = { (uintptr_t)&fake.mem[0], RKEY },
		}, *bad;
		const uint64_t id = 21;
		uint64_t before = qp->posted;

		is_int(ibv_post_send(&qp->qp, &std, &bad), 0,
		       "ibv_post_send() after it");
		is_u64(qp->posted, before, "... waits too");
		n = run_all(cq, qp, NULL, wc, 8);
		is_wcs(wc, n, &id, 1, 0, "... the one that is signaled");
		is_u64(fake.buf[3], 0x1235, "... and was executed last");
	}
	drop_qp(qp);
	drop_cq(cq);
}

/* Inline data is copied when the request is posted. */
static void test_inline(void)
{
	struct fake_cq *cq;
	struct fake_qp *qp;
	struct ibv_wc wc[2];
	struct req r[2];

	fake_reset();
	cq = new_cq();
	qp = new_qp(cq, 0);
	fake.mem[0] = 1;
	fake.buf[1] = 0x77;
	add(&r[0], 0, 0, 0, 1, 0x80);
	init(&r[1], IBV_EXP_WR_RDMA_WRITE, 1,
	     SIGNALED | IBV_EXP_SEND_INLINE, 1);
	chain(r, 2);
	is_int(post(qp, &r[0].wr), 0, "a write with inline data, held");
	fake.buf[1] = 0x88;
	is_int(run_all(cq, qp, NULL, wc, 2), 1, "... completes");
	is_u64(fake.mem[1], 0x77, "... has the data of the time when it was posted");
	r[1].sge.length = MAX_INLINE + 1;
	is_int(post(qp, &r[1].wr), EINVAL, "more than fits inline");
	drop_qp(qp);
	drop_cq(cq);
}

/* The word changes before each try. */
static void test_contention(void)
{
	struct fake_cq *cq;
	struct fake_qp *qp;
	struct ibv_wc wc[2];
	struct req r;
	int tries = 0;

	fake_reset();
	cq = new_cq();
	qp = new_qp(cq, 0);
	fake.mem[0] = 0x10;
	add(&r, 5, SIGNALED, 0, 1, 0x80);
	is_int(post(qp, &r.wr), 0, "against 20 others");
	for (int i = 0; i < 20; i++) {
		fake.mem[0] += 0x10000;
		tries += run(qp);
		is_int(ibv_poll_cq(&cq->cq, 2, wc), 0, "... not done");
		/* Nothing reads this buffer before the end. */
		fake.buf[0] = fake.mem[0];
	}
	is_int(run_all(cq, qp, NULL, wc, 2), 1, "... done in the end");
	is_int(tries, 20, "... with that many tries before");
	is_u64(fake.mem[0], 0x10 + 20 * 0x10000 + 1, "... once");
	is_u64(fake.buf[0], 0x10 + 20 * 0x10000, "... its old value");

	/* No other QP interferes: the word has the value that this QP left. */
	qp->posts = 0;
	is_int(post(qp, &r.wr), 0, "again, alone");
	is_int(run_all(cq, qp, NULL, wc, 2), 1, "... done");
	is_int(qp->posts, 1, "... at the first try");

	/* A comparison that fails is not tried again. */
	fake.mem[0] = 0x500;
	qp->posts = 0;
	cas(&r, 5, SIGNALED, 0, 1, 0xff, 2, 0xff);
	is_int(post(qp, &r.wr), 0, "a word that differs from the guess");
	is_int(run_all(cq, qp, NULL, wc, 2), 1, "... which does not compare");
	is_int(qp->posts, 1, "... needs one try");
	is_u64(fake.buf[0], 0x500, "... returns the old value");
	drop_qp(qp);
	drop_cq(cq);
}

static void test_full(void)
{
	struct ibv_exp_send_wr *bad = NULL;
	struct fake_cq *cq;
	struct fake_qp *qp;
	struct ibv_wc wc[DEPTH + 4];
	struct req r[DEPTH + 1];
	int n;

	fake_reset();
	cq = new_cq();
	qp = new_qp(cq, 0);
	for (int i = 0; i <= DEPTH; i++)
		add(&r[i], i, i & 1 ? SIGNALED : 0, 0, 1, 0x80);
	chain(r, DEPTH + 1);
	is_int(ibv_exp_post_send(&qp->qp, &r[0].wr, &bad), ENOMEM,
	       "one more than promised");
	ok(bad == &r[DEPTH].wr, "... is the one that is refused");
	is_int(post(qp, &r[DEPTH].wr), ENOMEM, "... and again");
	run(qp);
	is_int(post(qp, &r[DEPTH].wr), ENOMEM, "... until something is polled");
	n = run_all(cq, qp, NULL, wc, DEPTH + 4);
	is_int(n, DEPTH / 2, "... half of them are signaled");
	is_int(post(qp, &r[DEPTH].wr), 0, "... then there is room");
	is_int(run_all(cq, qp, NULL, wc, 4), 0, "... for one unsignaled");
	is_u64(fake.mem[0], DEPTH + 1, "... the sum");

	/* The device refuses a request. Nothing of it remains. */
	qp->refuse = ENOSPC;
	r[0].wr.next = NULL;
	is_int(post(qp, &r[0].wr), ENOSPC, "the device refuses");
	qp->refuse = 0;
	is_int(run_all(cq, qp, NULL, wc, 4), 0, "... and nothing happens");
	r[1].wr.next = NULL;
	is_int(post(qp, &r[1].wr), 0, "... the next one");
	is_int(run_all(cq, qp, NULL, wc, 4), 1, "... is done");
	is_u64(fake.mem[0], DEPTH + 2, "... the sum");
	drop_qp(qp);
	drop_cq(cq);
}

/* The device accepts the requests of a list before the one that it refuses. */
static void test_bad_wr(void)
{
	struct ibv_send_wr std[4], *std_bad = NULL;
	struct ibv_exp_send_wr *bad = NULL;
	struct fake_cq *cq;
	struct fake_qp *qp;
	struct ibv_wc wc[8];
	struct req r[4];

	fake_reset();
	cq = new_cq();
	qp = new_qp(cq, 0);
	memset(std, 0, sizeof(std));
	for (int i = 0; i < 4; i++) {
		init(&r[i], IBV_EXP_WR_RDMA_WRITE, i, SIGNALED, i);
		std[i].wr_id = i;
		std[i].opcode = IBV_WR_RDMA_WRITE;
		std[i].send_flags = IBV_SEND_SIGNALED;
		std[i].next = i < 3 ? &std[i + 1] : NULL;
		std[i].wr.rdma.remote_addr = (uintptr_t)&fake.mem[i];
		std[i].wr.rdma.rkey = RKEY;
	}
	chain(r, 4);

	/* Not a multiple of 8. */
	r[2].wr.exp_opcode = IBV_EXP_WR_ATOMIC_FETCH_AND_ADD;
	r[2].wr.wr.atomic.remote_addr = (uintptr_t)&fake.mem[2] + 4;
	is_int(ibv_exp_post_send(&qp->qp, &r[0].wr, &bad), EINVAL,
	       "ibv_exp_post_send(): the device refuses one of a list");
	ok(bad == &r[2].wr, "... which is bad_wr");
	is_int(run_all(cq, qp, NULL, wc, 8), 2, "... and executes the earlier ones");
	r[3].wr.num_sge = -1;
	is_int(ibv_exp_post_send(&qp->qp, &r[0].wr, &bad), EINVAL,
	       "... also if the library refuses a later one");
	ok(bad == &r[2].wr, "... which is not bad_wr");
	is_int(run_all(cq, qp, NULL, wc, 8), 2, "... and executes the earlier ones");

	std[2].opcode = IBV_WR_ATOMIC_FETCH_AND_ADD;
	std[2].wr.atomic.remote_addr = (uintptr_t)&fake.mem[2] + 4;
	is_int(ibv_post_send(&qp->qp, &std[0], &std_bad), EINVAL,
	       "ibv_post_send(): the same");
	ok(std_bad == &std[2], "... which is bad_wr");
	is_int(run_all(cq, qp, NULL, wc, 8), 2, "... and executes the earlier ones");
	drop_qp(qp);
	drop_cq(cq);
}

/* The lkey of a region that was deregistered is checked again. */
static void test_stale_lkey(void)
{
	struct fake_cq *cq;
	struct fake_qp *qp;
	struct ibv_wc wc[2];
	struct req r;

	fake_reset();
	cq = new_cq();
	qp = new_qp(cq, 0);
	for (int i = 0; i < 3; i++) {
		add(&r, 0, SIGNALED, 0, 1, 0x80);
		is_int(post(qp, &r.wr), 0, "a masked atomic");
		is_int(run_all(cq, qp, NULL, wc, 2), 1, "... completes");
		is_int(wc[0].status, i < 2 ? IBV_WC_SUCCESS : IBV_WC_LOC_PROT_ERR,
		       i < 2 ? "... with success" :
			       "... with an error after the deregistration");
		fake.lkey_gone = i == 1;
		if (i == 1)
			emu_qp_forget_buffers();
	}
	drop_qp(qp);
	drop_cq(cq);
}

static void test_errors(void)
{
	static const uint64_t ids[] = { 1, 2, 3, 4 };
	static const struct {
		const char *name;
		int status;
		uint32_t rkey, lkey, offset;
	} rows[] = {
		{ "rkey", IBV_WC_REM_ACCESS_ERR, RKEY + 1, LKEY, 0 },
		{ "lkey", IBV_WC_LOC_PROT_ERR, RKEY, LKEY + 1, 0 },
		{ "alignment", IBV_WC_REM_INV_REQ_ERR, RKEY, LKEY, 4 },
	};
	struct ibv_wc wc[8];
	struct fake_cq *cq;
	struct fake_qp *qp;
	struct req r[5];
	int n;

	fake_reset();
	cq = new_cq();
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		qp = new_qp(cq, 0);
		add(&r[0], 0, 0, 0, 1, 0x80);
		add(&r[1], 1, 0, 0, 1, 0x80);
		r[1].sge.lkey = rows[i].lkey;
		r[1].wr.ext_op.masked_atomics.rkey = rows[i].rkey;
		r[1].wr.ext_op.masked_atomics.remote_addr += rows[i].offset;
		init(&r[2], IBV_EXP_WR_RDMA_WRITE, 2, 0, 1);
		cas(&r[3], 3, SIGNALED, 0, 0, 1, 1, 1);
		init(&r[4], IBV_EXP_WR_RDMA_WRITE, 4, SIGNALED, 1);
		chain(r, 5);
		fake.mem[1] = 0;
		fake.buf[1] = 1;
		is_int(post(qp, &r[0].wr), 0, "%s: posted", rows[i].name);
		n = run_all(cq, qp, NULL, wc, 2);
		n += run_all(cq, qp, NULL, wc + n, 1);
		n += run_all(cq, qp, NULL, wc + n, 8 - n);
		is_wcs(wc, n, ids, 4, rows[i].status,
		       "... fails, and the requests after it");
		ok(qp->error, "... the queue pair is in error");
		is_u64(fake.mem[1], 0, "... no request after it was executed");
		is_int(post(qp, &r[4].wr), 0, "... one that is posted later");
		n = run_all(cq, qp, NULL, wc, 8);
		is_wcs(wc, n, &ids[3], 1, IBV_WC_WR_FLUSH_ERR, "... flushed");
		drop_qp(qp);
	}
	is_int(fake.mrs, 0, "nothing stays registered");

	qp = new_qp(cq, 0);
	add(&r[0], 0, 0, 0, 1, 0x80);
	r[0].sge.length = 7;
	is_int(post(qp, &r[0].wr), EINVAL, "no room for the result");
	drop_qp(qp);
	drop_cq(cq);
}

#define MANY 16

/* One poll of the device flushes the requests of many QPs. */
static void test_many_errors(void)
{
	struct ibv_wc wc[MANY * DEPTH + 1];
	struct fake_qp *qps[MANY];
	struct req r[DEPTH];
	struct fake_cq *cq;
	int next[MANY] = { };
	int wrong = 0;

	fake_reset();
	cq = new_cq();
	for (int i = 0; i < MANY; i++) {
		qps[i] = new_qp(cq, 0);
		for (int j = 0; j < DEPTH; j++) {
			add(&r[j], i * DEPTH + j, 0, 0, 1, 0x80);
			r[j].wr.ext_op.masked_atomics.rkey = RKEY + 1;
		}
		chain(r, DEPTH);
		post(qps[i], &r[0].wr);
	}
	for (int i = 0; i < MANY; i++)
		run(qps[i]);
	is_int(ibv_poll_cq(&cq->cq, 1, wc), 1, "one of many that fail");
	is_int(ibv_poll_cq(&cq->cq, MANY * DEPTH, wc + 1), MANY * DEPTH - 1,
	       "... and all the others");
	for (int i = 0; i < MANY * DEPTH; i++)
		wrong += next[wc[i].wr_id / DEPTH]++ != (int)wc[i].wr_id % DEPTH;
	is_int(wrong, 0, "... in order");
	for (int i = 0; i < MANY; i++)
		drop_qp(qps[i]);
	drop_cq(cq);
}

/* A queue pair with a chain of three adds to one field. */
static struct fake_cq *post_adds(uint64_t flags, struct req r[3], struct fake_qp **qp)
{
	struct fake_cq *cq;

	fake_reset();
	cq = new_cq();
	*qp = new_qp(cq, 0);
	fake.mem[0] = 0x500;
	for (int i = 0; i < 3; i++)
		add(&r[i], i, flags, 0, 1, 0x80);
	chain(r, 3);
	post(*qp, &r[0].wr);
	return cq;
}

/* The program moves the QP to the error state during a loop. */
static void test_to_error(void)
{
	static const uint64_t ids[] = { 0, 1, 2 };
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };
	struct ibv_wc wc[8];
	struct fake_cq *cq;
	struct fake_qp *qp;
	struct req r[3];
	int n;

	for (int when = 0; when < 2; when++) {
		cq = post_adds(0, r, &qp);
		/* In the second round the try is executed, but not polled. */
		if (when)
			run(qp);
		exp_modify_qp(&qp->qp, &attr, IBV_QP_STATE, ibv_modify_qp);
		n = run_all(cq, qp, NULL, wc, 8);
		is_wcs(wc, n, ids, 3, IBV_WC_WR_FLUSH_ERR, when ?
		       "all is flushed after a try" : "all is flushed");
		drop_qp(qp);
		drop_cq(cq);
	}
}

/* The device refuses a waiting request when it is posted. */
static void test_refused(void)
{
	static const uint64_t ids[] = { 0, 1, 2 };
	struct ibv_wc wc[8];
	struct fake_cq *cq;
	struct fake_qp *qp;
	struct req r[3];
	int n;

	for (int when = 0; when < 2; when++) {
		cq = post_adds(SIGNALED, r, &qp);
		if (when) {
			/*
			 * The first request is complete, and the second is not
			 * posted.
			 */
			while (qp->done < 2)
				if (run(qp) && qp->done < 2)
					ibv_poll_cq(&cq->cq, 8, wc);
		} else {
			run(qp);
		}
		qp->refuse = ENOSPC;
		n = ibv_poll_cq(&cq->cq, 8, wc);
		while (n < 8) {
			int more = ibv_poll_cq(&cq->cq, 8 - n, wc + n);

			if (more <= 0)
				break;
			n += more;
		}
		is_wcs(wc, n, ids, 3, IBV_WC_WR_FLUSH_ERR, when ?
		       "a held request that is refused is flushed" :
		       "a try that is refused is flushed");
		is_int(fake.modified, 1, "... and the queue pair in error");
		drop_qp(qp);
		drop_cq(cq);
	}
}

static void test_reset(void)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RESET };
	const uint64_t id = 9;
	struct ibv_wc wc[8];
	struct fake_cq *cq;
	struct fake_qp *qp;
	struct req r[3];
	int n;

	cq = post_adds(SIGNALED, r, &qp);
	run(qp);
	exp_modify_qp(&qp->qp, &attr, IBV_QP_STATE, ibv_modify_qp);
	is_int(run_all(cq, qp, NULL, wc, 8), 0, "a reset leaves no completion");
	is_u64(fake.mem[0], 0x500, "... and the word unchanged");
	add(&r[0], 9, SIGNALED, 0, 1, 0x80);
	is_int(post(qp, &r[0].wr), 0, "... and it can be used again");
	n = run_all(cq, qp, NULL, wc, 8);
	is_wcs(wc, n, &id, 1, 0, "... with its completion");
	is_u64(fake.mem[0], 0x501, "... and its sum");
	ok(!emu_cq_any_busy(), "... nothing is left to do");
	drop_qp(qp);
	drop_cq(cq);
}

/* A QP gets the address of one that was destroyed. */
static void test_successor(void)
{
	static struct fake_qp place;
	struct ibv_qp_init_attr plain = { .qp_type = IBV_QPT_RC };
	struct ibv_exp_send_wr *bad;
	struct ibv_wc wc[8];
	struct fake_cq *cq;
	struct fake_qp *qp;
	struct req r[2];

	fake_reset();
	fake.place = &place;
	cq = new_cq();
	qp = new_qp(cq, 0);
	for (int i = 0; i < 2; i++)
		add(&r[i], i, SIGNALED, 0, 1, 0x80);
	chain(r, 2);
	post(qp, &r[0].wr);
	run(qp);
	/* As librdmacm destroys it if libibverbs precedes this library. */
	ibv_destroy_qp(&qp->qp);
	is_int(fake.mrs, 0, "a queue pair that libibverbs destroyed");
	qp = new_qp(cq, 0);
	is_int(fake.mrs, 1, "its successor at that address");
	is_int(run_all(cq, qp, NULL, wc, 8), 0, "... does not get its completions");
	r[0].wr.next = NULL;
	is_int(post(qp, &r[0].wr), 0, "... takes requests");
	is_int(run_all(cq, qp, NULL, wc, 8), 1, "... and executes them");
	drop_qp(qp);
	is_int(fake.mrs, 0, "... and leaves nothing");

	qp = (struct fake_qp *)ibv_create_qp(&emu_pd, &plain);
	is_int(ibv_exp_post_send(&qp->qp, &r[0].wr, &bad), EINVAL,
	       "no masked atomics on a queue pair of ibv_create_qp()");
	init(&r[0], IBV_EXP_WR_RDMA_WRITE, 1, 0, 1);
	is_int(ibv_exp_post_send(&qp->qp, &r[0].wr, &bad), 0, "... but a write");
	is_u64(qp->wrs[0].wr.wr_id, 1, "... with its own wr_id");
	drop_qp(qp);
	drop_cq(cq);
	ok(!emu_cq_any_busy(), "nothing is left to do");
}

/* Requests of other QPs are not changed. */
static void test_others(void)
{
	const struct ibv_wc others[] = {
		{ .wr_id = 1, .opcode = IBV_WC_RECV, .byte_len = 5 },
		{ .wr_id = ALL, .opcode = IBV_WC_RECV },
		{ .wr_id = 0xa5a5a5a5a5a5a5a5, .opcode = 0x7e,
		  .status = IBV_WC_WR_FLUSH_ERR, .qp_num = 1 },
		{ .wr_id = 0x7fff12345678, .opcode = IBV_WC_SEND },
	};
	struct fake_cq *cq, *other;
	struct fake_qp *qp;
	struct ibv_wc wc[8], mine;
	struct req r;

	fake_reset();
	cq = new_cq();
	other = new_cq();
	qp = new_qp(cq, 0);
	add(&r, 77, SIGNALED, 0, 1, 0x80);
	post(qp, &r.wr);
	add_wc(cq, &others[0]);
	add_wc(cq, &others[1]);
	while (run(qp)) {
		if (cq->num > 3)
			break;
	}
	add_wc(cq, &others[2]);
	add_wc(cq, &others[3]);
	is_int(ibv_poll_cq(&cq->cq, 8, wc), 4, "completions of others");
	is_mem(wc, others, sizeof(others), "... as they are");
	is_int(run_all(cq, qp, NULL, wc, 8), 1, "... and the own one");

	/* A receive request may have the wr_id of a request of this library. */
	post(qp, &r.wr);
	memset(&mine, 0, sizeof(mine));
	mine.wr_id = qp->wrs[(qp->posted - 1) % DEPTH].wr.wr_id;
	mine.opcode = IBV_WC_RECV;
	add_wc(cq, &mine);
	is_int(ibv_poll_cq(&cq->cq, 8, wc), 1, "a receive with such a wr_id");
	is_mem(wc, &mine, sizeof(mine), "... as it is");
	is_int(run_all(cq, qp, NULL, wc, 8), 1, "... and the own one");

	add_wc(other, &others[0]);
	is_int(ibv_poll_cq(&other->cq, 8, wc), 1, "another completion queue");
	is_mem(wc, others, sizeof(others[0]), "... is unchanged");
	drop_qp(qp);
	drop_cq(cq);
	free(other);
}

static void test_events(void)
{
	struct fake_cq *cq;
	struct fake_qp *qp;
	struct ibv_wc wc[2];
	struct req r[2];

	fake_reset();
	cq = new_cq();
	is_int(cq->cq.cqe, 64, "a completion queue of 64");
	qp = new_qp(cq, 0);
	ok(cq->cq.cqe > 64, "... has room for a hidden completion");
	fake.mem[0] = 0x500;
	add(&r[0], 0, 0, 0, 1, 0x80);
	init(&r[1], IBV_EXP_WR_RDMA_WRITE, 1, SIGNALED, 1);
	chain(r, 2);
	is_int(ibv_req_notify_cq(&cq->cq, 0), 0, "the program arms an event");
	is_int(cq->arms, 1, "... which arms one of the device");
	post(qp, &r[0].wr);
	/*
	 * Three hidden completions: of the probe, of a failing try and of the
	 * successful one.
	 */
	for (int i = 0; i < 3; i++) {
		run(qp);
		ok(!cq->armed, "a hidden completion raises an event, %d", i);
		is_int(ibv_poll_cq(&cq->cq, 2, wc), 0, "... and is not returned");
		ok(cq->armed, "... and the event is armed again");
	}
	run(qp);
	is_int(ibv_poll_cq(&cq->cq, 2, wc), 1, "the completion");
	ok(!cq->armed, "... does not arm the event");
	is_int(cq->events, 4, "... events in all");
	cq->arms = 0;
	fake.mem[0] = 0x700;
	r[0].wr.next = NULL;
	post(qp, &r[0].wr);
	is_int(run_all(cq, qp, NULL, wc, 2), 0, "an unsignaled request without a waiting program");
	is_int(cq->arms, 0, "... arms no event");
	drop_qp(qp);
	drop_cq(cq);
}

/* The thread makes progress if the program does not poll. */
static void test_tick(void)
{
	struct fake_cq *cq;
	struct fake_qp *qp;
	struct ibv_wc wc[4];
	struct req r[2];

	fake_reset();
	cq = new_cq();
	qp = new_qp(cq, 0);
	ok(!emu_cq_any_busy(), "nothing to do");
	fake.mem[0] = 0x500;
	add(&r[0], 0, SIGNALED, 0, 1, 0x80);
	init(&r[1], IBV_EXP_WR_RDMA_WRITE, 1, SIGNALED, 1);
	fake.buf[1] = 0x77;
	chain(r, 2);
	post(qp, &r[0].wr);
	ok(emu_cq_any_busy(), "a held request");
	is_int(fake.kicks, 1, "... wakes the thread");
	for (int i = 0; i < 3; i++) {
		run(qp);
		emu_cq_tick();
	}
	ok(run(qp), "the thread has posted what was held");
	is_u64(fake.mem[0], 0x501, "... and added");
	is_u64(fake.mem[1], 0x77, "... and written");
	ok(!emu_cq_any_busy(), "nothing to do");
	is_int(ibv_poll_cq(&cq->cq, 4, wc), 2, "the completions are kept");
	ok(wc[0].wr_id == 0 && wc[1].wr_id == 1, "... in their order");

	/* The thread does not interfere with a program that polls. */
	add(&r[0], 0, SIGNALED, 2, 1, 0x80);
	post(qp, &r[0].wr);
	ibv_poll_cq(&cq->cq, 4, wc);
	run(qp);
	emu_cq_tick();
	is_int(cq->num - cq->taken, 1, "the thread leaves the completion to the program");
	emu_cq_tick();
	is_int(cq->num - cq->taken, 0, "... but takes it at its next tick");
	drop_qp(qp);
	ok(!emu_cq_any_busy(), "nothing to do when it is destroyed");
	drop_cq(cq);
}

/* What another thread and the thread of the library do with this CQ. */
static struct fake_cq *polled_cq;
static struct ibv_wc meanwhile_wc[8];
static int meanwhile_num;

static void poll_meanwhile(void)
{
	int n = ibv_poll_cq(&polled_cq->cq, 8 - meanwhile_num,
			    meanwhile_wc + meanwhile_num);

	if (n > 0)
		meanwhile_num += n;
	emu_cq_tick();
	emu_cq_tick();
}

static void set_meanwhile(struct fake_cq *cq)
{
	polled_cq = cq;
	meanwhile_num = 0;
	fake.meanwhile = poll_meanwhile;
}

/* A QP is destroyed while a try has completed, and another thread polls. */
static void test_destroy(void)
{
	struct ibv_wc wc[8];
	struct fake_cq *cq;
	struct fake_qp *qp;
	struct req r[3];

	for (int seen = 0; seen < 2; seen++) {
		cq = post_adds(SIGNALED, r, &qp);
		run(qp);
		set_meanwhile(cq);
		is_int(seen ? exp_destroy_qp(&qp->qp, ibv_destroy_qp) :
			      ibv_destroy_qp(&qp->qp), 0,
		       "a QP is destroyed in flight, %s", seen ?
		       "interposed" : "by a call to libibverbs");
		is_int(meanwhile_num, 0, "... without a completion");
		fake.meanwhile = NULL;
		is_int(ibv_poll_cq(&cq->cq, 8, wc), 0, "... also later");
		is_int(fake.mrs, 0, "... nothing stays registered");
		ok(!emu_cq_any_busy(), "... nothing is left to do");
		drop_cq(cq);
	}
}

/* A QP goes on if it is not destroyed, or not reset. */
static void test_destroy_fails(void)
{
	static const uint64_t ids[] = { 0, 1, 2 };
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RESET };
	struct ibv_wc wc[8];
	struct fake_cq *cq;
	struct fake_qp *qp;
	struct req r[3];
	bool good;
	int n;

	for (int how = 0; how < 6; how++) {
		bool is_late = how & 1;

		cq = post_adds(SIGNALED, r, &qp);
		/* Otherwise the try completes later. */
		if (is_late)
			run(qp);
		fake.destroy_errno = EBUSY;
		fake.reset_errno = EBUSY;
		set_meanwhile(cq);
		if (how < 2)
			n = exp_destroy_qp(&qp->qp, ibv_destroy_qp);
		else if (how < 4)
			n = ibv_destroy_qp(&qp->qp);
		else
			n = ibv_modify_qp(&qp->qp, &attr, IBV_QP_STATE);
		is_int(n, EBUSY, "a QP is not %s",
		       how < 4 ? "destroyed" : "reset");
		is_int(meanwhile_num, 0, "... no completion meanwhile");
		fake.meanwhile = NULL;
		fake.destroy_errno = 0;
		n = run_all(cq, qp, NULL, wc, 8);
		good = n == 3;
		for (int i = 0; good && i < n; i++)
			good = !wc[i].status && wc[i].wr_id == ids[i];
		ok(good, "... its requests complete");
		is_u64(fake.mem[0], 0x503, "... and were executed once");
		drop_qp(qp);
		drop_cq(cq);
	}
}

/* The thread and the program poll while a CQ is not destroyed. */
static void test_destroy_cq(void)
{
	static struct fake_cq place;
	struct ibv_wc wc[8];
	struct fake_cq *cq;
	struct fake_qp *qp;
	struct req r[3];

	for (int seen = 0; seen < 2; seen++) {
		cq = post_adds(SIGNALED, r, &qp);
		run(qp);
		fake.destroy_errno = EBUSY;
		set_meanwhile(cq);
		is_int(seen ? interposed_destroy_cq(&cq->cq) :
			      ibv_destroy_cq(&cq->cq), EBUSY,
		       "a CQ is not destroyed");
		is_int(meanwhile_num, 0, "... hidden completions stay hidden");
		fake.meanwhile = NULL;
		fake.destroy_errno = 0;
		is_int(run_all(cq, qp, NULL, wc, 8), 3,
		       "... and all requests complete");

		/* Completions that the program does not poll. */
		post(qp, &r[0].wr);
		while (run(qp))
			emu_cq_tick();
		drop_qp(qp);
		drop_cq(cq);
	}

	/* Another CQ gets its address. */
	fake_reset();
	fake.cq_place = &place;
	cq = new_cq();
	qp = new_qp(cq, 0);
	add(&r[0], 1, SIGNALED, 0, 1, 0x80);
	post(qp, &r[0].wr);
	while (run(qp)) {
		emu_cq_tick();
		emu_cq_tick();
	}
	drop_qp(qp);
	is_int(ibv_destroy_cq(&cq->cq), 0,
	       "a CQ is destroyed by a call to libibverbs");
	cq = new_cq();
	qp = new_qp(cq, 0);
	is_int(ibv_poll_cq(&cq->cq, 8, wc), 0,
	       "... its successor does not have its completions");
	drop_qp(qp);
	drop_cq(cq);
	fake.cq_place = NULL;
}

/* A CQ has room for one hidden completion of each QP. */
static void test_room(void)
{
	struct fake_qp *qps[20];
	struct fake_cq *cq;

	fake_reset();
	cq = new_cq();
	for (int i = 0; i < 20; i++) {
		qps[i] = new_qp(cq, 0);
		ok(cq->cq.cqe >= 64 + i + 1, "room for %d QPs", i + 1);
	}
	is_int(fake.resized, 2, "... the CQ was resized twice");
	is_int(cq->cq.cqe, 64 + 32, "... to no more than that");
	for (int i = 0; i < 20; i++)
		drop_qp(qps[i]);
	for (int i = 0; i < 20; i++)
		drop_qp(new_qp(cq, 0));
	is_int(fake.resized, 2, "room of destroyed QPs is used again");
	cq->cq.cqe = 10;
	drop_qp(new_qp(cq, 0));
	is_int(cq->cq.cqe, 10 + 16, "room in a CQ that the program has resized");
	drop_cq(cq);

	/* A device that doubles CQs. */
	fake.resized = 0;
	cq = new_cq();
	cq->cq.cqe = 127;
	fake.round_up = 128;
	for (int i = 0; i < 20; i++)
		qps[i] = new_qp(cq, 0);
	is_int(fake.resized, 1, "a device that rounds up resizes once");
	for (int i = 0; i < 20; i++)
		drop_qp(qps[i]);
	drop_cq(cq);
}

int main(void)
{
	plan(0);
	test_query();
	test_one();
	test_half();
	test_parts();
	test_lowered();
	test_order();
	test_inline();
	test_contention();
	test_full();
	test_bad_wr();
	test_errors();
	test_stale_lkey();
	test_many_errors();
	test_to_error();
	test_refused();
	test_reset();
	test_successor();
	test_others();
	test_events();
	test_tick();
	test_destroy();
	test_destroy_fails();
	test_destroy_cq();
	test_room();
	return done_testing();
}
