/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * This header comes before libibverbs's own, for programs that include nothing
 * but <infiniband/verbs.h> and expect the experimental verbs there, as they
 * were in MLNX_OFED. It is in a directory of its own, which ibv-exp-env(1) puts
 * in the way of the compiler.
 */
#ifndef _INFINIBAND_VERBS_WITH_EXP_H
#define _INFINIBAND_VERBS_WITH_EXP_H

/* #include_next is an extension, which is no concern of the program's. */
#pragma GCC system_header

#include_next <infiniband/verbs.h>
#include <infiniband/verbs_exp.h>

#endif /* _INFINIBAND_VERBS_WITH_EXP_H */
