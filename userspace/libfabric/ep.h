/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Endpoints. */
#ifndef MXEFI_EP_H
#define MXEFI_EP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_trigger.h>

#include "context.h"
#include "match.h"
#include "progress.h"
#include "ud.h"
#include "wire.h"

struct ibv_exp_dct;
struct ibv_mr;
struct ibv_srq;
struct mxefi_answer;
struct mxefi_av;
struct mxefi_call;
struct mxefi_conn;
struct mxefi_dcis;
struct mxefi_domain;
struct mxefi_eq;
struct mxefi_event;
struct mxefi_op;
struct mxefi_peer;
struct mxefi_rxbuf;
struct mxefi_wr;

#define MXEFI_CONN_HASH 1024	/* buckets for connections */

struct mxefi_ep {
	/* Without contexts if it is scalable. */
	struct mxefi_handle self;
	unsigned int num_handles;	/* contexts and aliases that are open */
	struct mxefi_tx *txs;
	struct mxefi_rx *rxs;
	size_t num_txs, num_rxs;
	struct mxefi_domain *dom;
	struct mxefi_av *av;
	uint64_t caps;
	bool enabled;

	/* FI_EP_MSG */
	bool is_msg;
	struct mxefi_eq *eq;
	struct mxefi_hello request;	/* to accept; magic 0: none */
	/* Set by cm.c: the connection is ready or has ended with an errno. */
	void (*on_cm)(struct mxefi_conn *conn, int err);
	/* Allocated by cm.c: of the start and of the end of the connection. */
	struct mxefi_event *cm_start, *cm_end;

	/* queues.c */
	struct mxefi_ticker ticker;
	struct mxefi_ud ud;
	struct ibv_srq *srq;
	int reserved_cqe;
	struct mxefi_rxbuf *rx;
	struct mxefi_rxbuf *held;	/* not posted */
	uint8_t *slab;
	struct ibv_mr *slab_mr;
	struct ibv_exp_dct *dct;	/* or NULL */
	/* peer.c, route.c */
	struct mxefi_peer *by_id[MXEFI_CONN_HASH];
	struct mxefi_peer **by_addr;
	size_t by_addr_size;
	uint64_t by_addr_changes;	/* av->changes that by_addr reflects */
	struct mxefi_ticker route_ticker;
	/* conn.c */
	struct mxefi_conn *conns;	/* the latest first */
	unsigned int num_listed;	/* connections of conns */
	unsigned int num_conns;		/* that are open */
	unsigned int num_qps;		/* of these */
	unsigned int num_guests;	/* neither used nor confirmed */
	uint32_t epoch;			/* of the last one */
	struct mxefi_conn *by_qpn[MXEFI_CONN_HASH];
	struct mxefi_conn *by_token[MXEFI_CONN_HASH];
	unsigned int posted;	/* requests of all connections */
	bool starved;		/* some wait because of it */
	/* Messages that wait for a free request. */
	struct mxefi_answer *answers, **answers_tail;
	bool closing;
	/* dci.c */
	struct mxefi_dcis *dcis;	/* or NULL */
	/* Set by hello.c: creates a queue pair and connects it. */
	void (*connect)(struct mxefi_conn *conn);
	/* Set by hello.c: the address handle is ready. */
	void (*on_resolved)(struct mxefi_conn *conn);
	/* wr.c */
	struct mxefi_wr *wrs, *free_wrs, *spare_wrs;
	unsigned int num_wrs;
	/* Set by op.c: the peer that the operation waits for is lost. */
	void (*on_lost)(struct mxefi_op *op, int err);
	/* Set by recv.c. */
	void (*on_broken)(struct mxefi_conn *conn);
	void (*on_room)(struct mxefi_ep *ep);	/* requests may be free */
	void (*on_removed)(struct mxefi_ep *ep);
	/* The epoch is that of the connection when the peer sent it, or 0. */
	void (*on_message)(struct mxefi_conn *conn, uint32_t epoch,
			   const struct mxefi_msg *msg, const uint8_t *data,
			   size_t len);
	/* deferred.c: dom->firing when a call found no room */
	uint64_t full_at;
	/* Set by deferred.c: a call with FI_TRIGGER. */
	ssize_t (*on_trigger)(const struct mxefi_handle *handle,
			      enum fi_op_type type,
			      const struct mxefi_call *call);
	/* Set by access.c. */
	void (*on_access)(struct mxefi_ep *ep, const struct mxefi_msg *msg);

	/* op.c */
	struct mxefi_op *ops, *free_ops;

	/* Receives whose data are to be read, but no request is free. */
	struct mxefi_recv *readers, **readers_tail;
	size_t unexpected_bytes;
	bool stops_peers;		/* stops_peer of some connections */
};

/**
 * mxefi_ep_is_one_sided() - Check whether an endpoint has RMA or atomics only.
 * @ep: endpoint
 *
 * Return: true if it is of type FI_EP_RDM and has no messages.
 */
static inline bool mxefi_ep_is_one_sided(const struct mxefi_ep *ep)
{
	return !ep->is_msg && !(ep->caps & (FI_MSG | FI_TAGGED));
}

int mxefi_ep_open(struct fid_domain *domain, struct fi_info *info,
		  struct fid_ep **ep, void *context);
int mxefi_ep_open_scalable(struct fid_domain *domain, struct fi_info *info,
			   struct fid_ep **sep, void *context);

#endif /* MXEFI_EP_H */
