// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * bench-growth DEVICE REMOTE SUBJECT NUMBER...
 *
 * Measures fetch-and-adds of DEVICE, one at a time, that take many objects in
 * turn.  SUBJECT names the objects:
 *
 *	regions		regions of REMOTE, by one queue pair
 *	hosts		addresses (GIDs) of REMOTE, by a queue pair to each
 *	initiators	initiators of DC that have a session with one target
 *
 * Prints the mean for each number, in the form of mxe-perf --json.  Leaves out
 * numbers that a device does not have.  The clock counts instructions in
 * tools/vm --icount.
 */
#include <inttypes.h>

#include "adder.h"

#define MIN_OPS 4000
#define MIN_WARM_UP 1000

struct end {
	struct rc_device rc;
	struct ibv_cq *cq;
};

/**
 * struct subject - What there are many of.
 * @name: on the command line
 * @limit: returns how many the devices have
 * @make: makes number i, and sets qps[i] and rkeys[i]
 */
struct subject {
	const char *name;
	int (*limit)(void);
	void (*make)(int i);
};

static struct end a, b;
static struct ibv_mr *old_mr, *words_mr;
static uint64_t old, *words;
static struct ibv_ah *ah;
static struct ibv_qp *target;
/* Of the operation that takes number i. Its word is words[i]. */
static struct ibv_qp_ex **qps;
static uint32_t *rkeys;

static void open_end(struct end *end, const char *device)
{
	rc_open(&end->rc, device);
	end->cq = ibv_create_cq(end->rc.ctx, 1, NULL, NULL, 0);
	if (!end->cq)
		rc_fail("a completion queue cannot be created");
}

static struct ibv_mr *reg_mr(struct end *end, void *addr, size_t len)
{
	struct ibv_mr *mr = ibv_reg_mr(end->rc.pd, addr, len, RC_ACCESS);

	if (!mr)
		rc_fail("a region cannot be registered");
	return mr;
}

static struct ibv_device_attr query(const struct end *end)
{
	struct ibv_device_attr attr;

	if (ibv_query_device(end->rc.ctx, &attr))
		rc_fail("a device cannot be queried");
	return attr;
}

static struct ibv_qp_ex *connect_rc(const struct rc_device *remote)
{
	return adder_create_rc(&a.rc, a.cq, remote, b.cq);
}

/* ---- regions ------------------------------------------------------------- */

static int max_regions(void)
{
	/* One is for the results, and both may be the same device. */
	return query(&b).max_mr - 2;
}

static void make_region(int i)
{
	qps[i] = i ? qps[0] : connect_rc(&b.rc);
	rkeys[i] = reg_mr(&b, &words[i], sizeof(words[i]))->rkey;
}

/* ---- hosts --------------------------------------------------------------- */

static int max_hosts(void)
{
	struct rc_device remote = b.rc;
	int n = 0;

	while (rc_nth_gid(&remote, n))
		n++;
	return n;
}

static void make_host(int i)
{
	struct rc_device remote = b.rc;

	rc_nth_gid(&remote, i);
	qps[i] = connect_rc(&remote);
	rkeys[i] = words_mr->rkey;
}

/* ---- initiators ---------------------------------------------------------- */

static int max_initiators(void)
{
	return query(&a).max_qp - 1;
}

static void make_initiator(int i)
{
	if (!i) {
		target = dc_target(&b.rc, &a.rc, b.cq);
		ah = dc_ah(&a.rc, &b.rc);
	}
	qps[i] = ibv_qp_to_qp_ex(dc_initiator(&a.rc, &b.rc, a.cq));
	rkeys[i] = words_mr->rkey;
}

static const struct subject subjects[] = {
	{ "regions", max_regions, make_region },
	{ "hosts", max_hosts, make_host },
	{ "initiators", max_initiators, make_initiator },
};

/* ---- operations ---------------------------------------------------------- */

static void add(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t *word)
{
	adder_begin(qp, rkey, word);
	if (target)
		dc_send_to(qp, ah, target);
	adder_end(qp, a.cq, old_mr, &old);
	if (old + 1 != *word)
		rc_fail("an operation returned a wrong value");
}

static void operate(int n, int ops)
{
	for (int i = 0; i < ops; i++)
		add(qps[i % n], rkeys[i % n], &words[i % n]);
}

/* Prints the mean of operations on n. */
static void measure(int n, const char *separator)
{
	int ops = 2 * n > MIN_OPS ? 2 * n : MIN_OPS;
	uint64_t mark;

	/* The first operations take a slower path. */
	operate(n, n > MIN_WARM_UP ? n : MIN_WARM_UP);
	mark = rc_now();
	operate(n, ops);
	printf("%s\n  { \"op\": \"%d\", \"per_op\": %" PRIu64 " }", separator, n,
	       (rc_now() - mark) / (uint64_t)ops);
	fflush(stdout);
}

static const struct subject *find_subject(const char *name)
{
	for (size_t i = 0; i < sizeof(subjects) / sizeof(subjects[0]); i++)
		if (!strcmp(subjects[i].name, name))
			return &subjects[i];
	rc_fail("the subject is not regions, hosts or initiators");
	return NULL;
}

int main(int argc, char **argv)
{
	const struct subject *s;
	int made = 0, limit, most;

	if (argc < 5)
		rc_fail("usage: bench-growth DEVICE REMOTE SUBJECT NUMBER...");
	open_end(&a, argv[1]);
	open_end(&b, argv[2]);
	s = find_subject(argv[3]);
	limit = s->limit();
	most = atoi(argv[argc - 1]);
	words = calloc((size_t)most, sizeof(*words));
	qps = calloc((size_t)most, sizeof(struct ibv_qp_ex *));
	rkeys = calloc((size_t)most, sizeof(*rkeys));
	if (!words || !qps || !rkeys)
		rc_fail("no memory, or a number is wrong");
	old_mr = reg_mr(&a, &old, sizeof(old));
	words_mr = reg_mr(&b, words, (size_t)most * sizeof(*words));
	printf("{ \"size\": 8, \"unit\": \"ns\", \"results\": [");
	for (int i = 4; i < argc && atoi(argv[i]) <= limit; i++) {
		int n = atoi(argv[i]);

		if (n <= made || n > most)
			rc_fail("the numbers have to increase");
		while (made < n)
			s->make(made++);
		measure(n, i == 4 ? "" : ",");
	}
	printf(" ] }\n");
	return 0;
}
