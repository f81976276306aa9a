/* SPDX-License-Identifier: GPL-2.0 */
/* The beginning and the end of messages to a tag-matching SRQ (tm_recv.c). */
#ifndef MXE_TM_RECV_H
#define MXE_TM_RECV_H

#include <linux/types.h>

struct mxe_qp;

/* The first packet of a message, or a whole one. */
struct mxe_tm_data {
	const void *hdr;	/* its first bytes, as many as a rendezvous has */
	bool is_last;		/* the message ends with it */
	u32 len;		/* bytes of it; at the end those of the data */
	u32 skip;		/* bytes in front of the data */
};

/*
 * Match the tag of a message, and take a receive request. @data is the first
 * packet of a SEND, or the whole SEND. Do not match twice if the packet is
 * executed again after -EBUSY of a later step, or a request by packets after
 * the loopback path has failed.
 * Context: BHs disabled, recv_lock held.
 * Return: 0; -EINVAL for an invalid rendezvous; -EAGAIN if there is no receive
 * request or no room for the rendezvous; -EBUSY if the budget of the slice does
 * not suffice; -EIO as mxe_recv_take().
 */
int mxe_tm_recv_start(struct mxe_qp *qp, struct mxe_tm_data *data);

/*
 * Forget the message in progress without a completion. The QP is of any type.
 * Context: BHs disabled, recv_lock held.
 */
void mxe_tm_recv_abandon(struct mxe_qp *qp);

#endif /* MXE_TM_RECV_H */
