// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Devices and ports: ibv_exp_query_port(), ibv_exp_query_gid_attr(),
 * ibv_exp_open_device(), ibv_exp_get_device_list(), ibv_exp_setenv() and
 * ibv_exp_get_provider_func().
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <infiniband/verbs_exp.h>

#include "calls.h"
#include "cq_ex.h"
#include "std.h"

static_assert(offsetof(struct ibv_port_attr, link_layer) ==
	      offsetof(struct ibv_exp_std_port_attr, link_layer),
	      "the attributes of a port are the same up to here");

EXP_EXPORT
int ibv_exp_query_port(struct ibv_context *context, uint8_t port_num,
		       struct ibv_exp_port_attr *attr)
{
	struct ibv_port_attr std;
	int err;

	if (attr->comp_mask & ~(uint32_t)IBV_EXP_QUERY_PORT_ATTR_MASKS)
		return exp_err(EINVAL);
	if ((attr->comp_mask & IBV_EXP_QUERY_PORT_ATTR_MASK1) &&
	    (attr->mask1 & ~(uint32_t)IBV_EXP_QUERY_PORT_MASK))
		return exp_err(EINVAL);
	err = ibv_query_port(context, port_num, &std);
	if (err)
		return exp_err(err);
	memcpy(&attr->port_attr, &std,
	       offsetof(struct ibv_exp_std_port_attr, reserved));
	attr->reserved = 0;
	return 0;
}

static enum ibv_exp_roce_gid_type gid_type_from_std(uint32_t std)
{
	return std == IBV_GID_TYPE_ROCE_V2 ? IBV_EXP_ROCE_V2_GID_TYPE :
					     IBV_EXP_IB_ROCE_V1_GID_TYPE;
}

EXP_EXPORT
int ibv_exp_query_gid_attr(struct ibv_context *context, uint8_t port_num,
			   unsigned int index, struct ibv_exp_gid_attr *attr)
{
	struct ibv_gid_entry entry;
	int err;

	if (exp_bad_mask(__func__, attr->comp_mask,
			 IBV_EXP_QUERY_GID_ATTR_RESERVED))
		return exp_err(EINVAL);
	err = ibv_query_gid_ex(context, port_num, index, &entry, 0);
	if (err)
		return exp_err(err);
	if (attr->comp_mask & IBV_EXP_QUERY_GID_ATTR_TYPE)
		attr->type = gid_type_from_std(entry.gid_type);
	if (attr->comp_mask & IBV_EXP_QUERY_GID_ATTR_GID)
		attr->gid = entry.gid;
	return 0;
}

EXP_EXPORT
struct ibv_context *ibv_exp_open_device(struct ibv_device *device,
					struct ibv_exp_open_device_attr *attr)
{
	if (exp_bad_mask(__func__, attr->comp_mask,
			 IBV_EXP_SET_CONTEXT_ATTR_RESERVED))
		return exp_null(EINVAL);
	if (attr->comp_mask & IBV_EXP_SET_ATTR_PEER_INFO)
		return exp_null(ENOSYS);
	return exp_open_device(device, exp_std()->open_device);
}

EXP_EXPORT
struct ibv_device **ibv_exp_get_device_list(int *num_devices)
{
	return ibv_get_device_list(num_devices);
}

/* Contexts have no private environment, so this changes that of the process. */
EXP_EXPORT
int ibv_exp_setenv(struct ibv_context *context, const char *name,
		   const char *value, int overwrite)
{
	(void)context;
	return setenv(name, value, overwrite) ? errno : 0;
}

EXP_EXPORT
int ibv_exp_use_priv_env(struct ibv_context *context)
{
	(void)context;
	return exp_err(ENOSYS);
}

/*
 * These call the operations that the context has at the time of the call,
 * because a backend may replace them after the program got the function.
 */
static int post_send(struct ibv_qp *qp, struct ibv_send_wr *wr,
		     struct ibv_send_wr **bad_wr)
{
	return ibv_post_send(qp, wr, bad_wr);
}

static int poll_cq(struct ibv_cq *cq, int num_entries, struct ibv_wc *wc)
{
	return ibv_poll_cq(cq, num_entries, wc);
}

static int post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr,
		     struct ibv_recv_wr **bad_wr)
{
	return ibv_post_recv(qp, wr, bad_wr);
}

EXP_EXPORT
void *ibv_exp_get_provider_func(struct ibv_context *context,
				enum ibv_exp_func_name name)
{
	(void)context;
	switch (name) {
	case IBV_EXP_POST_SEND_FUNC:
		return (void *)ibv_exp_post_send;
	case IBV_EXP_POLL_CQ_FUNC:
		return (void *)ibv_exp_poll_cq;
	case IBV_POST_SEND_FUNC:
		return (void *)post_send;
	case IBV_POLL_CQ_FUNC:
		return (void *)poll_cq;
	case IBV_POST_RECV_FUNC:
		return (void *)post_recv;
	default:
		return exp_null(EINVAL);
	}
}
