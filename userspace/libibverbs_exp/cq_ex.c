// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Tracks extended CQs, that is those from ibv_create_cq_ex(), and the wc_flags
 * with which they were created. The backend adopts new CQs.
 *
 * A pointer to a CQ does not show whether it is extended. Therefore this file
 * replaces the function pointer of the context that the inline function
 * ibv_create_cq_ex() calls. It does so when the library first sees the context,
 * which is in ibv_open_device() if that is interposed.
 *
 * In the entry (table.h) of a destroyed CQ EXP_CQ_ACTIVE is not set. wc_flags
 * is accessed atomically.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "backend.h"
#include "cq_ex.h"
#include "fork.h"
#include "std.h"
#include "table.h"

/* In exp_cq.wc_flags. The standard verbs do not use this bit. */
#define EXP_CQ_ACTIVE (1ull << 63)

struct exp_cq {
	struct exp_entry entry;
	uint64_t wc_flags;
};

static struct exp_table cqs = EXP_TABLE_INIT;

EXP_FORK_HOLD(cqs, cqs.lock)

/*
 * The function of libibverbs, which is the same for all contexts. Protected by
 * cqs.lock until it is set.
 */
static struct ibv_cq_ex *
(*std_create_cq_ex)(struct ibv_context *context,
		    struct ibv_cq_init_attr_ex *attr);

/**
 * exp_cq_ex_of() - Get the extended CQ of a CQ.
 * @cq: the CQ
 * @wc_flags: filled in with the IBV_WC_EX_WITH_* flags of its creation, or 0
 *
 * Return: @cq, or NULL if it is not known to be extended.
 */
struct ibv_cq_ex *exp_cq_ex_of(struct ibv_cq *cq, uint64_t *wc_flags)
{
	const struct exp_cq *entry = exp_table_find(&cqs, cq);
	uint64_t flags = 0;

	if (entry)
		flags = __atomic_load_n(&entry->wc_flags, __ATOMIC_ACQUIRE);
	*wc_flags = flags & ~EXP_CQ_ACTIVE;
	/* struct ibv_cq_ex begins with the members of struct ibv_cq. */
	return flags ? (struct ibv_cq_ex *)cq : NULL;
}

/* Returns 0 or ENOMEM. */
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

/**
 * exp_cq_ex_set_tm() - Note that a CQ is that of a tag-matching SRQ.
 * @cq: the CQ
 *
 * Without IBV_WC_EX_WITH_TM_INFO, completions have no tag to be read.
 */
void exp_cq_ex_set_tm(struct ibv_cq *cq)
{
	struct exp_cq *entry = exp_table_find(&cqs, cq);

	if (entry &&
	    __atomic_load_n(&entry->wc_flags, __ATOMIC_ACQUIRE) & IBV_WC_EX_WITH_TM_INFO)
		__atomic_fetch_or(&entry->wc_flags, EXP_CQ_HAS_TM, __ATOMIC_RELEASE);
}

/**
 * exp_destroy_cq() - Implement ibv_destroy_cq().
 * @cq: any CQ
 * @std: ibv_destroy_cq() of libibverbs
 *
 * Clears the entry before the CQ is destroyed, because its address may be
 * reused immediately.
 *
 * Return: as ibv_destroy_cq().
 */
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

static struct ibv_cq_ex *create_cq_ex(struct ibv_context *context,
				      struct ibv_cq_init_attr_ex *attr)
{
	const struct exp_backend *backend = exp_backend_of(context);
	struct ibv_cq_init_attr_ex ours = *attr;
	struct ibv_cq_ex *cq;
	int err;

	/* Backends need these members to identify completions. */
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
		exp_destroy_cq(ibv_cq_ex_to_cq(cq), exp_std()->destroy_cq);
		errno = err;
		return NULL;
	}
	return cq;
}

/**
 * exp_cq_ex_hook() - Begin to track the extended CQs of a context.
 * @context: the context, whose backend adopts the CQs
 */
void exp_cq_ex_hook(struct ibv_context *context)
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

/**
 * exp_open_device() - Implement ibv_open_device().
 * @device: the device
 * @std: ibv_open_device() of libibverbs
 *
 * Calls exp_cq_ex_hook() and exp_backend_adopt().
 *
 * Return: the context, or NULL with errno.
 */
struct ibv_context *
exp_open_device(struct ibv_device *device,
		struct ibv_context *(*std)(struct ibv_device *device))
{
	struct ibv_context *context = std(device);

	if (context) {
		exp_cq_ex_hook(context);
		exp_backend_adopt(context);
	}
	return context;
}
