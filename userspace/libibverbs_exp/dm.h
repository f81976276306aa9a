/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Device memory. */
#ifndef EXP_DM_H
#define EXP_DM_H

struct ibv_dm;
struct ibv_exp_dm;

/**
 * exp_dm_std() - Get the standard object of device memory.
 * @dm: device memory of ibv_exp_alloc_dm()
 *
 * Return: the standard object.
 */
struct ibv_dm *exp_dm_std(struct ibv_exp_dm *dm);

#endif /* EXP_DM_H */
