// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Functions of libibverbs that this library interposes. Programs and libraries
 * call them instead of those of libibverbs. They call the file that tracks the
 * object, which calls libibverbs.
 *
 * They have the names and the symbol version of those of libibverbs. If the
 * program is linked with this library before libibverbs, the dynamic linker
 * therefore binds every loaded object to them, for example librdmacm. The
 * linker script and pkg-config ensure this order.
 */
#include "calls.h"
#include "cq_ex.h"
#include "emu.h"
#include "std.h"

EXP_EXPORT
int ibv_close_device(struct ibv_context *context)
{
	return exp_close_device(context, exp_std()->close_device);
}

EXP_EXPORT
int ibv_dereg_mr(struct ibv_mr *mr)
{
	return exp_dereg_mr(mr, exp_std()->dereg_mr);
}

static int destroy_cq(struct ibv_cq *cq)
{
	return exp_destroy_cq(cq, exp_std()->destroy_cq);
}

EXP_EXPORT
int ibv_destroy_cq(struct ibv_cq *cq)
{
	return emu_destroy_cq(cq, destroy_cq);
}

EXP_EXPORT
int ibv_destroy_qp(struct ibv_qp *qp)
{
	return exp_destroy_qp(qp, exp_std()->destroy_qp);
}

EXP_EXPORT
int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	return exp_modify_qp(qp, attr, mask, exp_std()->modify_qp);
}

EXP_EXPORT
struct ibv_context *ibv_open_device(struct ibv_device *device)
{
	return exp_open_device(device, exp_std()->open_device);
}
