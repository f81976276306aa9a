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

struct ibv_ah_attr mxefi_ah_attr(const struct mxefi_domain *dom,
				 const uint8_t gid[16]);
struct mxefi_ah *mxefi_ah_new(struct mxefi_domain *dom, const uint8_t gid[16],
			      void (*ready)(void *arg), void *arg);
struct ibv_ah *mxefi_ah_get(struct mxefi_ah *ah);
bool mxefi_ah_refresh(struct mxefi_ah *ah);
void mxefi_ah_free(struct mxefi_ah *ah);
void mxefi_ah_stop(struct mxefi_domain *dom);

#endif /* MXEFI_AH_H */
