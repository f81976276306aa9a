// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Proves that extended reliable connections work: domains and processes that
 * share them, all operations, the protection domain and completion queue of the
 * receive queue that a packet names, and the refusal of invalid requests.
 *
 * End a of a pair is the initiator, end b the target with its receive queue.
 * The program executes itself as the other process of a domain ("t_xrc other
 * ...").
 */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <rdma/mxe-abi.h>
#include "tap.h"
#include "raw.h"
#include "vt.h"
#include "xrc.h"

enum { ROUNDS = 8 };

static struct ibv_qp *open_target(struct vt_dev *dev, struct ibv_xrcd *xrcd,
				  uint32_t qp_num)
{
	struct ibv_qp_open_attr attr = {
		.comp_mask = IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_XRCD |
			     IBV_QP_OPEN_ATTR_TYPE,
		.qp_num = qp_num,
		.xrcd = xrcd,
		.qp_type = IBV_QPT_XRC_RECV,
	};

	return ibv_open_qp(dev->ctx, &attr);
}

/* Defined since Linux 6.2. */
#define DEVICE_FLUSH_GLOBAL	(1ULL << 38)

/* ---- objects ----------------------------------------------------------- */

static void test_domains(struct vt_dev *dev)
{
	int fd = memfd_create("domain", 0), other = memfd_create("other", 0);
	struct ibv_xrcd *alone, *first, *second;
	struct ibv_device_attr caps;

	if (fd < 0 || other < 0)
		vt_bail("memfd_create");
	is_int(ibv_query_device(dev->ctx, &caps), 0, "query_device");
	ok(caps.device_cap_flags & IBV_DEVICE_XRC, "the device supports XRC");

	alone = xrc_open_domain(dev, -1, O_CREAT);
	ok(alone, "a domain without a file");
	is_int(ibv_close_xrcd(alone), 0, "... closed");

	ok(!xrc_open_domain(dev, other, 0) && errno,
	   "a file without a domain cannot be joined");
	first = xrc_open_domain(dev, fd, O_CREAT);
	ok(first, "a domain on a file");
	ok(!xrc_open_domain(dev, fd, O_CREAT | O_EXCL) && errno == EINVAL,
	   "... cannot be created again");
	second = xrc_open_domain(dev, fd, 0);
	ok(second, "... joined");
	is_int(ibv_close_xrcd(first), 0, "... closed once");
	first = xrc_open_domain(dev, fd, 0);
	ok(first, "... and joined again");
	is_int(ibv_close_xrcd(first), 0, "... closed");
	is_int(ibv_close_xrcd(second), 0, "... closed by the last user");
	ok(!xrc_open_domain(dev, fd, 0) && errno,
	   "... and cannot be joined any more");
	close(fd);
	close(other);
}

static void test_orders(struct vt_dev *dev)
{
	struct ibv_xrcd *xrcd = xrc_open_domain(dev, -1, O_CREAT);
	struct ibv_cq *cq = ibv_create_cq(dev->ctx, 16, NULL, NULL, 0);
	struct ibv_srq *srq, *second;
	uint32_t num, num2;
	struct ibv_qp *tgt;

	srq = xrc_make_srq(dev->pd, xrcd, cq, XRC_SRQ_WR, XRC_SRQ_SGE);
	second = xrc_make_srq(dev->pd, xrcd, cq, XRC_SRQ_WR, XRC_SRQ_SGE);
	if (!srq || !second)
		vt_bail("ibv_create_srq_ex");
	ok(!ibv_get_srq_num(srq, &num) && !ibv_get_srq_num(second, &num2) &&
	   num && num2 && num != num2 && !(num >> 24) && !(num2 >> 24),
	   "every queue has a number of 24 bits");
	is_int(ibv_destroy_srq(second), 0, "a queue is destroyed");
	is_int(ibv_close_xrcd(xrcd), EBUSY, "the domain is used by a queue");
	is_int(ibv_destroy_cq(cq), EBUSY, "... and so is its completion queue");
	tgt = xrc_make_target(dev, xrcd);
	ok(tgt, "a target");
	is_int(ibv_destroy_srq(srq), 0, "a queue is destroyed before the target");
	is_int(ibv_close_xrcd(xrcd), EBUSY, "the domain is used by a target");
	is_int(ibv_destroy_qp(tgt), 0, "the target is destroyed");
	is_int(ibv_close_xrcd(xrcd), 0, "... and the domain");
	is_int(ibv_destroy_cq(cq), 0, "... and the completion queue");
}

/* Neither end has a receive queue, and the target has no send queue. */
static void test_no_queues(struct vt_dev *a, struct vt_dev *b,
			   struct ibv_xrcd *xrcd)
{
	struct vt_conf conf = xrc_defaults();
	struct ibv_recv_wr *bad_recv, recv = { 0 };
	struct ibv_send_wr *bad, wr = { .opcode = IBV_WR_SEND };
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;
	struct vt_pair p;

	xrc_pair_open(&p, a, b, xrcd, &conf);
	ok(ibv_post_recv(p.a.qp, &recv, &bad_recv), "no receive at an initiator");
	ok(ibv_post_recv(p.b.qp, &recv, &bad_recv), "no receive at a target");
	ok(ibv_post_send(p.b.qp, &wr, &bad), "no send at a target");
	is_int(ibv_query_qp(p.b.qp, &attr, IBV_QP_STATE | IBV_QP_DEST_QPN, &init),
	       0, "a target is queried");
	ok(attr.qp_state == IBV_QPS_RTS && attr.dest_qp_num == p.a.qp->qp_num &&
	   !attr.cap.max_send_wr && !attr.cap.max_recv_wr,
	   "... and reports its state, its peer and no queues");
	xrc_pair_close(&p);
}

/* ---- operations -------------------------------------------------------- */

static void test_transfers(struct vt_dev *a, struct vt_dev *b,
			   struct ibv_xrcd *xrcd, bool exp)
{
	static const uint32_t sizes[] = { 0, 1, 8, 1023, 1024, 1025, 5000, 30000 };
	struct vt_conf conf = xrc_defaults();
	enum vt_via via, last = exp ? VT_EXP : VT_WR;
	struct vt_pair p;
	int op;

	conf.exp = exp;
	conf.ipv6 = exp;
	conf.mtu = IBV_MTU_1024;
	xrc_pair_open(&p, a, b, xrcd, &conf);
	for (via = exp ? VT_EXP : VT_POST_SEND; via <= last; via++)
		for (op = VT_SEND; op <= VT_READ; op++) {
			const char *wrong = NULL;
			size_t i;

			for (i = 0; !wrong && i < sizeof(sizes) / 4; i++)
				wrong = vt_transfer(&p, op, via, sizes[i], 0);
			ok(!wrong, "%s by %s%s%s", vt_op_name[op],
			   vt_via_name[via], wrong ? ": " : "", wrong ?: "");
		}
	xrc_pair_close(&p);
}

static void one_atomic(struct vt_pair *p, enum vt_via via, enum vt_opcode op,
		       uint64_t value, uint64_t want)
{
	struct vt_wr wr = {
		.op = op, .via = via,
		.compare_add = op == VT_CAS ? value : 0x00ff00ff00ff00ff,
		.swap = 0x1122334455667788,
		.compare_mask = op == VT_MCAS ? 0xff : 0x8000800080008000,
		.swap_mask = 0xffff0000ffff0000,
	};
	uint64_t old = 0;
	int status;

	*vt_word(&p->b, 64) = value;
	status = vt_atomic(p, &wr, 64, &old);
	is_str(vt_status(status), vt_status(IBV_WC_SUCCESS), "%s by %s",
	       vt_op_name[op], vt_via_name[via]);
	is_u64(old, value, "... returns the old value");
	is_u64(*vt_word(&p->b, 64), want, "... and stores the new one");
}

/*
 * Checks an add of 4, 16 or 32 bytes. Each word of 32 or 64 bits is a field
 * that overflows. Results are big-endian words.
 */
static void wide_atomic(struct vt_pair *p, enum vt_via via, uint32_t log)
{
	uint32_t half = 0xfffffff0, half_add = 0x25, half_boundary = 1U << 31;
	uint64_t words[4], add[4], boundary[4];
	struct ibv_sge sge = vt_sge(&p->a, 0, 1U << log);
	struct vt_wr wr = {
		.op = VT_MFADD, .via = via, .sge = &sge, .num_sge = 1,
		.log_arg_sz = log, .raddr = vt_addr(&p->b, 64),
		.rkey = p->b.mr->rkey, .srqn = p->b.srqn,
		.operands = { add, NULL, boundary },
	};
	bool result = true, left = true;

	for (uint64_t i = 0; i < 4; i++) {
		words[i] = 0xfffffffffffffff0 + i;
		add[i] = 0x25;
		boundary[i] = 1ULL << 63;
	}
	memcpy(p->b.buf + 64, words, sizeof(words));
	if (log == 2) {
		memcpy(p->b.buf + 64, &half, sizeof(half));
		wr.operands[0] = &half_add;
		wr.operands[2] = &half_boundary;
	}
	is_str(vt_status(vt_do(&p->a, &wr, NULL)), vt_status(IBV_WC_SUCCESS),
	       "%u bytes by %s", 1U << log, vt_via_name[via]);
	if (log == 2) {
		uint32_t got[2];

		memcpy(&got[0], p->a.buf, 4);
		memcpy(&got[1], p->b.buf + 64, 4);
		result = be32toh(got[0]) == half;
		left = got[1] == half + half_add;
	}
	for (size_t i = 0; log != 2 && i < 4; i++) {
		bool reached = i < (1U << log) / 8;

		result &= !reached || be64toh(*vt_word(&p->a, 8 * i)) == words[i];
		left &= *vt_word(&p->b, 64 + 8 * i) ==
			words[i] + (reached ? add[i] : 0);
	}
	ok(result, "... returns the old value");
	ok(left, "... and stores the new one");
}

static void test_atomics(struct vt_dev *a, struct vt_dev *b,
			 struct ibv_xrcd *xrcd, bool exp)
{
	const uint64_t v = 0xfffefffdfffc00ff;
	struct vt_conf conf = xrc_defaults();
	enum vt_via via = exp ? VT_EXP : VT_WR;
	struct vt_pair p;

	conf.exp = exp;
	conf.max_atomic_arg = 32;
	xrc_pair_open(&p, a, b, xrcd, &conf);
	if (!exp)
		one_atomic(&p, VT_POST_SEND, VT_FADD, v, v + 0x00ff00ff00ff00ff);
	one_atomic(&p, via, VT_CAS, v, 0x1122334455667788);
	one_atomic(&p, via, VT_FADD, v, v + 0x00ff00ff00ff00ff);
	one_atomic(&p, via, VT_MCAS, v, 0x1122fffd556600ff);
	/* Four fields of 16 bits, whose carries are dropped. */
	one_atomic(&p, via, VT_MFADD, v, 0x00fd00fc00fb01fe);
	wide_atomic(&p, via, 2);
	wide_atomic(&p, via, 4);
	wide_atomic(&p, via, 5);
	xrc_pair_close(&p);
}

/* A message uses the receive queue that it names, and its completion queue. */
static void test_two_queues(struct vt_dev *a, struct vt_dev *b,
			    struct ibv_xrcd *xrcd)
{
	struct vt_conf conf = xrc_defaults();
	struct vt_end second, first;
	struct vt_pair p;
	struct ibv_wc wc;
	int i;

	xrc_pair_open(&p, a, b, xrcd, &conf);
	xrc_receiver_open(&second, b, xrcd, &conf);
	first = p.b;
	for (i = 0; i < 6; i++) {
		struct vt_end *to = i & 1 ? &second : &first;
		const char *wrong;

		/* Have vt_transfer() use this queue with the only target. */
		p.b = *to;
		p.b.qp = first.qp;
		wrong = vt_transfer(&p, i < 3 ? VT_SEND_IMM : VT_WRITE_IMM,
				    VT_POST_SEND, 3000, 0);
		ok(!wrong, "message %d to the queue it names%s%s", i, wrong ? ": " : "",
		   wrong ?: "");
		ok(!ibv_poll_cq(i & 1 ? first.rcq : second.rcq, 1, &wc),
		   "... and not to the other");
	}
	p.b = first;
	xrc_receiver_close(&second);
	xrc_pair_close(&p);
}

/* ---- memory placement -------------------------------------------------- */

/*
 * Executes an ATOMIC WRITE of a value by way of the first bytes of end a.
 * Returns the completion's status, or -1 if there is none.
 */
static int atomic_write(struct vt_pair *p, size_t offset, uint64_t value)
{
	struct ibv_sge sge = vt_sge(&p->a, 0, 8);
	struct ibv_send_wr *bad, wr = {
		.opcode = (enum ibv_wr_opcode)MXE_WR_ATOMIC_WRITE,
		.send_flags = IBV_SEND_SIGNALED,
		.sg_list = &sge,
		.num_sge = 1,
		.wr.rdma.remote_addr = vt_addr(&p->b, offset),
		.wr.rdma.rkey = p->b.mr->rkey,
		.qp_type.xrc.remote_srqn = p->b.srqn,
	};
	struct ibv_wc wc;

	*vt_word(&p->a, 0) = value;
	if (ibv_post_send(p->a.qp, &wr, &bad) ||
	    !vt_poll(p->a.cq, &wc, VT_MS))
		return -1;
	if (!wc.status)
		is_int(wc.opcode, MXE_WC_ATOMIC_WRITE, "... has its opcode in the completion");
	return wc.status;
}

static void test_placement(struct vt_dev *a, struct vt_dev *b,
			   struct ibv_xrcd *xrcd)
{
	struct vt_conf conf = xrc_defaults();
	struct vt_pair p;

#ifdef HAVE_FLUSH
	struct ibv_device_attr_ex attr;
	bool has_flush;

	if (ibv_query_device_ex(b->ctx, NULL, &attr))
		vt_bail("ibv_query_device_ex");
	has_flush = attr.device_cap_flags_ex & DEVICE_FLUSH_GLOBAL;
	if (has_flush) {
		conf.qp_access |= IBV_ACCESS_FLUSH_GLOBAL;
		conf.mr_access |= IBV_ACCESS_FLUSH_GLOBAL;
	}
#endif
	xrc_pair_open(&p, a, b, xrcd, &conf);
	*vt_word(&p.b, 64) = 0;
	is_int(atomic_write(&p, 64, 0x0123456789abcdef), IBV_WC_SUCCESS,
	       "ATOMIC WRITE");
	is_u64(*vt_word(&p.b, 64), 0x0123456789abcdef, "... writes its word");
#ifdef HAVE_FLUSH
	if (has_flush) {
		struct ibv_wc wc;

		ibv_wr_start(p.a.qpx);
		p.a.qpx->wr_flags = IBV_SEND_SIGNALED;
		ibv_wr_flush(p.a.qpx, p.b.mr->rkey, vt_addr(&p.b, 0), 4096,
			     IBV_FLUSH_GLOBAL, IBV_FLUSH_RANGE);
		ibv_wr_set_xrc_srqn(p.a.qpx, p.b.srqn);
		is_int(ibv_wr_complete(p.a.qpx), 0, "FLUSH");
		ok(vt_poll(p.a.cq, &wc, VT_MS) && !wc.status &&
		   wc.opcode == IBV_WC_FLUSH, "... is executed");
	}
#endif
	is_int(atomic_write(&p, 68, 1), IBV_WC_REM_INV_REQ_ERR,
	       "ATOMIC WRITE to a misaligned address");
	xrc_pair_close(&p);
}

/* ---- refused requests -------------------------------------------------- */

static int write_8(struct vt_pair *p, uint32_t srqn, uint32_t rkey)
{
	struct ibv_sge sge = vt_sge(&p->a, 0, 8);
	struct vt_wr wr = {
		.op = VT_WRITE, .sge = &sge, .num_sge = 1, .srqn = srqn,
		.raddr = vt_addr(&p->b, 0), .rkey = rkey,
	};

	return vt_do(&p->a, &wr, NULL);
}

static void test_bad_number(struct vt_dev *a, struct vt_dev *b,
			    struct ibv_xrcd *xrcd)
{
	struct ibv_xrcd *other = xrc_open_domain(b, -1, O_CREAT);
	struct vt_conf conf = xrc_defaults();
	struct vt_end stranger;
	struct vt_pair p;
	uint32_t gone;

	xrc_receiver_open(&stranger, b, other, &conf);
	xrc_pair_open(&p, a, b, xrcd, &conf);
	vt_drain_async(b);
	is_int(write_8(&p, stranger.srqn, p.b.mr->rkey), IBV_WC_REM_INV_REQ_ERR,
	       "a WRITE that names a queue of another domain");
	is_int(vt_async(b, VT_MS), IBV_EVENT_QP_REQ_ERR, "... raises an event");
	is_int(vt_state(&p.b), IBV_QPS_ERR, "... and the target is in ERR");
	xrc_pair_close(&p);
	xrc_receiver_close(&stranger);
	is_int(ibv_close_xrcd(other), 0, "the other domain is closed");

	xrc_pair_open(&p, a, b, xrcd, &conf);
	is_int(write_8(&p, p.b.srqn, p.b.mr->rkey), IBV_WC_SUCCESS,
	       "a WRITE that names a queue of the domain");
	gone = p.b.srqn;
	is_int(ibv_destroy_srq(p.b.xsrq), 0, "... which is destroyed");
	p.b.xsrq = NULL;
	is_int(write_8(&p, gone, p.b.mr->rkey), IBV_WC_REM_INV_REQ_ERR,
	       "... and a WRITE that names it then is refused");
	xrc_pair_close(&p);

	xrc_pair_open(&p, a, b, xrcd, &conf);
	is_int(write_8(&p, 0x1000000 | p.b.srqn, p.b.mr->rkey),
	       IBV_WC_LOC_QP_OP_ERR, "a number of more than 24 bits");
	xrc_pair_close(&p);
}

/* The first and the last packet of a message name different queues. */
static void test_two_numbers(struct vt_dev *a, struct vt_dev *b,
			     struct ibv_xrcd *xrcd)
{
	struct vt_conf conf = xrc_defaults();
	struct raw first = { .opcode = BTH_XRC | BTH_SEND_FIRST }, last = { 0 };
	struct vt_end second;
	struct vt_pair p;
	uint32_t srqn;
	struct ibv_wc wc;
	int raw_fd = raw_open();

	conf.mtu = IBV_MTU_256;
	xrc_pair_open(&p, a, b, xrcd, &conf);
	xrc_receiver_open(&second, b, xrcd, &conf);
	vt_drain_async(b);
	if (vt_recv(&p.b, 1, 0, 1000) || vt_recv(&second, 2, 0, 1000))
		vt_bail("cannot post");
	srqn = htobe32(p.b.srqn);
	memcpy(first.body, &srqn, 4);
	first.len = 4 + 256;
	first.qpn = p.b.qp->qp_num;
	first.psn = conf.psn;
	last = first;
	last.opcode = BTH_XRC | BTH_SEND_LAST;
	last.psn++;
	last.len = 4 + 8;
	srqn = htobe32(second.srqn);
	memcpy(last.body, &srqn, 4);
	raw_send(raw_fd, a, b, &first);
	raw_send(raw_fd, a, b, &last);
	is_int(vt_async(b, VT_MS), IBV_EVENT_QP_REQ_ERR,
	       "a message to two queues raises an event");
	is_int(vt_state(&p.b), IBV_QPS_ERR, "... and the target is in ERR");
	ok(vt_poll(p.b.rcq, &wc, VT_MS) && wc.wr_id == 1 &&
	   wc.status == IBV_WC_WR_FLUSH_ERR,
	   "... the request of the first queue is flushed");
	ok(!ibv_poll_cq(second.rcq, 1, &wc),
	   "... that of the second does not complete");
	xrc_receiver_close(&second);
	xrc_pair_close(&p);
	close(raw_fd);
}

/* Keys are checked against the protection domain of the queue that is named. */
static void test_domain_of_keys(struct vt_dev *a, struct vt_dev *b,
				struct ibv_xrcd *xrcd)
{
	struct ibv_pd *pd = ibv_alloc_pd(b->ctx);
	struct vt_conf conf = xrc_defaults();
	struct ibv_srq *srq;
	struct ibv_mr *mr;
	struct vt_pair p;
	uint32_t srqn;

	xrc_pair_open(&p, a, b, xrcd, &conf);
	mr = pd ? ibv_reg_mr(pd, p.b.buf, 4096, VT_ACCESS_ALL) : NULL;
	srq = pd ? xrc_make_srq(pd, xrcd, p.b.rcq, XRC_SRQ_WR, XRC_SRQ_SGE) : NULL;
	if (!mr || !srq || ibv_get_srq_num(srq, &srqn))
		vt_bail("a second protection domain");
	is_int(write_8(&p, srqn, mr->rkey), IBV_WC_SUCCESS,
	       "a key of the second queue's protection domain");
	is_int(write_8(&p, p.b.srqn, p.b.mr->rkey), IBV_WC_SUCCESS,
	       "... and of the first queue's");
	is_int(write_8(&p, p.b.srqn, mr->rkey), IBV_WC_REM_ACCESS_ERR,
	       "... but not a key of the second with the first queue");
	is_int(ibv_destroy_srq(srq), 0, "the second queue is destroyed");
	is_int(ibv_dereg_mr(mr), 0, "... its region");
	is_int(ibv_dealloc_pd(pd), 0, "... and its protection domain");
	xrc_pair_close(&p);
}

static void test_empty(struct vt_dev *a, struct vt_dev *b, struct ibv_xrcd *xrcd)
{
	struct vt_conf conf = xrc_defaults();
	struct ibv_sge sge;
	struct vt_wr wr = { .op = VT_SEND, .num_sge = 1 };
	struct vt_pair p;

	conf.rnr_retry = 1;
	conf.min_rnr_timer = 1;
	xrc_pair_open(&p, a, b, xrcd, &conf);
	sge = vt_sge(&p.a, 0, 8);
	wr.sge = &sge;
	wr.srqn = p.b.srqn;
	is_int(vt_do(&p.a, &wr, NULL), IBV_WC_RNR_RETRY_EXC_ERR,
	       "an empty queue: receiver not ready");
	xrc_pair_close(&p);
}

/* A queue is destroyed in the middle of a request that names it. */
static void test_destroyed_in_use(struct vt_dev *a, struct vt_dev *b,
				  struct ibv_xrcd *xrcd)
{
	struct vt_conf conf = xrc_defaults();
	int i, in_time = 0;

	conf.timeout = 12;	/* 17 ms */
	conf.retry_cnt = 1;
	conf.size = 1 << 20;
	for (i = 0; i < ROUNDS; i++) {
		struct vt_wr wr = {
			.op = i & 1 ? VT_READ : VT_SEND, .num_sge = 1,
			.flags = IBV_SEND_SIGNALED,
		};
		struct ibv_sge sge;
		struct vt_pair p;
		struct ibv_wc wc;

		xrc_pair_open(&p, a, b, xrcd, &conf);
		sge = vt_sge(&p.a, 0, conf.size);
		wr.sge = &sge;
		wr.srqn = p.b.srqn;
		wr.raddr = vt_addr(&p.b, 0);
		wr.rkey = p.b.mr->rkey;
		if (vt_recv(&p.b, i, 0, conf.size) || vt_post(&p.a, &wr))
			vt_bail("cannot post");
		if (ibv_destroy_srq(p.b.xsrq))
			vt_bail("ibv_destroy_srq");
		p.b.xsrq = NULL;
		in_time += vt_poll(p.a.cq, &wc, VT_MS);
		xrc_pair_close(&p);
	}
	is_int(in_time, ROUNDS, "requests complete although their queue is destroyed");
}

/* ---- two processes ----------------------------------------------------- */

/*
 * Runs the other process: joins the domain on file descriptor fd, opens the
 * target, prints the number of its queue, and receives a message for each line
 * of stdin, whose word it prints.
 */
static int other_process(const char *fd, const char *qp_num)
{
	struct vt_dev *dev = vt_open(vt_name_b());
	struct vt_conf conf = xrc_defaults();
	struct ibv_xrcd *xrcd = xrc_open_domain(dev, atoi(fd), 0);
	struct vt_end e;
	struct ibv_wc wc;
	char line[16];
	uint32_t i;

	if (!xrcd)
		return 2;
	xrc_receiver_open(&e, dev, xrcd, &conf);
	e.qp = open_target(dev, xrcd, (uint32_t)atoi(qp_num));
	if (!e.qp || vt_state(&e) != IBV_QPS_RTS)
		return 3;
	/* In the kernel, an opened QP is another object than the target. */
	if (mxedv_arm_dct(e.qp, MXEDV_DCT_KEY_VIOLATION) != EINVAL)
		return 6;
	for (i = 0; i < 4; i++)
		if (vt_recv(&e, i, i * 64, 64))
			return 4;
	printf("%u\n", e.srqn);
	fflush(stdout);
	for (i = 0; fgets(line, sizeof(line), stdin); i++) {
		if (!vt_poll(e.rcq, &wc, VT_MS) || wc.status || wc.wr_id != i)
			return 5;
		printf("%u\n", (uint32_t)*vt_word(&e, i * 64));
		fflush(stdout);
	}
	/* The kernel releases all objects at exit. */
	return 0;
}

static pid_t run_other(int fd, uint32_t qp_num, FILE **to, FILE **from)
{
	int in[2], out[2];
	char fd_arg[16], qp_arg[16];
	pid_t pid;

	if (pipe(in) || pipe(out))
		vt_bail("pipe");
	snprintf(fd_arg, sizeof(fd_arg), "%d", fd);
	snprintf(qp_arg, sizeof(qp_arg), "%u", qp_num);
	fflush(stdout);
	pid = fork();
	if (pid < 0)
		vt_bail("fork");
	if (!pid) {
		dup2(in[0], 0);
		dup2(out[1], 1);
		close(in[1]);
		close(out[0]);
		execl("/proc/self/exe", "t_xrc", "other", fd_arg, qp_arg,
		      (char *)NULL);
		_exit(126);
	}
	close(in[0]);
	close(out[1]);
	*to = fdopen(in[1], "w");
	*from = fdopen(out[0], "r");
	return pid;
}

static uint32_t answer(FILE *from)
{
	char line[16];

	return fgets(line, sizeof(line), from) ? (uint32_t)atoi(line) : 0;
}

static int send_word(struct vt_pair *p, uint32_t srqn, uint64_t value)
{
	struct ibv_sge sge = vt_sge(&p->a, 0, 8);
	struct vt_wr wr = {
		.op = VT_SEND, .sge = &sge, .num_sge = 1, .srqn = srqn,
	};

	*vt_word(&p->a, 0) = value;
	return vt_do(&p->a, &wr, NULL);
}

static uint32_t ask(FILE *to, FILE *from)
{
	fputs("next\n", to);
	fflush(to);
	return answer(from);
}

static void test_processes(struct vt_dev *a, struct vt_dev *b)
{
	struct vt_conf conf = xrc_defaults();
	struct ibv_xrcd *xrcd;
	struct vt_pair p;
	FILE *to, *from;
	uint32_t srqn;
	int fd = memfd_create("domain", 0), status = -1;
	pid_t pid;

	conf.retry_cnt = 3;
	xrcd = xrc_open_domain(b, fd, O_CREAT);
	if (!xrcd)
		vt_bail("a domain on a file");
	xrc_pair_open(&p, a, b, xrcd, &conf);
	ok(!open_target(b, xrcd, p.a.qp->qp_num), "no target has that number");
	pid = run_other(fd, p.b.qp->qp_num, &to, &from);
	srqn = answer(from);
	ok(srqn && srqn != p.b.srqn, "the other process has a queue");
	is_int(send_word(&p, srqn, 0x11), IBV_WC_SUCCESS, "a message to its queue there");
	is_u64(ask(to, from), 0x11, "... arrives there");
	is_int(vt_recv(&p.b, 7, 0, 64), 0, "a receive request of this process");
	is_int(send_word(&p, p.b.srqn, 0x22), IBV_WC_SUCCESS,
	       "a message to its queue");
	is_u64(*vt_word(&p.b, 0), 0x22, "... arrives here");
	is_int(write_8(&p, srqn, p.b.mr->rkey), IBV_WC_REM_ACCESS_ERR,
	       "the other's queue grants no access to this process's memory");

	/*
	 * The target has failed. Each process that shares it may reconnect it.
	 */
	vt_pair_reconnect(&p, &conf);
	is_int(send_word(&p, srqn, 0x33), IBV_WC_SUCCESS,
	       "a message to the other process after a reconnect");
	is_u64(ask(to, from), 0x33, "... arrives there");

	is_int(ibv_destroy_qp(p.b.qp), 0,
	       "this process destroys its handle of the target");
	p.b.qp = NULL;
	is_int(send_word(&p, srqn, 0x44), IBV_WC_SUCCESS,
	       "a message to the other process, which still has the target");
	is_u64(ask(to, from), 0x44, "... arrives there");
	fclose(to);
	is_int(waitpid(pid, &status, 0), pid, "the other process exits");
	is_int(WIFEXITED(status) ? WEXITSTATUS(status) : -1, 0,
	       "... with status 0");
	fclose(from);
	is_int(send_word(&p, srqn, 0x55), IBV_WC_RETRY_EXC_ERR,
	       "... and the target is destroyed");
	xrc_pair_close(&p);
	is_int(ibv_close_xrcd(xrcd), 0, "the domain has no other user");
	close(fd);
}

/* What does not depend on where the two ends are. */
static void test_pair(struct vt_dev *a, struct vt_dev *b, struct ibv_xrcd *xrcd)
{
	test_transfers(a, b, xrcd, false);
	test_atomics(a, b, xrcd, false);
	test_two_queues(a, b, xrcd);
	test_bad_number(a, b, xrcd);
	test_domain_of_keys(a, b, xrcd);
	test_empty(a, b, xrcd);
	test_destroyed_in_use(a, b, xrcd);
}

/* With both ends on a host, requests need no packets unless they fail. */
static void test_one_host(struct vt_dev *dev, struct ibv_xrcd *xrcd)
{
	bool plain = !vt_has_loopback();
	long loops = vt_dev_counter(dev, "loop_requests");

	diag("both ends on one host");
	test_pair(dev, dev, xrcd);
	loops = vt_dev_counter(dev, "loop_requests") - loops;
	ok(plain ? !loops : loops > 0, "%ld requests without packets", loops);
}

int main(int argc, char **argv)
{
	struct vt_dev *a, *b;
	struct ibv_xrcd *xrcd;

	if (argc == 4)
		return other_process(argv[2], argv[3]);
	a = vt_open(vt_name_a());
	b = vt_open(vt_name_b());
	plan(0);
	test_domains(b);
	test_orders(b);
	xrcd = xrc_open_domain(b, -1, O_CREAT);
	if (!xrcd)
		vt_bail("ibv_open_xrcd");
	test_no_queues(a, b, xrcd);
	test_pair(a, b, xrcd);
	test_transfers(a, b, xrcd, true);
	test_atomics(a, b, xrcd, true);
	test_placement(a, b, xrcd);
	test_two_numbers(a, b, xrcd);
	test_one_host(b, xrcd);
	is_int(ibv_close_xrcd(xrcd), 0, "nothing is left in the domain");
	test_processes(a, b);
	vt_close(a);
	vt_close(b);
	return done_testing();
}
