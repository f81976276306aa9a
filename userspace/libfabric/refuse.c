// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The fi_provider that log messages name, the text of errors, and stubs for
 * unsupported calls. The operations of all objects use them.
 */
#include <string.h>

#include "mxefi.h"

struct fi_provider *mxefi_prov;

int mxefi_no_bind(struct fid *fid, struct fid *bfid, uint64_t flags)
{
	return -FI_ENOSYS;
}

int mxefi_no_control(struct fid *fid, int command, void *arg)
{
	return -FI_ENOSYS;
}

int mxefi_no_ops_open(struct fid *fid, const char *name, uint64_t flags,
		      void **ops, void *context)
{
	return -FI_ENOSYS;
}

const char *mxefi_strerror(int prov_errno, char *buf, size_t len)
{
	const char *text = fi_strerror(prov_errno);

	if (buf && len) {
		strncpy(buf, text, len - 1);
		buf[len - 1] = 0;
	}
	return text;
}

/* ---- tagged messages --------------------------------------------------- */

static ssize_t no_trecv(struct fid_ep *ep, void *buf, size_t len, void *desc,
			fi_addr_t src_addr, uint64_t tag, uint64_t ignore,
			void *context)
{
	return -FI_ENOSYS;
}

static ssize_t no_trecvv(struct fid_ep *ep, const struct iovec *iov,
			 void **desc, size_t count, fi_addr_t src_addr,
			 uint64_t tag, uint64_t ignore, void *context)
{
	return -FI_ENOSYS;
}

static ssize_t no_trecvmsg(struct fid_ep *ep, const struct fi_msg_tagged *msg,
			   uint64_t flags)
{
	return -FI_ENOSYS;
}

static ssize_t no_tsend(struct fid_ep *ep, const void *buf, size_t len,
			void *desc, fi_addr_t dest_addr, uint64_t tag,
			void *context)
{
	return -FI_ENOSYS;
}

static ssize_t no_tsendv(struct fid_ep *ep, const struct iovec *iov,
			 void **desc, size_t count, fi_addr_t dest_addr,
			 uint64_t tag, void *context)
{
	return -FI_ENOSYS;
}

static ssize_t no_tsendmsg(struct fid_ep *ep, const struct fi_msg_tagged *msg,
			   uint64_t flags)
{
	return -FI_ENOSYS;
}

static ssize_t no_tinject(struct fid_ep *ep, const void *buf, size_t len,
			  fi_addr_t dest_addr, uint64_t tag)
{
	return -FI_ENOSYS;
}

static ssize_t no_tsenddata(struct fid_ep *ep, const void *buf, size_t len,
			    void *desc, uint64_t data, fi_addr_t dest_addr,
			    uint64_t tag, void *context)
{
	return -FI_ENOSYS;
}

static ssize_t no_tinjectdata(struct fid_ep *ep, const void *buf, size_t len,
			      uint64_t data, fi_addr_t dest_addr, uint64_t tag)
{
	return -FI_ENOSYS;
}

struct fi_ops_tagged mxefi_no_tagged_ops = {
	.size = sizeof(struct fi_ops_tagged),
	.recv = no_trecv,
	.recvv = no_trecvv,
	.recvmsg = no_trecvmsg,
	.send = no_tsend,
	.sendv = no_tsendv,
	.sendmsg = no_tsendmsg,
	.inject = no_tinject,
	.senddata = no_tsenddata,
	.injectdata = no_tinjectdata,
};
