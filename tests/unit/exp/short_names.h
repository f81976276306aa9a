/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Names of the experimental verbs that tables of tests repeat in each row. */
#ifndef EXP_SHORT_NAMES_H
#define EXP_SHORT_NAMES_H

#include <infiniband/verbs_exp.h>

#define CS IBV_EXP_WR_EXT_MASKED_ATOMIC_CMP_AND_SWP
#define FA IBV_EXP_WR_EXT_MASKED_ATOMIC_FETCH_AND_ADD
#define BE IBV_EXP_QP_CREATE_ATOMIC_BE_REPLY

#endif /* EXP_SHORT_NAMES_H */
