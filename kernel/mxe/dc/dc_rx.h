/* SPDX-License-Identifier: GPL-2.0 */
/* Received packets of dynamically connected QPs (dc_rx.c). */
#ifndef MXE_DC_RX_H
#define MXE_DC_RX_H

struct mxe_bth;
struct mxe_dc_hdr;
struct mxe_pkt;
struct mxe_qp;
struct sk_buff;

/**
 * mxe_dc_rx_hint() - Return the QP that keeps the route of a packet.
 * @qp: DC QP that the packet is addressed to
 * @skb: the packet, whose network header is set
 * @bth: its BTH, which is not checked
 *
 * Context: BHs disabled, RCU read-side section, in which the result is valid.
 * Return: @qp if it is an initiator, the responder of the session if it is a
 * target, or NULL.
 */
struct mxe_qp *mxe_dc_rx_hint(struct mxe_qp *qp, const struct sk_buff *skb,
			      const struct mxe_bth *bth);

/**
 * mxe_dc_rx_responder() - Return the responder for a packet to a target.
 * @qp: DC target that the packet is addressed to, or its responder from
 *	mxe_dc_rx_hint()
 * @pkt: packet with MXE_OP_DCETH
 * @hdr: its DC headers
 * @skb: linear buffer that holds @pkt
 *
 * If there is none, the initiator may have been answered.
 *
 * Context: BHs disabled, RCU read-side section, in which the result is valid.
 * No lock of a QP held unless @qp is a responder.
 * Return: the responder, which may be closed at any time, or NULL.
 */
struct mxe_qp *mxe_dc_rx_responder(struct mxe_qp *qp, const struct mxe_pkt *pkt,
				   const struct mxe_dc_hdr *hdr,
				   const struct sk_buff *skb);

/**
 * mxe_dc_rx_response() - Handle a packet to an initiator.
 * @qp: DC initiator, which may be dying
 * @pkt: packet with MXE_OP_DCETH
 * @hdr: its DC headers
 * @skb: linear buffer that holds @pkt
 *
 * Context: BHs disabled, RCU read-side section, send_lock held.
 */
void mxe_dc_rx_response(struct mxe_qp *qp, const struct mxe_pkt *pkt,
			const struct mxe_dc_hdr *hdr, const struct sk_buff *skb);

#endif /* MXE_DC_RX_H */
