// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Compares random emulated masked atomics and WRITEs of two queue pairs with a
 * model, while a third party changes the same word.
 */
#include "emu_cq.h"
#include "emu_req.h"

struct model {
	struct fake_qp *qp;
	int field;		/* its own field of the word */
	uint64_t value;		/* of the field, after its requests */
	uint64_t next_id;	/* to be posted */
	uint64_t next_done;
	uint64_t old[64];	/* expected results, by wr_id */
	bool is_masked[64];
	bool signaled[64];
};

#define FIELD_BITS 16
#define RANDOM_ROUNDS 20000

static uint64_t seed = 1;

static uint64_t rnd(uint64_t n)
{
	return random_next(&seed) % n;
}

static void model_post(struct model *m)
{
	uint64_t id = m->next_id, shift = m->field * FIELD_BITS;
	uint64_t flags = rnd(2) ? SIGNALED : 0, arg = rnd(4);
	uint64_t mask = 0xffffULL << shift;
	struct req r;

	m->is_masked[id % 64] = true;
	m->signaled[id % 64] = flags;
	m->old[id % 64] = m->value;
	switch (rnd(3)) {
	case 0:
		add(&r, id, flags, 0, arg << shift, 0x8000800080008000);
		break;
	case 1:
		cas(&r, id, flags, 0, arg << shift, mask, (arg + 1) << shift,
		    mask);
		break;
	default:
		init(&r, IBV_EXP_WR_RDMA_WRITE, id, flags, 8 + m->field);
		m->is_masked[id % 64] = false;
	}
	/* Each has its own buffer. */
	r.sge.addr = (uintptr_t)&fake.buf[m->field * DEPTH + id % DEPTH];
	if (post(m->qp, &r.wr))
		return;
	m->next_id++;
	if (r.wr.exp_opcode == FA)
		m->value = (m->value + arg) & 0xffff;
	else if (r.wr.exp_opcode == CS && m->value == arg)
		m->value = arg + 1;
}

static const char *model_wc(struct model *m, const struct ibv_wc *wc)
{
	uint64_t id = wc->wr_id;

	if (wc->status)
		return "a bad status";
	while (m->next_done != m->next_id && !m->signaled[m->next_done % 64])
		m->next_done++;
	if (id != m->next_done || m->next_done == m->next_id)
		return "a wrong wr_id";
	m->next_done++;
	if (m->is_masked[id % 64] &&
	    (fake.buf[m->field * DEPTH + id % DEPTH] >>
	     (m->field * FIELD_BITS) & 0xffff) != m->old[id % 64])
		return "a wrong old value";
	return NULL;
}

static void test_random(void)
{
	struct model m[2] = { };
	const char *wrong = NULL;
	struct fake_cq *cq;
	struct ibv_wc wc[4];
	uint64_t total = 0;
	int n;

	fake_reset();
	cq = new_cq();
	for (int i = 0; i < 2; i++) {
		m[i].qp = new_qp(cq, 0);
		m[i].field = i;
	}
	for (int round = 0; round < RANDOM_ROUNDS && !wrong; round++) {
		struct model *who = &m[rnd(2)];

		switch (rnd(4)) {
		case 0:
			model_post(who);
			break;
		case 1:
			if (rnd(4))
				run(who->qp);
			else
				fake.mem[0] += 1ULL << 32;	/* the third party */
			break;
		case 2:
			if (!rnd(8))
				emu_cq_tick();
			break;
		default:
			n = ibv_poll_cq(&cq->cq, 1 + rnd(4), wc);
			for (int i = 0; i < n && !wrong; i++)
				wrong = model_wc(wc[i].qp_num ==
						 m[0].qp->qp.qp_num ?
						 &m[0] : &m[1], &wc[i]);
		}
	}
	while (!wrong && (n = run_all(cq, m[0].qp, m[1].qp, wc, 1)))
		wrong = model_wc(wc->qp_num == m[0].qp->qp.qp_num ? &m[0] :
				 &m[1], wc);
	ok(!wrong, "%d random steps: %s", RANDOM_ROUNDS, wrong ? wrong : "");
	for (int i = 0; i < 2; i++) {
		while (m[i].next_done != m[i].next_id &&
		       !m[i].signaled[m[i].next_done % 64])
			m[i].next_done++;
		is_u64(m[i].next_done, m[i].next_id, "... all complete");
		is_u64(fake.mem[0] >> (m[i].field * FIELD_BITS) & 0xffff,
		       m[i].value, "... its field");
		total += m[i].next_id;
	}
	diag("%" PRIu64 " requests", total);
	ok(!emu_cq_any_busy(), "... nothing is left to do");
	drop_qp(m[0].qp);
	drop_qp(m[1].qp);
	drop_cq(cq);
}

int main(void)
{
	plan(0);
	test_random();
	return done_testing();
}
