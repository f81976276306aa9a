/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Event queues, completion queues and counters.
 */
#ifndef MXEFI_EVENT_H
#define MXEFI_EVENT_H

#include "base.h"

/* ---- eq.c -------------------------------------------------------------- */

struct mxefi_event;

/* A request for a connection, until an endpoint accepts or rejects it. */
struct mxefi_connreq {
	struct fid handle;
	struct mxefi_hello hello;
};

struct mxefi_eq {
	struct fid_eq fid;
	struct mxefi_fabric *fabric;
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
	struct mxefi_ticker ticker;	/* if there is event_fd */
	enum fi_cq_format format;
	enum fi_wait_obj wait_obj;
	int event_fd;		/* readable if there are events; or -1 */
	unsigned int readers;	/* threads in fi_cq_sread() */
	uint64_t signals;	/* calls of fi_cq_signal() */
	bool signaled;		/* while there was no reader */
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
 * mxefi_cq_push_op() - Adds the event of an operation that has no data.
 * @cq: completion queue
 * @context: context of the program
 * @flags: flags of the completion
 * @err: errno of libfabric, or 0
 */
void mxefi_cq_push_op(struct mxefi_cq *cq, void *context, uint64_t flags,
		      int err);

/**
 * mxefi_cq_empty() - Checks whether fi_cq_read() would find nothing.
 * @cq: completion queue
 *
 * Return: true if there is neither an event nor an overrun nor the removal of
 * the device to report.
 */
bool mxefi_cq_empty(const struct mxefi_cq *cq);

struct mxefi_cntr {
	struct fid_cntr fid;
	struct mxefi_domain *dom;
	struct mxefi_ticker ticker;	/* if there is event_fd */
	uint64_t value, errors;
	enum fi_wait_obj wait_obj;
	int event_fd;		/* readable if changed; or -1 */
	bool changed;		/* since the program has read it */
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
 * mxefi_cntr_has_changed() - Checks whether a counter has changed.
 * @cntr: counter with a descriptor to wait for
 *
 * Return: true if it has changed since the program has read it, or the device
 * was removed.
 */
bool mxefi_cntr_has_changed(const struct mxefi_cntr *cntr);

/**
 * mxefi_cntr_count() - Counts an operation and wakes those that wait for it.
 * @cntr: counter, or NULL
 * @error: true counts an error
 */
void mxefi_cntr_count(struct mxefi_cntr *cntr, bool error);

#endif /* MXEFI_EVENT_H */
