// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Proves that DC targets and initiators continue to work with exact results
 * while random DC packets arrive.  The test opens sessions with a forged
 * initiator that has the access key, and sends random requests in them.  It
 * also reads the packets of a real initiator and sends it random responses.
 *
 *	t_fuzz_dc [STEPS [SEED]]
 */
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "dc.h"
#include "dc_wire.h"
#include "random.h"
#include "raw.h"
#include "tap.h"

enum {
	OP_SEND_ONLY = DC_WIRE_RC | BTH_SEND_ONLY,
	OP_ACKNOWLEDGE = DC_WIRE_RC | BTH_ACKNOWLEDGE,
	FORGED_QPN = 0x7fff01,
	FIRST_PSN = 0x1000,
	IN_A_SESSION = 8,		/* packets */
	MAX_BODY = 240,
	ANSWERS = 32,			/* to requests posted at once */
};

static struct vt_dev *a, *b;
static struct dc_target target, victim_target;
static struct ibv_mr *scratch;		/* that random requests may change */
static uint8_t scratch_buf[4096];
static uint64_t seed = 1;
static int raw_fd, raw_rx;
static unsigned long sent, opened;

static uint32_t random_u32(void)
{
	return (uint32_t)random_next(&seed);
}

static uint32_t one_of(uint32_t n)
{
	return random_u32() % n;
}

/* ---- packets ------------------------------------------------------------- */

/* The code of a control packet: one of those that exist, or the next two. */
static uint8_t random_code(uint8_t opcode)
{
	return opcode == DC_WIRE_CONTROL ? (uint8_t)one_of(DC_WIRE_CODES + 2) : 0;
}

/* A request: mostly of the session, with a key and an address that exist. */
static void send_request(const struct dc_wire *of, uint32_t psn, bool connect)
{
	struct dc_wire h = *of;
	size_t len = DC_WIRE_DCETH + (connect ? DC_WIRE_DCCETH : 0);
	struct raw r = {
		.opcode = (uint8_t)(DC_WIRE_RC | one_of(32)),
		.flags = one_of(4) ? 0 : (uint8_t)random_u32(),
		.qpn = target.qp->qp_num,
		.psn = (psn + (one_of(4) ? 0 : one_of(5) - 2)) | one_of(2) << 31,
		.len = len + one_of(MAX_BODY / 4) * 4,
	};
	uint8_t *p = r.body + len;

	random_fill(&seed, r.body, r.len);
	p = dc_wire_put64(p, (uintptr_t)scratch_buf + (one_of(512) & ~31U));
	p = dc_wire_put32(p, one_of(8) ? scratch->rkey : random_u32());
	dc_wire_put32(p, one_of(4) ? one_of(512) : random_u32());
	if (!one_of(16))
		h.session += one_of(3) - 1;
	if (!one_of(32))
		h.instance ^= 1;
	h.connect = connect;
	h.code = random_code(r.opcode);
	dc_wire_put(r.body, &h);
	if (!one_of(16))
		r.body[one_of((uint32_t)len)] ^= (uint8_t)(1 << one_of(8));
	raw_send(raw_fd, a, b, &r);
	sent++;
}

/*
 * Reads what arrived at the host of the initiators until it finds a DC packet
 * for this QP.  Returns false if there is none.
 */
static bool sniff(uint32_t qpn, uint8_t *opcode, struct dc_wire *h, int ms)
{
	struct pollfd pfd = { .fd = raw_rx, .events = POLLIN };
	const size_t hdr_len = 20 + 8;		/* IPv4, UDP */
	uint8_t packet[2048];

	while (poll(&pfd, 1, ms) == 1) {
		ssize_t len = recv(raw_rx, packet, sizeof(packet), MSG_DONTWAIT);
		const uint8_t *bth = packet + hdr_len;

		if (len < (ssize_t)hdr_len || !dc_wire_get(bth, (size_t)len - hdr_len, h) ||
		    (dc_wire_get32(bth + 4) & 0xffffff) != qpn)
			continue;
		*opcode = bth[0];
		return true;
	}
	return false;
}

/* ---- requests ------------------------------------------------------------ */

/* Begins to forge another initiator, which gets a token. */
static void forge(struct dc_wire *h)
{
	struct dc_wire answer;
	struct raw r = {
		.opcode = OP_SEND_ONLY,
		.qpn = target.qp->qp_num,
		.psn = FIRST_PSN,
	};
	uint8_t opcode;

	*h = (struct dc_wire){
		.connect = true,
		.qpn = FORGED_QPN,
		.session = random_u32(),
		.instance = random_next(&seed),
		.key = target.key,
		.mtu = IBV_MTU_1024,
		.psn = FIRST_PSN,
		.life = 1000,
	};
	r.len = dc_wire_put(r.body, h);
	raw_send(raw_fd, a, b, &r);
	do {
		if (!sniff(FORGED_QPN, &opcode, &answer, VT_MS))
			vt_bail("no answer to a forged connect");
	} while (answer.instance != h->instance);
	if (opcode != DC_WIRE_CONTROL || answer.code != DC_WIRE_CHALLENGE)
		vt_bail("opcode %#x, code %u instead of a token", opcode, answer.code);
	h->token = answer.token;
}

static void play_session(struct dc_wire *h)
{
	for (uint32_t n = 0; n < IN_A_SESSION; n++)
		send_request(h, FIRST_PSN + n, !n || one_of(2));
	h->session++;
	opened++;
}

/* ---- answers ------------------------------------------------------------- */

/* Posts requests of the victim, and answers them at random. */
static void attack(struct dc_initiator *victim)
{
	struct dc_wire h;
	uint8_t opcode;
	struct ibv_wc wc;
	bool failed = false;

	for (uint64_t n = 0; n < 4; n++)
		if (dc_post_fadd(victim, &victim_target, n, 8))
			vt_bail("a request of the victim");
	/* sniff() also returns the packets that this loop has sent. */
	for (int n = 0; n < ANSWERS &&
	     sniff(victim->qp->qp_num, &opcode, &h, 0); n++) {
		struct raw r = {
			.opcode = (uint8_t)(one_of(3) ? DC_WIRE_CONTROL :
					    one_of(2) ? OP_ACKNOWLEDGE :
							DC_WIRE_RC | one_of(32)),
			.qpn = victim->qp->qp_num,
			.psn = 0xfffff0 + one_of(16),
		};

		random_fill(&seed, r.body, sizeof(r.body));
		h.session += one_of(3) - 1;
		h.token = random_next(&seed);
		h.connect = false;
		h.code = random_code(r.opcode);
		r.len = dc_wire_put(r.body, &h) + (one_of(2) ? 0 : one_of(8) * 4);
		raw_send(raw_fd, b, a, &r);
		sent++;
	}
	for (int n = 0; n < 4; n++) {
		if (!vt_poll(victim->cq, &wc, VT_MS))
			vt_bail("a request of the victim does not complete");
		failed |= wc.status;
	}
	if (failed)
		dc_initiator_reset(victim);
}

/* Keeps receive requests at the target of the random requests. */
static void refill(void)
{
	struct ibv_wc wc;

	while (ibv_poll_cq(target.cq, 1, &wc) == 1)
		dc_target_recv(&target, 1, DC_HALF, 512);
}

int main(int argc, char **argv)
{
	unsigned int steps = argc > 1 ? (unsigned int)atoi(argv[1]) : 100;
	struct dc_initiator good, victim;
	unsigned int wrong = 0;
	struct dc_wire h;

	if (argc > 2)
		seed = strtoull(argv[2], NULL, 0);
	plan(0);
	diag("seed %#" PRIx64, seed);
	a = vt_open(vt_name_a());
	b = vt_open(vt_name_b());
	raw_fd = raw_open();
	raw_rx = raw_socket(AF_INET, IPPROTO_UDP);
	dc_target_open(&target, b, a, 0x1122334455667788, false);
	dc_target_open(&victim_target, b, a, 2, false);
	scratch = ibv_reg_mr(b->pd, scratch_buf, sizeof(scratch_buf), VT_ACCESS_ALL);
	if (!scratch)
		vt_bail("memory for random requests");
	for (int n = 0; n < 16; n++)
		dc_target_recv(&target, 1, DC_HALF, 512);
	dc_initiator_open(&good, a);
	dc_initiator_open(&victim, a);
	for (unsigned int n = 0; n < steps; n++) {
		if (n % 16 == 0)
			forge(&h);
		play_session(&h);
		attack(&victim);
		refill();
		wrong += dc_fadd(&good, &target) != IBV_WC_SUCCESS;
		wrong += dc_word(target.buf) != n + 1;
	}
	is_int((int)wrong, 0, "%lu packets, %lu forged sessions: %u additions are exact",
	       sent, opened, steps);
	ok(dc_fadd(&victim, &victim_target) == IBV_WC_SUCCESS,
	   "the initiator that was attacked still works");
	close(raw_rx);
	close(raw_fd);
	dc_initiator_close(&victim);
	dc_initiator_close(&good);
	ibv_dereg_mr(scratch);
	dc_target_close(&victim_target);
	dc_target_close(&target);
	vt_close(b);
	vt_close(a);
	return done_testing();
}
