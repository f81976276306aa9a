// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The libibverbs and the device with standard atomics that fake_emu.h declares.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tap.h"
#include "backend_mlx5_dv.h"
#include "backend_mxe_dv.h"
#include "cq_ex.h"
#include "emu_cq.h"
#include "emu_progress.h"
#include "fake_emu.h"
#include "fork.h"
#include "qp_table.h"

struct fake_emu fake;
/* Protects the memory and the queues of the device, and its counters. */
static pthread_mutex_t fake_lock = PTHREAD_MUTEX_INITIALIZER;

EXP_FORK_HOLD(fake, fake_lock)

static struct ibv_device emu_device;
struct verbs_context emu_vctx;
struct ibv_pd emu_pd = { .context = emu_ctx };

/* ---- libmxe and libmlx5, which are not loaded --------------------------- */

const struct exp_mlx5dv *exp_mlx5dv(void)
{
	return NULL;
}

const struct exp_mxedv *exp_mxedv(const struct ibv_context *context)
{
	(void)context;
	return NULL;
}

/*
 * ---- libibverbs ------------------------------------------------------------
 */

struct ibv_qp_ex *ibv_qp_to_qp_ex(struct ibv_qp *qp)
{
	(void)qp;
	return NULL;
}

int ibv_query_device(struct ibv_context *context, struct ibv_device_attr *attr)
{
	(void)context;
	memset(attr, 0, sizeof(*attr));
	attr->atomic_cap = fake.atomic_cap;
	return 0;
}

struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	struct fake_qp *f = fake.place ? fake.place : malloc(sizeof(*f));

	if (!f)
		bail_out("out of memory");
	memset(f, 0, sizeof(*f));
	f->qp.context = pd->context;
	f->qp.pd = pd;
	f->qp.send_cq = attr->send_cq;
	f->qp.qp_num = __atomic_add_fetch(&fake.next_qpn, 1, __ATOMIC_RELAXED);
	f->qp.handle = f->qp.qp_num;
	f->qp.qp_type = attr->qp_type;
	attr->cap.max_send_wr = DEPTH;
	attr->cap.max_inline_data = MAX_INLINE;
	return &f->qp;
}

/*
 * The operations that libibverbs calls, in alphabetical order, and some of
 * those around them. The order and the names are those of libibverbs.
 */
struct verbs_ex_private {
	uint64_t driver_id;
	void *destroy_ah;
	int (*destroy_counters)(struct ibv_counters *counters);
	int (*destroy_cq)(struct ibv_cq *cq);
	int (*destroy_flow)(struct ibv_flow *flow);
	int (*destroy_flow_action)(struct ibv_flow_action *action);
	int (*destroy_qp)(struct ibv_qp *qp);
	int (*destroy_rwq_ind_table)(struct ibv_rwq_ind_table *table);
	void *destroy_srq;
	int (*destroy_wq)(struct ibv_wq *wq);
	void *detach_mcast;
	int (*modify_flow_action_esp)(struct ibv_flow_action *action,
				      struct ibv_flow_action_esp_attr *attr);
	int (*modify_qp)(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask);
	int (*modify_qp_rate_limit)(struct ibv_qp *qp,
				    struct ibv_qp_rate_limit_attr *attr);
	void *modify_srq;
};

static struct verbs_ex_private *priv(void)
{
	return emu_vctx.priv;
}

int ibv_destroy_qp(struct ibv_qp *qp)
{
	return priv()->destroy_qp(qp);
}

int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	return priv()->modify_qp(qp, attr, mask);
}

int ibv_destroy_cq(struct ibv_cq *cq)
{
	return priv()->destroy_cq(cq);
}

static void meanwhile(void)
{
	if (fake.meanwhile)
		fake.meanwhile();
}

/* Completions of the QP remain, as those of rxe do. */
static int f_destroy_qp(struct ibv_qp *qp)
{
	struct fake_cq *cq = (struct fake_cq *)qp->send_cq;

	pthread_mutex_lock(&fake_lock);
	for (int i = 0; cq && !fake.destroy_errno && i < cq->num; i++)
		if (cq->wcs[i].qp == (struct fake_qp *)qp)
			cq->wcs[i].qp = NULL;
	pthread_mutex_unlock(&fake_lock);
	if (!fake.destroy_errno && qp != fake.place)
		free(qp);
	meanwhile();
	return fake.destroy_errno;
}

static int f_destroy_cq(struct ibv_cq *cq)
{
	meanwhile();
	if (!fake.destroy_errno && cq != fake.cq_place)
		free(cq);
	return fake.destroy_errno;
}

static int f_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	struct fake_qp *f = (struct fake_qp *)qp;

	if (!(mask & IBV_QP_STATE))
		return EINVAL;
	if (attr->qp_state == IBV_QPS_RESET)
		meanwhile();
	if (attr->qp_state == IBV_QPS_RESET && fake.reset_errno)
		return fake.reset_errno;
	f->error = attr->qp_state == IBV_QPS_ERR;
	fake.modified += f->error;
	if (attr->qp_state == IBV_QPS_RESET) {
		f->done = f->posted;
		f->freed = f->posted;
	}
	return 0;
}

#undef ibv_reg_mr
struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t length,
			  int access)
{
	struct ibv_mr *mr = calloc(1, sizeof(*mr));

	if (access != IBV_ACCESS_LOCAL_WRITE)
		bail_out("unexpected access flags");
	if (!mr)
		bail_out("out of memory");
	*mr = (struct ibv_mr) {
		.context = pd->context, .pd = pd, .addr = addr,
		.length = length,
		.lkey = 0x1000 +
			__atomic_fetch_add(&fake.mrs, 1, __ATOMIC_RELAXED),
	};
	return mr;
}

int ibv_dereg_mr(struct ibv_mr *mr)
{
	__atomic_fetch_sub(&fake.mrs, 1, __ATOMIC_RELAXED);
	free(mr);
	return 0;
}

int ibv_resize_cq(struct ibv_cq *cq, int cqe)
{
	cq->cqe = cqe;
	if (fake.round_up)
		cq->cqe += fake.round_up - cqe % fake.round_up;
	__atomic_fetch_add(&fake.resized, 1, __ATOMIC_RELAXED);
	return 0;
}

/*
 * ---- the thread ------------------------------------------------------------
 */

__attribute__((weak))
int emu_progress_start(const struct emu_progress_ops *ops)
{
	(void)ops;
	return 0;
}

__attribute__((weak)) void emu_progress_kick(void)
{
	fake.kicks++;
}

__attribute__((weak)) uint32_t emu_progress_process(void)
{
	return 1;
}

/*
 * ---- the device ------------------------------------------------------------
 */

void add_wc(struct fake_cq *cq, const struct ibv_wc *wc)
{
	if (cq->num == (int)ARRAY_SIZE(cq->wcs))
		bail_out("the completion queue is full");
	cq->wcs[cq->num].qp = NULL;
	cq->wcs[cq->num++].wc = *wc;
	cq->events += cq->armed;
	cq->armed = false;
}

static int post_all(struct ibv_qp *qp, struct ibv_send_wr *wr,
		    struct ibv_send_wr **bad_wr)
{
	struct fake_qp *f = (struct fake_qp *)qp;
	struct fake_wr *to;

	f->posts++;
	for (; wr; wr = wr->next) {
		if (f->refuse) {
			*bad_wr = wr;
			return f->refuse;
		}
		if (wr->opcode > IBV_WR_ATOMIC_FETCH_AND_ADD) {
			*bad_wr = wr;
			return EINVAL;
		}
		/*
		 * Refuses misaligned atomics when they are posted, as rxe does.
		 */
		if (wr->opcode >= IBV_WR_ATOMIC_CMP_AND_SWP &&
		    wr->wr.atomic.remote_addr % 8) {
			*bad_wr = wr;
			return EINVAL;
		}
		if (f->posted - f->freed == DEPTH)
			bail_out("a post to a full send queue");
		to = &f->wrs[f->posted++ % DEPTH];
		to->wr = *wr;
		memcpy(to->sges, wr->sg_list, wr->num_sge * sizeof(*to->sges));
		if ((wr->send_flags & IBV_SEND_INLINE) && wr->num_sge)
			memcpy(to->data, (void *)(uintptr_t)wr->sg_list->addr,
			       wr->sg_list->length);
	}
	return 0;
}

static int f_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr,
		       struct ibv_send_wr **bad_wr)
{
	int ret;

	pthread_mutex_lock(&fake_lock);
	ret = post_all(qp, wr, bad_wr);
	while (fake.active && run((struct fake_qp *)qp))
		;
	pthread_mutex_unlock(&fake_lock);
	return ret;
}

uint64_t mem_at(int word)
{
	uint64_t value;

	pthread_mutex_lock(&fake_lock);
	value = fake.mem[word];
	pthread_mutex_unlock(&fake_lock);
	return value;
}

static int f_poll_cq(struct ibv_cq *ibcq, int num, struct ibv_wc *wc)
{
	struct fake_cq *cq = (struct fake_cq *)ibcq;
	int n;

	pthread_mutex_lock(&fake_lock);
	for (n = 0; n < num && cq->taken < cq->num; n++) {
		struct fake_wc *from = &cq->wcs[cq->taken++];

		wc[n] = from->wc;
		if (from->qp && from->qp->freed < from->seq + 1)
			from->qp->freed = from->seq + 1;
	}
	if (cq->taken == cq->num) {
		cq->taken = 0;
		cq->num = 0;
	}
	pthread_mutex_unlock(&fake_lock);
	return n;
}

/* ---- the same, polled by ibv_start_poll() ------------------------------- */

static int f_next_poll(struct ibv_cq_ex *ex)
{
	struct fake_cq *cq = (struct fake_cq *)ex;

	if (!cq->polling)
		bail_out("ibv_next_poll() without ibv_start_poll()");
	if (!f_poll_cq(&cq->cq, 1, &cq->polled))
		return ENOENT;
	ex->wr_id = cq->polled.wr_id;
	ex->status = cq->polled.status;
	fake.clock++;
	return 0;
}

static int f_start_poll(struct ibv_cq_ex *ex, struct ibv_poll_cq_attr *attr)
{
	struct fake_cq *cq = (struct fake_cq *)ex;

	if (attr->comp_mask || cq->polling)
		bail_out("unexpected ibv_start_poll()");
	cq->polling = true;
	cq->polling = !f_next_poll(ex);
	return cq->polling ? 0 : ENOENT;
}

static void f_end_poll(struct ibv_cq_ex *ex)
{
	struct fake_cq *cq = (struct fake_cq *)ex;

	if (!cq->polling)
		bail_out("ibv_end_poll() without ibv_start_poll()");
	cq->polling = false;
}

static const struct ibv_wc *polled(struct ibv_cq_ex *ex)
{
	return &((struct fake_cq *)ex)->polled;
}

static enum ibv_wc_opcode f_read_opcode(struct ibv_cq_ex *ex)
{
	if (ex->status)
		bail_out("the opcode of an error");
	return polled(ex)->opcode;
}

static uint32_t f_read_vendor_err(struct ibv_cq_ex *ex)
{
	return polled(ex)->vendor_err;
}

static uint32_t f_read_byte_len(struct ibv_cq_ex *ex)
{
	return polled(ex)->byte_len;
}

static __be32 f_read_imm_data(struct ibv_cq_ex *ex)
{
	return polled(ex)->imm_data;
}

static uint32_t f_read_qp_num(struct ibv_cq_ex *ex)
{
	return polled(ex)->qp_num;
}

static uint32_t f_read_src_qp(struct ibv_cq_ex *ex)
{
	return polled(ex)->src_qp;
}

static unsigned int f_read_wc_flags(struct ibv_cq_ex *ex)
{
	return polled(ex)->wc_flags;
}

static uint32_t f_read_slid(struct ibv_cq_ex *ex)
{
	return polled(ex)->slid;
}

static uint8_t f_read_sl(struct ibv_cq_ex *ex)
{
	return polled(ex)->sl;
}

static uint8_t f_read_dlid_path_bits(struct ibv_cq_ex *ex)
{
	return polled(ex)->dlid_path_bits;
}

static uint64_t f_read_completion_ts(struct ibv_cq_ex *ex)
{
	(void)ex;
	return fake.clock;
}

static uint64_t f_read_wallclock(struct ibv_cq_ex *ex)
{
	(void)ex;
	return fake.clock + 1000000;
}

static struct ibv_cq_ex *f_create_cq_ex(struct ibv_context *context,
					struct ibv_cq_init_attr_ex *attr)
{
	struct fake_cq *cq;

	if (fake.create_cq_errno) {
		errno = fake.create_cq_errno;
		return NULL;
	}
	cq = new_cq();
	cq->cq.context = context;
	cq->cq.cq_context = attr->cq_context;
	cq->ex.start_poll = f_start_poll;
	cq->ex.next_poll = f_next_poll;
	cq->ex.end_poll = f_end_poll;
	cq->ex.read_opcode = f_read_opcode;
	cq->ex.read_vendor_err = f_read_vendor_err;
	cq->ex.read_wc_flags = f_read_wc_flags;
	if (attr->wc_flags & IBV_WC_EX_WITH_BYTE_LEN)
		cq->ex.read_byte_len = f_read_byte_len;
	if (attr->wc_flags & IBV_WC_EX_WITH_IMM)
		cq->ex.read_imm_data = f_read_imm_data;
	if (attr->wc_flags & IBV_WC_EX_WITH_QP_NUM)
		cq->ex.read_qp_num = f_read_qp_num;
	if (attr->wc_flags & IBV_WC_EX_WITH_SRC_QP)
		cq->ex.read_src_qp = f_read_src_qp;
	if (attr->wc_flags & IBV_WC_EX_WITH_SLID)
		cq->ex.read_slid = f_read_slid;
	if (attr->wc_flags & IBV_WC_EX_WITH_SL)
		cq->ex.read_sl = f_read_sl;
	if (attr->wc_flags & IBV_WC_EX_WITH_DLID_PATH_BITS)
		cq->ex.read_dlid_path_bits = f_read_dlid_path_bits;
	if (attr->wc_flags & IBV_WC_EX_WITH_COMPLETION_TIMESTAMP)
		cq->ex.read_completion_ts = f_read_completion_ts;
	if (attr->wc_flags & IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK)
		cq->ex.read_completion_wallclock_ns = f_read_wallclock;
	return &cq->ex;
}

static int f_req_notify_cq(struct ibv_cq *ibcq, int solicited_only)
{
	struct fake_cq *cq = (struct fake_cq *)ibcq;

	(void)solicited_only;
	cq->armed = true;
	cq->arms++;
	return 0;
}

static bool writable(const struct ibv_sge *sge)
{
	return (sge->lkey == LKEY && !fake.lkey_gone) || sge->lkey >= 0x1000;
}

static enum ibv_wc_status do_atomic(struct fake_wr *f)
{
	uint64_t addr = f->wr.wr.atomic.remote_addr;
	uint64_t *word = (uint64_t *)(uintptr_t)addr;
	uint64_t old;

	if (!f->wr.num_sge || !writable(&f->sges[0]))
		return IBV_WC_LOC_PROT_ERR;
	if (f->wr.wr.atomic.rkey != RKEY)
		return IBV_WC_REM_ACCESS_ERR;
	old = *word;
	if (f->wr.opcode == IBV_WR_ATOMIC_FETCH_AND_ADD)
		*word += f->wr.wr.atomic.compare_add;
	else if (old == f->wr.wr.atomic.compare_add)
		*word = f->wr.wr.atomic.swap;
	memcpy((void *)(uintptr_t)f->sges[0].addr, &old, sizeof(old));
	return IBV_WC_SUCCESS;
}

static enum ibv_wc_status do_rdma(struct fake_wr *f)
{
	void *remote = (void *)(uintptr_t)f->wr.wr.rdma.remote_addr;
	void *local = f->wr.send_flags & IBV_SEND_INLINE ? f->data :
		      (void *)(uintptr_t)f->sges[0].addr;

	if (!f->wr.num_sge)
		return IBV_WC_SUCCESS;	/* no bytes: the key is not checked */
	if (f->wr.wr.rdma.rkey != RKEY)
		return IBV_WC_REM_ACCESS_ERR;
	if (f->wr.opcode == IBV_WR_RDMA_WRITE)
		memcpy(remote, local, f->sges[0].length);
	else
		memcpy(local, remote, f->sges[0].length);
	return IBV_WC_SUCCESS;
}

bool run(struct fake_qp *qp)
{
	static const enum ibv_wc_opcode opcodes[] = {
		[IBV_WR_RDMA_WRITE] = IBV_WC_RDMA_WRITE,
		[IBV_WR_RDMA_READ] = IBV_WC_RDMA_READ,
		[IBV_WR_ATOMIC_CMP_AND_SWP] = IBV_WC_COMP_SWAP,
		[IBV_WR_ATOMIC_FETCH_AND_ADD] = IBV_WC_FETCH_ADD,
	};
	struct fake_cq *cq = (struct fake_cq *)qp->qp.send_cq;
	struct fake_wr *f = &qp->wrs[qp->done % DEPTH];
	struct ibv_wc wc = { .qp_num = qp->qp.qp_num };

	if (qp->done == qp->posted)
		return false;
	wc.wr_id = f->wr.wr_id;
	wc.opcode = opcodes[f->wr.opcode];
	if (qp->error)
		wc.status = IBV_WC_WR_FLUSH_ERR;
	else if (f->wr.opcode >= IBV_WR_ATOMIC_CMP_AND_SWP)
		wc.status = do_atomic(f);
	else
		wc.status = do_rdma(f);
	if (wc.status) {
		qp->error = true;
		wc.opcode = 0x7e;	/* not defined */
	}
	if (wc.status || (f->wr.send_flags & IBV_SEND_SIGNALED)) {
		add_wc(cq, &wc);
		cq->wcs[cq->num - 1].qp = qp;
		cq->wcs[cq->num - 1].seq = qp->done;
	}
	qp->done++;
	return true;
}

int run_all(struct fake_cq *cq, struct fake_qp *a, struct fake_qp *b,
	    struct ibv_wc *wcs, int max)
{
	int n = 0, got;
	bool ran;

	do {
		ran = run(a);
		ran |= b && run(b);
		got = ibv_poll_cq(&cq->cq, max - n, &wcs[n]);
		if (got < 0)
			bail_out("ibv_poll_cq: %d", got);
		n += got;
		/* The poll may have posted. */
		ran |= a->done != a->posted || (b && b->done != b->posted);
	} while ((ran || got) && n < max);
	return n;
}

/*
 * ---- life ------------------------------------------------------------------
 */

/* Operations that have no other purpose than to be known by their address. */
#define OTHER_OP(name, type)						\
	static int f_##name(struct type *object)			\
	{								\
		(void)object;						\
		return sizeof(#name);					\
	}

OTHER_OP(destroy_counters, ibv_counters)
OTHER_OP(destroy_flow, ibv_flow)
OTHER_OP(destroy_flow_action, ibv_flow_action)
OTHER_OP(destroy_rwq_ind_table, ibv_rwq_ind_table)
OTHER_OP(destroy_wq, ibv_wq)

static int f_modify_flow_action_esp(struct ibv_flow_action *action,
				    struct ibv_flow_action_esp_attr *attr)
{
	(void)action;
	(void)attr;
	return EOPNOTSUPP;
}

static int f_modify_qp_rate_limit(struct ibv_qp *qp,
				  struct ibv_qp_rate_limit_attr *attr)
{
	(void)qp;
	(void)attr;
	return EOPNOTSUPP;
}

static void init_priv(void)
{
	struct verbs_ex_private *ops = priv();

	if (!ops)
		ops = malloc(sizeof(*ops));
	if (!ops)
		bail_out("out of memory");
	*ops = (struct verbs_ex_private) {
		.driver_id = 7, .destroy_ah = ops, .destroy_srq = ops,
		.destroy_counters = f_destroy_counters,
		.destroy_cq = f_destroy_cq,
		.destroy_flow = f_destroy_flow,
		.destroy_flow_action = f_destroy_flow_action,
		.destroy_qp = f_destroy_qp,
		.destroy_rwq_ind_table = f_destroy_rwq_ind_table,
		.destroy_wq = f_destroy_wq,
		.modify_flow_action_esp = f_modify_flow_action_esp,
		.modify_qp = f_modify_qp,
		.modify_qp_rate_limit = f_modify_qp_rate_limit,
	};
	memset(&emu_vctx, 0, sizeof(emu_vctx));
	emu_vctx.priv = ops;
	emu_vctx.destroy_counters = ops->destroy_counters;
	emu_vctx.ibv_destroy_flow = ops->destroy_flow;
	emu_vctx.destroy_flow_action = ops->destroy_flow_action;
	emu_vctx.destroy_rwq_ind_table = ops->destroy_rwq_ind_table;
	emu_vctx.destroy_wq = ops->destroy_wq;
	emu_vctx.modify_flow_action_esp = ops->modify_flow_action_esp;
	emu_vctx.modify_qp_rate_limit = ops->modify_qp_rate_limit;
}

void fake_reset(void)
{
	uint32_t qpn = fake.next_qpn;

	memset(&fake, 0, sizeof(fake));
	fake.next_qpn = qpn;
	fake.atomic_cap = IBV_ATOMIC_HCA;
	init_priv();
	emu_vctx.sz = sizeof(emu_vctx);
	emu_vctx.create_cq_ex = f_create_cq_ex;
	emu_vctx.context.abi_compat = __VERBS_ABI_IS_EXTENDED;
	emu_vctx.context.device = &emu_device;
	emu_vctx.context.ops.post_send = f_post_send;
	emu_vctx.context.ops.poll_cq = f_poll_cq;
	emu_vctx.context.ops.req_notify_cq = f_req_notify_cq;
}

struct fake_cq *new_cq(void)
{
	struct fake_cq *cq = fake.cq_place ? fake.cq_place : malloc(sizeof(*cq));

	if (!cq)
		bail_out("out of memory");
	memset(cq, 0, sizeof(*cq));
	cq->cq.context = emu_ctx;
	cq->cq.cqe = 64;
	return cq;
}

struct fake_cq *new_cq_ex(uint64_t wc_flags)
{
	struct ibv_cq_init_attr_ex attr = { .cqe = 64, .wc_flags = wc_flags };
	struct ibv_cq_ex *ex = ibv_create_cq_ex(emu_ctx, &attr);

	if (!ex)
		bail_out("ibv_create_cq_ex: %s", strerror(errno));
	return (struct fake_cq *)ex;
}

struct fake_qp *new_qp(struct fake_cq *cq, uint32_t flags)
{
	struct ibv_exp_qp_init_attr attr = {
		.send_cq = &cq->cq, .recv_cq = &cq->cq, .pd = &emu_pd,
		.cap = { DEPTH, 1, 4, 1, MAX_INLINE }, .qp_type = IBV_QPT_RC,
		.comp_mask = IBV_EXP_QP_INIT_ATTR_PD |
			     IBV_EXP_QP_INIT_ATTR_CREATE_FLAGS |
			     IBV_EXP_QP_INIT_ATTR_ATOMICS_ARG,
		.exp_create_flags = flags, .max_atomic_arg = 8,
	};
	struct ibv_qp *qp = ibv_exp_create_qp(emu_ctx, &attr);

	if (!qp)
		bail_out("ibv_exp_create_qp: %s", strerror(errno));
	return (struct fake_qp *)qp;
}

void drop_qp(struct fake_qp *qp)
{
	if (exp_destroy_qp(&qp->qp, ibv_destroy_qp))
		bail_out("ibv_destroy_qp");
}

static int destroy_std(struct ibv_cq *cq)
{
	return exp_destroy_cq(cq, ibv_destroy_cq);
}

int interposed_destroy_cq(struct ibv_cq *cq)
{
	return emu_destroy_cq(cq, destroy_std);
}

void drop_cq(struct fake_cq *cq)
{
	if (interposed_destroy_cq(&cq->cq))
		bail_out("ibv_destroy_cq");
}
