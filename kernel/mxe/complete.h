/* SPDX-License-Identifier: GPL-2.0 */
/* Completer: acknowledgements and responses to completions. */
#ifndef MXE_COMPLETE_H
#define MXE_COMPLETE_H

#include "qp.h"

/*
 * A response packet arrived.  Returns true if it was one of what is outstanding: more
 * may be sent then.  Context: softirq, send_lock held.
 */
bool mxe_complete_pkt(struct mxe_qp *qp, const struct mxe_pkt *pkt);

/*
 * Complete the oldest work request.  With an error the queue pair goes to
 * ERR, an unreliable one to SQE.  Context: send_lock held.
 */
void mxe_complete_wr(struct mxe_qp *qp, enum ib_wc_status status);

/* Words to big-endian; only for mxe_atomic_result(). */
void mxe_atomic_result_be(const struct mxe_atomic_args *args, u64 *words);
/* The words, in the byte order in which the consumer gets them. */
static inline void mxe_atomic_result(const struct mxe_qp *qp,
				     const struct mxe_atomic_args *args,
				     u64 *words)
{
	if (qp->be_reply || BIT(args->log_size) & MXE_ATOMIC_LOG_SIZES_BE)
		mxe_atomic_result_be(args, words);
}

/* Report an error found while sending, once it is the oldest's turn. */
void mxe_complete_local_error(struct mxe_qp *qp);

/* Is anything sent and not acknowledged? */
static inline bool mxe_complete_outstanding(const struct mxe_sq *sq)
{
	return sq->tail != sq->next;
}

#endif /* MXE_COMPLETE_H */
