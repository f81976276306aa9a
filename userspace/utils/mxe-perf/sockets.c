// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Measures sockets of the kernel on the same path: round trips of UDP
 * datagrams, and messages through a TCP stream.  Both endpoints are in this
 * thread.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "clock.h"
#include "options.h"
#include "result.h"
#include "sockets.h"
#include "stats.h"
#include "status.h"

static int failed(const char *what)
{
	fprintf(stderr, "mxe-perf: %s: %s\n", what, strerror(errno));
	return -1;
}

/*
 * Returns a bound socket or -1.  `where` is an IPv4 address, optionally
 * followed by "@" and the name of a network namespace.
 */
static int open_socket(const char *where, int type, struct sockaddr_in *addr,
		       unsigned int timeout)
{
	struct timeval patience = { .tv_sec = timeout };
	socklen_t len = sizeof(*addr);
	int own = -1, ns = -1, fd = -1;
	char text[64], path[128];
	const char *name;

	if (!where)
		where = "127.0.0.1";
	name = strchr(where, '@');
	snprintf(text, sizeof(text), "%.*s",
		 (int)(name ? (size_t)(name - where) : strlen(where)), where);
	*addr = (struct sockaddr_in){ .sin_family = AF_INET };
	if (inet_pton(AF_INET, text, &addr->sin_addr) != 1) {
		fprintf(stderr, "mxe-perf: '%s' is not an IPv4 address\n", text);
		return -1;
	}
	if (name) {
		snprintf(path, sizeof(path), "/run/netns/%s", name + 1);
		own = open("/proc/self/ns/net", O_RDONLY);
		ns = open(path, O_RDONLY);
		if (own < 0 || ns < 0 || setns(ns, CLONE_NEWNET)) {
			failed(path);
			goto out;
		}
	}
	fd = socket(AF_INET, type, 0);
	if (name && setns(own, CLONE_NEWNET))
		failed("cannot return to the original network namespace");
	if (fd < 0 || bind(fd, (struct sockaddr *)addr, sizeof(*addr)) ||
	    getsockname(fd, (struct sockaddr *)addr, &len) ||
	    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience,
		       sizeof(patience))) {
		failed(where);
		if (fd >= 0)
			close(fd);
		fd = -1;
	}
out:
	if (ns >= 0)
		close(ns);
	if (own >= 0)
		close(own);
	return fd;
}

static int echo(int a, int b, uint8_t *buf, size_t size, uint64_t number)
{
	size_t stamp = size < sizeof(number) ? size : sizeof(number);
	ssize_t len = (ssize_t)size;

	memcpy(buf, &number, stamp);
	if (send(a, buf, size, 0) != len || recv(b, buf, size, 0) != len ||
	    send(b, buf, size, 0) != len || recv(a, buf, size, 0) != len)
		return failed("UDP datagram");
	if (memcmp(buf, &number, stamp)) {
		fputs("mxe-perf: the received datagram differs from the sent one\n",
		      stderr);
		return -1;
	}
	return 0;
}

/*
 * Sends one message through the stream and receives it.  Neither call may
 * block, because the socket buffers may be smaller than the message.  The
 * time limit begins when the stream stalls for the first time.
 */
static int stream(const struct perf_options *o, int a, int b, uint8_t *buf,
		  uint64_t number)
{
	size_t size = o->size, sent = 0, came = 0, stamp = size < 8 ? size : 8;
	uint64_t patience = 0;

	memcpy(buf, &number, stamp);
	while (came < size) {
		ssize_t out = 0, in;

		if (sent < size)
			out = send(a, buf + sent, size - sent, MSG_DONTWAIT);
		if (out > 0)
			sent += (size_t)out;
		/* Behind the message, which must not be overwritten. */
		in = recv(b, buf + size + came, size - came, MSG_DONTWAIT);
		if (in > 0)
			came += (size_t)in;
		if (in > 0 || out > 0)
			continue;
		if (!in || errno != EAGAIN)
			return failed("TCP stream");
		sched_yield();
		if (!patience) {
			patience = perf_ns() + o->timeout * 1000000000ull;
		} else if (perf_ns() > patience) {
			errno = ETIMEDOUT;
			return failed("TCP stream");
		}
	}
	if (memcmp(buf, buf + size, size)) {
		fputs("mxe-perf: the received message differs from the sent one\n",
		      stderr);
		return -1;
	}
	return 0;
}

/* Connects a and b.  For a stream, *b is replaced by the accepted socket. */
static int join(int a, int *b, int type, const struct sockaddr_in *addr_a,
		const struct sockaddr_in *addr_b)
{
	int yes = 1, fd;

	if (type == SOCK_STREAM && listen(*b, 1))
		return failed("listen");
	if (connect(a, (const struct sockaddr *)addr_b, sizeof(*addr_b)))
		return failed("connect");
	if (type == SOCK_DGRAM)
		return connect(*b, (const struct sockaddr *)addr_a,
			       sizeof(*addr_a)) ? failed("connect") : 0;
	fd = accept(*b, NULL, NULL);
	if (fd < 0)
		return failed("accept");
	close(*b);
	*b = fd;
	if (setsockopt(a, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes)))
		return failed("TCP_NODELAY");
	return 0;
}

static int one(const struct perf_options *o, int a, int b, uint8_t *buf,
	       uint64_t number)
{
	if (o->test == PERF_TCP)
		return stream(o, a, b, buf, number);
	return echo(a, b, buf, o->size, number);
}

static int measure(const struct perf_options *o, int a, int b, uint8_t *buf,
		   struct perf_result *result)
{
	uint64_t start;

	for (uint64_t i = 0; i < o->warmup; i++)
		if (one(o, a, b, buf, i))
			return STATUS_FAILED;
	start = perf_now(o->tsc);
	for (uint64_t i = 0; i < o->iterations; i++) {
		uint64_t began = perf_now(o->tsc);

		if (one(o, a, b, buf, i))
			return STATUS_FAILED;
		result->samples[i] = perf_now(o->tsc) - began;
	}
	result->total = perf_now(o->tsc) - start;
	perf_summarize(result->samples, o->iterations, &result->stats);
	return 0;
}

/**
 * perf_run_sockets() - Run the test udp or tcp.
 * @o: options
 * @result: result; the caller frees its samples
 *
 * Prints a message to stderr if it fails.
 *
 * Return: 0 or an exit status.
 */
int perf_run_sockets(const struct perf_options *o, struct perf_result *result)
{
	int type = o->test == PERF_TCP ? SOCK_STREAM : SOCK_DGRAM;
	struct sockaddr_in addr_a, addr_b;
	int a = open_socket(o->device, type, &addr_a, o->timeout);
	int b = open_socket(o->remote, type, &addr_b, o->timeout);
	int status = a < 0 || b < 0 ? STATUS_NO_DEVICE : STATUS_FAILED;
	uint8_t *buf = calloc(2, o->size);

	result->op = perf_test_name[o->test];
	result->how = PERF_NATIVE;
	result->operations = o->iterations;
	result->posts = o->iterations;
	result->samples = calloc(o->iterations, sizeof(uint64_t));
	if (a < 0 || b < 0 || !buf || !result->samples)
		goto out;
	/* Avoids page faults during the measurement. */
	memset(buf, 1, 2 * (size_t)o->size);
	memset(result->samples, 0xff, o->iterations * sizeof(uint64_t));
	if (!join(a, &b, type, &addr_a, &addr_b))
		status = measure(o, a, b, buf, result);
out:
	free(buf);
	if (a >= 0)
		close(a);
	if (b >= 0)
		close(b);
	return status;
}
