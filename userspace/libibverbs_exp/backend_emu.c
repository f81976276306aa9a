// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The backend of all devices without masked atomics, which emulates them if the
 * device has the standard ones.
 *
 * Operands have 8 bytes, or less as a part of an 8-byte word. Longer ones
 * cannot be changed by one compare-and-swap.
 *
 * A masked atomic is emulated by a loop of standard compare-and-swaps. Each try
 * guesses the word, and swaps in the result of the masked atomic on the guess.
 * It returns the old word. If the old word equals the guess, the masked atomic
 * was executed at that moment. Otherwise the try has changed nothing, and the
 * old word is the next guess. The word is thus only ever read by an atomic.
 *
 * To keep the order, requests that are posted after an emulated one are held
 * back until it is done. To hide all this from the program, the library
 * replaces operations of the context (emu_hook.c). Requests on an emulated QP
 * pass through a ring of the library and are posted with its own wr_ids
 * (emu_qp.c). Completions of the send CQ pass through a second ring (emu_cq.c).
 * Requests that wait for a completion continue when the program polls, or after
 * a short time in a thread (emu_progress.c).
 *
 * Locks: emu_qp.lock nests inside emu_cq.lock. Posting takes only emu_qp.lock.
 *
 * A QP is paused before it is destroyed or reset. From then on only the program
 * uses it. If the call fails, the QP is resumed.
 *
 * A forked child has no thread until a QP of its own needs it. A child cannot
 * use the QPs and CQs of its parent, because the kernel refuses that and the
 * device writes to the memory of the parent. The thread of the child does not
 * poll these CQs.
 */
#include <errno.h>
#include <stdio.h>

#include "backend.h"
#include "backend_emu.h"
#include "emu_cq.h"
#include "emu_cq_ex.h"
#include "emu_hook.h"
#include "emu_progress.h"
#include "emu_qp.h"
#include "qp_table.h"
#include "std.h"
#include "wc.h"
#include "wr.h"

static const struct emu_progress_ops progress_ops = {
	.is_busy = emu_cq_any_busy,
	.tick = emu_cq_tick,
};

static bool emu_serves(struct ibv_context *context)
{
	(void)context;
	return true;
}

static bool can_emulate(enum ibv_atomic_cap std)
{
	return std == IBV_ATOMIC_HCA || std == IBV_ATOMIC_GLOB;
}

/* Sets *has if the device has atomics. Returns 0 or a positive errno. */
static int query_atomics(struct ibv_context *context, bool *has)
{
	struct ibv_device_attr std;
	int err = ibv_query_device(context, &std);

	*has = !err && can_emulate(std.atomic_cap);
	return err;
}

static void emu_adopt(struct ibv_context *context)
{
	bool has_atomics;

	query_atomics(context, &has_atomics);
	if (has_atomics)
		emu_hook(context);
}

static int emu_query(struct ibv_context *context, struct exp_caps *caps)
{
	(void)context;
	caps->masked = can_emulate((enum ibv_atomic_cap)caps->atomic_cap);
	if (!caps->masked)
		return 0;
	caps->emulated = true;
	caps->be_reply = true;
	caps->sizes = 1 | 2 | 4 | 8;
	caps->max_fa_bit_boundary = 64;
	return 0;
}

/* Creates the send queue of a new QP and attaches it to its CQ. */
static struct emu_qp *create_sq(const struct emu_device *device,
				struct ibv_qp *qp,
				const struct ibv_qp_init_attr_ex *attr,
				uint32_t exp_create_flags)
{
	struct emu_qp *emu;
	int err;

	emu = emu_qp_new(device, qp, &attr->cap, attr->sq_sig_all,
			 exp_create_flags & IBV_EXP_QP_CREATE_ATOMIC_BE_REPLY);
	if (!emu)
		return NULL;
	err = emu_cq_attach(emu);
	if (err) {
		emu_qp_free(emu);
		errno = err;
		return NULL;
	}
	return emu;
}

static struct ibv_qp *emu_create_qp(struct ibv_context *context,
				    struct ibv_qp_init_attr_ex *attr,
				    uint32_t exp_create_flags,
				    struct exp_qp *entry)
{
	const struct emu_device *device;
	struct ibv_qp *qp;
	int err;

	err = emu_progress_start(&progress_ops);
	if (err) {
		errno = err;
		return NULL;
	}
	device = emu_hook(context);
	if (!device) {
		if (errno == ENOTSUP)
			fprintf(stderr,
				"ibv_exp_create_qp: this libibverbs needs libibverbs_exp first in the order of libraries, for example by LD_PRELOAD\n");
		return NULL;
	}
	if (!attr->cap.max_send_sge)
		attr->cap.max_send_sge = 1;
	qp = ibv_create_qp_ex(context, attr);
	if (!qp)
		return NULL;
	entry->emu = create_sq(device, qp, attr, exp_create_flags);
	if (!entry->emu) {
		err = errno;
		exp_std()->destroy_qp(qp);
		errno = err;
		return NULL;
	}
	return qp;
}

static void emu_release(struct exp_qp *entry)
{
	emu_cq_detach(entry->emu);
	emu_qp_free(entry->emu);
	entry->emu = NULL;
}

static void emu_pause(const struct exp_qp *entry)
{
	emu_qp_pause(entry->emu);
}

static void emu_resume(const struct exp_qp *entry)
{
	emu_qp_resume(entry->emu);
}

static void emu_reset(const struct exp_qp *entry)
{
	emu_qp_reset(entry->emu);
}

/* Tells once why the size of a request was refused, if it was. */
static void explain_size(const struct ibv_qp *qp,
			 const struct ibv_exp_send_wr *wr)
{
	uint32_t log_arg_sz = wr->ext_op.masked_atomics.log_arg_sz;
	static bool told;

	if (!exp_wr_is_masked(wr) || (log_arg_sz != 4 && log_arg_sz != 5) ||
	    __atomic_exchange_n(&told, true, __ATOMIC_RELAXED))
		return;
	fprintf(stderr,
		"ibv_exp_post_send: %s has no masked atomics, and its 8-byte compare-and-swap cannot emulate one of %d bytes\n",
		qp->context->device->name, 1 << log_arg_sz);
}

/* Adds a request after exp_wr_check(). Returns 0 or a positive errno. */
static int add_wr(struct emu_qp *emu, struct ibv_exp_send_wr *wr)
{
	const struct ibv_exp_cmp_swap *cs = exp_wr_cmp_swap(wr);
	const struct ibv_exp_fetch_add *fa = exp_wr_fetch_add(wr);
	struct emu_masked masked = {
		.is_cmp_swap = wr->exp_opcode ==
			       IBV_EXP_WR_EXT_MASKED_ATOMIC_CMP_AND_SWP,
	};
	struct ibv_send_wr std = {
		.wr_id = wr->wr_id,
		.sg_list = wr->sg_list,
		.num_sge = wr->num_sge,
		.send_flags = wr->exp_send_flags & EXP_SEND_STD_FLAGS,
		.wr.atomic.remote_addr = wr->ext_op.masked_atomics.remote_addr,
		.wr.atomic.rkey = wr->ext_op.masked_atomics.rkey,
	};
	int err;

	if (!exp_wr_is_masked(wr)) {
		err = exp_wr_to_std(emu->qp, &std, wr);
		return err ? err : emu_qp_post_add(emu, &std, NULL, wr);
	}
	masked.size = 1u << wr->ext_op.masked_atomics.log_arg_sz;
	if (masked.is_cmp_swap) {
		masked.compare_add = cs->compare_val;
		masked.compare_mask = cs->compare_mask;
		masked.swap = cs->swap_val;
		masked.swap_mask = cs->swap_mask;
	} else {
		masked.compare_add = fa->add_val;
		masked.compare_mask = fa->field_boundary;
	}
	return emu_qp_post_add(emu, &std, &masked, wr);
}

static int emu_post_send(const struct exp_qp *entry, struct ibv_exp_send_wr *wr,
			 struct ibv_exp_send_wr **bad_wr)
{
	int err = 0;

	emu_qp_post_begin(entry->emu);
	for (; wr; wr = wr->next) {
		err = exp_wr_check(entry, wr);
		if (err)
			explain_size(entry->qp, wr);
		else
			err = add_wr(entry->emu, wr);
		if (err)
			break;
	}
	wr = emu_qp_post_end(entry->emu, wr, &err);
	if (err)
		*bad_wr = wr;
	return err;
}

/* Adopts extended CQs only if the device can have emulated QPs. */
static int adopt_cq_ex(struct ibv_cq_ex *cq, uint64_t wc_flags)
{
	bool has_atomics;
	int err = query_atomics(cq->context, &has_atomics);

	return has_atomics ? emu_cq_ex_adopt(cq, wc_flags) : err;
}

/*
 * Opcode 9 is a masked atomic only if there are emulated QPs. Otherwise it is
 * IBV_WC_ATOMIC_WRITE.
 */
static void emu_fix_wc(const struct ibv_wc *std, struct ibv_exp_wc *wc)
{
	if (emu_cq_in_use())
		exp_wc_fix_atomic(std, wc);
}

const struct exp_backend exp_backend_emu = {
	.serves = emu_serves,
	.adopt = emu_adopt,
	.query = emu_query,
	.create_qp = emu_create_qp,
	.release = emu_release,
	.pause = emu_pause,
	.resume = emu_resume,
	.reset = emu_reset,
	.post_send = emu_post_send,
	.fix_wc = emu_fix_wc,
	.adopt_cq_ex = adopt_cq_ex,
};
