// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Domains: an open device with a protection domain, the completion queue of all
 * queue pairs, and the thread that makes progress.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "ah.h"
#include "atomic.h"
#include "atomic_op.h"
#include "atomic_plan.h"
#include "av.h"
#include "cntr.h"
#include "container.h"
#include "cq.h"
#include "deferred.h"
#include "device.h"
#include "domain.h"
#include "ep.h"
#include "fabric.h"
#include "mr.h"
#include "progress.h"
#include "provider.h"
#include "srx.h"
#include "stx.h"

#define CQ_SIZE 32768
#define CONNECT_TIMEOUT_MS 30000
#define MAX_CONNS 8192
#define NUM_DCIS 8
#define MAX_DCIS 256

/* Reads a positive number from the environment. */
static unsigned int get_param(const char *name, unsigned int otherwise)
{
	int value;

	if (fi_param_get_int(mxefi_prov, name, &value) || value <= 0)
		return otherwise;
	return (unsigned int)value;
}

static enum mxefi_dc_mode get_dc_mode(void)
{
	int value;

	if (fi_param_get_bool(mxefi_prov, "dc", &value))
		return MXEFI_DC_AUTO;
	return value ? MXEFI_DC_ALWAYS : MXEFI_DC_NEVER;
}

static int open_device(struct mxefi_device *dev, const char *name)
{
	struct ibv_device **list;
	int ret = -FI_ENODEV, n;

	list = ibv_get_device_list(&n);
	if (!list)
		return -errno;
	for (int i = 0; i < n; i++) {
		if (strcmp(ibv_get_device_name(list[i]), name))
			continue;
		ret = mxefi_device_open(dev, list[i]);
		break;
	}
	ibv_free_device_list(list);
	return ret;
}

/* The thread takes events until there are none. */
static int set_nonblock(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0)
		return -errno;
	return 0;
}

static int open_queues(struct mxefi_domain *dom)
{
	int size = CQ_SIZE;

	if (size > dom->dev.attr.max_cqe)
		size = dom->dev.attr.max_cqe;
	dom->pd = ibv_alloc_pd(dom->dev.ctx);
	if (dom->pd)
		dom->channel = ibv_create_comp_channel(dom->dev.ctx);
	if (dom->channel)
		dom->cq = ibv_create_cq(dom->dev.ctx, size, NULL, dom->channel,
					0);
	if (!dom->cq)
		return -errno;
	dom->cqe_left = size;
	return set_nonblock(dom->channel->fd) ? :
	       set_nonblock(dom->dev.ctx->async_fd);
}

/* Frees a domain without a thread. Its queues may be missing. */
static void free_domain(struct mxefi_domain *dom)
{
	if (dom->cq)
		ibv_destroy_cq(dom->cq);
	if (dom->channel)
		ibv_destroy_comp_channel(dom->channel);
	if (dom->pd)
		ibv_dealloc_pd(dom->pd);
	mxefi_device_close(&dom->dev);
	pthread_cond_destroy(&dom->resolver.work);
	pthread_cond_destroy(&dom->events);
	pthread_mutex_destroy(&dom->lock);
	free(dom);
}

static int dom_close(struct fid *fid)
{
	struct mxefi_domain *dom =
		container_of(fid, struct mxefi_domain, fid.fid);
	unsigned int users;

	pthread_mutex_lock(&dom->lock);
	users = dom->users;
	pthread_mutex_unlock(&dom->lock);
	if (users)
		return -FI_EBUSY;
	mxefi_ah_stop(dom);
	mxefi_progress_stop(dom);
	mxefi_fabric_release(dom->fabric);
	free_domain(dom);
	return 0;
}

static int dom_control(struct fid *fid, int command, void *arg)
{
	return mxefi_deferred_control(container_of(fid, struct mxefi_domain,
					       fid.fid), command, arg);
}

static int dom_poll_open(struct fid_domain *domain, struct fi_poll_attr *attr,
			 struct fid_poll **pollset)
{
	return -FI_ENOSYS;
}

static int dom_query_collective(struct fid_domain *domain,
				enum fi_collective_op coll,
				struct fi_collective_attr *attr,
				uint64_t flags)
{
	return -FI_ENOSYS;
}

static struct fi_ops dom_fi_ops = {
	.size = sizeof(struct fi_ops),
	.close = dom_close,
	.bind = mxefi_no_bind,
	.control = dom_control,
	.ops_open = mxefi_no_ops_open,
};

static struct fi_ops_domain dom_ops = {
	.size = sizeof(struct fi_ops_domain),
	.av_open = mxefi_av_open,
	.cq_open = mxefi_cq_open,
	.endpoint = mxefi_ep_open,
	.scalable_ep = mxefi_ep_open_scalable,
	.cntr_open = mxefi_cntr_open,
	.poll_open = dom_poll_open,
	.stx_ctx = mxefi_stx_open,
	.srx_ctx = mxefi_srx_open,
	.query_atomic = mxefi_atomic_query,
	.query_collective = dom_query_collective,
};

int mxefi_domain_open(struct fid_fabric *fabric, struct fi_info *info,
		      struct fid_domain **fid, void *context)
{
	struct mxefi_domain *dom;
	int ret;

	if (!info->domain_attr || !info->domain_attr->name)
		return -FI_EINVAL;
	dom = calloc(1, sizeof(*dom));
	if (!dom)
		return -FI_ENOMEM;
	ret = open_device(&dom->dev, info->domain_attr->name);
	if (ret) {
		free(dom);
		return ret;
	}
	for (unsigned int type = 0; type < MXEFI_NUM_TYPES; type++)
		if (mxefi_unit_possible(dom->dev.sizes, type))
			dom->atomic_types |= 1ULL << type;
	mxefi_lock_init(&dom->lock, &dom->events);
	pthread_cond_init(&dom->resolver.work, NULL);
	mxefi_deferred_setup_domain(dom);
	dom->connect_timeout_ms = get_param("connect_timeout",
					    CONNECT_TIMEOUT_MS);
	dom->max_conns = get_param("max_connections", MAX_CONNS);
	dom->dc_mode = get_dc_mode();
	dom->num_dcis = get_param("dc_initiators", NUM_DCIS);
	if (dom->num_dcis > MAX_DCIS)
		dom->num_dcis = MAX_DCIS;
	ret = open_queues(dom);
	if (!ret)
		ret = mxefi_progress_start(dom);
	if (ret) {
		mxefi_warn(FI_LOG_DOMAIN, "%s: %s\n", info->domain_attr->name,
			   fi_strerror(-ret));
		free_domain(dom);
		return ret;
	}
	dom->fabric = mxefi_fabric_hold(fabric);
	dom->fid.fid.fclass = FI_CLASS_DOMAIN;
	dom->fid.fid.context = context;
	dom->fid.fid.ops = &dom_fi_ops;
	dom->fid.ops = &dom_ops;
	dom->fid.mr = &mxefi_mr_ops;
	*fid = &dom->fid;
	return 0;
}
