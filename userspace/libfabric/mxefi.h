/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The objects of the provider and the interfaces between its files.
 *
 * Lifetime / locking: all state below a domain is protected by the lock of
 * the domain. The calls of libfabric take it; functions that are declared
 * here expect it held unless they say otherwise. Completions of libibverbs
 * are polled by mxefi_progress() only, from the calls of the program and from
 * the thread of the domain.
 */
#ifndef MXEFI_H
#define MXEFI_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <rdma/fabric.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>
#include <rdma/providers/fi_log.h>
#include <rdma/providers/fi_prov.h>
#include <infiniband/verbs_exp.h>

#include "atomic_plan.h"
#include "wire.h"

/* libfabric 1 defines it, too. */
#ifndef container_of
#define container_of(ptr, type, field) \
	((type *)((char *)(ptr) - offsetof(type, field)))
#endif

#define MXEFI_IOV_LIMIT 4
#define MXEFI_BUF_SIZE 4096	/* bytes of data in a work buffer */
#define MXEFI_INJECT_SIZE 1024	/* bytes */
#define MXEFI_MIN_MULTI_RECV 64	/* bytes; the default */
#define MXEFI_TX_SIZE 512	/* operations of an endpoint */
#define MXEFI_RX_SIZE 512	/* receive buffers of an endpoint */
#define MXEFI_SQ_SIZE 128	/* requests of a connection */
#define MXEFI_QPN_HASH 64
#define MXEFI_UD_SIZE 64	/* hellos that a UD queue pair sends or receives */
/* Bytes of the longest SEND. */
#define MXEFI_RX_BUF (sizeof(struct mxefi_msg) + MXEFI_BUF_SIZE)
#define MXEFI_MAX_ATOMIC_COUNT 64 /* elements of an operation */
#define MXEFI_MAX_ATOMIC_SIZE (MXEFI_MAX_ATOMIC_COUNT * MXEFI_MAX_ELEMENT)

#define mxefi_warn(subsys, ...) FI_WARN(mxefi_prov, subsys, __VA_ARGS__)
#define mxefi_info(subsys, ...) FI_INFO(mxefi_prov, subsys, __VA_ARGS__)

struct mxefi_domain;
struct mxefi_ep;
struct mxefi_conn;
struct mxefi_op;

/* ---- refuse.c ---------------------------------------------------------- */

/* Set by fi_prov_ini(), for the messages of all files. */
extern struct fi_provider *mxefi_prov;

/**
 * mxefi_no_bind() - Refuses to bind an object.
 * @fid: object
 * @bfid: object to bind
 * @flags: flags of the call
 *
 * Return: -FI_ENOSYS.
 */
int mxefi_no_bind(struct fid *fid, struct fid *bfid, uint64_t flags);

/**
 * mxefi_no_control() - Refuses fi_control().
 * @fid: object
 * @command: command of fi_control()
 * @arg: its argument
 *
 * Return: -FI_ENOSYS.
 */
int mxefi_no_control(struct fid *fid, int command, void *arg);

/**
 * mxefi_no_ops_open() - Refuses fi_open_ops().
 * @fid: object
 * @name: name of the interface
 * @flags: flags of the call
 * @ops: where the interface would be stored
 * @context: context of the program
 *
 * Return: -FI_ENOSYS.
 */
int mxefi_no_ops_open(struct fid *fid, const char *name, uint64_t flags,
		      void **ops, void *context);

/**
 * mxefi_strerror() - Describes the prov_errno of an error entry.
 * @prov_errno: error
 * @buf: where the text is stored, too; or NULL
 * @len: size of @buf in bytes
 *
 * Return: the text.
 */
const char *mxefi_strerror(int prov_errno, char *buf, size_t len);

/**
 * mxefi_put_size() - Stores the value of an option.
 * @value: value
 * @optval: where it is stored
 * @optlen: room in bytes; becomes the size of the value
 *
 * Return: 0 or -FI_ETOOSMALL.
 */
int mxefi_put_size(size_t value, void *optval, size_t *optlen);

/* ---- device.c ---------------------------------------------------------- */

struct mxefi_device {
	struct ibv_context *ctx;
	struct ibv_device_attr attr;
	struct ibv_port_attr port;
	uint64_t sizes;		/* masked atomics: bit n for 2^n bytes */
	uint64_t sizes_be;	/* those with big-endian results */
	union ibv_gid gid;
	uint8_t gid_index;
};

/**
 * mxefi_device_open() - Opens a device for the provider.
 * @dev: filled in
 * @device: device of libibverbs
 *
 * Return: 0, or a negative error of libfabric. -FI_ENODATA: port 1 is not
 * active, has no GID that is an address of a network interface of this network
 * namespace, or the device has no SRQs.
 */
int mxefi_device_open(struct mxefi_device *dev, struct ibv_device *device);

/**
 * mxefi_device_close() - Closes a device.
 * @dev: device
 */
void mxefi_device_close(struct mxefi_device *dev);

/* ---- eq.c -------------------------------------------------------------- */

struct mxefi_event;

struct mxefi_eq {
	struct fid_eq fid;
	pthread_mutex_t lock;
	pthread_cond_t cond;
	int event_fd;		/* readable if there are events */
	unsigned int users;
	struct mxefi_event *events, **tail;
	struct mxefi_event *last_error;	/* whose err_data are in use */
};

/**
 * mxefi_eq_open() - fi_eq_open()
 * @fabric: fabric
 * @attr: attributes
 * @eq: where the event queue is stored
 * @context: context of the program
 *
 * Return: 0, or a negative error of libfabric.
 */
int mxefi_eq_open(struct fid_fabric *fabric, struct fi_eq_attr *attr,
		  struct fid_eq **eq, void *context);

/**
 * mxefi_eq_alloc() - Allocates an event, so that it cannot be lost later.
 *
 * Return: the event, which free() frees, or NULL if memory is short.
 */
struct mxefi_event *mxefi_eq_alloc(void);

/**
 * mxefi_eq_push_request() - Adds a request for a connection.
 * @eq: event queue
 * @fid: passive endpoint
 * @info: info with the handle, which the event owns
 * @data: data of the peer
 * @len: their length in bytes, up to MXEFI_CM_DATA
 *
 * Return: 0, -FI_ENOMEM, or -FI_EAGAIN if the program has not read as many as
 * the queue may hold.
 */
int mxefi_eq_push_request(struct mxefi_eq *eq, struct fid *fid,
			  struct fi_info *info, const void *data, size_t len);

/**
 * mxefi_eq_push() - Adds an event of a connection.
 * @eq: event queue
 * @event: from mxefi_eq_alloc(); the queue owns it
 * @type: FI_CONNECTED or FI_SHUTDOWN
 * @fid: endpoint
 * @data: data of the peer
 * @len: their length in bytes, up to MXEFI_CM_DATA
 */
void mxefi_eq_push(struct mxefi_eq *eq, struct mxefi_event *event,
		   uint32_t type, struct fid *fid, const void *data,
		   size_t len);

/**
 * mxefi_eq_push_err() - Adds an error event.
 * @eq: event queue
 * @event: from mxefi_eq_alloc(); the queue owns it
 * @fid: endpoint
 * @err: errno of libfabric
 * @data: data of the peer
 * @len: their length in bytes, up to MXEFI_CM_DATA
 */
void mxefi_eq_push_err(struct mxefi_eq *eq, struct mxefi_event *event,
		       struct fid *fid, int err, const void *data, size_t len);

/**
 * mxefi_eq_hold() - Counts an object that reports to an event queue.
 * @eq: event queue
 */
void mxefi_eq_hold(struct mxefi_eq *eq);

/**
 * mxefi_eq_forget() - Drops the events of an object, and stops counting it.
 * @eq: event queue
 * @fid: object
 */
void mxefi_eq_forget(struct mxefi_eq *eq, const struct fid *fid);

/**
 * mxefi_eq_empty() - Checks whether there is no event.
 * @eq: event queue
 *
 * Return: true if there is none.
 */
bool mxefi_eq_empty(struct mxefi_eq *eq);

/* ---- cq.c, cntr.c ------------------------------------------------------ */

struct mxefi_cq {
	struct fid_cq fid;
	struct mxefi_domain *dom;
	enum fi_cq_format format;
	enum fi_wait_obj wait_obj;
	int event_fd;		/* readable if there are events; or -1 */
	bool signaled;		/* by fi_cq_signal() */
	bool overrun;		/* an event was lost, and no more are added */
	unsigned int users;
	struct fi_cq_err_entry *ring;	/* err is 0 for a success */
	size_t size, head, count;	/* the ring grows when it is full */
};

/**
 * mxefi_cq_open() - fi_cq_open()
 * @domain: domain
 * @attr: attributes
 * @cq: where the completion queue is stored
 * @context: context of the program
 *
 * Return: 0, or a negative error of libfabric.
 */
int mxefi_cq_open(struct fid_domain *domain, struct fi_cq_attr *attr,
		  struct fid_cq **cq, void *context);

/**
 * mxefi_cq_push() - Adds an event and wakes those that wait for it.
 * @cq: completion queue
 * @event: event, which is copied
 */
void mxefi_cq_push(struct mxefi_cq *cq, const struct fi_cq_err_entry *event);

/**
 * mxefi_cq_empty() - Checks whether fi_cq_read() would find nothing.
 * @cq: completion queue
 *
 * Return: true if there is neither an event nor an overrun to report.
 */
bool mxefi_cq_empty(const struct mxefi_cq *cq);

struct mxefi_cntr {
	struct fid_cntr fid;
	struct mxefi_domain *dom;
	uint64_t value, errors;
	unsigned int users;
};

/**
 * mxefi_cntr_open() - fi_cntr_open()
 * @domain: domain
 * @attr: attributes
 * @cntr: where the counter is stored
 * @context: context of the program
 *
 * Return: 0, or a negative error of libfabric.
 */
int mxefi_cntr_open(struct fid_domain *domain, struct fi_cntr_attr *attr,
		    struct fid_cntr **cntr, void *context);

/**
 * mxefi_cntr_count() - Counts an operation and wakes those that wait for it.
 * @cntr: counter, or NULL
 * @error: true counts an error
 */
void mxefi_cntr_count(struct mxefi_cntr *cntr, bool error);

/* ---- progress.c -------------------------------------------------------- */

/* The wr_id of a request points to this. */
struct mxefi_work {
	void (*done)(struct mxefi_work *work, const struct ibv_wc *wc);
};

/* A callback that the progress thread makes periodically. */
struct mxefi_ticker {
	void (*tick)(struct mxefi_ticker *ticker, uint64_t now_ms);
	struct mxefi_ticker *next;
};

struct mxefi_domain {
	struct fid_domain fid;
	struct mxefi_device dev;
	pthread_mutex_t lock;
	pthread_cond_t events;	/* broadcast when an event was added */
	unsigned int users;	/* objects of the domain */
	struct ibv_pd *pd;
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;	/* of all queue pairs */
	int cqe_left;		/* entries that no endpoint has reserved */
	struct mxefi_ticker *tickers;
	pthread_t thread;
	int wake_fd;		/* makes the thread leave poll() */
	bool stop;
	uint64_t polls;		/* calls of fi_cq_read() and the like */
	unsigned int waiters;	/* threads in mxefi_progress_wait() */
	unsigned int connect_timeout_ms;
	/* Queue pairs of an endpoint with which it refuses further peers. */
	unsigned int max_conns;
};

/**
 * mxefi_domain_hold() - Counts an object of a domain. Takes the lock itself.
 * @dom: domain
 */
void mxefi_domain_hold(struct mxefi_domain *dom);

/**
 * mxefi_domain_release() - Stops counting an object. Takes the lock itself.
 * @dom: domain
 * @users: users of the object
 *
 * Return: 0, or -FI_EBUSY if the object has users.
 */
int mxefi_domain_release(struct mxefi_domain *dom, const unsigned int *users);

/**
 * mxefi_now_ms() - Reads the monotonic clock.
 *
 * Return: the time in milliseconds.
 */
uint64_t mxefi_now_ms(void);

/**
 * mxefi_lock_init() - Initialises a lock and a condition.
 * @lock: lock
 * @cond: condition, whose clock is that of mxefi_now_ms()
 */
void mxefi_lock_init(pthread_mutex_t *lock, pthread_cond_t *cond);

/**
 * mxefi_progress_start() - Starts the thread of a domain.
 * @dom: domain
 *
 * Return: 0, or a negative error of libfabric.
 */
int mxefi_progress_start(struct mxefi_domain *dom);

/**
 * mxefi_progress_stop() - Ends the thread of a domain. Takes the lock itself.
 * @dom: domain
 */
void mxefi_progress_stop(struct mxefi_domain *dom);

/**
 * mxefi_progress() - Polls the completions and handles them.
 * @dom: domain
 *
 * Returns after as many completions as the queue can hold, even if more arrive.
 */
void mxefi_progress(struct mxefi_domain *dom);

/**
 * mxefi_progress_wait() - Waits until an event was added or the time is over.
 * @dom: domain
 * @deadline_ms: end of the wait on the clock of mxefi_now_ms(), or UINT64_MAX
 */
void mxefi_progress_wait(struct mxefi_domain *dom, uint64_t deadline_ms);

/* ---- mr.c, av.c -------------------------------------------------------- */

extern struct fi_ops_mr mxefi_mr_ops;

struct mxefi_av {
	struct fid_av fid;
	struct mxefi_domain *dom;
	unsigned int users;
	struct mxefi_addr *addrs;	/* id 0: removed */
	size_t size, count;
};

/**
 * mxefi_av_open() - fi_av_open()
 * @domain: domain
 * @attr: attributes
 * @av: where the address vector is stored
 * @context: context of the program
 *
 * Return: 0, or a negative error of libfabric.
 */
int mxefi_av_open(struct fid_domain *domain, struct fi_av_attr *attr,
		  struct fid_av **av, void *context);

/**
 * mxefi_av_get() - Looks an address up.
 * @av: address vector
 * @fi_addr: address of libfabric
 *
 * Return: the address of the peer, or NULL if @fi_addr is not valid.
 */
const struct mxefi_addr *mxefi_av_get(struct mxefi_av *av, fi_addr_t fi_addr);

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
	unsigned int posted, slot;
	bool closing;
	/* Called for a valid hello. */
	void (*on_hello)(struct mxefi_ud *ud, const struct mxefi_hello *hello,
			 const uint8_t *data);
};

/**
 * mxefi_ud_open() - Creates a UD queue pair and its name.
 * @ud: filled in; on_hello is set already
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
 * mxefi_ud_ah_attr() - The path to an address.
 * @dom: domain
 * @to: address
 *
 * Return: the attributes of an address handle.
 */
struct ibv_ah_attr mxefi_ud_ah_attr(const struct mxefi_domain *dom,
				    const struct mxefi_addr *to);

/**
 * mxefi_ud_send() - Sends a hello, which may be lost.
 * @ud: UD queue pair
 * @to: address
 * @ah: address handle of the address, which is created if it is NULL
 * @hello: hello, whose magic, addresses and MTU are filled in
 * @data: data after the hello, of the length that it says
 */
void mxefi_ud_send(struct mxefi_ud *ud, const struct mxefi_addr *to,
		   struct ibv_ah **ah, struct mxefi_hello *hello,
		   const void *data);

/* ---- wr.c: requests ---------------------------------------------------- */

/* A request on an RC queue pair. */
struct mxefi_wr {
	struct mxefi_work work;
	struct mxefi_wr *next;
	struct mxefi_conn *conn;
	struct mxefi_op *op;		/* the operation it belongs to, or NULL */
	struct ibv_exp_send_wr wr;
	struct ibv_sge sge[MXEFI_IOV_LIMIT];
	/* Registrations for this request alone. */
	struct ibv_mr *mrs[MXEFI_IOV_LIMIT];
	uint8_t *buf;			/* MXEFI_BUF_SIZE and a header */
	uint32_t lkey;			/* of buf */
	void *copy_to;			/* destination of the data of a READ into buf */
	bool loop;			/* later requests have to wait for it */
	struct mxefi_recv *recv;	/* whose data it reads; or NULL */
	struct mxefi_unit *unit;	/* of an atomic */
	uint32_t first;			/* its first element in the operation */
	/*
	 * Called when the request is complete, with an errno of libfabric or 0.
	 * Returns false if the request was posted again.
	 */
	bool (*complete)(struct mxefi_wr *wr, int err);
};

/**
 * mxefi_wr_get() - Allocates a request.
 * @conn: connection
 *
 * Return: the request, or NULL if memory is short.
 */
struct mxefi_wr *mxefi_wr_get(struct mxefi_conn *conn);

/**
 * mxefi_wr_put() - Frees a request that is not in flight.
 * @wr: request
 */
void mxefi_wr_put(struct mxefi_wr *wr);

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
 * mxefi_wr_get_send() - Makes a SEND of a header and the bytes after it.
 * @conn: connection
 * @msg: header
 * @len: number of bytes, which the caller copies to the buffer
 *
 * Return: the request, or NULL if memory is short.
 */
struct mxefi_wr *mxefi_wr_get_send(struct mxefi_conn *conn,
				   const struct mxefi_msg *msg, size_t len);

/**
 * mxefi_wr_free_all() - Frees the memory of all requests of an endpoint.
 * @ep: endpoint
 */
void mxefi_wr_free_all(struct mxefi_ep *ep);

/* A request for a connection, until an endpoint accepts or rejects it. */
struct mxefi_connreq {
	struct fid handle;
	struct mxefi_hello hello;
};

/* ---- conn.c: connections ----------------------------------------------- */

enum mxefi_conn_state {
	MXEFI_CONN_IDLE,	/* no queue pair */
	MXEFI_CONN_HELLO,	/* waits for an answer of the peer */
	MXEFI_CONN_READY,
	MXEFI_CONN_BROKEN,	/* the queue pair is in error */
};

struct mxefi_conn {
	struct mxefi_conn *next;
	struct mxefi_ep *ep;
	struct mxefi_addr peer;
	enum mxefi_conn_state state;
	bool connected;			/* the queue pair is in RTS */
	struct ibv_qp *qp;
	struct ibv_ah *ah;
	struct mxefi_conn *next_qpn;	/* in the hash table of QP numbers */
	uint32_t peer_qpn;
	uint32_t psn;
	/* Of endpoints of type FI_EP_MSG. */
	uint32_t cm_flags;		/* of our hellos */
	uint32_t data_len, peer_data_len;
	uint8_t data[MXEFI_CM_DATA], peer_data[MXEFI_CM_DATA];
	bool is_shut;			/* no new requests, and no event */
	uint32_t epoch;			/* of our queue pair */
	uint32_t peer_epoch;		/* of the last connected queue pair */
	/* Only an endpoint that has received our hello knows our token. */
	uint64_t token, peer_token;
	bool is_proven;			/* who sent peer_epoch knew our token */
	bool is_confirmed;		/* the peer has sent an ACK or a request */
	bool is_used;			/* the program refers to it */
	unsigned int kept;		/* unexpected messages of the peer */
	uint64_t hello_ms;		/* time of the last hello */
	uint64_t since_ms;		/* time of the last change of state */
	uint64_t probe_ms;		/* time of the last check of the peer */
	unsigned int posted;		/* requests in the send queue */
	struct mxefi_op *hold;		/* has the loops that are in flight */
	unsigned int loops;
	struct mxefi_wr *pending, **pending_tail;
};

/* A receive buffer of the SRQ. */
struct mxefi_rxbuf {
	struct mxefi_work work;
	struct mxefi_rxbuf *next;	/* if it is held */
	struct mxefi_ep *ep;
	uint8_t *buf;
};

/**
 * mxefi_conn_setup() - Creates the queues of an endpoint.
 * @ep: endpoint
 *
 * Return: 0, or a negative error of libfabric. Then mxefi_conn_teardown() has
 * to be called, too.
 */
int mxefi_conn_setup(struct mxefi_ep *ep);

/**
 * mxefi_conn_teardown() - Closes all connections and destroys the queues.
 * @ep: endpoint
 */
void mxefi_conn_teardown(struct mxefi_ep *ep);

/**
 * mxefi_conn_get() - Finds or makes the connection to a peer.
 * @ep: endpoint
 * @fi_addr: address of libfabric
 *
 * Return: the connection, which may not be connected yet, or NULL if the
 * address is not valid or memory is short.
 */
struct mxefi_conn *mxefi_conn_get(struct mxefi_ep *ep, fi_addr_t fi_addr);

/**
 * mxefi_conn_error() - What a call returns if there is no connection.
 * @ep: endpoint
 *
 * Return: a negative error of libfabric.
 */
int mxefi_conn_error(const struct mxefi_ep *ep);

/**
 * mxefi_conn_start() - Connects an endpoint of type FI_EP_MSG.
 * @ep: endpoint
 * @peer: address of a passive endpoint, or of the endpoint that has asked
 * @request: hello that is accepted, or NULL
 * @data: data of the program
 * @len: their length in bytes
 *
 * Return: 0, or a negative error of libfabric.
 */
int mxefi_conn_start(struct mxefi_ep *ep, const struct mxefi_addr *peer,
		     const struct mxefi_hello *request, const void *data,
		     size_t len);

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
 * mxefi_conn_resume() - Posts the receive buffers that were held.
 * @ep: endpoint
 *
 * To be called when an unexpected message has been freed.
 */
void mxefi_conn_resume(struct mxefi_ep *ep);

/**
 * mxefi_wr_submit() - Posts a request, or queues it until that is possible.
 * @wr: request
 */
void mxefi_wr_submit(struct mxefi_wr *wr);

/**
 * mxefi_wr_repeat() - Posts a request of a loop again, before all others.
 * @wr: request that has just completed
 */
void mxefi_wr_repeat(struct mxefi_wr *wr);

/**
 * mxefi_wr_loop_end() - Ends the loop of a request.
 * @wr: request
 */
void mxefi_wr_loop_end(struct mxefi_wr *wr);

/* ---- op.c: operations of the program ----------------------------------- */

struct mxefi_op {
	struct mxefi_op *next;
	struct mxefi_ep *ep;
	struct mxefi_conn *conn;
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
 * mxefi_op_get() - Takes an operation, without references.
 * @ep: endpoint
 * @conn: connection
 * @context: context of the program
 * @op_flags: flags of the call
 * @completion_flags: flags of the completion
 * @no_event: true reports no success, whatever the flags say
 *
 * Return: the operation, or NULL if as many as the endpoint may have are in
 * flight.
 */
struct mxefi_op *mxefi_op_get(struct mxefi_ep *ep, struct mxefi_conn *conn,
			      void *context, uint64_t op_flags,
			      uint64_t completion_flags, bool no_event);

/**
 * mxefi_op_put() - Drops a reference. The last one reports the completion.
 * @op: operation
 * @err: errno of libfabric, or 0
 */
void mxefi_op_put(struct mxefi_op *op, int err);

/**
 * mxefi_op_drop() - Frees an operation without reporting a completion.
 * @op: operation
 */
void mxefi_op_drop(struct mxefi_op *op);

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

/* ---- match.c: receives and unexpected messages ------------------------- */

/* A receive of the program, or one whose data are being read. */
struct mxefi_recv {
	struct mxefi_recv *next;
	struct mxefi_ep *ep;
	void *context;
	bool completion;		/* report success to the CQ */
	bool tagged;
	uint64_t tag, ignore;		/* 0 for a message without a tag */
	struct mxefi_conn *from;	/* matches this peer alone; or NULL */
	struct iovec iov[MXEFI_IOV_LIMIT];
	void *desc[MXEFI_IOV_LIMIT];
	size_t iov_count;
	/* FI_MULTI_RECV */
	bool multi;
	bool retired;			/* no longer queued */
	unsigned int parts;		/* messages that are being received */
	struct mxefi_recv *parent;	/* receive of the whole buffer; or NULL */
	/* The message. */
	struct mxefi_msg msg;
	struct mxefi_conn *conn;
	uint32_t epoch;			/* of the connection when it arrived */
	unsigned int reads;		/* requests in flight, or being made */
	int err;
};

/* A message for which no receive was posted. */
struct mxefi_unexpected {
	struct mxefi_unexpected *next;
	struct mxefi_conn *conn;
	uint32_t epoch;			/* of the connection when it arrived */
	void *claim;			/* context of the peek that claimed it */
	struct mxefi_msg msg;
	size_t len;			/* of data */
	uint8_t data[];
};

/* Receives and messages in the order of their arrival. */
struct mxefi_queue {
	struct mxefi_recv *recvs, **recvs_tail;
	struct mxefi_unexpected *unexpected, **unexpected_tail;
};

/**
 * mxefi_match_setup() - Prepares the queues of an endpoint.
 * @ep: endpoint
 */
void mxefi_match_setup(struct mxefi_ep *ep);

/**
 * mxefi_match_teardown() - Frees posted receives and unexpected messages.
 * @ep: endpoint
 */
void mxefi_match_teardown(struct mxefi_ep *ep);

/**
 * mxefi_match_arrival() - Takes the receive that a message matches.
 * @conn: connection of the message
 * @msg: message
 *
 * Return: the receive, which is no longer queued, or NULL.
 */
struct mxefi_recv *mxefi_match_arrival(struct mxefi_conn *conn,
				       const struct mxefi_msg *msg);

/**
 * mxefi_match_post() - Queues a receive and matches it with a message.
 * @recv: receive
 * @first: false if the receive is queued already
 * @found: the message, if there is one. The caller frees it.
 *
 * Return: the receive of the message, or NULL if the receive remains queued.
 */
struct mxefi_recv *mxefi_match_post(struct mxefi_recv *recv, bool first,
				    struct mxefi_unexpected **found);

/**
 * mxefi_match_find() - Finds the first unexpected message for a receive.
 * @recv: receive
 *
 * Return: the message, which remains queued, or NULL.
 */
struct mxefi_unexpected *mxefi_match_find(const struct mxefi_recv *recv);

/**
 * mxefi_match_keep() - Queues an unexpected message.
 * @u: message
 */
void mxefi_match_keep(struct mxefi_unexpected *u);

/**
 * mxefi_match_unlink() - Removes an unexpected message from its queue.
 * @u: message
 */
void mxefi_match_unlink(struct mxefi_unexpected *u);

/**
 * mxefi_match_cancel() - Removes a posted receive.
 * @ep: endpoint
 * @context: context of the receive
 * @any: true removes the first one, whatever its context is
 *
 * Return: the receive, or NULL if there is none.
 */
struct mxefi_recv *mxefi_match_cancel(struct mxefi_ep *ep, const void *context,
				      bool any);

/**
 * mxefi_match_claim() - Reserves an unexpected message.
 * @u: message
 * @context: context of the program
 */
void mxefi_match_claim(struct mxefi_unexpected *u, void *context);

/**
 * mxefi_match_claimed() - Takes a claimed message.
 * @ep: endpoint
 * @context: context of the claim
 *
 * Return: the message, or NULL.
 */
struct mxefi_unexpected *mxefi_match_claimed(struct mxefi_ep *ep,
					     const void *context);

/* ---- send.c, recv.c: messages ------------------------------------------ */

/**
 * mxefi_send() - Sends a message. Takes the lock itself.
 * @ep: endpoint
 * @kind: FI_MSG or FI_TAGGED
 * @m: message
 * @flags: flags of the call
 * @no_event: true reports no success
 *
 * Return: 0, or a negative error of libfabric.
 */
ssize_t mxefi_send(struct fid_ep *ep, uint64_t kind,
		   const struct fi_msg_tagged *m, uint64_t flags,
		   bool no_event);

/**
 * mxefi_send_buf() - Sends a message of one buffer. Takes the lock itself.
 * @ep: endpoint
 * @kind: FI_MSG or FI_TAGGED
 * @buf: data
 * @len: length of the data in bytes
 * @data: remote CQ data
 * @dest: destination
 * @tag: tag
 * @context: context of the program
 * @flags: flags of the call
 * @no_event: true reports no success
 *
 * Return: 0, or a negative error of libfabric.
 */
ssize_t mxefi_send_buf(struct fid_ep *ep, uint64_t kind, const void *buf,
		       size_t len, uint64_t data, fi_addr_t dest, uint64_t tag,
		       void *context, uint64_t flags, bool no_event);

/**
 * mxefi_recv_setup() - Prepares an endpoint for messages.
 * @ep: endpoint
 */
void mxefi_recv_setup(struct mxefi_ep *ep);

/**
 * mxefi_recv() - Posts a receive or finds a message. Takes the lock itself.
 * @ep: endpoint
 * @kind: FI_MSG or FI_TAGGED
 * @m: buffers, tag and source
 * @flags: flags of the call
 *
 * Return: 0, or a negative error of libfabric.
 */
ssize_t mxefi_recv(struct fid_ep *ep, uint64_t kind,
		   const struct fi_msg_tagged *m, uint64_t flags);

/**
 * mxefi_recv_cancel() - Cancels a posted receive.
 * @ep: endpoint
 * @context: context of the receive
 *
 * Return: 0, or -FI_ENOENT if no receive has this context.
 */
ssize_t mxefi_recv_cancel(struct mxefi_ep *ep, const void *context);

/* ---- msg.c, tagged.c --------------------------------------------------- */

extern struct fi_ops_msg mxefi_msg_ops;
extern struct fi_ops_tagged mxefi_tagged_ops;

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

	/* conn.c */
	struct mxefi_ticker ticker;
	struct mxefi_ud ud;
	struct ibv_srq *srq;
	int reserved_cqe;
	struct mxefi_rxbuf *rx;
	struct mxefi_rxbuf *held;	/* not posted */
	uint8_t *slab;
	struct ibv_mr *slab_mr;
	struct mxefi_conn *conns;	/* the latest first */
	unsigned int num_qps;		/* of all connections */
	unsigned int num_guests;	/* neither used nor confirmed */
	uint32_t epoch;			/* of the last queue pair */
	struct mxefi_conn *by_qpn[MXEFI_QPN_HASH];
	struct mxefi_conn **by_addr;
	size_t by_addr_size;
	unsigned int posted;	/* requests of all connections */
	bool starved;		/* some wait because of it */
	bool closing;
	/* wr.c */
	struct mxefi_wr *wrs, *free_wrs;
	unsigned int num_wrs;
	/* Set by op.c: the peer that the operation waits for is lost. */
	void (*on_lost)(struct mxefi_op *op, int err);
	/* Set by recv.c. */
	void (*on_broken)(struct mxefi_conn *conn);
	void (*on_message)(struct mxefi_conn *conn, const struct mxefi_msg *msg,
			   const uint8_t *data, size_t len);
	void (*on_write_data)(struct mxefi_conn *conn, uint32_t data,
			      size_t len);

	/* op.c */
	struct mxefi_op *ops, *free_ops;

	/* match.c: messages, and tagged messages */
	struct mxefi_queue queues[2];
	struct mxefi_unexpected *claimed;
	size_t unexpected_bytes;
	size_t min_multi_recv;
};

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
