// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Tests of libmxe against the fake kernel: each way to post to a send queue
 * writes the right work requests, or refuses them.
 */
#include <sched.h>

#include "ah.h"
#include "context.h"
#include "fake_kernel.h"

/* ---- ibv_post_send() --------------------------------------------------- */

static void test_post_send(void)
{
	struct ibv_cq *cq = create_cq();
	struct ibv_qp *qp = create_qp(cq, 0);
	struct ibv_sge sge[2] = { { 0x1000, 10, 7 }, { 0x2000, 20, 8 } };
	struct ibv_send_wr wr[7] = {
		{ .wr_id = 1, .opcode = IBV_WR_SEND, .sg_list = sge,
		  .num_sge = 2, .send_flags = IBV_SEND_SIGNALED },
		{ .wr_id = 2, .opcode = IBV_WR_SEND_WITH_IMM,
		  .imm_data = 0x01020304, .send_flags = IBV_SEND_SOLICITED },
		{ .wr_id = 3, .opcode = IBV_WR_RDMA_WRITE,
		  .wr.rdma = { 0xaaaa, 0xbb } },
		{ .wr_id = 4, .opcode = IBV_WR_RDMA_WRITE_WITH_IMM,
		  .imm_data = 5, .wr.rdma = { 0xcccc, 0xdd } },
		{ .wr_id = 5, .opcode = IBV_WR_RDMA_READ, .sg_list = sge,
		  .num_sge = 1, .wr.rdma = { 0xeeee, 0xff },
		  .send_flags = IBV_SEND_FENCE },
		{ .wr_id = 6, .opcode = IBV_WR_ATOMIC_CMP_AND_SWP,
		  .wr.atomic = { 0x10, 0x11, 0x12, 0x13 } },
		{ .wr_id = 7, .opcode = IBV_WR_ATOMIC_FETCH_AND_ADD,
		  .wr.atomic = { 0x20, 0x21, 0x22, 0x23 } },
	};
	struct ibv_send_wr *bad = NULL;
	struct mxe_doorbell db = { 0 };
	const struct mxe_sge *to;
	size_t i;

	/* The indices wrap. */
	set_indices(&to_mqp(qp)->sq, -3U);
	soil_sq(qp);
	for (i = 0; i + 1 < ARRAY_SIZE(wr); i++)
		wr[i].next = &wr[i + 1];

	is_int(ibv_post_send(qp, wr, &bad), 0, "seven requests");
	is_u64(sq_producer(qp), 4, "are published");
	is_int(bells(&db), 1, "with one doorbell");
	is_u64(db.qp_num, qp->qp_num, "for the queue pair");
	is_u64(db.queues, MXE_DOORBELL_SEND, "and its send queue");

	for (i = 0; i < ARRAY_SIZE(wr); i++) {
		const struct mxe_send_wqe *wqe = sq_wqe(qp, -3U + i);

		is_u64(wqe->wr_id, i + 1, "wr_id %zu", i + 1);
		is_int(wqe->opcode, wr[i].opcode, "opcode");
		is_int(wqe->flags, wr[i].send_flags, "flags");
		is_int(wqe->num_sge, wr[i].num_sge, "num_sge");
		is_int(wqe->inline_len, 0, "inline_len");
		is_int(wqe->log_arg_sz, 0, "log_arg_sz");
		is_u64(wqe->atomic.compare_add_mask | wqe->atomic.swap_mask, 0,
		       "no masks");
	}
	to = (void *)(sq_wqe(qp, -3U) + 1);
	ok(to[0].addr == 0x1000 && to[0].length == 10 && to[0].lkey == 7 &&
	   to[1].addr == 0x2000 && to[1].length == 20 && to[1].lkey == 8,
	   "scatter/gather list");
	is_u64(sq_wqe(qp, -2U)->imm_data, 0x01020304, "immediate data");
	is_u64(sq_wqe(qp, -2U)->rkey, 0, "a send has no key");
	is_u64(sq_wqe(qp, -1U)->remote_addr, 0xaaaa, "address of a write");
	is_u64(sq_wqe(qp, -1U)->rkey, 0xbb, "key of a write");
	is_u64(sq_wqe(qp, -1U)->imm_data, 0, "no immediate data");
	is_u64(sq_wqe(qp, 0)->imm_data, 5, "immediate data of a write");
	is_u64(sq_wqe(qp, 1)->remote_addr, 0xeeee, "address of a read");
	is_u64(sq_wqe(qp, 2)->remote_addr, 0x10, "address of an atomic");
	is_u64(sq_wqe(qp, 2)->atomic.compare_add, 0x11, "compare");
	is_u64(sq_wqe(qp, 2)->atomic.swap, 0x12, "swap");
	is_u64(sq_wqe(qp, 2)->rkey, 0x13, "key of an atomic");
	is_u64(sq_wqe(qp, 3)->atomic.compare_add, 0x21, "add");
	is_u64(sq_wqe(qp, 3)->atomic.swap, 0, "an add has no swap");
	destroy(qp, cq);
}

static void test_mask_next_atomic(void)
{
	const struct mxedv_atomic_masks masks = { 0xf0f0, 0x0f0f };
	struct ibv_cq *cq = create_cq();
	struct ibv_qp *qp = create_qp(cq, 0);
	struct ibv_send_wr wr[3] = {
		{ .wr_id = 1, .opcode = IBV_WR_SEND, .next = &wr[1] },
		{ .wr_id = 2, .opcode = IBV_WR_ATOMIC_CMP_AND_SWP,
		  .wr.atomic = { 0x10, 0x11, 0x12, 0x13 }, .next = &wr[2] },
		{ .wr_id = 3, .opcode = IBV_WR_ATOMIC_FETCH_AND_ADD,
		  .wr.atomic = { 0x20, 0x21, 0x22, 0x23 } },
	};
	struct ibv_send_wr *bad = NULL;
	const struct mxe_send_wqe *wqe;

	soil_sq(qp);
	ok(!mxedv_mask_next_atomic(&masks), "no masks from earlier");
	is_int(ibv_post_send(qp, wr, &bad), 0, "a send and two atomics");
	is_int(sq_wqe(qp, 0)->opcode, IB_UVERBS_WR_SEND, "the send is unchanged");
	wqe = sq_wqe(qp, 1);
	is_int(wqe->opcode, IB_UVERBS_WR_MASKED_ATOMIC_CMP_AND_SWP,
	       "the first atomic is masked");
	is_int(wqe->log_arg_sz, 3, "... of 8 bytes");
	is_u64(wqe->atomic.compare_add_mask, 0xf0f0, "... its compare mask");
	is_u64(wqe->atomic.swap_mask, 0x0f0f, "... its swap mask");
	ok(wqe->remote_addr == 0x10 && wqe->rkey == 0x13 &&
	   wqe->atomic.compare_add == 0x11 && wqe->atomic.swap == 0x12,
	   "... and its operands");
	is_int(sq_wqe(qp, 2)->opcode, IB_UVERBS_WR_ATOMIC_FETCH_AND_ADD,
	       "the second is not");
	is_u64(sq_wqe(qp, 2)->atomic.compare_add_mask, 0, "... and has no mask");

	ok(!mxedv_mask_next_atomic(&masks), "the masks were consumed");
	is_int(ibv_post_send(qp, &wr[2], &bad), 0, "a fetch-and-add");
	wqe = sq_wqe(qp, 3);
	is_int(wqe->opcode, IB_UVERBS_WR_MASKED_ATOMIC_FETCH_AND_ADD, "... is masked");
	is_u64(wqe->atomic.compare_add_mask, 0xf0f0, "... its boundaries");
	is_u64(wqe->atomic.swap_mask, 0, "... it has no swap mask");

	ok(!mxedv_mask_next_atomic(&masks), "the masks were consumed");
	ok(mxedv_mask_next_atomic(NULL), "NULL removes masks");
	ok(!mxedv_mask_next_atomic(NULL), "... once");
	is_int(ibv_post_send(qp, &wr[2], &bad), 0, "a fetch-and-add");
	is_int(sq_wqe(qp, 4)->opcode, IB_UVERBS_WR_ATOMIC_FETCH_AND_ADD,
	       "... is not masked");

	to_mqp(qp)->max_atomic_arg = 4;
	mxedv_mask_next_atomic(&masks);
	errno = 0;
	is_int(ibv_post_send(qp, &wr[2], &bad), EOPNOTSUPP,
	       "a queue pair of smaller operands refuses it");
	is_int(errno, EOPNOTSUPP, "... also in errno");
	ok(!mxedv_mask_next_atomic(NULL), "... and the masks are consumed");
	bells(NULL);
	destroy(qp, cq);
}

/* Masks do not outlive a post that fails before it reaches the atomic. */
static void test_mask_of_failed_post(void)
{
	const struct mxedv_atomic_masks masks = { 0xf0f0, 0x0f0f };
	struct ibv_cq *cq = create_cq();
	struct ibv_qp *qp = create_qp(cq, 0);
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD,
		.wr.atomic = { 0x20, 0x21, 0x22, 0x23 },
	};
	struct ibv_send_wr *bad = NULL;
	int i;

	for (i = 0; i < SQ_ENTRIES; i++)
		is_int(ibv_post_send(qp, &wr, &bad), 0, "a fetch-and-add");
	mxedv_mask_next_atomic(&masks);
	errno = 0;
	is_int(ibv_post_send(qp, &wr, &bad), ENOMEM, "the queue is full");
	is_int(errno, ENOMEM, "... also in errno");
	ok(!mxedv_mask_next_atomic(&masks), "... the masks are removed");
	is_int(ibv_post_send(qp, &wr, &bad), ENOMEM, "still full");
	mxe_store_release(&to_mqp(qp)->sq.hdr->consumer, 2);
	is_int(ibv_post_send(qp, &wr, &bad), 0, "one has completed");
	is_int(sq_wqe(qp, SQ_ENTRIES)->opcode, IB_UVERBS_WR_ATOMIC_FETCH_AND_ADD,
	       "... the next one is not masked");

	mxedv_mask_next_atomic(&masks);
	wr.opcode = IBV_WR_TSO;
	is_int(ibv_post_send(qp, &wr, &bad), EINVAL, "another request is refused");
	ok(!mxedv_mask_next_atomic(NULL), "... the masks are removed");
	bells(NULL);
	destroy(qp, cq);
}

static void test_send_full(void)
{
	struct ibv_cq *cq = create_cq();
	struct ibv_qp *qp = create_qp(cq, 0);
	struct ibv_send_wr wr[SQ_ENTRIES + 2] = { 0 };
	struct ibv_send_wr *bad = NULL;
	size_t i;

	set_indices(&to_mqp(qp)->sq, -2U);
	for (i = 0; i < ARRAY_SIZE(wr); i++) {
		wr[i].wr_id = i;
		wr[i].opcode = IBV_WR_SEND;
		wr[i].next = i + 1 < ARRAY_SIZE(wr) ? &wr[i + 1] : NULL;
	}
	is_int(ibv_post_send(qp, wr, &bad), ENOMEM, "more than fit");
	ok(bad == &wr[SQ_ENTRIES], "bad_wr is the first that does not");
	is_u64(sq_producer(qp), SQ_ENTRIES - 2, "the others are published");
	is_int(bells(NULL), 1, "and rung");

	is_int(ibv_post_send(qp, bad, &bad), ENOMEM, "still full");
	is_int(bells(NULL), 0, "nothing to ring for");
	mxe_store_release(&to_mqp(qp)->sq.hdr->consumer, 0);
	is_int(ibv_post_send(qp, bad, &bad), 0, "two have completed");
	is_u64(sq_producer(qp), SQ_ENTRIES, "two more are published");
	is_u64(sq_wqe(qp, -2U)->wr_id, SQ_ENTRIES, "in their places");
	is_u64(sq_wqe(qp, 0)->wr_id, 2, "the next entry is unchanged");
	destroy(qp, cq);
}

static void test_send_errors(void)
{
	struct ibv_cq *cq = create_cq();
	struct ibv_qp *qp = create_qp(cq, 0);
	char data[MAX_INLINE + 1] = "";
	struct ibv_sge sge[MAX_SGE + 1] = { { (uintptr_t)data, 0, 0 } };
	struct ibv_sge big = { (uintptr_t)data, sizeof(data), 0 };
	struct ibv_sge halves[2] = {
		{ (uintptr_t)data, MAX_INLINE / 2 + 1, 0 },
		{ (uintptr_t)data, MAX_INLINE / 2, 0 },
	};
	struct ibv_send_wr good = { .opcode = IBV_WR_SEND };
	static const enum ibv_qp_state early[] = {
		IBV_QPS_RESET, IBV_QPS_INIT, IBV_QPS_RTR,
	};
	static const enum ibv_qp_state late[] = {
		IBV_QPS_SQD, IBV_QPS_SQE, IBV_QPS_ERR,
	};
	const struct {
		const char *what;
		struct ibv_send_wr wr;
	} bad_wrs[] = {
		{ "too many SGEs", { .opcode = IBV_WR_SEND, .sg_list = sge,
				     .num_sge = MAX_SGE + 1 } },
		{ "a negative number of SGEs", { .opcode = IBV_WR_SEND,
						 .num_sge = -1 } },
		{ "too much inline data", { .opcode = IBV_WR_SEND,
					    .sg_list = &big, .num_sge = 1,
					    .send_flags = IBV_SEND_INLINE } },
		{ "too much in two parts", { .opcode = IBV_WR_SEND,
					     .sg_list = halves, .num_sge = 2,
					     .send_flags = IBV_SEND_INLINE } },
		{ "an inline read", { .opcode = IBV_WR_RDMA_READ,
				      .send_flags = IBV_SEND_INLINE } },
		{ "an inline atomic", { .opcode = IBV_WR_ATOMIC_FETCH_AND_ADD,
					.send_flags = IBV_SEND_INLINE } },
		{ "an unknown flag", { .opcode = IBV_WR_SEND,
				       .send_flags = IBV_SEND_IP_CSUM } },
		{ "TSO", { .opcode = IBV_WR_TSO } },
		{ "a masked compare-and-swap", { .opcode = 12 } },
		{ "a masked fetch-and-add", { .opcode = 13 } },
		{ "a flush", { .opcode = 14 } },
		{ "a read with invalidate", { .opcode = 11 } },
		{ "opcode 16", { .opcode = 16 } },
		{ "opcode 31", { .opcode = 31 } },
		{ "opcode 34", { .opcode = 32 + IBV_WR_SEND } },
		{ "opcode 268", { .opcode = 256 + 12 } },
		{ "the opcode -1", { .opcode = -1 } },
	};
	struct ibv_send_wr *bad;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(bad_wrs); i++) {
		struct ibv_send_wr wr = bad_wrs[i].wr;
		uint32_t before = sq_producer(qp);

		good.next = &wr;
		bad = NULL;
		is_int(ibv_post_send(qp, &good, &bad), EINVAL, "%s is refused",
		       bad_wrs[i].what);
		ok(bad == &wr, "bad_wr");
		is_u64(sq_producer(qp), before + 1, "the one before is posted");
		is_int(bells(NULL), 1, "and rung");
		mxe_store_release(&to_mqp(qp)->sq.hdr->consumer, before + 1);
	}

	good.next = NULL;
	for (i = 0; i < ARRAY_SIZE(early); i++) {
		qp->state = early[i];
		is_int(ibv_post_send(qp, &good, &bad), EINVAL, "state %d",
		       early[i]);
	}
	is_int(bells(NULL), 0, "nothing was rung");
	for (i = 0; i < ARRAY_SIZE(late); i++) {
		qp->state = late[i];
		is_int(ibv_post_send(qp, &good, &bad), 0, "state %d", late[i]);
	}
	is_int(bells(NULL), 3, "rung each time");
	destroy(qp, cq);
}

/* ---- opcodes ----------------------------------------------------------- */

#define OPCODE(name) (1U << IBV_WR_##name)
#define SENDS (OPCODE(SEND) | OPCODE(SEND_WITH_IMM))
#define WRITES (OPCODE(RDMA_WRITE) | OPCODE(RDMA_WRITE_WITH_IMM))
#define RELIABLE							\
	(SENDS | WRITES | OPCODE(RDMA_READ) | OPCODE(ATOMIC_CMP_AND_SWP) | \
	 OPCODE(ATOMIC_FETCH_AND_ADD) | OPCODE(LOCAL_INV) |		\
	 OPCODE(BIND_MW) | OPCODE(SEND_WITH_INV))
#define ATOMIC_WRITE_OPCODE (1U << 15)

/* Builders and opcodes have the same numbers up to here. */
#define LAST_SAME IBV_WR_TSO

static uint32_t accepted_opcodes(struct ibv_qp *qp)
{
	uint32_t data[2] = { 0 };
	struct ibv_sge sge = { (uintptr_t)data, sizeof(data), 7 };
	struct ibv_mw mw = { .type = IBV_MW_TYPE_2 };
	struct mxe_ah ah = { .num = AH_NUM };
	uint32_t accepted = 0;
	unsigned int opcode;

	for (opcode = 0; opcode < 32; opcode++) {
		struct ibv_send_wr *bad, wr = {
			.opcode = opcode, .sg_list = &sge, .num_sge = 1,
			.wr.ud.ah = &ah.ibah, .bind_mw.mw = &mw,
		};

		set_indices(&to_mqp(qp)->sq, 0);
		if (!ibv_post_send(qp, &wr, &bad))
			accepted |= 1U << opcode;
	}
	return accepted;
}

static uint64_t accepted_builders(struct ibv_qp_init_attr_ex attr)
{
	uint64_t accepted = 0;
	unsigned int n;

	for (n = 0; n <= LAST_SAME; n++) {
		struct ibv_qp *qp;

		attr.send_ops_flags = 1U << n;
		qp = fake.ops->create_qp_ex(fake.context, &attr);
		if (!qp)
			continue;
		accepted |= 1U << n;
		fake.ops->destroy_qp(qp);
	}
	return accepted;
}

/* Each type of queue pair takes the opcodes of its transport. */
static void test_transports(void)
{
	static const struct {
		const char *name;
		enum ibv_qp_type type;
		uint32_t opcodes;
	} types[] = {
		{ "RC", IBV_QPT_RC, RELIABLE | ATOMIC_WRITE_OPCODE },
		{ "XRC", IBV_QPT_XRC_SEND, RELIABLE | ATOMIC_WRITE_OPCODE },
		{ "UC", IBV_QPT_UC, SENDS | WRITES },
		{ "UD", IBV_QPT_UD, SENDS },
	};
	struct ibv_cq *cq = create_cq();
	size_t i;

	for (i = 0; i < ARRAY_SIZE(types); i++) {
		struct ibv_qp_init_attr_ex attr = qp_attr(cq);
		struct ibv_qp *qp;

		attr.qp_type = types[i].type;
		is_u64(accepted_builders(attr),
		       types[i].opcodes & ~ATOMIC_WRITE_OPCODE,
		       "%s: builders", types[i].name);
		qp = ready(fake.ops->create_qp_ex(fake.context, &attr));
		is_u64(accepted_opcodes(qp), types[i].opcodes,
		       "%s: ibv_post_send()", types[i].name);
		bells(NULL);
		is_int(fake.ops->destroy_qp(qp), 0, "queue pair destroyed");
	}
	is_int(fake.ops->destroy_cq(cq), 0, "completion queue destroyed");
	nothing_is_left();
}

static void test_inline(void)
{
	struct ibv_cq *cq = create_cq();
	struct ibv_qp *qp = create_qp(cq, 0);
	struct ibv_qp_ex *qpx = to_qpx(qp);
	char text[] = "0123456789abcdefghijklmnopqrstuvwxyzABCD";
	struct ibv_sge sge[2] = {
		{ (uintptr_t)text, 10, 0 },
		{ (uintptr_t)text + 10, MAX_INLINE - 10, 0 },
	};
	struct ibv_data_buf buf[2] = { { text, 10 }, { text + 10, 5 } };
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_RDMA_WRITE, .sg_list = sge, .num_sge = 2,
		.send_flags = IBV_SEND_INLINE | IBV_SEND_SIGNALED,
	};
	struct ibv_send_wr *bad;
	struct mxe_send_wqe *wqe = sq_wqe(qp, 0);

	is_int(ibv_post_send(qp, &wr, &bad), 0, "as much as fits");
	is_int(wqe->num_sge, 0, "no SGEs");
	is_int(wqe->inline_len, MAX_INLINE, "length");
	is_int(wqe->flags, MXE_SEND_INLINE | MXE_SEND_SIGNALED, "flags");
	is_mem(wqe + 1, text, MAX_INLINE, "data");

	ibv_wr_start(qpx);
	qpx->wr_flags = 0;
	ibv_wr_send(qpx);
	ibv_wr_set_inline_data_list(qpx, 2, buf);
	ibv_wr_rdma_write(qpx, 1, 2);
	ibv_wr_set_sge(qpx, 1, 2, 3);
	ibv_wr_set_inline_data(qpx, text, MAX_INLINE);
	ibv_wr_set_inline_data(qpx, text + 1, 3);
	ibv_wr_send(qpx);
	ibv_wr_set_inline_data(qpx, text, 3);
	ibv_wr_set_sge(qpx, 1, 2, 3);
	is_int(ibv_wr_complete(qpx), 0, "builders");
	wqe = sq_wqe(qp, 1);
	ok(wqe->inline_len == 15 && wqe->flags == MXE_SEND_INLINE, "list");
	is_mem(wqe + 1, text, 15, "data");
	wqe = sq_wqe(qp, 2);
	ok(wqe->inline_len == 3 && !wqe->num_sge, "data after an SGE and other data");
	is_mem(wqe + 1, text + 1, 3, "data");
	wqe = sq_wqe(qp, 3);
	ok(!wqe->inline_len && wqe->num_sge == 1 && !wqe->flags,
	   "an SGE after data");
	destroy(qp, cq);
}

/* ---- builders ---------------------------------------------------------- */

static void test_builders(void)
{
	struct ibv_cq *cq = create_cq();
	struct ibv_qp *qp = create_qp(cq, 0);
	struct ibv_qp_ex *qpx = to_qpx(qp);
	struct mxedv_qp_ex *mqp = mxedv_qp_ex_from_ibv_qp_ex(qpx);
	const struct mxe_send_wqe *wqe;
	const struct mxe_sge *sge;
	struct mxe_doorbell db = { 0 };

	ok(ibv_qp_to_qp_ex(qp) == to_qpx(qp), "the queue pair has builders");
	ok(mqp, "and those of mxedv");

	set_indices(&to_mqp(qp)->sq, -1U);
	soil_sq(qp);
	ibv_wr_start(qpx);
	qpx->wr_id = 100;
	qpx->wr_flags = IBV_SEND_SIGNALED | IBV_SEND_FENCE;
	ibv_wr_send_imm(qpx, 0x99);
	qpx->wr_id = 101;
	qpx->wr_flags = 0;
	ibv_wr_rdma_write_imm(qpx, 0x1, 0x2, 0x3);
	ibv_wr_rdma_read(qpx, 0x4, 0x5);
	ibv_wr_set_sge(qpx, 0x6, 0x7, 0x8);
	ibv_wr_atomic_cmp_swp(qpx, 0x9, 0xa, 0xb, 0xc);
	ibv_wr_atomic_fetch_add(qpx, 0xd, 0xe, 0xf);
	mxedv_wr_masked_atomic_cmp_swp(mqp, 0x10, 0x11, 0x12, 0x13, 0x14, 0x15);
	ibv_wr_set_sge(qpx, 0x16, 0x17, 8);
	mxedv_wr_masked_atomic_fetch_add(mqp, 0x18, 0x19, 0x1a, 0x1b);
	is_u64(sq_producer(qp), -1U, "nothing is published before complete");
	is_int(bells(NULL), 0, "or rung");
	is_int(ibv_wr_complete(qpx), 0, "complete");
	is_u64(sq_producer(qp), 6, "seven requests are published");
	is_int(bells(&db), 1, "with one doorbell");
	is_u64(db.queues, MXE_DOORBELL_SEND, "of the send queue");

	wqe = sq_wqe(qp, -1U);
	ok(wqe->opcode == IB_UVERBS_WR_SEND_WITH_IMM && wqe->wr_id == 100 &&
	   wqe->flags == (MXE_SEND_SIGNALED | MXE_SEND_FENCE) &&
	   wqe->imm_data == 0x99 && !wqe->num_sge && !wqe->rkey,
	   "send_imm");
	wqe = sq_wqe(qp, 0);
	ok(wqe->opcode == IB_UVERBS_WR_RDMA_WRITE_WITH_IMM &&
	   wqe->wr_id == 101 && !wqe->flags && wqe->rkey == 1 &&
	   wqe->remote_addr == 2 && wqe->imm_data == 3, "rdma_write_imm");
	wqe = sq_wqe(qp, 1);
	sge = (void *)(wqe + 1);
	ok(wqe->opcode == IB_UVERBS_WR_RDMA_READ && wqe->rkey == 4 &&
	   wqe->remote_addr == 5 && wqe->num_sge == 1 && sge->lkey == 6 &&
	   sge->addr == 7 && sge->length == 8, "rdma_read");
	wqe = sq_wqe(qp, 2);
	ok(wqe->opcode == IB_UVERBS_WR_ATOMIC_CMP_AND_SWP && wqe->rkey == 9 &&
	   wqe->remote_addr == 0xa && wqe->atomic.compare_add == 0xb &&
	   wqe->atomic.swap == 0xc && !wqe->atomic.compare_add_mask &&
	   !wqe->atomic.swap_mask && !wqe->log_arg_sz, "atomic_cmp_swp");
	wqe = sq_wqe(qp, 3);
	ok(wqe->opcode == IB_UVERBS_WR_ATOMIC_FETCH_AND_ADD &&
	   wqe->rkey == 0xd && wqe->remote_addr == 0xe &&
	   wqe->atomic.compare_add == 0xf && !wqe->atomic.swap,
	   "atomic_fetch_add");
	wqe = sq_wqe(qp, 4);
	sge = (void *)(wqe + 1);
	ok(wqe->opcode == IB_UVERBS_WR_MASKED_ATOMIC_CMP_AND_SWP &&
	   !wqe->flags && wqe->log_arg_sz == 3 && wqe->rkey == 0x10 &&
	   wqe->remote_addr == 0x11 && wqe->atomic.compare_add == 0x12 &&
	   wqe->atomic.compare_add_mask == 0x13 && wqe->atomic.swap == 0x14 &&
	   wqe->atomic.swap_mask == 0x15 && wqe->num_sge == 1 &&
	   sge->lkey == 0x16 && sge->addr == 0x17 && sge->length == 8,
	   "masked_atomic_cmp_swp");
	wqe = sq_wqe(qp, 5);
	ok(wqe->opcode == IB_UVERBS_WR_MASKED_ATOMIC_FETCH_AND_ADD &&
	   !wqe->flags && wqe->log_arg_sz == 3 && wqe->rkey == 0x18 &&
	   wqe->remote_addr == 0x19 && wqe->atomic.compare_add == 0x1a &&
	   wqe->atomic.compare_add_mask == 0x1b && !wqe->atomic.swap &&
	   !wqe->atomic.swap_mask && !wqe->num_sge,
	   "masked_atomic_fetch_add");
	destroy(qp, cq);
}

/* ---- memory windows ---------------------------------------------------- */

enum { INDEX_A = 0x123400, INDEX_B = 0x567800 };

/*
 * Of the new rkey only the lower 8 bits count. Those of another window must not
 * open that window.
 */
static void test_bind(void)
{
	struct ibv_mw mw = { .type = IBV_MW_TYPE_2, .rkey = INDEX_A | 0x11 };
	struct ibv_mw type_1 = { .type = IBV_MW_TYPE_1, .rkey = INDEX_B | 0xff };
	struct ibv_cq *cq = create_cq();
	struct ibv_qp *qp = create_qp(cq, 0);
	struct ibv_qp_ex *qpx = to_qpx(qp);
	struct ibv_mr mr = { .lkey = 0x99 };
	struct ibv_mw_bind bind = {
		.bind_info = { .mr = &mr, .addr = 0x1000, .length = 8 },
	};
	struct ibv_send_wr *bad, wr = {
		.opcode = IBV_WR_BIND_MW,
		.bind_mw = { &mw, INDEX_B | 0x22, bind.bind_info },
	};
	int i;

	is_int(ibv_post_send(qp, &wr, &bad), 0, "a bind with the index of another window");
	is_u64(sq_wqe(qp, 0)->rkey, INDEX_A | 0x22, "... is for its own");
	is_u64(mw.rkey, INDEX_A | 0x22, "... which has the new key");
	is_u64(sq_wqe(qp, 0)->bind.mr_lkey, 0x99, "... and names the region");

	ibv_wr_start(qpx);
	ibv_wr_bind_mw(qpx, &mw, 0x33, &bind.bind_info);
	is_int(ibv_wr_complete(qpx), 0, "with a builder");
	is_u64(sq_wqe(qp, 1)->rkey, INDEX_A | 0x33, "... is for its own");
	is_u64(mw.rkey, INDEX_A | 0x33, "... which has the new key");

	is_int(fake.ops->bind_mw(qp, &type_1, &bind), 0, "ibv_bind_mw()");
	is_u64(sq_wqe(qp, 2)->rkey, INDEX_B, "... increments the key");
	is_u64(type_1.rkey, INDEX_B, "... and returns it");

	wr.send_flags = IBV_SEND_INLINE;
	is_int(ibv_post_send(qp, &wr, &bad), EINVAL, "an inline bind");
	is_u64(mw.rkey, INDEX_A | 0x33, "... leaves the key");
	wr.send_flags = 0;
	for (i = 3; i < SQ_ENTRIES; i++)
		is_int(fake.ops->bind_mw(qp, &type_1, &bind), 0, "bound again");
	is_int(ibv_post_send(qp, &wr, &bad), ENOMEM, "a bind that does not fit");
	is_u64(mw.rkey, INDEX_A | 0x33, "... leaves the key");
	is_int(fake.ops->bind_mw(qp, &type_1, &bind), ENOMEM, "nor does ibv_bind_mw()");
	is_u64(type_1.rkey, INDEX_B + SQ_ENTRIES - 3, "... leaves the key");
	bells(NULL);
	destroy(qp, cq);
}

/* An operand of up to 8 bytes, in host byte order. */
static uint64_t number(const void *bytes, uint32_t log)
{
	uint16_t half;
	uint32_t word;
	uint64_t value;

	switch (log) {
	case 0:
		return *(const uint8_t *)bytes;
	case 1:
		memcpy(&half, bytes, sizeof(half));
		return half;
	case 2:
		memcpy(&word, bytes, sizeof(word));
		return word;
	default:
		memcpy(&value, bytes, sizeof(value));
		return value;
	}
}

/* Operands of up to 8 bytes are in the WQE, wider ones follow it. */
static void test_sizes(void)
{
	static const uint64_t op[4][4] = {
		{ 0xf000000001, 2, 3, 4 }, { 0xf000000005, 6, 7, 8 },
		{ 0xf000000009, 10, 11, 12 }, { 0xf00000000d, 14, 15, 16 },
	};
	static const uint64_t none[4];
	const struct mxe_send_wqe *wqe;
	struct ibv_cq *cq = create_cq();
	struct ibv_qp_ex *qpx;
	struct ibv_qp *qp;
	uint32_t log;

	to_mctx(fake.context)->caps.log_arg_sizes = SIZES;
	qp = create_qp_arg(cq, 0, 32);
	is_int(fake.qp_req.max_atomic_arg, 32, "32 bytes are requested");
	qpx = to_qpx(qp);
	set_indices(&to_mqp(qp)->sq, 0);
	soil_sq(qp);
	for (log = 0; log <= 5; log++) {
		const struct mxe_sge *sge;
		uint64_t head[4] = { 0 };

		ibv_wr_start(qpx);
		qpx->wr_id = log;
		mxedv_wr_ext_masked_atomic_cmp_swp(&to_mqp(qp)->dv, 1, 2, log,
						   op[0], op[2], op[1], op[3]);
		ibv_wr_set_sge(qpx, 6, 7, 1U << log);
		mxedv_wr_ext_masked_atomic_fetch_add(&to_mqp(qp)->dv, 1, 2, log,
						     op[0], op[2]);
		ibv_wr_set_sge(qpx, 6, 7, 1U << log);
		is_int(ibv_wr_complete(qpx), 0, "%u bytes", 1U << log);

		wqe = sq_wqe(qp, 2 * log);
		for (int i = 0; i < 4 && log <= 3; i++)
			head[i] = number(op[i], log);
		ok(wqe->log_arg_sz == log &&
		   !memcmp(&wqe->atomic, head, sizeof(head)), "in the request");
		for (int i = 0; i < 4 && log > 3; i++)
			ok(!memcmp((char *)(wqe + 1) + (i << log), op[i],
				   1U << log), "operand %d after it", i);
		sge = (void *)((char *)(wqe + 1) + (log > 3 ? 4 << log : 0));
		ok(wqe->num_sge == 1 && sge->lkey == 6 && sge->addr == 7 &&
		   sge->length == 1U << log, "scatter list");

		wqe = sq_wqe(qp, 2 * log + 1);
		head[1] = head[3] = 0;
		ok(wqe->log_arg_sz == log &&
		   !memcmp(&wqe->atomic, head, sizeof(head)), "an addition");
		if (log > 3)
			ok(!memcmp(wqe + 1, op[0], 1U << log) &&
			   !memcmp((char *)(wqe + 1) + (1 << log), none,
				   1U << log) &&
			   !memcmp((char *)(wqe + 1) + (2 << log), op[2],
				   1U << log) &&
			   !memcmp((char *)(wqe + 1) + (3 << log), none,
				   1U << log), "its operands");
		mxe_store_release(&to_mqp(qp)->sq.hdr->consumer,
				  sq_producer(qp));
	}
	bells(NULL);
	destroy(qp, cq);

	/* Operands wider than requested, and sizes that do not exist. */
	cq = create_cq();
	qp = create_qp_arg(cq, 0, 16);
	qpx = to_qpx(qp);
	for (log = 0; log < 70; log++) {
		if (log <= 4)
			continue;
		ibv_wr_start(qpx);
		mxedv_wr_ext_masked_atomic_fetch_add(&to_mqp(qp)->dv, 1, 2, log,
						     op[0], op[2]);
		if (ibv_wr_complete(qpx) != EINVAL)
			break;
	}
	is_int((int)log, 70, "other sizes are refused");
	destroy(qp, cq);

	/* A kernel without the smallest sizes. */
	to_mctx(fake.context)->caps.log_arg_sizes = SIZES & ~3;
	cq = create_cq();
	qp = create_qp_arg(cq, 0, 32);
	qpx = to_qpx(qp);
	set_indices(&to_mqp(qp)->sq, 0);
	for (log = 0; log < 3; log++) {
		ibv_wr_start(qpx);
		mxedv_wr_ext_masked_atomic_fetch_add(&to_mqp(qp)->dv, 1, 2, log,
						     op[0], op[2]);
		ibv_wr_set_sge(qpx, 6, 7, 1U << log);
		is_int(ibv_wr_complete(qpx), log == 2 ? 0 : EOPNOTSUPP,
		       "%u bytes on an old kernel", 1U << log);
	}
	bells(NULL);
	to_mctx(fake.context)->caps.log_arg_sizes = 1 << 3;
	destroy(qp, cq);
}

static void test_builder_errors(void)
{
	struct ibv_cq *cq = create_cq();
	struct ibv_qp *qp = create_qp(cq, 0);
	struct ibv_qp_ex *qpx = to_qpx(qp);
	struct ibv_sge sges[MAX_SGE + 1] = { { 0 } };
	char data[MAX_INLINE + 1] = "";
	int i;

	ibv_wr_start(qpx);
	is_int(ibv_wr_complete(qpx), 0, "an empty batch");

	ibv_wr_start(qpx);
	ibv_wr_send(qpx);
	ibv_wr_abort(qpx);

	ibv_wr_start(qpx);
	ibv_wr_send(qpx);
	ibv_wr_send(qpx);
	ibv_wr_set_sge_list(qpx, MAX_SGE + 1, sges);
	ibv_wr_send(qpx);
	ibv_wr_set_sge(qpx, 1, 2, 3);
	is_int(ibv_wr_complete(qpx), EINVAL, "too many SGEs");

	ibv_wr_start(qpx);
	ibv_wr_send(qpx);
	ibv_wr_set_inline_data(qpx, data, sizeof(data));
	is_int(ibv_wr_complete(qpx), EINVAL, "too much inline data");

	ibv_wr_start(qpx);
	ibv_wr_rdma_read(qpx, 1, 2);
	ibv_wr_set_inline_data(qpx, data, 1);
	is_int(ibv_wr_complete(qpx), EINVAL, "an inline read");

	ibv_wr_start(qpx);
	ibv_wr_set_sge(qpx, 1, 2, 3);
	is_int(ibv_wr_complete(qpx), EINVAL, "a setter without a request");

	ibv_wr_start(qpx);
	qpx->wr_flags = IBV_SEND_IP_CSUM;
	ibv_wr_send(qpx);
	qpx->wr_flags = 0;
	is_int(ibv_wr_complete(qpx), EINVAL, "an unknown flag");

	ibv_wr_start(qpx);
	for (i = 0; i < SQ_ENTRIES + 1; i++)
		ibv_wr_send(qpx);
	ibv_wr_set_sge(qpx, 1, 2, 3);
	is_int(ibv_wr_complete(qpx), ENOMEM, "more than fit");

	qp->state = IBV_QPS_RTR;
	ibv_wr_start(qpx);
	ibv_wr_send(qpx);
	is_int(ibv_wr_complete(qpx), EINVAL, "RTR");
	qp->state = IBV_QPS_RTS;

	is_u64(sq_producer(qp), 0, "none of these published anything");
	is_int(bells(NULL), 0, "or rang");

	ibv_wr_start(qpx);
	for (i = 0; i < SQ_ENTRIES; i++)
		ibv_wr_send(qpx);
	is_int(ibv_wr_complete(qpx), 0, "as many as fit");
	is_u64(sq_producer(qp), SQ_ENTRIES, "are published");
	destroy(qp, cq);
}

/* With atomic_reply=be, only QPs with the flag execute atomics. */
static void test_be_only(void)
{
	struct ibv_cq *cq = create_cq();
	struct ibv_qp *qp;
	struct ibv_qp_ex *qpx;
	struct ibv_send_wr wr = { .opcode = IBV_WR_ATOMIC_FETCH_AND_ADD };
	struct ibv_send_wr *bad = NULL;

	to_mctx(fake.context)->caps.reply_modes = MXE_ATOMIC_REPLY_BE;
	qp = create_qp(cq, 0);
	qpx = to_qpx(qp);

	is_int(ibv_post_send(qp, &wr, &bad), EINVAL, "fetch-and-add");
	ok(bad == &wr, "bad_wr");
	wr.opcode = IBV_WR_ATOMIC_CMP_AND_SWP;
	is_int(ibv_post_send(qp, &wr, &bad), EINVAL, "compare-and-swap");
	ibv_wr_start(qpx);
	ibv_wr_send(qpx);
	ibv_wr_atomic_fetch_add(qpx, 1, 2, 3);
	is_int(ibv_wr_complete(qpx), EINVAL, "builder");
	ibv_wr_start(qpx);
	mxedv_wr_masked_atomic_fetch_add(mxedv_qp_ex_from_ibv_qp_ex(qpx), 1, 2,
					 3, 4);
	ibv_wr_set_sge(qpx, 1, 2, 3);
	is_int(ibv_wr_complete(qpx), EINVAL, "masked builder");
	is_u64(sq_producer(qp), 0, "nothing is posted");
	wr.opcode = IBV_WR_RDMA_READ;
	is_int(ibv_post_send(qp, &wr, &bad), 0, "a read is posted");
	is_int(fake.ops->destroy_qp(qp), 0, "destroyed");

	qp = create_qp(cq, MXEDV_QP_CREATE_ATOMIC_BE_REPLY);
	wr.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD;
	is_int(ibv_post_send(qp, &wr, &bad), 0, "with the flag it is posted");
	to_mctx(fake.context)->caps.reply_modes = fake.caps.reply_modes;
	destroy(qp, cq);
}

static void test_exp_opcode(void)
{
	struct ibv_cq *cq = create_cq();
	struct ibv_qp *qp = create_qp(cq, MXEDV_QP_CREATE_EXP_WC_OPCODE);
	struct ibv_qp_ex *qpx = to_qpx(qp);
	struct mxedv_qp_ex *mqp = mxedv_qp_ex_from_ibv_qp_ex(qpx);

	ibv_wr_start(qpx);
	mxedv_wr_masked_atomic_cmp_swp(mqp, 1, 2, 3, 4, 5, 6);
	mxedv_wr_masked_atomic_fetch_add(mqp, 1, 2, 3, 4);
	ibv_wr_atomic_fetch_add(qpx, 1, 2, 3);
	is_int(ibv_wr_complete(qpx), 0, "complete");
	is_int(sq_wqe(qp, 0)->flags, MXE_SEND_USER, "compare-and-swap");
	is_int(sq_wqe(qp, 1)->flags, MXE_SEND_USER, "fetch-and-add");
	is_int(sq_wqe(qp, 2)->flags, 0, "a standard atomic");
	destroy(qp, cq);
}

static uint32_t ece_of(struct ibv_qp *qp)
{
	struct ibv_ece ece = { .comp_mask = 5 };

	is_int(fake.ops->query_ece(qp, &ece), 0, "query_ece");
	is_u64(ece.vendor_id, MXE_VENDOR_ID, "... the vendor");
	is_u64(ece.comp_mask, 0, "... nothing beyond");
	return ece.options;
}

static int set_ece(struct ibv_qp *qp, uint32_t options, uint32_t accepted)
{
	struct ibv_ece ece = {
		.vendor_id = MXE_VENDOR_ID, .options = options,
	};
	int ret = fake.ops->set_ece(qp, &ece);

	is_u64(ece.options, accepted, "... accepts");
	return ret;
}

/*
 * Posts with one of the four builders, with masks or, if plain, as a standard
 * atomic.
 */
static int post_masked(struct ibv_qp *qp, int builder, uint32_t log, bool plain)
{
	struct mxedv_qp_ex *mqp = &to_mqp(qp)->dv;
	const uint64_t mask[4] = { plain ? ~0ULL : 0xff00 };
	const uint64_t boundary[4] = { plain ? 1ULL << 63 : 0x8000 };

	ibv_wr_start(to_qpx(qp));
	if (builder == 0)
		mxedv_wr_masked_atomic_cmp_swp(mqp, 1, 2, 3, mask[0], 4,
					       mask[0]);
	else if (builder == 1)
		mxedv_wr_masked_atomic_fetch_add(mqp, 1, 2, 3, boundary[0]);
	else if (builder == 2)
		mxedv_wr_ext_masked_atomic_cmp_swp(mqp, 1, 2, log, boundary,
						   mask, boundary, mask);
	else
		mxedv_wr_ext_masked_atomic_fetch_add(mqp, 1, 2, log, mask,
						     boundary);
	ibv_wr_set_sge(to_qpx(qp), 1, 2, 32);
	return ibv_wr_complete(to_qpx(qp));
}

/* A request that the peer cannot execute is not posted. */
static void test_ece(void)
{
	struct ibv_cq *cq = create_cq();
	struct ibv_qp *qp = create_qp(cq, 0);
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RESET };
	struct ibv_ece bad = { .vendor_id = MXE_VENDOR_ID, .comp_mask = 1 };
	int builder;

	is_u64(ece_of(qp), MXEDV_ECE_MASKED_ATOMIC_8, "masked atomics of 8 bytes are offered");
	for (builder = 0; builder < 4; builder++)
		is_int(post_masked(qp, builder, 3, false), 0,
		       "%d: posted without ECE of the peer", builder);

	is_int(fake.ops->set_ece(qp, &bad), EINVAL, "a newer structure");
	bad = (struct ibv_ece){ .vendor_id = 0x15b3 };
	is_int(fake.ops->set_ece(qp, &bad), EINVAL, "another vendor");
	is_u64(ece_of(qp), MXEDV_ECE_MASKED_ATOMIC_8, "change nothing");

	is_int(set_ece(qp, ~0U & ~MXEDV_ECE_MASKED_ATOMIC_8, 0), 0,
	       "a peer with other sizes only");
	is_u64(ece_of(qp), 0, "nothing in common");
	set_indices(&to_mqp(qp)->sq, 0);
	for (builder = 0; builder < 4; builder++) {
		is_int(post_masked(qp, builder, 3, false), EOPNOTSUPP,
		       "%d: refused", builder);
		is_u64(sq_producer(qp), builder, "%d: not posted", builder);
		is_int(post_masked(qp, builder, 3, true), 0,
		       "%d: a standard request is posted", builder);
	}
	is_int(set_ece(qp, ~0U, MXEDV_ECE_MASKED_ATOMIC_8), 0, "a peer with all");
	is_int(post_masked(qp, 0, 3, false), 0, "posted");

	is_int(set_ece(qp, 0, 0), 0, "a peer with none");
	is_int(fake.ops->modify_qp(qp, &attr, IBV_QP_STATE), 0, "RESET");
	qp->state = IBV_QPS_RTS;
	is_u64(ece_of(qp), MXEDV_ECE_MASKED_ATOMIC_8, "... forgets it");
	is_int(post_masked(qp, 1, 3, false), 0, "... posted");
	bells(NULL);
	destroy(qp, cq);
}

/* The peer supports one size. */
static void test_ece_sizes(void)
{
	struct ibv_cq *cq = create_cq();
	struct ibv_qp *qp;
	uint32_t log, peer;

	to_mctx(fake.context)->caps.log_arg_sizes = SIZES;
	qp = create_qp_arg(cq, 0, 32);
	is_u64(ece_of(qp), SIZES, "all sizes are offered");
	for (peer = 0; peer <= 5; peer++) {
		is_int(set_ece(qp, 1 << peer, 1 << peer), 0, "2^%u only", peer);
		for (log = 0; log <= 5; log++) {
			set_indices(&to_mqp(qp)->sq, 0);
			is_int(post_masked(qp, 2, log, false),
			       log == peer ? 0 : EOPNOTSUPP, "2^%u: cas", log);
			is_int(post_masked(qp, 3, log, true),
			       log == peer || log == 3 ? 0 : EOPNOTSUPP,
			       "2^%u: fadd of one field", log);
		}
	}
	to_mctx(fake.context)->caps.log_arg_sizes = fake.caps.log_arg_sizes;
	bells(NULL);
	destroy(qp, cq);
}

static void test_doorbell_errors(void)
{
	struct ibv_cq *cq = create_cq();
	struct ibv_qp *qp = create_qp(cq, 0);
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND };
	struct ibv_send_wr *bad;

	fake.write_errno = EINTR;
	fake.write_failures = 3;
	is_int(ibv_post_send(qp, &wr, &bad), 0, "interrupted");
	is_int(bells(NULL), 1, "rung in the end");

	fake.write_errno = EIO;
	fake.write_failures = 1;
	errno = 0;
	is_int(ibv_post_send(qp, &wr, &bad), 0, "the device is gone");
	is_u64(sq_producer(qp), 2, "both are published");
	destroy(qp, cq);
}

/* ---- threads ----------------------------------------------------------- */

enum { POSTERS = 2, POSTS = 20000 };

static void *poster(void *arg)
{
	static int next;
	uint64_t me = __atomic_fetch_add(&next, 1, __ATOMIC_RELAXED);
	struct ibv_qp *qp = arg;
	struct ibv_send_wr *bad;
	uint32_t n;

	for (n = 0; n < POSTS;) {
		struct ibv_send_wr wr = {
			.wr_id = me << 32 | n,
			.opcode = IBV_WR_RDMA_WRITE,
			.wr.rdma.remote_addr = ~(me << 32 | n),
		};

		if (ibv_post_send(qp, &wr, &bad))
			sched_yield();
		else
			n++;
	}
	return NULL;
}

/* The kernel takes requests while two threads post; none is lost or torn. */
static void test_threads(void)
{
	struct ibv_cq *cq = create_cq();
	struct ibv_qp *qp = create_qp(cq, 0);
	struct mxe_ring_hdr *hdr = to_mqp(qp)->sq.hdr;
	uint32_t next[POSTERS] = { 0 };
	pthread_t threads[POSTERS];
	uint32_t index = 0;
	int torn = 0, lost = 0;
	int i;

	for (i = 0; i < POSTERS; i++)
		pthread_create(&threads[i], NULL, poster, qp);
	while (index != POSTERS * POSTS) {
		struct mxe_send_wqe wqe;

		bells(NULL);
		if (mxe_load_acquire(&hdr->producer) == index) {
			sched_yield();
			continue;
		}
		wqe = *sq_wqe(qp, index);
		mxe_store_release(&hdr->consumer, ++index);
		if (wqe.remote_addr != ~wqe.wr_id || wqe.wr_id >> 32 >= POSTERS)
			torn++;
		else if (next[wqe.wr_id >> 32]++ != (uint32_t)wqe.wr_id)
			lost++;
	}
	for (i = 0; i < POSTERS; i++)
		pthread_join(threads[i], NULL);
	is_int(torn, 0, "no request is torn");
	is_int(lost, 0, "none is lost or out of order");
	bells(NULL);
	destroy(qp, cq);
}

static void (*const tests[])(void) = {
	open_device, test_post_send, test_mask_next_atomic, test_mask_of_failed_post,
	test_send_full, test_send_errors, test_transports, test_inline, test_builders,
	test_bind, test_sizes, test_builder_errors, test_be_only, test_exp_opcode, test_ece, test_ece_sizes,
	test_doorbell_errors, test_threads, close_device,
};

int main(void)
{
	return run_tests(tests, ARRAY_SIZE(tests));
}
