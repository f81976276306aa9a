// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Functions of libibverbs that this library interposes: programs and libraries
 * call them instead of those of libibverbs.
 *
 * Each has the name of that of libibverbs, and two symbol versions:
 *
 *  - That of this library is the default, so objects that are linked with this
 *    library refer to it. The dynamic linker finds it here in any order, also
 *    for a plug-in of a program that has loaded libibverbs already.
 *  - That of libibverbs is for all other objects, for example librdmacm. The
 *    dynamic linker binds these to the first library that has it. The linker
 *    script and pkg-config ensure that programs are linked with this library
 *    before libibverbs.
 *
 * In a static program there are no versions. The option --wrap of the linker
 * binds all objects to the functions here, whose names it requires.
 */
#include "backend.h"
#include "calls.h"
#include "cq_ex.h"
#include "dct.h"
#include "emu_cq.h"
#include "mr.h"
#include "qp_table.h"
#include "std.h"
#include "xrc.h"

#ifndef EXP_STATIC
#define INTERPOSE(call)							\
	__asm__(".symver __wrap_" #call ", " #call "@@IBVERBS_EXP_1.1\n"	\
		".symver __wrap_" #call ", " #call "@IBVERBS_1.1")

INTERPOSE(ibv_ack_async_event);
INTERPOSE(ibv_close_device);
INTERPOSE(ibv_create_qp);
INTERPOSE(ibv_dereg_mr);
INTERPOSE(ibv_destroy_cq);
INTERPOSE(ibv_destroy_qp);
INTERPOSE(ibv_destroy_srq);
INTERPOSE(ibv_get_async_event);
INTERPOSE(ibv_modify_qp);
INTERPOSE(ibv_open_device);
#endif

static void ack_async_event(struct ibv_async_event *event)
{
	exp_dct_ack_event(event, exp_std()->ack_async_event);
}

EXP_EXPORT
void __wrap_ibv_ack_async_event(struct ibv_async_event *event)
{
	exp_ack_async_event(event, ack_async_event);
}

EXP_EXPORT
int __wrap_ibv_close_device(struct ibv_context *context)
{
	return exp_close_device(context, exp_std()->close_device);
}

EXP_EXPORT
struct ibv_qp *__wrap_ibv_create_qp(struct ibv_pd *pd,
				    struct ibv_qp_init_attr *attr)
{
	return exp_create_qp(pd, attr, exp_std()->create_qp);
}

EXP_EXPORT
int __wrap_ibv_dereg_mr(struct ibv_mr *mr)
{
	return exp_dereg_mr(mr, exp_std()->dereg_mr);
}

static int destroy_cq(struct ibv_cq *cq)
{
	return exp_destroy_cq(cq, exp_std()->destroy_cq);
}

EXP_EXPORT
int __wrap_ibv_destroy_cq(struct ibv_cq *cq)
{
	return emu_destroy_cq(cq, destroy_cq);
}

EXP_EXPORT
int __wrap_ibv_destroy_qp(struct ibv_qp *qp)
{
	return exp_destroy_qp(qp, exp_std()->destroy_qp);
}

EXP_EXPORT
int __wrap_ibv_destroy_srq(struct ibv_srq *srq)
{
	return exp_destroy_srq(srq, exp_std()->destroy_srq);
}

static int get_async_event(struct ibv_context *context,
			   struct ibv_async_event *event)
{
	return exp_dct_get_event(context, event, exp_std()->get_async_event);
}

EXP_EXPORT
int __wrap_ibv_get_async_event(struct ibv_context *context,
			       struct ibv_async_event *event)
{
	return exp_get_async_event(context, event, get_async_event);
}

EXP_EXPORT
int __wrap_ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	return exp_modify_qp(qp, attr, mask, exp_std()->modify_qp);
}

EXP_EXPORT
struct ibv_context *__wrap_ibv_open_device(struct ibv_device *device)
{
	return exp_open_device(device, exp_std()->open_device);
}
