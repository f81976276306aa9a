/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The headers of dynamically connected (DC) packets, for tests that build or
 * read packets.  Documentation/wire-format.rst specifies them.
 */
#ifndef DC_WIRE_H
#define DC_WIRE_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Opcodes are those of RC with these bits, except for control packets. */
enum {
	DC_WIRE_RC = 0xe0,
	DC_WIRE_CONTROL = 0xfe,
};

/* Codes of control packets. */
enum {
	DC_WIRE_DISCONNECT = 1,
	DC_WIRE_CHALLENGE = 2,
	DC_WIRE_STALE = 3,
	DC_WIRE_CODES = 7,	/* the largest one */
};

/* Bytes of the headers. */
enum {
	DC_WIRE_DCETH = 20,
	DC_WIRE_DCCETH = 24,
	DC_WIRE_DCTLETH = 16,
};

/* The headers of a packet. */
struct dc_wire {
	bool connect;
	uint8_t code;
	uint32_t qpn;		/* of the sender */
	uint32_t session;
	uint64_t instance;
	uint64_t token;		/* with connect, DC_WIRE_CHALLENGE or DC_WIRE_STALE */
	uint64_t age;		/* with the two codes: ns since another target had the number */
	/* With connect: */
	uint64_t key;
	uint8_t mtu;		/* enum ibv_mtu */
	uint32_t psn;		/* of the first packet of the session */
	uint32_t life;		/* ms */
};

/**
 * dc_wire_has_token() - Look at the code of a control packet.
 * @code: code, or 0
 *
 * Return: true if such packets have a token or a session, and an age.
 */
static inline bool dc_wire_has_token(uint8_t code)
{
	return code == DC_WIRE_CHALLENGE || code == DC_WIRE_STALE;
}

/**
 * dc_wire_put32() - Write a field of 4 bytes.
 * @p: where to write it
 * @value: its value
 *
 * Return: the byte after it.
 */
static inline uint8_t *dc_wire_put32(uint8_t *p, uint32_t value)
{
	value = htobe32(value);
	memcpy(p, &value, sizeof(value));
	return p + sizeof(value);
}

/**
 * dc_wire_put64() - Write a field of 8 bytes.
 * @p: where to write it
 * @value: its value
 *
 * Return: the byte after it.
 */
static inline uint8_t *dc_wire_put64(uint8_t *p, uint64_t value)
{
	value = htobe64(value);
	memcpy(p, &value, sizeof(value));
	return p + sizeof(value);
}

/**
 * dc_wire_get32() - Read a field of 4 bytes.
 * @p: its first byte
 *
 * Return: its value.
 */
static inline uint32_t dc_wire_get32(const uint8_t *p)
{
	uint32_t value;

	memcpy(&value, p, sizeof(value));
	return be32toh(value);
}

/**
 * dc_wire_get64() - Read a field of 8 bytes.
 * @p: its first byte
 *
 * Return: its value.
 */
static inline uint64_t dc_wire_get64(const uint8_t *p)
{
	uint64_t value;

	memcpy(&value, p, sizeof(value));
	return be64toh(value);
}

/**
 * dc_wire_put() - Write the headers of a packet.
 * @p: buffer for the bytes after the BTH
 * @h: headers
 *
 * Return: the number of bytes.
 */
static inline size_t dc_wire_put(uint8_t *p, const struct dc_wire *h)
{
	uint8_t *end = p;

	*end++ = 1;
	*end++ = h->connect;
	*end++ = h->code;
	*end++ = 0;
	end = dc_wire_put32(end, h->qpn);
	end = dc_wire_put32(end, h->session);
	end = dc_wire_put64(end, h->instance);
	if (h->connect) {
		end = dc_wire_put64(end, h->key);
		end = dc_wire_put32(end, (uint32_t)h->mtu << 24 | h->psn);
		end = dc_wire_put32(end, h->life);
		end = dc_wire_put64(end, h->token);
	} else if (dc_wire_has_token(h->code)) {
		end = dc_wire_put64(end, h->token);
		end = dc_wire_put64(end, h->age);
	}
	return (size_t)(end - p);
}

/**
 * dc_wire_get() - Read the headers of a packet.
 * @p: BTH of the packet
 * @len: bytes from there to the end of the packet
 * @h: set to the headers
 *
 * Return: true if this is a DC packet.
 */
static inline bool dc_wire_get(const uint8_t *p, size_t len, struct dc_wire *h)
{
	const uint8_t *eth = p + 12, *next = eth + DC_WIRE_DCETH;

	memset(h, 0, sizeof(*h));
	if (len < 12 + DC_WIRE_DCETH + 4 || p[0] < DC_WIRE_RC || eth[0] != 1)
		return false;
	len -= 12 + DC_WIRE_DCETH + 4;
	h->connect = eth[1] & 1;
	h->code = eth[2];
	h->qpn = dc_wire_get32(eth + 4);
	h->session = dc_wire_get32(eth + 8);
	h->instance = dc_wire_get64(eth + 12);
	if (h->connect && len >= DC_WIRE_DCCETH) {
		h->key = dc_wire_get64(next);
		h->mtu = next[8];
		h->psn = dc_wire_get32(next + 8) & 0xffffff;
		h->life = dc_wire_get32(next + 12);
		h->token = dc_wire_get64(next + 16);
	} else if (dc_wire_has_token(h->code) && len >= DC_WIRE_DCTLETH) {
		h->token = dc_wire_get64(next);
		h->age = dc_wire_get64(next + 8);
	}
	return true;
}

#endif /* DC_WIRE_H */
