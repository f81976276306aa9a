/* SPDX-License-Identifier: GPL-2.0 */
/*
 * RoCEv2 packets from the base transport header (BTH) to the ICRC. pkt.c
 * parses, checks and builds them. It knows neither QPs nor devices.
 * Documentation/wire-format.rst specifies the format of masked atomics.
 */
#ifndef MXE_PKT_H
#define MXE_PKT_H

#include <linux/build_bug.h>
#include <linux/string.h>
#include <linux/types.h>
#include <rdma/ib_pack.h>

#include "atomic.h"
#include "icrc.h"

#define MXE_BTH_SE		BIT(7)
#define MXE_BTH_MIGREQ		BIT(6)
#define MXE_BTH_PAD_SHIFT	4
#define MXE_BTH_PAD_MASK	(3 << MXE_BTH_PAD_SHIFT)
#define MXE_BTH_TVER_MASK	0x0f
#define MXE_BTH_QPN_MASK	0xffffffU
#define MXE_XRC_SRQN_MASK	0xffffffU
#define MXE_BTH_BECN		BIT(30)
#define MXE_BTH_ACK_REQ		BIT(31)

/* Opcodes of the manufacturer-specific range that carry masked atomics. */
#define MXE_OPCODE_RC_MASKED_CMP_SWAP	0xd3
#define MXE_OPCODE_RC_MASKED_FETCH_ADD	0xd4
#define MXE_OPCODE_XRC_MASKED_CMP_SWAP	0xd5
#define MXE_OPCODE_XRC_MASKED_FETCH_ADD	0xd6

/*
 * Memory placement extensions, IBTA annex A19. Linux 6.1 does not name them.
 */
#define MXE_OPCODE_RC_FLUSH		0x1c
#define MXE_OPCODE_RC_ATOMIC_WRITE	0x1d
#define MXE_ATOMIC_WRITE_SIZE		8

/*
 * Congestion notification packet, annex A17.9.4.  It does not belong to a
 * transport.
 */
#define MXE_OPCODE_CNP			0x81
#define MXE_CNP_RESERVED_SIZE		16

/*
 * Dynamically connected (DC) packets: 0xe0 and the RC opcode.  See dc.h.
 */
#define MXE_OPCODE_DC_MASKED_CMP_SWAP	0xf8
#define MXE_OPCODE_DC_MASKED_FETCH_ADD	0xf9
#define MXE_OPCODE_DC_CONTROL		0xfe
#define MXE_DCETH_SIZE			20

/* The upper three bits of a BTH opcode (IBTA 9.2.2). */
enum mxe_transport {
	MXE_TRANSPORT_RC	= 0,
	MXE_TRANSPORT_UC	= 1,
	MXE_TRANSPORT_UD	= 3,
	MXE_TRANSPORT_XRC	= 5,
	MXE_TRANSPORT_DC	= 7,	/* manufacturer-specific */
};

/**
 * mxe_opcode_of() - Convert an RC opcode to another transport.
 * @transport: the transport
 * @rc_opcode: BTH opcode of RC
 *
 * Return: the BTH opcode of the same packet on @transport.
 */
static inline u8 mxe_opcode_of(enum mxe_transport transport, u8 rc_opcode)
{
	bool xrc = transport == MXE_TRANSPORT_XRC;

	/* The upper bits of manufacturer opcodes are not the transport. */
	if (rc_opcode == MXE_OPCODE_RC_MASKED_CMP_SWAP)
		return xrc ? MXE_OPCODE_XRC_MASKED_CMP_SWAP : rc_opcode;
	if (rc_opcode == MXE_OPCODE_RC_MASKED_FETCH_ADD)
		return xrc ? MXE_OPCODE_XRC_MASKED_FETCH_ADD : rc_opcode;
	return transport << 5 | rc_opcode;
}

/**
 * mxe_opcode_of_atomic() - Get the RC opcode of an atomic.
 * @op: the operation
 *
 * Return: the BTH opcode.
 */
static inline u8 mxe_opcode_of_atomic(enum mxe_atomic_op op)
{
	switch (op) {
	case MXE_ATOMIC_CMP_SWAP:
		return IB_OPCODE_RC_COMPARE_SWAP;
	case MXE_ATOMIC_FETCH_ADD:
		return IB_OPCODE_RC_FETCH_ADD;
	case MXE_ATOMIC_MASKED_CMP_SWAP:
		return MXE_OPCODE_RC_MASKED_CMP_SWAP;
	default:
		return MXE_OPCODE_RC_MASKED_FETCH_ADD;
	}
}

/* Base transport header, IBTA 9.2. */
struct mxe_bth {
	u8 opcode;
	u8 flags;
	__be16 pkey;
	__be32 qpn;		/* top byte: FECN, BECN, reserved */
	__be32 apsn;		/* top bit: AckReq */
} __packed;
static_assert(sizeof(struct mxe_bth) == 12);

/* RDMA extended transport header, IBTA 9.3.3. */
struct mxe_reth {
	__be64 va;
	__be32 rkey;
	__be32 len;
} __packed;
static_assert(sizeof(struct mxe_reth) == 16);

/* Atomic extended transport header, IBTA 9.3.4. */
struct mxe_atomiceth {
	__be64 va;
	__be32 rkey;
	__be64 swap_add;
	__be64 compare;
} __packed;
static_assert(sizeof(struct mxe_atomiceth) == 28);

/* Datagram extended transport header, IBTA 9.3.2. */
struct mxe_deth {
	__be32 qkey;
	__be32 sqp;		/* top byte reserved */
} __packed;
static_assert(sizeof(struct mxe_deth) == 8);

/* XRC extended transport header, IBTA annex A14, in every XRC request. */
struct mxe_xrceth {
	__be32 srqn;		/* top byte reserved */
} __packed;
static_assert(sizeof(struct mxe_xrceth) == 4);

/* FLUSH extended transport header, IBTA annex A19.  It precedes the RETH. */
struct mxe_feth {
	__be32 bits;		/* reserved 26, selectivity 2, placement 4 */
} __packed;
static_assert(sizeof(struct mxe_feth) == 4);

#define MXE_FETH_TYPE_MASK	0x0fU
#define MXE_FETH_LEVEL_SHIFT	4
#define MXE_FETH_LEVEL_MASK	0x03U

#define MXE_MSKATOMIC_VERSION 1

/* Fixed part of the header of a masked atomic.  The operands follow. */
struct mxe_mskatomiceth {
	__be64 va;
	__be32 rkey;
	u8 version;
	u8 log_arg_sz;
	__be16 reserved;
} __packed;
static_assert(sizeof(struct mxe_mskatomiceth) == 16);

/* Swap or add, compare, swap mask, and compare mask or field boundaries. */
#define MXE_MSKATOMIC_OPERANDS 4

/* ACK extended transport header, IBTA 9.3.5. */
struct mxe_aeth {
	__be32 smsn;		/* syndrome 8, MSN 24 */
} __packed;
static_assert(sizeof(struct mxe_aeth) == 4);

/* AETH syndromes, IBTA 9.7.5. */
enum mxe_aeth_syndrome {
	MXE_AETH_TYPE_MASK	= 0xe0,
	MXE_AETH_ACK		= 0x00,
	MXE_AETH_RNR_NAK	= 0x20,	/* or'ed with the timer code */
	MXE_AETH_NAK		= 0x60,
	MXE_AETH_ACK_UNLIMITED	= 0x1f,	/* ACK, credits not used */
	MXE_AETH_NAK_PSN_SEQ	= 0x60,
	MXE_AETH_NAK_INV_REQ	= 0x61,
	MXE_AETH_NAK_REM_ACC	= 0x62,
	MXE_AETH_NAK_REM_OP	= 0x63,
};

/* ---- payload of messages to a tag-matching SRQ ------------------------- */

enum mxe_tmh_opcode {
	MXE_TMH_NO_TAG		= 0,
	MXE_TMH_RNDV		= 1,
	MXE_TMH_FIN		= 2,
	MXE_TMH_EAGER		= 3,
};

/* Tag-matching header. */
struct mxe_tmh {
	u8 opcode;		/* enum mxe_tmh_opcode */
	u8 reserved[3];
	__be32 app_ctx;
	__be64 tag;
} __packed;

/* Rendezvous header, which follows the TMH: memory of the sender. */
struct mxe_rvh {
	__be64 va;
	__be32 rkey;
	__be32 len;
} __packed;

/* The headers of a rendezvous, as RNDV and FIN carry them. */
struct mxe_rndv_hdr {
	struct mxe_tmh tmh;
	struct mxe_rvh rvh;
} __packed;

enum mxe_opcode_flags {
	MXE_OP_VALID		= BIT(0),
	MXE_OP_REQUEST		= BIT(1),
	MXE_OP_RESPONSE		= BIT(2),
	MXE_OP_SEND		= BIT(3),
	MXE_OP_WRITE		= BIT(4),
	MXE_OP_READ		= BIT(5),	/* or its response */
	MXE_OP_ATOMIC		= BIT(6),	/* or its response */
	MXE_OP_START		= BIT(7),
	MXE_OP_END		= BIT(8),
	MXE_OP_RETH		= BIT(9),
	MXE_OP_IMM		= BIT(10),
	MXE_OP_AETH		= BIT(11),
	MXE_OP_ATOMICETH	= BIT(12),
	MXE_OP_MSKATOMICETH	= BIT(13),
	MXE_OP_ATOMICACK	= BIT(14),
	MXE_OP_PAYLOAD		= BIT(15),
	MXE_OP_IETH		= BIT(16),	/* key to invalidate */
	MXE_OP_DETH		= BIT(17),	/* unreliable datagram */
	MXE_OP_XRCETH		= BIT(18),	/* request of XRC */
	MXE_OP_FETH		= BIT(19),
	MXE_OP_FLUSH		= BIT(20),
	MXE_OP_ATOMIC_WRITE	= BIT(21),
	MXE_OP_CNP		= BIT(22),	/* congestion notification */
	MXE_OP_DC		= BIT(23),	/* encapsulates an RC packet */
};

/* Requests that use one of the max_dest_rd_atomic responder resources. */
#define MXE_OP_RESOURCE	(MXE_OP_READ | MXE_OP_ATOMIC | MXE_OP_FLUSH | \
			 MXE_OP_ATOMIC_WRITE)

/**
 * mxe_opcode_flags() - Get the flags of an opcode.
 * @opcode: BTH opcode
 *
 * Return: enum mxe_opcode_flags, or 0 if mxe does not support the opcode.
 */
u32 mxe_opcode_flags(u8 opcode);

/**
 * mxe_opcode_hdr_len() - Get the length of the headers of an opcode.
 * @opcode: BTH opcode
 *
 * Return: bytes from the BTH to the payload. Operands and results of atomics
 * count as 8 bytes each.
 */
unsigned int mxe_opcode_hdr_len(u8 opcode);

/*
 * A parsed packet, in host byte order. flags determine which members are valid.
 * The others are 0, except for the operands and results of atomics. These are
 * at the end and stay uninitialised, because clearing them would take long.
 * payload points into the buffer that was parsed.
 */
struct mxe_pkt {
	u32 flags;		/* enum mxe_opcode_flags */
	u8 opcode;
	u8 syndrome;
	bool solicited;
	bool ack_req;
	u16 pkey;
	u32 qpn;
	u32 psn;
	u32 msn;
	u32 rkey;
	u64 va;
	u32 dma_len;
	u32 qkey;
	u32 src_qpn;
	u32 inv_rkey;
	u32 srqn;
	u8 flush_type;		/* IB_FLUSH_GLOBAL, ... */
	u8 flush_level;		/* IB_FLUSH_RANGE, ... */
	u32 payload_len;	/* without padding */
	__be32 imm;
	const u8 *payload;
	bool is_ipv4;
	/* VLAN of the receiving netdev; VLAN_N_VID: none. */
	u16 vlan_id;
	/* Words in atomic_orig_words of an ATOMIC ACKNOWLEDGE. */
	u8 atomic_num_words;
	/* An ATOMIC WRITE is an unconditional masked compare-and-swap. */
	struct mxe_atomic_args atomic;
	/* Result in an ATOMIC ACKNOWLEDGE, least significant word first. */
	union {
		u64 atomic_orig;
		u64 atomic_orig_words[MXE_ATOMIC_WORDS];
	};
};

/**
 * mxe_pkt_transport() - Get the transport of a packet.
 * @pkt: the parsed packet, not a CNP
 *
 * The opcodes of masked atomics do not contain the transport.
 *
 * Return: the transport.
 */
static inline enum mxe_transport mxe_pkt_transport(const struct mxe_pkt *pkt)
{
	if (pkt->flags & MXE_OP_MSKATOMICETH)
		return pkt->flags & MXE_OP_XRCETH ? MXE_TRANSPORT_XRC :
						    MXE_TRANSPORT_RC;
	return pkt->opcode >> 5;
}

/* Results of the parser. */
enum mxe_pkt_error {
	MXE_PKT_OK,
	MXE_PKT_SHORT,		/* shorter than its headers */
	MXE_PKT_VERSION,	/* unknown transport header version */
	MXE_PKT_OPCODE,		/* unsupported opcode */
	MXE_PKT_LENGTH,		/* length and headers do not match */
};

/**
 * mxe_pkt_parse() - Check and parse a packet.
 * @pkt: set to the parsed packet; undefined after an error
 * @data: first byte of the BTH, contiguous up to the end of the ICRC
 * @len: bytes including the ICRC, which is not checked here
 *
 * A masked atomic of an unknown version or operand size is not an error.  Its
 * atomic.op is MXE_ATOMIC_UNSUPPORTED, so that the responder refuses it with a
 * NAK instead of dropping it.
 *
 * Return: MXE_PKT_OK or the reason to drop the packet.
 */
enum mxe_pkt_error mxe_pkt_parse(struct mxe_pkt *pkt, const u8 *data,
				 size_t len);

/* Description of a packet to be built, in host byte order. */
struct mxe_pkt_out {
	u8 opcode;
	bool solicited;
	bool ack_req;
	u16 pkey;
	u32 qpn;
	u32 psn;
	u64 va;
	u32 rkey;
	u32 dma_len;
	u32 qkey;
	u32 src_qpn;
	u32 inv_rkey;
	u32 srqn;
	u8 flush_type;
	u8 flush_level;
	u32 payload_len;
	__be32 imm;
	u8 syndrome;
	u32 msn;
	struct mxe_atomic_args atomic;
	/* Result in an ATOMIC ACKNOWLEDGE, of the operand size in atomic. */
	union {
		u64 atomic_orig;
		u64 atomic_orig_words[MXE_ATOMIC_WORDS];
	};
};

/**
 * mxe_pkt_clear() - Clear memory by inlined stores.
 * @p: first byte
 * @len: bytes, a constant between 100 and 200
 *
 * For a memset() of this length gcc emits REP STOS, whose start-up cost is as
 * high as that of all the stores.
 */
static __always_inline void mxe_pkt_clear(void *p, size_t len)
{
	for (; len > 32; p += 32, len -= 32)
		memset(p, 0, 32);
	memset(p, 0, len);
}

/**
 * mxe_pkt_out_init() - Clear a description.
 * @out: description; the operands and results of atomics are not cleared
 */
static inline void mxe_pkt_out_init(struct mxe_pkt_out *out)
{
	mxe_pkt_clear(out, offsetof(struct mxe_pkt_out, atomic.swap_add));
}

/**
 * mxe_pkt_len() - Get the length of a packet to be built.
 * @out: its description
 *
 * Return: bytes from the BTH to the end of the padding, without the ICRC.
 */
size_t mxe_pkt_len(const struct mxe_pkt_out *out);

/**
 * mxe_pkt_build() - Write the headers and the padding of a packet.
 * @out: its description
 * @buf: buffer of mxe_pkt_len() bytes
 *
 * Return: the place of the payload in @buf, which the caller fills.
 */
u8 *mxe_pkt_build(const struct mxe_pkt_out *out, u8 *buf);

#endif /* MXE_PKT_H */
