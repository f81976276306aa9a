/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Replaces the operations of contexts with emulation. */
#ifndef EXP_EMU_HOOK_H
#define EXP_EMU_HOOK_H

struct emu_device;
struct ibv_context;

const struct emu_device *emu_hook(struct ibv_context *context);

#endif /* EXP_EMU_HOOK_H */
