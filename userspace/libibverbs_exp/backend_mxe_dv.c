// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Finds libmxe for backend_mxe.c. This library does not depend on it, so that
 * programs start with any release of rdma-core, although libmxe works with one
 * only.
 *
 * libmxe is the provider of mxe devices, so libibverbs has loaded it before
 * there is a context of such a device. The library that implements the context
 * is used, because another copy of libmxe, for example of a build tree, would
 * not know the device.
 */
#include <dlfcn.h>
#include <pthread.h>

#include "backend_mxe_dv.h"
#include "fork.h"

static struct exp_mxedv mxedv;
static const struct exp_mxedv *found;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

EXP_FORK_HOLD(dv, lock)

#define FIND(lib, call, version) \
	(mxedv.call = (__typeof__(mxedv.call)) \
		dlvsym(lib, "mxedv_" #call, version))

static const struct exp_mxedv *find(const struct ibv_context *context)
{
	Dl_info provider;
	void *lib;

	/* No part of this library replaces post_recv. */
	if (!dladdr((void *)context->ops.post_recv, &provider))
		return NULL;
	lib = dlopen(provider.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
	if (!lib)
		return NULL;
	if (FIND(lib, is_supported, "MXE_1.0") &&
	    FIND(lib, query_device, "MXE_1.0") &&
	    FIND(lib, create_qp, "MXE_1.0") &&
	    FIND(lib, qp_ex_from_ibv_qp_ex, "MXE_1.0")) {
		FIND(lib, query_dct, "MXE_1.2");
		FIND(lib, arm_dct, "MXE_1.2");
		return &mxedv;
	}
	dlclose(lib);
	return NULL;
}

const struct exp_mxedv *exp_mxedv(const struct ibv_context *context)
{
	const struct exp_mxedv *dv = __atomic_load_n(&found, __ATOMIC_ACQUIRE);

	if (dv)
		return dv;
	pthread_mutex_lock(&lock);
	if (!found)
		__atomic_store_n(&found, find(context), __ATOMIC_RELEASE);
	dv = found;
	pthread_mutex_unlock(&lock);
	return dv;
}
