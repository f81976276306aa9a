/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * mxedv: direct verbs of the mxe provider.
 *
 * Link with -lmxe -libverbs.  Thread safety is that of the verbs: calls on
 * one queue pair are serialised by the library between ibv_wr_start() and
 * ibv_wr_complete(), other calls may come from any thread.
 */
#ifndef _INFINIBAND_MXEDV_H
#define _INFINIBAND_MXEDV_H

#include <stdbool.h>
#include <stdint.h>
#include <infiniband/verbs.h>

#ifdef __cplusplus
extern "C" {
#endif

/* True if the device is driven by mxe. */
bool mxedv_is_supported(struct ibv_device *device);

enum mxedv_masked_atomic_ops {
	MXEDV_MASKED_ATOMIC_CMP_SWP	= 1 << 0,
	MXEDV_MASKED_ATOMIC_FETCH_ADD	= 1 << 1,
};

enum mxedv_atomic_reply_modes {
	MXEDV_ATOMIC_REPLY_HOST	= 1 << 0,
	MXEDV_ATOMIC_REPLY_BE	= 1 << 1,
};

struct mxedv_device_attr {
	uint64_t comp_mask;		/* out: which later fields are valid; 0 */
	enum ibv_atomic_cap atomic_cap;
	enum ibv_atomic_cap masked_atomic_cap;
	uint32_t masked_ops;		/* enum mxedv_masked_atomic_ops */
	uint32_t max_fa_bit_boundary;	/* bits */
	uint64_t log_arg_sizes;		/* bit n: 2^n bytes */
	/*
	 * Those whose result is always big-endian: 4 bytes as one word, wider
	 * ones as words of 8 bytes, of which the first is the least significant.
	 */
	uint64_t log_arg_sizes_be;
	uint32_t reply_modes;		/* enum mxedv_atomic_reply_modes */
	uint32_t reserved;
};

/*
 * Ask the device about masked atomics.  inlen is the caller's
 * sizeof(struct mxedv_device_attr); fields that the library does not know are
 * set to zero.  Returns 0 or a positive errno.
 */
int mxedv_query_device(struct ibv_context *context,
		       struct mxedv_device_attr *attr, uint32_t inlen);

enum mxedv_qp_create_flags {
	/* Results of atomics are delivered in big-endian. */
	MXEDV_QP_CREATE_ATOMIC_BE_REPLY	= 1 << 0,
	/*
	 * Masked atomics complete with the opcodes that MLNX_OFED gave them, 9
	 * and 10, instead of IBV_WC_COMP_SWAP and IBV_WC_FETCH_ADD.
	 */
	MXEDV_QP_CREATE_EXP_WC_OPCODE	= 1 << 1,
	/*
	 * Posting to the send queue does not ring the doorbell: the program
	 * does, for many queue pairs at once, by mxedv_ring_doorbells().
	 */
	MXEDV_QP_CREATE_DEFER_DOORBELL	= 1 << 2,
	/*
	 * The poll thread of the context looks at the send queue: see
	 * mxedv_start_poll_thread().  Not with the flag before.
	 */
	MXEDV_QP_CREATE_POLLED		= 1 << 3,
};

enum mxedv_qp_init_attr_mask {
	MXEDV_QP_INIT_ATTR_CREATE_FLAGS	= 1 << 0,
	MXEDV_QP_INIT_ATTR_MAX_ATOMIC_ARG = 1 << 1,
};

struct mxedv_qp_init_attr {
	uint64_t comp_mask;		/* enum mxedv_qp_init_attr_mask */
	uint32_t create_flags;		/* enum mxedv_qp_create_flags */
	uint32_t max_atomic_arg;	/* bytes: 4, 8 (the default), 16 or 32 */
};

/*
 * ibv_create_qp_ex() with more.  mxe_attr may be NULL.  Returns NULL and sets
 * errno: EINVAL for unknown bits, EOPNOTSUPP for what the device lacks.
 */
struct ibv_qp *mxedv_create_qp(struct ibv_context *context,
			       struct ibv_qp_init_attr_ex *attr,
			       struct mxedv_qp_init_attr *mxe_attr);

/*
 * Have what was posted to the send queues of these queue pairs of the context
 * sent, in one system call for each 128 of them.  Returns 0 or a positive
 * errno: EINVAL and nothing was rung, or EIO, the device has gone.
 */
int mxedv_ring_doorbells(struct ibv_context *context,
			 struct ibv_qp *const *qps, uint32_t num_qps);

struct mxedv_poll_thread_attr {
	uint64_t comp_mask;		/* 0 */
	uint32_t idle_us;		/* without requests, then it sleeps */
	uint32_t flags;			/* 0 */
};

/*
 * Start a thread that sends, from the kernel, what is posted to the queue pairs
 * of the context that are made with MXEDV_QP_CREATE_POLLED.  While it is awake
 * posting to them makes no system call.  Returns 0 or a positive errno: EBUSY if
 * the context has one, EINVAL, EOPNOTSUPP, or why there can be no thread.
 */
int mxedv_start_poll_thread(struct ibv_context *context,
			    const struct mxedv_poll_thread_attr *attr);
/* End it, as ibv_close_device() does.  0 or a positive errno: ENOENT, EINVAL. */
int mxedv_stop_poll_thread(struct ibv_context *context);

/*
 * The builders' object.  A queue pair made with
 * IBV_QP_INIT_ATTR_SEND_OPS_FLAGS has one; its address is stable until the
 * queue pair is destroyed.  NULL if qpx is not a queue pair of mxe.
 */
struct mxedv_qp_ex {
	uint64_t comp_mask;
	void (*wr_masked_atomic_cmp_swp)(struct mxedv_qp_ex *mqp, uint32_t rkey,
					 uint64_t remote_addr,
					 uint64_t compare, uint64_t compare_mask,
					 uint64_t swap, uint64_t swap_mask);
	void (*wr_masked_atomic_fetch_add)(struct mxedv_qp_ex *mqp,
					   uint32_t rkey, uint64_t remote_addr,
					   uint64_t add, uint64_t field_boundary);
	void (*wr_ext_masked_atomic_cmp_swp)(struct mxedv_qp_ex *mqp,
					     uint32_t rkey, uint64_t remote_addr,
					     uint32_t log_arg_sz,
					     const void *compare,
					     const void *compare_mask,
					     const void *swap,
					     const void *swap_mask);
	void (*wr_ext_masked_atomic_fetch_add)(struct mxedv_qp_ex *mqp,
					       uint32_t rkey,
					       uint64_t remote_addr,
					       uint32_t log_arg_sz,
					       const void *add,
					       const void *field_boundary);
};

struct mxedv_qp_ex *mxedv_qp_ex_from_ibv_qp_ex(struct ibv_qp_ex *qpx);

/*
 * Options of ibv_query_ece() and ibv_set_ece(): both masked atomics, with
 * operands of so many bytes.
 */
enum mxedv_ece_options {
	MXEDV_ECE_MASKED_ATOMIC_4	= 1 << 2,
	MXEDV_ECE_MASKED_ATOMIC_8	= 1 << 3,
	MXEDV_ECE_MASKED_ATOMIC_16	= 1 << 4,
	MXEDV_ECE_MASKED_ATOMIC_32	= 1 << 5,
};

/*
 * Builders, used like ibv_wr_atomic_cmp_swp(): between ibv_wr_start() and
 * ibv_wr_complete() of the same queue pair, followed by ibv_wr_set_sge() for
 * the 8 bytes that take the old value.  All operands are in host byte order.
 *
 *   old = *remote_addr
 *   if (((compare ^ old) & compare_mask) == 0)
 *           *remote_addr = (old & ~swap_mask) | (swap & swap_mask)
 */
static inline void
mxedv_wr_masked_atomic_cmp_swp(struct mxedv_qp_ex *mqp, uint32_t rkey,
			       uint64_t remote_addr,
			       uint64_t compare, uint64_t compare_mask,
			       uint64_t swap, uint64_t swap_mask)
{
	mqp->wr_masked_atomic_cmp_swp(mqp, rkey, remote_addr, compare,
				      compare_mask, swap, swap_mask);
}

/*
 * Adds field by field: a set bit of field_boundary is the most significant
 * bit of a field, and the carry out of it is dropped.
 */
static inline void
mxedv_wr_masked_atomic_fetch_add(struct mxedv_qp_ex *mqp, uint32_t rkey,
				 uint64_t remote_addr,
				 uint64_t add, uint64_t field_boundary)
{
	mqp->wr_masked_atomic_fetch_add(mqp, rkey, remote_addr, add,
					field_boundary);
}

/*
 * The same with operands of 1 << log_arg_sz bytes, up to max_atomic_arg of the
 * queue pair.  Each points to a uint32_t (2), a uint64_t (3), or an array of 2
 * (4) or 4 (5) uint64_t, the least significant one first, as in memory; they
 * are read before the call returns.
 */
static inline void
mxedv_wr_ext_masked_atomic_cmp_swp(struct mxedv_qp_ex *mqp, uint32_t rkey,
				   uint64_t remote_addr, uint32_t log_arg_sz,
				   const void *compare, const void *compare_mask,
				   const void *swap, const void *swap_mask)
{
	mqp->wr_ext_masked_atomic_cmp_swp(mqp, rkey, remote_addr, log_arg_sz,
					  compare, compare_mask, swap,
					  swap_mask);
}

static inline void
mxedv_wr_ext_masked_atomic_fetch_add(struct mxedv_qp_ex *mqp, uint32_t rkey,
				     uint64_t remote_addr, uint32_t log_arg_sz,
				     const void *add, const void *field_boundary)
{
	mqp->wr_ext_masked_atomic_fetch_add(mqp, rkey, remote_addr, log_arg_sz,
					    add, field_boundary);
}

#ifdef __cplusplus
}
#endif

#endif /* _INFINIBAND_MXEDV_H */
