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

int emu_progress_start(const struct emu_progress_ops *ops);
void emu_progress_kick(void);
uint32_t emu_progress_process(void);

#endif /* EXP_EMU_PROGRESS_H */
