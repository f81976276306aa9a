// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Proves that RDS sockets work, which net/rds carries over RDMA:
 *
 *	t_rds serve ADDRESS		answer until the test ends
 *	t_rds test ADDRESS SERVER	test messages, RDMA and atomics, in TAP
 *	t_rds load ADDRESS SERVER FILE	exchange messages until the file exists
 *
 * net/rds posts every atomic as a masked one, and registers the memory of its
 * sockets without the right to atomics. All atomics must therefore fail with a
 * remote access error.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <linux/rds.h>
#include "tap.h"

#ifndef AF_RDS
#define AF_RDS 21
#endif

#define PORT_SERVER 4000
#define PORT_TEST 4001
#define MAX_MESSAGE 200000
#define SHARED_SIZE 65536
#define MS 30000

/* Requests in a message. All except ECHO are answered with a struct answer. */
enum { ECHO, SHARE, LOOK, FILL, END };

struct question {
	uint32_t what;
	uint32_t arg;		/* LOOK, FILL: a seed; SHARE: milliseconds */
};

struct answer {
	uint64_t wrong;		/* LOOK: number of wrong bytes */
	uint64_t cookie;	/* SHARE: server's memory, see ask() */
};

static uint8_t message[MAX_MESSAGE], other[MAX_MESSAGE];
static uint8_t shared[SHARED_SIZE] __attribute__((aligned(4096)));
static uint64_t result __attribute__((aligned(8)));

static void bail(const char *what)
{
	printf("Bail out!  %s: %s\n", what, strerror(errno));
	exit(1);
}

static struct sockaddr_in address(const char *ip, int port)
{
	struct sockaddr_in sin = {
		.sin_family = AF_INET, .sin_port = htons(port),
	};

	if (inet_pton(AF_INET, ip, &sin.sin_addr) != 1)
		bail(ip);
	return sin;
}

static int open_socket(const char *ip, int port)
{
	int fd = socket(AF_RDS, SOCK_SEQPACKET, 0), size = 4 * MAX_MESSAGE;
	struct sockaddr_in sin = address(ip, port);

	if (fd < 0)
		bail("socket");
	setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
	setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
	if (bind(fd, (struct sockaddr *)&sin, sizeof(sin)))
		bail("bind");
	return fd;
}

static void fill(uint8_t *buf, size_t len, uint32_t seed)
{
	for (size_t i = 0; i < len; i++)
		buf[i] = (uint8_t)((i * 2654435761u + seed * 40503u) >> 13);
}

static uint64_t count_wrong(const uint8_t *buf, size_t len, uint32_t seed)
{
	uint64_t wrong = 0;

	fill(other, len, seed);
	for (size_t i = 0; i < len; i++)
		wrong += buf[i] != other[i];
	return wrong;
}

/* ---- the server -------------------------------------------------------- */

/*
 * Sends an answer that shares the server's memory. With fast registration,
 * net/rds can register memory only for the connection of a message (RDS_GET_MR
 * does not work).
 */
static uint64_t cookie_shared;

static ssize_t send_shared(int fd, struct sockaddr_in *to, struct iovec *iov)
{
	const struct rds_get_mr_args args = {
		.vec = { (uintptr_t)shared, sizeof(shared) },
		.cookie_addr = (uintptr_t)&cookie_shared,
		.flags = RDS_RDMA_READWRITE,
	};
	char control[CMSG_SPACE(sizeof(args))] = { 0 };
	struct msghdr msg = {
		.msg_name = to, .msg_namelen = sizeof(*to),
		.msg_iov = iov, .msg_iovlen = 1,
		.msg_control = control, .msg_controllen = sizeof(control),
	};
	struct cmsghdr *cmsg = CMSG_FIRSTHDR(&msg);

	cmsg->cmsg_level = SOL_RDS;
	cmsg->cmsg_type = RDS_CMSG_RDMA_MAP;
	cmsg->cmsg_len = CMSG_LEN(sizeof(args));
	memcpy(CMSG_DATA(cmsg), &args, sizeof(args));
	return sendmsg(fd, &msg, 0);
}

/*
 * Deregisters the memory. net/rds does not reconnect a failed connection while
 * memory is registered with it, and does not notify the process, so the server
 * must not wait forever before this call.
 */
static void take_back(int fd)
{
	struct rds_free_mr_args args = {
		.cookie = cookie_shared, .flags = RDS_RDMA_INVALIDATE,
	};

	if (cookie_shared &&
	    setsockopt(fd, SOL_RDS, RDS_FREE_MR, &args, sizeof(args)))
		bail("RDS_FREE_MR");
	cookie_shared = 0;
}

static int serve(const char *ip)
{
	int fd = open_socket(ip, PORT_SERVER);
	struct sockaddr_in from;
	struct pollfd pfd = { .fd = fd, .events = POLLIN };
	struct question q = { 0, 0 };
	int patience = 0;

	printf("bound\n");
	fflush(stdout);
	while (q.what != END) {
		socklen_t fromlen = sizeof(from);
		struct answer a = { 0, 0 };
		struct iovec iov;
		ssize_t n, sent;

		if (cookie_shared && !poll(&pfd, 1, patience))
			take_back(fd);
		n = recvfrom(fd, message, sizeof(message), 0,
			     (struct sockaddr *)&from, &fromlen);
		/* An empty message announces RDMA. */
		if (!n)
			continue;
		if (n < (ssize_t)sizeof(q))
			bail("recvfrom");
		memcpy(&q, message, sizeof(q));
		if (q.what != ECHO)
			take_back(fd);
		if (q.what == SHARE)
			patience = (int)q.arg;
		if (q.what == LOOK)
			a.wrong = count_wrong(shared, sizeof(shared), q.arg);
		else if (q.what == FILL)
			fill(shared, sizeof(shared), q.arg);
		if (q.what != ECHO) {
			memcpy(message, &a, sizeof(a));
			n = sizeof(a);
		}
		iov = (struct iovec){ message, (size_t)n };
		if (q.what == SHARE)
			sent = send_shared(fd, &from, &iov);
		else
			sent = sendto(fd, message, (size_t)n, 0,
				      (struct sockaddr *)&from, fromlen);
		if (sent != n)
			bail("answer");
	}
	/* Wait until the peer confirms the last answer or has ended. */
	poll(&pfd, 1, MS);
	return 0;
}

/* ---- the test ---------------------------------------------------------- */

struct test {
	int fd;
	struct sockaddr_in peer;
};

/*
 * Sends a message and receives the answer into the same buffer. Returns the
 * length of the answer or -1. Sets *cookie if the answer shares memory.
 */
static ssize_t ask(struct test *t, void *buf, size_t len, size_t max,
		   uint64_t *cookie)
{
	char control[CMSG_SPACE(sizeof(*cookie))];
	struct pollfd pfd = { .fd = t->fd, .events = POLLIN };
	struct iovec iov = { buf, max };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = control, .msg_controllen = sizeof(control),
	};
	struct cmsghdr *cmsg;
	ssize_t n;

	if (sendto(t->fd, buf, len, 0, (struct sockaddr *)&t->peer,
		   sizeof(t->peer)) != (ssize_t)len)
		return -1;
	if (poll(&pfd, 1, MS) != 1) {
		errno = ETIMEDOUT;
		return -1;
	}
	n = recvmsg(t->fd, &msg, 0);
	cmsg = n < 0 ? NULL : CMSG_FIRSTHDR(&msg);
	if (cmsg && cmsg->cmsg_type == RDS_CMSG_RDMA_DEST)
		memcpy(cookie, CMSG_DATA(cmsg), sizeof(*cookie));
	return n;
}

static struct answer ask_for(struct test *t, uint32_t what, uint32_t arg)
{
	union {
		struct question q;
		struct answer a;
	} u = { .q = { what, arg } };
	uint64_t cookie = 0;

	if (ask(t, &u, sizeof(u.q), sizeof(u.a), &cookie) != sizeof(u.a))
		bail("no answer");
	u.a.cookie = cookie;
	return u.a;
}

static bool echoes(struct test *t, size_t len, uint32_t seed)
{
	struct question q = { ECHO, seed };
	uint64_t cookie;

	fill(message, len, seed);
	memcpy(message, &q, sizeof(q));
	if (ask(t, message, len, sizeof(message), &cookie) != (ssize_t)len)
		return false;
	return !memcmp(message, &q, sizeof(q)) &&
	       count_wrong(message, len, seed) <= sizeof(q);
}

/*
 * Sends a request as a control message. Returns its RDS_RDMA_* status, or -1 if
 * none arrives.
 */
static int request(struct test *t, int type, const void *args, size_t len)
{
	char control[CMSG_SPACE(sizeof(struct rds_atomic_args)) +
		     CMSG_SPACE(sizeof(struct rds_rdma_args))];
	struct pollfd pfd = { .fd = t->fd, .events = POLLIN };
	struct rds_rdma_notify status;
	struct cmsghdr *cmsg;
	struct msghdr msg = {
		.msg_name = &t->peer, .msg_namelen = sizeof(t->peer),
		.msg_control = control, .msg_controllen = CMSG_SPACE(len),
	};

	memset(control, 0, sizeof(control));
	cmsg = CMSG_FIRSTHDR(&msg);
	cmsg->cmsg_level = SOL_RDS;
	cmsg->cmsg_type = type;
	cmsg->cmsg_len = CMSG_LEN(len);
	memcpy(CMSG_DATA(cmsg), args, len);
	if (sendmsg(t->fd, &msg, 0) < 0) {
		diag("sendmsg: %s", strerror(errno));
		return -1;
	}
	if (poll(&pfd, 1, MS) != 1)
		return -1;
	msg.msg_controllen = sizeof(control);
	if (recvmsg(t->fd, &msg, 0) < 0) {
		diag("recvmsg: %s", strerror(errno));
		return -1;
	}
	cmsg = CMSG_FIRSTHDR(&msg);
	if (!cmsg || cmsg->cmsg_type != RDS_CMSG_RDMA_STATUS)
		return -1;
	memcpy(&status, CMSG_DATA(cmsg), sizeof(status));
	return status.status;
}

static int rdma(struct test *t, uint64_t flags)
{
	struct rds_iovec local = { (uintptr_t)shared, sizeof(shared) };
	struct rds_rdma_args args = {
		.cookie = ask_for(t, SHARE, MS).cookie,
		.remote_vec = { 0, sizeof(shared) },
		.local_vec_addr = (uintptr_t)&local, .nr_local = 1,
		.flags = flags | RDS_RDMA_NOTIFY_ME,
	};

	return request(t, RDS_CMSG_RDMA_ARGS, &args, sizeof(args));
}

static void test_rdma(struct test *t)
{
	fill(shared, sizeof(shared), 7);
	is_int(rdma(t, RDS_RDMA_READWRITE), RDS_RDMA_SUCCESS, "RDMA WRITE");
	is_u64(ask_for(t, LOOK, 7).wrong, 0, "... of 64 KiB has arrived");
	ask_for(t, FILL, 8);
	is_int(rdma(t, 0), RDS_RDMA_SUCCESS, "RDMA READ");
	is_u64(count_wrong(shared, sizeof(shared), 8), 0, "... of 64 KiB");
}

/* Cancels a failed request, which stays queued and would be sent again. */
static void cancel(struct test *t)
{
	if (setsockopt(t->fd, SOL_RDS, RDS_CANCEL_SENT_TO, &t->peer,
		       sizeof(t->peer)))
		bail("RDS_CANCEL_SENT_TO");
}

static void test_atomic(struct test *t, int type, const char *name)
{
	struct rds_atomic_args args = {
		.local_addr = (uintptr_t)&result, .remote_addr = 64,
		.flags = RDS_RDMA_NOTIFY_ME,
	};

	switch (type) {
	case RDS_CMSG_ATOMIC_FADD:
		args.fadd.add = 1;
		break;
	case RDS_CMSG_ATOMIC_CSWP:
		args.cswp.swap = 1;
		break;
	case RDS_CMSG_MASKED_ATOMIC_FADD:
		args.m_fadd.add = 0x100000001;
		args.m_fadd.nocarry_mask = 0x8000000080000000;
		break;
	default:
		args.m_cswp.swap = 1;
		args.m_cswp.swap_mask = 0xff;
	}
	ask_for(t, FILL, 9);
	args.cookie = ask_for(t, SHARE, 1500).cookie;
	/*
	 * The answer holds the memory until it is acknowledged, which net/rds
	 * does with the next message.
	 */
	ok(echoes(t, 100, 11), "%s: a message before it", name);
	is_int(request(t, type, &args, sizeof(args)), RDS_RDMA_REMOTE_ERROR,
	       "%s: a remote access error", name);
	cancel(t);
	ok(echoes(t, 1000, 10), "... and the sockets are connected again");
	is_u64(ask_for(t, LOOK, 9).wrong, 0, "... and nothing is changed");
}

/* Ends the server and confirms its last answer. */
static void end(struct test *t)
{
	ask_for(t, END, 0);
	sendto(t->fd, "", 1, 0, (struct sockaddr *)&t->peer, sizeof(t->peer));
	sleep(1);
}

static int test(const char *ip, const char *peer)
{
	static const size_t sizes[] = { 8, 100, 4096, 4097, 60000, MAX_MESSAGE };
	struct test t = { open_socket(ip, PORT_TEST),
			  address(peer, PORT_SERVER) };
	plan(0);
	for (size_t i = 0; i < 6; i++)
		ok(echoes(&t, sizes[i], (uint32_t)i), "message of %zu bytes",
		   sizes[i]);
	test_rdma(&t);
	test_atomic(&t, RDS_CMSG_ATOMIC_FADD, "fetch-and-add");
	test_atomic(&t, RDS_CMSG_ATOMIC_CSWP, "compare-and-swap");
	test_atomic(&t, RDS_CMSG_MASKED_ATOMIC_FADD, "masked fetch-and-add");
	test_atomic(&t, RDS_CMSG_MASKED_ATOMIC_CSWP, "masked compare-and-swap");
	end(&t);
	return done_testing();
}

static int load(const char *ip, const char *peer, const char *stop)
{
	struct test t = { open_socket(ip, PORT_TEST),
			  address(peer, PORT_SERVER) };
	uint32_t count = 0;

	while (access(stop, F_OK)) {
		if (!echoes(&t, sizeof(shared), ++count)) {
			printf("message %u: %s\n", count, strerror(errno));
			return 1;
		}
	}
	end(&t);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "serve"))
		return serve(argv[2]);
	if (argc == 4 && !strcmp(argv[1], "test"))
		return test(argv[2], argv[3]);
	if (argc == 5 && !strcmp(argv[1], "load"))
		return load(argv[2], argv[3], argv[4]);
	fprintf(stderr, "see the top of t_rds.c\n");
	return 2;
}
