// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Prints the kernel memory of each queue pair of several depths, with its
 * rings, and of each region of several sizes. With mxe, proves that deep queue
 * pairs and further regions of the same memory stay below limits.
 *
 *	t_memory	MXE_A names the device, which may be of another driver
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "kmem.h"
#include "tap.h"
#include "vt.h"

/*
 * Number of objects. The bytes of one are means, because other tasks take and
 * free memory, too, and the allocator has free objects in its pages.
 */
#define QPS 48
#define MRS 256
/* With copies of all entries of the send queue it had 1,715,000. */
#define MAX_DEEP_BYTES 800000
/* A region that shares the pages of another: its own objects, rounded up. */
#define MAX_SHARED_BYTES 4096
/* 33 entries of 8 bytes beside that, or one for each page of 4 KiB. */
#define MAX_HUGE_BYTES (MAX_SHARED_BYTES + 33 * 8)
#define MAX_BYTES (MAX_SHARED_BYTES + (int64_t)REGION / 4096 * 8)
#define REGION (64UL << 20)
#define HUGE (2UL << 20)

static struct vt_dev *dev;
static struct ibv_cq *cq;

/* ---- queue pairs --------------------------------------------------------- */

static struct ibv_qp *make_qp(uint32_t depth)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = cq,
		.recv_cq = cq,
		.cap = { .max_send_wr = depth, .max_recv_wr = depth,
			 .max_send_sge = 1, .max_recv_sge = 1 },
		.qp_type = IBV_QPT_RC,
	};
	struct ibv_qp *qp = ibv_create_qp(dev->pd, &attr);

	if (!qp)
		vt_bail("ibv_create_qp() with a depth of %u", depth);
	return qp;
}

static int64_t qp_bytes(uint32_t depth)
{
	struct ibv_qp *qps[QPS];
	int64_t before = kmem_settled(), after;

	for (int i = 0; i < QPS; i++)
		qps[i] = make_qp(depth);
	after = kmem_bytes();
	for (int i = 0; i < QPS; i++)
		ibv_destroy_qp(qps[i]);
	return (after - before) / QPS;
}

static void test_depth(uint32_t depth)
{
	int64_t bytes;

	/* The first round fills caches of the allocator. */
	qp_bytes(depth);
	bytes = qp_bytes(depth);
	diag("a queue pair of depth %5u: %8" PRId64 " bytes", depth, bytes);
	for (int i = 0; depth == 4096 && bytes > MAX_DEEP_BYTES && i < 5; i++)
		bytes = qp_bytes(depth);
	if (depth == 4096 && dev->is_mxe)
		ok(bytes <= MAX_DEEP_BYTES, "a deep queue pair has %" PRId64 " bytes",
		   bytes);
}

/* ---- regions ------------------------------------------------------------- */

/* Registers MRS regions, each step bytes apart. Returns their bytes. */
static int64_t register_all(struct ibv_mr **mrs, char *buf, size_t step)
{
	int64_t before = kmem_settled();

	for (size_t i = 0; i < MRS; i++) {
		mrs[i] = ibv_reg_mr(dev->pd, buf + i * step, REGION, VT_ACCESS_ALL);
		if (!mrs[i])
			vt_bail("ibv_reg_mr()");
	}
	return (kmem_bytes() - before) / MRS;
}

/*
 * Measures regions that begin a page apart, and others of the same memory as
 * the first of these. All are kept, so that none takes objects of the allocator
 * that another has freed.
 */
static void measure(char *buf, int64_t *different, int64_t *same)
{
	static struct ibv_mr *mrs[2 * MRS];

	*different = register_all(mrs, buf, 4096);
	*same = register_all(mrs + MRS, buf, 0);
	for (int i = 0; i < 2 * MRS; i++)
		ibv_dereg_mr(mrs[i]);
}

static void test_regions(const char *what, int flags)
{
	const int64_t limit = flags & MAP_HUGETLB ? MAX_HUGE_BYTES : MAX_BYTES;
	const size_t room = REGION + HUGE;
	char *buf = mmap(NULL, room, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
	int64_t same, different;

	if (buf == MAP_FAILED) {
		skip(1, "no memory of %s", what);
		return;
	}
	if (!(flags & MAP_HUGETLB))
		madvise(buf, room, MADV_NOHUGEPAGE);
	memset(buf, 0, room);
	measure(buf, &different, &same);
	diag("a region of %lu MiB of %s: %8" PRId64 " bytes, the same again %8" PRId64,
	     REGION >> 20, what, different, same);
	/* Other tasks of the machine take memory, too, so measure again. */
	for (int i = 0; dev->is_mxe && i < 5 &&
	     (different > limit || same > MAX_SHARED_BYTES); i++)
		measure(buf, &different, &same);
	if (dev->is_mxe) {
		ok(different <= limit, "a region of %s has %" PRId64 " bytes", what,
		   different);
		ok(same <= MAX_SHARED_BYTES,
		   "the same region again has %" PRId64 " bytes", same);
	}
	munmap(buf, room);
}

int main(void)
{
	FILE *f = fopen("/proc/sys/vm/nr_hugepages", "w");

	if (f) {
		fputs("40\n", f);
		fclose(f);
	}
	plan(0);
	dev = vt_open(vt_name_a());
	cq = ibv_create_cq(dev->ctx, 16, NULL, NULL, 0);
	if (!cq)
		vt_bail("ibv_create_cq()");
	test_depth(16);
	test_depth(128);
	test_depth(1024);
	test_depth(4096);
	test_depth(16384);
	test_regions("4 KiB pages", 0);
	test_regions("huge pages", MAP_HUGETLB);
	ibv_destroy_cq(cq);
	vt_close(dev);
	return done_testing();
}
