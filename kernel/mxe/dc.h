/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The headers of dynamically connected (DC) packets (dc.c).  A DC packet is an
 * RC packet with another opcode and with a DC extended transport header (DCETH)
 * behind the BTH.  A control packet has no counterpart in RC.
 * Documentation/wire-format.rst specifies the format.
 */
#ifndef MXE_DC_H
#define MXE_DC_H

#include <linux/build_bug.h>
#include <linux/jump_label.h>
#include <linux/types.h>

#include "dc_session.h"

struct mxe_pkt;
struct sk_buff;

#define MXE_DC_VERSION		1
#define MXE_DC_FLAG_CONNECT	BIT(0)

/* In every packet. */
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

/* Follows the DCETH of a control packet if mxe_dc_has_token() is true. */
struct mxe_dctleth {
	__be64 token;			/* see enum mxe_dc_code */
	__be64 age;			/* ns since another target had the number */
} __packed;
static_assert(sizeof(struct mxe_dctleth) == 16);
/* So no answer is longer than its request. */
static_assert(sizeof(struct mxe_dctleth) <= sizeof(struct mxe_dcceth));

/*
 * iboe_get_mtu() leaves 96 bytes for headers.  A WRITE with immediate data that
 * opens a session over IPv6 has 128: IP 40, UDP 8, BTH 12, DC 44, RETH 16,
 * immediate data 4 and ICRC 4.
 */
#define MXE_DC_EXTRA_HEADERS	32

/* The headers in host byte order. */
struct mxe_dc_hdr {
	u8 code;
	bool connect;
	u32 qpn;			/* the sender of the packet */
	u32 session;
	u64 instance;
	u64 token;			/* with connect, or see mxe_dc_has_token() */
	u64 age;			/* with MXE_DC_CHALLENGE */
	/* With connect: */
	u64 key;
	u32 psn;
	u32 life;
	u8 mtu;				/* enum ib_mtu */
};

enum mxe_dc_kind {
	MXE_DC_TARGET,
	MXE_DC_INITIATOR,
	MXE_DC_CHILD,
};

/* The common part of struct mxe_dct, mxe_dci and mxe_dct_child. */
struct mxe_dc {
	enum mxe_dc_kind kind;		/* immutable */
	/* Of sent packets.  Lock of the side that sends; unused in a target. */
	struct mxe_dc_hdr hdr;
};

/* True from the creation of the first DC QP on. */
DECLARE_STATIC_KEY_FALSE(mxe_dc_used);

/**
 * mxe_dc_has_token() - Check whether control packets of a code have a DCTLETH.
 * @code: code
 *
 * Both answer a CONNECT, which is longer.
 *
 * Return: true if they do.
 */
static inline bool mxe_dc_has_token(u8 code)
{
	return code == MXE_DC_CHALLENGE || code == MXE_DC_STALE;
}

/**
 * mxe_dc_parse() - Check and parse the DC headers of a packet.
 * @pkt: packet with MXE_OP_DC
 * @hdr: set to the headers
 *
 * Return: false if the version, the code or a length is wrong, or a response
 * demands a session.
 */
bool mxe_dc_parse(const struct mxe_pkt *pkt, struct mxe_dc_hdr *hdr);

/**
 * mxe_dc_decapsulate() - Turn a received DC packet into the RC packet in it.
 * @skb: linear packet whose network and transport headers are set
 * @hdr: its headers, from mxe_dc_parse(); not a control packet
 *
 * Moves the headers from IP to BTH over the DC headers.  The lengths and
 * checksums in them are those of the DC packet.
 *
 * Return: 0, or -ENOMEM if the packet is shared and cannot be copied.
 */
int mxe_dc_decapsulate(struct sk_buff *skb, const struct mxe_dc_hdr *hdr);

/**
 * mxe_dc_encapsulate() - Turn an RC packet into a DC packet.
 * @skb: RC packet that begins at the BTH
 * @hdr: DC headers
 * @headroom: bytes of headroom that the packet must have afterwards
 *
 * Return: 0 or -ENOMEM.
 */
int mxe_dc_encapsulate(struct sk_buff *skb, const struct mxe_dc_hdr *hdr,
		       unsigned int headroom);

/**
 * mxe_dc_put() - Write the DC headers.
 * @hdr: DC headers
 * @p: buffer for a struct mxe_dceth, and for a struct mxe_dcceth with connect,
 *	or a struct mxe_dctleth with some codes
 *
 * Return: bytes written.
 */
unsigned int mxe_dc_put(const struct mxe_dc_hdr *hdr, u8 *p);

#endif /* MXE_DC_H */
