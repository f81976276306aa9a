/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The transport: address handles, hellos, requests, peers, connections, and
 * operations.
 */
#ifndef MXEFI_TRANSPORT_H
#define MXEFI_TRANSPORT_H

#include "atomic_plan.h"
#include "base.h"
#include "event.h"

/* ---- ah.c: address handles --------------------------------------------- */

/**
 * mxefi_ah_attr() - The path to a host.
 * @dom: domain
 * @gid: GID of the host
 *
 * Return: the attributes of an address handle.
 */
struct ibv_ah_attr mxefi_ah_attr(const struct mxefi_domain *dom,
				 const uint8_t gid[16]);

/**
 * mxefi_ah_new() - Allocates an address handle, but does not create it yet.
 * @dom: domain
 * @gid: GID of the host
 * @ready: called with the lock of the domain each time it has been created
 * @arg: argument of @ready
 *
 * Return: the address handle, or NULL if memory is short.
 */
struct mxefi_ah *mxefi_ah_new(struct mxefi_domain *dom, const uint8_t gid[16],
			      void (*ready)(void *arg), void *arg);

/**
 * mxefi_ah_get() - Returns an address handle, or starts to create it.
 * @ah: address handle
 *
 * Does nothing for some time after a failure.
 *
 * Return: the address handle, or NULL if it does not exist yet.
 */
struct ibv_ah *mxefi_ah_get(struct mxefi_ah *ah);

/**
 * mxefi_ah_refresh() - Creates an address handle anew, unless it is fresh.
 * @ah: address handle
 *
 * The kernel resolves the address again when it connects a queue pair, and
 * blocks unless it has resolved it shortly before.
 *
 * Return: true if it was created less than a second ago.
 */
bool mxefi_ah_refresh(struct mxefi_ah *ah);

/**
 * mxefi_ah_free() - Destroys an address handle.
 * @ah: address handle, or NULL
 */
void mxefi_ah_free(struct mxefi_ah *ah);

/**
 * mxefi_ah_stop() - Ends the threads of a domain. Takes the lock itself.
 * @dom: domain whose address handles have been freed
 */
void mxefi_ah_stop(struct mxefi_domain *dom);

/* ---- ud.c -------------------------------------------------------------- */

struct mxefi_ud_buf {
	struct mxefi_work work;
	struct mxefi_ud *ud;
	/* Room for a GRH, a hello and its data. */
	uint8_t data[40 + sizeof(struct mxefi_hello) + MXEFI_CM_DATA];
};

struct mxefi_ud {
	struct mxefi_domain *dom;
	struct mxefi_addr name;
	struct ibv_qp *qp;
	struct ibv_mr *mr;
	struct mxefi_ud_buf *bufs;	/* receive buffers, then send buffers */
	struct mxefi_work sent;
	uint32_t service;		/* UDP port, set before opening; or 0 */
	struct mxefi_name *listener;	/* on that port, or NULL */
	unsigned int posted, slot;
	bool closing;
	/* Called for a valid hello. */
	void (*on_hello)(struct mxefi_ud *ud, const struct mxefi_hello *hello,
			 const uint8_t *data);
};

/**
 * mxefi_ud_open() - Creates a UD queue pair and its name.
 * @ud: filled in; on_hello and service are set already
 * @dom: domain
 *
 * Return: 0, or a negative error of libfabric. Then mxefi_ud_close() has to be
 * called, too.
 */
int mxefi_ud_open(struct mxefi_ud *ud, struct mxefi_domain *dom);

/**
 * mxefi_ud_close() - Destroys a UD queue pair.
 * @ud: UD queue pair, or all zeros
 */
void mxefi_ud_close(struct mxefi_ud *ud);

/**
 * mxefi_ud_send() - Sends a hello, which may be lost.
 * @ud: UD queue pair
 * @to: address
 * @ah: address handle of the address; if it is not ready, nothing is sent
 * @hello: hello, whose magic, addresses and MTU are filled in
 * @data: data after the hello, of hello->data_len bytes
 */
void mxefi_ud_send(struct mxefi_ud *ud, const struct mxefi_addr *to,
		   struct mxefi_ah *ah, struct mxefi_hello *hello,
		   const void *data);

/* ---- wr.c: requests ---------------------------------------------------- */

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

/**
 * mxefi_wr_setup() - Reserves requests for answers.
 * @ep: endpoint
 *
 * Return: 0 or -FI_ENOMEM. Then mxefi_wr_free_all() has to be called, too.
 */
int mxefi_wr_setup(struct mxefi_ep *ep);

/**
 * mxefi_wr_alloc() - Allocates a request.
 * @peer: peer
 *
 * Return: the request, or NULL if memory is short.
 */
struct mxefi_wr *mxefi_wr_alloc(struct mxefi_peer *peer);

/**
 * mxefi_wr_alloc_answer() - Allocates a request that a peer waits for.
 * @peer: peer
 *
 * Operations of the program may have taken all requests but those that are
 * reserved for answers.
 *
 * Return: the request, or NULL if these are in use, too.
 */
struct mxefi_wr *mxefi_wr_alloc_answer(struct mxefi_peer *peer);

/**
 * mxefi_wr_free() - Frees a request that is not in flight.
 * @wr: request
 */
void mxefi_wr_free(struct mxefi_wr *wr);

/**
 * mxefi_wr_add() - Adds local memory to a request.
 * @wr: request
 * @buf: local memory
 * @len: its length in bytes
 * @desc: descriptor of its memory region, or NULL
 * @access: access that the request needs (IBV_ACCESS_*)
 *
 * Return: 0, or a negative error of libfabric.
 */
int mxefi_wr_add(struct mxefi_wr *wr, void *buf, size_t len, void *desc,
		 int access);

/**
 * mxefi_wr_set_send() - Makes a SEND of a header and the bytes after it.
 * @wr: request
 * @msg: header
 * @len: number of bytes, which the caller copies to the buffer
 */
void mxefi_wr_set_send(struct mxefi_wr *wr, const struct mxefi_msg *msg,
		       size_t len);

/**
 * mxefi_wr_alloc_send() - Makes a SEND of a header and the bytes after it.
 * @peer: peer
 * @msg: header
 * @len: number of bytes, which the caller copies to the buffer
 *
 * Return: the request, or NULL if memory is short.
 */
struct mxefi_wr *mxefi_wr_alloc_send(struct mxefi_peer *peer,
				     const struct mxefi_msg *msg, size_t len);

/**
 * mxefi_wr_flush() - Completes all posted requests as the device would.
 * @ep: endpoint
 * @status: status of the completions
 */
void mxefi_wr_flush(struct mxefi_ep *ep, enum ibv_wc_status status);

/**
 * mxefi_wr_free_all() - Frees the memory of all requests of an endpoint.
 * @ep: endpoint, which is closing and has no queue pairs
 *
 * Requests that the device has not completed end with FI_ECANCELED.
 */
void mxefi_wr_free_all(struct mxefi_ep *ep);

/* ---- peer.c: peers and their requests ---------------------------------- */

/* What the requests to a peer are posted to. */
struct mxefi_channel {
	/*
	 * True if a request can be posted now. If not, the channel calls
	 * mxefi_peer_flush() as soon as one can.
	 */
	bool (*ready)(struct mxefi_peer *peer);
	/* A request was queued. Calls mxefi_peer_flush() now or later. */
	void (*queued)(struct mxefi_peer *peer);
	/* Posts a request. Returns 0, or an error and it is not posted. */
	int (*post)(struct mxefi_wr *wr);
};

struct mxefi_peer {
	const struct mxefi_channel *channel;
	struct mxefi_ep *ep;
	struct mxefi_addr addr;
	struct mxefi_peer *next_id;	/* in the hash table of ids */
	unsigned int posted;		/* requests in the send queue */
	unsigned int loops;		/* in flight */
	struct mxefi_op *hold;		/* has these loops */
	bool is_stopped;		/* takes no messages at the moment */
	/* Requests that wait for the channel: answers, and all others. */
	struct mxefi_wr *answers, **answers_tail;
	struct mxefi_wr *pending, **pending_tail;
};

/**
 * mxefi_peer_add() - Initialises a peer and adds it to those of an endpoint.
 * @peer: peer, all zeros
 * @channel: its channel
 * @ep: endpoint
 * @addr: address of the peer
 */
void mxefi_peer_add(struct mxefi_peer *peer,
		    const struct mxefi_channel *channel, struct mxefi_ep *ep,
		    const struct mxefi_addr *addr);

/**
 * mxefi_peer_remove() - Removes a peer from those of its endpoint.
 * @peer: peer
 */
void mxefi_peer_remove(struct mxefi_peer *peer);

/**
 * mxefi_peer_find() - Finds a peer by its address.
 * @ep: endpoint
 * @channel: channel of the peer
 * @addr: address
 *
 * Return: the peer, or NULL.
 */
struct mxefi_peer *mxefi_peer_find(struct mxefi_ep *ep,
				   const struct mxefi_channel *channel,
				   const struct mxefi_addr *addr);

/**
 * mxefi_peer_access() - The rights that the capabilities give to all peers.
 * @ep: endpoint
 *
 * Return: access flags of its queue pairs (IBV_ACCESS_*).
 */
unsigned int mxefi_peer_access(const struct mxefi_ep *ep);

/**
 * mxefi_peer_flush() - Posts pending requests.
 * @peer: peer
 *
 * Stops when the channel is not ready, a loop holds back the requests, or the
 * next one is a message that the peer does not take.
 */
void mxefi_peer_flush(struct mxefi_peer *peer);

/**
 * mxefi_peer_fail_pending() - Completes the requests that were not posted.
 * @peer: peer
 * @err: errno of libfabric
 */
void mxefi_peer_fail_pending(struct mxefi_peer *peer, int err);

/**
 * mxefi_wr_submit() - Posts a request, or queues it until that is possible.
 * @wr: request
 */
void mxefi_wr_submit(struct mxefi_wr *wr);

/**
 * mxefi_wr_answer() - Posts or queues a request before those of operations.
 * @wr: request that the peer waits for, which needs no order
 */
void mxefi_wr_answer(struct mxefi_wr *wr);

/**
 * mxefi_wr_repeat() - Posts a request of a loop again, before all others.
 * @wr: request that has just completed
 */
void mxefi_wr_repeat(struct mxefi_wr *wr);

/**
 * mxefi_wr_requeue() - Puts a request back before all that are queued.
 * @wr: request that was posted, but not executed
 *
 * Of several requests, the last one is put back first.
 */
void mxefi_wr_requeue(struct mxefi_wr *wr);

/**
 * mxefi_wr_loop_end() - Ends the loop of a request.
 * @wr: request
 */
void mxefi_wr_loop_end(struct mxefi_wr *wr);

/**
 * mxefi_wr_error() - Notes and logs why a request has failed.
 * @wr: request
 * @wc: its completion
 *
 * Return: an errno of libfabric.
 */
int mxefi_wr_error(struct mxefi_wr *wr, const struct ibv_wc *wc);

/**
 * mxefi_wr_end() - Completes a request, which may be posted again instead.
 * @wr: request that is not in the send queue
 * @err: errno of libfabric, or 0
 */
void mxefi_wr_end(struct mxefi_wr *wr, int err);

/* ---- conn.c: connections ----------------------------------------------- */

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
	uint64_t hello_ms;		/* time of the last hello */
	uint64_t since_ms;		/* time of the last change of state */
	uint64_t probe_ms;		/* time of the last check of the peer */
};

/**
 * to_conn() - Returns the connection of a peer.
 * @peer: peer whose channel is a connection
 *
 * Return: the connection.
 */
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
 *
 * The message waits if no request is free, and is dropped if the connection has
 * failed since. If it cannot be sent, the connection is broken.
 */
void mxefi_conn_send(struct mxefi_conn *conn, uint32_t epoch,
		     const struct mxefi_msg *msg);

/**
 * mxefi_conn_retry() - Continues what waits until a request is free.
 * @ep: endpoint
 *
 * What waits for a connection that has failed ends.
 */
void mxefi_conn_retry(struct mxefi_ep *ep);

/* ---- dci.c: the dynamically connected (DC) transport ------------------- */

/**
 * mxefi_dci_open() - Creates the DC initiators of an endpoint.
 * @ep: endpoint
 *
 * Return: 0, or a negative error of libfabric.
 */
int mxefi_dci_open(struct mxefi_ep *ep);

/**
 * mxefi_dci_close() - Ends all requests and destroys the DC initiators.
 * @ep: endpoint, which is closing or has no requests
 */
void mxefi_dci_close(struct mxefi_ep *ep);

/**
 * mxefi_dci_end_all() - Ends all requests, because the device was removed.
 * @ep: endpoint, which need not have initiators
 */
void mxefi_dci_end_all(struct mxefi_ep *ep);

/**
 * mxefi_dci_is_sending() - Checks whether DC requests are in flight.
 * @ep: endpoint
 *
 * Return: true if some are, or wait for it.
 */
bool mxefi_dci_is_sending(const struct mxefi_ep *ep);

/**
 * mxefi_dci_reaches() - Checks whether an endpoint can use DC to an address.
 * @ep: endpoint on a device with DC
 * @addr: address
 *
 * Return: true if it has a DC target whose path MTU is not smaller than ours.
 */
bool mxefi_dci_reaches(const struct mxefi_ep *ep,
		       const struct mxefi_addr *addr);

/**
 * mxefi_dci_find() - Finds the peer with a DC target.
 * @ep: endpoint
 * @addr: address with the target
 *
 * Return: the peer, or NULL.
 */
struct mxefi_peer *mxefi_dci_find(struct mxefi_ep *ep,
				  const struct mxefi_addr *addr);

/**
 * mxefi_dci_add() - Adds a peer with a DC target.
 * @ep: endpoint with initiators
 * @addr: address with the target
 *
 * Return: the peer, or NULL if it has no route or memory is short.
 */
struct mxefi_peer *mxefi_dci_add(struct mxefi_ep *ep,
				 const struct mxefi_addr *addr);

/* ---- hello.c: connecting ----------------------------------------------- */

/**
 * mxefi_hello_setup() - Sets the functions that connect an endpoint.
 * @ep: endpoint
 */
void mxefi_hello_setup(struct mxefi_ep *ep);

/**
 * mxefi_hello_start() - Connects an endpoint of type FI_EP_MSG.
 * @ep: endpoint
 * @peer: address of a passive endpoint, or of the endpoint that has asked
 * @request: hello that is accepted, or NULL
 * @data: data of the program
 * @len: their length in bytes
 *
 * Return: 0, or a negative error of libfabric.
 */
int mxefi_hello_start(struct mxefi_ep *ep, const struct mxefi_addr *peer,
		     const struct mxefi_hello *request, const void *data,
		     size_t len);

/* ---- route.c ----------------------------------------------------------- */

/**
 * mxefi_route_get() - Finds or makes the peer of an address.
 * @ep: endpoint
 * @fi_addr: address of libfabric
 *
 * Return: the peer, which may not be connected yet, or NULL if the address is
 * not valid or memory is short.
 */
struct mxefi_peer *mxefi_route_get(struct mxefi_ep *ep, fi_addr_t fi_addr);

/**
 * mxefi_route_has_dc() - Checks whether an endpoint may use DC.
 * @ep: endpoint
 *
 * Return: true if it may.
 */
bool mxefi_route_has_dc(const struct mxefi_ep *ep);

/**
 * mxefi_route_error() - What a call returns if there is no peer.
 * @ep: endpoint
 *
 * Return: a negative error of libfabric.
 */
int mxefi_route_error(const struct mxefi_ep *ep);

/* ---- queues.c ---------------------------------------------------------- */

/* A receive buffer of the SRQ. */
struct mxefi_rxbuf {
	struct mxefi_work work;
	struct mxefi_rxbuf *next;	/* if it is held */
	struct mxefi_ep *ep;
	uint8_t *buf;
};

/**
 * mxefi_queues_setup() - Creates the queues of an endpoint.
 * @ep: endpoint
 *
 * Return: 0, or a negative error of libfabric. Then mxefi_queues_teardown() has
 * to be called, too.
 */
int mxefi_queues_setup(struct mxefi_ep *ep);

/**
 * mxefi_queues_teardown() - Closes all connections and destroys the queues.
 * @ep: endpoint
 */
void mxefi_queues_teardown(struct mxefi_ep *ep);

/**
 * mxefi_queues_resume() - Posts the receive buffers that were held.
 * @ep: endpoint
 *
 * To be called when an unexpected message has been freed.
 */
void mxefi_queues_resume(struct mxefi_ep *ep);

/* ---- op.c: operations of the program ----------------------------------- */

struct mxefi_op {
	struct mxefi_op *next;
	struct mxefi_ep *ep;
	struct mxefi_peer *peer;
	bool used;
	bool wants_fin;
	bool completion;		/* report success to the CQ */
	uint32_t generation;
	unsigned int refs;		/* requests and FINs that are outstanding */
	int err;
	uint64_t flags;			/* of the completion */
	void *context;
	struct mxefi_cntr *cntr;
	/* Of a rendezvous: the data, and a copy if they were in pieces. */
	struct ibv_mr *mr;
	uint8_t *copy;
	/* Atomics. */
	enum fi_op atomic;
	enum fi_datatype datatype;
	struct fi_ioc results[MXEFI_IOV_LIMIT];
	size_t num_results;
	struct mxefi_unit *units;	/* NULL, one_unit, or allocated */
	struct mxefi_unit one_unit;
};

/**
 * mxefi_op_setup() - Allocates the operations of an endpoint.
 * @ep: endpoint
 *
 * Return: 0, or -FI_ENOMEM.
 */
int mxefi_op_setup(struct mxefi_ep *ep);

/**
 * mxefi_op_teardown() - Frees the operations of an endpoint.
 * @ep: endpoint
 */
void mxefi_op_teardown(struct mxefi_ep *ep);

/**
 * mxefi_op_alloc() - Takes an operation, without references.
 * @ep: endpoint
 * @peer: peer
 * @context: context of the program
 * @op_flags: flags of the call
 * @completion_flags: flags of the completion
 * @no_event: true reports no success, whatever the flags say
 *
 * Return: the operation, or NULL if as many as the endpoint may have are in
 * flight.
 */
struct mxefi_op *mxefi_op_alloc(struct mxefi_ep *ep, struct mxefi_peer *peer,
				void *context, uint64_t op_flags,
				uint64_t completion_flags, bool no_event);

/**
 * mxefi_op_put() - Drops a reference. The last one reports the completion.
 * @op: operation
 * @err: errno of libfabric, or 0
 */
void mxefi_op_put(struct mxefi_op *op, int err);

/**
 * mxefi_op_free() - Frees an operation without reporting a completion.
 * @op: operation
 */
void mxefi_op_free(struct mxefi_op *op);

/**
 * mxefi_op_wr_complete() - Completes a request that is a part of an operation.
 * @wr: request
 * @err: errno of libfabric, or 0
 *
 * Return: true: the request is not posted again.
 */
bool mxefi_op_wr_complete(struct mxefi_wr *wr, int err);

/**
 * mxefi_op_cookie() - Names an operation, for a peer to return.
 * @op: operation
 *
 * Return: its index and generation.
 */
uint64_t mxefi_op_cookie(struct mxefi_op *op);

/**
 * mxefi_op_find() - Finds the operation that a peer means.
 * @ep: endpoint
 * @cookie: cookie that a peer has sent
 *
 * Return: the operation, or NULL if it has ended.
 */
struct mxefi_op *mxefi_op_find(struct mxefi_ep *ep, uint64_t cookie);

/**
 * mxefi_call_end() - Ends a call that starts an operation. Releases the lock.
 * @ep: endpoint
 * @ret: what the call returns; -FI_EAGAIN makes progress
 *
 * Return: @ret, or -FI_ENOMEM instead of -FI_EAGAIN if no operation is in
 * flight whose end would make the call succeed.
 */
ssize_t mxefi_call_end(struct mxefi_ep *ep, ssize_t ret);

/**
 * mxefi_iov_len() - Adds up the length of a vector.
 * @iov: vector
 * @count: number of its elements
 *
 * Return: the length in bytes, or SIZE_MAX if it exceeds MXEFI_MAX_MSG_SIZE.
 */
size_t mxefi_iov_len(const struct iovec *iov, size_t count);

#endif /* MXEFI_TRANSPORT_H */
