// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Tests of libmxe against the fake kernel: shared receive queues.
 */
#include "fake_kernel.h"

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
	is_int(fake.ops->post_srq_recv(srq, wr, &bad), ENOMEM, "one too many");
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
	is_int(fake.ops->post_recv(qp, &wr, &bad), EINVAL,
	       "the queue pair has no queue of its own");
	ok(bad == &wr, "... the request is bad_wr");
	is_int(fake.ops->destroy_qp(qp), 0, "destroyed");
	is_int(fake.ops->destroy_cq(cq), 0, "destroyed");
	is_int(fake.ops->destroy_srq(srq), 0, "destroyed");
	nothing_is_left();
}

static void (*const tests[])(void) = {
	open_device, test_create, test_create_errors, test_post, test_qp,
	close_device,
};

int main(void)
{
	return run_tests(tests, ARRAY_SIZE(tests));
}
