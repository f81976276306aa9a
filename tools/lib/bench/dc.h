/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Initiators and targets of DC for fetch-and-adds.
 */
#ifndef BENCH_DC_H
#define BENCH_DC_H

#include <infiniband/mxedv.h>

#include "rc.h"

#define DC_KEY 1

/**
 * dc_initiator() - Creates an initiator in RTS.
 * @d: its device
 * @peer: device of the targets
 * @cq: for its completions
 *
 * Return: queue pair for ibv_wr_*().
 */
static struct ibv_qp *dc_initiator(const struct rc_device *d,
				   const struct rc_device *peer, struct ibv_cq *cq)
{
	struct ibv_qp_init_attr_ex attr = {
		.qp_type = IBV_QPT_DRIVER,
		.pd = d->pd,
		.send_cq = cq,
		.recv_cq = cq,
		.cap = { .max_send_wr = 1, .max_send_sge = 1 },
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.send_ops_flags = IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD,
	};
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
 * dc_target() - Creates a target in RTR.
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
 * dc_ah() - Creates an address handle for initiators.
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
 * dc_send_to() - Sets the target of the request that is being built.
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

#endif /* BENCH_DC_H */
