/* SPDX-License-Identifier: GPL-2.0 */
/* The operands of atomics, and atomic.c, which executes them. */
#ifndef MXE_ATOMIC_H
#define MXE_ATOMIC_H

#include <linux/bits.h>
#include <linux/types.h>

#include <masked_atomic.h>

/* Supported operand sizes: bit n stands for 2^n bytes. */
#define MXE_ATOMIC_LOG_SIZES	GENMASK(5, 0)
/*
 * Sizes whose results are big-endian on every QP, because adapters with this
 * interface return them in that order.
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
 * Operands in host byte order. An operand of up to 8 bytes is a number. A wider
 * one is an array of words, of which the first is the least significant. Unused
 * operands are 0, and words beyond the operand size are uninitialised.
 * compare_mask holds the field boundaries of a masked fetch-and-add.
 */
struct mxe_atomic_args {
	enum mxe_atomic_op op;
	u8 log_size;		/* log2 of the operand size in bytes */
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

static inline unsigned int mxe_atomic_words(const struct mxe_atomic_args *args)
{
	return args->log_size > 3 ? 1U << (args->log_size - 3) : 1;
}

/* Distinguish masked from standard atomics. */
static inline bool mxe_atomic_is_masked(enum mxe_atomic_op op)
{
	return op == MXE_ATOMIC_MASKED_CMP_SWAP ||
	       op == MXE_ATOMIC_MASKED_FETCH_ADD;
}

/* Copy an operand or a result. */
static inline void mxe_atomic_copy_words(u64 *to, const u64 *from, unsigned int n)
{
	do {
		*to++ = *from++;
	} while (--n);
}

/*
 * Replace a masked atomic by the equal standard one, if there is one, because
 * every RoCE peer executes the standard atomics.
 */
static inline void mxe_atomic_lower(struct mxe_atomic_args *args)
{
	/* Standard atomics have 8 bytes. */
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

bool mxe_atomic_same(const struct mxe_atomic_args *a,
		     const struct mxe_atomic_args *b);

/*
 * Atomics of 16 and 32 bytes run under spinlocks of an array, chosen by
 * address.  (Some CPUs have a compare-and-swap of 16 bytes, which mxe does not
 * use.)  Once a wide atomic has been requested on this host, the small ones
 * take those locks, too.  Until then they need no lock.
 */

bool mxe_atomic_wide_ready(void);

/* False if it is wide and mxe_atomic_use_locks() must be called first. */
static inline bool mxe_atomic_ready(const struct mxe_atomic_args *args)
{
	return args->log_size <= 3 || mxe_atomic_wide_ready();
}

void mxe_atomic_use_locks(void);

/*
 * Return the alignment that an operand needs, in bytes. Those of 16 and 32
 * bytes need half their size, because C aligns "double complex" and "long
 * double complex" to that.
 */
static inline u32 mxe_atomic_align(u32 size)
{
	return size > sizeof(u64) ? size / 2 : size;
}

void mxe_atomic_exec(void *p, const struct mxe_atomic_args *args, u64 *orig);
void mxe_atomic_exec_halves(void *low, void *high,
			    const struct mxe_atomic_args *args, u64 *orig);

#endif /* MXE_ATOMIC_H */
