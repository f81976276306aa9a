// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Progress of a domain: polls the completion queue of libibverbs and hands each
 * completion to its owner. The program's read and wait calls and a thread call
 * it, so operations proceed while the program makes no calls.
 *
 * While the program polls, the thread only looks every 10 ms. When the program
 * stops, the thread requests events of the completion queue and sleeps.
 *
 * When the device is removed, nothing completes any more. The thread makes the
 * callbacks of the tickers a last time, which end all operations, wakes all
 * waiting threads and ends.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "domain.h"
#include "progress.h"
#include "provider.h"
#include "trigger.h"

#define TICK_MS 10

/**
 * mxefi_domain_hold() - Count an object of a domain. Takes the lock itself.
 * @dom: domain
 */
void mxefi_domain_hold(struct mxefi_domain *dom)
{
	pthread_mutex_lock(&dom->lock);
	dom->users++;
	pthread_mutex_unlock(&dom->lock);
}

/**
 * mxefi_domain_release() - Stop counting an object. Takes the lock itself.
 * @dom: domain
 * @users: users of the object
 *
 * Return: 0, or -FI_EBUSY if the object has users.
 */
int mxefi_domain_release(struct mxefi_domain *dom, const unsigned int *users)
{
	int ret = 0;

	pthread_mutex_lock(&dom->lock);
	if (*users)
		ret = -FI_EBUSY;
	else
		dom->users--;
	pthread_mutex_unlock(&dom->lock);
	return ret;
}

/**
 * mxefi_domain_reserve() - Reserve entries of the completion queue.
 * @dom: domain
 * @cqe: number of entries, which the caller adds to cqe_left at the end
 *
 * Return: 0 or -FI_ENOSPC.
 */
int mxefi_domain_reserve(struct mxefi_domain *dom, int cqe)
{
	if (dom->cqe_left < cqe) {
		mxefi_warn(FI_LOG_EP_CTRL, "too many endpoints in the domain\n");
		return -FI_ENOSPC;
	}
	dom->cqe_left -= cqe;
	return 0;
}

/**
 * mxefi_now_ms() - Read the monotonic clock.
 *
 * Return: the time in milliseconds.
 */
uint64_t mxefi_now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

/**
 * mxefi_lock_init() - Initialise a lock and a condition.
 * @lock: lock
 * @cond: condition, whose clock is that of mxefi_now_ms()
 */
void mxefi_lock_init(pthread_mutex_t *lock, pthread_cond_t *cond)
{
	pthread_condattr_t attr;

	pthread_mutex_init(lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(cond, &attr);
	pthread_condattr_destroy(&attr);
}

/**
 * mxefi_progress() - Poll the completions and handle them.
 * @dom: domain
 *
 * Returns after as many completions as the queue can hold, even if more arrive.
 * A device that was removed has none.
 */
void mxefi_progress(struct mxefi_domain *dom)
{
	int left = dom->cq->cqe;
	struct ibv_wc wc[16];
	int n;

	if (dom->lost)
		return;
	do {
		n = ibv_poll_cq(dom->cq, 16, wc);
		for (int i = 0; i < n; i++) {
			struct mxefi_work *work =
				(struct mxefi_work *)(uintptr_t)wc[i].wr_id;

			work->done(work, &wc[i]);
		}
		left -= n;
	} while (n == 16 && left > 0);
	mxefi_trigger_fire(dom);
}

/**
 * mxefi_progress_wait() - Wait until an event was added or the time is over.
 * @dom: domain
 * @deadline_ms: end of the wait on the clock of mxefi_now_ms(), or UINT64_MAX
 */
void mxefi_progress_wait(struct mxefi_domain *dom, uint64_t deadline_ms)
{
	uint64_t until = mxefi_now_ms() + 1000;
	struct timespec ts;

	if (until > deadline_ms)
		until = deadline_ms;
	ts.tv_sec = (time_t)(until / 1000);
	ts.tv_nsec = (long)(until % 1000) * 1000000;
	/* The thread must not assume that this caller keeps polling. */
	eventfd_write(dom->wake_fd, 1);
	dom->waiters++;
	pthread_cond_timedwait(&dom->events, &dom->lock, &ts);
	dom->waiters--;
}

/**
 * mxefi_progress_add_ticker() - Call back periodically from now on.
 * @dom: domain
 * @ticker: callback
 */
void mxefi_progress_add_ticker(struct mxefi_domain *dom,
			       struct mxefi_ticker *ticker)
{
	ticker->next = dom->tickers;
	dom->tickers = ticker;
}

/**
 * mxefi_progress_del_ticker() - Stop calling back.
 * @dom: domain
 * @ticker: callback, which need not have been added
 */
void mxefi_progress_del_ticker(struct mxefi_domain *dom,
			       const struct mxefi_ticker *ticker)
{
	struct mxefi_ticker **t;

	for (t = &dom->tickers; *t; t = &(*t)->next) {
		if (*t == ticker) {
			*t = ticker->next;
			return;
		}
	}
}

/**
 * mxefi_progress_watch() - Add a ticker. Takes the lock itself.
 * @dom: domain
 * @ticker: callback
 */
void mxefi_progress_watch(struct mxefi_domain *dom, struct mxefi_ticker *ticker)
{
	pthread_mutex_lock(&dom->lock);
	mxefi_progress_add_ticker(dom, ticker);
	pthread_mutex_unlock(&dom->lock);
}

/**
 * mxefi_progress_unwatch() - Remove a ticker. Takes the lock itself.
 * @dom: domain
 * @ticker: callback
 */
void mxefi_progress_unwatch(struct mxefi_domain *dom,
			    const struct mxefi_ticker *ticker)
{
	pthread_mutex_lock(&dom->lock);
	mxefi_progress_del_ticker(dom, ticker);
	pthread_mutex_unlock(&dom->lock);
}

static void tick(struct mxefi_domain *dom)
{
	uint64_t now = mxefi_now_ms();
	struct mxefi_ticker *t, *next;

	for (t = dom->tickers; t; t = next) {
		next = t->next;
		t->tick(t, now);
	}
}

/* Takes the events of the device. Returns true if it was removed. */
static bool take_async(struct mxefi_domain *dom)
{
	struct ibv_async_event event;
	bool fatal = false;

	while (!ibv_get_async_event(dom->dev.ctx, &event)) {
		fatal |= event.event_type == IBV_EVENT_DEVICE_FATAL;
		ibv_ack_async_event(&event);
	}
	return fatal;
}

static void lose_device(struct mxefi_domain *dom)
{
	mxefi_warn(FI_LOG_DOMAIN, "device %s was removed\n",
		   ibv_get_device_name(dom->dev.ctx->device));
	/* Handle the completions from before the removal. */
	mxefi_progress(dom);
	dom->lost = true;
	tick(dom);
	dom->on_lost(dom);
	mxefi_progress_wake(dom);
}

static void *progress_thread(void *arg)
{
	struct mxefi_domain *dom = arg;
	/* While the program polls, the thread ignores the first one. */
	struct pollfd fds[3] = {
		{ .fd = dom->channel->fd, .events = POLLIN },
		{ .fd = dom->wake_fd, .events = POLLIN },
		{ .fd = dom->dev.ctx->async_fd, .events = POLLIN },
	};
	const short hung_up = POLLERR | POLLHUP | POLLNVAL;
	uint64_t polls = 0;
	struct ibv_cq *cq;
	eventfd_t value;
	void *context;

	pthread_mutex_lock(&dom->lock);
	while (!dom->stop && !dom->lost) {
		bool busy = dom->polls != polls && !dom->waiters;
		bool is_lost;

		polls = dom->polls;
		if (!busy)
			ibv_req_notify_cq(dom->cq, 0);
		mxefi_progress(dom);
		tick(dom);
		pthread_mutex_unlock(&dom->lock);
		fds[0].revents = 0;
		poll(fds + busy, busy ? 2 : 3, TICK_MS * (busy ? 1 : 5));
		while (!ibv_get_cq_event(dom->channel, &cq, &context))
			ibv_ack_cq_events(cq, 1);
		is_lost = take_async(dom) || fds[0].revents & hung_up;
		eventfd_read(dom->wake_fd, &value);
		pthread_mutex_lock(&dom->lock);
		if (is_lost)
			lose_device(dom);
	}
	pthread_mutex_unlock(&dom->lock);
	return NULL;
}

/**
 * mxefi_progress_start() - Start the thread of a domain.
 * @dom: domain
 *
 * Return: 0, or a negative error of libfabric.
 */
int mxefi_progress_start(struct mxefi_domain *dom)
{
	sigset_t all, old;
	int err;

	dom->wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (dom->wake_fd < 0)
		return -errno;
	/* Signals are for the threads of the program. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	err = pthread_create(&dom->thread, NULL, progress_thread, dom);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (err)
		close(dom->wake_fd);
	return -err;
}

/**
 * mxefi_progress_stop() - End the thread of a domain. Takes the lock itself.
 * @dom: domain
 */
void mxefi_progress_stop(struct mxefi_domain *dom)
{
	pthread_mutex_lock(&dom->lock);
	dom->stop = true;
	pthread_mutex_unlock(&dom->lock);
	eventfd_write(dom->wake_fd, 1);
	pthread_join(dom->thread, NULL);
	close(dom->wake_fd);
}
