// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * A lock table and a histogram, on which clients execute atomics of libfabric.
 * The server only waits for the clients to end: its device does the rest.
 *
 *  - A lock is a byte, 0 or the number of its owner. FI_CSWAP takes it. Each
 *    lock protects a counter of 64 bits, which its owner reads and writes.
 *  - A counter of the histogram is a byte. One FI_SUM adds to eight of them
 *    that are neighbours, and no counter carries into the next.
 *
 * Usage, between two hosts, with two clients:
 *
 *	host2$ mxe_fi -n 2
 *	host1$ mxe_fi host2 &
 *	host1$ mxe_fi host2
 *
 * Build it with
 *
 *	gcc mxe_fi.c -o mxe_fi -lfabric
 */
#include <inttypes.h>
#include <netdb.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <rdma/fabric.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_rma.h>

#define PORT "18800"
#define NUM_LOCKS 4
#define NUM_BINS 64
#define AT_ONCE 8		/* counters that one FI_SUM changes */
#define ROUNDS 100
#define MAX_CLIENTS 200
#define TIMEOUT_MS 60000

/* The memory of the server. */
struct table {
	uint64_t counters[NUM_LOCKS];	/* one for each lock */
	uint8_t locks[NUM_LOCKS];
	uint8_t bins[NUM_BINS];
};

/* A message of the server to a client. */
struct greeting {
	uint8_t name[64];
	uint64_t addr, key;
	uint32_t number;		/* of the client, from 1 on */
};

struct side {
	struct fi_info *info;
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	struct fid_av *av;
	struct fid_cq *cq;
	struct fid_ep *ep;
};

static void die(const char *what)
{
	perror(what);
	exit(EXIT_FAILURE);
}

static void must(ssize_t ret, const char *what)
{
	if (ret >= 0)
		return;
	fprintf(stderr, "%s: %s\n", what, fi_strerror((int)-ret));
	exit(EXIT_FAILURE);
}

/* ---- setup ------------------------------------------------------------- */

static void open_side(struct side *s)
{
	struct fi_info *hints = fi_allocinfo();
	struct fi_cq_attr cq = { .format = FI_CQ_FORMAT_CONTEXT,
				 .wait_obj = FI_WAIT_UNSPEC };
	struct fi_av_attr av = { .type = FI_AV_MAP };

	if (!hints)
		die("fi_allocinfo");
	hints->fabric_attr->prov_name = strdup("mxe");
	hints->ep_attr->type = FI_EP_RDM;
	hints->caps = FI_RMA | FI_ATOMIC;
	hints->domain_attr->mr_mode =
		FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
	must(fi_getinfo(FI_VERSION(1, 15), NULL, NULL, 0, hints, &s->info),
	     "fi_getinfo");
	fi_freeinfo(hints);
	must(fi_fabric(s->info->fabric_attr, &s->fabric, NULL), "fi_fabric");
	must(fi_domain(s->fabric, s->info, &s->domain, NULL), "fi_domain");
	must(fi_av_open(s->domain, &av, &s->av, NULL), "fi_av_open");
	must(fi_cq_open(s->domain, &cq, &s->cq, NULL), "fi_cq_open");
	must(fi_endpoint(s->domain, s->info, &s->ep, NULL), "fi_endpoint");
	must(fi_ep_bind(s->ep, &s->av->fid, 0), "fi_ep_bind");
	must(fi_ep_bind(s->ep, &s->cq->fid, FI_TRANSMIT | FI_RECV),
	     "fi_ep_bind");
	must(fi_enable(s->ep), "fi_enable");
}

static void close_side(struct side *s)
{
	must(fi_close(&s->ep->fid), "fi_close");
	must(fi_close(&s->cq->fid), "fi_close");
	must(fi_close(&s->av->fid), "fi_close");
	must(fi_close(&s->domain->fid), "fi_close");
	must(fi_close(&s->fabric->fid), "fi_close");
	fi_freeinfo(s->info);
}

/* Returns a socket that listens, or one that is connected to a host. */
static int tcp_open(const char *host)
{
	struct addrinfo hints = {
		.ai_socktype = SOCK_STREAM,
		.ai_flags = host ? 0 : AI_PASSIVE,
		.ai_family = AF_INET,
	};
	int fd, err, one = 1, tries = 50;
	struct addrinfo *ai;

	err = getaddrinfo(host, PORT, &hints, &ai);
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
			goto done;
		/* The server may not listen yet. */
		if (!--tries)
			die(host);
		close(fd);
		usleep(100000);
	}
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(fd, ai->ai_addr, ai->ai_addrlen) || listen(fd, 16))
		die("bind");
done:
	freeaddrinfo(ai);
	return fd;
}

/* ---- the clients ------------------------------------------------------- */

/* The choices of a client, which the server repeats to check the results. */
struct choice {
	unsigned int lock, bin;
	uint8_t add[AT_ONCE];
};

static struct choice choose(unsigned int *seed)
{
	struct choice c = {
		.lock = (unsigned int)rand_r(seed) % NUM_LOCKS,
		.bin = (unsigned int)rand_r(seed) % (NUM_BINS / AT_ONCE) *
		       AT_ONCE,
	};

	for (int i = 0; i < AT_ONCE; i++)
		c.add[i] = (uint8_t)rand_r(seed);
	return c;
}

struct client {
	struct side side;
	struct greeting server;
	fi_addr_t addr;
};

/* Waits for the completion of the operation that a call has started. */
static void finish(struct client *c, ssize_t ret, const char *what)
{
	struct fi_cq_err_entry err = { 0 };
	struct fi_cq_entry entry;

	must(ret, what);
	ret = fi_cq_sread(c->side.cq, &entry, 1, NULL, TIMEOUT_MS);
	if (ret == -FI_EAVAIL) {
		must(fi_cq_readerr(c->side.cq, &err, 0), "fi_cq_readerr");
		ret = -err.err;
	}
	must(ret, what);
}

static void take_lock(struct client *c, unsigned int lock)
{
	uint64_t addr = c->server.addr + offsetof(struct table, locks) + lock;
	uint8_t nobody = 0, owner, me = (uint8_t)c->server.number;

	do {
		finish(c, fi_compare_atomic(c->side.ep, &me, 1, NULL, &nobody,
					    NULL, &owner, NULL, c->addr, addr,
					    c->server.key, FI_UINT8, FI_CSWAP,
					    NULL), "fi_compare_atomic");
	} while (owner != nobody);
}

static void drop_lock(struct client *c, unsigned int lock)
{
	uint64_t addr = c->server.addr + offsetof(struct table, locks) + lock;
	uint8_t nobody = 0;

	finish(c, fi_atomic(c->side.ep, &nobody, 1, NULL, c->addr, addr,
			    c->server.key, FI_UINT8, FI_ATOMIC_WRITE, NULL),
	       "fi_atomic");
}

/* Not atomic: without the lock, clients would overwrite each other's value. */
static void advance_counter(struct client *c, unsigned int lock)
{
	uint64_t value = 0;
	struct iovec iov = { &value, sizeof(value) };
	struct fi_rma_iov remote = {
		.addr = c->server.addr + offsetof(struct table, counters) +
			lock * sizeof(value),
		.len = sizeof(value),
		.key = c->server.key,
	};
	struct fi_msg_rma msg = {
		.msg_iov = &iov, .iov_count = 1, .addr = c->addr,
		.rma_iov = &remote, .rma_iov_count = 1,
	};

	finish(c, fi_readmsg(c->side.ep, &msg, FI_COMPLETION), "fi_readmsg");
	value++;
	/* The value has to be in place before the lock is free. */
	finish(c, fi_writemsg(c->side.ep, &msg,
			      FI_COMPLETION | FI_DELIVERY_COMPLETE),
	       "fi_writemsg");
}

static void add_to_bins(struct client *c, const struct choice *choice)
{
	uint64_t addr = c->server.addr + offsetof(struct table, bins) +
			choice->bin;

	finish(c, fi_atomic(c->side.ep, choice->add, AT_ONCE, NULL, c->addr,
			    addr, c->server.key, FI_UINT8, FI_SUM, NULL),
	       "fi_atomic");
}

static void run_client(const char *host)
{
	struct client c = { 0 };
	int fd = tcp_open(host);
	unsigned int seed;

	if (recv(fd, &c.server, sizeof(c.server), MSG_WAITALL) !=
	    (ssize_t)sizeof(c.server))
		die("recv");
	open_side(&c.side);
	must(fi_av_insert(c.side.av, c.server.name, 1, &c.addr, 0, NULL) - 1,
	     "fi_av_insert");
	seed = c.server.number;
	for (int i = 0; i < ROUNDS; i++) {
		struct choice choice = choose(&seed);

		take_lock(&c, choice.lock);
		advance_counter(&c, choice.lock);
		drop_lock(&c, choice.lock);
		add_to_bins(&c, &choice);
	}
	printf("client %u: %d rounds\n", c.server.number, ROUNDS);
	if (write(fd, "", 1) != 1)
		die("write");
	close(fd);
	close_side(&c.side);
}

/* ---- the server -------------------------------------------------------- */

static int check(const struct table *t, uint32_t num_clients)
{
	struct table want = { 0 };

	for (uint32_t n = 1; n <= num_clients; n++) {
		unsigned int seed = n;

		for (int i = 0; i < ROUNDS; i++) {
			struct choice c = choose(&seed);

			want.counters[c.lock]++;
			for (int j = 0; j < AT_ONCE; j++)
				want.bins[c.bin + (unsigned int)j] += c.add[j];
		}
	}
	for (int i = 0; i < NUM_LOCKS; i++)
		printf("lock %d: owner %u, counter %" PRIu64 " (expected %"
		       PRIu64 ")\n", i, t->locks[i], t->counters[i],
		       want.counters[i]);
	printf("histogram:");
	for (int i = 0; i < NUM_BINS; i++)
		printf("%s%3u", i % 16 ? " " : "\n  ", t->bins[i]);
	if (memcmp(t, &want, offsetof(struct table, bins) + NUM_BINS)) {
		printf("\nSOME VALUES ARE WRONG\n");
		return EXIT_FAILURE;
	}
	printf("\nall values are right\n");
	return EXIT_SUCCESS;
}

static int run_server(uint32_t num_clients)
{
	struct table *t = aligned_alloc(4096, 4096);
	struct greeting hello = { .addr = (uintptr_t)t };
	size_t len = sizeof(hello.name);
	int listener, fds[MAX_CLIENTS], ret;
	struct fid_mr *mr;
	struct side s;
	char end;

	if (!t)
		die("aligned_alloc");
	memset(t, 0, sizeof(*t));
	open_side(&s);
	must(fi_mr_reg(s.domain, t, sizeof(*t),
		       FI_REMOTE_READ | FI_REMOTE_WRITE, 0, 0, 0, &mr, NULL),
	     "fi_mr_reg");
	must(fi_getname(&s.ep->fid, hello.name, &len), "fi_getname");
	hello.key = fi_mr_key(mr);
	listener = tcp_open(NULL);
	for (uint32_t i = 0; i < num_clients; i++) {
		fds[i] = accept(listener, NULL, NULL);
		if (fds[i] < 0)
			die("accept");
	}
	/* All clients begin together. */
	for (uint32_t i = 0; i < num_clients; i++) {
		hello.number = i + 1;
		if (write(fds[i], &hello, sizeof(hello)) !=
		    (ssize_t)sizeof(hello))
			die("write");
	}
	for (uint32_t i = 0; i < num_clients; i++) {
		if (read(fds[i], &end, 1) != 1) {
			fprintf(stderr, "client %u has failed\n", i + 1);
			return EXIT_FAILURE;
		}
		close(fds[i]);
	}
	close(listener);
	ret = check(t, num_clients);
	must(fi_close(&mr->fid), "fi_close");
	close_side(&s);
	free(t);
	return ret;
}

int main(int argc, char **argv)
{
	int opt, num_clients = 1;

	while ((opt = getopt(argc, argv, "n:")) != -1) {
		if (opt == 'n')
			num_clients = atoi(optarg);
		if (opt != 'n' || num_clients < 1 ||
		    num_clients > MAX_CLIENTS) {
			fprintf(stderr,
				"Usage: %s [-n CLIENTS]\n"
				"       %s SERVER\n"
				"Without SERVER, be the server.\n",
				argv[0], argv[0]);
			return 2;
		}
	}
	if (!argv[optind])
		return run_server((uint32_t)num_clients);
	run_client(argv[optind]);
	return EXIT_SUCCESS;
}
