// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The libibverbs, the libmxe and the two devices that fake.h declares.
 */
#include <errno.h>

#include "backend_mlx5_dv.h"
#include "backend_mxe_dv.h"
#include "fake.h"
#include "tap.h"

static struct ibv_device mxe_device, std_device;
struct verbs_context mxe_vctx, std_vctx;
struct ibv_pd mxe_pd = { .context = mxe_ctx };
struct ibv_pd std_pd = { .context = std_ctx };
struct fake fake;
struct fake_cq fake_cq;

int fake_query_device_ex(struct ibv_context *context,
			 const struct ibv_query_device_ex_input *input,
			 struct ibv_device_attr_ex *attr, size_t size)
{
	(void)input;
	if (fake.query_errno)
		return fake.query_errno;
	memcpy(attr, &fake.std, size);
	if (context == std_ctx)
		attr->orig_attr.atomic_cap = IBV_ATOMIC_NONE;
	return 0;
}

int ibv_query_device(struct ibv_context *context, struct ibv_device_attr *attr)
{
	*attr = fake.std.orig_attr;
	if (context == std_ctx)
		attr->atomic_cap = IBV_ATOMIC_NONE;
	return 0;
}

const struct exp_mlx5dv *exp_mlx5dv(void)
{
	return fake.mlx5dv;
}

static bool fake_is_supported(struct ibv_device *device)
{
	return device == &mxe_device;
}

static int fake_query_device(struct ibv_context *context,
			     struct mxedv_device_attr *attr, uint32_t inlen)
{
	(void)context;
	if (inlen != sizeof(*attr))
		return EINVAL;
	if (fake.mxe_query_errno)
		return fake.mxe_query_errno;
	*attr = fake.mxe;
	return 0;
}

static struct op *building(struct ibv_qp_ex *qpx)
{
	struct fake_qp *f = (struct fake_qp *)qpx;

	if (!f->started || f->num_ops + f->building == 0)
		bail_out("a setter outside of a request");
	return &f->ops[f->num_ops + f->building - 1];
}

static struct op *build(struct ibv_qp_ex *qpx, int opcode, uint32_t rkey,
			uint64_t addr)
{
	struct fake_qp *f = (struct fake_qp *)qpx;
	struct op *op;

	if (!f->started)
		bail_out("a builder outside of ibv_wr_start()");
	if (f->num_ops + f->building == MAX_OPS)
		bail_out("the fake is full");
	op = &f->ops[f->num_ops + f->building++];
	memset(op, 0, sizeof(*op));
	op->wr_id = qpx->wr_id;
	op->flags = qpx->wr_flags;
	op->opcode = opcode;
	op->rkey = rkey;
	op->addr = addr;
	return op;
}

static void f_send(struct ibv_qp_ex *qpx)
{
	build(qpx, IBV_EXP_WR_SEND, 0, 0);
}

static void f_send_imm(struct ibv_qp_ex *qpx, __be32 imm)
{
	build(qpx, IBV_EXP_WR_SEND_WITH_IMM, 0, 0)->imm = imm;
}

static void f_send_inv(struct ibv_qp_ex *qpx, uint32_t rkey)
{
	build(qpx, IBV_EXP_WR_SEND_WITH_INV, rkey, 0);
}

static void f_local_inv(struct ibv_qp_ex *qpx, uint32_t rkey)
{
	build(qpx, IBV_EXP_WR_LOCAL_INV, rkey, 0);
}

static void f_bind_mw(struct ibv_qp_ex *qpx, struct ibv_mw *mw, uint32_t rkey,
		      const struct ibv_mw_bind_info *info)
{
	struct op *op = build(qpx, IBV_EXP_WR_BIND_MW, rkey, 0);

	op->mw = mw;
	op->bind = *info;
}

static void f_write(struct ibv_qp_ex *qpx, uint32_t rkey, uint64_t addr)
{
	build(qpx, IBV_EXP_WR_RDMA_WRITE, rkey, addr);
}

static void f_write_imm(struct ibv_qp_ex *qpx, uint32_t rkey, uint64_t addr,
			__be32 imm)
{
	build(qpx, IBV_EXP_WR_RDMA_WRITE_WITH_IMM, rkey, addr)->imm = imm;
}

static void f_read(struct ibv_qp_ex *qpx, uint32_t rkey, uint64_t addr)
{
	build(qpx, IBV_EXP_WR_RDMA_READ, rkey, addr);
}

static void f_cas(struct ibv_qp_ex *qpx, uint32_t rkey, uint64_t addr,
		  uint64_t compare, uint64_t swap)
{
	struct op *op = build(qpx, IBV_EXP_WR_ATOMIC_CMP_AND_SWP, rkey, addr);

	op->arg[0] = compare;
	op->arg[1] = swap;
}

static void f_faa(struct ibv_qp_ex *qpx, uint32_t rkey, uint64_t addr,
		  uint64_t add)
{
	build(qpx, IBV_EXP_WR_ATOMIC_FETCH_AND_ADD, rkey, addr)->arg[0] = add;
}

static struct ibv_qp_ex *qpx_of_mqp(struct mxedv_qp_ex *mqp)
{
	return (struct ibv_qp_ex *)((char *)mqp - offsetof(struct fake_qp, mqp));
}

static void get_operand(struct op *op, int index, uint32_t log_arg_sz,
			const void *from)
{
	if (log_arg_sz > 3)
		memcpy(op->wide[index], from, (size_t)1 << log_arg_sz);
	else if (log_arg_sz == 3)
		op->arg[index] = *(const uint64_t *)from;
	else if (log_arg_sz == 2)
		op->arg[index] = *(const uint32_t *)from;
	else if (log_arg_sz == 1)
		op->arg[index] = *(const uint16_t *)from;
	else
		op->arg[index] = *(const uint8_t *)from;
}

static void f_ext_masked_cs(struct mxedv_qp_ex *mqp, uint32_t rkey,
			    uint64_t addr, uint32_t log_arg_sz,
			    const void *compare, const void *compare_mask,
			    const void *swap, const void *swap_mask)
{
	struct op *op = build(qpx_of_mqp(mqp), CS, rkey, addr);

	op->log_arg_sz = log_arg_sz;
	get_operand(op, 0, log_arg_sz, compare);
	get_operand(op, 1, log_arg_sz, compare_mask);
	get_operand(op, 2, log_arg_sz, swap);
	get_operand(op, 3, log_arg_sz, swap_mask);
}

static void f_ext_masked_fa(struct mxedv_qp_ex *mqp, uint32_t rkey,
			    uint64_t addr, uint32_t log_arg_sz, const void *add,
			    const void *boundary)
{
	struct op *op = build(qpx_of_mqp(mqp), FA, rkey, addr);

	op->log_arg_sz = log_arg_sz;
	get_operand(op, 0, log_arg_sz, add);
	get_operand(op, 1, log_arg_sz, boundary);
}

static void f_set_dc_addr(struct mxedv_qp_ex *mqp, struct ibv_ah *ah,
			  uint32_t remote_dctn, uint64_t remote_dc_key)
{
	struct op *op = building(qpx_of_mqp(mqp));

	op->num_dc_addrs++;
	op->dc_ah = ah;
	op->dct_num = remote_dctn;
	op->dct_key = remote_dc_key;
}

static void f_set_xrc_srqn(struct ibv_qp_ex *qpx, uint32_t srqn)
{
	building(qpx)->srqn = srqn;
}

static void f_set_sge_list(struct ibv_qp_ex *qpx, size_t num_sge,
			   const struct ibv_sge *sg_list)
{
	struct op *op = building(qpx);

	op->num_sge = num_sge;
	op->sge_addr = num_sge ? sg_list[0].addr : 0;
}

static void f_set_inline_list(struct ibv_qp_ex *qpx, size_t num,
			      const struct ibv_data_buf *bufs)
{
	struct op *op = building(qpx);

	op->is_inline = true;
	op->num_sge = num;
	op->sge_addr = num ? (uintptr_t)bufs[num - 1].addr : 0;
}

static void f_start(struct ibv_qp_ex *qpx)
{
	struct fake_qp *f = (struct fake_qp *)qpx;

	if (f->started)
		bail_out("ibv_wr_start() twice");
	f->started = true;
	f->building = 0;
}

static int f_complete(struct ibv_qp_ex *qpx)
{
	struct fake_qp *f = (struct fake_qp *)qpx;
	int i;

	if (!f->started)
		bail_out("ibv_wr_complete() without ibv_wr_start()");
	f->started = false;
	for (i = f->num_ops; i < f->num_ops + f->building; i++)
		if (f->ops[i].wr_id == f->poison)
			return EMSGSIZE;
	if (f->building > f->room)
		return ENOMEM;
	f->num_ops += f->building;
	f->room -= f->building;
	f->doorbells++;
	return 0;
}

static void f_abort(struct ibv_qp_ex *qpx)
{
	struct fake_qp *f = (struct fake_qp *)qpx;

	if (!f->started)
		bail_out("ibv_wr_abort() without ibv_wr_start()");
	f->started = false;
}

/* ibv_post_send() of both devices. Posts the requests before a refused one. */
static int fake_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr,
			  struct ibv_send_wr **bad_wr)
{
	struct fake_qp *f = to_fake(qp);
	struct op *op;

	f->doorbells++;
	for (; wr; wr = wr->next) {
		if (wr->wr_id == f->poison || !f->room) {
			*bad_wr = wr;
			return f->room ? EMSGSIZE : ENOMEM;
		}
		if (f->num_ops == MAX_OPS)
			bail_out("the fake is full");
		f->room--;
		op = &f->ops[f->num_ops++];
		memset(op, 0, sizeof(*op));
		op->wr_id = wr->wr_id;
		op->flags = wr->send_flags;
		op->opcode = wr->opcode;
		op->imm = wr->imm_data;
		op->num_sge = wr->num_sge;
		op->sge_addr = wr->num_sge ? wr->sg_list[0].addr : 0;
		if (qp->qp_type == IBV_QPT_UD) {
			op->arg[0] = (uintptr_t)wr->wr.ud.ah;
			op->arg[1] = wr->wr.ud.remote_qpn;
			op->arg[2] = wr->wr.ud.remote_qkey;
		} else if (wr->opcode == IBV_WR_ATOMIC_CMP_AND_SWP ||
			   wr->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
			op->rkey = wr->wr.atomic.rkey;
			op->addr = wr->wr.atomic.remote_addr;
			op->arg[0] = wr->wr.atomic.compare_add;
			op->arg[1] = wr->wr.atomic.swap;
		} else if (wr->opcode == IBV_WR_BIND_MW) {
			op->mw = wr->bind_mw.mw;
			op->rkey = wr->bind_mw.rkey;
			op->bind = wr->bind_mw.bind_info;
		} else if (wr->opcode == IBV_WR_SEND_WITH_INV ||
			   wr->opcode == IBV_WR_LOCAL_INV) {
			op->rkey = wr->invalidate_rkey;
		} else {
			op->rkey = wr->wr.rdma.rkey;
			op->addr = wr->wr.rdma.remote_addr;
		}
	}
	return 0;
}

static int fake_poll_cq(struct ibv_cq *cq, int num, struct ibv_wc *wc)
{
	int n = 0;

	(void)cq;
	if (fake_cq.taken == fake_cq.error_at)
		return -EIO;
	while (n < num && fake_cq.taken < fake_cq.num &&
	       fake_cq.taken != fake_cq.error_at)
		wc[n++] = fake_cq.wcs[fake_cq.taken++];
	return n;
}

/* Several threads may call this if the test does not use the counters. */
static struct fake_qp *fake_new_qp(struct ibv_context *context,
				   enum ibv_qp_type type)
{
	struct fake_qp *f = fake.reuse;
	uint32_t n = __atomic_add_fetch(&fake.next_qpn, 1, __ATOMIC_RELAXED);

	if (f)
		memset(f, 0, sizeof(*f));
	else
		f = calloc(1, sizeof(*f));
	if (!f)
		bail_out("out of memory");
	f->qp.context = context;
	f->qp.qp_num = n;
	f->qp.handle = n;
	f->qp.qp_type = type;
	f->room = MAX_OPS;
	f->poison = ~0ULL;
	return f;
}

static struct ibv_qp *fake_std_create(struct ibv_context *context,
				      struct ibv_qp_cap *cap,
				      enum ibv_qp_type type)
{
	if (fake.create_errno) {
		errno = fake.create_errno;
		return NULL;
	}
	cap->max_send_wr *= 2;
	return &fake_new_qp(context, type)->qp;
}

struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	memset(&fake.last, 0, sizeof(fake.last));
	/* Both structures begin with the same members. */
	memcpy(&fake.last, attr, sizeof(*attr));
	fake.last.comp_mask = IBV_QP_INIT_ATTR_PD;
	fake.last.pd = pd;
	fake.plain_created++;
	return fake_std_create(pd->context, &attr->cap, attr->qp_type);
}

static struct ibv_qp *fake_create_qp_ex(struct ibv_context *context,
					struct ibv_qp_init_attr_ex *attr)
{
	fake.last = *attr;
	fake.ex_created++;
	return fake_std_create(context, &attr->cap, attr->qp_type);
}

static struct ibv_qp *fake_create_dct(struct ibv_context *context,
				      struct ibv_qp_init_attr_ex *attr,
				      struct mxedv_qp_init_attr *mxe_attr)
{
	struct fake_qp *f;

	if (attr->qp_type != IBV_QPT_DRIVER || !attr->srq ||
	    attr->comp_mask != IBV_QP_INIT_ATTR_PD ||
	    mxe_attr->dc_type != MXEDV_DCTYPE_DCT)
		bail_out("unexpected attributes of a target");
	fake.last = *attr;
	fake.dct_created++;
	f = fake_new_qp(context, attr->qp_type);
	f->dc_type = mxe_attr->dc_type;
	f->dct_key = mxe_attr->dct_access_key;
	f->qp.qp_context = attr->qp_context;
	return &f->qp;
}

static struct ibv_qp *fake_create_qp(struct ibv_context *context,
				     struct ibv_qp_init_attr_ex *attr,
				     struct mxedv_qp_init_attr *mxe_attr)
{
	bool is_dci = mxe_attr->comp_mask & MXEDV_QP_INIT_ATTR_DC;
	struct fake_qp *f;

	if (fake.create_errno) {
		errno = fake.create_errno;
		return NULL;
	}
	if (fake.no_inline_recv &&
	    mxe_attr->create_flags & MXEDV_QP_CREATE_INLINE_RECV) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	/* A QP without masked atomics, see create_inline(). */
	if (mxe_attr->comp_mask == MXEDV_QP_INIT_ATTR_CREATE_FLAGS &&
	    mxe_attr->create_flags == MXEDV_QP_CREATE_INLINE_RECV) {
		fake.inline_created++;
		return fake_std_create(context, &attr->cap, attr->qp_type);
	}
	if (mxe_attr->comp_mask == MXEDV_QP_INIT_ATTR_DC)
		return fake_create_dct(context, attr, mxe_attr);
	if (!(attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS) ||
	    !(attr->comp_mask & IBV_QP_INIT_ATTR_PD) ||
	    (mxe_attr->comp_mask & ~(uint64_t)MXEDV_QP_INIT_ATTR_DC) !=
	    (MXEDV_QP_INIT_ATTR_CREATE_FLAGS |
	     MXEDV_QP_INIT_ATTR_MAX_ATOMIC_ARG) ||
	    is_dci != (attr->qp_type == IBV_QPT_DRIVER))
		bail_out("unexpected attributes");

	__atomic_store_n(&fake.last.sq_sig_all, attr->sq_sig_all,
			 __ATOMIC_RELAXED);
	__atomic_add_fetch(&fake.mxe_created, 1, __ATOMIC_RELAXED);
	f = fake_new_qp(context, attr->qp_type);
	f->has_ex = true;
	f->create_flags = mxe_attr->create_flags;
	f->max_atomic_arg = mxe_attr->max_atomic_arg;
	if (is_dci) {
		fake.last = *attr;
		f->dc_type = mxe_attr->dc_type;
		f->dct_key = mxe_attr->dct_access_key;
		f->mqp.wr_set_dc_addr = f_set_dc_addr;
	}
	f->qpx.wr_send = f_send;
	f->qpx.wr_send_imm = f_send_imm;
	f->qpx.wr_send_inv = f_send_inv;
	f->qpx.wr_local_inv = f_local_inv;
	f->qpx.wr_bind_mw = f_bind_mw;
	f->qpx.wr_rdma_write = f_write;
	f->qpx.wr_rdma_write_imm = f_write_imm;
	f->qpx.wr_rdma_read = f_read;
	f->qpx.wr_atomic_cmp_swp = f_cas;
	f->qpx.wr_atomic_fetch_add = f_faa;
	if (attr->qp_type == IBV_QPT_XRC_SEND)
		f->qpx.wr_set_xrc_srqn = f_set_xrc_srqn;
	f->qpx.wr_set_sge_list = f_set_sge_list;
	f->qpx.wr_set_inline_data_list = f_set_inline_list;
	f->qpx.wr_start = f_start;
	f->qpx.wr_complete = f_complete;
	f->qpx.wr_abort = f_abort;
	f->mqp.wr_ext_masked_atomic_cmp_swp = f_ext_masked_cs;
	f->mqp.wr_ext_masked_atomic_fetch_add = f_ext_masked_fa;
	attr->cap.max_send_wr *= 2;
	return &f->qp;
}

/* Only emulated QPs need these. See t_exp_emu.c. */
#undef ibv_reg_mr
__attribute__((weak))
struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t length,
			  int access)
{
	(void)pd;
	(void)addr;
	(void)length;
	(void)access;
	return NULL;
}

__attribute__((weak)) int ibv_dereg_mr(struct ibv_mr *mr)
{
	(void)mr;
	return EIO;
}

__attribute__((weak)) int ibv_resize_cq(struct ibv_cq *cq, int cqe)
{
	(void)cq;
	(void)cqe;
	return EIO;
}

__attribute__((weak)) int ibv_destroy_cq(struct ibv_cq *cq)
{
	(void)cq;
	return EIO;
}

__attribute__((weak)) int ibv_modify_qp(struct ibv_qp *qp,
					struct ibv_qp_attr *attr, int mask)
{
	(void)qp;
	(void)attr;
	(void)mask;
	return EIO;
}

struct ibv_qp_ex *ibv_qp_to_qp_ex(struct ibv_qp *qp)
{
	return to_fake(qp)->has_ex ? &to_fake(qp)->qpx : NULL;
}

static struct mxedv_qp_ex *fake_qp_ex(struct ibv_qp_ex *qpx)
{
	return fake.no_builders ? NULL : &((struct fake_qp *)qpx)->mqp;
}

static int fake_query_dct(struct ibv_qp *qp, struct mxedv_dct_attr *attr,
			  uint32_t inlen)
{
	(void)qp;
	if (inlen != sizeof(*attr))
		bail_out("size of struct mxedv_dct_attr");
	if (!fake.dct_errno)
		*attr = fake.dct;
	return fake.dct_errno;
}

static int fake_arm_dct(struct ibv_qp *qp, uint32_t events)
{
	if (!fake.dct_errno) {
		fake.armed = qp;
		fake.dct.armed_events = events;
	}
	return fake.dct_errno;
}

const struct exp_mxedv *exp_mxedv(const struct ibv_context *context)
{
	static const struct exp_mxedv dv = {
		.is_supported = fake_is_supported,
		.query_device = fake_query_device,
		.create_qp = fake_create_qp,
		.qp_ex_from_ibv_qp_ex = fake_qp_ex,
		.query_dct = fake_query_dct,
		.arm_dct = fake_arm_dct,
	};
	static const struct exp_mxedv old = {
		.is_supported = fake_is_supported,
		.query_device = fake_query_device,
		.create_qp = fake_create_qp,
		.qp_ex_from_ibv_qp_ex = fake_qp_ex,
	};

	(void)context;
	return fake.old_mxedv ? &old : &dv;
}

int ibv_destroy_qp(struct ibv_qp *qp)
{
	fake.destroyed++;
	if (to_fake(qp) != fake.reuse)
		free(to_fake(qp));
	return 0;
}

void fake_reset(void)
{
	memset(&fake.std, 0xee, sizeof(fake.std));
	strcpy(fake.std.orig_attr.fw_ver, "1.2.3");
	fake.std.orig_attr.max_qp = 1234;
	fake.std.orig_attr.phys_port_cnt = 3;
	fake.std.orig_attr.atomic_cap = IBV_ATOMIC_GLOB;
	fake.std.orig_attr.device_cap_flags = 0x00102040;
	memset(&fake.std.comp_mask, 0, sizeof(fake.std) -
	       offsetof(struct ibv_device_attr_ex, comp_mask));
	fake.mxe = (struct mxedv_device_attr) {
		.atomic_cap = IBV_ATOMIC_GLOB,
		.masked_atomic_cap = IBV_ATOMIC_GLOB,
		.masked_ops = MXEDV_MASKED_ATOMIC_CMP_SWP |
			      MXEDV_MASKED_ATOMIC_FETCH_ADD,
		.max_fa_bit_boundary = 64,
		.log_arg_sizes = 8,
		.reply_modes = MXEDV_ATOMIC_REPLY_HOST | MXEDV_ATOMIC_REPLY_BE,
	};
	fake.query_errno = 0;
	fake.mxe_query_errno = 0;
	fake.create_errno = 0;
	fake.no_inline_recv = false;
	fake.inline_created = 0;
	fake.no_builders = false;
	fake.reuse = NULL;
	fake.plain_created = 0;
	fake.ex_created = 0;
	fake.mxe_created = 0;
	fake.dct_created = 0;
	memset(&fake.dct, 0, sizeof(fake.dct));
	fake.armed = NULL;
	fake.dct_errno = 0;
	fake.old_mxedv = false;
	fake.destroyed = 0;
}

void fake_be_device(void)
{
	fake_reset();
	fake.std.orig_attr.atomic_cap = IBV_ATOMIC_NONE;
	fake.mxe.atomic_cap = IBV_ATOMIC_NONE;
	fake.mxe.reply_modes = MXEDV_ATOMIC_REPLY_BE;
	fake.mxe.log_arg_sizes_be = 8;
}

static void init_context(struct verbs_context *vctx, struct ibv_device *device)
{
	vctx->sz = sizeof(*vctx);
	vctx->query_device_ex = fake_query_device_ex;
	vctx->create_qp_ex = fake_create_qp_ex;
	vctx->context.abi_compat = __VERBS_ABI_IS_EXTENDED;
	vctx->context.device = device;
	vctx->context.ops.post_send = fake_post_send;
	vctx->context.ops.poll_cq = fake_poll_cq;
}

void fake_init(void)
{
	init_context(&mxe_vctx, &mxe_device);
	init_context(&std_vctx, &std_device);
}

void init_attr(struct ibv_exp_qp_init_attr *attr, struct ibv_context *context,
	       uint32_t comp_mask)
{
	/* Many programs leave garbage in fields whose bit is not set. */
	memset(attr, 0xa5, sizeof(*attr));
	attr->qp_context = attr;
	attr->srq = NULL;
	attr->cap = (struct ibv_qp_cap) {
		.max_send_wr = 16, .max_recv_wr = 16,
		.max_send_sge = 4, .max_recv_sge = 1,
		.max_inline_data = 64,
	};
	attr->qp_type = IBV_QPT_RC;
	attr->sq_sig_all = 1;
	attr->comp_mask = comp_mask;
	attr->pd = context == mxe_ctx ? &mxe_pd : &std_pd;
	if (comp_mask & FLAGS)
		attr->exp_create_flags = 0;
	if (comp_mask & ARG)
		attr->max_atomic_arg = 8;
}

struct ibv_qp *create(struct ibv_context *context, uint32_t comp_mask,
		      uint32_t flags, uint32_t max_atomic_arg)
{
	struct ibv_exp_qp_init_attr attr;

	init_attr(&attr, context, comp_mask);
	if (comp_mask & FLAGS)
		attr.exp_create_flags = flags;
	if (comp_mask & ARG)
		attr.max_atomic_arg = max_atomic_arg;
	return ibv_exp_create_qp(context, &attr);
}

struct ibv_qp *must_create(struct ibv_context *context, uint32_t comp_mask,
			   uint32_t flags, uint32_t max_atomic_arg)
{
	struct ibv_qp *qp = create(context, comp_mask, flags, max_atomic_arg);

	if (!qp)
		bail_out("ibv_exp_create_qp: %s", strerror(errno));
	return qp;
}
