/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The XRC interface of OFED 1.3. */
#ifndef EXP_XRC_H
#define EXP_XRC_H

#include <infiniband/verbs_exp.h>

/**
 * exp_create_qp() - Implement ibv_create_qp().
 * @pd: as for ibv_create_qp()
 * @attr: as for ibv_create_qp(); the type may be IBV_QPT_XRC
 * @std: ibv_create_qp() of libibverbs
 *
 * Return: as ibv_create_qp().
 */
struct ibv_qp *exp_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr,
			     struct ibv_qp *(*std)(struct ibv_pd *pd,
						   struct ibv_qp_init_attr *attr));

/**
 * exp_destroy_srq() - Implement ibv_destroy_srq().
 * @srq: any SRQ
 * @std: ibv_destroy_srq() of libibverbs
 *
 * Return: as ibv_destroy_srq().
 */
int exp_destroy_srq(struct ibv_srq *srq, int (*std)(struct ibv_srq *srq));

/**
 * exp_get_async_event() - Implement ibv_get_async_event().
 * @context: as for ibv_get_async_event()
 * @event: as for ibv_get_async_event(); has IBV_XRC_QP_EVENT_FLAG and the
 *	number of the QP if that is from ibv_create_xrc_rcv_qp() or
 *	ibv_reg_xrc_rcv_qp()
 * @std: ibv_get_async_event() of libibverbs
 *
 * Return: as ibv_get_async_event().
 */
int exp_get_async_event(struct ibv_context *context,
			struct ibv_async_event *event,
			int (*std)(struct ibv_context *context,
				   struct ibv_async_event *event));

/**
 * exp_ack_async_event() - Implement ibv_ack_async_event().
 * @event: event of exp_get_async_event()
 * @std: ibv_ack_async_event() of libibverbs
 */
void exp_ack_async_event(struct ibv_async_event *event,
			 void (*std)(struct ibv_async_event *event));

#endif /* EXP_XRC_H */
