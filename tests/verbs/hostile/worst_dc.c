// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Implements the attacks of t_worst with dynamically connected (DC) QPs: those
 * of a hostile initiator on a target, and those of a process.
 */
#include <linux/if_ether.h>
#include <sys/socket.h>
#include <unistd.h>
#include "dc.h"
#include "dc_wire.h"
#include "hostile.h"
#include "raw.h"
#include "worst.h"

enum {
	INITIATOR_QPN = 0x123456,	/* no QP has this number */
	SEND = 256,			/* bytes */
	RETH = 16,			/* bytes */
	READ_LEN = DC_BUF_SIZE / 2,
	DEFERRED = 256,			/* requests that wait for a READ */
	TOO_MANY = 4,
	WRITES = 60,
	SESSIONS = 8,			/* of an initiator */
	TIMES = 4,
};

#define ACK_REQ	(1U << 31)	/* beside the PSN */

/* ---- a hostile initiator ------------------------------------------------- */

struct attacker {
	int fd;
	struct dc_target target;
	struct dc_wire headers;		/* of its CONNECT */
	uint32_t read_len;
};

static void send_read(const struct attacker *at)
{
	struct raw r = {
		.opcode = DC_WIRE_RC | BTH_RDMA_READ_REQUEST,
		.qpn = at->target.qp->qp_num,
	};
	uint8_t *end = r.body + dc_wire_put(r.body, &at->headers);

	end = dc_wire_put64(end, dc_addr(&at->target, 0));
	end = dc_wire_put32(end, at->target.mr->rkey);
	end = dc_wire_put32(end, at->read_len);
	r.len = (size_t)(end - r.body);
	raw_send(at->fd, worst_a, worst_b, &r);
}

/*
 * Sends a WRITE of no bytes of the present session, which needs no key and asks
 * for an ACK.
 */
static void send_write(const struct attacker *at, uint32_t psn)
{
	struct dc_wire h = at->headers;
	struct raw r = {
		.opcode = DC_WIRE_RC | BTH_RDMA_WRITE_ONLY,
		.qpn = at->target.qp->qp_num, .psn = psn | ACK_REQ,
	};

	h.connect = false;
	r.len = dc_wire_put(r.body, &h) + RETH;
	raw_send(at->fd, worst_a, worst_b, &r);
}

/* Sends a SEND of the present session. */
static void send_send(const struct attacker *at, uint32_t psn)
{
	struct dc_wire h = at->headers;
	struct raw r = {
		.opcode = DC_WIRE_RC | BTH_SEND_ONLY,
		.qpn = at->target.qp->qp_num, .psn = psn,
	};

	h.connect = false;
	r.len = dc_wire_put(r.body, &h) + SEND;
	raw_send(at->fd, worst_a, worst_b, &r);
}

static void send_disconnect(const struct attacker *at)
{
	struct dc_wire h = at->headers;
	struct raw r = { .opcode = DC_WIRE_CONTROL, .qpn = at->target.qp->qp_num };

	h.connect = false;
	h.code = DC_WIRE_DISCONNECT;
	r.len = dc_wire_put(r.body, &h);
	raw_send(at->fd, worst_a, worst_b, &r);
}

/* Connects without a token, and waits for the token. */
static void get_token(struct attacker *at)
{
	const size_t hdr_len = 20 + 8;		/* IPv4, UDP */
	uint64_t end = vt_now_ms() + VT_MS;
	int fd = raw_socket(AF_INET, IPPROTO_UDP);
	uint8_t packet[512];
	struct dc_wire h;

	send_read(at);
	while (!at->headers.token && vt_now_ms() < end) {
		ssize_t len = recv(fd, packet, sizeof(packet), MSG_DONTWAIT);

		if (len < (ssize_t)hdr_len)
			usleep(1000);
		else if (dc_wire_get(packet + hdr_len, (size_t)len - hdr_len, &h) &&
			 h.code == DC_WIRE_CHALLENGE)
			at->headers.token = h.token;
	}
	close(fd);
	if (!at->headers.token)
		vt_bail("no token");
}

enum attack {
	ATTACK_READ,		/* the session begins with a READ */
	ATTACK_REPLACE,		/* as many SENDs as fit wait, then another session begins */
	ATTACK_DISCONNECT,	/* as many SENDs as fit wait, then the session ends */
	ATTACK_ACKS,		/* as many WRITEs as fit wait, each with an ACK */
};

static bool dc_attack(enum attack attack, enum ibv_mtu mtu, uint32_t read_len)
{
	struct attacker at = {
		.fd = raw_open(),
		.read_len = read_len,
		.headers = {
			.connect = true,
			.qpn = INITIATOR_QPN,
			.session = 1,
			.instance = 0x1122334455667788,
			.key = 7,
			.mtu = (uint8_t)mtu,
			.life = 100000,
		},
	};
	long accepts = vt_dev_counter(worst_b, "dc_accepts") + 1;
	long dropped = vt_dev_counter(worst_b, "drop_busy");
	uint32_t psn = read_len / (128U << mtu);

	dc_path_mtu = mtu;
	dc_target_open(&at.target, worst_b, worst_a, at.headers.key, false);
	get_token(&at);
	worst_starve_work(true);
	worst_begin();
	send_read(&at);
	if (attack != ATTACK_READ) {
		for (uint32_t n = 0; n < DEFERRED + TOO_MANY; n++) {
			if (attack == ATTACK_ACKS)
				send_write(&at, psn + n);
			else
				send_send(&at, psn + n);
		}
		dropped += TOO_MANY;
	}
	if (attack == ATTACK_REPLACE) {
		at.headers.session++;
		send_read(&at);
		accepts++;
	} else if (attack == ATTACK_DISCONNECT) {
		send_disconnect(&at);
	}
	worst_starve_work(false);
	/* Until the work has freed what was closed. */
	usleep(100000);
	worst_end();
	accepts -= vt_dev_counter(worst_b, "dc_accepts");
	dropped -= vt_dev_counter(worst_b, "drop_busy");
	close(at.fd);
	dc_target_close(&at.target);
	/*
	 * With the kernel's checkers, the packets take so long to send that
	 * late_timer does the work meanwhile, and none is too many.
	 */
	return !accepts && (!dropped || !hostile_judges_time());
}

static bool dc_read(void)
{
	return dc_attack(ATTACK_READ, IBV_MTU_256, READ_LEN);
}

static bool dc_read_4k(void)
{
	return dc_attack(ATTACK_READ, IBV_MTU_4096, DC_BUF_SIZE);
}

static bool dc_replace(void)
{
	return dc_attack(ATTACK_REPLACE, IBV_MTU_256, READ_LEN);
}

static bool dc_disconnect(void)
{
	return dc_attack(ATTACK_DISCONNECT, IBV_MTU_256, READ_LEN);
}

static bool dc_acks(void)
{
	return dc_attack(ATTACK_ACKS, IBV_MTU_256, READ_LEN);
}

/* ---- a process ----------------------------------------------------------- */

/* Posts many WRITEs at once. */
static bool dc_writes(const struct worst *w)
{
	struct dc_initiator i;
	struct dc_target t;
	bool done;

	dc_path_mtu = IBV_MTU_4096;
	dc_initiator_open(&i, worst_a);
	dc_target_open(&t, worst_b, worst_a, 7, false);
	done = dc_fadd(&i, &t) == IBV_WC_SUCCESS;
	for (int n = 0; n < TIMES; n++) {
		ibv_wr_start(i.qpx);
		i.qpx->wr_flags = IBV_SEND_SIGNALED;
		for (int k = 0; k < WRITES; k++) {
			ibv_wr_rdma_write(i.qpx, t.mr->rkey, dc_addr(&t, 0));
			mxedv_wr_set_dc_addr(i.mqp, t.ah, t.qp->qp_num, t.key);
			ibv_wr_set_sge(i.qpx, i.mr->lkey, (uintptr_t)i.buf, w->len);
		}
		worst_begin();
		if (ibv_wr_complete(i.qpx))
			vt_bail("ibv_wr_complete");
		done = worst_wait(i.cq, WRITES, IBV_WC_SUCCESS) && done;
		worst_end();
	}
	dc_target_close(&t);
	dc_initiator_close(&i);
	return done;
}

/*
 * An initiator with as many sessions as it keeps is reset or destroyed, which
 * sends a message to each target.
 */
static bool dc_end_sessions(bool destroy)
{
	struct dc_target t[SESSIONS];
	struct dc_initiator i;
	bool done = true;

	dc_path_mtu = IBV_MTU_4096;
	dc_initiator_open(&i, worst_a);
	for (int n = 0; n < SESSIONS; n++) {
		dc_target_open(&t[n], worst_b, worst_a, 7, false);
		done = dc_fadd(&i, &t[n]) == IBV_WC_SUCCESS && done;
	}
	worst_begin();
	if (destroy)
		dc_initiator_close(&i);
	else
		done = !dc_to_state(i.qp, IBV_QPS_RESET) && done;
	worst_end();
	if (!destroy)
		dc_initiator_close(&i);
	for (int n = 0; n < SESSIONS; n++)
		dc_target_close(&t[n]);
	return done;
}

static bool dc_reset(void)
{
	return dc_end_sessions(false);
}

static bool dc_destroy(void)
{
	return dc_end_sessions(true);
}

const struct worst worst_dc[] = {
	{ "dc_read", "a DC session begins with a READ of 128 packets", .run = dc_read },
	{ "dc_read_4k", "a DC session begins with a READ of 16 packets of 4 KiB",
	  .run = dc_read_4k },
	{ "dc_replace", "a DC session with 256 deferred packets is replaced by such a one",
	  .run = dc_replace },
	{ "dc_disconnect", "a DC session with 256 deferred packets ends", .run = dc_disconnect },
	{ "dc_acks", "256 deferred WRITEs in a DC session, each with an ACK", .run = dc_acks },
	{ "dc_writes", "60 WRITEs of a DC initiator", .run_with = dc_writes, .len = 64 },
	{ "dc_writes_4k", "60 WRITEs of 4 KiB of a DC initiator", .run_with = dc_writes,
	  .len = WORST_MTU },
	{ "dc_reset", "a DC initiator with 8 sessions moves to RESET", .run = dc_reset },
	{ "dc_destroy", "a DC initiator with 8 sessions is destroyed", .run = dc_destroy },
	{ .name = NULL },
};
