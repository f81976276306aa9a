// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Functions that both ends of the soak test share. See soak.h. */
#include <errno.h>
#include <string.h>
#include <unistd.h>
#include "soak.h"

/* Spreads the bits of a number (the finalizer of MurmurHash3). */
uint64_t soak_mix(uint64_t value)
{
	value ^= value >> 33;
	value *= 0xff51afd7ed558ccd;
	value ^= value >> 33;
	value *= 0xc4ceb9fe1a85ec53;
	return value ^ value >> 33;
}

uint64_t soak_check(const struct soak_record *record)
{
	/* The lock has never been held. */
	if (!record->version && !record->holder)
		return 0;
	return soak_mix(record->version << 8 | record->holder);
}

static uint8_t message_byte(uint64_t seq, size_t i)
{
	return (uint8_t)(soak_mix(seq) >> (i % 8 * 8)) ^ (uint8_t)(i / 8);
}

void soak_fill_message(void *buf, uint64_t seq, size_t len)
{
	struct soak_message hdr = { .seq = seq, .len = len };
	uint8_t *bytes = buf;

	memcpy(buf, &hdr, sizeof(hdr));
	for (size_t i = sizeof(hdr); i < len; i++)
		bytes[i] = message_byte(seq, i);
}

bool soak_message_ok(const void *buf, uint64_t seq, size_t len)
{
	const uint8_t *bytes = buf;
	struct soak_message hdr;

	memcpy(&hdr, buf, sizeof(hdr));
	if (len < sizeof(hdr) || hdr.seq != seq || hdr.len != len)
		return false;
	for (size_t i = sizeof(hdr); i < len; i++)
		if (bytes[i] != message_byte(seq, i))
			return false;
	return true;
}

bool soak_read(int fd, void *buf, size_t len)
{
	uint8_t *at = buf;
	ssize_t n;

	for (; len; at += n, len -= (size_t)n) {
		n = read(fd, at, len);
		if (n < 0 && errno == EINTR)
			n = 0;
		else if (n <= 0)
			return false;
	}
	return true;
}

bool soak_write(int fd, const void *buf, size_t len)
{
	const uint8_t *at = buf;
	ssize_t n;

	for (; len; at += n, len -= (size_t)n) {
		n = write(fd, at, len);
		if (n < 0 && errno == EINTR)
			n = 0;
		else if (n <= 0)
			return false;
	}
	return true;
}

struct vt_conf soak_conf(void)
{
	struct vt_conf conf = vt_defaults();

	conf.max_atomic_arg = 32;
	return conf;
}

void soak_connect(struct vt_end *e, const struct vt_conf *conf, uint32_t qp_num,
		  uint32_t mtu, const union ibv_gid *gid)
{
	struct ibv_qp qp = { .qp_num = qp_num };
	struct vt_dev dev = { .gid4 = *gid, .active_mtu = (enum ibv_mtu)mtu };
	struct vt_end peer = { .dev = &dev, .qp = &qp };

	if (vt_to_init(e, conf) || vt_to_rtr(e, &peer, conf) ||
	    vt_to_rts(e, conf))
		vt_bail("cannot connect to QP %u", qp_num);
}
