/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-2-Clause) */
/*
 * User ABI of the mxe driver: the udata structures of the verbs, and the layout
 * of the rings that a process shares with the kernel.
 *
 * Rules of this file:
 *
 *  - Only fixed-width types are used. The size of each structure is a multiple
 *    of 8 bytes. - The kernel refuses unknown flags and non-zero reserved
 *    fields with EINVAL, including those in the part of a longer structure that
 *    it does not know. - The kernel copies as much of a response as both sides
 *    know. - Fields are in host byte order unless they are typed __be*. - The
 *    kernel trusts nothing in a ring. Each field is written by the process, or
 *    is a copy for the process that the kernel never reads.
 */
#ifndef MXE_ABI_USER_H
#define MXE_ABI_USER_H

#include <linux/ioctl.h>
#include <linux/types.h>

/* uverbs ABI version of the device (sysfs attribute abi_version). */
#define MXE_UVERBS_ABI_VERSION 1

/*
 * The driver id: the bytes 'm' 'x' 'e' '1' as a big-endian number. It is not in
 * enum rdma_driver_id, which lists the in-tree drivers, but the ABI carries
 * driver ids as 32-bit numbers.
 */
#define MXE_DRIVER_ID 0x6d786531

/*
 * The vendor id in ibv_query_device() and in the ECE of CM messages, where
 * other vendors have their IEEE OUI. The project has no OUI. The bytes 'm' 'x'
 * 'e' cannot collide with one, because the lowest bit of the first byte is set.
 * In addresses that is the group bit, which is clear in every OUI.
 */
#define MXE_VENDOR_ID 0x6d7865

/* ---- rings ------------------------------------------------------------- */

/*
 * A ring is an area for mmap(). It consists of this header and `entries`
 * entries at intervals of `stride` bytes, where `entries` is a power of two.
 * Indices count entries and wrap at 2^32. The position of an entry is index &
 * (entries - 1).
 *
 * In work queues the process is the producer and the kernel the consumer. In
 * CQs it is the other way round. The producer publishes an entry by a
 * store-release to `producer`. The consumer frees it by a store-release to
 * `consumer`. An entry of a send queue is free after its work request has
 * completed. An entry of a receive queue is free as soon as the kernel has
 * taken the request for a message.
 */
struct mxe_ring_hdr {
	__u32 producer;
	__u32 reserved0[15];
	__u32 consumer;
	/*
	 * enum mxe_ring_flags, in receive queues only, written by the kernel.
	 * The process reads it after a full memory barrier that follows its
	 * store to `producer`.
	 */
	__u32 flags;
	/*
	 * In the ring of tag operations only, written by the kernel: how many
	 * tags have left the list since the SRQ was created, modulo 2^32.  A
	 * tag that an ADD could not add counts, too.
	 */
	__u32 tags_freed;
	__u32 reserved1[13];
};

enum mxe_ring_flags {
	/*
	 * The process must ring the doorbell for this receive queue.  Set when
	 * the QP is in the error state.  Send queues need the doorbell in any
	 * case.
	 */
	MXE_RING_NEED_DOORBELL = 1 << 0,
};

struct mxe_sge {
	__aligned_u64 addr;
	__u32 length;
	__u32 lkey;
};

/* Flags of a send WQE.  The first four have the values of IBV_SEND_*. */
enum mxe_send_wqe_flags {
	MXE_SEND_FENCE		= 1 << 0,
	MXE_SEND_SIGNALED	= 1 << 1,
	MXE_SEND_SOLICITED	= 1 << 2,
	MXE_SEND_INLINE		= 1 << 3,
	/* The entry ends with a struct mxe_dc_dest.  DC initiators only. */
	MXE_SEND_DC		= 1 << 5,
	/* Returned as MXE_CQE_USER in the completion, otherwise not used. */
	MXE_SEND_USER		= 1 << 7,
};

/* Opcodes that are part of enum ib_uverbs_wr_opcode since Linux 6.2. */
enum mxe_send_wqe_opcode {
	MXE_WR_FLUSH		= 14,
	MXE_WR_ATOMIC_WRITE	= 15,
};

/*
 * A send WQE. It is followed by num_sge struct mxe_sge or, with MXE_SEND_INLINE
 * and num_sge 0, by inline_len bytes of data.
 *
 * The operands of a masked atomic of 16 or 32 bytes are located between this
 * structure and the struct mxe_sge: compare_add, swap, compare_add_mask,
 * swap_mask. Each has 1 << log_arg_sz bytes, as words of 8 bytes, the least
 * significant first.
 */
struct mxe_send_wqe {
	__aligned_u64 wr_id;
	__u8 opcode;		/* enum ib_uverbs_wr_opcode, or above */
	__u8 flags;		/* enum mxe_send_wqe_flags */
	__u8 num_sge;
	__u8 log_arg_sz;	/* masked atomics: log2 of bytes */
	__u32 inline_len;	/* bytes */
	__aligned_u64 remote_addr;
	__u32 rkey;
	union {
		__be32 imm_data;
		__u32 invalidate_rkey;
	};
	union {
		/*
		 * Atomics of up to 8 bytes, with the meaning of struct
		 * ib_atomic_wr. compare_add is the value to compare or to add.
		 * compare_add_mask has the field boundaries of a masked
		 * fetch-and-add. The bits above operands of less than 8 bytes
		 * are 0.
		 */
		struct {
			__aligned_u64 compare_add;
			__aligned_u64 swap;
			__aligned_u64 compare_add_mask;
			__aligned_u64 swap_mask;
		} atomic;
		/*
		 * BIND_MW.  rkey is the new key of the window.  Its upper 24
		 * bits identify the window.  The process chooses the others.
		 */
		struct {
			__aligned_u64 addr;
			__aligned_u64 length;	/* bytes; 0 unbinds type 1 */
			__u32 mr_lkey;
			__u32 access;	/* enum ib_uverbs_access_flags */
			__aligned_u64 reserved1;
		} bind;
		/* Destination of a UD QP. */
		struct {
			__u32 ah_num;	/* struct mxe_create_ah_resp */
			__u32 remote_qpn;
			__u32 remote_qkey;
			__u32 reserved1;
			__aligned_u64 reserved[2];
		} ud;
		/* FLUSH of the memory at remote_addr. */
		struct {
			__u32 length;	/* bytes */
			__u8 type;	/* enum ib_placement_type */
			__u8 level;	/* enum ib_selectivity_level */
			__u16 reserved1;
			__aligned_u64 reserved[3];
		} flush;
		/* ATOMIC WRITE without SGE. */
		struct {
			__aligned_u64 data;	/* to store, in memory order */
			__aligned_u64 reserved[3];
		} atomic_write;
		__aligned_u64 reserved[4];
	};
	__u32 remote_srqn;	/* XRC initiators: number of the target SRQ */
	__u32 reserved1;
};

/*
 * The target of a request of a DC initiator, which has MXE_SEND_DC.  It is the
 * end of the entry of the send ring, which is stride bytes long.
 */
struct mxe_dc_dest {
	__u32 ah_num;		/* struct mxe_create_ah_resp */
	__u32 dct_num;
	__aligned_u64 dct_key;
};

/* A receive WQE.  It is followed by num_sge struct mxe_sge. */
struct mxe_recv_wqe {
	__aligned_u64 wr_id;
	__u32 num_sge;
	__u32 reserved;
};

/*
 * A tag operation of a tag-matching SRQ.  It is followed by num_sge struct
 * mxe_sge, which only an ADD has.
 */
struct mxe_tm_wqe {
	__aligned_u64 wr_id;	/* of the operation */
	__aligned_u64 recv_wr_id;	/* ADD: of the message that matches */
	__aligned_u64 tag;
	__aligned_u64 mask;
	/* The process names a tag by the handle that it chose in the ADD. */
	__u32 handle;
	__u32 unexpected_cnt;	/* with MXE_TM_OP_SYNC */
	__u8 opcode;		/* enum mxe_tm_opcode */
	__u8 flags;		/* enum mxe_tm_op_flags */
	__u8 num_sge;
	__u8 reserved[5];
};

/*
 * Tag operations that the kernel takes from the ring when a message arrives.
 * The process rings the doorbell for more, and for those whose completions it
 * waits for.
 */
#define MXE_TM_MAX_UNRUNG	8

/* The values of IBV_WR_TAG_*. */
enum mxe_tm_opcode {
	MXE_TM_ADD	= 0,
	MXE_TM_DEL	= 1,
	MXE_TM_SYNC	= 2,
};

/* The values of IBV_OPS_*. */
enum mxe_tm_op_flags {
	MXE_TM_OP_SIGNALED	= 1 << 0,
	/* unexpected_cnt is valid.  A MXE_TM_SYNC always has it. */
	MXE_TM_OP_SYNC		= 1 << 1,
};

/* Statuses that enum ib_wc_status lacks, with the values of IBV_WC_*. */
enum mxe_wc_status {
	MXE_WC_TM_ERR			= 22,
	MXE_WC_TM_RNDV_INCOMPLETE	= 23,
};

enum mxe_wc_opcode {
	MXE_WC_SEND			= 0,
	MXE_WC_RDMA_WRITE		= 1,
	MXE_WC_RDMA_READ		= 2,
	MXE_WC_COMP_SWAP		= 3,
	MXE_WC_FETCH_ADD		= 4,
	MXE_WC_BIND_MW			= 5,
	MXE_WC_LOCAL_INV		= 6,
	MXE_WC_FLUSH			= 8,
	MXE_WC_ATOMIC_WRITE		= 9,
	MXE_WC_MASKED_COMP_SWAP		= 0x10,
	MXE_WC_MASKED_FETCH_ADD		= 0x11,
	MXE_WC_REG_MR			= 0x20,	/* kernel consumers only */
	MXE_WC_RECV			= 0x80,
	MXE_WC_RECV_RDMA_WITH_IMM	= 0x81,
	/* Tag-matching SRQs, with the values of IBV_WC_TM_*. */
	MXE_WC_TM_ADD			= 0x82,
	MXE_WC_TM_DEL			= 0x83,
	MXE_WC_TM_SYNC			= 0x84,
	MXE_WC_TM_RECV			= 0x85,
	MXE_WC_TM_NO_TAG		= 0x86,
};

enum mxe_cqe_flags {
	MXE_CQE_GRH		= 1 << 0,
	MXE_CQE_WITH_IMM	= 1 << 1,
	MXE_CQE_WITH_INV	= 1 << 2,
	/* With MXE_CQE_GRH: the GRH area holds an IPv4 header. */
	MXE_CQE_IPV4		= 1 << 3,
	MXE_CQE_USER		= 1 << 7,
	/* tm_tag and tm_priv are valid. */
	MXE_CQE_TM_INFO		= 1 << 8,
	/* With the meaning of IBV_WC_TM_*. */
	MXE_CQE_TM_MATCH	= 1 << 9,
	MXE_CQE_TM_DATA_VALID	= 1 << 10,
	MXE_CQE_TM_SYNC_REQ	= 1 << 11,
	/*
	 * inline_data has the byte_len bytes of the message. The process copies
	 * them to recv_addr before it uses the receive buffer.
	 */
	MXE_CQE_INLINE		= 1 << 12,
};

/* Bytes of a message that a completion can contain. */
#define MXE_CQE_INLINE_SIZE 16

struct mxe_cqe {
	__aligned_u64 wr_id;
	__u32 status;		/* enum ib_wc_status */
	__u16 opcode;		/* enum mxe_wc_opcode; valid if status is 0 */
	__u16 flags;		/* enum mxe_cqe_flags */
	__u32 byte_len;
	__u32 vendor_err;
	__u32 qp_num;
	__u32 src_qp;
	union {
		__be32 imm_data;
		__u32 invalidated_rkey;
	};
	__u16 pkey_index;
	__u16 reserved0;
	union {
		/* ns, CLOCK_MONOTONIC; undefined if not requested */
		__aligned_u64 timestamp;
		/*
		 * MXE_CQE_INLINE: address in the memory of the process.  A CQ
		 * with timestamps has no inline data.
		 */
		__aligned_u64 recv_addr;
	};
	union {
		struct {
			/* Of the message, in host byte order. */
			__aligned_u64 tm_tag;
			__u32 tm_priv;	/* app_ctx */
			__u32 reserved1;
		};
		__u8 inline_data[MXE_CQE_INLINE_SIZE];
	};
};

/* ---- doorbell ---------------------------------------------------------- */

/*
 * The argument of write() on the doorbell file is an array of these. The kernel
 * processes the queues that they name, on QPs of the file's user context, and
 * returns the number of bytes processed. It stops at an invalid record. If that
 * is the first one, it returns EINVAL (unknown bit, odd size) or ENOENT (the
 * context has no such QP).
 */
struct mxe_doorbell {
	__u32 qp_num;		/* with MXE_DOORBELL_TM: srq_num */
	__u32 queues;		/* enum mxe_doorbell_queues */
};

enum mxe_doorbell_queues {
	MXE_DOORBELL_SEND	= 1 << 0,
	MXE_DOORBELL_RECV	= 1 << 1,
	/* The tag operations of an SRQ.  Not together with another bit. */
	MXE_DOORBELL_TM		= 1 << 2,
};

/* ---- udata of the verbs ------------------------------------------------ */

struct mxe_alloc_ucontext_req {
	__u32 flags;		/* must be 0 */
	__u32 reserved;
};

enum mxe_alloc_ucontext_comp_mask {
	/* The device has MXE_QP_CREATE_INLINE_RECV. */
	MXE_ALLOC_UCONTEXT_INLINE_RECV = 1 << 0,
	/* The device has MXE_QP_CREATE_ONE_MAPPING. */
	MXE_ALLOC_UCONTEXT_ONE_MAPPING = 1 << 1,
	/* The device has MXE_METHOD_QP_RESIZE. */
	MXE_ALLOC_UCONTEXT_RESIZE_QP = 1 << 2,
};

struct mxe_alloc_ucontext_resp {
	__u32 comp_mask;	/* enum mxe_alloc_ucontext_comp_mask */
	__u32 max_inline;	/* bytes in a send WQE */
};

/*
 * A ring, for mmap() on the uverbs file.  With mmap_size 0, a receive queue is
 * in the mapping of the send queue, mmap_offset bytes from its beginning.
 */
struct mxe_ring_info {
	__aligned_u64 mmap_offset;
	__aligned_u64 mmap_size;	/* bytes */
	__u32 entries;		/* power of two */
	__u32 stride;		/* bytes from entry to entry */
	__u32 max_sge;
	__u32 max_inline;	/* bytes; send queues only */
};

struct mxe_create_ah_resp {
	__u32 ah_num;		/* number in WQEs of the same PD */
	__u32 reserved;
};

struct mxe_create_cq_req {
	__u32 flags;		/* must be 0 */
	__u32 reserved;
};

struct mxe_create_cq_resp {
	struct mxe_ring_info ring;
};

/*
 * The new ring contains the completions that were not polled from the old one,
 * at the same indices. The kernel writes all later completions to the new ring.
 */
struct mxe_resize_cq_resp {
	struct mxe_ring_info ring;
};

struct mxe_create_srq_req {
	__u32 flags;		/* must be 0 */
	/* Operations that fit in the ring of a tag-matching SRQ, else 0. */
	__u32 max_tm_ops;
};

/*
 * The ring is that of a receive queue.  It needs no doorbell.  The other
 * members are those of a tag-matching SRQ.  Its operations are executed when
 * the doorbell is rung for srq_num.
 */
struct mxe_create_srq_resp {
	struct mxe_ring_info ring;
	struct mxe_ring_info tm_ops;
	__u32 srq_num;
	__u32 max_num_tags;
};

enum mxe_create_qp_flags {
	/* The results of atomics are big-endian. */
	MXE_QP_CREATE_ATOMIC_BE_REPLY = 1 << 0,
	/*
	 * Completions of receives may have MXE_CQE_INLINE.  RC and UC only,
	 * without a tag-matching SRQ.
	 */
	MXE_QP_CREATE_INLINE_RECV = 1 << 1,
	/* A DC target.  The QP has type IB_UVERBS_QPT_DRIVER and an SRQ. */
	MXE_QP_CREATE_DCT = 1 << 2,
	/* A DC initiator.  The QP has type IB_UVERBS_QPT_DRIVER. */
	MXE_QP_CREATE_DCI = 1 << 3,
	/* Both rings of the QP may be in one mapping. */
	MXE_QP_CREATE_ONE_MAPPING = 1 << 4,
};

struct mxe_create_qp_req {
	__u32 flags;		/* enum mxe_create_qp_flags */
	__u32 max_atomic_arg;	/* bytes: 1, 2, 4, 8, 16, 32, or 0 for 8 */
	__aligned_u64 dct_key;	/* of a DC target, else 0 */
};

/* Also the response of MXE_METHOD_QP_RESIZE. */
struct mxe_create_qp_resp {
	struct mxe_ring_info sq;
	struct mxe_ring_info rq;	/* entries 0: no receive queue */
};

#endif /* MXE_ABI_USER_H */
