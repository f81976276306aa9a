// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Proves that invalid verbs, ioctls, driver data, mappings and doorbells are
 * refused and leave the device unchanged, and that a process that corrupts its
 * mapped rings harms no other process.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <rdma/mxe-abi.h>
#include <rdma/mxe_user_ioctl_cmds.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include "dc.h"
#include "random.h"
#include "tap.h"
#include "vt.h"

static struct vt_dev *a, *b;

/* ---- the uverbs ioctl, by hand ----------------------------------------- */

#define MAX_ATTRS 16

struct req {
	unsigned int num_attrs;
	struct ib_uverbs_attr attrs[MAX_ATTRS];
};

static struct ib_uverbs_attr *req_attr(struct req *r, unsigned int id,
				       unsigned int len, uint64_t data)
{
	struct ib_uverbs_attr *attr = &r->attrs[r->num_attrs++];

	*attr = (struct ib_uverbs_attr) {
		.attr_id = (uint16_t)id,
		.len = (uint16_t)len,
		.flags = UVERBS_ATTR_F_MANDATORY,
		.data = data,
	};
	return attr;
}

/* Data of up to 8 bytes are stored in the attribute itself. */
static void req_in(struct req *r, unsigned int id, const void *data,
		   unsigned int len)
{
	uint64_t value = (uintptr_t)data;

	if (len <= sizeof(value)) {
		value = 0;
		memcpy(&value, data, len);
	}
	req_attr(r, id, len, value);
}

static void req_out(struct req *r, unsigned int id, void *data,
		    unsigned int len)
{
	req_attr(r, id, len, (uintptr_t)data);
}

static int req_run(struct req *r, int fd, unsigned int object,
		   unsigned int method)
{
	size_t len = sizeof(struct ib_uverbs_ioctl_hdr) +
		     r->num_attrs * sizeof(r->attrs[0]);
	struct ib_uverbs_ioctl_hdr *hdr = calloc(1, len);
	int ret;

	if (!hdr)
		vt_bail("out of memory");
	hdr->length = (uint16_t)len;
	hdr->object_id = (uint16_t)object;
	hdr->method_id = (uint16_t)method;
	hdr->num_attrs = (uint16_t)r->num_attrs;
	hdr->driver_id = MXE_DRIVER_ID;
	memcpy(hdr->attrs, r->attrs, r->num_attrs * sizeof(r->attrs[0]));
	ret = ioctl(fd, RDMA_VERBS_IOCTL, hdr) ? errno : 0;
	memcpy(r->attrs, hdr->attrs, r->num_attrs * sizeof(r->attrs[0]));
	free(hdr);
	return ret;
}

/* Creates a completion queue. Returns 0 or an errno value. */
static int raw_create_cq(int fd, uint32_t cqe, const void *udata,
			 unsigned int udata_len,
			 struct mxe_create_cq_resp *resp,
			 unsigned int resp_len, uint32_t *handle)
{
	uint64_t user_handle = 0;
	uint32_t vector = 0, got_cqe;
	struct req r = { 0 };
	int ret;

	req_attr(&r, UVERBS_ATTR_CREATE_CQ_HANDLE, 0, 0);
	req_in(&r, UVERBS_ATTR_CREATE_CQ_CQE, &cqe, sizeof(cqe));
	req_in(&r, UVERBS_ATTR_CREATE_CQ_USER_HANDLE, &user_handle,
	       sizeof(user_handle));
	req_in(&r, UVERBS_ATTR_CREATE_CQ_COMP_VECTOR, &vector, sizeof(vector));
	req_out(&r, UVERBS_ATTR_CREATE_CQ_RESP_CQE, &got_cqe, sizeof(got_cqe));
	if (udata_len)
		req_in(&r, UVERBS_ATTR_UHW_IN, udata, udata_len);
	if (resp_len)
		req_out(&r, UVERBS_ATTR_UHW_OUT, resp, resp_len);
	ret = req_run(&r, fd, UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_CREATE);
	*handle = (uint32_t)r.attrs[0].data;
	return ret;
}

static void raw_destroy_cq(int fd, uint32_t handle)
{
	struct ib_uverbs_destroy_cq_resp resp;
	struct req r = { 0 };
	int ret;

	req_attr(&r, UVERBS_ATTR_DESTROY_CQ_HANDLE, 0, handle);
	req_out(&r, UVERBS_ATTR_DESTROY_CQ_RESP, &resp, sizeof(resp));
	ret = req_run(&r, fd, UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_DESTROY);
	if (ret) {
		errno = ret;
		vt_bail("cannot destroy a completion queue");
	}
}

/* Driver data of the last QP that raw_create_qp() created. */
static struct mxe_create_qp_resp qp_resp;

static int raw_create_qp(uint64_t type, struct ibv_cq *cq, const void *udata,
			 unsigned int udata_len, unsigned int resp_len)
{
	struct ib_uverbs_qp_cap cap = { 4, 4, 1, 1, 0 }, got_cap;
	uint64_t user_handle = 0;
	struct req r = { 0 };
	uint32_t qpn;
	int ret;

	req_attr(&r, UVERBS_ATTR_CREATE_QP_HANDLE, 0, 0);
	req_attr(&r, UVERBS_ATTR_CREATE_QP_PD_HANDLE, 0, a->pd->handle);
	req_attr(&r, UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE, 0, cq->handle);
	req_attr(&r, UVERBS_ATTR_CREATE_QP_RECV_CQ_HANDLE, 0, cq->handle);
	req_in(&r, UVERBS_ATTR_CREATE_QP_USER_HANDLE, &user_handle,
	       sizeof(user_handle));
	req_in(&r, UVERBS_ATTR_CREATE_QP_CAP, &cap, sizeof(cap));
	req_in(&r, UVERBS_ATTR_CREATE_QP_TYPE, &type, sizeof(type));
	req_out(&r, UVERBS_ATTR_CREATE_QP_RESP_CAP, &got_cap, sizeof(got_cap));
	req_out(&r, UVERBS_ATTR_CREATE_QP_RESP_QP_NUM, &qpn, sizeof(qpn));
	if (udata_len)
		req_in(&r, UVERBS_ATTR_UHW_IN, udata, udata_len);
	if (resp_len)
		req_out(&r, UVERBS_ATTR_UHW_OUT, &qp_resp, resp_len);
	ret = req_run(&r, a->ctx->cmd_fd, UVERBS_OBJECT_QP,
		      UVERBS_METHOD_QP_CREATE);
	if (ret)
		return ret;

	/* The QP was created. Destroy it, so that the object counts match. */
	{
		struct ib_uverbs_destroy_qp_resp destroyed;
		struct req d = { 0 };

		req_attr(&d, UVERBS_ATTR_DESTROY_QP_HANDLE, 0, r.attrs[0].data);
		req_out(&d, UVERBS_ATTR_DESTROY_QP_RESP, &destroyed,
			sizeof(destroyed));
		if (req_run(&d, a->ctx->cmd_fd, UVERBS_OBJECT_QP,
			    UVERBS_METHOD_QP_DESTROY))
			vt_bail("cannot destroy a queue pair");
	}
	return 0;
}

/* ---- counters of the device --------------------------------------------- */

static void command_output(char *buf, size_t size, const char *fmt, ...)
{
	char command[256];
	va_list ap;
	size_t n;
	FILE *f;

	va_start(ap, fmt);
	vsnprintf(command, sizeof(command), fmt, ap);
	va_end(ap);
	f = popen(command, "r");
	if (!f)
		vt_bail("%s", command);
	n = fread(buf, 1, size - 1, f);
	buf[n] = '\0';
	pclose(f);
}

/* "1: mxe1: pd 1 cq 2 qp 1 cm_id 0 mr 1 ctx 1 srq 0" */
static void resources(char *buf, size_t size)
{
	command_output(buf, size, "rdma resource show %s", vt_name_a());
}

/* ---- udata ------------------------------------------------------------- */

static void test_cq_udata(void)
{
	struct {
		struct mxe_create_cq_req req;
		uint64_t tail;
	} u = { 0 };
	int fd = a->ctx->cmd_fd;
	struct mxe_create_cq_resp resp;
	uint32_t handle;
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

#define CQ(cqe, ulen, rlen) \
	raw_create_cq(fd, cqe, &u, ulen, &resp, rlen, &handle)
	memset(&resp, 0xee, sizeof(resp));
	is_int(CQ(100, sizeof(u.req), sizeof(resp)), 0, "create_cq by hand");
	ok(resp.ring.entries >= 100 &&
	   !(resp.ring.entries & (resp.ring.entries - 1)) &&
	   resp.ring.stride >= sizeof(struct mxe_cqe) &&
	   resp.ring.mmap_size >= sizeof(struct mxe_ring_hdr) +
				  (uint64_t)resp.ring.entries *
				  resp.ring.stride &&
	   resp.ring.mmap_size % page == 0,
	   "... its ring: %u entries of %u bytes, %d bytes at %#" PRIx64,
	   resp.ring.entries, resp.ring.stride, (int)resp.ring.mmap_size,
	   (uint64_t)resp.ring.mmap_offset);
	raw_destroy_cq(fd, handle);

	is_int(CQ(1, sizeof(u), sizeof(resp)), 0,
	       "create_cq: longer udata, the rest zero");
	raw_destroy_cq(fd, handle);
	u.tail = 1;
	is_int(CQ(1, sizeof(u), sizeof(resp)), EINVAL,
	       "create_cq: longer udata, the rest not zero");
	u.tail = 0;
	u.req.flags = 1;
	is_int(CQ(1, sizeof(u.req), sizeof(resp)), EINVAL,
	       "create_cq: unknown flag");
	u.req.flags = 1U << 31;
	is_int(CQ(1, sizeof(u.req), sizeof(resp)), EINVAL,
	       "create_cq: another unknown flag");
	u.req.flags = 0;
	u.req.reserved = 1;
	is_int(CQ(1, sizeof(u.req), sizeof(resp)), EINVAL,
	       "create_cq: reserved field not zero");
	u.req.reserved = 0;
	is_int(CQ(1, 4, sizeof(resp)), EINVAL, "create_cq: short udata");
	is_int(CQ(1, 0, sizeof(resp)), EINVAL, "create_cq: no udata");
	is_int(CQ(1, sizeof(u.req), 8), EINVAL, "create_cq: short response");
	is_int(CQ(1, sizeof(u.req), 0), EINVAL, "create_cq: no response");
	is_int(CQ(0, sizeof(u.req), sizeof(resp)), EINVAL,
	       "create_cq: no entries");
	is_int(CQ(0x7fffffff, sizeof(u.req), sizeof(resp)), EINVAL,
	       "create_cq: too many entries");
	is_int(CQ(0xffffffff, sizeof(u.req), sizeof(resp)), EINVAL,
	       "create_cq: far too many entries");
#undef CQ
}

static uint64_t ring_size(const struct mxe_ring_info *ring)
{
	return sizeof(struct mxe_ring_hdr) + (uint64_t)ring->entries * ring->stride;
}

/* Each ring has a mapping, or both are in one and do not overlap. */
static void test_qp_mappings(struct ibv_cq *cq)
{
	struct mxe_create_qp_req req = { 0 };
	const unsigned int rlen = sizeof(qp_resp);

	is_int(raw_create_qp(IB_UVERBS_QPT_RC, cq, &req, sizeof(req), rlen), 0,
	       "create_qp: two mappings");
	ok(qp_resp.sq.mmap_size >= ring_size(&qp_resp.sq) &&
	   qp_resp.rq.mmap_size >= ring_size(&qp_resp.rq) &&
	   qp_resp.sq.mmap_offset != qp_resp.rq.mmap_offset,
	   "... one for each ring");
	req.flags = MXE_QP_CREATE_ONE_MAPPING;
	is_int(raw_create_qp(IB_UVERBS_QPT_RC, cq, &req, sizeof(req), rlen), 0,
	       "create_qp: one mapping");
	ok(!qp_resp.rq.mmap_size && qp_resp.rq.entries >= 4 &&
	   qp_resp.rq.mmap_offset >= ring_size(&qp_resp.sq) &&
	   qp_resp.rq.mmap_offset % 64 == 0 &&
	   qp_resp.rq.mmap_offset + ring_size(&qp_resp.rq) <= qp_resp.sq.mmap_size,
	   "... the receive queue of %u entries is at %d of %d bytes",
	   qp_resp.rq.entries, (int)qp_resp.rq.mmap_offset,
	   (int)qp_resp.sq.mmap_size);
}

static void test_qp_udata(struct ibv_cq *cq)
{
	static const uint64_t types[] = {
		IB_UVERBS_QPT_RAW_PACKET, IB_UVERBS_QPT_DRIVER,
	};
	struct {
		struct mxe_create_qp_req req;
		uint64_t tail;
	} u = { 0 };
	const unsigned int rlen = sizeof(struct mxe_create_qp_resp);

#define QP(ulen, rlen) raw_create_qp(IB_UVERBS_QPT_RC, cq, &u, ulen, rlen)
	is_int(QP(sizeof(u.req), rlen), 0, "create_qp by hand");
	u.req.flags = MXE_QP_CREATE_ATOMIC_BE_REPLY;
	u.req.max_atomic_arg = 8;
	is_int(QP(sizeof(u), rlen), 0,
	       "create_qp: known flag and size, longer udata");
	u.tail = 1ULL << 63;
	is_int(QP(sizeof(u), rlen), EINVAL,
	       "create_qp: longer udata, the rest not zero");
	u.tail = 0;
	u.req.flags = MXE_QP_CREATE_DCI;
	is_int(QP(sizeof(u.req), rlen), EINVAL, "create_qp: DC flag on RC");
	u.req.flags = 1 << 6;
	is_int(QP(sizeof(u.req), rlen), EINVAL, "create_qp: unknown flag");
	u.req.flags = 1U << 31;
	is_int(QP(sizeof(u.req), rlen), EINVAL,
	       "create_qp: another unknown flag");
	u.req.flags = 0;
	u.req.dct_key = 1;
	is_int(QP(sizeof(u.req), rlen), EINVAL,
	       "create_qp: key of a DC target, but not its type");
	u.req.dct_key = 0;
	for (u.req.max_atomic_arg = 1; u.req.max_atomic_arg; ) {
		bool known = u.req.max_atomic_arg <= 32;

		is_int(QP(sizeof(u.req), rlen), known ? 0 : EINVAL,
		       "create_qp: atomic operands of %u bytes",
		       u.req.max_atomic_arg);
		u.req.max_atomic_arg <<= 1;
	}
	u.req.max_atomic_arg = 12;
	is_int(QP(sizeof(u.req), rlen), EINVAL,
	       "create_qp: atomic operands of 12 bytes");
	u.req.max_atomic_arg = 0;
	is_int(QP(8, rlen), EINVAL, "create_qp: short udata");
	is_int(QP(0, rlen), EINVAL, "create_qp: no udata");
	is_int(QP(sizeof(u.req), 16), EINVAL, "create_qp: short response");
#undef QP
	for (size_t i = 0; i < ARRAY_SIZE(types); i++)
		is_int(raw_create_qp(types[i], cq, &u, sizeof(u.req), rlen),
		       EOPNOTSUPP, "create_qp: type %d", (int)types[i]);
}

/* ---- our own ioctls ---------------------------------------------------- */

static int raw_alloc_doorbell(int *fd)
{
	struct req r = { 0 };
	int ret;

	req_attr(&r, MXE_ATTR_DOORBELL_ALLOC_FD, 0, 0);
	ret = req_run(&r, a->ctx->cmd_fd, MXE_OBJECT_DOORBELL,
		      MXE_METHOD_DOORBELL_ALLOC);
	*fd = (int)r.attrs[0].data_s64;
	return ret;
}

static int ring(int fd, const void *data, size_t len)
{
	return write(fd, data, len) < 0 ? errno : 0;
}

static void test_doorbell(struct vt_pair *p)
{
	struct mxe_doorbell db[3] = {
		{ p->a.qp->qp_num, MXE_DOORBELL_SEND | MXE_DOORBELL_RECV },
		{ p->a.qp->qp_num, MXE_DOORBELL_SEND },
		{ p->a.qp->qp_num, 0 },
	};
	char byte;
	int fd;

	if (!ok(!raw_alloc_doorbell(&fd), "a second doorbell"))
		return;
	is_int(write(fd, db, 16), 16, "... rings two queues in one call");
	is_int(ring(fd, db, 7), EINVAL, "odd size");
	is_int(ring(fd, db, 12), EINVAL, "a record and a half");
	is_int(ring(fd, (void *)8, 8), EFAULT, "unmapped memory");
	db[2].queues = MXE_DOORBELL_TM;
	is_int(ring(fd, &db[2], 8), ENOENT, "no tag-matching SRQ");
	db[2].queues = MXE_DOORBELL_TM | MXE_DOORBELL_SEND;
	is_int(ring(fd, &db[2], 8), EINVAL, "a QP and an SRQ");
	db[2].queues = 1 << 3;
	is_int(ring(fd, &db[2], 8), EINVAL, "unknown queue");
	is_int(write(fd, db, 24), 16, "the valid records before an invalid one");
	db[2] = (struct mxe_doorbell) { 0xabcdef, MXE_DOORBELL_SEND };
	is_int(ring(fd, &db[2], 8), ENOENT, "no such queue pair");
	db[2].qp_num = 0xffffffff;
	is_int(ring(fd, &db[2], 8), ENOENT, "queue pair number of 32 bits");
	{
		/* A queue pair of another context of the same device. */
		struct vt_conf conf = vt_defaults();
		struct vt_dev *other = vt_open(vt_name_a());
		struct vt_pair q;

		vt_pair_open(&q, other, b, &conf);
		db[2].qp_num = q.a.qp->qp_num;
		is_int(ring(fd, &db[2], 8), ENOENT,
		       "queue pair of another context");
		vt_pair_close(&q);
		vt_close(other);
	}
	ok(read(fd, &byte, 1) < 0, "a doorbell cannot be read");
	ok(mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0) == MAP_FAILED,
	   "... nor mapped");
	close(fd);
}

static int raw_query(void *buf, unsigned int len)
{
	struct req r = { 0 };

	req_out(&r, MXE_ATTR_DEVICE_QUERY_ATOMICS_CAPS, buf, len);
	return req_run(&r, a->ctx->cmd_fd, UVERBS_OBJECT_DEVICE,
		       MXE_METHOD_DEVICE_QUERY_ATOMICS);
}

static void test_query(void)
{
	struct mxe_atomic_caps caps;
	uint8_t buf[256];
	bool same = true;

	is_int(raw_query(&caps, sizeof(caps)), 0, "query of the capabilities");
	ok(caps.atomic_cap == IBV_ATOMIC_GLOB &&
	   caps.masked_atomic_cap == IBV_ATOMIC_GLOB &&
	   caps.masked_ops == (MXE_MASKED_ATOMIC_CMP_SWAP |
			       MXE_MASKED_ATOMIC_FETCH_ADD) &&
	   caps.log_arg_sizes == 0x3f && caps.log_arg_sizes_be == 0x37 &&
	   caps.max_fa_bit_boundary == 256 && !caps.comp_mask &&
	   caps.reply_modes == (MXE_ATOMIC_REPLY_HOST | MXE_ATOMIC_REPLY_BE),
	   "... which are correct");
	memset(buf, 0xee, sizeof(buf));
	is_int(raw_query(buf, sizeof(caps) - 8), EINVAL,
	       "query with a short buffer");
	for (size_t i = 0; i < sizeof(buf); i++)
		same = same && buf[i] == 0xee;
	ok(same, "... does not write to it");
	is_int(raw_query(buf, 200), 0, "query with a long buffer");
	for (size_t i = sizeof(caps); i < sizeof(buf); i++)
		same = same && buf[i] == (i < 200 ? 0 : 0xee);
	ok(!memcmp(buf, &caps, sizeof(caps)) && same,
	   "... fills the rest of it with zeros");
	is_int(raw_query((void *)16, sizeof(caps)), EFAULT,
	       "query into unmapped memory");
	{
		struct req r = { 0 };

		is_int(req_run(&r, a->ctx->cmd_fd, UVERBS_OBJECT_DEVICE,
			       MXE_METHOD_DEVICE_QUERY_ATOMICS), EINVAL,
		       "query without the attribute");
	}
}

static int raw_dct(unsigned int method, unsigned int attr, uint32_t handle,
		   void *data, unsigned int len, bool is_out)
{
	struct req r = { 0 };

	/* Both methods have the handle as their first attribute. */
	req_attr(&r, MXE_ATTR_QUERY_DCT_HANDLE, 0, handle);
	if (is_out)
		req_out(&r, attr, data, len);
	else
		req_in(&r, attr, data, len);
	return req_run(&r, a->ctx->cmd_fd, UVERBS_OBJECT_QP, method);
}

static int raw_query_dct(uint32_t handle, void *buf, unsigned int len)
{
	return raw_dct(MXE_METHOD_DCT_QUERY, MXE_ATTR_QUERY_DCT_RESP, handle,
		       buf, len, true);
}

static int raw_arm_dct(uint32_t handle, uint64_t events, unsigned int len)
{
	return raw_dct(MXE_METHOD_DCT_ARM, MXE_ATTR_ARM_DCT_EVENTS, handle,
		       &events, len, false);
}

static void test_dct(struct vt_pair *p)
{
	struct mxe_query_dct_resp resp;
	struct dc_target t;
	uint32_t handle;
	uint8_t buf[64];
	bool same = true;

	dc_target_open(&t, a, a, 1, false);
	handle = t.qp->handle;
	is_int(raw_query_dct(handle, &resp, sizeof(resp)), 0, "query of a target");
	ok(resp.state == IBV_QPS_RTR && !resp.armed_events && !resp.key_violations,
	   "... is correct");
	memset(buf, 0xee, sizeof(buf));
	is_int(raw_query_dct(handle, buf, sizeof(resp) - 4), EINVAL, "... with a short buffer");
	for (size_t i = 0; i < sizeof(buf); i++)
		same = same && buf[i] == 0xee;
	ok(same, "... does not write to it");
	is_int(raw_query_dct(handle, buf, 48), 0, "... with a long buffer");
	for (size_t i = sizeof(resp); i < sizeof(buf); i++)
		same = same && buf[i] == (i < 48 ? 0 : 0xee);
	ok(!memcmp(buf, &resp, sizeof(resp)) && same, "... fills the rest of it with zeros");
	is_int(raw_query_dct(handle, (void *)16, sizeof(resp)), EFAULT,
	       "... into unmapped memory");
	is_int(raw_query_dct(p->a.qp->handle, &resp, sizeof(resp)), EINVAL,
	       "query of an RC QP");
	is_int(raw_query_dct(0xabcdef, &resp, sizeof(resp)), ENOENT, "... of no QP");
	is_int(raw_arm_dct(handle, 0, 4), EINVAL, "arming for no event");
	is_int(raw_arm_dct(handle, 3, 4), EINVAL, "... for an unknown event");
	is_int(raw_arm_dct(handle, 1ULL << 32 | 1, 8), EINVAL, "... of more than 32 bits");
	is_int(raw_arm_dct(handle, 1, 2), EINVAL, "... of 2 bytes");
	is_int(raw_arm_dct(p->a.qp->handle, 1, 4), EINVAL, "arming of an RC QP");
	is_int(raw_arm_dct(0xabcdef, 1, 4), ENOENT, "... of no QP");
	ok(!raw_query_dct(handle, &resp, sizeof(resp)) && !resp.armed_events,
	   "... none of which arms the target");
	dc_target_close(&t);
	is_int(raw_query_dct(handle, &resp, sizeof(resp)), ENOENT,
	       "query of a target that was destroyed");
}

/* Resizes the queues of a QP, with attributes of len bytes. */
static int raw_resize_qp(uint32_t handle, uint64_t send, uint64_t recv, unsigned int len,
			 void *resp, unsigned int resp_len)
{
	struct req r = { 0 };

	req_attr(&r, MXE_ATTR_RESIZE_QP_HANDLE, 0, handle);
	req_in(&r, MXE_ATTR_RESIZE_QP_MAX_SEND_WR, &send, len);
	req_in(&r, MXE_ATTR_RESIZE_QP_MAX_RECV_WR, &recv, len);
	req_out(&r, MXE_ATTR_RESIZE_QP_RESP, resp, resp_len);
	return req_run(&r, a->ctx->cmd_fd, UVERBS_OBJECT_QP, MXE_METHOD_QP_RESIZE);
}

static int post_number(struct vt_pair *p, uint64_t wr_id, unsigned int flags)
{
	struct ibv_sge sge = vt_sge(&p->a, 0, 8);
	struct vt_wr wr = {
		.op = VT_WRITE, .wr_id = wr_id, .sge = &sge, .num_sge = 1,
		.flags = flags, .raddr = vt_addr(&p->b, 0), .rkey = p->b.mr->rkey,
	};

	return vt_post(&p->a, &wr);
}

/* Only a signaled request has a completion, with the same wr_id. */
static int write_number(struct vt_pair *p, uint64_t wr_id, unsigned int flags)
{
	struct ibv_wc wc = { .status = IBV_WC_SUCCESS };

	if (post_number(p, wr_id, flags) ||
	    (flags & IBV_SEND_SIGNALED && !vt_poll(p->a.cq, &wc, VT_MS)))
		return -1;
	return wc.status;
}

static void test_resize_qp(void)
{
	static const uint32_t bad[] = { 19, 1U << 31, UINT32_MAX };
	struct vt_conf conf = vt_defaults();
	struct mxe_create_qp_resp resp;
	struct mxe_ring_hdr *sq;
	struct vt_pair p;
	uint32_t handle;

	conf.depth = 16;
	vt_pair_open(&p, a, a, &conf);
	handle = p.a.qp->handle;
	is_int(write_number(&p, 0x7265, 0), 0, "a WRITE");
	is_int(write_number(&p, 1, IBV_SEND_SIGNALED), 0, "... and another one");
	/* The first entry of the ring follows its header. */
	sq = (struct mxe_ring_hdr *)vt_find_wqe(0x7265) - 1;
	is_u64(sq->producer, 2, "... are all in their ring");
	is_int(raw_resize_qp(0xabcdef, 16, 16, 4, &resp, sizeof(resp)), ENOENT,
	       "resize: no such QP");
	is_int(raw_resize_qp(handle, 16, 16, 2, &resp, sizeof(resp)), EINVAL,
	       "... with sizes of 2 bytes");
	is_int(raw_resize_qp(handle, 1ULL << 40 | 16, 16, 8, &resp, sizeof(resp)), EINVAL,
	       "... with sizes of 8 bytes");
	is_int(raw_resize_qp(handle, UINT32_MAX, 16, 4, &resp, sizeof(resp)), EINVAL,
	       "... to the maximum of 32 bits");
	is_int(raw_resize_qp(handle, 16, 16, 4, &resp, 8), EINVAL,
	       "... with a short response");
	is_int(raw_resize_qp(handle, 16, 16, 4, (void *)16, sizeof(resp)), EFAULT,
	       "... to unmapped memory");
	for (unsigned int i = 0; i < ARRAY_SIZE(bad); i++) {
		__atomic_store_n(&sq->producer, bad[i], __ATOMIC_RELEASE);
		is_int(raw_resize_qp(handle, 32, 16, 4, &resp, sizeof(resp)), EINVAL,
		       "... with producer index %u", bad[i]);
	}
	__atomic_store_n(&sq->producer, 2, __ATOMIC_RELEASE);
	is_int(write_number(&p, 1, IBV_SEND_SIGNALED), 0, "the QP works after all that");
	vt_pair_close(&p);
}

#define SHIFT_DEPTH 16384

static atomic_int shift_stops;

/* Moves the producer index of a ring to and fro, without libmxe's lock. */
static void *shift(void *arg)
{
	struct mxe_ring_hdr *hdr = arg;

	for (uint32_t i = 0; !shift_stops; i++)
		__atomic_store_n(&hdr->producer, SHIFT_DEPTH - 2 - i % 2,
				 __ATOMIC_RELEASE);
	return NULL;
}

/* Resizes a QP meanwhile. Checks that it keeps its request if that fails. */
static int resize_shifting(void)
{
	struct vt_conf conf = vt_defaults();
	struct mxe_create_qp_resp resp;
	struct mxe_ring_hdr *sq;
	struct ibv_wc wc;
	pthread_t thread;
	struct vt_pair p;
	int err;

	conf.depth = SHIFT_DEPTH;
	vt_pair_open(&p, a, a, &conf);
	/* The device takes no requests in SQD. */
	if (vt_to_state(&p.a, IBV_QPS_SQD) || post_number(&p, 0x5153, IBV_SEND_SIGNALED))
		vt_bail("a request in SQD");
	sq = (struct mxe_ring_hdr *)vt_find_wqe(0x5153) - 1;
	shift_stops = 0;
	if (pthread_create(&thread, NULL, shift, sq))
		vt_bail("pthread_create");
	err = raw_resize_qp(p.a.qp->handle, SHIFT_DEPTH, SHIFT_DEPTH, 4, &resp,
			    sizeof(resp));
	shift_stops = 1;
	pthread_join(thread, NULL);
	if (err) {
		__atomic_store_n(&sq->producer, 1, __ATOMIC_RELEASE);
		ok(!vt_to_state(&p.a, IBV_QPS_RTS) && vt_poll(p.a.cq, &wc, VT_MS) &&
		   !wc.status && wc.wr_id == 0x5153, "the QP keeps its request");
	}
	vt_pair_close(&p);
	return err;
}

/*
 * Each try fails if the indices before and after the copy differ. On one CPU,
 * they do not change meanwhile.
 */
static void test_resize_shifting(void)
{
	int err = 0;

	if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
		return;
	for (int i = 0; i < 40 && !err; i++)
		err = resize_shifting();
	is_int(err, EBUSY, "a QP is not resized while its process posts");
}

/* ---- mappings ---------------------------------------------------------- */

static int try_map(int fd, uint64_t offset, size_t size, int flags)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, flags, fd,
		       (off_t)offset);

	if (p == MAP_FAILED)
		return errno;
	munmap(p, size);
	return 0;
}

static void test_mmap(void)
{
	struct vt_dev *other = vt_open(vt_name_a());
	struct mxe_create_cq_req req = { 0 };
	struct mxe_create_cq_resp resp;
	int fd = a->ctx->cmd_fd;
	uint64_t offset, size;
	uint32_t handle;

	if (raw_create_cq(fd, 200, &req, sizeof(req), &resp, sizeof(resp),
			  &handle))
		vt_bail("create_cq");
	offset = resp.ring.mmap_offset;
	size = resp.ring.mmap_size;
	is_int(try_map(fd, offset, size, MAP_SHARED), 0, "mmap of a ring");
	ok(try_map(fd, offset, size + 4096, MAP_SHARED), "mmap: too long");
	ok(try_map(fd, offset, 4096, MAP_SHARED), "mmap: too short");
	ok(try_map(fd, offset + 4096, size - 4096, MAP_SHARED),
	   "mmap: from the middle");
	ok(try_map(fd, offset, size, MAP_PRIVATE), "mmap: private");
	ok(try_map(fd, 1ULL << 40, 4096, MAP_SHARED), "mmap: no such offset");
	ok(try_map(fd, offset + (1ULL << 32), size, MAP_SHARED),
	   "mmap: the offset beyond 32 bits");
	ok(try_map(other->ctx->cmd_fd, offset, size, MAP_SHARED),
	   "mmap: ring of another context");
	{
		uint8_t *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
				  MAP_SHARED, fd, (off_t)offset);

		if (p == MAP_FAILED)
			vt_bail("mmap");
		raw_destroy_cq(fd, handle);
		memset(p, 0xee, size);
		ok(try_map(fd, offset, size, MAP_SHARED),
		   "mmap: queue destroyed");
		pass("a mapping outlives its queue");
		munmap(p, size);
	}
	vt_close(other);
}

/* ---- verbs ------------------------------------------------------------- */

static int create_qp_errno(struct ibv_cq *cq, enum ibv_qp_type type,
			   struct ibv_qp_cap cap)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = cq, .recv_cq = cq, .cap = cap, .qp_type = type,
	};
	struct ibv_qp *qp;

	errno = 0;
	qp = ibv_create_qp(a->pd, &attr);
	if (!qp)
		return errno;
	ibv_destroy_qp(qp);
	return 0;
}

static void test_caps(struct ibv_cq *cq)
{
	const struct ibv_qp_cap sane = { 4, 4, 1, 1, 0 };
	struct ibv_device_attr attr;
	struct ibv_qp_cap cap;

	if (ibv_query_device(a->ctx, &attr))
		vt_bail("ibv_query_device");
	ok(attr.max_qp_wr > 0 && attr.max_sge > 0 && attr.max_cqe > 0,
	   "limits: max_qp_wr %d, max_sge %d, max_cqe %d", attr.max_qp_wr,
	   attr.max_sge, attr.max_cqe);
	cap = sane;
	cap.max_send_wr = cap.max_recv_wr = (uint32_t)attr.max_qp_wr;
	cap.max_send_sge = cap.max_recv_sge = (uint32_t)attr.max_sge;
	is_int(create_qp_errno(cq, IBV_QPT_RC, cap), 0, "a queue pair at these limits");
	cap.max_send_wr++;
	is_int(create_qp_errno(cq, IBV_QPT_RC, cap), EINVAL,
	       "max_send_wr too large");
	cap = sane;
	cap.max_recv_wr = (uint32_t)attr.max_qp_wr + 1;
	is_int(create_qp_errno(cq, IBV_QPT_RC, cap), EINVAL,
	       "max_recv_wr too large");
	cap = sane;
	cap.max_send_sge = (uint32_t)attr.max_sge + 1;
	is_int(create_qp_errno(cq, IBV_QPT_RC, cap), EINVAL,
	       "max_send_sge too large");
	cap = sane;
	cap.max_recv_sge = 0xffffffff;
	is_int(create_qp_errno(cq, IBV_QPT_RC, cap), EINVAL,
	       "max_recv_sge too large");
	cap = sane;
	cap.max_inline_data = 1 << 20;
	is_int(create_qp_errno(cq, IBV_QPT_RC, cap), EINVAL,
	       "max_inline_data too large");
	cap.max_inline_data = 0xffffffff;
	is_int(create_qp_errno(cq, IBV_QPT_RC, cap), EINVAL,
	       "max_inline_data far too large");
	ok(!ibv_create_cq(a->ctx, attr.max_cqe + 1, NULL, NULL, 0),
	   "ibv_create_cq() beyond max_cqe");
	ok(!ibv_create_cq(a->ctx, 1, NULL, NULL, 1000),
	   "ibv_create_cq() with a bad vector");
}

static int reg_errno(void *addr, size_t len, int access)
{
	struct ibv_mr *mr;

	errno = 0;
	mr = ibv_reg_mr(a->pd, addr, len, access);
	if (!mr)
		return errno;
	ibv_dereg_mr(mr);
	return 0;
}

static void test_mr(void)
{
	static uint8_t page[4096];
	int err;

	is_int(reg_errno(page, sizeof(page), IBV_ACCESS_REMOTE_ATOMIC), EINVAL,
	       "remote atomics without local write");
	is_int(reg_errno(page, sizeof(page), IBV_ACCESS_REMOTE_WRITE), EINVAL,
	       "remote write without local write");
	is_int(reg_errno((void *)4096, 4096, 0), EFAULT, "unmapped memory");
	is_int(reg_errno((void *)(uintptr_t)-4096ULL, 8192, 0), EINVAL,
	       "memory that wraps around");
	/*
	 * The core checks this. It returns EINVAL, or EOPNOTSUPP in newer
	 * kernels.
	 */
	err = reg_errno(page, sizeof(page), IBV_ACCESS_ON_DEMAND);
	ok(err == EINVAL || err == EOPNOTSUPP, "on-demand paging");
}

static int modify(struct ibv_qp *qp, struct ibv_qp_attr attr, int mask)
{
	attr.pkey_index = 0;
	return ibv_modify_qp(qp, &attr, mask);
}

#define INIT_MASK (IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | \
		   IBV_QP_ACCESS_FLAGS)
#define RTR_MASK (IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | \
		  IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | \
		  IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER)
#define RTS_MASK (IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | \
		  IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC)

static struct ibv_qp_attr rtr_attr(const struct vt_end *peer)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = IBV_MTU_1024,
		.dest_qp_num = peer->qp->qp_num,
		.max_dest_rd_atomic = 4,
		.ah_attr = {
			.is_global = 1,
			.port_num = 1,
			.grh = {
				.dgid = b->gid4,
				.sgid_index = (uint8_t)a->gid4_index,
				.hop_limit = 64,
			},
		},
	};

	return attr;
}

static void test_transitions(void)
{
	struct vt_conf conf = vt_defaults();
	struct ibv_qp_attr init = { .qp_state = IBV_QPS_INIT, .port_num = 1 };
	struct ibv_qp_attr rts = { .qp_state = IBV_QPS_RTS, .timeout = 14 };
	struct vt_wr wr = { .op = VT_MFADD, .via = VT_WR, .compare_add = 1 };
	struct ibv_qp_attr rtr, bad;
	struct ibv_qp *qp;
	struct vt_pair p;
	uint64_t old;

	vt_pair_create(&p, a, b, &conf);
	qp = p.a.qp;
	rtr = rtr_attr(&p.b);

	is_int(modify(qp, rtr, RTR_MASK), EINVAL, "RESET to RTR");
	is_int(modify(qp, rts, RTS_MASK), EINVAL, "RESET to RTS");
	is_int(modify(qp, init, IBV_QP_STATE), EINVAL,
	       "RESET to INIT without mandatory attributes");
	bad = init;
	bad.port_num = 2;
	is_int(modify(qp, bad, INIT_MASK), EINVAL, "port 2");
	bad = init;
	bad.port_num = 0;
	is_int(modify(qp, bad, INIT_MASK), EINVAL, "port 0");
	init.pkey_index = 1000;
	is_int(ibv_modify_qp(qp, &init, INIT_MASK), EINVAL,
	       "a P_Key index that does not exist");
	init.pkey_index = 0;
	is_int(modify(qp, init, INIT_MASK | IBV_QP_QKEY), EINVAL,
	       "an attribute that INIT does not take");
	is_int(vt_state(&p.a), IBV_QPS_RESET, "still in RESET");

	init.qp_access_flags = VT_ACCESS_ALL;
	is_int(modify(qp, init, INIT_MASK), 0, "RESET to INIT");
	is_int(modify(qp, rts, RTS_MASK), EINVAL, "INIT to RTS");
	is_int(modify(qp, rtr, RTR_MASK & ~IBV_QP_AV), EINVAL,
	       "INIT to RTR without a path");
	bad = rtr;
	bad.path_mtu = (enum ibv_mtu)6;
	is_int(modify(qp, bad, RTR_MASK), EINVAL, "path MTU 6");
	bad = rtr;
	bad.path_mtu = (enum ibv_mtu)0;
	is_int(modify(qp, bad, RTR_MASK), EINVAL, "path MTU 0");
	bad = rtr;
	bad.ah_attr.grh.sgid_index = 255;
	is_int(modify(qp, bad, RTR_MASK), EINVAL,
	       "a GID index that does not exist");
	bad = rtr;
	bad.ah_attr.is_global = 0;
	is_int(modify(qp, bad, RTR_MASK), EINVAL, "a path without GRH");
	bad = rtr;
	bad.max_dest_rd_atomic = 255;
	is_int(modify(qp, bad, RTR_MASK), EINVAL,
	       "max_dest_rd_atomic too large");
	is_int(vt_state(&p.a), IBV_QPS_INIT, "still in INIT");

	if (vt_to_rtr(&p.a, &p.b, &conf))
		vt_bail("INIT to RTR");
	is_int(modify(qp, rts, RTS_MASK & ~IBV_QP_TIMEOUT), EINVAL,
	       "RTR to RTS without a timeout");
	bad = rts;
	bad.max_rd_atomic = 255;
	is_int(modify(qp, bad, RTS_MASK), EINVAL, "max_rd_atomic too large");
	bad = rts;
	bad.timeout = 32;
	is_int(modify(qp, bad, RTS_MASK), EINVAL, "timeout 32");
	bad = rts;
	bad.retry_cnt = 8;
	is_int(modify(qp, bad, RTS_MASK), EINVAL, "retry_cnt 8");
	bad = rts;
	bad.rnr_retry = 8;
	is_int(modify(qp, bad, RTS_MASK), EINVAL, "rnr_retry 8");
	is_int(vt_state(&p.a), IBV_QPS_RTR, "still in RTR");

	/* The queue pair can still be connected. */
	if (vt_to_rts(&p.a, &conf) || vt_to_init(&p.b, &conf) ||
	    vt_to_rtr(&p.b, &p.a, &conf) || vt_to_rts(&p.b, &conf))
		vt_bail("connect");
	is_int(modify(qp, init, INIT_MASK), EINVAL, "RTS to INIT");
	is_int(modify(qp, rtr, RTR_MASK), EINVAL, "RTS to RTR");
	is_int(vt_state(&p.a), IBV_QPS_RTS, "still in RTS");
	is_int(vt_atomic(&p, &wr, 0, &old), IBV_WC_SUCCESS,
	       "... and it works");

	is_int(ibv_destroy_cq(p.a.cq), EBUSY, "a completion queue in use");
	is_int(ibv_dealloc_pd(a->pd), EBUSY, "a protection domain in use");
	is_int(vt_atomic(&p, &wr, 0, &old), IBV_WC_SUCCESS,
	       "... and it still works");
	vt_pair_close(&p);
}

/* ---- scribbling -------------------------------------------------------- */

static uint64_t random_state;

static uint64_t random_u64(void)
{
	return random_next(&random_state);
}

/*
 * Builds an almost valid request, because invalid ones fail early and test
 * little.
 */
static void plausible_wqe(uint8_t *at, const struct vt_pair *p)
{
	struct mxe_send_wqe *wqe = (void *)at;
	struct mxe_sge *sge = (void *)(wqe + 1);

	wqe->opcode = random_u64() % 20;
	wqe->flags = (uint8_t)random_u64();
	wqe->num_sge = random_u64() % 6;
	wqe->inline_len = random_u64() % 700;
	wqe->rkey = p->b.mr->rkey;
	wqe->remote_addr = vt_addr(&p->b, random_u64() % 70000);
	for (int i = 0; i < 4; i++) {
		sge[i].addr = vt_addr(&p->a, random_u64() % 70000);
		sge[i].length = random_u64() & (random_u64() % 2 ? 0xfff : ~0U);
		sge[i].lkey = p->a.mr->lkey;
	}
}

static void scribble(const struct vt_mapping *map, const struct vt_pair *p)
{
	struct mxe_ring_hdr *hdr = (void *)map->addr;
	size_t room = map->size - sizeof(*hdr) - 256;

	for (int i = 0; i < 64; i++) {
		size_t at = sizeof(*hdr) + (random_u64() % room & ~7ULL);

		if (random_u64() % 2)
			*(uint64_t *)(void *)(map->addr + at) = random_u64();
		else
			plausible_wqe(map->addr + at, p);
	}
	switch (random_u64() % 32) {
	case 0:
		hdr->producer = (uint32_t)random_u64();
		break;
	case 1:
		hdr->consumer = (uint32_t)random_u64();
		break;
	case 2:
		hdr->flags = (uint32_t)random_u64();
		break;
	default:
		hdr->producer += (uint32_t)(random_u64() % 5);
	}
}

/*
 * Replaces the pair, because an invalid request leaves it in ERR.  The library
 * reads headers of rings when it destroys a queue, and the receive queue of a
 * QP is behind its send queue.
 */
static int renew(struct vt_pair *p, const struct vt_conf *conf,
		 struct vt_mapping *maps, int n)
{
	for (int i = 0; i < n; i++)
		memset(maps[i].addr, 0, maps[i].size);
	vt_pair_close(p);
	vt_pair_open(p, a, b, conf);
	return vt_find_rings(maps, 16);
}

static void scribbler(unsigned int seed, int ms)
{
	struct vt_conf conf = vt_defaults();
	uint64_t end = vt_now_ms() + (uint64_t)ms;
	struct vt_mapping maps[16];
	struct mxe_doorbell db;
	struct vt_pair p;
	int fd, n;

	random_state = seed;
	/* Unmap the rings of the parent. */
	n = vt_find_rings(maps, 16);
	while (n--)
		munmap(maps[n].addr, maps[n].size);
	a = vt_open(vt_name_a());
	b = vt_open(vt_name_b());
	conf.timeout = 10;
	vt_pair_open(&p, a, b, &conf);
	n = vt_find_rings(maps, 16);
	if (raw_alloc_doorbell(&fd))
		_exit(11);
	while (vt_now_ms() < end) {
		/* Each end has two CQs, and a QP with one mapping. */
		if (n != 6)
			_exit(12);
		for (int i = 0; i < n; i++)
			if (random_u64() % 2)
				scribble(&maps[i], &p);
		db.qp_num = p.a.qp->qp_num;
		db.queues = 1 + random_u64() % 3;
		if (write(fd, &db, sizeof(db)) != sizeof(db))
			_exit(13);
		if (random_u64() % 8 == 0)
			n = renew(&p, &conf, maps, n);
	}
	/* Leave all objects for the kernel to destroy. */
	_exit(0);
}

static void test_scribble(void)
{
	const int ms = 2000;
	struct vt_conf conf = vt_defaults();
	uint64_t end = vt_now_ms() + (uint64_t)ms, count = 0, old;
	struct vt_wr wr = {
		.op = VT_MFADD, .via = VT_WR, .compare_add = 0x10001,
		.compare_mask = 0x8000,
	};
	struct vt_pair p;
	pid_t pid[2];
	bool good = true;
	int status;

	for (unsigned int i = 0; i < 2; i++) {
		pid[i] = fork();
		if (pid[i] < 0)
			vt_bail("fork");
		if (!pid[i])
			scribbler(i, ms);
	}
	vt_pair_open(&p, a, b, &conf);
	*vt_word(&p.b, 0) = 0;
	while (good && (!count || vt_now_ms() < end)) {
		good = vt_atomic(&p, &wr, 0, &old) == IBV_WC_SUCCESS &&
		       old == count * 0x10001 % 0x10000 +
			      (count * 0x10000);
		count++;
	}
	ok(good && count, "%d atomics while two processes corrupt their rings",
	   (int)count);
	for (int i = 0; i < 2; i++) {
		if (waitpid(pid[i], &status, 0) != pid[i])
			vt_bail("waitpid");
		ok(WIFEXITED(status) && !WEXITSTATUS(status),
		   "scribbler %d exited normally, status %#x", i, status);
	}
	is_int(vt_atomic(&p, &wr, 0, &old), IBV_WC_SUCCESS,
	       "... and it works after they have exited");
	vt_pair_close(&p);
}

int main(void)
{
	struct vt_conf conf = vt_defaults();
	char before[256], after[256];
	struct vt_pair p;
	struct ibv_cq *cq;
	long refused;

	plan(0);
	signal(SIGPIPE, SIG_IGN);
	a = vt_open(vt_name_a());
	b = vt_open(vt_name_b());
	cq = ibv_create_cq(a->ctx, 16, NULL, NULL, 0);
	if (!cq)
		vt_bail("ibv_create_cq");

	resources(before, sizeof(before));
	refused = vt_counter(vt_name_a(), "refused_verbs");
	test_cq_udata();
	test_qp_mappings(cq);
	test_qp_udata(cq);
	test_caps(cq);
	test_mr();
	test_query();
	test_mmap();
	test_transitions();
	resources(after, sizeof(after));
	is_str(after, before, "the resource counts are unchanged");
	ok(vt_counter(vt_name_a(), "refused_verbs") >= refused + 20,
	   "refusals are counted: %ld", vt_counter(vt_name_a(), "refused_verbs") - refused);

	vt_pair_open(&p, a, b, &conf);
	test_doorbell(&p);
	test_dct(&p);
	test_resize_qp();
	test_resize_shifting();
	vt_pair_close(&p);
	test_scribble();
	resources(after, sizeof(after));
	is_str(after, before, "the resource counts are unchanged again");

	ibv_destroy_cq(cq);
	vt_close(a);
	vt_close(b);
	return done_testing();
}
