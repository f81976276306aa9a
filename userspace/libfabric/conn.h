/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Connections of an endpoint, over RC or over DC. */
#ifndef MXEFI_CONN_H
#define MXEFI_CONN_H

#include <stdbool.h>
#include <stdint.h>

#include "container.h"
#include "peer.h"
#include "wire.h"

struct ibv_qp;
struct mxefi_ah;
struct mxefi_conn;
struct mxefi_ep;
struct mxefi_wr;

enum mxefi_conn_state {
	MXEFI_CONN_IDLE,	/* has no number */
	MXEFI_CONN_HELLO,	/* waits for an answer of the peer */
	MXEFI_CONN_READY,
	MXEFI_CONN_BROKEN,	/* requests fail */
};

/* A transport of connections: RC or DC. */
struct mxefi_transport {
	struct mxefi_channel channel;
	/* The peer notices the end of a connection only by a hello. */
	bool needs_notice;
	/*
	 * Opens an idle connection of a new epoch, and sets its number. Returns
	 * 0 or a negative error of libfabric.
	 */
	int (*open)(struct mxefi_conn *conn);
	/* True if connect() does not block. If not, it soon will not. */
	bool (*may_connect)(struct mxefi_conn *conn);
	/* Connects to that of a hello. Returns as open() does. Optional. */
	int (*connect)(struct mxefi_conn *conn, const struct mxefi_hello *hello);
	/* Ends the requests in flight. */
	void (*abort)(struct mxefi_conn *conn);
	/* True if no request is in flight. */
	bool (*is_drained)(const struct mxefi_conn *conn);
	/* Closes a connection without requests in flight. Optional. */
	void (*close)(struct mxefi_conn *conn);
	/* Frees what close() has left. Optional. */
	void (*release)(struct mxefi_conn *conn);
};

extern const struct mxefi_transport mxefi_conn_rc, mxefi_conn_dc;

struct mxefi_conn {
	struct mxefi_peer peer;
	struct mxefi_conn *next;
	const struct mxefi_transport *transport;
	enum mxefi_conn_state state;
	bool connected;			/* to the peer's; see peer_qpn */
	uint32_t number, peer_qpn;	/* MXEFI_DC_CONN, or of a queue pair */
	struct mxefi_ah *ah;
	struct mxefi_hello waiting;	/* for the address handle; magic 0: none */
	struct mxefi_conn *next_token;	/* in the hash table of tokens */
	/* conn_rc.c */
	struct ibv_qp *qp;
	uint32_t sq_size;		/* requests of the queue pair */
	struct mxefi_conn *next_qpn;	/* in the hash table of QP numbers */
	uint32_t psn;
	/* Of endpoints of type FI_EP_MSG. */
	uint32_t cm_flags;		/* of our hellos */
	uint32_t data_len, peer_data_len;
	uint8_t data[MXEFI_CM_DATA], peer_data[MXEFI_CM_DATA];
	bool refuses_dc;		/* as there are no DC initiators */
	bool is_shut;			/* no new requests */
	bool has_left;			/* one side has closed it */
	bool is_silent;			/* the peer answered no hello in time */
	uint32_t epoch;			/* counts the connections of ep */
	uint32_t peer_epoch;		/* of the last one of the peer */
	/* Only an endpoint that has received our hello knows our token. */
	uint64_t token, peer_token;
	bool is_proven;			/* the hello of peer_epoch had our token */
	bool is_confirmed;		/* the peer has sent an ACK or a request */
	bool is_used;			/* the program refers to it */
	bool stops_peer;		/* which is to send no messages */
	/*
	 * Messages of the peer that are kept, or have answers that wait, and
	 * receives for its messages alone.
	 */
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

struct mxefi_conn *mxefi_conn_by_qpn(struct mxefi_ep *ep, uint32_t qpn);
struct mxefi_conn *mxefi_conn_by_token(struct mxefi_ep *ep, uint64_t token);
void mxefi_conn_set_transport(struct mxefi_conn *conn,
			      const struct mxefi_transport *transport);
int mxefi_conn_open(struct mxefi_conn *conn);
int mxefi_conn_connect(struct mxefi_conn *conn,
		       const struct mxefi_hello *hello);
void mxefi_conn_make_idle(struct mxefi_conn *conn);
void mxefi_conn_confirm(struct mxefi_conn *conn);
bool mxefi_conn_is_guest(const struct mxefi_conn *conn);
void mxefi_conn_use(struct mxefi_conn *conn);
void mxefi_conn_unuse(struct mxefi_conn *conn);
struct mxefi_conn *mxefi_conn_find(struct mxefi_ep *ep,
				   const struct mxefi_addr *addr);
struct mxefi_conn *mxefi_conn_add(struct mxefi_ep *ep,
				  const struct mxefi_addr *addr,
				  const struct mxefi_transport *transport);
int mxefi_conn_set_addr(struct mxefi_conn *conn, const struct mxefi_addr *addr);
void mxefi_conn_free(struct mxefi_conn *conn);
void mxefi_conn_shutdown(struct mxefi_conn *conn);
bool mxefi_conn_is_current(const struct mxefi_conn *conn, uint32_t epoch);
void mxefi_conn_abort(struct mxefi_conn *conn, int err);
void mxefi_conn_queued(struct mxefi_peer *peer);
bool mxefi_conn_wr_complete(struct mxefi_wr *wr, int err);
void mxefi_conn_send(struct mxefi_conn *conn, uint32_t epoch,
		     const struct mxefi_msg *msg, const void *data, size_t len);
void mxefi_conn_retry(struct mxefi_ep *ep);

#endif /* MXEFI_CONN_H */
