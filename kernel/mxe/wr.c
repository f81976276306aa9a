// SPDX-License-Identifier: GPL-2.0
/*
 * The table of the opcodes of send work requests, with a row for each.  The send side
 * looks up its flags there (wr.h), and a new opcode needs a row here and its
 * execution.
 */
#include <rdma/mxe-abi.h>

#include "pkt.h"
#include "wr.h"

/* Transports (IBTA table 38). */
#define MXE_TRANSPORTS_RELIABLE		(BIT(MXE_TRANSPORT_RC) | BIT(MXE_TRANSPORT_XRC))
#define MXE_TRANSPORTS_CONNECTED	(MXE_TRANSPORTS_RELIABLE | BIT(MXE_TRANSPORT_UC))
#define MXE_TRANSPORTS_ALL		(MXE_TRANSPORTS_CONNECTED | BIT(MXE_TRANSPORT_UD))

#define MXE_WR_OP_BOTH		(MXE_WR_OP_USER | MXE_WR_OP_KERNEL)

const struct mxe_wr_row mxe_wr_rows[MXE_WR_ROWS] = {
	[IB_WR_SEND] = {
		.flags = MXE_WR_OP_BOTH | MXE_WR_OP_SEND | MXE_WR_OP_INLINE,
		.transports = MXE_TRANSPORTS_ALL,
		.wc_opcode = MXE_WC_SEND,
		.bth_opcode = {
			[MXE_WR_PKT_FIRST] = IB_OPCODE_RC_SEND_FIRST,
			[MXE_WR_PKT_MIDDLE] = IB_OPCODE_RC_SEND_MIDDLE,
			[MXE_WR_PKT_LAST] = IB_OPCODE_RC_SEND_LAST,
			[MXE_WR_PKT_ONLY] = IB_OPCODE_RC_SEND_ONLY,
		},
	},
	[IB_WR_SEND_WITH_IMM] = {
		.flags = MXE_WR_OP_BOTH | MXE_WR_OP_SEND | MXE_WR_OP_INLINE | MXE_WR_OP_IMM,
		.transports = MXE_TRANSPORTS_ALL,
		.wc_opcode = MXE_WC_SEND,
		.bth_opcode = {
			[MXE_WR_PKT_FIRST] = IB_OPCODE_RC_SEND_FIRST,
			[MXE_WR_PKT_MIDDLE] = IB_OPCODE_RC_SEND_MIDDLE,
			[MXE_WR_PKT_LAST] = IB_OPCODE_RC_SEND_LAST_WITH_IMMEDIATE,
			[MXE_WR_PKT_ONLY] = IB_OPCODE_RC_SEND_ONLY_WITH_IMMEDIATE,
		},
	},
	[IB_WR_SEND_WITH_INV] = {
		.flags = MXE_WR_OP_BOTH | MXE_WR_OP_SEND | MXE_WR_OP_INLINE |
			 MXE_WR_OP_INVALIDATE,
		.transports = MXE_TRANSPORTS_RELIABLE,
		.wc_opcode = MXE_WC_SEND,
		.bth_opcode = {
			[MXE_WR_PKT_FIRST] = IB_OPCODE_RC_SEND_FIRST,
			[MXE_WR_PKT_MIDDLE] = IB_OPCODE_RC_SEND_MIDDLE,
			[MXE_WR_PKT_LAST] = IB_OPCODE_RC_SEND_LAST_WITH_INVALIDATE,
			[MXE_WR_PKT_ONLY] = IB_OPCODE_RC_SEND_ONLY_WITH_INVALIDATE,
		},
	},
	[IB_WR_RDMA_WRITE] = {
		.flags = MXE_WR_OP_BOTH | MXE_WR_OP_WRITE | MXE_WR_OP_INLINE,
		.transports = MXE_TRANSPORTS_CONNECTED,
		.wc_opcode = MXE_WC_RDMA_WRITE,
		.bth_opcode = {
			[MXE_WR_PKT_FIRST] = IB_OPCODE_RC_RDMA_WRITE_FIRST,
			[MXE_WR_PKT_MIDDLE] = IB_OPCODE_RC_RDMA_WRITE_MIDDLE,
			[MXE_WR_PKT_LAST] = IB_OPCODE_RC_RDMA_WRITE_LAST,
			[MXE_WR_PKT_ONLY] = IB_OPCODE_RC_RDMA_WRITE_ONLY,
		},
	},
	[IB_WR_RDMA_WRITE_WITH_IMM] = {
		.flags = MXE_WR_OP_BOTH | MXE_WR_OP_WRITE | MXE_WR_OP_INLINE | MXE_WR_OP_IMM,
		.transports = MXE_TRANSPORTS_CONNECTED,
		.wc_opcode = MXE_WC_RDMA_WRITE,
		.bth_opcode = {
			[MXE_WR_PKT_FIRST] = IB_OPCODE_RC_RDMA_WRITE_FIRST,
			[MXE_WR_PKT_MIDDLE] = IB_OPCODE_RC_RDMA_WRITE_MIDDLE,
			[MXE_WR_PKT_LAST] = IB_OPCODE_RC_RDMA_WRITE_LAST_WITH_IMMEDIATE,
			[MXE_WR_PKT_ONLY] = IB_OPCODE_RC_RDMA_WRITE_ONLY_WITH_IMMEDIATE,
		},
	},
	[IB_WR_RDMA_READ] = {
		.flags = MXE_WR_OP_BOTH | MXE_WR_OP_READ,
		.transports = MXE_TRANSPORTS_RELIABLE,
		.wc_opcode = MXE_WC_RDMA_READ,
		.bth_opcode[MXE_WR_PKT_ONLY] = IB_OPCODE_RC_RDMA_READ_REQUEST,
	},
	[IB_WR_ATOMIC_CMP_AND_SWP] = {
		.flags = MXE_WR_OP_BOTH | MXE_WR_OP_ATOMIC,
		.transports = MXE_TRANSPORTS_RELIABLE,
		.wc_opcode = MXE_WC_COMP_SWAP,
	},
	[IB_WR_ATOMIC_FETCH_AND_ADD] = {
		.flags = MXE_WR_OP_BOTH | MXE_WR_OP_ATOMIC,
		.transports = MXE_TRANSPORTS_RELIABLE,
		.wc_opcode = MXE_WC_FETCH_ADD,
	},
	[IB_WR_MASKED_ATOMIC_CMP_AND_SWP] = {
		.flags = MXE_WR_OP_BOTH | MXE_WR_OP_ATOMIC | MXE_WR_OP_MASKED,
		.transports = MXE_TRANSPORTS_RELIABLE,
		.wc_opcode = MXE_WC_MASKED_COMP_SWAP,
	},
	[IB_WR_MASKED_ATOMIC_FETCH_AND_ADD] = {
		.flags = MXE_WR_OP_BOTH | MXE_WR_OP_ATOMIC | MXE_WR_OP_MASKED,
		.transports = MXE_TRANSPORTS_RELIABLE,
		.wc_opcode = MXE_WC_MASKED_FETCH_ADD,
	},
	/* Kernel consumers have no structure for its operands. */
	[IB_WR_FLUSH] = {
		.flags = MXE_WR_OP_USER | MXE_WR_OP_PLACEMENT,
		.transports = MXE_TRANSPORTS_RELIABLE,
		.wc_opcode = MXE_WC_FLUSH,
		.bth_opcode[MXE_WR_PKT_ONLY] = MXE_OPCODE_RC_FLUSH,
	},
	[IB_WR_ATOMIC_WRITE] = {
		.flags = MXE_WR_OP_BOTH | MXE_WR_OP_PLACEMENT,
		.transports = MXE_TRANSPORTS_RELIABLE,
		.wc_opcode = MXE_WC_ATOMIC_WRITE,
		.bth_opcode[MXE_WR_PKT_ONLY] = MXE_OPCODE_RC_ATOMIC_WRITE,
	},
	[IB_WR_LOCAL_INV] = {
		.flags = MXE_WR_OP_BOTH | MXE_WR_OP_LOCAL | MXE_WR_OP_INVALIDATE,
		.transports = MXE_TRANSPORTS_RELIABLE,
		.wc_opcode = MXE_WC_LOCAL_INV,
	},
	[IB_WR_BIND_MW] = {
		.flags = MXE_WR_OP_USER | MXE_WR_OP_LOCAL,
		.transports = MXE_TRANSPORTS_RELIABLE,
		.wc_opcode = MXE_WC_BIND_MW,
	},
	[IB_WR_REG_MR] = {
		.flags = MXE_WR_OP_KERNEL | MXE_WR_OP_LOCAL,
		.transports = MXE_TRANSPORTS_RELIABLE,
		.wc_opcode = MXE_WC_REG_MR,
	},
};

/* Any number may be posted; what there is no row for fails as a SEND. */
static_assert(MXE_WC_SEND == 0);
