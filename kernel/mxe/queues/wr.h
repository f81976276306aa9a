/* SPDX-License-Identifier: GPL-2.0 */
/* The table of the opcodes of send requests (wr.c). */
#ifndef MXE_WR_H
#define MXE_WR_H

#include <linux/bits.h>
#include <linux/types.h>
#include <rdma/ib_verbs.h>

#define MXE_WR_OP_SEND		BIT(0)
#define MXE_WR_OP_WRITE		BIT(1)
#define MXE_WR_OP_READ		BIT(2)
#define MXE_WR_OP_ATOMIC	BIT(3)
#define MXE_WR_OP_MASKED	BIT(4)
/* FLUSH or ATOMIC WRITE, whose response is that of a READ of 0 bytes. */
#define MXE_WR_OP_PLACEMENT	BIT(5)
#define MXE_WR_OP_LOCAL		BIT(6)	/* sends no packet */
#define MXE_WR_OP_INLINE	BIT(7)	/* may have inline data */
#define MXE_WR_OP_IMM		BIT(8)
#define MXE_WR_OP_INVALIDATE	BIT(9)	/* has a key to be invalidated */
/* The consumers that may post it. */
#define MXE_WR_OP_USER		BIT(10)
#define MXE_WR_OP_KERNEL	BIT(11)
/* Has a response.  max_rd_atomic limits these, and fences wait for them. */
#define MXE_WR_OP_RD_ATOMIC	(MXE_WR_OP_READ | MXE_WR_OP_ATOMIC | MXE_WR_OP_PLACEMENT)
#define MXE_WR_OP_REMOTE_ADDR	(MXE_WR_OP_WRITE | MXE_WR_OP_RD_ATOMIC)

/* The place of a packet in its message. */
#define MXE_WR_PKT_MIDDLE	0
#define MXE_WR_PKT_FIRST	BIT(0)
#define MXE_WR_PKT_LAST		BIT(1)
#define MXE_WR_PKT_ONLY		(MXE_WR_PKT_FIRST | MXE_WR_PKT_LAST)

struct mxe_wr_row {
	u16 flags;			/* MXE_WR_OP_*; 0: unknown opcode */
	u8 transports;			/* bits of enum mxe_transport */
	u8 wc_opcode;			/* enum mxe_wc_opcode */
	/*
	 * BTH opcodes of RC, by MXE_WR_PKT_*.  Not used for local operations,
	 * nor for atomics, whose BTH opcode depends on the operation that they
	 * are lowered to.
	 */
	u8 bth_opcode[4];
};

/* A WQE has an opcode of 8 bits, so that it needs no bounds check. */
#define MXE_WR_ROWS		256

extern const struct mxe_wr_row mxe_wr_rows[MXE_WR_ROWS];

static inline u16 mxe_wr_flags(enum ib_wr_opcode opcode)
{
	return mxe_wr_rows[opcode].flags;
}

static inline bool mxe_wr_is_atomic(enum ib_wr_opcode opcode)
{
	return mxe_wr_flags(opcode) & MXE_WR_OP_ATOMIC;
}

static inline bool mxe_wr_is_placement(enum ib_wr_opcode opcode)
{
	return mxe_wr_flags(opcode) & MXE_WR_OP_PLACEMENT;
}

static inline bool mxe_wr_is_rd_atomic(enum ib_wr_opcode opcode)
{
	return mxe_wr_flags(opcode) & MXE_WR_OP_RD_ATOMIC;
}

static inline bool mxe_wr_is_send(enum ib_wr_opcode opcode)
{
	return mxe_wr_flags(opcode) & MXE_WR_OP_SEND;
}

static inline bool mxe_wr_is_write(enum ib_wr_opcode opcode)
{
	return mxe_wr_flags(opcode) & MXE_WR_OP_WRITE;
}

static inline bool mxe_wr_is_read(enum ib_wr_opcode opcode)
{
	return mxe_wr_flags(opcode) & MXE_WR_OP_READ;
}

static inline bool mxe_wr_has_imm(enum ib_wr_opcode opcode)
{
	return mxe_wr_flags(opcode) & MXE_WR_OP_IMM;
}

static inline bool mxe_wr_is_local(enum ib_wr_opcode opcode)
{
	return mxe_wr_flags(opcode) & MXE_WR_OP_LOCAL;
}

#endif /* MXE_WR_H */
