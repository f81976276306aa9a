/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Transmit and receive contexts. Most endpoints have one of each. */
#ifndef MXEFI_CONTEXT_H
#define MXEFI_CONTEXT_H

#include <stdbool.h>
#include <stdint.h>
#include <rdma/fi_endpoint.h>

#include "container.h"
#include "match.h"

struct mxefi_cntr;
struct mxefi_cq;
struct mxefi_ep;
struct mxefi_srx;

/* Flags that programs may set for calls that have none, in fi_getinfo(). */
#define MXEFI_TX_FLAGS (FI_COMPLETION | FI_INJECT | FI_INJECT_COMPLETE | \
			FI_TRANSMIT_COMPLETE | FI_DELIVERY_COMPLETE)
#define MXEFI_RX_FLAGS (FI_COMPLETION | FI_MULTI_RECV)

struct mxefi_tx {
	struct mxefi_cq *cq;
	bool selective;
	struct mxefi_cntr *send_cntr, *read_cntr, *write_cntr;
	bool is_open;			/* by fi_tx_context() */
};

struct mxefi_rx {
	struct mxefi_ep *ep;
	struct mxefi_cq *cq;
	bool selective;
	struct mxefi_cntr *recv_cntr, *remote_read_cntr, *remote_write_cntr;
	bool is_open;			/* by fi_rx_context() */
	/* match.c: its own, or that of srx */
	struct mxefi_recvs *recvs, own_recvs;
	struct mxefi_srx *srx;
};

/* A struct fid_ep: an endpoint, a context of one, or an alias of either. */
struct mxefi_handle {
	struct fid_ep fid;
	struct mxefi_ep *ep;		/* NULL: a shared receive context */
	struct mxefi_tx *tx;		/* NULL: it sends nothing */
	struct mxefi_rx *rx;		/* NULL: it receives nothing */
	bool is_alias;
	uint64_t tx_flags, rx_flags;	/* of calls without flags */
};

static inline struct mxefi_handle *to_handle(struct fid_ep *fid)
{
	return container_of(fid, struct mxefi_handle, fid);
}

static inline struct mxefi_handle *fid_to_handle(struct fid *fid)
{
	return container_of(fid, struct mxefi_handle, fid.fid);
}

static inline struct mxefi_ep *to_ep(struct fid_ep *fid)
{
	return to_handle(fid)->ep;
}

static inline struct mxefi_ep *fid_to_ep(struct fid *fid)
{
	return fid_to_handle(fid)->ep;
}

int mxefi_context_bind_cq(struct mxefi_handle *handle, struct mxefi_cq *cq,
			  uint64_t flags);
int mxefi_context_bind_cntr(struct mxefi_handle *handle,
			    struct mxefi_cntr *cntr, uint64_t flags);
void mxefi_context_release(struct mxefi_tx *tx, struct mxefi_rx *rx);

/**
 * mxefi_context_cntr() - Find the counter of operations of a kind.
 * @handle: endpoint or context
 * @completion_flags: flags of their completions
 *
 * Return: the counter that is bound, or NULL.
 */
static inline struct mxefi_cntr *
mxefi_context_cntr(const struct mxefi_handle *handle, uint64_t completion_flags)
{
	if (completion_flags & FI_READ)
		return handle->tx->read_cntr;
	if (completion_flags & FI_WRITE)
		return handle->tx->write_cntr;
	if (completion_flags & FI_RECV)
		return handle->rx->recv_cntr;
	return handle->tx->send_cntr;
}

#endif /* MXEFI_CONTEXT_H */
