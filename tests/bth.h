/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Values on the wire: opcodes and flags of the base transport header, and
 * syndromes of the ACK extended transport header. They are defined again here,
 * rather than taken from the headers of the module, so that the tests detect a
 * wrong number in those.
 */
#ifndef BTH_H
#define BTH_H

/*
 * An opcode is a transport ORed with an operation (IBTA 9.2.2), for example
 * BTH_UC | BTH_SEND_ONLY.
 */
enum {
	BTH_RC			= 0x00,
	BTH_UC			= 0x20,
	BTH_XRC			= 0xa0,		/* annex A14 */

	BTH_SEND_FIRST		= 0x00,
	BTH_SEND_MIDDLE		= 0x01,
	BTH_SEND_LAST		= 0x02,
	BTH_SEND_ONLY		= 0x04,
	BTH_RDMA_WRITE_LAST	= 0x08,
	BTH_RDMA_WRITE_ONLY	= 0x0a,
	BTH_RDMA_READ_REQUEST	= 0x0c,
	BTH_ACKNOWLEDGE		= 0x11,
	BTH_ATOMIC_ACKNOWLEDGE	= 0x12,
	BTH_CMP_SWAP		= 0x13,
	BTH_FETCH_ADD		= 0x14,
	BTH_SEND_ONLY_INV	= 0x17,		/* with Invalidate */
	BTH_FLUSH		= 0x1c,
	BTH_ATOMIC_WRITE	= 0x1d,
	BTH_OPERATIONS		= 0x1e,		/* ATOMIC WRITE is the last */
	BTH_UNASSIGNED		= 0x1f,
};

/* Opcodes that are not composed of a transport and an operation. */
enum {
	BTH_CNP			= 0x81,		/* annex A17.9.4 */
	/* Manufacturer-specific, see Documentation/wire-format.rst. */
	BTH_RC_MASKED_CMP_SWAP	= 0xd3,
	BTH_RC_MASKED_FETCH_ADD	= 0xd4,
	BTH_XRC_MASKED_CMP_SWAP	= 0xd5,
	BTH_XRC_MASKED_FETCH_ADD = 0xd6,
};

/* Flags, in the byte after the opcode. */
enum {
	BTH_VERSION_1		= 0x01,		/* only 0 is defined */
	BTH_PAD_3		= 0x30,		/* three bytes of padding */
};

enum {
	BTH_DEFAULT_PKEY	= 0xffff,
	BTH_PSN_MASK		= 0xffffff,
};

/* Syndromes, IBTA 9.7.5.1.2. */
enum {
	AETH_ACK_NO_CREDITS	= 0x1f,		/* ACK without flow control */
	AETH_RESERVED		= 0x40,		/* neither an ACK nor a NAK */
	AETH_NAK_RESERVED	= 0x65,		/* a NAK with a reserved code */
};

#endif /* BTH_H */
