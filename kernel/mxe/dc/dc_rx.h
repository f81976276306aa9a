/* SPDX-License-Identifier: GPL-2.0 */
/* Received packets of dynamically connected QPs (dc_rx.c). */
#ifndef MXE_DC_RX_H
#define MXE_DC_RX_H

struct mxe_bth;
struct mxe_dc_hdr;
struct mxe_pkt;
struct mxe_qp;
struct sk_buff;

struct mxe_qp *mxe_dc_rx_hint(struct mxe_qp *qp, const struct sk_buff *skb,
			      const struct mxe_bth *bth);
struct mxe_qp *mxe_dc_rx_responder(struct mxe_qp *qp, const struct mxe_pkt *pkt,
				   const struct mxe_dc_hdr *hdr,
				   const struct sk_buff *skb);
void mxe_dc_rx_response(struct mxe_qp *qp, const struct mxe_pkt *pkt,
			const struct mxe_dc_hdr *hdr, const struct sk_buff *skb);

#endif /* MXE_DC_RX_H */
