/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Extended CQs on devices with emulation. */
#ifndef EXP_EMU_CQ_EX_H
#define EXP_EMU_CQ_EX_H

#include <stdint.h>

struct ibv_cq_ex;

/**
 * emu_cq_ex_adopt() - Replace the functions of a new extended CQ.
 * @cq: the CQ
 * @wc_flags: IBV_WC_EX_WITH_* flags with which it was created
 *
 * The lock of the CQ is held from ibv_start_poll() to ibv_end_poll().
 *
 * Return: 0 or a positive errno.
 */
int emu_cq_ex_adopt(struct ibv_cq_ex *cq, uint64_t wc_flags);

#endif /* EXP_EMU_CQ_EX_H */
