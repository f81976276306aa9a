// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The calls of the self-test that differ between the backends: creating a queue
 * pair, posting, polling.
 */
#include <errno.h>
#include <string.h>

#include <infiniband/mxedv.h>
#include <infiniband/verbs_exp.h>

#include "case.h"
#include "loop.h"
#include "operands.h"
#include "post.h"

static const struct ibv_qp_cap cap = {
	.max_send_wr = 4,
	.max_recv_wr = 1,
	.max_send_sge = 1,
	.max_recv_sge = 1,
};

/* ---- queue pairs ------------------------------------------------------- */

static struct ibv_qp *create_verbs(const struct st_loop *loop,
				   struct ibv_cq *cq)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = cq,
		.recv_cq = cq,
		.cap = cap,
		.qp_type = IBV_QPT_RC,
	};

	return ibv_create_qp(loop->pd, &attr);
}

static struct ibv_qp *create_mxedv(const struct st_loop *loop,
				   struct ibv_cq *cq, const struct st_case *c)
{
	struct ibv_qp_init_attr_ex attr = {
		.send_cq = cq,
		.recv_cq = cq,
		.cap = cap,
		.qp_type = IBV_QPT_RC,
		.comp_mask = IBV_QP_INIT_ATTR_PD |
			     IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.pd = loop->pd,
		.send_ops_flags = IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP |
				  IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD,
	};
	struct mxedv_qp_init_attr mxe_attr = {
		.comp_mask = MXEDV_QP_INIT_ATTR_CREATE_FLAGS |
			     MXEDV_QP_INIT_ATTR_MAX_ATOMIC_ARG,
		.create_flags = c->be_qp ? MXEDV_QP_CREATE_ATOMIC_BE_REPLY : 0,
		.max_atomic_arg = c->size,
	};

	return mxedv_create_qp(loop->context, &attr, &mxe_attr);
}

static struct ibv_qp *create_exp(const struct st_loop *loop, struct ibv_cq *cq,
				 const struct st_case *c)
{
	struct ibv_exp_qp_init_attr attr = {
		.send_cq = cq,
		.recv_cq = cq,
		.cap = cap,
		.qp_type = IBV_QPT_RC,
		.comp_mask = IBV_EXP_QP_INIT_ATTR_PD |
			     IBV_EXP_QP_INIT_ATTR_CREATE_FLAGS |
			     IBV_EXP_QP_INIT_ATTR_ATOMICS_ARG,
		.pd = loop->pd,
		.max_atomic_arg = c->size,
	};

	if (c->be_qp)
		attr.exp_create_flags = IBV_EXP_QP_CREATE_ATOMIC_BE_REPLY;
	return ibv_exp_create_qp(loop->context, &attr);
}

/**
 * st_qp_create() - Create a queue pair with the calls of the case's backend.
 * @loop: the device
 * @cq: completion queue of both directions
 * @c: the case
 * @call: name of the call that was made
 *
 * Return: the queue pair, or NULL with errno.
 */
struct ibv_qp *st_qp_create(const struct st_loop *loop, struct ibv_cq *cq,
			    const struct st_case *c, const char **call)
{
	switch (c->backend) {
	case ST_MXEDV:
		*call = "mxedv_create_qp";
		return create_mxedv(loop, cq, c);
	case ST_EXP:
		*call = "ibv_exp_create_qp";
		return create_exp(loop, cq, c);
	default:
		*call = "ibv_create_qp";
		return create_verbs(loop, cq);
	}
}

/* ---- posting ----------------------------------------------------------- */

static int post_verbs(struct st_pair *pair, const struct st_case *c,
		      uint64_t addr, struct ibv_sge *sge,
		      const struct st_operands *o)
{
	struct ibv_send_wr *bad, wr = {
		.sg_list = sge,
		.num_sge = 1,
		.opcode = c->op == ST_CMP_SWAP ? IBV_WR_ATOMIC_CMP_AND_SWP :
						 IBV_WR_ATOMIC_FETCH_AND_ADD,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.atomic = {
			.remote_addr = addr,
			.rkey = pair->loop->memory_mr->rkey,
			.compare_add = o->compare.w[0],
			.swap = o->swap.w[0],
		},
	};

	return ibv_post_send(pair->qp[0], &wr, &bad);
}

static uint32_t log_of(uint32_t size)
{
	return 31 - __builtin_clz(size);
}

/* Puts an operand into `buf` as the builders take it. */
static const void *dv_operand(const struct st_word *word, uint32_t size,
			      struct st_word *buf)
{
	st_encode(word, size, false, buf);
	return buf;
}

static void build_masked(struct mxedv_qp_ex *mqp, const struct st_case *c,
			 uint32_t rkey, uint64_t addr,
			 const struct st_operands *o)
{
	uint32_t log = log_of(c->size);
	struct st_word buf[4];

	/* For 8 bytes there are builders without a size. */
	if (c->op == ST_MASKED_CMP_SWAP && c->size == 8)
		mxedv_wr_masked_atomic_cmp_swp(mqp, rkey, addr,
					       o->compare.w[0],
					       o->compare_mask.w[0],
					       o->swap.w[0],
					       o->swap_mask.w[0]);
	else if (c->op == ST_MASKED_CMP_SWAP)
		mxedv_wr_ext_masked_atomic_cmp_swp(
			mqp, rkey, addr, log,
			dv_operand(&o->compare, c->size, &buf[0]),
			dv_operand(&o->compare_mask, c->size, &buf[1]),
			dv_operand(&o->swap, c->size, &buf[2]),
			dv_operand(&o->swap_mask, c->size, &buf[3]));
	else if (c->size == 8)
		mxedv_wr_masked_atomic_fetch_add(mqp, rkey, addr,
						 o->compare.w[0],
						 o->compare_mask.w[0]);
	else
		mxedv_wr_ext_masked_atomic_fetch_add(
			mqp, rkey, addr, log,
			dv_operand(&o->compare, c->size, &buf[0]),
			dv_operand(&o->compare_mask, c->size, &buf[1]));
}

static int post_mxedv(struct st_pair *pair, const struct st_case *c,
		      uint64_t addr, const struct ibv_sge *sge,
		      const struct st_operands *o)
{
	uint32_t rkey = pair->loop->memory_mr->rkey;
	struct ibv_qp_ex *qpx = ibv_qp_to_qp_ex(pair->qp[0]);
	struct mxedv_qp_ex *mqp;

	mqp = qpx ? mxedv_qp_ex_from_ibv_qp_ex(qpx) : NULL;
	if (!mqp)
		return EOPNOTSUPP;
	ibv_wr_start(qpx);
	qpx->wr_id = 0;
	qpx->wr_flags = IBV_SEND_SIGNALED;
	if (c->op == ST_CMP_SWAP)
		ibv_wr_atomic_cmp_swp(qpx, rkey, addr, o->compare.w[0],
				      o->swap.w[0]);
	else if (c->op == ST_FETCH_ADD)
		ibv_wr_atomic_fetch_add(qpx, rkey, addr, o->compare.w[0]);
	else
		build_masked(mqp, c, rkey, addr, o);
	ibv_wr_set_sge(qpx, sge->lkey, sge->addr, sge->length);
	return ibv_wr_complete(qpx);
}

/* An operand of more than 8 bytes is passed by address. */
static uint64_t exp_operand(const struct st_word *word, uint32_t size)
{
	return size > 8 ? (uintptr_t)word->w : word->w[0];
}

static int post_exp(struct st_pair *pair, const struct st_case *c,
		    uint64_t addr, struct ibv_sge *sge,
		    const struct st_operands *o)
{
	struct ibv_exp_send_wr *bad, wr = {
		.sg_list = sge,
		.num_sge = 1,
		.exp_send_flags = IBV_EXP_SEND_SIGNALED,
	};
	struct ibv_exp_cmp_swap *cs =
		&wr.ext_op.masked_atomics.wr_data.inline_data.op.cmp_swap;
	struct ibv_exp_fetch_add *fa =
		&wr.ext_op.masked_atomics.wr_data.inline_data.op.fetch_add;
	uint32_t rkey = pair->loop->memory_mr->rkey;

	if (st_op_is_masked(c->op)) {
		wr.exp_send_flags |= IBV_EXP_SEND_EXT_ATOMIC_INLINE;
		wr.ext_op.masked_atomics.log_arg_sz = log_of(c->size);
		wr.ext_op.masked_atomics.remote_addr = addr;
		wr.ext_op.masked_atomics.rkey = rkey;
	} else {
		wr.wr.atomic.remote_addr = addr;
		wr.wr.atomic.rkey = rkey;
		wr.wr.atomic.compare_add = o->compare.w[0];
		wr.wr.atomic.swap = o->swap.w[0];
	}
	switch (c->op) {
	case ST_CMP_SWAP:
		wr.exp_opcode = IBV_EXP_WR_ATOMIC_CMP_AND_SWP;
		break;
	case ST_FETCH_ADD:
		wr.exp_opcode = IBV_EXP_WR_ATOMIC_FETCH_AND_ADD;
		break;
	case ST_MASKED_CMP_SWAP:
		wr.exp_opcode = IBV_EXP_WR_EXT_MASKED_ATOMIC_CMP_AND_SWP;
		cs->compare_val = exp_operand(&o->compare, c->size);
		cs->compare_mask = exp_operand(&o->compare_mask, c->size);
		cs->swap_val = exp_operand(&o->swap, c->size);
		cs->swap_mask = exp_operand(&o->swap_mask, c->size);
		break;
	default:
		wr.exp_opcode = IBV_EXP_WR_EXT_MASKED_ATOMIC_FETCH_AND_ADD;
		fa->add_val = exp_operand(&o->compare, c->size);
		fa->field_boundary = exp_operand(&o->compare_mask, c->size);
	}
	return ibv_exp_post_send(pair->qp[0], &wr, &bad);
}

/**
 * st_post() - Post one signalled atomic on the requester.
 * @pair: connected
 * @c: the case
 * @set: number of the operand set, which places the word
 * @o: operands
 * @call: name of the call that was made
 *
 * Return: 0 or a positive errno.
 */
int st_post(struct st_pair *pair, const struct st_case *c, unsigned int set,
	    const struct st_operands *o, const char **call)
{
	const struct st_loop *loop = pair->loop;
	size_t at = st_area_offset(c->size, set);
	uint64_t addr = (uintptr_t)(loop->memory + at);
	struct ibv_sge sge = {
		.addr = (uintptr_t)(loop->result + at),
		.length = c->size,
		.lkey = loop->result_mr->lkey,
	};

	switch (c->backend) {
	case ST_MXEDV:
		*call = "ibv_wr_complete";
		return post_mxedv(pair, c, addr, &sge, o);
	case ST_EXP:
		*call = "ibv_exp_post_send";
		return post_exp(pair, c, addr, &sge, o);
	default:
		*call = "ibv_post_send";
		return post_verbs(pair, c, addr, &sge, o);
	}
}

/* ---- polling ----------------------------------------------------------- */

/**
 * st_poll() - Poll for one completion with the call of the backend.
 * @pair: connected
 * @wc: the completion
 *
 * Return: 1, 0 if there is none, or a negative value.
 */
int st_poll(struct st_pair *pair, struct st_completion *wc)
{
	struct ibv_exp_wc exp;
	struct ibv_wc std;
	int n;

	if (pair->backend == ST_EXP) {
		n = ibv_exp_poll_cq(pair->cq, 1, &exp, sizeof(exp));
		if (n > 0)
			*wc = (struct st_completion){
				.status = exp.status,
				.opcode = exp.exp_opcode,
				.byte_len = exp.byte_len,
				.vendor_err = exp.vendor_err,
			};
		return n;
	}
	n = ibv_poll_cq(pair->cq, 1, &std);
	if (n > 0)
		*wc = (struct st_completion){
			.status = std.status,
			.opcode = std.opcode,
			.byte_len = std.byte_len,
			.vendor_err = std.vendor_err,
		};
	return n;
}
