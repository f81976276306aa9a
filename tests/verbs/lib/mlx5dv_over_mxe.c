// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * A library for LD_PRELOAD that lets programs for the dynamically connected
 * (DC) transport of mlx5 run on mxe, to test mxe with them: the calls of mlx5dv
 * that create and use DC QPs call mxedv. Programs that look for a ConnectX find
 * one, because the attributes of an mxe device name a ConnectX-5.
 *
 * Only for tests. Devices other than mxe are not supported.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <infiniband/mlx5dv.h>
#include <infiniband/mxedv.h>

#define VENDOR_ID 0x02c9
#define CONNECTX_5 4119

/* What a program gets from mlx5dv_qp_ex_from_ibv_qp_ex(). Never freed. */
struct over_qp {
	struct mlx5dv_qp_ex mlx5;
	struct mxedv_qp_ex *mxe;
	struct ibv_qp_ex *qpx;
	struct over_qp *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct over_qp *qps;	/* protected by lock */

static void set_dc_addr(struct mlx5dv_qp_ex *mlx5, struct ibv_ah *ah,
			uint32_t remote_dctn, uint64_t remote_dc_key)
{
	mxedv_wr_set_dc_addr(((struct over_qp *)mlx5)->mxe, ah, remote_dctn,
			     remote_dc_key);
}

/* Streams only relax the order of requests. */
static void set_dc_addr_stream(struct mlx5dv_qp_ex *mlx5, struct ibv_ah *ah,
			       uint32_t remote_dctn, uint64_t remote_dc_key,
			       uint16_t stream_id __attribute__((unused)))
{
	set_dc_addr(mlx5, ah, remote_dctn, remote_dc_key);
}

struct mlx5dv_qp_ex *mlx5dv_qp_ex_from_ibv_qp_ex(struct ibv_qp_ex *qpx)
{
	struct mxedv_qp_ex *mxe = mxedv_qp_ex_from_ibv_qp_ex(qpx);
	struct over_qp *qp;

	if (!mxe)
		return NULL;
	pthread_mutex_lock(&lock);
	for (qp = qps; qp && qp->qpx != qpx; qp = qp->next)
		;
	if (!qp) {
		qp = calloc(1, sizeof(*qp));
		if (qp) {
			qp->qpx = qpx;
			qp->next = qps;
			qps = qp;
		}
	}
	if (qp) {
		qp->mxe = mxe;
		qp->mlx5.wr_set_dc_addr = set_dc_addr;
		qp->mlx5.wr_set_dc_addr_stream = set_dc_addr_stream;
	}
	pthread_mutex_unlock(&lock);
	return qp ? &qp->mlx5 : NULL;
}

struct ibv_qp *mlx5dv_create_qp(struct ibv_context *context,
				struct ibv_qp_init_attr_ex *attr,
				struct mlx5dv_qp_init_attr *mlx5_attr)
{
	struct mxedv_qp_init_attr mxe_attr = {
		.comp_mask = MXEDV_QP_INIT_ATTR_DC,
	};
	struct ibv_qp_init_attr_ex ours = *attr;
	struct ibv_qp *qp;

	if (!(mlx5_attr->comp_mask & MLX5DV_QP_INIT_ATTR_MASK_DC)) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	/* A ConnectX ignores what a DC QP does not have. */
	if (mlx5_attr->dc_init_attr.dc_type == MLX5DV_DCTYPE_DCT) {
		mxe_attr.dc_type = MXEDV_DCTYPE_DCT;
		mxe_attr.dct_access_key = mlx5_attr->dc_init_attr.dct_access_key;
		memset(&ours.cap, 0, sizeof(ours.cap));
	} else {
		mxe_attr.dc_type = MXEDV_DCTYPE_DCI;
		ours.srq = NULL;
		ours.cap.max_recv_wr = 0;
		ours.cap.max_recv_sge = 0;
	}
	qp = mxedv_create_qp(context, &ours, &mxe_attr);
	if (qp)
		attr->cap = ours.cap;
	return qp;
}

bool mlx5dv_is_supported(struct ibv_device *device)
{
	return mxedv_is_supported(device);
}

struct ibv_context *
mlx5dv_open_device(struct ibv_device *device,
		   struct mlx5dv_context_attr *attr __attribute__((unused)))
{
	return ibv_open_device(device);
}

int mlx5dv_query_device(struct ibv_context *context __attribute__((unused)),
			struct mlx5dv_context *attrs)
{
	memset(attrs, 0, sizeof(*attrs));
	return 0;
}

int ibv_query_device(struct ibv_context *context, struct ibv_device_attr *attr)
{
	int (*next)(struct ibv_context *context, struct ibv_device_attr *attr);
	int ret;

	next = (__typeof__(next))dlvsym(RTLD_NEXT, "ibv_query_device", "IBVERBS_1.1");
	if (!next)
		return ENOSYS;
	ret = next(context, attr);
	if (!ret && mxedv_is_supported(context->device)) {
		attr->vendor_id = VENDOR_ID;
		attr->vendor_part_id = CONNECTX_5;
	}
	return ret;
}
