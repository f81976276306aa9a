/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The functions of libibverbs that this library interposes. */
#ifndef EXP_STD_H
#define EXP_STD_H

#include <infiniband/verbs.h>

struct exp_std {
	void (*ack_async_event)(struct ibv_async_event *event);
	int (*close_device)(struct ibv_context *context);
	struct ibv_qp *(*create_qp)(struct ibv_pd *pd,
				    struct ibv_qp_init_attr *attr);
	int (*dereg_mr)(struct ibv_mr *mr);
	int (*destroy_cq)(struct ibv_cq *cq);
	int (*destroy_qp)(struct ibv_qp *qp);
	int (*destroy_srq)(struct ibv_srq *srq);
	int (*get_async_event)(struct ibv_context *context,
			       struct ibv_async_event *event);
	struct ibv_context *(*open_device)(struct ibv_device *device);
	int (*modify_qp)(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask);
};

/*
 * In a static program, the option --wrap of the linker binds calls of these
 * functions to __wrap_*() of interpose.c, and __real_*() to libibverbs.
 */
extern __typeof__(ibv_ack_async_event) __wrap_ibv_ack_async_event, __real_ibv_ack_async_event;
extern __typeof__(ibv_close_device) __wrap_ibv_close_device, __real_ibv_close_device;
extern __typeof__(ibv_create_qp) __wrap_ibv_create_qp, __real_ibv_create_qp;
extern __typeof__(ibv_dereg_mr) __wrap_ibv_dereg_mr, __real_ibv_dereg_mr;
extern __typeof__(ibv_destroy_cq) __wrap_ibv_destroy_cq, __real_ibv_destroy_cq;
extern __typeof__(ibv_destroy_qp) __wrap_ibv_destroy_qp, __real_ibv_destroy_qp;
extern __typeof__(ibv_destroy_srq) __wrap_ibv_destroy_srq, __real_ibv_destroy_srq;
extern __typeof__(ibv_get_async_event) __wrap_ibv_get_async_event, __real_ibv_get_async_event;
extern __typeof__(ibv_modify_qp) __wrap_ibv_modify_qp, __real_ibv_modify_qp;
extern __typeof__(ibv_open_device) __wrap_ibv_open_device, __real_ibv_open_device;

/**
 * exp_std() - Get the functions of libibverbs that this library interposes.
 *
 * Return: the functions, never NULL. Aborts the process if libibverbs lacks one
 * of them.
 */
const struct exp_std *exp_std(void);

#endif /* EXP_STD_H */
