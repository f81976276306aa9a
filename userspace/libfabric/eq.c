// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Event queues. fabric.c opens them. Programs open one for any endpoint, but
 * nothing that this provider has reports events to it: it stays empty.
 */
#include <poll.h>
#include <stdlib.h>

#include "mxefi.h"

static ssize_t eq_read(struct fid_eq *eq, uint32_t *event, void *buf,
		       size_t len, uint64_t flags)
{
	return -FI_EAGAIN;
}

static ssize_t eq_readerr(struct fid_eq *eq, struct fi_eq_err_entry *buf,
			  uint64_t flags)
{
	return -FI_EAGAIN;
}

static ssize_t eq_write(struct fid_eq *eq, uint32_t event, const void *buf,
			size_t len, uint64_t flags)
{
	return -FI_ENOSYS;
}

static ssize_t eq_sread(struct fid_eq *eq, uint32_t *event, void *buf,
			size_t len, int timeout, uint64_t flags)
{
	poll(NULL, 0, timeout);
	return -FI_EAGAIN;
}

static const char *eq_strerror(struct fid_eq *eq, int prov_errno,
			       const void *err_data, char *buf, size_t len)
{
	return mxefi_strerror(prov_errno, buf, len);
}

static int eq_close(struct fid *fid)
{
	free(container_of(fid, struct fid_eq, fid));
	return 0;
}

static struct fi_ops eq_fi_ops = {
	.size = sizeof(struct fi_ops),
	.close = eq_close,
	.bind = mxefi_no_bind,
	.control = mxefi_no_control,
	.ops_open = mxefi_no_ops_open,
};

static struct fi_ops_eq eq_ops = {
	.size = sizeof(struct fi_ops_eq),
	.read = eq_read,
	.readerr = eq_readerr,
	.write = eq_write,
	.sread = eq_sread,
	.strerror = eq_strerror,
};

int mxefi_eq_open(struct fid_fabric *fabric, struct fi_eq_attr *attr,
		  struct fid_eq **fid, void *context)
{
	struct fid_eq *eq;

	if (attr && attr->wait_obj != FI_WAIT_NONE &&
	    attr->wait_obj != FI_WAIT_UNSPEC)
		return -FI_ENOSYS;
	eq = calloc(1, sizeof(*eq));
	if (!eq)
		return -FI_ENOMEM;
	eq->fid.fclass = FI_CLASS_EQ;
	eq->fid.context = context;
	eq->fid.ops = &eq_fi_ops;
	eq->ops = &eq_ops;
	*fid = eq;
	return 0;
}
