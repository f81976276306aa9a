/* SPDX-License-Identifier: GPL-2.0 */
/*
 * tx.c builds packets from their descriptions and gives them to the IP layer.
 */
#ifndef MXE_TX_H
#define MXE_TX_H

#include <linux/skbuff.h>

#include "fast/gso.h"
#include "ip/route.h"
#include "wire/hdr.h"
#include "wire/pkt.h"

struct mxe_ah_flow;
struct mxe_av;
struct mxe_dc_hdr;
struct mxe_qp;

struct sk_buff *mxe_tx_alloc(struct mxe_qp *qp, u8 opcode, u32 qpn, u32 apsn,
			     u32 more, u8 **p);

/* State of one side of a QP that sends.  Protected by the lock of that side. */
struct mxe_tx {
	struct mxe_gso gso;		/* empty while the lock is not held */
	struct mxe_hdr hdr;		/* headers of the last packet */
	struct mxe_route route;		/* to the address of the QP */
	/* Packets arrived, so the next batch confirms the neighbour. */
	bool progress;
};

/*
 * Drop cached state of a side of the QP, because the address of the QP changes.
 * Context: Lock of that side held, or no packet can reach the QP.
 */
static inline void mxe_tx_forget(struct mxe_tx *tx)
{
	mxe_hdr_forget(&tx->hdr);
	mxe_route_forget(&tx->route);
	tx->progress = false;
}

void mxe_tx_send(struct mxe_qp *qp, struct mxe_tx *tx, struct sk_buff *skb);
void mxe_tx_send_batch(struct mxe_qp *qp, struct mxe_tx *tx);

/*
 * Send the GSO batch, if there is one. Whoever sends packets calls it before
 * the lock is dropped.
 * Context: BHs disabled, lock of that side held.
 */
static inline void mxe_tx_flush(struct mxe_qp *qp, struct mxe_tx *tx)
{
	if (!mxe_gso_is_empty(&tx->gso))
		mxe_tx_send_batch(qp, tx);
}

bool mxe_tx_is_aimed(const struct mxe_qp *qp, const struct mxe_ah_flow *flow);
bool mxe_tx_aim(struct mxe_qp *qp, struct mxe_ah_flow *flow);
void mxe_tx_send_to(struct mxe_qp *qp, const struct mxe_av *av,
		    struct sk_buff *skb);
void mxe_tx_send_dc_control(struct mxe_qp *qp, const struct mxe_av *av, u32 qpn,
			    const struct mxe_dc_hdr *hdr);

#endif /* MXE_TX_H */
