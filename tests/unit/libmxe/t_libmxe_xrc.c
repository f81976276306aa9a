// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Tests of libmxe against the fake kernel: XRC domains and queue pairs.
 */
#include "fake_kernel.h"

static struct ibv_qp *create_initiator(struct ibv_cq *cq)
{
	struct ibv_qp_init_attr_ex attr = qp_attr(cq);

	attr.qp_type = IBV_QPT_XRC_SEND;
	return ready(fake.ops->create_qp_ex(fake.context, &attr));
}

static struct ibv_xrcd *open_xrcd(void)
{
	struct ibv_xrcd_init_attr attr = { .fd = 3 };
	struct ibv_xrcd *xrcd = fake.ops->open_xrcd(fake.context, &attr);

	if (!xrcd)
		bail_out("no domain: %s", strerror(errno));
	return xrcd;
}

static void test_domain(void)
{
	struct ibv_xrcd_init_attr attr = { .fd = -1 };
	struct ibv_xrcd *xrcd = open_xrcd();

	ok(xrcd->context == fake.context, "a domain");
	is_int(fake.ops->close_xrcd(xrcd), 0, "closed");
	ok(!fake.ops->open_xrcd(fake.context, &attr) && errno == EBADF,
	   "open_xrcd fails");
	is_int(fake.xrcds, 0, "nothing is left");
}

/* A target QP has no rings, and other processes may use it too. */
static void check_target(struct ibv_qp *qp, const char *name)
{
	struct ibv_recv_wr *bad_recv, recv = { 0 };
	struct ibv_send_wr *bad, wr = { .opcode = IBV_WR_SEND };
	int resets = fake.resets;

	qp->state = IBV_QPS_RTS;
	ok(fake.ops->post_send(qp, &wr, &bad), "%s: no send", name);
	ok(fake.ops->post_recv(qp, &recv, &bad_recv), "%s: no receive", name);
	is_int(bells(NULL), 0, "%s: no doorbell", name);
	is_int(fake.ops->destroy_qp(qp), 0, "%s: destroyed", name);
	is_int(fake.resets, resets, "%s: ... but not reset, for other processes", name);
}

static void test_target(void)
{
	struct ibv_xrcd *xrcd = open_xrcd();
	struct ibv_qp_init_attr_ex attr = {
		.qp_type = IBV_QPT_XRC_RECV,
		.comp_mask = IBV_QP_INIT_ATTR_XRCD,
		.xrcd = xrcd,
	};
	struct ibv_qp_open_attr open = {
		.comp_mask = IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_XRCD |
			     IBV_QP_OPEN_ATTR_TYPE,
		.qp_num = QPN,
		.xrcd = xrcd,
		.qp_type = IBV_QPT_XRC_RECV,
	};
	struct ibv_qp *qp;

	qp = fake.ops->create_qp_ex(fake.context, &attr);
	ok(qp && fake.qp_attr.xrcd == xrcd, "a target");
	is_int(fake.ops->close_xrcd(xrcd), EBUSY, "its domain is in use");
	if (qp)
		check_target(qp, "created");
	attr.comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
	attr.send_ops_flags = IBV_QP_EX_WITH_SEND;
	ok(!fake.ops->create_qp_ex(fake.context, &attr) && errno == EOPNOTSUPP,
	   "a target has no builders");

	qp = fake.ops->open_qp(fake.context, &open);
	ok(qp && qp->qp_num == QPN, "a target of another process");
	if (qp)
		check_target(qp, "opened");
	open.qp_num++;
	ok(!fake.ops->open_qp(fake.context, &open) && errno == ENOENT,
	   "open_qp fails");
	is_int(fake.ops->close_xrcd(xrcd), 0, "the domain is not in use");
	nothing_is_left();
}

static void test_send(void)
{
	struct ibv_cq *cq = create_cq();
	struct ibv_qp *qp = create_initiator(cq);
	struct ibv_qp_ex *qpx = to_qpx(qp);
	struct ibv_send_wr *bad, wr = {
		.opcode = IBV_WR_RDMA_READ,
		.qp_type.xrc.remote_srqn = 0xabcdef,
	};

	soil_sq(qp);
	is_int(ibv_post_send(qp, &wr, &bad), 0, "a READ");
	is_u64(sq_wqe(qp, 0)->remote_srqn, 0xabcdef, "names the remote SRQ");
	is_u64(sq_wqe(qp, 0)->reserved1, 0, "and nothing else");

	ibv_wr_start(qpx);
	ibv_wr_rdma_write(qpx, 1, 2);
	ibv_wr_set_xrc_srqn(qpx, 0x123);
	ibv_wr_set_sge(qpx, 7, 0x1000, 10);
	mxedv_wr_masked_atomic_fetch_add(mxedv_qp_ex_from_ibv_qp_ex(qpx), 1, 8,
					 1, 0);
	ibv_wr_set_sge(qpx, 7, 0x1000, 8);
	ibv_wr_set_xrc_srqn(qpx, 0x456);
	is_int(ibv_wr_complete(qpx), 0, "with builders");
	is_u64(sq_wqe(qp, 1)->remote_srqn, 0x123, "a WRITE names its SRQ");
	is_u64(sq_wqe(qp, 2)->remote_srqn, 0x456, "... a masked atomic too");
	ok(sq_wqe(qp, 1)->num_sge == 1 && sq_wqe(qp, 2)->num_sge == 1,
	   "in any order with its data");
	ibv_wr_start(qpx);
	ibv_wr_set_xrc_srqn(qpx, 0x456);
	is_int(ibv_wr_complete(qpx), EINVAL, "a setter without a request");
	destroy(qp, cq);
}

static void test_others(void)
{
	struct ibv_cq *cq = create_cq();
	struct ibv_qp *qp = create_qp(cq, 0);
	struct ibv_qp_ex *qpx = to_qpx(qp);
	struct ibv_send_wr *bad, wr = {
		.opcode = IBV_WR_RDMA_WRITE,
		.qp_type.xrc.remote_srqn = 0xabcdef,
	};

	qp->state = IBV_QPS_RTS;
	soil_sq(qp);
	is_int(ibv_post_send(qp, &wr, &bad), 0, "a WRITE of RC");
	is_u64(sq_wqe(qp, 0)->remote_srqn, 0, "names no SRQ");
	ibv_wr_start(qpx);
	ibv_wr_rdma_write(qpx, 1, 2);
	ibv_wr_set_xrc_srqn(qpx, 0x123);
	is_int(ibv_wr_complete(qpx), EINVAL, "and its setter is refused");
	destroy(qp, cq);
}

static void (*const tests[])(void) = {
	open_device, test_domain, test_target, test_send, test_others,
	close_device,
};

int main(void)
{
	return run_tests(tests, ARRAY_SIZE(tests));
}
