/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Netlink messages of the RDMA core, as the program rdma has them: a test that starts
 * rdma for each look at a counter spends most of its time on that.
 */
#ifndef NL_H
#define NL_H

#include <linux/netlink.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <rdma/rdma_netlink.h>

struct nl_request {
	struct nlmsghdr nlh;
	uint8_t attrs[256];
};

/* As much as a dump gives at once. */
struct nl_answer {
	union {
		struct nlmsghdr nlh;
		uint8_t bytes[32768];
	};
	size_t len;
};

/* The attributes of a message, or what is inside one of them. */
struct nl_attrs {
	const uint8_t *at, *end;
};

/* A socket in the network namespace of the caller, or -1. */
int nl_open(void);
/* One of RDMA_NLDEV_CMD_*, without attributes. */
struct nl_request nl_request(uint16_t op, uint16_t flags);
void nl_put(struct nl_request *r, uint16_t type, const void *data, size_t len);
void nl_put_u32(struct nl_request *r, uint16_t type, uint32_t value);
void nl_put_string(struct nl_request *r, uint16_t type, const char *s);
bool nl_receive(int fd, struct nl_answer *a);

struct nl_attrs nl_attrs(const struct nlmsghdr *nlh);
/* Steps to the next attribute, or returns false. */
bool nl_next(struct nl_attrs *attrs, uint16_t *type, struct nl_attrs *inside);
/* The first one of that type, or NULL. */
const void *nl_attribute(struct nl_attrs attrs, uint16_t type);
bool nl_is_string(const struct nlmsghdr *nlh, uint16_t type, const char *s);

/* The number of an RDMA device; -1: there is none of that name. */
int64_t nl_find_device(int fd, const char *name);

#endif /* NL_H */
