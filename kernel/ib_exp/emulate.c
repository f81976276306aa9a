// SPDX-License-Identifier: GPL-2.0
/*
 * Emulates masked atomics by standard ones.
 *
 * An emulated request is a sequence of standard compare-and-swaps.  Each one
 * compares the word with a guess and swaps in the result of the masked atomic
 * on that guess.  It returns the old word.  If the old word equals the guess,
 * the masked atomic has been executed.  Otherwise the word is unchanged, and
 * the old word is the next guess.  The first try needs no preceding READ, and
 * may succeed.
 *
 * Every try writes the old word to the consumer's buffer, so the buffer holds
 * the right value after the last one.
 */
#include <linux/slab.h>
#include <rdma/ib_verbs.h>

#include <masked_atomic.h>

#include "device.h"
#include "emulate.h"
#include "qp.h"

/*
 * An emulated request in flight. The posted work request owns it. On completion
 * the handler owns it, and either posts the next try or frees it.
 */
struct ib_exp_op {
	struct ib_cqe cqe;
	struct ib_exp_qp_priv *qp;	/* holds a reference */
	struct ib_cqe *consumer;

	/* The consumer's request. */
	enum ib_wr_opcode opcode;
	u64 compare_add, compare_add_mask, swap, swap_mask;
	u64 *result;

	u32 retries_left;
	u64 guess;
	struct ib_sge sge;
	struct ib_atomic_wr wr;		/* the current try */
};

/* ---- arithmetic -------------------------------------------------------- */

/**
 * ib_exp_emulate_lower() - Convert a masked atomic to the equal standard one.
 * @masked: request for which ib_exp_wr_is_standard() is true
 * @wr: the standard request, filled in completely
 */
void ib_exp_emulate_lower(const struct ib_atomic_wr *masked, struct ib_atomic_wr *wr)
{
	*wr = *masked;
	if (masked->wr.opcode == IB_WR_MASKED_ATOMIC_FETCH_AND_ADD) {
		wr->wr.opcode = IB_WR_ATOMIC_FETCH_AND_ADD;
	} else if (!masked->swap_mask) {
		/*
		 * Without swapped bits the outcome of the compare is
		 * irrelevant.
		 */
		wr->wr.opcode = IB_WR_ATOMIC_FETCH_AND_ADD;
		wr->compare_add = 0;
		wr->swap = 0;
	} else {
		/* Bits outside the swap mask keep their compared value. */
		wr->wr.opcode = IB_WR_ATOMIC_CMP_AND_SWP;
		wr->swap = masked_cmp_swap_u64(masked->compare_add, 0, 0,
					       masked->swap, masked->swap_mask);
	}
	wr->compare_add_mask = 0;
	wr->swap_mask = 0;
}

static u64 ib_exp_op_apply(const struct ib_exp_op *op, u64 old)
{
	if (op->opcode == IB_WR_MASKED_ATOMIC_CMP_AND_SWP)
		return masked_cmp_swap_u64(old, op->compare_add,
					   op->compare_add_mask, op->swap,
					   op->swap_mask);
	return masked_fetch_add_u64(old, op->compare_add,
				    op->compare_add_mask);
}

/* The guess of the first try, before the word has been read. */
static u64 ib_exp_op_first_guess(const struct ib_exp_op *op)
{
	if (op->opcode == IB_WR_MASKED_ATOMIC_CMP_AND_SWP)
		return op->compare_add & op->compare_add_mask;
	return 0;
}

/* ---- tries ------------------------------------------------------------- */

static int ib_exp_op_try(struct ib_exp_op *op, u64 guess)
{
	op->guess = guess;
	op->wr.compare_add = guess;
	op->wr.swap = ib_exp_op_apply(op, guess);
	return ib_post_send(op->qp->eqp.qp, &op->wr.wr, NULL);
}

/*
 * Returns the old word of a try. The device owns the buffer again afterwards.
 */
static u64 ib_exp_op_result(struct ib_exp_op *op)
{
	struct ib_device *ibdev = op->qp->eqp.qp->device;
	u64 old;

	ib_dma_sync_single_for_cpu(ibdev, op->sge.addr, sizeof(old),
				   DMA_FROM_DEVICE);
	old = READ_ONCE(*op->result);
	ib_dma_sync_single_for_device(ibdev, op->sge.addr, sizeof(old),
				      DMA_FROM_DEVICE);
	return old;
}

/* Completes the consumer's request.  wc is the completion of the last try. */
static void ib_exp_op_end(struct ib_exp_op *op, struct ib_cq *cq,
			  const struct ib_wc *wc, enum ib_wc_status status,
			  u32 vendor_err)
{
	struct ib_exp_qp_priv *qp = op->qp;
	struct ib_cqe *consumer = op->consumer;
	struct ib_wc end = *wc;

	end.wr_cqe = consumer;
	end.status = status;
	end.vendor_err = vendor_err;
	end.opcode = op->opcode == IB_WR_MASKED_ATOMIC_CMP_AND_SWP ?
		IB_WC_MASKED_COMP_SWAP : IB_WC_MASKED_FETCH_ADD;
	kfree(op);
	consumer->done(cq, &end);
	ib_exp_qp_put(qp);
}

/* Context: That of the CQ's completion handlers. */
static void ib_exp_op_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct ib_exp_op *op = container_of(wc->wr_cqe, struct ib_exp_op, cqe);
	u64 old;

	if (wc->status != IB_WC_SUCCESS) {
		ib_exp_op_end(op, cq, wc, wc->status, wc->vendor_err);
		return;
	}

	old = ib_exp_op_result(op);
	/*
	 * If the atomic leaves the word unchanged, reading it was sufficient.
	 */
	if (old == op->guess || ib_exp_op_apply(op, old) == old) {
		ib_exp_op_end(op, cq, wc, IB_WC_SUCCESS, wc->vendor_err);
		return;
	}
	if (READ_ONCE(op->qp->stopping)) {
		ib_exp_op_end(op, cq, wc, IB_WC_WR_FLUSH_ERR, 0);
		return;
	}
	if (!op->retries_left) {
		ib_exp_op_end(op, cq, wc, IB_WC_GENERAL_ERR,
			      IB_EXP_VENDOR_ERR_RETRIES);
		return;
	}
	op->retries_left--;
	/*
	 * The completed try has freed the send queue entry that this one takes.
	 */
	op->wr.wr.send_flags = IB_SEND_SIGNALED;
	if (ib_exp_op_try(op, old))
		ib_exp_op_end(op, cq, wc, IB_WC_GENERAL_ERR,
			      IB_EXP_VENDOR_ERR_POST);
}

/**
 * ib_exp_emulate() - Execute a masked atomic as a loop of compare-and-swaps.
 * @qp: the QP; the caller holds a reference to it
 * @wr: the request, which ib_exp_post_send_slow() has validated
 * @result: CPU address of the SGE's 8 bytes
 *
 * The reference is dropped when the request completes, or here on an error.
 *
 * Context: Any, as ib_post_send().
 * Return: 0, -ENOMEM, or an error of ib_post_send().
 */
int ib_exp_emulate(struct ib_exp_qp_priv *qp, const struct ib_atomic_wr *wr,
		   u64 *result)
{
	struct ib_exp_op *op = kmalloc(sizeof(*op), GFP_ATOMIC);
	int err;

	if (!op) {
		ib_exp_qp_put(qp);
		return -ENOMEM;
	}
	*op = (struct ib_exp_op) {
		.cqe.done = ib_exp_op_done,
		.qp = qp,
		.consumer = wr->wr.wr_cqe,
		.opcode = wr->wr.opcode,
		.compare_add = wr->compare_add,
		.compare_add_mask = wr->compare_add_mask,
		.swap = wr->swap,
		.swap_mask = wr->swap_mask,
		.result = result,
		.retries_left = READ_ONCE(qp->dev->attr.max_retries),
		.sge = wr->wr.sg_list[0],
		.wr.wr.wr_cqe = &op->cqe,
		.wr.wr.sg_list = &op->sge,
		.wr.wr.num_sge = 1,
		.wr.wr.opcode = IB_WR_ATOMIC_CMP_AND_SWP,
		.wr.wr.send_flags = wr->wr.send_flags,
		.wr.remote_addr = wr->remote_addr,
		.wr.rkey = wr->rkey,
	};
	err = ib_exp_op_try(op, ib_exp_op_first_guess(op));
	if (err) {
		kfree(op);
		ib_exp_qp_put(qp);
	}
	return err;
}
