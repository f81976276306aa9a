/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Memory regions. */
#ifndef EXP_MR_H
#define EXP_MR_H

struct ibv_mr;

int exp_dereg_mr(struct ibv_mr *mr, int (*std)(struct ibv_mr *mr));

#endif /* EXP_MR_H */
