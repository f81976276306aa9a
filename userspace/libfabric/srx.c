// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Shared receive contexts: receives for the messages of several endpoints, and
 * the messages that no receive has matched yet. A receive is reported as the
 * endpoint of its message is bound.
 */
#include <stdlib.h>

#include "domain.h"
#include "match.h"
#include "msg.h"
#include "progress.h"
#include "provider.h"
#include "recv.h"
#include "srx.h"
#include "tagged.h"

#define CAPS (FI_MSG | FI_TAGGED | FI_RECV | FI_MULTI_RECV)

static int srx_close(struct fid *fid)
{
	struct mxefi_srx *srx = fid_to_srx(fid);

	if (mxefi_domain_release(srx->dom, &srx->users))
		return -FI_EBUSY;
	mxefi_match_teardown(&srx->recvs);
	free(srx);
	return 0;
}

static ssize_t srx_cancel(fid_t fid, void *context)
{
	struct mxefi_srx *srx = fid_to_srx(fid);
	ssize_t ret;

	pthread_mutex_lock(&srx->dom->lock);
	ret = mxefi_recv_cancel(&srx->recvs, context);
	pthread_mutex_unlock(&srx->dom->lock);
	return ret;
}

static int srx_getopt(fid_t fid, int level, int optname, void *optval,
		      size_t *optlen)
{
	if (level != FI_OPT_ENDPOINT || optname != FI_OPT_MIN_MULTI_RECV)
		return -FI_ENOPROTOOPT;
	return mxefi_store_size(fid_to_srx(fid)->recvs.min_multi_recv, optval,
				optlen);
}

static int srx_setopt(fid_t fid, int level, int optname, const void *optval,
		      size_t optlen)
{
	struct mxefi_srx *srx = fid_to_srx(fid);
	int ret;

	if (level != FI_OPT_ENDPOINT || optname != FI_OPT_MIN_MULTI_RECV)
		return -FI_ENOPROTOOPT;
	pthread_mutex_lock(&srx->dom->lock);
	ret = mxefi_match_set_min(&srx->recvs, optval, optlen);
	pthread_mutex_unlock(&srx->dom->lock);
	return ret;
}

static struct fi_ops srx_fi_ops = {
	.size = sizeof(struct fi_ops),
	.close = srx_close,
	.bind = mxefi_no_bind,
	.control = mxefi_no_control,
	.ops_open = mxefi_no_ops_open,
};

static struct fi_ops_ep srx_ops = {
	.size = sizeof(struct fi_ops_ep),
	.cancel = srx_cancel,
	.getopt = srx_getopt,
	.setopt = srx_setopt,
};

int mxefi_srx_open(struct fid_domain *domain, struct fi_rx_attr *attr,
		   struct fid_ep **fid, void *context)
{
	struct mxefi_srx *srx = calloc(1, sizeof(*srx));

	if (!srx)
		return -FI_ENOMEM;
	srx->dom = to_domain(domain);
	srx->caps = attr && attr->caps ? attr->caps & CAPS : CAPS;
	srx->self.rx_flags = attr ? attr->op_flags : 0;
	mxefi_match_setup(&srx->recvs);
	srx->self.fid.fid.fclass = FI_CLASS_SRX_CTX;
	srx->self.fid.fid.context = context;
	srx->self.fid.fid.ops = &srx_fi_ops;
	srx->self.fid.ops = &srx_ops;
	srx->self.fid.msg = &mxefi_msg_ops;
	srx->self.fid.tagged = &mxefi_tagged_ops;
	mxefi_domain_hold(srx->dom);
	*fid = &srx->self.fid;
	return 0;
}
