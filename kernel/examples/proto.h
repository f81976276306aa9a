/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The server and the clients of masked_locks exchange these messages, and work on
 * this memory.
 *
 * The client connects by RDMA CM and says who it is in the private data of the
 * request; the server answers in that of its reply, or refuses in that of its
 * reject.  When the connection is up the server registers its table for this
 * connection and sends where it is; from then on the client works alone, by
 * RDMA READ, RDMA WRITE and masked atomics, until it disconnects.
 */
#ifndef MASKED_LOCKS_PROTO_H
#define MASKED_LOCKS_PROTO_H

#include <linux/bits.h>
#include <linux/build_bug.h>
#include <linux/types.h>

#define LOCKS_MAGIC	0x6d6c6f6b	/* "mlok" */
#define LOCKS_VERSION	1

/*
 * Private data.  Behind ours CM gives the receiver zeros, up to the length that
 * the message has for it, so later versions can append.
 */
struct locks_request {
	__be32 magic;
	__be16 version;
	__be16 reserved;
};

enum locks_reply_flags {
	/* The server's device executes masked atomics. */
	LOCKS_REPLY_MASKED	= BIT(0),
};

struct locks_reply {
	__be32 magic;
	__be16 version;
	__be16 flags;		/* enum locks_reply_flags */
	__be16 owner;		/* how this client marks its locks; not 0 */
	__be16 num_locks;
	__be16 num_counters;
	__be16 reserved;
};

enum locks_refusal_reason {
	LOCKS_REFUSED_VERSION	= 1,
	LOCKS_REFUSED_DEVICE	= 2,	/* which has no atomics */
	LOCKS_REFUSED_RESOURCES	= 3,
};

struct locks_refusal {
	__be32 magic;
	__be16 version;		/* the server's */
	__be16 reason;		/* enum locks_refusal_reason */
};

/* The one message that is sent: where the table is. */
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
 * A lock is the low 16 bits of a word: its owner, or 0.  The bits above count
 * how often it was given back.
 *
 *	take:      compare-and-swap of the owner alone, 0 for mine
 *	give back: fetch-and-add, - mine to the owner and + 1 to the count.  The
 *	           carry out of the owner's field must not reach the count.
 *
 * So one operation does each, and the count that "take" returns is the number
 * of this grant: those of a lock are 0, 1, 2 ... without a gap, whoever got
 * them.
 */
#define LOCKS_OWNER_MASK	GENMASK_ULL(15, 0)
#define LOCKS_GRANTS_SHIFT	16
#define LOCKS_TOPS		(BIT_ULL(15) | BIT_ULL(63))

/* Four counters of 16 bits share a word. */
#define LOCKS_COUNTER_TOPS	0x8000800080008000ULL

#define LOCKS_NUM		16
#define LOCKS_NUM_COUNTERS	8

/*
 * Atomics are done on numbers in the byte order of the server; READ and WRITE
 * move bytes.
 */
struct locks_table {
	u64 locks[LOCKS_NUM];
	u64 counters[LOCKS_NUM_COUNTERS];
	/*
	 * Each word is what the lock of the same index protects: one who holds
	 * it reads the word and writes it back one higher.  It is the number of
	 * grants, too, unless two had the lock at once.
	 */
	__le64 guarded[LOCKS_NUM];
};

#endif /* MASKED_LOCKS_PROTO_H */
