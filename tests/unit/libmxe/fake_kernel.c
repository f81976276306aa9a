// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Implements the fake of libibverbs and of the kernel that fake_kernel.h
 * declares.
 */
#include <fcntl.h>
#include <stdarg.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include <rdma/rdma_user_ioctl_cmds.h>

#include "fake_kernel.h"

struct fake_kernel fake = {
	.context_size = sizeof(struct verbs_context),
	.qp_ex_size = sizeof(struct ibv_qp_ex),
	.next_qpn = QPN,
	.next_ah = AH_NUM,
	.caps = {
		.atomic_cap = IBV_ATOMIC_GLOB,
		.masked_atomic_cap = IBV_ATOMIC_GLOB,
		.masked_ops = MXE_MASKED_ATOMIC_CMP_SWAP |
			      MXE_MASKED_ATOMIC_FETCH_ADD,
		.log_arg_sizes = 1 << 3,
		.max_fa_bit_boundary = 64,
		.reply_modes = MXE_ATOMIC_REPLY_HOST | MXE_ATOMIC_REPLY_BE,
	},
};

static uint64_t fake_area(void)
{
	if (fake.areas == AREAS)
		bail_out("out of areas");
	return (uint64_t)fake.areas++ * AREA;
}

static void fake_ring(struct mxe_ring_info *info, uint32_t entries,
		      uint32_t stride)
{
	*info = (struct mxe_ring_info){
		.mmap_offset = fake_area(),
		.mmap_size = AREA,
		.entries = entries,
		.stride = stride,
		.max_sge = MAX_SGE,
		.max_inline = MAX_INLINE,
	};
	if (fake.break_ring)
		fake.break_ring(info);
}

void verbs_register_driver(const struct verbs_device_ops *ops)
{
	fake.driver = ops;
}

static uint32_t *fake_comp_mask(struct ibv_qp *qp)
{
	return (void *)((char *)qp + fake.qp_ex_size);
}

struct ibv_qp_ex *ibv_qp_to_qp_ex(struct ibv_qp *qp)
{
	return *fake_comp_mask(qp) & VERBS_QP_EX ? (void *)qp : NULL;
}

void *_verbs_init_and_alloc_context(struct ibv_device *device, int cmd_fd,
				    size_t alloc_size,
				    struct verbs_context *context_offset,
				    uint32_t driver_id)
{
	char *ctx = calloc(1, alloc_size);
	struct verbs_context *vctx =
		(void *)(ctx + (uintptr_t)context_offset);

	if (!ctx || driver_id != MXE_DRIVER_ID)
		bail_out("context of driver %#x", driver_id);
	vctx->sz = fake.context_size;
	vctx->context.abi_compat = __VERBS_ABI_IS_EXTENDED;
	vctx->context.device = device;
	vctx->context.cmd_fd = cmd_fd;
	fake.contexts++;
	return ctx;
}

void verbs_uninit_context(struct verbs_context *context)
{
	(void)context;
	fake.contexts--;
}

void verbs_set_ops(struct verbs_context *vctx,
		   const struct verbs_context_ops *ops)
{
	fake.ops = ops;
	if (fake.shift_ops)	/* a member was inserted before these */
		ops = (const void *)((const char *)ops - sizeof(void *));
	vctx->query_rt_values = ops->query_rt_values;
	vctx->reg_dm_mr = ops->reg_dm_mr;
	vctx->context.ops.alloc_mw = ops->alloc_mw;
	vctx->context.ops.req_notify_cq = ops->req_notify_cq;
	vctx->context.ops.poll_cq = ops->poll_cq;
	vctx->context.ops.post_send = ops->post_send;
	vctx->context.ops.post_recv = ops->post_recv;
}

int ibv_cmd_get_context(struct verbs_context *context,
			struct ibv_get_context *cmd, size_t cmd_size,
			RDMAV_ARG_57(struct ibv_fd_arr *fd_arr __attribute__((unused)))
			struct ib_uverbs_get_context_resp *resp,
			size_t resp_size)
{
	struct mxe_alloc_ucontext_resp *drv = (void *)(resp + 1);

	(void)context;
	(void)cmd;
	if (cmd_size != sizeof(*cmd) + sizeof(struct mxe_alloc_ucontext_req) ||
	    resp_size != sizeof(*resp) + sizeof(*drv))
		return EINVAL;
	drv->comp_mask = MXE_ALLOC_UCONTEXT_INLINE_RECV;
	return fake.fail_get_context;
}

int ibv_cmd_query_context(struct ibv_context *context,
			  struct ibv_command_buffer *driver)
{
	context->num_comp_vectors = COMP_VECTORS;
	return driver ? EINVAL : fake.fail_query_context;
}

static int fake_query_dm(const struct ib_uverbs_attr *attrs)
{
	struct mxe_query_dm_resp *resp = (void *)(uintptr_t)attrs[1].data;

	if (attrs[0].attr_id != MXE_ATTR_QUERY_DM_HANDLE || attrs[0].len ||
	    attrs[1].attr_id != MXE_ATTR_QUERY_DM_RESP ||
	    attrs[1].len != sizeof(*resp))
		return EPROTO;
	if (attrs[0].data != DM_HANDLE)
		return ENOENT;
	resp->mmap_offset = (uint64_t)(fake.dm_mem - fake.mem);
	resp->mmap_size = AREA;
	resp->length = fake.dm_length;
	return 0;
}

static int fake_query_dct(const struct ib_uverbs_attr *attrs)
{
	struct mxe_query_dct_resp *resp = (void *)(uintptr_t)attrs[1].data;

	if (attrs[0].attr_id != MXE_ATTR_QUERY_DCT_HANDLE || attrs[0].len ||
	    attrs[1].attr_id != MXE_ATTR_QUERY_DCT_RESP ||
	    attrs[1].len != sizeof(*resp))
		return EPROTO;
	fake.dct_handle = attrs[0].data;
	if (!fake.fail_dct)
		*resp = fake.dct;
	return fake.fail_dct;
}

static int fake_arm_dct(const struct ib_uverbs_attr *attrs)
{
	if (attrs[0].attr_id != MXE_ATTR_ARM_DCT_HANDLE || attrs[0].len ||
	    attrs[1].attr_id != MXE_ATTR_ARM_DCT_EVENTS || attrs[1].len != 4)
		return EPROTO;
	fake.dct_handle = attrs[0].data;
	if (!fake.fail_dct)
		fake.dct.armed_events = (uint32_t)attrs[1].data;
	return fake.fail_dct;
}

/* Makes a ring with the requests of an old one. */
static void fake_copy_ring(struct mxe_ring_info *info, const struct mxe_ring *old,
			   uint32_t entries)
{
	const char *from = (const char *)(old->hdr + 1);
	struct mxe_ring_hdr *hdr;

	fake_ring(info, entries, old->stride);
	hdr = (void *)(fake.mem + info->mmap_offset);
	*hdr = *old->hdr;
	for (uint32_t i = hdr->consumer; i != hdr->producer; i++)
		memcpy((char *)(hdr + 1) + (i & (entries - 1)) * old->stride,
		       from + (i & (old->entries - 1)) * old->stride, old->stride);
}

static int fake_resize_qp(const struct ib_uverbs_attr *attrs)
{
	struct mxe_create_qp_resp *resp = (void *)(uintptr_t)attrs[3].data;

	if (attrs[0].attr_id != MXE_ATTR_RESIZE_QP_HANDLE || attrs[0].len ||
	    attrs[1].attr_id != MXE_ATTR_RESIZE_QP_MAX_SEND_WR ||
	    attrs[1].len != 4 ||
	    attrs[2].attr_id != MXE_ATTR_RESIZE_QP_MAX_RECV_WR ||
	    attrs[2].len != 4 || attrs[3].attr_id != MXE_ATTR_RESIZE_QP_RESP ||
	    attrs[3].len != sizeof(*resp))
		return EPROTO;
	if (fake.fail_resize_qp)
		return fake.fail_resize_qp;
	fake_copy_ring(&resp->sq, &fake.qp->sq, (uint32_t)attrs[1].data);
	if (attrs[2].data)
		fake_copy_ring(&resp->rq, &fake.qp->rq, (uint32_t)attrs[2].data);
	return 0;
}

static int fake_alloc_dm(struct ib_uverbs_attr *attrs)
{
	struct mxe_alloc_dm_resp *resp = (void *)(uintptr_t)attrs[3].data;
	int i;

	for (i = 0; i < 4; i++)
		if (attrs[i].flags != UVERBS_ATTR_F_MANDATORY)
			return EPROTO;
	if (attrs[0].attr_id != UVERBS_ATTR_ALLOC_DM_HANDLE || attrs[0].len ||
	    attrs[1].attr_id != UVERBS_ATTR_ALLOC_DM_LENGTH ||
	    attrs[1].len != 8 ||
	    attrs[2].attr_id != UVERBS_ATTR_ALLOC_DM_ALIGNMENT ||
	    attrs[2].len != 4 || attrs[3].attr_id != MXE_ATTR_ALLOC_DM_RESP ||
	    attrs[3].len != sizeof(*resp))
		return EPROTO;
	if (fake.fail_alloc_dm)
		return fake.fail_alloc_dm;
	fake.dm_length = attrs[1].data;
	fake.dm_align = (uint32_t)attrs[2].data;
	attrs[0].data = DM_HANDLE;
	resp->mmap_offset = fake_area();
	resp->mmap_size = AREA;
	fake.dm_mem = fake.mem + resp->mmap_offset;
	fake.dms++;
	return 0;
}

static int fake_sync_mr(const struct ib_uverbs_attr *attrs)
{
	int i;

	for (i = 0; i < 4; i++)
		if (attrs[i].flags != UVERBS_ATTR_F_MANDATORY)
			return EPROTO;
	if (attrs[0].attr_id != MXE_ATTR_SYNC_MR_HANDLE || attrs[0].len ||
	    attrs[1].attr_id != MXE_ATTR_SYNC_MR_ADDR || attrs[1].len != 8 ||
	    attrs[2].attr_id != MXE_ATTR_SYNC_MR_LENGTH || attrs[2].len != 8 ||
	    attrs[3].attr_id != MXE_ATTR_SYNC_MR_FLAGS || attrs[3].len != 4)
		return EPROTO;
	if (fake.fail_sync_mr)
		return fake.fail_sync_mr;
	if (attrs[0].data != MR_HANDLE)
		return ENOENT;
	fake.sync_addr = attrs[1].data;
	fake.sync_length = attrs[2].data;
	fake.sync_flags = (uint32_t)attrs[3].data;
	fake.syncs++;
	return 0;
}

int __wrap_ioctl(int fd, unsigned long request, ...)
{
	struct ib_uverbs_ioctl_hdr *hdr;
	va_list ap;
	int err = 0;

	va_start(ap, request);
	hdr = va_arg(ap, void *);
	va_end(ap);

	if (fd != fake.cmd_fd || request != RDMA_VERBS_IOCTL ||
	    hdr->driver_id != MXE_DRIVER_ID ||
	    hdr->reserved1 || hdr->reserved2 ||
	    hdr->length != sizeof(*hdr) +
			   hdr->num_attrs * sizeof(hdr->attrs[0])) {
		err = EPROTO;
	} else if (hdr->object_id == UVERBS_OBJECT_DM &&
		   hdr->method_id == UVERBS_METHOD_DM_ALLOC &&
		   hdr->num_attrs == 4) {
		err = fake_alloc_dm(hdr->attrs);
	} else if (hdr->object_id == UVERBS_OBJECT_DM &&
		   hdr->method_id == MXE_METHOD_DM_QUERY &&
		   hdr->num_attrs == 2) {
		err = fake_query_dm(hdr->attrs);
	} else if (hdr->object_id == UVERBS_OBJECT_QP &&
		   hdr->method_id == MXE_METHOD_DCT_QUERY &&
		   hdr->num_attrs == 2) {
		err = fake_query_dct(hdr->attrs);
	} else if (hdr->object_id == UVERBS_OBJECT_QP &&
		   hdr->method_id == MXE_METHOD_DCT_ARM &&
		   hdr->num_attrs == 2) {
		err = fake_arm_dct(hdr->attrs);
	} else if (hdr->object_id == UVERBS_OBJECT_QP &&
		   hdr->method_id == MXE_METHOD_QP_RESIZE &&
		   hdr->num_attrs == 4) {
		err = fake_resize_qp(hdr->attrs);
	} else if (hdr->object_id == UVERBS_OBJECT_MR &&
		   hdr->method_id == MXE_METHOD_MR_SYNC &&
		   hdr->num_attrs == 4) {
		err = fake_sync_mr(hdr->attrs);
	} else if (hdr->num_attrs != 1) {
		err = EPROTO;
	} else if (hdr->object_id == MXE_OBJECT_DOORBELL &&
		   hdr->method_id == MXE_METHOD_DOORBELL_ALLOC &&
		   hdr->attrs[0].attr_id == MXE_ATTR_DOORBELL_ALLOC_FD &&
		   !hdr->attrs[0].len) {
		err = fake.fail_doorbell;
		hdr->attrs[0].data_s64 = dup(fake.bell_wr);
	} else if (hdr->object_id == UVERBS_OBJECT_DEVICE &&
		   hdr->method_id == MXE_METHOD_DEVICE_QUERY_ATOMICS &&
		   hdr->attrs[0].attr_id ==
			   MXE_ATTR_DEVICE_QUERY_ATOMICS_CAPS &&
		   hdr->attrs[0].len == sizeof(fake.caps)) {
		err = fake.fail_query_atomics;
		memcpy((void *)(uintptr_t)hdr->attrs[0].data, &fake.caps,
		       sizeof(fake.caps));
	} else {
		err = EOPNOTSUPP;
	}
	errno = err;
	return err ? -1 : 0;
}

void *__wrap_mmap(void *addr, size_t len, int prot, int flags, int fd,
		  off_t off)
{
	void *map;

	if (fake.fail_mmap_nth && !--fake.fail_mmap_nth) {
		errno = EAGAIN;
		return MAP_FAILED;
	}
	map = __real_mmap(addr, len, prot, flags, fd, off);
	if (map != MAP_FAILED)
		fake.maps++;
	return map;
}

int __wrap_munmap(void *addr, size_t len)
{
	fake.maps--;
	return __real_munmap(addr, len);
}

ssize_t __wrap_write(int fd, const void *buf, size_t len)
{
	fake.writes++;
	if (fake.write_failures) {
		fake.write_failures--;
		errno = fake.write_errno;
		return -1;
	}
	return __real_write(fd, buf, len);
}

int __wrap_clock_gettime(clockid_t clock, struct timespec *ts)
{
	uint64_t now = fake.mono;

	if (!now)
		return __real_clock_gettime(clock, ts);
	if (clock == CLOCK_REALTIME)
		now += (uint64_t)fake.wall_offset;
	ts->tv_sec = (time_t)(now / 1000000000);
	ts->tv_nsec = (long)(now % 1000000000);
	if (fake.num_delays) {
		fake.mono += *fake.delays++;
		fake.num_delays--;
	}
	return 0;
}

int __wrap_pthread_spin_init(pthread_spinlock_t *lock, int pshared)
{
	fake.locks++;
	return __real_pthread_spin_init(lock, pshared);
}

int __wrap_pthread_spin_destroy(pthread_spinlock_t *lock)
{
	fake.locks--;
	return __real_pthread_spin_destroy(lock);
}

int ibv_cmd_create_cq_ex(struct ibv_context *context,
			 const struct ibv_cq_init_attr_ex *attr,
			 RDMAV_ARG_59(struct verbs_create_cq_prov_attr *prov __attribute__((unused)))
			 struct verbs_cq *vcq, struct ibv_create_cq_ex *cmd,
			 size_t cmd_size,
			 struct ib_uverbs_ex_create_cq_resp *resp,
			 size_t resp_size, uint32_t cmd_flags)
{
	struct mxe_create_cq_resp *drv = (void *)(resp + 1);

	(void)cmd_flags;
	if (fake.fail_create_cq)
		return fake.fail_create_cq;
	if (cmd_size != sizeof(*cmd) + sizeof(struct mxe_create_cq_req) ||
	    resp_size != sizeof(*resp) + sizeof(*drv))
		return EINVAL;
	fake.cq_wc_flags = attr->wc_flags;
	vcq->cq.context = context;
	vcq->cq.cqe = attr->cqe;
	fake_ring(&drv->ring, CQ_ENTRIES, sizeof(struct mxe_cqe));
	fake.cq_entries = CQ_ENTRIES;
	fake.cqs++;
	return 0;
}

int ibv_cmd_modify_cq(struct ibv_cq *cq, struct ibv_modify_cq_attr *attr,
		      struct ibv_modify_cq *cmd, size_t cmd_size)
{
	(void)cq;
	fake.moderation = attr->moderate;
	return cmd_size == sizeof(*cmd) ? 0 : EINVAL;
}

int ibv_cmd_resize_cq(struct ibv_cq *cq, int cqe, struct ibv_resize_cq *cmd,
		      size_t cmd_size, struct ib_uverbs_resize_cq_resp *resp,
		      size_t resp_size)
{
	struct mxe_resize_cq_resp *drv = (void *)(resp + 1);
	struct mxe_ring *old = &to_mcq(cq)->ring;
	const char *entry = (const char *)(old->hdr + 1);
	struct mxe_ring_hdr *hdr;
	uint32_t i;

	if (fake.fail_resize_cq)
		return fake.fail_resize_cq;
	if (cmd_size != sizeof(*cmd) || resp_size != sizeof(*resp) + sizeof(*drv))
		return EINVAL;
	fake_ring(&drv->ring, (uint32_t)cqe, sizeof(struct mxe_cqe));
	hdr = (void *)(fake.mem + drv->ring.mmap_offset);
	for (i = old->hdr->consumer; i != old->hdr->producer; i++)
		memcpy((char *)(hdr + 1) +
			       (i & ((uint32_t)cqe - 1)) * drv->ring.stride,
		       entry + (i & (fake.cq_entries - 1)) * drv->ring.stride,
		       sizeof(struct mxe_cqe));
	fake.cq_entries = (uint32_t)cqe;
	hdr->consumer = old->hdr->consumer;
	hdr->producer = old->hdr->producer;
	if (fake.in_resize)
		fake.in_resize(cq);
	return 0;
}

int ibv_cmd_destroy_cq(struct ibv_cq *cq)
{
	(void)cq;
	fake.cqs--;
	return 0;
}

int ibv_cmd_create_qp_ex2(struct ibv_context *context, struct verbs_qp *vqp,
			  struct ibv_qp_init_attr_ex *attr,
			  struct ibv_create_qp_ex *cmd, size_t cmd_size,
			  struct ib_uverbs_ex_create_qp_resp *resp,
			  size_t resp_size, struct ibv_command_buffer *driver)
{
	struct mxe_create_qp_resp *drv = (void *)(resp + 1);

	if (driver)
		return EFAULT;
	if (fake.fail_create_qp)
		return fake.fail_create_qp;
	if (cmd_size != sizeof(*cmd) + sizeof(fake.qp_req) ||
	    resp_size != sizeof(*resp) + sizeof(*drv))
		return EINVAL;
	memcpy(&fake.qp_req, cmd + 1, sizeof(fake.qp_req));
	fake.qp_attr = *attr;

	vqp->qp.context = context;
	vqp->qp.send_cq = attr->send_cq;
	vqp->qp.recv_cq = attr->recv_cq;
	vqp->qp.qp_num = fake.next_qpn++;
	vqp->qp.qp_type = attr->qp_type;
	vqp->qp.state = IBV_QPS_RESET;
	*fake_comp_mask(&vqp->qp) = 0;
	fake.qps++;
	fake.qp = to_mqp(&vqp->qp);
	/* Such a QP has no rings in the process, so there is no response. */
	if (attr->qp_type == IBV_QPT_XRC_RECV ||
	    fake.qp_req.flags & MXE_QP_CREATE_DCT)
		return 0;
	attr->cap.max_send_wr = SQ_ENTRIES;
	fake_ring(&drv->sq, SQ_ENTRIES,
		  SQ_STRIDE +
			  (fake.qp_req.max_atomic_arg > 8 ?
				   4 * fake.qp_req.max_atomic_arg : 0) +
			  (fake.qp_req.flags & MXE_QP_CREATE_DCI ? 64 : 0));
	if (attr->cap.max_recv_wr)
		fake_ring(&drv->rq, RQ_ENTRIES,
			  sizeof(struct mxe_recv_wqe) +
				  MAX_SGE * sizeof(struct mxe_sge));
	if (fake.qp_req.flags & MXE_QP_CREATE_ONE_MAPPING) {
		drv->rq.mmap_offset = fake.second_offset;
		drv->rq.mmap_size = 0;
	}
	return 0;
}

int ibv_cmd_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr,
		      int attr_mask, struct ibv_modify_qp *cmd,
		      size_t cmd_size)
{
	struct mxe_qp *mqp = to_mqp(qp);

	if (cmd_size != sizeof(*cmd))
		return EINVAL;
	if (attr_mask & IBV_QP_STATE && attr->qp_state == IBV_QPS_RESET) {
		memset(mqp->sq.hdr, 0, sizeof(*mqp->sq.hdr));
		if (mqp->rq.hdr)
			memset(mqp->rq.hdr, 0, sizeof(*mqp->rq.hdr));
		fake.resets++;
	}
	return 0;
}

int ibv_cmd_destroy_qp(struct ibv_qp *qp)
{
	(void)qp;
	if (fake.fail_destroy_qp)
		return fake.fail_destroy_qp;
	fake.qps--;
	return 0;
}

/* Calls that the provider only passes on are not tested here. */
int ibv_cmd_query_device_any(struct ibv_context *context,
			     const struct ibv_query_device_ex_input *input,
			     struct ibv_device_attr_ex *attr, size_t attr_size,
			     struct ib_uverbs_ex_query_device_resp *resp,
			     size_t *resp_size)
{
	(void)context;
	(void)input;
	memset(attr, 0, attr_size);
	memset(resp, 0, *resp_size);
	resp->base.fw_ver = 1 << 16 | 2 << 8 | 3;
	return 0;
}

int ibv_cmd_query_port(struct ibv_context *context, uint8_t port_num,
		       struct ibv_port_attr *attr, struct ibv_query_port *cmd,
		       size_t cmd_size)
{
	(void)context;
	(void)port_num;
	(void)attr;
	return cmd_size == sizeof(*cmd) ? 0 : EINVAL;
}

int ibv_cmd_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int attr_mask,
		     struct ibv_qp_init_attr *init_attr,
		     struct ibv_query_qp *cmd, size_t cmd_size)
{
	(void)qp;
	(void)attr;
	(void)attr_mask;
	(void)init_attr;
	return cmd_size == sizeof(*cmd) ? 0 : EINVAL;
}

int ibv_cmd_alloc_pd(struct ibv_context *context, struct ibv_pd *pd,
		     struct ibv_alloc_pd *cmd, size_t cmd_size,
		     struct ib_uverbs_alloc_pd_resp *resp, size_t resp_size)
{
	pd->context = context;
	pd->handle = PD_HANDLE;
	if (cmd_size != sizeof(*cmd) || resp_size != sizeof(*resp))
		return EINVAL;
	fake.pds++;
	return 0;
}

int ibv_cmd_dealloc_pd(struct ibv_pd *pd)
{
	if (pd->handle != PD_HANDLE)
		return EPROTO;
	fake.pds--;
	return 0;
}

int ibv_cmd_reg_mr(struct ibv_pd *pd, void *addr, size_t length,
		   uint64_t hca_va, int access, struct verbs_mr *vmr,
		   struct ibv_reg_mr *cmd, size_t cmd_size,
		   struct ib_uverbs_reg_mr_resp *resp, size_t resp_size)
{
	(void)pd;
	(void)hca_va;
	(void)access;
	vmr->ibv_mr.addr = addr;
	vmr->ibv_mr.length = length;
	return cmd_size == sizeof(*cmd) && resp_size == sizeof(*resp) ? 0 :
									EINVAL;
}

int ibv_cmd_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset, size_t length,
			  uint64_t iova, int fd, int access,
			  struct verbs_mr *vmr,
			  struct ibv_command_buffer *driver)
{
	if (driver)
		return EFAULT;
	(void)pd;
	(void)access;
	vmr->ibv_mr.addr = (void *)(uintptr_t)offset;
	vmr->ibv_mr.length = length;
	return fd < 0 ? EBADF : (offset ^ iova) % 4096 ? EINVAL : 0;
}

int ibv_cmd_query_mr(struct ibv_pd *pd, struct verbs_mr *vmr, uint32_t handle)
{
	if (handle != MR_HANDLE)
		return ENOENT;
	vmr->ibv_mr.context = pd->context;
	vmr->ibv_mr.pd = pd;
	vmr->ibv_mr.handle = handle;
	return 0;
}

int ibv_cmd_dereg_mr(struct verbs_mr *vmr)
{
	(void)vmr;
	return 0;
}

int ibv_cmd_rereg_mr(struct verbs_mr *vmr, uint32_t flags, void *addr,
		     size_t length, uint64_t hca_va, int access,
		     struct ibv_pd *pd, struct ibv_rereg_mr *cmd,
		     size_t cmd_size, struct ib_uverbs_rereg_mr_resp *resp,
		     size_t resp_size)
{
	(void)vmr;
	(void)length;
	(void)access;
	(void)pd;
	return flags == IBV_REREG_MR_CHANGE_TRANSLATION &&
	       hca_va == (uintptr_t)addr && cmd_size == sizeof(*cmd) &&
	       resp_size == sizeof(*resp) ? 0 : EINVAL;
}

int ibv_cmd_free_dm(struct verbs_dm *dm)
{
	if (dm->handle != DM_HANDLE)
		return EPROTO;
	if (fake.fail_free_dm)
		return fake.fail_free_dm;
	fake.dms--;
	return 0;
}

int ibv_cmd_reg_dm_mr(struct ibv_pd *pd, struct verbs_dm *dm, uint64_t offset,
		      size_t length, unsigned int access,
		      struct verbs_mr *vmr, struct ibv_command_buffer *link)
{
	(void)pd;
	(void)offset;
	(void)access;
	vmr->ibv_mr.length = length;
	return dm->handle == DM_HANDLE && !link ? 0 : EPROTO;
}

int ibv_cmd_create_ah(struct ibv_pd *pd, struct ibv_ah *ah,
		      struct ibv_ah_attr *attr,
		      struct ib_uverbs_create_ah_resp *resp, size_t resp_size)
{
	struct mxe_create_ah_resp *drv = (void *)(resp + 1);

	(void)attr;
	if (fake.fail_create_ah)
		return fake.fail_create_ah;
	if (resp_size != sizeof(*resp) + sizeof(*drv))
		return EINVAL;
	ah->context = pd->context;
	drv->ah_num = fake.next_ah++;
	fake.ahs++;
	return 0;
}

int ibv_cmd_destroy_ah(struct ibv_ah *ah)
{
	(void)ah;
	fake.ahs--;
	return 0;
}

int ibv_cmd_alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type,
		     struct ibv_mw *mw, struct ibv_alloc_mw *cmd,
		     size_t cmd_size, struct ib_uverbs_alloc_mw_resp *resp,
		     size_t resp_size)
{
	(void)cmd;
	if (fake.fail_alloc_mw)
		return fake.fail_alloc_mw;
	if (cmd_size != sizeof(*cmd) || resp_size != sizeof(*resp))
		return EINVAL;
	mw->context = pd->context;
	mw->pd = pd;
	mw->type = type;
	mw->rkey = MW_RKEY;
	return 0;
}

int ibv_cmd_dealloc_mw(struct ibv_mw *mw)
{
	(void)mw;
	return 0;
}

int ibv_cmd_create_srq_ex(struct ibv_context *context, struct verbs_srq *vsrq,
			  struct ibv_srq_init_attr_ex *attr,
			  struct ibv_create_xsrq *cmd, size_t cmd_size,
			  struct ib_uverbs_create_srq_resp *resp,
			  size_t resp_size)
{
	const struct mxe_create_srq_req *req = (void *)(cmd + 1);
	struct mxe_create_srq_resp *drv = (void *)(resp + 1);

	if (fake.fail_create_srq)
		return fake.fail_create_srq;
	if (cmd_size != sizeof(*cmd) + sizeof(struct mxe_create_srq_req) ||
	    resp_size != sizeof(*resp) + sizeof(*drv))
		return EINVAL;
	vsrq->srq.context = context;
	vsrq->srq_num = SRQ_NUM;
	fake_ring(&drv->ring, RQ_ENTRIES, sizeof(struct mxe_recv_wqe) +
					  MAX_SGE * sizeof(struct mxe_sge));
	if (req->max_tm_ops) {
		fake_ring(&drv->tm_ops, TM_OPS, sizeof(struct mxe_tm_wqe) +
						MAX_SGE * sizeof(struct mxe_sge));
		drv->srq_num = SRQ_NUM;
		drv->max_num_tags = attr->tm_cap.max_num_tags;
	}
	attr->attr.max_wr = RQ_ENTRIES;
	attr->attr.max_sge = MAX_SGE;
	fake.srqs++;
	return 0;
}

int ibv_cmd_open_xrcd(struct ibv_context *context, struct verbs_xrcd *xrcd,
		      int vxrcd_size, struct ibv_xrcd_init_attr *attr,
		      struct ibv_open_xrcd *cmd, size_t cmd_size,
		      struct ib_uverbs_open_xrcd_resp *resp, size_t resp_size)
{
	if (vxrcd_size != sizeof(*xrcd) || cmd_size != sizeof(*cmd) ||
	    resp_size != sizeof(*resp))
		return EINVAL;
	if (attr->fd < 0)
		return EBADF;
	xrcd->xrcd.context = context;
	fake.xrcds++;
	return 0;
}

int ibv_cmd_close_xrcd(struct verbs_xrcd *xrcd)
{
	(void)xrcd;
	if (fake.qps)
		return EBUSY;
	fake.xrcds--;
	return 0;
}

int ibv_cmd_open_qp(struct ibv_context *context, struct verbs_qp *vqp,
		    int vqp_sz, struct ibv_qp_open_attr *attr,
		    struct ibv_open_qp *cmd, size_t cmd_size,
		    struct ib_uverbs_create_qp_resp *resp, size_t resp_size)
{
	if (vqp_sz != sizeof(*vqp) || cmd_size != sizeof(*cmd) ||
	    resp_size != sizeof(*resp))
		return EINVAL;
	if (attr->qp_num != QPN)
		return ENOENT;
	vqp->qp.context = context;
	vqp->qp.qp_num = attr->qp_num;
	vqp->qp.qp_type = attr->qp_type;
	vqp->qp.state = IBV_QPS_RTS;
	fake.qps++;
	return 0;
}

int ibv_cmd_modify_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr,
		       int attr_mask, struct ibv_modify_srq *cmd,
		       size_t cmd_size)
{
	(void)srq;
	fake.srq_limit = attr_mask & IBV_SRQ_LIMIT ? attr->srq_limit : 0;
	return cmd_size == sizeof(*cmd) ? 0 : EINVAL;
}

int ibv_cmd_query_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr,
		      struct ibv_query_srq *cmd, size_t cmd_size)
{
	(void)srq;
	attr->srq_limit = fake.srq_limit;
	return cmd_size == sizeof(*cmd) ? 0 : EINVAL;
}

int ibv_cmd_destroy_srq(struct ibv_srq *srq)
{
	(void)srq;
	fake.srqs--;
	return 0;
}

int ibv_cmd_attach_mcast(struct ibv_qp *qp, const union ibv_gid *gid,
			 uint16_t lid)
{
	(void)qp;
	(void)gid;
	(void)lid;
	return EOPNOTSUPP;
}

int ibv_cmd_detach_mcast(struct ibv_qp *qp, const union ibv_gid *gid,
			 uint16_t lid)
{
	(void)qp;
	(void)gid;
	(void)lid;
	return EOPNOTSUPP;
}

int ibv_cmd_req_notify_cq(struct ibv_cq *cq, int solicited_only)
{
	(void)cq;
	(void)solicited_only;
	return 0;
}

int fake_kernel_init(void)
{
	int bell[2];

	fake.cmd_fd = memfd_create("uverbs", MFD_CLOEXEC);
	if (fake.cmd_fd < 0 ||
	    ftruncate(fake.cmd_fd, (off_t)AREA * AREAS) ||
	    pipe2(bell, O_CLOEXEC) ||
	    fcntl(bell[0], F_SETFL, O_NONBLOCK))
		return errno;
	fake.bell_rd = bell[0];
	fake.bell_wr = bell[1];
	fake.mem = __real_mmap(NULL, (size_t)AREA * AREAS,
			       PROT_READ | PROT_WRITE, MAP_SHARED, fake.cmd_fd,
			       0);
	return fake.mem == MAP_FAILED ? errno : 0;
}
