/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Memory windows. */
#ifndef MXE_MW_H
#define MXE_MW_H

#include <infiniband/verbs.h>

struct ibv_mw *mxe_alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type);
int mxe_dealloc_mw(struct ibv_mw *mw);
int mxe_bind_mw(struct ibv_qp *ibqp, struct ibv_mw *mw,
		struct ibv_mw_bind *bind);

#endif /* MXE_MW_H */
