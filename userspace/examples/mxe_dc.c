// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * One queue pair for many hosts: each server has a word with four counters of
 * 16 bits, and a client advances the counters of all servers through one
 * initiator of the dynamically connected (DC) transport.
 *
 * Usage:
 *
 *	host2$ mxe_dc -d mxe2
 *	host3$ mxe_dc -d mxe3
 *	host1$ mxe_dc -d mxe1 host2 host3
 *
 * A server is HOST or HOST:PORT.
 *
 * The program is written as those for MLNX_OFED 4.x. Build it with
 *
 *	ibv-exp-env gcc mxe_dc.c -o mxe_dc -libverbs
 */
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <infiniband/verbs.h>

#define DC_KEY 0x6d78655f6463ull

/* The lowest counter begins with 0xffff: the first step drops its carry. */
#define AT_START 0x000000000000ffff
#define STEP 0x0001000100010001
#define TOP_BITS 0x8000800080008000
#define STEPS 3
#define AT_END 0x0003000300030002

#define MAX_SERVERS 64

static const char *port = "18700";

struct side {
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_mr *mr;
	uint64_t *words;
	union ibv_gid gid;
	int gid_index;
};

/* A server, as the client knows it. */
struct server {
	const char *name;
	int fd;
	struct ibv_ah *ah;
	uint32_t dct_num;
	uint32_t rkey;
	uint64_t addr;
};

static void die(const char *what)
{
	perror(what);
	exit(EXIT_FAILURE);
}

/* ---- setup --------------------------------------------------------------- */

static struct ibv_context *open_device(const char *name)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *ctx = NULL;

	for (int i = 0; list && list[i] && !ctx; i++)
		if (!name || !strcmp(name, ibv_get_device_name(list[i])))
			ctx = ibv_open_device(list[i]);
	if (!ctx) {
		fprintf(stderr, "there is no RDMA device%s%s\n",
			name ? " " : "", name ? name : "");
		exit(EXIT_FAILURE);
	}
	ibv_free_device_list(list);
	return ctx;
}

/* Finds the GID of an IPv4 address. */
static void find_gid(struct side *s)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };

	for (s->gid_index = 0; s->gid_index < 128; s->gid_index++)
		if (!ibv_query_gid(s->ctx, 1, s->gid_index, &s->gid) &&
		    !memcmp(s->gid.raw, mapped, sizeof(mapped)))
			return;
	fprintf(stderr, "the device has no GID of an IPv4 address\n");
	exit(EXIT_FAILURE);
}

static void check_device(struct side *s)
{
	struct ibv_exp_device_attr attr = {
		.comp_mask = IBV_EXP_DEVICE_ATTR_EXP_CAP_FLAGS,
	};

	errno = ibv_exp_query_device(s->ctx, &attr);
	if (errno)
		die("ibv_exp_query_device");
	if (!(attr.exp_device_cap_flags & IBV_EXP_DEVICE_DC_TRANSPORT) ||
	    !(attr.exp_device_cap_flags & IBV_EXP_DEVICE_EXT_MASKED_ATOMICS)) {
		fprintf(stderr, "the device has no DC transport, or no masked atomics\n");
		exit(EXIT_FAILURE);
	}
}

static void open_side(struct side *s, const char *device)
{
	s->ctx = open_device(device);
	find_gid(s);
	check_device(s);
	s->pd = ibv_alloc_pd(s->ctx);
	s->cq = ibv_create_cq(s->ctx, 2 * MAX_SERVERS, NULL, NULL, 0);
	s->words = aligned_alloc(4096, 4096);
	if (!s->pd || !s->cq || !s->words)
		die("ibv_alloc_pd, ibv_create_cq");
	memset(s->words, 0, 4096);
	s->mr = ibv_reg_mr(s->pd, s->words, 4096,
			   IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ |
			   IBV_ACCESS_REMOTE_ATOMIC);
	if (!s->mr)
		die("ibv_reg_mr");
}

static void close_side(struct side *s)
{
	ibv_dereg_mr(s->mr);
	ibv_destroy_cq(s->cq);
	ibv_dealloc_pd(s->pd);
	ibv_close_device(s->ctx);
	free(s->words);
}

/* ---- TCP ----------------------------------------------------------------- */

static struct addrinfo *resolve(const char *host, const char *service)
{
	struct addrinfo hints = {
		.ai_socktype = SOCK_STREAM,
		.ai_flags = host ? 0 : AI_PASSIVE,
		.ai_family = AF_INET,
	};
	struct addrinfo *ai;
	int err = getaddrinfo(host, service, &hints, &ai);

	if (err) {
		fprintf(stderr, "%s: %s\n", host, gai_strerror(err));
		exit(EXIT_FAILURE);
	}
	return ai;
}

static int tcp_accept(void)
{
	struct addrinfo *ai = resolve(NULL, port);
	int one = 1, fd = socket(ai->ai_family, ai->ai_socktype, 0);

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(fd, ai->ai_addr, ai->ai_addrlen) || listen(fd, 1))
		die("bind");
	fd = accept(fd, NULL, NULL);
	if (fd < 0)
		die("accept");
	return fd;
}

/* Waits for a server that does not listen yet. */
static int tcp_connect(const char *name)
{
	const char *colon = strchr(name, ':');
	char host[256];
	struct addrinfo *ai;

	snprintf(host, sizeof(host), "%.*s",
		 colon ? (int)(colon - name) : (int)sizeof(host) - 1, name);
	ai = resolve(host, colon ? colon + 1 : port);
	for (int tries = 0; tries < 100; tries++) {
		int fd = socket(ai->ai_family, ai->ai_socktype, 0);

		if (!connect(fd, ai->ai_addr, ai->ai_addrlen))
			return fd;
		close(fd);
		usleep(100000);
	}
	die(name);
	return -1;
}

static void tcp_send(int fd, const char *line)
{
	if (write(fd, line, strlen(line)) != (ssize_t)strlen(line))
		die("write");
}

/* Receives one line, without the newline. */
static void tcp_recv(int fd, char *line, size_t size)
{
	size_t n = 0;

	while (n + 1 < size && read(fd, line + n, 1) == 1 && line[n] != '\n')
		n++;
	line[n] = '\0';
}

/* ---- server -------------------------------------------------------------- */

static struct ibv_srq *create_srq(struct side *s)
{
	struct ibv_srq_init_attr attr = {
		.attr = { .max_wr = 1, .max_sge = 1 },
	};
	struct ibv_srq *srq = ibv_create_srq(s->pd, &attr);

	if (!srq)
		die("ibv_create_srq");
	return srq;
}

static struct ibv_exp_dct *create_target(struct side *s, struct ibv_srq *srq)
{
	struct ibv_exp_dct_init_attr attr = {
		.pd = s->pd,
		.cq = s->cq,
		.srq = srq,
		.dc_key = DC_KEY,
		.port = 1,
		.access_flags = IBV_ACCESS_REMOTE_READ |
				IBV_ACCESS_REMOTE_ATOMIC,
		.min_rnr_timer = 12,
		.mtu = IBV_MTU_1024,
		.gid_index = (uint8_t)s->gid_index,
		.hop_limit = 64,
	};
	struct ibv_exp_dct *dct = ibv_exp_create_dct(s->ctx, &attr);

	if (!dct)
		die("ibv_exp_create_dct");
	return dct;
}

/* Serves one client. Returns the exit status. */
static int serve(struct side *s)
{
	struct ibv_srq *srq = create_srq(s);
	struct ibv_exp_dct *dct = create_target(s, srq);
	char line[128], gid[INET6_ADDRSTRLEN];
	int good, fd;

	s->words[0] = AT_START;
	fd = tcp_accept();
	inet_ntop(AF_INET6, &s->gid, gid, sizeof(gid));
	snprintf(line, sizeof(line), "%" PRIx32 " %" PRIx32 " %" PRIx64 " %s\n",
		 dct->dct_num, s->mr->rkey, (uint64_t)(uintptr_t)s->words, gid);
	tcp_send(fd, line);
	tcp_recv(fd, line, sizeof(line));
	good = s->words[0] == AT_END;
	printf("server: 0x%016" PRIx64 ", %s\n", s->words[0],
	       good ? "right" : "WRONG");
	tcp_send(fd, good ? "good\n" : "bad\n");
	close(fd);
	if (ibv_exp_destroy_dct(dct) || ibv_destroy_srq(srq))
		die("ibv_exp_destroy_dct");
	return good ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* ---- client -------------------------------------------------------------- */

static struct ibv_qp *create_initiator(struct side *s)
{
	struct ibv_exp_qp_init_attr init = {
		.send_cq = s->cq,
		.recv_cq = s->cq,
		.cap = { .max_send_wr = MAX_SERVERS, .max_send_sge = 1 },
		.qp_type = IBV_EXP_QPT_DC_INI,
		.sq_sig_all = 1,
		.comp_mask = IBV_EXP_QP_INIT_ATTR_PD |
			     IBV_EXP_QP_INIT_ATTR_ATOMICS_ARG,
		.pd = s->pd,
		.max_atomic_arg = 8,
	};
	struct ibv_exp_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.port_num = 1,
		.dct_key = DC_KEY,
	};
	struct ibv_qp *qp = ibv_exp_create_qp(s->ctx, &init);

	if (!qp)
		die("ibv_exp_create_qp");
	if (ibv_exp_modify_qp(qp, &attr, IBV_EXP_QP_STATE |
			      IBV_EXP_QP_PKEY_INDEX | IBV_EXP_QP_PORT |
			      IBV_EXP_QP_DC_KEY))
		die("ibv_exp_modify_qp: INIT");
	attr.qp_state = IBV_QPS_RTR;
	attr.path_mtu = IBV_MTU_1024;
	if (ibv_exp_modify_qp(qp, &attr, IBV_EXP_QP_STATE | IBV_EXP_QP_PATH_MTU))
		die("ibv_exp_modify_qp: RTR");
	attr.qp_state = IBV_QPS_RTS;
	attr.timeout = 14;
	attr.retry_cnt = 7;
	attr.rnr_retry = 7;
	attr.max_rd_atomic = 16;
	if (ibv_exp_modify_qp(qp, &attr, IBV_EXP_QP_STATE | IBV_EXP_QP_TIMEOUT |
			      IBV_EXP_QP_RETRY_CNT | IBV_EXP_QP_RNR_RETRY |
			      IBV_EXP_QP_MAX_QP_RD_ATOMIC))
		die("ibv_exp_modify_qp: RTS");
	return qp;
}

static void find_server(struct side *s, struct server *server, const char *name)
{
	struct ibv_ah_attr attr = {
		.is_global = 1,
		.port_num = 1,
		.grh = { .sgid_index = (uint8_t)s->gid_index, .hop_limit = 64 },
	};
	char line[128], gid[64];

	server->name = name;
	server->fd = tcp_connect(name);
	tcp_recv(server->fd, line, sizeof(line));
	if (sscanf(line, "%" SCNx32 " %" SCNx32 " %" SCNx64 " %63s",
		   &server->dct_num, &server->rkey, &server->addr, gid) != 4 ||
	    inet_pton(AF_INET6, gid, &attr.grh.dgid) != 1) {
		fprintf(stderr, "%s: unexpected message: \"%s\"\n", name, line);
		exit(EXIT_FAILURE);
	}
	server->ah = ibv_create_ah(s->pd, &attr);
	if (!server->ah)
		die("ibv_create_ah");
}

/* A request to a server, whose result goes to word n. */
static struct ibv_exp_send_wr request(struct side *s, const struct server *server,
				      struct ibv_sge *sge, int n)
{
	*sge = (struct ibv_sge) { (uintptr_t)&s->words[n], 8, s->mr->lkey };
	return (struct ibv_exp_send_wr) {
		.wr_id = (uint64_t)n,
		.sg_list = sge,
		.num_sge = 1,
		.dc = {
			.ah = server->ah,
			.dct_number = server->dct_num,
			.dct_access_key = DC_KEY,
		},
	};
}

static struct ibv_exp_send_wr step(struct side *s, const struct server *server,
				   struct ibv_sge *sge, int n)
{
	struct ibv_exp_send_wr wr = request(s, server, sge, n);
	struct ibv_exp_fetch_add *fa =
		&wr.ext_op.masked_atomics.wr_data.inline_data.op.fetch_add;

	wr.exp_opcode = IBV_EXP_WR_EXT_MASKED_ATOMIC_FETCH_AND_ADD;
	wr.exp_send_flags = IBV_EXP_SEND_EXT_ATOMIC_INLINE;
	wr.ext_op.masked_atomics.log_arg_sz = 3;
	wr.ext_op.masked_atomics.remote_addr = server->addr;
	wr.ext_op.masked_atomics.rkey = server->rkey;
	fa->add_val = STEP;
	fa->field_boundary = TOP_BITS;
	return wr;
}

static struct ibv_exp_send_wr fetch(struct side *s, const struct server *server,
				    struct ibv_sge *sge, int n)
{
	struct ibv_exp_send_wr wr = request(s, server, sge, n);

	wr.exp_opcode = IBV_EXP_WR_RDMA_READ;
	wr.wr.rdma.remote_addr = server->addr;
	wr.wr.rdma.rkey = server->rkey;
	return wr;
}

/* Posts a request to each of n servers by one call, and waits for all. */
static void run(struct side *s, struct ibv_qp *qp, const struct server *servers,
		int n, struct ibv_exp_send_wr (*make)(struct side *s,
						      const struct server *server,
						      struct ibv_sge *sge, int n))
{
	struct ibv_exp_send_wr wr[MAX_SERVERS], *bad;
	struct ibv_sge sge[MAX_SERVERS];
	struct ibv_exp_wc wc;

	for (int i = 0; i < n; i++) {
		wr[i] = make(s, &servers[i], &sge[i], i);
		wr[i].next = i + 1 < n ? &wr[i + 1] : NULL;
	}
	errno = ibv_exp_post_send(qp, wr, &bad);
	if (errno)
		die("ibv_exp_post_send");
	for (int done = 0; done < n; done++) {
		int ret;

		do
			ret = ibv_exp_poll_cq(s->cq, 1, &wc, sizeof(wc));
		while (!ret);
		if (ret < 0 || wc.status != IBV_WC_SUCCESS) {
			fprintf(stderr, "%s: %s\n", servers[done].name,
				ret < 0 ? "no completion" :
				ibv_wc_status_str(wc.status));
			exit(EXIT_FAILURE);
		}
	}
}

/* Returns the exit status. */
static int advance(struct side *s, char **names, int n)
{
	struct ibv_qp *qp = create_initiator(s);
	struct server servers[MAX_SERVERS];
	char line[16];
	int wrong = 0;

	for (int i = 0; i < n; i++)
		find_server(s, &servers[i], names[i]);
	for (int i = 0; i < STEPS; i++)
		run(s, qp, servers, n, step);
	run(s, qp, servers, n, fetch);
	for (int i = 0; i < n; i++) {
		struct server *server = &servers[i];

		printf("%s: target 0x%06x, 0x%016" PRIx64 "\n", server->name,
		       server->dct_num, s->words[i]);
		tcp_send(server->fd, "done\n");
		tcp_recv(server->fd, line, sizeof(line));
		wrong += s->words[i] != AT_END || strcmp(line, "good");
		close(server->fd);
		ibv_destroy_ah(server->ah);
	}
	printf("one initiator, %d targets: %s\n", n,
	       wrong ? "SOME VALUES ARE WRONG" : "all values are right");
	ibv_destroy_qp(qp);
	return wrong ? EXIT_FAILURE : EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
	const char *device = NULL;
	struct side s = { 0 };
	int opt, status;

	while ((opt = getopt(argc, argv, "d:p:")) != -1) {
		switch (opt) {
		case 'd':
			device = optarg;
			break;
		case 'p':
			port = optarg;
			break;
		default:
			fprintf(stderr, "Usage: %s [-d DEVICE] [-p PORT] [SERVER...]\n"
				"Without SERVER, be a server.\n", argv[0]);
			return 2;
		}
	}
	if (argc - optind > MAX_SERVERS) {
		fprintf(stderr, "more than %d servers\n", MAX_SERVERS);
		return 2;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	open_side(&s, device);
	status = optind == argc ? serve(&s) :
				  advance(&s, argv + optind, argc - optind);
	close_side(&s);
	return status;
}
