/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-2-Clause) */
/*
 * Objects, methods and attributes that mxe adds to the uverbs ioctl ABI.
 * Numbers never change; new ones are added at the end.
 */
#ifndef MXE_USER_IOCTL_CMDS_H
#define MXE_USER_IOCTL_CMDS_H

#include <linux/types.h>
#include <rdma/ib_user_ioctl_cmds.h>

enum mxe_objects {
	MXE_OBJECT_DOORBELL = (1U << UVERBS_ID_NS_SHIFT),
};

/*
 * The doorbell is a file of a user context. Closing the last descriptor
 * destroys the object. See struct mxe_doorbell for write().
 */
enum mxe_doorbell_methods {
	MXE_METHOD_DOORBELL_ALLOC = (1U << UVERBS_ID_NS_SHIFT),
};

enum mxe_doorbell_alloc_attrs {
	MXE_ATTR_DOORBELL_ALLOC_FD = (1U << UVERBS_ID_NS_SHIFT),
};

/* Methods added to UVERBS_OBJECT_DEVICE. */
enum mxe_device_methods {
	MXE_METHOD_DEVICE_QUERY_ATOMICS = (1U << UVERBS_ID_NS_SHIFT),
};

enum mxe_device_query_atomics_attrs {
	/* out: struct mxe_atomic_caps; the rest of a longer buffer is zeroed */
	MXE_ATTR_DEVICE_QUERY_ATOMICS_CAPS = (1U << UVERBS_ID_NS_SHIFT),
};

enum mxe_masked_atomic_ops {
	MXE_MASKED_ATOMIC_CMP_SWAP	= 1 << 0,
	MXE_MASKED_ATOMIC_FETCH_ADD	= 1 << 1,
};

enum mxe_atomic_reply_modes {
	/* Host byte order, on QPs without MXE_QP_CREATE_ATOMIC_BE_REPLY. */
	MXE_ATOMIC_REPLY_HOST	= 1 << 0,
	/* Big-endian, on QPs with MXE_QP_CREATE_ATOMIC_BE_REPLY. */
	MXE_ATOMIC_REPLY_BE	= 1 << 1,
};

enum mxe_atomic_caps_comp_mask {
	/*
	 * Regions with remote rights are not coherent: a peer's accesses and
	 * those of the process need MXE_METHOD_MR_SYNC to see each other.
	 */
	MXE_ATOMIC_CAPS_NONCOHERENT = 1 << 0,
};

struct mxe_atomic_caps {
	__u32 comp_mask;		/* enum mxe_atomic_caps_comp_mask */
	__u32 atomic_cap;		/* enum ib_atomic_cap, standard */
	__u32 masked_atomic_cap;	/* enum ib_atomic_cap, masked */
	__u32 masked_ops;		/* enum mxe_masked_atomic_ops */
	/* Bit n: operands of 2^n bytes are supported. */
	__aligned_u64 log_arg_sizes;
	/*
	 * Sizes whose result is big-endian on every QP. A result of up to 8
	 * bytes is one word. A wider one consists of words of 8 bytes, the
	 * least significant first.
	 */
	__aligned_u64 log_arg_sizes_be;
	__u32 max_fa_bit_boundary;	/* maximum bits of a field */
	__u32 reply_modes;		/* enum mxe_atomic_reply_modes */
};

/* Attributes added to UVERBS_METHOD_DM_ALLOC. */
enum mxe_alloc_dm_attrs {
	/* out: struct mxe_alloc_dm_resp */
	MXE_ATTR_ALLOC_DM_RESP = (1U << UVERBS_ID_NS_SHIFT),
};

/* Device memory, for mmap() on the uverbs file. */
struct mxe_alloc_dm_resp {
	__aligned_u64 mmap_offset;
	__aligned_u64 mmap_size;	/* bytes, whole pages */
};

/* Methods added to UVERBS_OBJECT_DM. */
enum mxe_dm_methods {
	MXE_METHOD_DM_QUERY = (1U << UVERBS_ID_NS_SHIFT),
};

enum mxe_query_dm_attrs {
	MXE_ATTR_QUERY_DM_HANDLE = (1U << UVERBS_ID_NS_SHIFT),
	/* out: struct mxe_query_dm_resp, padded with zeroes */
	MXE_ATTR_QUERY_DM_RESP,
};

struct mxe_query_dm_resp {
	__aligned_u64 mmap_offset;
	__aligned_u64 mmap_size;	/* bytes, whole pages */
	__aligned_u64 length;		/* bytes, as requested */
};

/* Methods added to UVERBS_OBJECT_MR. */
enum mxe_mr_methods {
	MXE_METHOD_MR_SYNC = (1U << UVERBS_ID_NS_SHIFT),
};

enum mxe_sync_mr_attrs {
	MXE_ATTR_SYNC_MR_HANDLE = (1U << UVERBS_ID_NS_SHIFT),
	/* in: __u64, first address, as peers and SGEs use it */
	MXE_ATTR_SYNC_MR_ADDR,
	/* in: __u64, bytes, which must be inside of the region */
	MXE_ATTR_SYNC_MR_LENGTH,
	/* in: enum mxe_sync_mr_flags, at least one */
	MXE_ATTR_SYNC_MR_FLAGS,
};

enum mxe_sync_mr_flags {
	/* Make what peers have written visible to the process. */
	MXE_SYNC_MR_FOR_CPU	= 1 << 0,
	/* Make what the process has written visible to peers. */
	MXE_SYNC_MR_FOR_DEVICE	= 1 << 1,
};

/* Methods added to UVERBS_OBJECT_QP. The first two are for DC targets. */
enum mxe_qp_methods {
	MXE_METHOD_DCT_QUERY = (1U << UVERBS_ID_NS_SHIFT),
	MXE_METHOD_DCT_ARM,
	MXE_METHOD_QP_RESIZE,
};

enum mxe_query_dct_attrs {
	MXE_ATTR_QUERY_DCT_HANDLE = (1U << UVERBS_ID_NS_SHIFT),
	/* out: struct mxe_query_dct_resp, padded with zeroes */
	MXE_ATTR_QUERY_DCT_RESP,
};

struct mxe_query_dct_resp {
	/* Requests with a wrong access key since the target was created. */
	__aligned_u64 key_violations;
	__u32 state;			/* enum ib_qp_state */
	__u32 num_sessions;		/* open */
	__u32 num_initiators;		/* known, also those without a session */
	__u32 armed_events;		/* enum mxe_arm_dct_events */
};

enum mxe_arm_dct_attrs {
	MXE_ATTR_ARM_DCT_HANDLE = (1U << UVERBS_ID_NS_SHIFT),
	/* in: enum mxe_arm_dct_events, at least one */
	MXE_ATTR_ARM_DCT_EVENTS,
};

enum mxe_arm_dct_events {
	/* IB_EVENT_QP_ACCESS_ERR at the next request with a wrong key. */
	MXE_ARM_DCT_KEY_VIOLATION	= 1 << 0,
};

enum mxe_resize_qp_attrs {
	MXE_ATTR_RESIZE_QP_HANDLE = (1U << UVERBS_ID_NS_SHIFT),
	/* in: __u32, requests that fit in the send queue */
	MXE_ATTR_RESIZE_QP_MAX_SEND_WR,
	/* in: __u32, requests that fit in the receive queue; 0: it has none */
	MXE_ATTR_RESIZE_QP_MAX_RECV_WR,
	/*
	 * out: struct mxe_create_qp_resp of mxe-abi.h, the rings that replace
	 * those of the QP. They contain the requests that the kernel has not
	 * taken from the old ones, at the same indices.
	 */
	MXE_ATTR_RESIZE_QP_RESP,
};

#endif /* MXE_USER_IOCTL_CMDS_H */
