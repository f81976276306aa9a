// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Kernel memory of a connection of the provider mxe of libfabric, at both ends
 * together: when each peer has received one message, and when one of them has
 * received as many at once as an endpoint may have outstanding.
 *
 * t_fi.sh runs it.
 */
#include "fi_end.h"
#include "kmem.h"

#define CAPS FI_MSG
#define NUM_DOMAINS 4		/* each has CQEs for some endpoints */
#define NUM_TARGETS 64
#define BURST 512
/* With send queues that are always of full size, a connection had 171,000. */
#define MAX_BYTES 20480

static struct end a, ends[NUM_DOMAINS];
static struct fid_ep *targets[NUM_TARGETS];
static fi_addr_t addrs[NUM_TARGETS];

/* Takes a completion, if there is one. Returns their number. */
static int take_from(struct fid_cq *cq)
{
	struct fi_cq_tagged_entry entry;
	ssize_t ret = fi_cq_read(cq, &entry, 1);

	if (ret == -FI_EAGAIN)
		return 0;
	must(ret, "fi_cq_read");
	return 1;
}

/* Takes completions until n messages were sent and received. */
static void take(int n)
{
	int left = 2 * n;

	while (left) {
		left -= take_from(a.cq);
		for (int i = 0; i < NUM_DOMAINS; i++)
			left -= take_from(ends[i].cq);
	}
}

/* Sends a number of each target to it, and returns how many are received. */
static int send_to(int first, int n)
{
	static uint32_t in[NUM_TARGETS], out[NUM_TARGETS];
	int good = 0;

	for (int i = first; i < first + n; i++) {
		in[i] = UINT32_MAX;
		out[i] = (uint32_t)i;
		must(fi_recv(targets[i], &in[i], sizeof(in[i]), NULL,
			     FI_ADDR_UNSPEC, &in[i]), "fi_recv");
		must(fi_send(a.ep, &out[i], sizeof(out[i]), NULL, addrs[i],
			     &out[i]), "fi_send");
	}
	take(n);
	for (int i = first; i < first + n; i++)
		good += in[i] == (uint32_t)i;
	return good;
}

static void test_connections(void)
{
	const int half = NUM_TARGETS / 2;
	int64_t bytes;
	int good;

	good = send_to(0, half);
	bytes = kmem_settled();
	good += send_to(half, half);
	bytes = (kmem_settled() - bytes) / half;
	is_int(good, NUM_TARGETS, "each peer receives its message");
	/* lockdep makes every lock larger. */
	ok(bytes < MAX_BYTES || !access("/proc/lockdep", F_OK),
	   "a connection takes %" PRId64 " bytes of kernel memory", bytes);
}

/* All are posted before the first completes: the send queue becomes deeper. */
static void test_burst(void)
{
	static uint32_t in[BURST], out[BURST];
	int good = 0;

	for (int i = 0; i < BURST; i++) {
		out[i] = (uint32_t)i;
		must(fi_recv(targets[0], &in[i], sizeof(in[i]), NULL,
			     FI_ADDR_UNSPEC, &in[i]), "fi_recv");
	}
	for (int i = 0; i < BURST; i++)
		must(fi_send(a.ep, &out[i], sizeof(out[i]), NULL, addrs[0],
			     &out[i]), "fi_send");
	take(BURST);
	for (int i = 0; i < BURST; i++)
		good += in[i] == (uint32_t)i;
	is_int(good, BURST, "a peer receives %d messages in their order", BURST);
}

/* Returns the depth of the deepest send queue of h1. */
static int deepest(void)
{
	char line[32];
	int n = -1;
	FILE *f = popen("rdma -dd resource show qp link mxe1/1 | grep -o 'sq_depth [0-9]*'",
			"r");
	int depth;

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "sq_depth %d", &depth) == 1 && depth > n)
			n = depth;
	if (f)
		pclose(f);
	return n;
}

int main(void)
{
	plan(0);
	enter("h1");
	open_end(&a, CAPS);
	enter("h2");
	for (int i = 0; i < NUM_DOMAINS; i++)
		open_end(&ends[i], CAPS);
	for (int i = 0; i < NUM_TARGETS; i++) {
		struct end *e = &ends[i % NUM_DOMAINS];

		targets[i] = i < NUM_DOMAINS ? e->ep : open_ep(e, e->cq);
		addrs[i] = insert(&a, targets[i]);
	}
	enter("h1");
	test_connections();
	test_burst();
	is_int(deepest(), 128, "... by a send queue that has become deeper");
	for (int i = NUM_DOMAINS; i < NUM_TARGETS; i++)
		must(fi_close(&targets[i]->fid), "fi_close");
	for (int i = 0; i < NUM_DOMAINS; i++)
		is_int(close_end(&ends[i]), 0, "the targets of a domain are closed");
	is_int(close_end(&a), 0, "the endpoint is closed");
	return done_testing();
}
