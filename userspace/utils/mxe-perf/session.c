// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Implements the TCP connection between the processes of requester (client) and
 * responder (server), which exchange lines of text.
 *
 *	client				server
 *	mxe-perf 1 QPS DEPTH SIZE MTU
 *	GID MTU RD_ATOMIC RKEY ADDR QPN...
 *					GID MTU RD_ATOMIC RKEY ADDR QPN...
 *	begin OP
 *					ok 0
 *	end MESSAGES
 *					ok WRONG
 *
 * The last four lines are repeated for each operation.  The server may answer
 * "error" and a reason instead.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "clock.h"
#include "endpoint.h"
#include "options.h"
#include "session.h"
#include "status.h"

#define LINE 2048

struct session {
	FILE *in;
	FILE *out;
	char line[LINE];
};

static struct session *session_new(int fd)
{
	struct session *s = calloc(1, sizeof(*s));
	int copy = dup(fd);

	if (s) {
		s->in = fdopen(fd, "r");
		s->out = copy < 0 ? NULL : fdopen(copy, "w");
	}
	if (s && s->in && s->out)
		return s;
	fprintf(stderr, "mxe-perf: %s\n", strerror(errno));
	close(fd);
	free(s);
	return NULL;
}

/**
 * session_close() - Close the connection.
 * @s: of session_connect(), or NULL
 */
void session_close(struct session *s)
{
	if (!s)
		return;
	fclose(s->in);
	fclose(s->out);
	free(s);
}

static int read_line(struct session *s)
{
	if (!fgets(s->line, LINE, s->in)) {
		fputs("mxe-perf: the other host has closed the connection\n", stderr);
		return STATUS_FAILED;
	}
	if (!strncmp(s->line, "error ", 6)) {
		fprintf(stderr, "mxe-perf: error on the other host: %s",
			s->line + 6);
		return STATUS_FAILED;
	}
	return 0;
}

static int nonsense(const struct session *s)
{
	fprintf(stderr, "mxe-perf: unexpected message from the other host: %s\n",
		s->line);
	return STATUS_FAILED;
}

static void write_address(struct session *s, const struct perf_address *a,
			  uint32_t qps)
{
	for (int i = 0; i < 16; i++)
		fprintf(s->out, "%02x", a->gid.raw[i]);
	fprintf(s->out, " %u %u %u %llu", a->mtu, a->rd_atomic, a->rkey,
		(unsigned long long)a->addr);
	for (uint32_t i = 0; i < qps; i++)
		fprintf(s->out, " %u", a->qpn[i]);
	fputc('\n', s->out);
	fflush(s->out);
}

static int read_address(struct session *s, struct perf_address *a, uint32_t qps)
{
	unsigned long long addr;
	int at, used;

	memset(a, 0, sizeof(*a));
	if (read_line(s))
		return STATUS_FAILED;
	for (int i = 0; i < 16; i++)
		if (sscanf(s->line + 2 * i, "%2hhx", &a->gid.raw[i]) != 1)
			return nonsense(s);
	if (sscanf(s->line + 32, " %u %u %u %llu%n", &a->mtu, &a->rd_atomic,
		   &a->rkey, &addr, &used) != 4)
		return nonsense(s);
	a->addr = addr;
	at = 32 + used;
	for (uint32_t i = 0; i < qps; i++, at += used)
		if (sscanf(s->line + at, " %u%n", &a->qpn[i], &used) != 1)
			return nonsense(s);
	return 0;
}

/* ---- client -------------------------------------------------------------- */

static int dial(const struct perf_options *o)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *list, *a;
	char port[8];
	int fd = -1, err;

	snprintf(port, sizeof(port), "%u", o->port);
	err = getaddrinfo(o->host, port, &hints, &list);
	if (err) {
		fprintf(stderr, "mxe-perf: %s: %s\n", o->host,
			gai_strerror(err));
		return -1;
	}
	for (a = list; a; a = a->ai_next) {
		fd = socket(a->ai_family, a->ai_socktype, a->ai_protocol);
		if (fd >= 0 && !connect(fd, a->ai_addr, a->ai_addrlen))
			break;
		err = errno;
		if (fd >= 0)
			close(fd);
		fd = -1;
	}
	freeaddrinfo(list);
	if (fd < 0)
		fprintf(stderr, "mxe-perf: %s, port %u: %s\n", o->host, o->port,
			strerror(err));
	return fd;
}

/**
 * session_connect() - Connect to the server and exchange addresses.
 * @o: options, with the host
 * @own: address of this endpoint
 * @peer: result: address of the server's endpoint
 *
 * Return: the session, or NULL.
 */
struct session *session_connect(const struct perf_options *o,
				const struct perf_address *own,
				struct perf_address *peer)
{
	int fd = dial(o);
	struct session *s = fd < 0 ? NULL : session_new(fd);

	if (!s)
		return NULL;
	fprintf(s->out, "mxe-perf 1 %u %u %u %u\n", o->qps, o->depth, o->size,
		o->mtu);
	write_address(s, own, o->qps);
	if (!read_address(s, peer, o->qps))
		return s;
	session_close(s);
	return NULL;
}

static int ask(struct session *s, uint64_t *answer)
{
	unsigned long long value;

	fflush(s->out);
	if (read_line(s))
		return STATUS_FAILED;
	if (sscanf(s->line, "ok %llu", &value) != 1)
		return nonsense(s);
	*answer = value;
	return 0;
}

/**
 * session_begin() - Have the responder prepare for an operation.
 * @s: of session_connect()
 * @op: operation
 *
 * Return: 0 or STATUS_FAILED.
 */
int session_begin(struct session *s, enum perf_op op)
{
	uint64_t unused;

	fprintf(s->out, "begin %s\n", perf_op_name[op]);
	return ask(s, &unused);
}

/**
 * session_end() - Have the responder finish an operation.
 * @s: of session_connect()
 * @messages: number of messages that were sent; the responder waits for them
 * @wrong: result: number of messages with wrong contents
 *
 * Return: 0 or STATUS_FAILED.
 */
int session_end(struct session *s, uint64_t messages, uint64_t *wrong)
{
	fprintf(s->out, "end %llu\n", (unsigned long long)messages);
	return ask(s, wrong);
}

/* ---- server -------------------------------------------------------------- */

static int listen_on(uint16_t port)
{
	struct sockaddr_in6 any = {
		.sin6_family = AF_INET6,
		.sin6_port = htons(port),
	};
	int fd = socket(AF_INET6, SOCK_STREAM, 0), peer = -1, yes = 1;

	if (fd >= 0)
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
	if (fd >= 0 && !bind(fd, (struct sockaddr *)&any, sizeof(any)) &&
	    !listen(fd, 1))
		peer = accept(fd, NULL, NULL);
	if (peer < 0)
		fprintf(stderr, "mxe-perf: port %u: %s\n", port,
			strerror(errno));
	if (fd >= 0)
		close(fd);
	return peer;
}

static uint64_t num_received(const struct perf_endpoint *ep)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < ep->num_qps; i++)
		n += ep->received[i];
	return n;
}

/* Receives messages until the client sends a line. */
static int receive_until_told(struct session *s, struct perf_endpoint *ep)
{
	struct pollfd fd = { .fd = fileno(s->in), .events = POLLIN };

	for (;;) {
		for (int i = 0; i < 64; i++)
			if (perf_endpoint_receive(ep))
				return STATUS_FAILED;
		if (poll(&fd, 1, 0))
			return 0;
		sched_yield();
	}
}

static int receive_rest(struct perf_endpoint *ep, uint64_t messages,
			const struct perf_options *o)
{
	uint64_t patience = perf_ns() + o->timeout * 1000000000ull;

	while (num_received(ep) < messages && perf_ns() < patience)
		if (perf_endpoint_receive(ep))
			return STATUS_FAILED;
	return num_received(ep) == messages ? 0 : STATUS_FAILED;
}

static int serve(struct session *s, struct perf_endpoint *ep,
		 const struct perf_options *o)
{
	unsigned long long messages;
	char op[16];

	while (fgets(s->line, LINE, s->in)) {
		if (sscanf(s->line, "begin %15s", op) == 1) {
			memset(ep->received, 0, sizeof(ep->received));
			ep->wrong = 0;
			if (!strcmp(op, perf_op_name[PERF_READ]))
				perf_endpoint_fill(ep);
			fputs("ok 0\n", s->out);
			fflush(s->out);
			if (!strcmp(op, perf_op_name[PERF_SEND]) &&
			    receive_until_told(s, ep))
				return STATUS_FAILED;
		} else if (sscanf(s->line, "end %llu", &messages) == 1) {
			if (receive_rest(ep, messages, o)) {
				fprintf(s->out,
					"error received %llu of %llu messages\n",
					(unsigned long long)num_received(ep),
					messages);
				return STATUS_FAILED;
			}
			fprintf(s->out, "ok %llu\n",
				(unsigned long long)ep->wrong);
			fflush(s->out);
		} else {
			return nonsense(s);
		}
	}
	return 0;
}

static int open_for(struct session *s, struct perf_options *o,
		    struct perf_endpoint *ep)
{
	struct perf_address own, peer;
	int status;

	if (read_line(s))
		return STATUS_FAILED;
	if (sscanf(s->line, "mxe-perf 1 %u %u %u %u", &o->qps, &o->depth,
		   &o->size, &o->mtu) != 4 ||
	    !o->qps || o->qps > PERF_MAX_QPS || !o->depth ||
	    o->depth > PERF_MAX_DEPTH || !o->size || o->size > PERF_MAX_SIZE) {
		fputs("error not the protocol of mxe-perf, version 1\n", s->out);
		return nonsense(s);
	}
	if (read_address(s, &peer, o->qps))
		return STATUS_FAILED;
	ep->two_sided = true;
	status = perf_endpoint_open(ep, o->device, o->gid, o);
	if (!status)
		status = perf_endpoint_connect(ep, &peer, o);
	if (status) {
		fputs("error the device cannot be used\n", s->out);
		return status;
	}
	perf_endpoint_address(ep, &own);
	write_address(s, &own, o->qps);
	return 0;
}

/**
 * session_serve() - Be the responder for one client.
 * @o: options of this side; the client's replace some of them
 *
 * Return: the exit status.
 */
int session_serve(const struct perf_options *o)
{
	struct perf_options theirs = *o;
	struct perf_endpoint ep = { };
	struct session *s;
	int fd = listen_on(o->port), status;

	if (fd < 0)
		return STATUS_FAILED;
	s = session_new(fd);
	if (!s)
		return STATUS_FAILED;
	status = open_for(s, &theirs, &ep);
	if (!status)
		status = serve(s, &ep, &theirs);
	perf_endpoint_close(&ep);
	session_close(s);
	return status;
}
