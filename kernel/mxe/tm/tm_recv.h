/* SPDX-License-Identifier: GPL-2.0 */
/* The beginning and the end of messages to a tag-matching SRQ (tm_recv.c). */
#ifndef MXE_TM_RECV_H
#define MXE_TM_RECV_H

#include <linux/types.h>

struct mxe_pkt;
struct mxe_qp;

/**
 * mxe_tm_recv_start() - Match the tag of a message, and take a receive request.
 * @qp: responder with a tag-matching SRQ
 * @pkt: first packet of a SEND; its payload becomes the data for the request
 *
 * Does not match twice if the packet is executed again after -EBUSY of a later
 * step.
 *
 * Context: BHs disabled, recv_lock held.
 * Return: 0; -EINVAL for an invalid rendezvous; -EAGAIN if there is no receive
 * request or no room for the rendezvous; -EBUSY if the budget of the slice does
 * not suffice; -EIO as mxe_recv_take().
 */
int mxe_tm_recv_start(struct mxe_qp *qp, struct mxe_pkt *pkt);

/**
 * mxe_tm_recv_abandon() - Forget the message in progress without a completion.
 * @qp: responder of any type
 *
 * Context: BHs disabled, recv_lock held.
 */
void mxe_tm_recv_abandon(struct mxe_qp *qp);

#endif /* MXE_TM_RECV_H */
