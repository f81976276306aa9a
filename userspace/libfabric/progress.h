/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Progress of a domain, and its users. */
#ifndef MXEFI_PROGRESS_H
#define MXEFI_PROGRESS_H

#include <pthread.h>
#include <stdint.h>

#include "domain.h"

struct ibv_wc;

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

/**
 * mxefi_domain_hold() - Count an object of a domain. Takes the lock itself.
 * @dom: domain
 */
void mxefi_domain_hold(struct mxefi_domain *dom);

/**
 * mxefi_domain_release() - Stop counting an object. Takes the lock itself.
 * @dom: domain
 * @users: users of the object
 *
 * Return: 0, or -FI_EBUSY if the object has users.
 */
int mxefi_domain_release(struct mxefi_domain *dom, const unsigned int *users);

/**
 * mxefi_domain_reserve() - Reserve entries of the completion queue.
 * @dom: domain
 * @cqe: number of entries, which the caller adds to cqe_left at the end
 *
 * Return: 0 or -FI_ENOSPC.
 */
int mxefi_domain_reserve(struct mxefi_domain *dom, int cqe);

/**
 * mxefi_now_ms() - Read the monotonic clock.
 *
 * Return: the time in milliseconds.
 */
uint64_t mxefi_now_ms(void);

/**
 * mxefi_elapsed_ms() - Compute the time between two readings of the clock.
 * @now_ms: time that a ticker got
 * @since_ms: time of an event, which the same ticker may have caused
 *
 * Return: milliseconds since the event, or 0 if it is later than @now_ms.
 */
static inline uint64_t mxefi_elapsed_ms(uint64_t now_ms, uint64_t since_ms)
{
	return now_ms > since_ms ? now_ms - since_ms : 0;
}

/**
 * mxefi_lock_init() - Initialise a lock and a condition.
 * @lock: lock
 * @cond: condition, whose clock is that of mxefi_now_ms()
 */
void mxefi_lock_init(pthread_mutex_t *lock, pthread_cond_t *cond);

/**
 * mxefi_progress_start() - Start the thread of a domain.
 * @dom: domain
 *
 * Return: 0, or a negative error of libfabric.
 */
int mxefi_progress_start(struct mxefi_domain *dom);

/**
 * mxefi_progress_stop() - End the thread of a domain. Takes the lock itself.
 * @dom: domain
 */
void mxefi_progress_stop(struct mxefi_domain *dom);

/**
 * mxefi_progress() - Poll the completions and handle them.
 * @dom: domain
 *
 * Returns after as many completions as the queue can hold, even if more arrive.
 * A device that was removed has none.
 */
void mxefi_progress(struct mxefi_domain *dom);

/**
 * mxefi_progress_add_ticker() - Call back periodically from now on.
 * @dom: domain
 * @ticker: callback
 */
void mxefi_progress_add_ticker(struct mxefi_domain *dom,
			       struct mxefi_ticker *ticker);

/**
 * mxefi_progress_del_ticker() - Stop calling back.
 * @dom: domain
 * @ticker: callback, which need not have been added
 */
void mxefi_progress_del_ticker(struct mxefi_domain *dom,
			       const struct mxefi_ticker *ticker);

/**
 * mxefi_progress_watch() - Add a ticker. Takes the lock itself.
 * @dom: domain
 * @ticker: callback
 */
void mxefi_progress_watch(struct mxefi_domain *dom,
			  struct mxefi_ticker *ticker);

/**
 * mxefi_progress_unwatch() - Remove a ticker. Takes the lock itself.
 * @dom: domain
 * @ticker: callback
 */
void mxefi_progress_unwatch(struct mxefi_domain *dom,
			    const struct mxefi_ticker *ticker);

/**
 * mxefi_progress_wake() - Wake the threads in mxefi_progress_wait().
 * @dom: domain
 */
static inline void mxefi_progress_wake(struct mxefi_domain *dom)
{
	if (dom->waiters)
		pthread_cond_broadcast(&dom->events);
}

/**
 * mxefi_progress_wait() - Wait until an event was added or the time is over.
 * @dom: domain
 * @deadline_ms: end of the wait on the clock of mxefi_now_ms(), or UINT64_MAX
 */
void mxefi_progress_wait(struct mxefi_domain *dom, uint64_t deadline_ms);

#endif /* MXEFI_PROGRESS_H */
