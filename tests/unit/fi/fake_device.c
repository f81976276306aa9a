// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* The device that fake_device.h declares. */
#include <endian.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <infiniband/mxedv.h>

#include "fake_device.h"

/* The calls without their macros. */
#undef ibv_reg_mr
#undef ibv_query_port

#define MAX_SGE 4
#define GRH_SIZE 40

struct fake_device fake_device = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.refused_send = -1,
	.stopped_send = -1,
};

struct recv {
	uint64_t wr_id;
	struct ibv_sge sge[MAX_SGE];
	int num_sge;
};

/* Receive requests, of an SRQ or of a queue pair. */
struct recv_ring {
	struct recv *ring;
	unsigned int head, count, size;
};

struct channel {
	struct ibv_comp_channel channel;
	struct cq *cq;
};

struct context {
	struct ibv_context context;
	struct context *next;
	struct channel *channel;
};

struct cq {
	struct ibv_cq cq;
	struct ibv_wc *ring;
	unsigned int head, count;
	bool armed;
	struct channel *channel;
};

struct srq {
	struct ibv_srq srq;
	struct recv_ring recvs;
};

struct ah {
	struct ibv_ah ah;
};

/* A send request of any kind of queue pair. */
struct send {
	struct send *next;
	uint64_t wr_id;
	enum ibv_wr_opcode opcode;
	struct ibv_sge sge[MAX_SGE];
	int num_sge;
	uint32_t imm, dest, rkey;	/* @dest: UD queue pair or DC target */
	uint64_t key, remote_addr, compare_add, swap;
	bool executed;		/* but not acknowledged */
};

struct qp {
	struct ibv_qp qp;
	struct qp *next;
	bool is_dci;
	struct recv_ring own, *recvs;
	struct send *sends, **tail;
	unsigned int posted, max_send;
	uint32_t dest;
	unsigned int access;
};

/* What a request reaches: a connected queue pair or a DC target. */
struct target {
	uint32_t num;
	struct cq *cq;
	struct recv_ring *recvs;
	unsigned int access;
	struct qp *qp;
};

struct dct {
	struct ibv_exp_dct dct;
	struct dct *next;
	uint64_t key;
	unsigned int access;
};

struct mr {
	struct ibv_mr mr;
	struct mr *next;
	unsigned int access;
};

static struct ibv_device device = { .name = "fake0" };
static struct context *contexts;
static struct qp *qps;
static struct dct *dcts;
static struct mr *mrs;
static uint32_t last_num = 16;

static void *zalloc(size_t size)
{
	void *p = calloc(1, size);

	if (!p)
		abort();
	return p;
}

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);

void *__wrap_malloc(size_t size)
{
	if (size && size == fake_device_get(refused_size))
		return NULL;
	return __real_malloc(size);
}

/* ---- completions and memory -------------------------------------------- */

static void complete(struct cq *cq, const struct ibv_wc *wc)
{
	unsigned int size = (unsigned int)cq->cq.cqe;

	if (cq->count == size) {
		printf("Bail out!  a completion queue is overrun\n");
		abort();
	}
	cq->ring[(cq->head + cq->count++) % size] = *wc;
	if (cq->armed && cq->channel)
		eventfd_write(cq->channel->channel.fd, 1);
	cq->armed = false;
}

static bool mr_allows(uint32_t key, uint64_t addr, size_t len,
		      unsigned int access)
{
	const struct mr *mr;

	for (mr = mrs; mr && mr->mr.rkey != key; mr = mr->next)
		;
	return mr && (mr->access & access) == access &&
	       addr >= (uintptr_t)mr->mr.addr && len <= mr->mr.length &&
	       addr - (uintptr_t)mr->mr.addr <= mr->mr.length - len;
}

static size_t length(const struct ibv_sge *sge, int num)
{
	size_t len = 0;

	for (int i = 0; i < num; i++)
		len += sge[i].length;
	return len;
}

/* Copies between a list of segments and contiguous memory. */
static void copy(const struct ibv_sge *sge, int num, uint8_t *mem, size_t len,
		 bool to_mem)
{
	for (int i = 0; i < num && len; i++) {
		size_t n = sge[i].length < len ? sge[i].length : len;
		void *local = (void *)(uintptr_t)sge[i].addr;

		memcpy(to_mem ? mem : local, to_mem ? local : mem, n);
		mem += n;
		len -= n;
	}
}

static bool lkeys_allow(const struct send *s, unsigned int access)
{
	for (int i = 0; i < s->num_sge; i++)
		if (!mr_allows(s->sge[i].lkey, s->sge[i].addr, s->sge[i].length,
			       access))
			return false;
	return true;
}

/* ---- executing requests ------------------------------------------------ */

/* Returns the first byte of a SEND, or -1. */
static int first_byte(const struct send *s)
{
	if (s->opcode != IBV_WR_SEND || !s->num_sge)
		return -1;
	return *(uint8_t *)(uintptr_t)s->sge[0].addr;
}

static struct qp *find_qp(uint32_t num)
{
	struct qp *qp;

	for (qp = qps; qp && qp->qp.qp_num != num; qp = qp->next)
		;
	return qp;
}

static bool find_target(const struct qp *qp, const struct send *s,
			struct target *t)
{
	struct qp *to;
	struct dct *dct;

	if (qp->is_dci) {
		for (dct = dcts; dct; dct = dct->next) {
			if (dct->dct.dct_num != s->dest || dct->key != s->key)
				continue;
			*t = (struct target){
				.num = s->dest,
				.cq = (struct cq *)dct->dct.cq,
				.recvs = &((struct srq *)dct->dct.srq)->recvs,
				.access = dct->access,
			};
			return true;
		}
		return false;
	}
	to = find_qp(qp->qp.qp_type == IBV_QPT_UD ? s->dest : qp->dest);
	if (!to || to->qp.qp_type != qp->qp.qp_type ||
	    to->qp.state < IBV_QPS_RTR || to->qp.state > IBV_QPS_RTS ||
	    (qp->qp.qp_type == IBV_QPT_RC && to->dest != qp->qp.qp_num))
		return false;
	*t = (struct target){
		.num = to->qp.qp_num, .cq = (struct cq *)to->qp.recv_cq,
		.recvs = to->recvs, .access = to->access, .qp = to,
	};
	return true;
}

static void flush(struct qp *qp)
{
	struct ibv_wc wc = {
		.status = IBV_WC_WR_FLUSH_ERR, .qp_num = qp->qp.qp_num,
	};

	while (qp->sends) {
		struct send *s = qp->sends;

		qp->sends = s->next;
		wc.wr_id = s->wr_id;
		free(s);
		qp->posted--;
		complete((struct cq *)qp->qp.send_cq, &wc);
	}
	qp->tail = &qp->sends;
}

static void set_error(struct qp *qp)
{
	if (qp)
		qp->qp.state = IBV_QPS_ERR;
	if (qp)
		flush(qp);
}

/* Takes a receive request. Returns false if there is none. */
static bool receive(struct target *t, const struct qp *from,
		    const struct send *s, size_t len)
{
	struct recv_ring *r = t->recvs;
	struct recv *recv = &r->ring[r->head];
	struct ibv_wc wc = {
		.wr_id = recv->wr_id, .qp_num = t->num,
		.byte_len = (uint32_t)len, .src_qp = from->qp.qp_num,
		.opcode = IBV_WC_RECV,
	};
	uint8_t *data = zalloc(GRH_SIZE + len);
	bool is_ud = from->qp.qp_type == IBV_QPT_UD;

	r->head = (r->head + 1) % r->size;
	r->count--;
	if (s->opcode == IBV_WR_RDMA_WRITE_WITH_IMM) {
		wc.opcode = IBV_WC_RECV_RDMA_WITH_IMM;
		wc.imm_data = s->imm;
	} else {
		/* An IPv4 header from 127.0.0.1 in the place of the GRH. */
		data[20] = 0x45;
		data[32] = 127;
		data[35] = 1;
		copy(s->sge, s->num_sge, data + GRH_SIZE, len, true);
		if (is_ud) {
			wc.byte_len += GRH_SIZE;
			wc.wc_flags = IBV_WC_GRH;
		}
		copy(recv->sge, recv->num_sge, is_ud ? data : data + GRH_SIZE,
		     wc.byte_len, false);
	}
	free(data);
	complete(t->cq, &wc);
	return true;
}

static enum ibv_wc_status execute_rdma(const struct target *t,
				       const struct send *s, size_t len)
{
	bool is_read = s->opcode == IBV_WR_RDMA_READ;
	unsigned int need = is_read ? IBV_ACCESS_REMOTE_READ :
				      IBV_ACCESS_REMOTE_WRITE;

	/* As the device, also without data. */
	if (!(t->access & need))
		return IBV_WC_REM_INV_REQ_ERR;
	if (len && !mr_allows(s->rkey, s->remote_addr, len, need))
		return IBV_WC_REM_ACCESS_ERR;
	copy(s->sge, s->num_sge, (uint8_t *)(uintptr_t)s->remote_addr, len,
	     !is_read);
	return IBV_WC_SUCCESS;
}

static enum ibv_wc_status execute_atomic(const struct target *t,
					 const struct send *s)
{
	uint64_t *word = (uint64_t *)(uintptr_t)s->remote_addr;
	uint64_t old = s->compare_add;

	if (!(t->access & IBV_ACCESS_REMOTE_ATOMIC))
		return IBV_WC_REM_INV_REQ_ERR;
	if (!mr_allows(s->rkey, s->remote_addr, sizeof(old),
		       IBV_ACCESS_REMOTE_ATOMIC))
		return IBV_WC_REM_ACCESS_ERR;
	/* IBV_ATOMIC_GLOB: also with respect to the CPU. */
	if (s->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD)
		old = __atomic_fetch_add(word, old, __ATOMIC_SEQ_CST);
	else
		__atomic_compare_exchange_n(word, &old, s->swap, false,
					    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
	copy(s->sge, s->num_sge, (uint8_t *)&old, sizeof(old), false);
	return IBV_WC_SUCCESS;
}

static bool is_atomic(enum ibv_wr_opcode opcode)
{
	return opcode == IBV_WR_ATOMIC_FETCH_AND_ADD ||
	       opcode == IBV_WR_ATOMIC_CMP_AND_SWP;
}

static enum ibv_wc_status execute(const struct qp *qp, struct target *t,
				  const struct send *s, size_t len)
{
	enum ibv_wc_status status = IBV_WC_SUCCESS;

	if (!lkeys_allow(s, s->opcode == IBV_WR_RDMA_READ ?
			    IBV_ACCESS_LOCAL_WRITE : 0))
		return IBV_WC_LOC_PROT_ERR;
	switch (s->opcode) {
	case IBV_WR_RDMA_READ:
	case IBV_WR_RDMA_WRITE:
	case IBV_WR_RDMA_WRITE_WITH_IMM:
		status = execute_rdma(t, s, len);
		break;
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
	case IBV_WR_ATOMIC_CMP_AND_SWP:
		return execute_atomic(t, s);
	default:
		break;
	}
	if (!status && (s->opcode == IBV_WR_SEND ||
			s->opcode == IBV_WR_RDMA_WRITE_WITH_IMM))
		receive(t, qp, s, len);
	return status;
}

static bool is_stopped(const struct send *s)
{
	return (s->opcode == IBV_WR_RDMA_READ && fake_device.reads_stop) ||
	       (is_atomic(s->opcode) && fake_device.atomics_stop) ||
	       (fake_device.stopped_send >= 0 &&
		fake_device.stopped_send == first_byte(s));
}

/* Executes the first request of a queue pair. Returns false if it waits. */
static bool step(struct qp *qp)
{
	struct send *s = qp->sends;
	struct ibv_wc wc = { .wr_id = s->wr_id, .qp_num = qp->qp.qp_num };
	size_t len = length(s->sge, s->num_sge);
	bool is_ud = qp->qp.qp_type == IBV_QPT_UD;
	bool needs_recv = s->opcode == IBV_WR_SEND ||
			  s->opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
	struct target t;

	/* Without a connection, the device notices that the target is gone. */
	if (is_stopped(s) && (!qp->is_dci || find_target(qp, s, &t)))
		return false;
	if (s->executed) {
		wc.status = IBV_WC_SUCCESS;
	} else if (find_target(qp, s, &t)) {
		if (qp->is_dci && s->dest == fake_device.stopped_dct)
			return false;
		if (needs_recv && !t.recvs->count && !is_ud)
			return false;
		if (!needs_recv || t.recvs->count)
			wc.status = execute(qp, &t, s, len);
		if (wc.status && wc.status != IBV_WC_LOC_PROT_ERR)
			set_error(t.qp);
	} else if (!is_ud) {
		wc.status = IBV_WC_RETRY_EXC_ERR;
	}
	/* The queue is empty if a queue pair has sent to itself. */
	if (qp->sends != s)
		return true;
	qp->sends = s->next;
	if (!qp->sends)
		qp->tail = &qp->sends;
	free(s);
	qp->posted--;
	complete((struct cq *)qp->qp.send_cq, &wc);
	if (wc.status)
		set_error(qp);
	return true;
}

static unsigned int count_reads(const struct qp *qp)
{
	unsigned int num = 0;

	for (const struct send *s = qp->sends; s; s = s->next)
		num += s->opcode == IBV_WR_RDMA_READ;
	return num;
}

/* Executes whatever can be executed. */
static void run(void)
{
	bool again = !fake_device.removed;

	while (again) {
		again = false;
		for (struct qp *qp = qps; qp; qp = qp->next) {
			if (qp->qp.state == IBV_QPS_ERR)
				flush(qp);
			while (qp->sends && qp->qp.state == IBV_QPS_RTS &&
			       step(qp))
				again = true;
		}
	}
	fake_device.num_stopped = 0;
	for (struct qp *qp = qps; qp; qp = qp->next)
		fake_device.num_stopped += count_reads(qp);
}

/* ---- the calls on the hot path ----------------------------------------- */

static int poll_cq(struct ibv_cq *ibcq, int num, struct ibv_wc *wc)
{
	struct cq *cq = (struct cq *)ibcq;
	int i;

	pthread_mutex_lock(&fake_device.lock);
	run();
	for (i = 0; i < num && cq->count; i++) {
		wc[i] = cq->ring[cq->head];
		cq->head = (cq->head + 1) % (unsigned int)ibcq->cqe;
		cq->count--;
	}
	pthread_mutex_unlock(&fake_device.lock);
	return i;
}

static int req_notify_cq(struct ibv_cq *ibcq, int solicited_only)
{
	(void)solicited_only;
	pthread_mutex_lock(&fake_device.lock);
	((struct cq *)ibcq)->armed = true;
	pthread_mutex_unlock(&fake_device.lock);
	return 0;
}

/* Counts a SEND. Returns true if it cannot be posted. */
static bool is_refused(struct send *s)
{
	int first = first_byte(s);

	if (first < 0)
		return false;
	fake_device.num_sends[first]++;
	if (fake_device.forge_send)
		fake_device.forge_send((void *)(uintptr_t)s->sge[0].addr,
				       &s->sge[0].length);
	return fake_device.refused_send == first;
}

/* Takes over the request. */
static int enqueue(struct qp *qp, struct send *s, const struct ibv_sge *sge)
{
	int ret = 0;

	if (s->num_sge)
		memcpy(s->sge, sge, (size_t)s->num_sge * sizeof(*sge));
	pthread_mutex_lock(&fake_device.lock);
	if (qp->qp.qp_type != IBV_QPT_UD && is_refused(s))
		ret = EIO;
	else if (qp->qp.state < IBV_QPS_RTS)
		ret = EINVAL;
	else if (qp->posted == qp->max_send)
		ret = ENOMEM;
	if (ret) {
		free(s);
	} else {
		*qp->tail = s;
		qp->tail = &s->next;
		qp->posted++;
		run();
	}
	pthread_mutex_unlock(&fake_device.lock);
	return ret;
}

static int post_send(struct ibv_qp *ibqp, struct ibv_send_wr *wr,
		     struct ibv_send_wr **bad)
{
	struct send *s = zalloc(sizeof(*s));

	(void)bad;
	s->wr_id = wr->wr_id;
	s->opcode = wr->opcode;
	s->num_sge = wr->num_sge;
	s->imm = wr->imm_data;
	s->remote_addr = wr->wr.rdma.remote_addr;
	s->rkey = wr->wr.rdma.rkey;
	if (ibqp->qp_type == IBV_QPT_UD)
		s->dest = wr->wr.ud.remote_qpn;
	if (wr->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD ||
	    wr->opcode == IBV_WR_ATOMIC_CMP_AND_SWP) {
		s->rkey = wr->wr.atomic.rkey;
		s->compare_add = wr->wr.atomic.compare_add;
		s->swap = wr->wr.atomic.swap;
	}
	return enqueue((struct qp *)ibqp, s, wr->sg_list);
}

/* Requests of DC; the device has no masked atomics of other sizes than 8. */
int ibv_exp_post_send(struct ibv_qp *ibqp, struct ibv_exp_send_wr *wr,
		      struct ibv_exp_send_wr **bad)
{
	struct send *s = zalloc(sizeof(*s));

	(void)bad;
	s->wr_id = wr->wr_id;
	s->opcode = (enum ibv_wr_opcode)wr->exp_opcode;
	s->num_sge = wr->num_sge;
	s->imm = wr->ex.imm_data;
	s->remote_addr = wr->wr.rdma.remote_addr;
	s->rkey = wr->wr.rdma.rkey;
	s->dest = wr->dc.dct_number;
	s->key = wr->dc.dct_access_key;
	if (s->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD ||
	    s->opcode == IBV_WR_ATOMIC_CMP_AND_SWP) {
		s->rkey = wr->wr.atomic.rkey;
		s->compare_add = wr->wr.atomic.compare_add;
		s->swap = wr->wr.atomic.swap;
	}
	return enqueue((struct qp *)ibqp, s, wr->sg_list);
}

static int add_recv(struct recv_ring *r, const struct ibv_recv_wr *wr)
{
	struct recv *recv;
	int ret = 0;

	pthread_mutex_lock(&fake_device.lock);
	if (r->count == r->size) {
		ret = ENOMEM;
	} else {
		recv = &r->ring[(r->head + r->count++) % r->size];
		recv->wr_id = wr->wr_id;
		recv->num_sge = wr->num_sge;
		memcpy(recv->sge, wr->sg_list,
		       (size_t)wr->num_sge * sizeof(recv->sge[0]));
		run();
	}
	pthread_mutex_unlock(&fake_device.lock);
	return ret;
}

static int post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr,
		     struct ibv_recv_wr **bad)
{
	(void)bad;
	return add_recv(((struct qp *)qp)->recvs, wr);
}

static int post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr,
			 struct ibv_recv_wr **bad)
{
	(void)bad;
	return add_recv(&((struct srq *)srq)->recvs, wr);
}

/* ---- the device -------------------------------------------------------- */

struct ibv_device **ibv_get_device_list(int *num)
{
	struct ibv_device **list = zalloc(2 * sizeof(*list));

	list[0] = &device;
	if (num)
		*num = 1;
	return list;
}

void ibv_free_device_list(struct ibv_device **list)
{
	free(list);
}

const char *ibv_get_device_name(struct ibv_device *dev)
{
	return dev->name;
}

struct ibv_context *ibv_open_device(struct ibv_device *dev)
{
	struct context *c = zalloc(sizeof(*c));
	struct ibv_context *context = &c->context;

	context->device = dev;
	context->async_fd = eventfd(0, EFD_SEMAPHORE);
	context->ops.poll_cq = poll_cq;
	context->ops.req_notify_cq = req_notify_cq;
	context->ops.post_send = post_send;
	context->ops.post_recv = post_recv;
	context->ops.post_srq_recv = post_srq_recv;
	pthread_mutex_lock(&fake_device.lock);
	fake_device.num_opens++;
	c->next = contexts;
	contexts = c;
	pthread_mutex_unlock(&fake_device.lock);
	return context;
}

int ibv_close_device(struct ibv_context *context)
{
	struct context **p;

	pthread_mutex_lock(&fake_device.lock);
	for (p = &contexts; &(*p)->context != context; p = &(*p)->next)
		;
	*p = (*p)->next;
	pthread_mutex_unlock(&fake_device.lock);
	close(context->async_fd);
	free(context);
	return 0;
}

/* A pipe without a reader has hung up. */
static void hang_up(int fd)
{
	int fds[2];

	if (pipe(fds) || close(fds[0]) || dup2(fds[1], fd) < 0 || close(fds[1]))
		abort();
}

void fake_device_use_dc(bool dc)
{
	fake_device.has_dc = dc;
	setenv("FI_MXE_DC", dc ? "1" : "0", 1);
}

void fake_device_remove(bool by_event)
{
	pthread_mutex_lock(&fake_device.lock);
	fake_device.removed = true;
	for (struct context *c = contexts; c; c = c->next) {
		if (by_event)
			eventfd_write(c->context.async_fd, 1);
		else if (c->channel)
			hang_up(c->channel->channel.fd);
	}
	pthread_mutex_unlock(&fake_device.lock);
}

int ibv_get_async_event(struct ibv_context *context,
			struct ibv_async_event *event)
{
	eventfd_t value;

	if (eventfd_read(context->async_fd, &value))
		return -1;
	event->event_type = IBV_EVENT_DEVICE_FATAL;
	return 0;
}

void ibv_ack_async_event(struct ibv_async_event *event)
{
	(void)event;
}

int ibv_query_device(struct ibv_context *context, struct ibv_device_attr *attr)
{
	(void)context;
	*attr = (struct ibv_device_attr){
		.max_srq = 100, .max_cqe = 32768, .max_qp_rd_atom = 16,
		.max_qp_init_rd_atom = 16,
		.atomic_cap = fake_device.is_glob ? IBV_ATOMIC_GLOB :
						   IBV_ATOMIC_HCA,
		.vendor_id = MXEDV_VENDOR_ID,
		.device_cap_flags = fake_device.resizes_qps ?
				    IBV_DEVICE_RESIZE_MAX_WR : 0,
	};
	return 0;
}

int ibv_exp_query_device(struct ibv_context *context,
			 struct ibv_exp_device_attr *attr)
{
	(void)context;
	attr->exp_device_cap_flags =
		fake_device.has_dc ? IBV_EXP_DEVICE_DC_TRANSPORT : 0;
	attr->exp_atomic_cap = IBV_EXP_ATOMIC_HCA;
	attr->masked_atomic.masked_log_atomic_arg_sizes = 1 << 3;
	attr->masked_atomic.masked_log_atomic_arg_sizes_network_endianness = 0;
	return 0;
}

int ibv_query_port(struct ibv_context *context, uint8_t port,
		   struct _compat_ibv_port_attr *attr)
{
	struct ibv_port_attr *a = (struct ibv_port_attr *)attr;

	(void)context;
	(void)port;
	a->state = IBV_PORT_ACTIVE;
	a->active_mtu = IBV_MTU_4096;
	a->gid_tbl_len = 1;
	return 0;
}

int _ibv_query_gid_ex(struct ibv_context *context, uint32_t port,
		      uint32_t index, struct ibv_gid_entry *entry,
		      uint32_t flags, size_t size)
{
	static const uint8_t gid[16] = {
		[10] = 0xff, [11] = 0xff, [12] = 127, [15] = 1,
	};

	(void)context;
	(void)port;
	(void)index;
	(void)flags;
	memset(entry, 0, size);
	memcpy(entry->gid.raw, gid, sizeof(gid));
	entry->gid_type = IBV_GID_TYPE_ROCE_V2;
	return 0;
}

const char *ibv_wc_status_str(enum ibv_wc_status status)
{
	return status == IBV_WC_WR_FLUSH_ERR ? "flushed" : "failed";
}

/* ---- memory, address handles and completion queues --------------------- */

struct ibv_pd *ibv_alloc_pd(struct ibv_context *context)
{
	struct ibv_pd *pd = zalloc(sizeof(*pd));

	pd->context = context;
	return pd;
}

int ibv_dealloc_pd(struct ibv_pd *pd)
{
	free(pd);
	return 0;
}

struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t len, int access)
{
	struct mr *mr = NULL;

	pthread_mutex_lock(&fake_device.lock);
	if (fake_device.max_mrs && fake_device.num_mrs >= fake_device.max_mrs) {
		errno = ENOMEM;
	} else {
		mr = zalloc(sizeof(*mr));
		mr->mr.context = pd->context;
		mr->mr.pd = pd;
		mr->mr.addr = addr;
		mr->mr.length = len;
		mr->mr.lkey = ++last_num;
		mr->mr.rkey = mr->mr.lkey;
		mr->access = (unsigned int)access;
		mr->next = mrs;
		mrs = mr;
		fake_device.num_mrs++;
	}
	pthread_mutex_unlock(&fake_device.lock);
	return mr ? &mr->mr : NULL;
}

struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *addr, size_t len,
				uint64_t iova, unsigned int access)
{
	(void)iova;
	return ibv_reg_mr(pd, addr, len, (int)access);
}

int ibv_dereg_mr(struct ibv_mr *ibmr)
{
	struct mr **p;

	pthread_mutex_lock(&fake_device.lock);
	for (p = &mrs; &(*p)->mr != ibmr; p = &(*p)->next)
		;
	*p = (*p)->next;
	fake_device.num_mrs--;
	pthread_mutex_unlock(&fake_device.lock);
	free(ibmr);
	return 0;
}

struct ibv_ah *ibv_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr)
{
	struct ah *ah;
	bool fails;

	pthread_mutex_lock(&fake_device.lock);
	fails = attr->grh.dgid.raw[15] == fake_device.absent_host;
	fake_device.num_attempts += fails;
	while ((fails && fake_device.is_resolving) ||
	       (fake_device.max_ahs &&
		fake_device.num_ahs >= fake_device.max_ahs)) {
		pthread_mutex_unlock(&fake_device.lock);
		poll(NULL, 0, 1);
		pthread_mutex_lock(&fake_device.lock);
	}
	/* The host may appear. */
	fails = attr->grh.dgid.raw[15] == fake_device.absent_host;
	fake_device.num_ahs += !fails;
	pthread_mutex_unlock(&fake_device.lock);
	if (fails) {
		errno = ETIMEDOUT;
		return NULL;
	}
	ah = zalloc(sizeof(*ah));
	ah->ah.context = pd->context;
	ah->ah.pd = pd;
	return &ah->ah;
}

int ibv_destroy_ah(struct ibv_ah *ah)
{
	fake_device_set(num_ahs, fake_device.num_ahs - 1);
	free(ah);
	return 0;
}

struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *context)
{
	struct channel *channel = zalloc(sizeof(*channel));

	channel->channel.context = context;
	channel->channel.fd = eventfd(0, EFD_SEMAPHORE);
	((struct context *)context)->channel = channel;
	return &channel->channel;
}

int ibv_destroy_comp_channel(struct ibv_comp_channel *channel)
{
	close(channel->fd);
	free(channel);
	return 0;
}

struct ibv_cq *ibv_create_cq(struct ibv_context *context, int cqe, void *arg,
			     struct ibv_comp_channel *channel, int vector)
{
	struct cq *cq = zalloc(sizeof(*cq));

	(void)arg;
	(void)vector;
	cq->cq.context = context;
	cq->cq.cqe = cqe;
	cq->ring = zalloc((size_t)cqe * sizeof(*cq->ring));
	cq->channel = (struct channel *)channel;
	if (channel)
		cq->channel->cq = cq;
	return &cq->cq;
}

int ibv_destroy_cq(struct ibv_cq *cq)
{
	free(((struct cq *)cq)->ring);
	free(cq);
	return 0;
}

int ibv_get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **cq,
		     void **context)
{
	eventfd_t value;

	if (eventfd_read(channel->fd, &value))
		return -1;
	*cq = &((struct channel *)channel)->cq->cq;
	*context = NULL;
	return 0;
}

void ibv_ack_cq_events(struct ibv_cq *cq, unsigned int num)
{
	(void)cq;
	(void)num;
}

/* ---- queues ------------------------------------------------------------ */

static void init_ring(struct recv_ring *r, uint32_t size)
{
	r->size = size;
	r->ring = zalloc((size + 1) * sizeof(*r->ring));
}

struct ibv_srq *ibv_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *attr)
{
	struct srq *srq = zalloc(sizeof(*srq));

	srq->srq.context = pd->context;
	srq->srq.pd = pd;
	init_ring(&srq->recvs, attr->attr.max_wr);
	return &srq->srq;
}

int ibv_destroy_srq(struct ibv_srq *srq)
{
	free(((struct srq *)srq)->recvs.ring);
	free(srq);
	return 0;
}

struct ibv_qp *ibv_exp_create_qp(struct ibv_context *context,
				 struct ibv_exp_qp_init_attr *attr)
{
	struct qp *qp;

	if (attr->qp_type == IBV_EXP_QPT_DC_INI && fake_device.dcis_fail) {
		errno = ENOMEM;
		return NULL;
	}
	qp = zalloc(sizeof(*qp));
	qp->qp.context = context;
	qp->qp.pd = attr->pd;
	qp->qp.send_cq = attr->send_cq;
	qp->qp.recv_cq = attr->recv_cq;
	qp->qp.qp_type = attr->qp_type;
	qp->is_dci = attr->qp_type == IBV_EXP_QPT_DC_INI;
	qp->recvs = attr->srq ? &((struct srq *)attr->srq)->recvs : &qp->own;
	init_ring(&qp->own, attr->cap.max_recv_wr);
	qp->max_send = attr->cap.max_send_wr;
	qp->tail = &qp->sends;
	pthread_mutex_lock(&fake_device.lock);
	qp->qp.qp_num = ++last_num;
	qp->next = qps;
	qps = qp;
	pthread_mutex_unlock(&fake_device.lock);
	return &qp->qp;
}

struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	struct ibv_exp_qp_init_attr exp = {
		.send_cq = attr->send_cq, .recv_cq = attr->recv_cq,
		.srq = attr->srq, .cap = attr->cap, .qp_type = attr->qp_type,
		.pd = pd,
	};

	return ibv_exp_create_qp(pd->context, &exp);
}

/* The entries of a completion queue remain, as those of mxe do. */
int ibv_destroy_qp(struct ibv_qp *ibqp)
{
	struct qp *qp = (struct qp *)ibqp, **p;

	pthread_mutex_lock(&fake_device.lock);
	for (p = &qps; *p != qp; p = &(*p)->next)
		;
	*p = qp->next;
	pthread_mutex_unlock(&fake_device.lock);
	while (qp->sends) {
		struct send *s = qp->sends;

		qp->sends = s->next;
		free(s);
	}
	free(qp->own.ring);
	free(qp);
	return 0;
}

static void answer_late(struct qp *qp)
{
	struct target t;

	fake_device.stopped_dct = 0;
	step(qp);
	if (qp->qp.state != IBV_QPS_RTS || !qp->sends ||
	    !find_target(qp, qp->sends, &t))
		return;
	execute(qp, &t, qp->sends, length(qp->sends->sge, qp->sends->num_sge));
	qp->sends->executed = true;
}

static int set_state(struct qp *qp, enum ibv_qp_state state)
{
	int ret = 0;

	pthread_mutex_lock(&fake_device.lock);
	if (fake_device.removed ||
	    (state == IBV_QPS_ERR && fake_device.err_fails)) {
		ret = EIO;
	} else {
		if (qp->is_dci && qp->sends && fake_device.stopped_dct &&
		    state == fake_device.dct_answers_at)
			answer_late(qp);
		qp->qp.state = state;
		run();
	}
	pthread_mutex_unlock(&fake_device.lock);
	return ret;
}

int ibv_modify_qp(struct ibv_qp *ibqp, struct ibv_qp_attr *attr, int mask)
{
	struct qp *qp = (struct qp *)ibqp;

	if (mask & IBV_QP_CAP &&
	    (!fake_device.resizes_qps || fake_device.resize_fails))
		return EINVAL;
	pthread_mutex_lock(&fake_device.lock);
	if (mask & IBV_QP_CAP)
		qp->max_send = attr->cap.max_send_wr;
	if (mask & IBV_QP_ACCESS_FLAGS)
		qp->access = attr->qp_access_flags;
	if (mask & IBV_QP_DEST_QPN)
		qp->dest = attr->dest_qp_num;
	pthread_mutex_unlock(&fake_device.lock);
	return mask & IBV_QP_STATE ? set_state(qp, attr->qp_state) : 0;
}

int ibv_exp_modify_qp(struct ibv_qp *qp, struct ibv_exp_qp_attr *attr,
		      uint64_t mask)
{
	return mask & IBV_EXP_QP_STATE ?
	       set_state((struct qp *)qp, attr->qp_state) : 0;
}

struct ibv_exp_dct *ibv_exp_create_dct(struct ibv_context *context,
				       struct ibv_exp_dct_init_attr *attr)
{
	struct dct *dct = zalloc(sizeof(*dct));

	dct->dct.context = context;
	dct->dct.pd = attr->pd;
	dct->dct.cq = attr->cq;
	dct->dct.srq = attr->srq;
	dct->key = attr->dc_key;
	dct->access = attr->access_flags;
	pthread_mutex_lock(&fake_device.lock);
	dct->dct.dct_num = ++last_num;
	dct->next = dcts;
	dcts = dct;
	pthread_mutex_unlock(&fake_device.lock);
	return &dct->dct;
}

int ibv_exp_destroy_dct(struct ibv_exp_dct *ibdct)
{
	struct dct **p;

	pthread_mutex_lock(&fake_device.lock);
	for (p = &dcts; &(*p)->dct != ibdct; p = &(*p)->next)
		;
	*p = (*p)->next;
	pthread_mutex_unlock(&fake_device.lock);
	free(ibdct);
	return 0;
}
