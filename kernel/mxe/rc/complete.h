/* SPDX-License-Identifier: GPL-2.0 */
/* The completer, which handles acknowledgments and responses (complete.c). */
#ifndef MXE_COMPLETE_H
#define MXE_COMPLETE_H

#include "queues/qp.h"

bool mxe_complete_pkt(struct mxe_qp *qp, const struct mxe_pkt *pkt);
void mxe_complete_nak(struct mxe_qp *qp, u32 psn, u8 syndrome);
void mxe_complete_result_be(const struct mxe_atomic_args *args, u64 *words);

/*
 * Convert the result of an atomic from host byte order to big-endian if the QP
 * that posted it or the size of the operands requires this.
 */
static inline void mxe_complete_result(const struct mxe_qp *qp,
				       const struct mxe_atomic_args *args,
				       u64 *words)
{
	if (qp->be_reply || BIT(args->log_size) & MXE_ATOMIC_LOG_SIZES_BE)
		mxe_complete_result_be(args, words);
}

#endif /* MXE_COMPLETE_H */
