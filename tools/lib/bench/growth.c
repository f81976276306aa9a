// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * bench-growth DEVICE REMOTE SUBJECT NUMBER...
 *
 * Measures fetch-and-adds of DEVICE, one at a time, that take another one of
 * many in turn: another region of REMOTE (SUBJECT "regions"), another address
 * (GID) of REMOTE by a queue pair to each ("hosts"), or another initiator, all
 * of which have a session with one target ("initiators").  Prints the mean for
 * each number, in the form of mxe-perf --json.  Leaves out numbers that a
 * device does not have.  The clock counts instructions in tools/vm --icount.
 */
#include <inttypes.h>

#include "dc.h"

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
 * @make: makes number i
 * @qp: returns the queue pair of number i
 * @rkey: returns the key of the word of number i
 */
struct subject {
	const char *name;
	int (*limit)(void);
	void (*make)(int i);
	struct ibv_qp_ex *(*qp)(int i);
	uint32_t (*rkey)(int i);
};

static struct end a, b;
static struct ibv_mr *old_mr, *words_mr;
static uint64_t old, *words;
static struct ibv_ah *ah;
static struct ibv_qp *target;
static struct ibv_mr **regions;
static struct ibv_qp_ex **qps;

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

static struct ibv_qp *make_rc(struct end *end)
{
	struct ibv_qp_init_attr_ex attr = {
		.qp_type = IBV_QPT_RC,
		.pd = end->rc.pd,
		.send_cq = end->cq,
		.recv_cq = end->cq,
		.cap = { .max_send_wr = 1, .max_send_sge = 1 },
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.send_ops_flags = IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD,
	};
	struct ibv_qp *qp = ibv_create_qp_ex(end->rc.ctx, &attr);

	if (!qp)
		rc_fail("a queue pair cannot be created");
	return qp;
}

static struct ibv_qp_ex *connect_rc(const struct rc_device *remote)
{
	struct ibv_qp *qp = make_rc(&a), *peer = make_rc(&b);

	rc_connect(&a.rc, qp, remote, peer);
	return ibv_qp_to_qp_ex(qp);
}

/* ---- regions ------------------------------------------------------------- */

static int max_regions(void)
{
	/* One is for the results, and both may be the same device. */
	return query(&b).max_mr - 2;
}

static void make_region(int i)
{
	if (!i)
		qps[0] = connect_rc(&b.rc);
	regions[i] = reg_mr(&b, &words[i], sizeof(words[i]));
}

static struct ibv_qp_ex *only_qp(int i)
{
	(void)i;
	return qps[0];
}

static uint32_t rkey_of_region(int i)
{
	return regions[i]->rkey;
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
}

static struct ibv_qp_ex *qp_of(int i)
{
	return qps[i];
}

static uint32_t common_rkey(int i)
{
	(void)i;
	return words_mr->rkey;
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
}

static const struct subject subjects[] = {
	{ "regions", max_regions, make_region, only_qp, rkey_of_region },
	{ "hosts", max_hosts, make_host, qp_of, common_rkey },
	{ "initiators", max_initiators, make_initiator, qp_of, common_rkey },
};

/* ---- operations ---------------------------------------------------------- */

static void add(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t *word)
{
	struct ibv_wc wc;

	ibv_wr_start(qp);
	qp->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_atomic_fetch_add(qp, rkey, (uintptr_t)word, 1);
	if (target)
		dc_send_to(qp, ah, target);
	ibv_wr_set_sge(qp, old_mr->lkey, (uintptr_t)&old, sizeof(old));
	if (ibv_wr_complete(qp))
		rc_fail("an operation cannot be posted");
	while (!ibv_poll_cq(a.cq, 1, &wc))
		;
	if (wc.status != IBV_WC_SUCCESS)
		rc_fail(ibv_wc_status_str(wc.status));
	if (old + 1 != *word)
		rc_fail("an operation returned a wrong value");
}

static void operate(const struct subject *s, int n, int ops)
{
	for (int i = 0; i < ops; i++)
		add(s->qp(i % n), s->rkey(i % n), &words[i % n]);
}

/* Prints the mean of operations on n. */
static void measure(const struct subject *s, int n, const char *separator)
{
	int ops = 2 * n > MIN_OPS ? 2 * n : MIN_OPS;
	uint64_t mark;

	/* The first operations take a slower path. */
	operate(s, n, n > MIN_WARM_UP ? n : MIN_WARM_UP);
	mark = rc_now();
	operate(s, n, ops);
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
	regions = calloc((size_t)most, sizeof(struct ibv_mr *));
	qps = calloc((size_t)most, sizeof(struct ibv_qp_ex *));
	if (!words || !regions || !qps)
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
		measure(s, n, i == 4 ? "" : ",");
	}
	printf(" ] }\n");
	return 0;
}
