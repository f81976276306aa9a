// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Passive endpoints: a UD queue pair that receives requests for connections. An
 * endpoint of a domain of the program accepts a request (cm.c) and answers from
 * its own UD queue pair.
 */
#include <stdlib.h>
#include <string.h>

#include "ah.h"
#include "cm.h"
#include "container.h"
#include "domain.h"
#include "eq.h"
#include "name.h"
#include "pep.h"
#include "progress.h"
#include "provider.h"
#include "ud.h"
#include "wire.h"

#define MAX_REQUESTS 256

/* A request that was reported. Its retransmissions are not. */
struct request {
	struct request *next;
	struct mxefi_addr src;
	uint32_t qpn;
	uint64_t token;
	struct mxefi_pep *pep;
	struct mxefi_ah *ah;
	bool rejected;
	size_t len;		/* of data, which goes with the rejection */
	uint8_t data[MXEFI_CM_DATA];
};

struct mxefi_pep {
	struct fid_pep fid;
	struct fi_info *info;
	struct fid_domain *domain;	/* of this endpoint alone */
	struct mxefi_ud ud;
	struct mxefi_eq *eq;
	struct mxefi_ticker ticker;
	struct mxefi_event *removed;	/* to report that the device is */
	struct request *requests;	/* the latest first */
	unsigned int num_requests;
};

static void free_request(struct request *r)
{
	mxefi_ah_free(r->ah);
	free(r);
}

static void send_reject(struct mxefi_pep *pep, struct request *r)
{
	struct mxefi_hello hello = {
		.flags = MXEFI_HELLO_REJECT,
		.qpn = pep->ud.name.qpn,
		.peer_qpn = r->qpn,
		.epoch = 1,
		.data_len = (uint32_t)r->len,
		.peer_token = r->token,
	};

	mxefi_ud_send(&pep->ud, &r->src, r->ah, &hello, r->data);
}

static void resolved(void *arg)
{
	struct request *r = arg;

	if (r->rejected)
		send_reject(r->pep, r);
}

/* Reports a request. Returns 0 or a negative error. */
static int report(struct mxefi_pep *pep, const struct mxefi_hello *hello,
		  const uint8_t *data)
{
	struct mxefi_connreq *connreq = calloc(1, sizeof(*connreq));
	struct fi_info *info = connreq ? fi_dupinfo(pep->info) : NULL;
	int ret = -FI_ENOMEM;

	if (!info)
		goto fail;
	free(info->dest_addr);
	info->dest_addr = malloc(sizeof(hello->src));
	if (!info->dest_addr)
		goto fail;
	memcpy(info->dest_addr, &hello->src, sizeof(hello->src));
	info->dest_addrlen = sizeof(hello->src);
	connreq->handle.fclass = FI_CLASS_CONNREQ;
	connreq->hello = *hello;
	info->handle = &connreq->handle;
	ret = mxefi_eq_push_request(pep->eq, &pep->fid.fid, info, data,
				    hello->data_len);
	if (!ret)
		return 0;
fail:
	fi_freeinfo(info);
	free(connreq);
	return ret;
}

/* Forgets the oldest request. */
static void forget_one(struct mxefi_pep *pep)
{
	struct request **p = &pep->requests;

	while ((*p)->next)
		p = &(*p)->next;
	free_request(*p);
	*p = NULL;
	pep->num_requests--;
}

static void on_hello(struct mxefi_ud *ud, const struct mxefi_hello *hello,
		     const uint8_t *data)
{
	struct mxefi_pep *pep = container_of(ud, struct mxefi_pep, ud);
	struct request *r;

	if (!(hello->flags & MXEFI_HELLO_CONNECT))
		return;
	for (r = pep->requests; r; r = r->next) {
		if (memcmp(&r->src, &hello->src, sizeof(r->src)))
			continue;
		if (r->rejected)
			send_reject(pep, r);
		return;
	}
	r = calloc(1, sizeof(*r));
	if (!r)
		return;
	r->pep = pep;
	r->ah = mxefi_ah_new(to_domain(pep->domain), hello->src.gid, resolved,
			     r);
	if (!r->ah) {
		free(r);
		return;
	}
	r->src = hello->src;
	r->qpn = hello->qpn;
	r->token = hello->token;
	/* The peer retransmits a request that cannot be reported. */
	if (report(pep, hello, data)) {
		free_request(r);
		return;
	}
	/* A program that rejects it may close the passive endpoint soon. */
	mxefi_ah_get(r->ah);
	if (pep->num_requests++ == MAX_REQUESTS)
		forget_one(pep);
	r->next = pep->requests;
	pep->requests = r;
}

/* No request will arrive any more. */
static void tick(struct mxefi_ticker *ticker, uint64_t now)
{
	struct mxefi_pep *pep = container_of(ticker, struct mxefi_pep, ticker);

	if (!pep->ud.dom->lost)
		return;
	mxefi_eq_push_err(pep->eq, pep->removed, &pep->fid.fid, FI_ENODEV, "",
			  0);
	pep->removed = NULL;
}

static int pep_listen(struct fid_pep *fid)
{
	struct mxefi_pep *pep = container_of(fid, struct mxefi_pep, fid);
	struct mxefi_domain *dom = to_domain(pep->domain);
	int ret;

	if (!pep->eq)
		return -FI_ENOEQ;
	if (pep->ud.dom)
		return -FI_EOPBADSTATE;
	if (!pep->removed)
		pep->removed = mxefi_eq_alloc();
	if (!pep->removed)
		return -FI_ENOMEM;
	pthread_mutex_lock(&dom->lock);
	pep->ud.on_hello = on_hello;
	pep->ud.service = mxefi_name_service(pep->info->src_addr,
					     pep->info->src_addrlen);
	ret = mxefi_ud_open(&pep->ud, dom);
	if (ret) {
		mxefi_ud_close(&pep->ud);
		memset(&pep->ud, 0, sizeof(pep->ud));
	} else {
		pep->ticker.tick = tick;
		mxefi_progress_add_ticker(dom, &pep->ticker);
	}
	pthread_mutex_unlock(&dom->lock);
	return ret;
}

static int pep_reject(struct fid_pep *fid, fid_t handle, const void *param,
		      size_t len)
{
	struct mxefi_pep *pep = container_of(fid, struct mxefi_pep, fid);
	struct mxefi_domain *dom = to_domain(pep->domain);
	struct mxefi_connreq *connreq;
	struct request *r;

	if (!handle || handle->fclass != FI_CLASS_CONNREQ ||
	    len > MXEFI_CM_DATA)
		return -FI_EINVAL;
	connreq = container_of(handle, struct mxefi_connreq, handle);
	pthread_mutex_lock(&dom->lock);
	for (r = pep->requests; r; r = r->next)
		if (!memcmp(&r->src, &connreq->hello.src, sizeof(r->src)))
			break;
	if (r) {
		r->rejected = true;
		r->len = len;
		if (len)
			memcpy(r->data, param, len);
		send_reject(pep, r);
	}
	pthread_mutex_unlock(&dom->lock);
	free(connreq);
	return 0;
}

static int pep_setname(fid_t fid, void *addr, size_t len)
{
	return -FI_ENOSYS;
}

static int pep_getname(fid_t fid, void *addr, size_t *len)
{
	struct mxefi_pep *pep = container_of(fid, struct mxefi_pep, fid.fid);

	if (!pep->ud.dom)
		return -FI_EOPBADSTATE;
	return mxefi_copy_addr(&pep->ud.name, addr, len);
}

static int pep_bind(struct fid *fid, struct fid *bfid, uint64_t flags)
{
	struct mxefi_pep *pep = container_of(fid, struct mxefi_pep, fid.fid);

	if (bfid->fclass != FI_CLASS_EQ || pep->eq || flags)
		return -FI_EINVAL;
	pep->eq = container_of(bfid, struct mxefi_eq, fid.fid);
	mxefi_eq_hold(pep->eq);
	return 0;
}

static int pep_close(struct fid *fid)
{
	struct mxefi_pep *pep = container_of(fid, struct mxefi_pep, fid.fid);
	struct mxefi_domain *dom = to_domain(pep->domain);

	pthread_mutex_lock(&dom->lock);
	mxefi_progress_del_ticker(dom, &pep->ticker);
	mxefi_ud_close(&pep->ud);
	while (pep->num_requests)
		forget_one(pep);
	pthread_mutex_unlock(&dom->lock);
	fi_close(&pep->domain->fid);
	if (pep->eq)
		mxefi_eq_forget(pep->eq, fid);
	fi_freeinfo(pep->info);
	free(pep->removed);
	free(pep);
	return 0;
}

static int pep_getopt(fid_t fid, int level, int optname, void *optval,
		      size_t *optlen)
{
	if (level != FI_OPT_ENDPOINT || optname != FI_OPT_CM_DATA_SIZE)
		return -FI_ENOPROTOOPT;
	return mxefi_store_size(MXEFI_CM_DATA, optval, optlen);
}

static int pep_setopt(fid_t fid, int level, int optname, const void *optval,
		      size_t optlen)
{
	return -FI_ENOPROTOOPT;
}

static struct fi_ops pep_fi_ops = {
	.size = sizeof(struct fi_ops),
	.close = pep_close,
	.bind = pep_bind,
	.control = mxefi_no_control,
	.ops_open = mxefi_no_ops_open,
};

/* Programs cannot make the other calls of these types for this class. */
static struct fi_ops_cm pep_cm_ops = {
	.size = sizeof(struct fi_ops_cm),
	.setname = pep_setname,
	.getname = pep_getname,
	.listen = pep_listen,
	.reject = pep_reject,
};

static struct fi_ops_ep pep_ops = {
	.size = sizeof(struct fi_ops_ep),
	.getopt = pep_getopt,
	.setopt = pep_setopt,
};

int mxefi_pep_open(struct fid_fabric *fabric, struct fi_info *info,
		   struct fid_pep **fid, void *context)
{
	struct mxefi_pep *pep;
	int ret;

	if (!info || !info->ep_attr || info->ep_attr->type != FI_EP_MSG)
		return -FI_EINVAL;
	pep = calloc(1, sizeof(*pep));
	if (!pep)
		return -FI_ENOMEM;
	pep->info = fi_dupinfo(info);
	ret = pep->info ? mxefi_domain_open(fabric, pep->info, &pep->domain,
					    NULL) : -FI_ENOMEM;
	if (ret) {
		fi_freeinfo(pep->info);
		free(pep);
		return ret;
	}
	pep->fid.fid.fclass = FI_CLASS_PEP;
	pep->fid.fid.context = context;
	pep->fid.fid.ops = &pep_fi_ops;
	pep->fid.ops = &pep_ops;
	pep->fid.cm = &pep_cm_ops;
	*fid = &pep->fid;
	return 0;
}
