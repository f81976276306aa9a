/* SPDX-License-Identifier: GPL-2.0 */
/* Received packets of dynamically connected QPs (dc_rx.c). */
#ifndef MXE_DC_RX_H
#define MXE_DC_RX_H

struct mxe_pkt;
struct mxe_qp;
struct sk_buff;

/**
 * mxe_dc_rx() - Handle a DC packet.
 * @qp: DC initiator or target that the packet is addressed to
 * @pkt: packet with MXE_OP_DCETH
 * @skb: linear buffer that holds @pkt; consumed
 *
 * Context: BHs disabled, RCU read-side section, no lock of a QP held.
 */
void mxe_dc_rx(struct mxe_qp *qp, const struct mxe_pkt *pkt,
	       struct sk_buff *skb);

#endif /* MXE_DC_RX_H */
