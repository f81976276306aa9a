/* SPDX-License-Identifier: GPL-2.0 */
/*
 * In place of the kernel's, which finds the task at the end of the stack: the one
 * task that there is, to which no signal comes.
 */
#ifndef FUZZ_ASM_CURRENT_H
#define FUZZ_ASM_CURRENT_H

struct task_struct;
extern struct task_struct fk_current;

#define get_current() (&fk_current)
#define current get_current()

#endif /* FUZZ_ASM_CURRENT_H */
