/* SPDX-License-Identifier: GPL-2.0 */
/* The completer turns acknowledgements and responses into completions (complete.c). */
#ifndef MXE_COMPLETE_H
#define MXE_COMPLETE_H

#include "qp.h"

/*
 * A response packet arrived.  Returns true if it was one of what is outstanding: more
 * may be sent then.  Context: softirq, send_lock held.
 */
bool mxe_complete_pkt(struct mxe_qp *qp, const struct mxe_pkt *pkt);

/* Words to big-endian; only for mxe_complete_result(). */
void mxe_complete_result_be(const struct mxe_atomic_args *args, u64 *words);
/* The words, in the byte order in which the consumer gets them. */
static inline void mxe_complete_result(const struct mxe_qp *qp,
				       const struct mxe_atomic_args *args,
				       u64 *words)
{
	if (qp->be_reply || BIT(args->log_size) & MXE_ATOMIC_LOG_SIZES_BE)
		mxe_complete_result_be(args, words);
}

#endif /* MXE_COMPLETE_H */
