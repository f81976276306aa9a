/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The responders of a DC target, one for each session.  A responder is a QP
 * without a number and without a send side (dc_responder.c).
 */
#ifndef MXE_DC_RESPONDER_H
#define MXE_DC_RESPONDER_H

#include <linux/list.h>

#include "dc/dc.h"
#include "queues/qp.h"

/* The responder of a session. */
struct mxe_dc_responder {
	struct mxe_qp qp;		/* first, for kfree_rcu() */
	struct mxe_dc dc;
	struct mxe_dct_addr addr;	/* of its initiator; immutable */
	unsigned long used;		/* last packet, in jiffies; racy */
	/*
	 * A shadow of the target's, without an event handler: what a peer does
	 * must not look like a failure of the target.
	 */
	struct ib_qp ibqp;
	struct list_head entry;		/* of the target: closed */
};

/* Check whether a session is that of a responder, which may be closed. */
static inline bool mxe_dc_responder_is(const struct mxe_dc_responder *resp,
				       const struct mxe_dct_addr *addr, u32 session)
{
	const u64 *a = (const u64 *)&resp->addr, *b = (const u64 *)addr;
	u64 differ = resp->dc.hdr.session ^ session;
	unsigned int i;

	/*
	 * An instance is a secret, and the time of memcmp() would tell how much
	 * of it was guessed.
	 */
	for (i = 0; i < sizeof(*addr) / sizeof(*a); i++)
		differ |= a[i] ^ b[i];
	return !differ;
}

static inline struct mxe_dc_responder *to_mdc_responder(struct mxe_qp *qp)
{
	return container_of(qp, struct mxe_dc_responder, qp);
}

struct mxe_dc_responder *mxe_dc_responder_create(const struct mxe_qp *target,
						 const struct mxe_dct_addr *addr,
						 const struct mxe_dc_hdr *hdr,
						 const struct mxe_av *av);
void mxe_dc_responder_halt(struct mxe_dc_responder *resp);
bool mxe_dc_responder_is_busy(const struct mxe_dc_responder *resp);
void mxe_dc_responder_flush(struct mxe_dc_responder *resp);
void mxe_dc_responder_free(struct mxe_dc_responder *resp);

#endif /* MXE_DC_RESPONDER_H */
