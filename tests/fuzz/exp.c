// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Fuzzes the arguments of libibverbs_exp: the attributes of QPs, chains of work
 * requests, comp_masks, and the structures of the other calls, on a device of
 * mxe and on one that has only the standard verbs (the fakes of tests/unit). A
 * pointer that is used points to memory of exactly the right size. All other
 * fields may have any value.
 */
#include <errno.h>

#include "fake_std.h"
#include "input.h"
#include "mr.h"
#include "qp_table.h"

enum { MAX_STEPS = 64, MAX_CHAIN = 24, MAX_SGES = 80 };

static struct input in;
static struct ibv_qp *qps[2];		/* of mxe, of the other device */
/*
 * Every QP has one of these addresses, so that the library allocates no new
 * state.
 */
static struct fake_qp places[2];
static uint32_t args[2], caps_sge[2];	/* max_atomic_arg, max_send_sge */
static bool atomics[2];			/* supports masked atomics */

static struct ibv_context *context_of(int d)
{
	return d ? std_ctx : mxe_ctx;
}

/* ---- queue pairs --------------------------------------------------------- */

static void destroy(int d)
{
	fake.reuse = &places[d];
	if (qps[d])
		CHECK(!exp_destroy_qp(qps[d], ibv_destroy_qp));
	qps[d] = NULL;
}

static void create_qp(int d)
{
	uint8_t how = take_8(&in);
	struct ibv_exp_qp_init_attr attr, before;
	struct ibv_qp *qp;

	destroy(d);
	init_attr(&attr, context_of(d), PD | (how & 1 ? FLAGS : 0) |
					(how & 2 ? ARG : 0));
	if (how & 1 && how & 4)
		attr.exp_create_flags = BE;
	if (how & 2)
		attr.max_atomic_arg = 4 << (how >> 3) % 4;
	if (how & 0x80)
		attr.qp_type = IBV_EXP_QPT_DC_INI;
	spoil(&in, &attr, sizeof(attr));
	attr.pd = d ? &std_pd : &mxe_pd;
	before = attr;
	errno = 0;
	fake.reuse = &places[d];
	qp = ibv_exp_create_qp(context_of(d), &attr);
	if (!qp) {
		CHECK(errno);
		CHECK(!memcmp(&attr, &before, sizeof(attr)));
		return;
	}

	CHECK(attr.comp_mask == before.comp_mask);
	CHECK(attr.comp_mask < IBV_EXP_QP_INIT_ATTR_RESERVED1);
	if (attr.comp_mask & FLAGS)
		CHECK(!attr.exp_create_flags ||
		      (attr.exp_create_flags == BE && !d));
	/* The library sets these two. */
	before.cap = attr.cap;
	if (attr.comp_mask & IBV_EXP_QP_INIT_ATTR_INL_RECV)
		before.max_inl_recv = 0;
	CHECK(!memcmp(&attr, &before, sizeof(attr)));

	qps[d] = qp;
	args[d] = attr.comp_mask & ARG ? attr.max_atomic_arg : 0;
	caps_sge[d] = attr.cap.max_send_sge;
	atomics[d] = to_fake(qp)->has_ex;
	CHECK((attr.qp_type == IBV_EXP_QPT_DC_INI) == !!to_fake(qp)->dc_type);
}

/* ---- work requests ------------------------------------------------------- */

/* Operands of more than 8 bytes. */
static uint64_t wide[4][4];
static struct ibv_sge sges[MAX_SGES];

static bool is_masked(const struct ibv_exp_send_wr *wr)
{
	return wr->exp_opcode == (int)CS || wr->exp_opcode == (int)FA;
}

static void init_wr(struct ibv_exp_send_wr *wr, uint64_t wr_id)
{
	static const int opcodes[] = {
		IBV_EXP_WR_SEND, IBV_EXP_WR_SEND_WITH_IMM,
		IBV_EXP_WR_RDMA_WRITE, IBV_EXP_WR_RDMA_WRITE_WITH_IMM,
		IBV_EXP_WR_RDMA_READ, IBV_EXP_WR_ATOMIC_CMP_AND_SWP,
		IBV_EXP_WR_ATOMIC_FETCH_AND_ADD, CS, FA,
	};
	struct ibv_exp_cmp_swap *cs =
		&wr->ext_op.masked_atomics.wr_data.inline_data.op.cmp_swap;
	struct ibv_exp_fetch_add *fa =
		&wr->ext_op.masked_atomics.wr_data.inline_data.op.fetch_add;
	uint8_t how = take_8(&in);

	memset(wr, 0xa5, sizeof(*wr));
	wr->exp_opcode = opcodes[how % ARRAY_SIZE(opcodes)];
	wr->exp_send_flags = how & 0x40 ? IBV_EXP_SEND_SIGNALED : 0;
	wr->num_sge = 1;
	if (is_masked(wr)) {
		wr->exp_send_flags |= IBV_EXP_SEND_EXT_ATOMIC_INLINE;
		wr->ext_op.masked_atomics.log_arg_sz = (how >> 3) % 6;
	} else if (how & 0x80) {
		wr->exp_send_flags |= IBV_EXP_SEND_INLINE;
	}
	spoil(&in, wr, sizeof(*wr));

	wr->wr_id = wr_id;
	wr->sg_list = sges;
	if (is_masked(wr) && wr->ext_op.masked_atomics.log_arg_sz > 3) {
		cs->compare_val = (uintptr_t)wide[0];
		cs->compare_mask = (uintptr_t)wide[1];
		cs->swap_val = (uintptr_t)wide[2];
		cs->swap_mask = (uintptr_t)wide[3];
		if (wr->exp_opcode == (int)FA) {
			fa->add_val = (uintptr_t)wide[0];
			fa->field_boundary = (uintptr_t)wide[1];
		}
	}
}

static bool same_operand(const struct op *op, int n, uint32_t log,
			 uint64_t field)
{
	if (log > 3)
		return !memcmp(op->wide[n], (void *)(uintptr_t)field,
			       (size_t)1 << log);
	return op->arg[n] == (log == 3 ? field : field & ((1ULL << (8 << log)) - 1));
}

/*
 * Requests that reach the device are within its capabilities and equal to those
 * of the program.
 */
static void check_op(int d, const struct op *op,
		     const struct ibv_exp_send_wr *wr)
{
	uint32_t log = wr->ext_op.masked_atomics.log_arg_sz;
	const struct ibv_exp_cmp_swap *cs =
		&wr->ext_op.masked_atomics.wr_data.inline_data.op.cmp_swap;
	const struct ibv_exp_fetch_add *fa =
		&wr->ext_op.masked_atomics.wr_data.inline_data.op.fetch_add;

	CHECK(op->wr_id == wr->wr_id);
	CHECK(op->opcode == (int)wr->exp_opcode);
	CHECK(op->num_sge == (size_t)wr->num_sge);
	CHECK(!((op->flags ^ wr->exp_send_flags) &
		(IBV_EXP_SEND_FENCE | IBV_EXP_SEND_SIGNALED |
		 IBV_EXP_SEND_SOLICITED)));
	if (atomics[d])
		CHECK(wr->num_sge >= 0 &&
		      (uint32_t)wr->num_sge <= caps_sge[d]);
	if (atomics[d] && qps[d]->qp_type == IBV_QPT_XRC_SEND)
		CHECK(op->srqn == wr->qp_type.xrc.remote_srqn);
	CHECK(op->num_dc_addrs == !!to_fake(qps[d])->dc_type);
	if (op->num_dc_addrs)
		CHECK(op->dc_ah && op->dc_ah == wr->dc.ah &&
		      op->dct_num == wr->dc.dct_number &&
		      op->dct_key == wr->dc.dct_access_key);
	if (!is_masked(wr))
		return;
	CHECK(atomics[d] && log < 6 && 1u << log <= args[d] &&
	      fake.mxe.log_arg_sizes & 1u << log);
	CHECK(wr->exp_send_flags & IBV_EXP_SEND_EXT_ATOMIC_INLINE);
	CHECK(!(wr->exp_send_flags & IBV_EXP_SEND_INLINE));
	CHECK(op->log_arg_sz == log &&
	      op->addr == wr->ext_op.masked_atomics.remote_addr &&
	      op->rkey == wr->ext_op.masked_atomics.rkey);
	/* Comparing the first two operands is enough. */
	CHECK(same_operand(op, 0, log, wr->exp_opcode == (int)CS ?
				       cs->compare_val : fa->add_val));
	CHECK(same_operand(op, 1, log, wr->exp_opcode == (int)CS ?
				       cs->compare_mask : fa->field_boundary));
}

static void post(int d)
{
	static struct ibv_exp_send_wr wrs[MAX_CHAIN], before[MAX_CHAIN];
	struct ibv_exp_send_wr *bad = NULL;
	int n = 1 + take_8(&in) % MAX_CHAIN, i, ret;
	struct fake_qp *f;

	if (!qps[d])
		return;
	f = to_fake(qps[d]);
	f->num_ops = 0;
	f->room = 4 + take_8(&in) % MAX_OPS;
	f->poison = take_8(&in);
	take(&in, wide[1], 8);
	for (i = 0; i < n; i++) {
		init_wr(&wrs[i], i);
		wrs[i].next = i + 1 < n ? &wrs[i + 1] : NULL;
	}
	memcpy(before, wrs, sizeof(*wrs) * n);

	ret = ibv_exp_post_send(qps[d], wrs, &bad);
	CHECK(!memcmp(before, wrs, sizeof(*wrs) * n));
	CHECK(!f->started);
	if (ret)
		CHECK(ret > 0 && bad == &wrs[f->num_ops]);
	else
		CHECK(f->num_ops == n);
	for (i = 0; i < f->num_ops; i++)
		check_op(d, &f->ops[i], &wrs[i]);
}

/* ---- the device ---------------------------------------------------------- */

static void change_device(void)
{
	uint8_t how = take_8(&in);

	/* The attributes of a device do not change while it has QPs. */
	destroy(0);
	destroy(1);
	reset();
	if (how & 1)
		fake.mxe.log_arg_sizes = take_8(&in) & 0x3f;
	if (how & 2)
		fake.mxe.masked_ops = take_8(&in);
	if (how & 4)
		fake.mxe.reply_modes = take_8(&in);
	if (how & 8)
		fake.mxe_query_errno = EIO;
	if (how & 16)
		fake.create_errno = ENOMEM;
	if (how & 32)
		fake.no_builders = true;
	if (how & 64)
		std.err = take_8(&in) & 1 ? EOPNOTSUPP : ENOMEM;
	if (how & 128)
		take(&in, &fake.std.odp_caps, 64);
}

/* Returns true if a field has not been written. */
static bool is_kept(const void *field, size_t size)
{
	const uint8_t *byte = field;

	while (size--)
		if (*byte++ != 0x5a)
			return false;
	return true;
}

#define KEPT(field) CHECK(is_kept(&attr.field, sizeof(attr.field)))

static void query(int d)
{
	struct ibv_exp_device_attr attr;
	uint64_t mask_2;
	uint32_t mask;
	int ret;

	memset(&attr, 0x5a, sizeof(attr));
	take(&in, &attr.comp_mask, sizeof(attr.comp_mask));
	attr.comp_mask_2 = take_64(&in);
	mask = attr.comp_mask;
	mask_2 = attr.comp_mask_2;
	ret = ibv_exp_query_device(context_of(d), &attr);
	if (ret) {
		CHECK(ret > 0 && attr.comp_mask == mask);
		KEPT(masked_atomic);
		return;
	}
	CHECK(!(attr.comp_mask & ~mask));
	if (attr.comp_mask & IBV_EXP_DEVICE_ATTR_COMP_MASK_2)
		CHECK(!(attr.comp_mask_2 & ~mask_2));
	if (!(attr.comp_mask & IBV_EXP_DEVICE_ATTR_MASKED_ATOMICS))
		KEPT(masked_atomic);
	if (!(attr.comp_mask & IBV_EXP_DEVICE_ATTR_EXT_ATOMIC_ARGS))
		KEPT(ext_atom);
	if (!(attr.comp_mask & IBV_EXP_DEVICE_ATTR_ODP))
		KEPT(odp_caps);
	if (!(attr.comp_mask & IBV_EXP_DEVICE_ATTR_EXP_CAP_FLAGS))
		KEPT(exp_device_cap_flags);
}

/* ---- completions --------------------------------------------------------- */

static void poll(int d)
{
	int num = (int8_t)take_8(&in), n, room = num < 0 ? 0 : num;
	uint32_t size = take_8(&in) * 2;
	struct ibv_cq cq = { .context = context_of(d) };
	void *wcs = malloc((size_t)room * size + 1);

	fake_cq.taken = 0;
	fake_cq.num = take_8(&in) % MAX_WCS;
	fake_cq.error_at = take_8(&in) % MAX_WCS;
	take(&in, fake_cq.wcs, sizeof(fake_cq.wcs[0]) * 4);
	n = ibv_exp_poll_cq(&cq, num, wcs, size);
	CHECK(n <= room && n <= fake_cq.num);
	CHECK(n < 0 || fake_cq.taken == n);
	free(wcs);
}

/* ---- memory -------------------------------------------------------------- */

static void memory(void)
{
	struct ibv_exp_alloc_dm_attr alloc = { .length = take_8(&in) };
	struct ibv_exp_memcpy_dm_attr copy = {
		.memcpy_dir = take_8(&in) % 3,
	};
	struct ibv_exp_reg_mr_in reg = {
		.pd = &std_pd, .addr = (void *)take_64(&in),
		.length = 1 + take_8(&in),
	};
	struct ibv_exp_prefetch_attr prefetch = { };
	struct ibv_exp_dm *dm;
	struct ibv_mr *mr;
	void *host;

	spoil(&in, &alloc, sizeof(alloc));
	dm = ibv_exp_alloc_dm(std_ctx, &alloc);
	if (dm) {
		CHECK(std.length >= alloc.length && std.length % 4 == 0);
		spoil(&in, &copy, sizeof(copy));
		/* The memory of the host has exactly the stated length. */
		if (copy.length > 300)
			copy.length %= 300;
		host = calloc(1, copy.length ? copy.length : 1);
		copy.host_addr = host;
		if (!ibv_exp_memcpy_dm(dm, &copy))
			CHECK(copy.dm_offset + copy.length <= alloc.length);
		free(host);
	}

	take(&in, &reg.exp_access, sizeof(reg.exp_access));
	reg.comp_mask = take_8(&in);
	reg.create_flags = take_8(&in);
	reg.dm = dm;
	mr = ibv_exp_reg_mr(&reg);
	if (mr) {
		spoil(&in, &prefetch, sizeof(prefetch));
		ibv_exp_prefetch_mr(mr, &prefetch);
		std.err = 0;
		CHECK(!exp_dereg_mr(mr, f_dereg_mr));
	}
	std.err = 0;
	if (dm)
		CHECK(!ibv_exp_free_dm(dm));
}

/* ---- flows --------------------------------------------------------------- */

static void flow(void)
{
	static const struct ibv_exp_flow_spec_eth eth = {
		.type = IBV_EXP_FLOW_SPEC_ETH, .size = sizeof(eth),
	};
	static const struct ibv_exp_flow_spec_ipv6 ipv6 = {
		.type = IBV_EXP_FLOW_SPEC_IPV6, .size = sizeof(ipv6),
	};
	struct ibv_exp_flow_attr hdr = { .num_of_specs = take_8(&in) % 6 };
	struct ibv_qp qp = { .context = std_ctx };
	uint8_t specs[400];
	size_t len = 0, size;
	struct ibv_exp_flow *flow;
	char *attr;
	int i;

	memset(specs, 0, sizeof(specs));
	for (i = 0; i < hdr.num_of_specs; i++) {
		bool is_eth = take_8(&in) & 1;

		size = is_eth ? sizeof(eth) : sizeof(ipv6);
		if (len + size > sizeof(specs))
			break;
		memcpy(specs + len, is_eth ? (void *)&eth : (void *)&ipv6,
		       size);
		len += size;
	}
	spoil(&in, specs, len ? len : 4);
	size = sizeof(hdr) + len;
	hdr.size = take_8(&in) & 1 ? take_8(&in) : size;
	if (hdr.size > size)
		hdr.size = size;

	/* As long as its size member says, but at least a header. */
	attr = malloc(hdr.size > sizeof(hdr) ? hdr.size : sizeof(hdr));
	memcpy(attr, &hdr, sizeof(hdr));
	if (hdr.size > sizeof(hdr))
		memcpy(attr + sizeof(hdr), specs, hdr.size - sizeof(hdr));
	flow = ibv_exp_create_flow(&qp, (void *)attr);
	free(attr);
	std.err = 0;
	if (flow)
		CHECK(!ibv_exp_destroy_flow(flow));
}

/* ---- the other calls ----------------------------------------------------- */

static void other(int d)
{
	struct ibv_exp_port_attr port = { .comp_mask = take_8(&in) };
	struct ibv_exp_gid_attr gid = { .comp_mask = take_8(&in) };
	struct ibv_exp_cq_init_attr cq_init = { .comp_mask = take_8(&in) };
	struct ibv_exp_cq_attr cq_attr = { .comp_mask = take_8(&in) };
	struct ibv_exp_qp_attr qp_attr = { };
	struct ibv_exp_create_srq_attr srq = { .pd = &std_pd };
	struct ibv_exp_values values = { };

	take(&in, &port.mask1, sizeof(port.mask1));
	ibv_exp_query_port(context_of(1), 1, &port);
	ibv_exp_query_gid_attr(std_ctx, 2, 5, &gid);
	take(&in, &std.cycles, sizeof(std.cycles));
	take(&in, &fake.std.hca_core_clock, sizeof(fake.std.hca_core_clock));
	if (!ibv_exp_query_values(std_ctx, take_8(&in), &values) &&
	    values.comp_mask & IBV_EXP_VALUES_CLOCK_INFO)
		ibv_exp_cqe_ts_to_ns(&values.clock_info, take_64(&in));

	cq_init.flags = take_8(&in) & ~IBV_EXP_CQ_TIMESTAMP;
	ibv_exp_create_cq(std_ctx, 100, NULL, NULL, 3, &cq_init);
	cq_attr.cq_cap_flags = take_8(&in);
	ibv_exp_modify_cq(&std.cq, &cq_attr, take_8(&in));
	spoil(&in, &qp_attr, sizeof(qp_attr));
	if (qps[d])
		ibv_exp_modify_qp(qps[d], &qp_attr, take_64(&in));
	spoil(&in, &srq, sizeof(srq));
	srq.pd = &std_pd;
	ibv_exp_create_srq(std_ctx, &srq);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static bool begun;
	int step;

	if (!begun)
		fake_init();
	begun = true;
	in = (struct input) { data, size };
	reset();
	for (step = 0; step < MAX_STEPS && in.left; step++) {
		uint8_t what = take_8(&in);
		int d = what >> 7;

		switch (what % 16) {
		case 0 ... 3:
			create_qp(d); break;
		case 4 ... 9:
			post(d); break;
		case 10:
			change_device(); break;
		case 11:
			query(d); break;
		case 12:
			poll(d); break;
		case 13:
			memory(); break;
		case 14:
			flow(); break;
		default:
			other(d);
		}
	}
	destroy(0);
	destroy(1);
	return 0;
}
