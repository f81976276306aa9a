// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Address handles. Creating one blocks until the kernel has resolved the
 * address, which takes a second if the host does not exist. Therefore threads
 * of the domain create them, without its lock. They try again after a failure,
 * less and less often.
 *
 * An address handle belongs to an object that may be freed at any time. If a
 * thread is about to create it then, the thread frees it.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "ah.h"
#include "domain.h"
#include "progress.h"
#include "provider.h"

#define FRESH_MS 1000
#define MIN_BACKOFF_MS 1000
#define MAX_BACKOFF_MS 8000

struct mxefi_ah {
	struct mxefi_ah *next;		/* if it is queued */
	struct mxefi_domain *dom;
	uint8_t gid[16];
	void (*ready)(void *arg);
	void *arg;
	struct ibv_ah *ah;		/* NULL until it is created */
	bool is_queued;
	bool is_busy;			/* a thread creates it */
	bool is_freed;			/* ... and frees it */
	uint64_t tried_ms;		/* time of the last attempt */
	unsigned int backoff_ms;	/* 0 unless that has failed */
};

/**
 * mxefi_ah_attr() - Get the path to a host.
 * @dom: domain
 * @gid: GID of the host
 *
 * Return: the attributes of an address handle.
 */
struct ibv_ah_attr mxefi_ah_attr(const struct mxefi_domain *dom,
				 const uint8_t gid[16])
{
	struct ibv_ah_attr attr = {
		.is_global = 1,
		.port_num = 1,
		.grh = {
			.sgid_index = dom->dev.gid_index,
			.hop_limit = 64,
		},
	};

	memcpy(attr.grh.dgid.raw, gid, 16);
	return attr;
}

/* ---- the threads ------------------------------------------------------- */

static void end_attempt(struct mxefi_ah *ah, struct ibv_ah *result)
{
	ah->is_busy = false;
	if (ah->is_freed) {
		if (result)
			ibv_destroy_ah(result);
		free(ah);
		return;
	}
	ah->tried_ms = mxefi_now_ms();
	ah->ah = result;
	if (result) {
		ah->backoff_ms = 0;
		if (!ah->dom->lost)
			ah->ready(ah->arg);
		return;
	}
	ah->backoff_ms = ah->backoff_ms ? ah->backoff_ms * 2 : MIN_BACKOFF_MS;
	if (ah->backoff_ms > MAX_BACKOFF_MS)
		ah->backoff_ms = MAX_BACKOFF_MS;
}

static void *resolver_thread(void *arg)
{
	struct mxefi_domain *dom = arg;
	struct mxefi_resolver *r = &dom->resolver;

	pthread_mutex_lock(&dom->lock);
	while (!r->stop) {
		struct mxefi_ah *ah = r->queue;
		struct ibv_ah_attr attr;
		struct ibv_ah *result;

		if (!ah) {
			r->num_idle++;
			pthread_cond_wait(&r->work, &dom->lock);
			r->num_idle--;
			continue;
		}
		r->queue = ah->next;
		ah->is_queued = false;
		ah->is_busy = true;
		attr = mxefi_ah_attr(dom, ah->gid);
		pthread_mutex_unlock(&dom->lock);
		result = ibv_create_ah(dom->pd, &attr);
		pthread_mutex_lock(&dom->lock);
		end_attempt(ah, result);
	}
	pthread_mutex_unlock(&dom->lock);
	return NULL;
}

/* Another thread does not matter if there is one. */
static void start_thread(struct mxefi_domain *dom)
{
	struct mxefi_resolver *r = &dom->resolver;
	sigset_t all, old;

	/* Signals are for the threads of the program. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	if (pthread_create(&r->threads[r->num_threads], NULL, resolver_thread,
			   dom))
		mxefi_warn(FI_LOG_DOMAIN, "cannot start a thread\n");
	else
		r->num_threads++;
	pthread_sigmask(SIG_SETMASK, &old, NULL);
}

/**
 * mxefi_ah_stop() - End the threads of a domain. Takes the lock itself.
 * @dom: domain whose address handles have been freed
 */
void mxefi_ah_stop(struct mxefi_domain *dom)
{
	struct mxefi_resolver *r = &dom->resolver;

	pthread_mutex_lock(&dom->lock);
	r->stop = true;
	pthread_cond_broadcast(&r->work);
	pthread_mutex_unlock(&dom->lock);
	for (unsigned int i = 0; i < r->num_threads; i++)
		pthread_join(r->threads[i], NULL);
}

/* ---- address handles --------------------------------------------------- */

/**
 * mxefi_ah_new() - Allocate an address handle, but do not create it yet.
 * @dom: domain
 * @gid: GID of the host
 * @ready: called with the lock of the domain each time it has been created
 * @arg: argument of @ready
 *
 * Return: the address handle, or NULL if memory is short.
 */
struct mxefi_ah *mxefi_ah_new(struct mxefi_domain *dom, const uint8_t gid[16],
			      void (*ready)(void *arg), void *arg)
{
	struct mxefi_ah *ah = calloc(1, sizeof(*ah));

	if (!ah)
		return NULL;
	ah->dom = dom;
	memcpy(ah->gid, gid, sizeof(ah->gid));
	ah->ready = ready;
	ah->arg = arg;
	return ah;
}

/* Hosts that have not failed yet do not wait for those that have. */
static void enqueue(struct mxefi_ah *ah)
{
	struct mxefi_resolver *r = &ah->dom->resolver;
	struct mxefi_ah **p = &r->queue;

	while (*p && (ah->backoff_ms || !(*p)->backoff_ms))
		p = &(*p)->next;
	ah->next = *p;
	*p = ah;
	ah->is_queued = true;
	if (!r->num_idle && r->num_threads < MXEFI_RESOLVERS)
		start_thread(ah->dom);
	pthread_cond_signal(&r->work);
}

/**
 * mxefi_ah_get() - Return an address handle, or start to create it.
 * @ah: address handle
 *
 * Does nothing for some time after a failure.
 *
 * Return: the address handle, or NULL if it does not exist yet.
 */
struct ibv_ah *mxefi_ah_get(struct mxefi_ah *ah)
{
	if (!ah->ah && !ah->is_queued && !ah->is_busy &&
	    (!ah->backoff_ms ||
	     mxefi_now_ms() - ah->tried_ms >= ah->backoff_ms))
		enqueue(ah);
	return ah->ah;
}

/**
 * mxefi_ah_refresh() - Create an address handle anew, unless it is fresh.
 * @ah: address handle
 *
 * The kernel resolves the address again when it connects a queue pair, and
 * blocks unless it has resolved it shortly before.
 *
 * Return: true if it was created less than a second ago.
 */
bool mxefi_ah_refresh(struct mxefi_ah *ah)
{
	if (ah->ah && mxefi_now_ms() - ah->tried_ms < FRESH_MS)
		return true;
	if (ah->ah)
		ibv_destroy_ah(ah->ah);
	ah->ah = NULL;
	mxefi_ah_get(ah);
	return false;
}

/**
 * mxefi_ah_free() - Destroy an address handle.
 * @ah: address handle, or NULL
 */
void mxefi_ah_free(struct mxefi_ah *ah)
{
	struct mxefi_ah **p;

	if (!ah)
		return;
	if (ah->is_busy) {
		ah->is_freed = true;
		return;
	}
	if (ah->is_queued) {
		for (p = &ah->dom->resolver.queue; *p != ah; p = &(*p)->next)
			;
		*p = ah->next;
	}
	if (ah->ah)
		ibv_destroy_ah(ah->ah);
	free(ah);
}
