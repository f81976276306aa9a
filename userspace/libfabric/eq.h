/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Event queues. */
#ifndef MXEFI_EQ_H
#define MXEFI_EQ_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <rdma/fi_eq.h>

#include "wire.h"

struct mxefi_event;
struct mxefi_fabric;

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

int mxefi_eq_open(struct fid_fabric *fabric, struct fi_eq_attr *attr,
		  struct fid_eq **eq, void *context);

/**
 * mxefi_eq_alloc() - Allocate an event, so that it cannot be lost later.
 *
 * Return: the event, which free() frees, or NULL if memory is short.
 */
struct mxefi_event *mxefi_eq_alloc(void);

/**
 * mxefi_eq_push_request() - Add a request for a connection.
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
 * mxefi_eq_push() - Add an event of a connection.
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
 * mxefi_eq_push_err() - Add an error event.
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
 * mxefi_eq_hold() - Count an object that reports to an event queue.
 * @eq: event queue
 */
void mxefi_eq_hold(struct mxefi_eq *eq);

/**
 * mxefi_eq_forget() - Drop the events of an object, and stop counting it.
 * @eq: event queue
 * @fid: object
 */
void mxefi_eq_forget(struct mxefi_eq *eq, const struct fid *fid);

/**
 * mxefi_eq_empty() - Check whether there is no event.
 * @eq: event queue
 *
 * Return: true if there is none.
 */
bool mxefi_eq_empty(struct mxefi_eq *eq);

#endif /* MXEFI_EQ_H */
