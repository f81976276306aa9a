// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The target of the dynamically connected (DC) transport that an endpoint has
 * for one-sided operations of its peers. queues.c opens it.
 *
 * The address of the endpoint contains the number and the path MTU of the
 * target. Its access key is the id of the endpoint.
 */
#include <errno.h>
#include <string.h>

#include "mxefi.h"

int mxefi_dct_open(struct mxefi_ep *ep)
{
	struct mxefi_device *dev = &ep->dom->dev;
	struct ibv_exp_dct_init_attr attr = {
		.pd = ep->dom->pd,
		.cq = ep->dom->cq,
		.srq = ep->srq,
		.dc_key = ep->ud.name.id,
		.port = 1,
		.access_flags = mxefi_peer_access(ep),
		.min_rnr_timer = 1,
		.mtu = dev->port.active_mtu,
		.gid_index = dev->gid_index,
		.hop_limit = 64,
	};

	ep->dct = ibv_exp_create_dct(dev->ctx, &attr);
	if (!ep->dct) {
		int err = errno;

		mxefi_warn(FI_LOG_EP_CTRL, "cannot create a DC target: %s\n",
			   strerror(err));
		return -err;
	}
	ep->ud.name.dct = (uint32_t)attr.mtu << MXEFI_DCT_MTU_SHIFT |
			  ep->dct->dct_num;
	return 0;
}

void mxefi_dct_close(struct mxefi_ep *ep)
{
	if (ep->dct)
		ibv_exp_destroy_dct(ep->dct);
	ep->dct = NULL;
}
