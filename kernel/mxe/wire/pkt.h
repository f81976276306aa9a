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

#include "memory/atomic.h"
#include "wire/icrc.h"

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

/* The upper three bits of a BTH opcode (IBTA 9.2.2). */
enum mxe_transport {
	MXE_TRANSPORT_RC	= 0,
	MXE_TRANSPORT_UC	= 1,
	MXE_TRANSPORT_UD	= 3,
	MXE_TRANSPORT_XRC	= 5,
	MXE_TRANSPORT_DC	= 7,	/* manufacturer-specific */
};

/* Convert a BTH opcode of RC to that of the same packet on @transport. */
static inline u8 mxe_opcode_of(enum mxe_transport transport, u8 rc_opcode)
{
	/* The upper bits of manufacturer opcodes are not the transport. */
	bool is_swap = rc_opcode == MXE_OPCODE_RC_MASKED_CMP_SWAP;

	if (likely(!is_swap && rc_opcode != MXE_OPCODE_RC_MASKED_FETCH_ADD))
		return transport << 5 | rc_opcode;
	if (transport == MXE_TRANSPORT_XRC)
		return is_swap ? MXE_OPCODE_XRC_MASKED_CMP_SWAP :
				 MXE_OPCODE_XRC_MASKED_FETCH_ADD;
	if (transport == MXE_TRANSPORT_DC)
		return is_swap ? MXE_OPCODE_DC_MASKED_CMP_SWAP :
				 MXE_OPCODE_DC_MASKED_FETCH_ADD;
	return rc_opcode;
}

/* Return the BTH opcode of an atomic on RC. */
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

#define MXE_DC_VERSION		1
#define MXE_DC_FLAG_CONNECT	BIT(0)

/* DC extended transport header, in every DC packet. */
struct mxe_dceth {
	u8 version;
	u8 flags;			/* MXE_DC_FLAG_* */
	u8 code;			/* enum mxe_dc_code */
	u8 reserved;
	__be32 qpn;			/* of the initiator, or of the target */
	__be32 session;
	__be64 instance;		/* of the initiator */
} __packed;
static_assert(sizeof(struct mxe_dceth) == 20);

/* Follows the DCETH if it has MXE_DC_FLAG_CONNECT. */
struct mxe_dcceth {
	__be64 key;
	__be32 psn;			/* path MTU code 8, first PSN 24 */
	__be32 life;			/* ms that the session must be kept */
	__be64 token;			/* 0: none */
} __packed;
static_assert(sizeof(struct mxe_dcceth) == 24);

/* FLUSH extended transport header, IBTA annex A19.  It precedes the RETH. */
struct mxe_feth {
	__be32 bits;		/* reserved 26, selectivity 2, placement 4 */
} __packed;
static_assert(sizeof(struct mxe_feth) == 4);

#define MXE_FETH_TYPE_MASK	0x0fU
#define MXE_FETH_LEVEL_SHIFT	4
#define MXE_FETH_LEVEL_MASK	0x03U
#define MXE_FETH_MASK \
	(MXE_FETH_TYPE_MASK | MXE_FETH_LEVEL_MASK << MXE_FETH_LEVEL_SHIFT)

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
	MXE_OP_REQUEST		= BIT(0),
	MXE_OP_RESPONSE		= BIT(1),
	MXE_OP_SEND		= BIT(2),
	MXE_OP_WRITE		= BIT(3),
	MXE_OP_READ		= BIT(4),	/* or its response */
	MXE_OP_ATOMIC		= BIT(5),	/* or its response */
	MXE_OP_FLUSH		= BIT(6),
	MXE_OP_ATOMIC_WRITE	= BIT(7),
	MXE_OP_CNP		= BIT(8),	/* congestion notification */
	MXE_OP_DC_CONTROL	= BIT(9),
	MXE_OP_START		= BIT(10),
	MXE_OP_END		= BIT(11),
	/* Headers, in this order. */
	MXE_OP_DCETH		= BIT(12),	/* dynamically connected */
	MXE_OP_DETH		= BIT(13),	/* unreliable datagram */
	MXE_OP_XRCETH		= BIT(14),	/* request of XRC */
	MXE_OP_FETH		= BIT(15),
	MXE_OP_RETH		= BIT(16),
	MXE_OP_ATOMICETH	= BIT(17),
	MXE_OP_MSKATOMICETH	= BIT(18),
	MXE_OP_AETH		= BIT(19),
	MXE_OP_ATOMICACK	= BIT(20),
	MXE_OP_IMM		= BIT(21),
	MXE_OP_IETH		= BIT(22),	/* key to invalidate */
	MXE_OP_PAYLOAD		= BIT(23),
};

/* Requests that use one of the max_dest_rd_atomic responder resources. */
#define MXE_OP_RESOURCE	(MXE_OP_READ | MXE_OP_ATOMIC | MXE_OP_FLUSH | \
			 MXE_OP_ATOMIC_WRITE)

/*
 * The properties of a BTH opcode.  Lengths are bytes from the BTH on, without
 * the DCCETH.  Operands and results of atomics count as 8 bytes each.
 */
struct mxe_opcode {
	u32 flags;			/* enum mxe_opcode_flags; 0: not supported */
	u8 transport;			/* enum mxe_transport; not of a CNP */
	u8 eth_at;			/* to the header that mxe_pkt.eth is */
	u8 hdr_len;			/* to the payload */
};

extern const struct mxe_opcode mxe_opcodes[256];

/*
 * A packet that mxe_pkt_parse() has checked.  Its headers are read where they
 * are.  The flags tell which there are.
 */
struct mxe_pkt {
	const struct mxe_bth *bth;
	/* Header of the operation: RETH, AETH, ...; a FETH precedes it. */
	const u8 *eth;
	const u8 *payload;		/* end of the headers */
	u32 payload_len;		/* bytes, without padding */
	u32 flags;			/* enum mxe_opcode_flags */
	u32 psn;
	u8 transport;			/* enum mxe_transport */
	u16 vlan_id;			/* of the netdev; VLAN_N_VID: none */
};

/* Results of the parser. */
enum mxe_pkt_error {
	MXE_PKT_OK,
	MXE_PKT_SHORT,		/* shorter than its headers */
	MXE_PKT_VERSION,	/* unknown transport header version */
	MXE_PKT_OPCODE,		/* unsupported opcode */
	MXE_PKT_LENGTH,		/* length and headers do not match */
};

enum mxe_pkt_error mxe_pkt_parse(struct mxe_pkt *pkt, const u8 *data,
				 size_t len);

/* ---- fields of a packet ------------------------------------------------ */

static inline u32 mxe_pkt_qpn(const struct mxe_pkt *pkt)
{
	return be32_to_cpu(pkt->bth->qpn) & MXE_BTH_QPN_MASK;
}

/* Returns true for full and limited membership of the default partition. */
static inline bool mxe_pkt_pkey_ok(const struct mxe_pkt *pkt)
{
	return (pkt->bth->pkey | cpu_to_be16(0x8000)) == cpu_to_be16(0xffff);
}

static inline bool mxe_pkt_asks_ack(const struct mxe_pkt *pkt)
{
	return pkt->bth->apsn & cpu_to_be32(MXE_BTH_ACK_REQ);
}

static inline bool mxe_pkt_is_solicited(const struct mxe_pkt *pkt)
{
	return pkt->bth->flags & MXE_BTH_SE;
}

/* RETH, AtomicETH and the header of masked atomics begin in the same way. */
static inline const struct mxe_reth *mxe_pkt_reth(const struct mxe_pkt *pkt)
{
	static_assert(offsetof(struct mxe_reth, rkey) ==
		      offsetof(struct mxe_atomiceth, rkey));
	static_assert(offsetof(struct mxe_reth, rkey) ==
		      offsetof(struct mxe_mskatomiceth, rkey));
	return (const void *)pkt->eth;
}

static inline u64 mxe_pkt_va(const struct mxe_pkt *pkt)
{
	return be64_to_cpu(mxe_pkt_reth(pkt)->va);
}

static inline u32 mxe_pkt_rkey(const struct mxe_pkt *pkt)
{
	return be32_to_cpu(mxe_pkt_reth(pkt)->rkey);
}

/* With MXE_OP_RETH. */
static inline u32 mxe_pkt_dma_len(const struct mxe_pkt *pkt)
{
	return be32_to_cpu(mxe_pkt_reth(pkt)->len);
}

/* With MXE_OP_FETH.  Reserved bits are ignored (IBTA 9.2). */
static inline u32 mxe_pkt_feth(const struct mxe_pkt *pkt)
{
	return be32_to_cpu(((const struct mxe_feth *)pkt->eth - 1)->bits);
}

/* With MXE_OP_XRCETH, else 0. */
static inline u32 mxe_pkt_srqn(const struct mxe_pkt *pkt)
{
	const struct mxe_xrceth *eth = (const void *)(pkt->bth + 1);

	if (!(pkt->flags & MXE_OP_XRCETH))
		return 0;
	return be32_to_cpu(eth->srqn) & MXE_XRC_SRQN_MASK;
}

/* With MXE_OP_DETH. */
static inline const struct mxe_deth *mxe_pkt_deth(const struct mxe_pkt *pkt)
{
	return (const void *)(pkt->bth + 1);
}

/* With MXE_OP_DCETH. */
static inline const struct mxe_dceth *mxe_pkt_dceth(const struct mxe_pkt *pkt)
{
	return (const void *)(pkt->bth + 1);
}

/* With MXE_OP_AETH. */
static inline u8 mxe_pkt_syndrome(const struct mxe_pkt *pkt)
{
	return be32_to_cpu(((const struct mxe_aeth *)pkt->eth)->smsn) >> 24;
}

/* With MXE_OP_IMM. */
static inline __be32 mxe_pkt_imm(const struct mxe_pkt *pkt)
{
	return get_unaligned((const __be32 *)pkt->payload - 1);
}

/* With MXE_OP_IETH. */
static inline u32 mxe_pkt_inv_rkey(const struct mxe_pkt *pkt)
{
	return get_unaligned_be32(pkt->payload - sizeof(__be32));
}

/* The operand size of a request with MXE_OP_ATOMIC; may be unsupported. */
static inline u8 mxe_pkt_log_arg_sz(const struct mxe_pkt *pkt)
{
	const struct mxe_mskatomiceth *eth = (const void *)pkt->eth;

	return pkt->flags & MXE_OP_MSKATOMICETH ? eth->log_arg_sz : 3;
}

/* The words of the result in a response with MXE_OP_ATOMICACK: 1, 2 or 4. */
static inline unsigned int mxe_pkt_result_words(const struct mxe_pkt *pkt)
{
	return (pkt->payload - pkt->eth - sizeof(struct mxe_aeth)) / sizeof(__be64);
}

void mxe_pkt_result(const struct mxe_pkt *pkt, u64 *words);
bool mxe_pkt_atomic(const struct mxe_pkt *pkt, struct mxe_atomic_args *args);

/* ---- building ------------------------------------------------------------ */

/*
 * These functions write a header at @p, and return the end of it.  A packet is
 * built by writing its headers in the order of enum mxe_opcode_flags.
 */

static inline u8 *mxe_pkt_write_bth(u8 *p, u8 opcode, unsigned int pad, u32 qpn, u32 apsn)
{
	struct mxe_bth *bth = (void *)p;

	bth->opcode = opcode;
	bth->flags = MXE_BTH_MIGREQ | pad << MXE_BTH_PAD_SHIFT;
	bth->pkey = cpu_to_be16(0xffff);
	bth->qpn = cpu_to_be32(qpn);
	bth->apsn = cpu_to_be32(apsn);
	return p + sizeof(*bth);
}

static inline void mxe_pkt_set_solicited(void *bth)
{
	((struct mxe_bth *)bth)->flags |= MXE_BTH_SE;
}

static inline u8 *mxe_pkt_write_be32(u8 *p, u32 value)
{
	put_unaligned_be32(value, p);
	return p + sizeof(__be32);
}

static inline u8 *mxe_pkt_write_reth(u8 *p, u64 va, u32 rkey, u32 len)
{
	struct mxe_reth *reth = (void *)p;

	reth->va = cpu_to_be64(va);
	reth->rkey = cpu_to_be32(rkey);
	reth->len = cpu_to_be32(len);
	return p + sizeof(*reth);
}

static inline u8 *mxe_pkt_write_aeth(u8 *p, u8 syndrome, u32 msn)
{
	return mxe_pkt_write_be32(p, syndrome << 24 | (msn & 0xffffff));
}

u8 *mxe_pkt_write_atomic(u8 *p, u64 va, u32 rkey, const struct mxe_atomic_args *args);
u8 *mxe_pkt_write_number(u8 *p, const u64 *words, unsigned int n);

#endif /* MXE_PKT_H */
