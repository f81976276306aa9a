// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* A libdaplofa without a device. libdaplmxe loads it by its SONAME. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <dat2/udat.h>
#include <dat2/dat_registry.h>

#include "fake_ofa.h"

/* libdat2 looks for these two. */
void DAT_API dat_provider_init(const DAT_PROVIDER_INFO *info, const char *data);
void DAT_API dat_provider_fini(const DAT_PROVIDER_INFO *info);

/* A provider remains allocated, as those of libdaplofa do. */
struct provider {
	DAT_PROVIDER table;
	struct provider *next;
	char name[DAT_NAME_MAX_LENGTH];
};

/* The macro of dat_redirection.h expects this member first. */
struct ia {
	const DAT_PROVIDER *table;
};

struct fake_ofa fake_ofa;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct provider *providers;

static void hook(enum fake_ofa_call call, const char *name)
{
	if (fake_ofa.hook)
		fake_ofa.hook(call, name);
}

static struct provider *find(const char *name)
{
	struct provider *p;

	pthread_mutex_lock(&lock);
	for (p = providers; p; p = p->next)
		if (!strcmp(p->name, name))
			break;
	pthread_mutex_unlock(&lock);
	return p;
}

static DAT_RETURN ia_open(const DAT_NAME_PTR name, DAT_COUNT qlen,
			  DAT_EVD_HANDLE *evd, DAT_IA_HANDLE *handle)
{
	struct ia *ia = calloc(1, sizeof(*ia));

	(void)qlen;
	(void)evd;
	ia->table = &find(name)->table;
	*handle = (DAT_IA_HANDLE)ia;
	atomic_fetch_add(&fake_ofa.opens, 1);
	hook(FAKE_OFA_OPEN, name);
	return DAT_SUCCESS;
}

static DAT_RETURN ia_query(DAT_IA_HANDLE handle, DAT_EVD_HANDLE *evd,
			   DAT_IA_ATTR_MASK ia_mask, DAT_IA_ATTR *ia_attr,
			   DAT_PROVIDER_ATTR_MASK mask, DAT_PROVIDER_ATTR *attr)
{
	const struct ia *ia = (struct ia *)handle;

	(void)evd;
	if (ia_mask) {
		memset(ia_attr, 0, sizeof(*ia_attr));
		strcpy(ia_attr->adapter_name, "none");
	}
	if (mask) {
		memset(attr, 0, sizeof(*attr));
		strcpy(attr->provider_name, ia->table->device_name);
		attr->dapl_version_major = 2;
		attr->is_thread_safe = DAT_FALSE;
	}
	return DAT_SUCCESS;
}

static DAT_RETURN ia_close(DAT_IA_HANDLE handle, DAT_CLOSE_FLAGS flags)
{
	DAT_RETURN ret = fake_ofa.close_status;
	struct ia *ia = (struct ia *)handle;

	(void)flags;
	hook(FAKE_OFA_CLOSE, ia->table->device_name);
	if (ret != DAT_SUCCESS) {
		fake_ofa.close_status = DAT_SUCCESS;
		return ret;
	}
	atomic_fetch_add(&fake_ofa.closes, 1);
	free(ia);
	return DAT_SUCCESS;
}

void DAT_API dat_provider_init(const DAT_PROVIDER_INFO *info, const char *data)
{
	struct provider *p = find(info->ia_name);

	(void)data;
	if (!p) {
		p = calloc(1, sizeof(*p));
		strcpy(p->name, info->ia_name);
		p->table.device_name = p->name;
		p->table.ia_open_func = ia_open;
		p->table.ia_query_func = ia_query;
		p->table.ia_close_func = ia_close;
		pthread_mutex_lock(&lock);
		p->next = providers;
		providers = p;
		pthread_mutex_unlock(&lock);
	}
	if (dat_registry_add_provider(&p->table, info) == DAT_SUCCESS)
		atomic_fetch_add(&fake_ofa.inits, 1);
	hook(FAKE_OFA_INIT, info->ia_name);
}

void DAT_API dat_provider_fini(const DAT_PROVIDER_INFO *info)
{
	if (dat_registry_remove_provider(&find(info->ia_name)->table, info) ==
	    DAT_SUCCESS)
		atomic_fetch_add(&fake_ofa.finis, 1);
}
