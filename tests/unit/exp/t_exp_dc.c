// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Tests of the dynamically connected (DC) transport of libibverbs_exp against
 * the fake devices of fake.c and fake_mlx5.c: capabilities, initiators, targets
 * and events.
 */
#include <endian.h>
#include <errno.h>

#include "backend_mlx5_wqe.h"
#include "dct.h"
#include "fake_mlx5.h"
#include "tap.h"

#define KEY 0xfedcba9876543210ull
#define DCTN 0x123456

static struct ibv_ah mxe_ah, mlx5_ah;
static struct ibv_cq cq;
static struct ibv_srq srq;

/* Results and recorded arguments of the libibverbs calls for a target's QP. */
static struct {
	int modify_errno[2];	/* of INIT and RTR */
	int gid_errno, query_errno, destroy_errno;
	enum ibv_qp_state state;
	struct ibv_qp_attr attr[2];
	int mask[2];
	int modified;
	struct ibv_async_event event;
	struct ibv_async_event acked;
	bool raises;		/* the move to RTR raises an event */
	struct ibv_async_event raised;
} lib;

static int f_get_event(struct ibv_context *context, struct ibv_async_event *event)
{
	(void)context;
	*event = lib.event;
	return 0;
}

int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	int n = attr->qp_state == IBV_QPS_RTR;

	lib.modified++;
	lib.attr[n] = *attr;
	lib.mask[n] = mask;
	if (n && lib.raises) {
		lib.event.event_type = IBV_EVENT_QP_REQ_ERR;
		lib.event.element.qp = qp;
		exp_dct_get_event(qp->context, &lib.raised, f_get_event);
	}
	return lib.modify_errno[n];
}

int ibv_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask,
		 struct ibv_qp_init_attr *init_attr)
{
	(void)qp;
	(void)mask;
	(void)init_attr;
	attr->qp_state = lib.state;
	attr->port_num = lib.attr[0].port_num;
	return lib.query_errno;
}

int ibv_query_gid(struct ibv_context *context, uint8_t port_num, int index,
		  union ibv_gid *gid)
{
	(void)context;
	memset(gid, port_num + index, sizeof(*gid));
	return lib.gid_errno;
}

/* objects.o needs these. */
struct ibv_cq *ibv_create_cq(struct ibv_context *context, int cqe,
			     void *cq_context, struct ibv_comp_channel *channel,
			     int comp_vector)
{
	(void)context;
	(void)cqe;
	(void)cq_context;
	(void)channel;
	(void)comp_vector;
	return NULL;
}

struct ibv_srq *ibv_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *attr)
{
	(void)pd;
	(void)attr;
	return NULL;
}

static void reset(void)
{
	fake_mlx5_reset();
	memset(&lib, 0, sizeof(lib));
	lib.state = IBV_QPS_RTR;
	mxe_ah.context = mxe_ctx;
	mlx5_ah.context = mlx5_ctx;
}

/* ---- capabilities -------------------------------------------------------- */

static void is_dc(struct ibv_context *context, bool has, int req, int res,
		  const char *name)
{
	struct ibv_exp_device_attr attr = {
		.comp_mask = IBV_EXP_DEVICE_ATTR_EXP_CAP_FLAGS |
			     IBV_EXP_DEVICE_DC_RD_REQ |
			     IBV_EXP_DEVICE_DC_RD_RES |
			     IBV_EXP_DEVICE_ATTR_MAX_DCT,
	};

	is_int(ibv_exp_query_device(context, &attr), 0, "%s: query", name);
	ok(!!(attr.exp_device_cap_flags & IBV_EXP_DEVICE_DC_TRANSPORT) == has,
	   "%s: DC_TRANSPORT", name);
	is_int(attr.max_dct, has ? 1234 : 0, "%s: max_dct", name);
	is_int(attr.max_dc_req_rd_atom, req, "%s: of an initiator", name);
	is_int(attr.max_dc_res_rd_atom, res, "%s: of a target", name);
}

static void test_caps(void)
{
	reset();
	is_dc(mxe_ctx, true, 16, 16, "mxe");
	is_dc(mlx5_ctx, true, 16, 32, "mlx5");
	is_dc(std_ctx, false, 0, 0, "another device");
	fake_mlx5.no_dct = true;
	is_dc(mlx5_ctx, false, 0, 0, "mlx5 without DC");
	reset();
	fake_mlx5.devx_errno = EOPNOTSUPP;
	is_dc(mlx5_ctx, false, 0, 0, "mlx5 without DEVX");
}

/* ---- initiators ---------------------------------------------------------- */

static struct ibv_qp *create_dci(struct ibv_context *context, uint32_t comp_mask,
				 uint32_t flags)
{
	struct ibv_exp_qp_init_attr attr;

	init_attr(&attr, context, comp_mask);
	if (context == mlx5_ctx) {
		attr.pd = &mlx5_pd;
		attr.send_cq = &mlx5_cq.cq;
	}
	attr.qp_type = IBV_EXP_QPT_DC_INI;
	/* Uninitialised pointers, which no initiator uses. */
	attr.recv_cq = (void *)8;
	attr.srq = (void *)8;
	if (comp_mask & FLAGS)
		attr.exp_create_flags = flags;
	if (comp_mask & ARG)
		attr.max_atomic_arg = 32;
	errno = 0;
	return ibv_exp_create_qp(context, &attr);
}

static struct ibv_qp *must_create_dci(struct ibv_context *context)
{
	struct ibv_qp *qp = create_dci(context, PD | FLAGS | ARG, 0);

	if (!qp)
		bail_out("ibv_exp_create_qp: %s", strerror(errno));
	return qp;
}

static void test_create_dci(void)
{
	struct ibv_qp *qp;

	reset();
	fake.mxe.log_arg_sizes = SIZES;
	qp = must_create_dci(mxe_ctx);
	ok(to_fake(qp)->dc_type == MXEDV_DCTYPE_DCI && !to_fake(qp)->dct_key &&
	   to_fake(qp)->max_atomic_arg == 32, "mxe: created as an initiator");
	ok(fake.last.recv_cq == fake.last.send_cq && !fake.last.srq &&
	   !fake.last.cap.max_recv_wr && !fake.last.cap.max_recv_sge,
	   "mxe: it receives nothing");
	ibv_destroy_qp(qp);
	qp = create_dci(mxe_ctx, PD, 0);
	ok(qp && to_fake(qp)->dc_type == MXEDV_DCTYPE_DCI,
	   "mxe: the PD is sufficient");
	ibv_destroy_qp(qp);
	qp = create_dci(mxe_ctx, PD | FLAGS | ARG, BE);
	ok(qp && to_fake(qp)->create_flags & MXEDV_QP_CREATE_ATOMIC_BE_REPLY,
	   "mxe: with big-endian results");
	ibv_destroy_qp(qp);

	ok(!create_dci(mxe_ctx, PD | FLAGS, IBV_EXP_QP_CREATE_UMR) &&
	   errno == EINVAL, "an unsupported flag");
	ok(!create_dci(std_ctx, PD, 0) && errno == ENOSYS &&
	   !fake.plain_created && !fake.ex_created,
	   "another device has no initiators");
	ok(!create_dci(std_ctx, PD | FLAGS | ARG, 0) && errno == ENOSYS,
	   "... with other attributes, too");
	fake_mlx5.no_dct = true;
	ok(!create_dci(mlx5_ctx, PD, 0) && errno == ENOSYS &&
	   !fake_mlx5.created, "mlx5 without DC has none");
}

static void init_wr(struct ibv_exp_send_wr *wr, struct ibv_sge *sge, int opcode,
		    uint64_t wr_id)
{
	memset(wr, 0xa5, sizeof(*wr));
	wr->wr_id = wr_id;
	wr->next = NULL;
	wr->sg_list = sge;
	wr->num_sge = 1;
	wr->exp_opcode = (enum ibv_exp_wr_opcode)opcode;
	wr->exp_send_flags = IBV_EXP_SEND_SIGNALED;
	wr->wr.rdma.remote_addr = 0x2000;
	wr->wr.rdma.rkey = 0x99;
	wr->dc.ah = &mxe_ah;
	wr->dc.dct_number = DCTN + (uint32_t)wr_id;
	wr->dc.dct_access_key = KEY + wr_id;
	if (opcode == CS || opcode == FA) {
		wr->exp_send_flags |= IBV_EXP_SEND_EXT_ATOMIC_INLINE;
		wr->ext_op.masked_atomics.log_arg_sz = 3;
		wr->ext_op.masked_atomics.remote_addr = 0x2000;
		wr->ext_op.masked_atomics.rkey = 0x99;
	}
}

static const int opcodes[] = {
	IBV_EXP_WR_RDMA_WRITE, IBV_EXP_WR_RDMA_WRITE_WITH_IMM, IBV_EXP_WR_SEND,
	IBV_EXP_WR_SEND_WITH_IMM, IBV_EXP_WR_SEND_WITH_INV,
	IBV_EXP_WR_RDMA_READ, IBV_EXP_WR_ATOMIC_CMP_AND_SWP,
	IBV_EXP_WR_ATOMIC_FETCH_AND_ADD, CS, FA,
};

/* One chain with every opcode, each for another target. */
static void test_post(void)
{
	struct ibv_exp_send_wr wrs[ARRAY_SIZE(opcodes)], *bad = NULL;
	struct ibv_sge sge = { .addr = 0x1000, .length = 8 };
	struct ibv_qp *qp;
	size_t i;

	reset();
	qp = must_create_dci(mxe_ctx);
	for (i = 0; i < ARRAY_SIZE(opcodes); i++) {
		init_wr(&wrs[i], &sge, opcodes[i], i);
		if (i)
			wrs[i - 1].next = &wrs[i];
	}
	is_int(ibv_exp_post_send(qp, wrs, &bad), 0, "chain of every opcode");
	is_int(to_fake(qp)->num_ops, ARRAY_SIZE(opcodes), "all are posted");
	is_int(to_fake(qp)->doorbells, 1, "one doorbell");
	for (i = 0; i < ARRAY_SIZE(opcodes); i++) {
		const struct op *op = &to_fake(qp)->ops[i];

		ok(op->wr_id == i && op->opcode == opcodes[i] &&
		   op->num_dc_addrs == 1 && op->dc_ah == &mxe_ah &&
		   op->dct_num == DCTN + i && op->dct_key == KEY + i &&
		   op->sge_addr == 0x1000, "opcode %d has its target",
		   opcodes[i]);
	}
	ibv_destroy_qp(qp);

	qp = must_create(mxe_ctx, PD | ARG, 0, 8);
	init_wr(&wrs[0], &sge, IBV_EXP_WR_RDMA_WRITE, 0);
	is_int(ibv_exp_post_send(qp, wrs, &bad), 0, "RC");
	is_int(to_fake(qp)->ops[0].num_dc_addrs, 0, "... has no target");
	ibv_destroy_qp(qp);
}

static void test_post_errors(void)
{
	static const int without[] = {
		IBV_EXP_WR_NOP, IBV_EXP_WR_LOCAL_INV, IBV_EXP_WR_BIND_MW,
	};
	struct ibv_exp_send_wr wrs[2], *bad;
	struct ibv_sge sge = { .length = 8 };
	struct ibv_qp *qp;
	size_t i;

	reset();
	qp = must_create_dci(mxe_ctx);
	for (i = 0; i < ARRAY_SIZE(without); i++) {
		init_wr(&wrs[0], &sge, without[i], 0);
		wrs[0].num_sge = 0;
		bad = NULL;
		ok(ibv_exp_post_send(qp, wrs, &bad) == EINVAL &&
		   bad == wrs, "opcode %d has no target", without[i]);
	}
	init_wr(&wrs[0], &sge, IBV_EXP_WR_SEND, 0);
	init_wr(&wrs[1], &sge, FA, 1);
	wrs[0].next = &wrs[1];
	wrs[1].dc.ah = NULL;
	ok(ibv_exp_post_send(qp, wrs, &bad) == EINVAL && bad == &wrs[1] &&
	   to_fake(qp)->num_ops == 1, "only those before one without an address");
	ibv_destroy_qp(qp);
}

static void test_modify(void)
{
	const uint64_t init = IBV_EXP_QP_STATE | IBV_EXP_QP_PKEY_INDEX |
			      IBV_EXP_QP_PORT;
	struct ibv_exp_qp_attr attr = {
		.qp_state = IBV_QPS_INIT, .port_num = 3, .dct_key = KEY,
	};
	struct ibv_qp *qp;

	reset();
	qp = must_create_dci(mxe_ctx);
	is_int(ibv_exp_modify_qp(qp, &attr, init | IBV_EXP_QP_DC_KEY), 0,
	       "modify with a DC key");
	ok(lib.mask[0] == (IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT) &&
	   lib.attr[0].port_num == 3, "the others are passed");
	ibv_destroy_qp(qp);

	qp = must_create(mxe_ctx, PD | ARG, 0, 8);
	lib.modified = 0;
	is_int(ibv_exp_modify_qp(qp, &attr, init | IBV_EXP_QP_DC_KEY), EINVAL,
	       "an RC QP has no DC key");
	is_int(lib.modified, 0, "nothing is modified");
	ibv_destroy_qp(qp);
}

/* Programs for OFED set little of the address vector of an initiator. */
static void test_modify_av(void)
{
	const uint64_t init = IBV_EXP_QP_STATE | IBV_EXP_QP_PKEY_INDEX |
			      IBV_EXP_QP_PORT;
	const uint64_t rtr = IBV_EXP_QP_STATE | IBV_EXP_QP_PATH_MTU |
			     IBV_EXP_QP_AV;
	const struct ibv_ah_attr *av = &lib.attr[1].ah_attr;
	struct ibv_exp_qp_attr attr = {
		.qp_state = IBV_QPS_INIT, .port_num = 3,
	};
	union ibv_gid gid;
	struct ibv_qp *qp;

	reset();
	qp = must_create_dci(mxe_ctx);
	is_int(ibv_exp_modify_qp(qp, &attr, init), 0, "av: INIT");
	attr = (struct ibv_exp_qp_attr) {
		.qp_state = IBV_QPS_RTR,
		.ah_attr = { .is_global = 1, .sl = 5, .grh.sgid_index = 4 },
	};
	memset(&gid, 3 + 4, sizeof(gid));
	is_int(ibv_exp_modify_qp(qp, &attr, rtr), 0, "av: RTR without a port");
	is_int(av->port_num, 3, "... gets that of INIT");
	ok(!memcmp(&av->grh.dgid, &gid, sizeof(gid)), "... and the own GID");
	ok(av->sl == 5 && av->grh.sgid_index == 4, "... and has all others");
	is_int(attr.ah_attr.port_num, 0, "... the program's is not changed");

	attr.ah_attr.port_num = 2;
	attr.ah_attr.grh.dgid.raw[15] = 1;
	is_int(ibv_exp_modify_qp(qp, &attr, rtr), 0, "av: complete");
	ok(av->port_num == 2 && av->grh.dgid.raw[15] == 1 &&
	   !av->grh.dgid.raw[0], "... is passed as it is");

	attr.ah_attr.is_global = 0;
	memset(&attr.ah_attr.grh, 0, sizeof(attr.ah_attr.grh));
	is_int(ibv_exp_modify_qp(qp, &attr, rtr), 0, "av: without a GRH");
	is_int(av->grh.dgid.raw[0], 0, "... gets no GID");

	lib.modified = 0;
	attr.ah_attr.is_global = 1;
	lib.gid_errno = -1;
	is_int(ibv_exp_modify_qp(qp, &attr, rtr), EINVAL, "av: no such GID");
	lib.gid_errno = 0;
	attr.ah_attr.port_num = 0;
	lib.query_errno = ENODEV;
	is_int(ibv_exp_modify_qp(qp, &attr, rtr), ENODEV,
	       "av: the port is unknown");
	is_int(lib.modified, 0, "... nothing is modified");
	ibv_destroy_qp(qp);

	qp = must_create(mxe_ctx, PD | ARG, 0, 8);
	is_int(ibv_exp_modify_qp(qp, &attr, rtr), 0, "av: of an RC QP");
	ok(!av->port_num && !av->grh.dgid.raw[0], "... is passed as it is");
	ibv_destroy_qp(qp);
}

/* ---- initiators of mlx5 -------------------------------------------------- */

static void test_mlx5_create(void)
{
	struct ibv_exp_qp_init_attr attr;
	struct ibv_qp *qp;

	reset();
	qp = must_create_dci(mlx5_ctx);
	ok(fake_mlx5.last_mlx5.comp_mask & MLX5DV_QP_INIT_ATTR_MASK_DC &&
	   fake_mlx5.last_mlx5.dc_init_attr.dc_type == MLX5DV_DCTYPE_DCI &&
	   fake_mlx5.last.qp_type == IBV_QPT_DRIVER && !fake_mlx5.last.srq,
	   "mlx5: created as an initiator");
	ok(to_fake_mlx5(qp)->wqe_size >= EXP_MLX5_MAX_FIXED_DC + 16,
	   "mlx5: a slot of the send queue has room for the largest WQE");
	ibv_destroy_qp(qp);

	mlx5_init_attr(&attr, 16, 0, true);
	attr.qp_type = IBV_EXP_QPT_DC_INI;
	attr.cap.max_send_sge = EXP_MLX5_MAX_SGE_DC + 1;
	ok(!ibv_exp_create_qp(mlx5_ctx, &attr) && errno == EINVAL,
	   "mlx5: too many buffers");
	attr.cap.max_send_sge = EXP_MLX5_MAX_SGE_DC;
	qp = ibv_exp_create_qp(mlx5_ctx, &attr);
	ok(qp, "mlx5: as many as a WQE has room for");
	ibv_destroy_qp(qp);
}

/* The device executes the requests, plain and masked. */
static void test_mlx5_post(void)
{
	static const int executed[] = {
		IBV_EXP_WR_RDMA_WRITE, IBV_EXP_WR_RDMA_READ,
		IBV_EXP_WR_ATOMIC_FETCH_AND_ADD, FA, CS, IBV_EXP_WR_SEND,
	};
	static uint64_t remote, local;
	struct ibv_send_wr std = { .opcode = IBV_WR_SEND }, *std_bad = NULL;
	struct ibv_sge sge = { (uintptr_t)&local, 8, 7 };
	struct ibv_exp_send_wr wr, *bad;
	struct ibv_wc wc;
	struct ibv_qp *qp;
	size_t i;

	reset();
	fake_mlx5_region(&remote, 8, 9);
	fake_mlx5_region(&local, 8, 7);
	qp = must_create_dci(mlx5_ctx);
	for (i = 0; i < ARRAY_SIZE(executed); i++) {
		int opcode = executed[i];

		init_wr(&wr, &sge, opcode, i);
		wr.dc.ah = &mlx5_ah;
		wr.wr.rdma.remote_addr = (uintptr_t)&remote;
		wr.wr.rdma.rkey = 9;
		if (opcode == IBV_EXP_WR_ATOMIC_FETCH_AND_ADD)
			wr.wr.atomic.rkey = 9;
		if (opcode == FA || opcode == CS) {
			wr.ext_op.masked_atomics.remote_addr = (uintptr_t)&remote;
			wr.ext_op.masked_atomics.rkey = 9;
		}
		is_int(ibv_exp_post_send(qp, &wr, &bad), 0, "mlx5: opcode %d",
		       opcode);
		ok(ibv_poll_cq(&mlx5_cq.cq, 1, &wc) == 1 && !wc.status &&
		   wc.wr_id == i, "... is executed");
		ok(fake_mlx5.dc_key == KEY + i &&
		   fake_mlx5.dct_num == DCTN + i, "... has its target");
	}
	init_wr(&wr, &sge, FA, 0);
	ok(ibv_exp_post_send(qp, &wr, &bad) == EINVAL && bad == &wr,
	   "mlx5: an address handle of another device");
	ok(ibv_post_send(qp, &std, &std_bad) == EINVAL && std_bad == &std,
	   "mlx5: ibv_post_send() is refused");
	ibv_destroy_qp(qp);
}

/* ---- targets ------------------------------------------------------------- */

static struct ibv_exp_dct_init_attr dct_attr(struct ibv_context *context)
{
	return (struct ibv_exp_dct_init_attr) {
		.pd = context == mxe_ctx ? &mxe_pd :
		      context == mlx5_ctx ? &mlx5_pd : &std_pd,
		.cq = &cq,
		.srq = &srq,
		.dc_key = KEY,
		.port = 2,
		.access_flags = IBV_ACCESS_REMOTE_READ | IBV_ACCESS_LOCAL_WRITE,
		.min_rnr_timer = 12,
		.tclass = 7,
		.flow_label = 0x54321,
		.mtu = IBV_MTU_2048,
		.pkey_index = 4,
		.gid_index = 3,
		.hop_limit = 9,
		.inline_size = 64,
		.create_flags = IBV_EXP_DCT_OOO_RW_DATA_PLACEMENT,
	};
}

static struct ibv_exp_dct *create_dct(struct ibv_context *context)
{
	struct ibv_exp_dct_init_attr attr = dct_attr(context);

	errno = 0;
	return ibv_exp_create_dct(context, &attr);
}

static void is_prepared(const char *name)
{
	const struct ibv_qp_attr *init = &lib.attr[0], *rtr = &lib.attr[1];

	ok(lib.mask[0] == (IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
			   IBV_QP_ACCESS_FLAGS) &&
	   init->qp_state == IBV_QPS_INIT && init->pkey_index == 4 &&
	   init->port_num == 2 && init->qp_access_flags ==
	   (IBV_ACCESS_REMOTE_READ | IBV_ACCESS_LOCAL_WRITE), "%s: INIT", name);
	ok(lib.mask[1] == (IBV_QP_STATE | IBV_QP_PATH_MTU | IBV_QP_AV |
			   IBV_QP_MIN_RNR_TIMER) &&
	   rtr->path_mtu == IBV_MTU_2048 && rtr->min_rnr_timer == 12 &&
	   rtr->ah_attr.is_global && rtr->ah_attr.port_num == 2 &&
	   rtr->ah_attr.grh.sgid_index == 3 &&
	   rtr->ah_attr.grh.traffic_class == 7 &&
	   rtr->ah_attr.grh.flow_label == 0x54321 &&
	   rtr->ah_attr.grh.hop_limit == 9 &&
	   rtr->ah_attr.grh.dgid.raw[15] == 5, "%s: RTR", name);
}

static void test_create_dct(void)
{
	struct ibv_exp_dct *dct;

	reset();
	dct = create_dct(mxe_ctx);
	if (!ok(dct && fake.dct_created == 1, "mxe: a target"))
		return;
	ok(fake.last.srq == &srq && fake.last.recv_cq == &cq &&
	   fake.last.send_cq == &cq && fake.last.pd == &mxe_pd,
	   "mxe: its objects");
	ok(dct->dct_num && dct->context == mxe_ctx && dct->pd == &mxe_pd &&
	   dct->srq == &srq && dct->cq == &cq, "mxe: its members");
	is_prepared("mxe");
	is_int(ibv_exp_destroy_dct(dct), 0, "mxe: destroyed");
	is_int(fake.destroyed, 1, "... with its QP");

	reset();
	dct = create_dct(mlx5_ctx);
	if (!ok(dct && fake_mlx5.created == 1, "mlx5: a target"))
		return;
	ok(fake_mlx5.last_mlx5.comp_mask == MLX5DV_QP_INIT_ATTR_MASK_DC &&
	   fake_mlx5.last_mlx5.dc_init_attr.dc_type == MLX5DV_DCTYPE_DCT &&
	   fake_mlx5.last_mlx5.dc_init_attr.dct_access_key == KEY &&
	   fake_mlx5.last.comp_mask == IBV_QP_INIT_ATTR_PD &&
	   fake_mlx5.last.qp_type == IBV_QPT_DRIVER &&
	   fake_mlx5.last.srq == &srq, "mlx5: its attributes");
	is_prepared("mlx5");
	is_int(ibv_exp_destroy_dct(dct), 0, "mlx5: destroyed");
}

static void test_create_dct_errors(void)
{
	struct ibv_exp_dct_init_attr attr;
	int n;

	reset();
	ok(!create_dct(std_ctx) && errno == ENOSYS,
	   "another device has no targets");
#define BAD(member, value, err) do {					\
	attr = dct_attr(mxe_ctx);					\
	attr.member = value;						\
	ok(!ibv_exp_create_dct(mxe_ctx, &attr) && errno == (err),	\
	   "bad %s", #member);						\
} while (0)
	BAD(pd, NULL, EINVAL);
	BAD(cq, NULL, EINVAL);
	BAD(srq, NULL, EINVAL);
	BAD(create_flags, 2, EINVAL);
	BAD(comp_mask, 1, EINVAL);
	is_int(fake.dct_created, 0, "... none is created");
	lib.gid_errno = -1;
	BAD(gid_index, 99, EINVAL);
	lib.gid_errno = 0;
	for (n = 0; n < 2; n++) {
		lib.modify_errno[n] = ENODEV;
		ok(!create_dct(mxe_ctx) && errno == ENODEV, "%s fails",
		   n ? "RTR" : "INIT");
		lib.modify_errno[n] = 0;
	}
	is_int(fake.destroyed, fake.dct_created, "... nothing is left");
}

static void test_query(void)
{
	struct ibv_exp_dct_attr got = { };
	struct ibv_exp_dct *dct;

	reset();
	dct = create_dct(mxe_ctx);
	is_int(ibv_exp_query_dct(dct, &got), 0, "query");
	ok(got.dc_key == KEY && got.port == 2 && got.access_flags ==
	   (IBV_ACCESS_REMOTE_READ | IBV_ACCESS_LOCAL_WRITE) &&
	   got.min_rnr_timer == 12 && got.tclass == 7 &&
	   got.flow_label == 0x54321 && got.mtu == IBV_MTU_2048 &&
	   got.pkey_index == 4 && got.gid_index == 3 && got.hop_limit == 9 &&
	   got.srq == &srq && got.cq == &cq && got.pd == &mxe_pd,
	   "query: the attributes");
	is_int(got.state, IBV_EXP_DCT_STATE_ACTIVE, "query: active");
	lib.state = IBV_QPS_ERR;
	is_int(ibv_exp_query_dct(dct, &got), 0, "query of a target in error");
	is_int(got.state, IBV_EXP_DCT_STATE_DRAINED, "query: drained");
	lib.query_errno = EIO;
	ok(ibv_exp_query_dct(dct, &got) == EIO && errno == EIO, "query fails");
	got.comp_mask = 1;
	is_int(ibv_exp_query_dct(dct, &got), EINVAL, "query: bad comp_mask");
	is_int(ibv_exp_destroy_dct(dct), 0, "destroyed");
}

static void is_violations(struct ibv_exp_dct *dct, uint32_t want, const char *name)
{
	struct ibv_exp_dct_attr got = { .key_violations = 99 };

	is_int(ibv_exp_query_dct(dct, &got), 0, "%s: query", name);
	is_u64(got.key_violations, want, "%s: key_violations", name);
}

static void test_arm(void)
{
	struct ibv_exp_dct_attr got = { };
	struct ibv_exp_arm_attr arm = { };
	struct ibv_exp_dct *dct;

	reset();
	dct = create_dct(mxe_ctx);
	fake.dct.key_violations = 7;
	is_violations(dct, 7, "mxe");
	fake.dct.key_violations = 1ULL << 32;
	is_violations(dct, UINT32_MAX, "mxe, too many");
	is_int(ibv_exp_arm_dct(dct, &arm), 0, "mxe: arm");
	ok(fake.armed && fake.armed->qp_num == dct->dct_num &&
	   fake.dct.armed_events == MXEDV_DCT_KEY_VIOLATION, "... of its QP");
	arm.comp_mask = 1;
	fake.armed = NULL;
	is_int(ibv_exp_arm_dct(dct, &arm), EINVAL, "arm: bad comp_mask");
	arm.comp_mask = 0;
	is_int(ibv_exp_arm_dct(NULL, &arm), EINVAL, "arm: no target");
	ok(!fake.armed, "... none is armed");
	fake.dct_errno = EIO;
	ok(ibv_exp_arm_dct(dct, &arm) == EIO && errno == EIO, "arm fails");
	is_int(ibv_exp_query_dct(dct, &got), EIO, "query fails, too");
	fake.dct_errno = EOPNOTSUPP;
	is_int(ibv_exp_arm_dct(dct, &arm), ENOSYS, "an older kernel: arm");
	is_violations(dct, 0, "an older kernel");
	fake.dct_errno = 0;
	fake.old_mxedv = true;
	is_int(ibv_exp_arm_dct(dct, &arm), ENOSYS, "an older libmxe: arm");
	is_violations(dct, 0, "an older libmxe");
	is_int(ibv_exp_destroy_dct(dct), 0, "destroyed");

	reset();
	dct = create_dct(mlx5_ctx);
	is_int(ibv_exp_arm_dct(dct, &arm), ENOSYS, "mlx5: arm");
	is_violations(dct, 0, "mlx5");
	is_int(ibv_exp_destroy_dct(dct), 0, "mlx5: destroyed");
}

/* ---- events -------------------------------------------------------------- */

static int f_get_no_event(struct ibv_context *context,
			  struct ibv_async_event *event)
{
	(void)context;
	(void)event;
	return -1;
}

static void f_ack_event(struct ibv_async_event *event)
{
	lib.acked = *event;
}

static void is_event(struct ibv_exp_dct *dct, struct ibv_qp *qp,
		     enum ibv_event_type type, int want, const char *name)
{
	struct ibv_async_event event;
	void *element;

	lib.event.element.qp = qp;
	lib.event.event_type = type;
	is_int(exp_dct_get_event(mxe_ctx, &event, f_get_event), 0, "%s", name);
	memcpy(&element, &event.element, sizeof(element));
	ok((int)event.event_type == want && element ==
	   (want == (int)type ? (void *)qp : (void *)dct),
	   "... has its type and object");
	exp_dct_ack_event(&event, f_ack_event);
	ok(lib.acked.event_type == type && lib.acked.element.qp == qp,
	   "... and is acknowledged as that of libibverbs");
}

static void test_events(void)
{
	struct ibv_async_event event;
	struct ibv_exp_dct *dct[2];
	struct ibv_qp *qp[2], *dci;

	reset();
	fake.reuse = calloc(1, sizeof(*fake.reuse));
	qp[0] = &fake.reuse->qp;
	dct[0] = create_dct(mxe_ctx);
	fake.reuse = calloc(1, sizeof(*fake.reuse));
	qp[1] = &fake.reuse->qp;
	dct[1] = create_dct(mxe_ctx);
	fake.reuse = NULL;
	dci = must_create_dci(mxe_ctx);

	is_event(dct[0], qp[0], IBV_EVENT_QP_ACCESS_ERR,
		 IBV_EXP_EVENT_DCT_KEY_VIOLATION, "a key violation of a target");
	is_event(dct[1], qp[1], IBV_EVENT_QP_REQ_ERR,
		 IBV_EXP_EVENT_DCT_REQ_ERR, "a request error of another one");
	is_event(NULL, dci, IBV_EVENT_QP_ACCESS_ERR, IBV_EVENT_QP_ACCESS_ERR,
		 "an access error of an initiator");
	is_event(NULL, (struct ibv_qp *)&srq, IBV_EVENT_SRQ_LIMIT_REACHED,
		 IBV_EVENT_SRQ_LIMIT_REACHED, "an event of an SRQ");
	is_int(exp_dct_get_event(mxe_ctx, &event, f_get_no_event), -1,
	       "no event");

	/* While a target is destroyed, its address may be that of a new QP. */
	qp[0]->qp_context = dci;
	is_event(NULL, qp[0], IBV_EVENT_QP_ACCESS_ERR, IBV_EVENT_QP_ACCESS_ERR,
		 "an event of a new QP at the address of a target");
	is_int(ibv_exp_destroy_dct(dct[0]), 0, "a target is destroyed");
	is_event(NULL, qp[0], IBV_EVENT_QP_REQ_ERR, IBV_EVENT_QP_REQ_ERR,
		 "an event of a later QP at its address");
	is_int(ibv_exp_destroy_dct(dct[1]), 0, "the other target is destroyed");
	ibv_destroy_qp(dci);
}

/* A packet can cause an event before ibv_exp_create_dct() returns. */
static void test_early_event(void)
{
	struct ibv_exp_dct *dct;
	void *element;

	reset();
	lib.raises = true;
	dct = create_dct(mxe_ctx);
	memcpy(&element, &lib.raised.element, sizeof(element));
	ok(dct && (int)lib.raised.event_type == IBV_EXP_EVENT_DCT_REQ_ERR &&
	   element == dct, "an event of a target that is being created");
	exp_dct_ack_event(&lib.raised, f_ack_event);
	ok(lib.acked.event_type == IBV_EVENT_QP_REQ_ERR &&
	   lib.acked.element.qp->qp_num == dct->dct_num, "... is acknowledged");
	is_int(ibv_exp_destroy_dct(dct), 0, "the target is destroyed");
}

int main(void)
{
	plan(0);
	fake_init();
	fake_mlx5_init();
	test_caps();
	test_create_dci();
	test_post();
	test_post_errors();
	test_modify();
	test_modify_av();
	test_mlx5_create();
	test_mlx5_post();
	test_create_dct();
	test_create_dct_errors();
	test_query();
	test_arm();
	test_events();
	test_early_event();
	return done_testing();
}
