// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * bench-transports DEVICE REMOTE COUNT
 *
 * Measures fetch-and-adds of an mxe device over RC, XRC and DC, and over DC to
 * two targets in turn, one at a time.  REMOTE may be the same device.  The
 * output has the form of mxe-perf --json.
 */
#include <fcntl.h>

#include "adder.h"
#include "one.h"

struct end {
	struct rc_device rc;
	struct ibv_mr *mr;
	struct ibv_cq *cq;
};

static struct end a, b;
static uint64_t word, old;
static struct ibv_qp_ex *initiator;
static uint32_t xrc_srqn;
static struct ibv_qp *targets[2];
static struct ibv_ah *ah;

static void must(const char *what, int is_true)
{
	if (!is_true)
		rc_fail(what);
}

static void open_end(struct end *end, const char *device, uint64_t *mem)
{
	rc_open(&end->rc, device);
	end->mr = ibv_reg_mr(end->rc.pd, mem, sizeof(*mem), RC_ACCESS);
	end->cq = ibv_create_cq(end->rc.ctx, 1, NULL, NULL, 0);
	must("no region or completion queue", end->mr && end->cq);
}

/* ---- queue pairs --------------------------------------------------------- */

static void make_xrc(void)
{
	struct ibv_xrcd_init_attr domain = {
		.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS,
		.fd = -1,
		.oflags = O_CREAT,
	};
	struct ibv_xrcd *xrcd = ibv_open_xrcd(b.rc.ctx, &domain);
	struct ibv_srq_init_attr_ex srq_attr = {
		.attr = { .max_wr = 1, .max_sge = 1 },
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD |
			     IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ,
		.srq_type = IBV_SRQT_XRC,
		.pd = b.rc.pd,
		.xrcd = xrcd,
		.cq = b.cq,
	};
	struct ibv_srq *srq = xrcd ? ibv_create_srq_ex(b.rc.ctx, &srq_attr) : NULL;
	struct ibv_qp_init_attr_ex attr = {
		.qp_type = IBV_QPT_XRC_RECV,
		.comp_mask = IBV_QP_INIT_ATTR_XRCD,
		.xrcd = xrcd,
	};
	struct ibv_qp *qp = adder_create(&a.rc, a.cq, IBV_QPT_XRC_SEND), *target;

	target = srq ? ibv_create_qp_ex(b.rc.ctx, &attr) : NULL;
	must("no target of XRC", target && !ibv_get_srq_num(srq, &xrc_srqn));
	rc_modify(&a.rc, qp, IBV_QPS_INIT, RC_INIT_MASK, &b.rc, 0);
	rc_modify(&a.rc, qp, IBV_QPS_RTR, RC_PATH_MASK, &b.rc, target->qp_num);
	rc_modify(&a.rc, qp, IBV_QPS_RTS, RC_RTS_MASK, &b.rc, 0);
	rc_modify(&b.rc, target, IBV_QPS_INIT, RC_INIT_MASK, &a.rc, 0);
	rc_modify(&b.rc, target, IBV_QPS_RTR, RC_PATH_MASK | RC_TARGET_MASK,
		  &a.rc, qp->qp_num);
	rc_modify(&b.rc, target, IBV_QPS_RTS, IBV_QP_TIMEOUT | IBV_QP_SQ_PSN,
		  &a.rc, 0);
	initiator = ibv_qp_to_qp_ex(qp);
}

static void make_dc(void)
{
	initiator = ibv_qp_to_qp_ex(dc_initiator(&a.rc, &b.rc, a.cq));
	targets[0] = dc_target(&b.rc, &a.rc, b.cq);
	targets[1] = dc_target(&b.rc, &a.rc, b.cq);
	ah = dc_ah(&a.rc, &b.rc);
}

/* ---- operations ---------------------------------------------------------- */

static void begin(void)
{
	adder_begin(initiator, b.mr->rkey, &word);
}

static uint64_t end(void)
{
	adder_end(initiator, a.cq, a.mr, &old);
	return old;
}

static uint64_t add_rc(uint64_t expected)
{
	(void)expected;
	begin();
	return end();
}

static uint64_t add_xrc(uint64_t expected)
{
	(void)expected;
	begin();
	ibv_wr_set_xrc_srqn(initiator, xrc_srqn);
	return end();
}

static uint64_t add_dc(const struct ibv_qp *target)
{
	begin();
	dc_send_to(initiator, ah, target);
	return end();
}

static uint64_t add_dc_same(uint64_t expected)
{
	(void)expected;
	return add_dc(targets[0]);
}

static uint64_t add_dc_other(uint64_t expected)
{
	return add_dc(targets[expected % 2]);
}

int main(int argc, char **argv)
{
	struct bench bench = { .test = "transports", .tsc = 1 };
	uint64_t next = 0;

	if (argc != 4)
		rc_fail("usage: bench-transports DEVICE REMOTE COUNT");
	bench.device = argv[1];
	bench.n = strtoul(argv[3], NULL, 0);
	open_end(&a, argv[1], &old);
	open_end(&b, argv[2], &word);
	initiator = adder_create_rc(&a.rc, a.cq, &b.rc, b.cq);
	next = bench_run(&bench, "rc", next, add_rc);
	make_xrc();
	next = bench_run(&bench, "xrc", next, add_xrc);
	make_dc();
	next = bench_run(&bench, "dc", next, add_dc_same);
	bench_run(&bench, "dc-other", next, add_dc_other);
	bench_end();
	return 0;
}
