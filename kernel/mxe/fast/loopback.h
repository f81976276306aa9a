/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The loopback path executes requests between two connected QPs of one netns,
 * of RC, XRC or DC, in the context of the sender, without packets (loopback.c).
 *
 * It only executes requests that are certain to succeed.  In all other cases,
 * such as a peer that is not ready or an invalid key, it changes nothing, and
 * the request is sent as packets.  Thus only one code path handles errors.
 */
#ifndef MXE_LOOPBACK_H
#define MXE_LOOPBACK_H

#include <linux/types.h>

#include "ip/qpn.h"

struct mxe_qp;
struct mxe_send_wr;

/* Facts about the path and the peer, as cached by the requester. */
struct mxe_loopback {
	bool known;			/* the members below are valid */
	bool local;			/* packets would return untouched */
	int routes;			/* generation of the routes */
	unsigned long checked;		/* in this jiffy */
	struct mxe_qp_cache peer_cache;
};

enum mxe_loopback_result {
	MXE_LOOPBACK_DONE,		/* executed and completed */
	MXE_LOOPBACK_LATER,		/* to be executed here, but not now */
	MXE_LOOPBACK_NO,		/* nothing changed: send packets */
};

#ifndef MXE_WITHOUT_LOOPBACK

/* Module parameter; may change at any time. */
extern bool mxe_loopback_direct;

/* Longer requests, in packets, do not take the loopback path. */
#define MXE_LOOPBACK_PKTS	64

static inline u32 mxe_loopback_cost(u32 len, u32 num_sge)
{
	return 1 + len / 8192 + num_sge / 4;
}

enum mxe_loopback_result mxe_loopback_request(struct mxe_qp *qp, struct mxe_send_wr *wr);

#else

static inline enum mxe_loopback_result
mxe_loopback_request(struct mxe_qp *qp, struct mxe_send_wr *wr)
{
	return MXE_LOOPBACK_NO;
}

#endif /* MXE_WITHOUT_LOOPBACK */

/*
 * Drop the path and peer of a QP whose address or peer changes.
 * Context: send_lock of the QP held.
 */
static inline void mxe_loopback_forget(struct mxe_loopback *loop)
{
	loop->known = false;
	loop->peer_cache.qp = NULL;
}

#endif /* MXE_LOOPBACK_H */
