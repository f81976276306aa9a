// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Runs small programs of the kind that was written for MLNX_OFED, in several
 * threads on the fake mlx5 device, and checks their exact results.
 */
#include <endian.h>
#include <errno.h>

#include "fake_mlx5.h"
#include "tap.h"

#define RKEY 0x100
#define LKEY 0x200
#define THREADS 4
#define INL IBV_EXP_SEND_EXT_ATOMIC_INLINE

/* The memory of the other host. */
static struct memory {
	uint64_t locks[4];
	uint64_t guarded[4 * 16];	/* guarded by the fields of the locks */
	uint64_t counters;
	uint64_t sum, product;
	uint64_t wide[4] __attribute__((aligned(32)));
	uint32_t small[2];
} far __attribute__((aligned(32)));

struct thread {
	pthread_t thread;
	int id;
	struct ibv_qp *qp;
	struct ibv_cq *cq;
	struct fake_mlx5_cq own_cq;
	uint64_t buffer[64];
	uint64_t errors;
	uint64_t wins, tries;
};

static struct thread threads[THREADS];

static void setup(uint32_t exp_create_flags, int num_cqs)
{
	struct ibv_exp_qp_init_attr attr;
	int i;

	fake_mlx5_reset();
	memset(&far, 0, sizeof(far));
	fake_mlx5_region(&far, sizeof(far), RKEY);
	fake_mlx5_region(threads, sizeof(threads), LKEY);
	for (i = 0; i < THREADS; i++) {
		struct thread *t = &threads[i];

		memset(t, 0, sizeof(*t));
		t->id = i + 1;
		t->own_cq.cq.context = mlx5_ctx;
		t->cq = &threads[i % num_cqs].own_cq.cq;
		mlx5_init_attr(&attr, 64, exp_create_flags, false);
		attr.send_cq = t->cq;
		attr.recv_cq = t->cq;
		t->qp = ibv_exp_create_qp(mlx5_ctx, &attr);
		if (!t->qp)
			bail_out("ibv_exp_create_qp: %s", strerror(errno));
	}
}

static uint64_t run(void *(*fn)(void *), const char *name)
{
	uint64_t errors = 0;
	int i;

	for (i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i].thread, NULL, fn, &threads[i]))
			bail_out("pthread_create");
	for (i = 0; i < THREADS; i++) {
		pthread_join(threads[i].thread, NULL);
		errors += threads[i].errors;
		ibv_destroy_qp(threads[i].qp);
	}
	return is_u64(errors, 0, "%s: every completion is as expected", name);
}

static void init(struct thread *t, struct ibv_exp_send_wr *wr,
		 struct ibv_sge *sge, int opcode, int slot, uint32_t length)
{
	memset(wr, 0, sizeof(*wr));
	sge->addr = (uintptr_t)&t->buffer[slot];
	sge->length = length;
	sge->lkey = LKEY;
	wr->wr_id = slot;
	wr->exp_opcode = (enum ibv_exp_wr_opcode)opcode;
	wr->sg_list = sge;
	wr->num_sge = 1;
}

static void init_masked(struct thread *t, struct ibv_exp_send_wr *wr,
			struct ibv_sge *sge, int opcode, int slot,
			void *target, uint32_t length)
{
	init(t, wr, sge, opcode, slot, length);
	wr->exp_send_flags = INL;
	wr->ext_op.masked_atomics.log_arg_sz = __builtin_ctz(length);
	wr->ext_op.masked_atomics.remote_addr = (uintptr_t)target;
	wr->ext_op.masked_atomics.rkey = RKEY;
}

static void set_cs(struct ibv_exp_send_wr *wr, uint64_t compare,
		   uint64_t compare_mask, uint64_t swap, uint64_t swap_mask)
{
	struct ibv_exp_cmp_swap *cs =
		&wr->ext_op.masked_atomics.wr_data.inline_data.op.cmp_swap;

	cs->compare_val = compare;
	cs->compare_mask = compare_mask;
	cs->swap_val = swap;
	cs->swap_mask = swap_mask;
}

static void set_fa(struct ibv_exp_send_wr *wr, uint64_t add, uint64_t boundary)
{
	struct ibv_exp_fetch_add *fa =
		&wr->ext_op.masked_atomics.wr_data.inline_data.op.fetch_add;

	fa->add_val = add;
	fa->field_boundary = boundary;
}

/*
 * Posts a chain whose last request is signaled, and waits for its completion.
 */
static void go(struct thread *t, struct ibv_exp_send_wr *wrs, int n, int opcode)
{
	struct ibv_exp_send_wr *bad;
	struct ibv_wc wc;
	int i, got;

	for (i = 0; i + 1 < n; i++)
		wrs[i].next = &wrs[i + 1];
	wrs[n - 1].next = NULL;
	wrs[n - 1].exp_send_flags |= IBV_EXP_SEND_SIGNALED;
	if (ibv_exp_post_send(t->qp, wrs, &bad)) {
		t->errors++;
		return;
	}
	do {
		got = ibv_poll_cq(t->cq, 1, &wc);
	} while (!got);
	if (got < 0 || wc.status != IBV_WC_SUCCESS ||
	    wc.wr_id != wrs[n - 1].wr_id || (int)wc.opcode != opcode ||
	    wc.qp_num != t->qp->qp_num)
		t->errors++;
}

/*
 * A table of locks, 16 locks of 4 bits in a word. A lock is free if its field
 * is 0, and the release is chained to a WRITE of the protected data, as in
 * index structures.
 */
#define LOCK_ROUNDS 400

static void *lock_table(void *arg)
{
	struct thread *t = arg;
	struct ibv_exp_send_wr wrs[3];
	struct ibv_sge sges[3];
	uint64_t seed = t->id;
	int i;

	for (i = 0; i < LOCK_ROUNDS; i++) {
		uint64_t random = random_next(&seed);
		int lock = random & 1, shift = (random >> 1 & 3) * 4;
		uint64_t mask = 0xfull << shift;

		do {
			init_masked(t, &wrs[0], &sges[0], CS, 0,
				    &far.locks[lock], 8);
			set_cs(&wrs[0], 0, mask, (uint64_t)t->id << shift,
			       mask);
			go(t, wrs, 1, IBV_EXP_WC_MASKED_COMP_SWAP);
			t->tries++;
		} while (t->buffer[0] & mask);

		init(t, &wrs[0], &sges[0], IBV_EXP_WR_RDMA_READ, 1, 8);
		wrs[0].wr.rdma.rkey = RKEY;
		wrs[0].wr.rdma.remote_addr =
			(uintptr_t)&far.guarded[lock * 16 + shift / 4];
		go(t, wrs, 1, IBV_WC_RDMA_READ);
		t->buffer[1]++;
		init(t, &wrs[0], &sges[0], IBV_EXP_WR_RDMA_WRITE, 1, 8);
		wrs[0].wr.rdma.rkey = RKEY;
		wrs[0].wr.rdma.remote_addr =
			(uintptr_t)&far.guarded[lock * 16 + shift / 4];
		init_masked(t, &wrs[1], &sges[1], CS, 2, &far.locks[lock], 8);
		set_cs(&wrs[1], (uint64_t)t->id << shift, mask, 0, mask);
		go(t, wrs, 2, IBV_EXP_WC_MASKED_COMP_SWAP);
		if ((t->buffer[2] & mask) != (uint64_t)t->id << shift)
			t->errors++;
	}
	return NULL;
}

static void test_lock_table(void)
{
	uint64_t sum = 0, tries = 0;
	int i;

	setup(0, THREADS);
	run(lock_table, "locks");
	for (i = 0; i < 4 * 16; i++)
		sum += far.guarded[i];
	for (i = 0; i < THREADS; i++)
		tries += threads[i].tries;
	is_u64(sum, THREADS * LOCK_ROUNDS, "locks: no update is lost");
	ok(!far.locks[0] && !far.locks[1], "locks: all are free");
	ok(tries >= THREADS * LOCK_ROUNDS, "locks: %" PRIu64 " tries", tries);
}

/* A word has four 16-bit counters. One that overflows changes no other. */
#define COUNTER_ROUNDS 3000

static void *counters(void *arg)
{
	const uint64_t boundary = 0x8000800080008000;
	struct thread *t = arg;
	struct ibv_exp_send_wr wrs[8];
	struct ibv_sge sges[8];
	int i, k;

	for (i = 0; i < COUNTER_ROUNDS; i += 8) {
		for (k = 0; k < 8; k++) {
			init_masked(t, &wrs[k], &sges[k], FA, k, &far.counters,
				    8);
			set_fa(&wrs[k], 0x0007000100100021, boundary);
		}
		go(t, wrs, 8, IBV_EXP_WC_MASKED_FETCH_ADD);
		/* The thread's own requests are executed in order. */
		for (k = 1; k < 8; k++)
			if (t->buffer[k] == t->buffer[k - 1])
				t->errors++;
	}
	return NULL;
}

static void test_counters(void)
{
	const uint64_t n = THREADS * COUNTER_ROUNDS;

	setup(0, THREADS);
	run(counters, "counters");
	is_u64(far.counters, (0x21 * n & 0xffff) | (0x10 * n & 0xffff) << 16 |
	       (n & 0xffff) << 32 | (7 * n & 0xffff) << 48,
	       "counters: each has its own sum");
}

/* Long chains of all kinds of requests, of which only the last is signaled. */
#define CHAIN_ROUNDS 300

static void *chains(void *arg)
{
	struct thread *t = arg;
	struct ibv_exp_send_wr wrs[16];
	struct ibv_sge sges[16];
	int i, k, n;

	for (i = 0; i < CHAIN_ROUNDS; i++) {
		n = 1 + (i + t->id) % 15;
		for (k = 0; k < n; k++) {
			if (k % 3 == 2) {
				init(t, &wrs[k], &sges[k],
				     IBV_EXP_WR_ATOMIC_FETCH_AND_ADD, k, 8);
				wrs[k].wr.atomic.rkey = RKEY;
				wrs[k].wr.atomic.remote_addr =
					(uintptr_t)&far.product;
				wrs[k].wr.atomic.compare_add = 3;
			} else {
				init_masked(t, &wrs[k], &sges[k], FA, k,
					    &far.sum, 8);
				set_fa(&wrs[k], 1, 0);
			}
		}
		init_masked(t, &wrs[n], &sges[n], CS, n, &far.locks[3], 8);
		set_cs(&wrs[n], 0, 0, t->id, 0xff);
		t->wins += n;
		for (k = 0; k < n; k++)
			t->tries += k % 3 == 2;
		go(t, wrs, n + 1, IBV_EXP_WC_MASKED_COMP_SWAP);
	}
	return NULL;
}

static void test_chains(void)
{
	uint64_t sum = 0, product = 0, doorbells = 0;
	int i;

	setup(0, THREADS);
	for (i = 0; i < THREADS; i++)
		doorbells += to_fake_mlx5(threads[i].qp)->doorbells;
	run(chains, "chains");
	for (i = 0; i < THREADS; i++) {
		sum += threads[i].wins - threads[i].tries;
		product += 3 * threads[i].tries;
	}
	is_u64(far.sum, sum, "chains: masked additions");
	is_u64(far.product, product, "chains: plain additions");
	ok(far.locks[3] && far.locks[3] <= THREADS, "chains: the last store");
	is_u64(doorbells, 0, "chains: nothing before");
}

/*
 * As in GPI-2 and libhrd: plain atomics whose results the program byte-swaps.
 */
#define BE_ROUNDS 500

static void *repliers(void *arg)
{
	struct thread *t = arg;
	struct ibv_exp_send_wr wrs[3];
	struct ibv_sge sges[3];
	uint64_t last = 0;
	int i;

	for (i = 0; i < BE_ROUNDS; i++) {
		uint64_t old;

		init(t, &wrs[0], &sges[0], IBV_EXP_WR_ATOMIC_FETCH_AND_ADD, 0,
		     8);
		wrs[0].wr.atomic.rkey = RKEY;
		wrs[0].wr.atomic.remote_addr = (uintptr_t)&far.sum;
		wrs[0].wr.atomic.compare_add = 1;
		init_masked(t, &wrs[1], &sges[1], FA, 1, &far.sum, 8);
		set_fa(&wrs[1], 1, 0);
		init(t, &wrs[2], &sges[2], IBV_EXP_WR_RDMA_READ, 2, 8);
		wrs[2].wr.rdma.rkey = RKEY;
		wrs[2].wr.rdma.remote_addr = (uintptr_t)&far.sum;
		go(t, wrs, 3, IBV_WC_RDMA_READ);
		old = be64toh(t->buffer[0]);
		if (i && old < last + 2)
			t->errors++;
		if (be64toh(t->buffer[1]) <= old ||
		    t->buffer[2] <= be64toh(t->buffer[1]) ||
		    t->buffer[2] > 2 * THREADS * BE_ROUNDS)
			t->errors++;
		last = old;
	}
	return NULL;
}

static void test_repliers(void)
{
	setup(BE, THREADS);
	run(repliers, "replies in big-endian");
	is_u64(far.sum, 2 * THREADS * BE_ROUNDS, "replies in big-endian: sum");
}

/*
 * As in Deft: a value and a version of 16 bytes are compared and swapped
 * together.
 */
#define WIDE_ROUNDS 300

static void *wide(void *arg)
{
	uint64_t ones[2] = { ~0ull, ~0ull };
	struct thread *t = arg;
	uint64_t seen[2] = { 0, 0 }, next[2];
	struct ibv_exp_send_wr wr;
	struct ibv_sge sge;

	while (t->wins < WIDE_ROUNDS) {
		next[0] = seen[0] + t->id;
		next[1] = seen[1] + 1;
		init_masked(t, &wr, &sge, CS, 0, far.wide, 16);
		set_cs(&wr, (uintptr_t)seen, (uintptr_t)ones, (uintptr_t)next,
		       (uintptr_t)ones);
		go(t, &wr, 1, IBV_EXP_WC_MASKED_COMP_SWAP);
		if (be64toh(t->buffer[0]) == seen[0] &&
		    be64toh(t->buffer[1]) == seen[1])
			t->wins++;
		else
			t->tries++;
		seen[0] = be64toh(t->buffer[0]);
		seen[1] = be64toh(t->buffer[1]);
	}
	return NULL;
}

static void test_wide(void)
{
	setup(0, THREADS);
	run(wide, "16 bytes");
	is_u64(far.wide[0], (1 + 2 + 3 + 4) * WIDE_ROUNDS, "16 bytes: values");
	is_u64(far.wide[1], THREADS * WIDE_ROUNDS, "16 bytes: versions");
	is_u64(far.wide[2], 0, "16 bytes: and no more");
}

/* A CQ of two threads. Each may poll the completions of the other. */
#define SHARED_ROUNDS 2000

static uint64_t completed[THREADS + 1];

static void *shared(void *arg)
{
	struct thread *t = arg;
	struct ibv_exp_send_wr wr, *bad;
	struct ibv_sge sge;
	struct ibv_wc wc;
	uint64_t mine;
	int i, ret;

	for (i = 0; i < SHARED_ROUNDS; i++) {
		init_masked(t, &wr, &sge, i & 1 ? CS : FA, 0,
			    i & 1 ? &far.locks[0] : &far.sum, 8);
		if (i & 1)
			set_cs(&wr, 0, 0, 1, 1);
		else
			set_fa(&wr, 1, 0);
		wr.wr_id = (uint64_t)t->id << 32 | i;
		wr.exp_send_flags |= IBV_EXP_SEND_SIGNALED;
		ret = ibv_exp_post_send(t->qp, &wr, &bad);
		if (ret == ENOMEM)
			i--;
		else if (ret)
			t->errors++;
		while (ibv_poll_cq(t->cq, 1, &wc) == 1) {
			__atomic_add_fetch(&completed[wc.wr_id >> 32], 1,
					   __ATOMIC_RELAXED);
			if (wc.status || (int)wc.opcode !=
			    (wc.wr_id & 1 ? IBV_EXP_WC_MASKED_COMP_SWAP :
			     IBV_EXP_WC_MASKED_FETCH_ADD))
				t->errors++;
		}
	}
	do {
		mine = __atomic_load_n(&completed[t->id], __ATOMIC_RELAXED);
		if (ibv_poll_cq(t->cq, 1, &wc) == 1)
			__atomic_add_fetch(&completed[wc.wr_id >> 32], 1,
					   __ATOMIC_RELAXED);
	} while (mine < SHARED_ROUNDS);
	return NULL;
}

static void test_shared(void)
{
	int i;

	setup(0, 2);
	run(shared, "shared completion queues");
	for (i = 1; i <= THREADS; i++)
		is_u64(completed[i], SHARED_ROUNDS,
		       "shared completion queues: each its own number");
	is_u64(far.sum, THREADS * SHARED_ROUNDS / 2,
	       "shared completion queues: sum");
}

int main(void)
{
	plan(0);
	fake_init();
	fake_mlx5_init();
	test_lock_table();
	test_counters();
	test_chains();
	test_repliers();
	test_wide();
	test_shared();
	return done_testing();
}
