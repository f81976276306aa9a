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

/*
 * Give a QP of a process that is being created inline receive.
 * Context: May sleep.
 * Return: 0, or -EOPNOTSUPP if the type of the QP or its SRQ excludes that.
 */
int mxe_inline_recv_init(struct mxe_qp *qp);

/*
 * Keep the data of a SEND for its completion. The QP has inline receive, and a
 * receive request in resp.cur.
 * Context: BHs disabled, recv_lock held.
 * Return: true if the data are kept; false if the packet must be copied to the
 * buffer, which also finds the errors.
 */
bool mxe_inline_recv_store(struct mxe_qp *qp, const struct mxe_pkt *pkt);

/*
 * Add the data that were kept to a completion, which keeps a pointer to
 * resp.inl. A completion in error has no data.
 * Context: recv_lock held.
 */
void mxe_inline_recv_end(struct mxe_qp *qp, struct mxe_wc *wc);

#endif /* MXE_INLINE_RECV_H */
