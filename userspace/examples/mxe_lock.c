// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * A server has two words of 64 bits, on which a client executes masked atomics.
 *
 *  - Four locks of 16 bits share the first word.  A masked compare-and-swap
 *    acquires or releases one lock: it compares and swaps the bits of that lock
 *    and does not touch those of the others.
 *  - Four counters of 16 bits share the second word.  One masked fetch-and-add
 *    advances all of them, and no counter carries into the next.
 *
 * Usage, between two hosts:
 *
 *	host2$ mxe_lock -d mxe2
 *	host1$ mxe_lock -d mxe1 host2
 *
 * The program uses the experimental verbs of MLNX_OFED 4.x.  Build it with
 *
 *	gcc mxe_lock.c -o mxe_lock -libverbs_exp -libverbs
 */
#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <inttypes.h>
#include <netdb.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <infiniband/verbs_exp.h>

#define LOCK_WORD 0
#define COUNTER_WORD 1

/* One counter is 0xffff: the first step drops its carry. */
#define COUNTERS_AT_START 0x0001ffff7fff0000
#define COUNTER_TOP_BITS 0x8000800080008000

static int wrong;		/* number of values that are not as expected */

static void die(const char *what)
{
	perror(what);
	exit(EXIT_FAILURE);
}

/* ---- setup ------------------------------------------------------------- */

struct side {
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_mr *mr;
	uint64_t *words;
	union ibv_gid gid;
	int gid_index;
	bool be_reply;
};

/* The data of a side that the other one needs. */
struct peer {
	uint32_t qpn;
	uint32_t rkey;
	uint64_t addr;
	union ibv_gid gid;
};

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
		.comp_mask = IBV_EXP_DEVICE_ATTR_EXP_CAP_FLAGS |
			     IBV_EXP_DEVICE_ATTR_MASKED_ATOMICS,
	};

	errno = ibv_exp_query_device(s->ctx, &attr);
	if (errno)
		die("ibv_exp_query_device");
	if (!(attr.comp_mask & IBV_EXP_DEVICE_ATTR_MASKED_ATOMICS) ||
	    !(attr.masked_atomic.masked_log_atomic_arg_sizes & 8)) {
		fprintf(stderr, "the device has no masked atomics\n");
		exit(EXIT_FAILURE);
	}
	printf("%s: masked atomics of 8 bytes, fields of up to %u bits%s\n",
	       ibv_get_device_name(s->ctx->device),
	       attr.masked_atomic.max_fa_bit_boundary,
	       s->be_reply ? ", results in big-endian" : "");
	if (attr.exp_atomic_cap == IBV_EXP_ATOMIC_HCA_REPLY_BE && !s->be_reply)
		printf("this device needs the option -b\n");
}

static void create_side(struct side *s, const char *device)
{
	struct ibv_exp_qp_init_attr attr = {
		.cap = {
			.max_send_wr = 16,
			.max_recv_wr = 1,
			.max_send_sge = 1,
			.max_recv_sge = 1,
		},
		.qp_type = IBV_QPT_RC,
		.comp_mask = IBV_EXP_QP_INIT_ATTR_PD |
			     IBV_EXP_QP_INIT_ATTR_ATOMICS_ARG |
			     IBV_EXP_QP_INIT_ATTR_CREATE_FLAGS,
		.max_atomic_arg = 8,
	};

	s->ctx = open_device(device);
	find_gid(s);
	check_device(s);
	s->pd = ibv_alloc_pd(s->ctx);
	s->cq = ibv_create_cq(s->ctx, 16, NULL, NULL, 0);
	s->words = aligned_alloc(4096, 4096);
	if (!s->pd || !s->cq || !s->words)
		die("ibv_alloc_pd, ibv_create_cq");
	memset(s->words, 0, 4096);
	s->mr = ibv_reg_mr(s->pd, s->words, 4096,
			   IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ |
			   IBV_ACCESS_REMOTE_ATOMIC);
	if (!s->mr)
		die("ibv_reg_mr");

	attr.pd = s->pd;
	attr.send_cq = s->cq;
	attr.recv_cq = s->cq;
	if (s->be_reply)
		attr.exp_create_flags = IBV_EXP_QP_CREATE_ATOMIC_BE_REPLY;
	s->qp = ibv_exp_create_qp(s->ctx, &attr);
	if (!s->qp)
		die("ibv_exp_create_qp");
}

static void connect_side(struct side *s, const struct peer *peer)
{
	struct ibv_qp_attr init = {
		.qp_state = IBV_QPS_INIT,
		.port_num = 1,
		.qp_access_flags = IBV_ACCESS_REMOTE_READ |
				   IBV_ACCESS_REMOTE_ATOMIC,
	};
	struct ibv_qp_attr rtr = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = IBV_MTU_1024,
		.dest_qp_num = peer->qpn,
		.max_dest_rd_atomic = 1,
		.min_rnr_timer = 12,
		.ah_attr = {
			.is_global = 1,
			.port_num = 1,
			.grh = {
				.dgid = peer->gid,
				.sgid_index = (uint8_t)s->gid_index,
				.hop_limit = 64,
			},
		},
	};
	struct ibv_qp_attr rts = {
		.qp_state = IBV_QPS_RTS,
		.timeout = 14,
		.retry_cnt = 7,
		.rnr_retry = 7,
		.max_rd_atomic = 1,
	};

	if (ibv_modify_qp(s->qp, &init,
			  IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
			  IBV_QP_ACCESS_FLAGS) ||
	    ibv_modify_qp(s->qp, &rtr,
			  IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU |
			  IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
			  IBV_QP_MAX_DEST_RD_ATOMIC |
			  IBV_QP_MIN_RNR_TIMER) ||
	    ibv_modify_qp(s->qp, &rts,
			  IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
			  IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
			  IBV_QP_MAX_QP_RD_ATOMIC))
		die("ibv_modify_qp");
}

/* ---- exchange of addresses by TCP -------------------------------------- */

static int tcp_connect(const char *host, const char *port)
{
	struct addrinfo hints = {
		.ai_socktype = SOCK_STREAM,
		.ai_flags = host ? 0 : AI_PASSIVE,
		.ai_family = AF_INET,
	};
	struct addrinfo *ai;
	int fd, err, one = 1, tries = 50;

	err = getaddrinfo(host, port, &hints, &ai);
	if (err) {
		fprintf(stderr, "%s: %s\n", host, gai_strerror(err));
		exit(EXIT_FAILURE);
	}
	for (;;) {
		fd = socket(ai->ai_family, ai->ai_socktype, 0);
		if (fd < 0)
			die("socket");
		if (!host)
			break;
		if (!connect(fd, ai->ai_addr, ai->ai_addrlen))
			return fd;
		/* The server may not listen yet. */
		if (!--tries)
			die(host);
		close(fd);
		usleep(100000);
	}
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(fd, ai->ai_addr, ai->ai_addrlen) || listen(fd, 1))
		die("bind");
	return accept(fd, NULL, NULL);
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

static void exchange(int fd, const struct side *s, struct peer *peer)
{
	char line[128], gid[INET6_ADDRSTRLEN];

	inet_ntop(AF_INET6, &s->gid, gid, sizeof(gid));
	snprintf(line, sizeof(line), "%" PRIx32 " %" PRIx32 " %" PRIx64 " %s\n",
		 s->qp->qp_num, s->mr->rkey, (uint64_t)(uintptr_t)s->words,
		 gid);
	tcp_send(fd, line);
	tcp_recv(fd, line, sizeof(line));
	if (sscanf(line, "%" SCNx32 " %" SCNx32 " %" SCNx64 " %45s", &peer->qpn,
		   &peer->rkey, &peer->addr, gid) != 4 ||
	    inet_pton(AF_INET6, gid, &peer->gid) != 1) {
		fprintf(stderr, "unexpected message: \"%s\"\n", line);
		exit(EXIT_FAILURE);
	}
}

/* ---- operations -------------------------------------------------------- */

/* Posts the request, waits for its completion and returns the result. */
static uint64_t run(struct side *s, struct ibv_exp_send_wr *wr)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)s->words,
		.length = 8,
		.lkey = s->mr->lkey,
	};
	struct ibv_exp_send_wr *bad;
	struct ibv_exp_wc wc;
	int n;

	wr->sg_list = &sge;
	wr->num_sge = 1;
	wr->exp_send_flags |= IBV_EXP_SEND_SIGNALED;
	errno = ibv_exp_post_send(s->qp, wr, &bad);
	if (errno)
		die("ibv_exp_post_send");
	do
		n = ibv_exp_poll_cq(s->cq, 1, &wc, sizeof(wc));
	while (!n);
	if (n < 0 || wc.status != IBV_WC_SUCCESS) {
		fprintf(stderr, "completion: %s\n",
			n < 0 ? "none" : ibv_wc_status_str(wc.status));
		exit(EXIT_FAILURE);
	}
	return s->words[0];
}

static uint64_t read_word(struct side *s, const struct peer *peer, int word)
{
	struct ibv_exp_send_wr wr = {
		.exp_opcode = IBV_EXP_WR_RDMA_READ,
		.wr.rdma.remote_addr = peer->addr + 8 * (uint64_t)word,
		.wr.rdma.rkey = peer->rkey,
	};

	return run(s, &wr);
}

static uint64_t masked_cas(struct side *s, const struct peer *peer, int word,
			   uint64_t compare, uint64_t compare_mask,
			   uint64_t swap, uint64_t swap_mask)
{
	struct ibv_exp_send_wr wr = {
		.exp_opcode = IBV_EXP_WR_EXT_MASKED_ATOMIC_CMP_AND_SWP,
		.exp_send_flags = IBV_EXP_SEND_EXT_ATOMIC_INLINE,
		.ext_op.masked_atomics = {
			.log_arg_sz = 3,
			.remote_addr = peer->addr + 8 * (uint64_t)word,
			.rkey = peer->rkey,
			.wr_data.inline_data.op.cmp_swap = {
				.compare_val = compare,
				.compare_mask = compare_mask,
				.swap_val = swap,
				.swap_mask = swap_mask,
			},
		},
	};

	return run(s, &wr);
}

static uint64_t masked_add(struct side *s, const struct peer *peer, int word,
			   uint64_t add, uint64_t boundary)
{
	struct ibv_exp_send_wr wr = {
		.exp_opcode = IBV_EXP_WR_EXT_MASKED_ATOMIC_FETCH_AND_ADD,
		.exp_send_flags = IBV_EXP_SEND_EXT_ATOMIC_INLINE,
		.ext_op.masked_atomics = {
			.log_arg_sz = 3,
			.remote_addr = peer->addr + 8 * (uint64_t)word,
			.rkey = peer->rkey,
			.wr_data.inline_data.op.fetch_add = {
				.add_val = add,
				.field_boundary = boundary,
			},
		},
	};

	return run(s, &wr);
}

/* ---- output ------------------------------------------------------------ */

static void show(const char *what, uint64_t value)
{
	printf("    %-14s 0x%016" PRIx64 "\n", what, value);
}

static void check(const char *what, uint64_t got, uint64_t want)
{
	show(what, got);
	if (got == want)
		return;
	wrong++;
	printf("    WRONG, expected 0x%016" PRIx64 "\n", want);
}

/* Prints a mark below each hexadecimal digit that the operation may change. */
static void mark(uint64_t touched)
{
	char line[17] = "";

	for (int i = 0; i < 16 && touched << (4 * i); i++)
		strcat(line, touched << (4 * i) >> 60 ? "^" : " ");
	if (touched)
		printf("    %-16s %s\n", "touched", line);
	else
		printf("    nothing touched\n");
}

/*
 * Returns the old value in host byte order.  With -b, the reply is big-endian.
 */
static uint64_t take_reply(struct side *s, uint64_t reply)
{
	if (!s->be_reply)
		return reply;
	show("reply", reply);
	return be64toh(reply);
}

/*
 * Changes the owner of lock n from `from` to `to`, where 0 is a free lock.
 * *expected is the lock word.
 */
static void change_lock(struct side *s, const struct peer *peer,
			uint64_t *expected, int n, uint64_t from, uint64_t to)
{
	uint64_t mask = 0xffffULL << (16 * n);
	uint64_t compare = from << (16 * n), swap = to << (16 * n);
	uint64_t old = *expected, reply;
	bool match = ((old ^ compare) & mask) == 0;

	if (match)
		*expected = (old & ~mask) | (swap & mask);
	printf("\n  lock %d: from owner %04" PRIx64 " to %04" PRIx64 "\n", n,
	       from, to);
	reply = masked_cas(s, peer, LOCK_WORD, compare, mask, swap, mask);
	show("compare", compare);
	show("compare mask", mask);
	show("swap", swap);
	show("swap mask", mask);
	check("old", take_reply(s, reply), old);
	check("new", read_word(s, peer, LOCK_WORD), *expected);
	mark(match ? mask : 0);
	printf("    %s\n", match ? "done" : "failed: the lock has another owner");
}

/* Adds to all counters at once.  *expected is the counter word. */
static void advance(struct side *s, const struct peer *peer,
		    uint64_t *expected, uint64_t add)
{
	uint64_t old = *expected, touched = 0, sum = 0, reply;

	for (int i = 0; i < 64; i += 16) {
		uint64_t field = 0xffffULL << i;

		sum |= ((old & field) + (add & field)) & field;
		touched |= add & field ? field : 0;
	}
	*expected = sum;
	printf("\n  counters: add %04x, %04x, %04x, %04x\n",
	       (unsigned int)(add >> 48), (unsigned int)(add >> 32 & 0xffff),
	       (unsigned int)(add >> 16 & 0xffff),
	       (unsigned int)(add & 0xffff));
	reply = masked_add(s, peer, COUNTER_WORD, add, COUNTER_TOP_BITS);
	show("add", add);
	show("field boundary", COUNTER_TOP_BITS);
	check("old", take_reply(s, reply), old);
	check("new", read_word(s, peer, COUNTER_WORD), *expected);
	mark(touched);
}

static void client(struct side *s, const struct peer *peer, int fd)
{
	uint64_t lock = 0, counters = COUNTERS_AT_START;
	char line[64];

	printf("\nFour locks in one word, masked compare-and-swap\n");
	change_lock(s, peer, &lock, 2, 0, 0x00a1);
	change_lock(s, peer, &lock, 0, 0, 0x00b2);
	change_lock(s, peer, &lock, 2, 0, 0x00b2);
	change_lock(s, peer, &lock, 2, 0x00a1, 0);
	printf("\nFour counters in one word, masked fetch-and-add\n");
	advance(s, peer, &counters, 0x0001000100010001);
	advance(s, peer, &counters, 0x00000000ffff0010);

	/* The server compares its memory with these values. */
	snprintf(line, sizeof(line), "%" PRIx64 " %" PRIx64 "\n", lock,
		 counters);
	tcp_send(fd, line);
	tcp_recv(fd, line, sizeof(line));
	if (strcmp(line, "good"))
		wrong++;
	printf("\n%s\n", wrong ? "SOME VALUES ARE WRONG" :
				 "all values are right, on both sides");
}

static void server(struct side *s, int fd)
{
	uint64_t lock, counters;
	char line[64];

	tcp_recv(fd, line, sizeof(line));
	if (sscanf(line, "%" SCNx64 " %" SCNx64, &lock, &counters) != 2) {
		fprintf(stderr, "the client has closed the connection\n");
		exit(EXIT_FAILURE);
	}
	printf("server: in memory\n");
	check("locks", s->words[LOCK_WORD], lock);
	check("counters", s->words[COUNTER_WORD], counters);
	tcp_send(fd, wrong ? "bad\n" : "good\n");
}

static void usage(const char *name)
{
	fprintf(stderr,
		"Usage: %s [-d DEVICE] [-p PORT] [-b] [SERVER]\n"
		"Without SERVER, be the server.  -b: request results in big-endian.\n",
		name);
	exit(2);
}

int main(int argc, char **argv)
{
	const char *device = NULL, *port = "18600";
	struct side s = { 0 };
	struct peer peer;
	int fd, opt;

	while ((opt = getopt(argc, argv, "d:p:b")) != -1) {
		switch (opt) {
		case 'd':
			device = optarg;
			break;
		case 'p':
			port = optarg;
			break;
		case 'b':
			s.be_reply = true;
			break;
		default:
			usage(argv[0]);
		}
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	create_side(&s, device);
	s.words[COUNTER_WORD] = COUNTERS_AT_START;

	fd = tcp_connect(argv[optind], port);
	if (fd < 0)
		die("accept");
	exchange(fd, &s, &peer);
	connect_side(&s, &peer);
	/*
	 * The client must not post before the server's queue pair is connected.
	 */
	tcp_send(fd, "ready\n");
	tcp_recv(fd, (char[16]) { 0 }, 16);
	if (argv[optind])
		client(&s, &peer, fd);
	else
		server(&s, fd);

	ibv_destroy_qp(s.qp);
	ibv_destroy_cq(s.cq);
	ibv_dereg_mr(s.mr);
	ibv_dealloc_pd(s.pd);
	ibv_close_device(s.ctx);
	free(s.words);
	close(fd);
	return wrong ? EXIT_FAILURE : EXIT_SUCCESS;
}
