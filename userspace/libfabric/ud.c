// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * UD queue pairs, over which hellos are exchanged. Hellos may be lost: the
 * endpoint that waits for an answer retransmits.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "ah.h"
#include "container.h"
#include "device.h"
#include "domain.h"
#include "name.h"
#include "progress.h"
#include "provider.h"
#include "ud.h"
#include "wire.h"

#define GRH_SIZE 40
#define UD_SIZE 64	/* hellos that a UD queue pair sends or receives */
#define UD_QKEY 0x11fab
#define NUM_CQE (2 * UD_SIZE)

static void post_recv(struct mxefi_ud *ud, struct mxefi_ud_buf *buf)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)buf->data,
		.length = sizeof(buf->data),
		.lkey = ud->mr->lkey,
	};
	struct ibv_recv_wr wr = {
		.wr_id = (uintptr_t)&buf->work, .sg_list = &sge, .num_sge = 1,
	}, *bad;

	if (ibv_post_recv(ud->qp, &wr, &bad))
		mxefi_warn(FI_LOG_EP_CTRL, "cannot post a receive buffer\n");
}

/*
 * True if a packet came from a GID. Otherwise, any user of a host could make us
 * resolve addresses that do not exist, which takes a second each. The IP
 * header is in the place of the GRH, one of IPv4 in the last 20 bytes.
 */
static bool is_from(const struct mxefi_ud *ud, const uint8_t gid[16],
		    const uint8_t *grh)
{
	if (!mxefi_device_gid_is_v4(ud->name.gid))
		return grh[0] >> 4 == 6 && !memcmp(gid, grh + 8, 16);
	return grh[20] >> 4 == 4 && mxefi_device_gid_is_v4(gid) &&
	       !memcmp(gid + 12, grh + 32, 4);
}

static bool is_valid(const struct mxefi_ud *ud, const struct mxefi_hello *hello,
		     uint32_t src_qpn)
{
	return hello->magic == MXEFI_WIRE_MAGIC &&
	       hello->dst_id == ud->name.id &&
	       mxefi_name_is_endpoint(&hello->src) &&
	       hello->src.qpn == src_qpn &&
	       hello->qpn && hello->epoch &&
	       (hello->qpn & MXEFI_DC_CONN || hello->qpn <= 0xffffff) &&
	       hello->data_len <= MXEFI_CM_DATA &&
	       hello->mtu >= IBV_MTU_256 && hello->mtu <= IBV_MTU_4096;
}

/* Copies a valid hello and its data. Returns false if there is none. */
static bool take_hello(const struct mxefi_ud_buf *buf, const struct ibv_wc *wc,
		       struct mxefi_hello *hello, uint8_t *data)
{
	const uint8_t *packet = buf->data + GRH_SIZE;

	if (wc->status != IBV_WC_SUCCESS || !(wc->wc_flags & IBV_WC_GRH) ||
	    wc->byte_len < GRH_SIZE + sizeof(*hello))
		return false;
	memcpy(hello, packet, sizeof(*hello));
	if (!is_valid(buf->ud, hello, wc->src_qp) ||
	    wc->byte_len != GRH_SIZE + sizeof(*hello) + hello->data_len ||
	    !is_from(buf->ud, hello->src.gid, buf->data))
		return false;
	memcpy(data, packet + sizeof(*hello), hello->data_len);
	return true;
}

static void recv_done(struct mxefi_work *work, const struct ibv_wc *wc)
{
	struct mxefi_ud_buf *buf = container_of(work, struct mxefi_ud_buf, work);
	struct mxefi_ud *ud = buf->ud;
	uint8_t data[MXEFI_CM_DATA];
	struct mxefi_hello hello;
	bool is_hello;

	if (ud->closing || wc->status == IBV_WC_WR_FLUSH_ERR)
		return;
	is_hello = take_hello(buf, wc, &hello, data);
	post_recv(ud, buf);
	if (is_hello)
		ud->on_hello(ud, &hello, data);
}

static void send_done(struct mxefi_work *work, const struct ibv_wc *wc)
{
	struct mxefi_ud *ud = container_of(work, struct mxefi_ud, sent);

	ud->posted--;
}

/**
 * mxefi_ud_send() - Send a hello, which may be lost.
 * @ud: UD queue pair
 * @to: address
 * @ah: address handle of the address; if it is not ready, nothing is sent
 * @hello: hello, whose magic, addresses and MTU are filled in
 * @data: data after the hello, of hello->data_len bytes
 */
void mxefi_ud_send(struct mxefi_ud *ud, const struct mxefi_addr *to,
		   struct mxefi_ah *ah, struct mxefi_hello *hello,
		   const void *data)
{
	struct ibv_sge sge = {
		.length = (uint32_t)sizeof(*hello) + hello->data_len,
		.lkey = ud->mr->lkey,
	};
	struct ibv_send_wr wr = {
		.wr_id = (uintptr_t)&ud->sent,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
	}, *bad;
	uint8_t *to_buf;

	wr.wr.ud.ah = mxefi_ah_get(ah);
	if (!wr.wr.ud.ah || ud->posted == UD_SIZE)
		return;
	hello->magic = MXEFI_WIRE_MAGIC;
	hello->src = ud->name;
	hello->dst_id = to->id;
	hello->mtu = ud->dom->dev.port.active_mtu;
	/* The next buffer is free, as not all of them are in flight. */
	sge.addr = (uintptr_t)ud->bufs[UD_SIZE + ud->slot].data;
	ud->slot = (ud->slot + 1) % UD_SIZE;
	to_buf = (uint8_t *)(uintptr_t)sge.addr;
	memcpy(to_buf, hello, sizeof(*hello));
	memcpy(to_buf + sizeof(*hello), data, hello->data_len);
	wr.wr.ud.remote_qpn = to->qpn;
	wr.wr.ud.remote_qkey = UD_QKEY;
	if (!ibv_post_send(ud->qp, &wr, &bad))
		ud->posted++;
}

static int create_qp(struct mxefi_ud *ud)
{
	struct ibv_qp_init_attr init = {
		.send_cq = ud->dom->cq,
		.recv_cq = ud->dom->cq,
		.cap = {
			.max_send_wr = UD_SIZE,
			.max_recv_wr = UD_SIZE,
			.max_send_sge = 1,
			.max_recv_sge = 1,
		},
		.qp_type = IBV_QPT_UD,
	};
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.port_num = 1,
		.qkey = UD_QKEY,
	};

	ud->qp = ibv_create_qp(ud->dom->pd, &init);
	if (!ud->qp)
		return -errno;
	if (ibv_modify_qp(ud->qp, &attr,
			  IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
			  IBV_QP_QKEY))
		return -FI_EIO;
	attr.qp_state = IBV_QPS_RTR;
	if (ibv_modify_qp(ud->qp, &attr, IBV_QP_STATE))
		return -FI_EIO;
	attr.qp_state = IBV_QPS_RTS;
	attr.sq_psn = 0;
	if (ibv_modify_qp(ud->qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN))
		return -FI_EIO;
	return 0;
}

/**
 * mxefi_ud_open() - Create a UD queue pair and its name.
 * @ud: filled in; on_hello and service are set already
 * @dom: domain
 *
 * Return: 0, or a negative error of libfabric. Then mxefi_ud_close() has to be
 * called, too.
 */
int mxefi_ud_open(struct mxefi_ud *ud, struct mxefi_domain *dom)
{
	size_t size = 2 * UD_SIZE * sizeof(*ud->bufs);
	int ret = mxefi_domain_reserve(dom, NUM_CQE);

	if (ret)
		return ret;
	ud->dom = dom;
	ud->bufs = calloc(1, size);
	if (!ud->bufs)
		return -FI_ENOMEM;
	ud->mr = ibv_reg_mr(dom->pd, ud->bufs, size, IBV_ACCESS_LOCAL_WRITE);
	if (!ud->mr || getrandom(&ud->name.id, sizeof(ud->name.id), 0) < 0)
		return -errno;
	ret = create_qp(ud);
	if (ret)
		return ret;
	ud->name.id |= 1;
	ud->name.qpn = ud->qp->qp_num;
	memcpy(ud->name.gid, dom->dev.gid.raw, sizeof(ud->name.gid));
	ud->sent.done = send_done;
	if (ud->service)
		ud->listener = mxefi_name_open(dom, ud->service, &ud->name);
	for (size_t i = 0; i < UD_SIZE; i++) {
		ud->bufs[i].work.done = recv_done;
		ud->bufs[i].ud = ud;
		post_recv(ud, &ud->bufs[i]);
	}
	return 0;
}

/**
 * mxefi_ud_close() - Destroy a UD queue pair.
 * @ud: UD queue pair, or all zeros
 */
void mxefi_ud_close(struct mxefi_ud *ud)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };

	if (!ud->dom)
		return;
	ud->closing = true;
	mxefi_name_close(ud->listener);
	if (ud->qp) {
		bool flushes = !ibv_modify_qp(ud->qp, &attr, IBV_QP_STATE);

		while (flushes && ud->posted)
			mxefi_progress(ud->dom);
		ibv_destroy_qp(ud->qp);
		/* Completions of receives, which are dropped. */
		mxefi_progress(ud->dom);
	}
	if (ud->mr)
		ibv_dereg_mr(ud->mr);
	free(ud->bufs);
	ud->dom->cqe_left += NUM_CQE;
}
