// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Tracks the requests in flight of mlx5 QPs, in the order of the send queue.
 * The reasons are:
 *
 *  - libmlx5 completes all raw WQEs with the same opcode, which looks like that
 *    of a receive request, and without a length. Programs expect the opcodes of
 *    the masked atomics, also from ibv_poll_cq().
 *  - Results of 8 bytes are converted to big-endian in place, when the program
 *    polls the completion of the request or of a later one.
 *  - The builders of libmlx5 overwrite the last posted WQE if the send queue is
 *    full. Therefore requests are built only if there is room.
 *
 * To this end it replaces the pointers in the context that the inline functions
 * ibv_post_send() and ibv_poll_cq() call, and in extended CQs those of
 * ibv_start_poll() and some related functions.
 *
 * Lifetime: contexts and CQs may be destroyed without this library being
 * called. Their entries remain (table.h). struct exp_qp owns the send queue.
 *
 * Locking: each table has its own lock. The lock of a CQ protects its list of
 * send queues, and is held while the CQ is polled, so that completions are
 * processed in their order. The lock of a send queue protects all of its
 * members, and is held while requests are posted. The locks of libmlx5 nest
 * inside that of a send queue, which nests inside that of a CQ.
 */
#include <endian.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <infiniband/mlx5dv.h>
#include <infiniband/verbs_exp.h>

#include "backend_mlx5_sq.h"
#include "fork.h"
#include "qp_table.h"
#include "table.h"

#define SQ_BITS 6
#define RESULT_SIZE 8

struct mlx5_req {
	uint64_t wr_id;
	bool signaled;
	bool swap;		/* convert its result to big-endian */
	bool overwritten;	/* overwriter writes to its result, too */
	int wc_opcode;		/* -1: as libmlx5 reports it */
	uint32_t byte_len;
	uint32_t overwriter;	/* number of a later request */
};

struct mlx5_result {
	uint8_t *bytes[RESULT_SIZE];
};

struct exp_mlx5_sq {
	struct exp_mlx5_sq *next;	/* in cq->sqs */
	struct mlx5_cq *cq;
	const struct mlx5_ctx *ctx;
	uint32_t qp_num;
	bool signals_all;
	uint32_t max_post;

	pthread_mutex_t lock;
	/* Numbers of requests: first in flight, first of the batch, next. */
	uint32_t head, open, tail;
	uint32_t mask;
	struct mlx5_req *reqs;
	struct mlx5_result *results;	/* NULL: no conversion */
};

struct mlx5_cq {
	struct exp_entry entry;
	pthread_mutex_t lock;
	struct exp_mlx5_sq *sqs[1 << SQ_BITS];

	/* Of an extended CQ. */
	struct ibv_cq_ex std;	/* copy, for the functions of libmlx5 */
	struct ibv_wc polled;	/* the corrected completion */
};

struct mlx5_ctx {
	struct exp_entry entry;
	int (*post_send)(struct ibv_qp *qp, struct ibv_send_wr *wr,
			 struct ibv_send_wr **bad_wr);
	int (*poll_cq)(struct ibv_cq *cq, int num_entries, struct ibv_wc *wc);
};

static struct exp_table ctxs = EXP_TABLE_INIT;
static struct exp_table cqs = EXP_TABLE_INIT;

EXP_FORK_HOLD(ctxs, ctxs.lock)
EXP_FORK_HOLD(cqs, cqs.lock)

/* ---- tables -------------------------------------------------------------- */

static struct mlx5_ctx *ctx_find(const struct ibv_context *context)
{
	return exp_table_find(&ctxs, context);
}

static struct mlx5_cq *cq_find(const struct ibv_cq *ibcq)
{
	return exp_table_find(&cqs, ibcq);
}

/* Returns NULL if it runs out of memory. */
static struct mlx5_cq *cq_get(struct ibv_cq *ibcq)
{
	struct mlx5_cq *cq;

	pthread_mutex_lock(&cqs.lock);
	cq = cq_find(ibcq);
	if (!cq) {
		cq = calloc(1, sizeof(*cq));
		if (cq) {
			pthread_mutex_init(&cq->lock, NULL);
			exp_table_add(&cqs, &cq->entry, ibcq);
		}
	}
	pthread_mutex_unlock(&cqs.lock);
	return cq;
}

static struct exp_mlx5_sq **sq_bucket(struct mlx5_cq *cq, uint32_t qp_num)
{
	return &cq->sqs[qp_num & ((1 << SQ_BITS) - 1)];
}

/*
 * Called with cq->lock held. Returns the latest QP of this number, which is the
 * first in the list.
 */
static struct exp_mlx5_sq *sq_find(struct mlx5_cq *cq, uint32_t qp_num)
{
	struct exp_mlx5_sq *sq = *sq_bucket(cq, qp_num);

	while (sq && sq->qp_num != qp_num)
		sq = sq->next;
	return sq;
}

/* ---- requests ------------------------------------------------------------ */

static struct mlx5_req *req_at(struct exp_mlx5_sq *sq, uint32_t n)
{
	return &sq->reqs[n & sq->mask];
}

static bool sge_has(const struct ibv_sge *sge, const uint8_t *byte)
{
	return (uintptr_t)byte - sge->addr < sge->length;
}

static bool result_is_in(const struct mlx5_result *result,
			 const struct ibv_sge *sg_list, int num_sge)
{
	int i, j;

	for (i = 0; i < num_sge; i++)
		for (j = 0; j < RESULT_SIZE; j++)
			if (sge_has(&sg_list[i], result->bytes[j]))
				return true;
	return false;
}

/*
 * Records that request n writes to these SGEs. If two requests in flight write
 * to the same memory, it finally has the result of the later one, which must
 * not be converted for the earlier one.
 */
static void note_overwriting(struct exp_mlx5_sq *sq, uint32_t n,
			     const struct ibv_sge *sg_list, int num_sge)
{
	uint32_t i;

	for (i = sq->head; i != n; i++) {
		struct mlx5_req *req = req_at(sq, i);

		if (req->swap && !req->overwritten &&
		    result_is_in(&sq->results[i & sq->mask], sg_list,
				 num_sge)) {
			req->overwritten = true;
			req->overwriter = n;
		}
	}
}

/*
 * Records the bytes of a result. Returns false if the SGEs are too short for
 * it, in which case the request will fail.
 */
static bool note_result(struct mlx5_result *result,
			const struct ibv_sge *sg_list, int num_sge)
{
	uint32_t n = 0;
	uint32_t j;
	int i;

	for (i = 0; i < num_sge; i++)
		for (j = 0; j < sg_list[i].length && n < RESULT_SIZE; j++)
			result->bytes[n++] =
				(uint8_t *)(uintptr_t)sg_list[i].addr + j;
	return n == RESULT_SIZE;
}

struct mlx5_new {
	uint64_t wr_id;
	bool signaled;
	bool reads;		/* the device writes to the SGEs */
	bool swap;
	int wc_opcode;
	uint32_t byte_len;
	const struct ibv_sge *sg_list;
	int num_sge;
};

static void push(struct exp_mlx5_sq *sq, const struct mlx5_new *new)
{
	uint32_t n = sq->tail++;
	struct mlx5_req *req = req_at(sq, n);

	*req = (struct mlx5_req) {
		.wr_id = new->wr_id,
		.signaled = new->signaled || sq->signals_all,
		.wc_opcode = new->wc_opcode,
		.byte_len = new->byte_len,
	};
	if (!sq->results || !new->reads)
		return;
	note_overwriting(sq, n, new->sg_list, new->num_sge);
	if (new->swap)
		req->swap = note_result(&sq->results[n & sq->mask],
					new->sg_list, new->num_sge);
}

static bool is_full(const struct exp_mlx5_sq *sq)
{
	return sq->tail - sq->head >= sq->max_post;
}

/**
 * exp_mlx5_sq_signals_all() - Check if all requests of a QP are signaled.
 * @sq: the send queue
 *
 * Return: true if the QP was created with sq_sig_all.
 */
bool exp_mlx5_sq_signals_all(const struct exp_mlx5_sq *sq)
{
	return sq->signals_all;
}

/**
 * exp_mlx5_sq_begin() - Implement batch_begin() of struct exp_backend.
 * @sq: the send queue
 */
void exp_mlx5_sq_begin(struct exp_mlx5_sq *sq)
{
	pthread_mutex_lock(&sq->lock);
	sq->open = sq->tail;
}

/**
 * exp_mlx5_sq_add() - Implement batch_add() of struct exp_backend.
 * @sq: the send queue
 * @wr: the request
 *
 * Return: 0 or a positive errno.
 */
int exp_mlx5_sq_add(struct exp_mlx5_sq *sq, const struct ibv_exp_send_wr *wr)
{
	struct mlx5_new new = {
		.wr_id = wr->wr_id,
		.signaled = wr->exp_send_flags & IBV_EXP_SEND_SIGNALED,
		.wc_opcode = -1,
		.sg_list = wr->sg_list,
		.num_sge = wr->num_sge,
	};

	if (is_full(sq))
		return ENOMEM;
	switch ((int)wr->exp_opcode) {
	case IBV_EXP_WR_EXT_MASKED_ATOMIC_CMP_AND_SWP:
	case IBV_EXP_WR_EXT_MASKED_ATOMIC_FETCH_AND_ADD:
		new.wc_opcode =
			(int)wr->exp_opcode ==
				IBV_EXP_WR_EXT_MASKED_ATOMIC_CMP_AND_SWP ?
			IBV_EXP_WC_MASKED_COMP_SWAP :
			IBV_EXP_WC_MASKED_FETCH_ADD;
		new.byte_len = 1u << wr->ext_op.masked_atomics.log_arg_sz;
		new.swap = new.byte_len == RESULT_SIZE;
		new.reads = true;
		break;
	case IBV_EXP_WR_ATOMIC_CMP_AND_SWP:
	case IBV_EXP_WR_ATOMIC_FETCH_AND_ADD:
		new.swap = true;
		new.reads = true;
		break;
	case IBV_EXP_WR_RDMA_READ:
		new.reads = true;
		break;
	}
	push(sq, &new);
	return 0;
}

/* Records that the requests from n on will write nothing. */
static void note_no_writing(struct exp_mlx5_sq *sq, uint32_t n)
{
	uint32_t i;

	for (i = sq->head; sq->results && i != sq->tail; i++) {
		struct mlx5_req *req = req_at(sq, i);

		if ((int32_t)(req->overwriter - n) >= 0)
			req->overwritten = false;
	}
}

/**
 * exp_mlx5_sq_end() - Implement batch_end() of struct exp_backend.
 * @sq: the send queue
 * @posted: true if the requests of the batch are to be posted
 */
void exp_mlx5_sq_end(struct exp_mlx5_sq *sq, bool posted)
{
	if (!posted) {
		note_no_writing(sq, sq->open);
		sq->tail = sq->open;
	}
	pthread_mutex_unlock(&sq->lock);
}

/**
 * exp_mlx5_sq_reset() - Implement reset() of struct exp_backend.
 * @sq: the send queue
 */
void exp_mlx5_sq_reset(struct exp_mlx5_sq *sq)
{
	pthread_mutex_lock(&sq->lock);
	sq->head = sq->tail;
	pthread_mutex_unlock(&sq->lock);
}

/* ---- ibv_post_send() ----------------------------------------------------- */

static void push_std(struct exp_mlx5_sq *sq, const struct ibv_send_wr *wr)
{
	bool is_atomic = wr->opcode == IBV_WR_ATOMIC_CMP_AND_SWP ||
			 wr->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
	struct mlx5_new new = {
		.wr_id = wr->wr_id,
		.signaled = wr->send_flags & IBV_SEND_SIGNALED,
		.wc_opcode = -1,
		.sg_list = wr->sg_list,
		.num_sge = wr->num_sge,
		.swap = is_atomic,
		.reads = is_atomic || wr->opcode == IBV_WR_RDMA_READ,
	};

	/* libmlx5 had room, so a completion was polled in another way. */
	if (is_full(sq))
		sq->head++;
	push(sq, &new);
}

/*
 * Drops the requests of an earlier QP with the same number. It was destroyed,
 * because qp has this number and is not tracked.
 */
static void forget_number(const struct ibv_qp *qp)
{
	struct mlx5_cq *cq = cq_find(qp->send_cq);
	struct exp_mlx5_sq *sq;

	if (!cq)
		return;
	pthread_mutex_lock(&cq->lock);
	sq = sq_find(cq, qp->qp_num);
	if (sq)
		exp_mlx5_sq_reset(sq);
	pthread_mutex_unlock(&cq->lock);
}

static int mlx5_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr,
			  struct ibv_send_wr **bad_wr)
{
	const struct exp_qp *entry = exp_qp_find(qp);
	struct exp_mlx5_sq *sq = entry ? entry->mlx5_sq : NULL;
	struct ibv_send_wr *end = NULL;
	int ret;

	if (!sq) {
		forget_number(qp);
		return ctx_find(qp->context)->post_send(qp, wr, bad_wr);
	}
	/* struct ibv_send_wr cannot name a target. libmlx5 does not check. */
	if (entry->is_dci) {
		*bad_wr = wr;
		return EINVAL;
	}
	pthread_mutex_lock(&sq->lock);
	ret = sq->ctx->post_send(qp, wr, bad_wr);
	if (ret)
		end = *bad_wr;
	for (; wr != end; wr = wr->next)
		push_std(sq, wr);
	pthread_mutex_unlock(&sq->lock);
	return ret;
}

/* ---- ibv_poll_cq() ------------------------------------------------------- */

static void swap_result(struct mlx5_result *result)
{
	int i, j;

	for (i = 0, j = RESULT_SIZE - 1; i < j; i++, j--) {
		uint8_t byte = *result->bytes[i];

		*result->bytes[i] = *result->bytes[j];
		*result->bytes[j] = byte;
	}
}

/* Completes all requests before n for the program, and converts results. */
static void complete_until(struct exp_mlx5_sq *sq, uint32_t n, bool success)
{
	for (; sq->head != n; sq->head++) {
		struct mlx5_req *req = req_at(sq, sq->head);

		if (success && req->swap && !req->overwritten)
			swap_result(&sq->results[sq->head & sq->mask]);
	}
}

static void complete_success(struct exp_mlx5_sq *sq, struct ibv_wc *wc)
{
	const struct mlx5_req *req = NULL;
	uint32_t n;

	if ((wc->opcode & IBV_WC_RECV) && (int)wc->opcode != MLX5DV_WC_RAW_WQE)
		return;
	for (n = sq->head; n != sq->tail; n++) {
		req = req_at(sq, n);
		if (req->signaled && req->wr_id == wc->wr_id)
			break;
	}
	if (n == sq->tail)
		return;
	if ((int)wc->opcode == MLX5DV_WC_RAW_WQE && req->wc_opcode >= 0) {
		wc->opcode = (enum ibv_wc_opcode)req->wc_opcode;
		wc->byte_len = req->byte_len;
	}
	complete_until(sq, n + 1, true);
}

/*
 * An error completion has no opcode, so this may be a receive request. The
 * request may also be one that was not signaled. The requests before a failed
 * one have succeeded. A flushed one may follow requests whose outcome was never
 * reported.
 */
static void complete_error(struct exp_mlx5_sq *sq, const struct ibv_wc *wc)
{
	uint32_t n = sq->head;

	while (n != sq->tail && req_at(sq, n)->wr_id != wc->wr_id)
		n++;
	if (n == sq->tail)
		return;
	note_no_writing(sq, n);
	complete_until(sq, n, wc->status != IBV_WC_WR_FLUSH_ERR);
	complete_until(sq, n + 1, false);
}

static void complete(struct mlx5_cq *cq, struct ibv_wc *wc)
{
	struct exp_mlx5_sq *sq = sq_find(cq, wc->qp_num);

	if (!sq)
		return;
	pthread_mutex_lock(&sq->lock);
	if (wc->status == IBV_WC_SUCCESS)
		complete_success(sq, wc);
	else
		complete_error(sq, wc);
	pthread_mutex_unlock(&sq->lock);
}

static int mlx5_poll_cq(struct ibv_cq *ibcq, int num_entries, struct ibv_wc *wc)
{
	const struct mlx5_ctx *ctx = ctx_find(ibcq->context);
	struct mlx5_cq *cq = cq_find(ibcq);
	int i, ret;

	if (!cq)
		return ctx->poll_cq(ibcq, num_entries, wc);
	pthread_mutex_lock(&cq->lock);
	ret = ctx->poll_cq(ibcq, num_entries, wc);
	for (i = 0; i < ret; i++)
		complete(cq, &wc[i]);
	pthread_mutex_unlock(&cq->lock);
	return ret;
}

/* ---- ibv_start_poll() ---------------------------------------------------- */

static struct mlx5_cq *cq_of_ex(struct ibv_cq_ex *ex)
{
	return cq_find(ibv_cq_ex_to_cq(ex));
}

static void correct(struct mlx5_cq *cq, struct ibv_cq_ex *ex)
{
	cq->polled = (struct ibv_wc) {
		.wr_id = ex->wr_id,
		.status = ex->status,
		.qp_num = cq->std.read_qp_num(ex),
	};
	if (ex->status == IBV_WC_SUCCESS) {
		cq->polled.opcode = cq->std.read_opcode(ex);
		cq->polled.byte_len = cq->std.read_byte_len(ex);
	}
	complete(cq, &cq->polled);
}

static int mlx5_start_poll(struct ibv_cq_ex *ex, struct ibv_poll_cq_attr *attr)
{
	struct mlx5_cq *cq = cq_of_ex(ex);
	int ret;

	pthread_mutex_lock(&cq->lock);
	ret = cq->std.start_poll(ex, attr);
	if (ret)
		pthread_mutex_unlock(&cq->lock);
	else
		correct(cq, ex);
	return ret;
}

static int mlx5_next_poll(struct ibv_cq_ex *ex)
{
	struct mlx5_cq *cq = cq_of_ex(ex);
	int ret = cq->std.next_poll(ex);

	if (!ret)
		correct(cq, ex);
	return ret;
}

static void mlx5_end_poll(struct ibv_cq_ex *ex)
{
	struct mlx5_cq *cq = cq_of_ex(ex);

	cq->std.end_poll(ex);
	pthread_mutex_unlock(&cq->lock);
}

static enum ibv_wc_opcode mlx5_read_opcode(struct ibv_cq_ex *ex)
{
	return cq_of_ex(ex)->polled.opcode;
}

static uint32_t mlx5_read_byte_len(struct ibv_cq_ex *ex)
{
	return cq_of_ex(ex)->polled.byte_len;
}

/**
 * exp_mlx5_sq_adopt_cq_ex() - Correct the completions of an extended CQ, too.
 * @ex: new extended CQ
 * @wc_flags: IBV_WC_EX_WITH_* flags with which it was created
 *
 * Return: 0 or ENOMEM.
 */
int exp_mlx5_sq_adopt_cq_ex(struct ibv_cq_ex *ex, uint64_t wc_flags)
{
	struct mlx5_cq *cq = cq_get(ibv_cq_ex_to_cq(ex));

	(void)wc_flags;
	if (!cq)
		return ENOMEM;
	cq->std = *ex;
	ex->start_poll = mlx5_start_poll;
	ex->next_poll = mlx5_next_poll;
	ex->end_poll = mlx5_end_poll;
	ex->read_opcode = mlx5_read_opcode;
	ex->read_byte_len = mlx5_read_byte_len;
	return 0;
}

/* ---- creation ------------------------------------------------------------ */

/* Called with ctxs.lock held. Returns NULL if it runs out of memory. */
static struct mlx5_ctx *ctx_add(struct ibv_context *context)
{
	struct mlx5_ctx *ctx = calloc(1, sizeof(*ctx));

	if (!ctx)
		return NULL;
	exp_table_add(&ctxs, &ctx->entry, context);
	return ctx;
}

/*
 * Replaces the operations of the context, unless that is done. Returns NULL if
 * it runs out of memory.
 */
static struct mlx5_ctx *ctx_get(struct ibv_context *context)
{
	struct mlx5_ctx *ctx;

	pthread_mutex_lock(&ctxs.lock);
	ctx = ctx_find(context);
	if (!ctx)
		ctx = ctx_add(context);
	if (ctx && context->ops.poll_cq != mlx5_poll_cq) {
		ctx->post_send = context->ops.post_send;
		ctx->poll_cq = context->ops.poll_cq;
		__atomic_store_n(&context->ops.post_send, mlx5_post_send,
				 __ATOMIC_RELEASE);
		__atomic_store_n(&context->ops.poll_cq, mlx5_poll_cq,
				 __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&ctxs.lock);
	return ctx;
}

/**
 * exp_mlx5_sq_adopt() - Implement adopt() of struct exp_backend.
 * @context: the context
 */
void exp_mlx5_sq_adopt(struct ibv_context *context)
{
	ctx_get(context);
}

static void sq_free(struct exp_mlx5_sq *sq)
{
	free(sq->results);
	free(sq->reqs);
	free(sq);
}

static struct exp_mlx5_sq *sq_alloc(uint32_t max_post, bool swap)
{
	struct exp_mlx5_sq *sq = calloc(1, sizeof(*sq));
	uint32_t size = 1;

	if (!sq)
		return NULL;
	while (size < max_post)
		size *= 2;
	sq->mask = size - 1;
	sq->max_post = max_post;
	sq->reqs = calloc(size, sizeof(*sq->reqs));
	if (swap)
		sq->results = calloc(size, sizeof(*sq->results));
	if (!sq->reqs || (swap && !sq->results)) {
		sq_free(sq);
		return NULL;
	}
	pthread_mutex_init(&sq->lock, NULL);
	return sq;
}

/**
 * exp_mlx5_sq_create() - Begin to track the requests of a QP.
 * @qp: the new QP
 * @attr: attributes with which it was created
 * @swap: true to convert results of 8 bytes to big-endian
 *
 * From now on its completions are corrected in ibv_poll_cq().
 *
 * Return: the send queue, or NULL with errno.
 */
struct exp_mlx5_sq *exp_mlx5_sq_create(struct ibv_qp *qp,
				       const struct ibv_qp_init_attr_ex *attr,
				       bool swap)
{
	struct mlx5_cq *cq = cq_get(attr->send_cq);
	struct exp_mlx5_sq *sq;
	struct mlx5_ctx *ctx;

	sq = cq ? sq_alloc(attr->cap.max_send_wr, swap) : NULL;
	ctx = sq ? ctx_get(qp->context) : NULL;
	if (!ctx) {
		if (sq)
			sq_free(sq);
		errno = ENOMEM;
		return NULL;
	}
	sq->ctx = ctx;
	sq->cq = cq;
	sq->qp_num = qp->qp_num;
	sq->signals_all = attr->sq_sig_all;

	pthread_mutex_lock(&cq->lock);
	sq->next = *sq_bucket(cq, sq->qp_num);
	*sq_bucket(cq, sq->qp_num) = sq;
	pthread_mutex_unlock(&cq->lock);
	return sq;
}

/**
 * exp_mlx5_sq_destroy() - Undo exp_mlx5_sq_create().
 * @sq: send queue, which is freed
 */
void exp_mlx5_sq_destroy(struct exp_mlx5_sq *sq)
{
	struct mlx5_cq *cq = sq->cq;
	struct exp_mlx5_sq **at = sq_bucket(cq, sq->qp_num);

	pthread_mutex_lock(&cq->lock);
	while (*at != sq)
		at = &(*at)->next;
	*at = sq->next;
	pthread_mutex_unlock(&cq->lock);
	pthread_mutex_destroy(&sq->lock);
	sq_free(sq);
}
