// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Address vectors: tables of the addresses of peers. fi_addr_t is the index,
 * for FI_AV_MAP, too.
 */
#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "av.h"
#include "container.h"
#include "domain.h"
#include "name.h"
#include "progress.h"
#include "provider.h"
#include "wire.h"

#define MAX_CTX_BITS 8

static struct mxefi_av *to_av(struct fid_av *av)
{
	return container_of(av, struct mxefi_av, fid);
}

/**
 * mxefi_av_get() - Look an address up.
 * @av: address vector
 * @fi_addr: address of libfabric
 *
 * Return: the address of the peer, or NULL if @fi_addr is not valid.
 */
const struct mxefi_addr *mxefi_av_get(struct mxefi_av *av, fi_addr_t fi_addr)
{
	if (fi_addr >= av->count || !av->addrs[fi_addr].id)
		return NULL;
	return &av->addrs[fi_addr];
}

/**
 * mxefi_av_find() - Find the first place of an address.
 * @av: address vector
 * @addr: address
 *
 * Return: address of libfabric, or FI_ADDR_NOTAVAIL.
 */
fi_addr_t mxefi_av_find(const struct mxefi_av *av, const struct mxefi_addr *addr)
{
	for (size_t i = 0; i < av->count; i++)
		if (!memcmp(&av->addrs[i], addr, sizeof(*addr)))
			return i;
	return FI_ADDR_NOTAVAIL;
}

/*
 * Adds an address in the first free place, because programs that insert an
 * address again into a table expect its old index. Returns its index, or -1.
 */
static ssize_t add(struct mxefi_av *av, const struct mxefi_addr *addr)
{
	av->changes++;
	for (size_t i = 0; av->removed && i < av->count; i++) {
		if (av->addrs[i].id)
			continue;
		av->addrs[i] = *addr;
		av->removed--;
		return (ssize_t)i;
	}
	if (av->count == av->size) {
		size_t size = av->size * 2;
		struct mxefi_addr *addrs =
			realloc(av->addrs, size * sizeof(*addrs));

		if (!addrs)
			return -1;
		av->addrs = addrs;
		av->size = size;
	}
	av->addrs[av->count] = *addr;
	return (ssize_t)av->count++;
}

/*
 * Inserts an address, whose endpoint it may have to ask for. Returns 0 or a
 * negative error.
 */
static int insert_one(struct mxefi_av *av, struct mxefi_addr *addr,
		      fi_addr_t *fi_addr)
{
	int ret = mxefi_name_resolve(addr, MXEFI_RESOLVE_MS);
	ssize_t index = -1;

	pthread_mutex_lock(&av->dom->lock);
	if (!ret) {
		index = add(av, addr);
		if (index < 0)
			ret = -FI_ENOMEM;
	}
	if (fi_addr)
		*fi_addr = ret ? FI_ADDR_NOTAVAIL : (fi_addr_t)index;
	pthread_mutex_unlock(&av->dom->lock);
	return ret;
}

static int av_insert(struct fid_av *fid, const void *addr, size_t count,
		     fi_addr_t *fi_addr, uint64_t flags, void *context)
{
	/* With FI_SYNC_ERR, the context is an array of errors. */
	int *errors = flags & FI_SYNC_ERR ? context : NULL;
	struct mxefi_av *av = to_av(fid);
	int inserted = 0;

	if (flags & ~(uint64_t)(FI_MORE | FI_SYNC_ERR) ||
	    (flags & FI_SYNC_ERR && !errors))
		return -FI_EINVAL;
	for (size_t i = 0; i < count; i++) {
		struct mxefi_addr a;
		int ret;

		memcpy(&a, (const uint8_t *)addr + i * sizeof(a), sizeof(a));
		ret = insert_one(av, &a, fi_addr ? &fi_addr[i] : NULL);
		if (errors)
			errors[i] = -ret;
		inserted += !ret;
	}
	return inserted;
}

static int av_insertsvc(struct fid_av *av, const char *node,
			const char *service, fi_addr_t *fi_addr, uint64_t flags,
			void *context)
{
	struct mxefi_addr addr;

	if (!node || !service || mxefi_name_parse(node, service, 0, &addr))
		return -FI_EINVAL;
	return av_insert(av, &addr, 1, fi_addr, flags, context);
}

static int av_insertsym(struct fid_av *av, const char *node, size_t nodecnt,
			const char *service, size_t svccnt, fi_addr_t *fi_addr,
			uint64_t flags, void *context)
{
	return -FI_ENOSYS;
}

static int av_remove(struct fid_av *fid, fi_addr_t *fi_addr, size_t count,
		     uint64_t flags)
{
	struct mxefi_av *av = to_av(fid);
	int ret = 0;

	if (flags)
		return -FI_EINVAL;
	pthread_mutex_lock(&av->dom->lock);
	for (size_t i = 0; i < count; i++) {
		if (!mxefi_av_get(av, fi_addr[i])) {
			ret = -FI_EINVAL;
			continue;
		}
		memset(&av->addrs[fi_addr[i]], 0, sizeof(*av->addrs));
		av->removed++;
		av->changes++;
	}
	pthread_mutex_unlock(&av->dom->lock);
	return ret;
}

static int av_lookup(struct fid_av *fid, fi_addr_t fi_addr, void *addr,
		     size_t *addrlen)
{
	struct mxefi_av *av = to_av(fid);
	const struct mxefi_addr *a;
	size_t len = *addrlen;

	pthread_mutex_lock(&av->dom->lock);
	a = mxefi_av_get(av, fi_addr);
	if (a)
		memcpy(addr, a, len < sizeof(*a) ? len : sizeof(*a));
	pthread_mutex_unlock(&av->dom->lock);
	*addrlen = sizeof(*a);
	return a ? 0 : -FI_EINVAL;
}

static const char *av_straddr(struct fid_av *av, const void *addr, char *buf,
			      size_t *len)
{
	char gid[INET6_ADDRSTRLEN];
	struct mxefi_addr a;
	int n;

	memcpy(&a, addr, sizeof(a));
	inet_ntop(AF_INET6, a.gid, gid, sizeof(gid));
	n = snprintf(buf, *len, "fi_mxe://[%s]:%" PRIu32 "/%" PRIx64, gid,
		     a.qpn, a.id);
	*len = (size_t)n + 1;
	return buf;
}

static int av_close(struct fid *fid)
{
	struct mxefi_av *av = container_of(fid, struct mxefi_av, fid.fid);

	if (mxefi_domain_release(av->dom, &av->users))
		return -FI_EBUSY;
	free(av->addrs);
	free(av);
	return 0;
}

static struct fi_ops av_fi_ops = {
	.size = sizeof(struct fi_ops),
	.close = av_close,
	.bind = mxefi_no_bind,
	.control = mxefi_no_control,
	.ops_open = mxefi_no_ops_open,
};

static struct fi_ops_av av_ops = {
	.size = offsetof(struct fi_ops_av, straddr) + sizeof(void *),
	.insert = av_insert,
	.insertsvc = av_insertsvc,
	.insertsym = av_insertsym,
	.remove = av_remove,
	.lookup = av_lookup,
	.straddr = av_straddr,
};

int mxefi_av_open(struct fid_domain *domain, struct fi_av_attr *attr,
		  struct fid_av **fid, void *context)
{
	struct mxefi_domain *dom = to_domain(domain);
	struct mxefi_av *av;

	if (attr->name || attr->flags)
		return -FI_ENOSYS;
	if (attr->rx_ctx_bits < 0 || attr->rx_ctx_bits > MAX_CTX_BITS)
		return -FI_EINVAL;
	av = calloc(1, sizeof(*av));
	if (!av)
		return -FI_ENOMEM;
	av->size = 16;
	av->addrs = calloc(av->size, sizeof(*av->addrs));
	if (!av->addrs) {
		free(av);
		return -FI_ENOMEM;
	}
	if (attr->type == FI_AV_UNSPEC)
		attr->type = FI_AV_TABLE;
	av->dom = dom;
	av->changes = 1;
	av->rx_ctx_bits = attr->rx_ctx_bits;
	av->fid.fid.fclass = FI_CLASS_AV;
	av->fid.fid.context = context;
	av->fid.fid.ops = &av_fi_ops;
	av->fid.ops = &av_ops;
	mxefi_domain_hold(dom);
	*fid = &av->fid;
	return 0;
}
