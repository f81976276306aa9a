/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The original operations of a context with emulation. */
#ifndef EXP_EMU_DEVICE_H
#define EXP_EMU_DEVICE_H

#include <infiniband/verbs.h>

#include "table.h"

/*
 * Programs close contexts with ibv_close_device(), which this library may not
 * intercept. An entry is filled in again for a new context at the same address.
 *
 * Of the operations that destroy or reset objects all are NULL if emu_hook.c
 * cannot replace them, because ibv_destroy_qp() and the like are interposed.
 */
struct emu_device {
	struct exp_entry entry;		/* of the context */
	int (*post_send)(struct ibv_qp *qp, struct ibv_send_wr *wr,
			 struct ibv_send_wr **bad_wr);
	int (*poll_cq)(struct ibv_cq *cq, int num, struct ibv_wc *wc);
	int (*req_notify_cq)(struct ibv_cq *cq, int solicited_only);
	int (*destroy_cq)(struct ibv_cq *cq);
	int (*destroy_qp)(struct ibv_qp *qp);
	int (*modify_qp)(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask);
};

#endif /* EXP_EMU_DEVICE_H */
