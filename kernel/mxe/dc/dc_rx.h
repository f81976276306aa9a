/* SPDX-License-Identifier: GPL-2.0 */
/* Received packets of dynamically connected QPs (dc_rx.c). */
#ifndef MXE_DC_RX_H
#define MXE_DC_RX_H

struct mxe_bth;
struct mxe_dc_hdr;
struct mxe_pkt;
struct mxe_qp;
struct sk_buff;

/*
 * Return the QP that keeps the route of a packet to @qp: @qp if it is an
 * initiator, the responder of the session if it is a target, or NULL. The
 * network header of @skb is set. @bth is not checked.
 * Context: BHs disabled, RCU read-side section, in which the result is valid.
 */
struct mxe_qp *mxe_dc_rx_hint(struct mxe_qp *qp, const struct sk_buff *skb,
			      const struct mxe_bth *bth);

/*
 * Return the responder for a packet with MXE_OP_DCETH to @qp, a DC target or
 * its responder from mxe_dc_rx_hint(). @skb is linear and holds @pkt. If there
 * is no responder, the initiator may have been answered.
 * Context: BHs disabled, RCU read-side section, in which the result is valid.
 * No lock of a QP held unless @qp is a responder.
 * Return: the responder, which may be closed at any time, or NULL.
 */
struct mxe_qp *mxe_dc_rx_responder(struct mxe_qp *qp, const struct mxe_pkt *pkt,
				   const struct mxe_dc_hdr *hdr,
				   const struct sk_buff *skb);

/*
 * Handle a packet with MXE_OP_DCETH to an initiator, which may be dying. @skb
 * is linear and holds @pkt.
 * Context: BHs disabled, RCU read-side section, send_lock held.
 */
void mxe_dc_rx_response(struct mxe_qp *qp, const struct mxe_pkt *pkt,
			const struct mxe_dc_hdr *hdr, const struct sk_buff *skb);

#endif /* MXE_DC_RX_H */
