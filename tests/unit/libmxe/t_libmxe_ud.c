// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Tests of libmxe against the fake kernel: address handles and datagrams.
 */
#include "ah.h"
#include "fake_kernel.h"

static struct ibv_qp *create_ud(struct ibv_cq *cq)
{
	struct ibv_qp_init_attr_ex attr = qp_attr(cq);

	attr.qp_type = IBV_QPT_UD;
	attr.send_ops_flags = IBV_QP_EX_WITH_SEND |
			      IBV_QP_EX_WITH_SEND_WITH_IMM;
	return ready(fake.ops->create_qp_ex(fake.context, &attr));
}

static struct ibv_ah *create_ah(void)
{
	struct ibv_ah_attr attr = { .is_global = 1 };
	struct ibv_ah *ah = fake.ops->create_ah(fake.pd, &attr);

	if (!ah)
		bail_out("no address handle: %s", strerror(errno));
	return ah;
}

static void test_ah(void)
{
	struct ibv_ah_attr attr = { .is_global = 1 };
	struct ibv_ah *one = create_ah();
	struct ibv_ah *two = create_ah();

	is_u64(to_mah(one)->num, AH_NUM, "the kernel's number");
	is_u64(to_mah(two)->num, AH_NUM + 1, "and that of another");
	is_int(fake.ops->destroy_ah(one), 0, "destroyed");
	is_int(fake.ops->destroy_ah(two), 0, "destroyed");
	fake.fail_create_ah = ETIMEDOUT;
	ok(!fake.ops->create_ah(fake.pd, &attr) && errno == ETIMEDOUT,
	   "create_ah fails");
	fake.fail_create_ah = 0;
	is_int(fake.ahs, 0, "nothing is left");
}

static void test_create(void)
{
	static const uint64_t others[] = {
		IBV_QP_EX_WITH_RDMA_WRITE, IBV_QP_EX_WITH_RDMA_READ,
		IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD,
	};
	struct ibv_cq *cq = create_cq();
	struct ibv_qp_init_attr_ex attr = qp_attr(cq);
	size_t i;

	attr.qp_type = IBV_QPT_UD;
	for (i = 0; i < ARRAY_SIZE(others); i++) {
		attr.send_ops_flags = IBV_QP_EX_WITH_SEND | others[i];
		ok(!fake.ops->create_qp_ex(fake.context, &attr) &&
		   errno == EOPNOTSUPP, "UD has no builder %zu", i);
	}
	is_int(fake.ops->destroy_cq(cq), 0, "completion queue destroyed");
	nothing_is_left();
}

static bool is_to(const struct mxe_send_wqe *wqe, const struct ibv_ah *ah,
		  uint32_t qpn, uint32_t qkey)
{
	return wqe->ud.ah_num == to_mah((struct ibv_ah *)ah)->num &&
	       wqe->ud.remote_qpn == qpn && wqe->ud.remote_qkey == qkey &&
	       !wqe->ud.reserved1 && !wqe->ud.reserved[0] &&
	       !wqe->ud.reserved[1] && !wqe->remote_addr && !wqe->rkey;
}

static void test_post_send(void)
{
	struct ibv_cq *cq = create_cq();
	struct ibv_qp *qp = create_ud(cq);
	struct ibv_ah *one = create_ah();
	struct ibv_ah *two = create_ah();
	struct ibv_sge sge = { 0x1000, 10, 7 };
	struct ibv_send_wr wr[2] = {
		{ .wr_id = 1, .next = &wr[1], .opcode = IBV_WR_SEND,
		  .sg_list = &sge, .num_sge = 1,
		  .send_flags = IBV_SEND_SIGNALED,
		  .wr.ud = { one, 0x111, 0x80010000 } },
		{ .wr_id = 2, .opcode = IBV_WR_SEND_WITH_IMM, .imm_data = 0x99,
		  .send_flags = IBV_SEND_SOLICITED,
		  .wr.ud = { two, 0xffffff, 0x222 } },
	};
	const struct mxe_send_wqe *wqe;
	struct ibv_send_wr *bad = NULL;
	const struct mxe_sge *to;

	soil_sq(qp);
	is_int(ibv_post_send(qp, wr, &bad), 0, "two datagrams");
	is_u64(sq_producer(qp), 2, "are published");
	is_int(bells(NULL), 1, "with one doorbell");

	wqe = sq_wqe(qp, 0);
	to = (void *)(wqe + 1);
	ok(wqe->opcode == IB_UVERBS_WR_SEND && wqe->wr_id == 1 &&
	   wqe->flags == MXE_SEND_SIGNALED && wqe->num_sge == 1 &&
	   to->addr == 0x1000 && to->length == 10 && to->lkey == 7,
	   "the first's data");
	ok(is_to(wqe, one, 0x111, 0x80010000), "its destination");
	wqe = sq_wqe(qp, 1);
	ok(wqe->opcode == IB_UVERBS_WR_SEND_WITH_IMM && wqe->wr_id == 2 &&
	   wqe->flags == MXE_SEND_SOLICITED && wqe->imm_data == 0x99,
	   "the second");
	wqe = sq_wqe(qp, 1);
	ok(wqe->ud.ah_num == to_mah(two)->num &&
	   wqe->ud.remote_qpn == 0xffffff && wqe->ud.remote_qkey == 0x222,
	   "its destination");

	fake.ops->destroy_ah(one);
	fake.ops->destroy_ah(two);
	destroy(qp, cq);
}

static void test_send_errors(void)
{
	static const enum ibv_wr_opcode others[] = {
		IBV_WR_RDMA_WRITE, IBV_WR_RDMA_WRITE_WITH_IMM,
		IBV_WR_RDMA_READ, IBV_WR_ATOMIC_CMP_AND_SWP,
		IBV_WR_ATOMIC_FETCH_AND_ADD, IBV_WR_LOCAL_INV, IBV_WR_TSO,
	};
	struct ibv_cq *cq = create_cq();
	struct ibv_qp *qp = create_ud(cq);
	struct ibv_ah *ah = create_ah();
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND };
	struct ibv_send_wr *bad = NULL;
	size_t i;

	is_int(ibv_post_send(qp, &wr, &bad), EINVAL, "no address handle");
	ok(bad == &wr, "bad_wr");
	wr.wr.ud.ah = ah;
	for (i = 0; i < ARRAY_SIZE(others); i++) {
		wr.opcode = others[i];
		bad = NULL;
		is_int(ibv_post_send(qp, &wr, &bad), EINVAL, "opcode %d",
		       others[i]);
		ok(bad == &wr, "bad_wr");
	}
	is_u64(sq_producer(qp), 0, "nothing is posted");
	is_int(bells(NULL), 0, "nothing is rung");
	fake.ops->destroy_ah(ah);
	destroy(qp, cq);
}

static void test_builders(void)
{
	struct ibv_cq *cq = create_cq();
	struct ibv_qp *qp = create_ud(cq);
	struct ibv_qp_ex *qpx = to_qpx(qp);
	struct ibv_ah *ah = create_ah();
	const struct mxe_send_wqe *wqe;

	soil_sq(qp);
	ibv_wr_start(qpx);
	qpx->wr_id = 5;
	qpx->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_send(qpx);
	ibv_wr_set_ud_addr(qpx, ah, 1, 2);
	ibv_wr_set_sge(qpx, 3, 4, 5);
	ibv_wr_send_imm(qpx, 0x77);
	ibv_wr_set_inline_data(qpx, "abcd", 4);
	ibv_wr_set_ud_addr(qpx, ah, 0xabcdef, 0xffffffff);
	is_int(ibv_wr_complete(qpx), 0, "two datagrams");
	is_u64(sq_producer(qp), 2, "are published");
	is_int(bells(NULL), 1, "with one doorbell");
	wqe = sq_wqe(qp, 0);
	ok(wqe->opcode == IB_UVERBS_WR_SEND && wqe->num_sge == 1 &&
	   wqe->wr_id == 5 && is_to(wqe, ah, 1, 2), "send");
	wqe = sq_wqe(qp, 1);
	ok(wqe->opcode == IB_UVERBS_WR_SEND_WITH_IMM &&
	   wqe->imm_data == 0x77 && wqe->flags & MXE_SEND_INLINE &&
	   wqe->inline_len == 4 && wqe->ud.ah_num == to_mah(ah)->num &&
	   wqe->ud.remote_qpn == 0xabcdef && wqe->ud.remote_qkey == 0xffffffff,
	   "send_imm, the data before the address");

	ibv_wr_start(qpx);
	ibv_wr_set_ud_addr(qpx, ah, 1, 2);
	is_int(ibv_wr_complete(qpx), EINVAL, "an address without a request");
	ibv_wr_start(qpx);
	ibv_wr_send(qpx);
	ibv_wr_set_ud_addr(qpx, NULL, 1, 2);
	is_int(ibv_wr_complete(qpx), EINVAL, "no address handle");
	ibv_wr_start(qpx);
	ibv_wr_rdma_write(qpx, 1, 2);
	is_int(ibv_wr_complete(qpx), EINVAL, "a write");
	ibv_wr_start(qpx);
	mxedv_wr_masked_atomic_fetch_add(mxedv_qp_ex_from_ibv_qp_ex(qpx), 1, 2,
					 3, 4);
	is_int(ibv_wr_complete(qpx), EINVAL, "a masked atomic");
	is_u64(sq_producer(qp), 2, "nothing of these is posted");
	fake.ops->destroy_ah(ah);
	destroy(qp, cq);
}

static void (*const tests[])(void) = {
	open_device, test_ah, test_create, test_post_send, test_send_errors,
	test_builders, close_device,
};

int main(void)
{
	return run_tests(tests, ARRAY_SIZE(tests));
}
