// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Enhanced connection establishment (ECE), by which both sides of a connection
 * exchange which masked atomics they execute.
 *
 * librdmacm passes on only options of a peer with the same vendor ID. A
 * connection to any other device is therefore established without ECE.
 */
#include <errno.h>

#include <rdma/mxe_user_ioctl_cmds.h>

#include "context.h"
#include "ece.h"
#include "qp.h"
#include "ring.h"

static_assert(MXEDV_ECE_MASKED_ATOMIC_4 == 4 &&
	      MXEDV_ECE_MASKED_ATOMIC_8 == 8 &&
	      MXEDV_ECE_MASKED_ATOMIC_16 == 16 &&
	      MXEDV_ECE_MASKED_ATOMIC_32 == 32,
	      "the option for a size is its number of bytes");

/* Returns the options for the masked atomics that the device executes. */
static uint32_t mxe_ece_offer(const struct mxe_qp *qp)
{
	const uint32_t both = MXE_MASKED_ATOMIC_CMP_SWAP |
			      MXE_MASKED_ATOMIC_FETCH_ADD;
	const struct mxe_atomic_caps *caps = &to_mctx(qp->vqp.qp.context)->caps;

	switch (qp->vqp.qp.qp_type) {
	case IBV_QPT_RC:
	case IBV_QPT_XRC_SEND:
	case IBV_QPT_XRC_RECV:
		break;
	default:
		return 0;
	}
	if ((caps->masked_ops & both) != both ||
	    caps->masked_atomic_cap == IBV_ATOMIC_NONE)
		return 0;
	return (uint32_t)caps->log_arg_sizes & MXE_ECE_MASKED_ATOMICS;
}

int mxe_query_ece(struct ibv_qp *ibqp, struct ibv_ece *ece)
{
	struct mxe_qp *qp = to_mqp(ibqp);

	mxe_ring_lock(&qp->sq);
	*ece = (struct ibv_ece){
		.vendor_id = MXE_VENDOR_ID,
		.options = qp->has_ece ? qp->ece_options : mxe_ece_offer(qp),
	};
	mxe_ring_unlock(&qp->sq);
	return 0;
}

/* Called with sq.lock held. */
static void mxe_set_masked_sizes(struct mxe_qp *qp)
{
	/*
	 * One bit per size up to max_atomic_arg, as in the options. Older
	 * kernels do not execute 1 and 2 bytes.
	 */
	uint32_t carried = qp->max_atomic_arg ? (qp->max_atomic_arg << 1) - 1 : 0;

	carried &= (uint32_t)to_mctx(qp->vqp.qp.context)->caps.log_arg_sizes;
	qp->masked_sizes = qp->has_ece ? carried & qp->ece_options : carried;
}

int mxe_set_ece(struct ibv_qp *ibqp, struct ibv_ece *ece)
{
	struct mxe_qp *qp = to_mqp(ibqp);

	/* The meaning of another vendor's options is unknown. */
	if (ece->comp_mask || ece->vendor_id != MXE_VENDOR_ID) {
		errno = EINVAL;
		return errno;
	}
	ece->options &= mxe_ece_offer(qp);
	mxe_ring_lock(&qp->sq);
	qp->ece_options = ece->options;
	qp->has_ece = true;
	mxe_set_masked_sizes(qp);
	mxe_ring_unlock(&qp->sq);
	return 0;
}

/**
 * mxe_ece_reset() - Forget the options that were negotiated with a peer.
 * @qp: the QP, also a new one, whose max_atomic_arg is set
 */
void mxe_ece_reset(struct mxe_qp *qp)
{
	mxe_ring_lock(&qp->sq);
	qp->has_ece = false;
	mxe_set_masked_sizes(qp);
	mxe_ring_unlock(&qp->sq);
}
