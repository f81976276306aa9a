/* SPDX-License-Identifier: GPL-2.0 */
/* Creation and states of dynamically connected QPs (dc_verbs.c). */
#ifndef MXE_DC_VERBS_H
#define MXE_DC_VERBS_H

#include <rdma/ib_verbs.h>
#include <rdma/mxe-abi.h>

#include "queues/qp.h"

/*
 * Make a QP of type IB_QPT_DRIVER that is being created a DC QP. The flags and
 * sizes of @req are checked.
 * Context: May sleep.
 * Return: 0; -EOPNOTSUPP if @req asks for neither type; -EINVAL if it asks for
 * both, or the QP has or lacks an SRQ, or cannot have one of the flags; or
 * -ENOMEM.
 */
int mxe_dc_verbs_create(struct mxe_qp *qp, const struct mxe_create_qp_req *req);

/*
 * Call it when the QP is not found by its number any more.
 * Context: May sleep.
 */
void mxe_dc_verbs_destroy(struct mxe_qp *qp);

/*
 * Check that the transition of a DC QP exists, and has the attributes in @mask,
 * IB_QP_*, that it needs and no others.
 * Context: Both locks held.
 */
bool mxe_dc_verbs_modify_ok(const struct mxe_qp *qp, enum ib_qp_state from,
			    enum ib_qp_state to, int mask);

/*
 * Make room for the headers of DC in packets: lower path_mtu of a DC initiator
 * if packets would exceed the MTU of the netdev. The QP is of any type.
 * Context: Process context.
 * Return: 0, or -EINVAL if a DC packet cannot have 256 bytes.
 */
int mxe_dc_verbs_fit_mtu(const struct mxe_qp *qp, struct ib_qp_attr *attr);

/*
 * Add the attributes that DC makes optional to @attr and @mask, IB_QP_*.
 * mxe_dc_verbs_modify_ok() is true.
 * Context: Both locks held.
 */
void mxe_dc_verbs_set_defaults(struct mxe_qp *qp, enum ib_qp_state to,
			       struct ib_qp_attr *attr, int *mask);

/*
 * Finish a transition of a QP of any type whose state may have changed.
 * Context: No lock of a QP held. May sleep.
 */
void mxe_dc_verbs_modified(struct mxe_qp *qp);

#endif /* MXE_DC_VERBS_H */
