// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Tests of libmxe against the fake kernel: devices, contexts, objects, receive
 * queues, and polling of completions.
 */
#include <fcntl.h>

#include "context.h"
#include "fake_kernel.h"

static void test_register(void)
{
	ok(fake.driver, "the constructor registers");
	if (!fake.driver)
		bail_out("no driver");
	is_str(fake.driver->name, "mxe", "name");
	is_int(fake.driver->match_min_abi_version, 1, "oldest ABI");
	is_int(fake.driver->match_max_abi_version, 1, "newest ABI");
	is_int(fake.driver->match_table[0].kind, VERBS_MATCH_DRIVER_ID,
	       "matched by driver id");
	is_u64(fake.driver->match_table[0].u.driver_id, MXE_DRIVER_ID,
	       "driver id");
	is_int(fake.driver->match_table[1].kind, VERBS_MATCH_SENTINEL,
	       "end of table");
}

static void test_context(void)
{
	struct ibv_device other = { .name = "other0" };
	struct verbs_device not_mxe = { .device = other };
	struct mxedv_device_attr attr;
	struct ibv_device_attr_ex dev_attr;
	struct {
		struct mxedv_device_attr attr;
		uint64_t later;
	} longer;

	fake.device = fake.driver->alloc_device(NULL);
	fake.device->ops = fake.driver;

	fake.fail_get_context = EPERM;
	ok(!open_context() && errno == EPERM, "get_context fails");
	fake.fail_get_context = 0;
	fake.fail_query_atomics = EPROTONOSUPPORT;
	ok(!open_context() && errno == EPROTONOSUPPORT, "query fails");
	fake.fail_query_atomics = 0;
	fake.fail_doorbell = EMFILE;
	ok(!open_context() && errno == EMFILE, "doorbell fails");
	fake.fail_doorbell = 0;
	is_int(fake.contexts, 0, "each failure cleans up");

	fake.context = open_context();
	ok(fake.context, "context");
	fake.pd = fake.ops->alloc_pd(fake.context);

	ok(mxedv_is_supported(&fake.device->device), "is mxe");
	ok(!mxedv_is_supported(&not_mxe.device), "is another");
	is_int(fake.ops->query_device_ex(fake.context, NULL, &dev_attr,
					 sizeof(dev_attr)), 0, "query device");
	is_str(dev_attr.orig_attr.fw_ver, "1.2.3", "firmware version");

	is_int(mxedv_query_device(fake.context, &attr, sizeof(attr)), 0, "query");
	is_int(attr.masked_atomic_cap, IBV_ATOMIC_GLOB, "masked_atomic_cap");
	is_int(attr.masked_ops, 3, "masked_ops");
	is_u64(attr.log_arg_sizes, 8, "log_arg_sizes");
	is_int(attr.max_fa_bit_boundary, 64, "max_fa_bit_boundary");
	is_int(attr.reply_modes, 3, "reply_modes");
	is_int(attr.max_inline_recv, MXE_CQE_INLINE_SIZE, "max_inline_recv");
	memset(&attr, 0xff, sizeof(attr));
	is_int(mxedv_query_device(fake.context, &attr, 16), 0, "older caller");
	is_int(attr.atomic_cap, IBV_ATOMIC_GLOB, "its part is filled");
	is_u64(attr.log_arg_sizes, ~0ULL, "the rest is unchanged");
	memset(&longer, 0xff, sizeof(longer));
	is_int(mxedv_query_device(fake.context, &longer.attr, sizeof(longer)), 0,
	       "newer caller");
	is_u64(longer.later, 0, "unknown fields are zero");
	is_int(mxedv_query_device(fake.context, &attr, 4), EINVAL, "too short");
}

static void no_power_of_two(struct mxe_ring_info *info)
{
	info->entries = 7;
}

static void too_many_entries(struct mxe_ring_info *info)
{
	info->entries = 1 << 16;
}

static void short_stride(struct mxe_ring_info *info)
{
	info->stride = 8;
}

static void short_map(struct mxe_ring_info *info)
{
	info->mmap_size = 64;
}

/* Offsets in a response that are outside the area must not be used. */
static void test_create_errors(void)
{
	static void (*const breaks[])(struct mxe_ring_info *) = {
		no_power_of_two, too_many_entries, short_stride, short_map,
	};
	struct ibv_cq_init_attr_ex cq_attr = { .cqe = CQ_ENTRIES };
	struct ibv_qp_init_attr_ex attr;
	struct ibv_cq *cq;
	size_t i;
	int n;

	fake.fail_create_cq = ENOMEM;
	ok(!fake.ops->create_cq(fake.context, 1, NULL, 0) && errno == ENOMEM,
	   "create_cq fails");
	fake.fail_create_cq = 0;
	fake.fail_mmap_nth = 1;
	ok(!fake.ops->create_cq(fake.context, 1, NULL, 0) && errno == EAGAIN,
	   "its mmap fails");
	for (i = 0; i < ARRAY_SIZE(breaks); i++) {
		fake.break_ring = breaks[i];
		ok(!fake.ops->create_cq(fake.context, 1, NULL, 0) && errno == EPROTO,
		   "bad completion ring %zu", i);
	}
	fake.break_ring = NULL;
	is_int(fake.cqs + fake.maps, 0, "nothing is left");

	cq_attr.wc_flags = 1 << 12;
	ok(!fake.ops->create_cq_ex(fake.context, &cq_attr) && errno == EOPNOTSUPP,
	   "an unknown member is refused");
	cq_attr.wc_flags = 0;
	cq_attr.comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS;
	cq_attr.flags = IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN;
	ok(!fake.ops->create_cq_ex(fake.context, &cq_attr) && errno == EOPNOTSUPP,
	   "ignoring overruns is refused");

	cq = create_cq();
	attr = qp_attr(cq);
	fake.fail_create_qp = EOPNOTSUPP;
	ok(!fake.ops->create_qp_ex(fake.context, &attr) && errno == EOPNOTSUPP,
	   "create_qp fails");
	fake.fail_create_qp = 0;
	for (n = 1; n <= 2; n++) {
		fake.fail_mmap_nth = n;
		ok(!fake.ops->create_qp_ex(fake.context, &attr) && errno == EAGAIN,
		   "mmap %d of a queue pair fails", n);
	}
	for (i = 0; i < ARRAY_SIZE(breaks); i++) {
		fake.break_ring = breaks[i];
		ok(!fake.ops->create_qp_ex(fake.context, &attr) && errno == EPROTO,
		   "bad work queue ring %zu", i);
	}
	fake.break_ring = NULL;
	attr.send_ops_flags = IBV_QP_EX_WITH_TSO;
	ok(!fake.ops->create_qp_ex(fake.context, &attr) && errno == EOPNOTSUPP,
	   "an unsupported builder is refused");
	is_int(fake.qps, 0, "no queue pair is left");
	is_int(fake.maps, 1, "only the mapping of the completion queue is left");
	is_int(fake.ops->destroy_cq(cq), 0, "completion queue destroyed");
	nothing_is_left();
}

/* The rings of both queues of a QP are in one mapping. */
static void test_one_mapping(void)
{
	static const uint64_t bad[] = {
		AREA, AREA - 64, AREA - 4, UINT64_MAX - 63, 4,
	};
	struct ibv_cq *cq = create_cq();
	struct ibv_qp_init_attr_ex attr = qp_attr(cq);
	struct mxe_qp *qp;
	size_t i;

	to_mctx(fake.context)->has_one_mapping = true;
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		fake.second_offset = bad[i];
		ok(!fake.ops->create_qp_ex(fake.context, &attr) && errno == EPROTO,
		   "receive queue at a bad offset %zu", i);
	}
	is_int(fake.maps, 1, "only the mapping of the completion queue is left");
	fake.second_offset = AREA / 2;
	qp = to_mqp(fake.ops->create_qp_ex(fake.context, &attr));
	ok(fake.qp_req.flags & MXE_QP_CREATE_ONE_MAPPING, "one mapping is requested");
	is_int(fake.maps, 2, "... and made");
	ok((char *)qp->rq.hdr == (char *)qp->sq.hdr + AREA / 2,
	   "the receive queue is in the mapping of the send queue");
	is_int(fake.ops->destroy_qp(&qp->vqp.qp), 0, "queue pair destroyed");
	is_int(fake.ops->destroy_cq(cq), 0, "completion queue destroyed");
	to_mctx(fake.context)->has_one_mapping = false;
	nothing_is_left();
}

static int resize_qp(struct mxe_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	return fake.ops->modify_qp(&qp->vqp.qp, attr, mask);
}

/* Requests in the old rings stay at their indices, and posting goes on. */
static void test_resize_qp(void)
{
	struct ibv_qp_attr attr = {
		.cap = { .max_send_wr = 4 * SQ_ENTRIES, .max_recv_wr = 2 * RQ_ENTRIES },
	};
	struct ibv_send_wr *bad, wr = { .opcode = IBV_WR_SEND, .wr_id = 77 };
	struct ibv_recv_wr *bad_recv, recv = { .wr_id = 78 };
	struct ibv_cq *cq = create_cq();
	struct ibv_qp_init_attr_ex init = qp_attr(cq);
	struct mxe_qp *qp = to_mqp(fake.ops->create_qp_ex(fake.context, &init));
	struct ibv_qp *ibqp = &qp->vqp.qp;
	int maps = fake.maps;

	ibqp->state = IBV_QPS_RTS;
	is_int(resize_qp(qp, &attr, IBV_QP_CAP), EOPNOTSUPP, "an older kernel");
	to_mctx(fake.context)->has_resize_qp = true;
	is_int(resize_qp(qp, &attr, IBV_QP_CAP | IBV_QP_STATE), EINVAL,
	       "not with another attribute");
	fake.fail_resize_qp = EBUSY;
	is_int(resize_qp(qp, &attr, IBV_QP_CAP), EBUSY, "the kernel refuses");
	fake.fail_resize_qp = 0;
	is_int((int)qp->sq.entries, SQ_ENTRIES, "... and the rings are the same");
	for (int i = 0; i < SQ_ENTRIES; i++)
		is_int(fake.ops->post_send(ibqp, &wr, &bad), 0, "request %d", i);
	is_int(fake.ops->post_send(ibqp, &wr, &bad), ENOMEM, "the queue is full");
	is_int(fake.ops->post_recv(ibqp, &recv, &bad_recv), 0, "a receive");
	is_int(resize_qp(qp, &attr, IBV_QP_CAP), 0, "longer queues");
	is_int((int)attr.cap.max_send_wr, 4 * SQ_ENTRIES, "... max_send_wr");
	is_int((int)attr.cap.max_recv_wr, 2 * RQ_ENTRIES, "... max_recv_wr");
	is_int(fake.maps, maps, "... the old rings are not mapped any more");
	wr.wr_id = 79;
	is_int(fake.ops->post_send(ibqp, &wr, &bad), 0, "one more request");
	is_int((int)qp->sq.hdr->producer, SQ_ENTRIES + 1, "... has the next index");
	for (uint32_t i = 0; i <= SQ_ENTRIES; i++) {
		const struct mxe_send_wqe *wqe = mxe_ring_at(&qp->sq, i);

		is_int((int)wqe->wr_id, i == SQ_ENTRIES ? 79 : 77, "... entry %u", i);
	}
	is_int((int)((struct mxe_recv_wqe *)mxe_ring_at(&qp->rq, 0))->wr_id, 78,
	       "... the receive");
	fake.fail_mmap_nth = 2;
	ok(resize_qp(qp, &attr, IBV_QP_CAP), "the second new ring cannot be mapped");
	is_int(fake.maps, maps, "... no mapping is left or lost");
	is_int(fake.ops->post_send(ibqp, &wr, &bad), ENOMEM, "... no more requests");
	is_int(fake.ops->post_recv(ibqp, &recv, &bad_recv), ENOMEM, "... or receives");
	is_int(resize_qp(qp, &attr, IBV_QP_CAP), 0, "another call succeeds");
	is_int(fake.maps, maps, "... with as many mappings");
	is_int(fake.ops->post_send(ibqp, &wr, &bad), 0, "... and takes requests");
	is_int((int)qp->sq.hdr->producer, SQ_ENTRIES + 2, "... at the next index");
	is_int(fake.ops->destroy_qp(ibqp), 0, "queue pair destroyed");
	is_int(fake.ops->destroy_cq(cq), 0, "completion queue destroyed");
	to_mctx(fake.context)->has_resize_qp = false;
	nothing_is_left();
}

static int dv_errno(struct ibv_cq *cq, struct mxedv_qp_init_attr dv)
{
	struct ibv_qp_init_attr_ex attr = qp_attr(cq);
	struct ibv_qp *qp = mxedv_create_qp(fake.context, &attr, &dv);

	if (!qp)
		return errno;
	fake.ops->destroy_qp(qp);
	return 0;
}

static void test_dv_create(void)
{
	struct ibv_cq *cq = create_cq();
	struct ibv_qp_init_attr plain = {
		.send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RC,
	};
	struct mxedv_qp_init_attr dv = { .comp_mask = 4 };
	struct ibv_qp *qp;

	is_int(dv_errno(cq, dv), EINVAL, "unknown comp_mask");
	dv.comp_mask = MXEDV_QP_INIT_ATTR_CREATE_FLAGS;
	dv.create_flags = 32;
	is_int(dv_errno(cq, dv), EINVAL, "unknown flag");
	dv.comp_mask = 0;
	is_int(dv_errno(cq, dv), 0, "a flag that is not given is not read");
	dv.comp_mask = MXEDV_QP_INIT_ATTR_MAX_ATOMIC_ARG;
	dv.max_atomic_arg = 8;
	is_int(dv_errno(cq, dv), 0, "8 bytes");
	is_int(fake.qp_req.max_atomic_arg, 8, "8 bytes are requested");
	dv.max_atomic_arg = 16;
	is_int(dv_errno(cq, dv), EOPNOTSUPP, "16 bytes");
	dv.max_atomic_arg = 12;
	is_int(dv_errno(cq, dv), EINVAL, "12 bytes");
	dv.comp_mask = MXEDV_QP_INIT_ATTR_CREATE_FLAGS;
	dv.create_flags = MXEDV_QP_CREATE_ATOMIC_BE_REPLY |
			  MXEDV_QP_CREATE_EXP_WC_OPCODE;
	is_int(dv_errno(cq, dv), 0, "all flags");
	is_int(fake.qp_req.flags, MXE_QP_CREATE_ATOMIC_BE_REPLY,
	       "the kernel sees only the flags that it knows");

	dv.create_flags = MXEDV_QP_CREATE_INLINE_RECV;
	is_int(dv_errno(cq, dv), 0, "inline receive");
	is_int(fake.qp_req.flags, MXE_QP_CREATE_INLINE_RECV, "... is requested");
	to_mctx(fake.context)->max_inline_recv = 0;
	is_int(dv_errno(cq, dv), EOPNOTSUPP, "... of a kernel that lacks it");
	to_mctx(fake.context)->max_inline_recv = MXE_CQE_INLINE_SIZE;
	fake.fail_create_qp = EOPNOTSUPP;
	is_int(dv_errno(cq, dv), EOPNOTSUPP, "... which the kernel refuses");
	fake.fail_create_qp = 0;

	dv.create_flags = MXEDV_QP_CREATE_ATOMIC_BE_REPLY;
	to_mctx(fake.context)->caps.reply_modes = MXE_ATOMIC_REPLY_HOST;
	is_int(dv_errno(cq, dv), EOPNOTSUPP, "no big-endian mode");
	to_mctx(fake.context)->caps.reply_modes = fake.caps.reply_modes;

	qp = fake.ops->create_qp(fake.pd, &plain);
	ok(qp, "plain queue pair");
	is_int(plain.cap.max_send_wr, SQ_ENTRIES, "capabilities come back");
	ok(!ibv_qp_to_qp_ex(qp), "no builders");
	ok(!mxedv_qp_ex_from_ibv_qp_ex(to_qpx(qp)), "and no builders of mxedv");
	ok(!mxedv_qp_ex_from_ibv_qp_ex(NULL), "NULL");
	qp->state = IBV_QPS_INIT;
	is_int(ibv_post_recv(qp, &(struct ibv_recv_wr){ 0 },
			     &(struct ibv_recv_wr *){ NULL }),
	       ENOMEM, "no receive queue");
	destroy(qp, cq);
}

/* ---- receiving --------------------------------------------------------- */

static void test_recv(void)
{
	struct ibv_cq *cq = create_cq();
	struct ibv_qp *qp = create_qp(cq, 0);
	struct mxe_ring *rq = &to_mqp(qp)->rq;
	struct ibv_sge sge[MAX_SGE + 1] = { { 1, 2, 3 }, { 4, 5, 6 } };
	struct ibv_recv_wr wr[RQ_ENTRIES + 1] = { 0 };
	struct ibv_recv_wr *bad = NULL;
	const struct mxe_recv_wqe *wqe;
	const struct mxe_sge *to;
	struct mxe_doorbell db = { 0 };
	size_t i;

	set_indices(rq, -2U);
	for (i = 0; i < ARRAY_SIZE(wr); i++) {
		wr[i].wr_id = 50 + i;
		wr[i].sg_list = sge;
		wr[i].num_sge = 2;
		wr[i].next = i + 1 < ARRAY_SIZE(wr) ? &wr[i + 1] : NULL;
	}
	errno = 0;
	is_int(ibv_post_recv(qp, wr, &bad), ENOMEM, "more than fit");
	is_int(errno, ENOMEM, "... also in errno");
	ok(bad == &wr[RQ_ENTRIES], "bad_wr");
	is_u64(rq->hdr->producer, RQ_ENTRIES - 2, "the others are published");
	is_int(bells(NULL), 0, "without a doorbell");
	wqe = mxe_ring_at(rq, -2U);
	to = (void *)(wqe + 1);
	ok(wqe->wr_id == 50 && wqe->num_sge == 2 && !wqe->reserved &&
	   to[0].addr == 1 && to[0].length == 2 && to[0].lkey == 3 &&
	   to[1].addr == 4 && to[1].length == 5 && to[1].lkey == 6,
	   "receive work request");

	mxe_store_release(&rq->hdr->consumer, RQ_ENTRIES - 2);
	rq->hdr->flags = MXE_RING_NEED_DOORBELL;
	wr[0].next = NULL;
	is_int(ibv_post_recv(qp, wr, &bad), 0, "one more");
	is_int(bells(&db), 1, "the kernel requested a doorbell");
	is_u64(db.queues, MXE_DOORBELL_RECV, "of the receive queue");

	wr[0].num_sge = MAX_SGE + 1;
	errno = 0;
	is_int(ibv_post_recv(qp, wr, &bad), EINVAL, "too many SGEs");
	is_int(errno, EINVAL, "... also in errno");
	wr[0].num_sge = 0;
	is_int(ibv_post_recv(qp, wr, &bad), 0, "none");
	qp->state = IBV_QPS_RESET;
	errno = 0;
	is_int(ibv_post_recv(qp, wr, &bad), EINVAL, "RESET");
	is_int(errno, EINVAL, "... also in errno");
	qp->state = IBV_QPS_INIT;
	is_int(ibv_post_recv(qp, wr, &bad), 0, "INIT");
	destroy(qp, cq);
}

/* ---- completions ------------------------------------------------------- */

static const struct {
	uint16_t opcode;
	uint16_t flags;
	int want;
} opcodes[] = {
	{ MXE_WC_SEND, 0, IBV_WC_SEND },
	{ MXE_WC_RDMA_WRITE, 0, IBV_WC_RDMA_WRITE },
	{ MXE_WC_RDMA_READ, 0, IBV_WC_RDMA_READ },
	{ MXE_WC_COMP_SWAP, 0, IBV_WC_COMP_SWAP },
	{ MXE_WC_FETCH_ADD, 0, IBV_WC_FETCH_ADD },
	{ MXE_WC_LOCAL_INV, 0, IBV_WC_LOCAL_INV },
	{ MXE_WC_MASKED_COMP_SWAP, 0, IBV_WC_COMP_SWAP },
	{ MXE_WC_MASKED_FETCH_ADD, 0, IBV_WC_FETCH_ADD },
	{ MXE_WC_MASKED_COMP_SWAP, MXE_CQE_USER, 9 },
	{ MXE_WC_MASKED_FETCH_ADD, MXE_CQE_USER, 10 },
	{ MXE_WC_COMP_SWAP, MXE_CQE_USER, IBV_WC_COMP_SWAP },
	{ MXE_WC_RECV, 0, IBV_WC_RECV },
	{ MXE_WC_RECV_RDMA_WITH_IMM, 0, IBV_WC_RECV_RDMA_WITH_IMM },
};

static void test_poll(void)
{
	struct ibv_cq *cq = create_cq();
	struct mxe_ring *ring = &to_mcq(cq)->ring;
	struct ibv_wc wc[CQ_ENTRIES];
	size_t i;

	set_indices(ring, -3U);
	is_int(ibv_poll_cq(cq, CQ_ENTRIES, wc), 0, "empty");
	for (i = 0; i < ARRAY_SIZE(opcodes); i++) {
		push_cqe(cq, (struct mxe_cqe){
			.opcode = opcodes[i].opcode,
			.flags = opcodes[i].flags,
		});
		is_int(ibv_poll_cq(cq, CQ_ENTRIES, wc), 1, "one");
		is_int(wc[0].opcode, opcodes[i].want, "opcode %#x, flags %#x",
		       opcodes[i].opcode, opcodes[i].flags);
	}

	set_indices(ring, -3U);
	push_cqe(cq, (struct mxe_cqe){
		.wr_id = 1, .status = IBV_WC_REM_ACCESS_ERR, .vendor_err = 2,
		.byte_len = 3, .qp_num = 4, .src_qp = 5, .imm_data = 6,
		.pkey_index = 7,
		.flags = MXE_CQE_GRH | MXE_CQE_WITH_IMM | MXE_CQE_WITH_INV,
	});
	for (i = 1; i < CQ_ENTRIES; i++)
		push_cqe(cq, (struct mxe_cqe){ .wr_id = i });
	is_int(ibv_poll_cq(cq, 0, wc), 0, "none requested");
	is_int(ibv_poll_cq(cq, 1, wc), 1, "one requested");
	is_u64(ring->hdr->consumer, -2U, "one is consumed");
	ok(wc[0].wr_id == 1 && wc[0].status == IBV_WC_REM_ACCESS_ERR &&
	   wc[0].vendor_err == 2 && wc[0].byte_len == 3 &&
	   wc[0].qp_num == 4 && wc[0].src_qp == 5 && wc[0].imm_data == 6 &&
	   wc[0].pkey_index == 7, "all fields");
	is_int(wc[0].wc_flags, IBV_WC_GRH | IBV_WC_WITH_IMM | IBV_WC_WITH_INV,
	       "flags");
	is_int(wc[0].sl, 9, "an IPv6 header before the data");
	is_int(ibv_poll_cq(cq, CQ_ENTRIES, wc), CQ_ENTRIES - 1, "the rest");
	is_int(wc[0].sl, 0, "none");
	is_u64(wc[CQ_ENTRIES - 2].wr_id, CQ_ENTRIES - 1, "in order");
	is_u64(ring->hdr->consumer, CQ_ENTRIES - 3, "through 2^32");
	is_int(fake.ops->destroy_cq(cq), 0, "destroyed");
	nothing_is_left();
}

#define AGO (3600 * 1000000000ULL)

static uint64_t ns_of(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static void test_rt_values(void)
{
	struct ibv_values_ex values = { .comp_mask = ~0U };
	uint64_t before = ns_of(CLOCK_MONOTONIC), got;

	is_int(fake.ops->query_rt_values(fake.context, &values), 0, "the clock");
	is_u64(values.comp_mask, IBV_VALUES_MASK_RAW_CLOCK, "... and no more");
	got = (uint64_t)values.raw_clock.tv_nsec;
	ok(!values.raw_clock.tv_sec && got >= before && got <= ns_of(CLOCK_MONOTONIC),
	   "... is the clock of completions");
}

static void push_inline(struct ibv_cq *cq, void *buf, uint32_t len)
{
	struct mxe_cqe cqe = {
		.wr_id = len, .opcode = MXE_WC_RECV, .flags = MXE_CQE_INLINE,
		.byte_len = len, .recv_addr = (uintptr_t)buf,
	};

	memset(cqe.inline_data, 'x', sizeof(cqe.inline_data));
	push_cqe(cq, cqe);
}

/* Polling copies inline data to the receive buffer, once. */
static void test_inline_recv(void)
{
	struct ibv_cq_init_attr_ex attr = { .cqe = CQ_ENTRIES };
	struct ibv_cq_ex *cqx = fake.ops->create_cq_ex(fake.context, &attr);
	struct ibv_poll_cq_attr poll_attr = { 0 };
	struct ibv_wc wc[2];
	struct ibv_cq *cq;
	char buf[32];

	if (!cqx)
		bail_out("no completion queue: %s", strerror(errno));
	cq = ibv_cq_ex_to_cq(cqx);
	memset(buf, '.', sizeof(buf));
	push_inline(cq, buf + 1, 5);
	push_cqe(cq, (struct mxe_cqe){ .opcode = MXE_WC_RECV, .byte_len = 7 });
	is_int(ibv_poll_cq(cq, 1, wc), 1, "a completion with data");
	ok(wc->byte_len == 5 && !wc->wc_flags && wc->opcode == IBV_WC_RECV,
	   "... looks like any other");
	ok(!memcmp(buf, ".xxxxx..", 8), "... the data are in the buffer");
	memset(buf, '.', sizeof(buf));
	is_int(ibv_poll_cq(cq, 2, wc), 1, "one without data");
	ok(!memchr(buf, 'x', sizeof(buf)), "... writes nothing");

	push_inline(cq, buf, 1);
	push_inline(cq, buf + 8, MXE_CQE_INLINE_SIZE);
	is_int(ibv_start_poll(cqx, &poll_attr), 0, "the other way of polling");
	ok(!memcmp(buf, "x.......", 8) && buf[8] == '.',
	   "... copies the data of one");
	is_int(ibv_next_poll(cqx), 0, "... and the next");
	ok(!memcmp(buf + 8, "xxxxxxxxxxxxxxxx.", 17), "... of 16 bytes");
	ibv_end_poll(cqx);

	/* The process can write anything into its ring. */
	memset(buf, '.', sizeof(buf));
	push_inline(cq, buf, MXE_CQE_INLINE_SIZE + 1);
	is_int(ibv_poll_cq(cq, 1, wc), 1, "a length of 17 bytes");
	ok(!memcmp(buf, "xxxxxxxxxxxxxxxx.", 17), "... copies 16");
	is_int(fake.ops->destroy_cq(cq), 0, "destroyed");
	nothing_is_left();
}

static void test_poll_ex(void)
{
	struct ibv_cq_init_attr_ex attr = {
		.cqe = CQ_ENTRIES,
		.wc_flags = IBV_WC_STANDARD_FLAGS |
			    IBV_WC_EX_WITH_COMPLETION_TIMESTAMP |
			    IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK,
		.comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS,
		.flags = IBV_CREATE_CQ_ATTR_SINGLE_THREADED,
	};
	struct ibv_modify_cq_attr moderate = {
		.attr_mask = IBV_CQ_ATTR_MODERATE,
		.moderate = { .cq_count = 3, .cq_period = 5 },
	};
	struct ibv_cq_ex *cqx = fake.ops->create_cq_ex(fake.context, &attr);
	struct ibv_poll_cq_attr poll_attr = { .comp_mask = 1 };
	struct mxe_ring *ring;
	struct ibv_cq *cq;
	uint64_t ago;

	if (!cqx)
		bail_out("no completion queue: %s", strerror(errno));
	cq = ibv_cq_ex_to_cq(cqx);
	ring = &to_mcq(cq)->ring;
	is_u64(fake.cq_wc_flags, attr.wc_flags, "the kernel is asked for timestamps");
	is_int(fake.ops->modify_cq(cq, &moderate), 0, "moderated");
	ok(fake.moderation.cq_count == 3 && fake.moderation.cq_period == 5,
	   "... as requested");

	is_int(ibv_start_poll(cqx, &poll_attr), EINVAL, "unknown attribute");
	poll_attr.comp_mask = 0;
	is_int(ibv_start_poll(cqx, &poll_attr), ENOENT, "empty");
	push_cqe(cq, (struct mxe_cqe){
		.wr_id = 1, .opcode = MXE_WC_RECV_RDMA_WITH_IMM, .byte_len = 2,
		.imm_data = 3, .qp_num = 4, .src_qp = 5, .vendor_err = 6,
		.flags = MXE_CQE_WITH_IMM, .timestamp = ns_of(CLOCK_MONOTONIC) - AGO,
	});
	push_cqe(cq, (struct mxe_cqe){
		.wr_id = 7, .status = IBV_WC_WR_FLUSH_ERR,
	});
	is_int(ibv_start_poll(cqx, &poll_attr), 0, "the first");
	ok(cqx->wr_id == 1 && cqx->status == IBV_WC_SUCCESS &&
	   ibv_wc_read_opcode(cqx) == IBV_WC_RECV_RDMA_WITH_IMM &&
	   ibv_wc_read_byte_len(cqx) == 2 && ibv_wc_read_imm_data(cqx) == 3 &&
	   ibv_wc_read_qp_num(cqx) == 4 && ibv_wc_read_src_qp(cqx) == 5 &&
	   ibv_wc_read_vendor_err(cqx) == 6 &&
	   ibv_wc_read_wc_flags(cqx) == IBV_WC_WITH_IMM &&
	   !ibv_wc_read_slid(cqx) && !ibv_wc_read_sl(cqx) &&
	   !ibv_wc_read_dlid_path_bits(cqx), "its fields");
	ago = ns_of(CLOCK_MONOTONIC) - ibv_wc_read_completion_ts(cqx);
	ok(ago >= AGO && ago < 2 * AGO, "its time, an hour ago");
	ago = ns_of(CLOCK_REALTIME) - ibv_wc_read_completion_wallclock_ns(cqx);
	ok(ago >= AGO && ago < 2 * AGO, "... by the wall clock");
	is_u64(ring->hdr->consumer, 0, "the first is not consumed yet");
	is_int(ibv_next_poll(cqx), 0, "the second");
	ok(cqx->wr_id == 7 && cqx->status == IBV_WC_WR_FLUSH_ERR, "its fields");
	is_int(ibv_next_poll(cqx), ENOENT, "no third");
	ibv_end_poll(cqx);
	is_u64(ring->hdr->consumer, 2, "both are consumed");
	is_int(ibv_start_poll(cqx, &poll_attr), ENOENT, "empty again");
	push_cqe(cq, (struct mxe_cqe){ .wr_id = 8 });
	is_int(ibv_poll_cq(cq, 1, &(struct ibv_wc){ 0 }), 1,
	       "the other way of polling");
	is_int(fake.ops->destroy_cq(cq), 0, "destroyed");
	nothing_is_left();
}

/*
 * The thread may lose the CPU between two readings of a clock. The times of
 * completions must not decrease by that, nor be later than the true ones.
 */
static void test_wallclock(void)
{
	enum { MS = 1000000, N = 8, READINGS = 3 };
	static const uint64_t delays[N * READINGS] = {
		6 * MS, 2 * MS, 1, 1, 1, 1, 1, 3 * MS, 1, 1, 1, 2 * MS,
		1, 1, 1, 4 * MS, 5 * MS, 1, 1, 1, 1, 1, 7 * MS, 1,
	};
	struct ibv_cq_init_attr_ex attr = {
		.cqe = CQ_ENTRIES,
		.wc_flags = IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK,
	};
	struct ibv_cq_ex *cqx = fake.ops->create_cq_ex(fake.context, &attr);
	uint64_t first = 5000000000, wall, last = 0;
	struct ibv_poll_cq_attr poll_attr = { 0 };
	int backwards = 0, late = 0, i;
	struct ibv_cq *cq;

	if (!cqx)
		bail_out("no completion queue: %s", strerror(errno));
	cq = ibv_cq_ex_to_cq(cqx);
	fake.mono = first + AGO;
	fake.wall_offset = 1700000000000000000;
	fake.delays = delays;
	fake.num_delays = ARRAY_SIZE(delays);
	for (i = 0; i < N; i++)
		push_cqe(cq, (struct mxe_cqe){ .timestamp = first + (uint64_t)i });
	for (i = 0; i < N; i++) {
		if (i ? ibv_next_poll(cqx) : ibv_start_poll(cqx, &poll_attr))
			bail_out("no completion %d", i);
		wall = ibv_wc_read_completion_wallclock_ns(cqx);
		backwards += wall < last;
		late += wall > first + (uint64_t)i + (uint64_t)fake.wall_offset;
		last = wall;
	}
	is_int(backwards, 0, "later completions have no earlier times");
	is_int(late, 0, "no time is later than the true one");
	is_u64(last, first + N - 1 + (uint64_t)fake.wall_offset - 1,
	       "times are as exact as the best sample");

	fake.wall_offset -= AGO;
	is_u64(ibv_wc_read_completion_wallclock_ns(cqx),
	       first + N - 1 + (uint64_t)fake.wall_offset,
	       "they follow CLOCK_REALTIME if it is set back");
	fake.wall_offset += 2 * AGO;
	is_u64(ibv_wc_read_completion_wallclock_ns(cqx),
	       first + N - 1 + (uint64_t)fake.wall_offset, "... and forward");
	ibv_end_poll(cqx);
	fake.mono = 0;
	is_int(fake.ops->destroy_cq(cq), 0, "destroyed");
	nothing_is_left();
}

static void fill_for_purge(struct ibv_cq *cq, uint32_t a, uint32_t b)
{
	const uint32_t qpns[CQ_ENTRIES] = { a, b, b, a, a, b, a, b };
	int i;

	set_indices(&to_mcq(cq)->ring, -4U);
	for (i = 0; i < CQ_ENTRIES; i++)
		push_cqe(cq, (struct mxe_cqe){ .wr_id = i, .qp_num = qpns[i] });
}

static bool polls_only(struct ibv_cq *cq, uint32_t qpn)
{
	static const uint64_t want[] = { 1, 2, 5, 7 };
	struct ibv_wc wc[CQ_ENTRIES];
	size_t i;

	if (to_mcq(cq)->ring.hdr->consumer != 0 ||
	    ibv_poll_cq(cq, CQ_ENTRIES, wc) != ARRAY_SIZE(want))
		return false;
	for (i = 0; i < ARRAY_SIZE(want); i++)
		if (wc[i].wr_id != want[i] || wc[i].qp_num != qpn)
			return false;
	return true;
}

static void test_purge(void)
{
	struct ibv_cq *cq = create_cq();
	struct ibv_qp *qp = create_qp(cq, 0);
	struct ibv_qp *other = create_qp(cq, 0);
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RESET };
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND };
	struct ibv_send_wr *bad;
	struct ibv_wc wc;
	int resets;

	is_int(ibv_post_send(qp, &wr, &bad), 0, "posted");
	fill_for_purge(cq, qp->qp_num, other->qp_num);
	is_int(fake.ops->modify_qp(qp, &attr, IBV_QP_STATE), 0, "RESET");
	ok(polls_only(cq, other->qp_num), "the completions of the other queue pair stay, in order");
	is_u64(to_mqp(qp)->sq.index, 0, "the send queue starts again");
	qp->state = IBV_QPS_RTS;
	is_int(ibv_post_send(qp, &wr, &bad), 0, "posted");
	is_u64(sq_producer(qp), 1, "at its beginning");

	fill_for_purge(cq, qp->qp_num, other->qp_num);
	resets = fake.resets;
	fake.fail_destroy_qp = EBUSY;
	is_int(fake.ops->destroy_qp(qp), EBUSY, "destroy fails");
	fake.fail_destroy_qp = 0;
	is_int(fake.resets, resets, "... and does not reset the queue pair");
	is_int(qp->state, IBV_QPS_RTS, "... nor change its state");
	is_u64(sq_producer(qp), 1, "... nor what it has posted");
	is_int(ibv_poll_cq(cq, 1, &wc), 1, "... and keeps the completions");
	is_u64(wc.qp_num, qp->qp_num, "... of the queue pair");

	fill_for_purge(cq, qp->qp_num, other->qp_num);
	is_int(fake.ops->destroy_qp(qp), 0, "destroyed");
	ok(polls_only(cq, other->qp_num), "the completions of the other queue pair stay");

	push_cqe(cq, (struct mxe_cqe){ .qp_num = 1 });
	push_cqe(cq, (struct mxe_cqe){ .qp_num = other->qp_num });
	is_int(fake.ops->destroy_qp(other), 0, "destroyed");
	is_int(ibv_poll_cq(cq, 1, &wc), 1, "the completion of an unknown queue pair stays");
	is_u64(wc.qp_num, 1, "stays");
	is_int(ibv_poll_cq(cq, 1, &wc), 0, "its own is removed");
	is_int(fake.ops->destroy_cq(cq), 0, "completion queue destroyed");
	nothing_is_left();
}

static void test_resize(void)
{
	struct ibv_cq *cq = create_cq();
	struct ibv_wc wc[CQ_ENTRIES];
	uint32_t i;

	set_indices(&to_mcq(cq)->ring, -3U);
	for (i = 0; i < 5; i++)
		push_cqe(cq, (struct mxe_cqe){ .wr_id = i });
	is_int(ibv_poll_cq(cq, 1, wc), 1, "one is polled");
	is_int(fake.ops->resize_cq(cq, 16), 0, "resized");
	is_u64(to_mcq(cq)->ring.entries, 16, "to 16");
	push_cqe(cq, (struct mxe_cqe){ .wr_id = 5 });
	is_int(ibv_poll_cq(cq, CQ_ENTRIES, wc), 5, "the others are there");
	for (i = 0; i < 5; i++)
		is_u64(wc[i].wr_id, i + 1, "... in order");
	is_u64(to_mcq(cq)->ring.hdr->consumer, 3, "the kernel sees the consumer index");

	fake.fail_resize_cq = EINVAL;
	is_int(fake.ops->resize_cq(cq, 4), EINVAL, "refused");
	fake.fail_resize_cq = 0;
	is_u64(to_mcq(cq)->ring.entries, 16, "... the size is unchanged");
	push_cqe(cq, (struct mxe_cqe){ .wr_id = 6 });
	is_int(ibv_poll_cq(cq, 1, wc), 1, "... and works");
	is_int(fake.ops->destroy_cq(cq), 0, "destroyed");
	nothing_is_left();
}

static pthread_t other_thread;
static struct ibv_qp *doomed;
static struct ibv_wc polled_wc[CQ_ENTRIES];

static void *poll_all(void *cq)
{
	return (void *)(intptr_t)ibv_poll_cq(cq, CQ_ENTRIES, polled_wc);
}

/* Returns how many completions the thread has polled. */
static int polled_by_thread(void)
{
	void *num;

	pthread_join(other_thread, &num);
	return (int)(intptr_t)num;
}

static void poll_in_resize(struct ibv_cq *cq)
{
	struct mxe_ring *ring = &to_mcq(cq)->ring;
	struct mxe_ring_hdr *hdr = ring->hdr;

	if (ok(!pthread_spin_trylock(&ring->lock), "no lock is held in the ioctl"))
		pthread_spin_unlock(&ring->lock);
	pthread_create(&other_thread, NULL, poll_all, cq);
	usleep(50000);
	is_u64(hdr->consumer, 0, "nothing is polled from the old ring");
}

/* Another thread polls during the resize, and gets each completion once. */
static void test_poll_in_resize(void)
{
	struct ibv_cq *cq = create_cq();
	uint64_t i;

	for (i = 0; i < 5; i++)
		push_cqe(cq, (struct mxe_cqe){ .wr_id = i });
	fake.in_resize = poll_in_resize;
	is_int(fake.ops->resize_cq(cq, 16), 0, "resized");
	is_int(polled_by_thread(), 5, "the completions are polled afterwards");
	for (i = 0; i < 5; i++)
		is_u64(polled_wc[i].wr_id, i, "... in order");
	is_u64(to_mcq(cq)->ring.hdr->consumer, 5, "... from the new ring");

	push_cqe(cq, (struct mxe_cqe){ .wr_id = 5 });
	fake.fail_mmap_nth = 1;
	fake.in_resize = NULL;
	is_int(fake.ops->resize_cq(cq, 32), EAGAIN, "its mmap fails");
	is_int(ibv_poll_cq(cq, 1, polled_wc), 1,
	       "the completions of the old ring can still be polled");
	is_int(ibv_poll_cq(cq, 1, polled_wc), 0, "... and it is empty then");
	is_int(fake.ops->destroy_cq(cq), 0, "destroyed");
	nothing_is_left();
}

static void *destroy_doomed(void *unused)
{
	(void)unused;
	return (void *)(intptr_t)fake.ops->destroy_qp(doomed);
}

static void destroy_in_resize(struct ibv_cq *cq)
{
	(void)cq;
	pthread_create(&other_thread, NULL, destroy_doomed, NULL);
	usleep(50000);
}

/* The kernel may have copied the completions that a destroy removes. */
static void test_purge_in_resize(void)
{
	struct ibv_cq *cq = create_cq();
	void *err;

	doomed = create_qp(cq, 0);
	push_cqe(cq, (struct mxe_cqe){ .qp_num = 1 });
	push_cqe(cq, (struct mxe_cqe){ .qp_num = doomed->qp_num });
	fake.in_resize = destroy_in_resize;
	is_int(fake.ops->resize_cq(cq, 16), 0, "resized");
	fake.in_resize = NULL;
	pthread_join(other_thread, &err);
	is_int((int)(intptr_t)err, 0, "a queue pair is destroyed meanwhile");
	is_int(ibv_poll_cq(cq, CQ_ENTRIES, polled_wc), 1, "one completion stays");
	is_u64(polled_wc[0].qp_num, 1, "... that of another queue pair");
	is_int(fake.ops->destroy_cq(cq), 0, "destroyed");
	nothing_is_left();
}

/* The CQs of sends and of receives are both purged. */
static void test_purge_two(void)
{
	struct ibv_cq *send_cq = create_cq();
	struct ibv_cq *recv_cq = create_cq();
	struct ibv_qp_init_attr_ex attr = qp_attr(send_cq);
	struct ibv_qp *qp;
	struct ibv_wc wc;

	attr.recv_cq = recv_cq;
	qp = ready(mxedv_create_qp(fake.context, &attr, NULL));
	qp->state = IBV_QPS_ERR;
	push_cqe(send_cq, (struct mxe_cqe){ .qp_num = qp->qp_num });
	push_cqe(recv_cq, (struct mxe_cqe){ .qp_num = qp->qp_num });
	is_int(fake.ops->destroy_qp(qp), 0, "destroyed");
	is_int(ibv_poll_cq(send_cq, 1, &wc), 0, "the sender's is empty");
	is_int(ibv_poll_cq(recv_cq, 1, &wc), 0, "the receiver's is empty");
	is_int(fake.ops->destroy_cq(send_cq), 0, "destroyed");
	is_int(fake.ops->destroy_cq(recv_cq), 0, "destroyed");
	nothing_is_left();
}

static void test_close(void)
{
	int doorbell = to_mctx(fake.context)->doorbell_fd;

	is_int(fake.ops->dealloc_pd(fake.pd), 0, "protection domain");
	fake.ops->free_context(fake.context);
	fake.driver->uninit_device(fake.device);
	is_int(fcntl(doorbell, F_GETFD), -1, "the doorbell is closed");
	is_int(fake.contexts, 0, "no context is left");
}

static void test_dm(void)
{
	struct ibv_alloc_dm_attr attr = { .length = 100, .log_align_req = 3 };
	char out[8] = "masked", in[8] = "";
	struct ibv_dm *dm = fake.ops->alloc_dm(fake.context, &attr);
	struct ibv_mr *mr;

	if (!ok(dm, "alloc_dm"))
		return;
	ok(fake.dm_length == 100 && fake.dm_align == 3,
	   "the kernel gets the size and the alignment");
	is_int(ibv_memcpy_to_dm(dm, 92, out, 8), 0, "to the end");
	is_str(fake.dm_mem + 92, "masked", "is in the kernel's memory");
	is_int(ibv_memcpy_from_dm(in, dm, 92, 8), 0, "and back");
	is_str(in, out, "the same");
	is_int(ibv_memcpy_to_dm(dm, 96, out, 8), EFAULT, "beyond the end");
	is_int(ibv_memcpy_from_dm(in, dm, 104, 0), EFAULT, "from after the end");
	is_int(ibv_memcpy_from_dm(in, dm, 8, SIZE_MAX - 3), EFAULT, "wraps");
	is_int(ibv_memcpy_to_dm(dm, 2, out, 4), EINVAL, "to half a word");
	ok(!fake.ops->reg_dm_mr(fake.pd, dm, 50, 51, 0) && errno == EINVAL,
	   "a region beyond the end");
	mr = fake.ops->reg_dm_mr(fake.pd, dm, 50, 50, 0);
	if (ok(mr, "a region"))
		fake.ops->dereg_mr((struct verbs_mr *)mr);
	fake.fail_free_dm = EBUSY;
	is_int(fake.ops->free_dm(dm), EBUSY, "not freed");
	is_int(ibv_memcpy_from_dm(in, dm, 0, 4), 0, "still there");
	fake.fail_free_dm = 0;
	is_int(fake.ops->free_dm(dm), 0, "free_dm");

	fake.fail_alloc_dm = ENOMEM;
	ok(!fake.ops->alloc_dm(fake.context, &attr) && errno == ENOMEM,
	   "no memory");
	fake.fail_alloc_dm = 0;
	fake.fail_mmap_nth = 1;
	ok(!fake.ops->alloc_dm(fake.context, &attr) && errno == EAGAIN,
	   "no mapping");
	attr.comp_mask = 1;
	ok(!fake.ops->alloc_dm(fake.context, &attr) && errno == EOPNOTSUPP,
	   "unknown attribute");
	is_int(fake.dms, 0, "nothing is left");
}

static void test_dmabuf(void)
{
	struct ibv_mr *mr;

	mr = fake.ops->reg_dmabuf_mr(fake.pd, 4100, 50, 0x70004, 3, 0);
	if (ok(mr, "a region of a DMA-BUF")) {
		is_u64((uintptr_t)mr->addr, 4100, "its offset");
		is_u64(mr->length, 50, "its length");
		fake.ops->dereg_mr((struct verbs_mr *)mr);
	}
	ok(!fake.ops->reg_dmabuf_mr(fake.pd, 0, 50, 0, -1, 0) &&
	   errno == EBADF, "no file");
}

static void (*const tests[])(void) = {
	test_register, test_context, test_create_errors, test_one_mapping, test_resize_qp,
	test_dv_create, test_dm, test_dmabuf, test_recv, test_poll, test_rt_values,
	test_inline_recv, test_poll_ex, test_wallclock, test_purge, test_purge_two, test_resize,
	test_poll_in_resize, test_purge_in_resize, test_close,
};

int main(void)
{
	return run_tests(tests, ARRAY_SIZE(tests));
}
