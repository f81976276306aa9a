/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Address handles. */
#ifndef MXEFI_AH_H
#define MXEFI_AH_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <infiniband/verbs.h>

struct mxefi_ah;
struct mxefi_domain;

#define MXEFI_RESOLVERS 4	/* threads of a domain */

/* The threads that create address handles, and those that wait. */
struct mxefi_resolver {
	pthread_cond_t work;
	struct mxefi_ah *queue;
	pthread_t threads[MXEFI_RESOLVERS];
	unsigned int num_threads, num_idle;
	bool stop;
};

/**
 * mxefi_ah_attr() - Get the path to a host.
 * @dom: domain
 * @gid: GID of the host
 *
 * Return: the attributes of an address handle.
 */
struct ibv_ah_attr mxefi_ah_attr(const struct mxefi_domain *dom,
				 const uint8_t gid[16]);

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
			      void (*ready)(void *arg), void *arg);

/**
 * mxefi_ah_get() - Return an address handle, or start to create it.
 * @ah: address handle
 *
 * Does nothing for some time after a failure.
 *
 * Return: the address handle, or NULL if it does not exist yet.
 */
struct ibv_ah *mxefi_ah_get(struct mxefi_ah *ah);

/**
 * mxefi_ah_refresh() - Create an address handle anew, unless it is fresh.
 * @ah: address handle
 *
 * The kernel resolves the address again when it connects a queue pair, and
 * blocks unless it has resolved it shortly before.
 *
 * Return: true if it was created less than a second ago.
 */
bool mxefi_ah_refresh(struct mxefi_ah *ah);

/**
 * mxefi_ah_free() - Destroy an address handle.
 * @ah: address handle, or NULL
 */
void mxefi_ah_free(struct mxefi_ah *ah);

/**
 * mxefi_ah_stop() - End the threads of a domain. Takes the lock itself.
 * @dom: domain whose address handles have been freed
 */
void mxefi_ah_stop(struct mxefi_domain *dom);

#endif /* MXEFI_AH_H */
