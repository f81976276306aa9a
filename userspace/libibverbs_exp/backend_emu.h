/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The backend of all devices without masked atomics. */
#ifndef EXP_BACKEND_EMU_H
#define EXP_BACKEND_EMU_H

struct exp_backend;

extern const struct exp_backend exp_backend_emu;

#endif /* EXP_BACKEND_EMU_H */
