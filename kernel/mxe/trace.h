/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tracepoints (Documentation/tracing.rst).  They record copies only, so a trace
 * never refers to an object that may be freed.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM mxe

#if !defined(MXE_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define MXE_TRACE_H

#include <linux/tracepoint.h>

#include "mxe.h"
#include "queues/qp.h"

#define MXE_TRACE_DEV_NAME	IB_DEVICE_NAME_MAX

/* A send request was taken up. */
TRACE_EVENT(mxe_post,
	TP_PROTO(const struct mxe_qp *qp, const struct mxe_send_wr *wr),
	TP_ARGS(qp, wr),
	TP_STRUCT__entry(
		__array(char, dev, MXE_TRACE_DEV_NAME)
		__field(u32, qpn)
		__field(u64, wr_id)
		__field(u32, opcode)
		__field(u32, length)
		__field(u8, flags)
		__field(u8, error)
	),
	TP_fast_assign(
		strscpy(__entry->dev, dev_name(&qp->dev->ibdev.dev),
			MXE_TRACE_DEV_NAME);
		__entry->qpn = qp->qpn;
		__entry->wr_id = wr->wr_id;
		__entry->opcode = wr->opcode;
		__entry->length = wr->length;
		__entry->flags = wr->flags;
		__entry->error = wr->error;
	),
	TP_printk("%s qpn=%u wr_id=%#llx opcode=%u length=%u flags=%#x error=%u",
		  __entry->dev, __entry->qpn, __entry->wr_id, __entry->opcode,
		  __entry->length, __entry->flags, __entry->error)
);

/* A packet of a QP.  length is that of the payload in bytes. */
DECLARE_EVENT_CLASS(mxe_pkt,
	TP_PROTO(const struct mxe_qp *qp, u8 opcode, u32 psn, u32 length),
	TP_ARGS(qp, opcode, psn, length),
	TP_STRUCT__entry(
		__array(char, dev, MXE_TRACE_DEV_NAME)
		__field(u32, qpn)
		__field(u8, opcode)
		__field(u32, psn)
		__field(u32, length)
	),
	TP_fast_assign(
		strscpy(__entry->dev, dev_name(&qp->dev->ibdev.dev),
			MXE_TRACE_DEV_NAME);
		__entry->qpn = qp->qpn;
		__entry->opcode = opcode;
		__entry->psn = psn;
		__entry->length = length;
	),
	TP_printk("%s qpn=%u opcode=%#04x psn=%#08x length=%u", __entry->dev,
		  __entry->qpn, __entry->opcode, __entry->psn, __entry->length)
);

/* The packet was built and is about to be sent. */
DEFINE_EVENT(mxe_pkt, mxe_send,
	TP_PROTO(const struct mxe_qp *qp, u8 opcode, u32 psn, u32 length),
	TP_ARGS(qp, opcode, psn, length)
);

/* The packet was received intact.  The QP may still drop it. */
DEFINE_EVENT(mxe_pkt, mxe_receive,
	TP_PROTO(const struct mxe_qp *qp, u8 opcode, u32 psn, u32 length),
	TP_ARGS(qp, opcode, psn, length)
);

/* A request was executed on a QP of this host, without packets. */
TRACE_EVENT(mxe_loop,
	TP_PROTO(const struct mxe_qp *qp, const struct mxe_send_wr *wr),
	TP_ARGS(qp, wr),
	TP_STRUCT__entry(
		__array(char, dev, MXE_TRACE_DEV_NAME)
		__field(u32, qpn)
		__field(u32, peer)
		__field(u32, opcode)
		__field(u32, psn)
		__field(u32, length)
	),
	TP_fast_assign(
		strscpy(__entry->dev, dev_name(&qp->dev->ibdev.dev),
			MXE_TRACE_DEV_NAME);
		__entry->qpn = qp->qpn;
		__entry->peer = qp->dest_qpn;
		__entry->opcode = wr->opcode;
		__entry->psn = qp->req.max_psn;
		__entry->length = wr->length;
	),
	TP_printk("%s qpn=%u peer=%u opcode=%u psn=%#08x length=%u",
		  __entry->dev, __entry->qpn, __entry->peer, __entry->opcode,
		  __entry->psn, __entry->length)
);

/* A NAK, or RNR NAK.  syndrome is that of the AETH. */
DECLARE_EVENT_CLASS(mxe_nak,
	TP_PROTO(const struct mxe_qp *qp, u32 psn, u8 syndrome),
	TP_ARGS(qp, psn, syndrome),
	TP_STRUCT__entry(
		__array(char, dev, MXE_TRACE_DEV_NAME)
		__field(u32, qpn)
		__field(u32, psn)
		__field(u8, syndrome)
	),
	TP_fast_assign(
		strscpy(__entry->dev, dev_name(&qp->dev->ibdev.dev),
			MXE_TRACE_DEV_NAME);
		__entry->qpn = qp->qpn;
		__entry->psn = psn;
		__entry->syndrome = syndrome;
	),
	TP_printk("%s qpn=%u psn=%#08x syndrome=%#04x", __entry->dev,
		  __entry->qpn, __entry->psn, __entry->syndrome)
);

DEFINE_EVENT(mxe_nak, mxe_nak_sent,
	TP_PROTO(const struct mxe_qp *qp, u32 psn, u8 syndrome),
	TP_ARGS(qp, psn, syndrome)
);

DEFINE_EVENT(mxe_nak, mxe_nak_received,
	TP_PROTO(const struct mxe_qp *qp, u32 psn, u8 syndrome),
	TP_ARGS(qp, psn, syndrome)
);

/*
 * The requester retransmits from psn on. left is the number of retries left.
 */
TRACE_EVENT(mxe_retry,
	TP_PROTO(const struct mxe_qp *qp, u32 psn),
	TP_ARGS(qp, psn),
	TP_STRUCT__entry(
		__array(char, dev, MXE_TRACE_DEV_NAME)
		__field(u32, qpn)
		__field(u32, psn)
		__field(u8, left)
	),
	TP_fast_assign(
		strscpy(__entry->dev, dev_name(&qp->dev->ibdev.dev),
			MXE_TRACE_DEV_NAME);
		__entry->qpn = qp->qpn;
		__entry->psn = psn;
		__entry->left = qp->req.retry_left;
	),
	TP_printk("%s qpn=%u psn=%#08x left=%u", __entry->dev, __entry->qpn,
		  __entry->psn, __entry->left)
);

TRACE_DEFINE_ENUM(MXE_ATOMIC_CMP_SWAP);
TRACE_DEFINE_ENUM(MXE_ATOMIC_FETCH_ADD);
TRACE_DEFINE_ENUM(MXE_ATOMIC_MASKED_CMP_SWAP);
TRACE_DEFINE_ENUM(MXE_ATOMIC_MASKED_FETCH_ADD);

/* The responder executed an atomic.  The event has no operands or result. */
TRACE_EVENT(mxe_atomic,
	TP_PROTO(const struct mxe_qp *qp, u32 rkey, u64 va,
		 const struct mxe_atomic_args *args),
	TP_ARGS(qp, rkey, va, args),
	TP_STRUCT__entry(
		__array(char, dev, MXE_TRACE_DEV_NAME)
		__field(u32, qpn)
		__field(u32, psn)
		__field(u32, op)
		__field(u32, size)
		__field(u64, va)
		__field(u32, rkey)
	),
	TP_fast_assign(
		strscpy(__entry->dev, dev_name(&qp->dev->ibdev.dev),
			MXE_TRACE_DEV_NAME);
		__entry->qpn = qp->qpn;
		__entry->psn = qp->resp.epsn;
		__entry->op = args->op;
		__entry->size = mxe_atomic_size(args);
		__entry->va = va;
		__entry->rkey = rkey;
	),
	TP_printk("%s qpn=%u psn=%#08x op=%s size=%u va=%#llx rkey=%#x", __entry->dev,
		  __entry->qpn, __entry->psn,
		  __print_symbolic(__entry->op,
				   { MXE_ATOMIC_CMP_SWAP, "cmp_swap" },
				   { MXE_ATOMIC_FETCH_ADD, "fetch_add" },
				   { MXE_ATOMIC_MASKED_CMP_SWAP,
				     "masked_cmp_swap" },
				   { MXE_ATOMIC_MASKED_FETCH_ADD,
				     "masked_fetch_add" }),
		  __entry->size, __entry->va, __entry->rkey)
);

TRACE_DEFINE_ENUM(MXE_TM_NO_TAG);
TRACE_DEFINE_ENUM(MXE_TM_UNEXPECTED);
TRACE_DEFINE_ENUM(MXE_TM_EAGER);
TRACE_DEFINE_ENUM(MXE_TM_RNDV);
TRACE_DEFINE_ENUM(MXE_TM_RNDV_INCOMPLETE);

/* A message to a tag-matching SRQ began.  no_tag: tag has no meaning. */
TRACE_EVENT(mxe_tag,
	TP_PROTO(const struct mxe_qp *qp, enum mxe_tm_kind kind,
		 const struct mxe_tmh *tmh),
	TP_ARGS(qp, kind, tmh),
	TP_STRUCT__entry(
		__array(char, dev, MXE_TRACE_DEV_NAME)
		__field(u32, qpn)
		__field(u32, psn)
		__field(u32, kind)
		__field(u64, tag)
	),
	TP_fast_assign(
		strscpy(__entry->dev, dev_name(&qp->dev->ibdev.dev),
			MXE_TRACE_DEV_NAME);
		__entry->qpn = qp->qpn;
		__entry->psn = qp->resp.epsn;
		__entry->kind = kind;
		__entry->tag = be64_to_cpu(tmh->tag);
	),
	TP_printk("%s qpn=%u psn=%#08x kind=%s tag=%#llx", __entry->dev,
		  __entry->qpn, __entry->psn,
		  __print_symbolic(__entry->kind,
				   { MXE_TM_NO_TAG, "no_tag" },
				   { MXE_TM_UNEXPECTED, "unexpected" },
				   { MXE_TM_EAGER, "eager" },
				   { MXE_TM_RNDV, "rndv" },
				   { MXE_TM_RNDV_INCOMPLETE, "rndv_incomplete" }),
		  __entry->tag)
);

/* A session of a DC initiator.  peer is the number of the other QP. */
DECLARE_EVENT_CLASS(mxe_dc_session,
	TP_PROTO(const struct mxe_qp *qp, u32 peer, u32 session),
	TP_ARGS(qp, peer, session),
	TP_STRUCT__entry(
		__array(char, dev, MXE_TRACE_DEV_NAME)
		__field(u32, qpn)
		__field(u32, peer)
		__field(u32, session)
	),
	TP_fast_assign(
		strscpy(__entry->dev, dev_name(&qp->dev->ibdev.dev),
			MXE_TRACE_DEV_NAME);
		__entry->qpn = qp->qpn;
		__entry->peer = peer;
		__entry->session = session;
	),
	TP_printk("%s qpn=%u peer=%u session=%u", __entry->dev, __entry->qpn,
		  __entry->peer, __entry->session)
);

/* The initiator began the session. */
DEFINE_EVENT(mxe_dc_session, mxe_dc_connect,
	TP_PROTO(const struct mxe_qp *qp, u32 peer, u32 session),
	TP_ARGS(qp, peer, session)
);

/* The initiator left the session. */
DEFINE_EVENT(mxe_dc_session, mxe_dc_disconnect,
	TP_PROTO(const struct mxe_qp *qp, u32 peer, u32 session),
	TP_ARGS(qp, peer, session)
);

/* The target opened the session. */
DEFINE_EVENT(mxe_dc_session, mxe_dc_accept,
	TP_PROTO(const struct mxe_qp *qp, u32 peer, u32 session),
	TP_ARGS(qp, peer, session)
);

/* The session was idle for its life.  mxe_dc_close follows. */
DEFINE_EVENT(mxe_dc_session, mxe_dc_expire,
	TP_PROTO(const struct mxe_qp *qp, u32 peer, u32 session),
	TP_ARGS(qp, peer, session)
);

/* The target closed the session. */
DEFINE_EVENT(mxe_dc_session, mxe_dc_close,
	TP_PROTO(const struct mxe_qp *qp, u32 peer, u32 session),
	TP_ARGS(qp, peer, session)
);

TRACE_DEFINE_ENUM(MXE_DC_CHALLENGE);
TRACE_DEFINE_ENUM(MXE_DC_STALE);
TRACE_DEFINE_ENUM(MXE_DC_NO_SESSION);
TRACE_DEFINE_ENUM(MXE_DC_BUSY);
TRACE_DEFINE_ENUM(MXE_DC_BAD_KEY);
TRACE_DEFINE_ENUM(MXE_DC_REFUSED);

/* The target answered with a control packet instead of executing a request. */
TRACE_EVENT(mxe_dc_answer,
	TP_PROTO(const struct mxe_qp *qp, u32 peer, u32 session, u8 code),
	TP_ARGS(qp, peer, session, code),
	TP_STRUCT__entry(
		__array(char, dev, MXE_TRACE_DEV_NAME)
		__field(u32, qpn)
		__field(u32, peer)
		__field(u32, session)
		__field(u8, code)
	),
	TP_fast_assign(
		strscpy(__entry->dev, dev_name(&qp->dev->ibdev.dev),
			MXE_TRACE_DEV_NAME);
		__entry->qpn = qp->qpn;
		__entry->peer = peer;
		__entry->session = session;
		__entry->code = code;
	),
	TP_printk("%s qpn=%u peer=%u session=%u code=%s", __entry->dev,
		  __entry->qpn, __entry->peer, __entry->session,
		  __print_symbolic(__entry->code,
				   { MXE_DC_CHALLENGE, "challenge" },
				   { MXE_DC_STALE, "stale" },
				   { MXE_DC_NO_SESSION, "no_session" },
				   { MXE_DC_BUSY, "busy" },
				   { MXE_DC_BAD_KEY, "bad_key" },
				   { MXE_DC_REFUSED, "refused" }))
);

#endif /* MXE_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace

#include <trace/define_trace.h>
