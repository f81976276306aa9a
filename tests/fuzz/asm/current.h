/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Replaces the kernel's header, which finds the task at the end of the stack.
 * Here there is only one task, which never receives a signal.
 */
#ifndef FUZZ_ASM_CURRENT_H
#define FUZZ_ASM_CURRENT_H

struct task_struct;
extern struct task_struct fk_current;

#define get_current() (&fk_current)
#define current get_current()

#endif /* FUZZ_ASM_CURRENT_H */
