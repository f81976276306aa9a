/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Protection domains, thread domains, parent domains and XRC domains. */
#ifndef MXE_PD_H
#define MXE_PD_H

#include <stdbool.h>
#include <stdint.h>

#include <infiniband/verbs.h>

#include "container.h"

struct mxe_td {
	struct ibv_td ibtd;
	int users;			/* parent domains */
};

/* A protection domain, or a parent domain, which extends another domain. */
struct mxe_pd {
	struct ibv_pd ibpd;
	struct mxe_pd *extends;		/* NULL: a protection domain */
	struct mxe_td *td;		/* NULL: none */
	int users;			/* parent domains that extend it */
};

static inline struct mxe_td *to_mtd(struct ibv_td *td)
{
	return mxe_container(td, struct mxe_td, ibtd);
}

static inline struct mxe_pd *to_mpd(struct ibv_pd *pd)
{
	return mxe_container(pd, struct mxe_pd, ibpd);
}

/**
 * mxe_pd_is_single_threaded() - Check a domain for a thread domain.
 * @pd: protection domain or parent domain
 *
 * Return: true if one thread at a time uses the objects that are created in it.
 */
static inline bool mxe_pd_is_single_threaded(struct ibv_pd *pd)
{
	return to_mpd(pd)->td;
}

struct ibv_pd *mxe_alloc_pd(struct ibv_context *context);
struct ibv_pd *mxe_alloc_parent_domain(struct ibv_context *context,
				       struct ibv_parent_domain_init_attr *attr);
int mxe_dealloc_pd(struct ibv_pd *pd);
struct ibv_pd *mxe_import_pd(struct ibv_context *context, uint32_t handle);
void mxe_unimport_pd(struct ibv_pd *pd);
struct ibv_td *mxe_alloc_td(struct ibv_context *context,
			    struct ibv_td_init_attr *attr);
int mxe_dealloc_td(struct ibv_td *td);
struct ibv_xrcd *mxe_open_xrcd(struct ibv_context *context,
			       struct ibv_xrcd_init_attr *attr);
int mxe_close_xrcd(struct ibv_xrcd *ibxrcd);

#endif /* MXE_PD_H */
