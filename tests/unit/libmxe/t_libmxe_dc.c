// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Tests of libmxe against the fake kernel: dynamically connected queue pairs.
 */
#include "ah.h"
#include "fake_kernel.h"

#define KEY 0x1122334455667788

static struct ibv_qp *create_dc(struct ibv_cq *cq, struct ibv_srq *srq,
				uint32_t dc_type, uint64_t key, uint32_t flags)
{
	struct ibv_qp_init_attr_ex attr = qp_attr(cq);
	struct mxedv_qp_init_attr dv = {
		.comp_mask = MXEDV_QP_INIT_ATTR_DC |
			     MXEDV_QP_INIT_ATTR_CREATE_FLAGS,
		.create_flags = flags,
		.dc_type = dc_type,
		.dct_access_key = key,
	};

	attr.qp_type = IBV_QPT_DRIVER;
	attr.srq = srq;
	if (dc_type == MXEDV_DCTYPE_DCT)
		attr.comp_mask &= ~(uint32_t)IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
	return mxedv_create_qp(fake.context, &attr, &dv);
}

static struct ibv_ah *create_ah(void)
{
	struct ibv_ah_attr attr = { .is_global = 1 };
	struct ibv_ah *ah = fake.ops->create_ah(fake.pd, &attr);

	if (!ah)
		bail_out("no address handle: %s", strerror(errno));
	return ah;
}

/* The target is at the end of the entry. */
static const struct mxe_dc_dest *dest(struct ibv_qp *qp, uint32_t index)
{
	return (void *)((char *)sq_wqe(qp, index) + to_mqp(qp)->sq.stride -
			sizeof(struct mxe_dc_dest));
}

static bool is_to(struct ibv_qp *qp, uint32_t index, struct ibv_ah *ah,
		  uint32_t dctn, uint64_t key)
{
	return dest(qp, index)->ah_num == to_mah(ah)->num &&
	       dest(qp, index)->dct_num == dctn &&
	       dest(qp, index)->dct_key == key;
}

static void test_create(void)
{
	struct ibv_cq *cq = create_cq();
	struct ibv_srq srq = { .context = fake.context };
	struct ibv_qp_init_attr_ex attr = qp_attr(cq);
	struct mxedv_qp_init_attr dv = {
		.comp_mask = MXEDV_QP_INIT_ATTR_DC,
		.dc_type = MXEDV_DCTYPE_DCI,
	};
	struct ibv_qp *qp;

	qp = create_dc(cq, NULL, MXEDV_DCTYPE_DCI, 0, 0);
	ok(qp && fake.qp_req.flags == MXE_QP_CREATE_DCI && !fake.qp_req.dct_key,
	   "an initiator");
	if (qp)
		is_int(fake.ops->destroy_qp(qp), 0, "destroyed");
	qp = create_dc(cq, &srq, MXEDV_DCTYPE_DCT, KEY, 0);
	ok(qp && fake.qp_req.flags == MXE_QP_CREATE_DCT, "a target");
	is_u64(fake.qp_req.dct_key, KEY, "its key");
	if (qp)
		is_int(fake.ops->destroy_qp(qp), 0, "destroyed");

	ok(!create_dc(cq, NULL, MXEDV_DCTYPE_DCT, KEY, 0) && errno == EINVAL,
	   "no target without an SRQ");
	ok(!create_dc(cq, &srq, MXEDV_DCTYPE_DCI, 0, 0) && errno == EINVAL,
	   "no initiator with an SRQ");
	ok(!create_dc(cq, NULL, MXEDV_DCTYPE_DCI, KEY, 0) && errno == EINVAL,
	   "no initiator with a key");
	ok(!create_dc(cq, NULL, 3, 0, 0) && errno == EINVAL, "no other type");
	ok(!mxedv_create_qp(fake.context, &attr, &dv) && errno == EINVAL,
	   "no RC queue pair with attributes of DC");
	attr.qp_type = IBV_QPT_DRIVER;
	ok(!mxedv_create_qp(fake.context, &attr, NULL) && errno == EINVAL,
	   "no queue pair of DC without them");
	dv.reserved = 1;
	ok(!mxedv_create_qp(fake.context, &attr, &dv) && errno == EINVAL,
	   "no reserved field");
	fake.ops->destroy_cq(cq);
	nothing_is_left();
}

static void test_post(void)
{
	struct ibv_cq *cq = create_cq();
	struct ibv_qp *qp = ready(create_dc(cq, NULL, MXEDV_DCTYPE_DCI, 0, 0));
	struct ibv_qp_ex *qpx = to_qpx(qp);
	struct mxedv_qp_ex *mqp = mxedv_qp_ex_from_ibv_qp_ex(qpx);
	struct ibv_send_wr *bad, wr = { .opcode = IBV_WR_RDMA_READ };
	struct ibv_ah *ah = create_ah();

	soil_sq(qp);
	ibv_wr_start(qpx);
	ibv_wr_rdma_write(qpx, 1, 2);
	mxedv_wr_set_dc_addr(mqp, ah, 0x123, KEY);
	ibv_wr_set_sge(qpx, 7, 0x1000, 10);
	mxedv_wr_masked_atomic_fetch_add(mqp, 1, 8, 1, 0);
	ibv_wr_set_sge(qpx, 7, 0x1000, 8);
	mxedv_wr_set_dc_addr(mqp, ah, 1, 1);
	mxedv_wr_set_dc_addr(mqp, ah, 0x456, 0);
	is_int(ibv_wr_complete(qpx), 0, "two requests");
	is_u64(sq_producer(qp), 2, "are posted");
	ok(is_to(qp, 0, ah, 0x123, KEY), "the first one to its target");
	ok(is_to(qp, 1, ah, 0x456, 0), "the second one to that set last");
	ok(sq_wqe(qp, 0)->num_sge == 1 && sq_wqe(qp, 1)->num_sge == 1,
	   "in any order with the data");

	ibv_wr_start(qpx);
	ibv_wr_rdma_write(qpx, 1, 2);
	mxedv_wr_set_dc_addr(mqp, ah, 1, 1);
	mxedv_wr_set_dc_addr(mqp, ah, 1, 1);
	ibv_wr_rdma_write(qpx, 1, 2);
	is_int(ibv_wr_complete(qpx), EINVAL, "no request without a target");
	ibv_wr_start(qpx);
	mxedv_wr_set_dc_addr(mqp, ah, 1, 1);
	is_int(ibv_wr_complete(qpx), EINVAL, "no target without a request");
	ibv_wr_start(qpx);
	ibv_wr_rdma_write(qpx, 1, 2);
	mxedv_wr_set_dc_addr(mqp, NULL, 1, 1);
	is_int(ibv_wr_complete(qpx), EINVAL, "no target without an address");
	ibv_wr_start(qpx);
	ibv_wr_local_inv(qpx, 1);
	is_int(ibv_wr_complete(qpx), EINVAL, "no local operation");
	ok(fake.ops->post_send(qp, &wr, &bad), "no ibv_post_send()");
	is_u64(sq_producer(qp), 2, "nothing of these is posted");
	fake.ops->destroy_ah(ah);
	destroy(qp, cq);
}

static void test_others(void)
{
	struct ibv_cq *cq = create_cq();
	struct ibv_qp *qp = ready(create_qp(cq, 0));
	struct ibv_qp_ex *qpx = to_qpx(qp);
	struct ibv_ah *ah = create_ah();

	ibv_wr_start(qpx);
	ibv_wr_rdma_write(qpx, 1, 2);
	mxedv_wr_set_dc_addr(mxedv_qp_ex_from_ibv_qp_ex(qpx), ah, 1, 1);
	is_int(ibv_wr_complete(qpx), EINVAL, "no target on RC");
	fake.ops->destroy_ah(ah);
	destroy(qp, cq);
}

/* Callers may be older or newer than the library. */
static void test_query(void)
{
	struct ibv_qp qp = { .context = fake.context, .handle = 77 };
	struct {
		struct mxedv_dct_attr attr;
		uint64_t later;
	} longer;
	struct mxedv_dct_attr attr;

	fake.dct = (struct mxe_query_dct_resp) {
		.key_violations = 1ULL << 40,
		.state = IBV_QPS_RTR,
		.num_sessions = 2,
		.num_initiators = 3,
		.armed_events = MXE_ARM_DCT_KEY_VIOLATION,
	};
	memset(&attr, 0xff, sizeof(attr));
	is_int(mxedv_query_dct(&qp, &attr, sizeof(attr)), 0, "query of a target");
	is_u64(fake.dct_handle, 77, "... by its handle");
	ok(!attr.comp_mask && attr.key_violations == 1ULL << 40 &&
	   attr.state == IBV_QPS_RTR && attr.num_sessions == 2 &&
	   attr.num_initiators == 3 &&
	   attr.armed_events == MXEDV_DCT_KEY_VIOLATION, "... its numbers");
	memset(&attr, 0xff, sizeof(attr));
	is_int(mxedv_query_dct(&qp, &attr, 16), 0, "older caller");
	ok(attr.key_violations == 1ULL << 40 && attr.num_sessions == ~0U,
	   "... gets its part");
	memset(&longer, 0xff, sizeof(longer));
	is_int(mxedv_query_dct(&qp, &longer.attr, sizeof(longer)), 0, "newer caller");
	ok(longer.attr.num_sessions == 2 && !longer.later, "... gets zeroes");
	is_int(mxedv_query_dct(&qp, &attr, 4), EINVAL, "too short");
	is_int(mxedv_query_dct(&qp, NULL, sizeof(attr)), EINVAL, "no structure");
	is_int(mxedv_query_dct(NULL, &attr, sizeof(attr)), EINVAL, "no target");

	fake.fail_dct = EINVAL;
	memset(&attr, 0xff, sizeof(attr));
	is_int(mxedv_query_dct(&qp, &attr, sizeof(attr)), EINVAL, "the kernel refuses");
	is_u64(attr.key_violations, ~0ULL, "... nothing is filled in");
	fake.fail_dct = EPROTONOSUPPORT;
	is_int(mxedv_query_dct(&qp, &attr, sizeof(attr)), EOPNOTSUPP, "older kernel: query");
	is_int(mxedv_arm_dct(&qp, MXEDV_DCT_KEY_VIOLATION), EOPNOTSUPP, "... and arming");
	fake.fail_dct = 0;

	fake.dct.armed_events = 0;
	qp.handle = 78;
	is_int(mxedv_arm_dct(&qp, MXEDV_DCT_KEY_VIOLATION), 0, "arming");
	ok(fake.dct.armed_events == MXE_ARM_DCT_KEY_VIOLATION && fake.dct_handle == 78,
	   "... of the target");
	is_int(mxedv_arm_dct(NULL, MXEDV_DCT_KEY_VIOLATION), EINVAL, "... of none");
}

static void (*const tests[])(void) = {
	open_device, test_create, test_post, test_others, test_query,
	close_device,
};

int main(void)
{
	return run_tests(tests, ARRAY_SIZE(tests));
}
