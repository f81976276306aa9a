// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* The calls of libfabric that choose a provider, with only one. */
#include <string.h>
#include <rdma/fabric.h>
#include <rdma/providers/fi_prov.h>

struct fi_provider *fi_prov_ini(void);

static struct fi_provider *provider(void)
{
	static struct fi_provider *p;

	if (!p)
		p = fi_prov_ini();
	return p;
}

int fi_getinfo(uint32_t version, const char *node, const char *service,
	       uint64_t flags, const struct fi_info *hints,
	       struct fi_info **info)
{
	int ret = provider()->getinfo(version, node, service, flags, hints,
				      info);

	for (struct fi_info *i = ret ? NULL : *info; i; i = i->next) {
		i->fabric_attr->prov_name = strdup(provider()->name);
		i->fabric_attr->api_version = version;
	}
	return ret;
}

int fi_fabric(struct fi_fabric_attr *attr, struct fid_fabric **fabric,
	      void *context)
{
	int ret = provider()->fabric(attr, fabric, context);

	if (!ret)
		(*fabric)->api_version = attr->api_version;
	return ret;
}
