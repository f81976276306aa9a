/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Completion queues. */
#ifndef MXE_CQ_H
#define MXE_CQ_H

#include <pthread.h>
#include <stdint.h>

#include <rdma/mxe-abi.h>

#include "container.h"
#include "rdmav.h"
#include "ring.h"

struct mxe_cq {
	struct verbs_cq vcq;
	struct mxe_ring ring;		/* without entries during a resize */
	pthread_mutex_t resize_lock;	/* keeps the memory of the ring */
	struct mxe_cqe cqe;		/* current one, ibv_start_poll() */
	int64_t wall_offset;		/* ns, to CLOCK_REALTIME; under ring.lock */
};

static inline struct mxe_cq *to_mcq(struct ibv_cq *cq)
{
	return mxe_container(cq, struct mxe_cq, vcq.cq);
}

static inline struct mxe_cq *to_mcq_ex(struct ibv_cq_ex *cq)
{
	return mxe_container(cq, struct mxe_cq, vcq.cq_ex);
}

struct ibv_cq *mxe_create_cq(struct ibv_context *context, int cqe,
			     struct ibv_comp_channel *channel, int comp_vector);
struct ibv_cq_ex *mxe_create_cq_ex(struct ibv_context *context,
				   struct ibv_cq_init_attr_ex *attr);
int mxe_poll_cq(struct ibv_cq *ibcq, int num_entries, struct ibv_wc *wc);
int mxe_resize_cq(struct ibv_cq *ibcq, int cqe);
int mxe_modify_cq(struct ibv_cq *ibcq, struct ibv_modify_cq_attr *attr);
int mxe_destroy_cq(struct ibv_cq *ibcq);

void mxe_cq_purge(struct ibv_cq *ibcq, uint32_t qp_num);

#endif /* MXE_CQ_H */
