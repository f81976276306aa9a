// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Addresses by node and service. The number of a queue pair cannot be chosen,
 * so an endpoint with a service listens on the UDP port of that number and
 * sends its address to hosts that ask for it.
 */
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "container.h"
#include "device.h"
#include "name.h"
#include "progress.h"
#include "provider.h"
#include "wire.h"

#define REPEAT_MS 100
/* Questions that an endpoint answers in one tick. */
#define BUDGET 16

struct mxefi_name {
	struct mxefi_ticker ticker;
	struct mxefi_domain *dom;
	const struct mxefi_addr *addr;
	int fd;
};

/* ---- node and service -------------------------------------------------- */

static void set_gid(uint8_t gid[16], const struct sockaddr *sa)
{
	const struct sockaddr_in6 *sin6 = (const void *)sa;
	const struct sockaddr_in *sin = (const void *)sa;

	if (sa->sa_family == AF_INET6) {
		memcpy(gid, &sin6->sin6_addr, 16);
		return;
	}
	memset(gid, 0, 10);
	memset(gid + 10, 0xff, 2);
	memcpy(gid + 12, &sin->sin_addr, 4);
}

static uint16_t port_of(const struct sockaddr *sa)
{
	const struct sockaddr_in6 *sin6 = (const void *)sa;
	const struct sockaddr_in *sin = (const void *)sa;

	return ntohs(sa->sa_family == AF_INET6 ? sin6->sin6_port :
						 sin->sin_port);
}

/**
 * mxefi_name_parse() - Make an address of a node and a service.
 * @node: name or address of a host, or NULL for this host
 * @service: name or number of a UDP port, or NULL
 * @flags: FI_NUMERICHOST: @node is an address
 * @addr: address with GID and port, but without an endpoint
 *
 * Return: 0, or -FI_ENODATA if there is no such name.
 */
int mxefi_name_parse(const char *node, const char *service, uint64_t flags,
		     struct mxefi_addr *addr)
{
	struct addrinfo hints = {
		.ai_socktype = SOCK_DGRAM,
		.ai_flags = flags & FI_NUMERICHOST ? AI_NUMERICHOST : 0,
	};
	struct addrinfo *list, *a;
	int ret = -FI_ENODATA;

	if (getaddrinfo(node, service, &hints, &list))
		return -FI_ENODATA;
	memset(addr, 0, sizeof(*addr));
	for (a = list; a && ret; a = a->ai_next) {
		if (a->ai_family != AF_INET && a->ai_family != AF_INET6)
			continue;
		set_gid(addr->gid, a->ai_addr);
		addr->port = port_of(a->ai_addr);
		ret = 0;
	}
	freeaddrinfo(list);
	return ret;
}

/**
 * mxefi_name_service() - Get the service of an address that a program gives.
 * @addr: address, or NULL
 * @len: its length in bytes
 *
 * Return: the UDP port, or 0 if the address has none.
 */
uint32_t mxefi_name_service(const void *addr, size_t len)
{
	struct mxefi_addr a;

	if (!addr || len != sizeof(a))
		return 0;
	memcpy(&a, addr, sizeof(a));
	return a.id ? 0 : a.port;
}

/**
 * mxefi_name_is_endpoint() - Check the address of an endpoint.
 * @addr: address of unknown origin
 *
 * Return: true if it is well-formed, and not a name that needs an answer.
 */
bool mxefi_name_is_endpoint(const struct mxefi_addr *addr)
{
	uint32_t dctn = addr->dct & MXEFI_DCT_NUMBER;
	uint32_t mtu = (addr->dct & MXEFI_DCT_MTU) >> MXEFI_DCT_MTU_SHIFT;
	uint32_t rest = addr->dct & ~(MXEFI_DCT_NUMBER | MXEFI_DCT_MTU |
				      MXEFI_DCT_EVENTS);

	return addr->id && addr->qpn && addr->qpn <= 0xffffff && !rest &&
	       ((!dctn && !mtu) ||
		(dctn && mtu >= IBV_MTU_256 && mtu <= IBV_MTU_4096));
}

/**
 * mxefi_name_is_loopback() - Check whether an address is of this host only.
 * @addr: address
 *
 * Return: true if it is.
 */
bool mxefi_name_is_loopback(const struct mxefi_addr *addr)
{
	struct in6_addr gid;

	memcpy(&gid, addr->gid, sizeof(gid));
	return IN6_IS_ADDR_LOOPBACK(&gid) ||
	       (IN6_IS_ADDR_V4MAPPED(&gid) && addr->gid[12] == 127);
}

/* ---- asking ------------------------------------------------------------ */

static socklen_t to_sockaddr(const struct mxefi_addr *addr,
			     struct sockaddr_storage *ss)
{
	struct sockaddr_in6 *sin6 = (struct sockaddr_in6 *)ss;
	struct sockaddr_in *sin = (struct sockaddr_in *)ss;

	memset(ss, 0, sizeof(*ss));
	if (mxefi_device_gid_is_v4(addr->gid)) {
		sin->sin_family = AF_INET;
		sin->sin_port = htons((uint16_t)addr->port);
		memcpy(&sin->sin_addr, addr->gid + 12, 4);
		return sizeof(*sin);
	}
	sin6->sin6_family = AF_INET6;
	sin6->sin6_port = htons((uint16_t)addr->port);
	memcpy(&sin6->sin6_addr, addr->gid, 16);
	return sizeof(*sin6);
}

static bool is_answer(const struct mxefi_name_msg *answer,
		      const struct mxefi_name_msg *question)
{
	return answer->magic == MXEFI_WIRE_MAGIC &&
	       answer->type == MXEFI_NAME_ANSWER &&
	       answer->cookie == question->cookie &&
	       mxefi_name_is_endpoint(&answer->addr);
}

/**
 * mxefi_name_resolve() - Ask for the endpoint of an address, and wait.
 * @addr: address of mxefi_name_parse(), which becomes that of the endpoint. An
 *	address of an endpoint remains as it is.
 * @timeout_ms: time in milliseconds
 *
 * Return: 0, or a negative error of libfabric.
 */
int mxefi_name_resolve(struct mxefi_addr *addr, unsigned int timeout_ms)
{
	struct mxefi_name_msg question = {
		.magic = MXEFI_WIRE_MAGIC, .type = MXEFI_NAME_QUESTION,
	};
	uint64_t end = mxefi_now_ms() + timeout_ms;
	struct mxefi_name_msg answer;
	struct sockaddr_storage ss;
	socklen_t len = to_sockaddr(addr, &ss);
	struct pollfd p = { .events = POLLIN };
	int ret = -FI_EHOSTUNREACH;

	if (addr->id)
		return mxefi_name_is_endpoint(addr) ? 0 : -FI_EINVAL;
	if (!addr->port ||
	    getrandom(&question.cookie, sizeof(question.cookie), 0) < 0)
		return -FI_EINVAL;
	p.fd = socket(ss.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (p.fd < 0)
		return -errno;
	while (ret && mxefi_now_ms() < end) {
		/* The endpoint may not exist yet. */
		sendto(p.fd, &question, sizeof(question), 0,
		       (struct sockaddr *)&ss, len);
		if (poll(&p, 1, REPEAT_MS) <= 0 ||
		    recv(p.fd, &answer, sizeof(answer), 0) != sizeof(answer) ||
		    !is_answer(&answer, &question))
			continue;
		*addr = answer.addr;
		ret = 0;
	}
	close(p.fd);
	return ret;
}

/* ---- answering --------------------------------------------------------- */

/*
 * A question is as long as its answer, so answers to a forged address are no
 * more traffic than the questions.
 */
static void answer_all(struct mxefi_ticker *ticker, uint64_t now)
{
	struct mxefi_name *name = container_of(ticker, struct mxefi_name,
					       ticker);
	struct sockaddr_storage ss;
	struct mxefi_name_msg msg;

	for (int i = 0; i < BUDGET; i++) {
		socklen_t len = sizeof(ss);
		ssize_t n = recvfrom(name->fd, &msg, sizeof(msg),
				     MSG_DONTWAIT | MSG_TRUNC,
				     (struct sockaddr *)&ss, &len);

		if (n < 0)
			return;
		if (n != sizeof(msg) || msg.magic != MXEFI_WIRE_MAGIC ||
		    msg.type != MXEFI_NAME_QUESTION)
			continue;
		msg.type = MXEFI_NAME_ANSWER;
		msg.addr = *name->addr;
		sendto(name->fd, &msg, sizeof(msg), MSG_DONTWAIT,
		       (struct sockaddr *)&ss, len);
	}
}

/* Opens a socket at an address. Returns -1 with errno. */
static int open_bound(const struct mxefi_addr *addr)
{
	struct sockaddr_storage ss;
	socklen_t len = to_sockaddr(addr, &ss);
	int fd = socket(ss.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int off = 0, err;

	if (fd < 0)
		return -1;
	if ((ss.ss_family == AF_INET ||
	     !setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off))) &&
	    !bind(fd, (struct sockaddr *)&ss, len))
		return fd;
	err = errno;
	close(fd);
	errno = err;
	return -1;
}

/*
 * Opens a socket for IPv4 and IPv6, or for IPv4 if the kernel has no IPv6.
 * Returns -1 with errno.
 */
static int open_socket(uint32_t port)
{
	struct mxefi_addr any = { .port = port };
	int fd = open_bound(&any);

	if (fd >= 0 || errno != EAFNOSUPPORT)
		return fd;
	/* 0.0.0.0 */
	memset(any.gid + 10, 0xff, 2);
	return open_bound(&any);
}

/**
 * mxefi_name_open() - Answer questions for the address of an endpoint.
 * @dom: domain
 * @port: UDP port
 * @addr: address of the endpoint, which must remain
 *
 * Return: an object for mxefi_name_close(), or NULL if the port is in use.
 */
struct mxefi_name *mxefi_name_open(struct mxefi_domain *dom, uint32_t port,
				   const struct mxefi_addr *addr)
{
	struct mxefi_name *name = calloc(1, sizeof(*name));

	if (!name)
		return NULL;
	name->fd = open_socket(port);
	if (name->fd < 0) {
		mxefi_warn(FI_LOG_EP_CTRL,
			   "service %u: %s; peers need the address\n", port,
			   strerror(errno));
		free(name);
		return NULL;
	}
	name->dom = dom;
	name->addr = addr;
	name->ticker.tick = answer_all;
	mxefi_progress_add_ticker(dom, &name->ticker);
	return name;
}

/**
 * mxefi_name_close() - Stop answering.
 * @name: object, or NULL
 */
void mxefi_name_close(struct mxefi_name *name)
{
	if (!name)
		return;
	mxefi_progress_del_ticker(name->dom, &name->ticker);
	close(name->fd);
	free(name);
}
