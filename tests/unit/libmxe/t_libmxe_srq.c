// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Tests of libmxe against the fake kernel: shared receive queues.
 */
#include "fake_kernel.h"
#include "srq.h"

static struct ibv_srq *create_srq(void)
{
	struct ibv_srq_init_attr attr = {
		.attr = { .max_wr = 3, .max_sge = 2 },
	};
	struct ibv_srq *srq = fake.ops->create_srq(fake.pd, &attr);

	if (srq && (attr.attr.max_wr != RQ_ENTRIES ||
		    attr.attr.max_sge != MAX_SGE))
		bail_out("the attributes were not given back");
	return srq;
}

static void test_create(void)
{
	struct ibv_srq_attr attr = { .srq_limit = 2 };
	struct ibv_srq *srq = create_srq();
	uint32_t num = 0;

	ok(srq, "created");
	is_int(fake.srqs, 1, "... in the kernel");
	is_int(fake.ops->get_srq_num(srq, &num), 0, "it has a number");
	is_u64(num, SRQ_NUM, "... the kernel's");
	is_int(fake.ops->modify_srq(srq, &attr, IBV_SRQ_LIMIT), 0, "armed");
	attr.srq_limit = 0;
	is_int(fake.ops->query_srq(srq, &attr), 0, "queried");
	is_u64(attr.srq_limit, 2, "... the limit");
	is_int(fake.ops->destroy_srq(srq), 0, "destroyed");
	is_int(fake.srqs, 0, "... in the kernel");
	nothing_is_left();
}

static void bad_entries(struct mxe_ring_info *info)
{
	info->entries = 3;
}

static void no_ring(struct mxe_ring_info *info)
{
	info->entries = 0;
}

static void test_create_errors(void)
{
	fake.fail_create_srq = ENOSPC;
	ok(!create_srq() && errno == ENOSPC, "the kernel refuses");
	fake.fail_create_srq = 0;
	fake.break_ring = bad_entries;
	ok(!create_srq() && errno == EPROTO, "an invalid response");
	fake.break_ring = no_ring;
	ok(!create_srq() && errno == EPROTO, "a response without a ring");
	fake.break_ring = NULL;
	fake.fail_mmap_nth = 1;
	ok(!create_srq() && errno, "no mapping");
	fake.fail_mmap_nth = 0;
	is_int(fake.srqs, 0, "none is left in the kernel");
	nothing_is_left();
}

static void test_post(void)
{
	struct ibv_srq *srq = create_srq();
	struct mxe_ring *ring = &to_msrq(srq)->ring;
	struct ibv_sge sge[MAX_SGE + 1] = {
		{ .addr = 0x1000, .length = 16, .lkey = 5 },
		{ .addr = 0x2000, .length = 32, .lkey = 6 },
	};
	struct ibv_recv_wr wr[RQ_ENTRIES + 1] = { 0 };
	struct mxe_recv_wqe *wqe;
	struct ibv_recv_wr *bad = NULL;
	int i;

	set_indices(ring, -2U);
	for (i = 0; i <= RQ_ENTRIES; i++)
		wr[i] = (struct ibv_recv_wr){
			.wr_id = 100 + i, .sg_list = sge, .num_sge = 2,
			.next = i < RQ_ENTRIES ? &wr[i + 1] : NULL,
		};
	errno = 0;
	is_int(fake.ops->post_srq_recv(srq, wr, &bad), ENOMEM, "one too many");
	is_int(errno, ENOMEM, "... also in errno");
	ok(bad == &wr[RQ_ENTRIES], "... is bad_wr");
	is_u64(ring->hdr->producer, -2U + RQ_ENTRIES, "the others are posted");
	is_int(bells(NULL), 0, "without a doorbell");
	wqe = mxe_ring_at(ring, -1U);
	is_u64(wqe->wr_id, 101, "a request");
	is_u64(wqe->num_sge, 2, "... its entries");
	is_u64(((struct mxe_sge *)(wqe + 1))[1].addr, 0x2000, "... the second");

	ring->hdr->consumer++;
	wr[0].next = NULL;
	wr[0].num_sge = MAX_SGE + 1;
	is_int(fake.ops->post_srq_recv(srq, wr, &bad), EINVAL,
	       "too many entries");
	wr[0].num_sge = -1;
	is_int(fake.ops->post_srq_recv(srq, wr, &bad), EINVAL, "a negative number of entries");
	wr[0].num_sge = 0;
	is_int(fake.ops->post_srq_recv(srq, wr, &bad), 0, "none");
	is_u64(ring->hdr->producer, -1U + RQ_ENTRIES, "one is posted");
	is_int(fake.ops->destroy_srq(srq), 0, "destroyed");
	nothing_is_left();
}

static void test_qp(void)
{
	struct ibv_srq *srq = create_srq();
	struct ibv_cq *cq = create_cq();
	struct ibv_qp_init_attr_ex attr = qp_attr(cq);
	struct ibv_recv_wr *bad = NULL, wr = { .wr_id = 1 };
	struct ibv_qp *qp;

	attr.srq = srq;
	attr.cap.max_recv_wr = 0;
	qp = ready(fake.ops->create_qp_ex(fake.context, &attr));
	ok(fake.qp_attr.srq == srq, "the kernel gets the SRQ");
	qp->srq = srq;
	errno = 0;
	is_int(fake.ops->post_recv(qp, &wr, &bad), EINVAL,
	       "the queue pair has no queue of its own");
	is_int(errno, EINVAL, "... also in errno");
	ok(bad == &wr, "... the request is bad_wr");
	is_int(fake.ops->destroy_qp(qp), 0, "destroyed");
	is_int(fake.ops->destroy_cq(cq), 0, "destroyed");
	is_int(fake.ops->destroy_srq(srq), 0, "destroyed");
	nothing_is_left();
}

/* ---- tag matching ------------------------------------------------------ */

static struct ibv_srq *create_tm(struct ibv_cq *cq, uint32_t ops)
{
	struct ibv_srq_init_attr_ex attr = {
		.attr = { .max_wr = 3, .max_sge = 2 },
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD |
			     IBV_SRQ_INIT_ATTR_CQ | IBV_SRQ_INIT_ATTR_TM,
		.srq_type = IBV_SRQT_TM,
		.pd = fake.pd,
		.cq = cq,
		.tm_cap = { .max_num_tags = 3, .max_ops = ops },
	};

	return fake.ops->create_srq_ex(fake.context, &attr);
}

static void test_tm_create(void)
{
	struct ibv_srq *plain = create_srq();
	struct ibv_ops_wr *bad = NULL, wr = { .opcode = IBV_WR_TAG_SYNC };
	struct ibv_cq *cq = create_cq();
	int i;

	is_int(fake.ops->post_srq_ops(plain, &wr, &bad), EINVAL,
	       "no operations on a plain SRQ");
	ok(bad == &wr, "... bad_wr");
	is_int(bells(NULL), 0, "... no doorbell");
	is_int(fake.ops->destroy_srq(plain), 0, "destroyed");
	ok(!create_tm(cq, 0) && errno == EINVAL, "no operations");
	ok(!create_tm(NULL, 1) && errno == EINVAL, "no CQ");
	for (i = 1; i <= 2; i++) {
		fake.fail_mmap_nth = i;
		ok(!create_tm(cq, 1) && errno, "ring %d cannot be mapped", i);
	}
	fake.fail_mmap_nth = 0;
	is_int(fake.srqs, 0, "none is left in the kernel");
	is_int(fake.ops->destroy_cq(cq), 0, "destroyed");
	nothing_is_left();
}

static void test_tm_post(void)
{
	struct ibv_cq *cq = create_cq();
	struct ibv_srq *srq = create_tm(cq, 1);
	struct mxe_ring *ring = &to_msrq(srq)->tm_ops;
	struct ibv_sge sge[MAX_SGE + 1] = { { .addr = 5, .length = 6, .lkey = 7 } };
	struct ibv_ops_wr *bad = NULL, wr[2] = {
		{
			.wr_id = 1, .next = &wr[1], .opcode = IBV_WR_TAG_ADD,
			.flags = IBV_OPS_SIGNALED | IBV_OPS_TM_SYNC,
			.tm = { 9, 0, { 2, sge, 1, 3, 4 } },
		},
		{ .wr_id = 8, .opcode = IBV_WR_TAG_DEL, .tm.handle = 55 },
	};
	const struct mxe_tm_wqe *wqe;
	struct mxe_doorbell db;
	int i;

	set_indices(ring, -1U);
	is_int(fake.ops->post_srq_ops(srq, wr, &bad), 0, "two operations");
	is_int(bells(&db), 1, "... one doorbell");
	ok(db.qp_num == SRQ_NUM && db.queues == MXE_DOORBELL_TM, "... of the SRQ");
	wqe = mxe_ring_at(ring, -1U);
	ok(wqe->opcode == MXE_TM_ADD && wqe->wr_id == 1 && wqe->recv_wr_id == 2 &&
	   wqe->tag == 3 && wqe->mask == 4 && wqe->num_sge == 1 &&
	   wqe->flags == (MXE_TM_OP_SIGNALED | MXE_TM_OP_SYNC) &&
	   wqe->unexpected_cnt == 9, "ADD");
	is_u64(((const struct mxe_sge *)(wqe + 1))->addr, 5, "... its entry");
	is_u64(wr[0].tm.handle, wqe->handle, "... the handle is given back");
	wqe = mxe_ring_at(ring, 0);
	ok(wqe->opcode == MXE_TM_DEL && wqe->wr_id == 8 && wqe->handle == 55 &&
	   !wqe->flags && !wqe->num_sge, "DEL");

	wr[0].next = NULL;
	wr[0].tm.add.num_sge = MAX_SGE + 1;
	is_int(fake.ops->post_srq_ops(srq, wr, &bad), EINVAL, "too many entries");
	wr[0].tm.add.num_sge = -1;
	is_int(fake.ops->post_srq_ops(srq, wr, &bad), EINVAL, "a negative number");
	wr[0].tm.add.num_sge = 0;
	wr[0].flags = 4;
	is_int(fake.ops->post_srq_ops(srq, wr, &bad), EINVAL, "an unknown flag");
	wr[0].flags = 0;
	wr[0].opcode = 3;
	is_int(fake.ops->post_srq_ops(srq, wr, &bad), EINVAL, "an unknown opcode");
	wr[0].opcode = IBV_WR_TAG_ADD;
	is_int(bells(NULL), 0, "... no doorbell");
	is_int(fake.ops->post_srq_ops(srq, wr, &bad), 0, "the second tag");
	is_int(fake.ops->post_srq_ops(srq, wr, &bad), 0, "the third");
	is_int(fake.ops->post_srq_ops(srq, wr, &bad), ENOMEM, "the list is full");
	ring->hdr->tags_freed = 1;
	is_int(fake.ops->post_srq_ops(srq, wr, &bad), 0, "until a tag is freed");
	wr[1].opcode = IBV_WR_TAG_SYNC;
	for (i = 5; i < TM_OPS; i++)
		is_int(fake.ops->post_srq_ops(srq, &wr[1], &bad), 0, "SYNC");
	is_int(fake.ops->post_srq_ops(srq, &wr[1], &bad), ENOMEM, "the ring is full");
	is_int(fake.ops->destroy_srq(srq), 0, "destroyed");
	is_int(fake.ops->destroy_cq(cq), 0, "destroyed");
	nothing_is_left();
}

/* Tags without a completion need a doorbell only if they are many. */
static void test_tm_unrung(void)
{
	struct ibv_cq *cq = create_cq();
	struct ibv_srq *srq = create_tm(cq, 1);
	struct mxe_ring *ring = &to_msrq(srq)->tm_ops;
	struct ibv_ops_wr *bad, add = { .opcode = IBV_WR_TAG_ADD };
	uint32_t i;

	set_indices(ring, 0);
	bells(NULL);		/* those of other tests */
	for (i = 1; i <= MXE_TM_MAX_UNRUNG; i++) {
		is_int(fake.ops->post_srq_ops(srq, &add, &bad), 0, "a tag");
		ring->hdr->tags_freed = i;
	}
	is_int(bells(NULL), 0, "... no doorbell");
	is_int(fake.ops->post_srq_ops(srq, &add, &bad), 0, "one more");
	is_int(bells(NULL), 1, "... a doorbell");
	mxe_store_release(&ring->hdr->consumer, i);
	is_int(fake.ops->post_srq_ops(srq, &add, &bad), 0, "a tag");
	is_int(bells(NULL), 0, "... no doorbell when the others were executed");
	add.flags = IBV_OPS_SIGNALED;
	is_int(fake.ops->post_srq_ops(srq, &add, &bad), 0, "a tag with a completion");
	is_int(bells(NULL), 1, "... a doorbell");
	is_int(fake.ops->destroy_srq(srq), 0, "destroyed");
	is_int(fake.ops->destroy_cq(cq), 0, "destroyed");
	nothing_is_left();
}

static void (*const tests[])(void) = {
	open_device, test_create, test_create_errors, test_post, test_qp,
	test_tm_create, test_tm_post, test_tm_unrung,
	close_device,
};

int main(void)
{
	return run_tests(tests, ARRAY_SIZE(tests));
}
