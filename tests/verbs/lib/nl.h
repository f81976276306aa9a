/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Netlink messages of the RDMA core. Tests use them instead of rdma(8), because
 * starting a program for each read of a counter would take most of their time.
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

/* One datagram of a dump. */
struct nl_answer {
	union {
		struct nlmsghdr nlh;
		uint8_t bytes[32768];
	};
	size_t len;
};

/* The attributes of a message, or the payload of an attribute. */
struct nl_attrs {
	const uint8_t *at, *end;
};

/**
 * nl_open() - Open an RDMA netlink socket in the netns of the caller.
 *
 * Return: the file descriptor, or -1.
 */
int nl_open(void);

/**
 * nl_request() - Begin a request without attributes.
 * @op: RDMA_NLDEV_CMD_*
 * @flags: NLM_F_*
 *
 * Return: the request.
 */
struct nl_request nl_request(uint16_t op, uint16_t flags);

/**
 * nl_put() - Append an attribute to a request.
 * @r: request
 * @type: RDMA_NLDEV_ATTR_*
 * @data: value
 * @len: size of the value in bytes
 */
void nl_put(struct nl_request *r, uint16_t type, const void *data, size_t len);

/**
 * nl_put_u32() - Append a 32-bit attribute to a request.
 * @r: request
 * @type: RDMA_NLDEV_ATTR_*
 * @value: value
 */
void nl_put_u32(struct nl_request *r, uint16_t type, uint32_t value);

/**
 * nl_put_string() - Append a string attribute to a request.
 * @r: request
 * @type: RDMA_NLDEV_ATTR_*
 * @s: value
 */
void nl_put_string(struct nl_request *r, uint16_t type, const char *s);

/**
 * nl_receive() - Receive one datagram of messages.
 * @fd: socket from nl_open()
 * @a: is set to the messages
 *
 * Return: false if recv() fails.
 */
bool nl_receive(int fd, struct nl_answer *a);

/**
 * nl_attrs() - Return the attributes of a message.
 * @nlh: message
 *
 * Return: the attributes, for nl_next() and nl_attribute().
 */
struct nl_attrs nl_attrs(const struct nlmsghdr *nlh);

/**
 * nl_next() - Step to the next attribute.
 * @attrs: attributes that remain
 * @type: is set to the type of the attribute
 * @inside: is set to its payload
 *
 * Return: false if no attribute remains.
 */
bool nl_next(struct nl_attrs *attrs, uint16_t *type, struct nl_attrs *inside);

/**
 * nl_attribute() - Find the first attribute of a type.
 * @attrs: attributes
 * @type: RDMA_NLDEV_ATTR_*
 *
 * Return: its payload, or NULL.
 */
const void *nl_attribute(struct nl_attrs attrs, uint16_t type);

/**
 * nl_is_string() - Compare a string attribute of a message.
 * @nlh: message
 * @type: RDMA_NLDEV_ATTR_*
 * @s: string to compare with
 *
 * Return: true if the attribute exists and is equal to @s.
 */
bool nl_is_string(const struct nlmsghdr *nlh, uint16_t type, const char *s);

/**
 * nl_find_device() - Look up the index of an RDMA device.
 * @fd: socket from nl_open()
 * @name: name of the device
 *
 * Return: the index, or -1 if there is no device of that name.
 */
int64_t nl_find_device(int fd, const char *name);

#endif /* NL_H */
