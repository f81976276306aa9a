// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Proves that zero-based memory regions, reregistered ones, regions of huge
 * pages and several regions of the same memory work.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "tap.h"
#include "vt.h"

#define LEN 16384

static struct vt_dev *a, *b;

/* Returns the status of one operation of a new pair of queue pairs. */
static int status_of(struct ibv_pd *pd, enum vt_opcode op, uint64_t raddr,
		     uint32_t rkey, uint32_t len, const void *data)
{
	struct vt_conf conf = vt_defaults();
	struct ibv_pd *own = b->pd;
	struct ibv_sge sge;
	struct vt_pair p;
	struct vt_wr wr = {
		.op = op, .sge = &sge, .num_sge = 1, .raddr = raddr,
		.rkey = rkey, .compare_add = 1,
	};
	int status;

	b->pd = pd;
	vt_pair_open(&p, a, b, &conf);
	b->pd = own;
	sge = vt_sge(&p.a, 0, len);
	if (data)
		memcpy(p.a.buf, data, len);
	status = vt_do(&p.a, &wr, NULL);
	vt_pair_close(&p);
	return status;
}

static int write_to(uint64_t raddr, const struct ibv_mr *mr, const char *text)
{
	return status_of(mr->pd, VT_WRITE, raddr, mr->rkey,
			 (uint32_t)strlen(text) + 1, text);
}

static uint64_t at(const void *p)
{
	return (uintptr_t)p;
}

/* ---- zero based -------------------------------------------------------- */

static void test_zero_based(void)
{
	char *buf = aligned_alloc(4096, LEN);
	struct ibv_mr *mr;

	memset(buf, 0, LEN);
	mr = ibv_reg_mr(b->pd, buf + 40, 5000,
			VT_ACCESS_ALL | IBV_ACCESS_ZERO_BASED);
	if (!ok(mr, "a region that begins at 0"))
		return;
	is_int(write_to(0, mr, "masked"), IBV_WC_SUCCESS, "a write to its first byte");
	is_str(buf + 40, "masked", "... arrives");
	is_int(write_to(4990, mr, "atomics"), IBV_WC_SUCCESS,
	       "a write near its end");
	is_str(buf + 40 + 4990, "atomics", "... arrives");
	is_int(write_to(4999, mr, "x"), IBV_WC_REM_ACCESS_ERR,
	       "a write beyond its end");
	is_int(write_to(at(buf + 40), mr, "x"), IBV_WC_REM_ACCESS_ERR,
	       "a write to its virtual address");
	is_int(status_of(b->pd, VT_FADD, 64, mr->rkey, 8, NULL),
	       IBV_WC_SUCCESS, "an atomic on aligned memory");
	is_int(buf[104], 1, "... is executed");
	is_int(ibv_dereg_mr(mr), 0, "deregistered");
	free(buf);
}

/* ---- reregistered ------------------------------------------------------ */

static void test_rereg(void)
{
	char *one = aligned_alloc(4096, LEN), *two = aligned_alloc(4096, LEN);
	struct ibv_pd *other = ibv_alloc_pd(b->ctx);
	struct ibv_mr *mr = ibv_reg_mr(b->pd, one, LEN, VT_ACCESS_ALL);
	uint32_t rkey;

	memset(one, 0, LEN);
	memset(two, 0, LEN);
	is_int(write_to(at(one), mr, "first"), IBV_WC_SUCCESS,
	       "a write before any change");

	rkey = mr->rkey;
	is_int(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL,
			    two + 100, 1000, 0), 0, "change to other memory");
	ok(mr->addr == two + 100 && mr->length == 1000,
	   "... with its address and length in the region");
	is_int(write_to(at(two + 100), mr, "second"), IBV_WC_SUCCESS,
	       "... a write to the new memory");
	is_str(two + 100, "second", "... arrives");
	is_int(write_to(at(two + 99), mr, "x"), IBV_WC_REM_ACCESS_ERR,
	       "... but not before the region");
	is_int(write_to(at(two + 1099), mr, "x"), IBV_WC_REM_ACCESS_ERR,
	       "... or beyond its end");
	is_int(write_to(at(one), mr, "x"), IBV_WC_REM_ACCESS_ERR,
	       "... or to the old memory");
	ok(mr->rkey == rkey && mr->lkey == rkey, "... the keys do not change");
	is_str(one, "first", "... and neither does the old memory");

	is_int(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0,
			    IBV_ACCESS_REMOTE_READ), 0, "change to remote read only");
	is_int(write_to(at(two + 100), mr, "x"), IBV_WC_REM_ACCESS_ERR,
	       "... denies writes");
	is_int(status_of(b->pd, VT_READ, at(two + 100), mr->rkey, 8, NULL),
	       IBV_WC_SUCCESS, "... and grants reads");
	is_int(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0,
			    VT_ACCESS_ALL), 0, "change to all rights");
	is_int(write_to(at(two + 100), mr, "third"), IBV_WC_SUCCESS,
	       "... grants writes");

	is_int(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_PD, other, NULL, 0, 0), 0,
	       "change to another protection domain");
	ok(mr->pd == other, "... is reported by the region");
	is_int(write_to(at(two + 100), mr, "fourth"), IBV_WC_SUCCESS,
	       "... grants access to its queue pairs");
	is_int(status_of(b->pd, VT_READ, at(two + 100), mr->rkey, 8, NULL),
	       IBV_WC_REM_ACCESS_ERR, "... and denies it to those of the old one");

	is_int(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_TRANSLATION |
			    IBV_REREG_MR_CHANGE_ACCESS | IBV_REREG_MR_CHANGE_PD,
			    b->pd, one, LEN, VT_ACCESS_ALL), 0, "all changes at once");
	is_int(write_to(at(one + LEN - 6), mr, "fifth"), IBV_WC_SUCCESS,
	       "... a write");
	is_str(one + LEN - 6, "fifth", "... arrives");
	is_int(ibv_dealloc_pd(other), 0, "... and the other domain is not in use");

	/* A change that fails leaves the region unchanged. */
	ok(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL,
			(void *)4096, LEN, 0), "no change to unmapped memory");
	is_int(write_to(at(one), mr, "sixth"), IBV_WC_SUCCESS,
	       "... the region still works");
	ok(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0,
			IBV_ACCESS_REMOTE_WRITE),
	   "no change to remote write without local write");
	is_int(write_to(at(one), mr, "seventh"), IBV_WC_SUCCESS,
	       "... the region still works");
	is_str(one, "seventh", "... and has the data");
	is_int(ibv_dereg_mr(mr), 0, "deregistered");
	free(one);
	free(two);
}

static void test_rereg_window(void)
{
	char *buf = aligned_alloc(4096, LEN);
	struct ibv_mr *mr = ibv_reg_mr(a->pd, buf, LEN,
				       VT_ACCESS_ALL | IBV_ACCESS_MW_BIND);
	struct ibv_mw *mw = ibv_alloc_mw(a->pd, IBV_MW_TYPE_1);
	struct ibv_mw_bind bind = {
		.send_flags = IBV_SEND_SIGNALED,
		.bind_info = { mr, at(buf), 100, IBV_ACCESS_REMOTE_WRITE },
	};
	struct vt_conf conf = vt_defaults();
	struct vt_pair p;
	struct ibv_wc wc;

	vt_pair_open(&p, a, b, &conf);
	is_int(ibv_bind_mw(p.a.qp, mw, &bind), 0, "bind a window");
	ok(vt_poll(p.a.cq, &wc, VT_MS) && !wc.status, "... completes");
	ok(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0,
			VT_ACCESS_ALL), "no change of a region with a window");
	is_int(ibv_dealloc_mw(mw), 0, "deallocate the window");
	is_int(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0,
			    VT_ACCESS_ALL), 0, "... and the region can be changed");
	is_int(ibv_dereg_mr(mr), 0, "deregistered");
	vt_pair_close(&p);
	free(buf);
}

/* ---- kinds of memory --------------------------------------------------- */

static void test_huge(void)
{
	const size_t len = 4 << 20, page = 2 << 20;
	FILE *f = fopen("/proc/sys/vm/nr_hugepages", "w");
	struct ibv_mr *mr;
	char *buf;

	if (f) {
		fputs("4\n", f);
		fclose(f);
	}
	buf = mmap(NULL, len, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);
	if (buf == MAP_FAILED) {
		skip(1, "no huge pages");
		return;
	}
	mr = ibv_reg_mr(b->pd, buf, len, VT_ACCESS_ALL | IBV_ACCESS_HUGETLB);
	if (!ok(mr, "a region of huge pages"))
		return;
	is_int(write_to(at(buf + page - 3), mr, "masked"), IBV_WC_SUCCESS,
	       "... a write across two pages");
	is_str(buf + page - 3, "masked", "... arrives");
	is_int(ibv_dereg_mr(mr), 0, "deregistered");
	munmap(buf, len);
}

/* Maps a file, at addr unless that is NULL. Returns NULL on failure. */
static char *map_at(void *addr, size_t len, int fd)
{
	char *p = mmap(addr, len, PROT_READ | PROT_WRITE,
		       MAP_SHARED | (addr ? MAP_FIXED : 0), fd, 0);

	return p == MAP_FAILED ? NULL : p;
}

/* Registers the same range, before and after other pages are mapped to it. */
static void test_same(size_t len, unsigned int flags)
{
	struct ibv_mr *mr[3], *read_only, *other;
	char *buf, *old, *end;
	uint32_t rkey;
	int fds[2];

	for (int i = 0; i < 2; i++) {
		fds[i] = memfd_create("t_mr", flags);
		if (fds[i] < 0 && flags == MFD_HUGETLB && errno == ENOSYS) {
			skip(1, "the kernel has no huge pages");
			return;
		}
		if (fds[i] < 0 || ftruncate(fds[i], (off_t)len))
			vt_bail("memfd_create()");
	}
	/* The old pages keep another address, at which they can be seen. */
	buf = map_at(NULL, len, fds[0]);
	old = map_at(NULL, len, fds[0]);
	if (!buf || !old) {
		skip(1, "no %zu bytes", len);
		return;
	}
	diag("%zu bytes, flags %#x", len, flags);
	end = buf + len - 8;
	mr[0] = ibv_reg_mr(b->pd, buf, len, VT_ACCESS_ALL);
	mr[1] = ibv_reg_mr(b->pd, buf, len, VT_ACCESS_ALL);
	read_only = ibv_reg_mr(b->pd, buf, len, IBV_ACCESS_REMOTE_READ);
	if (!ok(mr[0] && mr[1] && read_only, "three regions of the same memory"))
		return;
	is_int(write_to(at(end), mr[0], "one"), IBV_WC_SUCCESS, "... the first works");
	is_str(end, "one", "... and its data arrive");
	is_int(write_to(at(end), read_only, "x"), IBV_WC_REM_ACCESS_ERR,
	       "... each has its own rights");
	rkey = mr[0]->rkey;
	is_int(ibv_dereg_mr(mr[0]), 0, "... the first is deregistered");
	is_int(status_of(b->pd, VT_WRITE, at(end), rkey, 2, "x"),
	       IBV_WC_REM_ACCESS_ERR, "... its key is not valid any more");
	is_int(write_to(at(end), mr[1], "two"), IBV_WC_SUCCESS,
	       "... and the second still works");
	is_str(end, "two", "... with its data");

	if (!map_at(buf, len, fds[1]))
		vt_bail("mmap()");
	mr[2] = ibv_reg_mr(b->pd, buf, len, VT_ACCESS_ALL);
	if (!ok(mr[2], "a region of other pages at the same range"))
		return;
	is_int(write_to(at(end), mr[2], "new"), IBV_WC_SUCCESS, "... works");
	is_str(end, "new", "... its data arrive in the new pages");
	is_str(old + len - 8, "two", "... and not in the old ones");
	is_int(write_to(at(end), mr[1], "old"), IBV_WC_SUCCESS,
	       "... the second region has the old pages");
	is_str(old + len - 8, "old", "... with its data");
	is_str(end, "new", "... which are not in the new ones");
	other = ibv_reg_mr(b->pd, buf, len, VT_ACCESS_ALL);
	is_int(write_to(at(end), other, "also"), IBV_WC_SUCCESS,
	       "... a region after that has the new pages");
	is_str(end, "also", "... with its data");

	ok(!ibv_dereg_mr(mr[1]) && !ibv_dereg_mr(mr[2]) && !ibv_dereg_mr(other) &&
	   !ibv_dereg_mr(read_only), "deregistered");
	munmap(old, len);
	munmap(buf, len);
	close(fds[0]);
	close(fds[1]);
}

static void test_relaxed(void)
{
	static char buf[64];
	struct ibv_mr *mr = ibv_reg_mr(b->pd, buf, sizeof(buf), VT_ACCESS_ALL |
				       IBV_ACCESS_RELAXED_ORDERING);

	if (!ok(mr, "a region with relaxed ordering"))
		return;
	is_int(write_to(at(buf), mr, "masked"), IBV_WC_SUCCESS, "... a write");
	is_int(ibv_dereg_mr(mr), 0, "deregistered");
}

int main(void)
{
	struct ibv_device_attr attr;

	plan(0);
	a = vt_open(vt_name_a());
	b = vt_open(vt_name_b());
	is_int(ibv_query_device(a->ctx, &attr), 0, "ibv_query_device()");
	is_u64(attr.page_size_cap, 4096, "page_size_cap is that of the host");
	test_zero_based();
	test_rereg();
	test_rereg_window();
	test_huge();
	test_same(3 * LEN, 0);
	test_same(2 << 20, MFD_HUGETLB);
	test_relaxed();
	vt_close(a);
	vt_close(b);
	return done_testing();
}
