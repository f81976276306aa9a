// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Opens the device of an endpoint, creates its memory and queue pairs, and
 * receives messages in the responder.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>

#include "endpoint.h"
#include "status.h"

#define PERF_MAX_MEMORY ((size_t)4 << 30)

#define ACCESS (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | \
		IBV_ACCESS_REMOTE_READ)

static int failed(const char *what, int err)
{
	fprintf(stderr, "mxe-perf: %s: %s\n", what, strerror(err));
	return STATUS_NO_DEVICE;
}

/* ---- the device ---------------------------------------------------------- */

static struct ibv_context *open_named(const char *name)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *ctx = NULL;
	bool found = false;

	for (int i = 0; list && list[i] && !found; i++) {
		if (name && strcmp(ibv_get_device_name(list[i]), name))
			continue;
		found = true;
		ctx = ibv_open_device(list[i]);
		if (!ctx)
			fprintf(stderr, "mxe-perf: cannot open %s: %s\n",
				ibv_get_device_name(list[i]), strerror(errno));
	}
	if (list)
		ibv_free_device_list(list);
	if (!found)
		fprintf(stderr, "mxe-perf: there is no RDMA device%s%s\n",
			name ? " " : "", name ? name : "");
	return ctx;
}

/*
 * Selects the GID of that index.  If it is negative, the first RoCE v2 GID of
 * an IPv4 address is selected, or else the first of RoCE v2, or else the first.
 */
static int choose_gid(struct perf_device *dev, int index)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };
	struct ibv_gid_entry entries[256];
	ssize_t n = ibv_query_gid_table(dev->ctx, entries, 256, 0);
	int best = -1;

	for (ssize_t i = 0; i < n; i++) {
		const struct ibv_gid_entry *e = &entries[i];
		int merit = 0;

		if (e->port_num != 1)
			continue;
		if (e->gid_type == IBV_GID_TYPE_ROCE_V2)
			merit = memcmp(e->gid.raw, mapped, 12) ? 1 : 2;
		if (index >= 0)
			merit = (int)e->gid_index == index ? 3 : -1;
		if (merit <= best)
			continue;
		best = merit;
		dev->gid = e->gid;
		dev->gid_index = (int)e->gid_index;
	}
	if (best >= 0)
		return 0;
	fprintf(stderr, "mxe-perf: %s has no %sGID on port 1\n",
		ibv_get_device_name(dev->ctx->device),
		index >= 0 ? "such " : "");
	return STATUS_NO_DEVICE;
}

static void ask_masked(struct perf_device *dev)
{
	struct mxedv_device_attr attr;

	if (!mxedv_is_supported(dev->ctx->device) ||
	    mxedv_query_device(dev->ctx, &attr, sizeof(attr)))
		return;
	dev->masked_cas = attr.masked_ops & MXEDV_MASKED_ATOMIC_CMP_SWP;
	dev->masked_fadd = attr.masked_ops & MXEDV_MASKED_ATOMIC_FETCH_ADD;
}

static int open_device(struct perf_device *dev, const char *name, int gid)
{
	struct ibv_device_attr attr;
	struct ibv_port_attr port;
	int most, err;

	dev->ctx = open_named(name);
	if (!dev->ctx)
		return STATUS_NO_DEVICE;
	dev->pd = ibv_alloc_pd(dev->ctx);
	if (!dev->pd)
		return failed("ibv_alloc_pd", errno);
	err = ibv_query_device(dev->ctx, &attr);
	if (err)
		return failed("ibv_query_device", err);
	err = ibv_query_port(dev->ctx, 1, &port);
	if (err)
		return failed("ibv_query_port", err);
	if (port.state != IBV_PORT_ACTIVE) {
		fprintf(stderr, "mxe-perf: port 1 of %s is %s\n",
			ibv_get_device_name(dev->ctx->device),
			ibv_port_state_str(port.state));
		return STATUS_NO_DEVICE;
	}
	most = attr.max_qp_rd_atom < attr.max_qp_init_rd_atom ?
	       attr.max_qp_rd_atom : attr.max_qp_init_rd_atom;
	dev->rd_atomic = (uint8_t)(most < 16 ? most : 16);
	dev->atomics = attr.atomic_cap != IBV_ATOMIC_NONE;
	dev->mtu = 128u << port.active_mtu;
	ask_masked(dev);
	return choose_gid(dev, gid);
}

/* ---- queue pairs --------------------------------------------------------- */

static struct ibv_qp *create_qp(struct perf_endpoint *ep, unsigned int i,
				bool builders, const struct perf_options *o)
{
	struct mxedv_qp_init_attr mxe_attr = {
		.comp_mask = MXEDV_QP_INIT_ATTR_CREATE_FLAGS,
		.create_flags = o->one_doorbell ?
				MXEDV_QP_CREATE_DEFER_DOORBELL : 0,
	};
	struct ibv_qp_init_attr_ex attr = {
		.send_cq = ep->cq,
		.recv_cq = ep->rcq,
		.cap = {
			.max_send_wr = ep->depth,
			.max_recv_wr = ep->two_sided ? 2 * ep->depth : 1,
			.max_send_sge = 1,
			.max_recv_sge = 1,
		},
		.srq = ep->srq,
		.qp_type = IBV_QPT_RC,
		.sq_sig_all = 0,
		.comp_mask = IBV_QP_INIT_ATTR_PD,
		.pd = ep->dev.pd,
	};
	struct ibv_qp *qp;

	if (!builders)
		return ibv_create_qp_ex(ep->dev.ctx, &attr);
	attr.comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
	attr.send_ops_flags = IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_SEND |
			      IBV_QP_EX_WITH_RDMA_READ;
	if (ep->dev.atomics)
		attr.send_ops_flags |= IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP |
				       IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD;
	if (mxedv_is_supported(ep->dev.ctx->device))
		qp = mxedv_create_qp(ep->dev.ctx, &attr, &mxe_attr);
	else
		qp = ibv_create_qp_ex(ep->dev.ctx, &attr);
	if (!qp)
		return NULL;
	ep->qpx[i] = ibv_qp_to_qp_ex(qp);
	if (ep->dev.masked_cas || ep->dev.masked_fadd)
		ep->mqp[i] = mxedv_qp_ex_from_ibv_qp_ex(ep->qpx[i]);
	return qp;
}

static int post_recv(struct perf_endpoint *ep, uint32_t qp, uint32_t slot)
{
	uint64_t index = (uint64_t)qp * 2 * ep->depth + slot;
	struct ibv_sge sge = {
		.addr = (uintptr_t)ep->buf + index * ep->stride,
		.length = ep->size,
		.lkey = ep->mr->lkey,
	};
	struct ibv_recv_wr *bad;
	struct ibv_recv_wr wr = {
		.wr_id = index,
		.sg_list = &sge,
		.num_sge = 1,
	};
	int err = ibv_post_recv(ep->qp[qp], &wr, &bad);

	return err ? failed("ibv_post_recv", err) : 0;
}

static int create_qps(struct perf_endpoint *ep, const struct perf_options *o)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.port_num = 1,
		.qp_access_flags = ACCESS,
	};

	if (ep->dev.atomics)
		attr.qp_access_flags |= IBV_ACCESS_REMOTE_ATOMIC;
	for (uint32_t i = 0; i < ep->num_qps; i++) {
		int err;

		ep->qp[i] = create_qp(ep, i, true, o);
		if (!ep->qp[i])	/* the provider may have no builders */
			ep->qp[i] = create_qp(ep, i, false, o);
		if (!ep->qp[i])
			return failed("ibv_create_qp_ex", errno);
		err = ibv_modify_qp(ep->qp[i], &attr,
				    IBV_QP_STATE | IBV_QP_PKEY_INDEX |
				    IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
		if (err)
			return failed("ibv_modify_qp to INIT", err);
		for (uint32_t slot = 0; ep->two_sided && slot < 2 * o->depth;
		     slot++)
			if (post_recv(ep, i, slot))
				return STATUS_NO_DEVICE;
	}
	return 0;
}

static int open_memory(struct perf_endpoint *ep)
{
	int access = ACCESS;
	void *p;

	ep->stride = ((ep->size < 8 ? 8 : ep->size) + 63) & ~63u;
	ep->len = ((size_t)ep->num_qps * 2 * ep->depth + ep->num_tags) *
		  ep->stride;
	if (ep->len > PERF_MAX_MEMORY) {
		fputs("mxe-perf: the buffers need more than 4 GiB: reduce size, depth or qps\n",
		      stderr);
		return STATUS_USAGE;
	}
	p = mmap(NULL, ep->len, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (p == MAP_FAILED)
		return failed("mmap", errno);
	ep->buf = p;
	if (ep->dev.atomics)
		access |= IBV_ACCESS_REMOTE_ATOMIC;
	ep->mr = ibv_reg_mr(ep->dev.pd, ep->buf, ep->len, access);
	return ep->mr ? 0 : failed("ibv_reg_mr", errno);
}

/* Creates an SRQ and its CQ, which have room for all messages in flight. */
static int create_srq(struct perf_endpoint *ep)
{
	uint32_t recvs = 2 * ep->depth;
	struct ibv_cq_init_attr_ex cq = {
		/* A message in several packets completes twice. */
		.cqe = 2 * (ep->num_tags + recvs),
		.wc_flags = IBV_WC_EX_WITH_BYTE_LEN |
			    (ep->matches ? IBV_WC_EX_WITH_TM_INFO : 0),
	};
	struct ibv_srq_init_attr_ex attr = {
		.attr = { .max_wr = recvs, .max_sge = 1 },
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD,
		.srq_type = IBV_SRQT_BASIC,
		.pd = ep->dev.pd,
	};
	struct ibv_device_attr_ex dev;
	int err;

	err = ibv_query_device_ex(ep->dev.ctx, NULL, &dev);
	if (err)
		return failed("ibv_query_device_ex", err);
	if (ep->matches && dev.tm_caps.max_num_tags < ep->num_tags) {
		fprintf(stderr, "mxe-perf: %s can match %u tags, not %u\n",
			ibv_get_device_name(ep->dev.ctx->device),
			dev.tm_caps.max_num_tags, ep->num_tags);
		return STATUS_NO_DEVICE;
	}
	ep->rcqx = ibv_create_cq_ex(ep->dev.ctx, &cq);
	if (!ep->rcqx)
		return failed("ibv_create_cq_ex", errno);
	ep->rcq = ibv_cq_ex_to_cq(ep->rcqx);
	if (ep->matches) {
		attr.comp_mask |= IBV_SRQ_INIT_ATTR_CQ | IBV_SRQ_INIT_ATTR_TM;
		attr.srq_type = IBV_SRQT_TM;
		attr.cq = ep->rcq;
		attr.tm_cap.max_num_tags = ep->num_tags;
		attr.tm_cap.max_ops = ep->depth;
	}
	ep->srq = ibv_create_srq_ex(ep->dev.ctx, &attr);
	return ep->srq ? 0 : failed("ibv_create_srq_ex", errno);
}

/**
 * perf_endpoint_open() - Open the device, and create memory and queue pairs.
 * @ep: result; two_sided, num_tags and matches are set by the caller, the rest
 *	is zero
 * @device: name; NULL: the first device
 * @gid: GID index; negative: chosen
 * @o: options
 *
 * With num_tags, the queue pairs receive from an SRQ, and the memory has
 * num_tags more slots at the end.
 *
 * Return: 0 or an exit status.
 */
int perf_endpoint_open(struct perf_endpoint *ep, const char *device, int gid,
		       const struct perf_options *o)
{
	int status = open_device(&ep->dev, device, gid);
	int cqe;

	if (status)
		return status;
	ep->num_qps = o->qps;
	ep->depth = o->depth;
	ep->size = o->size;
	if (o->one_doorbell && !mxedv_is_supported(ep->dev.ctx->device)) {
		fputs("mxe-perf: --one-doorbell needs a device of mxe\n", stderr);
		return STATUS_NO_DEVICE;
	}
	status = open_memory(ep);
	if (status)
		return status;
	cqe = (int)(o->qps * o->depth);
	ep->cq = ibv_create_cq(ep->dev.ctx, cqe, NULL, NULL, 0);
	if (!ep->cq)
		return failed("ibv_create_cq", errno);
	if (ep->num_tags)
		status = create_srq(ep);
	else
		ep->rcq = ibv_create_cq(ep->dev.ctx, 2 * cqe, NULL, NULL, 0);
	if (status)
		return status;
	if (!ep->rcq)
		return failed("ibv_create_cq", errno);
	return create_qps(ep, o);
}

static enum ibv_mtu mtu_code(uint32_t bytes)
{
	enum ibv_mtu code = IBV_MTU_256;

	while (code < IBV_MTU_4096 && 256u << code <= bytes)
		code++;
	return code;
}

static uint32_t least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/**
 * perf_endpoint_connect() - Connect each queue pair to one of the peer.
 * @ep: open
 * @peer: address of the other endpoint
 * @o: options
 *
 * Return: 0 or an exit status.
 */
int perf_endpoint_connect(struct perf_endpoint *ep,
			  const struct perf_address *peer,
			  const struct perf_options *o)
{
	uint8_t rd_atomic = (uint8_t)least(ep->dev.rd_atomic, peer->rd_atomic);
	uint32_t mtu = least(ep->dev.mtu, peer->mtu);

	for (uint32_t i = 0; i < ep->num_qps; i++) {
		struct ibv_qp_attr attr = {
			.qp_state = IBV_QPS_RTR,
			.path_mtu = mtu_code(o->mtu ? o->mtu : mtu),
			.dest_qp_num = peer->qpn[i],
			.max_dest_rd_atomic = rd_atomic,
			.min_rnr_timer = 1,
			.ah_attr = {
				.is_global = 1,
				.port_num = 1,
				.grh = {
					.dgid = peer->gid,
					.sgid_index = (uint8_t)ep->dev.gid_index,
					.hop_limit = 64,
				},
			},
		};
		int err = ibv_modify_qp(ep->qp[i], &attr,
					IBV_QP_STATE | IBV_QP_AV |
					IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
					IBV_QP_RQ_PSN |
					IBV_QP_MAX_DEST_RD_ATOMIC |
					IBV_QP_MIN_RNR_TIMER);

		if (err)
			return failed("ibv_modify_qp to RTR", err);
		attr = (struct ibv_qp_attr){
			.qp_state = IBV_QPS_RTS,
			.timeout = 17,		/* 0.5 s */
			.retry_cnt = 7,
			.rnr_retry = 7,
			.max_rd_atomic = rd_atomic,
		};
		err = ibv_modify_qp(ep->qp[i], &attr,
				    IBV_QP_STATE | IBV_QP_TIMEOUT |
				    IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
				    IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC);
		if (err)
			return failed("ibv_modify_qp to RTS", err);
	}
	/*
	 * A driver with a dst_cache, as rxe, looks up the route of every packet
	 * until the jiffy in which the queue pair was created has passed.
	 */
	if (o->warmup)
		usleep(20000);
	return 0;
}

/**
 * perf_endpoint_address() - Fill in what the other endpoint must know.
 * @ep: open
 * @address: result
 */
void perf_endpoint_address(const struct perf_endpoint *ep,
			   struct perf_address *address)
{
	*address = (struct perf_address){
		.gid = ep->dev.gid,
		.mtu = ep->dev.mtu,
		.rd_atomic = ep->dev.rd_atomic,
		.rkey = ep->mr->rkey,
		.addr = (uintptr_t)ep->buf,
	};
	for (uint32_t i = 0; i < ep->num_qps; i++)
		address->qpn[i] = ep->qp[i]->qp_num;
}

/**
 * perf_endpoint_close() - Destroy everything that the endpoint has.
 * @ep: open, partly open, or zero
 */
void perf_endpoint_close(struct perf_endpoint *ep)
{
	for (uint32_t i = 0; i < ep->num_qps; i++)
		if (ep->qp[i])
			ibv_destroy_qp(ep->qp[i]);
	if (ep->srq)
		ibv_destroy_srq(ep->srq);
	if (ep->cq)
		ibv_destroy_cq(ep->cq);
	if (ep->rcq)
		ibv_destroy_cq(ep->rcq);
	if (ep->mr)
		ibv_dereg_mr(ep->mr);
	if (ep->buf)
		munmap(ep->buf, ep->len);
	if (ep->dev.pd)
		ibv_dealloc_pd(ep->dev.pd);
	if (ep->dev.ctx)
		ibv_close_device(ep->dev.ctx);
	memset(ep, 0, sizeof(*ep));
}

/* ---- responder ----------------------------------------------------------- */

/**
 * perf_endpoint_fill() - Fill the memory with the pattern that READ expects.
 * @ep: responder
 */
void perf_endpoint_fill(struct perf_endpoint *ep)
{
	for (size_t i = 0; i < ep->len; i++)
		ep->buf[i] = perf_pattern(i % ep->stride);
}

/*
 * Returns true if the message has the right length and contents: its number on
 * the queue pair, then the pattern, of which only the last byte is compared.
 */
static bool is_right(const struct perf_endpoint *ep, const struct ibv_wc *wc,
		     uint64_t number)
{
	const uint8_t *p = ep->buf + wc->wr_id * ep->stride;
	uint32_t stamp = ep->size < 8 ? ep->size : 8;

	return wc->byte_len == ep->size && !memcmp(p, &number, stamp) &&
	       (ep->size == stamp ||
		p[ep->size - 1] == perf_pattern(ep->size - 1));
}

/**
 * perf_endpoint_receive() - Check the messages that have arrived.
 * @ep: responder, two-sided
 *
 * Polls once and posts a receive for each message.
 *
 * Return: 0, or STATUS_FAILED if a receive failed.  Wrong contents are counted
 * in @ep->wrong.
 */
int perf_endpoint_receive(struct perf_endpoint *ep)
{
	struct ibv_wc wc[16];
	int n = ibv_poll_cq(ep->rcq, 16, wc);

	for (int i = 0; i < n; i++) {
		uint32_t qp = (uint32_t)(wc[i].wr_id / (2 * ep->depth));
		uint32_t slot = (uint32_t)(wc[i].wr_id % (2 * ep->depth));

		if (wc[i].status != IBV_WC_SUCCESS) {
			fprintf(stderr, "mxe-perf: receive request failed: %s\n",
				ibv_wc_status_str(wc[i].status));
			return STATUS_FAILED;
		}
		if (!is_right(ep, &wc[i], ep->received[qp]++))
			ep->wrong++;
		if (post_recv(ep, qp, slot))
			return STATUS_FAILED;
	}
	return n < 0 ? STATUS_FAILED : 0;
}
