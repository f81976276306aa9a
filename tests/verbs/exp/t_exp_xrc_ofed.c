// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Proves that the XRC interface of OFED 1.3 works, with the verbs.h of
 * ibv-exp-env: a receiving QP that two processes share, SRQs in both, and
 * asynchronous events. Written as programs for OFED were. The devices are
 * $MXE_A and $MXE_B, which may be the same.
 *
 * The parent has the sender on a, and the receiving QP on b. The child joins
 * the domain and registers with that QP.
 */
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "tap.h"
#include "vt.h"

#define SIZE 64

/* One side of a receiver: an SRQ in a domain. */
struct receiver {
	struct vt_dev *dev;
	struct ibv_xrc_domain *domain;
	struct ibv_cq *cq;
	struct ibv_srq *srq;
	struct ibv_mr *mr;
	char *buf;
};

static void receiver_open(struct receiver *r, const char *device, int fd)
{
	struct ibv_srq_init_attr attr = {
		.attr = { .max_wr = 16, .max_sge = 1 },
	};
	struct ibv_recv_wr *bad, wr = { .wr_id = 7, .num_sge = 1 };
	struct ibv_sge sge;

	r->dev = vt_open(device);
	r->buf = calloc(1, SIZE);
	r->mr = ibv_reg_mr(r->dev->pd, r->buf, SIZE, IBV_ACCESS_LOCAL_WRITE);
	r->cq = ibv_create_cq(r->dev->ctx, 16, NULL, NULL, 0);
	r->domain = ibv_open_xrc_domain(r->dev->ctx, fd, O_CREAT);
	if (!r->mr || !r->cq || !r->domain)
		vt_bail("ibv_open_xrc_domain");
	r->srq = ibv_create_xrc_srq(r->dev->pd, r->domain, r->cq, &attr);
	if (!r->srq)
		vt_bail("ibv_create_xrc_srq");
	sge = (struct ibv_sge) { (uintptr_t)r->buf, SIZE, r->mr->lkey };
	wr.sg_list = &sge;
	if (ibv_post_srq_recv(r->srq, &wr, &bad))
		vt_bail("ibv_post_srq_recv");
}

static bool receiver_got(struct receiver *r, const char *text)
{
	struct ibv_wc wc;

	return vt_poll(r->cq, &wc, VT_MS) && wc.status == IBV_WC_SUCCESS &&
	       wc.wr_id == 7 && !strcmp(r->buf, text);
}

/* Destroys the objects. Returns true if all of them could be. */
static bool receiver_close(struct receiver *r)
{
	bool good = !ibv_destroy_srq(r->srq) &&
		    !ibv_close_xrc_domain(r->domain) &&
		    !ibv_destroy_cq(r->cq) && !ibv_dereg_mr(r->mr);

	free(r->buf);
	vt_close(r->dev);
	return good;
}

static void get(int fd, uint32_t *value)
{
	if (read(fd, value, sizeof(*value)) != sizeof(*value))
		exit(1);
}

static void put(int fd, uint32_t value)
{
	if (write(fd, &value, sizeof(value)) != sizeof(value))
		exit(1);
}

/* The child's exit status is 0 if everything works. */
static void run_child(int domain_fd, int from, int to)
{
	struct receiver r;
	uint32_t qpn;
	bool good;

	get(from, &qpn);
	receiver_open(&r, vt_name_b(), domain_fd);
	if (ibv_reg_xrc_rcv_qp(r.domain, qpn))
		exit(2);
	put(to, r.srq->xrc_srq_num);
	good = receiver_got(&r, "to the child");
	if (ibv_unreg_xrc_rcv_qp(r.domain, qpn) || !receiver_close(&r))
		exit(3);
	exit(good ? 0 : 4);
}

static struct ibv_qp_attr rtr_attr(struct vt_dev *dev, struct vt_dev *peer,
				   uint32_t qpn)
{
	return (struct ibv_qp_attr) {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = IBV_MTU_1024,
		.dest_qp_num = qpn,
		.max_dest_rd_atomic = 1,
		.min_rnr_timer = 12,
		.ah_attr = {
			.is_global = 1,
			.port_num = 1,
			.grh = {
				.hop_limit = 64,
				.dgid = peer->gid4,
				.sgid_index = (uint8_t)dev->gid4_index,
			},
		},
	};
}

static const int to_init = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
			   IBV_QP_ACCESS_FLAGS;
static const int to_rtr = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU |
			  IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
static const int to_recv = IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;

static struct ibv_qp *make_sender(struct vt_dev *a, struct ibv_cq *cq,
				  struct ibv_xrc_domain *domain)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = cq, .recv_cq = cq,
		.cap = { .max_send_wr = 16, .max_send_sge = 1,
			 .max_inline_data = SIZE },
		.qp_type = IBV_QPT_XRC,
		.sq_sig_all = 1,
		.xrc_domain = domain,
	};

	return ibv_create_qp(a->pd, &attr);
}

static void connect_sender(struct ibv_qp *qp, struct vt_dev *a,
			   struct vt_dev *b, uint32_t qpn)
{
	struct ibv_qp_attr init = { .qp_state = IBV_QPS_INIT, .port_num = 1 };
	struct ibv_qp_attr rtr = rtr_attr(a, b, qpn);
	struct ibv_qp_attr rts = {
		.qp_state = IBV_QPS_RTS, .timeout = 14, .retry_cnt = 7,
		.rnr_retry = 7, .max_rd_atomic = 1,
	};

	is_int(ibv_modify_qp(qp, &init, to_init), 0, "sender: INIT");
	is_int(ibv_modify_qp(qp, &rtr, to_rtr), 0, "sender: RTR");
	is_int(ibv_modify_qp(qp, &rts, IBV_QP_STATE | IBV_QP_TIMEOUT |
			     IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
			     IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC), 0,
	       "sender: RTS");
}

static void connect_receiver(struct receiver *r, uint32_t num, struct vt_dev *a,
			     uint32_t qpn)
{
	struct ibv_qp_attr init = { .qp_state = IBV_QPS_INIT, .port_num = 1 };
	struct ibv_qp_attr rtr = rtr_attr(r->dev, a, qpn);
	struct ibv_qp_init_attr got = { };
	struct ibv_qp_attr attr = { };

	is_int(ibv_modify_xrc_rcv_qp(r->domain, num, &init, to_init), 0,
	       "receiver: INIT");
	is_int(ibv_modify_xrc_rcv_qp(r->domain, num, &rtr, to_rtr | to_recv), 0,
	       "receiver: RTR");
	is_int(ibv_query_xrc_rcv_qp(r->domain, num, &attr, IBV_QP_STATE, &got),
	       0, "receiver: queried");
	ok(attr.qp_state == IBV_QPS_RTR && got.xrc_domain == r->domain,
	   "receiver: its state and domain");
}

static bool send_text(struct ibv_qp *qp, struct ibv_cq *cq, uint32_t srq_num,
		      const char *text)
{
	struct ibv_sge sge = { (uintptr_t)text, strlen(text) + 1, 0 };
	struct ibv_send_wr *bad, wr = {
		.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_INLINE,
		.xrc_remote_srq_num = srq_num,
	};
	struct ibv_wc wc;

	return !ibv_post_send(qp, &wr, &bad) && vt_poll(cq, &wc, VT_MS) &&
	       wc.status == IBV_WC_SUCCESS;
}

static bool has_event(struct ibv_context *context)
{
	struct pollfd fd = { .fd = context->async_fd, .events = POLLIN };

	return poll(&fd, 1, VT_MS) == 1;
}

/* A message to an SRQ that does not exist is an error of the request. */
static void test_event(struct receiver *r, struct vt_dev *a, struct ibv_cq *cq)
{
	struct ibv_qp_init_attr attr = { .xrc_domain = r->domain };
	struct ibv_async_event event;
	struct ibv_qp *sender;
	uint32_t num;

	is_int(ibv_create_xrc_rcv_qp(&attr, &num), 0, "event: a receiver");
	sender = make_sender(a, cq, r->domain);
	if (!sender)
		vt_bail("ibv_create_qp");
	connect_receiver(r, num, a, sender->qp_num);
	connect_sender(sender, a, r->dev, num);
	ok(!send_text(sender, cq, 0xfffff0, "to no SRQ"),
	   "event: an invalid SRQ");
	/* Those that the first message has caused come before. */
	do {
		if (!has_event(r->dev->ctx) ||
		    ibv_get_async_event(r->dev->ctx, &event))
			vt_bail("no event");
		ibv_ack_async_event(&event);
	} while ((event.event_type & ~IBV_XRC_QP_EVENT_FLAG) ==
		 IBV_EVENT_COMM_EST);
	is_int(event.event_type ^ IBV_XRC_QP_EVENT_FLAG, IBV_EVENT_QP_REQ_ERR,
	       "event: of an XRC QP");
	is_u64(event.element.xrc_qp_num, num, "event: its number");
	is_int(ibv_unreg_xrc_rcv_qp(r->domain, num), 0, "event: released");
	is_int(ibv_destroy_qp(sender), 0, "event: the sender is destroyed");
}

int main(void)
{
	int fd = memfd_create("domain", 0), to[2], from[2], status;
	struct ibv_qp_init_attr attr = { };
	struct ibv_qp *sender;
	struct receiver r;
	struct vt_dev *a;
	struct ibv_cq *cq;
	uint32_t num, srq_num;
	pid_t pid;

	if (fd < 0 || pipe(to) || pipe(from))
		vt_bail("pipe");
	pid = fork();
	if (!pid)
		run_child(fd, to[0], from[1]);
	plan(0);
	a = vt_open(vt_name_a());
	cq = ibv_create_cq(a->ctx, 16, NULL, NULL, 0);
	receiver_open(&r, vt_name_b(), fd);
	ok(r.srq->xrc_srq_num && !(r.srq->xrc_srq_num >> 24),
	   "an SRQ has a number");
	attr.xrc_domain = r.domain;
	is_int(ibv_create_xrc_rcv_qp(&attr, &num), 0, "receiver: created");
	sender = make_sender(a, cq, r.domain);
	if (!sender)
		vt_bail("ibv_create_qp");
	is_int(sender->qp_type, IBV_QPT_XRC_SEND, "sender: its type");
	connect_receiver(&r, num, a, sender->qp_num);
	connect_sender(sender, a, r.dev, num);

	ok(send_text(sender, cq, r.srq->xrc_srq_num, "to the parent"),
	   "a message to this process");
	ok(receiver_got(&r, "to the parent"), "... arrives");
	put(to[1], num);
	get(from[0], &srq_num);
	ok(srq_num != r.srq->xrc_srq_num, "the child has an SRQ of its own");
	is_int(ibv_unreg_xrc_rcv_qp(r.domain, num), 0,
	       "this process releases the receiver");
	ok(send_text(sender, cq, srq_num, "to the child"),
	   "a message to the child");
	ok(waitpid(pid, &status, 0) == pid && !status,
	   "... arrives, and the child releases everything");
	ok(!send_text(sender, cq, r.srq->xrc_srq_num, "to nobody"),
	   "the receiver is gone with the last process");

	test_event(&r, a, cq);
	is_int(ibv_destroy_qp(sender), 0, "the sender is destroyed");
	ok(receiver_close(&r), "and everything else");
	is_int(ibv_destroy_cq(cq), 0, "and its CQ");
	vt_close(a);
	return done_testing();
}
