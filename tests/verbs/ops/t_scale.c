// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Prints the time to create and destroy each of many queue pairs, regions and
 * completion queues, their kernel memory, and the time of an operation when all
 * queue pairs are used in turn. Proves that an idle queue pair takes no more
 * than MAX_QP_BYTES on a kernel without lockdep.
 *
 *	t_scale [NUMBER...]	with that many objects
 *
 * The times are those of the monotonic clock, which counts instructions in
 * tools/vm --icount.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "tap.h"
#include "vt.h"

#define ROUNDS 2000		/* operations, at least */
/*
 * Limit of the bytes of an idle queue pair without its rings. With 10,000 queue
 * pairs each takes 4,096.
 */
#define MAX_QP_BYTES 5120

static struct vt_dev *dev;
static struct ibv_cq *cq;
static struct ibv_mr *mr;
static uint64_t word[2];

/* Returns the size of slab and per-CPU memory. Rings are in neither. */
static uint64_t kernel_bytes(void)
{
	uint64_t sum = 0, kib;
	char line[128];
	FILE *f = fopen("/proc/meminfo", "r");

	if (!f)
		vt_bail("/proc/meminfo");
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "Slab: %" SCNu64, &kib) == 1 ||
		    sscanf(line, "Percpu: %" SCNu64, &kib) == 1)
			sum += kib * 1024;
	fclose(f);
	return sum;
}

/* ---- creating and destroying objects ----------------------------------- */

static void *make_qp(void)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = cq,
		.recv_cq = cq,
		.cap = { .max_send_wr = 4, .max_recv_wr = 4,
			 .max_send_sge = 1, .max_recv_sge = 1 },
		.qp_type = IBV_QPT_RC,
		.sq_sig_all = 1,
	};

	return ibv_create_qp(dev->pd, &attr);
}

static int destroy_qp(void *qp)
{
	return ibv_destroy_qp(qp);
}

static void *make_mr(void)
{
	return ibv_reg_mr(dev->pd, word, sizeof(word), VT_ACCESS_ALL);
}

static int destroy_mr(void *object)
{
	return ibv_dereg_mr(object);
}

static void *make_cq(void)
{
	return ibv_create_cq(dev->ctx, 4, NULL, NULL, 0);
}

static int destroy_cq(void *object)
{
	return ibv_destroy_cq(object);
}

static const struct kind {
	const char *name;
	void *(*make)(void);
	int (*destroy)(void *object);
} kinds[] = {
	{ "queue pair", make_qp, destroy_qp },
	{ "region", make_mr, destroy_mr },
	{ "completion queue", make_cq, destroy_cq },
};

/* ---- operations on all queue pairs -------------------------------------- */

static void connect_pair(struct ibv_qp *a, struct ibv_qp *b)
{
	struct vt_conf conf = vt_defaults();
	struct vt_pair p = {
		.a = { .dev = dev, .qp = a },
		.b = { .dev = dev, .qp = b },
	};

	conf.rd_atomic = 1;
	vt_pair_connect(&p, &conf);
}

static bool add_one(struct ibv_qp *qp, uint64_t expected)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)&word[1],
		.length = sizeof(word[1]),
		.lkey = mr->lkey,
	};
	struct ibv_send_wr wr = {
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD,
		.wr.atomic = {
			.remote_addr = (uintptr_t)&word[0],
			.rkey = mr->rkey,
			.compare_add = 1,
		},
	}, *bad;
	struct ibv_wc wc;

	if (ibv_post_send(qp, &wr, &bad) || !vt_poll(cq, &wc, VT_MS))
		return false;
	return wc.status == IBV_WC_SUCCESS && word[1] == expected;
}

/* Measures atomics, each on the next queue pair. */
static void use(void **qps, unsigned int n)
{
	unsigned int ops = n > ROUNDS ? n : ROUNDS;
	uint64_t start, done = 0;

	for (unsigned int i = 0; i + 1 < n; i += 2)
		connect_pair(qps[i], qps[i + 1]);
	word[0] = 0;
	/* The first message of a queue pair takes a slower path. */
	for (unsigned int i = 0; i < n; i++)
		done += add_one(qps[i], done);
	word[0] = 0;
	start = vt_now_ns();
	while (done >= n && done - n < ops && add_one(qps[done % n], done - n))
		done++;
	diag("%u queue pairs: %" PRIu64 " for each fetch-and-add", n,
	     (vt_now_ns() - start) / ops);
	ok(done == n + ops && word[0] == ops,
	   "%u atomics on %u queue pairs in turn, each once", ops, n);
}

/* Creates and destroys n more objects. Returns the bytes of each. */
static int64_t bytes_of_more(const struct kind *kind, unsigned int n)
{
	uint64_t before = kernel_bytes(), after;
	void **objects = calloc(n, sizeof(*objects));
	unsigned int made = 0;

	while (made < n && (objects[made] = kind->make()))
		made++;
	after = kernel_bytes();
	while (made--)
		kind->destroy(objects[made]);
	free(objects);
	return (int64_t)(after - before) / n;
}

static void run(const struct kind *kind, unsigned int n)
{
	uint64_t before = kernel_bytes(), start = vt_now_ns(), half = 0, all;
	void **objects = calloc(n, sizeof(*objects));
	unsigned int made, destroyed = 0;
	bool limited;
	int64_t bytes;

	for (made = 0; made < n; made++) {
		if (made == n / 2)
			half = vt_now_ns() - start;
		objects[made] = kind->make();
		if (!objects[made])
			break;
	}
	all = vt_now_ns() - start;
	bytes = (int64_t)(kernel_bytes() - before) / n;
	ok(made == n, "%u of kind %s", n, kind->name);
	diag("%u of kind %s: %" PRIu64 " to make each of the first half, %" PRIu64
	     " of the second, %" PRId64 " bytes", n, kind->name,
	     n > 1 ? half / (n / 2) : all, (all - half) / (n - n / 2), bytes);
	/*
	 * A few queue pairs do not fill the pages allocated for them, and
	 * lockdep makes every lock larger.
	 */
	limited = kind->make == make_qp && n >= 500 && access("/proc/lockdep", F_OK);
	/* Other activity of the machine takes memory, too, so measure again. */
	for (int i = 0; limited && bytes > MAX_QP_BYTES && i < 20; i++)
		bytes = bytes_of_more(kind, n);
	if (limited)
		ok(bytes <= MAX_QP_BYTES, "a queue pair has %" PRId64 " bytes",
		   bytes);
	if (kind->make == make_qp && made == n && n > 1)
		use(objects, n);

	start = vt_now_ns();
	for (unsigned int i = 0; i < made; i++)
		destroyed += !kind->destroy(objects[i]);
	diag("%u of kind %s: %" PRIu64 " to destroy each", n, kind->name,
	     (vt_now_ns() - start) / n);
	ok(destroyed == made, "destroyed");
	free(objects);
}

int main(int argc, char **argv)
{
	static const char *const defaults[] = { "2", "100", "500" };
	int rounds = argc > 1 ? argc - 1 :
		     (int)ARRAY_SIZE(defaults);

	plan(0);
	dev = vt_open(vt_name_a());
	cq = make_cq();
	mr = make_mr();
	if (!cq || !mr)
		vt_bail("no completion queue or region");
	for (int i = 0; i < rounds; i++) {
		int n = atoi(argc > 1 ? argv[i + 1] : defaults[i]);

		if (n < 1)
			vt_bail("%d is not a number of objects", n);
		for (size_t k = 0; k < ARRAY_SIZE(kinds); k++)
			run(&kinds[k], (unsigned int)n);
	}
	ibv_dereg_mr(mr);
	ibv_destroy_cq(cq);
	vt_close(dev);
	return done_testing();
}
