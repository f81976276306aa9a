/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Shared receive queues. */
#ifndef MXE_SRQ_H
#define MXE_SRQ_H

#include <stdint.h>

#include "container.h"
#include "rdmav.h"
#include "ring.h"

struct mxe_srq {
	struct verbs_srq vsrq;
	struct mxe_ring ring;
	/* Tag matching.  Without it, the ring has no entries. */
	struct mxe_ring tm_ops;
	struct ibv_cq *tm_cq;
	uint32_t num;			/* for the doorbell */
	uint32_t max_num_tags;
	uint32_t tags_added;		/* modulo 2^32, under tm_ops.lock */
};

static inline struct mxe_srq *to_msrq(struct ibv_srq *srq)
{
	return mxe_container(srq, struct mxe_srq, vsrq.srq);
}

struct ibv_srq *mxe_create_srq(struct ibv_pd *pd,
			       struct ibv_srq_init_attr *attr);
struct ibv_srq *mxe_create_srq_ex(struct ibv_context *context,
				  struct ibv_srq_init_attr_ex *attr);
int mxe_modify_srq(struct ibv_srq *ibsrq, struct ibv_srq_attr *attr,
		   int attr_mask);
int mxe_query_srq(struct ibv_srq *ibsrq, struct ibv_srq_attr *attr);
int mxe_destroy_srq(struct ibv_srq *ibsrq);
int mxe_get_srq_num(struct ibv_srq *ibsrq, uint32_t *num);
int mxe_post_srq_ops(struct ibv_srq *ibsrq, struct ibv_ops_wr *wr,
		     struct ibv_ops_wr **bad_wr);
int mxe_post_srq_recv(struct ibv_srq *ibsrq, struct ibv_recv_wr *wr,
		      struct ibv_recv_wr **bad_wr);

#endif /* MXE_SRQ_H */
