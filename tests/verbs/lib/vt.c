// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Devices, pairs of queue pairs, waiting, and checked transfers for the
 * end-to-end tests. See vt.h.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include <infiniband/verbs_exp.h>
#include "nl.h"
#include "random.h"
#include "vt.h"

void vt_bail(const char *fmt, ...)
{
	int err = errno;
	va_list ap;

	printf("Bail out!  ");
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	printf(" (errno %d, %s)\n", err, strerror(err));
	exit(EXIT_FAILURE);
}

const char *vt_name_a(void)
{
	const char *name = getenv("MXE_A");

	return name ? name : "mxe1";
}

const char *vt_name_b(void)
{
	const char *name = getenv("MXE_B");

	return name ? name : "mxe2";
}

/*
 * Returns the sum of the counters of the table whose names match, or -1 if none
 * does.
 */
static long sum_counters(struct nl_attrs table, const char *pattern)
{
	struct nl_attrs entry;
	long sum = -1;
	uint16_t type;

	while (nl_next(&table, &type, &entry)) {
		const char *name = nl_attribute(entry,
				RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_NAME);
		const void *at = nl_attribute(entry,
				RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_VALUE);
		uint64_t value;

		if (!name || !at || fnmatch(pattern, name, 0))
			continue;
		memcpy(&value, at, sizeof(value));
		sum = (sum < 0 ? 0 : sum) + (long)value;
	}
	return sum;
}

long vt_counter(const char *device, const char *pattern)
{
	struct nl_request r = nl_request(RDMA_NLDEV_CMD_STAT_GET, 0);
	struct nl_attrs all, table;
	int fd = nl_open();
	struct nl_answer a;
	int64_t number;
	long sum = -1;
	uint16_t type;

	number = fd < 0 ? -1 : nl_find_device(fd, device);
	if (number < 0)
		vt_bail("netlink: no %s", device);
	nl_put_u32(&r, RDMA_NLDEV_ATTR_DEV_INDEX, (uint32_t)number);
	nl_put_u32(&r, RDMA_NLDEV_ATTR_PORT_INDEX, 1);
	if (send(fd, &r, r.nlh.nlmsg_len, 0) < 0 || !nl_receive(fd, &a) ||
	    a.nlh.nlmsg_type == NLMSG_ERROR)
		vt_bail("netlink: no counters of %s", device);
	close(fd);
	all = nl_attrs(&a.nlh);
	while (nl_next(&all, &type, &table))
		if (type == RDMA_NLDEV_ATTR_STAT_HWCOUNTERS)
			sum = sum_counters(table, pattern);
	if (sum < 0)
		vt_bail("%s: no counter %s", device, pattern);
	return sum;
}

/* The module has the parameter only with the shortcut. */
#define LOOPBACK "/sys/module/mxe/parameters/direct_loop"

bool vt_has_loopback(void)
{
	return !access(LOOPBACK, F_OK);
}

void vt_set_loopback(bool on)
{
	FILE *f;

	if (!vt_has_loopback())
		return;
	f = fopen(LOOPBACK, "w");
	if (!f || fputs(on ? "Y" : "N", f) < 0 || fclose(f))
		vt_bail(LOOPBACK);
}

long vt_dev_counter(const struct vt_dev *dev, const char *pattern)
{
	return vt_counter(ibv_get_device_name(dev->ctx->device), pattern);
}

void vt_dev_wait_counted(const struct vt_dev *dev, const char *pattern, long before)
{
	uint64_t limit = vt_now_ms() + VT_MS;

	while (vt_dev_counter(dev, pattern) == before && vt_now_ms() < limit)
		poll(NULL, 0, 1);
}

bool vt_wanted(const char *name, char **argv)
{
	if (!*argv)
		return true;
	for (; *argv; argv++)
		if (!strcmp(*argv, name))
			return true;
	return false;
}

uint64_t vt_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

uint64_t vt_now_ms(void)
{
	return vt_now_ns() / 1000000;
}

int vt_find_rings(struct vt_mapping *maps, int max)
{
	FILE *f = fopen("/proc/self/maps", "r");
	char line[512];
	int n = 0;

	if (!f)
		vt_bail("/proc/self/maps");
	while (n < max && fgets(line, sizeof(line), f)) {
		unsigned long from, to;

		if (!strstr(line, "/dev/infiniband/uverbs") ||
		    sscanf(line, "%lx-%lx", &from, &to) != 2)
			continue;
		maps[n++] = (struct vt_mapping){ (uint8_t *)from, to - from };
	}
	fclose(f);
	return n;
}

int vt_doorbell_fd(void)
{
	char path[32], name[64];

	for (int fd = 3; fd < 256; fd++) {
		ssize_t n;

		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		n = readlink(path, name, sizeof(name) - 1);
		if (n < 0)
			continue;
		name[n] = 0;
		if (strstr(name, "mxe-doorbell"))
			return fd;
	}
	return -1;
}

const char *vt_status(int status)
{
	return status < 0 ? "no completion" :
			    ibv_wc_status_str((enum ibv_wc_status)status);
}

/* ---- devices ----------------------------------------------------------- */

static void find_gids(struct vt_dev *dev)
{
	struct ibv_gid_entry entries[64];
	ssize_t n = ibv_query_gid_table(dev->ctx, entries, 64, 0);

	dev->gid4_index = -1;
	dev->gid6_index = -1;
	for (ssize_t i = 0; i < n; i++) {
		static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };
		const union ibv_gid *gid = &entries[i].gid;

		if (entries[i].gid_type != IBV_GID_TYPE_ROCE_V2)
			continue;
		if (!memcmp(gid->raw, mapped, sizeof(mapped))) {
			dev->gid4_index = (int)entries[i].gid_index;
			dev->gid4 = *gid;
		} else if (gid->raw[0] == 0xfd) {
			dev->gid6_index = (int)entries[i].gid_index;
			dev->gid6 = *gid;
		}
	}
}

struct vt_dev *vt_try_open(const char *name)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_port_attr port;
	struct vt_dev *dev;

	dev = calloc(1, sizeof(*dev));
	if (!dev)
		vt_bail("out of memory");
	errno = ENODEV;
	for (int i = 0; list && list[i]; i++) {
		if (strcmp(ibv_get_device_name(list[i]), name))
			continue;
		dev->is_mxe = mxedv_is_supported(list[i]);
		dev->ctx = ibv_open_device(list[i]);
		break;
	}
	if (list)
		ibv_free_device_list(list);
	if (!dev->ctx) {
		free(dev);
		return NULL;
	}
	dev->pd = ibv_alloc_pd(dev->ctx);
	if (!dev->pd)
		vt_bail("ibv_alloc_pd on %s", name);
	if (ibv_query_port(dev->ctx, 1, &port))
		vt_bail("ibv_query_port on %s", name);
	dev->active_mtu = port.active_mtu;
	dev->max_msg_sz = port.max_msg_sz;
	find_gids(dev);
	return dev;
}

struct vt_dev *vt_open(const char *name)
{
	struct vt_dev *dev = vt_try_open(name);

	if (!dev)
		vt_bail("cannot open %s", name);
	if (dev->gid4_index < 0)
		vt_bail("%s has no GID of an IPv4 address", name);
	return dev;
}

void vt_close(struct vt_dev *dev)
{
	if (ibv_dealloc_pd(dev->pd))
		vt_bail("ibv_dealloc_pd");
	if (ibv_close_device(dev->ctx))
		vt_bail("ibv_close_device");
	free(dev);
}

/* ---- pairs ------------------------------------------------------------- */

struct vt_conf vt_defaults(void)
{
	struct vt_conf conf = {
		.timeout = 17,		/* 0.5 s */
		.retry_cnt = 7,
		.rnr_retry = 7,
		.min_rnr_timer = 12,	/* 0.64 ms */
		.rd_atomic = 16,
		.psn = 0xfffff0,	/* wraps soon */
		.depth = 64,
		.max_atomic_arg = 8,
		.max_sge = 4,
		.max_inline = 64,
		.qp_type = IBV_QPT_RC,
		.qp_access = VT_ACCESS_ALL,
		.mr_access = VT_ACCESS_ALL,
		.size = 65536,
	};

	return conf;
}

static struct ibv_cq *create_cq(struct vt_end *e, const struct vt_conf *conf)
{
	struct ibv_cq_init_attr_ex attr = {
		.cqe = conf->depth,
		.channel = e->chan,
		.wc_flags = IBV_WC_STANDARD_FLAGS | conf->wc_flags,
	};
	struct ibv_cq_ex *cq;

	if (!conf->ex_cq)
		return ibv_create_cq(e->dev->ctx, (int)conf->depth, NULL,
				     e->chan, 0);
	cq = ibv_create_cq_ex(e->dev->ctx, &attr);
	return cq ? ibv_cq_ex_to_cq(cq) : NULL;
}

static struct ibv_qp *create_exp_qp(struct vt_end *e,
				    const struct vt_conf *conf,
				    const struct ibv_qp_cap *cap)
{
	struct ibv_exp_qp_init_attr attr = {
		.send_cq = e->cq,
		.recv_cq = e->rcq,
		.cap = *cap,
		.qp_type = conf->qp_type,
		.comp_mask = IBV_EXP_QP_INIT_ATTR_PD |
			     IBV_EXP_QP_INIT_ATTR_CREATE_FLAGS |
			     IBV_EXP_QP_INIT_ATTR_ATOMICS_ARG,
		.pd = e->dev->pd,
		.max_atomic_arg = conf->max_atomic_arg,
	};

	if (conf->be_reply)
		attr.exp_create_flags = IBV_EXP_QP_CREATE_ATOMIC_BE_REPLY;
	return ibv_exp_create_qp(e->dev->ctx, &attr);
}

static struct ibv_qp *create_mxe_qp(struct vt_end *e,
				    const struct vt_conf *conf,
				    struct ibv_srq *srq,
				    const struct ibv_qp_cap *cap)
{
	struct ibv_qp_init_attr_ex attr = {
		.send_cq = e->cq,
		.recv_cq = e->rcq,
		.srq = srq,
		.cap = *cap,
		.qp_type = conf->qp_type,
		.comp_mask = IBV_QP_INIT_ATTR_PD |
			     IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.pd = e->dev->pd,
		.send_ops_flags = IBV_QP_EX_WITH_RDMA_WRITE |
				  IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM |
				  IBV_QP_EX_WITH_SEND |
				  IBV_QP_EX_WITH_SEND_WITH_IMM,
	};
	struct mxedv_qp_init_attr mxe_attr = {
		.comp_mask = MXEDV_QP_INIT_ATTR_CREATE_FLAGS |
			     MXEDV_QP_INIT_ATTR_MAX_ATOMIC_ARG,
		.max_atomic_arg = conf->max_atomic_arg,
	};
	struct ibv_qp *qp;

	if (conf->qp_type != IBV_QPT_UC)
		attr.send_ops_flags |= IBV_QP_EX_WITH_RDMA_READ |
				       IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP |
				       IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD;
#ifdef HAVE_ATOMIC_WRITE
	if (conf->qp_type != IBV_QPT_UC)
		attr.send_ops_flags |= IBV_QP_EX_WITH_ATOMIC_WRITE;
#endif
#ifdef HAVE_FLUSH
	if (conf->qp_type != IBV_QPT_UC)
		attr.send_ops_flags |= IBV_QP_EX_WITH_FLUSH;
#endif
	if (conf->be_reply)
		mxe_attr.create_flags |= MXEDV_QP_CREATE_ATOMIC_BE_REPLY;
	if (conf->exp_wc_opcode)
		mxe_attr.create_flags |= MXEDV_QP_CREATE_EXP_WC_OPCODE;
	mxe_attr.create_flags |= conf->create_flags;
	qp = mxedv_create_qp(e->dev->ctx, &attr, &mxe_attr);
	if (!qp)
		return NULL;
	e->qpx = ibv_qp_to_qp_ex(qp);
	e->mqp = e->qpx ? mxedv_qp_ex_from_ibv_qp_ex(e->qpx) : NULL;
	if (!e->mqp)
		vt_bail("no builders on a queue pair that asked for them");
	return qp;
}

static struct ibv_qp *create_plain_qp(struct vt_end *e,
				      const struct vt_conf *conf,
				      struct ibv_srq *srq,
				      const struct ibv_qp_cap *cap)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = e->cq,
		.recv_cq = e->rcq,
		.srq = srq,
		.cap = *cap,
		.qp_type = conf->qp_type,
	};

	return ibv_create_qp(e->dev->pd, &attr);
}

void vt_end_create(struct vt_end *e, struct vt_dev *dev,
		   const struct vt_conf *conf, struct ibv_srq *srq, void *buf)
{
	struct ibv_qp_cap cap = {
		.max_send_wr = conf->depth,
		.max_recv_wr = conf->depth,
		.max_send_sge = conf->max_sge,
		.max_recv_sge = conf->max_sge,
		.max_inline_data = conf->max_inline,
	};

	memset(e, 0, sizeof(*e));
	e->dev = dev;
	e->size = conf->size;
	e->buf = buf;
	if (!buf) {
		e->own_buf = true;
		e->buf = mmap(NULL, e->size, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (e->buf == MAP_FAILED)
			vt_bail("mmap of %zu bytes", e->size);
	}
	e->mr = ibv_reg_mr(dev->pd, e->buf, e->size, (int)conf->mr_access);
	if (!e->mr)
		vt_bail("ibv_reg_mr of %zu bytes", e->size);
	if (conf->channel) {
		e->chan = ibv_create_comp_channel(dev->ctx);
		if (!e->chan)
			vt_bail("ibv_create_comp_channel");
	}
	e->cq = create_cq(e, conf);
	e->rcq = create_cq(e, conf);
	if (!e->cq || !e->rcq)
		vt_bail("ibv_create_cq");
	if (conf->qp_type == IBV_QPT_XRC_RECV)
		return;
	if (conf->exp)
		e->qp = create_exp_qp(e, conf, &cap);
	else if (dev->is_mxe)
		e->qp = create_mxe_qp(e, conf, srq, &cap);
	else
		e->qp = create_plain_qp(e, conf, srq, &cap);
	if (!e->qp)
		vt_bail("cannot create a queue pair");
}

void vt_end_close(struct vt_end *e)
{
	if (e->qp && ibv_destroy_qp(e->qp))
		vt_bail("ibv_destroy_qp");
	if (ibv_destroy_cq(e->cq) || (e->rcq && ibv_destroy_cq(e->rcq)))
		vt_bail("ibv_destroy_cq");
	if (e->chan && ibv_destroy_comp_channel(e->chan))
		vt_bail("ibv_destroy_comp_channel");
	if (ibv_dereg_mr(e->mr))
		vt_bail("ibv_dereg_mr");
	if (e->own_buf)
		munmap(e->buf, e->size);
}

int vt_to_init(struct vt_end *e, const struct vt_conf *conf)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.port_num = 1,
		.qp_access_flags = conf->qp_access,
	};

	return ibv_modify_qp(e->qp, &attr,
			     IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
			     IBV_QP_ACCESS_FLAGS);
}

int vt_to_rtr(struct vt_end *e, const struct vt_end *peer,
	      const struct vt_conf *conf)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = conf->mtu,
		.dest_qp_num = peer->qp->qp_num,
		.rq_psn = conf->psn,
		.max_dest_rd_atomic = conf->rd_atomic,
		.min_rnr_timer = conf->min_rnr_timer,
		.ah_attr = {
			.is_global = 1,
			.port_num = 1,
			.grh = {
				.hop_limit = 64,
				.traffic_class = conf->tclass,
				.flow_label = conf->flow_label,
			},
		},
	};
	int mask = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU |
		   IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;

	if (!attr.path_mtu)
		attr.path_mtu = e->dev->active_mtu < peer->dev->active_mtu ?
				e->dev->active_mtu : peer->dev->active_mtu;
	if (conf->ipv6) {
		attr.ah_attr.grh.dgid = peer->dev->gid6;
		attr.ah_attr.grh.sgid_index = (uint8_t)e->dev->gid6_index;
	} else {
		attr.ah_attr.grh.dgid = peer->dev->gid4;
		attr.ah_attr.grh.sgid_index = (uint8_t)e->dev->gid4_index;
	}
	if (e->qp->qp_type == IBV_QPT_RC || e->qp->qp_type == IBV_QPT_XRC_RECV)
		mask |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
	return ibv_modify_qp(e->qp, &attr, mask);
}

int vt_to_rts(struct vt_end *e, const struct vt_conf *conf)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTS,
		.timeout = conf->timeout,
		.retry_cnt = conf->retry_cnt,
		.rnr_retry = conf->rnr_retry,
		.sq_psn = conf->psn,
		.max_rd_atomic = conf->rd_atomic,
	};

	int mask = IBV_QP_STATE | IBV_QP_SQ_PSN;

	if (e->qp->qp_type == IBV_QPT_XRC_RECV)
		mask |= IBV_QP_TIMEOUT;
	else if (e->qp->qp_type != IBV_QPT_UC)
		mask |= IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
			IBV_QP_MAX_QP_RD_ATOMIC;
	return ibv_modify_qp(e->qp, &attr, mask);
}

int vt_to_state(struct vt_end *e, enum ibv_qp_state state)
{
	struct ibv_qp_attr attr = { .qp_state = state };

	return ibv_modify_qp(e->qp, &attr, IBV_QP_STATE);
}

enum ibv_qp_state vt_state(struct vt_end *e)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	if (ibv_query_qp(e->qp, &attr, IBV_QP_STATE, &init))
		vt_bail("ibv_query_qp");
	return attr.qp_state;
}

void vt_pair_create(struct vt_pair *p, struct vt_dev *a, struct vt_dev *b,
		    const struct vt_conf *conf)
{
	vt_end_create(&p->a, a, conf, NULL, NULL);
	vt_end_create(&p->b, b, conf, conf->srq_b, conf->buf);
}

void vt_pair_connect(struct vt_pair *p, const struct vt_conf *conf)
{
	if (vt_to_init(&p->a, conf) || vt_to_init(&p->b, conf))
		vt_bail("to INIT");
	if (vt_to_rtr(&p->a, &p->b, conf) || vt_to_rtr(&p->b, &p->a, conf))
		vt_bail("to RTR");
	if (vt_to_rts(&p->a, conf) || vt_to_rts(&p->b, conf))
		vt_bail("to RTS");
}

void vt_pair_reconnect(struct vt_pair *p, const struct vt_conf *conf)
{
	struct vt_conf next = *conf;

	next.psn = vt_random_u64() & 0xffffff;
	if (vt_to_state(&p->a, IBV_QPS_RESET) ||
	    vt_to_state(&p->b, IBV_QPS_RESET))
		vt_bail("to RESET");
	vt_pair_connect(p, &next);
}

void vt_pair_open(struct vt_pair *p, struct vt_dev *a, struct vt_dev *b,
		  const struct vt_conf *conf)
{
	vt_pair_create(p, a, b, conf);
	vt_pair_connect(p, conf);
}

void vt_pair_close(struct vt_pair *p)
{
	vt_end_close(&p->a);
	vt_end_close(&p->b);
}

/* ---- waiting ----------------------------------------------------------- */

bool vt_poll(struct ibv_cq *cq, struct ibv_wc *wc, int ms)
{
	uint64_t end = vt_now_ms() + (uint64_t)ms;
	unsigned int spins = 0;
	int n;

	for (;;) {
		/* Read the clock before polling, as the machine may stall. */
		bool late = vt_now_ms() > end;

		n = ibv_poll_cq(cq, 1, wc);
		if (n < 0)
			vt_bail("ibv_poll_cq: %d", n);
		if (n)
			return true;
		if (late)
			return false;
		/* Softirqs and the other process need the CPU too. */
		if (++spins > 100)
			nanosleep(&(struct timespec){ .tv_nsec = 50000 }, NULL);
	}
}

int vt_do(struct vt_end *e, struct vt_wr *wr, struct ibv_wc *wc)
{
	struct ibv_wc own;
	int ret;

	wr->flags |= IBV_SEND_SIGNALED;
	ret = vt_post(e, wr);
	if (ret) {
		errno = ret;
		vt_bail("cannot post operation %d", wr->op);
	}
	if (!wc)
		wc = &own;
	if (!vt_poll(e->cq, wc, VT_MS))
		return -1;
	return wc->status;
}

int vt_rdma(struct vt_end *e, enum vt_opcode op, const struct ibv_mr *mr,
	    uint64_t raddr, uint32_t len)
{
	struct ibv_sge sge = vt_sge(e, 0, len);
	struct vt_wr wr = {
		.op = op, .sge = &sge, .num_sge = 1, .raddr = raddr,
		.rkey = mr->rkey,
	};

	return vt_do(e, &wr, NULL);
}

int vt_atomic(struct vt_pair *p, struct vt_wr *wr, size_t offset, uint64_t *old)
{
	struct ibv_sge sge = vt_sge(&p->a, 0, 8);
	struct ibv_wc wc;
	int status;

	*vt_word(&p->a, 0) = 0x5555555555555555;
	wr->sge = &sge;
	wr->num_sge = 1;
	wr->raddr = vt_addr(&p->b, offset);
	wr->rkey = p->b.mr->rkey;
	wr->srqn = p->b.srqn;
	status = vt_do(&p->a, wr, &wc);
	*old = *vt_word(&p->a, 0);
	return status;
}

int vt_any_async(struct vt_dev *dev, int ms)
{
	struct pollfd pfd = { .fd = dev->ctx->async_fd, .events = POLLIN };
	struct ibv_async_event event;
	int type;

	if (poll(&pfd, 1, ms) != 1)
		return -1;
	if (ibv_get_async_event(dev->ctx, &event))
		return -1;
	type = (int)event.event_type;
	ibv_ack_async_event(&event);
	return type;
}

static bool is_of_port(int event)
{
	switch (event) {
	case IBV_EVENT_PORT_ACTIVE:
	case IBV_EVENT_PORT_ERR:
	case IBV_EVENT_LID_CHANGE:
	case IBV_EVENT_PKEY_CHANGE:
	case IBV_EVENT_SM_CHANGE:
	case IBV_EVENT_CLIENT_REREGISTER:
	case IBV_EVENT_GID_CHANGE:
		return true;
	default:
		return false;
	}
}

int vt_async(struct vt_dev *dev, int ms)
{
	uint64_t now = vt_now_ms(), end = now + (uint64_t)ms;
	int event;

	do {
		event = vt_any_async(dev, (int)(end - now));
		now = vt_now_ms();
		if (now > end)
			now = end;
	} while (is_of_port(event));
	return event;
}

void vt_drain_async(struct vt_dev *dev)
{
	while (vt_any_async(dev, 50) >= 0)
		;
}

/* ---- transfers --------------------------------------------------------- */

const char *const vt_via_name[] = {
	[VT_POST_SEND] = "ibv_post_send",
	[VT_WR] = "ibv_wr",
	[VT_EXP] = "ibv_exp_post_send",
};

const char *const vt_op_name[] = {
	[VT_SEND] = "SEND",
	[VT_SEND_IMM] = "SEND with immediate",
	[VT_WRITE] = "RDMA WRITE",
	[VT_WRITE_IMM] = "RDMA WRITE with immediate",
	[VT_READ] = "RDMA READ",
	[VT_CAS] = "CMP_SWAP",
	[VT_FADD] = "FETCH_ADD",
	[VT_MCAS] = "masked CMP_SWAP",
	[VT_MFADD] = "masked FETCH_ADD",
};

static uint64_t random_state = 1;

uint64_t vt_random_u64(void)
{
	return random_next(&random_state);
}

void vt_fill_random(void *buf, size_t len)
{
	random_fill(&random_state, buf, len);
}

static bool is_guard(const uint8_t *buf)
{
	for (int i = 0; i < VT_GUARD; i++)
		if (buf[i] != 0xee)
			return false;
	return true;
}

static bool has_recv(enum vt_opcode op)
{
	return op == VT_SEND || op == VT_SEND_IMM || op == VT_WRITE_IMM;
}

static const char *check_send_wc(const struct ibv_wc *wc, int status,
				 enum vt_opcode op, uint64_t wr_id,
				 const struct vt_end *e)
{
	static const int opcodes[] = {
		[VT_SEND] = IBV_WC_SEND,
		[VT_SEND_IMM] = IBV_WC_SEND,
		[VT_WRITE] = IBV_WC_RDMA_WRITE,
		[VT_WRITE_IMM] = IBV_WC_RDMA_WRITE,
		[VT_READ] = IBV_WC_RDMA_READ,
	};

	if (status != IBV_WC_SUCCESS)
		return vt_status(status);
	if (wc->wr_id != wr_id)
		return "wrong wr_id in the sender's completion";
	if ((int)wc->opcode != opcodes[op])
		return "wrong opcode in the sender's completion";
	if (wc->qp_num != e->qp->qp_num)
		return "wrong qp_num in the sender's completion";
	return NULL;
}

static const char *check_recv_wc(const struct ibv_wc *wc, enum vt_opcode op,
				 uint64_t wr_id, uint32_t imm, uint32_t len,
				 const struct vt_end *e)
{
	bool with_imm = op == VT_SEND_IMM || op == VT_WRITE_IMM;
	int opcode = op == VT_WRITE_IMM ? IBV_WC_RECV_RDMA_WITH_IMM :
					  IBV_WC_RECV;

	if (wc->status != IBV_WC_SUCCESS)
		return "wrong status in the receiver's completion";
	if (wc->wr_id != wr_id)
		return "wrong wr_id in the receiver's completion";
	if ((int)wc->opcode != opcode)
		return "wrong opcode in the receiver's completion";
	if (wc->byte_len != len)
		return "wrong byte_len in the receiver's completion";
	if (!(wc->wc_flags & IBV_WC_WITH_IMM) == with_imm)
		return "wrong wc_flags in the receiver's completion";
	if (with_imm && ntohl(wc->imm_data) != imm)
		return "wrong immediate data";
	if (wc->qp_num != e->qp->qp_num)
		return "wrong qp_num in the receiver's completion";
	return NULL;
}

const char *vt_transfer(struct vt_pair *p, enum vt_opcode op, enum vt_via via,
			uint32_t len, unsigned int flags)
{
	struct vt_end *from = op == VT_READ ? &p->b : &p->a;
	struct vt_end *to = op == VT_READ ? &p->a : &p->b;
	struct ibv_sge sge = vt_sge(&p->a, VT_GUARD, len);
	uint64_t id = vt_random_u64();
	uint8_t *data = to->buf + VT_GUARD;
	struct vt_wr wr = {
		.op = op, .via = via, .flags = flags, .wr_id = id,
		.sge = &sge, .num_sge = 1,
		.raddr = vt_addr(&p->b, VT_GUARD), .rkey = p->b.mr->rkey,
		.srqn = p->b.srqn,
		.imm = (uint32_t)id,
	};
	const char *wrong;
	struct ibv_wc wc;
	int status;

	vt_fill_random(from->buf + VT_GUARD, len);
	memset(to->buf, 0xee, len + 2 * VT_GUARD);
	if (has_recv(op) &&
	    vt_recv(&p->b, ~id, VT_GUARD, op == VT_WRITE_IMM ? 0 : len))
		vt_bail("ibv_post_recv");

	status = vt_do(&p->a, &wr, &wc);
	wrong = check_send_wc(&wc, status, op, id, &p->a);
	if (wrong)
		return wrong;
	if (has_recv(op)) {
		if (!vt_poll(p->b.rcq, &wc, VT_MS))
			return "not received";
		wrong = check_recv_wc(&wc, op, ~id, (uint32_t)id, len, &p->b);
		if (wrong)
			return wrong;
	}
	/*
	 * A WRITE over UC completes when it is sent, before the data has
	 * arrived.
	 */
	if (op == VT_WRITE && p->b.qp->qp_type == IBV_QPT_UC)
		for (int i = 0; i < VT_MS; i++) {
			if (!memcmp(data, from->buf + VT_GUARD, len))
				break;
			usleep(1000);
		}
	if (memcmp(data, from->buf + VT_GUARD, len))
		return "wrong data";
	if (!is_guard(data - VT_GUARD) || !is_guard(data + len))
		return "bytes before or after the buffer changed";
	return NULL;
}
