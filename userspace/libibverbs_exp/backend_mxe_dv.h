/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The functions of libmxe. */
#ifndef EXP_BACKEND_MXE_DV_H
#define EXP_BACKEND_MXE_DV_H

#include <stdbool.h>
#include <stdint.h>
#include <infiniband/mxedv.h>

struct exp_mxedv {
	bool (*is_supported)(struct ibv_device *device);
	int (*query_device)(struct ibv_context *context,
			    struct mxedv_device_attr *attr, uint32_t inlen);
	struct ibv_qp *(*create_qp)(struct ibv_context *context,
				    struct ibv_qp_init_attr_ex *attr,
				    struct mxedv_qp_init_attr *mxe_attr);
	struct mxedv_qp_ex *(*qp_ex_from_ibv_qp_ex)(struct ibv_qp_ex *qpx);
	/* NULL if libmxe is too old: */
	int (*query_dct)(struct ibv_qp *qp, struct mxedv_dct_attr *attr,
			 uint32_t inlen);
	int (*arm_dct)(struct ibv_qp *qp, uint32_t events);
};

/**
 * exp_mxedv() - Find libmxe.
 * @context: any context
 *
 * Return: its functions, or NULL if neither @context nor the context of an
 * earlier call belongs to libmxe.
 */
const struct exp_mxedv *exp_mxedv(const struct ibv_context *context);

#endif /* EXP_BACKEND_MXE_DV_H */
