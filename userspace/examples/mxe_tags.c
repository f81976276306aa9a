// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * A ping-pong with tags, as a runtime for MPI would do it.  Each side posts a
 * buffer for the tag of the next message, and the device puts the message
 * there.  A short message is sent at once (eager).  A long one is offered, and
 * the device of the receiver reads it and says so (rendezvous).
 *
 * Usage, between two hosts:
 *
 *	host2$ mxe_tags
 *	host1$ mxe_tags host2
 *
 * Build it with
 *
 *	gcc mxe_tags.c -o mxe_tags -lrdmacm -libverbs
 */
#include <endian.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <infiniband/tm_types.h>
#include <rdma/rdma_cma.h>

#define PORT		"7471"
#define EAGER_MAX	4096		/* longer messages are offered */
#define LONGEST	(1 << 20)
#define HEADER		32		/* TMH and RVH */
#define RECVS		16
#define ROUNDS		10

struct side {
	struct rdma_cm_id *id;
	struct ibv_cq *send_cq;
	struct ibv_cq_ex *cq;		/* of the SRQ */
	struct ibv_srq *srq;
	struct ibv_mr *mr;
	/* The registered memory. */
	struct {
		uint8_t out[HEADER + LONGEST];
		uint8_t in[LONGEST];
		uint8_t recv[RECVS][HEADER + EAGER_MAX];
	} *mem;
};

static void die(const char *what)
{
	perror(what);
	exit(EXIT_FAILURE);
}

static struct ibv_sge sge_of(struct side *s, void *addr, uint32_t len)
{
	return (struct ibv_sge){ (uintptr_t)addr, len, s->mr->lkey };
}

/* ---- setup ------------------------------------------------------------- */

/* A buffer for a message that matches no tag, such as a FIN. */
static void post_recv(struct side *s, uint64_t slot)
{
	struct ibv_sge sge = sge_of(s, s->mem->recv[slot], sizeof(s->mem->recv[slot]));
	struct ibv_recv_wr *bad, wr = { .wr_id = slot, .sg_list = &sge, .num_sge = 1 };

	if (ibv_post_srq_recv(s->srq, &wr, &bad))
		die("ibv_post_srq_recv");
}

static void create_srq(struct side *s)
{
	struct ibv_cq_init_attr_ex cq_attr = {
		.cqe = 64,
		.wc_flags = IBV_WC_EX_WITH_BYTE_LEN | IBV_WC_EX_WITH_TM_INFO,
	};
	struct ibv_srq_init_attr_ex attr = {
		.attr = { .max_wr = RECVS, .max_sge = 1 },
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD |
			     IBV_SRQ_INIT_ATTR_CQ | IBV_SRQ_INIT_ATTR_TM,
		.srq_type = IBV_SRQT_TM,
		.pd = s->id->pd,
		.tm_cap = { .max_num_tags = 16, .max_ops = 16 },
	};
	uint64_t i;

	s->cq = ibv_create_cq_ex(s->id->verbs, &cq_attr);
	if (!s->cq)
		die("ibv_create_cq_ex");
	attr.cq = ibv_cq_ex_to_cq(s->cq);
	s->srq = ibv_create_srq_ex(s->id->verbs, &attr);
	if (!s->srq)
		die("ibv_create_srq_ex");
	for (i = 0; i < RECVS; i++)
		post_recv(s, i);
}

static void create_objects(struct side *s)
{
	struct ibv_qp_init_attr attr = {
		.cap = { .max_send_wr = 16, .max_send_sge = 1 },
		.qp_type = IBV_QPT_RC,
	};

	s->mem = calloc(1, sizeof(*s->mem));
	if (!s->mem)
		die("calloc");
	s->mr = ibv_reg_mr(s->id->pd, s->mem, sizeof(*s->mem),
			   IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ);
	if (!s->mr)
		die("ibv_reg_mr");
	create_srq(s);
	s->send_cq = ibv_create_cq(s->id->verbs, 16, NULL, NULL, 0);
	if (!s->send_cq)
		die("ibv_create_cq");
	attr.send_cq = s->send_cq;
	attr.recv_cq = ibv_cq_ex_to_cq(s->cq);
	attr.srq = s->srq;
	if (rdma_create_qp(s->id, s->id->pd, &attr))
		die("rdma_create_qp");
}

static struct rdma_cm_id *resolve(const char *server)
{
	struct rdma_addrinfo hints = {
		.ai_flags = server ? 0 : RAI_PASSIVE, .ai_port_space = RDMA_PS_TCP,
	};
	struct rdma_addrinfo *info;
	struct rdma_cm_id *id;

	if (rdma_getaddrinfo(server, PORT, &hints, &info))
		die("rdma_getaddrinfo");
	if (rdma_create_ep(&id, info, NULL, NULL))
		die("rdma_create_ep");
	rdma_freeaddrinfo(info);
	return id;
}

/* ---- messages ---------------------------------------------------------- */

static void post_tag(struct side *s, uint64_t tag, uint32_t len)
{
	struct ibv_sge sge = sge_of(s, s->mem->in, len);
	struct ibv_ops_wr *bad, wr = {
		.opcode = IBV_WR_TAG_ADD,
		.tm.add = {
			.recv_wr_id = tag, .sg_list = &sge, .num_sge = 1,
			.tag = tag, .mask = UINT64_MAX,
		},
	};

	if (ibv_post_srq_ops(s->srq, &wr, &bad))
		die("ibv_post_srq_ops");
}

/*
 * Waits until the data of a tag are valid (@fin 0), or the FIN of a rendezvous
 * has arrived.  A message without a match never comes here, because each side
 * posts the next tag before it sends.  A runtime would search its own list.
 */
static void wait_for(struct side *s, uint64_t tag, int fin)
{
	struct ibv_poll_cq_attr attr = { 0 };
	unsigned int flags;
	int opcode, done = 0;

	while (!done) {
		if (ibv_start_poll(s->cq, &attr))
			continue;
		if (s->cq->status) {
			fprintf(stderr, "%s\n", ibv_wc_status_str(s->cq->status));
			exit(EXIT_FAILURE);
		}
		opcode = ibv_wc_read_opcode(s->cq);
		flags = ibv_wc_read_wc_flags(s->cq);
		if (opcode == IBV_WC_TM_NO_TAG) {
			post_recv(s, s->cq->wr_id);
			done = fin;
		} else if (flags & IBV_WC_TM_DATA_VALID) {
			done = !fin && s->cq->wr_id == tag;
		} else if (!(flags & IBV_WC_TM_MATCH)) {
			fprintf(stderr, "an unexpected message\n");
			exit(EXIT_FAILURE);
		}
		ibv_end_poll(s->cq);
	}
}

static void send_tag(struct side *s, uint64_t tag, uint32_t len)
{
	struct ibv_tmh *tmh = (void *)s->mem->out;
	struct ibv_rvh *rvh = (void *)(tmh + 1);
	int rndv = len > EAGER_MAX;
	uint8_t *data = s->mem->out + (rndv ? HEADER : sizeof(*tmh));
	struct ibv_sge sge = sge_of(s, tmh, rndv ? HEADER : (uint32_t)sizeof(*tmh) + len);
	struct ibv_send_wr *bad, wr = {
		.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
	};
	struct ibv_wc wc;
	int n;

	memset(data, (int)tag, len);
	*tmh = (struct ibv_tmh){
		.opcode = rndv ? IBV_TMH_RNDV : IBV_TMH_EAGER, .tag = htobe64(tag),
	};
	if (rndv)
		*rvh = (struct ibv_rvh){
			.va = htobe64((uintptr_t)data),
			.rkey = htobe32(s->mr->rkey), .len = htobe32(len),
		};
	if (ibv_post_send(s->id->qp, &wr, &bad))
		die("ibv_post_send");
	do
		n = ibv_poll_cq(s->send_cq, 1, &wc);
	while (!n);
	if (n < 0 || wc.status)
		die("ibv_poll_cq");
	/* The buffer is in use until the receiver has read it. */
	if (rndv)
		wait_for(s, tag, 1);
}

static void check(const struct side *s, uint64_t tag, uint32_t len)
{
	uint32_t i;

	for (i = 0; i < len; i++)
		if (s->mem->in[i] != (uint8_t)tag) {
			fprintf(stderr, "wrong data\n");
			exit(EXIT_FAILURE);
		}
}

/* ---- the ping-pong ----------------------------------------------------- */

static uint32_t size_of(unsigned int i)
{
	static const uint32_t sizes[] = { 8, 1024, EAGER_MAX, EAGER_MAX + 1, 65536, LONGEST };

	return i < sizeof(sizes) / sizeof(*sizes) ? sizes[i] : 0;
}

static double now_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e6 + (double)ts.tv_nsec / 1e3;
}

/* Messages of the client have even tags, those of the server odd ones. */
static void run(struct side *s, int is_client)
{
	unsigned int i, round;
	uint64_t tag = 0;

	for (i = 0; size_of(i); i++) {
		double begin = now_us();

		for (round = 0; round < ROUNDS; round++, tag += 2) {
			uint32_t next = round + 1 < ROUNDS ? size_of(i) : size_of(i + 1);

			if (is_client) {
				post_tag(s, tag + 1, size_of(i));
				send_tag(s, tag, size_of(i));
				wait_for(s, tag + 1, 0);
				check(s, tag + 1, size_of(i));
				continue;
			}
			wait_for(s, tag, 0);
			check(s, tag, size_of(i));
			if (next)
				post_tag(s, tag + 2, next);
			send_tag(s, tag + 1, size_of(i));
		}
		if (is_client)
			printf("%7u bytes, %s: %.1f us\n", size_of(i),
			       size_of(i) > EAGER_MAX ? "rendezvous" : "eager",
			       (now_us() - begin) / ROUNDS / 2);
	}
}

int main(int argc, char **argv)
{
	const char *server = argc > 1 ? argv[1] : NULL;
	struct rdma_conn_param param = {
		.responder_resources = 1, .initiator_depth = 1,
		.retry_count = 7, .rnr_retry_count = 7,
	};
	struct rdma_cm_id *listener = NULL;
	struct side s = { 0 };

	s.id = resolve(server);
	if (!server) {
		listener = s.id;
		if (rdma_listen(listener, 1) || rdma_get_request(listener, &s.id))
			die("rdma_listen");
	}
	create_objects(&s);
	if (!server)
		post_tag(&s, 0, size_of(0));
	if (server ? rdma_connect(s.id, &param) : rdma_accept(s.id, &param))
		die(server ? "rdma_connect" : "rdma_accept");
	run(&s, !!server);

	rdma_disconnect(s.id);
	rdma_destroy_qp(s.id);
	ibv_destroy_srq(s.srq);
	ibv_destroy_cq(ibv_cq_ex_to_cq(s.cq));
	ibv_destroy_cq(s.send_cq);
	ibv_dereg_mr(s.mr);
	rdma_destroy_id(s.id);
	if (listener)
		rdma_destroy_id(listener);
	free(s.mem);
	printf("success\n");
	return EXIT_SUCCESS;
}
