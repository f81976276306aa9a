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

int mxe_tm_recv_start(struct mxe_qp *qp, struct mxe_tm_data *data);
void mxe_tm_recv_abandon(struct mxe_qp *qp);

#endif /* MXE_TM_RECV_H */
