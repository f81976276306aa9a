// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Proves that locks and counters in device memory, as index structures use
 * them, work with the experimental verbs. The responder has the memory. The
 * masked atomics of the requester are native or emulated. The devices are
 * $MXE_A and $MXE_B.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <infiniband/verbs_exp.h>

#include "tap.h"
#include "vt.h"

#define THREADS 3
#define ROUNDS 50
#define FIELD(n, value) ((uint64_t)(value) << (16 * (n)))

/* Offsets in device memory. */
enum { LOCKS = 0, FIELDS = 8, GUARDED = 16, DM_LEN = 64 };

struct worker {
	struct vt_pair p;
	uint32_t rkey;
	int me;
	const char *wrong;
};

static atomic_bool failed;	/* a worker, which may hold a lock */

static bool request(struct worker *w, struct vt_wr *wr, int slot)
{
	struct ibv_sge sge = vt_sge(&w->p.a, 8 * slot, 8);
	struct ibv_wc wc;

	wr->via = VT_EXP;
	wr->sge = &sge;
	wr->num_sge = 1;
	wr->rkey = w->rkey;
	return vt_do(&w->p.a, wr, &wc) == IBV_WC_SUCCESS;
}

/*
 * Swaps the bits of mask from one value to another. The old value is in slot 0.
 */
static bool swap_lock(struct worker *w, uint64_t from, uint64_t to,
		      uint64_t mask)
{
	struct vt_wr wr = {
		.op = VT_MCAS, .raddr = LOCKS, .compare_add = from, .swap = to,
		.compare_mask = mask, .swap_mask = mask,
	};

	return request(w, &wr, 0);
}

static bool rdma(struct worker *w, enum vt_opcode op, uint64_t at)
{
	struct vt_wr wr = { .op = op, .raddr = at };

	return request(w, &wr, 1);
}

static bool count_field(struct worker *w)
{
	struct vt_wr wr = {
		.op = VT_MFADD, .raddr = FIELDS,
		.compare_add = FIELD(w->me, 0x1001),
		.compare_mask = 0x8000800080008000,
	};

	return request(w, &wr, 2);
}

static const char *one_round(struct worker *w, int round)
{
	int n = (w->me + round) & 1;
	uint64_t mask = FIELD(n, 0xffff), mine = FIELD(n, w->me + 1);

	do {
		if (failed || !swap_lock(w, 0, mine, mask))
			return "taking a lock";
	} while (*vt_word(&w->p.a, 0) & mask);
	if (!rdma(w, VT_READ, GUARDED + 8 * n))
		return "reading the guarded word";
	++*vt_word(&w->p.a, 8);
	if (!rdma(w, VT_WRITE, GUARDED + 8 * n))
		return "writing it";
	if (!swap_lock(w, mine, 0, mask))
		return "releasing a lock";
	if ((*vt_word(&w->p.a, 0) & mask) != mine)
		return "the lock had another holder";
	return count_field(w) ? NULL : "counting";
}

static void *work(void *arg)
{
	struct worker *w = arg;
	int i;

	for (i = 0; i < ROUNDS && !w->wrong; i++)
		w->wrong = one_round(w, i);
	if (w->wrong)
		failed = true;
	return NULL;
}

static void copy_dm(struct ibv_exp_dm *dm, uint64_t *host, int dir)
{
	struct ibv_exp_memcpy_dm_attr copy = {
		.memcpy_dir = dir, .host_addr = host, .length = DM_LEN,
	};
	int err = ibv_exp_memcpy_dm(dm, &copy);

	if (err)
		vt_bail("ibv_exp_memcpy_dm: %s", strerror(err));
}

static struct ibv_mr *reg_dm(struct vt_dev *dev, struct ibv_exp_dm *dm)
{
	struct ibv_exp_reg_mr_in in = {
		.pd = dev->pd, .length = DM_LEN, .comp_mask = IBV_EXP_REG_MR_DM,
		.exp_access = VT_ACCESS_ALL, .dm = dm,
	};
	struct ibv_mr *mr = ibv_exp_reg_mr(&in);

	if (!mr)
		vt_bail("ibv_exp_reg_mr: %s", strerror(errno));
	return mr;
}

static void run(struct vt_dev *a, struct vt_dev *b, uint32_t rkey)
{
	static struct worker workers[THREADS];
	struct vt_conf conf = vt_defaults();
	pthread_t threads[THREADS];
	int i;

	conf.exp = true;
	for (i = 0; i < THREADS; i++) {
		workers[i].me = i;
		workers[i].rkey = rkey;
		vt_pair_open(&workers[i].p, a, b, &conf);
	}
	for (i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, work, &workers[i]))
			vt_bail("pthread_create");
	for (i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		ok(!workers[i].wrong, "requester %d: %s", i,
		   workers[i].wrong ? workers[i].wrong : "all done");
		vt_pair_close(&workers[i].p);
	}
}

int main(void)
{
	struct ibv_exp_alloc_dm_attr attr = { .length = DM_LEN };
	struct vt_dev *a = vt_open(vt_name_a());
	struct vt_dev *b = vt_open(vt_name_b());
	uint64_t words[DM_LEN / 8] = { 0 };
	struct ibv_exp_dm *dm;
	struct ibv_mr *mr;

	plan(0);
	dm = ibv_exp_alloc_dm(b->ctx, &attr);
	if (!dm)
		vt_bail("ibv_exp_alloc_dm: %s", strerror(errno));
	mr = reg_dm(b, dm);
	copy_dm(dm, words, IBV_EXP_DM_CPY_TO_DEVICE);
	run(a, b, mr->rkey);
	copy_dm(dm, words, IBV_EXP_DM_CPY_TO_HOST);
	is_u64(words[LOCKS / 8], 0, "all locks are free");
	is_u64(words[GUARDED / 8] + words[GUARDED / 8 + 1], THREADS * ROUNDS,
	       "the guarded words were changed by one holder at a time");
	is_u64(words[FIELDS / 8],
	       FIELD(0, 0x1001 * ROUNDS & 0xffff) |
	       FIELD(1, 0x1001 * ROUNDS & 0xffff) |
	       FIELD(2, 0x1001 * ROUNDS & 0xffff), "each field has its sum");
	is_int(ibv_dereg_mr(mr), 0, "ibv_dereg_mr");
	is_int(ibv_exp_free_dm(dm), 0, "ibv_exp_free_dm");
	vt_close(b);
	vt_close(a);
	return done_testing();
}
