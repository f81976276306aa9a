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

void mxefi_domain_hold(struct mxefi_domain *dom);
int mxefi_domain_release(struct mxefi_domain *dom, const unsigned int *users);
int mxefi_domain_reserve(struct mxefi_domain *dom, int cqe);
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

void mxefi_lock_init(pthread_mutex_t *lock, pthread_cond_t *cond);
int mxefi_progress_start(struct mxefi_domain *dom);
void mxefi_progress_stop(struct mxefi_domain *dom);
void mxefi_progress(struct mxefi_domain *dom);
void mxefi_progress_add_ticker(struct mxefi_domain *dom,
			       struct mxefi_ticker *ticker);
void mxefi_progress_del_ticker(struct mxefi_domain *dom,
			       const struct mxefi_ticker *ticker);
void mxefi_progress_watch(struct mxefi_domain *dom,
			  struct mxefi_ticker *ticker);
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

void mxefi_progress_wait(struct mxefi_domain *dom, uint64_t deadline_ms);

#endif /* MXEFI_PROGRESS_H */
