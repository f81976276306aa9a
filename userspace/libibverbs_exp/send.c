// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * ibv_exp_post_send(). On QPs of a backend it uses the builders of ibv_qp_ex,
 * so that a call rings the doorbell only once, whatever the requests are. On
 * all other QPs it calls ibv_post_send(), and supports only the requests of the
 * standard verbs.
 */
#include <errno.h>
#include <string.h>
#include <infiniband/verbs_exp.h>

#include "backend.h"
#include "calls.h"
#include "qp_table.h"
#include "wr.h"

/* Maximum number of requests per call of ibv_post_send(). */
#define EXP_STD_BATCH 16

/* ---- queue pairs with a backend ---------------------------------------- */

static void build_data(struct ibv_qp_ex *qpx, const struct ibv_exp_send_wr *wr)
{
	struct ibv_data_buf bufs[EXP_WR_MAX_INLINE_SGE];
	int i;

	if (!exp_wr_is_inline(wr)) {
		ibv_wr_set_sge_list(qpx, wr->num_sge, wr->sg_list);
		return;
	}
	for (i = 0; i < wr->num_sge; i++) {
		bufs[i].addr = (void *)(uintptr_t)wr->sg_list[i].addr;
		bufs[i].length = wr->sg_list[i].length;
	}
	ibv_wr_set_inline_data_list(qpx, wr->num_sge, bufs);
}

static void build_bind(struct ibv_qp_ex *qpx, const struct ibv_exp_send_wr *wr)
{
	struct ibv_mw_bind_info info;

	exp_bind_to_std(&wr->bind_mw.bind_info, &info);
	ibv_wr_bind_mw(qpx, wr->bind_mw.mw, wr->bind_mw.rkey, &info);
}

static void build_plain(struct ibv_qp_ex *qpx, const struct ibv_exp_send_wr *wr)
{
	switch ((int)wr->exp_opcode) {
	case IBV_EXP_WR_SEND:
		ibv_wr_send(qpx);
		break;
	case IBV_EXP_WR_SEND_WITH_IMM:
		ibv_wr_send_imm(qpx, wr->ex.imm_data);
		break;
	case IBV_EXP_WR_SEND_WITH_INV:
		ibv_wr_send_inv(qpx, wr->ex.invalidate_rkey);
		break;
	case IBV_EXP_WR_RDMA_WRITE:
		ibv_wr_rdma_write(qpx, wr->wr.rdma.rkey,
				  wr->wr.rdma.remote_addr);
		break;
	case IBV_EXP_WR_NOP:
		ibv_wr_rdma_write(qpx, 0, 0);
		break;
	case IBV_EXP_WR_RDMA_WRITE_WITH_IMM:
		ibv_wr_rdma_write_imm(qpx, wr->wr.rdma.rkey,
				      wr->wr.rdma.remote_addr, wr->ex.imm_data);
		break;
	case IBV_EXP_WR_RDMA_READ:
		ibv_wr_rdma_read(qpx, wr->wr.rdma.rkey,
				 wr->wr.rdma.remote_addr);
		break;
	case IBV_EXP_WR_ATOMIC_CMP_AND_SWP:
		ibv_wr_atomic_cmp_swp(qpx, wr->wr.atomic.rkey,
				      wr->wr.atomic.remote_addr,
				      wr->wr.atomic.compare_add,
				      wr->wr.atomic.swap);
		break;
	case IBV_EXP_WR_ATOMIC_FETCH_AND_ADD:
		ibv_wr_atomic_fetch_add(qpx, wr->wr.atomic.rkey,
					wr->wr.atomic.remote_addr,
					wr->wr.atomic.compare_add);
		break;
	case IBV_EXP_WR_LOCAL_INV:
		ibv_wr_local_inv(qpx, wr->ex.invalidate_rkey);
		return;
	case IBV_EXP_WR_BIND_MW:
		build_bind(qpx, wr);
		return;
	default:
		break;
	}
	build_data(qpx, wr);
	if (qpx->qp_base.qp_type == IBV_QPT_XRC_SEND)
		ibv_wr_set_xrc_srqn(qpx, wr->qp_type.xrc.remote_srqn);
}

/* Builds a request that exp_wr_check() has accepted. */
static void build_wr(const struct exp_qp *entry,
		     const struct ibv_exp_send_wr *wr)
{
	struct ibv_qp_ex *qpx = entry->qpx;

	qpx->wr_id = wr->wr_id;
	qpx->wr_flags = wr->exp_send_flags &
			(EXP_SEND_STD_FLAGS & ~IBV_EXP_SEND_INLINE);
	if (exp_wr_is_masked(wr)) {
		entry->backend->build_masked(entry, wr);
		return;
	}
	build_plain(qpx, wr);
	if (entry->is_dci)
		entry->backend->set_dc_addr(entry, wr);
}

static void batch_begin(const struct exp_qp *entry)
{
	if (entry->backend->batch_begin)
		entry->backend->batch_begin(entry);
	ibv_wr_start(entry->qpx);
}

static int batch_add(const struct exp_qp *entry,
		     const struct ibv_exp_send_wr *wr)
{
	int err = exp_wr_check(entry, wr);

	if (!err && entry->backend->batch_add)
		err = entry->backend->batch_add(entry, wr);
	if (!err)
		build_wr(entry, wr);
	return err;
}

static int batch_end(const struct exp_qp *entry, bool post)
{
	int ret = 0;

	if (post)
		ret = ibv_wr_complete(entry->qpx);
	else
		ibv_wr_abort(entry->qpx);
	if (entry->backend->batch_end)
		entry->backend->batch_end(entry, post && !ret);
	return ret;
}

static int post_one(const struct exp_qp *entry,
		    const struct ibv_exp_send_wr *wr)
{
	int err;

	batch_begin(entry);
	err = batch_add(entry, wr);
	if (err) {
		batch_end(entry, false);
		return err;
	}
	return batch_end(entry, true);
}

static int post_native(const struct exp_qp *entry, struct ibv_exp_send_wr *wr,
		       struct ibv_exp_send_wr **bad_wr)
{
	struct ibv_exp_send_wr *first = wr;
	struct ibv_exp_send_wr *end;
	int err = 0;
	int ret;

	batch_begin(entry);
	for (end = first; end; end = end->next) {
		err = batch_add(entry, end);
		if (err)
			break;
	}
	if (end == first) {
		batch_end(entry, false);
		*bad_wr = end;
		return err;
	}

	/*
	 * A batch that fails posts nothing, but this function must post all
	 * requests before the bad one. Find that one by posting each request
	 * separately.
	 */
	ret = batch_end(entry, true);
	if (ret) {
		for (wr = first; wr != end; wr = wr->next) {
			if (first->next != end)
				ret = post_one(entry, wr);
			if (ret) {
				*bad_wr = wr;
				return ret;
			}
		}
	}

	if (err)
		*bad_wr = end;
	return err;
}

/* ---- other queue pairs ------------------------------------------------- */

/*
 * Returns EINVAL if the device has masked atomics, but the QP was not created
 * for them. Returns ENOSYS if the device has none.
 */
static int masked_error(const struct ibv_qp *qp)
{
	struct exp_caps caps;

	if (exp_backend_query(qp->context, &caps) || !caps.masked)
		return ENOSYS;
	return EINVAL;
}

static int wr_to_std(const struct ibv_qp *qp, struct ibv_send_wr *std,
		     const struct ibv_exp_send_wr *wr)
{
	if (exp_wr_is_masked(wr))
		return masked_error(qp);
	return exp_wr_to_std(qp, std, wr);
}

static int post_std(struct ibv_qp *qp, struct ibv_exp_send_wr *wr,
		    struct ibv_exp_send_wr **bad_wr)
{
	struct ibv_send_wr batch[EXP_STD_BATCH];
	struct ibv_send_wr *std_bad;
	int err = 0;
	int ret;
	int n;

	while (wr && !err) {
		struct ibv_exp_send_wr *first = wr;

		for (n = 0; wr && n < EXP_STD_BATCH; n++, wr = wr->next) {
			err = wr_to_std(qp, &batch[n], wr);
			if (err)
				break;
			if (n)
				batch[n - 1].next = &batch[n];
		}
		if (!n)
			break;

		std_bad = batch;
		ret = ibv_post_send(qp, batch, &std_bad);
		if (ret) {
			while (std_bad-- != batch)
				first = first->next;
			*bad_wr = first;
			return ret;
		}
	}

	if (err)
		*bad_wr = wr;
	return err;
}

EXP_EXPORT
int ibv_exp_post_send(struct ibv_qp *qp, struct ibv_exp_send_wr *wr,
		      struct ibv_exp_send_wr **bad_wr)
{
	const struct exp_qp *entry;

	if (!wr)
		return 0;
	entry = exp_qp_find(qp);
	if (entry && entry->backend->post_send)
		return entry->backend->post_send(entry, wr, bad_wr);
	if (entry)
		return post_native(entry, wr, bad_wr);
	return post_std(qp, wr, bad_wr);
}
