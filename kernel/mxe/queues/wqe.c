// SPDX-License-Identifier: GPL-2.0
/*
 * Checks the send requests of processes and of kernel consumers, and copies
 * them to struct mxe_send_wr.
 */
#include "dc/dci.h"
#include "ip/ah.h"
#include "mxe.h"
#include "queues/wqe.h"
#include "queues/wr.h"
#include "trace.h"

static void mxe_wqe_init_wr(struct mxe_send_wr *wr)
{
	wr->started = false;
	wr->done = false;
	wr->num_sge = 0;
	wr->length = 0;
}

/*
 * Sets operands of up to 8 bytes, which have the names of struct mxe_send_wqe.
 * The operation is lowered if possible.
 */
static void mxe_wqe_set_atomic(struct mxe_atomic_args *a, enum ib_wr_opcode opcode,
			       u8 log_size, u64 compare_add, u64 swap,
			       u64 compare_add_mask, u64 swap_mask)
{
	a->log_size = log_size;
	switch (opcode) {
	case IB_WR_ATOMIC_CMP_AND_SWP:
		a->op = MXE_ATOMIC_CMP_SWAP;
		a->swap_add = swap;
		a->compare = compare_add;
		a->swap_mask = 0;
		a->compare_mask = 0;
		return;
	case IB_WR_ATOMIC_FETCH_AND_ADD:
		a->op = MXE_ATOMIC_FETCH_ADD;
		a->swap_add = compare_add;
		a->compare = 0;
		a->swap_mask = 0;
		a->compare_mask = 0;
		return;
	case IB_WR_MASKED_ATOMIC_CMP_AND_SWP:
		a->op = MXE_ATOMIC_MASKED_CMP_SWAP;
		a->swap_add = swap;
		a->compare = compare_add;
		a->swap_mask = swap_mask;
		a->compare_mask = compare_add_mask;
		mxe_atomic_lower(a);
		return;
	default:
		a->op = MXE_ATOMIC_MASKED_FETCH_ADD;
		a->swap_add = compare_add;
		a->compare = 0;
		a->swap_mask = 0;
		a->compare_mask = compare_add_mask;
		mxe_atomic_lower(a);
	}
}

/* Copies the operands of a masked atomic of 16 or 32 bytes from @data. */
static void mxe_wqe_set_wide(struct mxe_send_wr *wr, u8 log_size, const void *data)
{
	u64 wide[MXE_MSKATOMIC_OPERANDS * MXE_ATOMIC_WORDS];
	struct mxe_atomic_args *a = &wr->atomic;
	u32 n = BIT(log_size) / sizeof(u64);
	size_t len = BIT(log_size);

	memcpy(wide, data, MXE_MSKATOMIC_OPERANDS * len);
	*a = (struct mxe_atomic_args) { .log_size = log_size };
	memcpy(a->compare_mask_words, wide + 2 * n, len);
	if (wr->opcode == IB_WR_MASKED_ATOMIC_FETCH_AND_ADD) {
		a->op = MXE_ATOMIC_MASKED_FETCH_ADD;
		memcpy(a->swap_add_words, wide, len);
		return;
	}
	a->op = MXE_ATOMIC_MASKED_CMP_SWAP;
	memcpy(a->compare_words, wide, len);
	memcpy(a->swap_add_words, wide + n, len);
	memcpy(a->swap_mask_words, wide + 3 * n, len);
}

/* Sums the lengths of a gather list, which may exceed any valid message. */
static u64 mxe_wqe_sge_length(const struct ib_sge *sge, unsigned int num_sge)
{
	u64 length = 0;
	unsigned int i;

	for (i = 0; i < num_sge; i++)
		length += sge[i].length;
	return length;
}

/* Returns true if the QP accepts the byte order of the device's results. */
static bool mxe_wqe_atomics_ok(const struct mxe_qp *qp)
{
	return qp->be_reply || !qp->dev->reply_be;
}

static enum ib_wc_status mxe_wqe_check_length(struct mxe_send_wr *wr, u16 flags,
					      u64 length)
{
	if (length > MXE_MAX_MSG_SIZE)
		return IB_WC_LOC_LEN_ERR;
	if (flags & MXE_WR_OP_ATOMIC && length < mxe_atomic_size(&wr->atomic))
		return IB_WC_LOC_LEN_ERR;
	if (flags & MXE_WR_OP_PLACEMENT && length != MXE_ATOMIC_WRITE_SIZE)
		return IB_WC_LOC_LEN_ERR;
	wr->length = length;
	return IB_WC_SUCCESS;
}

/*
 * Copies the gather or scatter list of a request whose opcode has @flags.  Each
 * member of @from is read only once, because a process may write it meanwhile.
 */
static enum ib_wc_status mxe_wqe_set_sge(struct mxe_send_wr *wr, u16 flags,
					 const struct ib_sge *from, u32 num_sge)
{
	u64 length = 0;
	u32 i;

	for (i = 0; i < num_sge; i++) {
		struct ib_sge *sge = &wr->sge[i];

		sge->addr = READ_ONCE(from[i].addr);
		sge->length = READ_ONCE(from[i].length);
		sge->lkey = READ_ONCE(from[i].lkey);
		length += sge->length;
	}
	wr->num_sge = num_sge;
	return mxe_wqe_check_length(wr, flags, length);
}

/*
 * Returns true if the transport of the QP has this opcode, and consumers of
 * kind @who, MXE_WR_OP_USER or MXE_WR_OP_KERNEL, may post it.
 */
static bool mxe_wqe_may_post(const struct mxe_qp *qp, u32 opcode, u16 who)
{
	return opcode < MXE_WR_ROWS && mxe_wr_flags(opcode) & who &&
	       mxe_wr_rows[opcode].transports & BIT(qp->transport);
}

/*
 * Return the opcodes that a process may post: bit n is set for opcode n. The
 * type and be_reply of the QP are set. An atomic is missing if the device
 * returns big-endian results only, and the QP was created without
 * MXE_QP_CREATE_ATOMIC_BE_REPLY.
 */
u32 mxe_wqe_user_opcodes(const struct mxe_qp *qp)
{
	u32 opcodes = 0;
	unsigned int i;

	for (i = 0; i < BITS_PER_TYPE(opcodes); i++)
		if (mxe_wqe_may_post(qp, i, MXE_WR_OP_USER) &&
		    (!mxe_wr_is_atomic(i) || mxe_wqe_atomics_ok(qp)))
			opcodes |= BIT(i);
	return opcodes;
}

/* A local operation has no data.  Only BIND_MW has operands. */
static enum ib_wc_status mxe_wqe_parse_local(struct mxe_send_wr *wr,
					     const struct mxe_send_wqe *wqe)
{
	if (wqe->flags & MXE_SEND_INLINE || wqe->num_sge || wqe->inline_len)
		return IB_WC_LOC_QP_OP_ERR;
	if (wr->opcode != IB_WR_BIND_MW)
		return IB_WC_SUCCESS;
	if (wqe->bind.reserved1)
		return IB_WC_LOC_QP_OP_ERR;
	wr->bind = (struct mxe_bind) {
		.addr = wqe->bind.addr,
		.length = wqe->bind.length,
		.mr_lkey = wqe->bind.mr_lkey,
		.access = wqe->bind.access,
	};
	return IB_WC_SUCCESS;
}

/* A FLUSH has no data.  The responder judges its type and level. */
static enum ib_wc_status mxe_wqe_parse_flush(struct mxe_send_wr *wr,
					     const struct mxe_send_wqe *wqe)
{
	if (wqe->flags & MXE_SEND_INLINE || wqe->num_sge || wqe->inline_len ||
	    wqe->flush.type & ~MXE_FETH_TYPE_MASK ||
	    wqe->flush.level & ~MXE_FETH_LEVEL_MASK || wqe->flush.reserved1 ||
	    wqe->flush.reserved[0] || wqe->flush.reserved[1] ||
	    wqe->flush.reserved[2])
		return IB_WC_LOC_QP_OP_ERR;
	wr->flush = (struct mxe_flush) {
		.length = wqe->flush.length,
		.type = wqe->flush.type,
		.level = wqe->flush.level,
	};
	return IB_WC_SUCCESS;
}

/* The data of an ATOMIC WRITE that has neither an SGE nor inline data. */
static enum ib_wc_status
mxe_wqe_parse_atomic_write(struct mxe_send_wr *wr,
			   const struct mxe_send_wqe *wqe)
{
	if (wqe->atomic_write.reserved[0] || wqe->atomic_write.reserved[1] ||
	    wqe->atomic_write.reserved[2])
		return IB_WC_LOC_QP_OP_ERR;
	wr->atomic_write = wqe->atomic_write.data;
	wr->length = MXE_ATOMIC_WRITE_SIZE;
	return IB_WC_SUCCESS;
}

/*
 * Parses operands of a size other than 8 bytes.  Shorter ones are in @wqe.
 * Wider ones are at *data in the ring, which is advanced past them.
 */
static enum ib_wc_status mxe_wqe_parse_ext_atomic(struct mxe_qp *qp,
						  struct mxe_send_wr *wr,
						  const struct mxe_send_wqe *wqe,
						  const void **data)
{
	u8 log_size = wqe->log_arg_sz;

	if (log_size >= BITS_PER_TYPE(qp->req.atomic_log_sizes) ||
	    !(qp->req.atomic_log_sizes & BIT(log_size)))
		return IB_WC_LOC_QP_OP_ERR;
	if (log_size > 3) {
		mxe_wqe_set_wide(wr, log_size, *data);
		*data += MXE_MSKATOMIC_OPERANDS << log_size;
		return IB_WC_SUCCESS;
	}
	if ((wqe->atomic.compare_add | wqe->atomic.swap |
	     wqe->atomic.compare_add_mask | wqe->atomic.swap_mask) >>
	    (BITS_PER_BYTE << log_size))
		return IB_WC_LOC_QP_OP_ERR;
	mxe_wqe_set_atomic(&wr->atomic, wr->opcode, log_size,
			   wqe->atomic.compare_add, wqe->atomic.swap,
			   wqe->atomic.compare_add_mask, wqe->atomic.swap_mask);
	return IB_WC_SUCCESS;
}

static enum ib_wc_status
mxe_wqe_parse_atomic(struct mxe_qp *qp, struct mxe_send_wr *wr, u16 flags,
		     const struct mxe_send_wqe *wqe, const void **data)
{
	if (!(flags & MXE_WR_OP_MASKED)) {
		if (wqe->log_arg_sz)
			return IB_WC_LOC_QP_OP_ERR;
	} else if (wqe->log_arg_sz != 3) {
		return mxe_wqe_parse_ext_atomic(qp, wr, wqe, data);
	} else if (!(qp->req.atomic_log_sizes & BIT(3))) {
		return IB_WC_LOC_QP_OP_ERR;
	}
	mxe_wqe_set_atomic(&wr->atomic, wr->opcode, 3, wqe->atomic.compare_add,
			   wqe->atomic.swap, wqe->atomic.compare_add_mask,
			   wqe->atomic.swap_mask);
	return IB_WC_SUCCESS;
}

/*
 * Checks the request of a process whose opcode has @flags.  @wqe is the copy in
 * the kernel of @entry, behind which data may follow that is read only once.
 */
static enum ib_wc_status mxe_wqe_parse(struct mxe_qp *qp,
				       struct mxe_send_wr *wr, u16 flags,
				       const struct mxe_send_wqe *wqe,
				       const struct mxe_send_wqe *entry)
{
	const u8 known = MXE_SEND_FENCE | MXE_SEND_SIGNALED |
			 MXE_SEND_SOLICITED | MXE_SEND_INLINE | MXE_SEND_USER;
	const void *data = entry + 1;
	enum ib_wc_status status;

	/* First, so that wr has a destination even after another error. */
	if (unlikely(qp->ops->parse_dest)) {
		status = qp->ops->parse_dest(qp, wr, wqe, entry);
		if (status)
			return status;
	}
	if (wr->opcode >= BITS_PER_TYPE(qp->req.opcodes) ||
	    !(qp->req.opcodes & BIT(wr->opcode)))
		return IB_WC_LOC_QP_OP_ERR;
	if ((wqe->flags & ~(known | qp->ops->wqe_flags)) |
	    (wqe->remote_srqn & ~qp->req.srqn_mask) | wqe->reserved1)
		return IB_WC_LOC_QP_OP_ERR;
	if (flags & MXE_WR_OP_ATOMIC) {
		status = mxe_wqe_parse_atomic(qp, wr, flags, wqe, &data);
		if (status)
			return status;
	} else if (wqe->log_arg_sz) {
		return IB_WC_LOC_QP_OP_ERR;
	} else if (flags & (MXE_WR_OP_LOCAL | MXE_WR_OP_PLACEMENT)) {
		if (flags & MXE_WR_OP_LOCAL)
			return mxe_wqe_parse_local(wr, wqe);
		if (wr->opcode == IB_WR_FLUSH)
			return mxe_wqe_parse_flush(wr, wqe);
		if (!wqe->num_sge && !(wqe->flags & MXE_SEND_INLINE))
			return mxe_wqe_parse_atomic_write(wr, wqe);
	}

	if (wqe->flags & MXE_SEND_INLINE) {
		if (!(flags & MXE_WR_OP_INLINE) || wqe->num_sge)
			return IB_WC_LOC_QP_OP_ERR;
		if (wqe->inline_len > qp->req.max_inline)
			return IB_WC_LOC_LEN_ERR;
		memcpy(wr->inline_data, data, wqe->inline_len);
		wr->length = wqe->inline_len;
		return IB_WC_SUCCESS;
	}

	if (wqe->num_sge > qp->req.max_sge)
		return IB_WC_LOC_QP_OP_ERR;
	static_assert(sizeof(struct mxe_sge) == sizeof(struct ib_sge));
	return mxe_wqe_set_sge(wr, flags, data, wqe->num_sge);
}

static void mxe_wqe_fetch_user(struct mxe_qp *qp)
{
	struct mxe_send_wr *wr = mxe_sq_wr(&qp->req, qp->req.fetched);
	const struct mxe_send_wqe *entry =
		mxe_ring_entry(&qp->req.ring, mxe_rndv_fetched(qp));
	struct mxe_send_wqe wqe = *entry;
	u16 flags;

	/*
	 * The process may write the entry at any time.  From here on only the
	 * copy is used: the barrier prevents the compiler from reading again.
	 */
	barrier();

	mxe_wqe_init_wr(wr);
	wr->wr_id = wqe.wr_id;
	wr->opcode = wqe.opcode;
	wr->flags = wqe.flags;
	wr->remote_addr = wqe.remote_addr;
	wr->rkey = wqe.rkey;
	wr->imm = wqe.imm_data;
	wr->srqn = wqe.remote_srqn;
	flags = mxe_wr_flags(wqe.opcode);
	if (flags & MXE_WR_OP_INVALIDATE)
		wr->rkey = wqe.invalidate_rkey;
	wr->error = mxe_wqe_parse(qp, wr, flags, &wqe, entry);
	if (wr->error) {
		mxe_count(qp->dev, bad_wqe);
		/* A process does not have this flag. */
		wr->flags &= ~MXE_SEND_OWN;
	}
}

/*
 * Fetch a request of a send queue that is not empty. @produced is from
 * mxe_wqe_produced(), not mxe_rndv_fetched(). The WQE of a process is copied,
 * and the copy is checked. A bad one gets an error that is reported when its
 * turn comes. If the index is invalid, the QP moves to ERR.
 * Context: send_lock held.
 * Return: false if the index is invalid, or MXE_MAX_FETCHED requests are not
 * complete.
 */
bool mxe_wqe_fetch_one(struct mxe_qp *qp, u32 produced)
{
	struct mxe_requester *req = &qp->req;
	u32 held = req->fetched - req->tail;

	if (!mxe_wqe_index_ok(qp, produced)) {
		mxe_count(qp->dev, bad_wqe);
		req->halted = true;
		req->pending |= BIT(MXE_PENDING_ERROR) | BIT(MXE_PENDING_EV_FATAL);
		return false;
	}
	/* Sending continues when the oldest request is acknowledged. */
	if (held > req->wr_mask)
		return false;
	if (qp->is_user)
		mxe_wqe_fetch_user(qp);
	trace_mxe_post(qp, mxe_sq_wr(req, req->fetched));
	req->fetched++;
	return true;
}

/* ---- kernel consumers -------------------------------------------------- */

static int mxe_wqe_check_ib(struct mxe_qp *qp, const struct ib_send_wr *ibwr)
{
	if (!mxe_wqe_may_post(qp, ibwr->opcode, MXE_WR_OP_KERNEL))
		return -EOPNOTSUPP;
	if (mxe_wr_is_atomic(ibwr->opcode) && !mxe_wqe_atomics_ok(qp))
		return -EOPNOTSUPP;
	if (ibwr->num_sge < 0 || ibwr->num_sge > qp->req.max_sge)
		return -EINVAL;
	if (ibwr->send_flags & IB_SEND_INLINE &&
	    (!(mxe_wr_flags(ibwr->opcode) & MXE_WR_OP_INLINE) ||
	     mxe_wqe_sge_length(ibwr->sg_list, ibwr->num_sge) > qp->req.max_inline))
		return -EINVAL;
	return 0;
}

static void mxe_wqe_copy_inline(struct mxe_send_wr *wr,
				const struct ib_send_wr *ibwr)
{
	int i;

	for (i = 0; i < ibwr->num_sge; i++) {
		memcpy(wr->inline_data + wr->length,
		       (void *)(uintptr_t)ibwr->sg_list[i].addr,
		       ibwr->sg_list[i].length);
		wr->length += ibwr->sg_list[i].length;
	}
	wr->flags |= MXE_SEND_INLINE;
}

static int mxe_wqe_from_ib(struct mxe_qp *qp, struct mxe_send_wr *wr,
			   const struct ib_send_wr *ibwr)
{
	/* Except for the union, which each opcode and transport sets. */
	memset(wr, 0, offsetof(struct mxe_send_wr, atomic));
	wr->wr_id = ibwr->wr_id;
	wr->opcode = ibwr->opcode;
	wr->imm = ibwr->ex.imm_data;
	if (ibwr->send_flags & IB_SEND_FENCE)
		wr->flags |= MXE_SEND_FENCE;
	if (ibwr->send_flags & IB_SEND_SIGNALED)
		wr->flags |= MXE_SEND_SIGNALED;
	if (ibwr->send_flags & IB_SEND_SOLICITED)
		wr->flags |= MXE_SEND_SOLICITED;

	if (ibwr->opcode == IB_WR_REG_MR) {
		wr->reg = mxe_mr_reg_from_ib(reg_wr(ibwr));
		return 0;
	}
	if (mxe_wr_flags(ibwr->opcode) & MXE_WR_OP_INVALIDATE)
		wr->rkey = ibwr->ex.invalidate_rkey;
	if (mxe_wr_is_local(ibwr->opcode))
		return 0;
	if (qp->ops->copy_dest && qp->ops->copy_dest(wr, ibwr))
		return -EINVAL;
	if (mxe_wr_is_atomic(ibwr->opcode)) {
		const struct ib_atomic_wr *awr = atomic_wr(ibwr);

		wr->remote_addr = awr->remote_addr;
		wr->rkey = awr->rkey;
		mxe_wqe_set_atomic(&wr->atomic, wr->opcode, 3, awr->compare_add,
				   awr->swap, awr->compare_add_mask, awr->swap_mask);
	} else if (mxe_wr_flags(ibwr->opcode) & MXE_WR_OP_REMOTE_ADDR) {
		wr->remote_addr = rdma_wr(ibwr)->remote_addr;
		wr->rkey = rdma_wr(ibwr)->rkey;
	}

	if (ibwr->send_flags & IB_SEND_INLINE) {
		mxe_wqe_copy_inline(wr, ibwr);
		return 0;
	}
	wr->error = mxe_wqe_set_sge(wr, mxe_wr_flags(wr->opcode), ibwr->sg_list,
				    ibwr->num_sge);
	return 0;
}

/*
 * Check and copy a request of a kernel consumer.
 * Context: req.post_lock held.
 * Return: 0; -EOPNOTSUPP for an opcode that the QP may not use; -EINVAL for
 * invalid SGEs, inline data or AH; -ENOMEM if the queue is full.
 */
int mxe_wqe_post(struct mxe_qp *qp, const struct ib_send_wr *ibwr)
{
	struct mxe_requester *req = &qp->req;
	int err;

	lockdep_assert_held(&req->post_lock);

	err = mxe_wqe_check_ib(qp, ibwr);
	if (err)
		return err;
	/*
	 * tail is written under send_lock.  With an old value the queue only
	 * appears fuller.  Pairs with the release in mxe_sq_complete(): a slot
	 * is not written before its request is complete.
	 */
	if (req->posted - READ_ONCE(req->tail) >= req->entries)
		return -ENOMEM;
	err = mxe_wqe_from_ib(qp, mxe_sq_wr(req, req->posted), ibwr);
	if (err)
		return err;
	/* Pairs with the acquire in mxe_wqe_produced(). */
	smp_store_release(&req->posted, req->posted + 1);
	return 0;
}
