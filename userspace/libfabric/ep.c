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
static int bind_srx(const struct mxefi_handle *handle, struct mxefi_srx *srx)
{
	struct mxefi_rx *rx = handle->rx;

	if (!rx || srx->dom != handle->ep->dom || rx->srx || handle->ep->enabled)
		return -FI_EINVAL;
	rx->srx = srx;
	rx->recvs = &srx->recvs;
	srx->users++;
	return 0;
}

static int bind_stx(const struct mxefi_ep *ep, const struct mxefi_stx *stx)
{
	return stx->dom == ep->dom ? 0 : -FI_EINVAL;
}

static int ep_bind(struct fid *fid, struct fid *bfid, uint64_t flags)
{
	struct mxefi_handle *handle = fid_to_handle(fid);
	struct mxefi_ep *ep = handle->ep;
	int ret;

	/* As other providers do, also bind to endpoints that are enabled. */
	pthread_mutex_lock(&ep->dom->lock);
	if (bfid->fclass == FI_CLASS_CQ)
		ret = mxefi_context_bind_cq(handle,
					    container_of(bfid, struct mxefi_cq,
							 fid.fid), flags);
	else if (bfid->fclass == FI_CLASS_CNTR)
		ret = mxefi_context_bind_cntr(handle,
					      container_of(bfid,
							   struct mxefi_cntr,
							   fid.fid), flags);
	else if (bfid->fclass == FI_CLASS_AV)
		ret = bind_av(ep, container_of(bfid, struct mxefi_av, fid.fid));
	else if (bfid->fclass == FI_CLASS_SRX_CTX)
		ret = bind_srx(handle, fid_to_srx(bfid));
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

/* True if what a handle has reports its operations. */
static bool is_bound(const struct mxefi_handle *handle)
{
	const uint64_t active = FI_SEND | FI_READ | FI_WRITE;
	const struct mxefi_tx *tx = handle->tx;
	const struct mxefi_rx *rx = handle->rx;
	uint64_t caps = handle->ep->caps;

	if (tx && caps & active && !tx->cq && !tx->send_cntr && !tx->read_cntr &&
	    !tx->write_cntr)
		return false;
	return !rx || !(caps & FI_RECV) || rx->cq || rx->recv_cntr;
}

static int enable(struct mxefi_ep *ep)
{
	int ret;

	/* Setup that has failed is not repeated. */
	if (ep->enabled || ep->closing)
		return -FI_EOPBADSTATE;
	if (ep->is_msg && !ep->eq)
		return -FI_ENOEQ;
	if (!ep->is_msg && !ep->av)
		return -FI_ENOAV;
	if (!is_bound(&ep->self))
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
	const uint64_t tx = MXEFI_TX_FLAGS | FI_FENCE | FI_TRIGGER;
	const uint64_t rx = MXEFI_RX_FLAGS | FI_TRIGGER;
	uint64_t direction = flags & directions;

	flags &= ~directions;
	if (direction == FI_TRANSMIT && !(flags & ~tx))
		handle->tx_flags = flags;
	else if (direction == FI_RECV && !(flags & ~rx))
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
	alias->is_alias = true;
	alias->ep->num_handles++;
	*args->fid = &alias->fid.fid;
	return 0;
}

static int ep_control(struct fid *fid, int command, void *arg)
{
	struct mxefi_ep *ep = fid_to_ep(fid);
	struct mxefi_handle *handle = fid_to_handle(fid);
	int ret;

	pthread_mutex_lock(&ep->dom->lock);
	switch (command) {
	case FI_ENABLE:
		if (handle == &ep->self)
			ret = enable(ep);
		else
			ret = is_bound(handle) ? 0 : -FI_ENOCQ;
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

/* Operations in flight end without an event. */
static void close_context(struct mxefi_handle *handle)
{
	mxefi_context_release(handle->tx, handle->rx);
	if (handle->tx)
		handle->tx->is_open = false;
	if (!handle->rx)
		return;
	handle->rx->is_open = false;
	if (!handle->rx->srx)
		mxefi_recv_cancel_all(handle->rx->recvs);
}

/* Closes an alias or a context. */
static int close_handle(struct mxefi_handle *handle)
{
	struct mxefi_ep *ep = handle->ep;

	pthread_mutex_lock(&ep->dom->lock);
	if (!handle->is_alias)
		close_context(handle);
	ep->num_handles--;
	pthread_mutex_unlock(&ep->dom->lock);
	free(handle);
	return 0;
}

static void release_recvs(struct mxefi_rx *rx)
{
	if (rx->srx) {
		mxefi_match_forget(rx);
		rx->srx->users--;
	}
	mxefi_match_teardown(&rx->own_recvs);
}

static void free_ep(struct mxefi_ep *ep)
{
	free(ep->txs);
	free(ep->rxs);
	free(ep);
}

static int ep_close(struct fid *fid)
{
	struct mxefi_ep *ep = fid_to_ep(fid);

	if (fid != &ep->self.fid.fid)
		return close_handle(fid_to_handle(fid));
	pthread_mutex_lock(&ep->dom->lock);
	if (ep->num_handles) {
		pthread_mutex_unlock(&ep->dom->lock);
		return -FI_EBUSY;
	}
	mxefi_deferred_forget(ep);
	if (ep->enabled)
		mxefi_queues_teardown(ep);
	mxefi_op_teardown(ep);
	for (size_t i = 0; i < ep->num_rxs; i++) {
		release_recvs(&ep->rxs[i]);
		mxefi_context_release(NULL, &ep->rxs[i]);
	}
	for (size_t i = 0; i < ep->num_txs; i++)
		mxefi_context_release(&ep->txs[i], NULL);
	if (ep->av)
		ep->av->users--;
	ep->dom->users--;
	pthread_mutex_unlock(&ep->dom->lock);
	if (ep->eq)
		mxefi_eq_forget(ep->eq, fid);
	free(ep->cm_start);
	free(ep->cm_end);
	free_ep(ep);
	return 0;
}

static ssize_t ep_cancel(fid_t fid, void *context)
{
	struct mxefi_ep *ep = fid_to_ep(fid);
	const struct mxefi_rx *rx = fid_to_handle(fid)->rx;
	ssize_t ret = -FI_ENOENT;

	pthread_mutex_lock(&ep->dom->lock);
	if (rx && !rx->srx)
		ret = mxefi_recv_cancel(rx->recvs, context);
	if (ret)
		ret = mxefi_deferred_cancel(ep, context);
	pthread_mutex_unlock(&ep->dom->lock);
	return ret;
}

static int ep_getopt(fid_t fid, int level, int optname, void *optval,
		     size_t *optlen)
{
	const struct mxefi_rx *rx = fid_to_handle(fid)->rx;
	struct mxefi_ep *ep = fid_to_ep(fid);

	if (level != FI_OPT_ENDPOINT)
		return -FI_ENOPROTOOPT;
	if (optname == FI_OPT_MIN_MULTI_RECV && rx)
		return mxefi_store_size(rx->recvs->min_multi_recv, optval,
					optlen);
	if (optname == FI_OPT_CM_DATA_SIZE && ep->is_msg)
		return mxefi_store_size(MXEFI_CM_DATA, optval, optlen);
	return -FI_ENOPROTOOPT;
}

static int ep_setopt(fid_t fid, int level, int optname, const void *optval,
		     size_t optlen)
{
	struct mxefi_rx *rx = fid_to_handle(fid)->rx;
	struct mxefi_ep *ep = fid_to_ep(fid);
	int ret;

	if (level != FI_OPT_ENDPOINT || optname != FI_OPT_MIN_MULTI_RECV || !rx)
		return -FI_ENOPROTOOPT;
	pthread_mutex_lock(&ep->dom->lock);
	ret = mxefi_match_set_min(rx->recvs, optval, optlen);
	pthread_mutex_unlock(&ep->dom->lock);
	return ret;
}

static int ep_tx_ctx(struct fid_ep *sep, int index, struct fi_tx_attr *attr,
		     struct fid_ep **ep, void *context);
static int ep_rx_ctx(struct fid_ep *sep, int index, struct fi_rx_attr *attr,
		     struct fid_ep **ep, void *context);

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

/* Sets what every handle has. */
static void init_handle(struct mxefi_handle *handle, size_t fclass,
			void *context)
{
	handle->fid.fid.fclass = fclass;
	handle->fid.fid.context = context;
	handle->fid.fid.ops = &ep_fi_ops;
	handle->fid.ops = &ep_ops;
	handle->fid.cm = &mxefi_cm_ops;
	handle->fid.msg = &mxefi_msg_ops;
	handle->fid.rma = &mxefi_rma_ops;
	handle->fid.tagged = &mxefi_tagged_ops;
	handle->fid.atomic = &mxefi_atomic_ops;
}

/* ---- contexts of scalable endpoints ------------------------------------- */

static bool is_scalable(const struct mxefi_ep *ep)
{
	return ep->self.fid.fid.fclass == FI_CLASS_SEP;
}

/* Opens a context that is not open yet. Takes the lock itself. */
static int open_context(const struct mxefi_handle *from, struct fid_ep **fid,
			bool *is_open)
{
	struct mxefi_ep *ep = from->ep;
	struct mxefi_handle *handle;

	handle = malloc(sizeof(*handle));
	if (!handle)
		return -FI_ENOMEM;
	*handle = *from;
	pthread_mutex_lock(&ep->dom->lock);
	if (*is_open) {
		pthread_mutex_unlock(&ep->dom->lock);
		free(handle);
		return -FI_EBUSY;
	}
	*is_open = true;
	ep->num_handles++;
	pthread_mutex_unlock(&ep->dom->lock);
	*fid = &handle->fid;
	return 0;
}

static int ep_tx_ctx(struct fid_ep *sep, int index, struct fi_tx_attr *attr,
		     struct fid_ep **fid, void *context)
{
	struct mxefi_ep *ep = to_ep(sep);
	struct mxefi_handle handle = { .ep = ep };

	if (!is_scalable(ep) || index < 0 || (size_t)index >= ep->num_txs)
		return -FI_EINVAL;
	handle.tx = &ep->txs[index];
	handle.tx_flags = attr ? attr->op_flags : ep->self.tx_flags;
	init_handle(&handle, FI_CLASS_TX_CTX, context);
	return open_context(&handle, fid, &handle.tx->is_open);
}

static int ep_rx_ctx(struct fid_ep *sep, int index, struct fi_rx_attr *attr,
		     struct fid_ep **fid, void *context)
{
	struct mxefi_ep *ep = to_ep(sep);
	struct mxefi_handle handle = { .ep = ep };

	if (!is_scalable(ep) || index < 0 || (size_t)index >= ep->num_rxs)
		return -FI_EINVAL;
	handle.rx = &ep->rxs[index];
	handle.rx_flags = attr ? attr->op_flags : ep->self.rx_flags;
	init_handle(&handle, FI_CLASS_RX_CTX, context);
	return open_context(&handle, fid, &handle.rx->is_open);
}

/* ---- opening endpoints -------------------------------------------------- */

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

/* Opens an endpoint with so many contexts. */
static int open_ep(struct fid_domain *domain, struct fi_info *info,
		   size_t num_txs, size_t num_rxs, struct mxefi_ep **new_ep)
{
	struct mxefi_domain *dom = to_domain(domain);
	struct mxefi_ep *ep = calloc(1, sizeof(*ep));
	int ret;

	if (!ep)
		return -FI_ENOMEM;
	ep->dom = dom;
	ep->caps = info->caps;
	ep->ud.service = service_of(info);
	ep->self.ep = ep;
	ep->self.tx_flags = info->tx_attr ? info->tx_attr->op_flags : 0;
	ep->self.rx_flags = info->rx_attr ? info->rx_attr->op_flags : 0;
	ep->num_txs = num_txs;
	ep->num_rxs = num_rxs;
	ep->txs = calloc(num_txs, sizeof(*ep->txs));
	ep->rxs = calloc(num_rxs, sizeof(*ep->rxs));
	ret = ep->txs && ep->rxs ? mxefi_op_setup(ep) : -FI_ENOMEM;
	if (!ret)
		ret = take_request(ep, info);
	if (ret) {
		mxefi_op_teardown(ep);
		free_ep(ep);
		return ret;
	}
	mxefi_recv_setup(ep);
	mxefi_access_setup(ep);
	mxefi_deferred_setup(ep);
	mxefi_domain_hold(dom);
	*new_ep = ep;
	return 0;
}

int mxefi_ep_open(struct fid_domain *domain, struct fi_info *info,
		  struct fid_ep **fid, void *context)
{
	struct mxefi_ep *ep;
	int ret;

	if (!info || !info->ep_attr || (info->ep_attr->type != FI_EP_RDM &&
					info->ep_attr->type != FI_EP_MSG))
		return -FI_EINVAL;
	ret = open_ep(domain, info, 1, 1, &ep);
	if (ret)
		return ret;
	ep->self.tx = &ep->txs[0];
	ep->self.rx = &ep->rxs[0];
	init_handle(&ep->self, FI_CLASS_EP, context);
	*fid = &ep->self.fid;
	return 0;
}

/* Programs call the contexts, and not the endpoint itself. */
int mxefi_ep_open_scalable(struct fid_domain *domain, struct fi_info *info,
			   struct fid_ep **fid, void *context)
{
	const struct fi_ep_attr *attr = info ? info->ep_attr : NULL;
	struct mxefi_ep *ep;
	int ret;

	if (!attr || attr->type != FI_EP_RDM || !attr->tx_ctx_cnt ||
	    !attr->rx_ctx_cnt || attr->tx_ctx_cnt > MXEFI_MAX_CTX ||
	    attr->rx_ctx_cnt > MXEFI_MAX_CTX)
		return -FI_EINVAL;
	ret = open_ep(domain, info, attr->tx_ctx_cnt, attr->rx_ctx_cnt, &ep);
	if (ret)
		return ret;
	init_handle(&ep->self, FI_CLASS_SEP, context);
	*fid = &ep->self.fid;
	return 0;
}
