// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Posting to send queues: ibv_post_send(), ibv_wr_*() and mxedv_wr_*(). */
#include <errno.h>
#include <string.h>

#include <masked_atomic.h>
#include "infiniband/mxedv.h"
#include "ah.h"
#include "container.h"
#include "context.h"
#include "doorbell.h"
#include "export.h"
#include "qp.h"
#include "rdmav.h"
#include "ring.h"
#include "send.h"

enum {
	SEND_FLAGS = IBV_SEND_FENCE | IBV_SEND_SIGNALED | IBV_SEND_SOLICITED,
	LOG_ARG_SZ_2 = 1,
	LOG_ARG_SZ_4 = 2,
	LOG_ARG_SZ_8 = 3,
	LOG_ARG_SZ_MAX = 5,
	NUM_OPERANDS = 4,	/* of a masked atomic, in its WQE */
};

/* The bits of an rkey that the program chooses. */
#define KEY_MASK 0xffU

#define PASSED_ON(ibv, kernel) \
	static_assert((int)(ibv) == (int)(kernel), #ibv " is passed on unchanged")

PASSED_ON(IBV_SEND_FENCE, MXE_SEND_FENCE);
PASSED_ON(IBV_SEND_SIGNALED, MXE_SEND_SIGNALED);
PASSED_ON(IBV_SEND_SOLICITED, MXE_SEND_SOLICITED);
PASSED_ON(IBV_SEND_INLINE, MXE_SEND_INLINE);
PASSED_ON(IBV_WR_RDMA_WRITE, IB_UVERBS_WR_RDMA_WRITE);
PASSED_ON(IBV_WR_RDMA_WRITE_WITH_IMM, IB_UVERBS_WR_RDMA_WRITE_WITH_IMM);
PASSED_ON(IBV_WR_SEND, IB_UVERBS_WR_SEND);
PASSED_ON(IBV_WR_SEND_WITH_IMM, IB_UVERBS_WR_SEND_WITH_IMM);
PASSED_ON(IBV_WR_RDMA_READ, IB_UVERBS_WR_RDMA_READ);
PASSED_ON(IBV_WR_ATOMIC_CMP_AND_SWP, IB_UVERBS_WR_ATOMIC_CMP_AND_SWP);
PASSED_ON(IBV_WR_ATOMIC_FETCH_AND_ADD, IB_UVERBS_WR_ATOMIC_FETCH_AND_ADD);

/* ---- opcodes ----------------------------------------------------------- */

/* Transports that support an opcode (IBTA table 38). */
enum {
	TRANSPORT_RC = 1 << 0,
	TRANSPORT_XRC = 1 << 1,
	TRANSPORT_UC = 1 << 2,
	TRANSPORT_UD = 1 << 3,
	TRANSPORTS_RELIABLE = TRANSPORT_RC | TRANSPORT_XRC,
	TRANSPORTS_CONNECTED = TRANSPORTS_RELIABLE | TRANSPORT_UC,
	TRANSPORTS_ALL = TRANSPORTS_CONNECTED | TRANSPORT_UD,
};

/* Flags of an opcode. */
enum {
	MXE_SEND_OP_INLINE = 1 << 0,	/* accepts inline data */
	MXE_SEND_OP_IMM = 1 << 1,
	MXE_SEND_OP_INVALIDATE = 1 << 2,	/* carries an rkey to invalidate */
	MXE_SEND_OP_REMOTE_ADDR = 1 << 3,
	MXE_SEND_OP_ATOMIC = 1 << 4,
	MXE_SEND_OP_WORD = 1 << 5,	/* writes one word */
	MXE_SEND_OP_BIND = 1 << 6,
	MXE_SEND_OP_LOCAL = 1 << 7,	/* sends no packet, has no data */
	/*
	 * Only for builders, as struct ibv_send_wr has no room for the
	 * operands.
	 */
	MXE_SEND_OP_BUILDER = 1 << 8,
};

struct mxe_send_row {
	uint16_t flags;			/* MXE_SEND_OP_* */
	uint8_t transports;		/* 0: cannot be posted */
	uint32_t send_op;		/* IBV_QP_EX_WITH_*, or 0 */
};

/* One row for each bit of wr_opcodes and post_opcodes. */
enum { MXE_SEND_ROWS = 32 };

/*
 * A new opcode needs a row here, and a builder if struct ibv_send_wr does not
 * support it.
 */
static const struct mxe_send_row mxe_send_rows[MXE_SEND_ROWS] = {
	[IBV_WR_SEND] = {
		.flags = MXE_SEND_OP_INLINE,
		.transports = TRANSPORTS_ALL,
		.send_op = IBV_QP_EX_WITH_SEND,
	},
	[IBV_WR_SEND_WITH_IMM] = {
		.flags = MXE_SEND_OP_INLINE | MXE_SEND_OP_IMM,
		.transports = TRANSPORTS_ALL,
		.send_op = IBV_QP_EX_WITH_SEND_WITH_IMM,
	},
	[IBV_WR_SEND_WITH_INV] = {
		.flags = MXE_SEND_OP_INLINE | MXE_SEND_OP_INVALIDATE,
		.transports = TRANSPORTS_RELIABLE,
		.send_op = IBV_QP_EX_WITH_SEND_WITH_INV,
	},
	[IBV_WR_RDMA_WRITE] = {
		.flags = MXE_SEND_OP_INLINE | MXE_SEND_OP_REMOTE_ADDR,
		.transports = TRANSPORTS_CONNECTED,
		.send_op = IBV_QP_EX_WITH_RDMA_WRITE,
	},
	[IBV_WR_RDMA_WRITE_WITH_IMM] = {
		.flags = MXE_SEND_OP_INLINE | MXE_SEND_OP_REMOTE_ADDR | MXE_SEND_OP_IMM,
		.transports = TRANSPORTS_CONNECTED,
		.send_op = IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM,
	},
	[IBV_WR_RDMA_READ] = {
		.flags = MXE_SEND_OP_REMOTE_ADDR,
		.transports = TRANSPORTS_RELIABLE,
		.send_op = IBV_QP_EX_WITH_RDMA_READ,
	},
	[IBV_WR_ATOMIC_CMP_AND_SWP] = {
		.flags = MXE_SEND_OP_REMOTE_ADDR | MXE_SEND_OP_ATOMIC,
		.transports = TRANSPORTS_RELIABLE,
		.send_op = IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP,
	},
	[IBV_WR_ATOMIC_FETCH_AND_ADD] = {
		.flags = MXE_SEND_OP_REMOTE_ADDR | MXE_SEND_OP_ATOMIC,
		.transports = TRANSPORTS_RELIABLE,
		.send_op = IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD,
	},
	[IB_UVERBS_WR_MASKED_ATOMIC_CMP_AND_SWP] = {
		.flags = MXE_SEND_OP_REMOTE_ADDR | MXE_SEND_OP_ATOMIC | MXE_SEND_OP_BUILDER,
		.transports = TRANSPORTS_RELIABLE,
	},
	[IB_UVERBS_WR_MASKED_ATOMIC_FETCH_AND_ADD] = {
		.flags = MXE_SEND_OP_REMOTE_ADDR | MXE_SEND_OP_ATOMIC | MXE_SEND_OP_BUILDER,
		.transports = TRANSPORTS_RELIABLE,
	},
	[MXE_WR_FLUSH] = {
		.flags = MXE_SEND_OP_REMOTE_ADDR | MXE_SEND_OP_BUILDER,
		.transports = TRANSPORTS_RELIABLE,
		.send_op = RDMAV_QP_EX_WITH_FLUSH,
	},
	[MXE_WR_ATOMIC_WRITE] = {
		.flags = MXE_SEND_OP_REMOTE_ADDR | MXE_SEND_OP_WORD,
		.transports = TRANSPORTS_RELIABLE,
		.send_op = RDMAV_QP_EX_WITH_ATOMIC_WRITE,
	},
	[IBV_WR_LOCAL_INV] = {
		.flags = MXE_SEND_OP_LOCAL | MXE_SEND_OP_INVALIDATE,
		.transports = TRANSPORTS_RELIABLE,
		.send_op = IBV_QP_EX_WITH_LOCAL_INV,
	},
	[IBV_WR_BIND_MW] = {
		.flags = MXE_SEND_OP_LOCAL | MXE_SEND_OP_BIND,
		.transports = TRANSPORTS_RELIABLE,
		.send_op = IBV_QP_EX_WITH_BIND_MW,
	},
};

static unsigned int mxe_transport(enum ibv_qp_type type)
{
	switch (type) {
	case IBV_QPT_UC:
		return TRANSPORT_UC;
	case IBV_QPT_UD:
		return TRANSPORT_UD;
	case IBV_QPT_XRC_SEND:
		return TRANSPORT_XRC;
	case IBV_QPT_XRC_RECV:
		return 0;
	default:	/* RC, and types that the kernel refuses */
		return TRANSPORT_RC;
	}
}

/**
 * mxe_send_ops() - Get the operations of a type of QP.
 * @type: type of the QP
 *
 * Return: IBV_QP_EX_WITH_* flags that send_ops_flags may have.
 */
uint64_t mxe_send_ops(enum ibv_qp_type type)
{
	unsigned int transport = mxe_transport(type);
	uint64_t ops = 0;
	unsigned int i;

	for (i = 0; i < MXE_SEND_ROWS; i++)
		if (mxe_send_rows[i].transports & transport)
			ops |= mxe_send_rows[i].send_op;
	if (!mxe_rdmav_has(wr_atomic_write))
		ops &= ~(uint64_t)RDMAV_QP_EX_WITH_ATOMIC_WRITE;
	if (!mxe_rdmav_has(wr_flush))
		ops &= ~(uint64_t)RDMAV_QP_EX_WITH_FLUSH;
	return ops;
}

/**
 * mxe_send_init() - Set the opcodes that a new QP accepts.
 * @qp: the QP, whose is_dci is set
 * @type: its type
 * @atomics: true if atomics are accepted
 */
void mxe_send_init(struct mxe_qp *qp, enum ibv_qp_type type, bool atomics)
{
	unsigned int transport = mxe_transport(type);
	unsigned int i;

	for (i = 0; i < MXE_SEND_ROWS; i++) {
		const struct mxe_send_row *row = &mxe_send_rows[i];

		if (!(row->transports & transport) ||
		    (row->flags & MXE_SEND_OP_ATOMIC && !atomics) ||
		    (row->flags & MXE_SEND_OP_LOCAL && qp->is_dci))
			continue;
		qp->wr_opcodes |= 1U << i;
		/* struct ibv_send_wr cannot name the target of DC. */
		if (!(row->flags & MXE_SEND_OP_BUILDER) && !qp->is_dci)
			qp->post_opcodes |= 1U << i;
	}
}

/* Returns true if `opcode`, which may be any number, is in the set. */
static bool mxe_has_opcode(uint32_t opcodes, uint32_t opcode)
{
	return opcode < MXE_SEND_ROWS && opcodes >> opcode & 1;
}

/* ---- work requests ----------------------------------------------------- */

/*
 * Returns false if the QP is not ready to send yet. In the error state requests
 * are accepted and flushed, and in SQD they wait.
 */
static bool mxe_may_send(const struct mxe_qp *qp)
{
	switch (qp->vqp.qp.state) {
	case IBV_QPS_RESET:
	case IBV_QPS_INIT:
	case IBV_QPS_RTR:
		return false;
	default:
		return true;
	}
}

/* Returns the bytes of the operands between the WQE header and the data. */
static size_t mxe_operands_size(const struct mxe_send_wqe *wqe)
{
	return wqe->log_arg_sz > LOG_ARG_SZ_8 ?
	       (size_t)NUM_OPERANDS << wqe->log_arg_sz : 0;
}

static inline void mxe_set_sges(struct mxe_send_wqe *wqe,
				const struct ibv_sge *sge, unsigned int num_sge)
{
	char *to = (char *)(wqe + 1) + mxe_operands_size(wqe);

	mxe_ring_write_sges((struct mxe_sge *)to, sge, num_sge);
	wqe->num_sge = num_sge;
	wqe->inline_len = 0;
	wqe->flags &= ~MXE_SEND_INLINE;
}

/* Appends inline data to the WQE. Returns false if they do not fit. */
static bool mxe_add_inline(const struct mxe_ring *sq, struct mxe_send_wqe *wqe,
			   const void *data, size_t length)
{
	if (length > sq->max_inline - wqe->inline_len)
		return false;
	if (length)
		memcpy((char *)(wqe + 1) + wqe->inline_len, data, length);
	wqe->inline_len += length;
	return true;
}

static bool mxe_is_ud(const struct mxe_qp *qp)
{
	return qp->vqp.qp.qp_type == IBV_QPT_UD;
}

static bool mxe_is_xrc(const struct mxe_qp *qp)
{
	return qp->vqp.qp.qp_type == IBV_QPT_XRC_SEND;
}

static void mxe_set_ud(struct mxe_send_wqe *wqe, struct ibv_ah *ah,
		       uint32_t remote_qpn, uint32_t remote_qkey)
{
	wqe->ud.ah_num = to_mah(ah)->num;
	wqe->ud.remote_qpn = remote_qpn;
	wqe->ud.remote_qkey = remote_qkey;
}

/*
 * mw alone names the window. Of rkey only the lower 8 bits count, as on
 * adapters: they are the new key. mw->rkey gets the result at once, because
 * programs derive the keys of later requests from it. A bind without a region
 * closes the window. Windows of type 1 are accepted as by mlx5, because some
 * programs bind them with IBV_WR_BIND_MW, although ibv_bind_mw() is their call.
 */
static void mxe_set_bind(struct mxe_send_wqe *wqe, struct ibv_mw *mw,
			 uint32_t rkey, const struct ibv_mw_bind_info *info)
{
	mw->rkey = (mw->rkey & ~KEY_MASK) | (rkey & KEY_MASK);
	wqe->rkey = mw->rkey;
	wqe->bind.addr = info->addr;
	wqe->bind.length = info->mr ? info->length : 0;
	wqe->bind.mr_lkey = info->mr ? info->mr->lkey : 0;
	wqe->bind.access = info->mw_access_flags;
}

/* ---- mxedv_mask_next_atomic() ------------------------------------------ */

/*
 * The masks for the next atomic of this thread. The initial-exec model makes
 * the test for them one load. Their 24 bytes fit into the space that the C
 * library reserves for libraries that are loaded with dlopen().
 */
static __thread struct {
	bool pending;
	struct mxedv_atomic_masks masks;
} mxe_next __attribute__((tls_model("initial-exec")));

MXE_EXPORT bool mxedv_mask_next_atomic(const struct mxedv_atomic_masks *masks)
{
	bool was_pending = mxe_next.pending;

	mxe_next.pending = masks;
	if (masks)
		mxe_next.masks = *masks;
	return was_pending;
}

/*
 * Turns a standard atomic, whose operands are in the WQE, into a masked one.
 * Consumes the masks. Returns 0 or a positive errno.
 */
static __attribute__((cold)) int mxe_mask_atomic(const struct mxe_qp *qp,
						 struct mxe_send_wqe *wqe)
{
	const struct mxe_atomic_caps *caps = &to_mctx(qp->vqp.qp.context)->caps;

	mxe_next.pending = false;
	if (!(caps->log_arg_sizes >> LOG_ARG_SZ_8 & 1) ||
	    qp->max_atomic_arg < 1U << LOG_ARG_SZ_8)
		return EOPNOTSUPP;
	wqe->opcode = wqe->opcode == IB_UVERBS_WR_ATOMIC_CMP_AND_SWP ?
		      IB_UVERBS_WR_MASKED_ATOMIC_CMP_AND_SWP :
		      IB_UVERBS_WR_MASKED_ATOMIC_FETCH_AND_ADD;
	wqe->flags |= qp->masked_flags;
	wqe->log_arg_sz = LOG_ARG_SZ_8;
	wqe->atomic.compare_add_mask = mxe_next.masks.compare_add_mask;
	if (wqe->opcode == IB_UVERBS_WR_MASKED_ATOMIC_CMP_AND_SWP)
		wqe->atomic.swap_mask = mxe_next.masks.swap_mask;
	return 0;
}

/* ---- ibv_post_send() --------------------------------------------------- */

/* flags are the MXE_SEND_OP_* flags of the opcode, here and below. */
static int mxe_set_local(struct mxe_send_wqe *wqe, const struct ibv_send_wr *wr,
			 unsigned int flags)
{
	if (wr->send_flags & IBV_SEND_INLINE)
		return EINVAL;
	if (!(flags & MXE_SEND_OP_BIND)) {
		wqe->invalidate_rkey = wr->invalidate_rkey;
		return 0;
	}
	mxe_set_bind(wqe, wr->bind_mw.mw, wr->bind_mw.rkey, &wr->bind_mw.bind_info);
	return 0;
}

static int mxe_set_operation(const struct mxe_qp *qp, struct mxe_send_wqe *wqe,
			     const struct ibv_send_wr *wr, unsigned int flags)
{
	if (!(flags & MXE_SEND_OP_REMOTE_ADDR)) {
		/* The opcodes of UD QPs have no remote address. */
		if (mxe_is_ud(qp)) {
			if (!wr->wr.ud.ah)
				return EINVAL;
			mxe_set_ud(wqe, wr->wr.ud.ah, wr->wr.ud.remote_qpn,
				   wr->wr.ud.remote_qkey);
		}
	} else if (flags & MXE_SEND_OP_ATOMIC) {
		wqe->remote_addr = wr->wr.atomic.remote_addr;
		wqe->rkey = wr->wr.atomic.rkey;
		wqe->atomic.compare_add = wr->wr.atomic.compare_add;
		wqe->atomic.swap = wr->opcode == IBV_WR_ATOMIC_CMP_AND_SWP ?
				   wr->wr.atomic.swap : 0;
		if (__builtin_expect(mxe_next.pending, 0)) {
			int ret = mxe_mask_atomic(qp, wqe);

			if (ret)
				return ret;
		}
	} else {
		wqe->remote_addr = wr->wr.rdma.remote_addr;
		wqe->rkey = wr->wr.rdma.rkey;
	}
	if (mxe_is_xrc(qp))
		wqe->remote_srqn = wr->qp_type.xrc.remote_srqn;
	return 0;
}

/* Copies the inline data of an ATOMIC WRITE, exactly one word. */
static int mxe_set_atomic_write(struct mxe_send_wqe *wqe,
				const struct ibv_send_wr *wr)
{
	char *to = (char *)&wqe->atomic_write.data;
	size_t left = sizeof(wqe->atomic_write.data);
	int i;

	for (i = 0; i < wr->num_sge; i++) {
		if (wr->sg_list[i].length > left)
			return EINVAL;
		memcpy(to, (void *)(uintptr_t)wr->sg_list[i].addr,
		       wr->sg_list[i].length);
		to += wr->sg_list[i].length;
		left -= wr->sg_list[i].length;
	}
	wqe->flags &= ~MXE_SEND_INLINE;
	return left ? EINVAL : 0;
}

static int mxe_set_data(const struct mxe_ring *sq, struct mxe_send_wqe *wqe,
			const struct ibv_send_wr *wr, unsigned int flags)
{
	int i;

	/* Also refuses negative numbers, because the stride limits max_sge. */
	if ((unsigned int)wr->num_sge > sq->max_sge)
		return EINVAL;
	if (!(wr->send_flags & IBV_SEND_INLINE)) {
		mxe_ring_write_sges((struct mxe_sge *)(wqe + 1), wr->sg_list, wr->num_sge);
		wqe->num_sge = wr->num_sge;
		/* Without an SGE the word in the WQE would be sent. */
		return !wr->num_sge && flags & MXE_SEND_OP_WORD ? EINVAL : 0;
	}
	if (flags & MXE_SEND_OP_WORD)
		return mxe_set_atomic_write(wqe, wr);
	if (!(flags & MXE_SEND_OP_INLINE))
		return EINVAL;
	for (i = 0; i < wr->num_sge; i++)
		if (!mxe_add_inline(sq, wqe,
				    (void *)(uintptr_t)wr->sg_list[i].addr,
				    wr->sg_list[i].length))
			return EINVAL;
	return 0;
}

/* Builds one WQE in the entry at index. Returns 0 or a positive errno. */
static int mxe_build_send(const struct mxe_qp *qp, uint32_t index,
			  const struct ibv_send_wr *wr)
{
	const struct mxe_ring *sq = &qp->sq;
	struct mxe_send_wqe *wqe;
	unsigned int flags;
	int ret;

	if (!mxe_may_send(qp) ||
	    wr->send_flags & ~(SEND_FLAGS | IBV_SEND_INLINE))
		return EINVAL;
	if (mxe_ring_full(sq, index))
		return ENOMEM;
	if (!mxe_has_opcode(qp->post_opcodes, wr->opcode))
		return EINVAL;

	flags = mxe_send_rows[wr->opcode].flags;
	wqe = mxe_ring_at(sq, index);
	*wqe = (struct mxe_send_wqe){
		.wr_id = wr->wr_id,
		.opcode = wr->opcode,
		.flags = wr->send_flags,
	};
	/* Opcodes with none of these need only one test. */
	if (flags & (MXE_SEND_OP_LOCAL | MXE_SEND_OP_IMM | MXE_SEND_OP_INVALIDATE)) {
		if (flags & MXE_SEND_OP_LOCAL)
			return mxe_set_local(wqe, wr, flags);
		if (flags & MXE_SEND_OP_IMM)
			wqe->imm_data = wr->imm_data;
		else
			wqe->invalidate_rkey = wr->invalidate_rkey;
	}
	ret = mxe_set_operation(qp, wqe, wr, flags);
	if (ret)
		return ret;
	return mxe_set_data(sq, wqe, wr, flags);
}

int mxe_post_send(struct ibv_qp *ibqp, struct ibv_send_wr *wr,
		  struct ibv_send_wr **bad_wr)
{
	struct mxe_qp *qp = to_mqp(ibqp);
	struct mxe_ring *sq = &qp->sq;
	uint32_t index;
	bool ring;
	int ret = 0;

	mxe_ring_lock(sq);
	for (index = sq->index; wr; wr = wr->next, index++) {
		ret = mxe_build_send(qp, index, wr);
		if (ret) {
			*bad_wr = wr;
			/* DAPL reports errno, not the value returned. */
			errno = ret;
			/* The masks must not apply to a later request. */
			mxe_next.pending = false;
			break;
		}
	}
	ring = index != sq->index;
	if (ring)
		mxe_ring_publish(sq, index);
	mxe_ring_unlock(sq);

	if (ring)
		mxe_doorbell_send(qp);
	return ret;
}

/* ---- builders ---------------------------------------------------------- */

/*
 * Records the first error of a batch. ibv_wr_complete() returns it and posts
 * nothing. batch_wqe is NULL from now on, so the setters write nothing.
 */
static __attribute__((cold)) void mxe_batch_fail(struct mxe_qp *qp, int err)
{
	if (!qp->batch_err)
		qp->batch_err = err;
	qp->batch_wqe = NULL;
}

static void mxe_wr_start(struct ibv_qp_ex *qpx)
{
	struct mxe_qp *qp = to_mqp_ex(qpx);

	mxe_ring_lock(&qp->sq);
	qp->batch_wqe = NULL;
	qp->batch_index = qp->sq.index;
	qp->batch_err = mxe_may_send(qp) ? 0 : EINVAL;
}

static int mxe_wr_complete(struct ibv_qp_ex *qpx)
{
	struct mxe_qp *qp = to_mqp_ex(qpx);
	int err = qp->batch_err;
	bool ring;

	ring = !err && qp->batch_index != qp->sq.index;
	if (ring)
		mxe_ring_publish(&qp->sq, qp->batch_index);
	mxe_ring_unlock(&qp->sq);

	if (ring)
		mxe_doorbell_send(qp);
	return err;
}

/*
 * Builders of a DC initiator. Each request must set its target, because a
 * reused entry contains the target of an earlier request.
 */
static void mxe_wr_start_dc(struct ibv_qp_ex *qpx)
{
	struct mxe_qp *qp = to_mqp_ex(qpx);

	mxe_wr_start(qpx);
	qp->batch_dests = 0;
	qp->dest_wqe = NULL;
}

static int mxe_wr_complete_dc(struct ibv_qp_ex *qpx)
{
	struct mxe_qp *qp = to_mqp_ex(qpx);

	if (qp->batch_dests != qp->batch_index - qp->sq.index)
		mxe_batch_fail(qp, EINVAL);
	return mxe_wr_complete(qpx);
}

static void mxe_wr_abort(struct ibv_qp_ex *qpx)
{
	mxe_ring_unlock(&to_mqp_ex(qpx)->sq);
}

/*
 * Returns the next entry, with its old contents, or NULL if this or an earlier
 * request of the batch failed.
 */
static inline __attribute__((always_inline)) struct mxe_send_wqe *
mxe_wr_next(struct mxe_qp *qp, uint8_t opcode)
{
	const struct ibv_qp_ex *qpx = &qp->vqp.qp_ex;
	uint32_t index = qp->batch_index;
	struct mxe_send_wqe *wqe;

	if (qp->batch_err)
		return NULL;
	/*
	 * IBV_SEND_INLINE is ignored, because the setter selects inline data.
	 */
	if (qpx->wr_flags & ~(SEND_FLAGS | IBV_SEND_INLINE) ||
	    !mxe_has_opcode(qp->wr_opcodes, opcode)) {
		mxe_batch_fail(qp, EINVAL);
		return NULL;
	}
	if (mxe_ring_full(&qp->sq, index)) {
		mxe_batch_fail(qp, ENOMEM);
		return NULL;
	}

	wqe = mxe_ring_at(&qp->sq, index);
	qp->batch_index = index + 1;
	qp->batch_wqe = wqe;
	return wqe;
}

/*
 * Like mxe_wr_next(), but initialises the entry. Inlined, because the compiler
 * then drops most of the initialisation for a constant opcode and for members
 * that the builder overwrites.
 */
static inline __attribute__((always_inline)) struct mxe_send_wqe *
mxe_wr_begin(struct mxe_qp *qp, uint8_t opcode)
{
	const struct ibv_qp_ex *qpx = &qp->vqp.qp_ex;
	struct mxe_send_wqe *wqe = mxe_wr_next(qp, opcode);

	if (wqe)
		*wqe = (struct mxe_send_wqe){
			.wr_id = qpx->wr_id,
			.opcode = opcode,
			.flags = qpx->wr_flags & SEND_FLAGS,
		};
	return wqe;
}

static inline struct mxe_send_wqe *
mxe_wr_remote(struct mxe_qp *qp, uint8_t opcode, uint32_t rkey,
	      uint64_t remote_addr)
{
	struct mxe_send_wqe *wqe = mxe_wr_begin(qp, opcode);

	if (wqe) {
		wqe->rkey = rkey;
		wqe->remote_addr = remote_addr;
	}
	return wqe;
}

static void mxe_wr_send(struct ibv_qp_ex *qpx)
{
	mxe_wr_begin(to_mqp_ex(qpx), IB_UVERBS_WR_SEND);
}

static void mxe_wr_send_imm(struct ibv_qp_ex *qpx, __be32 imm_data)
{
	struct mxe_send_wqe *wqe = mxe_wr_begin(to_mqp_ex(qpx),
						IB_UVERBS_WR_SEND_WITH_IMM);

	if (wqe)
		wqe->imm_data = imm_data;
}

static void mxe_wr_send_inv(struct ibv_qp_ex *qpx, uint32_t invalidate_rkey)
{
	struct mxe_send_wqe *wqe = mxe_wr_begin(to_mqp_ex(qpx),
						IB_UVERBS_WR_SEND_WITH_INV);

	if (wqe)
		wqe->invalidate_rkey = invalidate_rkey;
}

static void mxe_wr_local_inv(struct ibv_qp_ex *qpx, uint32_t invalidate_rkey)
{
	struct mxe_send_wqe *wqe = mxe_wr_begin(to_mqp_ex(qpx),
						IB_UVERBS_WR_LOCAL_INV);

	if (wqe)
		wqe->invalidate_rkey = invalidate_rkey;
}

static void mxe_wr_bind_mw(struct ibv_qp_ex *qpx, struct ibv_mw *mw,
			   uint32_t rkey, const struct ibv_mw_bind_info *info)
{
	struct mxe_send_wqe *wqe = mxe_wr_begin(to_mqp_ex(qpx),
						IB_UVERBS_WR_BIND_MW);

	if (wqe)
		mxe_set_bind(wqe, mw, rkey, info);
}

static void mxe_wr_rdma_write(struct ibv_qp_ex *qpx, uint32_t rkey,
			      uint64_t remote_addr)
{
	mxe_wr_remote(to_mqp_ex(qpx), IB_UVERBS_WR_RDMA_WRITE, rkey,
		      remote_addr);
}

static void mxe_wr_rdma_write_imm(struct ibv_qp_ex *qpx, uint32_t rkey,
				  uint64_t remote_addr, __be32 imm_data)
{
	struct mxe_send_wqe *wqe = mxe_wr_remote(to_mqp_ex(qpx),
						 IB_UVERBS_WR_RDMA_WRITE_WITH_IMM,
						 rkey, remote_addr);

	if (wqe)
		wqe->imm_data = imm_data;
}

static void mxe_wr_rdma_read(struct ibv_qp_ex *qpx, uint32_t rkey,
			     uint64_t remote_addr)
{
	mxe_wr_remote(to_mqp_ex(qpx), IB_UVERBS_WR_RDMA_READ, rkey,
		      remote_addr);
}

static void mxe_wr_atomic_cmp_swp(struct ibv_qp_ex *qpx, uint32_t rkey,
				  uint64_t remote_addr, uint64_t compare,
				  uint64_t swap)
{
	struct mxe_send_wqe *wqe = mxe_wr_remote(to_mqp_ex(qpx),
						 IB_UVERBS_WR_ATOMIC_CMP_AND_SWP,
						 rkey, remote_addr);

	if (wqe) {
		wqe->atomic.compare_add = compare;
		wqe->atomic.swap = swap;
	}
}

static void mxe_wr_atomic_fetch_add(struct ibv_qp_ex *qpx, uint32_t rkey,
				    uint64_t remote_addr, uint64_t add)
{
	struct mxe_send_wqe *wqe =
		mxe_wr_remote(to_mqp_ex(qpx),
			      IB_UVERBS_WR_ATOMIC_FETCH_AND_ADD, rkey,
			      remote_addr);

	if (wqe)
		wqe->atomic.compare_add = add;
}

static void mxe_wr_atomic_write(struct ibv_qp_ex *qpx, uint32_t rkey,
				uint64_t remote_addr, const void *atomic_wr)
{
	struct mxe_send_wqe *wqe = mxe_wr_remote(to_mqp_ex(qpx),
						 MXE_WR_ATOMIC_WRITE, rkey,
						 remote_addr);

	if (wqe)
		memcpy(&wqe->atomic_write.data, atomic_wr,
		       sizeof(wqe->atomic_write.data));
}

static void mxe_wr_flush(struct ibv_qp_ex *qpx, uint32_t rkey,
			 uint64_t remote_addr, size_t len, uint8_t type,
			 uint8_t level)
{
	struct mxe_qp *qp = to_mqp_ex(qpx);
	struct mxe_send_wqe *wqe;

	if (len > UINT32_MAX)
		mxe_batch_fail(qp, EINVAL);
	wqe = mxe_wr_remote(qp, MXE_WR_FLUSH, rkey, remote_addr);
	if (wqe) {
		wqe->flush.length = (uint32_t)len;
		wqe->flush.type = type;
		wqe->flush.level = level;
	}
}

static bool mxe_has_size(const struct mxe_qp *qp, uint32_t log_arg_sz)
{
	return log_arg_sz <= LOG_ARG_SZ_MAX &&
	       1U << log_arg_sz <= qp->max_atomic_arg;
}

/*
 * Refuses a size that the QP does not have, or that the peer does not execute
 * according to ECE. A request whose masks make it a standard atomic is sent as
 * one, which every peer executes.
 */
static __attribute__((cold)) void
mxe_wr_refuse_masked(struct mxe_qp *qp, const struct mxe_send_wqe *wqe)
{
	bool plain = false;

	if (!mxe_has_size(qp, wqe->log_arg_sz)) {
		mxe_batch_fail(qp, EINVAL);
		return;
	}
	if (wqe->log_arg_sz == LOG_ARG_SZ_8)
		plain = wqe->opcode == IB_UVERBS_WR_MASKED_ATOMIC_CMP_AND_SWP ?
			masked_cmp_swap_is_plain_u64(wqe->atomic.compare_add_mask,
						     wqe->atomic.swap_mask) :
			masked_fetch_add_is_plain_u64(wqe->atomic.compare_add_mask);
	if (!plain)
		mxe_batch_fail(qp, EOPNOTSUPP);
}

/* Called after the operands are in the WQE. */
static inline void mxe_wr_check_masked(struct mxe_qp *qp,
				       const struct mxe_send_wqe *wqe)
{
	if (!(qp->masked_sizes >> wqe->log_arg_sz & 1))
		mxe_wr_refuse_masked(qp, wqe);
}

static inline void mxe_wr_masked_u64(struct mxe_qp *qp, uint8_t opcode,
				     uint32_t rkey, uint64_t remote_addr,
				     uint64_t compare_add,
				     uint64_t compare_add_mask, uint64_t swap,
				     uint64_t swap_mask)
{
	const struct ibv_qp_ex *qpx = &qp->vqp.qp_ex;
	struct mxe_send_wqe *wqe = mxe_wr_next(qp, opcode);

	if (!wqe)
		return;
	*wqe = (struct mxe_send_wqe){
		.wr_id = qpx->wr_id,
		.opcode = opcode,
		.flags = (qpx->wr_flags & SEND_FLAGS) | qp->masked_flags,
		.log_arg_sz = LOG_ARG_SZ_8,
		.remote_addr = remote_addr,
		.rkey = rkey,
		.atomic.compare_add = compare_add,
		.atomic.compare_add_mask = compare_add_mask,
		.atomic.swap = swap,
		.atomic.swap_mask = swap_mask,
	};
	mxe_wr_check_masked(qp, wqe);
}

static void mxe_wr_masked_atomic_cmp_swp(struct mxedv_qp_ex *mqp, uint32_t rkey,
					 uint64_t remote_addr, uint64_t compare,
					 uint64_t compare_mask, uint64_t swap,
					 uint64_t swap_mask)
{
	mxe_wr_masked_u64(mxe_container(mqp, struct mxe_qp, dv),
			  IB_UVERBS_WR_MASKED_ATOMIC_CMP_AND_SWP, rkey,
			  remote_addr, compare, compare_mask, swap, swap_mask);
}

static void mxe_wr_masked_atomic_fetch_add(struct mxedv_qp_ex *mqp,
					   uint32_t rkey, uint64_t remote_addr,
					   uint64_t add, uint64_t field_boundary)
{
	mxe_wr_masked_u64(mxe_container(mqp, struct mxe_qp, dv),
			  IB_UVERBS_WR_MASKED_ATOMIC_FETCH_AND_ADD, rkey,
			  remote_addr, add, field_boundary, 0, 0);
}

/* Begins a WQE of any operand size. The caller writes the operands. */
static struct mxe_send_wqe *
mxe_wr_masked(struct mxe_qp *qp, uint8_t opcode, uint32_t rkey,
	      uint64_t remote_addr, uint32_t log_arg_sz)
{
	struct mxe_send_wqe *wqe;

	if (!mxe_has_size(qp, log_arg_sz))
		mxe_batch_fail(qp, EINVAL);
	wqe = mxe_wr_remote(qp, opcode, rkey, remote_addr);
	if (wqe) {
		wqe->flags |= qp->masked_flags;
		wqe->log_arg_sz = (uint8_t)log_arg_sz;
	}
	return wqe;
}

/* Loads an operand of up to 8 bytes. */
static inline uint64_t mxe_operand(const void *operand, uint32_t log_arg_sz)
{
	uint16_t half;
	uint32_t word;
	uint64_t value;

	switch (log_arg_sz) {
	case LOG_ARG_SZ_8:
		memcpy(&value, operand, sizeof(value));
		return value;
	case LOG_ARG_SZ_4:
		memcpy(&word, operand, sizeof(word));
		return word;
	case LOG_ARG_SZ_2:
		memcpy(&half, operand, sizeof(half));
		return half;
	default:
		return *(const uint8_t *)operand;
	}
}

/* Operands of more than 8 bytes follow the WQE header. */
static inline void
mxe_wr_masked_ext(struct mxedv_qp_ex *mqp, uint8_t opcode, uint32_t rkey,
		  uint64_t remote_addr, uint32_t log_arg_sz,
		  const void *compare_add, const void *compare_add_mask,
		  const void *swap, const void *swap_mask)
{
	struct mxe_qp *qp = mxe_container(mqp, struct mxe_qp, dv);
	struct mxe_send_wqe *wqe = mxe_wr_masked(qp, opcode, rkey, remote_addr,
						 log_arg_sz);
	size_t size;
	char *to;

	if (!wqe)
		return;
	if (log_arg_sz <= LOG_ARG_SZ_8) {
		wqe->atomic.compare_add = mxe_operand(compare_add, log_arg_sz);
		wqe->atomic.swap = mxe_operand(swap, log_arg_sz);
		wqe->atomic.compare_add_mask = mxe_operand(compare_add_mask, log_arg_sz);
		wqe->atomic.swap_mask = mxe_operand(swap_mask, log_arg_sz);
	} else {
		size = (size_t)1 << log_arg_sz;
		to = (char *)(wqe + 1);
		memcpy(to, compare_add, size);
		memcpy(to + size, swap, size);
		memcpy(to + 2 * size, compare_add_mask, size);
		memcpy(to + 3 * size, swap_mask, size);
	}
	mxe_wr_check_masked(qp, wqe);
}

static void mxe_wr_ext_masked_atomic_cmp_swp(struct mxedv_qp_ex *mqp,
					     uint32_t rkey,
					     uint64_t remote_addr,
					     uint32_t log_arg_sz,
					     const void *compare,
					     const void *compare_mask,
					     const void *swap,
					     const void *swap_mask)
{
	mxe_wr_masked_ext(mqp, IB_UVERBS_WR_MASKED_ATOMIC_CMP_AND_SWP, rkey,
			  remote_addr, log_arg_sz, compare, compare_mask, swap,
			  swap_mask);
}

static void mxe_wr_ext_masked_atomic_fetch_add(struct mxedv_qp_ex *mqp,
					       uint32_t rkey,
					       uint64_t remote_addr,
					       uint32_t log_arg_sz,
					       const void *add,
					       const void *field_boundary)
{
	static const uint64_t unused[1 << (LOG_ARG_SZ_MAX - LOG_ARG_SZ_8)];

	mxe_wr_masked_ext(mqp, IB_UVERBS_WR_MASKED_ATOMIC_FETCH_AND_ADD, rkey,
			  remote_addr, log_arg_sz, add, field_boundary, unused,
			  unused);
}

/* ---- setters ----------------------------------------------------------- */

static inline void mxe_batch_set_sges(struct mxe_qp *qp,
				      const struct ibv_sge *sg_list,
				      size_t num_sge)
{
	if (!qp->batch_wqe || num_sge > qp->sq.max_sge)
		mxe_batch_fail(qp, EINVAL);
	else
		mxe_set_sges(qp->batch_wqe, sg_list, num_sge);
}

static void mxe_wr_set_sge_list(struct ibv_qp_ex *qpx, size_t num_sge,
				const struct ibv_sge *sg_list)
{
	mxe_batch_set_sges(to_mqp_ex(qpx), sg_list, num_sge);
}

static void mxe_wr_set_sge(struct ibv_qp_ex *qpx, uint32_t lkey, uint64_t addr,
			   uint32_t length)
{
	struct ibv_sge sge = {
		.addr = addr,
		.length = length,
		.lkey = lkey,
	};

	mxe_batch_set_sges(to_mqp_ex(qpx), &sge, 1);
}

static inline void mxe_batch_set_inline(struct mxe_qp *qp,
					const struct ibv_data_buf *buf_list,
					size_t num_buf)
{
	struct mxe_send_wqe *wqe = qp->batch_wqe;
	size_t i;

	if (!wqe || !(mxe_send_rows[wqe->opcode].flags & MXE_SEND_OP_INLINE)) {
		mxe_batch_fail(qp, EINVAL);
		return;
	}
	wqe->num_sge = 0;
	wqe->inline_len = 0;
	wqe->flags |= MXE_SEND_INLINE;
	for (i = 0; i < num_buf; i++) {
		if (!mxe_add_inline(&qp->sq, wqe, buf_list[i].addr,
				    buf_list[i].length)) {
			mxe_batch_fail(qp, EINVAL);
			return;
		}
	}
}

static void mxe_wr_set_inline_data_list(struct ibv_qp_ex *qpx, size_t num_buf,
					const struct ibv_data_buf *buf_list)
{
	mxe_batch_set_inline(to_mqp_ex(qpx), buf_list, num_buf);
}

static void mxe_wr_set_inline_data(struct ibv_qp_ex *qpx, void *addr,
				   size_t length)
{
	struct ibv_data_buf buf = { .addr = addr, .length = length };

	mxe_batch_set_inline(to_mqp_ex(qpx), &buf, 1);
}

static void mxe_wr_set_ud_addr(struct ibv_qp_ex *qpx, struct ibv_ah *ah,
			       uint32_t remote_qpn, uint32_t remote_qkey)
{
	struct mxe_qp *qp = to_mqp_ex(qpx);

	if (!qp->batch_wqe || !ah || !mxe_is_ud(qp))
		mxe_batch_fail(qp, EINVAL);
	else
		mxe_set_ud(qp->batch_wqe, ah, remote_qpn, remote_qkey);
}

static void mxe_wr_set_xrc_srqn(struct ibv_qp_ex *qpx, uint32_t remote_srqn)
{
	struct mxe_qp *qp = to_mqp_ex(qpx);

	if (!qp->batch_wqe || !mxe_is_xrc(qp))
		mxe_batch_fail(qp, EINVAL);
	else
		qp->batch_wqe->remote_srqn = remote_srqn;
}

static void mxe_wr_set_dc_addr(struct mxedv_qp_ex *mqp, struct ibv_ah *ah,
			       uint32_t remote_dctn, uint64_t remote_dc_key)
{
	struct mxe_qp *qp = mxe_container(mqp, struct mxe_qp, dv);
	struct mxe_send_wqe *wqe = qp->batch_wqe;
	struct mxe_dc_dest dest;

	if (!wqe || !ah || !qp->is_dci) {
		mxe_batch_fail(qp, EINVAL);
		return;
	}
	dest = (struct mxe_dc_dest){
		.ah_num = to_mah(ah)->num,
		.dct_num = remote_dctn,
		.dct_key = remote_dc_key,
	};
	memcpy((char *)wqe + qp->sq.stride - sizeof(dest), &dest, sizeof(dest));
	wqe->flags |= MXE_SEND_DC;
	/* Setting it twice counts once. */
	qp->batch_dests += wqe != qp->dest_wqe;
	qp->dest_wqe = wqe;
}

/**
 * mxe_send_set_builders() - Set the builders of an extended QP.
 * @qp: the QP
 */
void mxe_send_set_builders(struct mxe_qp *qp)
{
	struct ibv_qp_ex *qpx = &qp->vqp.qp_ex;

	qpx->wr_start = mxe_wr_start;
	qpx->wr_complete = mxe_wr_complete;
	qpx->wr_abort = mxe_wr_abort;
	if (qp->is_dci) {
		qpx->wr_start = mxe_wr_start_dc;
		qpx->wr_complete = mxe_wr_complete_dc;
	}
	qpx->wr_send = mxe_wr_send;
	qpx->wr_send_imm = mxe_wr_send_imm;
	qpx->wr_send_inv = mxe_wr_send_inv;
	qpx->wr_local_inv = mxe_wr_local_inv;
	qpx->wr_bind_mw = mxe_wr_bind_mw;
	qpx->wr_rdma_write = mxe_wr_rdma_write;
	qpx->wr_rdma_write_imm = mxe_wr_rdma_write_imm;
	qpx->wr_rdma_read = mxe_wr_rdma_read;
	qpx->wr_atomic_cmp_swp = mxe_wr_atomic_cmp_swp;
	qpx->wr_atomic_fetch_add = mxe_wr_atomic_fetch_add;
	mxe_rdmav_set(&qp->vqp, wr_atomic_write, mxe_wr_atomic_write);
	mxe_rdmav_set(&qp->vqp, wr_flush, mxe_wr_flush);
	qpx->wr_set_ud_addr = mxe_wr_set_ud_addr;
	qpx->wr_set_xrc_srqn = mxe_wr_set_xrc_srqn;
	qpx->wr_set_sge = mxe_wr_set_sge;
	qpx->wr_set_sge_list = mxe_wr_set_sge_list;
	qpx->wr_set_inline_data = mxe_wr_set_inline_data;
	qpx->wr_set_inline_data_list = mxe_wr_set_inline_data_list;

	qp->dv.wr_masked_atomic_cmp_swp = mxe_wr_masked_atomic_cmp_swp;
	qp->dv.wr_masked_atomic_fetch_add = mxe_wr_masked_atomic_fetch_add;
	qp->dv.wr_ext_masked_atomic_cmp_swp = mxe_wr_ext_masked_atomic_cmp_swp;
	qp->dv.wr_ext_masked_atomic_fetch_add =
		mxe_wr_ext_masked_atomic_fetch_add;
	qp->dv.wr_set_dc_addr = mxe_wr_set_dc_addr;
}
