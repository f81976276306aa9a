/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What differs between the transports: a row of properties and steps for each
 * (transport.c). The engine asks the row of a QP, and not which transport it
 * has.
 */
#ifndef MXE_TRANSPORT_H
#define MXE_TRANSPORT_H

#include <linux/types.h>
#include <rdma/ib_verbs.h>

#include "wire/pkt.h"

struct mxe_bth;
struct mxe_pkt;
struct mxe_qp;
struct mxe_send_wqe;
struct mxe_send_wr;
struct sk_buff;

/* What the requester does next with the request at req->cur. */
enum mxe_send_verdict {
	MXE_SEND_VERDICT_GO,		/* send its next packet */
	MXE_SEND_VERDICT_NEXT,		/* it is complete: continue */
	MXE_SEND_VERDICT_STOP,		/* send nothing more now */
};

struct mxe_transport_ops {
	/*
	 * Requests are acknowledged, and sent again until they are. An error
	 * moves the QP to ERR, otherwise to SQE.
	 */
	bool is_reliable;
	/* The first packet to a QP in RTR raises COMM_EST. */
	bool is_connected;
	/*
	 * Bits of the states in which the send queue is read. In SQD, a message
	 * that was started is sent to its end.
	 */
	u8 send_states;
	/* Requests that may be deferred if the device has its limit of them. */
	u8 min_deferred;
	/* Flags of a WQE (enum mxe_send_wqe_flags) that it alone has. */
	u8 wqe_flags;
	/* Requests with one of these flags need packets on loopback. */
	u16 loop_lacks;

	/*
	 * Steps of the requester. Context: BHs disabled, send_lock held.
	 * One that is NULL is not needed.
	 */

	/*
	 * Copy the destination that the request of a process names. @wqe is the
	 * checked copy of @entry, which the process may write.
	 */
	enum ib_wc_status (*parse_dest)(struct mxe_qp *qp, struct mxe_send_wr *wr,
					const struct mxe_send_wqe *wqe,
					const struct mxe_send_wqe *entry);
	/* For a kernel consumer, with req.post_lock held. 0 or -EINVAL. */
	int (*copy_dest)(struct mxe_send_wr *wr, const struct ib_send_wr *ibwr);
	/*
	 * Check whether a request may be started. If it has another destination
	 * than the earlier ones, these must be acknowledged first.
	 */
	bool (*may_start)(const struct mxe_qp *qp, const struct mxe_send_wr *wr);
	/*
	 * Connect to the destination of the request at req.cur, which was not
	 * started, unless earlier ones are outstanding.
	 */
	void (*connect)(struct mxe_qp *qp, struct mxe_send_wr *wr);
	/* Begin the request at req.cur, which was not started. */
	enum mxe_send_verdict (*begin)(struct mxe_qp *qp, struct mxe_send_wr *wr);
	/* A packet was sent. */
	void (*sent)(struct mxe_qp *qp);
	/* A packet was not sent. Return true if it counts as lost. */
	bool (*unsent)(struct mxe_qp *qp, int err);
	/* Drop what a request refers to, whose slot becomes free. */
	void (*forget)(struct mxe_qp *qp, struct mxe_send_wr *wr);
	/* Drop the destination, because the QP enters RESET. */
	void (*reset)(struct mxe_qp *qp);

	/* Steps of the loopback path. Context: as above. */

	/* Return the responder if the packets go to @target, or NULL. */
	struct mxe_qp *(*loop_peer)(const struct mxe_qp *qp, struct mxe_qp *target);
	/* The peer has executed a request. */
	void (*loop_done)(struct mxe_qp *qp);

	/* Steps of the responder. Context: BHs disabled, recv_lock held. */

	/* Select the SRQ that a message names, see mxe_xrc_select(). */
	int (*select_srq)(struct mxe_qp *qp, u32 srqn, bool start);
	/*
	 * Execute a request. The QP can receive. @pkt is in @skb.
	 * Return: -EBUSY if the caller has to try again.
	 */
	int (*request)(struct mxe_qp *qp, const struct mxe_pkt *pkt,
		       const struct sk_buff *skb);

	/*
	 * Return the QP that keeps the route of a packet, see
	 * mxe_dc_rx_hint(). Context: BHs disabled.
	 */
	struct mxe_qp *(*hint)(struct mxe_qp *qp, const struct sk_buff *skb,
			       const struct mxe_bth *bth);
};

/* Rows by enum mxe_transport. */
extern const struct mxe_transport_ops mxe_transports[];

#endif /* MXE_TRANSPORT_H */
