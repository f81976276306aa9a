// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Proves that resizing the largest completion queue, empty or made to look full
 * by its process, delays nothing else on its CPU: a SCHED_FIFO task there still
 * runs in time. Resizing under traffic does not lose, repeat or reorder
 * completions.
 *
 *	t_hostile_resize [delay] [contents]
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "tap.h"
#include "hostile.h"

enum {
	CPU = 1,
	LATE_MS = 10,
	RESIZES = 6,
	RESIZES_FULL = 40,
	DEPTH = 16384,
	OUTSTANDING = 8192,
	CONTENT_ROUNDS = 12,
	CONTENT_ROUNDS_FULL = 100,
	ENTRY_SIZE = 64,
};

static struct {
	struct hostile_steps steps;
	atomic_int resizes;
	bool full;		/* the queue looks full, not empty */
	uint64_t max_ns;
} *sh;

/* ---- delay --------------------------------------------------------------- */

static void look_full(struct ibv_cq *cq)
{
	struct hostile_rings rings = { 0 };
	uint32_t *consumer, producer;

	hostile_add_big_rings(&rings, (size_t)cq->cqe * ENTRY_SIZE);
	if (rings.num != 1)
		vt_bail("%d rings of %d entries", rings.num, cq->cqe);
	consumer = &rings.queue[0].hdr->consumer;
	producer = __atomic_load_n(&rings.queue[0].hdr->producer,
				   __ATOMIC_ACQUIRE);
	__atomic_store_n(consumer, producer - (uint32_t)cq->cqe,
			 __ATOMIC_RELEASE);
}

static void resizer(void *arg)
{
	struct ibv_device_attr caps;
	struct ibv_cq *cq;
	struct vt_dev *a;

	(void)arg;
	hostile_pin(CPU);
	a = vt_open(vt_name_a());
	if (ibv_query_device(a->ctx, &caps))
		vt_bail("ibv_query_device");
	cq = ibv_create_cq(a->ctx, caps.max_cqe, NULL, NULL, 0);
	if (!cq)
		vt_bail("a completion queue of %d entries", caps.max_cqe);
	if (sh->full)
		look_full(cq);
	sh->steps.ready = 1;
	hostile_wait(&sh->steps.go, "meter");
	for (; sh->resizes < (hostile_full() ? RESIZES_FULL : RESIZES);
	     sh->resizes++) {
		uint64_t ns = vt_now_ns();

		if (ibv_resize_cq(cq, caps.max_cqe))
			vt_bail("ibv_resize_cq");
		ns = vt_now_ns() - ns;
		if (ns > sh->max_ns)
			sh->max_ns = ns;
	}
	sh->steps.done = 1;
	/* Closing the device is not measured. */
	for (;;)
		pause();
}

/* Returns the delay in nanoseconds while a queue is resized. */
static uint64_t delay(const void *arg)
{
	bool full = *(const bool *)arg;
	struct hostile_lateness late;
	pid_t pid;

	memset(sh, 0, sizeof(*sh));
	sh->full = full;
	pid = hostile_late_of(&late, CPU, &sh->steps, resizer);
	hostile_kill(pid);
	diag("%d resizes, %s: at most %.1f ms each; a timer is late by %.1f ms, at most %.1f",
	     sh->resizes, full ? "full" : "empty", (double)sh->max_ns / 1e6,
	     (double)hostile_late_ns(&late) / 1e6,
	     (double)late.shared->top[0] / 1e6);
	return hostile_late_ns(&late);
}

static void check_delay(bool full, uint64_t base_ns)
{
	uint64_t limit = hostile_limit(LATE_MS) + 2 * base_ns;

	if (!hostile_judges_time()) {
		delay(&full);
		return;
	}
	ok(hostile_least(delay, &full, limit) <= limit,
	   "resizing %s queue delays a timer by less than %.1f ms",
	   full ? "a full" : "an empty", (double)limit / 1e6);
}

/* ---- contents ------------------------------------------------------------ */

static struct vt_pair pair;
static atomic_uint posted, polled;
static atomic_int stop;

/* Posts signaled and numbered WRITEs. Leaves many completions in the queue. */
static void *poster(void *arg)
{
	(void)arg;
	while (!stop) {
		struct ibv_sge sge = vt_sge(&pair.a, 0, 8);
		struct vt_wr wr = {
			.op = VT_WRITE, .via = VT_WR, .sge = &sge, .num_sge = 1,
			.flags = IBV_SEND_SIGNALED, .wr_id = posted,
			.raddr = vt_addr(&pair.b, 0), .rkey = pair.b.mr->rkey,
		};

		if (posted - polled >= OUTSTANDING || vt_post(&pair.a, &wr)) {
			hostile_sleep_ms(1);
			continue;
		}
		posted++;
	}
	return NULL;
}

/*
 * Checks the completions up to that number. Returns NULL or a description of
 * the error.
 */
static const char *poll_to(unsigned int number)
{
	struct ibv_wc wc;

	while (polled != number) {
		if (!vt_poll(pair.a.cq, &wc, VT_MS))
			return "a completion is missing";
		if (wc.status)
			return vt_status(wc.status);
		if (wc.wr_id != polled)
			return wc.wr_id < polled ? "a completion twice" :
						   "a completion too early";
		polled++;
	}
	return NULL;
}

static void check_contents(void)
{
	static const int sizes[] = { 65536, DEPTH, 1048576, 2 * DEPTH };
	int rounds = hostile_full() ? CONTENT_ROUNDS_FULL : CONTENT_ROUNDS;
	struct vt_dev *a = vt_open(vt_name_a()), *b = vt_open(vt_name_a());
	struct vt_conf conf = vt_defaults();
	const char *wrong = NULL;
	unsigned int in_queue = 0;
	pthread_t thread;
	struct ibv_wc wc;

	conf.depth = DEPTH;
	vt_pair_open(&pair, a, b, &conf);
	if (pthread_create(&thread, NULL, poster, NULL))
		vt_bail("pthread_create");
	for (int i = 0; i < rounds && !wrong; i++) {
		unsigned int before = posted - polled;

		if (before > in_queue)
			in_queue = before;
		if (ibv_resize_cq(pair.a.cq, sizes[i % 4]))
			vt_bail("ibv_resize_cq to %d", sizes[i % 4]);
		/*
		 * Poll only half of them, so that the next resize finds
		 * completions.
		 */
		wrong = poll_to(posted - (posted - polled) / 2);
	}
	stop = 1;
	pthread_join(thread, NULL);
	if (!wrong)
		wrong = poll_to(posted);
	if (!wrong && vt_poll(pair.a.cq, &wc, 0))
		wrong = "one completion too many";
	diag("%d resizes, %u completions, up to %u of them open at a resize",
	     rounds, (unsigned int)polled, in_queue);
	ok(!wrong && polled, "completions of a queue that is resized: %s",
	   wrong ? wrong : "each once, in order");
	vt_pair_close(&pair);
	vt_close(a);
	vt_close(b);
}

int main(int argc, char **argv)
{
	uint64_t base_ns;

	(void)argc;
	sh = hostile_begin(sizeof(*sh));
	plan(0);
	if (vt_wanted("delay", argv + 1)) {
		base_ns = hostile_base_late_ns(CPU);
		check_delay(false, base_ns);
		check_delay(true, base_ns);
	}
	if (vt_wanted("contents", argv + 1))
		check_contents();
	return done_testing();
}
