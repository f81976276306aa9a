// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Extended completion queues, those of ibv_create_cq_ex(): which they are, and what
 * a program may read of their completions.
 *
 * A pointer to a completion queue does not tell.  So their creation is watched:
 * ibv_create_cq_ex() is an inline function that calls what stands in the context.
 * It is taken over when this library sees the context first, which is in
 * ibv_open_device() where interpose.c is called.
 *
 * An entry (table.h) whose queue has been destroyed is not active; wc_flags is
 * atomic.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "backend.h"

/* In wc_flags; no flag of the standard verbs. */
#define EXP_CQ_ACTIVE (1ull << 63)

struct exp_cq {
	struct exp_entry entry;
	uint64_t wc_flags;
};

static struct exp_table cqs = EXP_TABLE_INIT;

/* Of libibverbs, the same for all contexts; by cqs.lock until it is set. */
static struct ibv_cq_ex *
(*std_create_cq_ex)(struct ibv_context *context,
		    struct ibv_cq_init_attr_ex *attr);

/* ---- table --------------------------------------------------------------- */

struct ibv_cq_ex *exp_cq_ex_of(struct ibv_cq *cq, uint64_t *wc_flags)
{
	const struct exp_cq *entry = exp_table_find(&cqs, cq);
	uint64_t flags = 0;

	if (entry)
		flags = __atomic_load_n(&entry->wc_flags, __ATOMIC_ACQUIRE);
	*wc_flags = flags & ~EXP_CQ_ACTIVE;
	/* Its first part is that of a completion queue. */
	return flags ? (struct ibv_cq_ex *)cq : NULL;
}

/* 0 or errno. */
static int add(const struct ibv_cq *cq, uint64_t wc_flags)
{
	struct exp_cq *entry;
	int err = 0;

	wc_flags |= EXP_CQ_ACTIVE;
	pthread_mutex_lock(&cqs.lock);
	entry = exp_table_find(&cqs, cq);
	if (entry) {
		__atomic_store_n(&entry->wc_flags, wc_flags, __ATOMIC_RELEASE);
	} else {
		entry = calloc(1, sizeof(*entry));
		if (entry) {
			entry->wc_flags = wc_flags;
			exp_table_add(&cqs, &entry->entry, cq);
		} else {
			err = ENOMEM;
		}
	}
	pthread_mutex_unlock(&cqs.lock);
	return err;
}

/* Before it is: the address may be used again at once. */
int exp_destroy_cq(struct ibv_cq *cq, int (*std)(struct ibv_cq *cq))
{
	struct exp_cq *entry = exp_table_find(&cqs, cq);
	uint64_t flags;
	int ret;

	if (!entry)
		return std(cq);
	flags = __atomic_exchange_n(&entry->wc_flags, 0, __ATOMIC_ACQ_REL);
	ret = std(cq);
	if (ret)
		__atomic_store_n(&entry->wc_flags, flags, __ATOMIC_RELEASE);
	return ret;
}

/* ---- completions --------------------------------------------------------- */

/* Of one in error only what is valid then. */
void exp_read_wc(struct ibv_cq_ex *cq, const struct ibv_cq_ex *calls,
		 uint64_t wc_flags, struct ibv_wc *wc)
{
	memset(wc, 0, sizeof(*wc));
	wc->wr_id = cq->wr_id;
	wc->status = cq->status;
	wc->vendor_err = calls->read_vendor_err(cq);
	wc->qp_num = calls->read_qp_num(cq);
	if (wc->status != IBV_WC_SUCCESS)
		return;
	wc->opcode = calls->read_opcode(cq);
	wc->wc_flags = calls->read_wc_flags(cq);
	wc->byte_len = calls->read_byte_len(cq);
	if (wc_flags & IBV_WC_EX_WITH_IMM &&
	    wc->wc_flags & (IBV_WC_WITH_IMM | IBV_WC_WITH_INV))
		wc->imm_data = calls->read_imm_data(cq);
	if (wc_flags & IBV_WC_EX_WITH_SRC_QP)
		wc->src_qp = calls->read_src_qp(cq);
	if (wc_flags & IBV_WC_EX_WITH_SLID)
		wc->slid = calls->read_slid(cq);
	if (wc_flags & IBV_WC_EX_WITH_SL)
		wc->sl = calls->read_sl(cq);
	if (wc_flags & IBV_WC_EX_WITH_DLID_PATH_BITS)
		wc->dlid_path_bits = calls->read_dlid_path_bits(cq);
}

/* ---- creation ------------------------------------------------------------ */

static struct ibv_cq_ex *create_cq_ex(struct ibv_context *context,
				      struct ibv_cq_init_attr_ex *attr)
{
	const struct exp_backend *backend = exp_backend_of(context);
	struct ibv_cq_init_attr_ex ours = *attr;
	struct ibv_cq_ex *cq;
	int err;

	/* What backends tell completions apart by. */
	if (backend->adopt_cq_ex)
		ours.wc_flags |= IBV_WC_EX_WITH_QP_NUM |
				 IBV_WC_EX_WITH_BYTE_LEN;
	cq = std_create_cq_ex(context, &ours);
	if (!cq)
		return NULL;
	err = add(ibv_cq_ex_to_cq(cq), ours.wc_flags);
	if (!err && backend->adopt_cq_ex)
		err = backend->adopt_cq_ex(cq, ours.wc_flags);
	if (err) {
		ibv_destroy_cq(ibv_cq_ex_to_cq(cq));
		errno = err;
		return NULL;
	}
	return cq;
}

void exp_context_seen(struct ibv_context *context)
{
	struct verbs_context *vctx = verbs_get_ctx_op(context, create_cq_ex);

	if (!vctx)
		return;
	pthread_mutex_lock(&cqs.lock);
	if (!std_create_cq_ex)
		std_create_cq_ex = vctx->create_cq_ex;
	if (vctx->create_cq_ex == std_create_cq_ex)
		__atomic_store_n(&vctx->create_cq_ex, create_cq_ex,
				 __ATOMIC_RELEASE);
	pthread_mutex_unlock(&cqs.lock);
}
