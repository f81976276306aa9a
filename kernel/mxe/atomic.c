// SPDX-License-Identifier: GPL-2.0
#include <linux/atomic.h>
#include <linux/bug.h>

#include <masked_atomic.h>

#include "atomic.h"

void mxe_atomic_lower(struct mxe_atomic_args *args)
{
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

static u64 mxe_atomic_result(u64 old, const struct mxe_atomic_args *args)
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

u64 mxe_atomic_exec(u64 *word, const struct mxe_atomic_args *args)
{
	u64 old = READ_ONCE(*word);

	/*
	 * A comparison that fails stores the old value again: the cmpxchg
	 * also proves that it was current, and orders the operation.
	 */
	while (!try_cmpxchg(word, &old, mxe_atomic_result(old, args)))
		;
	return old;
}
