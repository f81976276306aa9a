/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Packets that a test builds (IPv4, UDP, transport headers, ICRC) and sends
 * with a raw socket from the netns of the first host.
 */
#ifndef RAW_H
#define RAW_H

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/ip.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "bth.h"
#include "vt.h"

enum {
	RAW_PORT = 4791,
	RAW_SOURCE_PORT = 49200,
	RAW_BODY = 304,
	RAW_MAX = RAW_BODY + 64,
	RAW_PLAIN = 20 + 8 + 12,	/* bytes before the body */
	RAW_NOBODY = 0xabcdef,		/* no queue pair has this number */
};

struct raw_bth {
	uint8_t opcode, flags;
	uint16_t pkey;
	uint32_t qpn, psn;
};

/**
 * raw_enter() - Move the calling thread to the netns of a host.
 * @host: "h1" or "h2"
 *
 * Return: a file of the previous netns, for raw_leave().
 */
static inline int raw_enter(const char *host)
{
	int here = open("/proc/thread-self/ns/net", O_RDONLY), there;
	char path[32];

	snprintf(path, sizeof(path), "/run/netns/%s", host);
	there = open(path, O_RDONLY);
	if (here < 0 || there < 0 || setns(there, CLONE_NEWNET))
		vt_bail("namespace %s", host);
	close(there);
	return here;
}

/**
 * raw_leave() - Return to the previous netns.
 * @before: file from raw_enter(), which is closed
 */
static inline void raw_leave(int before)
{
	if (setns(before, CLONE_NEWNET))
		vt_bail("leaving a namespace");
	close(before);
}

/**
 * raw_socket() - Open a raw socket in the netns of the first host.
 * @domain: AF_*
 * @protocol: IPPROTO_*
 *
 * Return: the file descriptor.
 */
static inline int raw_socket(int domain, int protocol)
{
	int before = raw_enter("h1");
	int fd = socket(domain, SOCK_RAW, protocol);

	if (fd < 0)
		vt_bail("raw socket");
	raw_leave(before);
	return fd;
}

/**
 * raw_open() - Open a socket for raw_send().
 *
 * Return: the file descriptor.
 */
static inline int raw_open(void)
{
	return raw_socket(AF_INET, IPPROTO_RAW);
}

/**
 * raw_crc32() - Continue a CRC-32.
 * @crc: CRC of the bytes before, not inverted
 * @data: bytes
 * @len: number of bytes
 *
 * Return: the CRC, not inverted.
 */
static inline uint32_t raw_crc32(uint32_t crc, const void *data, size_t len)
{
	const uint8_t *p = data;
	static uint32_t table[256];

	for (uint32_t n = 0; !table[255] && n < 256; n++) {
		uint32_t rest = n;

		for (int i = 0; i < 8; i++)
			rest = rest >> 1 ^ (rest & 1 ? 0xedb88320 : 0);
		table[n] = rest;
	}
	while (len--)
		crc = crc >> 8 ^ table[(crc ^ *p++) & 0xff];
	return crc;
}

/**
 * raw_icrc() - Compute the ICRC of a packet.
 * @packet: packet from the IPv4 header on, which has no options
 * @len: length up to the ICRC in bytes
 *
 * Fields that may change in flight count as ones (IBTA A17.3.3).
 *
 * Return: the ICRC.
 */
static inline uint32_t raw_icrc(const uint8_t *packet, size_t len)
{
	static const uint8_t lrh[8] = { 0xff, 0xff, 0xff, 0xff,
					0xff, 0xff, 0xff, 0xff };
	uint8_t hdr[40];			/* to the end of BTH */
	uint32_t crc;

	memcpy(hdr, packet, sizeof(hdr));
	hdr[1] = 0xff;				/* type of service */
	hdr[8] = 0xff;				/* time to live */
	memset(hdr + 10, 0xff, 2);		/* checksum of IP */
	memset(hdr + 26, 0xff, 2);		/* and of UDP */
	hdr[32] = 0xff;			/* BTH: reserved */
	crc = raw_crc32(raw_crc32(~0U, lrh, 8), hdr, sizeof(hdr));
	return ~raw_crc32(crc, packet + sizeof(hdr), len - sizeof(hdr));
}

/**
 * raw_icrc6() - Compute the ICRC of an IPv6 packet.
 * @packet: packet from the IPv6 header on, which has no extension headers
 * @len: length up to the ICRC in bytes
 *
 * Return: the ICRC, as of raw_icrc().
 */
static inline uint32_t raw_icrc6(const uint8_t *packet, size_t len)
{
	static const uint8_t lrh[8] = { 0xff, 0xff, 0xff, 0xff,
					0xff, 0xff, 0xff, 0xff };
	uint8_t hdr[60];			/* to the end of BTH */
	uint32_t crc;

	memcpy(hdr, packet, sizeof(hdr));
	hdr[0] |= 0x0f;				/* traffic class, flow label */
	memset(hdr + 1, 0xff, 3);
	hdr[7] = 0xff;				/* hop limit */
	memset(hdr + 46, 0xff, 2);		/* checksum of UDP */
	hdr[52] = 0xff;			/* BTH: reserved */
	crc = raw_crc32(raw_crc32(~0U, lrh, 8), hdr, sizeof(hdr));
	return ~raw_crc32(crc, packet + sizeof(hdr), len - sizeof(hdr));
}

/**
 * raw_plain() - Build a valid packet of any length.
 * @packet: buffer for the packet
 * @from: source IPv4 address, in network byte order
 * @to: destination IPv4 address, in network byte order
 * @bth: BTH
 * @body: bytes after the BTH
 * @len: number of these bytes
 *
 * Return: the length of the packet in bytes.
 */
static inline size_t raw_plain(uint8_t *packet, const uint8_t *from,
			       const uint8_t *to, const struct raw_bth *bth,
			       const void *body, size_t len)
{
	size_t udp_len = 8 + sizeof(*bth) + len + 4;
	struct iphdr ip = {
		.version = 4, .ihl = 5, .ttl = 64, .id = htons(1),
		.protocol = IPPROTO_UDP,
		.tot_len = htons((uint16_t)(20 + udp_len)),
	};
	const uint16_t ports[4] = {
		htons(RAW_SOURCE_PORT), htons(RAW_PORT), htons((uint16_t)udp_len),
	};
	uint32_t icrc;

	memcpy(&ip.saddr, from, 4);
	memcpy(&ip.daddr, to, 4);
	memcpy(packet, &ip, 20);
	memcpy(packet + 20, ports, 8);
	memcpy(packet + 28, bth, sizeof(*bth));
	memcpy(packet + RAW_PLAIN, body, len);
	icrc = raw_icrc(packet, RAW_PLAIN + len);
	memcpy(packet + RAW_PLAIN + len, &icrc, 4);
	return 20 + udp_len;
}

/* A packet to build. Members that are 0 make a valid packet. */
struct raw {
	const char *counter, *what;	/* for the caller */
	uint8_t opcode, flags;
	uint16_t pkey;
	uint32_t qpn, psn;
	size_t len;		/* of body, which follows the BTH */
	uint8_t body[RAW_BODY];
	size_t cut;		/* bytes missing at the end */
	uint32_t icrc_error;	/* bits of it that are wrong */
	uint8_t tos;
	bool options, stranger;
	bool checksum;		/* add a UDP checksum, which RoCEv2 omits */
};

/**
 * raw_udp_checksum() - Compute the UDP checksum of an IPv4 packet.
 * @ip: packet without IP options
 * @len: length of the UDP datagram in bytes
 *
 * Return: the checksum, in network byte order.
 */
static inline uint16_t raw_udp_checksum(const struct iphdr *ip, size_t len)
{
	uint8_t data[RAW_MAX] = { 0 };
	uint32_t sum = 0;

	memcpy(data, &ip->saddr, 8);
	data[9] = IPPROTO_UDP;
	data[10] = (uint8_t)(len >> 8);
	data[11] = (uint8_t)len;
	memcpy(data + 12, ip + 1, len);
	for (size_t i = 0; i < 12 + len; i += 2)
		sum += (uint32_t)(data[i] << 8 | data[i + 1]);
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return htons((uint16_t)~sum);
}

/**
 * raw_build() - Build a packet from one device to another.
 * @packet: buffer of RAW_MAX bytes
 * @from: device of the source address
 * @to: device of the destination address
 * @r: description of the packet
 *
 * Return: the length of the packet in bytes.
 */
static inline size_t raw_build(uint8_t *packet, const struct vt_dev *from,
			       const struct vt_dev *to, const struct raw *r)
{
	size_t ip_len = r->options ? 24 : 20, udp_len = 8 + 12 + r->len + 4;
	struct iphdr *ip = (void *)packet;
	uint8_t *udp = packet + ip_len;
	uint16_t ports[4] = {
		htons(RAW_SOURCE_PORT), htons(RAW_PORT),
		htons((uint16_t)(udp_len - r->cut)),
	};
	struct raw_bth bth = {
		r->opcode, r->flags, htons(r->pkey ? r->pkey : BTH_DEFAULT_PKEY),
		htonl(r->qpn), htonl(r->psn),
	};
	uint32_t icrc;

	memset(packet, 0, RAW_MAX);
	*ip = (struct iphdr){
		.version = 4, .ihl = (unsigned int)ip_len / 4, .ttl = 64,
		.tos = r->tos, .id = htons(1), .protocol = IPPROTO_UDP,
		.tot_len = htons((uint16_t)(ip_len + udp_len - r->cut)),
	};
	memcpy(&ip->saddr, from->gid4.raw + 12, 4);
	memcpy(&ip->daddr, to->gid4.raw + 12, 4);
	if (r->stranger)
		ip->saddr ^= htonl(0x80);
	if (r->options)
		memset(packet + 20, 1, 4);	/* no operation */
	memcpy(udp, ports, 8);
	memcpy(udp + 8, &bth, 12);
	memcpy(udp + 20, r->body, r->len);
	icrc = raw_icrc(packet, ip_len + 20 + r->len) ^ r->icrc_error;
	memcpy(udp + 20 + r->len, &icrc, 4);
	if (r->checksum) {
		ports[3] = raw_udp_checksum(ip, udp_len);
		memcpy(udp, ports, 8);
	}
	return ip_len + udp_len - r->cut;
}

/**
 * raw_send() - Build and send a packet.
 * @fd: socket from raw_open()
 * @from: device of the source address
 * @to: device of the destination address
 * @r: description of the packet
 */
static inline void raw_send(int fd, const struct vt_dev *from,
			    const struct vt_dev *to, const struct raw *r)
{
	struct sockaddr_in addr = { .sin_family = AF_INET };
	uint8_t packet[RAW_MAX];
	size_t len = raw_build(packet, from, to, r);

	addr.sin_addr.s_addr = ((struct iphdr *)(void *)packet)->daddr;
	if (sendto(fd, packet, len, 0, (struct sockaddr *)&addr,
		   sizeof(addr)) < 0)
		vt_bail("sendto");
}

#endif /* RAW_H */
