// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Creates DC traffic for t_lifecycle.sh, as t_traffic does on RC.
 *
 *	t_traffic_dc [-s SECONDS] MODE
 *
 * run	 posts fetch-and-adds for two targets in turn, many in flight, until the
 *	 time is up (default 2 s) or SIGTERM arrives, and checks their sums.
 *	 Prints "running" after the first operations.  Exit status 0: success;
 *	 3: a device was removed; 1: failure.
 * destroy
 *	 repeatedly destroys targets or initiators with requests in flight.
 */
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "dc.h"

enum { WINDOW = 32, TARGETS = 2, IN_A_ROW = 5 };

static struct vt_dev *a, *b;
static struct dc_target targets[TARGETS];
static struct dc_initiator initiator;
static atomic_bool stop;	/* set by SIGTERM */

static void on_term(int sig)
{
	(void)sig;
	stop = true;
}

static bool time_left(uint64_t end)
{
	return !stop && vt_now_ms() < end;
}

static void running(void)
{
	printf("running\n");
	fflush(stdout);
}

static int gone(const char *why)
{
	printf("stopped: %s\n", why);
	return 3;
}

static void open_all(void)
{
	for (int n = 0; n < TARGETS; n++)
		dc_target_open(&targets[n], b, a, (uint64_t)n, false);
	dc_initiator_open(&initiator, a);
}

static void close_all(void)
{
	dc_initiator_close(&initiator);
	for (int n = 0; n < TARGETS; n++)
		dc_target_close(&targets[n]);
}

static int post(uint64_t n)
{
	return dc_post_fadd(&initiator, &targets[n / IN_A_ROW % TARGETS], n, 0);
}

/* Returns true if the device of an end reports that it was removed. */
static bool device_gone(void)
{
	return vt_async(a, 0) == IBV_EVENT_DEVICE_FATAL ||
	       vt_async(b, 0) == IBV_EVENT_DEVICE_FATAL;
}

static int run(uint64_t end)
{
	uint64_t posted = 0, done = 0, quiet = vt_now_ms() + VT_MS;
	struct ibv_wc wc;

	open_all();
	while (time_left(end) || done < posted) {
		while (posted - done < WINDOW && time_left(end)) {
			int ret = post(posted);

			if (ret == EIO || ret == ENODEV)
				return gone(strerror(ret));
			if (ret) {
				printf("post: %s\n", strerror(ret));
				return 1;
			}
			posted++;
		}
		if (!vt_poll(initiator.cq, &wc, 50)) {
			if (device_gone())
				return gone("device fatal");
			if (vt_now_ms() < quiet)
				continue;
			printf("no completion\n");
			return 1;
		}
		quiet = vt_now_ms() + VT_MS;
		if (wc.status == IBV_WC_RETRY_EXC_ERR ||
		    wc.status == IBV_WC_WR_FLUSH_ERR)
			return gone(vt_status(wc.status));
		if (wc.status || wc.wr_id != done) {
			printf("request %d: %s\n", (int)done, vt_status(wc.status));
			return 1;
		}
		if (++done == 100)
			running();
	}
	if (dc_word(targets[0].buf) + dc_word(targets[1].buf) != done) {
		printf("%d requests, but another sum\n", (int)done);
		return 1;
	}
	printf("%d requests\n", (int)done);
	close_all();
	return 0;
}

static int destroy(uint64_t end)
{
	int rounds = 0;

	/* An initiator without its target gives up soon. */
	dc_timeout = 8;
	dc_retry_cnt = 1;
	while (time_left(end)) {
		struct ibv_qp *first;

		open_all();
		for (uint64_t n = 0; n < WINDOW; n++)
			if (post(n))
				return 1;
		usleep((unsigned int)(vt_random_u64() % 4000));
		first = targets[rounds / 2 % TARGETS].qp;
		if (rounds & 1) {
			if (ibv_destroy_qp(first))
				return 1;
			targets[rounds / 2 % TARGETS].qp = NULL;
			usleep(2000);
		}
		close_all();
		if (++rounds == 3)
			running();
	}
	printf("%d rounds\n", rounds);
	return 0;
}

int main(int argc, char **argv)
{
	const char *mode;
	int seconds = 2, opt, ret;
	uint64_t end;

	signal(SIGTERM, on_term);
	while ((opt = getopt(argc, argv, "s:")) != -1) {
		if (opt != 's')
			return 2;
		seconds = atoi(optarg);
	}
	mode = optind < argc ? argv[optind] : "run";
	a = vt_open(vt_name_a());
	b = vt_open(vt_name_b());
	end = vt_now_ms() + (uint64_t)seconds * 1000;
	if (!strcmp(mode, "run"))
		ret = run(end);
	else if (!strcmp(mode, "destroy"))
		ret = destroy(end);
	else
		ret = 2;
	/* After a removal the objects cannot be destroyed. */
	if (ret != 3) {
		vt_close(a);
		vt_close(b);
	}
	return ret;
}
