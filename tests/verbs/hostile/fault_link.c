// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * `rdma link add` and `rdma link del` by a netlink socket, as a child of the test
 * would have no failures; see faults.h.
 */
#include <errno.h>
#include <linux/netlink.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <rdma/rdma_netlink.h>
#include "faults.h"
#include "vt.h"

#define LINK "mxe_faults"
#define NETDEV "mxef0"

/* ---- netlink ------------------------------------------------------------ */

struct request {
	struct nlmsghdr nlh;
	uint8_t attrs[256];
};

/* As much as a dump gives at once. */
struct answer {
	union {
		struct nlmsghdr nlh;
		uint8_t bytes[32768];
	};
	size_t len;
};

static int nl_fd;

static struct request request(uint16_t op, uint16_t flags)
{
	static uint32_t seq;

	return (struct request){ .nlh = {
		.nlmsg_len = NLMSG_HDRLEN,
		.nlmsg_type = (uint16_t)RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, op),
		.nlmsg_flags = NLM_F_REQUEST | flags,
		.nlmsg_seq = ++seq,
	} };
}

static void put(struct request *r, uint16_t type, const void *data, size_t len)
{
	struct nlattr attr = {
		.nla_len = (uint16_t)(NLA_HDRLEN + len), .nla_type = type,
	};
	uint8_t *at = (uint8_t *)r + r->nlh.nlmsg_len;

	memcpy(at, &attr, sizeof(attr));
	memcpy(at + NLA_HDRLEN, data, len);
	r->nlh.nlmsg_len += (uint32_t)NLA_ALIGN(attr.nla_len);
}

static void put_string(struct request *r, uint16_t type, const char *s)
{
	put(r, type, s, strlen(s) + 1);
}

static bool receive(struct answer *a)
{
	ssize_t len = recv(nl_fd, a->bytes, sizeof(a->bytes), 0);

	a->len = len < 0 ? 0 : (size_t)len;
	return len >= 0;
}

/* What the kernel says to it: 0, errno or LINK_LOST. */
static int call(const struct request *r)
{
	const struct nlmsgerr *error;
	struct answer a;

	errno = 0;
	if (send(nl_fd, r, r->nlh.nlmsg_len, 0) < 0)
		return errno;
	if (!receive(&a))
		return LINK_LOST;
	if (a.nlh.nlmsg_type != NLMSG_ERROR || a.nlh.nlmsg_seq != r->nlh.nlmsg_seq)
		vt_bail("netlink: an answer to something else");
	error = NLMSG_DATA(&a.nlh);
	return -error->error;
}

/* An attribute of a message, or NULL. */
static const void *attribute(const struct nlmsghdr *nlh, uint16_t type)
{
	const uint8_t *at = NLMSG_DATA(nlh), *end = (const uint8_t *)nlh + nlh->nlmsg_len;
	struct nlattr attr;

	for (; at + NLA_HDRLEN <= end; at += NLA_ALIGN(attr.nla_len)) {
		memcpy(&attr, at, sizeof(attr));
		if (attr.nla_len < NLA_HDRLEN)
			break;
		if ((attr.nla_type & NLA_TYPE_MASK) == type)
			return at + NLA_HDRLEN;
	}
	return NULL;
}

static bool is_string(const struct nlmsghdr *nlh, uint16_t type, const char *s)
{
	const char *found = attribute(nlh, type);

	return found && !strcmp(found, s);
}

/* ---- the link ----------------------------------------------------------- */

/* Its number, as `rdma dev` finds it; -1: there is none. */
static int64_t find(void)
{
	struct request r = request(RDMA_NLDEV_CMD_GET, NLM_F_DUMP);
	int64_t found = -1;
	struct answer a;

	if (send(nl_fd, &r, r.nlh.nlmsg_len, 0) < 0)
		vt_bail("netlink: send");
	for (;;) {
		const struct nlmsghdr *nlh = &a.nlh;
		uint32_t index;

		if (!receive(&a))
			vt_bail("netlink: recv");
		for (; NLMSG_OK(nlh, a.len); nlh = NLMSG_NEXT(nlh, a.len)) {
			if (nlh->nlmsg_type == NLMSG_DONE)
				return found;
			if (nlh->nlmsg_type == NLMSG_ERROR)
				vt_bail("netlink: no list of devices");
			if (!is_string(nlh, RDMA_NLDEV_ATTR_DEV_NAME, LINK))
				continue;
			memcpy(&index, attribute(nlh, RDMA_NLDEV_ATTR_DEV_INDEX), 4);
			found = index;
		}
	}
}

static int64_t number;		/* of the link, for deleting it */

bool link_is_there(void)
{
	number = find();
	return number >= 0 || !access("/sys/class/infiniband/" LINK, F_OK);
}

int link_add(void)
{
	struct request r = request(RDMA_NLDEV_CMD_NEWLINK, NLM_F_ACK);

	put_string(&r, RDMA_NLDEV_ATTR_DEV_NAME, LINK);
	put_string(&r, RDMA_NLDEV_ATTR_LINK_TYPE, "mxe");
	put_string(&r, RDMA_NLDEV_ATTR_NDEV_NAME, NETDEV);
	return call(&r);
}

int link_del(void)
{
	struct request r = request(RDMA_NLDEV_CMD_DELLINK, NLM_F_ACK);
	uint32_t index = (uint32_t)number;

	put(&r, RDMA_NLDEV_ATTR_DEV_INDEX, &index, sizeof(index));
	return call(&r);
}

/* As `rdma link` shows it, with its netdev. */
static bool is_shown(void)
{
	struct request r = request(RDMA_NLDEV_CMD_PORT_GET, 0);
	uint32_t index = (uint32_t)number, port = 1;
	struct answer a;

	put(&r, RDMA_NLDEV_ATTR_DEV_INDEX, &index, sizeof(index));
	put(&r, RDMA_NLDEV_ATTR_PORT_INDEX, &port, sizeof(port));
	if (send(nl_fd, &r, r.nlh.nlmsg_len, 0) < 0 || !receive(&a))
		vt_bail("netlink: port");
	return a.nlh.nlmsg_type != NLMSG_ERROR &&
	       is_string(&a.nlh, RDMA_NLDEV_ATTR_DEV_NAME, LINK) &&
	       is_string(&a.nlh, RDMA_NLDEV_ATTR_NDEV_NAME, NETDEV);
}

static bool has_qps(struct vt_dev *dev)
{
	struct ibv_qp_init_attr attr = {
		.cap = { 16, 16, 1, 1, 0 }, .qp_type = IBV_QPT_RC,
	};
	struct ibv_cq *cq = ibv_create_cq(dev->ctx, 16, NULL, NULL, 0);
	struct ibv_qp *qp;

	attr.send_cq = cq;
	attr.recv_cq = cq;
	qp = cq ? ibv_create_qp(dev->pd, &attr) : NULL;
	return qp && !ibv_destroy_qp(qp) && !ibv_destroy_cq(cq);
}

const char *link_is_whole(bool *has_file)
{
	struct vt_dev *dev;
	bool made;

	*has_file = false;
	if (!link_is_there() || number < 0)
		return "it is not there";
	if (!is_shown())
		return "`rdma link` does not show it";
	dev = vt_try_open(LINK);
	if (!dev)
		return errno == ENODEV ? NULL : "it cannot be opened";
	*has_file = true;
	made = has_qps(dev);
	vt_close(dev);
	return made ? NULL : "it makes no queue pair";
}

/* ---- what it stands on -------------------------------------------------- */

void link_set_up(void)
{
	struct sockaddr_nl self = { .nl_family = AF_NETLINK };

	nl_fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_RDMA);
	if (nl_fd < 0 || bind(nl_fd, (struct sockaddr *)&self, sizeof(self)))
		vt_bail("netlink");
	if (system("ip link add " NETDEV " type veth peer name mxef1") ||
	    system("ip link set " NETDEV " up") || system("ip link set mxef1 up") ||
	    system("ip addr add 10.78.0.1/24 dev " NETDEV))
		vt_bail("a netdev for links");
}

/* Whoever deletes it waits for all that hold it, and cannot be killed. */
bool link_tear_down(void)
{
	uint64_t end = vt_now_ms() + VT_MS;
	int status = -1;
	pid_t pid = fork();

	if (pid < 0)
		vt_bail("fork");
	if (!pid) {
		execlp("ip", "ip", "link", "del", NETDEV, NULL);
		_exit(127);
	}
	while (!waitpid(pid, &status, WNOHANG) && vt_now_ms() < end)
		usleep(10000);
	close(nl_fd);
	return !status;
}
