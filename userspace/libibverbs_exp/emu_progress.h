/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The thread that continues emulated requests. */
#ifndef EXP_EMU_PROGRESS_H
#define EXP_EMU_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

/* Callbacks of the thread. */
struct emu_progress_ops {
	bool (*is_busy)(void);	/* returns true if requests are in progress */
	void (*tick)(void);	/* continues them */
};

/**
 * emu_progress_start() - Start the thread of the process, unless it runs.
 * @ops: callbacks
 *
 * Return: 0 or a positive errno.
 */
int emu_progress_start(const struct emu_progress_ops *ops);

/**
 * emu_progress_kick() - Wake the thread after is_busy() has become true.
 *
 * Starts it in a forked child. If that fails, only polling continues requests.
 */
void emu_progress_kick(void);

/**
 * emu_progress_process() - Get the number of this process.
 *
 * Return: a number that fork() increments in the child, never 0.
 */
uint32_t emu_progress_process(void);

#endif /* EXP_EMU_PROGRESS_H */
