/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Requests to peers, and their memory. */
#ifndef MXEFI_WR_H
#define MXEFI_WR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <infiniband/verbs_exp.h>

#include "progress.h"
#include "sizes.h"
#include "wire.h"

struct mxefi_ep;
struct mxefi_op;
struct mxefi_peer;
struct mxefi_recv;
struct mxefi_unit;

/* A request to a peer. */
struct mxefi_wr {
	struct mxefi_work work;
	struct mxefi_wr *next;
	struct mxefi_peer *peer;	/* NULL if the request is free */
	struct mxefi_op *op;		/* the operation it belongs to, or NULL */
	struct ibv_send_wr wr;
	struct ibv_exp_send_wr masked;	/* is posted instead if is_masked */
	bool is_masked;
	struct ibv_sge sge[MXEFI_IOV_LIMIT];
	/* Registrations for this request alone, if has_mrs. */
	struct ibv_mr *mrs[MXEFI_IOV_LIMIT];
	bool has_mrs;
	uint8_t *buf;			/* MXEFI_BUF_SIZE and a header */
	uint32_t lkey;			/* of buf */
	void *copy_to;			/* destination of the data of a READ into buf */
	bool loop;			/* later requests have to wait for it */
	bool is_message;		/* the peer may have to keep it */
	bool is_access;			/* waits for all loops before it */
	bool is_answer;			/* waits for none of these */
	bool posted;			/* is in a send queue */
	struct mxefi_recv *recv;	/* whose data it reads; or NULL */
	struct mxefi_unit *unit;	/* of an atomic */
	uint32_t first;			/* its first element in the operation */
	uint32_t rkey;
	bool is_spare;			/* only for answers */
	/*
	 * Called when the request is complete, with an errno of libfabric or 0.
	 * Returns false if the request was posted again.
	 */
	bool (*complete)(struct mxefi_wr *wr, int err);
};

int mxefi_wr_setup(struct mxefi_ep *ep);
struct mxefi_wr *mxefi_wr_alloc(struct mxefi_peer *peer);
struct mxefi_wr *mxefi_wr_alloc_answer(struct mxefi_peer *peer);
void mxefi_wr_free(struct mxefi_wr *wr);
void mxefi_wr_free_list(struct mxefi_wr *wr);
int mxefi_wr_add(struct mxefi_wr *wr, void *buf, size_t len, void *desc,
		 int access);
void mxefi_wr_set_send(struct mxefi_wr *wr, const struct mxefi_msg *msg,
		       size_t len);
void mxefi_wr_set_conn(struct mxefi_wr *wr, uint64_t token, uint32_t qpn);
struct mxefi_wr *mxefi_wr_alloc_send(struct mxefi_peer *peer,
				     const struct mxefi_msg *msg, size_t len);
void mxefi_wr_flush(struct mxefi_ep *ep, enum ibv_wc_status status);
void mxefi_wr_free_all(struct mxefi_ep *ep);

#endif /* MXEFI_WR_H */
