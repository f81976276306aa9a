// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The entry point of the provider, which libfabric calls when it has loaded it,
 * and the fabric, which programs open first.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>

#include "cntr.h"
#include "container.h"
#include "cq.h"
#include "domain.h"
#include "eq.h"
#include "fabric.h"
#include "info.h"
#include "pep.h"
#include "progress.h"
#include "provider.h"

/*
 * MXE_INI declares the entry point. In libfabric's tree, ofi_prov.h chooses its
 * name, because the provider may be a part of the library.
 */
#ifdef HAVE_CONFIG_H
#include <ofi_prov.h>
#else
#define MXE_INI FI_EXT_INI
struct fi_provider *fi_prov_ini(void);
#endif

static int fabric_close(struct fid *fid)
{
	struct mxefi_fabric *fabric =
		container_of(fid, struct mxefi_fabric, fid.fid);

	if (__atomic_load_n(&fabric->users, __ATOMIC_ACQUIRE))
		return -FI_EBUSY;
	free(fabric);
	return 0;
}

static int fabric_wait_open(struct fid_fabric *fabric,
			    struct fi_wait_attr *attr,
			    struct fid_wait **waitset)
{
	return -FI_ENOSYS;
}

/* Handles what has completed before the program waits. */
static void progress(struct mxefi_domain *dom)
{
	mxefi_progress(dom);
	/* The thread must not assume that the program keeps polling. */
	eventfd_write(dom->wake_fd, 1);
}

static bool is_cq_quiet(struct mxefi_cq *cq)
{
	bool ret;

	pthread_mutex_lock(&cq->dom->lock);
	progress(cq->dom);
	ret = mxefi_cq_empty(cq);
	pthread_mutex_unlock(&cq->dom->lock);
	return ret;
}

static bool is_cntr_quiet(struct mxefi_cntr *cntr)
{
	bool ret;

	pthread_mutex_lock(&cntr->dom->lock);
	progress(cntr->dom);
	ret = !mxefi_cntr_has_changed(cntr);
	pthread_mutex_unlock(&cntr->dom->lock);
	return ret;
}

/* Success means that the program may wait for the descriptors. */
static int fabric_trywait(struct fid_fabric *fabric, struct fid **fids,
			  int count)
{
	for (int i = 0; i < count; i++) {
		bool quiet;

		switch (fids[i]->fclass) {
		case FI_CLASS_EQ:
			quiet = mxefi_eq_empty(container_of(fids[i],
							    struct mxefi_eq,
							    fid.fid));
			break;
		case FI_CLASS_CQ:
			quiet = is_cq_quiet(container_of(fids[i],
							 struct mxefi_cq,
							 fid.fid));
			break;
		case FI_CLASS_CNTR:
			quiet = is_cntr_quiet(container_of(fids[i],
							   struct mxefi_cntr,
							   fid.fid));
			break;
		default:
			return -FI_ENOSYS;
		}
		if (!quiet)
			return -FI_EAGAIN;
	}
	return 0;
}

static struct fi_ops fabric_fi_ops = {
	.size = sizeof(struct fi_ops),
	.close = fabric_close,
	.bind = mxefi_no_bind,
	.control = mxefi_no_control,
	.ops_open = mxefi_no_ops_open,
};

static struct fi_ops_fabric fabric_ops = {
	.size = sizeof(struct fi_ops_fabric),
	.domain = mxefi_domain_open,
	.passive_ep = mxefi_pep_open,
	.eq_open = mxefi_eq_open,
	.wait_open = fabric_wait_open,
	.trywait = fabric_trywait,
};

static int fabric_open(struct fi_fabric_attr *attr, struct fid_fabric **fid,
		       void *context)
{
	struct mxefi_fabric *fabric;

	if (attr->name && strcmp(attr->name, "mxe"))
		return -FI_ENODATA;
	fabric = calloc(1, sizeof(*fabric));
	if (!fabric)
		return -FI_ENOMEM;
	fabric->fid.fid.fclass = FI_CLASS_FABRIC;
	fabric->fid.fid.context = context;
	fabric->fid.fid.ops = &fabric_fi_ops;
	fabric->fid.ops = &fabric_ops;
	*fid = &fabric->fid;
	return 0;
}

static void cleanup(void)
{
}

static struct fi_provider provider = {
	.version = FI_VERSION(1, 0),
	.fi_version = FI_VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION),
	.name = "mxe",
	.getinfo = mxefi_info_get,
	.fabric = fabric_open,
	.cleanup = cleanup,
};

MXE_INI
{
	mxefi_prov = &provider;
	fi_param_define(&provider, "connect_timeout", FI_PARAM_INT,
			"Time in ms after which a peer that does not answer is unreachable (default: 30000)");
	fi_param_define(&provider, "max_connections", FI_PARAM_INT,
			"Connections of an FI_EP_RDM endpoint above which it accepts no further peers (default: 8192)");
	fi_param_define(&provider, "dc", FI_PARAM_BOOL,
			"Use the dynamically connected transport for RMA and atomics of endpoints without messages (default: only for peers after the first 64)");
	fi_param_define(&provider, "dc_initiators", FI_PARAM_INT,
			"Queue pairs of an endpoint for that transport, and a spare one (default: 8)");
	return &provider;
}
