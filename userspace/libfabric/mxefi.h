/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The endpoint, and the calls for programs.
 */
#ifndef MXEFI_H
#define MXEFI_H

#include "base.h"
#include "event.h"
#include "message.h"
#include "transport.h"

/* ---- msg.c, tagged.c --------------------------------------------------- */

extern struct fi_ops_msg mxefi_msg_ops;
extern struct fi_ops_tagged mxefi_tagged_ops;

/* ---- atomic_wr.c ------------------------------------------------------- */

/**
 * mxefi_atomic_wr() - Makes the request of a unit.
 * @op: operation, which gets a reference
 * @unit: unit of the operation
 * @key: key of the memory region at the target
 * @first: first element of the unit in the operation
 *
 * Return: the request, or NULL if memory is short.
 */
struct mxefi_wr *mxefi_atomic_wr(struct mxefi_op *op, struct mxefi_unit *unit,
				 uint64_t key, size_t first);

/* ---- rma.c, atomic.c --------------------------------------------------- */

extern struct fi_ops_rma mxefi_rma_ops;
extern struct fi_ops_atomic mxefi_atomic_ops;

/**
 * mxefi_atomic_query() - fi_query_atomic()
 * @domain: domain
 * @datatype: datatype
 * @op: operation of fi_atomic(3)
 * @attr: filled in
 * @flags: flags of the call
 *
 * Return: 0, or a negative error of libfabric.
 */
int mxefi_atomic_query(struct fid_domain *domain, enum fi_datatype datatype,
		       enum fi_op op, struct fi_atomic_attr *attr,
		       uint64_t flags);

/* ---- cm.c -------------------------------------------------------------- */

extern struct fi_ops_cm mxefi_cm_ops;

/**
 * mxefi_copy_addr() - Copies an address for the program.
 * @from: address
 * @addr: where it is copied, as far as there is room
 * @len: room in bytes; becomes the length of an address
 *
 * Return: 0 or -FI_ETOOSMALL.
 */
int mxefi_copy_addr(const struct mxefi_addr *from, void *addr, size_t *len);

/* ---- ep.c -------------------------------------------------------------- */

struct mxefi_ep {
	struct fid_ep fid;
	struct mxefi_domain *dom;
	struct mxefi_av *av;
	struct mxefi_cq *tx_cq, *rx_cq;
	bool tx_selective, rx_selective;
	struct mxefi_cntr *send_cntr, *recv_cntr, *read_cntr, *write_cntr;
	uint64_t caps, tx_flags, rx_flags;
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
	/* conn.c */
	struct mxefi_conn *conns;	/* the latest first */
	unsigned int num_qps;		/* of all connections */
	unsigned int num_guests;	/* neither used nor confirmed */
	uint32_t epoch;			/* of the last queue pair */
	struct mxefi_conn *by_qpn[MXEFI_CONN_HASH];
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
	void (*on_message)(struct mxefi_conn *conn, const struct mxefi_msg *msg,
			   const uint8_t *data, size_t len);
	void (*on_write_data)(struct mxefi_ep *ep, uint32_t data, size_t len);

	/* op.c */
	struct mxefi_op *ops, *free_ops;

	/* match.c: messages, and tagged messages */
	struct mxefi_queue queues[2];
	struct mxefi_unexpected *claimed;
	/* Receives whose data are to be read, but no request is free. */
	struct mxefi_recv *readers, **readers_tail;
	size_t unexpected_bytes;
	bool stops_peers;		/* stops_peer of some connections */
	size_t min_multi_recv;
};

/**
 * mxefi_ep_is_one_sided() - True if an endpoint has RMA or atomics only.
 * @ep: endpoint
 *
 * Return: true if it is of type FI_EP_RDM and has no messages.
 */
static inline bool mxefi_ep_is_one_sided(const struct mxefi_ep *ep)
{
	return !ep->is_msg && !(ep->caps & (FI_MSG | FI_TAGGED));
}

/**
 * mxefi_ep_open() - fi_endpoint()
 * @domain: domain
 * @info: fi_info of the program
 * @ep: where the endpoint is stored
 * @context: context of the program
 *
 * Return: 0, or a negative error of libfabric.
 */
int mxefi_ep_open(struct fid_domain *domain, struct fi_info *info,
		  struct fid_ep **ep, void *context);

/* ---- info.c, domain.c, pep.c, fabric.c --------------------------------- */

/* Longest message or RMA, in bytes. */
#define MXEFI_MAX_MSG_SIZE ((size_t)1 << 30)

/**
 * mxefi_info_get() - fi_getinfo()
 * @version: version of the API that the program uses
 * @node: name of a node
 * @service: name of a service
 * @flags: flags of the call
 * @hints: hints of the program, or NULL
 * @info: where the list is stored
 *
 * Return: 0, or a negative error of libfabric.
 */
int mxefi_info_get(uint32_t version, const char *node, const char *service,
		   uint64_t flags, const struct fi_info *hints,
		   struct fi_info **info);

/**
 * mxefi_domain_open() - fi_domain()
 * @fabric: fabric
 * @info: fi_info of the program
 * @domain: where the domain is stored
 * @context: context of the program
 *
 * Return: 0, or a negative error of libfabric.
 */
int mxefi_domain_open(struct fid_fabric *fabric, struct fi_info *info,
		      struct fid_domain **domain, void *context);

/**
 * mxefi_pep_open() - fi_passive_ep()
 * @fabric: fabric
 * @info: fi_info of the program
 * @pep: where the passive endpoint is stored
 * @context: context of the program
 *
 * Return: 0, or a negative error of libfabric.
 */
int mxefi_pep_open(struct fid_fabric *fabric, struct fi_info *info,
		   struct fid_pep **pep, void *context);

/**
 * to_ep() - Converts the type that programs see.
 * @ep: endpoint
 *
 * Return: the endpoint.
 */
static inline struct mxefi_ep *to_ep(struct fid_ep *ep)
{
	return container_of(ep, struct mxefi_ep, fid);
}

/**
 * to_domain() - Converts the type that programs see.
 * @domain: domain
 *
 * Return: the domain.
 */
static inline struct mxefi_domain *to_domain(struct fid_domain *domain)
{
	return container_of(domain, struct mxefi_domain, fid);
}

#endif /* MXEFI_H */
