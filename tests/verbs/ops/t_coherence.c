// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Proves that RDMA of a peer and the process do not see each other's data on
 * devices that were added with coherent=N until mxedv_sync_mr() is called, that
 * the call checks its arguments, and that the memory is limited and released.
 * Usage: t_coherence [coherent], with "coherent" on ordinary devices.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include "tap.h"
#include "vt.h"

enum {
	SIZE = 65536,		/* buffer of each end */
	HALF = SIZE / 2,
	NOBODY = 65534,
	MIB = 1 << 20,
	BIG = 64 * MIB,
	HAMMER_MS = 500,
	KILL_MS = 20,
	CPU = MXEDV_SYNC_MR_FOR_CPU,
	DEVICE = MXEDV_SYNC_MR_FOR_DEVICE,
};

static struct vt_dev *a, *b;
static struct vt_pair p;
static bool coherent;

static void open_pair(void)
{
	struct vt_conf conf = vt_defaults();

	conf.size = SIZE;
	conf.mr_access = VT_ACCESS_ALL | IBV_ACCESS_MW_BIND;
	vt_pair_open(&p, a, b, &conf);
}

static int sync_b(size_t offset, size_t len, uint32_t flags)
{
	return mxedv_sync_mr(p.b.mr, vt_addr(&p.b, offset), len, flags);
}

/* End a writes len bytes of value to the buffer of end b. */
static int rdma_write(size_t offset, int value, uint32_t len)
{
	memset(p.a.buf, value, len);
	return vt_rdma(&p.a, VT_WRITE, p.b.mr, vt_addr(&p.b, offset), len);
}

/* Returns the byte that end a reads from the buffer of end b, or -1. */
static int rdma_read(size_t offset)
{
	p.a.buf[0] = 0xee;
	return vt_rdma(&p.a, VT_READ, p.b.mr, vt_addr(&p.b, offset), 1) ? -1 :
	       p.a.buf[0];
}

static bool all(size_t from, size_t to, int value)
{
	for (size_t i = from; i < to; i++)
		if (p.b.buf[i] != value)
			return false;
	return true;
}

/* Gives bytes of the buffer of end b a value that both sides see. */
static void set(size_t offset, int value, size_t len)
{
	memset(p.b.buf + offset, value, len);
	if (sync_b(offset, len, DEVICE | CPU))
		vt_bail("mxedv_sync_mr");
}

/* ---- capabilities ------------------------------------------------------ */

static void test_caps(void)
{
	const enum ibv_atomic_cap want = coherent ? IBV_ATOMIC_GLOB : IBV_ATOMIC_HCA;
	struct mxedv_device_attr dv;
	struct ibv_device_attr attr;
	struct ibv_mr *mr;

	is_int(mxedv_query_device(b->ctx, &dv, sizeof(dv)), 0, "mxedv_query_device()");
	is_u64(dv.comp_mask, coherent ? 0 : MXEDV_DEVICE_ATTR_NONCOHERENT, "... comp_mask");
	is_int(dv.atomic_cap, want, "... atomic_cap");
	is_int(dv.masked_atomic_cap, want, "... masked_atomic_cap");
	if (ibv_query_device(b->ctx, &attr))
		vt_bail("ibv_query_device");
	is_int(attr.atomic_cap, want, "ibv_query_device() agrees");
	ok((p.b.mr->lkey == p.b.mr->rkey) == coherent, "keys of a region with remote rights");
	mr = ibv_reg_mr(b->pd, p.b.buf, SIZE, IBV_ACCESS_LOCAL_WRITE);
	ok(mr && mr->lkey == mr->rkey, "keys of a region without");
	is_int(mxedv_sync_mr(mr, vt_addr(&p.b, 0), SIZE, CPU | DEVICE), 0,
	       "... it can be synchronised");
	ibv_dereg_mr(mr);
}

/* ---- visibility -------------------------------------------------------- */

static void test_write(void)
{
	enum { AT = 4000, LEN = 300 };	/* on two pages */

	set(AT, 1, LEN);
	is_int(rdma_write(AT, 2, LEN), IBV_WC_SUCCESS, "an RDMA WRITE");
	ok(all(AT, AT + LEN, 1), "... is not visible without a call");
	is_int(rdma_read(AT), 2, "... but to an RDMA READ");
	is_int(sync_b(AT, LEN, DEVICE), 0, "a call for the device");
	ok(all(AT, AT + LEN, 1), "... does not make it visible");
	is_int(sync_b(AT + 50, 100, CPU), 0, "a call for a part");
	ok(all(AT, AT + 50, 1) && all(AT + 50, AT + 150, 2) &&
	   all(AT + 150, AT + LEN, 1), "... makes exactly this part visible");
	is_int(sync_b(AT, LEN, CPU), 0, "a call for all");
	ok(all(AT, AT + LEN, 2), "... makes all visible");
}

static void test_read(void)
{
	enum { AT = 9000 };

	set(AT, 3, 2);
	p.b.buf[AT] = 4;
	p.b.buf[AT + 1] = 4;
	is_int(rdma_read(AT), 3, "an RDMA READ gets old data");
	is_int(sync_b(AT, 1, CPU), 0, "a call for the CPU");
	is_int(rdma_read(AT), 3, "... does not change that");
	is_int(p.b.buf[AT], 4, "... and keeps what the process has written");
	is_int(sync_b(AT, 1, DEVICE), 0, "a call for the device");
	is_int(rdma_read(AT), 4, "... gives the new data");
	is_int(rdma_read(AT + 1), 3, "... only in its range");
}

/* Data that a synchronisation call has copied do not count as a change. */
static void test_again(void)
{
	enum { AT = 10000, LEN = 8 };

	set(AT, 1, LEN);
	is_int(rdma_write(AT, 2, LEN), IBV_WC_SUCCESS, "an RDMA WRITE");
	ok(!sync_b(AT, LEN, CPU) && all(AT, AT + LEN, 2), "... a call shows it");
	is_int(rdma_write(AT, 3, LEN), IBV_WC_SUCCESS, "another RDMA WRITE");
	ok(!sync_b(AT, LEN, CPU) && all(AT, AT + LEN, 3), "... a second call shows it");
	is_int(rdma_write(AT, 4, LEN), IBV_WC_SUCCESS, "a third one");
	is_int(sync_b(AT, LEN, DEVICE), 0, "... a call for the device");
	is_int(rdma_read(AT), 4, "... leaves it to peers");
	ok(!sync_b(AT, LEN, CPU) && all(AT, AT + LEN, 4), "... one for the CPU shows it");
}

/* One call for both directions, as dat_lmr_sync_rdma_write() makes. */
static void test_both(void)
{
	enum { AT = 12288 };

	set(AT, 5, 4);
	p.b.buf[AT] = 6;
	is_int(sync_b(AT, 4, CPU | DEVICE), 0, "a call for both after a local write");
	is_int(p.b.buf[AT], 6, "... keeps it");
	is_int(rdma_read(AT), 6, "... and gives it to peers");
	is_int(rdma_write(AT, 7, 2), IBV_WC_SUCCESS, "an RDMA WRITE after it");
	p.b.buf[AT + 3] = 8;
	is_int(sync_b(AT, 4, CPU | DEVICE), 0, "... and a local write beside it");
	ok(p.b.buf[AT] == 7 && p.b.buf[AT + 1] == 7 && p.b.buf[AT + 2] == 5 &&
	   p.b.buf[AT + 3] == 8, "... the process sees both");
	ok(rdma_read(AT + 1) == 7 && rdma_read(AT + 3) == 8, "... and so do peers");
}

static void test_atomics(void)
{
	enum { AT = 16384 };
	struct vt_wr wr = {
		.op = VT_MFADD, .via = VT_WR, .compare_add = 0x0101,
		.compare_mask = 0x8080,
	};
	uint64_t old;

	set(AT, 0, 8);
	*vt_word(&p.b, AT) = 0x10ff;
	is_int(vt_atomic(&p, &wr, AT, &old), IBV_WC_SUCCESS, "a masked atomic");
	is_u64(old, 0, "... on what peers see");
	is_int(sync_b(AT, 8, DEVICE), 0, "a call for the device");
	is_int(vt_atomic(&p, &wr, AT, &old), IBV_WC_SUCCESS, "another atomic");
	is_u64(old, 0x10ff, "... on the new value, and its result is coherent");
	is_u64(*vt_word(&p.b, AT), 0x10ff, "... not visible without a call");
	is_int(sync_b(AT, 8, CPU), 0, "a call for the CPU");
	is_u64(*vt_word(&p.b, AT), 0x1100, "... makes it visible");
}

/* Local memory of requests needs no call. */
static void test_local(void)
{
	ok(!vt_transfer(&p, VT_SEND, VT_POST_SEND, 5000, 0), "a SEND needs no call");
	ok(!vt_transfer(&p, VT_SEND, VT_WR, 100, 0), "... nor a short one");
}

static void test_window(void)
{
	enum { AT = 20480 };
	struct ibv_mw *mw = ibv_alloc_mw(b->pd, IBV_MW_TYPE_1);
	struct ibv_mw_bind bind = {
		.send_flags = IBV_SEND_SIGNALED,
		.bind_info = { p.b.mr, vt_addr(&p.b, AT), 64,
			       IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ },
	};
	struct ibv_mr remote = { 0 };
	struct ibv_wc wc;

	if (!mw || ibv_bind_mw(p.b.qp, mw, &bind) || !vt_poll(p.b.cq, &wc, VT_MS))
		vt_bail("ibv_bind_mw");
	remote.rkey = mw->rkey;
	set(AT, 1, 64);
	memset(p.a.buf, 9, 64);
	is_int(vt_rdma(&p.a, VT_WRITE, &remote, vt_addr(&p.b, AT), 64), IBV_WC_SUCCESS,
	       "an RDMA WRITE to a window");
	ok(all(AT, AT + 64, 1), "... is not visible without a call");
	is_int(sync_b(AT, 64, CPU), 0, "a call for the region");
	ok(all(AT, AT + 64, 9), "... makes it visible");
	is_int(ibv_dereg_mr(p.b.mr), EBUSY, "the region cannot be deregistered");
	is_int(ibv_dealloc_mw(mw), 0, "the window is destroyed");
}

static void test_rereg(void)
{
	uint32_t lkey = p.b.mr->lkey;

	set(200, 1, 8);
	is_int(rdma_write(200, 3, 8), IBV_WC_SUCCESS, "an RDMA WRITE without a call");
	memset(p.b.buf, 1, SIZE);
	is_int(ibv_rereg_mr(p.b.mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0,
			    VT_ACCESS_ALL | IBV_ACCESS_MW_BIND), 0, "registered again");
	ok(p.b.mr->lkey == lkey && p.b.mr->rkey != lkey, "... with its lkey");
	is_int(rdma_read(100), 1, "... which makes the memory visible to peers");
	ok(!sync_b(200, 8, CPU) && all(200, 208, 1) && rdma_read(200) == 1,
	   "... and loses the RDMA WRITE");
	is_int(rdma_write(100, 2, 8), IBV_WC_SUCCESS, "... an RDMA WRITE");
	ok(all(100, 108, 1) && !sync_b(100, 8, CPU) && all(100, 108, 2),
	   "... needs a call");
}

/* ---- arguments --------------------------------------------------------- */

static void test_errors(void)
{
	const uint64_t start = vt_addr(&p.b, 0);
	static const struct {
		const char *name;
		uint64_t offset, length;
		uint32_t flags;
		int want;
	} calls[] = {
		{ "an empty range", 8, 0, CPU, 0 },
		{ "an empty range at the end", SIZE, 0, CPU, 0 },
		{ "an empty range past the end", SIZE + 1, 0, CPU, EINVAL },
		{ "the last byte", SIZE - 1, 1, CPU, 0 },
		{ "one byte more", SIZE - 1, 2, CPU, EINVAL },
		{ "past the end", SIZE, 1, CPU, EINVAL },
		{ "before the start", -1ULL, 1, CPU, EINVAL },
		{ "a length that wraps", 8, -1ULL, CPU, EINVAL },
		{ "a range that wraps", -8ULL, 16, CPU, EINVAL },
		{ "no direction", 0, 8, 0, EINVAL },
		{ "an unknown flag", 0, 8, 4, EINVAL },
		{ "unknown flags beside a known one", 0, 8, ~2U, EINVAL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(calls); i++)
		is_int(mxedv_sync_mr(p.b.mr, start + calls[i].offset, calls[i].length,
				     calls[i].flags), calls[i].want, "%s", calls[i].name);
	is_int(mxedv_sync_mr(NULL, start, 1, CPU), EINVAL, "no region");
}

static void test_stale(void)
{
	struct ibv_mr *mr = ibv_reg_mr(b->pd, p.b.buf, SIZE, VT_ACCESS_ALL), copy;

	if (!mr)
		vt_bail("ibv_reg_mr");
	copy = *mr;
	ibv_dereg_mr(mr);
	is_int(mxedv_sync_mr(&copy, vt_addr(&p.b, 0), 1, CPU), ENOENT,
	       "a region that was deregistered");
}

/* A wrong key breaks the connection, so this is the last test on it. */
static void test_lkey(void)
{
	struct ibv_mr wrong = { .rkey = p.b.mr->lkey };

	is_int(vt_rdma(&p.a, VT_READ, &wrong, vt_addr(&p.b, 0), 8), IBV_WC_REM_ACCESS_ERR,
	       "a peer cannot use the lkey");
}

/* ---- limits and races -------------------------------------------------- */

/* Returns a value in kB of /proc/self/status. */
static long status_kb(const char *name)
{
	FILE *f = fopen("/proc/self/status", "r");
	size_t len = strlen(name);
	char line[256];
	long value = -1;

	if (!f)
		vt_bail("/proc/self/status");
	while (fgets(line, sizeof(line), f))
		if (!strncmp(line, name, len))
			value = atol(line + len);
	fclose(f);
	return value;
}

static int reg_errno(void *buf, size_t len, int access)
{
	struct ibv_mr *mr = ibv_reg_mr(b->pd, buf, len, access);

	if (!mr)
		return errno;
	ibv_dereg_mr(mr);
	return 0;
}

/* Runs in a child process. Returns 0, or the number of the first failure. */
static int limited(void)
{
	const struct rlimit limit = { 4 * MIB, 4 * MIB };
	struct vt_dev *dev;
	void *buf;

	if (setrlimit(RLIMIT_MEMLOCK, &limit))
		return 1;
	dev = vt_open(vt_name_b());
	b = dev;
	buf = mmap(NULL, 2 * MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		   0);
	if (buf == MAP_FAILED || setresuid(NOBODY, NOBODY, NOBODY))
		return 2;
	if (reg_errno(buf, 2 * MIB, IBV_ACCESS_LOCAL_WRITE))
		return 3;
	if (reg_errno(buf, MIB, VT_ACCESS_ALL))
		return 4;
	if (reg_errno(buf, 2 * MIB, VT_ACCESS_ALL) != (coherent ? 0 : ENOMEM))
		return 5;
	return reg_errno(buf, MIB, VT_ACCESS_ALL) ? 6 : 0;
}

static void test_limit(void)
{
	long before = status_kb("VmPin:"), with;
	struct ibv_mr *mr;
	int status = 0;
	pid_t pid;

	/* Not all of the buffer, whose pages are pinned already. */
	mr = ibv_reg_mr(b->pd, p.b.buf, HALF, VT_ACCESS_ALL);
	with = status_kb("VmPin:");
	is_int(with - before, (coherent ? 1 : 3) * HALF / 1024,
	       "kB that a region of %d kB pins", HALF / 1024);
	ibv_dereg_mr(mr);
	is_int(status_kb("VmPin:"), before, "... all released");
	pid = fork();
	if (!pid)
		_exit(limited());
	waitpid(pid, &status, 0);
	is_int(status, 0, "RLIMIT_MEMLOCK limits it");
}

static void *hammer(void *stop)
{
	while (!__atomic_load_n((bool *)stop, __ATOMIC_RELAXED)) {
		memset(p.b.buf + 1000, (int)vt_random_u64(), 30000);
		if (sync_b(0, SIZE, DEVICE | CPU))
			return (void *)1;
	}
	return NULL;
}

/* The contents are undefined, but every call succeeds. */
static void test_races(void)
{
	uint64_t end = vt_now_ms() + HAMMER_MS;
	pthread_t threads[2];
	bool stop = false;
	void *failed;
	int i, errors = 0;

	for (i = 0; i < 2; i++)
		if (pthread_create(&threads[i], NULL, hammer, &stop))
			vt_bail("pthread_create");
	while (vt_now_ms() < end)
		errors += !!rdma_write(500, i++, 30000);
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	for (i = 0; i < 2; i++) {
		pthread_join(threads[i], &failed);
		errors += !!failed;
	}
	is_int(errors, 0, "two threads synchronise while a peer writes");
	/* After RDMA writes, a call comes before the next local write. */
	is_int(sync_b(0, SIZE, DEVICE | CPU), 0, "... a last call");
	set(0, 1, SIZE);
	ok(all(0, SIZE, 1) && rdma_read(20000) == 1, "... the next calls are exact");
}

static void *sync_forever(void *mr)
{
	struct ibv_mr *region = mr;

	for (int i = 0;; i++) {
		memset(region->addr, i, region->length);
		mxedv_sync_mr(region, (uintptr_t)region->addr, region->length,
			      DEVICE | CPU);
	}
	return NULL;
}

/* Never returns. */
static void sync_until_killed(void)
{
	void *buf = mmap(NULL, BIG, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			 -1, 0);
	struct ibv_mr *mr;
	pthread_t thread;

	b = vt_open(vt_name_b());
	mr = ibv_reg_mr(b->pd, buf, BIG, VT_ACCESS_ALL);
	if (!mr || pthread_create(&thread, NULL, sync_forever, mr))
		_exit(1);
	sync_forever(mr);
}

static void test_kill(void)
{
	const struct timespec nap = { 0, KILL_MS * 1000000L };
	int status = 0, i, failed = 0;

	for (i = 0; i < 5; i++) {
		pid_t pid = fork();

		if (!pid)
			sync_until_killed();
		/* Sooner or later in the registration or in a call. */
		for (int n = 0; n <= 10 * i; n++)
			nanosleep(&nap, NULL);
		kill(pid, SIGKILL);
		waitpid(pid, &status, 0);
		failed += !WIFSIGNALED(status);
	}
	is_int(failed, 0, "processes are killed in a call");
}

/* On coherent devices, the CPU and peers see each other's writes at once. */
static void test_coherent(void)
{
	set(0, 1, 64);
	is_int(rdma_write(0, 2, 64), IBV_WC_SUCCESS, "an RDMA WRITE");
	ok(all(0, 64, 2), "... is visible at once");
	p.b.buf[0] = 3;
	is_int(rdma_read(0), 3, "a local write is visible to a peer at once");
}

int main(int argc, char **argv)
{
	coherent = argc > 1 && !strcmp(argv[1], "coherent");
	plan(0);
	a = vt_open(vt_name_a());
	b = vt_open(vt_name_b());
	open_pair();
	test_caps();
	test_errors();
	test_stale();
	test_limit();
	test_local();
	if (coherent) {
		test_coherent();
	} else {
		test_write();
		test_read();
		test_again();
		test_both();
		test_atomics();
		test_window();
		test_rereg();
		test_races();
		test_kill();
		test_lkey();
	}
	vt_pair_close(&p);
	vt_close(a);
	vt_close(b);
	return done_testing();
}
