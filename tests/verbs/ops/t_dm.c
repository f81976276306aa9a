// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Proves that device memory can be allocated up to the reported size, copied to
 * and from, and accessed by every remote operation, and that freed memory is
 * not reused while a process maps it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "memory.h"

#define DM_LEN 8192
#define DM_ACCESS (VT_ACCESS_ALL | IBV_ACCESS_ZERO_BASED)

static struct vt_dev *a, *b;

static struct ibv_dm *alloc(struct vt_dev *dev, size_t length)
{
	struct ibv_alloc_dm_attr attr = { .length = length };

	errno = 0;
	return ibv_alloc_dm(dev->ctx, &attr);
}

static size_t max_size(struct vt_dev *dev)
{
	struct ibv_device_attr_ex attr;

	if (ibv_query_device_ex(dev->ctx, NULL, &attr))
		vt_bail("ibv_query_device_ex");
	return attr.max_dm_size;
}

/* ---- allocation and copies --------------------------------------------- */

static void test_limits(void)
{
	size_t max = max_size(a);
	struct ibv_alloc_dm_attr attr = { .length = 64 };
	struct ibv_dm *dm, *other;

	ok(max >= 256 * 1024, "max_dm_size %zu", max);
	ok(!alloc(a, 0) && errno == EINVAL, "no allocation of 0 bytes");
	ok(!alloc(a, max + 1) && errno == EINVAL, "... of one byte more");
	ok(!alloc(a, SIZE_MAX) && errno == EINVAL, "... or of SIZE_MAX");
	attr.log_align_req = 12;
	dm = ibv_alloc_dm(a->ctx, &attr);
	ok(dm, "aligned to 4096 bytes");
	is_int(ibv_free_dm(dm), 0, "freed");
	attr.log_align_req = 64;
	ok(!ibv_alloc_dm(a->ctx, &attr) && errno == EINVAL, "aligned to 2^64");
	attr.log_align_req = 0;
	attr.comp_mask = 1;
	ok(!ibv_alloc_dm(a->ctx, &attr) && errno, "unknown attribute");

	dm = alloc(a, max);
	ok(dm, "an allocation of max_dm_size");
	ok(!alloc(a, 1) && errno == ENOMEM, "... leaves no memory");
	other = alloc(b, 1);
	ok(other, "... except on the other device");
	is_int(ibv_free_dm(other), 0, "freed");
	is_int(ibv_free_dm(dm), 0, "freed");
	dm = alloc(a, max);
	ok(dm, "max_dm_size again");
	is_int(ibv_free_dm(dm), 0, "freed");
}

static void test_copies(void)
{
	uint8_t out[300], in[300];
	struct ibv_dm *dm = alloc(a, DM_LEN);

	if (!ok(dm, "ibv_alloc_dm()"))
		return;
	is_int(ibv_memcpy_from_dm(in, dm, 0, sizeof(in)), 0, "read");
	ok(memory_is_zero(in, sizeof(in)), "the memory is zeroed");
	vt_fill_random(out, sizeof(out));
	is_int(ibv_memcpy_to_dm(dm, 4004, out, sizeof(out)), 0,
	       "a write across pages");
	is_int(ibv_memcpy_from_dm(in, dm, 4004, sizeof(in)), 0, "... read back");
	ok(!memcmp(in, out, sizeof(in)), "... has the same data");
	is_int(ibv_memcpy_to_dm(dm, DM_LEN - 300, out, 300), 0,
	       "a write up to the end");
	is_int(ibv_memcpy_to_dm(dm, DM_LEN - 296, out, 300), EFAULT,
	       "... beyond the end");
	is_int(ibv_memcpy_from_dm(in, dm, DM_LEN + 4, 0), EFAULT,
	       "a read beyond the end");
	is_int(ibv_memcpy_to_dm(dm, 2, out, 4), EINVAL,
	       "a write at a misaligned offset");
	is_int(ibv_memcpy_from_dm(in, dm, 0, 7), EINVAL,
	       "a read of a misaligned length");
	is_int(ibv_memcpy_from_dm(in, dm, 8, SIZE_MAX - 3), EFAULT,
	       "a length that wraps");
	is_int(ibv_free_dm(dm), 0, "ibv_free_dm()");
}

/* ---- regions ----------------------------------------------------------- */

static int reg_errno(struct ibv_dm *dm, uint64_t offset, size_t length,
		     unsigned int access)
{
	struct ibv_mr *mr;

	errno = 0;
	mr = ibv_reg_dm_mr(a->pd, dm, offset, length, access);
	if (!mr)
		return errno;
	ibv_dereg_mr(mr);
	return 0;
}

static void test_registration(void)
{
	struct ibv_dm *dm = alloc(a, DM_LEN - 100);
	struct ibv_mr *mr;

	is_int(reg_errno(dm, 0, DM_LEN - 100, DM_ACCESS), 0,
	       "a region of the whole memory");
	is_int(reg_errno(dm, 5, 7, DM_ACCESS), 0, "a region of a few bytes");
	is_int(reg_errno(dm, 0, 100, VT_ACCESS_ALL), EINVAL,
	       "a region that is not zero-based");
	is_int(reg_errno(dm, 0, DM_LEN - 99, DM_ACCESS), EINVAL,
	       "a region longer than the memory");
	is_int(reg_errno(dm, DM_LEN, 0, DM_ACCESS), EINVAL,
	       "a region beyond the memory");
	is_int(reg_errno(dm, 8, SIZE_MAX - 4, DM_ACCESS), EINVAL,
	       "a length that wraps");
	is_int(reg_errno(dm, 0, 64, IBV_ACCESS_ZERO_BASED |
			 IBV_ACCESS_REMOTE_WRITE), EINVAL,
	       "remote write without local write");
	mr = ibv_reg_dm_mr(a->pd, dm, 0, 64, DM_ACCESS);
	is_int(ibv_free_dm(dm), EBUSY, "memory with a region is not freed");
	is_int(ibv_dereg_mr(mr), 0, "deregistered");
	is_int(ibv_free_dm(dm), 0, "freed");
}

/* ---- remote operations ------------------------------------------------- */

static void get(void *of, size_t offset, void *to, size_t len)
{
	if (ibv_memcpy_from_dm(to, of, offset, len))
		vt_bail("ibv_memcpy_from_dm");
}

static void put(void *of, size_t offset, const void *from, size_t len)
{
	if (ibv_memcpy_to_dm(of, offset, from, len))
		vt_bail("ibv_memcpy_to_dm");
}

static struct memory memory_of(struct vt_dev *dev, size_t start, size_t len)
{
	struct memory m = {
		.of = alloc(dev, DM_LEN), .start = start, .len = len,
		.get = get, .put = put,
	};

	m.mr = m.of ? ibv_reg_dm_mr(dev->pd, m.of, start, len, DM_ACCESS) : NULL;
	if (!m.mr)
		vt_bail("device memory and a region of it");
	return m;
}

static void memory_free(struct memory *m)
{
	is_int(ibv_dereg_mr(m->mr), 0, "deregistered");
	is_int(ibv_free_dm(m->of), 0, "freed");
}

static void test_remote(void)
{
	struct vt_conf conf = vt_defaults();
	struct memory m = memory_of(b, 12, 6000);
	struct vt_pair p;

	vt_pair_open(&p, a, b, &conf);
	memory_test_remote(&p, &m);
	vt_pair_close(&p);
	memory_free(&m);
}

static void test_atomics(void)
{
	static const uint64_t start = 0xffff;
	struct vt_conf conf = vt_defaults();
	struct memory m = memory_of(b, 4096, DM_LEN - 4096);
	struct ibv_sge sge;
	struct vt_pair p;
	uint64_t got;

	conf.max_atomic_arg = 32;
	vt_pair_open(&p, a, b, &conf);
	memory_test_masked(&p, &m);
	for (int op = VT_CAS; op <= VT_FADD; op++) {
		struct vt_wr wr = {
			.op = op, .sge = &sge, .num_sge = 1, .raddr = MEMORY_AT,
			.rkey = m.mr->rkey, .compare_add = 0xffff, .swap = 0x1fffe,
		};

		sge = vt_sge(&p.a, 0, 8);
		put(m.of, m.start + MEMORY_AT, &start, sizeof(start));
		is_int(vt_do(&p.a, &wr, NULL), IBV_WC_SUCCESS, "%s",
		       vt_op_name[op]);
		get(m.of, m.start + MEMORY_AT, &got, sizeof(got));
		ok(got == 0x1fffe && *vt_word(&p.a, 0) == 0xffff,
		   "... is executed");
	}
	vt_pair_close(&p);
	memory_free(&m);
}

/* Sends from device memory and receives into device memory. */
static void test_local(void)
{
	struct vt_conf conf = vt_defaults();
	struct memory from = memory_of(a, 0, DM_LEN), to = memory_of(b, 0, DM_LEN);
	struct vt_pair p;

	vt_pair_open(&p, a, b, &conf);
	memory_test_send(&p, &from, &to);
	vt_pair_close(&p);
	memory_free(&from);
	memory_free(&to);
}

/* ---- freed, and still mapped ------------------------------------------- */

/*
 * A child keeps the mapping and writes to it after the memory was freed and
 * memory was allocated again.
 */
static void test_mapped_after_free(void)
{
	struct ibv_dm *dm = alloc(a, 1 << 20), *next;
	uint8_t *got = malloc(1 << 20);
	int go[2], status;
	char c = 0;
	pid_t pid;

	if (!dm || !got || pipe(go))
		vt_bail("set-up");
	pid = fork();
	if (!pid) {
		memset(got, 0xee, 1 << 20);
		_exit(read(go[0], &c, 1) != 1 ||
		      ibv_memcpy_to_dm(dm, 0, got, 1 << 20));
	}
	is_int(ibv_free_dm(dm), 0, "freed while a child maps it");
	next = alloc(a, 1 << 20);
	ok(next, "another allocation");
	if (write(go[1], &c, 1) != 1 || waitpid(pid, &status, 0) != pid)
		vt_bail("child");
	is_int(status, 0, "the child writes to its mapping");
	ibv_memcpy_from_dm(got, next, 0, 1 << 20);
	ok(memory_is_zero(got, 1 << 20), "... which is not the new memory");
	is_int(ibv_free_dm(next), 0, "freed");
	free(got);
}

int main(void)
{
	plan(0);
	a = vt_open(vt_name_a());
	b = vt_open(vt_name_b());
	test_limits();
	test_copies();
	test_registration();
	test_remote();
	test_atomics();
	test_local();
	test_mapped_after_free();
	/* The kernel frees this memory when the process closes the device. */
	alloc(a, DM_LEN);
	vt_close(a);
	vt_close(b);
	return done_testing();
}
