// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Builds and reads netlink messages of the RDMA core; see nl.h. */
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "nl.h"
#include "vt.h"

int nl_open(void)
{
	struct sockaddr_nl self = { .nl_family = AF_NETLINK };
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_RDMA);

	if (fd >= 0 && bind(fd, (struct sockaddr *)&self, sizeof(self))) {
		close(fd);
		return -1;
	}
	return fd;
}

struct nl_request nl_request(uint16_t op, uint16_t flags)
{
	static uint32_t seq;

	return (struct nl_request){ .nlh = {
		.nlmsg_len = NLMSG_HDRLEN,
		.nlmsg_type = (uint16_t)RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, op),
		.nlmsg_flags = NLM_F_REQUEST | flags,
		.nlmsg_seq = ++seq,
	} };
}

void nl_put(struct nl_request *r, uint16_t type, const void *data, size_t len)
{
	struct nlattr attr = {
		.nla_len = (uint16_t)(NLA_HDRLEN + len), .nla_type = type,
	};
	uint8_t *at = (uint8_t *)r + r->nlh.nlmsg_len;

	memcpy(at, &attr, sizeof(attr));
	memcpy(at + NLA_HDRLEN, data, len);
	r->nlh.nlmsg_len += (uint32_t)NLA_ALIGN(attr.nla_len);
}

void nl_put_u32(struct nl_request *r, uint16_t type, uint32_t value)
{
	nl_put(r, type, &value, sizeof(value));
}

void nl_put_string(struct nl_request *r, uint16_t type, const char *s)
{
	nl_put(r, type, s, strlen(s) + 1);
}

bool nl_receive(int fd, struct nl_answer *a)
{
	ssize_t len = recv(fd, a->bytes, sizeof(a->bytes), 0);

	a->len = len < 0 ? 0 : (size_t)len;
	return len >= 0;
}

struct nl_attrs nl_attrs(const struct nlmsghdr *nlh)
{
	return (struct nl_attrs){
		NLMSG_DATA(nlh), (const uint8_t *)nlh + nlh->nlmsg_len,
	};
}

bool nl_next(struct nl_attrs *attrs, uint16_t *type, struct nl_attrs *inside)
{
	struct nlattr attr;

	if (attrs->at + NLA_HDRLEN > attrs->end)
		return false;
	memcpy(&attr, attrs->at, sizeof(attr));
	if (attr.nla_len < NLA_HDRLEN || attrs->at + attr.nla_len > attrs->end)
		return false;
	*type = attr.nla_type & NLA_TYPE_MASK;
	inside->at = attrs->at + NLA_HDRLEN;
	inside->end = attrs->at + attr.nla_len;
	attrs->at += NLA_ALIGN(attr.nla_len);
	return true;
}

const void *nl_attribute(struct nl_attrs attrs, uint16_t type)
{
	struct nl_attrs inside;
	uint16_t found;

	while (nl_next(&attrs, &found, &inside))
		if (found == type)
			return inside.at;
	return NULL;
}

bool nl_is_string(const struct nlmsghdr *nlh, uint16_t type, const char *s)
{
	const char *found = nl_attribute(nl_attrs(nlh), type);

	return found && !strcmp(found, s);
}

int64_t nl_find_device(int fd, const char *name)
{
	struct nl_request r = nl_request(RDMA_NLDEV_CMD_GET, NLM_F_DUMP);
	int64_t found = -1;
	struct nl_answer a;

	if (send(fd, &r, r.nlh.nlmsg_len, 0) < 0)
		vt_bail("netlink: send");
	for (;;) {
		const struct nlmsghdr *nlh = &a.nlh;
		uint32_t index;

		if (!nl_receive(fd, &a))
			vt_bail("netlink: recv");
		for (; NLMSG_OK(nlh, a.len); nlh = NLMSG_NEXT(nlh, a.len)) {
			if (nlh->nlmsg_type == NLMSG_DONE)
				return found;
			if (nlh->nlmsg_type == NLMSG_ERROR)
				vt_bail("netlink: no list of devices");
			if (!nl_is_string(nlh, RDMA_NLDEV_ATTR_DEV_NAME, name))
				continue;
			memcpy(&index, nl_attribute(nl_attrs(nlh),
						    RDMA_NLDEV_ATTR_DEV_INDEX), 4);
			found = index;
		}
	}
}
