// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Completion queues of libfabric: rings of events that operations add. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "container.h"
#include "cq.h"
#include "domain.h"
#include "fabric.h"
#include "progress.h"
#include "provider.h"

#define DEFAULT_SIZE 64		/* events */

static struct mxefi_cq *to_cq(struct fid_cq *cq)
{
	return container_of(cq, struct mxefi_cq, fid);
}

/**
 * mxefi_cq_empty() - Check whether fi_cq_read() would find nothing.
 * @cq: completion queue
 *
 * Return: true if there is neither an event nor an overrun nor the removal of
 * the device to report.
 */
bool mxefi_cq_empty(const struct mxefi_cq *cq)
{
	return !cq->count && !cq->overrun && !cq->dom->lost;
}

/* Keeps the eventfd readable while the queue is not empty. */
static inline void update_fd(struct mxefi_cq *cq, bool was_empty)
{
	eventfd_t value;

	if (cq->event_fd < 0)
		return;
	if (was_empty && !mxefi_cq_empty(cq))
		eventfd_write(cq->event_fd, 1);
	else if (!was_empty && mxefi_cq_empty(cq))
		eventfd_read(cq->event_fd, &value);
}

static bool grow(struct mxefi_cq *cq)
{
	size_t size = cq->size * 2;
	struct mxefi_completion *ring = calloc(size, sizeof(*ring));

	if (!ring)
		return false;
	for (size_t i = 0; i < cq->count; i++)
		ring[i] = cq->ring[(cq->head + i) % cq->size];
	free(cq->ring);
	cq->ring = ring;
	cq->size = size;
	cq->head = 0;
	return true;
}

/**
 * mxefi_cq_begin() - Begin to add an event.
 * @cq: completion queue
 * @context: context of the program
 * @flags: flags of the completion
 * @err: errno of libfabric, or 0
 *
 * Return: the event, without data and source. The caller completes it and calls
 * mxefi_cq_add() at once. NULL if the queue is overrun.
 */
struct mxefi_completion *mxefi_cq_begin(struct mxefi_cq *cq, void *context,
					uint64_t flags, int err)
{
	struct mxefi_completion *next;
	struct fi_cq_err_entry *entry;

	if (cq->overrun)
		return NULL;
	if (cq->count == cq->size && !grow(cq)) {
		mxefi_warn(FI_LOG_CQ,
			   "out of memory: a completion queue is overrun\n");
		cq->overrun = true;
		return NULL;
	}
	next = &cq->ring[(cq->head + cq->count) % cq->size];
	/* All that programs read: see take() and cq_readerr(). */
	entry = &next->entry;
	entry->op_context = context;
	entry->flags = flags;
	entry->len = 0;
	entry->buf = NULL;
	entry->data = 0;
	entry->tag = 0;
	entry->olen = 0;
	entry->err = err;
	entry->prov_errno = err;
	next->src = FI_ADDR_NOTAVAIL;
	return next;
}

/**
 * mxefi_cq_add() - Add the event that mxefi_cq_begin() has returned.
 * @cq: completion queue, whose waiting threads are woken
 */
void mxefi_cq_add(struct mxefi_cq *cq)
{
	cq->count++;
	update_fd(cq, cq->count == 1);
	mxefi_progress_wake(cq->dom);
}

/*
 * Entries of every format begin as struct fi_cq_tagged_entry, and that begins
 * as struct fi_cq_err_entry.
 */
static_assert(offsetof(struct fi_cq_tagged_entry, tag) ==
	      offsetof(struct fi_cq_err_entry, tag), "fi_cq_err_entry");

/*
 * Copies the part of an event that the format has. The compiler makes moves of
 * copies of a constant size.
 */
static void *store(void *to, const struct fi_cq_err_entry *event,
		   enum fi_cq_format format)
{
	switch (format) {
	case FI_CQ_FORMAT_CONTEXT:
		return mempcpy(to, event, sizeof(struct fi_cq_entry));
	case FI_CQ_FORMAT_MSG:
		return mempcpy(to, event, sizeof(struct fi_cq_msg_entry));
	case FI_CQ_FORMAT_DATA:
		return mempcpy(to, event, sizeof(struct fi_cq_data_entry));
	default:
		return mempcpy(to, event, sizeof(struct fi_cq_tagged_entry));
	}
}

static ssize_t take(struct mxefi_cq *cq, void *buf, size_t count,
		    fi_addr_t *src)
{
	size_t n;

	if (cq->count ? cq->ring[cq->head].entry.err : cq->overrun)
		return -FI_EAVAIL;
	for (n = 0; n < count && cq->count; n++) {
		const struct mxefi_completion *event = &cq->ring[cq->head];

		if (event->entry.err)
			break;
		buf = store(buf, &event->entry, cq->format);
		if (src)
			src[n] = event->src;
		cq->head = (cq->head + 1) % cq->size;
		cq->count--;
	}
	if (n)
		update_fd(cq, false);
	if (n)
		return (ssize_t)n;
	return cq->dom->lost ? -FI_ENODEV : -FI_EAGAIN;
}

static ssize_t cq_readfrom(struct fid_cq *fid, void *buf, size_t count,
			   fi_addr_t *src)
{
	struct mxefi_cq *cq = to_cq(fid);
	ssize_t ret;

	pthread_mutex_lock(&cq->dom->lock);
	cq->dom->polls++;
	mxefi_progress(cq->dom);
	ret = take(cq, buf, count, src);
	pthread_mutex_unlock(&cq->dom->lock);
	return ret;
}

static ssize_t cq_read(struct fid_cq *fid, void *buf, size_t count)
{
	return cq_readfrom(fid, buf, count, NULL);
}

/*
 * Hands out the address of a sender that is not in the address vector. Without
 * a buffer of the caller, it stays until the next error is read.
 */
static void set_err_data(struct mxefi_cq *cq, struct fi_cq_err_entry *buf,
			 const struct mxefi_addr *from)
{
	size_t len = sizeof(*from);

	cq->from = *from;
	if (mxefi_fabric_is_old(cq->dom->fabric)) {
		buf->err_data = &cq->from;
		return;
	}
	if (!buf->err_data_size) {
		buf->err_data = &cq->from;
	} else {
		if (len > buf->err_data_size)
			len = buf->err_data_size;
		memcpy(buf->err_data, from, len);
	}
	buf->err_data_size = len;
}

static ssize_t cq_readerr(struct fid_cq *fid, struct fi_cq_err_entry *buf,
			  uint64_t flags)
{
	struct mxefi_cq *cq = to_cq(fid);
	static const struct mxefi_completion overrun = {
		.entry = { .err = FI_EOVERRUN, .prov_errno = FI_EOVERRUN },
	};
	const struct mxefi_completion *event = NULL;

	pthread_mutex_lock(&cq->dom->lock);
	mxefi_progress(cq->dom);
	if (cq->count && cq->ring[cq->head].entry.err)
		event = &cq->ring[cq->head];
	else if (!cq->count && cq->overrun)
		event = &overrun;
	if (event) {
		/* The caller's buffer for err_data is left alone. */
		memcpy(buf, &event->entry,
		       offsetof(struct fi_cq_err_entry, err_data));
		if (event->entry.err == FI_EADDRNOTAVAIL)
			set_err_data(cq, buf, &event->from);
		else if (mxefi_fabric_is_old(cq->dom->fabric))
			buf->err_data = NULL;
		else
			buf->err_data_size = 0;
	}
	/* The state of overrun remains. */
	if (event && event != &overrun) {
		cq->head = (cq->head + 1) % cq->size;
		cq->count--;
		update_fd(cq, false);
	}
	pthread_mutex_unlock(&cq->dom->lock);
	return event ? 1 : -FI_EAGAIN;
}

static ssize_t cq_sreadfrom(struct fid_cq *fid, void *buf, size_t count,
			    fi_addr_t *src, const void *cond, int timeout)
{
	struct mxefi_cq *cq = to_cq(fid);
	uint64_t deadline = timeout < 0 ? UINT64_MAX :
					  mxefi_now_ms() + (uint64_t)timeout;
	uint64_t signals;
	ssize_t ret;

	pthread_mutex_lock(&cq->dom->lock);
	cq->readers++;
	/* A signal that has found no reader is for the next one. */
	signals = cq->signals - cq->signaled;
	cq->signaled = false;
	for (;;) {
		mxefi_progress(cq->dom);
		ret = take(cq, buf, count, src);
		if (ret != -FI_EAGAIN || cq->signals != signals ||
		    mxefi_now_ms() >= deadline)
			break;
		mxefi_progress_wait(cq->dom, deadline);
	}
	cq->readers--;
	pthread_mutex_unlock(&cq->dom->lock);
	return ret;
}

static ssize_t cq_sread(struct fid_cq *fid, void *buf, size_t count,
			const void *cond, int timeout)
{
	return cq_sreadfrom(fid, buf, count, NULL, cond, timeout);
}

static int cq_signal(struct fid_cq *fid)
{
	struct mxefi_cq *cq = to_cq(fid);

	pthread_mutex_lock(&cq->dom->lock);
	cq->signals++;
	cq->signaled = !cq->readers;
	mxefi_progress_wake(cq->dom);
	pthread_mutex_unlock(&cq->dom->lock);
	return 0;
}

static const char *cq_strerror(struct fid_cq *fid, int prov_errno,
			       const void *err_data, char *buf, size_t len)
{
	return mxefi_strerror(prov_errno, buf, len);
}

static int cq_control(struct fid *fid, int command, void *arg)
{
	struct mxefi_cq *cq = container_of(fid, struct mxefi_cq, fid.fid);

	if (command == FI_GETWAITOBJ) {
		*(enum fi_wait_obj *)arg = cq->wait_obj;
		return 0;
	}
	if (command != FI_GETWAIT || cq->event_fd < 0)
		return -FI_ENOSYS;
	*(int *)arg = cq->event_fd;
	return 0;
}

/* The program that waits for the descriptor learns of a removed device. */
static void tick(struct mxefi_ticker *ticker, uint64_t now)
{
	struct mxefi_cq *cq = container_of(ticker, struct mxefi_cq, ticker);

	if (cq->dom->lost)
		eventfd_write(cq->event_fd, 1);
}

static int cq_close(struct fid *fid)
{
	struct mxefi_cq *cq = container_of(fid, struct mxefi_cq, fid.fid);

	if (mxefi_domain_release(cq->dom, &cq->users))
		return -FI_EBUSY;
	if (cq->event_fd >= 0) {
		mxefi_progress_unwatch(cq->dom, &cq->ticker);
		close(cq->event_fd);
	}
	free(cq->ring);
	free(cq);
	return 0;
}

static struct fi_ops cq_fi_ops = {
	.size = sizeof(struct fi_ops),
	.close = cq_close,
	.bind = mxefi_no_bind,
	.control = cq_control,
	.ops_open = mxefi_no_ops_open,
};

static struct fi_ops_cq cq_ops = {
	.size = sizeof(struct fi_ops_cq),
	.read = cq_read,
	.readfrom = cq_readfrom,
	.readerr = cq_readerr,
	.sread = cq_sread,
	.sreadfrom = cq_sreadfrom,
	.signal = cq_signal,
	.strerror = cq_strerror,
};

int mxefi_cq_open(struct fid_domain *domain, struct fi_cq_attr *attr,
		  struct fid_cq **fid, void *context)
{
	struct mxefi_domain *dom = to_domain(domain);
	struct mxefi_cq *cq;

	if (attr->format > FI_CQ_FORMAT_TAGGED)
		return -FI_EINVAL;
	if (attr->wait_obj != FI_WAIT_NONE && attr->wait_obj != FI_WAIT_UNSPEC &&
	    attr->wait_obj != FI_WAIT_FD && attr->wait_obj != FI_WAIT_YIELD)
		return -FI_ENOSYS;
	/*
	 * The threshold that a reader waits for is an optimisation, and readers
	 * must not rely on it (fi_cq(3)). They are woken by each event.
	 */
	if (attr->wait_cond != FI_CQ_COND_NONE &&
	    attr->wait_cond != FI_CQ_COND_THRESHOLD)
		return -FI_EINVAL;
	cq = calloc(1, sizeof(*cq));
	if (!cq)
		return -FI_ENOMEM;
	cq->dom = dom;
	cq->size = attr->size ? attr->size : DEFAULT_SIZE;
	cq->ring = calloc(cq->size, sizeof(*cq->ring));
	if (!cq->ring) {
		free(cq);
		return -FI_ENOMEM;
	}
	/* As in other providers. Sandia OpenSHMEM depends on it. */
	cq->format = attr->format ? attr->format : FI_CQ_FORMAT_CONTEXT;
	cq->event_fd = -1;
	cq->wait_obj = attr->wait_obj == FI_WAIT_UNSPEC ? FI_WAIT_FD :
							  attr->wait_obj;
	if (cq->wait_obj == FI_WAIT_FD) {
		cq->event_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
		if (cq->event_fd < 0) {
			int err = errno;

			free(cq->ring);
			free(cq);
			return -err;
		}
	}
	cq->fid.fid.fclass = FI_CLASS_CQ;
	cq->fid.fid.context = context;
	cq->fid.fid.ops = &cq_fi_ops;
	cq->fid.ops = &cq_ops;
	cq->ticker.tick = tick;
	if (cq->event_fd >= 0)
		mxefi_progress_watch(dom, &cq->ticker);
	mxefi_domain_hold(dom);
	*fid = &cq->fid;
	return 0;
}
