/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The XRC interface of OFED 1.3. */
#ifndef EXP_XRC_H
#define EXP_XRC_H

#include <infiniband/verbs_exp.h>

struct ibv_qp *exp_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr,
			     struct ibv_qp *(*std)(struct ibv_pd *pd,
						   struct ibv_qp_init_attr *attr));
int exp_destroy_srq(struct ibv_srq *srq, int (*std)(struct ibv_srq *srq));
int exp_get_async_event(struct ibv_context *context,
			struct ibv_async_event *event,
			int (*std)(struct ibv_context *context,
				   struct ibv_async_event *event));
void exp_ack_async_event(struct ibv_async_event *event,
			 void (*std)(struct ibv_async_event *event));

#endif /* EXP_XRC_H */
