// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Kernel memory of a connection of the provider mxe of libfabric, at both ends
 * together, when each peer has received one message and sent one. Then one of
 * them receives as many at once as an endpoint may have outstanding. With
 * FI_MXE_DC=1, the connections are over DC.
 *
 * t_fi.sh runs it.
 */
#include "fi_end.h"
#include "kmem.h"

#define CAPS (FI_MSG | FI_DIRECTED_RECV)
#define NUM_DOMAINS 4		/* each has CQEs for some endpoints */
#define NUM_TARGETS 64
#define BURST 512
#define NUM_TIMES 6
#define NUM_SESSIONS 8		/* that an initiator keeps, with the current one */
/* With send queues that are always of full size, a connection had 171,000. */
#define MAX_RC_BYTES 20480
#define MAX_DC_BYTES 2560

static struct end a, b, ends[NUM_DOMAINS];
static struct fid_ep *targets[NUM_TARGETS];
static fi_addr_t addrs[NUM_TARGETS];
static bool dc;

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
		left -= take_from(a.cq) + take_from(b.cq);
		for (int i = 0; i < NUM_DOMAINS; i++)
			left -= take_from(ends[i].cq);
	}
}

/*
 * An endpoint of h1 sends a number of each target to it, and gets it back.
 * Returns how many come back.
 */
static int exchange(struct fid_ep *ep, int first, int n)
{
	static uint32_t out[NUM_TARGETS], there[NUM_TARGETS], back[NUM_TARGETS];
	fi_addr_t to_ep[NUM_DOMAINS];
	int good = 0;

	for (int i = 0; i < NUM_DOMAINS; i++)
		to_ep[i] = insert(&ends[i], ep);
	for (int i = first; i < first + n; i++) {
		out[i] = (uint32_t)i;
		back[i] = UINT32_MAX;
		must(fi_recv(targets[i], &there[i], 4, NULL, FI_ADDR_UNSPEC,
			     &there[i]), "fi_recv");
		must(fi_recv(ep, &back[i], 4, NULL, addrs[i], &back[i]),
		     "fi_recv");
		must(fi_send(ep, &out[i], 4, NULL, addrs[i], &out[i]),
		     "fi_send");
	}
	take(n);
	for (int i = first; i < first + n; i++)
		must(fi_send(targets[i], &there[i], 4, NULL,
			     to_ep[i % NUM_DOMAINS], &there[i]), "fi_send");
	take(n);
	for (int i = first; i < first + n; i++)
		good += back[i] == (uint32_t)i;
	return good;
}

static int compare(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/*
 * Checks the bytes of a connection, which were measured several times: other
 * memory of the kernel grows and shrinks meanwhile. lockdep makes every lock
 * larger.
 */
static void check_bytes(int64_t bytes[NUM_TIMES], int64_t max)
{
	qsort(bytes, NUM_TIMES, sizeof(*bytes), compare);
	for (int i = 0; i < NUM_TIMES; i++)
		printf("# %" PRId64 " bytes\n", bytes[i]);
	ok(bytes[NUM_TIMES / 2 - 1] <= max || !access("/proc/lockdep", F_OK),
	   "a connection takes %" PRId64 " bytes of kernel memory",
	   bytes[NUM_TIMES / 2 - 1]);
}

static void test_rc(void)
{
	const int num = NUM_TARGETS / (NUM_TIMES + 1);
	int64_t bytes[NUM_TIMES], before;
	int good = exchange(a.ep, 0, num);

	for (int i = 0; i < NUM_TIMES; i++) {
		before = kmem_settled();
		good += exchange(a.ep, (i + 1) * num, num);
		bytes[i] = (kmem_settled() - before) / num;
	}
	is_int(good, num * (NUM_TIMES + 1), "each peer receives a message and sends one");
	check_bytes(bytes, MAX_RC_BYTES);
}

/*
 * Each endpoint has one initiator. The first endpoints make that of each target
 * keep all the sessions that it can. It ends one for each further peer.
 */
static void test_dc(void)
{
	struct fid_ep *first[NUM_SESSIONS], *others[NUM_TIMES];
	int64_t bytes[NUM_TIMES], before;
	int good = 0;

	for (int i = 0; i < NUM_SESSIONS; i++)
		first[i] = i ? open_ep(&a, a.cq) : a.ep;
	for (int i = 0; i < NUM_TIMES; i++)
		others[i] = i ? open_ep(&b, b.cq) : b.ep;
	for (int i = 0; i < NUM_SESSIONS; i++)
		good += exchange(first[i], 0, NUM_TARGETS);
	for (int i = 0; i < NUM_TIMES; i++) {
		before = kmem_settled();
		good += exchange(others[i], 0, NUM_TARGETS);
		bytes[i] = (kmem_settled() - before) / NUM_TARGETS;
	}
	is_int(good, NUM_TARGETS * (NUM_SESSIONS + NUM_TIMES),
	       "each peer receives messages and sends some");
	check_bytes(bytes, MAX_DC_BYTES);
	for (int i = 1; i < NUM_SESSIONS; i++)
		must(fi_close(&first[i]->fid), "fi_close");
	for (int i = 1; i < NUM_TIMES; i++)
		must(fi_close(&others[i]->fid), "fi_close");
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
	const char *env = getenv("FI_MXE_DC");

	plan(0);
	dc = env && atoi(env);
	setenv("FI_MXE_DC_INITIATORS", "1", 1);
	enter("h1");
	open_end(&a, CAPS);
	open_end(&b, CAPS);
	enter("h2");
	open_many(ends, NUM_DOMAINS, CAPS, targets, NUM_TARGETS);
	for (int i = 0; i < NUM_TARGETS; i++) {
		addrs[i] = insert(&a, targets[i]);
		insert(&b, targets[i]);
	}
	enter("h1");
	if (dc)
		test_dc();
	else
		test_rc();
	test_burst();
	if (!dc)
		is_int(deepest(), 128,
		       "... by a send queue that has become deeper");
	close_many(ends, NUM_DOMAINS, targets, NUM_TARGETS);
	is_int(close_end(&a), 0, "the endpoint is closed");
	must(close_end(&b), "fi_close");
	return done_testing();
}
