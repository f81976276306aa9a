/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Packets made by hand, sent from the first host's namespace by a raw socket: IPv4,
 * UDP, the transport headers, and an ICRC.
 */
#ifndef RAW_H
#define RAW_H

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/ip.h>
#include <sched.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "vt.h"

struct raw_bth {
	uint8_t opcode, flags;
	uint16_t pkey;
	uint32_t qpn, psn;
};

/* A socket in the namespace of the first host. */
static inline int raw_open(void)
{
	int here = open("/proc/self/ns/net", O_RDONLY);
	int there = open("/run/netns/h1", O_RDONLY);
	int fd;

	if (here < 0 || there < 0 || setns(there, CLONE_NEWNET))
		vt_bail("namespace h1");
	fd = socket(AF_INET, SOCK_RAW, IPPROTO_RAW);
	if (fd < 0 || setns(here, CLONE_NEWNET))
		vt_bail("raw socket");
	close(here);
	close(there);
	return fd;
}

static inline uint32_t raw_crc32(uint32_t crc, const void *data, size_t len)
{
	const uint8_t *p = data;

	while (len--) {
		crc ^= *p++;
		for (int i = 0; i < 8; i++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
	}
	return crc;
}

/*
 * Of a packet from the IP header, which has no options, to the ICRC, of 512 bytes at
 * most.  What may change on the way counts as ones (IBTA A17.3.3).
 */
static inline uint32_t raw_icrc(const uint8_t *packet, size_t len)
{
	static const uint8_t lrh[8] = "\xff\xff\xff\xff\xff\xff\xff\xff";
	uint8_t masked[512];

	memcpy(masked, packet, len);
	masked[1] = 0xff;			/* type of service */
	masked[8] = 0xff;			/* time to live */
	memset(masked + 10, 0xff, 2);		/* checksum of IP */
	memset(masked + 26, 0xff, 2);		/* and of UDP */
	masked[32] = 0xff;			/* BTH: reserved */
	return ~raw_crc32(raw_crc32(~0U, lrh, 8), masked, len);
}

#endif /* RAW_H */
