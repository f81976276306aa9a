/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Mapping of receive queues, and posting to them. */
#ifndef MXE_RECV_H
#define MXE_RECV_H

#include <stdbool.h>

struct ibv_qp;
struct ibv_recv_wr;
struct mxe_ring;
struct mxe_ring_info;

int mxe_recv_map(struct mxe_ring *rq, int cmd_fd,
		 const struct mxe_ring_info *info, const struct mxe_ring *sq);

/**
 * mxe_recv_post() - Post receive requests.
 * @rq: the queue
 * @wr: list of requests
 * @bad_wr: on error, the first request that was not posted
 * @need_doorbell: set to true if the doorbell must be rung; may be NULL
 *
 * Return: 0 or a positive errno.
 */
int mxe_recv_post(struct mxe_ring *rq, struct ibv_recv_wr *wr,
		  struct ibv_recv_wr **bad_wr, bool *need_doorbell);
int mxe_post_recv(struct ibv_qp *ibqp, struct ibv_recv_wr *wr,
		  struct ibv_recv_wr **bad_wr);

#endif /* MXE_RECV_H */
