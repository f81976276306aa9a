/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Device memory. */
#ifndef EXP_DM_H
#define EXP_DM_H

struct ibv_dm;
struct ibv_exp_dm;

struct ibv_dm *exp_dm_std(struct ibv_exp_dm *dm);

#endif /* EXP_DM_H */
