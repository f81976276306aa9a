// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Measures one operation in one loop for all tests, which differ in the number
 * of queue pairs, the number of operations in flight and their size.
 *
 * All atomics operate on one word.  A lane is a requester that owns a part of
 * it:  the whole word for standard atomics, one field for masked ones.  Each
 * operation increments the count in that part.  The final word shows whether
 * each operation was executed exactly once, and each old value whether the
 * operations were executed in order.
 */
#include <errno.h>
#include <signal.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#include <masked_atomic.h>

#include "clock.h"
#include "endpoint.h"
#include "multi.h"
#include "options.h"
#include "result.h"
#include "run.h"
#include "session.h"
#include "stats.h"
#include "status.h"

/* Fields of a word. */
#define PERF_MAX_LANES 64

struct request {
	enum perf_op op;	/* READ and CAS also emulate masked atomics */
	uint64_t offset;	/* bytes, in the local buffer */
	uint32_t len;
	uint64_t raddr;
	uint64_t compare_add;
	uint64_t swap;
	uint64_t compare_mask;	/* PERF_MFADD: the boundaries */
	uint64_t swap_mask;
};

struct slot {
	struct request req;
	uint64_t began;
	uint64_t expect;	/* lane's count before the operation */
	uint32_t index;		/* of the slot; also the wr_id */
	uint32_t qp;
	uint32_t lane;
	bool used;
};

struct lane {
	uint64_t count;
	uint64_t guess;		/* assumed value of the whole word */
};

struct run {
	struct perf_endpoint *ep;
	struct perf_endpoint *responder;
	const struct perf_address *peer;
	const struct perf_options *o;
	enum perf_op op;
	enum perf_how how;
	bool tsc;
	uint32_t batch;
	bool optimistic;	/* compare-and-swaps may fail and be repeated */
	uint32_t field_bits;
	uint64_t boundaries;
	uint64_t random;	/* state of renew_masks() */
	uint64_t posts;
	uint64_t writes;	/* PERF_BESIDE: completed WRITEs */
	uint64_t done;
	struct slot *slots;	/* `depth` of each queue pair */
	struct slot **batch_slots;
	struct ibv_send_wr *wr;
	struct ibv_sge *sge;
	uint32_t *free;		/* a stack for each queue pair */
	uint32_t num_free[PERF_MAX_QPS];
	uint64_t sent[PERF_MAX_QPS];
	struct ibv_qp *unrung[PERF_MAX_QPS];	/* with posted requests */
	uint32_t num_unrung;
	struct lane lanes[PERF_MAX_LANES];
	uint32_t num_lanes;
	/*
	 * The first measured_qps queue pairs have operations that are measured,
	 * those up to end_qps have WRITEs, and the rest are idle.
	 */
	uint32_t measured_qps;
	uint32_t end_qps;
};

/* Set by the handler of SIGALRM.  Accessed atomically. */
static sig_atomic_t tick;

static void on_alarm(int signal)
{
	(void)signal;
	__atomic_store_n(&tick, 1, __ATOMIC_RELAXED);
}

static int wrong(const struct run *r, const char *what, uint64_t got,
		 uint64_t want)
{
	fprintf(stderr,
		"mxe-perf: %s: %s is 0x%llx instead of 0x%llx after %llu operations\n",
		perf_op_name[r->op], what, (unsigned long long)got,
		(unsigned long long)want, (unsigned long long)r->done);
	return STATUS_FAILED;
}

/* ---- posting ------------------------------------------------------------- */

static inline __attribute__((always_inline)) void
build(struct run *r, uint32_t qp, const struct request *q, uint64_t wr_id)
{
	struct perf_endpoint *ep = r->ep;
	struct ibv_qp_ex *qpx = ep->qpx[qp];
	uint32_t rkey = r->peer->rkey;

	qpx->wr_id = wr_id;
	qpx->wr_flags = IBV_SEND_SIGNALED;
	switch (q->op) {
	case PERF_WRITE:
		ibv_wr_rdma_write(qpx, rkey, q->raddr);
		break;
	case PERF_READ:
		ibv_wr_rdma_read(qpx, rkey, q->raddr);
		break;
	case PERF_SEND:
		ibv_wr_send(qpx);
		break;
	case PERF_CAS:
		ibv_wr_atomic_cmp_swp(qpx, rkey, q->raddr, q->compare_add,
				      q->swap);
		break;
	case PERF_FADD:
		ibv_wr_atomic_fetch_add(qpx, rkey, q->raddr, q->compare_add);
		break;
	case PERF_MCAS:
		mxedv_wr_masked_atomic_cmp_swp(ep->mqp[qp], rkey, q->raddr,
					       q->compare_add, q->compare_mask,
					       q->swap, q->swap_mask);
		break;
	default:
		mxedv_wr_masked_atomic_fetch_add(ep->mqp[qp], rkey, q->raddr,
						 q->compare_add,
						 q->compare_mask);
	}
	ibv_wr_set_sge(qpx, ep->mr->lkey, (uintptr_t)ep->buf + q->offset,
		       q->len);
}

static void describe(struct run *r, const struct request *q, uint64_t wr_id,
		     uint32_t i, bool last)
{
	static const enum ibv_wr_opcode opcodes[] = {
		[PERF_WRITE] = IBV_WR_RDMA_WRITE,
		[PERF_READ] = IBV_WR_RDMA_READ,
		[PERF_SEND] = IBV_WR_SEND,
		[PERF_CAS] = IBV_WR_ATOMIC_CMP_AND_SWP,
		[PERF_FADD] = IBV_WR_ATOMIC_FETCH_AND_ADD,
	};
	struct ibv_send_wr *wr = &r->wr[i];

	r->sge[i] = (struct ibv_sge){
		.addr = (uintptr_t)r->ep->buf + q->offset,
		.length = q->len,
		.lkey = r->ep->mr->lkey,
	};
	wr->wr_id = wr_id;
	wr->next = last ? NULL : wr + 1;
	wr->sg_list = &r->sge[i];
	wr->num_sge = 1;
	wr->opcode = opcodes[q->op];
	wr->send_flags = IBV_SEND_SIGNALED;
	if (q->op == PERF_CAS || q->op == PERF_FADD) {
		wr->wr.atomic.remote_addr = q->raddr;
		wr->wr.atomic.rkey = r->peer->rkey;
		wr->wr.atomic.compare_add = q->compare_add;
		wr->wr.atomic.swap = q->swap;
	} else {
		wr->wr.rdma.remote_addr = q->raddr;
		wr->wr.rdma.rkey = r->peer->rkey;
	}
}

static __attribute__((noinline)) int ring_unrung(struct run *r)
{
	int err = mxedv_ring_doorbells(r->ep->dev.ctx, r->unrung,
				       r->num_unrung);

	r->num_unrung = 0;
	if (!err)
		return 0;
	fprintf(stderr, "mxe-perf: mxedv_ring_doorbells: %s\n", strerror(err));
	return STATUS_FAILED;
}

/* Rings for the posted requests if posting does not (--one-doorbell). */
static inline int ring(struct run *r)
{
	return r->num_unrung ? ring_unrung(r) : 0;
}

static int ring_later(struct run *r, struct ibv_qp *qp)
{
	if (r->num_unrung && r->unrung[r->num_unrung - 1] == qp)
		return 0;
	r->unrung[r->num_unrung++] = qp;
	return r->num_unrung == PERF_MAX_QPS ? ring(r) : 0;
}

static __attribute__((cold)) int cannot_post(enum perf_op op, int err)
{
	fprintf(stderr, "mxe-perf: cannot post %s: %s\n", perf_op_name[op],
		strerror(err));
	return STATUS_FAILED;
}

/* Masked operations can be posted by the builders only. */
static bool by_builders(const struct run *r, uint32_t qp, enum perf_op op)
{
	return r->ep->qpx[qp] && (!r->o->post_send || op >= PERF_MCAS);
}

/*
 * Posts n slots.  *began is the time before the first request is built.
 * Inline, so that neither its own call nor the choice of the way to post is
 * measured.
 */
static inline __attribute__((always_inline)) int
post_timed(struct run *r, uint32_t qp, struct slot **slots, uint32_t n,
	   uint64_t *began)
{
	struct ibv_qp_ex *qpx = r->ep->qpx[qp];
	struct ibv_send_wr *bad;
	int err;

	r->posts += n;
	if (by_builders(r, qp, slots[0]->req.op)) {
		uint32_t i = 0;

		*began = perf_now(r->tsc);
		ibv_wr_start(qpx);
		do
			build(r, qp, &slots[i]->req, slots[i]->index);
		while (++i < n);
		err = ibv_wr_complete(qpx);
	} else {
		*began = perf_now(r->tsc);
		for (uint32_t i = 0; i < n; i++)
			describe(r, &slots[i]->req, slots[i]->index, i,
				 i == n - 1);
		err = ibv_post_send(r->ep->qp[qp], r->wr, &bad);
	}
	if (err)
		return cannot_post(slots[0]->req.op, err);
	return r->o->one_doorbell ? ring_later(r, r->ep->qp[qp]) : 0;
}

static int post(struct run *r, uint32_t qp, struct slot **slots, uint32_t n)
{
	uint64_t unused;

	return post_timed(r, qp, slots, n, &unused);
}

/* ---- operations ---------------------------------------------------------- */

static uint64_t field_mask(const struct run *r)
{
	return r->field_bits == 64 ? ~0ull : (1ull << r->field_bits) - 1;
}

static uint32_t field_shift(const struct run *r, uint32_t lane)
{
	return r->field_bits == 64 ? 0 : lane * r->field_bits;
}

/*
 * Gives the request masks that no other request has, and that do not change its
 * result. A masked fetch-and-add gets boundaries outside the field, where it
 * adds nothing. A masked compare-and-swap compares only some bits of the field,
 * and swaps those that change and some others.
 */
static void renew_masks(struct run *r, struct request *q, uint64_t field)
{
	r->random = r->random * 6364136223846793005ull + 1442695040888963407ull;
	if (r->op == PERF_MFADD) {
		q->compare_mask |= r->random & ~field;
		return;
	}
	q->compare_mask &= r->random >> 32 | r->random << 32;
	q->swap_mask &= (q->compare_add ^ q->swap) | r->random >> 16;
}

/* Makes the request increment the lane's count. */
static void count_up(struct run *r, struct slot *s)
{
	struct lane *lane = &r->lanes[s->lane];
	uint64_t mask = field_mask(r);
	uint32_t shift = field_shift(r, s->lane);
	struct request *q = &s->req;

	s->expect = lane->count;
	if (r->op == PERF_FADD || r->op == PERF_MFADD) {
		q->compare_add = 1ull << shift;
		q->compare_mask = r->boundaries;
	} else {
		q->compare_add = (s->expect & mask) << shift;
		q->swap = ((s->expect + 1) & mask) << shift;
		q->compare_mask = mask << shift;
		q->swap_mask = mask << shift;
	}
	if (r->o->new_masks)
		renew_masks(r, q, mask << shift);
	lane->count++;
}

/*
 * Makes the request a CMP_SWAP that emulates the operation if the guess is
 * right.
 */
static void attempt(struct run *r, struct slot *s)
{
	struct lane *lane = &r->lanes[s->lane];
	uint64_t field = field_mask(r) << field_shift(r, s->lane);
	uint64_t one = 1ull << field_shift(r, s->lane);
	uint64_t old = lane->guess;

	s->req.op = PERF_CAS;
	if (r->op == PERF_MFADD) {
		s->req.swap = masked_fetch_add_u64(old, one, r->boundaries);
	} else if (r->op == PERF_MCAS) {
		uint64_t compare = s->expect << field_shift(r, s->lane) & field;
		uint64_t swap = (s->expect + 1) << field_shift(r, s->lane);

		old = (old & ~field) | compare;
		s->req.swap = masked_cmp_swap_u64(old, compare, field, swap,
						  field);
	} else {
		s->req.swap = old + 1;
	}
	s->req.compare_add = old;
}

static uint64_t place(const struct run *r, const struct slot *s)
{
	uint64_t index = s->index;

	return (index / r->ep->depth * 2 * r->ep->depth +
		index % r->ep->depth) * r->ep->stride;
}

static void prepare(struct run *r, struct slot *s)
{
	uint64_t at = place(r, s);
	uint64_t number = r->sent[s->qp]++;
	uint32_t stamp = r->ep->size < 8 ? r->ep->size : 8;

	s->used = true;
	s->req.op = r->op;
	s->req.offset = at;
	if (r->op <= PERF_SEND) {
		s->req.len = r->ep->size;
		s->req.raddr = r->peer->addr + at;
		if (r->op == PERF_READ)
			number = 0;
		memcpy(r->ep->buf + at, &number, stamp);
		return;
	}
	s->req.len = 8;
	s->req.raddr = r->peer->addr;
	if (!r->optimistic) {
		count_up(r, s);
		return;
	}
	s->expect = r->lanes[s->lane].count;
	if (r->how == PERF_READ_FIRST)
		s->req.op = PERF_READ;
	else
		attempt(r, s);
}

/* ---- results ------------------------------------------------------------- */

/*
 * Updates the lane's guess by the old value.  Sets *again if the slot has to be
 * posted once more.
 */
static int check_attempt(struct run *r, struct slot *s, uint64_t old,
			 bool *again)
{
	uint64_t field = field_mask(r) << field_shift(r, s->lane);
	uint64_t count = s->expect << field_shift(r, s->lane) & field;
	struct lane *lane = &r->lanes[s->lane];

	if (r->op != PERF_CAS && ((old ^ count) & field))
		return wrong(r, "field", old & field, count);
	if (s->req.op == PERF_CAS && old == s->req.compare_add) {
		lane->guess = s->req.swap;
		lane->count++;
		return 0;
	}
	lane->guess = old;
	/* A standard compare-and-swap that fails counts as an operation. */
	if (r->op == PERF_CAS)
		return 0;
	*again = true;
	if (s->req.op == PERF_CAS && r->how == PERF_READ_FIRST)
		s->req.op = PERF_READ;
	else
		attempt(r, s);
	return 0;
}

static int check_read(const struct run *r, const struct slot *s)
{
	const uint8_t *p = r->ep->buf + s->req.offset;
	uint32_t size = r->ep->size;

	for (uint32_t i = 0; i < size && i < 8; i++)
		if (p[i] != perf_pattern(i))
			return wrong(r, "byte", p[i], perf_pattern(i));
	if (p[size - 1] != perf_pattern(size - 1))
		return wrong(r, "last byte", p[size - 1],
			     perf_pattern(size - 1));
	return 0;
}

static int check(struct run *r, struct slot *s, bool *again)
{
	uint64_t mask = field_mask(r);
	uint64_t old;

	if (r->op == PERF_READ)
		return check_read(r, s);
	if (r->op < PERF_READ || r->op == PERF_SEND)
		return 0;
	memcpy(&old, r->ep->buf + s->req.offset, 8);
	if (r->optimistic)
		return check_attempt(r, s, old, again);
	/* Several lanes add to the whole word, so only the sum is known. */
	if (r->op == PERF_FADD && r->num_lanes > 1)
		return 0;
	old = old >> field_shift(r, s->lane) & mask;
	if (old != (s->expect & mask))
		return wrong(r, "old value", old, s->expect & mask);
	return 0;
}

/* ---- the loop ------------------------------------------------------------ */

static __attribute__((noinline)) int poll_long(struct run *r,
					       struct ibv_wc *wc, int most)
{
	uint64_t spins = 0;
	uint64_t patience = 0;
	int n;

	while (!(n = ibv_poll_cq(r->ep->cq, most, wc))) {
		if (++spins % 64)
			continue;
		/* The responder may need this CPU. */
		sched_yield();
		if (r->responder && r->op == PERF_SEND &&
		    perf_endpoint_receive(r->responder))
			return -STATUS_FAILED;
		if (!patience)
			patience = perf_ns() + r->o->timeout * 1000000000ull;
		else if (perf_ns() > patience)
			break;
	}
	if (!n)
		fprintf(stderr, "mxe-perf: %s: no completion within %u s\n",
			perf_op_name[r->op], r->o->timeout);
	else if (n < 0)
		fprintf(stderr, "mxe-perf: ibv_poll_cq: %d\n", n);
	return n > 0 ? n : -STATUS_FAILED;
}

static int poll_some(struct run *r, struct ibv_wc *wc, int most)
{
	int n = ibv_poll_cq(r->ep->cq, most, wc);

	return n > 0 ? n : poll_long(r, wc, most);
}

static int completed(const struct run *r, const struct ibv_wc *wc)
{
	if (wc->status == IBV_WC_SUCCESS)
		return 0;
	fprintf(stderr, "mxe-perf: %s failed: %s (vendor 0x%x)\n",
		perf_op_name[r->op], ibv_wc_status_str(wc->status),
		wc->vendor_err);
	return STATUS_FAILED;
}

/*
 * Posts batches while slots are free and operations are left.  Returns 0 or an
 * exit status.
 */
static int post_free(struct run *r, uint64_t *left)
{
	uint32_t depth = r->ep->depth;

	for (uint32_t qp = 0; qp < r->measured_qps; qp++) {
		uint32_t want = *left < r->batch ? (uint32_t)*left : r->batch;

		while (want && r->num_free[qp] >= want) {
			uint64_t began;

			for (uint32_t i = 0; i < want; i++) {
				uint32_t k = r->free[qp * depth +
						     --r->num_free[qp]];

				r->batch_slots[i] = &r->slots[k];
				prepare(r, &r->slots[k]);
			}
			*left -= want;
			if (post_timed(r, qp, r->batch_slots, want, &began))
				return STATUS_FAILED;
			for (uint32_t i = 0; i < want; i++)
				r->batch_slots[i]->began = began;
			want = *left < r->batch ? (uint32_t)*left : r->batch;
		}
	}
	return 0;
}

/* Keeps the queue pairs that are not measured full of WRITEs. */
static int post_beside(struct run *r)
{
	uint32_t depth = r->ep->depth;

	for (uint32_t qp = r->measured_qps; qp < r->end_qps; qp++) {
		while (r->num_free[qp]) {
			uint32_t k = r->free[qp * depth + --r->num_free[qp]];
			struct slot *s = &r->slots[k];

			s->req = (struct request){
				.op = PERF_WRITE,
				.offset = place(r, s),
				.len = r->ep->size,
				.raddr = r->peer->addr + place(r, s),
			};
			if (post(r, qp, &s, 1))
				return STATUS_FAILED;
			r->posts--;
		}
	}
	return 0;
}

static void set_free(struct run *r, const struct slot *s)
{
	r->free[s->qp * r->ep->depth + r->num_free[s->qp]++] = s->index;
}

/* Waits until none of these WRITEs is in flight. */
static int drain_beside(struct run *r)
{
	for (uint32_t qp = r->measured_qps; qp < r->ep->num_qps; qp++) {
		while (r->num_free[qp] < r->ep->depth) {
			struct ibv_wc wc;

			if (poll_some(r, &wc, 1) < 0 || completed(r, &wc))
				return STATUS_FAILED;
			set_free(r, &r->slots[wc.wr_id]);
		}
	}
	return 0;
}

static void show_progress(const struct run *r, uint64_t done, uint64_t n)
{
	__atomic_store_n(&tick, 0, __ATOMIC_RELAXED);
	fprintf(stderr, "mxe-perf: %s: %llu of %llu\n", perf_op_name[r->op],
		(unsigned long long)done, (unsigned long long)n);
}

/*
 * Executes n operations.  Stores their times in samples unless that is NULL,
 * and the time of all in *total.
 */
static int phase(struct run *r, uint64_t n, uint64_t *samples, uint64_t *total)
{
	uint64_t left = n, done = 0, start = perf_now(r->tsc), now;
	struct ibv_wc wc[16];

	while (done < n) {
		int got;

		if (r->op == PERF_SEND && r->responder &&
		    perf_endpoint_receive(r->responder))
			return STATUS_FAILED;
		if (post_beside(r) || (left && post_free(r, &left)) || ring(r))
			return STATUS_FAILED;
		got = poll_some(r, wc, 16);
		if (got < 0)
			return STATUS_FAILED;
		now = perf_now(r->tsc);
		for (int i = 0; i < got; i++) {
			struct slot *s = &r->slots[wc[i].wr_id];
			bool again = false;

			if (completed(r, &wc[i]))
				return STATUS_FAILED;
			if (s->qp >= r->measured_qps) {
				set_free(r, s);
				r->writes++;
				continue;
			}
			if (check(r, s, &again))
				return STATUS_FAILED;
			if (again) {
				if (post(r, s->qp, &s, 1))
					return STATUS_FAILED;
				continue;
			}
			if (samples)
				samples[done] = now - s->began;
			done++;
			r->done++;
			set_free(r, s);
		}
		if (__atomic_load_n(&tick, __ATOMIC_RELAXED))
			show_progress(r, done, n);
	}
	*total = perf_now(r->tsc) - start;
	return drain_beside(r);
}

/* Keeps operations in flight while other processes get ready or measure. */
static int keep_up(struct run *r, bool (*is_wanted)(void))
{
	uint64_t unused;
	int status = 0;

	while (!status && is_wanted())
		status = phase(r, 4ull * r->measured_qps * r->ep->depth, NULL,
			       &unused);
	return status;
}

/* Keeps WRITEs in flight while another process gets ready or measures. */
static int stream(struct run *r, bool (*is_wanted)(void))
{
	struct ibv_wc wc[16];

	r->writes = 0;
	while (is_wanted()) {
		int got = post_beside(r) || ring(r) ? -STATUS_FAILED :
			  poll_some(r, wc, 16);

		if (got < 0)
			return STATUS_FAILED;
		for (int i = 0; i < got; i++) {
			if (completed(r, &wc[i]))
				return STATUS_FAILED;
			set_free(r, &r->slots[wc[i].wr_id]);
			r->writes++;
		}
	}
	return 0;
}

/* ---- setup and final checks ---------------------------------------------- */

/* Executes one operation, which is not measured, in the first slot. */
static int transfer(struct run *r, enum perf_op op, uint64_t offset,
		    uint64_t remote, uint32_t len)
{
	struct slot *s = &r->slots[0];
	struct ibv_wc wc;

	s->req = (struct request){
		.op = op,
		.offset = offset,
		.len = len,
		.raddr = r->peer->addr + remote,
	};
	if (post(r, 0, &s, 1) || ring(r) || poll_some(r, &wc, 1) < 0)
		return STATUS_FAILED;
	r->posts--;
	return completed(r, &wc);
}

static int clear_word(struct run *r)
{
	memset(r->ep->buf, 0, 8);
	return transfer(r, PERF_WRITE, 0, 0, 8);
}

static int check_word(struct run *r)
{
	uint64_t sum = 0, word;

	if (transfer(r, PERF_READ, 0, 0, 8))
		return STATUS_FAILED;
	memcpy(&word, r->ep->buf, 8);
	for (uint32_t i = 0; i < r->num_lanes; i++)
		sum += (r->lanes[i].count & field_mask(r)) << field_shift(r, i);
	return word == sum ? 0 : wrong(r, "final word", word, sum);
}

static int differs(const struct run *r, uint32_t slot)
{
	fprintf(stderr, "mxe-perf: %s: the responder's memory differs from slot %u\n",
		perf_op_name[r->op], slot);
	return STATUS_FAILED;
}

/* Reads back what each slot has written last. */
static int check_written(struct run *r)
{
	struct perf_endpoint *ep = r->ep;
	uint32_t n = ep->num_qps * ep->depth;

	for (uint32_t i = 0; i < n; i++) {
		uint64_t at = r->slots[i].req.offset;
		uint64_t landing = (uint64_t)ep->depth * ep->stride;

		if (!r->slots[i].used)
			continue;
		if (transfer(r, PERF_READ, landing, at, ep->size))
			return STATUS_FAILED;
		if (memcmp(ep->buf + landing, ep->buf + at, ep->size))
			return differs(r, i);
	}
	return 0;
}

static int check_received(struct run *r, struct session *session)
{
	uint64_t sent = 0, came = 0, bad = 0, end;

	for (uint32_t i = 0; i < r->ep->num_qps; i++)
		sent += r->sent[i];
	if (!r->responder)
		return session_end(session, sent, &bad) ? STATUS_FAILED :
		       bad ? wrong(r, "number of wrong messages", bad, 0) : 0;
	end = perf_ns() + r->o->timeout * 1000000000ull;
	do {
		if (perf_endpoint_receive(r->responder))
			return STATUS_FAILED;
		came = 0;
		for (uint32_t i = 0; i < r->ep->num_qps; i++)
			came += r->responder->received[i];
	} while (came < sent && perf_ns() < end);
	if (came != sent)
		return wrong(r, "number of received messages", came, sent);
	bad = r->responder->wrong;
	return bad ? wrong(r, "number of wrong messages", bad, 0) : 0;
}

static int set_up(struct run *r)
{
	struct perf_endpoint *ep = r->ep;
	size_t n = (size_t)ep->num_qps * ep->depth;

	r->slots = calloc(n, sizeof(*r->slots));
	r->free = calloc(n, sizeof(*r->free));
	r->batch_slots = calloc(ep->depth, sizeof(*r->batch_slots));
	r->wr = calloc(ep->depth, sizeof(*r->wr));
	r->sge = calloc(ep->depth, sizeof(*r->sge));
	if (!r->slots || !r->free || !r->batch_slots || !r->wr || !r->sge) {
		fputs("mxe-perf: out of memory\n", stderr);
		return STATUS_FAILED;
	}
	r->num_lanes = r->optimistic ? (uint32_t)n : r->measured_qps;
	for (uint32_t i = 0; i < n; i++) {
		r->slots[i].qp = i / ep->depth;
		r->slots[i].index = i;
		r->slots[i].lane = r->optimistic ? i : i / ep->depth;
		/* The first slot is on top of the stack. */
		r->free[i] = i / ep->depth * ep->depth + ep->depth - 1 -
			     i % ep->depth;
	}
	for (uint32_t i = 0; i < ep->num_qps; i++)
		r->num_free[i] = ep->depth;
	/* The depth is that of the WRITEs; there is one atomic in flight. */
	if (r->o->test == PERF_BESIDE)
		r->num_free[0] = 1;
	if (r->num_lanes > PERF_MAX_LANES && r->op >= PERF_CAS) {
		fprintf(stderr,
			"mxe-perf: %s: %u requesters, but a word has %u fields\n",
			perf_op_name[r->op], r->num_lanes, PERF_MAX_LANES);
		return STATUS_USAGE;
	}
	r->field_bits = 64;
	/* A field of 64 bits would make a masked operation a standard one. */
	if (r->op >= PERF_MCAS)
		for (r->field_bits = 32; r->field_bits * r->num_lanes > 64;)
			r->field_bits /= 2;
	for (uint32_t at = r->field_bits; at <= 64; at += r->field_bits)
		r->boundaries |= 1ull << (at - 1);
	return 0;
}

static int phases(struct run *r, struct perf_result *result)
{
	uint64_t unused;
	int status = phase(r, r->o->warmup, NULL, &unused);

	multi_ready();
	if (!status)
		status = keep_up(r, multi_is_gathering);
	r->posts = 0;
	r->writes = 0;
	if (!status)
		status = phase(r, r->o->iterations, result->samples,
			       &result->total);
	result->posts = r->posts;
	result->writes = r->writes;
	multi_measured();
	return status ? status : keep_up(r, multi_is_measuring);
}

static int beside(struct run *r, struct perf_result *result)
{
	int status;

	multi_ready();
	status = stream(r, multi_is_gathering);
	if (!status)
		status = stream(r, multi_is_measuring);
	result->writes = r->writes;
	return status ? status : drain_beside(r);
}

static int measure(struct run *r, struct session *session,
		   struct perf_result *result)
{
	struct itimerval second = { { 1, 0 }, { 1, 0 } }, off = { };
	uint64_t unused;
	int status;

	for (size_t i = 0; i < r->ep->len; i++)
		r->ep->buf[i] = perf_pattern(i % r->ep->stride);
	if (r->responder && r->op == PERF_READ)
		perf_endpoint_fill(r->responder);
	if (!r->responder && session_begin(session, r->op))
		return STATUS_FAILED;
	if (r->op >= PERF_CAS && clear_word(r))
		return STATUS_FAILED;
	if (r->o->progress) {
		signal(SIGALRM, on_alarm);
		setitimer(ITIMER_REAL, &second, NULL);
	}
	status = multi_measures() ? phases(r, result) : beside(r, result);
	setitimer(ITIMER_REAL, &off, NULL);
	if (status)
		return status;
	if (r->op == PERF_SEND)
		return check_received(r, session);
	if (!r->responder && session_end(session, 0, &unused))
		return STATUS_FAILED;
	if (r->op == PERF_WRITE)
		return check_written(r);
	return r->op >= PERF_CAS ? check_word(r) : 0;
}

static bool is_native(const struct perf_endpoint *ep, enum perf_op op)
{
	return op == PERF_MCAS ? ep->dev.masked_cas && ep->mqp[0] :
	       op == PERF_MFADD ? ep->dev.masked_fadd && ep->mqp[0] : true;
}

/**
 * perf_run() - Measure one operation as often as the options say.
 * @ep: requester, connected
 * @responder: the other endpoint if it is in this process, else NULL
 * @session: connection to the responder's process if @responder is NULL
 * @peer: address of the responder
 * @o: options
 * @op: operation
 * @result: result; the caller frees its samples
 *
 * Prints a message to stderr if it fails.
 *
 * Return: 0 or an exit status.
 */
int perf_run(struct perf_endpoint *ep, struct perf_endpoint *responder,
	     struct session *session, const struct perf_address *peer,
	     const struct perf_options *o, enum perf_op op,
	     struct perf_result *result)
{
	struct run r = {
		.ep = ep,
		.responder = responder,
		.peer = peer,
		.o = o,
		.op = op,
		.tsc = o->tsc,
		.batch = o->batch,
		.measured_qps = o->test == PERF_BESIDE ? 1 : ep->num_qps,
		/* With several processes, the others have the WRITEs. */
		.end_qps = o->processes > 1 && multi_measures() &&
			   o->test == PERF_BESIDE ? 1 : ep->num_qps,
		.how = op >= PERF_MCAS ? o->how : PERF_NATIVE,
	};
	int status;

	if (op >= PERF_CAS && !ep->dev.atomics) {
		fprintf(stderr, "mxe-perf: %s: the device has no atomics\n",
			perf_op_name[op]);
		return STATUS_NO_DEVICE;
	}
	if (r.how == PERF_AUTO)
		r.how = is_native(ep, op) ? PERF_NATIVE : PERF_GUESS;
	if (r.how == PERF_NATIVE && !is_native(ep, op)) {
		fprintf(stderr, "mxe-perf: %s: not supported by the device: use --emulate guess\n",
			perf_op_name[op]);
		return STATUS_NO_DEVICE;
	}
	if (r.how != PERF_NATIVE && r.batch > 1) {
		fprintf(stderr, "mxe-perf: %s: emulated operations need --batch 1\n",
			perf_op_name[op]);
		return STATUS_USAGE;
	}
	r.optimistic = r.how != PERF_NATIVE ||
		       (op == PERF_CAS && r.measured_qps > 1);
	result->op = perf_op_name[op];
	result->how = r.how;
	result->operations = o->iterations;
	result->samples = calloc(o->iterations, sizeof(uint64_t));
	if (!result->samples) {
		fputs("mxe-perf: out of memory for the samples\n", stderr);
		return STATUS_FAILED;
	}
	/* Avoids page faults during the measurement. */
	memset(result->samples, 0xff, o->iterations * sizeof(uint64_t));
	if (responder) {
		memset(responder->received, 0, sizeof(responder->received));
		responder->wrong = 0;
	}
	status = set_up(&r);
	if (!status)
		status = measure(&r, session, result);
	if (!status)
		perf_summarize(result->samples, result->operations,
			       &result->stats);
	free(r.slots);
	free(r.free);
	free(r.batch_slots);
	free(r.wr);
	free(r.sge);
	return status;
}
