/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Requests, many in flight, until the time is up or a device is removed, for
 * tests that remove objects while they are in use. One file of a program
 * includes this.
 */
#ifndef TRAFFIC_H
#define TRAFFIC_H

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include "vt.h"

enum {
	TRAFFIC_WINDOW = 32,	/* requests in flight */
	TRAFFIC_GONE = 3,	/* exit status: a device was removed */
};

struct traffic {
	struct vt_dev *a, *b;
	struct ibv_cq *cq;	/* of the requests */
	int (*post)(uint64_t n);	/* posts request n; 0 or an errno value */
	bool (*check)(uint64_t n);	/* checks its result; may be NULL */
	void (*after)(void);	/* called after each request; may be NULL */
	uint64_t done;		/* completed requests */
};

static atomic_bool traffic_stop;	/* set by SIGTERM */

/**
 * traffic_on_term() - End the traffic, as the handler of SIGTERM.
 * @sig: not used
 */
static inline void traffic_on_term(int sig)
{
	(void)sig;
	traffic_stop = true;
}

/**
 * traffic_time_left() - Check whether the traffic goes on.
 * @end: time by vt_now_ms()
 *
 * Return: true before @end, and before SIGTERM.
 */
static inline bool traffic_time_left(uint64_t end)
{
	return !traffic_stop && vt_now_ms() < end;
}

/**
 * traffic_running() - Tell t_lifecycle.sh that the traffic runs.
 */
static inline void traffic_running(void)
{
	printf("running\n");
	fflush(stdout);
}

/**
 * traffic_gone() - End the traffic after a removal.
 * @why: how it was noticed
 *
 * Return: TRAFFIC_GONE.
 */
static inline int traffic_gone(const char *why)
{
	printf("stopped: %s\n", why);
	return TRAFFIC_GONE;
}

/**
 * traffic_device_gone() - Look for a removal.
 * @t: traffic
 *
 * Return: true if a device reports that it was removed.
 */
static inline bool traffic_device_gone(const struct traffic *t)
{
	return vt_async(t->a, 0) == IBV_EVENT_DEVICE_FATAL ||
	       vt_async(t->b, 0) == IBV_EVENT_DEVICE_FATAL;
}

/**
 * traffic_complete() - Check the next completion.
 * @t: traffic
 * @wc: completion
 *
 * Return: 0, TRAFFIC_GONE, or 1.
 */
static inline int traffic_complete(struct traffic *t, const struct ibv_wc *wc)
{
	if (wc->status == IBV_WC_RETRY_EXC_ERR || wc->status == IBV_WC_WR_FLUSH_ERR)
		return traffic_gone(vt_status(wc->status));
	if (wc->status) {
		printf("request %d: %s\n", (int)t->done, vt_status(wc->status));
		return 1;
	}
	if (wc->wr_id != t->done || (t->check && !t->check(t->done))) {
		printf("request %d: wrong data or order\n", (int)t->done);
		return 1;
	}
	if (++t->done == 100)
		traffic_running();
	if (t->after)
		t->after();
	return 0;
}

/**
 * traffic_run() - Post and check requests until the time is up.
 * @t: what to do
 * @end: time by vt_now_ms()
 *
 * Return: exit status: 0, TRAFFIC_GONE, or 1.
 */
static inline int traffic_run(struct traffic *t, uint64_t end)
{
	uint64_t posted = 0, quiet = vt_now_ms() + VT_MS;
	struct ibv_wc wc;
	int ret;

	while (traffic_time_left(end) || t->done < posted) {
		while (posted - t->done < TRAFFIC_WINDOW && traffic_time_left(end)) {
			ret = t->post(posted);
			if (ret == EIO || ret == ENODEV)
				return traffic_gone(strerror(ret));
			if (ret) {
				printf("post: %s\n", strerror(ret));
				return 1;
			}
			posted++;
		}
		if (!vt_poll(t->cq, &wc, 50)) {
			if (traffic_device_gone(t))
				return traffic_gone("device fatal");
			if (vt_now_ms() < quiet)
				continue;
			printf("no completion\n");
			return 1;
		}
		quiet = vt_now_ms() + VT_MS;
		ret = traffic_complete(t, &wc);
		if (ret)
			return ret;
	}
	printf("%d requests\n", (int)t->done);
	return 0;
}

#endif /* TRAFFIC_H */
