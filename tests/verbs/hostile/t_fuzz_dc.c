// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Proves that DC targets and initiators continue to work with exact results
 * while random DC packets arrive.  The test opens sessions with a forged
 * initiator that has the access key, and sends random requests in them.  It
 * also reads the packets of a real initiator and sends it random responses.
 *
 *	t_fuzz_dc [STEPS [SEED]]
 */
#include <endian.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "dc.h"
#include "random.h"
#include "raw.h"
#include "tap.h"

enum {
	OP_DC = 0xe0,
	OP_SEND_ONLY = 0xe4,
	OP_ACKNOWLEDGE = 0xf1,
	OP_CONTROL = 0xfe,
	DCETH = 24,
	DCCETH = 16,
	CODES = 9,			/* of control packets, and two more */
	CHALLENGE = 2,
	FORGED_QPN = 0x7fff01,
	FIRST_PSN = 0x1000,
	IN_A_SESSION = 8,		/* packets */
	MAX_BODY = 240,
	ANSWERS = 32,			/* to requests posted at once */
};

/* What a packet of a session has in its DCETH. */
struct session {
	uint32_t qpn, session, token;
	uint64_t instance;
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

static void put32(uint8_t *p, uint32_t value)
{
	value = htobe32(value);
	memcpy(p, &value, 4);
}

static void put64(uint8_t *p, uint64_t value)
{
	value = htobe64(value);
	memcpy(p, &value, 8);
}

/* ---- packets ------------------------------------------------------------- */

static void put_dceth(uint8_t *p, const struct session *s, bool connect, uint8_t code)
{
	p[0] = 1;
	p[1] = connect;
	p[2] = code;
	p[3] = 0;
	put32(p + 4, s->qpn);
	put32(p + 8, s->session);
	put32(p + 12, s->token);
	put64(p + 16, s->instance);
	if (!connect)
		return;
	put64(p + DCETH, target.key);
	put32(p + DCETH + 8, 3U << 24 | FIRST_PSN);
	put32(p + DCETH + 12, 1000);
}

/* A request: mostly of the session, with a key and an address that exist. */
static void send_request(const struct session *of, uint32_t psn, bool connect)
{
	struct session s = *of;
	size_t hdr = DCETH + (connect ? DCCETH : 0);
	struct raw r = {
		.opcode = (uint8_t)(OP_DC | one_of(32)),
		.flags = one_of(4) ? 0 : (uint8_t)random_u32(),
		.qpn = target.qp->qp_num,
		.psn = (psn + (one_of(4) ? 0 : one_of(5) - 2)) | one_of(2) << 31,
		.len = hdr + one_of(MAX_BODY / 4) * 4,
	};

	random_fill(&seed, r.body, r.len);
	put64(r.body + hdr, (uintptr_t)scratch_buf + (one_of(512) & ~31U));
	put32(r.body + hdr + 8, one_of(8) ? scratch->rkey : random_u32());
	put32(r.body + hdr + 12, one_of(4) ? one_of(512) : random_u32());
	if (!one_of(16))
		s.session += one_of(3) - 1;
	if (!one_of(32))
		s.instance ^= 1;
	put_dceth(r.body, &s, connect, r.opcode == OP_CONTROL ? one_of(CODES) : 0);
	if (!one_of(16))
		r.body[one_of(hdr)] ^= (uint8_t)(1 << one_of(8));
	raw_send(raw_fd, a, b, &r);
	sent++;
}

/*
 * Reads what arrived at the host of the initiators until it finds a DC packet
 * for this QP.  Returns false if there is none.
 */
static bool sniff(uint32_t qpn, uint8_t *opcode, struct session *s, uint8_t *code,
		  int ms)
{
	struct pollfd pfd = { .fd = raw_rx, .events = POLLIN };
	const uint8_t *bth, *eth;
	uint8_t packet[2048];
	uint32_t words[3];

	while (poll(&pfd, 1, ms) == 1) {
		ssize_t len = recv(raw_rx, packet, sizeof(packet), MSG_DONTWAIT);

		bth = packet + 28;
		eth = bth + 12;
		if (len < 28 + 12 + DCETH || bth[0] < OP_DC)
			continue;
		memcpy(words, bth + 4, 4);
		if ((be32toh(words[0]) & 0xffffff) != qpn)
			continue;
		*opcode = bth[0];
		*code = eth[2];
		memcpy(words, eth + 4, sizeof(words));
		s->qpn = be32toh(words[0]);
		s->session = be32toh(words[1]);
		s->token = be32toh(words[2]);
		memcpy(&s->instance, eth + 16, 8);
		s->instance = be64toh(s->instance);
		return true;
	}
	return false;
}

/* ---- requests ------------------------------------------------------------ */

/* Begins to forge another initiator, which gets a token. */
static void forge(struct session *s)
{
	struct session answer;
	struct raw r = {
		.opcode = OP_SEND_ONLY,
		.qpn = target.qp->qp_num,
		.psn = FIRST_PSN,
		.len = DCETH + DCCETH,
	};
	uint8_t opcode, code;

	*s = (struct session){
		.qpn = FORGED_QPN,
		.session = random_u32(),
		.instance = random_next(&seed),
	};
	put_dceth(r.body, s, true, 0);
	raw_send(raw_fd, a, b, &r);
	do {
		if (!sniff(FORGED_QPN, &opcode, &answer, &code, VT_MS))
			vt_bail("no answer to a forged connect");
	} while (answer.instance != s->instance);
	if (opcode != OP_CONTROL || code != CHALLENGE)
		vt_bail("opcode %#x, code %u instead of a token", opcode, code);
	s->token = answer.token;
}

static void play_session(struct session *s)
{
	for (uint32_t n = 0; n < IN_A_SESSION; n++)
		send_request(s, FIRST_PSN + n, !n || one_of(2));
	s->session++;
	opened++;
}

/* ---- answers ------------------------------------------------------------- */

/* Posts requests of the victim, and answers them at random. */
static void attack(struct dc_initiator *victim)
{
	struct session s;
	uint8_t opcode, code;
	struct ibv_wc wc;
	bool failed = false;

	for (uint64_t n = 0; n < 4; n++)
		if (dc_post_fadd(victim, &victim_target, n, 8))
			vt_bail("a request of the victim");
	/* sniff() also returns the packets that this loop has sent. */
	for (int n = 0; n < ANSWERS &&
	     sniff(victim->qp->qp_num, &opcode, &s, &code, 0); n++) {
		struct raw r = {
			.opcode = (uint8_t)(one_of(3) ? OP_CONTROL :
					    one_of(2) ? OP_ACKNOWLEDGE :
							OP_DC | one_of(32)),
			.qpn = victim->qp->qp_num,
			.psn = 0xfffff0 + one_of(16),
			.len = DCETH + (one_of(2) ? 0 : one_of(8) * 4),
		};

		random_fill(&seed, r.body, r.len);
		s.session += one_of(3) - 1;
		s.token = random_u32();
		put_dceth(r.body, &s, false,
			  r.opcode == OP_CONTROL ? one_of(CODES) : 0);
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
	struct session s;

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
			forge(&s);
		play_session(&s);
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
