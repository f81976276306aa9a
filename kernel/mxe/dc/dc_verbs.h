/* SPDX-License-Identifier: GPL-2.0 */
/* Creation and states of dynamically connected QPs (dc_verbs.c). */
#ifndef MXE_DC_VERBS_H
#define MXE_DC_VERBS_H

#include <rdma/ib_verbs.h>
#include <rdma/mxe-abi.h>

#include "queues/qp.h"

int mxe_dc_verbs_create(struct mxe_qp *qp, const struct mxe_create_qp_req *req);
void mxe_dc_verbs_destroy(struct mxe_qp *qp);
bool mxe_dc_verbs_modify_ok(const struct mxe_qp *qp, enum ib_qp_state from,
			    enum ib_qp_state to, int mask);
int mxe_dc_verbs_fit_mtu(const struct mxe_qp *qp, struct ib_qp_attr *attr);
void mxe_dc_verbs_set_defaults(struct mxe_qp *qp, enum ib_qp_state to,
			       struct ib_qp_attr *attr, int *mask);
void mxe_dc_verbs_modified(struct mxe_qp *qp);

#endif /* MXE_DC_VERBS_H */
