// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Event queues, which report the events of connections.
 *
 * Lifetime / locking: an event queue belongs to the fabric and has a lock of
 * its own, which is taken with the lock of a domain held, never the other way.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "container.h"
#include "eq.h"
#include "fabric.h"
#include "progress.h"
#include "provider.h"
#include "wire.h"

/* Requests for connections that the program has not read. */
#define MAX_REQUESTS 256

struct mxefi_event {
	struct mxefi_event *next;
	uint32_t type;
	int err;		/* an error event with this errno; or 0 */
	struct fid *fid;	/* of an event of a connection; or NULL */
	size_t len;		/* of data */
	uint8_t data[];		/* what fi_eq_read() returns; or err_data */
};

static struct mxefi_eq *to_eq(struct fid_eq *eq)
{
	return container_of(eq, struct mxefi_eq, fid);
}

static void push(struct mxefi_eq *eq, struct mxefi_event *event)
{
	pthread_mutex_lock(&eq->lock);
	event->next = NULL;
	*eq->tail = event;
	eq->tail = &event->next;
	eventfd_write(eq->event_fd, 1);
	pthread_cond_broadcast(&eq->cond);
	pthread_mutex_unlock(&eq->lock);
}

/* Takes the event at @p from the queue. */
static struct mxefi_event *take(struct mxefi_eq *eq, struct mxefi_event **p)
{
	struct mxefi_event *event = *p;
	eventfd_t value;

	*p = event->next;
	if (!*p)
		eq->tail = p;
	if (!eq->events)
		eventfd_read(eq->event_fd, &value);
	return event;
}

static void free_event(struct mxefi_event *event)
{
	struct fi_eq_cm_entry entry;

	/* A request for a connection that the program has not seen. */
	if (event->type == FI_CONNREQ && event->fid) {
		memcpy(&entry, event->data, sizeof(entry));
		free(container_of(entry.info->handle, struct mxefi_connreq,
				  handle));
		fi_freeinfo(entry.info);
	}
	free(event);
}

/**
 * mxefi_eq_alloc() - Allocate an event, so that it cannot be lost later.
 *
 * Return: the event, which free() frees, or NULL if memory is short.
 */
struct mxefi_event *mxefi_eq_alloc(void)
{
	return calloc(1, sizeof(struct mxefi_event) +
			 sizeof(struct fi_eq_cm_entry) + MXEFI_CM_DATA);
}

static void push_entry(struct mxefi_eq *eq, struct mxefi_event *event,
		       uint32_t type, const struct fi_eq_cm_entry *entry,
		       const void *data, size_t len)
{
	event->type = type;
	event->fid = entry->fid;
	event->len = sizeof(*entry) + len;
	memcpy(event->data, entry, sizeof(*entry));
	memcpy(event->data + sizeof(*entry), data, len);
	push(eq, event);
}

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
			  struct fi_info *info, const void *data, size_t len)
{
	struct fi_eq_cm_entry entry = { .fid = fid, .info = info };
	struct mxefi_event *event;
	unsigned int requests = 0;

	pthread_mutex_lock(&eq->lock);
	for (event = eq->events; event; event = event->next)
		if (event->type == FI_CONNREQ && event->fid)
			requests++;
	pthread_mutex_unlock(&eq->lock);
	if (requests >= MAX_REQUESTS)
		return -FI_EAGAIN;
	event = mxefi_eq_alloc();
	if (!event)
		return -FI_ENOMEM;
	push_entry(eq, event, FI_CONNREQ, &entry, data, len);
	return 0;
}

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
		   uint32_t type, struct fid *fid, const void *data, size_t len)
{
	struct fi_eq_cm_entry entry = { .fid = fid };

	push_entry(eq, event, type, &entry, data, len);
}

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
		       struct fid *fid, int err, const void *data, size_t len)
{
	event->err = err;
	event->fid = fid;
	event->len = len;
	memcpy(event->data, data, len);
	push(eq, event);
}

/**
 * mxefi_eq_forget() - Drop the events of an object, and stop counting it.
 * @eq: event queue
 * @fid: object
 */
void mxefi_eq_forget(struct mxefi_eq *eq, const struct fid *fid)
{
	struct mxefi_event **p = &eq->events;

	pthread_mutex_lock(&eq->lock);
	while (*p) {
		if ((*p)->fid == fid)
			free_event(take(eq, p));
		else
			p = &(*p)->next;
	}
	eq->users--;
	pthread_mutex_unlock(&eq->lock);
}

/**
 * mxefi_eq_hold() - Count an object that reports to an event queue.
 * @eq: event queue
 */
void mxefi_eq_hold(struct mxefi_eq *eq)
{
	pthread_mutex_lock(&eq->lock);
	eq->users++;
	pthread_mutex_unlock(&eq->lock);
}

/**
 * mxefi_eq_empty() - Check whether there is no event.
 * @eq: event queue
 *
 * Return: true if there is none.
 */
bool mxefi_eq_empty(struct mxefi_eq *eq)
{
	bool empty;

	pthread_mutex_lock(&eq->lock);
	empty = !eq->events;
	pthread_mutex_unlock(&eq->lock);
	return empty;
}

static ssize_t read_event(struct mxefi_eq *eq, uint32_t *type, void *buf,
			  size_t len, uint64_t flags)
{
	struct mxefi_event *event = eq->events;

	if (!event)
		return -FI_EAGAIN;
	if (event->err)
		return -FI_EAVAIL;
	/* The data of a connection are cut to the room for them. */
	if (len < (event->fid ? sizeof(struct fi_eq_cm_entry) : event->len))
		return -FI_ETOOSMALL;
	*type = event->type;
	if (len > event->len)
		len = event->len;
	memcpy(buf, event->data, len);
	if (!(flags & FI_PEEK))
		free(take(eq, &eq->events));
	return (ssize_t)len;
}

static ssize_t eq_read(struct fid_eq *fid, uint32_t *event, void *buf,
		       size_t len, uint64_t flags)
{
	struct mxefi_eq *eq = to_eq(fid);
	ssize_t ret;

	pthread_mutex_lock(&eq->lock);
	ret = read_event(eq, event, buf, len, flags);
	pthread_mutex_unlock(&eq->lock);
	return ret;
}

static ssize_t eq_sread(struct fid_eq *fid, uint32_t *event, void *buf,
			size_t len, int timeout, uint64_t flags)
{
	struct mxefi_eq *eq = to_eq(fid);
	uint64_t deadline = mxefi_now_ms() + (uint64_t)timeout;
	struct timespec ts = {
		.tv_sec = (time_t)(deadline / 1000),
		.tv_nsec = (long)(deadline % 1000) * 1000000,
	};
	ssize_t ret;
	int err = 0;

	pthread_mutex_lock(&eq->lock);
	for (;;) {
		ret = read_event(eq, event, buf, len, flags);
		if (ret != -FI_EAGAIN || err)
			break;
		if (timeout < 0)
			pthread_cond_wait(&eq->cond, &eq->lock);
		else
			err = pthread_cond_timedwait(&eq->cond, &eq->lock, &ts);
	}
	pthread_mutex_unlock(&eq->lock);
	return ret;
}

static ssize_t eq_readerr(struct fid_eq *fid, struct fi_eq_err_entry *buf,
			  uint64_t flags)
{
	struct mxefi_eq *eq = to_eq(fid);
	struct mxefi_event *event;

	pthread_mutex_lock(&eq->lock);
	event = eq->events;
	if (!event || !event->err) {
		pthread_mutex_unlock(&eq->lock);
		return -FI_EAGAIN;
	}
	buf->fid = event->fid;
	buf->context = event->fid ? event->fid->context : NULL;
	buf->data = 0;
	buf->err = event->err;
	buf->prov_errno = event->err;
	/* Without a buffer of the program, ours is good until the next call. */
	if (mxefi_fabric_is_old(eq->fabric) || !buf->err_data_size ||
	    !buf->err_data) {
		buf->err_data = event->data;
		buf->err_data_size = event->len;
	} else {
		if (buf->err_data_size > event->len)
			buf->err_data_size = event->len;
		memcpy(buf->err_data, event->data, buf->err_data_size);
	}
	if (!(flags & FI_PEEK)) {
		free(eq->last_error);
		eq->last_error = take(eq, &eq->events);
	}
	pthread_mutex_unlock(&eq->lock);
	return sizeof(*buf);
}

static ssize_t eq_write(struct fid_eq *fid, uint32_t type, const void *buf,
			size_t len, uint64_t flags)
{
	struct mxefi_event *event = calloc(1, sizeof(*event) + len);

	if (!event)
		return -FI_ENOMEM;
	event->type = type;
	event->len = len;
	memcpy(event->data, buf, len);
	push(to_eq(fid), event);
	return (ssize_t)len;
}

static const char *eq_strerror(struct fid_eq *eq, int prov_errno,
			       const void *err_data, char *buf, size_t len)
{
	return mxefi_strerror(prov_errno, buf, len);
}

static int eq_control(struct fid *fid, int command, void *arg)
{
	struct mxefi_eq *eq = container_of(fid, struct mxefi_eq, fid.fid);

	if (command == FI_GETWAITOBJ) {
		*(enum fi_wait_obj *)arg = FI_WAIT_FD;
		return 0;
	}
	if (command != FI_GETWAIT)
		return -FI_ENOSYS;
	*(int *)arg = eq->event_fd;
	return 0;
}

static int eq_close(struct fid *fid)
{
	struct mxefi_eq *eq = container_of(fid, struct mxefi_eq, fid.fid);
	bool used;

	pthread_mutex_lock(&eq->lock);
	used = eq->users;
	pthread_mutex_unlock(&eq->lock);
	if (used)
		return -FI_EBUSY;
	while (eq->events)
		free_event(take(eq, &eq->events));
	free(eq->last_error);
	close(eq->event_fd);
	mxefi_fabric_release(eq->fabric);
	pthread_cond_destroy(&eq->cond);
	pthread_mutex_destroy(&eq->lock);
	free(eq);
	return 0;
}

static struct fi_ops eq_fi_ops = {
	.size = sizeof(struct fi_ops),
	.close = eq_close,
	.bind = mxefi_no_bind,
	.control = eq_control,
	.ops_open = mxefi_no_ops_open,
};

static struct fi_ops_eq eq_ops = {
	.size = sizeof(struct fi_ops_eq),
	.read = eq_read,
	.readerr = eq_readerr,
	.write = eq_write,
	.sread = eq_sread,
	.strerror = eq_strerror,
};

int mxefi_eq_open(struct fid_fabric *fabric, struct fi_eq_attr *attr,
		  struct fid_eq **fid, void *context)
{
	struct mxefi_eq *eq;

	if (attr && attr->wait_obj != FI_WAIT_NONE &&
	    attr->wait_obj != FI_WAIT_UNSPEC && attr->wait_obj != FI_WAIT_FD)
		return -FI_ENOSYS;
	eq = calloc(1, sizeof(*eq));
	if (!eq)
		return -FI_ENOMEM;
	eq->event_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (eq->event_fd < 0) {
		int err = errno;

		free(eq);
		return -err;
	}
	eq->fabric = mxefi_fabric_hold(fabric);
	eq->tail = &eq->events;
	mxefi_lock_init(&eq->lock, &eq->cond);
	eq->fid.fid.fclass = FI_CLASS_EQ;
	eq->fid.fid.context = context;
	eq->fid.fid.ops = &eq_fi_ops;
	eq->fid.ops = &eq_ops;
	*fid = &eq->fid;
	return 0;
}
