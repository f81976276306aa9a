// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Memory regions.
 *
 * If the device has no atomics of 1 and 2 bytes, an atomic of that size
 * accesses the word around it. Then a region for atomics is extended to whole
 * words of 8 bytes. The word is within the page, so this maps no more memory,
 * but a peer with the key reaches up to 7 bytes more at each end.
 */
#include <errno.h>
#include <stdlib.h>

#include "atomic_plan.h"
#include "cntr.h"
#include "container.h"
#include "domain.h"
#include "mr.h"
#include "progress.h"
#include "provider.h"

struct mxefi_mr {
	struct fid_mr fid;
	struct mxefi_domain *dom;
	struct ibv_mr *mr;
	/* Count accesses of peers to this region, or NULL. */
	struct mxefi_cntr *read_cntr, *write_cntr;
	struct mxefi_mr *next_counted;	/* in dom->counted_mrs */
};

static bool is_counted(const struct mxefi_mr *mr)
{
	return mr->read_cntr || mr->write_cntr;
}

static void stop_counting(struct mxefi_mr *mr)
{
	struct mxefi_mr **p = &mr->dom->counted_mrs;

	while (*p != mr)
		p = &(*p)->next_counted;
	*p = mr->next_counted;
	if (mr->read_cntr)
		mr->read_cntr->users--;
	if (mr->write_cntr)
		mr->write_cntr->users--;
	mr->read_cntr = NULL;
	mr->write_cntr = NULL;
}

static int mr_close(struct fid *fid)
{
	struct mxefi_mr *mr = container_of(fid, struct mxefi_mr, fid.fid);
	int err;

	/* Another region may get the key as soon as this one is gone. */
	pthread_mutex_lock(&mr->dom->lock);
	if (is_counted(mr))
		stop_counting(mr);
	pthread_mutex_unlock(&mr->dom->lock);
	err = ibv_dereg_mr(mr->mr);
	if (err)
		return -err;
	pthread_mutex_lock(&mr->dom->lock);
	mr->dom->users--;
	pthread_mutex_unlock(&mr->dom->lock);
	free(mr);
	return 0;
}

/* Returns 0 or a negative error. */
static int bind_cntr(struct mxefi_mr *mr, struct mxefi_cntr *cntr,
		     uint64_t flags)
{
	if (cntr->dom != mr->dom || !flags ||
	    flags & ~(uint64_t)(FI_REMOTE_READ | FI_REMOTE_WRITE) ||
	    (flags & FI_REMOTE_READ && mr->read_cntr) ||
	    (flags & FI_REMOTE_WRITE && mr->write_cntr))
		return -FI_EINVAL;
	if (!is_counted(mr)) {
		mr->next_counted = mr->dom->counted_mrs;
		mr->dom->counted_mrs = mr;
	}
	if (flags & FI_REMOTE_READ) {
		mr->read_cntr = cntr;
		cntr->users++;
	}
	if (flags & FI_REMOTE_WRITE) {
		mr->write_cntr = cntr;
		cntr->users++;
	}
	return 0;
}

static int mr_bind(struct fid *fid, struct fid *bfid, uint64_t flags)
{
	struct mxefi_mr *mr = container_of(fid, struct mxefi_mr, fid.fid);
	int ret;

	if (bfid->fclass != FI_CLASS_CNTR)
		return mxefi_no_bind(fid, bfid, flags);
	pthread_mutex_lock(&mr->dom->lock);
	ret = bind_cntr(mr, container_of(bfid, struct mxefi_cntr, fid.fid),
			flags);
	pthread_mutex_unlock(&mr->dom->lock);
	return ret;
}

/**
 * mxefi_mr_count() - Count an access of a peer, if the region has counters.
 * @dom: domain
 * @rkey: key of the region, which need not exist
 * @reads: the peer has read it
 * @writes: the peer has changed it
 */
void mxefi_mr_count(struct mxefi_domain *dom, uint32_t rkey, bool reads,
		    bool writes)
{
	const struct mxefi_mr *mr = dom->counted_mrs;

	while (mr && mr->mr->rkey != rkey)
		mr = mr->next_counted;
	if (!mr)
		return;
	if (reads)
		mxefi_cntr_count(mr->read_cntr, false);
	if (writes)
		mxefi_cntr_count(mr->write_cntr, false);
}

static struct fi_ops mr_fi_ops = {
	.size = sizeof(struct fi_ops),
	.close = mr_close,
	.bind = mr_bind,
	.control = mxefi_no_control,
	.ops_open = mxefi_no_ops_open,
};

/*
 * Local buffers need no registration, so a program may pass the descriptor of
 * any region, such as one with FI_REMOTE_READ alone, for a buffer that is
 * written. Memory that is read-only can be registered without that right.
 */
static struct ibv_mr *reg(struct ibv_pd *pd, uintptr_t begin, size_t len,
			  int access)
{
	struct ibv_mr *mr = ibv_reg_mr(pd, (void *)begin, len,
				       access | IBV_ACCESS_LOCAL_WRITE);

	if (!mr && errno == EFAULT && !(access & IBV_ACCESS_LOCAL_WRITE))
		mr = ibv_reg_mr(pd, (void *)begin, len, access);
	return mr;
}

static int mr_regattr(struct fid *fid, const struct fi_mr_attr *attr,
		      uint64_t flags, struct fid_mr **fid_mr)
{
	struct mxefi_domain *dom =
		container_of(fid, struct mxefi_domain, fid.fid);
	int access = 0;
	uintptr_t begin, end;
	struct mxefi_mr *mr;

	if (fid->fclass != FI_CLASS_DOMAIN || attr->iov_count != 1 ||
	    attr->offset || attr->auth_key_size)
		return -FI_EINVAL;
	/* A program may say that a counter will be bound. */
	if (flags & ~(uint64_t)FI_RMA_EVENT)
		return -FI_EINVAL;
	begin = (uintptr_t)attr->mr_iov->iov_base;
	end = begin + attr->mr_iov->iov_len;
	if (end < begin)
		return -FI_EINVAL;
	if (attr->access & (FI_RECV | FI_READ | FI_REMOTE_WRITE))
		access |= IBV_ACCESS_LOCAL_WRITE;
	if (attr->access & FI_REMOTE_READ)
		access |= IBV_ACCESS_REMOTE_READ;
	if (attr->access & FI_REMOTE_WRITE)
		access |= IBV_ACCESS_REMOTE_WRITE;
	if (attr->access & FI_REMOTE_WRITE && dom->dev.sizes) {
		/*
		 * The device checks one right for all masked atomics. It must
		 * not come with FI_REMOTE_READ, although an atomic read is a
		 * masked atomic, too: the peer could change the memory.
		 */
		access |= IBV_ACCESS_REMOTE_ATOMIC;
		if (!mxefi_unit_exact(dom->dev.sizes)) {
			begin &= ~(uintptr_t)7;
			end = (end + 7) & ~(uintptr_t)7;
		}
	}
	mr = calloc(1, sizeof(*mr));
	if (!mr)
		return -FI_ENOMEM;
	mr->mr = reg(dom->pd, begin, end - begin, access);
	if (!mr->mr) {
		int err = errno;

		mxefi_info(FI_LOG_MR, "cannot register %zu bytes: %s\n",
			   attr->mr_iov->iov_len, fi_strerror(err));
		free(mr);
		return -err;
	}
	mr->dom = dom;
	mr->fid.fid.fclass = FI_CLASS_MR;
	mr->fid.fid.context = attr->context;
	mr->fid.fid.ops = &mr_fi_ops;
	mr->fid.mem_desc = mr->mr;
	mr->fid.key = mr->mr->rkey;
	mxefi_domain_hold(dom);
	*fid_mr = &mr->fid;
	return 0;
}

static int mr_regv(struct fid *fid, const struct iovec *iov, size_t count,
		   uint64_t access, uint64_t offset, uint64_t requested_key,
		   uint64_t flags, struct fid_mr **mr, void *context)
{
	struct fi_mr_attr attr = {
		.mr_iov = iov,
		.iov_count = count,
		.access = access,
		.offset = offset,
		.requested_key = requested_key,
		.context = context,
	};

	return mr_regattr(fid, &attr, flags, mr);
}

static int mr_reg(struct fid *fid, const void *buf, size_t len, uint64_t access,
		  uint64_t offset, uint64_t requested_key, uint64_t flags,
		  struct fid_mr **mr, void *context)
{
	struct iovec iov = { .iov_base = (void *)(uintptr_t)buf, .iov_len = len };

	return mr_regv(fid, &iov, 1, access, offset, requested_key, flags, mr,
		       context);
}

struct fi_ops_mr mxefi_mr_ops = {
	.size = sizeof(struct fi_ops_mr),
	.reg = mr_reg,
	.regv = mr_regv,
	.regattr = mr_regattr,
};
