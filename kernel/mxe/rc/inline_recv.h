/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Inline receive (inline_recv.c).
 *
 * A message that cannot be delivered inline is copied to its buffer as usual,
 * and so is every message without packets (loopback.h).  The program cannot
 * tell the difference after it has polled the completion.
 */
#ifndef MXE_INLINE_RECV_H
#define MXE_INLINE_RECV_H

#include <linux/jump_label.h>

#include "queues/qp.h"

struct mxe_pkt;

/* Enabled by the first QP with inline receive, and never disabled. */
DECLARE_STATIC_KEY_FALSE(mxe_inline_recv_used);

/* Costs nothing until the first QP with inline receive is created. */
static inline bool mxe_inline_recv_is_on(const struct mxe_qp *qp)
{
	return static_branch_unlikely(&mxe_inline_recv_used) && qp->resp.inline_recv;
}

int mxe_inline_recv_init(struct mxe_qp *qp);
bool mxe_inline_recv_store(struct mxe_qp *qp, const struct mxe_pkt *pkt);
void mxe_inline_recv_end(struct mxe_qp *qp, struct mxe_wc *wc);

#endif /* MXE_INLINE_RECV_H */
