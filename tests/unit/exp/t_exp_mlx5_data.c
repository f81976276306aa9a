// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Tests of the mlx5 backend of libibverbs_exp: the fake device executes the
 * posted requests, and the test checks memory, results and completions.
 */
#include <errno.h>

#include "mlx5_req.h"
#include "qp_table.h"
#include "tap.h"

/* ---- operations ---------------------------------------------------------- */

static uint64_t seed = 1;

static uint64_t swap_word(uint64_t word, int size)
{
	if (size == 4)
		return __builtin_bswap32(word);
	return size == 8 ? word : __builtin_bswap64(word);
}

struct expectation {
	uint64_t before[4], after[4];
};

/* Calculates with n words of 64 bits. `all` masks a word of 32 bits. */
static void expect_cs(struct expectation *e, const uint64_t (*op)[4], int n,
		      uint64_t all)
{
	bool same = true;
	int i;

	for (i = 0; i < n; i++)
		same = same && !((op[0][i] ^ e->before[i]) & op[1][i] & all);
	for (i = 0; i < n; i++)
		e->after[i] = same ? (e->before[i] & ~op[3][i]) |
				     (op[2][i] & op[3][i]) : e->before[i];
}

/* Each word has two fields. The upper one begins at bit 20. */
static void expect_fa(struct expectation *e, const uint64_t (*op)[4], int n)
{
	const uint64_t low = (1 << 20) - 1;
	int i;

	for (i = 0; i < n; i++)
		e->after[i] = ((e->before[i] + op[0][i]) & low) |
			      (((e->before[i] & ~low) + (op[0][i] & ~low)) &
			       ~low);
}

static bool run_operation(struct ibv_qp *qp, int opcode, int size, int round)
{
	int words = size / 8 ? size / 8 : 1;
	uint64_t all = size == 4 ? 0xffffffff : ~0ull;
	struct expectation e = { };
	uint64_t got[4] = { };
	struct ibv_wc wc;
	struct req req;
	int i, j;

	init_masked(&req, opcode, size, round, SIG, 4, 64);
	for (i = 0; i < 4; i++)
		for (j = 0; j < 4; j++)
			req.operands[i][j] = random_next(&seed);
	for (i = 0; i < words; i++) {
		e.before[i] = random_next(&seed) & all;
		/* Half of the comparisons succeed. */
		if (opcode == CS && round & 1)
			req.operands[0][i] ^= (req.operands[0][i] ^
					       e.before[i]) &
					      req.operands[1][i];
		if (opcode == FA)
			req.operands[1][i] = 1 << 19 | 1ull << 63;
	}
	if (opcode == CS)
		expect_cs(&e, req.operands, words, all);
	else
		expect_fa(&e, req.operands, words);
	memset(remote, 0, sizeof(remote));
	memcpy(&remote[4], e.before, size);
	set_operands(&req, opcode, size);
	memset(local, FILL, sizeof(local));

	if (post(qp, &req) || ibv_poll_cq(&mlx5_cq.cq, 1, &wc) != 1 ||
	    wc.status != IBV_WC_SUCCESS || wc.byte_len != (uint32_t)size ||
	    wc.wr_id != (uint64_t)round ||
	    (int)wc.opcode != (opcode == CS ? IBV_EXP_WC_MASKED_COMP_SWAP :
			       IBV_EXP_WC_MASKED_FETCH_ADD))
		return false;
	for (i = 0; i < words; i++)
		e.before[i] = swap_word(e.before[i], size);
	memcpy(got, local + 64, size);
	for (i = 0; i < words; i++)
		e.after[i] &= all;
	return !memcmp(&remote[4], e.after, size) &&
	       !memcmp(got, e.before, size) && local[64 + size] == FILL &&
	       !remote[3] && !remote[4 + words] &&
	       (size > 4 || !(remote[4] >> 32));
}

/*
 * Results of 8 bytes are in host byte order. Each word of other results is
 * big-endian.
 */
static void test_operations(void)
{
	static const int opcodes[] = { CS, FA };
	int i, size, round;
	struct ibv_qp *qp;

	start();
	qp = mlx5_qp(8, 0, false);
	for (i = 0; i < 2; i++) {
		for (size = 4; size <= 32; size *= 2) {
			for (round = 0; round < 500; round++)
				if (!run_operation(qp, opcodes[i], size, round))
					break;
			is_int(round, 500, "%s of %d bytes, 500 rounds",
			       i ? "FAA" : "CAS", size);
		}
	}
	ibv_destroy_qp(qp);
}

/* ---- completions --------------------------------------------------------- */

static const struct {
	int opcode, size, std, exp;
} wc_rows[] = {
	{ CS, 4, 9, IBV_EXP_WC_MASKED_COMP_SWAP },
	{ FA, 4, 10, IBV_EXP_WC_MASKED_FETCH_ADD },
	{ CS, 8, 9, IBV_EXP_WC_MASKED_COMP_SWAP },
	{ FA, 8, 10, IBV_EXP_WC_MASKED_FETCH_ADD },
	{ CS, 16, 9, IBV_EXP_WC_MASKED_COMP_SWAP },
	{ FA, 16, 10, IBV_EXP_WC_MASKED_FETCH_ADD },
	{ CS, 32, 9, IBV_EXP_WC_MASKED_COMP_SWAP },
	{ FA, 32, 10, IBV_EXP_WC_MASKED_FETCH_ADD },
	{ IBV_EXP_WR_ATOMIC_CMP_AND_SWP, 8, IBV_WC_COMP_SWAP,
	  IBV_EXP_WC_COMP_SWAP },
	{ IBV_EXP_WR_ATOMIC_FETCH_AND_ADD, 8, IBV_WC_FETCH_ADD,
	  IBV_EXP_WC_FETCH_ADD },
	{ IBV_EXP_WR_SEND, 0, IBV_WC_SEND, IBV_EXP_WC_SEND },
	{ IBV_EXP_WR_SEND_WITH_IMM, 0, IBV_WC_SEND, IBV_EXP_WC_SEND },
	{ IBV_EXP_WR_RDMA_READ, 0, IBV_WC_RDMA_READ, IBV_EXP_WC_RDMA_READ },
	{ IBV_EXP_WR_RDMA_WRITE, 0, IBV_WC_RDMA_WRITE,
	  IBV_EXP_WC_RDMA_WRITE },
	{ IBV_EXP_WR_RDMA_WRITE_WITH_IMM, 0, IBV_WC_RDMA_WRITE,
	  IBV_EXP_WC_RDMA_WRITE },
};

/*
 * Posts a chain of all kinds of requests. Every `step`-th one is signaled.
 */
static void completions(bool sig_all, int step, bool exp)
{
	const int n = ARRAY_SIZE(wc_rows);
	struct ibv_exp_wc exp_wcs[ARRAY_SIZE(wc_rows)];
	struct ibv_wc wcs[ARRAY_SIZE(wc_rows)];
	struct req reqs[ARRAY_SIZE(wc_rows)];
	struct ibv_qp *qp;
	int i, k, got;

	start();
	qp = mlx5_qp(n, 0, sig_all);
	for (i = 0; i < n; i++) {
		uint64_t flags = (i + 1) % step ? 0 : SIG;

		if (wc_rows[i].opcode == CS || wc_rows[i].opcode == FA) {
			init_masked(&reqs[i], wc_rows[i].opcode,
				    wc_rows[i].size, 0x1000 + i, flags, 4,
				    32 * i);
			memset(reqs[i].operands, 0, sizeof(reqs[i].operands));
			set_operands(&reqs[i], wc_rows[i].opcode,
				     wc_rows[i].size);
		} else {
			init_plain(&reqs[i], wc_rows[i].opcode, 0x1000 + i,
				   flags, 4, 32 * i);
		}
	}
	link_reqs(reqs, n);
	is_int(post(qp, reqs), 0, "completions: posted");
	is_int(to_fake_mlx5(qp)->doorbells, 1, "with one doorbell");

	if (sig_all)
		step = 1;
	got = exp ? ibv_exp_poll_cq(&mlx5_cq.cq, n, exp_wcs,
				    sizeof(exp_wcs[0])) :
		    ibv_poll_cq(&mlx5_cq.cq, n, wcs);
	is_int(got, n / step, "as many completions as signalled requests");
	for (k = 0; k < got; k++) {
		i = k * step + step - 1;
		if (exp)
			ok(exp_wcs[k].wr_id == (uint64_t)0x1000 + i &&
			   (int)exp_wcs[k].exp_opcode == wc_rows[i].exp &&
			   (!wc_rows[i].size ||
			    (int)exp_wcs[k].byte_len == wc_rows[i].size),
			   "ibv_exp_poll_cq(): completion of %d", i);
		else
			ok(wcs[k].wr_id == (uint64_t)0x1000 + i &&
			   (int)wcs[k].opcode == wc_rows[i].std &&
			   (!wc_rows[i].size ||
			    (int)wcs[k].byte_len == wc_rows[i].size),
			   "ibv_poll_cq(): completion of %d", i);
	}
	ibv_destroy_qp(qp);
}

static void test_completions(void)
{
	int step;

	for (step = 1; step <= 5; step++) {
		completions(false, step, false);
		completions(false, step, true);
	}
	completions(true, 3, false);
	completions(true, 3, true);
}

/* All requests have the same wr_id, so only their order distinguishes them. */
static void test_same_wr_id(void)
{
	struct req reqs[4];
	struct ibv_wc wcs[4];
	struct ibv_qp *qp;

	start();
	qp = mlx5_qp(8, 0, false);
	init_cs8(&reqs[0], 0, 0, 0, 0);
	init_fa8(&reqs[1], 0, SIG, 0, 8);
	init_cs8(&reqs[2], 0, SIG, 0, 16);
	init_plain(&reqs[3], IBV_EXP_WR_ATOMIC_FETCH_AND_ADD, 0, SIG, 0, 24);
	link_reqs(reqs, 4);
	is_int(post(qp, reqs), 0, "same wr_id: posted");
	is_int(ibv_poll_cq(&mlx5_cq.cq, 4, wcs), 3, "same wr_id: three");
	ok(wcs[0].opcode == WC_MASKED_FA && wcs[1].opcode == WC_MASKED_CS &&
	   wcs[2].opcode == IBV_WC_FETCH_ADD, "same wr_id: each its opcode");
	ibv_destroy_qp(qp);
}

/* Receives and other queue pairs on the same completion queue. */
static void test_others(void)
{
	struct ibv_qp *a, *b, *plain;
	struct ibv_wc wcs[8];
	struct req req;

	start();
	a = mlx5_qp(8, 0, true);
	b = mlx5_qp(8, 0, true);
	plain = ibv_create_qp(&mlx5_pd, &(struct ibv_qp_init_attr) {
			      .qp_type = IBV_QPT_RC });
	fake_mlx5.defer = true;
	init_cs8(&req, 7, SIG, 0, 0);
	is_int(post(a, &req), 0, "others: one");
	init_fa8(&req, 7, SIG, 0, 0);
	is_int(post(b, &req), 0, "others: the other");
	fake_mlx5_other(a->qp_num, &mlx5_cq, 7, IBV_WC_RECV, IBV_WC_SUCCESS);
	fake_mlx5_other(plain->qp_num, &mlx5_cq, 7, IBV_WC_RECV,
			IBV_WC_SUCCESS);
	fake_mlx5_run(b);
	fake_mlx5_run(a);
	fake_mlx5_other(a->qp_num, &mlx5_cq, 8, IBV_WC_RECV,
			IBV_WC_WR_FLUSH_ERR);
	is_int(ibv_poll_cq(&mlx5_cq.cq, 8, wcs), 5, "others: five completions");
	ok(wcs[0].opcode == IBV_WC_RECV && wcs[1].opcode == IBV_WC_RECV,
	   "others: receives are unchanged");
	ok(wcs[2].opcode == WC_MASKED_FA && wcs[2].qp_num == b->qp_num,
	   "others: each queue pair has its own order");
	ok(wcs[3].opcode == WC_MASKED_CS && wcs[3].qp_num == a->qp_num,
	   "others: and the first one's is not lost");
	ok(wcs[4].status == IBV_WC_WR_FLUSH_ERR && wcs[4].wr_id == 8,
	   "others: a receive that failed");
	is_int(ibv_poll_cq(&mlx5_cq2.cq, 8, wcs), 0,
	       "others: a completion queue without queue pairs");
	ibv_destroy_qp(a);
	ibv_destroy_qp(b);
	ibv_destroy_qp(plain);
}

/* The library finds each of many QPs. */
static void test_many(void)
{
	struct ibv_qp *qps[200];
	struct ibv_wc wc;
	struct req req;
	int i, good = 0;

	start();
	for (i = 0; i < 200; i++)
		qps[i] = mlx5_qp(8, 0, true);
	for (i = 0; i < 200; i++) {
		init_cs8(&req, 7, SIG, 0, 0);
		good += !post(qps[i], &req) &&
			ibv_poll_cq(&mlx5_cq.cq, 1, &wc) == 1 &&
			wc.opcode == WC_MASKED_CS && wc.qp_num == qps[i]->qp_num;
	}
	is_int(good, 200, "many queue pairs");
	for (i = 0; i < 200; i++)
		ibv_destroy_qp(qps[i]);
}

/* Completions that were polled without the library do not disturb the next. */
static void test_unseen(void)
{
	struct ibv_send_wr *std_bad, std = { .opcode = IBV_WR_SEND };
	struct req req;
	struct ibv_wc wc;
	struct ibv_qp *qp;
	int i, size, bad = 0;

	start();
	qp = mlx5_qp(8, 0, true);
	init_cs8(&req, 1, SIG, 0, 0);
	is_int(post(qp, &req), 0, "unseen: posted");
	is_int(fake_mlx5_poll(&mlx5_cq, 1, &wc), 1, "unseen: polled");
	fake_mlx5_other(qp->qp_num, &mlx5_cq, 1, IBV_WC_SEND, IBV_WC_SUCCESS);
	ok(ibv_poll_cq(&mlx5_cq.cq, 1, &wc) == 1 && wc.opcode == IBV_WC_SEND,
	   "unseen: the opcode of libmlx5 is kept");
	init_fa8(&req, 2, SIG, 0, 0);
	is_int(post(qp, &req), 0, "unseen: the next");
	ok(ibv_poll_cq(&mlx5_cq.cq, 1, &wc) == 1 && wc.opcode == WC_MASKED_FA,
	   "unseen: its opcode");

	/* more requests than the queue has room for */
	size = to_fake_mlx5(qp)->max_post;
	for (i = 0; i < 3 * size; i++) {
		std.wr_id = 10 + i;
		bad += ibv_post_send(qp, &std, &std_bad) != 0;
		bad += fake_mlx5_poll(&mlx5_cq, 1, &wc) != 1;
	}
	is_int(bad, 0, "unseen: ibv_post_send() continues");
	std.wr_id = 5;
	is_int(ibv_post_send(qp, &std, &std_bad), 0, "unseen: one that is seen");
	is_int(ibv_poll_cq(&mlx5_cq.cq, 1, &wc), 1, "unseen: and polled");
	init_cs8(&req, 1, SIG, 0, 0);
	is_int(post(qp, &req), 0, "unseen: the queue has room again");
	ok(ibv_poll_cq(&mlx5_cq.cq, 1, &wc) == 1 && wc.opcode == WC_MASKED_CS,
	   "unseen: the last opcode");
	ibv_destroy_qp(qp);
}

/* ---- a full send queue --------------------------------------------------- */

static void test_full(void)
{
	struct req reqs[40];
	struct ibv_wc wcs[40];
	struct ibv_exp_send_wr *bad;
	struct ibv_qp *qp;
	int i, k, size, ret;

	for (i = 0; i <= 8; i++) {
		start();
		qp = mlx5_qp(8, 0, false);
		size = to_fake_mlx5(qp)->max_post;
		/* i requests are in flight, and the chain is one too long. */
		for (k = 0; k < size + 1; k++)
			init_fa8(&reqs[k], k, SIG, 0, 8 * k);
		if (i) {
			link_reqs(reqs, i);
			is_int(post(qp, reqs), 0, "full: %d of %d", i, size);
		}
		for (k = i; k < size + 1; k++)
			init_fa8(&reqs[k], k, SIG, 0, 8 * k);
		link_reqs(reqs + i, size + 1 - i);
		bad = NULL;
		ret = ibv_exp_post_send(qp, &reqs[i].wr, &bad);
		ok(ret == ENOMEM && bad == &reqs[size].wr,
		   "full: the one too many is refused");
		is_u64(remote[0], size, "full: the others are executed");
		bad = NULL;
		ok(ibv_exp_post_send(qp, &reqs[size].wr, &bad) == ENOMEM &&
		   bad == &reqs[size].wr, "full: and again");
		is_int(ibv_poll_cq(&mlx5_cq.cq, 1, wcs), 1, "full: poll one");
		is_int(post(qp, &reqs[size]), 0, "full: now there is room");
		is_int(post(qp, &reqs[size]), ENOMEM, "full: for one");
		is_int(ibv_poll_cq(&mlx5_cq.cq, 40, wcs), size, "full: the rest");
		ibv_destroy_qp(qp);
	}
}

/* Entries of unsignaled requests are freed by the next completion. */
static void test_full_unsignalled(void)
{
	struct ibv_send_wr *std_bad, std = { .opcode = IBV_WR_SEND };
	struct ibv_exp_send_wr *bad;
	struct req reqs[40];
	struct ibv_wc wcs[40];
	struct ibv_qp *qp;
	int k, size;

	start();
	qp = mlx5_qp(8, 0, false);
	size = to_fake_mlx5(qp)->max_post;
	for (k = 0; k < size; k++)
		init_fa8(&reqs[k], k, k == size - 3 ? SIG : 0, 0, 8 * k);
	link_reqs(reqs, size);
	is_int(post(qp, reqs), 0, "unsignalled: fill");
	is_int(post(qp, &reqs[size - 1]), ENOMEM, "unsignalled: full");
	is_int(ibv_post_send(qp, &std, &std_bad), ENOMEM,
	       "unsignalled: for ibv_post_send() too");
	is_int(ibv_poll_cq(&mlx5_cq.cq, 40, wcs), 1, "unsignalled: one");
	for (k = 0; k < size; k++)
		init_fa8(&reqs[k], k, SIG, 0, 8 * k);
	link_reqs(reqs, size);
	ok(ibv_exp_post_send(qp, &reqs->wr, &bad) == ENOMEM &&
	   bad == &reqs[size - 2].wr, "unsignalled: two are still in flight");
	is_int(ibv_poll_cq(&mlx5_cq.cq, 40, wcs), size - 2,
	       "unsignalled: those that were posted");

	/* Plain requests count as well. */
	for (k = 0; k < size; k++)
		is_int(ibv_post_send(qp, &std, &std_bad), 0, "plain: %d", k);
	is_int(post(qp, &reqs[size - 1]), ENOMEM, "plain: full");
	ibv_destroy_qp(qp);
}

/* A batch that libmlx5 refuses leaves no trace. */
static void test_refused(void)
{
	static char big[512];
	struct req reqs[3];
	struct ibv_wc wcs[8];
	struct ibv_exp_send_wr *bad;
	struct ibv_qp *qp;

	start();
	qp = mlx5_qp(8, 0, false);
	init_fa8(&reqs[0], 0, SIG, 0, 0);
	init_plain(&reqs[1], IBV_EXP_WR_RDMA_WRITE, 1,
		   SIG | IBV_EXP_SEND_INLINE, 1, 0);
	reqs[1].sge.addr = (uintptr_t)big;
	reqs[1].sge.length = sizeof(big);
	init_cs8(&reqs[2], 2, SIG, 0, 8);
	link_reqs(reqs, 3);
	ok(ibv_exp_post_send(qp, &reqs->wr, &bad) == ENOMEM &&
	   bad == &reqs[1].wr, "refused: too much inline data");
	is_u64(remote[0], 1, "refused: the request before it is executed");
	reqs[0].wr.next = NULL;
	is_int(post(qp, &reqs[2]), 0, "refused: the next");
	is_int(ibv_poll_cq(&mlx5_cq.cq, 8, wcs), 2, "refused: two completions");
	ok(wcs[0].wr_id == 0 && wcs[0].opcode == WC_MASKED_FA && wcs[1].wr_id == 2 &&
	   wcs[1].opcode == WC_MASKED_CS, "refused: each its opcode");
	ibv_destroy_qp(qp);
}

/* ---- errors -------------------------------------------------------------- */

static void test_errors(void)
{
	static const struct {
		const char *name;
		int rkey, lkey, length, shift;
		enum ibv_wc_status want;
	} rows[] = {
		{ "good", RKEY, LKEY, 8, 0, IBV_WC_SUCCESS },
		{ "rkey", 1, LKEY, 8, 0, IBV_WC_REM_ACCESS_ERR },
		{ "lkey", RKEY, 1, 8, 0, IBV_WC_LOC_PROT_ERR },
		{ "short buffer", RKEY, LKEY, 7, 0, IBV_WC_LOC_LEN_ERR },
		{ "misaligned", RKEY, LKEY, 8, 4, IBV_WC_REM_INV_REQ_ERR },
	};
	struct req reqs[5];
	struct ibv_wc wcs[8];
	struct ibv_qp *qp;
	size_t i;
	int n;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		start();
		qp = mlx5_qp(8, 0, false);
		init_fa8(&reqs[0], 10, SIG, 0, 0);
		init_fa8(&reqs[1], 11, 0, 0, 8);
		init_fa8(&reqs[2], 12, 0, 0, 16);
		init_cs8(&reqs[3], 13, 0, 0, 24);
		init_cs8(&reqs[4], 14, SIG, 0, 32);
		reqs[2].wr.ext_op.masked_atomics.rkey = rows[i].rkey;
		reqs[2].wr.ext_op.masked_atomics.remote_addr += rows[i].shift;
		reqs[2].sge.lkey = rows[i].lkey;
		reqs[2].sge.length = rows[i].length;
		link_reqs(reqs, 5);
		is_int(post(qp, reqs), 0, "error: %s: posted", rows[i].name);
		memset(wcs, 0, sizeof(wcs));
		n = ibv_poll_cq(&mlx5_cq.cq, 8, wcs);
		ok(wcs[0].status == IBV_WC_SUCCESS && wcs[0].opcode == WC_MASKED_FA,
		   "error: %s: the requests before it", rows[i].name);
		if (rows[i].want == IBV_WC_SUCCESS) {
			ok(n == 2 && wcs[1].wr_id == 14 && wcs[1].opcode == WC_MASKED_CS,
			   "error: %s: no error", rows[i].name);
		} else {
			is_int(n, 4, "error: %s: two more are flushed",
			       rows[i].name);
			ok(wcs[1].status == rows[i].want &&
			   wcs[1].wr_id == 12, "error: %s: status and wr_id",
			   rows[i].name);
			ok(wcs[2].status == IBV_WC_WR_FLUSH_ERR &&
			   wcs[2].wr_id == 13 && wcs[3].wr_id == 14,
			   "error: %s: flushed", rows[i].name);
		}
		reqs[0].wr.next = NULL;
		for (n = 0; !post(qp, &reqs[0]); n++)
			;
		is_int(n, to_fake_mlx5(qp)->max_post,
		       "error: %s: all slots are free again", rows[i].name);
		ibv_destroy_qp(qp);
	}
}

/* After a reset, earlier requests and errors have no effect. */
static void test_reset(void)
{
	struct req reqs[40];
	struct ibv_wc wcs[40];
	struct ibv_qp *qp;
	int round, k, size;

	start();
	qp = mlx5_qp(8, 0, false);
	size = to_fake_mlx5(qp)->max_post;
	for (round = 0; round < 3; round++) {
		fake_mlx5.defer = true;
		for (k = 0; k < size; k++)
			init_cs8(&reqs[k], 0, 0, 0, 8 * k);
		link_reqs(reqs, size);
		is_int(post(qp, reqs), 0, "reset: fill");
		if (round == 1) {
			reqs[0].wr.next = NULL;
			is_int(fake_mlx5_modify(qp, IBV_QPS_ERR), 0,
			       "reset: another state");
			is_int(post(qp, reqs), ENOMEM, "reset: ERR frees no entry");
			fake_mlx5.modify_errno = EINVAL;
			is_int(fake_mlx5_modify(qp, IBV_QPS_RESET), EINVAL,
			       "reset: fails");
			is_int(post(qp, reqs), ENOMEM, "reset: a failed reset frees no entry");
			fake_mlx5.modify_errno = 0;
		}
		is_int(fake_mlx5_modify(qp, IBV_QPS_RESET), 0, "reset");
		fake_mlx5.defer = false;
		init_fa8(&reqs[0], 0, SIG, 0, 0);
		is_int(post(qp, reqs), 0, "reset: there is room");
		ok(ibv_poll_cq(&mlx5_cq.cq, 40, wcs) == 1 &&
		   wcs[0].opcode == WC_MASKED_FA, "reset: the opcode is the new one's");
		if (round == 0) {
			init_fa8(&reqs[0], 0, SIG, 0, 0);
			reqs[0].sge.lkey = 1;
			is_int(post(qp, reqs), 0, "reset: one that fails");
			ok(ibv_poll_cq(&mlx5_cq.cq, 40, wcs) == 1 &&
			   wcs[0].status == IBV_WC_LOC_PROT_ERR,
			   "reset: with an error");
			is_int(fake_mlx5_modify(qp, IBV_QPS_RESET), 0,
			       "reset: after it");
		}
	}
	ibv_destroy_qp(qp);
}

/* ---- chance -------------------------------------------------------------- */

#define ROUNDS 20000

struct model {
	uint64_t wr_id;
	int opcode, size;	/* of wc */
};

/*
 * Requests of every size and kind, signaled or not, in chains or with
 * ibv_post_send(), on a queue that is often full and wraps at every position.
 * The completions are exactly those of the model, which counts the free entries
 * itself.
 */
static void test_random(void)
{
	static struct model sent[1 << 16];
	static struct req reqs[4];
	uint32_t head = 0, tail = 0, outstanding = 0, max, errors = 0;
	uint32_t refused = 0, done = 0;
	struct ibv_wc wcs[3];
	struct ibv_qp *qp;
	uint64_t wr_id = 0;
	int i, k, n;

	start();
	qp = mlx5_qp(12, 0, false);
	max = to_fake_mlx5(qp)->max_post;
	for (i = 0; i < ROUNDS; i++) {
		int chain = 1 + random_next(&seed) % 4;
		struct ibv_exp_send_wr *bad = NULL;
		int ret;

		for (k = 0; k < chain; k++) {
			/*
			 * Not all requests of a full queue may be unsignaled.
			 */
			bool sig = !(random_next(&seed) % 3) || wr_id % max == 0;
			int row = random_next(&seed) % ARRAY_SIZE(wc_rows);
			struct model *m;

			m = &sent[(uint32_t)wr_id % ARRAY_SIZE(sent)];
			*m = (struct model) { sig ? wr_id : ~0ull,
				wc_rows[row].std, wc_rows[row].size };
			if (row < 8) {
				init_masked(&reqs[k], wc_rows[row].opcode,
					    wc_rows[row].size, wr_id,
					    sig ? SIG : 0, 4, 64);
				memset(reqs[k].operands, 0,
				       sizeof(reqs[k].operands));
				set_operands(&reqs[k], wc_rows[row].opcode,
					     wc_rows[row].size);
			} else {
				init_plain(&reqs[k], wc_rows[row].opcode, wr_id,
					   sig ? SIG : 0, 4, 64);
			}
			wr_id++;
		}
		link_reqs(reqs, chain);
		ret = ibv_exp_post_send(qp, &reqs->wr, &bad);
		n = chain;
		if (ret) {
			for (n = 0; bad != &reqs[n].wr; n++)
				;
			refused++;
		}
		outstanding = tail - head;
		if (outstanding + chain <= max ? ret : ret != ENOMEM)
			errors++;
		if (outstanding + n != (outstanding + chain <= max ?
					outstanding + chain : max))
			errors++;
		tail += n;
		wr_id = tail;

		for (n = random_next(&seed) % 4; n; n--) {
			if (ibv_poll_cq(&mlx5_cq.cq, 1, wcs) != 1)
				break;
			while (sent[head % ARRAY_SIZE(sent)].wr_id == ~0ull)
				head++;
			if (wcs->wr_id != head || wcs->status ||
			    (int)wcs->opcode !=
			    sent[head % ARRAY_SIZE(sent)].opcode ||
			    (sent[head % ARRAY_SIZE(sent)].size &&
			     (int)wcs->byte_len !=
			     sent[head % ARRAY_SIZE(sent)].size))
				errors++;
			head++;
			done++;
		}
	}
	is_int(errors, 0, "random: all as in the model");
	ok(refused > 500 && done > 10000 && to_fake_mlx5(qp)->cur_post > 1 << 16,
	   "random: %u refused, %u completions, %u basic blocks", refused, done,
	   to_fake_mlx5(qp)->cur_post);
	ibv_destroy_qp(qp);
}

/* ---- lifetimes ----------------------------------------------------------- */

/* A QP gets the address of one that was destroyed with requests in flight. */
static void test_successor(void)
{
	static union {
		struct fake_mlx5_qp qp;
		char bytes[1 << 17];
	} place;
	struct ibv_wc wcs[4];
	struct ibv_qp *qp;
	struct req req;

	start();
	fake.reuse = &place.qp.f;
	fake_mlx5.defer = true;
	qp = mlx5_qp(8, 0, true);
	init_cs8(&req, 1, SIG, 0, 0);
	is_int(post(qp, &req), 0, "successor: in flight");
	ibv_destroy_qp(qp);
	fake_mlx5.defer = false;
	qp = mlx5_qp(8, 0, true);
	init_fa8(&req, 1, SIG, 0, 0);
	is_int(post(qp, &req), 0, "successor: at the same address");
	ok(ibv_poll_cq(&mlx5_cq.cq, 4, wcs) == 1 && wcs[0].opcode == WC_MASKED_FA,
	   "successor: has its own opcode");

	ibv_destroy_qp(qp);
	fake.reuse = NULL;
}

/*
 * A plain QP has the number of a QP that was destroyed with requests in flight.
 * Its completions must not be attributed to these requests.
 */
static void test_number(bool seen)
{
	struct ibv_send_wr *std_bad, std = { .opcode = IBV_WR_SEND };
	const char *name = seen ? "destroyed here" : "destroyed elsewhere";
	struct ibv_qp *qp, *other;
	struct ibv_wc wc;
	struct req req;
	uint32_t number;

	start();
	qp = mlx5_qp(8, BE, true);
	number = qp->qp_num;
	remote[0] = 0x0123456789abcdef;
	fake_mlx5.defer = true;
	init_cs8(&req, 1, SIG, 0, 0);
	is_int(post(qp, &req), 0, "%s: in flight", name);
	fake_mlx5_run(qp);
	mlx5_cq.head = mlx5_cq.tail;
	if (seen)
		is_int(exp_destroy_qp(qp, ibv_destroy_qp), 0, "%s", name);
	else
		ibv_destroy_qp(qp);

	other = ibv_create_qp(&mlx5_pd, &(struct ibv_qp_init_attr) {
			      .qp_type = IBV_QPT_RC });
	other->qp_num = number;
	other->send_cq = &mlx5_cq.cq;
	if (!seen) {
		is_int(ibv_post_send(other, &std, &std_bad), 0, "%s: posted",
		       name);
		is_int(fake_mlx5.plain_posts, 1, "%s: to libmlx5", name);
	}
	fake_mlx5_other(number, &mlx5_cq, 1, IBV_WC_SEND, IBV_WC_SUCCESS);
	ok(ibv_poll_cq(&mlx5_cq.cq, 1, &wc) == 1 && wc.opcode == IBV_WC_SEND,
	   "%s: the completion is not touched", name);
	is_u64(result(0), 0x0123456789abcdef, "%s: nor is memory", name);
	ibv_destroy_qp(other);
}

/*
 * A context that was closed and opened again begins with the calls of libmlx5.
 */
static void test_context(void)
{
	struct ibv_qp *qp;
	struct ibv_wc wc;
	struct req req;

	start();
	fake_mlx5_init();
	qp = mlx5_qp(8, 0, true);
	init_cs8(&req, 1, SIG, 0, 0);
	is_int(post(qp, &req), 0, "context: posted");
	ok(ibv_poll_cq(&mlx5_cq.cq, 1, &wc) == 1 && wc.opcode == WC_MASKED_CS,
	   "context: completions are corrected again");
	ibv_destroy_qp(qp);
}

int main(void)
{
	plan(0);
	fake_init();
	fake_mlx5_init();
	test_operations();
	test_completions();
	test_same_wr_id();
	test_others();
	test_many();
	test_unseen();
	test_full();
	test_full_unsignalled();
	test_refused();
	test_errors();
	test_reset();
	test_random();
	test_successor();
	test_number(false);
	test_number(true);
	test_context();
	return done_testing();
}
