// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Proves that ATOMIC WRITE works with any kernel, and FLUSH with kernels that
 * can register memory for it. The second device may belong to another driver.
 */
#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <rdma/mxe-abi.h>
#include "tap.h"
#include "vt.h"

/* Defined since rdma-core 45 and Linux 6.2. */
#define DEVICE_FLUSH_GLOBAL	(1ULL << 38)
#define DEVICE_FLUSH_PERSISTENT	(1ULL << 39)
#define DEVICE_ATOMIC_WRITE	(1ULL << 40)
#define ACCESS_FLUSH_GLOBAL	(1 << 8)
enum { FLUSH_GLOBAL = 1, FLUSH_PERSISTENT = 2 };
enum { FLUSH_RANGE, FLUSH_MR };

static bool has_flush;

static uint64_t device_caps(struct vt_dev *dev)
{
	struct ibv_device_attr_ex attr;

	if (ibv_query_device_ex(dev->ctx, NULL, &attr))
		vt_bail("ibv_query_device_ex");
	return attr.device_cap_flags_ex;
}

static void open_pair(struct vt_pair *p, struct vt_dev *a, struct vt_dev *b,
		      unsigned int revoked)
{
	struct vt_conf conf = vt_defaults();

	if (has_flush) {
		conf.qp_access |= ACCESS_FLUSH_GLOBAL;
		conf.mr_access |= ACCESS_FLUSH_GLOBAL;
	}
	conf.mr_access &= ~revoked;
	conf.max_inline = 8;
	vt_pair_open(p, a, b, &conf);
	memset(p->b.buf, 0, p->b.size);
}

/*
 * Waits for the only signaled request. Returns its status, or -1 if it does not
 * complete or completes with another opcode.
 */
static int finish(struct vt_end *e, unsigned int opcode)
{
	struct ibv_wc wc;

	if (!vt_poll(e->cq, &wc, VT_MS))
		return -1;
	if (wc.status == IBV_WC_SUCCESS && (unsigned int)wc.opcode != opcode) {
		diag("completion with opcode %d", wc.opcode);
		return -1;
	}
	return wc.status;
}

static int post_write(struct vt_pair *p, size_t offset, uint32_t len,
		      unsigned int flags)
{
	struct ibv_sge sge = vt_sge(&p->a, 0, len);
	struct ibv_send_wr *bad, wr = {
		.opcode = (enum ibv_wr_opcode)MXE_WR_ATOMIC_WRITE,
		.send_flags = IBV_SEND_SIGNALED | flags,
		.sg_list = &sge,
		.num_sge = 1,
		.wr.rdma.remote_addr = vt_addr(&p->b, offset),
		.wr.rdma.rkey = p->b.mr->rkey,
	};

	return ibv_post_send(p->a.qp, &wr, &bad);
}

static int write_by_post(struct vt_pair *p, size_t offset, uint64_t value,
			 uint32_t len, unsigned int flags)
{
	*vt_word(&p->a, 0) = value;
	if (post_write(p, offset, len, flags))
		return -1;
	/* Posting has copied inline data. */
	if (flags & IBV_SEND_INLINE)
		*vt_word(&p->a, 0) = 0;
	return finish(&p->a, MXE_WC_ATOMIC_WRITE);
}

static int write_by_builder(struct vt_pair *p, size_t offset, uint64_t value)
{
#ifdef HAVE_ATOMIC_WRITE
	struct ibv_qp_ex *qpx = p->a.qpx;

	ibv_wr_start(qpx);
	qpx->wr_id = 1;
	qpx->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_atomic_write(qpx, p->b.mr->rkey, vt_addr(&p->b, offset), &value);
	if (ibv_wr_complete(qpx))
		return -1;
	return finish(&p->a, MXE_WC_ATOMIC_WRITE);
#else
	return write_by_post(p, offset, value, 8, IBV_SEND_INLINE);
#endif
}

#ifdef HAVE_FLUSH
static int flush(struct vt_pair *p, size_t offset, uint32_t len, uint8_t type,
		 uint8_t level)
{
	struct ibv_qp_ex *qpx = p->a.qpx;

	ibv_wr_start(qpx);
	qpx->wr_id = 1;
	qpx->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_flush(qpx, p->b.mr->rkey, vt_addr(&p->b, offset), len, type,
		     level);
	if (ibv_wr_complete(qpx))
		return -1;
	return finish(&p->a, MXE_WC_FLUSH);
}
#else
/*
 * This libibverbs has no ibv_wr_flush(), so this posts an empty WRITE and turns
 * it into a FLUSH in the ring before the kernel reads it.
 */
static int flush(struct vt_pair *p, size_t offset, uint32_t len, uint8_t type,
		 uint8_t level)
{
	static uint64_t wr_id = 0x466c757368000000;
	struct vt_wr wr = {
		.op = VT_WRITE,
		.raddr = vt_addr(&p->b, offset),
		.rkey = p->b.mr->rkey,
	};
	struct mxe_send_wqe *wqe;

	/*
	 * In SQD the kernel takes the first request, which then waits. The
	 * second stays in the ring, where it can be changed.
	 */
	if (vt_to_state(&p->a, IBV_QPS_SQD) || vt_post(&p->a, &wr))
		vt_bail("cannot post in SQD");
	wr.flags = IBV_SEND_SIGNALED;
	wr.wr_id = ++wr_id;
	if (vt_post(&p->a, &wr))
		vt_bail("cannot post in SQD");
	wqe = vt_find_wqe(wr_id);
	wqe->opcode = MXE_WR_FLUSH;
	wqe->flush.length = len;
	wqe->flush.type = type;
	wqe->flush.level = level;
	if (vt_to_state(&p->a, IBV_QPS_RTS))
		vt_bail("RTS");
	return finish(&p->a, MXE_WC_FLUSH);
}
#endif

static void test_write(struct vt_dev *a, struct vt_dev *b)
{
	const uint64_t value = 0x0123456789abcdef;
	struct vt_pair p;

	open_pair(&p, a, b, 0);
	is_int(write_by_builder(&p, 8, value), IBV_WC_SUCCESS,
	       "ATOMIC WRITE by ibv_wr_atomic_write()");
	is_u64(*vt_word(&p.b, 8), value, "... writes its word");
	is_int(write_by_post(&p, 24, value + 1, 8, 0), IBV_WC_SUCCESS,
	       "ATOMIC WRITE by ibv_post_send()");
	is_u64(*vt_word(&p.b, 24), value + 1, "... writes its word");
	is_int(write_by_post(&p, 40, value + 2, 8, IBV_SEND_INLINE),
	       IBV_WC_SUCCESS, "ATOMIC WRITE inline");
	is_u64(*vt_word(&p.b, 40), value + 2, "... writes its word");
	ok(!*vt_word(&p.b, 0) && !*vt_word(&p.b, 16) && !*vt_word(&p.b, 32) &&
	   !*vt_word(&p.b, 48), "... and the neighbours do not change");
	ok(post_write(&p, 0, 4, IBV_SEND_INLINE), "4 bytes inline are refused");
	vt_pair_close(&p);

	open_pair(&p, a, b, 0);
	is_int(write_by_post(&p, 8, value, 4, 0), IBV_WC_LOC_LEN_ERR,
	       "ATOMIC WRITE of 4 bytes");
	vt_pair_close(&p);

	open_pair(&p, a, b, 0);
	is_int(write_by_post(&p, 4, value, 8, 0), IBV_WC_REM_INV_REQ_ERR,
	       "ATOMIC WRITE to a misaligned address");
	vt_pair_close(&p);

	open_pair(&p, a, b, IBV_ACCESS_REMOTE_WRITE);
	is_int(write_by_post(&p, 8, value, 8, 0), IBV_WC_REM_ACCESS_ERR,
	       "ATOMIC WRITE without remote write access");
	is_u64(*vt_word(&p.b, 8), 0, "... writes nothing");
	vt_pair_close(&p);
}

static void test_flush(struct vt_dev *a, struct vt_dev *b)
{
	struct vt_pair p;

	open_pair(&p, a, b, 0);
	is_int(flush(&p, 0, 4096, FLUSH_GLOBAL, FLUSH_RANGE), IBV_WC_SUCCESS,
	       "FLUSH of a range");
	is_int(flush(&p, 0, 0, FLUSH_GLOBAL, FLUSH_MR), IBV_WC_SUCCESS,
	       "FLUSH of a region");
	is_int(flush(&p, 0, (uint32_t)p.b.size + 1, FLUSH_GLOBAL, FLUSH_RANGE),
	       IBV_WC_REM_ACCESS_ERR, "FLUSH beyond the end of the region");
	vt_pair_close(&p);

	open_pair(&p, a, b, 0);
	is_int(flush(&p, 0, 8, FLUSH_PERSISTENT, FLUSH_RANGE),
	       IBV_WC_REM_ACCESS_ERR, "FLUSH to persistence");
	vt_pair_close(&p);

	open_pair(&p, a, b, ACCESS_FLUSH_GLOBAL);
	is_int(flush(&p, 0, 8, FLUSH_GLOBAL, FLUSH_MR), IBV_WC_REM_ACCESS_ERR,
	       "FLUSH without access to flush");
	vt_pair_close(&p);
}

/*
 * With a kernel that cannot grant FLUSH, the responder refuses it like any
 * operation that is not enabled.
 */
static void test_no_flush(struct vt_dev *a, struct vt_dev *b)
{
	static uint8_t page[4096];
	struct vt_pair p;

	ok(!ibv_reg_mr(a->pd, page, sizeof(page),
		       IBV_ACCESS_LOCAL_WRITE | ACCESS_FLUSH_GLOBAL),
	   "this kernel registers no memory for FLUSH");
	open_pair(&p, a, b, 0);
	is_int(flush(&p, 0, 8, FLUSH_GLOBAL, FLUSH_RANGE),
	       IBV_WC_REM_INV_REQ_ERR, "... so FLUSH is refused");
	vt_pair_close(&p);
}

/* A reader that sees an ATOMIC WRITE also sees the data of the WRITE before. */
static void test_order(struct vt_dev *a, struct vt_dev *b)
{
	_Atomic uint64_t *flag;
	int bad = 0;
	struct vt_pair p;

	open_pair(&p, a, b, 0);
	flag = (_Atomic uint64_t *)vt_word(&p.b, 0);
	for (uint64_t i = 1; i <= 50; i++) {
		struct ibv_sge sge = vt_sge(&p.a, 64, 4096);
		struct vt_wr wr = {
			.op = VT_WRITE, .sge = &sge, .num_sge = 1,
			.raddr = vt_addr(&p.b, 64), .rkey = p.b.mr->rkey,
		};

		memset(p.a.buf + 64, (int)i, 4096);
		if (vt_post(&p.a, &wr))
			vt_bail("cannot post");
		*vt_word(&p.a, 0) = i;
		if (post_write(&p, 0, 8, 0))
			vt_bail("cannot post");
		for (uint64_t end = vt_now_ms() + VT_MS;
		     atomic_load(flag) != i && vt_now_ms() < end;)
			;
		bad += atomic_load(flag) != i || p.b.buf[64] != i ||
		       memcmp(p.b.buf + 64, p.a.buf + 64, 4096);
		bad += finish(&p.a, MXE_WC_ATOMIC_WRITE) != IBV_WC_SUCCESS;
	}
	is_int(bad, 0, "50 times, the data is visible with the flag");
	vt_pair_close(&p);
}

int main(void)
{
	struct vt_dev *a = vt_open(vt_name_a());
	struct vt_dev *b = vt_open(vt_name_b());
	uint64_t caps = device_caps(a);

	plan(0);
	/* rxe (6.12) drops FLUSH without a response. */
	has_flush = b->is_mxe && caps & DEVICE_FLUSH_GLOBAL;
	is_int(!(caps & DEVICE_FLUSH_GLOBAL), !(caps & DEVICE_ATOMIC_WRITE),
	       "the device reports both or neither");
	ok(!(caps & DEVICE_FLUSH_PERSISTENT), "... and no FLUSH to persistence");
	test_write(a, b);
	test_order(a, b);
	if (has_flush)
		test_flush(a, b);
	else if (b->is_mxe)
		test_no_flush(a, b);
	vt_close(b);
	vt_close(a);
	return done_testing();
}
