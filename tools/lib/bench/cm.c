// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Measures connections that the RDMA CM makes, for tools/bench --many:
 *
 *	bench-cm ADDRESS[@NETNS] PEER[@NETNS] NUMBER...
 *
 * For each number, connects that many queue pairs of the device with ADDRESS to
 * a listener at PEER, one after the other, and disconnects and destroys all.
 * Prints, in the form of mxe-perf --json: instructions and time to connect a
 * pair of queue pairs, from rdma_create_id() to both RDMA_CM_EVENT_ESTABLISHED,
 * and the same to disconnect and destroy it.  Instructions are the time in
 * which the CPU was not idle.  The clock counts instructions in tools/vm
 * --icount.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <rdma/rdma_cma.h>

#define DEPTH 16
#define PORT 7471
#define TIMEOUT_MS 5000

struct side {
	struct rdma_event_channel *channel;
	struct rdma_cm_id **ids;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct sockaddr_in address;
	int netns;			/* file, or -1 */
};

static struct side client, server;
static struct rdma_cm_id *listener;

static void fail(const char *what)
{
	fprintf(stderr, "bench-cm: %s\n", what);
	exit(1);
}

static void check(int ret, const char *what)
{
	if (!ret)
		return;
	perror(what);
	exit(1);
}

struct moment {
	uint64_t ns, idle;
};

/* Returns the idle time of the machine, which has one CPU. */
static uint64_t idle_ns(void)
{
	uint64_t user, nice, system, idle, wait;
	FILE *f = fopen("/proc/stat", "r");

	if (!f || fscanf(f, "cpu %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
			    " %" SCNu64, &user, &nice, &system, &idle, &wait) != 5)
		fail("/proc/stat cannot be read");
	fclose(f);
	return (idle + wait) * (1000000000 / (uint64_t)sysconf(_SC_CLK_TCK));
}

static struct moment now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (struct moment){
		.ns = (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec,
		.idle = idle_ns(),
	};
}

/* Parses ADDRESS[@NETNS]. */
static void name_side(struct side *s, char *name)
{
	char path[256], *netns = strchr(name, '@');

	s->netns = -1;
	if (netns) {
		*netns++ = 0;
		snprintf(path, sizeof(path), "/var/run/netns/%s", netns);
		s->netns = open(path, O_RDONLY);
		check(s->netns < 0, path);
	}
	s->address.sin_family = AF_INET;
	if (inet_pton(AF_INET, name, &s->address.sin_addr) != 1)
		fail("an address is wrong");
	s->channel = rdma_create_event_channel();
	check(!s->channel, "rdma_create_event_channel");
}

/* An identifier belongs to the network namespace of its creator. */
static struct rdma_cm_id *create_id(const struct side *s)
{
	struct rdma_cm_id *id;

	if (s->netns >= 0)
		check(setns(s->netns, CLONE_NEWNET), "setns");
	check(rdma_create_id(s->channel, &id, NULL, RDMA_PS_TCP), "rdma_create_id");
	return id;
}

/* Waits for an event.  Returns the identifier that it is for. */
static struct rdma_cm_id *wait_for(const struct side *s, enum rdma_cm_event_type type)
{
	struct rdma_cm_event *event;
	struct rdma_cm_id *id;

	check(rdma_get_cm_event(s->channel, &event), "rdma_get_cm_event");
	if (event->event != type) {
		fprintf(stderr, "bench-cm: %s instead of %s, status %d\n",
			rdma_event_str(event->event), rdma_event_str(type),
			event->status);
		exit(1);
	}
	id = event->id;
	rdma_ack_cm_event(event);
	return id;
}

static void create_qp(struct side *s, struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr attr = {
		.cap = { .max_send_wr = DEPTH, .max_recv_wr = DEPTH,
			 .max_send_sge = 1, .max_recv_sge = 1 },
		.qp_type = IBV_QPT_RC,
	};

	/* The first identifier has the device. */
	if (!s->pd) {
		s->pd = ibv_alloc_pd(id->verbs);
		s->cq = ibv_create_cq(id->verbs, 1, NULL, NULL, 0);
	}
	if (!s->pd || !s->cq)
		fail("no completion queue");
	attr.send_cq = s->cq;
	attr.recv_cq = s->cq;
	check(rdma_create_qp(id, s->pd, &attr), "rdma_create_qp");
}

static void connect_one(int i)
{
	struct rdma_conn_param param = {
		.responder_resources = 1, .initiator_depth = 1,
		.retry_count = 7, .rnr_retry_count = 7,
	};
	struct sockaddr_in from = client.address, to = server.address;
	struct rdma_cm_id *a = create_id(&client), *b;

	to.sin_port = htons(PORT);
	check(rdma_resolve_addr(a, (struct sockaddr *)&from,
				(struct sockaddr *)&to, TIMEOUT_MS),
	      "rdma_resolve_addr");
	wait_for(&client, RDMA_CM_EVENT_ADDR_RESOLVED);
	check(rdma_resolve_route(a, TIMEOUT_MS), "rdma_resolve_route");
	wait_for(&client, RDMA_CM_EVENT_ROUTE_RESOLVED);
	create_qp(&client, a);
	check(rdma_connect(a, &param), "rdma_connect");
	b = wait_for(&server, RDMA_CM_EVENT_CONNECT_REQUEST);
	create_qp(&server, b);
	check(rdma_accept(b, &param), "rdma_accept");
	wait_for(&client, RDMA_CM_EVENT_ESTABLISHED);
	wait_for(&server, RDMA_CM_EVENT_ESTABLISHED);
	client.ids[i] = a;
	server.ids[i] = b;
}

static void disconnect_one(int i)
{
	check(rdma_disconnect(client.ids[i]), "rdma_disconnect");
	wait_for(&server, RDMA_CM_EVENT_DISCONNECTED);
	check(rdma_disconnect(server.ids[i]), "rdma_disconnect");
	wait_for(&client, RDMA_CM_EVENT_DISCONNECTED);
	rdma_destroy_qp(client.ids[i]);
	rdma_destroy_qp(server.ids[i]);
	rdma_destroy_id(client.ids[i]);
	rdma_destroy_id(server.ids[i]);
}

static void print_part(const char *name, struct moment from, struct moment to,
		       int n)
{
	uint64_t ns = to.ns - from.ns, idle = to.idle - from.idle;

	printf("\"%s\": %" PRIu64 ", \"%s_ns\": %" PRIu64, name,
	       (ns > idle ? ns - idle : 0) / (uint64_t)n, name, ns / (uint64_t)n);
}

static void measure(int n, bool prints, bool first)
{
	struct moment begin, connected, end;

	client.ids = calloc((size_t)n, sizeof(*client.ids));
	server.ids = calloc((size_t)n, sizeof(*server.ids));
	if (!client.ids || !server.ids)
		fail("no memory");
	begin = now();
	for (int i = 0; i < n; i++)
		connect_one(i);
	connected = now();
	for (int i = 0; i < n; i++)
		disconnect_one(i);
	end = now();
	free(client.ids);
	free(server.ids);
	if (!prints)
		return;
	printf("%s\n  { \"op\": \"%d\", ", first ? "" : ",", n);
	print_part("connect", begin, connected, n);
	printf(", ");
	print_part("disconnect", connected, end, n);
	printf(" }");
	fflush(stdout);
}

int main(int argc, char **argv)
{
	if (argc < 4)
		fail("usage: bench-cm ADDRESS[@NETNS] PEER[@NETNS] NUMBER...");
	name_side(&client, argv[1]);
	name_side(&server, argv[2]);
	listener = create_id(&server);
	server.address.sin_port = htons(PORT);
	check(rdma_bind_addr(listener, (struct sockaddr *)&server.address),
	      "rdma_bind_addr");
	check(rdma_listen(listener, 16), "rdma_listen");
	printf("{ \"size\": 0, \"unit\": \"ns\", \"results\": [");
	/* The first connections of a process cost more. */
	measure(10, false, false);
	for (int i = 3; i < argc; i++) {
		int n = atoi(argv[i]);

		if (n < 1)
			fail("a number of connections is wrong");
		measure(n, true, i == 3);
	}
	printf(" ] }\n");
	return 0;
}
