/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The device, the domain and what all files use.
 *
 * Lifetime / locking: all state below a domain is protected by the lock of
 * the domain. The calls of libfabric take it; functions that are declared
 * here expect it held unless they say otherwise. Completions of libibverbs
 * are polled by mxefi_progress() only, from the calls of the program and from
 * the thread of the domain.
 */
#ifndef MXEFI_BASE_H
#define MXEFI_BASE_H

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
#define MXEFI_CONN_HASH 1024	/* buckets for connections */
#define MXEFI_RESOLVE_MS 5000	/* to wait for the answer to a question */
#define MXEFI_UD_SIZE 64	/* hellos that a UD queue pair sends or receives */
/* Bytes of the longest SEND. */
#define MXEFI_RX_BUF (sizeof(struct mxefi_msg) + MXEFI_BUF_SIZE)
#define MXEFI_MAX_ATOMIC_COUNT 64 /* elements of an operation */
#define MXEFI_MAX_ATOMIC_SIZE (MXEFI_MAX_ATOMIC_COUNT * MXEFI_MAX_ELEMENT)

#define mxefi_warn(subsys, ...) FI_WARN(mxefi_prov, subsys, __VA_ARGS__)
#define mxefi_info(subsys, ...) FI_INFO(mxefi_prov, subsys, __VA_ARGS__)

struct mxefi_domain;
struct mxefi_ep;
struct mxefi_peer;
struct mxefi_conn;
struct mxefi_op;
struct mxefi_answer;
struct mxefi_dcis;
struct mxefi_ah;

/* ---- provider.c -------------------------------------------------------- */

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
 * mxefi_store_size() - Stores the value of an option.
 * @value: value
 * @optval: where it is stored
 * @optlen: room in bytes; becomes the size of the value
 *
 * Return: 0 or -FI_ETOOSMALL.
 */
int mxefi_store_size(size_t value, void *optval, size_t *optlen);

/* ---- fabric.c ---------------------------------------------------------- */

struct mxefi_fabric {
	struct fid_fabric fid;
	unsigned int users;	/* domains and event queues; atomic */
};

/**
 * mxefi_fabric_is_old() - True if a program uses the API before 1.5.
 * @fabric: fabric
 *
 * Its error entries have no member err_data_size for the size of a buffer.
 *
 * Return: true if it does.
 */
static inline bool mxefi_fabric_is_old(const struct mxefi_fabric *fabric)
{
	/* libfabric sets it when the fabric is open. */
	return FI_VERSION_LT(fabric->fid.api_version, FI_VERSION(1, 5));
}

/**
 * mxefi_fabric_hold() - Counts an object of a fabric.
 * @fabric: fabric that a program has opened
 *
 * Return: the fabric, for mxefi_fabric_release().
 */
static inline struct mxefi_fabric *mxefi_fabric_hold(struct fid_fabric *fabric)
{
	struct mxefi_fabric *ret = container_of(fabric, struct mxefi_fabric,
						fid);

	__atomic_add_fetch(&ret->users, 1, __ATOMIC_RELAXED);
	return ret;
}

/**
 * mxefi_fabric_release() - Stops counting an object.
 * @fabric: fabric
 */
static inline void mxefi_fabric_release(struct mxefi_fabric *fabric)
{
	__atomic_sub_fetch(&fabric->users, 1, __ATOMIC_RELEASE);
}

/* ---- device.c ---------------------------------------------------------- */

struct mxefi_device {
	struct ibv_context *ctx;
	struct ibv_device_attr attr;
	struct ibv_port_attr port;
	uint64_t sizes;		/* masked atomics: bit n for 2^n bytes */
	uint64_t sizes_be;	/* those with big-endian results */
	bool has_dc;		/* the dynamically connected transport */
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
 * mxefi_device_gid_is_v4() - True if a GID is an IPv4 address.
 * @gid: GID
 *
 * Return: true if it is; the address is in the last 4 bytes.
 */
bool mxefi_device_gid_is_v4(const uint8_t gid[16]);

/**
 * mxefi_device_ask_atomics() - Asks for masked atomics of all sizes.
 * @dev: device, which may have none
 * @attr: attributes of a queue pair that is to be created
 */
void mxefi_device_ask_atomics(const struct mxefi_device *dev,
			      struct ibv_exp_qp_init_attr *attr);

/**
 * mxefi_device_close() - Closes a device.
 * @dev: device
 */
void mxefi_device_close(struct mxefi_device *dev);

/* ---- progress.c -------------------------------------------------------- */

/* The wr_id of a request points to this. */
struct mxefi_work {
	void (*done)(struct mxefi_work *work, const struct ibv_wc *wc);
};

/*
 * A callback that the progress thread makes periodically, and a last time when
 * the device was removed.
 */
struct mxefi_ticker {
	void (*tick)(struct mxefi_ticker *ticker, uint64_t now_ms);
	struct mxefi_ticker *next;
};

/* When endpoints without messages use DC. */
enum mxefi_dc_mode {
	MXEFI_DC_AUTO,		/* on a device that has it, for many peers */
	MXEFI_DC_NEVER,
	MXEFI_DC_ALWAYS,
};

#define MXEFI_RESOLVERS 4	/* threads of a domain */

/* The threads that create address handles, and those that wait (ah.c). */
struct mxefi_resolver {
	pthread_cond_t work;
	struct mxefi_ah *queue;
	pthread_t threads[MXEFI_RESOLVERS];
	unsigned int num_threads, num_idle;
	bool stop;
};

struct mxefi_domain {
	struct fid_domain fid;
	struct mxefi_fabric *fabric;
	struct mxefi_device dev;
	uint64_t atomic_types;	/* bit n: the device has datatype n */
	pthread_mutex_t lock;
	pthread_cond_t events;	/* broadcast when an event was added */
	unsigned int users;	/* objects of the domain */
	struct ibv_pd *pd;
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;	/* of all queue pairs */
	int cqe_left;		/* entries that no endpoint has reserved */
	struct mxefi_resolver resolver;
	struct mxefi_ticker *tickers;
	pthread_t thread;
	int wake_fd;		/* makes the thread leave poll() */
	bool stop;
	bool lost;		/* the device was removed */
	uint64_t polls;		/* calls of fi_cq_read() and the like */
	unsigned int waiters;	/* threads in mxefi_progress_wait() */
	unsigned int connect_timeout_ms;
	/* An endpoint with so many queue pairs refuses further peers. */
	unsigned int max_conns;
	enum mxefi_dc_mode dc_mode;
	unsigned int num_dcis;	/* DC initiators of an endpoint */
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
 * mxefi_domain_reserve() - Reserves entries of the completion queue.
 * @dom: domain
 * @cqe: number of entries, which the caller adds to cqe_left at the end
 *
 * Return: 0 or -FI_ENOSPC.
 */
int mxefi_domain_reserve(struct mxefi_domain *dom, int cqe);

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
 * A device that was removed has none.
 */
void mxefi_progress(struct mxefi_domain *dom);

/**
 * mxefi_progress_add_ticker() - Calls back periodically from now on.
 * @dom: domain
 * @ticker: callback
 */
void mxefi_progress_add_ticker(struct mxefi_domain *dom,
			       struct mxefi_ticker *ticker);

/**
 * mxefi_progress_del_ticker() - Does not call back any more.
 * @dom: domain
 * @ticker: callback, which need not have been added
 */
void mxefi_progress_del_ticker(struct mxefi_domain *dom,
			       const struct mxefi_ticker *ticker);

/**
 * mxefi_progress_watch() - Adds a ticker. Takes the lock itself.
 * @dom: domain
 * @ticker: callback
 */
void mxefi_progress_watch(struct mxefi_domain *dom,
			  struct mxefi_ticker *ticker);

/**
 * mxefi_progress_unwatch() - Removes a ticker. Takes the lock itself.
 * @dom: domain
 * @ticker: callback
 */
void mxefi_progress_unwatch(struct mxefi_domain *dom,
			    const struct mxefi_ticker *ticker);

/**
 * mxefi_progress_wake() - Wakes the threads in mxefi_progress_wait().
 * @dom: domain
 */
static inline void mxefi_progress_wake(struct mxefi_domain *dom)
{
	if (dom->waiters)
		pthread_cond_broadcast(&dom->events);
}

/**
 * mxefi_progress_wait() - Waits until an event was added or the time is over.
 * @dom: domain
 * @deadline_ms: end of the wait on the clock of mxefi_now_ms(), or UINT64_MAX
 */
void mxefi_progress_wait(struct mxefi_domain *dom, uint64_t deadline_ms);

/* ---- name.c ------------------------------------------------------------ */

struct mxefi_name;

/**
 * mxefi_name_parse() - Makes an address of a node and a service.
 * @node: name or address of a host, or NULL for this host
 * @service: name or number of a UDP port, or NULL
 * @flags: FI_NUMERICHOST: @node is an address
 * @addr: address with GID and port, but without an endpoint
 *
 * Return: 0, or -FI_ENODATA if there is no such name.
 */
int mxefi_name_parse(const char *node, const char *service, uint64_t flags,
		     struct mxefi_addr *addr);

/**
 * mxefi_name_service() - The service of an address that a program gives.
 * @addr: address, or NULL
 * @len: its length in bytes
 *
 * Return: the UDP port, or 0 if the address has none.
 */
uint32_t mxefi_name_service(const void *addr, size_t len);

/**
 * mxefi_name_is_endpoint() - Checks the address of an endpoint.
 * @addr: address of unknown origin
 *
 * Return: true if it is well-formed, and not a name that needs an answer.
 */
bool mxefi_name_is_endpoint(const struct mxefi_addr *addr);

/**
 * mxefi_name_is_loopback() - True if an address is of this host only.
 * @addr: address
 *
 * Return: true if it is.
 */
bool mxefi_name_is_loopback(const struct mxefi_addr *addr);

/**
 * mxefi_name_resolve() - Asks for the endpoint of an address, and waits.
 * @addr: address of mxefi_name_parse(), which becomes that of the endpoint. An
 *	address of an endpoint remains as it is.
 * @timeout_ms: time in milliseconds
 *
 * Return: 0, or a negative error of libfabric.
 */
int mxefi_name_resolve(struct mxefi_addr *addr, unsigned int timeout_ms);

/**
 * mxefi_name_open() - Answers questions for the address of an endpoint.
 * @dom: domain
 * @port: UDP port
 * @addr: address of the endpoint, which must remain
 *
 * Return: an object for mxefi_name_close(), or NULL if the port is in use.
 */
struct mxefi_name *mxefi_name_open(struct mxefi_domain *dom, uint32_t port,
				   const struct mxefi_addr *addr);

/**
 * mxefi_name_close() - Stops answering.
 * @name: object, or NULL
 */
void mxefi_name_close(struct mxefi_name *name);

/* ---- mr.c, av.c -------------------------------------------------------- */

extern struct fi_ops_mr mxefi_mr_ops;

struct mxefi_av {
	struct fid_av fid;
	struct mxefi_domain *dom;
	unsigned int users;
	struct mxefi_addr *addrs;	/* id 0: removed */
	size_t size, count, removed;
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

#endif /* MXEFI_BASE_H */
