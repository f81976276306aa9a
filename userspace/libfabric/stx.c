// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Shared transmit contexts. */
#include <stdlib.h>

#include "container.h"
#include "domain.h"
#include "progress.h"
#include "provider.h"
#include "stx.h"

static int stx_close(struct fid *fid)
{
	struct mxefi_stx *stx = container_of(fid, struct mxefi_stx, fid.fid);

	pthread_mutex_lock(&stx->dom->lock);
	stx->dom->users--;
	pthread_mutex_unlock(&stx->dom->lock);
	free(stx);
	return 0;
}

static struct fi_ops stx_fi_ops = {
	.size = sizeof(struct fi_ops),
	.close = stx_close,
	.bind = mxefi_no_bind,
	.control = mxefi_no_control,
	.ops_open = mxefi_no_ops_open,
};

static ssize_t stx_cancel(fid_t fid, void *context)
{
	return -FI_ENOSYS;
}

static int stx_getopt(fid_t fid, int level, int optname, void *optval,
		      size_t *optlen)
{
	return -FI_ENOPROTOOPT;
}

static int stx_setopt(fid_t fid, int level, int optname, const void *optval,
		      size_t optlen)
{
	return -FI_ENOPROTOOPT;
}

static struct fi_ops_ep stx_ops = {
	.size = sizeof(struct fi_ops_ep),
	.cancel = stx_cancel,
	.getopt = stx_getopt,
	.setopt = stx_setopt,
};

int mxefi_stx_open(struct fid_domain *domain, struct fi_tx_attr *attr,
		   struct fid_stx **fid, void *context)
{
	struct mxefi_stx *stx = calloc(1, sizeof(*stx));

	if (!stx)
		return -FI_ENOMEM;
	stx->dom = to_domain(domain);
	stx->fid.fid.fclass = FI_CLASS_STX_CTX;
	stx->fid.fid.context = context;
	stx->fid.fid.ops = &stx_fi_ops;
	stx->fid.ops = &stx_ops;
	mxefi_domain_hold(stx->dom);
	*fid = &stx->fid;
	return 0;
}
