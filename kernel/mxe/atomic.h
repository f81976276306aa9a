/* SPDX-License-Identifier: GPL-2.0 */
/* Remote atomic operations: their operands, and their execution. */
#ifndef MXE_ATOMIC_H
#define MXE_ATOMIC_H

#include <linux/types.h>

enum mxe_atomic_op {
	MXE_ATOMIC_UNSUPPORTED,
	MXE_ATOMIC_CMP_SWAP,
	MXE_ATOMIC_FETCH_ADD,
	MXE_ATOMIC_MASKED_CMP_SWAP,
	MXE_ATOMIC_MASKED_FETCH_ADD,
};

/*
 * Operands in host byte order.  Unused ones are 0.  compare_mask has the
 * field boundaries of a masked fetch-and-add.
 */
struct mxe_atomic_args {
	enum mxe_atomic_op op;
	u64 swap_add;
	u64 compare;
	u64 swap_mask;
	u64 compare_mask;
};

/* The sizes carried: bit n stands for operands of 2^n bytes. */
#define MXE_ATOMIC_LOG_SIZES	BIT(3)

static inline bool mxe_atomic_is_masked(enum mxe_atomic_op op)
{
	return op == MXE_ATOMIC_MASKED_CMP_SWAP ||
	       op == MXE_ATOMIC_MASKED_FETCH_ADD;
}

/*
 * Turn a masked operation whose masks make it a standard one into that one,
 * so that any peer executes it.
 */
void mxe_atomic_lower(struct mxe_atomic_args *args);

/*
 * Execute on a naturally aligned word of mapped memory and return the value
 * that was there.  Atomic against every other access of 8 bytes to it, by
 * whomever: a cmpxchg loop.
 */
u64 mxe_atomic_exec(u64 *word, const struct mxe_atomic_args *args);

#endif /* MXE_ATOMIC_H */
