/* SPDX-License-Identifier: GPL-2.0 */
/* Creation and states of dynamically connected QPs (dc_verbs.c). */
#ifndef MXE_DC_VERBS_H
#define MXE_DC_VERBS_H

#include <rdma/ib_verbs.h>
#include <rdma/mxe-abi.h>

#include "queues/qp.h"

/**
 * mxe_dc_verbs_create() - Make a QP that is being created a DC QP.
 * @qp: QP of type IB_QPT_DRIVER
 * @req: request of the process, whose flags and sizes are checked
 *
 * Context: Process context.  May sleep.
 * Return: 0; -EOPNOTSUPP if @req asks for neither type; -EINVAL if it asks for
 * both, or the QP has or lacks an SRQ, or cannot have one of the flags; or
 * -ENOMEM.
 */
int mxe_dc_verbs_create(struct mxe_qp *qp, const struct mxe_create_qp_req *req);

/**
 * mxe_dc_verbs_destroy() - Undo mxe_dc_verbs_create().
 * @qp: DC QP that is not found by its number any more
 *
 * Context: Process context.  May sleep.
 */
void mxe_dc_verbs_destroy(struct mxe_qp *qp);

/**
 * mxe_dc_verbs_modify_ok() - Check a transition of a DC QP.
 * @qp: DC QP
 * @from: current state
 * @to: new state
 * @mask: attributes, IB_QP_*
 *
 * Context: Both locks held.
 * Return: true if the transition exists, and has the attributes that it needs
 * and no others.
 */
bool mxe_dc_verbs_modify_ok(const struct mxe_qp *qp, enum ib_qp_state from,
			    enum ib_qp_state to, int mask);

/**
 * mxe_dc_verbs_fit_mtu() - Make room for the headers of DC in packets.
 * @qp: QP of any type
 * @attr: its new attributes, with path_mtu; lowered for a DC initiator if
 *	packets would exceed the MTU of the netdev
 *
 * Context: Process context.
 * Return: 0, or -EINVAL if a DC packet cannot have 256 bytes.
 */
int mxe_dc_verbs_fit_mtu(const struct mxe_qp *qp, struct ib_qp_attr *attr);

/**
 * mxe_dc_verbs_set_defaults() - Add the attributes that DC makes optional.
 * @qp: DC QP
 * @to: its new state; mxe_dc_verbs_modify_ok() is true
 * @attr: its new attributes
 * @mask: those that are given, IB_QP_*; the defaults are added
 *
 * Context: Both locks held.
 */
void mxe_dc_verbs_set_defaults(struct mxe_qp *qp, enum ib_qp_state to,
			       struct ib_qp_attr *attr, int *mask);

/**
 * mxe_dc_verbs_modified() - Finish a transition of a QP.
 * @qp: QP of any type whose state may have changed
 *
 * Context: Process context, no lock of a QP held.  May sleep.
 */
void mxe_dc_verbs_modified(struct mxe_qp *qp);

#endif /* MXE_DC_VERBS_H */
