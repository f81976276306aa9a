// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Moves data through SMC sockets, which net/smc carries over RDMA:
 *
 *	t_smc setup EID			add an EID, which SMC-R v2 needs
 *	t_smc serve ADDRESS		return what each connection sends
 *	t_smc echo ADDRESS MIB		send data and compare what comes back
 *	t_smc load ADDRESS		do that until the connection fails
 *
 * If the peers cannot use RDMA, the sockets become TCP. t_smc.sh detects this
 * from the counters of the device.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <linux/smc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include "nl.h"
#include "random.h"

#define PORT 4100
#define CHUNK 65536
#define MIB (1024 * 1024)

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static struct sockaddr_in address(const char *ip)
{
	struct sockaddr_in sin = {
		.sin_family = AF_INET, .sin_port = htons(PORT),
	};

	if (inet_pton(AF_INET, ip, &sin.sin_addr) != 1)
		fail(ip);
	return sin;
}

static int smc_socket(void)
{
	int fd = socket(AF_SMC, SOCK_STREAM, 0);

	if (fd < 0)
		fail("socket");
	return fd;
}

static int write_all(int fd, const void *buf, size_t len)
{
	const char *p = buf;

	while (len) {
		ssize_t n = send(fd, p, len, MSG_NOSIGNAL);

		if (n <= 0)
			return -1;
		p += n;
		len -= (size_t)n;
	}
	return 0;
}

/* ---- setup ------------------------------------------------------------- */

static struct nl_request genl_request(uint16_t family, uint8_t cmd)
{
	struct genlmsghdr head = { .cmd = cmd, .version = 1 };
	struct nl_request r = nl_request(0, NLM_F_ACK);

	r.nlh.nlmsg_type = family;
	memcpy(r.attrs, &head, GENL_HDRLEN);
	r.nlh.nlmsg_len += GENL_HDRLEN;
	return r;
}

/*
 * Sends a request, and returns the first message of the answer in a. What
 * exists already is from an earlier run.
 */
static void genl_call(int fd, const struct nl_request *r, struct nl_answer *a)
{
	if (send(fd, r, r->nlh.nlmsg_len, 0) < 0 || !nl_receive(fd, a))
		fail("netlink");
	if (a->nlh.nlmsg_type != NLMSG_ERROR)
		return;
	errno = -((struct nlmsgerr *)NLMSG_DATA(&a->nlh))->error;
	if (errno && errno != EEXIST)
		fail("netlink");
}

static uint16_t genl_family(int fd, const char *name)
{
	struct nl_request r = genl_request(GENL_ID_CTRL, CTRL_CMD_GETFAMILY);
	static struct nl_answer a;
	struct nl_attrs attrs;
	const void *id;
	uint16_t family;

	nl_put_string(&r, CTRL_ATTR_FAMILY_NAME, name);
	genl_call(fd, &r, &a);
	attrs = nl_attrs(&a.nlh);
	attrs.at += GENL_HDRLEN;
	id = nl_attribute(attrs, CTRL_ATTR_FAMILY_ID);
	if (!id)
		fail(name);
	memcpy(&family, id, sizeof(family));
	nl_receive(fd, &a);	/* the acknowledgement */
	return family;
}

static void setup(const char *name)
{
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC);
	char eid[SMC_MAX_EID_LEN + 1];
	static struct nl_answer a;
	struct nl_request r;

	if (fd < 0)
		fail("socket");
	/* An EID is padded with blanks to its full size. */
	snprintf(eid, sizeof(eid), "%-*s", SMC_MAX_EID_LEN, name);
	r = genl_request(genl_family(fd, SMC_GENL_FAMILY_NAME),
			 SMC_NETLINK_ADD_UEID);
	nl_put_string(&r, SMC_NLA_EID_TABLE_ENTRY, eid);
	genl_call(fd, &r, &a);
	close(fd);
}

/* ---- sockets ----------------------------------------------------------- */

static void serve(const char *ip)
{
	struct sockaddr_in sin = address(ip);
	int listener = smc_socket(), one = 1;

	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(listener, (struct sockaddr *)&sin, sizeof(sin)) ||
	    listen(listener, 4))
		fail("listen");
	signal(SIGCHLD, SIG_IGN);
	for (;;) {
		/* SMC discards what is not sent yet when a process exits. */
		const struct linger linger = { .l_onoff = 1, .l_linger = 60 };
		static char buf[CHUNK];
		int fd = accept(listener, NULL, NULL);
		ssize_t n;

		if (fd < 0)
			fail("accept");
		if (fork()) {
			close(fd);
			continue;
		}
		close(listener);
		while ((n = recv(fd, buf, sizeof(buf), 0)) > 0)
			if (write_all(fd, buf, (size_t)n))
				break;
		setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger));
		close(fd);
		exit(0);
	}
}

static int connected(const char *ip)
{
	struct sockaddr_in sin = address(ip);
	int fd = smc_socket();

	if (connect(fd, (struct sockaddr *)&sin, sizeof(sin)))
		fail("connect");
	return fd;
}

/* Sends @chunks of data, or until sending fails. */
static void send_chunks(int fd, uint64_t chunks)
{
	static uint8_t buf[CHUNK];
	uint64_t seed = 1;

	for (; chunks; chunks--) {
		random_fill(&seed, buf, CHUNK);
		if (write_all(fd, buf, CHUNK))
			exit(1);
	}
	shutdown(fd, SHUT_WR);
	exit(0);
}

/* Returns the number of chunks that came back. Exits if one is wrong. */
static uint64_t receive_chunks(int fd)
{
	static uint8_t got[CHUNK], want[CHUNK];
	uint64_t chunks = 0, seed = 1;

	while (recv(fd, got, CHUNK, MSG_WAITALL) == CHUNK) {
		random_fill(&seed, want, CHUNK);
		if (memcmp(got, want, CHUNK)) {
			fprintf(stderr, "chunk %llu differs\n",
				(unsigned long long)chunks);
			exit(1);
		}
		chunks++;
	}
	return chunks;
}

static uint64_t exchange(const char *ip, uint64_t chunks)
{
	int fd = connected(ip);
	uint64_t got;
	pid_t sender = fork();

	if (sender < 0)
		fail("fork");
	if (!sender)
		send_chunks(fd, chunks);
	got = receive_chunks(fd);
	kill(sender, SIGKILL);
	waitpid(sender, NULL, 0);
	close(fd);
	return got;
}

int main(int argc, char **argv)
{
	const char *what = argc > 2 ? argv[1] : "";

	if (!strcmp(what, "setup")) {
		setup(argv[2]);
		return 0;
	}
	if (!strcmp(what, "serve"))
		serve(argv[2]);
	if (!strcmp(what, "echo") && argc > 3) {
		uint64_t chunks = strtoull(argv[3], NULL, 0) * MIB / CHUNK;
		uint64_t got = exchange(argv[2], chunks);

		printf("%llu of %llu chunks\n", (unsigned long long)got,
		       (unsigned long long)chunks);
		return got != chunks;
	}
	if (!strcmp(what, "load")) {
		printf("failed after %llu chunks\n",
		       (unsigned long long)exchange(argv[2], UINT64_MAX));
		return 0;
	}
	fprintf(stderr, "see the top of t_smc.c\n");
	return 2;
}
