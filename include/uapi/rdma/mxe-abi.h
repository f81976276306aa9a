/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-2-Clause) */
/*
 * User ABI of the mxe driver: the udata structures of the verbs and the
 * layout of the rings that a process shares with the kernel.
 *
 * Rules of this file
 *  - Only fixed-width types; every structure is a multiple of 8 bytes.
 *  - The kernel refuses unknown flags and non-zero reserved fields (EINVAL),
 *    also in the part of a longer structure that it does not know.
 *  - A response is copied out as far as both sides know it.
 *  - Fields of rings are in host byte order unless typed __be*.
 *  - Everything in a ring is written by a process that the kernel does not
 *    trust, or is a copy that the kernel never reads back.
 */
#ifndef MXE_ABI_USER_H
#define MXE_ABI_USER_H

#include <linux/ioctl.h>
#include <linux/types.h>

/* uverbs ABI version of the device (sysfs abi_version). */
#define MXE_UVERBS_ABI_VERSION 1

/*
 * The driver id, shared by kernel and provider: the bytes 'm' 'x' 'e' '1' read
 * as a big-endian number.  Not in enum rdma_driver_id, which lists drivers of
 * the kernel tree; the ABI carries ids as 32-bit numbers.
 */
#define MXE_DRIVER_ID 0x6d786531

/*
 * The vendor, for ibv_query_device() and, as ECE, in messages of the connection
 * manager, which have room for an IEEE OUI.  The project has none: these are the
 * bytes 'm' 'x' 'e'.  Nobody else has it as one, for the lowest bit of its first
 * byte is set, which an OUI has clear: it is the group bit of addresses.
 */
#define MXE_VENDOR_ID 0x6d7865

/* ---- rings ------------------------------------------------------------- */

/*
 * Every ring is one mmap()able area: this header, then the entries, each
 * `stride` bytes apart, `entries` (a power of two) of them.  Indices count
 * entries and run freely through 2^32; an entry's place is index & (entries-1).
 *
 * Work queues: the process produces, the kernel consumes.  Completion queues:
 * the reverse.  The producer publishes an entry with a store-release of
 * `producer`; the consumer frees it with a store-release of `consumer`.  An
 * entry of a send queue is free when its work request has completed, one of a
 * receive queue when its message has been taken up.
 */
struct mxe_ring_hdr {
	__u32 producer;
	__u32 reserved0[15];
	__u32 consumer;
	/*
	 * Work queues only, written by the kernel: enum mxe_ring_flags.  Read it
	 * after a full memory barrier that follows the store to `producer`.
	 */
	__u32 flags;
	__u32 reserved1[14];
};

enum mxe_ring_flags {
	/*
	 * Ring the doorbell for this queue also.  Receive queues: the queue pair
	 * is in error.  Send queues, of MXE_QP_CREATE_POLLED: no thread polls it
	 * at present, or the same; others are rung for whatever it says.
	 */
	MXE_RING_NEED_DOORBELL = 1 << 0,
};

struct mxe_sge {
	__aligned_u64 addr;
	__u32 length;
	__u32 lkey;
};

/*
 * Flags of a send work request; the first four have the values of IBV_SEND_*.
 */
enum mxe_send_wqe_flags {
	MXE_SEND_FENCE		= 1 << 0,
	MXE_SEND_SIGNALED	= 1 << 1,
	MXE_SEND_SOLICITED	= 1 << 2,
	MXE_SEND_INLINE		= 1 << 3,
	/* Opaque to the kernel: returned as MXE_CQE_USER in the completion. */
	MXE_SEND_USER		= 1 << 7,
};

/* Opcodes that enum ib_uverbs_wr_opcode has since Linux 6.2. */
enum mxe_send_wqe_opcode {
	MXE_WR_FLUSH		= 14,
	MXE_WR_ATOMIC_WRITE	= 15,
};

/*
 * A send work request.  Behind it stand num_sge struct mxe_sge or, with
 * MXE_SEND_INLINE, inline_len bytes of data (num_sge is then 0).
 *
 * A masked atomic of 16 or 32 bytes has its operands between this and the
 * struct mxe_sge: compare_add, swap, compare_add_mask, swap_mask, each of
 * 1 << log_arg_sz bytes, as words of 8 bytes, the least significant first.
 */
struct mxe_send_wqe {
	__aligned_u64 wr_id;
	__u8 opcode;		/* enum ib_uverbs_wr_opcode, or as above */
	__u8 flags;		/* enum mxe_send_wqe_flags */
	__u8 num_sge;
	__u8 log_arg_sz;	/* masked atomics: 2^n bytes, 2 to 5; others: 0 */
	__u32 inline_len;	/* bytes */
	__aligned_u64 remote_addr;
	__u32 rkey;
	union {
		__be32 imm_data;
		__u32 invalidate_rkey;
	};
	union {
		/*
		 * Atomics of up to 8 bytes; the upper halves are 0 with 4.
		 * compare_add is the value compared or the value added; a
		 * masked fetch-and-add has its field boundaries in
		 * compare_add_mask.  As struct ib_atomic_wr of the kernel.
		 */
		struct {
			__aligned_u64 compare_add;
			__aligned_u64 swap;
			__aligned_u64 compare_add_mask;
			__aligned_u64 swap_mask;
		} atomic;
		/*
		 * BIND_MW.  rkey is the window's new key, of which the lower 8
		 * bits are the process's choice.
		 */
		struct {
			__aligned_u64 addr;
			__aligned_u64 length;	/* bytes; 0: unbind, type 1 */
			__u32 mr_lkey;
			__u32 access;	/* enum ib_uverbs_access_flags */
			__aligned_u64 reserved1;
		} bind;
		/* UD queue pairs: where to. */
		struct {
			__u32 ah_num;	/* struct mxe_create_ah_resp */
			__u32 remote_qpn;
			__u32 remote_qkey;
			__u32 reserved1;
			__aligned_u64 reserved[2];
		} ud;
		/*
		 * FLUSH of what is at remote_addr: enum
		 * ib_placement_type, enum ib_selectivity_level.
		 */
		struct {
			__u32 length;	/* bytes */
			__u8 type;
			__u8 level;
			__u16 reserved1;
			__aligned_u64 reserved[3];
		} flush;
		/* ATOMIC WRITE: what to store, unless num_sge. */
		struct {
			__aligned_u64 data;	/* as in memory */
			__aligned_u64 reserved[3];
		} atomic_write;
		__aligned_u64 reserved[4];
	};
	__u32 remote_srqn;	/* XRC initiators: for which receive queue */
	__u32 reserved1;
};

/* A receive work request; num_sge struct mxe_sge stand behind it. */
struct mxe_recv_wqe {
	__aligned_u64 wr_id;
	__u32 num_sge;
	__u32 reserved;
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
};

enum mxe_cqe_flags {
	MXE_CQE_GRH		= 1 << 0,
	MXE_CQE_WITH_IMM	= 1 << 1,
	MXE_CQE_WITH_INV	= 1 << 2,
	/* With MXE_CQE_GRH: an IPv4 header, and not an IPv6 one. */
	MXE_CQE_IPV4		= 1 << 3,
	MXE_CQE_USER		= 1 << 7,
};

struct mxe_cqe {
	__aligned_u64 wr_id;
	__u32 status;		/* enum ib_wc_status, the same as enum ibv_wc_status */
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
	__aligned_u64 timestamp; /* ns, CLOCK_MONOTONIC; 0: not asked for */
	__aligned_u64 reserved1[2];
};

/* ---- doorbell ---------------------------------------------------------- */

/*
 * write() on the doorbell file takes an array of these.  The kernel looks at
 * the named queues of queue pairs that belong to the file's user context.  It
 * returns the number of bytes rung; a bad record ends the call there, with
 * EINVAL (unknown bit, odd size) or ENOENT (no such queue pair in this
 * context) if it was the first.
 */
struct mxe_doorbell {
	__u32 qp_num;
	__u32 queues;		/* enum mxe_doorbell_queues */
};

enum mxe_doorbell_queues {
	MXE_DOORBELL_SEND	= 1 << 0,
	MXE_DOORBELL_RECV	= 1 << 1,
};

/* ---- polling ----------------------------------------------------------- */

/*
 * ioctl() of the poller's file.  MXE_IOC_POLL_RUN: the calling thread looks at
 * the send queues of MXE_QP_CREATE_POLLED of the file's user context, and
 * sends, until somebody calls MXE_IOC_POLL_STOP.  When it has found nothing for
 * idle_us it sleeps until a doorbell is rung for one of them.
 */
struct mxe_poll_run {
	__u32 idle_us;
	__u32 flags;		/* none yet */
	__aligned_u64 reserved;
};

/* The type is that of rdma/rdma_user_ioctl_cmds.h, the numbers are unused. */
#define MXE_IOC_POLL_RUN	_IOW(0x1b, 0x80, struct mxe_poll_run)
#define MXE_IOC_POLL_STOP	_IO(0x1b, 0x81)

/* ---- udata of the verbs ------------------------------------------------ */

struct mxe_alloc_ucontext_req {
	__u32 flags;		/* none yet */
	__u32 reserved;
};

struct mxe_alloc_ucontext_resp {
	__u32 comp_mask;
	__u32 max_inline;	/* bytes, per send work request */
};

/* Where to mmap() a ring: on the uverbs file, at mmap_offset. */
struct mxe_ring_info {
	__aligned_u64 mmap_offset;
	__aligned_u64 mmap_size;	/* bytes */
	__u32 entries;		/* power of two, at least what was asked for */
	__u32 stride;		/* bytes from entry to entry */
	__u32 max_sge;
	__u32 max_inline;	/* bytes; send queues */
};

struct mxe_create_ah_resp {
	__u32 ah_num;		/* names it in work requests of its domain */
	__u32 reserved;
};

struct mxe_create_cq_req {
	__u32 flags;		/* none yet */
	__u32 reserved;
};

struct mxe_create_cq_resp {
	struct mxe_ring_info ring;
};

/*
 * The new ring has what was not polled of the old one, at the same indices,
 * and from now on takes the completions.
 */
struct mxe_resize_cq_resp {
	struct mxe_ring_info ring;
};

struct mxe_create_srq_req {
	__u32 flags;		/* none yet */
	__u32 reserved;
};

/* The ring is that of a receive queue; nothing is rung for it. */
struct mxe_create_srq_resp {
	struct mxe_ring_info ring;
};

enum mxe_create_qp_flags {
	/* Deliver the results of atomics in big-endian. */
	MXE_QP_CREATE_ATOMIC_BE_REPLY = 1 << 0,
	/* A thread may poll the send queue: see MXE_RING_NEED_DOORBELL. */
	MXE_QP_CREATE_POLLED = 1 << 1,
};

struct mxe_create_qp_req {
	__u32 flags;		/* enum mxe_create_qp_flags */
	__u32 max_atomic_arg;	/* bytes: 0 (as 8), 4, 8, 16 or 32 */
	__aligned_u64 reserved;
};

struct mxe_create_qp_resp {
	struct mxe_ring_info sq;
	struct mxe_ring_info rq;	/* entries 0: no receive queue */
};

#endif /* MXE_ABI_USER_H */
