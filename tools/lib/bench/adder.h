/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Queue pairs that execute fetch-and-adds one at a time, and their peers over
 * RC and DC.
 */
#ifndef BENCH_ADDER_H
#define BENCH_ADDER_H

#include <infiniband/mxedv.h>

#include "rc.h"

#define DC_KEY 1

static struct ibv_qp_init_attr_ex adder_attr(const struct rc_device *d,
					     struct ibv_cq *cq,
					     enum ibv_qp_type type)
{
	return (struct ibv_qp_init_attr_ex) {
		.qp_type = type,
		.pd = d->pd,
		.send_cq = cq,
		.recv_cq = cq,
		.cap = { .max_send_wr = 1, .max_send_sge = 1 },
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.send_ops_flags = IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD,
	};
}

/**
 * adder_create() - Create a queue pair in RESET.
 * @d: its device
 * @cq: for its completions
 * @type: RC or an XRC sender
 *
 * Return: queue pair for ibv_wr_*().
 */
static struct ibv_qp *adder_create(const struct rc_device *d, struct ibv_cq *cq,
				   enum ibv_qp_type type)
{
	struct ibv_qp_init_attr_ex attr = adder_attr(d, cq, type);
	struct ibv_qp *qp = ibv_create_qp_ex(d->ctx, &attr);

	if (!qp)
		rc_fail("a queue pair cannot be created");
	return qp;
}

/**
 * adder_create_rc() - Create and connect a pair of queue pairs.
 * @d: device of the first
 * @cq: for its completions
 * @peer: device of the second, with the GID to connect to
 * @peer_cq: for the completions of the second
 *
 * Return: the first queue pair.
 */
static struct ibv_qp_ex *adder_create_rc(const struct rc_device *d, struct ibv_cq *cq,
					 const struct rc_device *peer,
					 struct ibv_cq *peer_cq)
{
	struct ibv_qp *qp = adder_create(d, cq, IBV_QPT_RC);

	rc_connect(d, qp, peer, adder_create(peer, peer_cq, IBV_QPT_RC));
	return ibv_qp_to_qp_ex(qp);
}

/**
 * adder_begin() - Begin a fetch-and-add of 1.
 * @qp: queue pair
 * @rkey: key of the region of @word
 * @word: the word
 */
static void adder_begin(struct ibv_qp_ex *qp, uint32_t rkey, const uint64_t *word)
{
	ibv_wr_start(qp);
	qp->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_atomic_fetch_add(qp, rkey, (uintptr_t)word, 1);
}

/**
 * adder_end() - Post the fetch-and-add and wait for its completion.
 * @qp: queue pair
 * @cq: its completion queue
 * @mr: region of @old
 * @old: the value before
 */
static void adder_end(struct ibv_qp_ex *qp, struct ibv_cq *cq,
		      const struct ibv_mr *mr, uint64_t *old)
{
	struct ibv_wc wc;

	ibv_wr_set_sge(qp, mr->lkey, (uintptr_t)old, sizeof(*old));
	if (ibv_wr_complete(qp))
		rc_fail("an operation cannot be posted");
	while (!ibv_poll_cq(cq, 1, &wc))
		;
	if (wc.status != IBV_WC_SUCCESS)
		rc_fail(ibv_wc_status_str(wc.status));
}

/* ---- DC ------------------------------------------------------------------ */

/**
 * dc_initiator() - Create an initiator in RTS.
 * @d: its device
 * @peer: device of the targets
 * @cq: for its completions
 *
 * Return: queue pair for ibv_wr_*().
 */
static struct ibv_qp *dc_initiator(const struct rc_device *d,
				   const struct rc_device *peer, struct ibv_cq *cq)
{
	struct ibv_qp_init_attr_ex attr = adder_attr(d, cq, IBV_QPT_DRIVER);
	struct mxedv_qp_init_attr dc = {
		.comp_mask = MXEDV_QP_INIT_ATTR_DC,
		.dc_type = MXEDV_DCTYPE_DCI,
	};
	struct ibv_qp *qp = mxedv_create_qp(d->ctx, &attr, &dc);

	if (!qp)
		rc_fail("a DC initiator cannot be created");
	rc_modify(d, qp, IBV_QPS_INIT, IBV_QP_PKEY_INDEX | IBV_QP_PORT, peer, 0);
	rc_modify(d, qp, IBV_QPS_RTR, IBV_QP_PATH_MTU, peer, 0);
	rc_modify(d, qp, IBV_QPS_RTS, RC_RTS_MASK, peer, 0);
	return qp;
}

/**
 * dc_target() - Create a target in RTR.
 * @d: its device
 * @peer: device of the initiators
 * @cq: for its completions
 *
 * Return: the target.
 */
static struct ibv_qp *dc_target(const struct rc_device *d,
				const struct rc_device *peer, struct ibv_cq *cq)
{
	struct ibv_srq_init_attr srq_attr = { .attr = { .max_wr = 1, .max_sge = 1 } };
	struct ibv_qp_init_attr_ex attr = {
		.qp_type = IBV_QPT_DRIVER,
		.comp_mask = IBV_QP_INIT_ATTR_PD,
		.pd = d->pd,
		.send_cq = cq,
		.recv_cq = cq,
		.srq = ibv_create_srq(d->pd, &srq_attr),
	};
	struct mxedv_qp_init_attr dc = {
		.comp_mask = MXEDV_QP_INIT_ATTR_DC,
		.dc_type = MXEDV_DCTYPE_DCT,
		.dct_access_key = DC_KEY,
	};
	struct ibv_qp *qp = attr.srq ? mxedv_create_qp(d->ctx, &attr, &dc) : NULL;

	if (!qp)
		rc_fail("a DC target cannot be created");
	rc_modify(d, qp, IBV_QPS_INIT, RC_INIT_MASK, peer, 0);
	rc_modify(d, qp, IBV_QPS_RTR, IBV_QP_PATH_MTU | IBV_QP_MIN_RNR_TIMER, peer, 0);
	return qp;
}

/**
 * dc_ah() - Create an address handle for initiators.
 * @d: their device
 * @peer: device of the targets
 *
 * Return: the address handle.
 */
static struct ibv_ah *dc_ah(const struct rc_device *d, const struct rc_device *peer)
{
	struct ibv_ah_attr to = rc_address(d, peer);
	struct ibv_ah *ah = ibv_create_ah(d->pd, &to);

	if (!ah)
		rc_fail("an address handle cannot be created");
	return ah;
}

/**
 * dc_send_to() - Set the target of the request that is being built.
 * @initiator: posts it
 * @ah: of the device of @target
 * @target: the target
 */
static void dc_send_to(struct ibv_qp_ex *initiator, struct ibv_ah *ah,
		       const struct ibv_qp *target)
{
	mxedv_wr_set_dc_addr(mxedv_qp_ex_from_ibv_qp_ex(initiator), ah, target->qp_num,
			     DC_KEY);
}

#endif /* BENCH_ADDER_H */
