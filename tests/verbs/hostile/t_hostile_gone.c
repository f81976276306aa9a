// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Proves that many objects of one process are destroyed quickly when the
 * process is killed and when its device is deleted, without waiting for a grace
 * period for each object. Creating and destroying queue pairs interrupts no
 * other CPU.
 *
 *	t_hostile_gone [NAME...]	only these kinds of object
 *
 * By default the test creates fewer objects, mostly a tenth, and allows a third
 * of the time. With MXE_HOSTILE_FULL=1 it creates all of them. It destroys a
 * twentieth first, so that a kernel that is much too slow fails early.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include "tap.h"
#include "fd_object.h"
#include "hostile.h"

enum {
	FULL_MS = 3000,
	SHORT_MS = 1000,
	MAKE_MS = 240000,
	PROBE_SHARE = 20,
	TRIES = 2,
	HOPELESS = 4,		/* times the limit: no second try */
	IPI_ROUNDS = 500,
	ROUNDS_PER_IPI = 10,
};

struct kind {
	const char *name;
	int full, few;
	/* Creates one object. */
	bool (*make)(struct vt_dev *dev);
};

static struct {
	atomic_int wanted, made, ready;
} *sh;

static const struct kind *kind;

/* ---- objects ------------------------------------------------------------- */

static bool make_mw(struct vt_dev *dev)
{
	return ibv_alloc_mw(dev->pd, IBV_MW_TYPE_1);
}

static bool make_qp(struct vt_dev *dev)
{
	static struct ibv_cq *cq;
	struct ibv_qp_init_attr attr = {
		.cap = { .max_send_wr = 1, .max_recv_wr = 1,
			 .max_send_sge = 1, .max_recv_sge = 1 },
		.qp_type = IBV_QPT_RC,
	};

	if (!cq)
		cq = ibv_create_cq(dev->ctx, 1, NULL, NULL, 0);
	attr.send_cq = cq;
	attr.recv_cq = cq;
	return cq && ibv_create_qp(dev->pd, &attr);
}

static bool make_doorbell(struct vt_dev *dev)
{
	return fd_object_doorbell(dev->ctx) >= 0;
}

static bool make_context(struct vt_dev *dev)
{
	return ibv_open_device(dev->ctx->device);
}

static const struct kind kinds[] = {
	{ "windows", 100000, 10000, make_mw },
	{ "qps", 10000, 1000, make_qp },
	{ "doorbells", 10000, 1000, make_doorbell },
	{ "contexts", 1000, 100, make_context },
};

static void owner(void *arg)
{
	struct rlimit files = { 65536, 65536 };
	struct vt_dev *dev;

	(void)arg;
	if (setrlimit(RLIMIT_NOFILE, &files))
		vt_bail("RLIMIT_NOFILE");
	dev = vt_open(vt_name_a());
	for (; sh->made < sh->wanted; sh->made++)
		if (!kind->make(dev))
			vt_bail("%s: object %d", kind->name, sh->made);
	sh->ready = 1;
	for (;;)
		pause();
}

/* Starts a process and waits until it has that many objects. */
static pid_t begin(int number)
{
	uint64_t end = vt_now_ms() + hostile_limit(MAKE_MS) / HOSTILE_MS;
	pid_t pid;

	memset(sh, 0, sizeof(*sh));
	sh->wanted = number;
	pid = hostile_fork(owner, NULL);
	while (!sh->ready) {
		if (vt_now_ms() > end)
			vt_bail("%s: only %d objects were made in time",
				kind->name, sh->made);
		hostile_sleep_ms(5);
	}
	return pid;
}

/* ---- ways to destroy ----------------------------------------------------- */

static void run(const char *command)
{
	fflush(stdout);
	if (system(command))
		vt_bail("%s", command);
}

static bool has_addresses(void)
{
	struct vt_dev *dev = vt_try_open(vt_name_a());
	bool has;

	if (!dev)
		return false;
	has = dev->gid4_index >= 0 && dev->gid6_index >= 0;
	vt_close(dev);
	return has;
}

static void make_device(void)
{
	uint64_t end = vt_now_ms() + VT_MS;

	run("ip netns exec h1 rdma link add mxe1 type mxe netdev eth0");
	while (!has_addresses()) {
		if (vt_now_ms() > end)
			vt_bail("mxe1 has no addresses");
		hostile_sleep_ms(10);
	}
}

static uint64_t by_kill(int number)
{
	return hostile_kill(begin(number));
}

static uint64_t by_del(int number)
{
	pid_t pid = begin(number);
	uint64_t ns = vt_now_ns();

	run("rdma link del mxe1");
	ns = vt_now_ns() - ns;
	if (hostile_kill(pid) == UINT64_MAX)
		vt_bail("the owner of the objects ended by itself");
	make_device();
	return ns;
}

static bool nothing_left(void)
{
	char line[256] = "";
	FILE *f;

	f = popen("rdma resource show mxe1", "r");
	if (!f || !fgets(line, sizeof(line), f) || pclose(f))
		vt_bail("rdma resource");
	/* The core owns QP 1 and its CQ. */
	return strstr(line, " qp 1 ") && strstr(line, " mr 0") &&
	       strstr(line, " cq 1 ");
}

static void check_way(const char *way, uint64_t (*go)(int number))
{
	int number = hostile_full() ? kind->full : kind->few;
	uint64_t limit = (hostile_full() ? FULL_MS : SHORT_MS) * HOSTILE_MS;
	int probe = number / PROBE_SHARE;
	bool judged = hostile_judges_time();
	uint64_t ns = 0, best = UINT64_MAX;

	ns = go(probe);
	diag("%s: %d are destroyed in %.1f ms, by %s", kind->name, probe,
	     (double)ns / 1e6, way);
	if (judged && ns > limit) {
		fail("%s: %d are destroyed within %.1f s, by %s (not tried)", kind->name,
		     number, (double)limit / 1e9, way);
		return;
	}
	for (int i = 0; i < TRIES && best > limit; i++) {
		ns = go(number);
		if (ns < best)
			best = ns;
		if (!judged || ns > HOPELESS * limit)
			break;
	}
	diag("%s: %d are destroyed in %.1f ms, by %s", kind->name, number,
	     (double)best / 1e6, way);
	if (judged)
		ok(best <= limit, "%s: %d are destroyed within %.1f s, by %s", kind->name,
		   number, (double)limit / 1e9, way);
	ok(nothing_left(), "%s: nothing is left, by %s", kind->name, way);
}

/* ---- interrupts ---------------------------------------------------------- */

/* Returns the number of function call interrupts of a CPU, or -1. */
static long function_calls(int cpu)
{
	FILE *f = fopen("/proc/interrupts", "r");
	long count[HOSTILE_CPUS] = { -1, -1 };
	char line[512];

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, " CAL: %ld %ld", &count[0], &count[1]) == 2)
			break;
	if (f)
		fclose(f);
	return count[cpu];
}

static void spin(void *begun)
{
	hostile_pin(1);
	*(atomic_int *)begun = 1;
	for (;;)
		;
}

static void create_destroy(void *calls)
{
	struct ibv_qp_init_attr attr = {
		.cap = { .max_send_wr = 1, .max_recv_wr = 1,
			 .max_send_sge = 1, .max_recv_sge = 1 },
		.qp_type = IBV_QPT_RC,
	};
	struct vt_dev *dev;
	long before;

	hostile_pin(0);
	dev = vt_open(vt_name_a());
	attr.send_cq = ibv_create_cq(dev->ctx, 1, NULL, NULL, 0);
	attr.recv_cq = attr.send_cq;
	before = function_calls(1);
	for (int i = 0; i < IPI_ROUNDS; i++) {
		struct ibv_qp *qp = ibv_create_qp(dev->pd, &attr);

		if (!qp || ibv_destroy_qp(qp))
			vt_bail("queue pair %d", i);
	}
	*(long *)calls = function_calls(1) - before;
}

static void check_interrupts(void)
{
	long *calls = hostile_shared(sizeof(*calls));
	pid_t spinner;
	int status;

	if (function_calls(1) < 0) {
		skip(1, "/proc/interrupts has no function calls here");
		return;
	}
	memset(sh, 0, sizeof(*sh));
	spinner = hostile_fork(spin, &sh->ready);
	hostile_wait(&sh->ready, "process that spins");
	status = hostile_join(hostile_fork(create_destroy, calls));
	hostile_kill(spinner);
	diag("%d queue pairs created and destroyed: CPU 1 received %ld function call interrupts",
	     IPI_ROUNDS, *calls);
	if (!ok(!status, "queue pairs are created and destroyed"))
		return;
	/*
	 * KASAN itself interrupts all CPUs when the memory of rings is freed.
	 */
	if (!hostile_judges_time())
		return;
	ok(*calls * ROUNDS_PER_IPI < IPI_ROUNDS,
	   "... with less than one interrupt of the other CPU for %d of them",
	   ROUNDS_PER_IPI);
}

int main(int argc, char **argv)
{
	(void)argc;
	sh = hostile_begin(sizeof(*sh));
	plan(0);
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		kind = &kinds[i];
		if (!vt_wanted(kind->name, argv + 1))
			continue;
		check_way("SIGKILL", by_kill);
		check_way("rdma link del", by_del);
	}
	if (vt_wanted("interrupts", argv + 1))
		check_interrupts();
	return done_testing();
}
