/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The messages that endpoints exchange. Multi-byte fields are in the byte order
 * of the host: a hello is discarded unless both hosts have the same.
 */
#ifndef MXEFI_WIRE_H
#define MXEFI_WIRE_H

#include <assert.h>
#include <stdint.h>

#define MXEFI_WIRE_MAGIC 0x6d786608	/* "mxf", version 8 */

/*
 * The address of an endpoint, which fi_getname() returns. The id is random, so
 * an address never matches a later endpoint that reuses the QP number. An
 * address that fi_getinfo() has made of a node and a service has the UDP port
 * of the service instead of QP number, DC target and id.
 */
struct mxefi_addr {
	uint8_t gid[16];
	uint32_t qpn;		/* of the UD queue pair */
	union {
		uint32_t port;	/* if id is 0 */
		/*
		 * MXEFI_DCT_NUMBER and the following. The DC target, whose
		 * access key is the id, or 0.
		 */
		uint32_t dct;
	};
	uint64_t id;
};

#define MXEFI_DCT_NUMBER 0xffffffU
#define MXEFI_DCT_MTU (7U << MXEFI_DCT_MTU_SHIFT)	/* enum ibv_mtu */
#define MXEFI_DCT_MTU_SHIFT 24
/* With or without a target: the endpoint wants MXEFI_MSG_ACCESS. */
#define MXEFI_DCT_EVENTS (1U << 31)

enum mxefi_name_type {
	MXEFI_NAME_QUESTION,
	MXEFI_NAME_ANSWER,
};

/* Sent over UDP to learn the address of an endpoint, and the answer. */
struct mxefi_name_msg {
	uint32_t magic;
	uint32_t type;			/* enum mxefi_name_type */
	uint64_t cookie;		/* of the question */
	struct mxefi_addr addr;		/* in an answer */
};

enum {
	MXEFI_HELLO_ACK = 1 << 0,	/* the sender accepts requests */
	/* The sender does not give up the connection to make room. */
	MXEFI_HELLO_KEPT = 1 << 4,
	/* The sender has no DC initiators, so the receiver changes to RC. */
	MXEFI_HELLO_NO_DC = 1 << 5,
	/* Of endpoints of type FI_EP_MSG. */
	MXEFI_HELLO_CONNECT = 1 << 1,	/* to a passive endpoint */
	MXEFI_HELLO_ACCEPT = 1 << 2,	/* from the endpoint that accepts */
	MXEFI_HELLO_REJECT = 1 << 3,	/* from a passive endpoint */
};

#define MXEFI_CM_DATA 256	/* bytes that a program may add to a hello */

/*
 * A connection over DC has this number and the low bits of its epoch, where one
 * over RC has the number of its queue pair.
 */
#define MXEFI_DC_CONN (1U << 31)

/* Sent over UD to connect two endpoints. Data may follow. */
struct mxefi_hello {
	uint32_t magic;
	uint32_t flags;
	struct mxefi_addr src;
	uint64_t dst_id;	/* id of the destination endpoint */
	uint32_t qpn;		/* RC queue pair of the sender, or MXEFI_DC_CONN */
	uint32_t peer_qpn;	/* that of the receiver; 0: unknown */
	uint32_t psn;		/* first PSN of the sender over RC */
	uint32_t mtu;		/* enum ibv_mtu */
	uint32_t epoch;		/* counts the connections of the sender */
	uint32_t data_len;	/* bytes of the data */
	uint64_t token;		/* random, of the connection of the sender */
	uint64_t peer_token;	/* that of the receiver; 0: unknown */
};

enum mxefi_msg_type {
	MXEFI_MSG_EAGER,	/* a message with its data */
	MXEFI_MSG_RTS,		/* the data are to be read from addr */
	MXEFI_MSG_FIN,		/* the receiver has the data */
	MXEFI_MSG_BYE,		/* the sender closes the connection */
	MXEFI_MSG_STOP,		/* the receiver is to send no messages */
	MXEFI_MSG_GO,		/* it may again */
	MXEFI_MSG_PROBE,	/* ignored: only its acknowledgement matters */
	MXEFI_MSG_ACCESS,	/* what the requests before have accessed */
	/*
	 * An atomic of len bytes to a tagged receive buffer, at the offset
	 * addr. The operands follow, those to compare last. The FIN has the
	 * results.
	 */
	MXEFI_MSG_ATOMIC,
};

enum {
	MXEFI_MSG_HAS_DATA = 1 << 0,	/* remote CQ data */
	MXEFI_MSG_WANT_FIN = 1 << 1,
	MXEFI_MSG_TAGGED = 1 << 2,
	/* Of MXEFI_MSG_ACCESS. */
	MXEFI_MSG_READS = 1 << 3,
	MXEFI_MSG_WRITES = 1 << 4,
	MXEFI_MSG_MORE = 1 << 5,	/* of the operation follow */
};

/* The header of a SEND. */
struct mxefi_msg {
	uint8_t type;
	uint8_t flags;
	uint16_t rx_index;	/* receive context of the peer */
	uint32_t data;
	uint64_t tag;
	uint64_t len;		/* of the message or the accesses, in bytes */
	uint64_t cookie;	/* of the sender, which a FIN returns */
	uint64_t addr;
	union {
		uint32_t rkey;	/* of addr, or that was accessed */
		struct {
			uint8_t form;	/* enum mxefi_form */
			uint8_t op;	/* enum fi_op */
			uint8_t datatype; /* enum fi_datatype */
			uint8_t unused;
		} atomic;
	};
	uint32_t err;		/* FIN: errno of the receiver, or 0 */
	/*
	 * Over DC, the token and the number of the receiver's connection, both
	 * from its hello: they name the connection, and prove that the peer has
	 * sent the message.
	 */
	uint64_t token;
	uint32_t qpn;
	uint32_t unused;
};

static_assert(sizeof(struct mxefi_addr) == 32, "struct mxefi_addr");
static_assert(sizeof(struct mxefi_name_msg) == 48, "struct mxefi_name_msg");
static_assert(sizeof(struct mxefi_hello) == 88, "struct mxefi_hello");
static_assert(sizeof(struct mxefi_msg) == 64, "struct mxefi_msg");

#endif /* MXEFI_WIRE_H */
