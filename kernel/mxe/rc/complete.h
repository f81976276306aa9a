/* SPDX-License-Identifier: GPL-2.0 */
/* The completer, which handles acknowledgments and responses (complete.c). */
#ifndef MXE_COMPLETE_H
#define MXE_COMPLETE_H

#include "queues/qp.h"

/**
 * mxe_complete_pkt() - Handle an ACK, a NAK, or a response with data.
 * @qp: QP that the packet is for, which may be dying
 * @pkt: packet of its connection
 *
 * Completes requests, rewinds for retransmission, or starts an RNR wait.
 *
 * Context: Softirq, send_lock held.
 * Return: true if the packet matched an outstanding one.  The caller then sends
 * requests that had to wait.
 */
bool mxe_complete_pkt(struct mxe_qp *qp, const struct mxe_pkt *pkt);

/**
 * mxe_complete_nak() - Handle the refusal of a request.
 * @qp: QP that can send and has a request outstanding
 * @psn: PSN of the refused packet, which was sent and is not acknowledged
 * @syndrome: AETH syndrome of a NAK or RNR NAK
 *
 * Context: BHs disabled, send_lock held.
 */
void mxe_complete_nak(struct mxe_qp *qp, u32 psn, u8 syndrome);

/**
 * mxe_complete_result_be() - Convert the result of an atomic to big-endian.
 * @args: operands of the atomic
 * @words: result in host byte order
 *
 * Only mxe_complete_result() calls it.
 */
void mxe_complete_result_be(const struct mxe_atomic_args *args, u64 *words);

/**
 * mxe_complete_result() - Convert the result of an atomic for the consumer.
 * @qp: QP that posted the atomic
 * @args: operands of the atomic
 * @words: result in host byte order; converted to big-endian if the QP or the
 *	size of the operands requires this
 */
static inline void mxe_complete_result(const struct mxe_qp *qp,
				       const struct mxe_atomic_args *args,
				       u64 *words)
{
	if (qp->be_reply || BIT(args->log_size) & MXE_ATOMIC_LOG_SIZES_BE)
		mxe_complete_result_be(args, words);
}

#endif /* MXE_COMPLETE_H */
