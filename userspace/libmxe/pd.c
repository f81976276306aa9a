// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Protection domains, thread domains, parent domains and XRC domains. */
#include <errno.h>
#include <stdlib.h>

#include "container.h"
#include "pd.h"
#include "rdmav.h"

enum {
	MXE_PARENT_DOMAIN_ATTRS = IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS |
				  IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT,
};

/* Adds to a number of users, and returns the new number. */
static int mxe_users_add(int *users, int n)
{
	return __atomic_add_fetch(users, n, __ATOMIC_ACQ_REL);
}

struct ibv_pd *mxe_alloc_pd(struct ibv_context *context)
{
	struct ibv_alloc_pd cmd;
	struct ib_uverbs_alloc_pd_resp resp;
	struct mxe_pd *pd;
	int ret;

	pd = calloc(1, sizeof(*pd));
	if (!pd)
		return NULL;
	ret = ibv_cmd_alloc_pd(context, &pd->ibpd, &cmd, sizeof(cmd), &resp,
			       sizeof(resp));
	if (ret) {
		free(pd);
		errno = ret;
		return NULL;
	}
	return &pd->ibpd;
}

/*
 * The kernel does not know parent domains. It sees the protection domain, which
 * has the same handle. attr->alloc is never called, because the kernel
 * allocates the memory of queues.
 */
struct ibv_pd *mxe_alloc_parent_domain(struct ibv_context *context,
				       struct ibv_parent_domain_init_attr *attr)
{
	struct mxe_pd *pd;

	if (!attr->pd) {
		errno = EINVAL;
		return NULL;
	}
	if (attr->comp_mask & ~(uint32_t)MXE_PARENT_DOMAIN_ATTRS) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	pd = calloc(1, sizeof(*pd));
	if (!pd)
		return NULL;
	pd->ibpd.context = context;
	pd->ibpd.handle = attr->pd->handle;
	pd->extends = to_mpd(attr->pd);
	mxe_users_add(&pd->extends->users, 1);
	if (attr->td) {
		pd->td = to_mtd(attr->td);
		mxe_users_add(&pd->td->users, 1);
	}
	return &pd->ibpd;
}

static void mxe_free_parent_domain(struct mxe_pd *pd)
{
	if (pd->td)
		mxe_users_add(&pd->td->users, -1);
	mxe_users_add(&pd->extends->users, -1);
	free(pd);
}

int mxe_dealloc_pd(struct ibv_pd *ibpd)
{
	struct mxe_pd *pd = to_mpd(ibpd);
	int ret;

	if (mxe_users_add(&pd->users, 0))
		return EBUSY;
	if (pd->extends) {
		mxe_free_parent_domain(pd);
		return 0;
	}
	ret = ibv_cmd_dealloc_pd(ibpd);
	if (!ret)
		free(pd);
	return ret;
}

/* The kernel checks the handle when a verb uses the protection domain. */
struct ibv_pd *mxe_import_pd(struct ibv_context *context, uint32_t handle)
{
	struct mxe_pd *pd;

	pd = calloc(1, sizeof(*pd));
	if (!pd)
		return NULL;
	pd->ibpd.context = context;
	pd->ibpd.handle = handle;
	return &pd->ibpd;
}

void mxe_unimport_pd(struct ibv_pd *ibpd)
{
	free(to_mpd(ibpd));
}

struct ibv_td *mxe_alloc_td(struct ibv_context *context,
			    struct ibv_td_init_attr *attr)
{
	struct mxe_td *td;

	if (attr->comp_mask) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	td = calloc(1, sizeof(*td));
	if (!td)
		return NULL;
	td->ibtd.context = context;
	return &td->ibtd;
}

int mxe_dealloc_td(struct ibv_td *ibtd)
{
	struct mxe_td *td = to_mtd(ibtd);

	if (mxe_users_add(&td->users, 0))
		return EBUSY;
	free(td);
	return 0;
}

struct ibv_xrcd *mxe_open_xrcd(struct ibv_context *context,
			       struct ibv_xrcd_init_attr *attr)
{
	struct ib_uverbs_open_xrcd_resp resp;
	struct ibv_open_xrcd cmd = { 0 };
	struct verbs_xrcd *xrcd;
	int ret;

	xrcd = calloc(1, sizeof(*xrcd));
	if (!xrcd)
		return NULL;
	ret = ibv_cmd_open_xrcd(context, xrcd, sizeof(*xrcd), attr, &cmd,
				sizeof(cmd), &resp, sizeof(resp));
	if (ret) {
		free(xrcd);
		errno = ret;
		return NULL;
	}
	return &xrcd->xrcd;
}

int mxe_close_xrcd(struct ibv_xrcd *ibxrcd)
{
	struct verbs_xrcd *xrcd = mxe_container(ibxrcd, struct verbs_xrcd, xrcd);
	int ret = ibv_cmd_close_xrcd(xrcd);

	if (!ret)
		free(xrcd);
	return ret;
}
