/* SPDX-License-Identifier: GPL-2.0 */
/* Completer: acknowledgments and responses to completions. */
#ifndef MXE_COMPLETE_H
#define MXE_COMPLETE_H

#include "qp.h"

/*
 * A response packet arrived.  Returns true if it was one of what is outstanding: more
 * may be sent then.  Context: softirq, send_lock held.
 */
bool mxe_complete_pkt(struct mxe_qp *qp, const struct mxe_pkt *pkt);

/* Convert to big-endian.  Only mxe_complete_result() calls it. */
void mxe_complete_result_be(const struct mxe_atomic_args *args, u64 *words);
/* Convert the words of an atomic's result to the byte order that its consumer gets. */
static inline void mxe_complete_result(const struct mxe_qp *qp,
				       const struct mxe_atomic_args *args,
				       u64 *words)
{
	if (qp->be_reply || BIT(args->log_size) & MXE_ATOMIC_LOG_SIZES_BE)
		mxe_complete_result_be(args, words);
}

#endif /* MXE_COMPLETE_H */
