/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Extended CQs on devices with emulation. */
#ifndef EXP_EMU_CQ_EX_H
#define EXP_EMU_CQ_EX_H

#include <stdint.h>

struct ibv_cq_ex;

int emu_cq_ex_adopt(struct ibv_cq_ex *ex, uint64_t wc_flags);

#endif /* EXP_EMU_CQ_EX_H */
