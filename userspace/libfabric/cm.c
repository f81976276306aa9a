// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Calls that connect endpoints of type FI_EP_MSG. hello.c exchanges the hellos
 * and reports the results. pep.c receives requests.
 */
#include <string.h>

#include "cm.h"
#include "conn.h"
#include "container.h"
#include "domain.h"
#include "ep.h"
#include "eq.h"
#include "hello.h"
#include "name.h"
#include "wire.h"

static void on_cm(struct mxefi_conn *conn, int err)
{
	struct mxefi_ep *ep = conn->peer.ep;
	struct fid *fid = &ep->self.fid.fid;

	if (!err) {
		mxefi_eq_push(ep->eq, ep->cm_start, FI_CONNECTED, fid,
			      conn->peer_data, conn->peer_data_len);
		ep->cm_start = NULL;
		return;
	}
	if (err == FI_ESHUTDOWN)
		mxefi_eq_push(ep->eq, ep->cm_end, FI_SHUTDOWN, fid,
			      conn->peer_data, 0);
	else
		mxefi_eq_push_err(ep->eq, ep->cm_end, fid, err,
				  conn->peer_data, conn->peer_data_len);
	ep->cm_end = NULL;
}

/* A connection starts and ends only once. */
static int alloc_events(struct mxefi_ep *ep)
{
	if (!ep->cm_start)
		ep->cm_start = mxefi_eq_alloc();
	if (!ep->cm_end)
		ep->cm_end = mxefi_eq_alloc();
	return ep->cm_start && ep->cm_end ? 0 : -FI_ENOMEM;
}

/* Starts to connect, and enables the endpoint unless it is enabled already. */
static int start(struct mxefi_ep *ep, const void *addr,
		 const struct mxefi_hello *request, const void *param,
		 size_t len)
{
	struct mxefi_addr peer;
	int ret;

	if (!ep->is_msg)
		return -FI_ENOSYS;
	if (len > MXEFI_CM_DATA)
		return -FI_EINVAL;
	if (addr)
		memcpy(&peer, addr, sizeof(peer));
	else
		peer = request->src;
	ret = mxefi_name_resolve(&peer, MXEFI_RESOLVE_MS);
	if (ret)
		return ret;
	ret = fi_enable(&ep->self.fid);
	if (ret && ret != -FI_EOPBADSTATE)
		return ret;
	pthread_mutex_lock(&ep->dom->lock);
	if (!ep->enabled || ep->conns)
		ret = -FI_EOPBADSTATE;
	else
		ret = alloc_events(ep);
	if (!ret) {
		ep->on_cm = on_cm;
		ret = mxefi_hello_start(ep, &peer, request, param, len);
	}
	pthread_mutex_unlock(&ep->dom->lock);
	return ret;
}

static int cm_connect(struct fid_ep *fid, const void *addr, const void *param,
		      size_t len)
{
	return addr ? start(to_ep(fid), addr, NULL, param, len) : -FI_EINVAL;
}

static int cm_accept(struct fid_ep *fid, const void *param, size_t len)
{
	struct mxefi_ep *ep = to_ep(fid);

	if (!ep->request.magic)
		return -FI_EOPBADSTATE;
	return start(ep, NULL, &ep->request, param, len);
}

static int cm_shutdown(struct fid_ep *fid, uint64_t flags)
{
	struct mxefi_ep *ep = to_ep(fid);
	int ret = -FI_ENOTCONN;

	if (!ep->is_msg)
		return -FI_ENOSYS;
	if (flags)
		return -FI_EINVAL;
	pthread_mutex_lock(&ep->dom->lock);
	if (ep->conns && !ep->conns->is_shut) {
		mxefi_conn_shutdown(ep->conns);
		ret = 0;
	}
	pthread_mutex_unlock(&ep->dom->lock);
	return ret;
}

/**
 * mxefi_copy_addr() - Copy an address for the program.
 * @from: address
 * @addr: where it is copied, as far as there is room
 * @len: room in bytes; becomes the length of an address
 *
 * Return: 0 or -FI_ETOOSMALL.
 */
int mxefi_copy_addr(const struct mxefi_addr *from, void *addr, size_t *len)
{
	size_t room = *len;

	*len = sizeof(*from);
	if (addr)
		memcpy(addr, from, room < sizeof(*from) ? room : sizeof(*from));
	return room < sizeof(*from) ? -FI_ETOOSMALL : 0;
}

static int cm_getname(fid_t fid, void *addr, size_t *len)
{
	struct mxefi_ep *ep = fid_to_ep(fid);

	if (!ep->enabled)
		return -FI_EOPBADSTATE;
	return mxefi_copy_addr(&ep->ud.name, addr, len);
}

static int cm_getpeer(struct fid_ep *fid, void *addr, size_t *len)
{
	struct mxefi_ep *ep = to_ep(fid);
	struct mxefi_addr peer;
	bool connected;

	if (!ep->is_msg)
		return -FI_ENOSYS;
	pthread_mutex_lock(&ep->dom->lock);
	connected = ep->conns && ep->conns->connected;
	if (connected)
		peer = ep->conns->peer.addr;
	pthread_mutex_unlock(&ep->dom->lock);
	return connected ? mxefi_copy_addr(&peer, addr, len) : -FI_ENOTCONN;
}

static int cm_setname(fid_t fid, void *addr, size_t len)
{
	return -FI_ENOSYS;
}

static int cm_listen(struct fid_pep *pep)
{
	return -FI_ENOSYS;
}

static int cm_reject(struct fid_pep *pep, fid_t handle, const void *param,
		     size_t len)
{
	return -FI_ENOSYS;
}

static int cm_join(struct fid_ep *ep, const void *addr, uint64_t flags,
		   struct fid_mc **mc, void *context)
{
	return -FI_ENOSYS;
}

struct fi_ops_cm mxefi_cm_ops = {
	.size = sizeof(struct fi_ops_cm),
	.setname = cm_setname,
	.getname = cm_getname,
	.getpeer = cm_getpeer,
	.connect = cm_connect,
	.listen = cm_listen,
	.accept = cm_accept,
	.reject = cm_reject,
	.shutdown = cm_shutdown,
	.join = cm_join,
};
