/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A domain: an open device, and what its objects share.
 *
 * Lifetime / locking: all state below a domain is protected by the lock of the
 * domain. The calls of libfabric take it; other functions expect it held unless
 * they say otherwise. Completions of libibverbs are polled by mxefi_progress()
 * only, from the calls of the program and from the thread of the domain.
 */
#ifndef MXEFI_DOMAIN_H
#define MXEFI_DOMAIN_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <rdma/fi_domain.h>
#include <infiniband/verbs.h>

#include "ah.h"
#include "container.h"
#include "device.h"

struct mxefi_fabric;
struct mxefi_mr;
struct mxefi_ticker;
struct mxefi_trigger;

/* When endpoints reach their peers over DC. */
enum mxefi_dc_mode {
	MXEFI_DC_AUTO,		/* on a device that has it, for many peers */
	MXEFI_DC_NEVER,
	MXEFI_DC_ALWAYS,
};

struct mxefi_domain {
	struct fid_domain fid;
	struct mxefi_fabric *fabric;
	struct mxefi_device dev;
	uint64_t atomic_types;	/* bit n: the device has datatype n */
	pthread_mutex_t lock;
	pthread_cond_t events;	/* broadcast when an event was added */
	unsigned int users;	/* objects of the domain */
	struct ibv_pd *pd;
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;	/* of all queue pairs */
	int cqe_left;		/* entries that no endpoint has reserved */
	struct mxefi_resolver resolver;
	struct mxefi_mr *counted_mrs;	/* that are bound to counters */
	struct mxefi_ticker *tickers;
	/* trigger.c: those that wait, by threshold, and those that do not. */
	struct mxefi_trigger *triggers, *fired;
	bool is_firing;
	uint64_t firing;	/* counts the calls that fire triggers */
	/* Set by deferred.c: the device was removed. */
	void (*on_lost)(struct mxefi_domain *dom);
	pthread_t thread;
	int wake_fd;		/* makes the thread leave poll() */
	bool stop;
	bool lost;		/* the device was removed */
	uint64_t polls;		/* calls of fi_cq_read() and the like */
	unsigned int waiters;	/* threads in mxefi_progress_wait() */
	unsigned int connect_timeout_ms;
	/* An endpoint with so many connections refuses further peers. */
	unsigned int max_conns;
	enum mxefi_dc_mode dc_mode;
	unsigned int num_dcis;	/* DC initiators of an endpoint */
};

static inline struct mxefi_domain *to_domain(struct fid_domain *domain)
{
	return container_of(domain, struct mxefi_domain, fid);
}

int mxefi_domain_open(struct fid_fabric *fabric, struct fi_info *info,
		      struct fid_domain **domain, void *context);

#endif /* MXEFI_DOMAIN_H */
