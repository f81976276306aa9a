/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A shortcut for RC atomics of 8 bytes that are sent as packets
 * (wire_atomic.c).
 */
#ifndef MXE_WIRE_ATOMIC_H
#define MXE_WIRE_ATOMIC_H

#include <linux/skbuff.h>
#include <linux/udp.h>

#include "pkt.h"
#include "qp.h"
#include "ring.h"
#include "wr.h"

#ifndef MXE_WITHOUT_WIRE_ATOMIC

/**
 * mxe_wire_atomic_run() - Send the atomics at the head of the send ring.
 * @qp: QP of a process in RTS that has sent all requests it has fetched
 *
 * Only mxe_wire_atomic_ring() calls it.
 *
 * Context: As mxe_wire_atomic_ring().
 * Return: As mxe_wire_atomic_ring().
 */
bool mxe_wire_atomic_run(struct mxe_qp *qp);

/**
 * mxe_wire_atomic_ring() - Send the atomics at the head of the send ring.
 * @qp: QP whose doorbell rang
 *
 * Sends only requests that the loop of the requester would send, with the same
 * effects.  The first other request remains in the ring, unchanged, and so do
 * all after it.
 *
 * Context: BHs disabled, RCU read-side section, send_lock held.
 * Return: true if all requests were sent that were in the ring at the time of
 * the call.
 */
static inline bool mxe_wire_atomic_ring(struct mxe_qp *qp)
{
	const struct mxe_sq *sq = &qp->sq;
	const struct mxe_send_wqe *next;

	/* In another state, the ring may be freed. */
	if (sq->loopback.local || qp->state != IB_QPS_RTS || !qp->is_user ||
	    sq->cur != sq->fetched)
		return false;
	/* Read again before it is used. */
	next = mxe_ring_entry(&sq->ring, sq->fetched);
	return mxe_wr_is_atomic(READ_ONCE(next->opcode)) && mxe_wire_atomic_run(qp);
}

/**
 * mxe_wire_atomic_is_valid() - Check a packet that has the opcode of an atomic.
 * @qp: QP that the packet may be for
 * @skb: linear packet without a route, whose network and transport headers are
 *	set
 *
 * Makes the checks of a packet that need no lock.  Counts nothing, because the
 * general path repeats the checks of a packet that fails one.
 *
 * Only mxe_wire_atomic_accepts() calls it.
 *
 * Context: BHs disabled.
 * Return: as mxe_wire_atomic_accepts().
 */
bool mxe_wire_atomic_is_valid(const struct mxe_qp *qp, struct sk_buff *skb);

/**
 * mxe_wire_atomic_opcode() - Get the opcode of a packet.
 * @skb: received packet whose transport header is set
 *
 * Return: the BTH opcode.
 */
static inline u8 mxe_wire_atomic_opcode(const struct sk_buff *skb)
{
	return *(const u8 *)(udp_hdr(skb) + 1);
}

/**
 * mxe_wire_atomic_is_response() - Distinguish responses from requests.
 * @skb: packet for which mxe_wire_atomic_accepts() is true
 *
 * Return: true if it is a response.
 */
static inline bool mxe_wire_atomic_is_response(const struct sk_buff *skb)
{
	return mxe_wire_atomic_opcode(skb) == IB_OPCODE_RC_ATOMIC_ACKNOWLEDGE;
}

/**
 * mxe_wire_atomic_accepts() - Check whether the shortcut may handle a packet.
 * @qp: QP that the packet may be for
 * @skb: received packet without a route, whose network and transport headers
 *	are in its linear part
 *
 * Context: BHs disabled.
 * Return: true for a request or response of an atomic of 8 bytes if @qp is RC,
 * the packet is valid and its ICRC is correct.
 */
static inline bool mxe_wire_atomic_accepts(const struct mxe_qp *qp,
					   struct sk_buff *skb)
{
	/* The BTH of a packet of a GSO batch may be in a fragment. */
	if (skb_is_nonlinear(skb))
		return false;
	switch (mxe_wire_atomic_opcode(skb)) {
	case IB_OPCODE_RC_ATOMIC_ACKNOWLEDGE:
	case IB_OPCODE_RC_COMPARE_SWAP:
	case IB_OPCODE_RC_FETCH_ADD:
	case MXE_OPCODE_RC_MASKED_CMP_SWAP:
	case MXE_OPCODE_RC_MASKED_FETCH_ADD:
		return mxe_wire_atomic_is_valid(qp, skb);
	default:
		return false;
	}
}

/**
 * mxe_wire_atomic_request() - Execute a request and respond to it.
 * @qp: QP that the request is for, which may be dying
 * @skb: request for which mxe_wire_atomic_accepts() is true
 *
 * Does what mxe_deliver() would do, if the request is executed at once.
 *
 * Context: BHs disabled, recv_lock held.
 * Return: false if nothing was changed, and the general path has to handle the
 * packet.
 */
bool mxe_wire_atomic_request(struct mxe_qp *qp, const struct sk_buff *skb);

/**
 * mxe_wire_atomic_response() - Complete a request.
 * @qp: QP that the response is for, which may be dying
 * @skb: response for which mxe_wire_atomic_accepts() is true
 *
 * Does what mxe_complete_pkt() would do, if this is the response to the oldest
 * request and its result can be stored.
 *
 * Context: BHs disabled, send_lock held.
 * Return: false if nothing was changed, and the general path has to handle the
 * packet.
 */
bool mxe_wire_atomic_response(struct mxe_qp *qp, const struct sk_buff *skb);

#else

static inline bool mxe_wire_atomic_ring(struct mxe_qp *qp)
{
	return false;
}

static inline bool mxe_wire_atomic_is_response(const struct sk_buff *skb)
{
	return false;
}

static inline bool mxe_wire_atomic_accepts(const struct mxe_qp *qp,
					   struct sk_buff *skb)
{
	return false;
}

static inline bool mxe_wire_atomic_request(struct mxe_qp *qp, const struct sk_buff *skb)
{
	return false;
}

static inline bool mxe_wire_atomic_response(struct mxe_qp *qp,
					    const struct sk_buff *skb)
{
	return false;
}

#endif /* MXE_WITHOUT_WIRE_ATOMIC */

#endif /* MXE_WIRE_ATOMIC_H */
