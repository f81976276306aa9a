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
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "dc.h"
#include "traffic.h"

enum { TARGETS = 2, IN_A_ROW = 5 };

static struct vt_dev *a, *b;
static struct dc_target targets[TARGETS];
static struct dc_initiator initiator;

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

static int run(uint64_t end)
{
	struct traffic t = { .a = a, .b = b, .post = post };
	int ret;

	open_all();
	t.cq = initiator.cq;
	ret = traffic_run(&t, end);
	if (ret)
		return ret;
	if (dc_word(targets[0].buf) + dc_word(targets[1].buf) != t.done) {
		printf("... but another sum\n");
		return 1;
	}
	close_all();
	return 0;
}

static int destroy(uint64_t end)
{
	int rounds = 0;

	/* An initiator without its target gives up soon. */
	dc_timeout = 8;
	dc_retry_cnt = 1;
	while (traffic_time_left(end)) {
		struct ibv_qp *first;

		open_all();
		for (uint64_t n = 0; n < TRAFFIC_WINDOW; n++)
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
			traffic_running();
	}
	printf("%d rounds\n", rounds);
	return 0;
}

int main(int argc, char **argv)
{
	const char *mode;
	int seconds = 2, opt, ret;
	uint64_t end;

	signal(SIGTERM, traffic_on_term);
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
	if (ret != TRAFFIC_GONE) {
		vt_close(a);
		vt_close(b);
	}
	return ret;
}
