/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The protocol of masked_locks: its messages, and the layout of its memory.
 *
 * The client connects through the RDMA CM. The private data of the request is a
 * struct locks_request, that of the server's reply a struct locks_reply, and
 * that of its reject a struct locks_refusal. When the connection is established
 * the server registers its table for this connection, and sends the address and
 * the rkey. The client then accesses the table with RDMA READ, RDMA WRITE and
 * masked atomics until it disconnects. The server takes no part in this.
 */
#ifndef MASKED_LOCKS_PROTO_H
#define MASKED_LOCKS_PROTO_H

#include <linux/bits.h>
#include <linux/build_bug.h>
#include <linux/types.h>

#define LOCKS_MAGIC	0x6d6c6f6b	/* "mlok" */
#define LOCKS_VERSION	1

/*
 * Private data. The CM pads it with zeros to its maximum length, so later
 * versions can append members.
 */
struct locks_request {
	__be32 magic;
	__be16 version;
	__be16 reserved;
};

enum locks_reply_flags {
	/* The device of the server executes masked atomics. */
	LOCKS_REPLY_MASKED	= BIT(0),
};

struct locks_reply {
	__be32 magic;
	__be16 version;
	__be16 flags;		/* enum locks_reply_flags */
	__be16 owner;		/* owner ID of this client in locks; not 0 */
	__be16 num_locks;
	__be16 num_counters;
	__be16 reserved;
};

enum locks_refusal_reason {
	LOCKS_REFUSED_VERSION	= 1,
	LOCKS_REFUSED_DEVICE	= 2,	/* its atomics are not sufficient */
	LOCKS_REFUSED_RESOURCES	= 3,
};

struct locks_refusal {
	__be32 magic;
	__be16 version;		/* of the server */
	__be16 reason;		/* enum locks_refusal_reason */
};

/* The only message that is sent: the location of the table. */
struct locks_offer {
	__be64 addr;
	__be32 rkey;
	__be32 reserved;
};

static_assert(sizeof(struct locks_request) == 8);
static_assert(sizeof(struct locks_reply) == 16);
static_assert(sizeof(struct locks_refusal) == 8);
static_assert(sizeof(struct locks_offer) == 16);

/*
 * The low 16 bits of a lock word are the owner ID of the holder, or 0. The
 * upper 48 bits count how often the lock was released.
 *
 *	lock:	masked compare-and-swap of the owner field from 0 to the owner
 *		ID
 *	unlock:	masked fetch-and-add, which subtracts the owner ID from the
 *		owner field and adds 1 to the count. The field boundary prevents
 *		a carry into the count.
 *
 * Each of these is one operation. The count in the old value of "lock" is the
 * number of this grant. The grants of a lock are numbered 0, 1, 2 ... without
 * gaps, across all clients.
 */
#define LOCKS_OWNER_MASK	GENMASK_ULL(15, 0)
#define LOCKS_GRANTS_SHIFT	16
#define LOCKS_TOPS		(BIT_ULL(15) | BIT_ULL(63))

/* A word holds four counters of 16 bits. */
#define LOCKS_COUNTER_TOPS	0x8000800080008000ULL

#define LOCKS_NUM		16
#define LOCKS_NUM_COUNTERS	8

/*
 * Atomics operate on numbers in the byte order of the server. READ and WRITE
 * transfer bytes.
 */
struct locks_table {
	u64 locks[LOCKS_NUM];
	u64 counters[LOCKS_NUM_COUNTERS];
	/*
	 * Each word is protected by the lock of the same index. The holder
	 * reads the word, and writes it back incremented by 1. The word thus
	 * equals the number of grants, unless two clients held the lock at the
	 * same time.
	 */
	__le64 guarded[LOCKS_NUM];
};

#endif /* MASKED_LOCKS_PROTO_H */
