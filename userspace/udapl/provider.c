// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The provider that libdat2 loads: its registration, and opening, querying and
 * closing IAs. All calls but those that this library extends go directly to the
 * inner provider, libdaplofa: handles have a copy of its table of functions, of
 * which this file replaces some.
 *
 * The inner provider is registered under "NAME-inner", with the parameters of
 * NAME in dat.conf. Opening NAME opens NAME-inner through libdat2 and returns
 * its handle, so libdat2 holds a reference on both names.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <netinet/in.h>
#include <dat/dat_extensions.h>
#include <dat2/dat_ib_extensions.h>
#include <infiniband/mxedv.h>

#include "inner.h"
#include "lmr.h"
#include "op.h"

#define INNER_LIBRARY "libdaplofa.so.2"
#define INNER_SUFFIX "-inner"

/* libdat2 exports it, and no header declares it. */
DAT_RETURN DAT_API dats_get_ia_handle(DAT_IA_HANDLE handle,
				      DAT_IA_HANDLE *inner);

/* One line of dat.conf. */
struct dm_provider {
	struct dm_provider *next;
	DAT_PROVIDER registered;	/* as registered; libdat2 copies it */
	DAT_PROVIDER_INFO info;
	DAT_PROVIDER_INFO inner_info;
	DAT_PROVIDER table;		/* of open IAs; empty until the first one */
	DAT_PROVIDER closing;		/* of IAs during dm_ia_close() */
	bool masked;			/* the device executes masked atomics */
	bool noncoherent;		/* its regions need mxedv_sync_mr() */
	DAT_NAMED_ATTR *attrs;		/* named attributes, built by the first query */
	DAT_COUNT num_attrs;
};

/* An open IA. */
struct dm_ia {
	struct dm_ia *next;
	struct dm_provider *provider;
	DAT_IA_HANDLE inner;		/* the inner provider's handle */
	DAT_IA_HANDLE vector;		/* libdat2's handle of NAME-inner */
	bool closed;			/* the inner provider has closed it */
};

/*
 * Held while an IA is opened or closed, because the inner provider may return
 * the handle of a closed IA again at once. Protects the list of IAs.
 *
 * libdat2 calls dat_provider_init() and dat_provider_fini() with a mutex held
 * that dat_ia_openv() and dat_ia_close() take. These two must therefore not
 * take dm_open_lock.
 */
static pthread_mutex_t dm_open_lock = PTHREAD_MUTEX_INITIALIZER;
static struct dm_ia *dm_ias;

/*
 * Protects the list of providers and their tables and attributes. Taken last:
 * libdat2 is never called with it held.
 */
static pthread_mutex_t dm_lock = PTHREAD_MUTEX_INITIALIZER;
static struct dm_provider *dm_providers;

/* The library of the inner provider, opened for the first line of dat.conf. */
static void *dm_library;
static DAT_PROVIDER_INIT_FUNC dm_init;
static DAT_PROVIDER_FINI_FUNC dm_fini;

static struct dm_provider *dm_provider_by_name(const char *name)
{
	struct dm_provider *p;

	pthread_mutex_lock(&dm_lock);
	for (p = dm_providers; p; p = p->next)
		if (!strcmp(p->info.ia_name, name))
			break;
	pthread_mutex_unlock(&dm_lock);
	return p;
}

/* Needs dm_lock. */
static struct dm_provider *dm_provider_of(DAT_HANDLE handle)
{
	struct dm_provider *p;

	for (p = dm_providers; p; p = p->next)
		if (&p->table == DAT_HANDLE_TO_PROVIDER(handle))
			return p;
	return NULL;
}

/* ---- queries ----------------------------------------------------------- */

/* Sets the fields that describe the device of that name. */
static void dm_query_device(struct dm_provider *p, const char *name)
{
	const uint32_t both = MXEDV_MASKED_ATOMIC_CMP_SWP |
			      MXEDV_MASKED_ATOMIC_FETCH_ADD;
	struct mxedv_device_attr attr = { 0 };
	struct ibv_device **list, **dev;
	struct ibv_context *ctx = NULL;

	list = ibv_get_device_list(NULL);
	for (dev = list; dev && *dev; dev++)
		if (!strcmp(ibv_get_device_name(*dev), name) &&
		    mxedv_is_supported(*dev))
			ctx = ibv_open_device(*dev);
	if (ctx) {
		p->masked = !mxedv_query_device(ctx, &attr, sizeof(attr)) &&
			    attr.masked_atomic_cap != IBV_ATOMIC_NONE &&
			    (attr.masked_ops & both) == both &&
			    attr.reply_modes & MXEDV_ATOMIC_REPLY_HOST;
		p->noncoherent = attr.comp_mask & MXEDV_DEVICE_ATTR_NONCOHERENT;
		ibv_close_device(ctx);
	}
	if (list)
		ibv_free_device_list(list);
}

/*
 * The attributes of this library, and the inner provider's attribute that each
 * requires.
 */
static const struct {
	const char *name;
	const char *needs;		/* NULL: masked atomics */
} dm_attrs[] = {
	{ DAT_EXT_ATTR_RDMA_WRITE_IMMED, DAT_IB_ATTR_IMMED_DATA },
	{ DAT_EXT_ATTR_RECV_IMMED, DAT_IB_ATTR_IMMED_DATA },
	{ DAT_EXT_ATTR_RECV_IMMED_EVENT, DAT_IB_ATTR_IMMED_DATA },
	{ DAT_EXT_ATTR_FETCH_AND_ADD, DAT_IB_ATTR_FETCH_AND_ADD },
	{ DAT_EXT_ATTR_CMP_AND_SWAP, DAT_IB_ATTR_CMP_AND_SWAP },
	{ DAT_EXT_ATTR_MASKED_FETCH_AND_ADD, NULL },
	{ DAT_EXT_ATTR_MASKED_CMP_AND_SWAP, NULL },
};

enum { DM_ATTRS = sizeof(dm_attrs) / sizeof(dm_attrs[0]) };

static bool dm_has_attr(const DAT_NAMED_ATTR *attrs, DAT_COUNT num,
			const char *name)
{
	DAT_COUNT i;

	for (i = 0; i < num; i++)
		if (!strcmp(attrs[i].name, name))
			return true;
	return false;
}

/*
 * Adds the attributes of this library to the inner provider's list. Without
 * memory, the list is unchanged, so the extensions appear to be missing.
 */
static void dm_add_attrs(struct dm_provider *p, DAT_PROVIDER_ATTR *attr)
{
	const DAT_NAMED_ATTR *inner = attr->provider_specific_attr;
	DAT_COUNT num = attr->num_provider_specific_attr;
	size_t i;

	if (!p->attrs) {
		p->attrs = calloc((size_t)num + DM_ATTRS, sizeof(*p->attrs));
		if (!p->attrs)
			return;
		if (num)
			memcpy(p->attrs, inner, (size_t)num * sizeof(*inner));
		p->num_attrs = num;
		for (i = 0; i < DM_ATTRS; i++)
			if (dm_attrs[i].needs ?
			    dm_has_attr(inner, num, dm_attrs[i].needs) :
			    p->masked)
				p->attrs[p->num_attrs++] = (DAT_NAMED_ATTR){
					.name = (char *)dm_attrs[i].name,
					.value = (char *)DAT_EXT_ATTR_TRUE,
				};
	}
	attr->provider_specific_attr = p->attrs;
	attr->num_provider_specific_attr = p->num_attrs;
}

static DAT_RETURN dm_ia_query(DAT_IA_HANDLE ia, DAT_EVD_HANDLE *evd,
			      DAT_IA_ATTR_MASK ia_mask, DAT_IA_ATTR *ia_attr,
			      DAT_PROVIDER_ATTR_MASK mask, DAT_PROVIDER_ATTR *attr)
{
	DAT_RETURN ret = dm_inner.ia_query_func(ia, evd, ia_mask, ia_attr, mask,
						attr);
	struct dm_provider *p;

	if (ret != DAT_SUCCESS || !mask)
		return ret;
	pthread_mutex_lock(&dm_lock);
	p = dm_provider_of(ia);
	if (mask & DAT_PROVIDER_FIELD_LMR_SYNC_REQ)
		attr->lmr_sync_req = p && p->noncoherent ? DAT_TRUE : DAT_FALSE;
	if (p && mask & DAT_PROVIDER_FIELD_PROVIDER_SPECIFIC_ATTR)
		dm_add_attrs(p, attr);
	pthread_mutex_unlock(&dm_lock);
	return ret;
}

/*
 * Refuses libdat2's operations that open an IA without dat_ia_openv(). They
 * would bypass NAME-inner.
 */
static DAT_RETURN dm_open_op(DAT_HANDLE handle, DAT_EXTENDED_OP op,
			     va_list args)
{
	(void)handle;
	(void)op;
	(void)args;
	return DM_ERROR(DAT_NOT_IMPLEMENTED, DAT_NO_SUBTYPE);
}

/* ---- opening and closing ----------------------------------------------- */

/* libdat2 calls it from the dat_ia_close() of dm_ia_close(). */
static DAT_RETURN dm_ia_close_inner(DAT_IA_HANDLE inner, DAT_CLOSE_FLAGS flags)
{
	DAT_RETURN ret = dm_inner.ia_close_func(inner, flags);
	struct dm_ia *ia;

	for (ia = dm_ias; ia->inner != inner;)
		ia = ia->next;
	ia->closed = ret == DAT_SUCCESS;
	return ret;
}

static DAT_RETURN dm_ia_close(DAT_IA_HANDLE inner, DAT_CLOSE_FLAGS flags)
{
	struct dm_ia **link, *ia;
	DAT_RETURN ret;

	pthread_mutex_lock(&dm_open_lock);
	for (link = &dm_ias; *link && (*link)->inner != inner;)
		link = &(*link)->next;
	ia = *link;
	if (!ia) {
		ret = DM_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA);
		goto out;
	}

	/* libdat2 takes the function to call and the name from the table. */
	DAT_HANDLE_TO_PROVIDER(inner) = &ia->provider->closing;
	ret = dat_ia_close(ia->vector, flags);
	/*
	 * If the IA is closed, an error only means that NAME-inner is not in
	 * dat.conf.
	 */
	if (!ia->closed) {
		DAT_HANDLE_TO_PROVIDER(inner) = &ia->provider->table;
		goto out;
	}
	dm_lmr_forget(inner);
	dm_op_forget(inner);
	*link = ia->next;
	free(ia);
	ret = DAT_SUCCESS;
out:
	pthread_mutex_unlock(&dm_open_lock);
	return ret;
}

/* Makes the tables of the provider from that of an IA of NAME-inner. */
static void dm_make_tables(struct dm_provider *p, DAT_IA_HANDLE ia)
{
	const DAT_PROVIDER *inner = DAT_HANDLE_TO_PROVIDER(ia);
	DAT_PROVIDER *table = &p->table;
	DAT_IA_ATTR attr;

	if (!dm_inner.ia_close_func)
		dm_inner = *inner;
	if (dm_inner.ia_query_func(ia, NULL, DAT_IA_FIELD_IA_ADAPTER_NAME, &attr,
				   0, NULL) == DAT_SUCCESS)
		dm_query_device(p, attr.adapter_name);
	p->closing = *inner;
	p->closing.ia_close_func = dm_ia_close_inner;
	*table = *inner;
	table->ia_query_func = dm_ia_query;
	table->ia_close_func = dm_ia_close;
	table->handle_extendedop_func = p->masked ? dm_op_extended :
						    dm_op_extended_plain;
	table->lmr_create_func = dm_lmr_create;
	table->lmr_free_func = dm_lmr_free;
	table->lmr_sync_rdma_read_func = dm_lmr_sync_rdma_read;
	table->lmr_sync_rdma_write_func = dm_lmr_sync_rdma_write;
	table->evd_wait_func = dm_op_evd_wait;
	table->evd_dequeue_func = dm_op_evd_dequeue;
	table->device_name = p->info.ia_name;
}

/*
 * Opens NAME-inner. Objects of the IA get the table that the IA has when they
 * are created.
 */
static DAT_RETURN dm_ia_open_inner(struct dm_provider *p, DAT_COUNT qlen,
				   DAT_EVD_HANDLE *evd, struct dm_ia *ia)
{
	DAT_RETURN ret;

	ret = dat_ia_openv(p->inner_info.ia_name, qlen, evd, &ia->vector,
			   p->inner_info.dapl_version_major,
			   p->inner_info.dapl_version_minor,
			   p->inner_info.is_thread_safe);
	if (ret != DAT_SUCCESS)
		return ret;
	ret = dats_get_ia_handle(ia->vector, &ia->inner);
	if (ret != DAT_SUCCESS) {
		dat_ia_close(ia->vector, DAT_CLOSE_ABRUPT_FLAG);
		return ret;
	}
	pthread_mutex_lock(&dm_lock);
	if (!p->table.ia_close_func)
		dm_make_tables(p, ia->inner);
	pthread_mutex_unlock(&dm_lock);
	ia->provider = p;
	DAT_HANDLE_TO_PROVIDER(ia->inner) = &p->table;
	return DAT_SUCCESS;
}

/* libdat2 holds a reference on the provider. */
static DAT_RETURN dm_ia_open(const DAT_NAME_PTR name, DAT_COUNT qlen,
			     DAT_EVD_HANDLE *evd, DAT_IA_HANDLE *handle)
{
	struct dm_provider *p = dm_provider_by_name(name);
	struct dm_ia *ia;
	DAT_RETURN ret;

	if (!p)
		return DM_ERROR(DAT_PROVIDER_NOT_FOUND, DAT_NAME_NOT_REGISTERED);
	ia = calloc(1, sizeof(*ia));
	if (!ia)
		return DM_ERROR(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY);
	pthread_mutex_lock(&dm_open_lock);
	ret = dm_ia_open_inner(p, qlen, evd, ia);
	if (ret == DAT_SUCCESS) {
		ia->next = dm_ias;
		dm_ias = ia;
		*handle = ia->inner;
	}
	pthread_mutex_unlock(&dm_open_lock);
	if (ret != DAT_SUCCESS)
		free(ia);
	return ret;
}

/* ---- registration ------------------------------------------------------ */

/* Called with dm_lock held. */
static bool dm_load(void)
{
	if (dm_library)
		return true;
	/* Not RTLD_GLOBAL: it exports functions of our names. */
	dm_library = dlopen(INNER_LIBRARY, RTLD_NOW | RTLD_LOCAL);
	if (!dm_library) {
		fprintf(stderr, "libdaplmxe: %s\n", dlerror());
		return false;
	}
	dm_init = (DAT_PROVIDER_INIT_FUNC)
		dlsym(dm_library, DAT_PROVIDER_INIT_FUNC_STR);
	dm_fini = (DAT_PROVIDER_FINI_FUNC)
		dlsym(dm_library, DAT_PROVIDER_FINI_FUNC_STR);
	if (dm_init && dm_fini)
		return true;
	fprintf(stderr, "libdaplmxe: %s is not a uDAPL provider\n",
		INNER_LIBRARY);
	dlclose(dm_library);
	dm_library = NULL;
	return false;
}

/* Frees a provider, and unloads the inner provider's library after the last. */
static void dm_provider_drop(struct dm_provider *p)
{
	struct dm_provider **link = &dm_providers;

	pthread_mutex_lock(&dm_lock);
	while (*link != p)
		link = &(*link)->next;
	*link = p->next;
	if (!dm_providers) {
		dlclose(dm_library);
		dm_library = NULL;
		memset(&dm_inner, 0, sizeof(dm_inner));
	}
	pthread_mutex_unlock(&dm_lock);
	free(p->attrs);
	free(p);
}

/**
 * dat_provider_init() - Register the provider; libdat2 calls this for each line
 * of dat.conf with this library when an IA of the line is opened.
 * @info: name, version and thread safety of the line
 * @instance_data: its IA parameters
 */
void DAT_API dat_provider_init(const DAT_PROVIDER_INFO *info,
			       const char *instance_data);

/**
 * dat_provider_fini() - Remove the provider after its last IA was closed.
 * @info: as for dat_provider_init()
 */
void DAT_API dat_provider_fini(const DAT_PROVIDER_INFO *info);

__attribute__((visibility("default"))) void DAT_API
dat_provider_init(const DAT_PROVIDER_INFO *info, const char *instance_data)
{
	size_t len = strnlen(info->ia_name, DAT_NAME_MAX_LENGTH);
	struct dm_provider *p;
	bool loaded;

	/* dat_provider_fini() could not remove it. */
	if (dm_provider_by_name(info->ia_name))
		return;
	if (len + sizeof(INNER_SUFFIX) > DAT_NAME_MAX_LENGTH) {
		fprintf(stderr, "libdaplmxe: the name of the IA has over %zu bytes\n",
			DAT_NAME_MAX_LENGTH - sizeof(INNER_SUFFIX));
		return;
	}
	p = calloc(1, sizeof(*p));
	if (!p)
		return;
	p->info = *info;
	p->inner_info = *info;
	memcpy(p->inner_info.ia_name + len, INNER_SUFFIX, sizeof(INNER_SUFFIX));
	p->registered.device_name = p->info.ia_name;
	p->registered.ia_open_func = dm_ia_open;
	p->registered.handle_extendedop_func = dm_open_op;

	/*
	 * Added before the inner provider is called, so that its library
	 * remains loaded.
	 */
	pthread_mutex_lock(&dm_lock);
	loaded = dm_load();
	if (loaded) {
		p->next = dm_providers;
		dm_providers = p;
	}
	pthread_mutex_unlock(&dm_lock);
	if (!loaded) {
		free(p);
		return;
	}
	dm_init(&p->inner_info, instance_data);
	if (dat_registry_add_provider(&p->registered, &p->info) != DAT_SUCCESS) {
		dm_fini(&p->inner_info);
		dm_provider_drop(p);
	}
}

__attribute__((visibility("default"))) void DAT_API
dat_provider_fini(const DAT_PROVIDER_INFO *info)
{
	struct dm_provider *p = dm_provider_by_name(info->ia_name);

	if (!p)
		return;
	/*
	 * libdat2 counts the references on a provider without a lock. If it has
	 * lost a decrement, it does not remove the provider, and will use it
	 * again.
	 */
	if (dat_registry_remove_provider(&p->registered, &p->info) != DAT_SUCCESS)
		return;
	dm_fini(&p->inner_info);
	dm_provider_drop(p);
}
