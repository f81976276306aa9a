/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Queue pairs. */
#ifndef MXE_QP_H
#define MXE_QP_H

#include <stdbool.h>
#include <stdint.h>

#include "infiniband/mxedv.h"
#include "container.h"
#include "rdmav.h"
#include "ring.h"

struct mxe_query_dct_resp;

struct mxe_qp {
	struct verbs_qp vqp;
	struct mxedv_qp_ex dv;
	struct mxe_ring sq;
	struct mxe_ring rq;
	uint32_t wr_opcodes;		/* bit n: builders accept opcode n */
	uint32_t post_opcodes;		/* bit n: ibv_post_send() does */
	bool has_builders;
	bool defers_doorbell;		/* mxedv_ring_doorbells() */
	bool is_dci;			/* DC initiator */
	uint8_t masked_flags;		/* added to masked atomics */
	uint32_t max_atomic_arg;	/* bytes */
	/*
	 * Under sq.lock. Without ECE the peer is assumed to support everything.
	 */
	bool has_ece;
	uint32_t ece_options;		/* common to both sides */
	uint32_t masked_sizes;		/* by ECE: bit n for 2^n bytes */

	/* The batch between ibv_wr_start() and ibv_wr_complete(). */
	struct mxe_send_wqe *batch_wqe;	/* the WQE being built, or NULL */
	uint32_t batch_index;		/* index after it */
	uint32_t batch_dests;		/* DC: requests that have a target */
	struct mxe_send_wqe *dest_wqe;	/* DC: the last of them */
	int batch_err;			/* first error, a positive errno */
};

static inline struct mxe_qp *to_mqp(struct ibv_qp *qp)
{
	return mxe_container(qp, struct mxe_qp, vqp.qp);
}

static inline struct mxe_qp *to_mqp_ex(struct ibv_qp_ex *qp)
{
	return mxe_container(qp, struct mxe_qp, vqp.qp_ex);
}

struct ibv_qp *mxe_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr);
struct ibv_qp *mxe_create_qp_ex(struct ibv_context *context,
				struct ibv_qp_init_attr_ex *attr);

struct ibv_qp *mxe_create_qp_dv(struct ibv_context *context,
				struct ibv_qp_init_attr_ex *attr,
				uint32_t create_flags, uint32_t max_atomic_arg,
				const struct mxedv_qp_init_attr *dc);
int mxe_modify_qp(struct ibv_qp *ibqp, struct ibv_qp_attr *attr, int attr_mask);
int mxe_query_qp(struct ibv_qp *ibqp, struct ibv_qp_attr *attr, int attr_mask,
		 struct ibv_qp_init_attr *init_attr);
int mxe_destroy_qp(struct ibv_qp *ibqp);
struct ibv_qp *mxe_open_qp(struct ibv_context *context,
			   struct ibv_qp_open_attr *attr);

int mxe_qp_query_dct(struct ibv_qp *qp, struct mxe_query_dct_resp *resp);
int mxe_qp_arm_dct(struct ibv_qp *qp, uint32_t events);

#endif /* MXE_QP_H */
