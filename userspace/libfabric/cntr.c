// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Counters of libfabric. */
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "cntr.h"
#include "container.h"
#include "domain.h"
#include "progress.h"
#include "provider.h"
#include "trigger.h"

static struct mxefi_cntr *to_cntr(struct fid_cntr *cntr)
{
	return container_of(cntr, struct mxefi_cntr, fid);
}

/**
 * mxefi_cntr_has_changed() - Check whether a counter has changed.
 * @cntr: counter with a descriptor to wait for
 *
 * Return: true if it has changed since the program has read it, or the device
 * was removed.
 */
bool mxefi_cntr_has_changed(const struct mxefi_cntr *cntr)
{
	return cntr->changed || cntr->dom->lost;
}

/* Wakes the threads that wait for a change. */
static void notify(struct mxefi_cntr *cntr)
{
	if (cntr->event_fd >= 0 && !cntr->changed) {
		cntr->changed = true;
		eventfd_write(cntr->event_fd, 1);
	}
	mxefi_progress_wake(cntr->dom);
	if (cntr->dom->triggers)
		mxefi_trigger_check(cntr);
}

/**
 * mxefi_cntr_count() - Count an operation and wake those that wait for it.
 * @cntr: counter, or NULL
 * @error: true counts an error
 */
void mxefi_cntr_count(struct mxefi_cntr *cntr, bool error)
{
	if (!cntr)
		return;
	if (error)
		cntr->errors++;
	else
		cntr->value++;
	notify(cntr);
}

/* Reads a value of a counter after all that has happened until now. */
static uint64_t read_value(struct mxefi_cntr *cntr, const uint64_t *value)
{
	eventfd_t events;
	uint64_t ret;

	pthread_mutex_lock(&cntr->dom->lock);
	cntr->dom->polls++;
	mxefi_progress(cntr->dom);
	ret = *value;
	if (cntr->changed && !cntr->dom->lost) {
		cntr->changed = false;
		eventfd_read(cntr->event_fd, &events);
	}
	pthread_mutex_unlock(&cntr->dom->lock);
	return ret;
}

static uint64_t cntr_read(struct fid_cntr *fid)
{
	return read_value(to_cntr(fid), &to_cntr(fid)->value);
}

static uint64_t cntr_readerr(struct fid_cntr *fid)
{
	return read_value(to_cntr(fid), &to_cntr(fid)->errors);
}

/**
 * mxefi_cntr_set() - Set the number of successes, and wake those that wait.
 * @cntr: counter
 * @n: number
 */
void mxefi_cntr_set(struct mxefi_cntr *cntr, uint64_t n)
{
	cntr->value = n;
	notify(cntr);
}

/* Adds to one of the values of a counter, or sets it. */
static int change(struct mxefi_cntr *cntr, uint64_t *value, uint64_t n,
		  bool add)
{
	pthread_mutex_lock(&cntr->dom->lock);
	*value = add ? *value + n : n;
	notify(cntr);
	mxefi_trigger_fire(cntr->dom);
	pthread_mutex_unlock(&cntr->dom->lock);
	return 0;
}

static int cntr_set(struct fid_cntr *fid, uint64_t n)
{
	return change(to_cntr(fid), &to_cntr(fid)->value, n, false);
}

static int cntr_seterr(struct fid_cntr *fid, uint64_t n)
{
	return change(to_cntr(fid), &to_cntr(fid)->errors, n, false);
}

static int cntr_add(struct fid_cntr *fid, uint64_t n)
{
	return change(to_cntr(fid), &to_cntr(fid)->value, n, true);
}

static int cntr_adderr(struct fid_cntr *fid, uint64_t n)
{
	return change(to_cntr(fid), &to_cntr(fid)->errors, n, true);
}

static int cntr_wait(struct fid_cntr *fid, uint64_t threshold, int timeout)
{
	struct mxefi_cntr *cntr = to_cntr(fid);
	uint64_t deadline = timeout < 0 ? UINT64_MAX :
					  mxefi_now_ms() + (uint64_t)timeout;
	uint64_t errors;
	int ret = 0;

	pthread_mutex_lock(&cntr->dom->lock);
	errors = cntr->errors;
	for (;;) {
		mxefi_progress(cntr->dom);
		if (cntr->value >= threshold)
			break;
		if (cntr->errors != errors) {
			ret = -FI_EAVAIL;
			break;
		}
		if (cntr->dom->lost) {
			ret = -FI_ENODEV;
			break;
		}
		if (mxefi_now_ms() >= deadline) {
			ret = -FI_ETIMEDOUT;
			break;
		}
		mxefi_progress_wait(cntr->dom, deadline);
	}
	pthread_mutex_unlock(&cntr->dom->lock);
	return ret;
}

static int cntr_control(struct fid *fid, int command, void *arg)
{
	struct mxefi_cntr *cntr = container_of(fid, struct mxefi_cntr, fid.fid);

	if (command == FI_GETWAITOBJ) {
		*(enum fi_wait_obj *)arg = cntr->wait_obj;
		return 0;
	}
	if (command != FI_GETWAIT || cntr->event_fd < 0)
		return -FI_ENOSYS;
	*(int *)arg = cntr->event_fd;
	return 0;
}

/* The program that waits for the descriptor learns of a removed device. */
static void tick(struct mxefi_ticker *ticker, uint64_t now)
{
	struct mxefi_cntr *cntr = container_of(ticker, struct mxefi_cntr,
					       ticker);

	if (cntr->dom->lost)
		notify(cntr);
}

static int cntr_close(struct fid *fid)
{
	struct mxefi_cntr *cntr = container_of(fid, struct mxefi_cntr, fid.fid);

	if (mxefi_domain_release(cntr->dom, &cntr->users))
		return -FI_EBUSY;
	if (cntr->event_fd >= 0) {
		mxefi_progress_unwatch(cntr->dom, &cntr->ticker);
		close(cntr->event_fd);
	}
	free(cntr);
	return 0;
}

static struct fi_ops cntr_fi_ops = {
	.size = sizeof(struct fi_ops),
	.close = cntr_close,
	.bind = mxefi_no_bind,
	.control = cntr_control,
	.ops_open = mxefi_no_ops_open,
};

static struct fi_ops_cntr cntr_ops = {
	.size = sizeof(struct fi_ops_cntr),
	.read = cntr_read,
	.readerr = cntr_readerr,
	.add = cntr_add,
	.set = cntr_set,
	.wait = cntr_wait,
	.adderr = cntr_adderr,
	.seterr = cntr_seterr,
};

int mxefi_cntr_open(struct fid_domain *domain, struct fi_cntr_attr *attr,
		    struct fid_cntr **fid, void *context)
{
	struct mxefi_domain *dom = to_domain(domain);
	struct mxefi_cntr *cntr;

	if (attr && (attr->events != FI_CNTR_EVENTS_COMP || attr->flags))
		return -FI_EINVAL;
	if (attr && attr->wait_obj != FI_WAIT_NONE &&
	    attr->wait_obj != FI_WAIT_UNSPEC && attr->wait_obj != FI_WAIT_FD &&
	    attr->wait_obj != FI_WAIT_YIELD)
		return -FI_ENOSYS;
	cntr = calloc(1, sizeof(*cntr));
	if (!cntr)
		return -FI_ENOMEM;
	cntr->dom = dom;
	cntr->wait_obj = attr ? attr->wait_obj : FI_WAIT_UNSPEC;
	cntr->event_fd = -1;
	if (cntr->wait_obj == FI_WAIT_FD) {
		cntr->event_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
		if (cntr->event_fd < 0) {
			int err = errno;

			free(cntr);
			return -err;
		}
	}
	cntr->fid.fid.fclass = FI_CLASS_CNTR;
	cntr->fid.fid.context = context;
	cntr->fid.fid.ops = &cntr_fi_ops;
	cntr->fid.ops = &cntr_ops;
	cntr->ticker.tick = tick;
	if (cntr->event_fd >= 0)
		mxefi_progress_watch(dom, &cntr->ticker);
	mxefi_domain_hold(dom);
	*fid = &cntr->fid;
	return 0;
}
