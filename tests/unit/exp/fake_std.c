// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The calls of libibverbs that fake_std.h adds to the fake of fake.h.
 */
#include <errno.h>

#include "fake_std.h"
#include "tap.h"

struct std std;

static void *object(void *result)
{
	std.calls++;
	if (!std.err)
		return result;
	errno = std.err;
	return NULL;
}

static int number(void)
{
	std.calls++;
	return std.err;
}

struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *addr, size_t length,
				uint64_t iova, unsigned int access)
{
	std.pd = pd;
	std.addr = addr;
	std.length = length;
	std.offset = iova;
	std.access = access;
	return object(&std.mr);
}

static struct ibv_mr *f_reg_dm_mr(struct ibv_pd *pd, struct ibv_dm *dm,
				  uint64_t offset, size_t length,
				  unsigned int access)
{
	ok(dm == &std.dm, "the standard device memory");
	std.pd = pd;
	std.offset = offset;
	std.length = length;
	std.access = access;
	return object(&std.mr);
}

int f_dereg_mr(struct ibv_mr *mr)
{
	ok(mr == &std.mr, "the region");
	return number();
}

static int f_memcpy_to_dm(struct ibv_dm *dm, uint64_t offset,
			  const void *host, size_t length)
{
	(void)dm;
	if (offset % 4 || length % 4)
		return EINVAL;
	if (offset + length > sizeof(std.memory))
		return EFAULT;
	memcpy(std.memory + offset, host, length);
	return number();
}

static int f_memcpy_from_dm(void *host, struct ibv_dm *dm, uint64_t offset,
			    size_t length)
{
	(void)dm;
	if (offset % 4 || length % 4)
		return EINVAL;
	if (offset + length > sizeof(std.memory))
		return EFAULT;
	memcpy(host, std.memory + offset, length);
	return number();
}

static struct ibv_dm *f_alloc_dm(struct ibv_context *context,
				 struct ibv_alloc_dm_attr *attr)
{
	std.dm.context = context;
	std.dm.handle = 77;
	std.dm.memcpy_to_dm = f_memcpy_to_dm;
	std.dm.memcpy_from_dm = f_memcpy_from_dm;
	std.length = attr->length;
	return object(&std.dm);
}

static int f_free_dm(struct ibv_dm *dm)
{
	(void)dm;
	return number();
}

static int f_advise_mr(struct ibv_pd *pd, enum ibv_advise_mr_advice advice,
		       uint32_t flags, struct ibv_sge *sg_list, uint32_t num)
{
	std.pd = pd;
	std.advice = advice;
	std.sge = sg_list[0];
	ok(num == 1 && flags == 0, "one range, not waited for");
	return number();
}

static int f_bind_mw(struct ibv_qp *qp, struct ibv_mw *mw,
		     struct ibv_mw_bind *bind)
{
	(void)qp;
	(void)mw;
	std.bind = *bind;
	return number();
}

struct ibv_cq *ibv_create_cq(struct ibv_context *context, int cqe,
			     void *cq_context, struct ibv_comp_channel *channel,
			     int comp_vector)
{
	ok(cqe == 100 && comp_vector == 3 && !channel, "its arguments");
	std.cq.context = context;
	std.cq.cq_context = cq_context;
	return object(&std.cq);
}

static int f_modify_cq(struct ibv_cq *cq, struct ibv_modify_cq_attr *attr)
{
	(void)cq;
	std.modify_cq = *attr;
	return number();
}

struct ibv_srq *ibv_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *attr)
{
	std.pd = pd;
	attr->attr.max_wr *= 2;
	return object(&std.srq);
}

static struct ibv_srq *f_create_srq_ex(struct ibv_context *context,
				       struct ibv_srq_init_attr_ex *attr)
{
	(void)context;
	std.srq_attr = *attr;
	attr->attr.max_wr *= 2;
	return object(&std.srq);
}

int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	(void)qp;
	std.qp_attr = *attr;
	std.qp_mask = mask;
	return number();
}

static int f_query_rt_values(struct ibv_context *context,
			     struct ibv_values_ex *values)
{
	(void)context;
	values->raw_clock.tv_sec = std.cycles / 1000000000;
	values->raw_clock.tv_nsec = std.cycles % 1000000000;
	return number();
}

int _ibv_query_gid_ex(struct ibv_context *context, uint32_t port_num,
		      uint32_t index, struct ibv_gid_entry *entry,
		      uint32_t flags, size_t size)
{
	(void)context;
	ok(port_num == 2 && index == 5 && !flags && size == sizeof(*entry),
	   "its arguments");
	*entry = std.gid;
	return number();
}

static int f_query_port(struct ibv_context *context, uint8_t port_num,
			struct ibv_port_attr *attr, size_t size)
{
	(void)context;
	(void)port_num;
	memcpy(attr, &std.port, size);
	return number();
}

#undef ibv_query_port
int ibv_query_port(struct ibv_context *context, uint8_t port_num,
		   struct _compat_ibv_port_attr *attr)
{
	(void)context;
	(void)port_num;
	(void)attr;
	return EIO;
}

struct ibv_context *ibv_open_device(struct ibv_device *device)
{
	std.opened.device = device;
	return object(&std.opened);
}

#undef ibv_get_device_list
struct ibv_device **ibv_get_device_list(int *num_devices)
{
	*num_devices = 1;
	return object(std.list);
}

static struct ibv_flow *f_create_flow(struct ibv_qp *qp,
				      struct ibv_flow_attr *attr)
{
	(void)qp;
	memcpy(std.flow_attr, attr, attr->size);
	std.flow.context = ctx;
	std.flow.handle = 9;
	return object(&std.flow);
}

static int f_destroy_flow(struct ibv_flow *flow)
{
	(void)flow;
	return number();
}

void reset(void)
{
	struct verbs_context *vctx = &std_vctx;

	fake_reset();
	memset(&std, 0, sizeof(std));
	fake.std.max_dm_size = 62;
	fake.std.hca_core_clock = 156250;
	fake.std.completion_timestamp_mask = UINT64_MAX;
	vctx->alloc_dm = f_alloc_dm;
	vctx->free_dm = f_free_dm;
	vctx->reg_dm_mr = f_reg_dm_mr;
	vctx->advise_mr = f_advise_mr;
	vctx->modify_cq = f_modify_cq;
	vctx->create_srq_ex = f_create_srq_ex;
	vctx->query_rt_values = f_query_rt_values;
	vctx->query_port = f_query_port;
	vctx->ibv_create_flow = f_create_flow;
	vctx->ibv_destroy_flow = f_destroy_flow;
	vctx->context.ops.bind_mw = f_bind_mw;
	std.mr.context = ctx;
	std.mr.pd = &std_pd;
	std.mr.lkey = 0x1234;
	std.cq.context = ctx;
	errno = 0;
}

void reset_bare(void)
{
	reset();
	fake.std.max_dm_size = 0;
	fake.std.hca_core_clock = 0;
	std_vctx.advise_mr = NULL;
	std_vctx.modify_cq = NULL;
	std_vctx.create_srq_ex = NULL;
	std_vctx.query_rt_values = NULL;
	std_vctx.ibv_create_flow = NULL;
}
