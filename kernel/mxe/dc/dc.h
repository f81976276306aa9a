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
#include <linux/in6.h>
#include <linux/types.h>

#include "dc/dc_session.h"
#include "wire/pkt.h"

struct mxe_qp;

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
	MXE_DC_RESPONDER,
};

/* An initiator as seen by a target. */
struct mxe_dct_addr {
	struct in6_addr saddr, daddr;	/* of its packets; IPv4 is mapped */
	u64 instance;
	u32 qpn;			/* of the initiator */
	u32 reserved;			/* 0; instead of padding */
};

static_assert(sizeof(struct mxe_dct_addr) == 48);

/* The common part of struct mxe_dct, mxe_dci and mxe_dc_responder. */
struct mxe_dc {
	enum mxe_dc_kind kind;		/* immutable */
	/* Of sent packets.  Lock of the side that sends; unused in a target. */
	struct mxe_dc_hdr hdr;
	/* mxe_dct_responder() in a target, for the lower layers. */
	struct mxe_qp *(*responder)(struct mxe_qp *qp, const struct mxe_dct_addr *addr,
				    u32 session);
};

/*
 * Check whether control packets of a code have a DCTLETH. Both codes that have
 * answer a CONNECT, which is longer.
 */
static inline bool mxe_dc_has_token(u8 code)
{
	return code == MXE_DC_CHALLENGE || code == MXE_DC_STALE;
}

void mxe_dc_get(const struct mxe_dceth *eth, struct mxe_dc_hdr *hdr);
bool mxe_dc_parse(const struct mxe_pkt *pkt, struct mxe_dc_hdr *hdr);

static inline unsigned int mxe_dc_len(const struct mxe_dc_hdr *hdr)
{
	return sizeof(struct mxe_dceth) + (hdr->connect ? sizeof(struct mxe_dcceth) : 0);
}

u8 *mxe_dc_write(const struct mxe_dc_hdr *hdr, u8 *p);
void mxe_dc_write_control(const struct mxe_dc_hdr *hdr, u8 *p);

#endif /* MXE_DC_H */
