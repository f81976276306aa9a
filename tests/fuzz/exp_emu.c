// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Fuzzes the masked atomics that libibverbs_exp emulates on a device that has
 * only standard atomics (the fake of tests/unit). The input posts valid and
 * invalid requests to two QPs, makes the device execute, fail or refuse a
 * request, changes words as another peer would, polls, and resets and destroys
 * QPs in between.
 *
 * Checks that each accepted request completes once and in order, and that none
 * succeeds after an error. If no error occurs, memory and results must match a
 * model.
 */
#include <endian.h>
#include <errno.h>

#include "cq_ex.h"
#include "emu_cq.h"
#include "fake_emu.h"
#include "input.h"
#include "masked_atomic.h"
#include "qp_table.h"

#define CS IBV_EXP_WR_EXT_MASKED_ATOMIC_CMP_AND_SWP
#define FA IBV_EXP_WR_EXT_MASKED_ATOMIC_FETCH_AND_ADD
#define BE IBV_EXP_QP_CREATE_ATOMIC_BE_REPLY

/* Each end owns OWN of the WORDS words. The last ones are shared. */
enum { MAX_STEPS = 400, MAX_CHAIN = 6, OWN = 4, IDS = 4096 };

/* One QP, and its expected results. */
struct end {
	struct fake_qp *qp;
	bool be;
	bool failed;
	bool exact;		/* no request has failed or been reset */
	uint64_t mem[OWN];
	uint64_t buf[OWN];
	uint64_t first;		/* requests before this one were reset */
	uint64_t next;
	uint64_t done;		/* requests before this one have completed */
	bool signaled[IDS];
};

static struct input in;
/* These persist, so that the library need not allocate state for each input. */
static struct fake_cq *cqs[2], *cq;
static struct fake_qp places[2];
static struct end ends[2];
static uint64_t constants[8];	/* inline data */

/* ---- the model ----------------------------------------------------------- */

static void model(struct end *e, const struct ibv_exp_send_wr *wr, int word)
{
	const struct ibv_exp_cmp_swap *cs =
		&wr->ext_op.masked_atomics.wr_data.inline_data.op.cmp_swap;
	const struct ibv_exp_fetch_add *fa =
		&wr->ext_op.masked_atomics.wr_data.inline_data.op.fetch_add;
	uint64_t *mem = &e->mem[word], old = *mem;

	switch ((int)wr->exp_opcode) {
	case CS:
		*mem = masked_cmp_swap_u64(old, cs->compare_val,
					   cs->compare_mask, cs->swap_val,
					   cs->swap_mask);
		break;
	case FA:
		*mem = masked_fetch_add_u64(old, fa->add_val,
					    fa->field_boundary);
		break;
	case IBV_EXP_WR_ATOMIC_CMP_AND_SWP:
		if (old == wr->wr.atomic.compare_add)
			*mem = wr->wr.atomic.swap;
		break;
	case IBV_EXP_WR_ATOMIC_FETCH_AND_ADD:
		*mem += wr->wr.atomic.compare_add;
		break;
	case IBV_EXP_WR_RDMA_READ:
		e->buf[word] = old;
		return;
	default:
		*mem = wr->exp_send_flags & IBV_EXP_SEND_INLINE ?
		       constants[word] : e->buf[word];
		return;
	}
	e->buf[word] = e->be ? htobe64(old) : old;
}

static void check_wc(const struct ibv_wc *wc)
{
	struct end *e = wc->qp_num == ends[1].qp->qp.qp_num ? &ends[1] : &ends[0];

	/* This is a completion of a destroyed QP. */
	if (wc->qp_num != e->qp->qp.qp_num) {
		CHECK(wc->qp_num < fake.next_qpn);
		return;
	}
	CHECK(wc->wr_id < e->next);
	if (wc->wr_id < e->first)
		return;
	CHECK(wc->wr_id >= e->done);
	if (e->failed)
		CHECK(wc->status && wc->wr_id == e->done);
	else if (!wc->status)
		CHECK(e->signaled[wc->wr_id]);
	for (; e->done < wc->wr_id; e->done++)
		CHECK(!e->signaled[e->done]);
	e->done++;
	if (wc->status) {
		e->failed = true;
		e->exact = false;
	}
}

/* ---- requests ------------------------------------------------------------ */

struct request {
	struct ibv_exp_send_wr wr;
	struct ibv_sge sges[5];
	int word;		/* among the end's own; -1: not modeled */
	bool shared;		/* uses only shared words */
};

static void aim(struct ibv_exp_send_wr *wr, uint64_t addr, uint32_t rkey)
{
	if (wr->exp_opcode == (int)CS || wr->exp_opcode == (int)FA) {
		wr->ext_op.masked_atomics.remote_addr = addr;
		wr->ext_op.masked_atomics.rkey = rkey;
	} else if (wr->exp_opcode == IBV_EXP_WR_ATOMIC_CMP_AND_SWP ||
		   wr->exp_opcode == IBV_EXP_WR_ATOMIC_FETCH_AND_ADD) {
		wr->wr.atomic.remote_addr = addr;
		wr->wr.atomic.rkey = rkey;
	} else {
		wr->wr.rdma.remote_addr = addr;
		wr->wr.rdma.rkey = rkey;
	}
}

/* Prefers values that are special for masks and fields. */
static uint64_t value(void)
{
	static const uint64_t some[] = {
		0, 1, ~0ULL, 0xffff, 0x8000800080008000, 1ULL << 63, 0xff00,
	};
	uint8_t how = take_8(&in);

	return how & 0x80 ? take_64(&in) : some[how % ARRAY_SIZE(some)];
}

static void operands(struct ibv_exp_send_wr *wr)
{
	struct ibv_exp_cmp_swap *cs =
		&wr->ext_op.masked_atomics.wr_data.inline_data.op.cmp_swap;
	struct ibv_exp_fetch_add *fa =
		&wr->ext_op.masked_atomics.wr_data.inline_data.op.fetch_add;

	switch ((int)wr->exp_opcode) {
	case CS:
		cs->compare_val = value();
		cs->compare_mask = value();
		cs->swap_val = value();
		cs->swap_mask = value();
		break;
	case FA:
		fa->add_val = value();
		fa->field_boundary = value();
		break;
	case IBV_EXP_WR_ATOMIC_CMP_AND_SWP:
	case IBV_EXP_WR_ATOMIC_FETCH_AND_ADD:
		wr->wr.atomic.compare_add = value();
		wr->wr.atomic.swap = value();
		break;
	}
}

/*
 * Makes a request invalid in one way, which the library or the device detects.
 */
static void make_wrong(struct request *r, uint64_t addr)
{
	struct ibv_exp_send_wr *wr = &r->wr;
	bool masked = wr->exp_opcode == (int)CS || wr->exp_opcode == (int)FA;

	switch (take_8(&in) % 9) {
	case 0:
		/*
		 * Only atomics need alignment. A READ or WRITE would succeed
		 * and access the next word.
		 */
		if (wr->exp_opcode >= IBV_EXP_WR_ATOMIC_CMP_AND_SWP)
			aim(wr, addr + 4, RKEY);
		break;
	case 1:
		aim(wr, addr, RKEY + 1); break;
	case 2:
		r->sges[0].lkey = LKEY + 1; break;
	case 3:
		wr->num_sge = take_8(&in) - 128; break;
	case 4:
		if (masked)
			r->sges[0].length = take_8(&in) % 8;
		break;
	case 5:
		wr->exp_send_flags ^= 1ULL << take_8(&in) % 40; break;
	case 6:
		wr->ext_op.masked_atomics.log_arg_sz = take_8(&in); break;
	case 7:
		/*
		 * Inline data longer than a word, or longer than the queue
		 * allows. Only the shared words have space for them.
		 */
		wr->exp_send_flags |= IBV_EXP_SEND_INLINE;
		aim(wr, (uintptr_t)&fake.mem[2 * OWN], RKEY);
		r->sges[0].addr = (uintptr_t)constants;
		r->sges[0].length = take_8(&in) % (sizeof(constants) + 1);
		break;
	default:
		wr->exp_opcode = take_8(&in);
	}
	r->word = -1;
}

static void make_request(struct end *e, struct request *r)
{
	static const int opcodes[] = {
		CS, FA, CS, FA, IBV_EXP_WR_RDMA_WRITE, IBV_EXP_WR_RDMA_READ,
		IBV_EXP_WR_ATOMIC_CMP_AND_SWP, IBV_EXP_WR_ATOMIC_FETCH_AND_ADD,
	};
	struct ibv_exp_send_wr *wr = &r->wr;
	uint8_t how = take_8(&in), where = take_8(&in);
	int base = (e - ends) * OWN, word = where % OWN;

	memset(r, 0xa5, sizeof(*r));
	wr->exp_opcode = opcodes[how % ARRAY_SIZE(opcodes)];
	wr->exp_send_flags = how & 8 ? IBV_EXP_SEND_SIGNALED : 0;
	wr->sg_list = r->sges;
	wr->num_sge = 1;
	wr->next = NULL;
	/* Use the shared words, and buffers that belong to no QP. */
	if ((where & 0xc0) == 0xc0)
		base = 2 * OWN;
	r->shared = base == 2 * OWN;
	r->word = r->shared ? -1 : word;
	r->sges[0] = (struct ibv_sge) {
		(uintptr_t)&fake.buf[base + word], 8, LKEY,
	};
	operands(wr);
	if (wr->exp_opcode == (int)CS || wr->exp_opcode == (int)FA) {
		wr->exp_send_flags |= IBV_EXP_SEND_EXT_ATOMIC_INLINE;
		wr->ext_op.masked_atomics.log_arg_sz = 3;
		if (how & 16) {
			/* Split the result into two pieces. */
			r->sges[0].length = 3;
			r->sges[1] = r->sges[0];
			r->sges[1].addr += 3;
			r->sges[1].length = 5;
			wr->num_sge = 2;
		}
	} else if (wr->exp_opcode == IBV_EXP_WR_RDMA_WRITE && how & 16) {
		wr->exp_send_flags |= IBV_EXP_SEND_INLINE;
		r->sges[0].addr = (uintptr_t)&constants[word];
	}
	aim(wr, (uintptr_t)&fake.mem[base + word], RKEY);
	if ((where & 0x38) == 0x38)
		make_wrong(r, (uintptr_t)&fake.mem[base + word]);
}

/* ---- steps --------------------------------------------------------------- */

static void post(struct end *e)
{
	struct ibv_exp_send_wr *bad = NULL;
	struct request rs[MAX_CHAIN];
	int n = 1 + take_8(&in) % MAX_CHAIN, i, ret;

	if (e->next + n > IDS)
		return;
	for (i = 0; i < n; i++) {
		make_request(e, &rs[i]);
		rs[i].wr.wr_id = e->next + i;
		if (i)
			rs[i - 1].wr.next = &rs[i].wr;
	}
	ret = ibv_exp_post_send(&e->qp->qp, &rs[0].wr, &bad);
	CHECK(ret >= 0);
	for (i = 0; i < n && (!ret || &rs[i].wr != bad); i++) {
		e->signaled[e->next++] = rs[i].wr.exp_send_flags &
					 IBV_EXP_SEND_SIGNALED;
		if (rs[i].word >= 0)
			model(e, &rs[i].wr, rs[i].word);
		else if (!rs[i].shared)
			e->exact = false;
	}
	if (ret)
		CHECK(i < n);
}

/* Posts with ibv_post_send(), which the library has replaced. */
static void post_std(struct end *e)
{
	uint64_t *to = &fake.buf[2 * OWN + take_8(&in) % OWN];
	struct ibv_sge sge = { (uintptr_t)to, 8, LKEY };
	/* As many SGEs as the queue pair supports. */
	struct ibv_sge list[] = { sge, sge, sge, sge };
	struct ibv_send_wr *bad = NULL, wr = {
		.wr_id = e->next,
		.opcode = take_8(&in) & 1 ? IBV_WR_RDMA_READ :
					    IBV_WR_ATOMIC_FETCH_AND_ADD,
		.send_flags = take_8(&in) & 1 ? IBV_SEND_SIGNALED : 0,
		.sg_list = list,
		.num_sge = 1,
	};

	if (e->next == IDS)
		return;
	wr.wr.atomic.remote_addr = (uintptr_t)&fake.mem[2 * OWN];
	wr.wr.rdma.remote_addr = (uintptr_t)&fake.mem[2 * OWN];
	if (wr.opcode == IBV_WR_RDMA_READ)
		wr.wr.rdma.rkey = RKEY;
	else
		wr.wr.atomic.rkey = RKEY;
	if (take_8(&in) > 250)
		wr.num_sge = take_8(&in) - 128;
	if (ibv_post_send(&e->qp->qp, &wr, &bad)) {
		CHECK(bad == &wr);
		return;
	}
	e->signaled[e->next++] = wr.send_flags & IBV_SEND_SIGNALED;
}

static void poll(int num)
{
	struct ibv_wc *wcs = malloc(num * sizeof(*wcs) + 1);
	int n = ibv_poll_cq(&cq->cq, num, wcs), i;

	CHECK(n >= 0 && n <= num);
	for (i = 0; i < n; i++)
		check_wc(&wcs[i]);
	free(wcs);
}

static void poll_exp(int num)
{
	struct ibv_exp_wc *wcs = malloc(num * sizeof(*wcs) + 1);
	struct ibv_wc wc = { };
	int n = ibv_exp_poll_cq(&cq->cq, num, wcs, sizeof(*wcs)), i;

	CHECK(n >= 0 && n <= num);
	for (i = 0; i < n; i++) {
		wc.wr_id = wcs[i].wr_id;
		wc.status = wcs[i].status;
		wc.qp_num = wcs[i].qp_num;
		check_wc(&wc);
	}
	free(wcs);
}

static void poll_ex(int num)
{
	struct ibv_poll_cq_attr attr = { };
	struct ibv_wc wc = { };

	if (cq == cqs[0] || ibv_start_poll(&cq->ex, &attr))
		return;
	do {
		wc.wr_id = cq->ex.wr_id;
		wc.status = cq->ex.status;
		wc.qp_num = ibv_wc_read_qp_num(&cq->ex);
		check_wc(&wc);
	} while (num-- && !ibv_next_poll(&cq->ex));
	ibv_end_poll(&cq->ex);
}

static void set_state(struct end *e, enum ibv_qp_state state)
{
	struct ibv_qp_attr attr = { .qp_state = state };

	CHECK(!exp_modify_qp(&e->qp->qp, &attr, IBV_QP_STATE, ibv_modify_qp));
	if (state != IBV_QPS_RESET) {
		e->exact = false;
		return;
	}
	e->exact = false;
	e->failed = false;
	e->first = e->next;
	e->done = e->next;
}

static void begin(struct end *e, bool be)
{
	uint64_t *mem = &fake.mem[(e - ends) * OWN];

	memset(e, 0, sizeof(*e));
	fake.place = &places[e - ends];
	e->qp = new_qp(cq, be ? BE : 0);
	e->be = be;
	e->exact = true;
	memcpy(e->mem, mem, sizeof(e->mem));
	memcpy(e->buf, &fake.buf[(e - ends) * OWN], sizeof(e->buf));
}

/* Destroys the QP. Completions that were not polled must not refer to it. */
static void end(struct end *e)
{
	int i;

	for (i = cq->taken; i < cq->num; i++)
		if (cq->wcs[i].qp == e->qp)
			cq->wcs[i].qp = NULL;
	fake.place = e->qp;
	drop_qp(e->qp);
}

/* Runs the device until all requests have completed, and checks the results. */
static void finish(void)
{
	struct end *e;
	bool ran;

	do {
		ran = run(ends[0].qp);
		ran |= run(ends[1].qp);
		poll(8);
	} while (ran || cq->taken != cq->num ||
		 ends[0].qp->done != ends[0].qp->posted ||
		 ends[1].qp->done != ends[1].qp->posted);
	for (int i = 0; i < 64; i++)
		poll(8);
	for (e = ends; e < ends + 2; e++) {
		while (!e->failed && e->done < e->next &&
		       !e->signaled[e->done])
			e->done++;
		CHECK(e->done == e->next);
		if (!e->exact)
			continue;
		CHECK(!memcmp(e->mem, &fake.mem[(e - ends) * OWN],
			      sizeof(e->mem)));
		CHECK(!memcmp(e->buf, &fake.buf[(e - ends) * OWN],
			      sizeof(e->buf)));
	}
	CHECK(!emu_cq_any_busy());
}

static void step(struct end *e, uint8_t what)
{
	bool be;

	switch (what % 20) {
	case 0 ... 5:
		post(e); break;
	case 6:
		post_std(e); break;
	case 7 ... 11:
		run(e->qp); break;
	case 12:
		poll(take_8(&in) % 8); break;
	case 13:
		poll_exp(take_8(&in) % 8); break;
	case 14:
		poll_ex(take_8(&in) % 8); break;
	case 15:
		emu_cq_tick(); break;
	case 16:
		ibv_req_notify_cq(&cq->cq, what & 0x40); break;
	case 17:
		/* Another peer changes a shared word. */
		fake.mem[2 * OWN + take_8(&in) % OWN] ^= value();
		break;
	case 18:
		/* The device runs out of memory until the next such step. */
		e->qp->refuse = e->qp->refuse ? 0 : ENOMEM;
		break;
	default:
		switch (take_8(&in) % 4) {
		case 0:
			set_state(e, IBV_QPS_ERR); break;
		case 1:
			set_state(e, IBV_QPS_RESET); break;
		case 2:
			be = e->be;
			end(e);
			begin(e, !be);
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int i, flags;

	if (!cq) {
		fake_reset();
		cqs[0] = new_cq();
		exp_cq_ex_hook(emu_ctx);
		cqs[1] = new_cq_ex(EXP_CQ_TIMED_FLAGS);
	}
	in = (struct input) { data, size };
	flags = take_8(&in);
	memset(fake.mem, 0, sizeof(fake.mem));
	memset(fake.buf, 0, sizeof(fake.buf));
	take(&in, fake.mem, 16);
	memcpy(constants, "inline data, of which there is more than fits in",
	       sizeof("inline data, of which there is more than fits in"));
	cq = cqs[flags >> 2 & 1];
	begin(&ends[0], flags & 1);
	begin(&ends[1], flags & 2);
	for (i = 0; i < MAX_STEPS && in.left; i++) {
		uint8_t what = take_8(&in);

		step(&ends[what >> 7], what & 0x7f);
	}
	for (i = 0; i < 2; i++)
		ends[i].qp->refuse = 0;
	finish();
	end(&ends[0]);
	end(&ends[1]);
	return 0;
}
