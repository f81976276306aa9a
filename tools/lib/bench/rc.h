/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Devices and connected queue pairs, for the programs that post to them.
 */
#ifndef BENCH_RC_H
#define BENCH_RC_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <infiniband/verbs.h>

#define RC_ACCESS (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_ATOMIC)

struct rc_device {
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	union ibv_gid gid;
	uint8_t gid_index;
	enum ibv_mtu mtu;
};

/**
 * rc_fail() - End the program.
 * @what: reason, for stderr
 */
static void rc_fail(const char *what)
{
	fprintf(stderr, "bench: %s\n", what);
	exit(1);
}

/**
 * rc_now() - Read the clock.
 *
 * Return: nanoseconds.
 */
static inline uint64_t rc_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

/**
 * rc_nth_gid() - Choose one of the RoCE v2 GIDs of IPv4.
 * @d: device, whose GID is set
 * @skip: how many to skip
 *
 * Return: false if there are no more.
 */
static bool rc_nth_gid(struct rc_device *d, int skip)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };
	struct ibv_gid_entry entries[256];
	ssize_t n = ibv_query_gid_table(d->ctx, entries, 256, 0);

	for (ssize_t i = 0; i < n; i++) {
		if (entries[i].gid_type != IBV_GID_TYPE_ROCE_V2 ||
		    memcmp(entries[i].gid.raw, mapped, sizeof(mapped)) || skip--)
			continue;
		d->gid = entries[i].gid;
		d->gid_index = (uint8_t)entries[i].gid_index;
		return true;
	}
	return false;
}

/**
 * rc_open() - Open a device and allocate a protection domain.
 * @d: result
 * @name: name of the device
 */
static void rc_open(struct rc_device *d, const char *name)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_port_attr port;

	for (int i = 0; list && list[i]; i++)
		if (!strcmp(ibv_get_device_name(list[i]), name))
			d->ctx = ibv_open_device(list[i]);
	ibv_free_device_list(list);
	if (!d->ctx || ibv_query_port(d->ctx, 1, &port))
		rc_fail("a device cannot be opened");
	d->mtu = port.active_mtu;
	if (!rc_nth_gid(d, 0))
		rc_fail("a device has no RoCE v2 GID of IPv4");
	d->pd = ibv_alloc_pd(d->ctx);
	if (!d->pd)
		rc_fail("a protection domain cannot be allocated");
}

/**
 * rc_address() - Describe the way to a device.
 * @d: device
 * @peer: device at the other end
 *
 * Return: attributes of an address handle or of a queue pair.
 */
static struct ibv_ah_attr rc_address(const struct rc_device *d,
				     const struct rc_device *peer)
{
	return (struct ibv_ah_attr) {
		.is_global = 1,
		.port_num = 1,
		.grh = { .dgid = peer->gid, .hop_limit = 64,
			 .sgid_index = d->gid_index },
	};
}

/**
 * rc_modify() - Modify a queue pair, or end the program.
 * @d: its device
 * @qp: queue pair of any transport
 * @state: new state
 * @mask: attributes besides the state
 * @peer: device at the other end
 * @dest: number of the queue pair there, or 0 if @mask does not need it
 */
static void rc_modify(const struct rc_device *d, struct ibv_qp *qp,
		      enum ibv_qp_state state, int mask,
		      const struct rc_device *peer, uint32_t dest)
{
	struct ibv_qp_attr attr = {
		.qp_state = state,
		.port_num = 1,
		.qp_access_flags = RC_ACCESS,
		.path_mtu = d->mtu,
		.ah_attr = rc_address(d, peer),
		.dest_qp_num = dest,
		.max_dest_rd_atomic = 1,
		.min_rnr_timer = 12,
		.timeout = 14,
		.retry_cnt = 7,
		.rnr_retry = 7,
		.max_rd_atomic = 1,
	};

	if (ibv_modify_qp(qp, &attr, IBV_QP_STATE | mask))
		rc_fail("a queue pair cannot be modified");
}

#define RC_INIT_MASK (IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS)
#define RC_PATH_MASK (IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN)
#define RC_TARGET_MASK (IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER)
#define RC_RTS_MASK (IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | \
		     IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC)

static void rc_to_rts(const struct rc_device *d, struct ibv_qp *qp,
		      const struct rc_device *peer, uint32_t dest)
{
	rc_modify(d, qp, IBV_QPS_INIT, RC_INIT_MASK, peer, dest);
	rc_modify(d, qp, IBV_QPS_RTR, RC_PATH_MASK | RC_TARGET_MASK, peer, dest);
	rc_modify(d, qp, IBV_QPS_RTS, RC_RTS_MASK, peer, dest);
}

/**
 * rc_connect() - Connect two queue pairs.
 * @a: device of @qp_a
 * @qp_a: in RESET
 * @b: device of @qp_b
 * @qp_b: in RESET
 */
static void rc_connect(const struct rc_device *a, struct ibv_qp *qp_a,
		       const struct rc_device *b, struct ibv_qp *qp_b)
{
	rc_to_rts(a, qp_a, b, qp_b->qp_num);
	rc_to_rts(b, qp_b, a, qp_a->qp_num);
}

#endif /* BENCH_RC_H */
