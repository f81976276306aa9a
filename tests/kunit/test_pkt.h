/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Packets as values, for tests: a builder, and a reader of everything that the
 * parser of mxe has accepted (test_pkt.c).
 */
#ifndef TEST_PKT_H
#define TEST_PKT_H

#include "wire/pkt.h"

/* In host byte order.  The opcode determines which members have a meaning. */
struct test_pkt {
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
	u32 payload_len;		/* without padding */
	__be32 imm;
	u8 syndrome;
	u32 msn;
	/* The size is also that of a result, at least 8 bytes. */
	struct mxe_atomic_args atomic;
	union {
		u64 atomic_orig;
		u64 atomic_orig_words[MXE_ATOMIC_WORDS];
	};

	/* Only of a packet that was read: */
	u32 flags;
	u8 atomic_num_words;		/* in atomic_orig_words */
	const u8 *payload;
	struct mxe_pkt pkt;
};

/**
 * test_pkt_len() - Return the length of a packet to be built.
 * @out: the packet
 *
 * Return: bytes from the BTH to the end of the padding, without the ICRC.
 */
size_t test_pkt_len(const struct test_pkt *out);

/**
 * test_pkt_build() - Write the headers and the padding of a packet.
 * @out: the packet, not of DC
 * @buf: test_pkt_len() bytes
 *
 * Return: the place of the payload, which the caller fills.
 */
u8 *test_pkt_build(const struct test_pkt *out, u8 *buf);

/**
 * test_pkt_read() - Parse a packet, and read all its fields.
 * @in: set to the packet; members without a meaning are 0
 * @data: first byte of the BTH
 * @len: bytes including the ICRC
 *
 * Return: the result of mxe_pkt_parse().
 */
enum mxe_pkt_error test_pkt_read(struct test_pkt *in, const u8 *data, size_t len);

#endif /* TEST_PKT_H */
