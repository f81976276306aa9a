// SPDX-License-Identifier: GPL-2.0
/*
 * Executes atomics: those of up to 8 bytes by cmpxchg, those of 16 and 32 bytes
 * under a lock.
 */
#include <linux/atomic.h>
#include <linux/bug.h>
#include <linux/hash.h>
#include <linux/jump_label.h>
#include <linux/kernel.h>
#include <linux/rcupdate.h>
#include <linux/spinlock.h>
#include <linux/string.h>

#include "memory/atomic.h"

#define MXE_ATOMIC_LOCK_BITS	6

/*
 * Nest inside recv_lock and mw->lock, and inside each other in the order of the
 * array.
 */
static spinlock_t mxe_atomic_locks[1 << MXE_ATOMIC_LOCK_BITS] = {
	[0 ... (1 << MXE_ATOMIC_LOCK_BITS) - 1] =
		__SPIN_LOCK_UNLOCKED(mxe_atomic_locks)
};

/* Makes atomics of all sizes take the locks.  Never disabled again. */
static DEFINE_STATIC_KEY_FALSE(mxe_atomic_locked);
/* No atomic that does not take them is in flight any more. */
static bool mxe_atomic_locks_used;

/* Compare operation, size and operands. */
bool mxe_atomic_same(const struct mxe_atomic_args *a,
		     const struct mxe_atomic_args *b)
{
	size_t len = mxe_atomic_words(a) * sizeof(u64);

	return a->op == b->op && a->log_size == b->log_size &&
	       !memcmp(a->swap_add_words, b->swap_add_words, len) &&
	       !memcmp(a->compare_words, b->compare_words, len) &&
	       !memcmp(a->swap_mask_words, b->swap_mask_words, len) &&
	       !memcmp(a->compare_mask_words, b->compare_mask_words, len);
}

static u64 mxe_atomic_result_u64(u64 old, const struct mxe_atomic_args *args)
{
	switch (args->op) {
	case MXE_ATOMIC_CMP_SWAP:
		return old == args->compare ? args->swap_add : old;
	case MXE_ATOMIC_FETCH_ADD:
		return old + args->swap_add;
	case MXE_ATOMIC_MASKED_CMP_SWAP:
		return masked_cmp_swap_u64(old, args->compare,
					   args->compare_mask, args->swap_add,
					   args->swap_mask);
	case MXE_ATOMIC_MASKED_FETCH_ADD:
		return masked_fetch_add_u64(old, args->swap_add,
					    args->compare_mask);
	case MXE_ATOMIC_UNSUPPORTED:
		break;
	}
	WARN_ON_ONCE(1);
	return old;
}

/*
 * A failed comparison stores the old value again.  The cmpxchg proves that this
 * value was current, and orders the operation.
 */
static u64 mxe_atomic_exec_u64(u64 *word, const struct mxe_atomic_args *args)
{
	u64 old = READ_ONCE(*word);

	while (!try_cmpxchg(word, &old, mxe_atomic_result_u64(old, args)))
		;
	return old;
}

/* For operands of up to 4 bytes.  The caller drops the bits above them. */
static u32 mxe_atomic_result_u32(u32 old, const struct mxe_atomic_args *args)
{
	if (args->op == MXE_ATOMIC_MASKED_CMP_SWAP)
		return masked_cmp_swap_u32(old, args->compare,
					   args->compare_mask, args->swap_add,
					   args->swap_mask);
	WARN_ON_ONCE(args->op != MXE_ATOMIC_MASKED_FETCH_ADD);
	return masked_fetch_add_u32(old, args->swap_add, args->compare_mask);
}

static u32 mxe_atomic_exec_u32(u32 *word, const struct mxe_atomic_args *args)
{
	u32 old = READ_ONCE(*word);

	while (!try_cmpxchg(word, &old, mxe_atomic_result_u32(old, args)))
		;
	return old;
}

static u16 mxe_atomic_exec_u16(u16 *word, const struct mxe_atomic_args *args)
{
	u16 old = READ_ONCE(*word);

	while (!try_cmpxchg(word, &old, (u16)mxe_atomic_result_u32(old, args)))
		;
	return old;
}

static u8 mxe_atomic_exec_u8(u8 *word, const struct mxe_atomic_args *args)
{
	u8 old = READ_ONCE(*word);

	while (!try_cmpxchg(word, &old, (u8)mxe_atomic_result_u32(old, args)))
		;
	return old;
}

/* Finds a word of an operand whose second half is at @high. */
static u64 *mxe_atomic_word(u64 *low, u64 *high, unsigned int n, unsigned int i)
{
	return i < n / 2 ? &low[i] : &high[i - n / 2];
}

static void mxe_atomic_exec_wide(u64 *low, u64 *high,
				 const struct mxe_atomic_args *args, u64 *orig)
{
	unsigned int n = mxe_atomic_words(args), i;
	u64 value[MXE_ATOMIC_WORDS];

	for (i = 0; i < n; i++)
		orig[i] = READ_ONCE(*mxe_atomic_word(low, high, n, i));
	memcpy(value, orig, sizeof(value));
	if (args->op == MXE_ATOMIC_MASKED_CMP_SWAP)
		masked_cmp_swap_words(value, args->compare_words,
				      args->compare_mask_words,
				      args->swap_add_words,
				      args->swap_mask_words, n);
	else if (!WARN_ON_ONCE(args->op != MXE_ATOMIC_MASKED_FETCH_ADD))
		masked_fetch_add_words(value, args->swap_add_words,
				       args->compare_mask_words, n);
	for (i = 0; i < n; i++)
		WRITE_ONCE(*mxe_atomic_word(low, high, n, i), value[i]);
}

/* True if all atomics take the locks, so that a wide one may be executed. */
bool mxe_atomic_wide_ready(void)
{
	/* Pairs with the release in mxe_atomic_use_locks(). */
	return smp_load_acquire(&mxe_atomic_locks_used);
}

/**
 * mxe_atomic_use_locks() - Make all atomics take the locks, permanently.
 *
 * Context: Process context. May sleep, until every atomic in flight that may
 * not know of the locks has ended.
 */
void mxe_atomic_use_locks(void)
{
	if (READ_ONCE(mxe_atomic_locks_used))
		return;
	static_branch_enable(&mxe_atomic_locked);
	/* Wait for callers of mxe_atomic_exec() that saw the key disabled. */
	synchronize_rcu();
	/* Pairs with the acquire in mxe_atomic_wide_ready(). */
	smp_store_release(&mxe_atomic_locks_used, true);
}

/* The second half of an operand of 16 or 32 bytes is at @high. */
static void mxe_atomic_exec_any(void *p, const struct mxe_atomic_args *args,
				u64 *orig, void *high)
{
	if (likely(args->log_size == 3))
		*orig = mxe_atomic_exec_u64(p, args);
	else if (args->log_size > 3)
		mxe_atomic_exec_wide(p, high, args, orig);
	else if (args->log_size == 2)
		*orig = mxe_atomic_exec_u32(p, args);
	else if (args->log_size == 1)
		*orig = mxe_atomic_exec_u16(p, args);
	else
		*orig = mxe_atomic_exec_u8(p, args);
}

/*
 * Memory may be mapped at several addresses.  They have the same offset in a
 * page, so the lock is chosen by that.
 */
static u32 mxe_atomic_lock_of(const void *p)
{
	return hash_long(offset_in_page(p) / MXE_ATOMIC_MAX_SIZE, MXE_ATOMIC_LOCK_BITS);
}

static void mxe_atomic_exec_locked(void *p, const struct mxe_atomic_args *args,
				   u64 *orig, void *high)
{
	u32 first = mxe_atomic_lock_of(p);
	u32 last = mxe_atomic_lock_of(high);

	if (first > last)
		swap(first, last);
	spin_lock_bh(&mxe_atomic_locks[first]);
	if (first == last) {
		mxe_atomic_exec_any(p, args, orig, high);
	} else {
		spin_lock(&mxe_atomic_locks[last]);
		mxe_atomic_exec_any(p, args, orig, high);
		spin_unlock(&mxe_atomic_locks[last]);
	}
	spin_unlock_bh(&mxe_atomic_locks[first]);
}

/**
 * mxe_atomic_exec() - Execute an atomic.
 * @p: operand in mapped memory, aligned and in host byte order
 * @args: the operation
 * @orig: MXE_ATOMIC_WORDS words; those of the operand, at least one, are set to
 *	the old value
 *
 * Operands of up to 8 bytes are updated by a cmpxchg loop, which is atomic
 * against every other access. Operands of 16 and 32 bytes are atomic against
 * this function only.
 *
 * Context: BHs disabled, for which the grace period in mxe_atomic_use_locks()
 * waits. May take one or two spinlocks of mxe_atomic_locks[].
 */
void mxe_atomic_exec(void *p, const struct mxe_atomic_args *args, u64 *orig)
{
	void *high = p + mxe_atomic_size(args) / 2;

	if (static_branch_unlikely(&mxe_atomic_locked))
		mxe_atomic_exec_locked(p, args, orig, high);
	else
		mxe_atomic_exec_any(p, args, orig, high);
}

/*
 * As mxe_atomic_exec(), for an operand of 16 or 32 bytes on two pages.
 * mxe_atomic_ready() must be true for @args.
 */
void mxe_atomic_exec_halves(void *low, void *high,
			    const struct mxe_atomic_args *args, u64 *orig)
{
	/* As a wide atomic, it has called mxe_atomic_use_locks(). */
	mxe_atomic_exec_locked(low, args, orig, high);
}
