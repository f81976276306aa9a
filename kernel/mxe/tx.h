/* SPDX-License-Identifier: GPL-2.0 */
/* tx.c builds packets from their description, and gives them to IP. */
#ifndef MXE_TX_H
#define MXE_TX_H

#include <linux/skbuff.h>

#include "gso.h"
#include "hdr.h"
#include "pkt.h"

struct mxe_av;
struct mxe_qp;

/*
 * A buffer for a packet, written from BTH to payload, and where that goes; NULL
 * without memory.  old: a received packet that is done with, whose buffer may be
 * taken (mxe_skb_reuse()), or NULL.  Context: bottom halves off.
 */
struct sk_buff *mxe_tx_alloc(struct mxe_qp *qp, const struct mxe_pkt_out *out,
			     struct sk_buff **old, u8 **payload);

/* What one side of a queue pair sends.  Under the lock of that side. */
struct mxe_tx {
	struct mxe_gso gso;		/* empty while the lock is free */
	struct mxe_hdr hdr;		/* of what was sent last */
	/* Packets have arrived: with the next the neighbour is confirmed. */
	bool progress;
};

/* Before the address is another. */
static inline void mxe_tx_forget(struct mxe_tx *tx)
{
	mxe_hdr_forget(&tx->hdr);
	tx->progress = false;
}

/*
 * Complete a packet and send it; consumes skb.  It may be batched with packets that
 * follow; the batch is sent before the lock is dropped.  Without a route the packet is
 * counted, and lost as others may be.  Context: bottom halves off.
 */
void mxe_tx_send(struct mxe_qp *qp, struct mxe_tx *tx, struct sk_buff *skb);
void mxe_tx_flush(struct mxe_qp *qp, struct mxe_tx *tx);

/* Send a packet at once, to the address of a datagram. */
void mxe_tx_send_to(struct mxe_qp *qp, const struct mxe_av *av,
		    struct sk_buff *skb);

#endif /* MXE_TX_H */
