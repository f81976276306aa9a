// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Connections over DC. They have no queue pair: requests go through the
 * initiators of the endpoint (dci.c) to the DC target of the peer.
 *
 * A DC target does not learn who has sent a message, so each message contains
 * the token of the connection, which only the peer has received, in a hello.
 *
 * The target accepts messages for as long as the endpoint exists, also when its
 * side of the connection was broken. The peer has completed these, so they are
 * delivered, and answered with a hello of the next epoch. One side never gives
 * up a connection on which the other side relies (MXEFI_HELLO_KEPT), unless the
 * other side does not answer its hellos.
 */
#include "ah.h"
#include "conn.h"
#include "dci.h"
#include "ep.h"
#include "peer.h"
#include "wire.h"
#include "wr.h"

static int open_dc(struct mxefi_conn *conn)
{
	struct mxefi_ep *ep = conn->peer.ep;
	int ret = mxefi_dci_open(ep);

	if (!ret && !conn->peer.dc)
		ret = mxefi_dci_attach(&conn->peer);
	if (!ret)
		conn->number = MXEFI_DC_CONN | conn->epoch;
	return ret;
}

/*
 * A hello is sent to the peer, too. What we answer later must not wait. The
 * second attempt to resolve the address begins only if the first one has
 * succeeded: the hello may be forged.
 */
static bool may_connect(struct mxefi_conn *conn)
{
	return mxefi_ah_get(conn->ah) && mxefi_dci_is_resolved(&conn->peer);
}

/* Requests in flight end with the answer of the peer, or without one. */
static void abort_dc(struct mxefi_conn *conn)
{
	mxefi_dci_withdraw(&conn->peer);
}

static bool is_drained(const struct mxefi_conn *conn)
{
	return mxefi_dci_is_drained(&conn->peer);
}

static void release(struct mxefi_conn *conn)
{
	mxefi_dci_detach(&conn->peer);
}

static bool ready(struct mxefi_peer *peer)
{
	return to_conn(peer)->state == MXEFI_CONN_READY &&
	       mxefi_dci_ready(peer);
}

static int post(struct mxefi_wr *wr)
{
	const struct mxefi_conn *conn = to_conn(wr->peer);

	if (wr->wr.opcode == IBV_WR_SEND && !wr->is_masked)
		mxefi_wr_set_conn(wr, conn->peer_token, conn->peer_qpn);
	return mxefi_dci_post(wr);
}

static void failed(struct mxefi_peer *peer, int err)
{
	mxefi_conn_abort(to_conn(peer), err);
}

const struct mxefi_transport mxefi_conn_dc = {
	.channel = {
		.has_conn = true,
		.ready = ready,
		.queued = mxefi_conn_queued,
		.post = post,
		.failed = failed,
	},
	.needs_notice = true,
	.open = open_dc,
	.may_connect = may_connect,
	.abort = abort_dc,
	.is_drained = is_drained,
	.release = release,
};
