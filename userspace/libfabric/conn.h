/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Connections: one RC queue pair for each peer of an endpoint. */
#ifndef MXEFI_CONN_H
#define MXEFI_CONN_H

#include <stdbool.h>
#include <stdint.h>

#include "container.h"
#include "peer.h"
#include "wire.h"

struct ibv_qp;
struct mxefi_ah;
struct mxefi_ep;
struct mxefi_wr;

enum mxefi_conn_state {
	MXEFI_CONN_IDLE,	/* no queue pair */
	MXEFI_CONN_HELLO,	/* waits for an answer of the peer */
	MXEFI_CONN_READY,
	MXEFI_CONN_BROKEN,	/* the queue pair is in error */
};

struct mxefi_conn {
	struct mxefi_peer peer;
	struct mxefi_conn *next;
	enum mxefi_conn_state state;
	bool connected;			/* the queue pair is in RTS */
	struct ibv_qp *qp;
	uint32_t sq_size;		/* requests of the queue pair */
	struct mxefi_ah *ah;
	struct mxefi_hello waiting;	/* for the address handle; magic 0: none */
	struct mxefi_conn *next_qpn;	/* in the hash table of QP numbers */
	uint32_t peer_qpn;
	uint32_t psn;
	/* Of endpoints of type FI_EP_MSG. */
	uint32_t cm_flags;		/* of our hellos */
	uint32_t data_len, peer_data_len;
	uint8_t data[MXEFI_CM_DATA], peer_data[MXEFI_CM_DATA];
	bool is_shut;			/* no new requests */
	uint32_t epoch;			/* of our queue pair */
	uint32_t peer_epoch;		/* of the last connected queue pair */
	/* Only an endpoint that has received our hello knows our token. */
	uint64_t token, peer_token;
	bool is_proven;			/* the hello of peer_epoch had our token */
	bool is_confirmed;		/* the peer has sent an ACK or a request */
	bool is_used;			/* the program refers to it */
	bool stops_peer;		/* which is to send no messages */
	/* Messages of the peer that are kept, or have answers that wait. */
	unsigned int kept;
	unsigned int waiting_answers;	/* of the latter */
	uint64_t hello_ms;		/* time of the last hello */
	uint64_t since_ms;		/* time of the last change of state */
	uint64_t probe_ms;		/* time of the last check of the peer */
};

static inline struct mxefi_conn *to_conn(struct mxefi_peer *peer)
{
	return container_of(peer, struct mxefi_conn, peer);
}

/**
 * mxefi_conn_by_qpn() - Finds the connection of a queue pair.
 * @ep: endpoint
 * @qpn: number of a queue pair
 *
 * Return: the connection, or NULL if the queue pair was destroyed.
 */
struct mxefi_conn *mxefi_conn_by_qpn(struct mxefi_ep *ep, uint32_t qpn);

/**
 * mxefi_conn_open() - Creates the queue pair of an idle connection.
 * @conn: connection
 *
 * Return: 0, or a negative error of libfabric.
 */
int mxefi_conn_open(struct mxefi_conn *conn);

/**
 * mxefi_conn_connect() - Connects the queue pair to that of a hello.
 * @conn: connection with a queue pair
 * @hello: hello of the peer
 *
 * Return: 0, or a negative error of libfabric.
 */
int mxefi_conn_connect(struct mxefi_conn *conn,
		       const struct mxefi_hello *hello);

/**
 * mxefi_conn_make_idle() - Destroys the queue pair of a connection.
 * @conn: connection without requests in the send queue
 */
void mxefi_conn_make_idle(struct mxefi_conn *conn);

/**
 * mxefi_conn_confirm() - Notes that the peer's queue pair accepts requests.
 * @conn: connection
 */
void mxefi_conn_confirm(struct mxefi_conn *conn);

/**
 * mxefi_conn_is_guest() - True if a hello alone has made a connection.
 * @conn: connection
 *
 * Return: true if the program has not used it and the peer has not confirmed.
 */
bool mxefi_conn_is_guest(const struct mxefi_conn *conn);

/**
 * mxefi_conn_use() - Notes that the program refers to a connection.
 * @conn: connection
 */
void mxefi_conn_use(struct mxefi_conn *conn);

/**
 * mxefi_conn_find() - Finds the connection to a peer.
 * @ep: endpoint of type FI_EP_RDM
 * @addr: address of the peer
 *
 * Return: the connection, or NULL.
 */
struct mxefi_conn *mxefi_conn_find(struct mxefi_ep *ep,
				   const struct mxefi_addr *addr);

/**
 * mxefi_conn_add() - Adds an idle connection.
 * @ep: endpoint
 * @addr: address of the peer
 *
 * Return: the connection, or NULL if memory is short.
 */
struct mxefi_conn *mxefi_conn_add(struct mxefi_ep *ep,
				  const struct mxefi_addr *addr);

/**
 * mxefi_conn_set_addr() - Sets the address of the peer.
 * @conn: connection of an endpoint of type FI_EP_MSG
 * @addr: address
 *
 * Return: 0 or -FI_ENOMEM.
 */
int mxefi_conn_set_addr(struct mxefi_conn *conn, const struct mxefi_addr *addr);

/**
 * mxefi_conn_free() - Frees an idle connection that nothing refers to.
 * @conn: connection of an endpoint of type FI_EP_RDM
 */
void mxefi_conn_free(struct mxefi_conn *conn);

/**
 * mxefi_conn_shutdown() - Closes a connection after the requests before.
 * @conn: connection
 */
void mxefi_conn_shutdown(struct mxefi_conn *conn);

/**
 * mxefi_conn_is_current() - True if a connection has not failed since.
 * @conn: connection
 * @epoch: its epoch at an earlier time
 *
 * Return: true if the queue pair is the same and not in error.
 */
bool mxefi_conn_is_current(const struct mxefi_conn *conn, uint32_t epoch);

/**
 * mxefi_conn_abort() - Breaks a connection.
 * @conn: connection
 * @err: errno of libfabric
 */
void mxefi_conn_abort(struct mxefi_conn *conn, int err);

/**
 * mxefi_conn_wr_complete() - Completes a request that no operation has.
 * @wr: request of a connection
 * @err: errno of libfabric, or 0
 *
 * If the request has failed, the connection is broken: the peer, or operations
 * here, would wait for it forever.
 *
 * Return: true: the request is not posted again.
 */
bool mxefi_conn_wr_complete(struct mxefi_wr *wr, int err);

/**
 * mxefi_conn_send() - Sends a message that no operation has.
 * @conn: connection
 * @epoch: its epoch when the peer began to wait for the message
 * @msg: message
 * @data: data after the message
 * @len: their length in bytes, up to MXEFI_BUF_SIZE
 *
 * The message waits if no request is free, and is dropped if the connection has
 * failed since. If it cannot be kept, or more of them wait than a peer can wait
 * for, the connection is broken.
 */
void mxefi_conn_send(struct mxefi_conn *conn, uint32_t epoch,
		     const struct mxefi_msg *msg, const void *data, size_t len);

/**
 * mxefi_conn_retry() - Continues what waits until a request is free.
 * @ep: endpoint
 *
 * What waits for a connection that has failed ends.
 */
void mxefi_conn_retry(struct mxefi_ep *ep);

#endif /* MXEFI_CONN_H */
