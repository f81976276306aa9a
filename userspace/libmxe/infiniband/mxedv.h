/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * mxedv: direct verbs of the mxe provider.  mxedv(7) is the guide.
 *
 * Link with -lmxe -libverbs.  All functions may be called from any thread.  The
 * library serialises the builders of a QP between ibv_wr_start() and
 * ibv_wr_complete().
 */
#ifndef _INFINIBAND_MXEDV_H
#define _INFINIBAND_MXEDV_H

#include <stdbool.h>
#include <stdint.h>
#include <infiniband/verbs.h>

#ifdef __cplusplus
extern "C" {
#endif

/* vendor_id of an mxe device, in struct ibv_device_attr. */
#define MXEDV_VENDOR_ID 0x6d7865

/**
 * mxedv_is_supported() - Check if a device is an mxe device.
 * @device: an element of ibv_get_device_list()
 *
 * Return: true if the mxe provider drives it.
 */
bool mxedv_is_supported(struct ibv_device *device);

enum mxedv_masked_atomic_ops {
	MXEDV_MASKED_ATOMIC_CMP_SWP	= 1 << 0,
	MXEDV_MASKED_ATOMIC_FETCH_ADD	= 1 << 1,
};

enum mxedv_atomic_reply_modes {
	MXEDV_ATOMIC_REPLY_HOST	= 1 << 0,
	MXEDV_ATOMIC_REPLY_BE	= 1 << 1,
};

enum mxedv_device_attr_mask {
	/*
	 * Regions with remote rights are not coherent: a peer's accesses and
	 * those of the process need mxedv_sync_mr() to see each other.
	 */
	MXEDV_DEVICE_ATTR_NONCOHERENT	= 1 << 0,
};

struct mxedv_device_attr {
	uint64_t comp_mask;		/* out: enum mxedv_device_attr_mask */
	enum ibv_atomic_cap atomic_cap;
	enum ibv_atomic_cap masked_atomic_cap;
	uint32_t masked_ops;		/* enum mxedv_masked_atomic_ops */
	uint32_t max_fa_bit_boundary;	/* maximum bits of a field */
	uint64_t log_arg_sizes;		/* bit n: operands of 2^n bytes */
	/*
	 * Sizes whose result is always big-endian. A result of up to 8 bytes is
	 * one word. A wider one consists of words of 8 bytes, the least
	 * significant first.
	 */
	uint64_t log_arg_sizes_be;
	uint32_t reply_modes;		/* enum mxedv_atomic_reply_modes */
	uint32_t max_inline_recv;	/* bytes; 0: no inline receive */
};

/**
 * mxedv_query_device() - Query the masked atomics of a device.
 * @context: context of an mxe device
 * @attr: filled in; fields that the library does not know are zeroed
 * @inlen: sizeof(struct mxedv_device_attr) of the caller, in bytes
 *
 * Return: 0 or a positive errno.
 */
int mxedv_query_device(struct ibv_context *context,
		       struct mxedv_device_attr *attr, uint32_t inlen);

enum mxedv_qp_create_flags {
	/* The results of atomics are big-endian. */
	MXEDV_QP_CREATE_ATOMIC_BE_REPLY	= 1 << 0,
	/*
	 * Masked atomics complete with the opcodes of MLNX_OFED, 9 and 10,
	 * instead of IBV_WC_COMP_SWAP and IBV_WC_FETCH_ADD.
	 */
	MXEDV_QP_CREATE_EXP_WC_OPCODE	= 1 << 1,
	/*
	 * Posting to the send queue does not ring the doorbell.  The program
	 * rings for many QPs at once with mxedv_ring_doorbells().
	 */
	MXEDV_QP_CREATE_DEFER_DOORBELL	= 1 << 2,
	/*
	 * The data of messages of up to max_inline_recv bytes may arrive in the
	 * completion.  Polling copies them to the receive buffer.
	 */
	MXEDV_QP_CREATE_INLINE_RECV	= 1 << 3,
};

enum mxedv_qp_init_attr_mask {
	MXEDV_QP_INIT_ATTR_CREATE_FLAGS	= 1 << 0,
	MXEDV_QP_INIT_ATTR_MAX_ATOMIC_ARG = 1 << 1,
	MXEDV_QP_INIT_ATTR_DC		= 1 << 2,
};

/* Dynamically connected (DC) QPs, of type IBV_QPT_DRIVER. */
enum mxedv_dc_type {
	MXEDV_DCTYPE_DCT = 1,		/* target: receives */
	MXEDV_DCTYPE_DCI,		/* initiator: sends */
};

struct mxedv_qp_init_attr {
	uint64_t comp_mask;		/* enum mxedv_qp_init_attr_mask */
	uint32_t create_flags;		/* enum mxedv_qp_create_flags */
	uint32_t max_atomic_arg;	/* bytes: 1, 2, 4, 8 (default), 16, 32 */
	/* The following with MXEDV_QP_INIT_ATTR_DC. */
	uint32_t dc_type;		/* enum mxedv_dc_type */
	uint32_t reserved;		/* 0 */
	uint64_t dct_access_key;	/* that initiators present; DCT only */
};

/**
 * mxedv_create_qp() - Create a QP with attributes of mxe.
 * @context: context of an mxe device
 * @attr: as for ibv_create_qp_ex()
 * @mxe_attr: further attributes, or NULL
 *
 * Return: the QP; or NULL with errno EINVAL for unknown bits, EOPNOTSUPP if the
 * device lacks a requested feature, or an errno of ibv_create_qp_ex().
 */
struct ibv_qp *mxedv_create_qp(struct ibv_context *context,
			       struct ibv_qp_init_attr_ex *attr,
			       struct mxedv_qp_init_attr *mxe_attr);

/**
 * mxedv_ring_doorbells() - Ring the doorbell for many QPs.
 * @context: context of an mxe device
 * @qps: QPs of the context
 * @num_qps: number of QPs
 *
 * Makes one system call for each 128 QPs.
 *
 * Return: 0; EINVAL, in which case the doorbell of no QP was rung; or EIO if
 * the device was removed.
 */
int mxedv_ring_doorbells(struct ibv_context *context,
			 struct ibv_qp *const *qps, uint32_t num_qps);

/*
 * The builders of a QP that was created with IBV_QP_INIT_ATTR_SEND_OPS_FLAGS.
 * Valid until the QP is destroyed.
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
	void (*wr_set_dc_addr)(struct mxedv_qp_ex *mqp, struct ibv_ah *ah,
			       uint32_t remote_dctn, uint64_t remote_dc_key);
};

/**
 * mxedv_qp_ex_from_ibv_qp_ex() - Get the builders of a QP.
 * @qpx: the extended QP
 *
 * Return: the builders, or NULL if this is not a QP of mxe.
 */
struct mxedv_qp_ex *mxedv_qp_ex_from_ibv_qp_ex(struct ibv_qp_ex *qpx);

/*
 * Options of ibv_query_ece() and ibv_set_ece(): the operand sizes, in bytes, of
 * which the QP executes both masked atomics.
 */
enum mxedv_ece_options {
	MXEDV_ECE_MASKED_ATOMIC_1	= 1 << 0,
	MXEDV_ECE_MASKED_ATOMIC_2	= 1 << 1,
	MXEDV_ECE_MASKED_ATOMIC_4	= 1 << 2,
	MXEDV_ECE_MASKED_ATOMIC_8	= 1 << 3,
	MXEDV_ECE_MASKED_ATOMIC_16	= 1 << 4,
	MXEDV_ECE_MASKED_ATOMIC_32	= 1 << 5,
};

/*
 * Use the builders like ibv_wr_atomic_cmp_swp(): call one of them between
 * ibv_wr_start() and ibv_wr_complete() of the same QP, and then
 * ibv_wr_set_sge() with a buffer for the old value.
 */

/**
 * mxedv_wr_masked_atomic_cmp_swp() - Build a masked compare-and-swap of 8
 * bytes.
 * @mqp: builders of the QP
 * @rkey: remote key
 * @remote_addr: address of the word, a multiple of 8
 * @compare: value to compare with, host byte order
 * @compare_mask: bits to compare
 * @swap: value to swap in, host byte order
 * @swap_mask: bits to swap
 *
 * ::
 *
 *	old = *remote_addr
 *	if (((compare ^ old) & compare_mask) == 0)
 *		*remote_addr = (old & ~swap_mask) | (swap & swap_mask)
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

/**
 * mxedv_wr_masked_atomic_fetch_add() - Build a masked fetch-and-add of 8 bytes.
 * @mqp: builders of the QP
 * @rkey: remote key
 * @remote_addr: address of the word, a multiple of 8
 * @add: summands, one in each field, host byte order
 * @field_boundary: a set bit is the most significant bit of a field; the carry
 *	out of the field is dropped
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
 * The operands of the following builders have 1 << log_arg_sz bytes, up to
 * max_atomic_arg of the QP.  Each pointer is to a uint8_t (log_arg_sz 0), a
 * uint16_t (1), a uint32_t (2), a uint64_t (3), or an array of 2 (4) or 4 (5)
 * uint64_t, the least significant first.  The operands are read before the call
 * returns.
 */

/**
 * mxedv_wr_ext_masked_atomic_cmp_swp() - Build a masked compare-and-swap.
 * @mqp: builders of the QP
 * @rkey: remote key
 * @remote_addr: address of the operand, a multiple of its size, or of 16 if it
 *	has 32 bytes
 * @log_arg_sz: log2 of the operand size in bytes
 * @compare: value to compare with, host byte order
 * @compare_mask: bits to compare
 * @swap: value to swap in, host byte order
 * @swap_mask: bits to swap
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

/**
 * mxedv_wr_ext_masked_atomic_fetch_add() - Build a masked fetch-and-add.
 * @mqp: builders of the QP
 * @rkey: remote key
 * @remote_addr: address of the operand, a multiple of its size, or of 16 if it
 *	has 32 bytes
 * @log_arg_sz: log2 of the operand size in bytes
 * @add: summands, one in each field, host byte order
 * @field_boundary: most significant bit of each field
 */
static inline void
mxedv_wr_ext_masked_atomic_fetch_add(struct mxedv_qp_ex *mqp, uint32_t rkey,
				     uint64_t remote_addr, uint32_t log_arg_sz,
				     const void *add, const void *field_boundary)
{
	mqp->wr_ext_masked_atomic_fetch_add(mqp, rkey, remote_addr, log_arg_sz,
					    add, field_boundary);
}

/**
 * mxedv_wr_set_dc_addr() - Set the target of a request of a DC initiator.
 * @mqp: builders of the initiator
 * @ah: address of the target's host, of the same PD
 * @remote_dctn: number of the target
 * @remote_dc_key: its access key
 *
 * Every request needs it, after its builder and like ibv_wr_set_ud_addr().
 */
static inline void mxedv_wr_set_dc_addr(struct mxedv_qp_ex *mqp,
					struct ibv_ah *ah, uint32_t remote_dctn,
					uint64_t remote_dc_key)
{
	mqp->wr_set_dc_addr(mqp, ah, remote_dctn, remote_dc_key);
}

/* Host byte order. */
struct mxedv_atomic_masks {
	uint64_t compare_add_mask;	/* bits to compare, or field boundaries */
	uint64_t swap_mask;		/* bits to swap; unused by an addition */
};

/**
 * mxedv_mask_next_atomic() - Mask the next standard atomic that this thread
 * posts with ibv_post_send().
 * @masks: the masks, or NULL to remove those of an earlier call
 *
 * For programs whose QPs belong to another library, such as uDAPL, which posts
 * the request in the same thread. The masks apply to one request, the next
 * atomic on any QP of an mxe device. They are consumed even if it is refused,
 * and removed by any ibv_post_send() of this thread that fails. Builders ignore
 * them.
 *
 * The result of ECE does not apply, because such a library may have lost it.
 * The caller must know that the peer executes masked atomics. The connection to
 * any other peer breaks.
 *
 * ibv_post_send() returns EOPNOTSUPP if the device or the QP has no masked
 * atomics of 8 bytes.
 *
 * Return: true if the masks of an earlier call were not consumed.
 */
bool mxedv_mask_next_atomic(const struct mxedv_atomic_masks *masks);

enum mxedv_sync_mr_flags {
	/* Make what peers have written visible to the process. */
	MXEDV_SYNC_MR_FOR_CPU		= 1 << 0,
	/* Make what the process has written visible to peers. */
	MXEDV_SYNC_MR_FOR_DEVICE	= 1 << 1,
};

/**
 * mxedv_sync_mr() - Synchronise a region with the memory of the process.
 * @mr: region of an mxe device
 * @addr: first address, as peers use it
 * @length: bytes, which must be inside of the region
 * @flags: enum mxedv_sync_mr_flags, at least one
 *
 * Needed only on a device with MXEDV_DEVICE_ATTR_NONCOHERENT, and for regions
 * of DMA-BUFs. On any other region, the call orders accesses to memory.
 *
 * Return: 0 or a positive errno: EINVAL for flags or a range that is not valid,
 * EOPNOTSUPP if the device is not an mxe device or the kernel module is too
 * old, or an error of the exporter of a DMA-BUF.
 */
int mxedv_sync_mr(struct ibv_mr *mr, uint64_t addr, uint64_t length,
		  uint32_t flags);

/**
 * mxedv_take_last_mr() - Get the region that this thread registered last, for
 * programs whose regions belong to another library, such as uDAPL.
 *
 * Return: the region that the last ibv_reg_mr() of this thread on an mxe device
 * returned, or NULL if there was none since the last call of this function. The
 * region may have been deregistered since.
 */
struct ibv_mr *mxedv_take_last_mr(void);

enum mxedv_dct_events {
	/* IBV_EVENT_QP_ACCESS_ERR at the next request with a wrong key. */
	MXEDV_DCT_KEY_VIOLATION		= 1 << 0,
};

struct mxedv_dct_attr {
	uint64_t comp_mask;		/* out: 0 */
	/* Requests with a wrong access key since the target was created. */
	uint64_t key_violations;
	enum ibv_qp_state state;
	uint32_t num_sessions;		/* open */
	uint32_t num_initiators;	/* known, also those without a session */
	uint32_t armed_events;		/* enum mxedv_dct_events */
};

/**
 * mxedv_query_dct() - Query a DC target.
 * @qp: DC target of an mxe device
 * @attr: filled in; fields that the library does not know are zeroed
 * @inlen: sizeof(struct mxedv_dct_attr) of the caller, in bytes
 *
 * Return: 0 or a positive errno: EINVAL if @qp is not a DC target, EOPNOTSUPP
 * if the device is not an mxe device or the kernel module is too old.
 */
int mxedv_query_dct(struct ibv_qp *qp, struct mxedv_dct_attr *attr,
		    uint32_t inlen);

/**
 * mxedv_arm_dct() - Arm a DC target to report the next event of a kind.
 * @qp: DC target of an mxe device
 * @events: enum mxedv_dct_events, at least one
 *
 * Each call causes one event at most. A second call before the event has no
 * effect.
 *
 * Return: as mxedv_query_dct(), and EINVAL if @events is 0 or has an unknown
 * bit.
 */
int mxedv_arm_dct(struct ibv_qp *qp, uint32_t events);

#ifdef __cplusplus
}
#endif

#endif /* _INFINIBAND_MXEDV_H */
