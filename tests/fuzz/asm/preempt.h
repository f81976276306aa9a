/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Replaces the kernel's header, which keeps the count at the end of the kernel
 * stack. A fuzz target runs on a user stack.
 */
#ifndef FUZZ_ASM_PREEMPT_H
#define FUZZ_ASM_PREEMPT_H

#include <linux/thread_info.h>

#define PREEMPT_ENABLED	(0)

extern int fk_preempt_count;

static __always_inline int preempt_count(void)
{
	return fk_preempt_count;
}

static __always_inline void preempt_count_set(int pc)
{
	fk_preempt_count = pc;
}

static __always_inline void set_preempt_need_resched(void)
{
}

static __always_inline void clear_preempt_need_resched(void)
{
}

static __always_inline bool test_preempt_need_resched(void)
{
	return false;
}

static __always_inline void __preempt_count_add(int val)
{
	fk_preempt_count += val;
}

static __always_inline void __preempt_count_sub(int val)
{
	fk_preempt_count -= val;
}

static __always_inline bool __preempt_count_dec_and_test(void)
{
	return !--fk_preempt_count;
}

static __always_inline bool should_resched(int preempt_offset)
{
	return false;
}

#endif /* FUZZ_ASM_PREEMPT_H */
