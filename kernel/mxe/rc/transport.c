// SPDX-License-Identifier: GPL-2.0
/* The properties and steps of each transport. */
#include "dc/dc_rx.h"
#include "dc/dci.h"
#include "mxe.h"
#include "queues/wr.h"
#include "queues/xrc.h"
#include "rc/respond.h"
#include "rc/retry.h"
#include "rc/send.h"
#include "rc/transport.h"
#include "rc/uc.h"
#include "rc/ud.h"

/* Invalidations, FLUSH and ATOMIC WRITE. Local operations have no peer. */
#define MXE_LOOP_LACKS	(MXE_WR_OP_INVALIDATE | MXE_WR_OP_LOCAL | MXE_WR_OP_PLACEMENT)

/* What RC, XRC and DC have in common. */
#define MXE_TRANSPORT_RELIABLE						\
	.is_reliable = true,						\
	.is_connected = true,						\
	.send_states = BIT(IB_QPS_RTS) | BIT(IB_QPS_SQD),		\
	.begin = mxe_send_begin_acked,					\
	.sent = mxe_retry_start,					\
	.unsent = mxe_send_unsent,					\
	.request = mxe_respond_request

const struct mxe_transport_ops mxe_transports[] = {
	[MXE_TRANSPORT_RC] = {
		MXE_TRANSPORT_RELIABLE,
		.min_deferred = MXE_MIN_DEFERRED_PKTS,
		.loop_lacks = MXE_LOOP_LACKS,
	},
	[MXE_TRANSPORT_XRC] = {
		MXE_TRANSPORT_RELIABLE,
		.min_deferred = MXE_MIN_DEFERRED_PKTS,
		/* The CQ depends on the SRQ, see mxe_qp_do_deferred(). */
		.loop_lacks = MXE_LOOP_LACKS | MXE_WR_OP_SEND | MXE_WR_OP_IMM,
		.select_srq = mxe_xrc_select,
	},
	[MXE_TRANSPORT_DC] = {
		MXE_TRANSPORT_RELIABLE,
		/* Peers decide how many responders a target has. */
		.min_deferred = 0,
		.wqe_flags = MXE_SEND_DC,
		.loop_lacks = MXE_LOOP_LACKS,
		.parse_dest = mxe_dci_parse_dest,
		.may_start = mxe_dci_may_start,
		.connect = mxe_dci_connect,
		.forget = mxe_dci_forget,
		.reset = mxe_dci_reset,
		.loop_peer = mxe_dci_loop_peer,
		.loop_done = mxe_dci_heard,
		.hint = mxe_dc_rx_hint,
	},
	[MXE_TRANSPORT_UC] = {
		.is_connected = true,
		.send_states = BIT(IB_QPS_RTS) | BIT(IB_QPS_SQD),
		.min_deferred = MXE_MIN_DEFERRED_PKTS,
		.begin = mxe_uc_begin,
		.sent = mxe_uc_sent,
		.unsent = mxe_uc_unsent,
		.request = mxe_uc_request,
	},
	[MXE_TRANSPORT_UD] = {
		.send_states = BIT(IB_QPS_RTS),
		.min_deferred = MXE_MIN_DEFERRED_PKTS,
		.parse_dest = mxe_ud_parse_dest,
		.copy_dest = mxe_ud_copy_dest,
		.begin = mxe_ud_begin,
		.forget = mxe_ud_forget,
		.reset = mxe_ud_reset,
		.request = mxe_ud_request,
	},
};
