/* SPDX-License-Identifier: GPL-2.0 */
/* One table says all about the opcodes of send work requests (wr.c). */
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
/* Of memory placement: its response is that of a READ of nothing. */
#define MXE_WR_OP_PLACEMENT	BIT(5)
#define MXE_WR_OP_LOCAL		BIT(6)	/* sends nothing */
#define MXE_WR_OP_INLINE	BIT(7)	/* its data may be in the request */
#define MXE_WR_OP_IMM		BIT(8)
#define MXE_WR_OP_INVALIDATE	BIT(9)	/* has the key that is to be invalidated */
/* The consumers that may post it. */
#define MXE_WR_OP_USER		BIT(10)
#define MXE_WR_OP_KERNEL	BIT(11)
/* Has a response: max_rd_atomic limits it, and fences wait for it. */
#define MXE_WR_OP_RD_ATOMIC	(MXE_WR_OP_READ | MXE_WR_OP_ATOMIC | MXE_WR_OP_PLACEMENT)
#define MXE_WR_OP_REMOTE_ADDR	(MXE_WR_OP_WRITE | MXE_WR_OP_RD_ATOMIC)

/* Packets of a message, by their place in it. */
#define MXE_WR_PKT_MIDDLE	0
#define MXE_WR_PKT_FIRST	BIT(0)
#define MXE_WR_PKT_LAST		BIT(1)
#define MXE_WR_PKT_ONLY		(MXE_WR_PKT_FIRST | MXE_WR_PKT_LAST)

struct mxe_wr_row {
	u16 flags;			/* MXE_WR_OP_*; 0: there is no such opcode */
	u8 transports;			/* those that take it: bits of enum mxe_transport */
	u8 wc_opcode;			/* enum mxe_wc_opcode */
	/*
	 * Of the BTH, as RC has it, by MXE_WR_PKT_*.  None: local operations, and
	 * atomics, which are sent as the operation that they are lowered to.
	 */
	u8 bth_opcode[4];
};

/* One for any number that a process can write, so that no bounds are checked. */
#define MXE_WR_ROWS		256

extern const struct mxe_wr_row mxe_wr_rows[MXE_WR_ROWS];

/* The opcode is below MXE_WR_ROWS. */
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
