/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Atomics have their operands in struct mxe_atomic_args, and are executed by
 * atomic.c.
 */
#ifndef MXE_ATOMIC_H
#define MXE_ATOMIC_H

#include <linux/bits.h>
#include <linux/types.h>

#include <masked_atomic.h>

/* The sizes carried: bit n stands for operands of 2^n bytes. */
#define MXE_ATOMIC_LOG_SIZES	(BIT(2) | BIT(3) | BIT(4) | BIT(5))
/*
 * Of these, the sizes whose results a consumer gets in big-endian whatever the
 * queue pair: those that the adapters with this interface give so.
 */
#define MXE_ATOMIC_LOG_SIZES_BE	(MXE_ATOMIC_LOG_SIZES & ~BIT(3))
#define MXE_ATOMIC_MAX_SIZE	32
#define MXE_ATOMIC_WORDS	(MXE_ATOMIC_MAX_SIZE / sizeof(u64))

enum mxe_atomic_op {
	MXE_ATOMIC_UNSUPPORTED,
	MXE_ATOMIC_CMP_SWAP,
	MXE_ATOMIC_FETCH_ADD,
	MXE_ATOMIC_MASKED_CMP_SWAP,
	MXE_ATOMIC_MASKED_FETCH_ADD,
};

/*
 * Operands in host byte order: numbers of up to 8 bytes, or words of which the
 * first is the least significant one.  Unused operands are 0; words that the size
 * does not have are not set.  compare_mask has the field boundaries of a masked
 * fetch-and-add.
 */
struct mxe_atomic_args {
	enum mxe_atomic_op op;
	u8 log_size;		/* of an operand; standard atomics: 3 */
	union {
		u64 swap_add;
		u64 swap_add_words[MXE_ATOMIC_WORDS];
	};
	union {
		u64 compare;
		u64 compare_words[MXE_ATOMIC_WORDS];
	};
	union {
		u64 swap_mask;
		u64 swap_mask_words[MXE_ATOMIC_WORDS];
	};
	union {
		u64 compare_mask;
		u64 compare_mask_words[MXE_ATOMIC_WORDS];
	};
};

static inline unsigned int mxe_atomic_size(const struct mxe_atomic_args *args)
{
	return 1U << args->log_size;
}

/* Words of 8 bytes that carry one operand. */
static inline unsigned int mxe_atomic_words(const struct mxe_atomic_args *args)
{
	return args->log_size > 3 ? 1U << (args->log_size - 3) : 1;
}

static inline bool mxe_atomic_is_masked(enum mxe_atomic_op op)
{
	return op == MXE_ATOMIC_MASKED_CMP_SWAP ||
	       op == MXE_ATOMIC_MASKED_FETCH_ADD;
}

static inline void mxe_atomic_copy(struct mxe_atomic_args *to,
				   const struct mxe_atomic_args *from)
{
	if (from->log_size > 3) {
		*to = *from;
		return;
	}
	to->op = from->op;
	to->log_size = from->log_size;
	to->swap_add = from->swap_add;
	to->compare = from->compare;
	to->swap_mask = from->swap_mask;
	to->compare_mask = from->compare_mask;
}

/*
 * Turn a masked operation whose masks make it a standard one into that one,
 * so that any peer executes it.
 */
static inline void mxe_atomic_lower(struct mxe_atomic_args *args)
{
	/* The standard ones have 8 bytes. */
	if (args->log_size != 3)
		return;
	if (args->op == MXE_ATOMIC_MASKED_CMP_SWAP &&
	    masked_cmp_swap_is_plain_u64(args->compare_mask, args->swap_mask))
		args->op = MXE_ATOMIC_CMP_SWAP;
	else if (args->op == MXE_ATOMIC_MASKED_FETCH_ADD &&
		 masked_fetch_add_is_plain_u64(args->compare_mask))
		args->op = MXE_ATOMIC_FETCH_ADD;
	else
		return;

	args->compare_mask = 0;
	args->swap_mask = 0;
}

/* The same operation with the same operands. */
bool mxe_atomic_same(const struct mxe_atomic_args *a,
		     const struct mxe_atomic_args *b);

/*
 * CPUs have no operation on 16 and 32 bytes.  Such atomics are executed
 * under one of a number of locks, chosen by address, and atomics of 4 and 8
 * bytes have to take that lock, too, from the first wide one on.  Until then
 * they need none.
 *
 * May this one be executed now?  If not, mxe_atomic_use_locks() must be called
 * before.  It sleeps until every atomic under way has ended that may not know
 * of the locks; what it has done stays.
 */
bool mxe_atomic_wide_ready(void);
static inline bool mxe_atomic_ready(const struct mxe_atomic_args *args)
{
	return args->log_size <= 3 || mxe_atomic_wide_ready();
}

void mxe_atomic_use_locks(void);

/*
 * Execute on a naturally aligned operand in mapped memory; the value that was
 * there goes to orig, MXE_ATOMIC_WORDS of which the unused are 0.
 *
 * 4 and 8 bytes: a cmpxchg loop, atomic against every other access, by
 * whomever.  16 and 32 bytes: atomic against this function alone.
 *
 * Context: bottom halves off, which mxe_atomic_use_locks() waits for as for RCU.
 */
void mxe_atomic_exec(void *p, const struct mxe_atomic_args *args, u64 *orig);

#endif /* MXE_ATOMIC_H */
