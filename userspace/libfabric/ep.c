// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Endpoints of types FI_EP_RDM and FI_EP_MSG. */
#include <stdlib.h>
#include <string.h>

#include "access.h"
#include "atomic.h"
#include "av.h"
#include "cm.h"
#include "cntr.h"
#include "container.h"
#include "cq.h"
#include "deferred.h"
#include "domain.h"
#include "ep.h"
#include "eq.h"
#include "match.h"
#include "msg.h"
#include "name.h"
#include "op.h"
#include "progress.h"
#include "provider.h"
#include "queues.h"
#include "recv.h"
#include "rma.h"
#include "srx.h"
#include "stx.h"
#include "tagged.h"
#include "wire.h"

/* The flags of calls that have none of their own. */
#define TX_FLAGS (FI_COMPLETION | FI_INJECT | FI_INJECT_COMPLETE | \
		  FI_TRANSMIT_COMPLETE | FI_DELIVERY_COMPLETE | FI_FENCE | \
		  FI_TRIGGER)
#define RX_FLAGS (FI_COMPLETION | FI_MULTI_RECV | FI_TRIGGER)

static int bind_cq(struct mxefi_ep *ep, struct mxefi_cq *cq, uint64_t flags)
{
	if (cq->dom != ep->dom || !(flags & (FI_TRANSMIT | FI_RECV)) ||
	    flags & ~(uint64_t)(FI_TRANSMIT | FI_RECV |
				FI_SELECTIVE_COMPLETION) ||
	    (flags & FI_TRANSMIT && ep->tx_cq) ||
	    (flags & FI_RECV && ep->rx_cq))
		return -FI_EINVAL;
	if (flags & FI_TRANSMIT) {
		ep->tx_cq = cq;
		ep->tx_selective = flags & FI_SELECTIVE_COMPLETION;
		cq->users++;
	}
	if (flags & FI_RECV) {
		ep->rx_cq = cq;
		ep->rx_selective = flags & FI_SELECTIVE_COMPLETION;
		cq->users++;
	}
	return 0;
}

static int bind_cntr(struct mxefi_ep *ep, struct mxefi_cntr *cntr,
		     uint64_t flags)
{
	const struct {
		uint64_t flag;
		struct mxefi_cntr **cntr;
	} kinds[] = {
		{ FI_SEND, &ep->send_cntr },
		{ FI_RECV, &ep->recv_cntr },
		{ FI_READ, &ep->read_cntr },
		{ FI_WRITE, &ep->write_cntr },
		{ FI_REMOTE_READ, &ep->remote_read_cntr },
		{ FI_REMOTE_WRITE, &ep->remote_write_cntr },
	};
	const uint64_t remote = FI_REMOTE_READ | FI_REMOTE_WRITE;

	/*
	 * Programs that did not ask for FI_RMA_EVENT may name the events of
	 * peers, but not alone.
	 */
	if (!(ep->caps & FI_RMA_EVENT)) {
		if (flags & remote && !(flags & ~remote))
			return -FI_ENOSYS;
		flags &= ~remote;
	}
	if (cntr->dom != ep->dom || !flags ||
	    flags & ~(FI_SEND | FI_RECV | FI_READ | FI_WRITE | remote))
		return -FI_EINVAL;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (flags & kinds[i].flag && *kinds[i].cntr)
			return -FI_EINVAL;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		if (flags & kinds[i].flag) {
			*kinds[i].cntr = cntr;
			cntr->users++;
		}
	}
	return 0;
}

/* Only the endpoints that programs connect report events. */
static int bind_eq(struct mxefi_ep *ep, struct mxefi_eq *eq)
{
	if (ep->eq)
		return -FI_EINVAL;
	ep->eq = eq;
	mxefi_eq_hold(eq);
	return 0;
}

static int bind_av(struct mxefi_ep *ep, struct mxefi_av *av)
{
	if (av->dom != ep->dom || ep->av || ep->is_msg)
		return -FI_EINVAL;
	ep->av = av;
	av->users++;
	return 0;
}

/* An endpoint that is enabled may have receives of its own. */
static int bind_srx(struct mxefi_ep *ep, struct mxefi_srx *srx)
{
	if (srx->dom != ep->dom || ep->srx || ep->enabled)
		return -FI_EINVAL;
	ep->srx = srx;
	ep->rx_ctx = &srx->rx_ctx;
	srx->users++;
	return 0;
}

static int bind_stx(const struct mxefi_ep *ep, const struct mxefi_stx *stx)
{
	return stx->dom == ep->dom ? 0 : -FI_EINVAL;
}

static int ep_bind(struct fid *fid, struct fid *bfid, uint64_t flags)
{
	struct mxefi_ep *ep = fid_to_ep(fid);
	int ret;

	/* As other providers do, also bind to endpoints that are enabled. */
	pthread_mutex_lock(&ep->dom->lock);
	if (bfid->fclass == FI_CLASS_CQ)
		ret = bind_cq(ep, container_of(bfid, struct mxefi_cq, fid.fid),
			      flags);
	else if (bfid->fclass == FI_CLASS_CNTR)
		ret = bind_cntr(ep, container_of(bfid, struct mxefi_cntr,
						 fid.fid), flags);
	else if (bfid->fclass == FI_CLASS_AV)
		ret = bind_av(ep, container_of(bfid, struct mxefi_av, fid.fid));
	else if (bfid->fclass == FI_CLASS_SRX_CTX)
		ret = bind_srx(ep, fid_to_srx(bfid));
	else if (bfid->fclass == FI_CLASS_STX_CTX)
		ret = bind_stx(ep, container_of(bfid, struct mxefi_stx,
						fid.fid));
	else if (bfid->fclass == FI_CLASS_EQ)
		ret = bind_eq(ep, container_of(bfid, struct mxefi_eq, fid.fid));
	else
		ret = -FI_ENOSYS;
	pthread_mutex_unlock(&ep->dom->lock);
	return ret;
}

static int enable(struct mxefi_ep *ep)
{
	uint64_t active = FI_SEND | FI_READ | FI_WRITE;
	int ret;

	/* Setup that has failed is not repeated. */
	if (ep->enabled || ep->closing)
		return -FI_EOPBADSTATE;
	if (ep->is_msg && !ep->eq)
		return -FI_ENOEQ;
	if (!ep->is_msg && !ep->av)
		return -FI_ENOAV;
	if ((ep->caps & active && !ep->tx_cq && !ep->send_cntr &&
	     !ep->read_cntr && !ep->write_cntr) ||
	    (ep->caps & FI_RECV && !ep->rx_cq && !ep->recv_cntr))
		return -FI_ENOCQ;
	ret = mxefi_queues_setup(ep);
	if (ret) {
		mxefi_queues_teardown(ep);
		return ret;
	}
	ep->enabled = true;
	return 0;
}

/* Sets the flags of one direction, which is among them. */
static int set_flags(struct mxefi_handle *handle, uint64_t flags)
{
	const uint64_t directions = FI_TRANSMIT | FI_RECV;
	uint64_t direction = flags & directions;

	flags &= ~directions;
	if (direction == FI_TRANSMIT && !(flags & ~(uint64_t)TX_FLAGS))
		handle->tx_flags = flags;
	else if (direction == FI_RECV && !(flags & ~(uint64_t)RX_FLAGS))
		handle->rx_flags = flags;
	else
		return -FI_EINVAL;
	return 0;
}

static int get_flags(const struct mxefi_handle *handle, uint64_t *flags)
{
	if (*flags == FI_TRANSMIT)
		*flags = handle->tx_flags;
	else if (*flags == FI_RECV)
		*flags = handle->rx_flags;
	else
		return -FI_EINVAL;
	return 0;
}

static int add_alias(const struct mxefi_handle *from,
		     const struct fi_alias *args)
{
	struct mxefi_handle *alias = malloc(sizeof(*alias));
	int ret;

	if (!alias)
		return -FI_ENOMEM;
	*alias = *from;
	ret = set_flags(alias, args->flags);
	if (ret) {
		free(alias);
		return ret;
	}
	alias->ep->num_aliases++;
	*args->fid = &alias->fid.fid;
	return 0;
}

static int ep_control(struct fid *fid, int command, void *arg)
{
	struct mxefi_ep *ep = fid_to_ep(fid);
	struct mxefi_handle *handle = container_of(fid, struct mxefi_handle,
						   fid.fid);
	int ret;

	pthread_mutex_lock(&ep->dom->lock);
	switch (command) {
	case FI_ENABLE:
		ret = enable(ep);
		break;
	case FI_ALIAS:
		ret = add_alias(handle, arg);
		break;
	case FI_GETOPSFLAG:
		ret = get_flags(handle, arg);
		break;
	case FI_SETOPSFLAG:
		ret = set_flags(handle, *(const uint64_t *)arg);
		break;
	default:
		ret = -FI_ENOSYS;
	}
	pthread_mutex_unlock(&ep->dom->lock);
	return ret;
}

static int close_alias(struct mxefi_handle *alias)
{
	pthread_mutex_lock(&alias->ep->dom->lock);
	alias->ep->num_aliases--;
	pthread_mutex_unlock(&alias->ep->dom->lock);
	free(alias);
	return 0;
}

static int ep_close(struct fid *fid)
{
	struct mxefi_ep *ep = fid_to_ep(fid);
	struct mxefi_cntr *cntrs[] = {
		ep->send_cntr, ep->recv_cntr, ep->read_cntr, ep->write_cntr,
		ep->remote_read_cntr, ep->remote_write_cntr,
	};

	if (fid != &ep->self.fid.fid)
		return close_alias(container_of(fid, struct mxefi_handle,
						fid.fid));
	pthread_mutex_lock(&ep->dom->lock);
	if (ep->num_aliases) {
		pthread_mutex_unlock(&ep->dom->lock);
		return -FI_EBUSY;
	}
	mxefi_deferred_forget(ep);
	if (ep->enabled)
		mxefi_queues_teardown(ep);
	mxefi_op_teardown(ep);
	if (ep->srx) {
		mxefi_match_forget(ep);
		ep->srx->users--;
	}
	mxefi_match_teardown(&ep->own_rx_ctx);
	if (ep->tx_cq)
		ep->tx_cq->users--;
	if (ep->rx_cq)
		ep->rx_cq->users--;
	for (size_t i = 0; i < sizeof(cntrs) / sizeof(*cntrs); i++)
		if (cntrs[i])
			cntrs[i]->users--;
	if (ep->av)
		ep->av->users--;
	ep->dom->users--;
	pthread_mutex_unlock(&ep->dom->lock);
	if (ep->eq)
		mxefi_eq_forget(ep->eq, fid);
	free(ep->cm_start);
	free(ep->cm_end);
	free(ep);
	return 0;
}

static ssize_t ep_cancel(fid_t fid, void *context)
{
	struct mxefi_ep *ep = fid_to_ep(fid);
	ssize_t ret;

	pthread_mutex_lock(&ep->dom->lock);
	ret = ep->srx ? -FI_ENOENT :
			 mxefi_recv_cancel(ep->rx_ctx, context);
	if (ret)
		ret = mxefi_deferred_cancel(ep, context);
	pthread_mutex_unlock(&ep->dom->lock);
	return ret;
}

static int ep_getopt(fid_t fid, int level, int optname, void *optval,
		     size_t *optlen)
{
	struct mxefi_ep *ep = fid_to_ep(fid);

	if (level != FI_OPT_ENDPOINT)
		return -FI_ENOPROTOOPT;
	if (optname == FI_OPT_MIN_MULTI_RECV)
		return mxefi_store_size(ep->rx_ctx->min_multi_recv, optval,
					optlen);
	if (optname == FI_OPT_CM_DATA_SIZE && ep->is_msg)
		return mxefi_store_size(MXEFI_CM_DATA, optval, optlen);
	return -FI_ENOPROTOOPT;
}

static int ep_setopt(fid_t fid, int level, int optname, const void *optval,
		     size_t optlen)
{
	struct mxefi_ep *ep = fid_to_ep(fid);
	int ret;

	if (level != FI_OPT_ENDPOINT || optname != FI_OPT_MIN_MULTI_RECV)
		return -FI_ENOPROTOOPT;
	pthread_mutex_lock(&ep->dom->lock);
	ret = mxefi_match_set_min(ep->rx_ctx, optval, optlen);
	pthread_mutex_unlock(&ep->dom->lock);
	return ret;
}

static int ep_tx_ctx(struct fid_ep *sep, int index, struct fi_tx_attr *attr,
		     struct fid_ep **ep, void *context)
{
	return -FI_ENOSYS;
}

static int ep_rx_ctx(struct fid_ep *sep, int index, struct fi_rx_attr *attr,
		     struct fid_ep **ep, void *context)
{
	return -FI_ENOSYS;
}

static ssize_t ep_size_left(struct fid_ep *ep)
{
	return -FI_ENOSYS;
}

static struct fi_ops ep_fi_ops = {
	.size = sizeof(struct fi_ops),
	.close = ep_close,
	.bind = ep_bind,
	.control = ep_control,
	.ops_open = mxefi_no_ops_open,
};

static struct fi_ops_ep ep_ops = {
	.size = sizeof(struct fi_ops_ep),
	.cancel = ep_cancel,
	.getopt = ep_getopt,
	.setopt = ep_setopt,
	.tx_ctx = ep_tx_ctx,
	.rx_ctx = ep_rx_ctx,
	.rx_size_left = ep_size_left,
	.tx_size_left = ep_size_left,
};

/* Takes the request that the endpoint is to accept. */
static int take_request(struct mxefi_ep *ep, struct fi_info *info)
{
	struct mxefi_connreq *connreq;

	ep->is_msg = info->ep_attr->type == FI_EP_MSG;
	if (!info->handle)
		return 0;
	if (!ep->is_msg || info->handle->fclass != FI_CLASS_CONNREQ)
		return -FI_EINVAL;
	connreq = container_of(info->handle, struct mxefi_connreq, handle);
	ep->request = connreq->hello;
	free(connreq);
	info->handle = NULL;
	return 0;
}

/* The UDP port on which an endpoint tells its address, or 0. */
static uint32_t service_of(const struct fi_info *info)
{
	if (info->ep_attr->type != FI_EP_RDM)
		return 0;
	return mxefi_name_service(info->src_addr, info->src_addrlen);
}

int mxefi_ep_open(struct fid_domain *domain, struct fi_info *info,
		  struct fid_ep **fid, void *context)
{
	struct mxefi_domain *dom = to_domain(domain);
	struct mxefi_ep *ep;
	int ret;

	if (!info || !info->ep_attr || (info->ep_attr->type != FI_EP_RDM &&
					info->ep_attr->type != FI_EP_MSG))
		return -FI_EINVAL;
	ep = calloc(1, sizeof(*ep));
	if (!ep)
		return -FI_ENOMEM;
	ep->dom = dom;
	ep->caps = info->caps;
	ep->ud.service = service_of(info);
	ep->self.ep = ep;
	ep->self.tx_flags = info->tx_attr ? info->tx_attr->op_flags : 0;
	ep->self.rx_flags = info->rx_attr ? info->rx_attr->op_flags : 0;
	ret = mxefi_op_setup(ep);
	if (!ret)
		ret = take_request(ep, info);
	if (ret) {
		mxefi_op_teardown(ep);
		free(ep);
		return ret;
	}
	mxefi_recv_setup(ep);
	mxefi_access_setup(ep);
	mxefi_deferred_setup(ep);
	ep->self.fid.fid.fclass = FI_CLASS_EP;
	ep->self.fid.fid.context = context;
	ep->self.fid.fid.ops = &ep_fi_ops;
	ep->self.fid.ops = &ep_ops;
	ep->self.fid.cm = &mxefi_cm_ops;
	ep->self.fid.msg = &mxefi_msg_ops;
	ep->self.fid.rma = &mxefi_rma_ops;
	ep->self.fid.tagged = &mxefi_tagged_ops;
	ep->self.fid.atomic = &mxefi_atomic_ops;
	mxefi_domain_hold(dom);
	*fid = &ep->self.fid;
	return 0;
}
