// SPDX-License-Identifier: GPL-2.0
/*
 * Proves that the headers of dynamically connected packets are written and
 * parsed as specified, and that the rules of sessions (dc_session.h) execute
 * each request at most once, and each acknowledged request exactly once.
 *
 * For the latter, a model of two targets and an initiator exchanges packets
 * over a network that loses, duplicates, reorders and delays them.  Timeouts
 * are short and long.  Sessions expire.  Targets are reset, and both ends
 * restart with the same QP number.  The host of the initiator is suspended, and
 * the clocks of the hosts differ in rate.  The model applies the real rules.
 * It counts the executions of each request by all lives of its target.  It must
 * find errors if a rule is broken.
 */
#include <kunit/test.h>
#include <linux/prandom.h>
#include <linux/slab.h>
#include <linux/skbuff.h>

#include "dc/dc.h"
#include "wire/pkt.h"

/* ---- headers ------------------------------------------------------------- */

static const u8 dc_connect_bytes[] = {
	/* BTH */
	0xe4, 0x40, 0xff, 0xff, 0x00, 0x12, 0x34, 0x56,
	0x80, 0xab, 0xcd, 0xef,
	/* DCETH */
	0x01, 0x01, 0x00, 0x00, 0x00, 0x65, 0x43, 0x21,
	0x89, 0xab, 0xcd, 0xef,
	0xa1, 0xa2, 0xa3, 0xa4, 0xa5, 0xa6, 0xa7, 0xa8,
	/* DCCETH */
	0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88,
	0x03, 0xab, 0xcd, 0xee, 0x00, 0x00, 0x10, 0x00,
	0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08,
	/* payload */
	'd', 'a', 't', 'a',
};

static const struct mxe_dc_hdr dc_connect_hdr = {
	.connect = true,
	.qpn = 0x654321,
	.session = 0x89abcdef,
	.instance = 0xa1a2a3a4a5a6a7a8,
	.token = 0x0102030405060708,
	.key = 0x1122334455667788,
	.psn = 0xabcdee,
	.mtu = 3,
	.life = 0x1000,
};

static const u8 dc_control_bytes[] = {
	/* BTH */
	0xfe, 0x40, 0xff, 0xff, 0x00, 0x12, 0x34, 0x56,
	0x00, 0x00, 0x00, 0x00,
	/* DCETH */
	0x01, 0x00, 0x02, 0x00, 0x00, 0x65, 0x43, 0x21,
	0x89, 0xab, 0xcd, 0xef,
	0xa1, 0xa2, 0xa3, 0xa4, 0xa5, 0xa6, 0xa7, 0xa8,
	/* DCTLETH */
	0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08,
	0xb1, 0xb2, 0xb3, 0xb4, 0xb5, 0xb6, 0xb7, 0xb8,
};

static const struct mxe_dc_hdr dc_control_hdr = {
	.code = MXE_DC_CHALLENGE,
	.qpn = 0x654321,
	.session = 0x89abcdef,
	.instance = 0xa1a2a3a4a5a6a7a8,
	.token = 0x0102030405060708,
	.age = 0xb1b2b3b4b5b6b7b8,
};

static void dc_writes_connect(struct kunit *test)
{
	const size_t len = sizeof(struct mxe_dceth) + sizeof(struct mxe_dcceth);
	u8 buf[sizeof(dc_connect_bytes)];

	KUNIT_EXPECT_EQ(test, mxe_dc_len(&dc_connect_hdr), (unsigned int)len);
	KUNIT_EXPECT_PTR_EQ(test, mxe_dc_write(&dc_connect_hdr, buf), buf + len);
	KUNIT_EXPECT_EQ(test, memcmp(buf, dc_connect_bytes + sizeof(struct mxe_bth), len), 0);
}

/* Parses bytes from above after one change.  The ICRC is 4 more bytes. */
static bool dc_parse_changed(struct kunit *test, const u8 *bytes, size_t len,
			     int at, u8 value, struct mxe_dc_hdr *hdr)
{
	u8 buf[sizeof(dc_connect_bytes) + MXE_ICRC_SIZE] = {};
	struct mxe_pkt pkt;

	memcpy(buf, bytes, len);
	if (at >= 0)
		buf[at] = value;
	if (mxe_pkt_parse(&pkt, buf, len + MXE_ICRC_SIZE))
		return false;
	KUNIT_ASSERT_TRUE(test, pkt.flags & MXE_OP_DCETH);
	return mxe_dc_parse(&pkt, hdr);
}

struct dc_parse_row {
	const char *what;
	bool control;
	size_t cut;			/* bytes missing at the end */
	int at;				/* byte with another value; -1: none */
	u8 value;
	bool valid;
};

static const struct dc_parse_row dc_parse_rows[] = {
	{ "CONNECT", false, 0, -1, 0, true },
	{ "no CONNECT", false, sizeof(struct mxe_dcceth) + 4, 13, 0, true },
	{ "another version", false, 0, 12, 2, false },
	{ "a data packet with a code", false, 0, 14, 1, false },
	{ "CONNECT without its header", false, 8, -1, 0, false },
	{ "a response with CONNECT", false, 0, 0, 0xf1, false },
	{ "a control packet", true, 0, -1, 0, true },
	{ "a control packet of another version", true, 0, 12, 2, false },
	{ "a control packet without a code", true, 0, 14, 0, false },
	{ "a control packet with CONNECT", true, 0, 13, 1, false },
	{ "a control packet with a part of its header", true, 8, -1, 0, false },
	{ "a control packet without its header", true, 16, -1, 0, false },
	{ "another code, which has no such header", true, 16, 14, 4, true },
	{ "another code with such a header", true, 0, 14, 4, false },
	{ "a control packet that is too long", false, 0, 0, 0xfe, false },
};

static void dc_expect_hdr(struct kunit *test, const struct mxe_dc_hdr *hdr,
			  const struct mxe_dc_hdr *want)
{
	KUNIT_EXPECT_EQ(test, hdr->code, want->code);
	KUNIT_EXPECT_EQ(test, hdr->connect, want->connect);
	KUNIT_EXPECT_EQ(test, hdr->qpn, want->qpn);
	KUNIT_EXPECT_EQ(test, hdr->session, want->session);
	KUNIT_EXPECT_EQ(test, hdr->instance, want->instance);
	KUNIT_EXPECT_EQ(test, hdr->token, want->token);
	KUNIT_EXPECT_EQ(test, hdr->age, want->age);
	KUNIT_EXPECT_EQ(test, hdr->key, want->key);
	KUNIT_EXPECT_EQ(test, hdr->psn, want->psn);
	KUNIT_EXPECT_EQ(test, hdr->mtu, want->mtu);
	KUNIT_EXPECT_EQ(test, hdr->life, want->life);
}

static void dc_parses(struct kunit *test)
{
	struct mxe_dc_hdr hdr;
	int i;

	for (i = 0; i < ARRAY_SIZE(dc_parse_rows); i++) {
		const struct dc_parse_row *row = &dc_parse_rows[i];
		const u8 *bytes = row->control ? dc_control_bytes : dc_connect_bytes;
		size_t len = row->control ? sizeof(dc_control_bytes) :
					    sizeof(dc_connect_bytes);

		KUNIT_EXPECT_EQ_MSG(test, dc_parse_changed(test, bytes, len - row->cut,
							   row->at, row->value, &hdr),
				    row->valid, "%s", row->what);
	}

	KUNIT_ASSERT_TRUE(test, dc_parse_changed(test, dc_connect_bytes,
						 sizeof(dc_connect_bytes), -1, 0, &hdr));
	dc_expect_hdr(test, &hdr, &dc_connect_hdr);
	KUNIT_ASSERT_TRUE(test, dc_parse_changed(test, dc_control_bytes,
						 sizeof(dc_control_bytes), -1, 0, &hdr));
	dc_expect_hdr(test, &hdr, &dc_control_hdr);
}

/* As mxe_tx_send_dc_control() does behind the BTH. */
static void dc_writes_control(struct kunit *test)
{
	u8 buf[sizeof(dc_control_bytes)];

	mxe_dc_write_control(&dc_control_hdr, buf);
	KUNIT_EXPECT_EQ(test, memcmp(buf, dc_control_bytes + sizeof(struct mxe_bth),
				     sizeof(buf) - sizeof(struct mxe_bth)), 0);
}

/* Opcodes of DC are those of RC, except for masked atomics. */
static void dc_opcodes(struct kunit *test)
{
	unsigned int rc;

	for (rc = 0; rc < 256; rc++) {
		bool masked = rc == MXE_OPCODE_RC_MASKED_CMP_SWAP ||
			      rc == MXE_OPCODE_RC_MASKED_FETCH_ADD;
		u8 dc = rc == MXE_OPCODE_RC_MASKED_CMP_SWAP ? 0xf8 :
			rc == MXE_OPCODE_RC_MASKED_FETCH_ADD ? 0xf9 : 0xe0 | rc;

		const struct mxe_opcode *row = &mxe_opcodes[rc];

		if (!row->flags || (rc >= 0x20 && !masked))
			continue;
		KUNIT_EXPECT_EQ_MSG(test, mxe_opcode_of(MXE_TRANSPORT_DC, rc), dc,
				    "RC opcode %#x", rc);
		KUNIT_EXPECT_EQ_MSG(test, mxe_opcodes[dc].flags, row->flags | MXE_OP_DCETH,
				    "RC opcode %#x", rc);
		KUNIT_EXPECT_EQ(test, mxe_opcodes[dc].hdr_len, row->hdr_len + 20);
		KUNIT_EXPECT_EQ(test, mxe_opcodes[dc].eth_at, row->eth_at + 20);
	}
	KUNIT_EXPECT_EQ(test, mxe_opcodes[0xff].flags, 0U);
}

/* ---- rules --------------------------------------------------------------- */

struct dc_judge_row {
	struct mxe_dct_record record;
	bool connect;
	u32 session;
	bool token_ok;
	enum mxe_dct_verdict verdict;
};

static const struct dc_judge_row dc_judge_rows[] = {
	{ { false, false, 0 }, false, 5, true, MXE_DCT_NO_SESSION },
	{ { false, false, 0 }, true, 5, false, MXE_DCT_CHALLENGE },
	{ { false, false, 0 }, true, 5, true, MXE_DCT_ACCEPT },
	{ { true, true, 5 }, true, 5, false, MXE_DCT_DELIVER },
	{ { true, true, 5 }, false, 5, false, MXE_DCT_DELIVER },
	{ { true, true, 5 }, true, 6, false, MXE_DCT_ACCEPT },
	{ { true, true, 5 }, true, 4, true, MXE_DCT_STALE },
	{ { true, true, 5 }, false, 6, false, MXE_DCT_NO_SESSION },
	{ { true, false, 5 }, true, 5, true, MXE_DCT_STALE },
	{ { true, false, 5 }, false, 5, true, MXE_DCT_NO_SESSION },
	{ { true, false, 5 }, true, 6, false, MXE_DCT_ACCEPT },
	/* Numbers wrap. */
	{ { true, false, U32_MAX }, true, 0, false, MXE_DCT_ACCEPT },
	{ { true, false, 0 }, true, U32_MAX, true, MXE_DCT_STALE },
};

static void dc_judges(struct kunit *test)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(dc_judge_rows); i++) {
		const struct dc_judge_row *row = &dc_judge_rows[i];

		KUNIT_EXPECT_EQ_MSG(test, mxe_dct_judge(&row->record, row->connect,
							row->session, row->token_ok),
				    row->verdict, "row %d", i);
	}
}

struct dc_react_row {
	bool forgotten;			/* the target may have forgotten it */
	bool acked;
	u8 code;
	u32 session;			/* the initiator is in 5 */
	u64 token;			/* it has 77 */
	enum mxe_dci_reaction reaction;
	u32 new_session;
	u64 new_token;
};

static const struct dc_react_row dc_react_rows[] = {
	{ false, false, MXE_DC_CHALLENGE, 5, 88, MXE_DCI_RESEND, 5, 88 },
	{ true, false, MXE_DC_CHALLENGE, 5, 88, MXE_DCI_LOST, 5, 77 },
	{ true, true, MXE_DC_CHALLENGE, 5, 88, MXE_DCI_IGNORE, 5, 77 },
	{ false, false, MXE_DC_CHALLENGE, 5, 77, MXE_DCI_IGNORE, 5, 77 },
	{ false, false, MXE_DC_CHALLENGE, 5, BIT_ULL(63) | 77, MXE_DCI_RESEND,
	  5, BIT_ULL(63) | 77 },
	{ false, false, MXE_DC_CHALLENGE, 4, 88, MXE_DCI_IGNORE, 5, 77 },
	{ false, true, MXE_DC_CHALLENGE, 5, 88, MXE_DCI_IGNORE, 5, 77 },
	{ false, false, MXE_DC_STALE, 5, 9, MXE_DCI_IGNORE, 5, 77 },
	{ false, false, MXE_DC_STALE, 5, 5, MXE_DCI_LOST, 5, 77 },
	{ false, false, MXE_DC_STALE, 5, 4, MXE_DCI_IGNORE, 5, 77 },
	{ false, true, MXE_DC_STALE, 5, 9, MXE_DCI_IGNORE, 5, 77 },
	{ false, true, MXE_DC_NO_SESSION, 5, 0, MXE_DCI_LOST, 5, 77 },
	{ false, false, MXE_DC_NO_SESSION, 5, 0, MXE_DCI_IGNORE, 5, 77 },
	{ false, true, MXE_DC_NO_SESSION, 6, 0, MXE_DCI_IGNORE, 5, 77 },
	{ false, false, MXE_DC_BUSY, 5, 0, MXE_DCI_WAIT, 5, 77 },
	{ false, true, MXE_DC_BUSY, 5, 0, MXE_DCI_IGNORE, 5, 77 },
	{ false, false, MXE_DC_BAD_KEY, 5, 0, MXE_DCI_BAD_KEY, 5, 77 },
	{ false, true, MXE_DC_BAD_KEY, 5, 0, MXE_DCI_IGNORE, 5, 77 },
	{ false, false, MXE_DC_REFUSED, 5, 0, MXE_DCI_REFUSED, 5, 77 },
	{ false, false, MXE_DC_DISCONNECT, 5, 0, MXE_DCI_IGNORE, 5, 77 },
	{ false, false, 200, 5, 0, MXE_DCI_IGNORE, 5, 77 },
};

static void dc_reacts(struct kunit *test)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(dc_react_rows); i++) {
		const struct dc_react_row *row = &dc_react_rows[i];
		struct mxe_dci_session s = { 5, 77, row->acked };

		KUNIT_EXPECT_EQ_MSG(test, mxe_dci_react(&s, row->code, row->session,
							row->token, !row->forgotten),
				    row->reaction, "row %d", i);
		KUNIT_EXPECT_EQ_MSG(test, s.session, row->new_session, "row %d", i);
		KUNIT_EXPECT_EQ_MSG(test, s.token, row->new_token, "row %d", i);
	}
}

struct dc_know_row {
	u64 elapsed, life, age;
	bool would_know;
};

static const struct dc_know_row dc_know_rows[] = {
	{ 0, 1000, 0, true },
	{ 511, 1000, 511, true },
	/* The clock of the target may be faster. */
	{ 512, 1000, 512, false },
	{ 512, 1000, 513, true },
	{ 512, 513, U64_MAX, false },
	{ 512, 514, U64_MAX, true },
	/* Another target had the number when the session began. */
	{ 999, 10000, 998, false },
	{ 999, 10000, 0, false },
	/* The longest life, in ns. */
	{ MXE_DC_MAX_LIFE * 1000000ULL, MXE_DC_MAX_LIFE * 1000000ULL, U64_MAX, false },
	{ MXE_DC_MAX_LIFE / 2 * 1000000ULL, MXE_DC_MAX_LIFE * 1000000ULL, U64_MAX, true },
};

static void dc_would_know(struct kunit *test)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(dc_know_rows); i++) {
		const struct dc_know_row *row = &dc_know_rows[i];

		KUNIT_EXPECT_EQ_MSG(test, mxe_dci_would_know(row->elapsed, row->life, row->age),
				    row->would_know, "row %d", i);
	}
}

/* A target cannot make an initiator retransmit as often as it likes. */
static void dc_limits_challenges(struct kunit *test)
{
	struct mxe_dci_session s = { .session = 5 };
	u32 resent = 0;
	u64 token;

	for (token = 1; token <= 100; token++) {
		resent += mxe_dci_react(&s, MXE_DC_CHALLENGE, 5, token, true) ==
			  MXE_DCI_RESEND;
		KUNIT_EXPECT_EQ(test, s.token, token);
	}
	KUNIT_EXPECT_EQ(test, resent, (u32)MXE_DC_MAX_CHALLENGES);
}

/* ---- model --------------------------------------------------------------- */

#define DC_TARGETS	2
#define DC_REQUESTS	400
#define DC_PACKETS	256
#define DC_PEERS	16
#define DC_WINDOW	4
#define DC_RETRIES	6
/* Milliseconds. */
#define DC_SLACK	500
#define DC_SUSPEND_MAX	40000
#define DC_PAUSE_MAX	40000
#define DC_STEP_MAX	20

/* Timeouts in ms are DC_RTO to 2 * DC_RTO, times up to 2^DC_RTO_BITS. */
#define DC_RTO		40
#define DC_RTO_BITS	9

struct dc_packet {
	bool used;
	bool to_target;
	u8 target;
	u8 code;			/* MXE_DC_DATA: a request or an ACK */
	bool connect;
	u32 session, instance;
	u64 token, age;
	u32 start;			/* first PSN of the session */
	u32 psn;			/* of a request, or acknowledged */
	u32 index;			/* of a request */
	u64 at;				/* arrives */
};

/* A session that the initiator keeps while it sends to the other target. */
struct dc_model_kept {
	bool used;
	u32 session;
	u32 start;			/* its first PSN */
	u32 psn;			/* of the next request */
	u64 heard;
};

/* An initiator as a target knows it. */
struct dc_model_peer {
	struct mxe_dct_record record;
	u32 instance;
	u32 epsn;
	u64 used;			/* last packet */
	u64 life;			/* until the session or the record ends */
};

struct dc_model_target {
	struct dc_model_peer peers[DC_PEERS];
	u32 secret;
	u64 born;			/* when it got its number */
};

struct dc_model {
	struct rnd_state rnd;
	u64 now;
	u64 max_delay;
	u32 bad_one_in;			/* packets: lost or doubled */
	u32 every;			/* ms between restarts */
	u32 rto;			/* of the initiator */
	u64 asked_life;			/* of sessions, by the initiator */
	s32 skew;			/* clock of the targets: parts in 1024 */
	/* Rules that a run may break. */
	u64 record_time;
	u64 life;
	bool forgets_soon;		/* a target that is reset */
	bool never_expires, never_dies;	/* so the initiator thinks */

	struct dc_packet net[DC_PACKETS];
	u64 next_arrival;		/* at the earliest */
	struct dc_model_target targets[DC_TARGETS];

	/* The initiator.  una and next are indices of requests. */
	struct mxe_dci_session s;
	u32 newest;			/* session number */
	u32 instance;			/* counts, so that none is used twice */
	bool connected;
	u8 target;
	u32 start, una, next;
	u32 offset;			/* index of a request minus its PSN */
	struct dc_model_kept kept[DC_TARGETS];
	u64 begun, heard, sent_at, pause_until;
	u64 suspended_until;
	int tries;
	/* What happens next, if it does in this run. */
	u64 initiator_restart_at, target_restart_at, target_reset_at, suspend_at;

	u8 to[DC_REQUESTS];
	u8 executed[DC_REQUESTS];	/* by all lives of its target */
	bool acked[DC_REQUESTS];
	u32 failed;			/* requests that ended in an error */

	/* Results. */
	u32 twice, never;
	u32 accepts, challenges, stales, expiries, restarts, resets, suspends;
	u32 resumes;
};

static u32 dc_rnd(struct dc_model *m, u32 n)
{
	return prandom_u32_state(&m->rnd) % n;
}

/* Returns the time by the clock of the targets. */
static u64 dc_target_now(const struct dc_model *m)
{
	return m->now + div_s64((s64)m->now * m->skew, 1024);
}

static void dc_net_add(struct dc_model *m, const struct dc_packet *pkt)
{
	int i, copies = 1;

	if (!dc_rnd(m, m->bad_one_in))
		copies = dc_rnd(m, 3);
	for (i = 0; i < DC_PACKETS && copies; i++) {
		if (m->net[i].used)
			continue;
		m->net[i] = *pkt;
		m->net[i].used = true;
		m->net[i].at = m->now + 1 + dc_rnd(m, 4);
		if (!dc_rnd(m, 6))
			m->net[i].at += dc_rnd(m, m->max_delay);
		m->next_arrival = min(m->next_arrival, m->net[i].at);
		copies--;
	}
}

static u64 dc_token(const struct dc_model *m, const struct dc_packet *pkt, u64 back)
{
	u64 interval = div_u64(dc_target_now(m), MXE_DC_TOKEN_TIME * 1000) - back;

	return (pkt->session * 2654435761U ^ (u32)interval * 40503U ^
		pkt->instance * 97U ^ m->targets[pkt->target].secret) ?: 1;
}

static void dc_target_answer(struct dc_model *m, const struct dc_packet *to,
			     u8 code, u64 token, u32 psn)
{
	struct dc_packet pkt = {
		.target = to->target,
		.code = code,
		.session = to->session,
		.instance = to->instance,
		.token = token,
		.age = code == MXE_DC_CHALLENGE ?
		       dc_target_now(m) - m->targets[to->target].born : 0,
		.psn = psn,
	};

	dc_net_add(m, &pkt);
}

/* Returns what the target of a packet knows of its sender, or a free slot. */
static struct dc_model_peer *dc_peer(struct dc_model *m, const struct dc_packet *pkt)
{
	struct dc_model_peer *peer = m->targets[pkt->target].peers, *unused = NULL;
	int i;

	for (i = 0; i < DC_PEERS; i++, peer++) {
		if (peer->record.known && peer->instance == pkt->instance)
			return peer;
		if (!peer->record.known)
			unused = peer;
	}
	return unused;
}

static void dc_target_request(struct dc_model *m, const struct dc_packet *pkt)
{
	struct dc_model_peer *t = dc_peer(m, pkt);
	bool token_ok = pkt->token && (pkt->token == dc_token(m, pkt, 0) ||
				       pkt->token == dc_token(m, pkt, 1));

	if (!t)
		return;

	switch (mxe_dct_judge(&t->record, pkt->connect, pkt->session, token_ok)) {
	case MXE_DCT_ACCEPT:
		t->record = (struct mxe_dct_record) { true, true, pkt->session };
		t->instance = pkt->instance;
		t->epsn = pkt->start;
		t->life = m->life;
		m->accepts++;
		fallthrough;
	case MXE_DCT_DELIVER:
		t->used = dc_target_now(m);
		if (pkt->psn == t->epsn) {
			if (m->executed[pkt->index]++)
				m->twice++;
			t->epsn++;
		}
		if (t->epsn != pkt->start)
			dc_target_answer(m, pkt, MXE_DC_DATA, 0, t->epsn - 1);
		break;
	case MXE_DCT_CHALLENGE:
		m->challenges++;
		dc_target_answer(m, pkt, MXE_DC_CHALLENGE,
				 dc_token(m, pkt, 0), 0);
		break;
	case MXE_DCT_STALE:
		m->stales++;
		dc_target_answer(m, pkt, MXE_DC_STALE, t->record.session, 0);
		break;
	case MXE_DCT_NO_SESSION:
		dc_target_answer(m, pkt, MXE_DC_NO_SESSION, 0, 0);
		break;
	}
}

static void dc_target_end(struct dc_model *m, struct dc_model_peer *t)
{
	t->record.open = false;
	t->life += m->record_time;
}

static void dc_target_forget_soon(struct dc_model *m, struct dc_model_peer *t)
{
	t->used = dc_target_now(m);
	t->life = m->record_time;
}

static void dc_target_disconnect(struct dc_model *m, const struct dc_packet *pkt)
{
	struct dc_model_peer *t = dc_peer(m, pkt);

	if (t && t->record.open && t->record.session == pkt->session &&
	    t->instance == pkt->instance) {
		dc_target_end(m, t);
		dc_target_forget_soon(m, t);
	}
}

static void dc_target_time(struct dc_model *m, int i)
{
	struct dc_model_peer *t = m->targets[i].peers;
	u64 now = dc_target_now(m);
	int n;

	for (n = 0; n < DC_PEERS; n++, t++) {
		if (!t->record.known || now < t->used + t->life)
			continue;
		if (t->record.open) {
			dc_target_end(m, t);
			m->expiries++;
		} else {
			t->record.known = false;
		}
	}
}

/* The target goes through RESET to RTR, which ends its sessions. */
static void dc_target_reset(struct dc_model *m, int i)
{
	struct dc_model_peer *t = m->targets[i].peers;
	int n;

	for (n = 0; n < DC_PEERS; n++, t++) {
		if (!t->record.open)
			continue;
		dc_target_end(m, t);
		if (m->forgets_soon)
			dc_target_forget_soon(m, t);
	}
	m->resets++;
}

/*
 * The target is destroyed, and another one gets its number.  It may have the
 * same memory.
 */
static void dc_target_restart(struct dc_model *m, int i)
{
	memset(m->targets[i].peers, 0, sizeof(m->targets[i].peers));
	m->targets[i].secret = prandom_u32_state(&m->rnd);
	m->targets[i].born = dc_target_now(m);
	m->restarts++;
}

static void dc_send(struct dc_model *m, u32 index)
{
	struct dc_packet pkt = {
		.to_target = true,
		.target = m->target,
		.connect = !m->s.acked,
		.session = m->s.session,
		.instance = m->instance,
		.token = m->s.token,
		.start = m->start,
		.psn = index - m->offset,
		.index = index,
	};

	dc_net_add(m, &pkt);
}

static void dc_resend(struct dc_model *m)
{
	u32 index;

	for (index = m->una; index < m->next; index++)
		dc_send(m, index);
	m->sent_at = m->now;
}

/* The outstanding requests end in an error, and the QP is reset. */
static void dc_fail(struct dc_model *m)
{
	m->failed += m->next - m->una;
	m->una = m->next;
	m->connected = false;
	m->tries = 0;
	memset(m->kept, 0, sizeof(m->kept));
}

/* Another process gets the QP number. */
static void dc_initiator_restart(struct dc_model *m)
{
	dc_fail(m);
	m->instance++;
	m->newest = 0;
	m->restarts++;
}

static void dc_initiator_packet(struct dc_model *m, const struct dc_packet *pkt)
{
	u32 index = pkt->psn + m->offset;

	if (!m->connected || pkt->target != m->target ||
	    pkt->instance != m->instance)
		return;
	if (!pkt->code) {
		if (pkt->session != m->s.session)
			return;
		m->s.acked = true;
		m->heard = m->now;
		if (index < m->una || index >= m->next)
			return;
		while (m->una <= index) {
			m->acked[m->una] = true;
			if (!m->executed[m->una])
				m->never++;
			m->una++;
		}
		m->tries = 0;
		m->sent_at = m->now;
		return;
	}
	if (m->una == m->next)
		return;
	switch (mxe_dci_react(&m->s, pkt->code, pkt->session, pkt->token,
			      mxe_dci_would_know(m->now - m->begun,
						 m->never_expires ? U64_MAX : m->asked_life,
						 m->never_dies ? U64_MAX : pkt->age))) {
	case MXE_DCI_RESEND:
		dc_resend(m);
		break;
	case MXE_DCI_LOST:
		dc_fail(m);
		break;
	default:
		break;
	}
}

static void dc_initiator_open(struct dc_model *m, u8 to)
{
	m->s = (struct mxe_dci_session) { .session = ++m->newest };
	m->connected = true;
	m->target = to;
	m->start = m->next;
	m->offset = 0;
	m->begun = m->now;
	m->heard = m->now;
}

/* Keeps the session, or ends it, because there are too many. */
static void dc_initiator_leave(struct dc_model *m)
{
	struct dc_packet pkt = {
		.to_target = true,
		.target = m->target,
		.code = MXE_DC_DISCONNECT,
		.session = m->s.session,
		.instance = m->instance,
	};

	if (dc_rnd(m, 3) && m->s.acked)
		m->kept[m->target] = (struct dc_model_kept) {
			true, m->s.session, m->start, m->next - m->offset, m->heard
		};
	else
		dc_net_add(m, &pkt);
	m->connected = false;
}

static void dc_initiator_resume(struct dc_model *m, u8 to)
{
	struct dc_model_kept *kept = &m->kept[to];

	m->s = (struct mxe_dci_session) { .session = kept->session, .acked = true };
	m->connected = true;
	m->target = to;
	m->start = kept->start;
	m->offset = m->next - kept->psn;
	m->heard = kept->heard;
	kept->used = false;
	m->resumes++;
}

static void dc_initiator_start(struct dc_model *m)
{
	u8 to = m->to[m->next];

	if (m->connected && m->target != to) {
		if (m->una != m->next)
			return;
		dc_initiator_leave(m);
	}
	if (!m->connected && m->kept[to].used)
		dc_initiator_resume(m, to);
	if (!m->connected ||
	    (m->una == m->next && m->now >= m->heard + m->asked_life / 2))
		dc_initiator_open(m, to);
	if (m->una == m->next)
		m->sent_at = m->now;
	dc_send(m, m->next++);
	/* Now and then the program thinks, for longer than sessions live. */
	if (!dc_rnd(m, 10))
		m->pause_until = m->now + dc_rnd(m, min_t(u64, 3 * m->asked_life, DC_PAUSE_MAX));
}

static void dc_initiator_time(struct dc_model *m)
{
	if (m->una != m->next && m->now >= m->sent_at + m->rto) {
		if (m->tries++ == DC_RETRIES)
			dc_fail(m);
		else
			dc_resend(m);
	}
	if (m->next < DC_REQUESTS && m->next - m->una < DC_WINDOW &&
	    m->now >= m->pause_until)
		dc_initiator_start(m);
}

/*
 * The timers of a suspended host stand still, and its network adapter loses or
 * keeps what arrives.
 */
static void dc_suspend(struct dc_model *m, u64 time)
{
	m->suspended_until = m->now + time;
	m->sent_at += time;
	m->suspends++;
}

static void dc_deliver(struct dc_model *m)
{
	int i;

	if (m->now < m->next_arrival)
		return;
	m->next_arrival = U64_MAX;
	for (i = 0; i < DC_PACKETS; i++) {
		struct dc_packet pkt = m->net[i];

		if (!pkt.used)
			continue;
		if (!pkt.to_target && pkt.at < m->suspended_until) {
			pkt.at = m->suspended_until;
			m->net[i].at = pkt.at;
			m->net[i].used = !dc_rnd(m, 4);
		}
		if (pkt.at > m->now) {
			m->next_arrival = min(m->next_arrival, pkt.at);
			continue;
		}
		m->net[i].used = false;
		if (!pkt.to_target)
			dc_initiator_packet(m, &pkt);
		else if (!pkt.code)
			dc_target_request(m, &pkt);
		else
			dc_target_disconnect(m, &pkt);
	}
}

/* A timeout of 0 stands for a random one.  The longest ones exceed a record. */
static void dc_model_init(struct dc_model *m, u32 seed, u32 rto)
{
	int i;

	memset(m, 0, sizeof(*m));
	prandom_seed_state(&m->rnd, seed);
	m->rto = rto ?: (DC_RTO + dc_rnd(m, DC_RTO)) << dc_rnd(m, DC_RTO_BITS + 1);
	m->asked_life = 2 * m->rto * (DC_RETRIES + 1) + DC_SLACK;
	m->skew = (s32)(seed % 3) - 1;
	m->record_time = MXE_DC_RECORD_TIME * 1000;
	m->life = m->asked_life;
	m->next_arrival = U64_MAX;
	m->max_delay = 20000;
	m->bad_one_in = 8;
	/* Long enough for some retransmissions. */
	m->every = 4000 + 8 * m->rto;
	/* A time at which no interval is negative. */
	m->now = 1000000;
	/* The numbers wrap during the run. */
	m->newest = -100;
	for (i = 0; i < DC_TARGETS; i++)
		m->targets[i].secret = prandom_u32_state(&m->rnd);
	for (i = 0; i < DC_REQUESTS; i++)
		m->to[i] = i && dc_rnd(m, 3) ? m->to[i - 1] : dc_rnd(m, DC_TARGETS);
}

/* What happens in a run. */
enum {
	DC_RESTARTS	= BIT(0),	/* of both ends */
	DC_RESETS	= BIT(1),	/* of targets */
	DC_SUSPENDS	= BIT(2),	/* of the host of the initiator */
};

/* Sets the time of the next event, which occurs every @every ms on average. */
static void dc_again(struct dc_model *m, u64 *at, u32 every)
{
	*at = max(m->now, m->suspended_until) + 1 + dc_rnd(m, 2 * every);
}

/* Lets happen what is due, and draws the next time of it. */
static void dc_happen(struct dc_model *m, u32 events)
{
	if (m->now < m->suspended_until)
		return;
	if (m->now >= m->initiator_restart_at) {
		if (events & DC_RESTARTS)
			dc_initiator_restart(m);
		dc_again(m, &m->initiator_restart_at, m->every);
	}
	if (m->now >= m->target_restart_at) {
		if (events & DC_RESTARTS)
			dc_target_restart(m, dc_rnd(m, DC_TARGETS));
		dc_again(m, &m->target_restart_at, m->every);
	}
	if (m->now >= m->target_reset_at) {
		if (events & DC_RESETS)
			dc_target_reset(m, dc_rnd(m, DC_TARGETS));
		dc_again(m, &m->target_reset_at, m->every);
	}
	/* A suspend only matters while requests are outstanding. */
	if (m->now >= m->suspend_at && m->una != m->next) {
		if (events & DC_SUSPENDS)
			dc_suspend(m, dc_rnd(m, DC_SUSPEND_MAX));
		dc_again(m, &m->suspend_at, 2 * m->rto);
	}
}

/* Advances the time to that of the next event, or to an earlier one. */
static void dc_advance(struct dc_model *m)
{
	u64 next = min(m->next_arrival, m->now + DC_STEP_MAX);

	if (m->now < m->suspended_until)
		next = min(next, m->suspended_until);
	else if (m->una != m->next)
		next = min(next, m->sent_at + m->rto);
	if (m->now < m->pause_until)
		next = min(next, m->pause_until);
	else if (m->next < DC_REQUESTS && m->next - m->una < DC_WINDOW)
		next = m->now;
	m->now = max(next, m->now + 1);
}

static void dc_model_run(struct dc_model *m, u32 events)
{
	u64 end;
	int i;

	/* After the last request, wait for the packets that are left. */
	for (end = 0; !end || m->now < end; dc_advance(m)) {
		dc_deliver(m);
		for (i = 0; i < DC_TARGETS; i++)
			dc_target_time(m, i);
		if (m->now >= m->suspended_until)
			dc_initiator_time(m);
		dc_happen(m, events);
		if (!end && m->una == DC_REQUESTS)
			end = m->now + m->max_delay + 1000;
	}
}

#define DC_RUNS 24

static void dc_model_holds(struct kunit *test)
{
	struct dc_model *m = kunit_kzalloc(test, sizeof(*m), GFP_KERNEL);
	u32 failed = 0, acked = 0, accepts = 0, challenges = 0, stales = 0;
	u32 expiries = 0, restarts = 0, resets = 0, suspends = 0, resumes = 0;
	u32 seed, i;

	KUNIT_ASSERT_NOT_NULL(test, m);
	for (seed = 1; seed <= DC_RUNS; seed++) {
		u32 events = (seed % 2 ? DC_RESTARTS | DC_RESETS : 0) |
			     (seed % 3 ? 0 : DC_SUSPENDS);

		dc_model_init(m, seed, 0);
		dc_model_run(m, events);
		KUNIT_ASSERT_EQ_MSG(test, m->twice, 0U, "executed twice, seed %u", seed);
		KUNIT_ASSERT_EQ_MSG(test, m->never, 0U,
				    "acknowledged but not executed, seed %u", seed);
		for (i = 0; i < DC_REQUESTS; i++)
			acked += m->acked[i];
		failed += m->failed;
		accepts += m->accepts;
		challenges += m->challenges;
		stales += m->stales;
		expiries += m->expiries;
		restarts += m->restarts;
		resets += m->resets;
		suspends += m->suspends;
		resumes += m->resumes;
		cond_resched();
	}
	KUNIT_EXPECT_EQ(test, acked + failed, DC_RUNS * (u32)DC_REQUESTS);
	/* The model was in all of its corners, and most requests succeeded. */
	KUNIT_EXPECT_GT(test, acked, 4 * failed);
	KUNIT_EXPECT_GT(test, accepts, 1000U);
	KUNIT_EXPECT_GT(test, challenges, 100U);
	KUNIT_EXPECT_GT(test, stales, 100U);
	KUNIT_EXPECT_GT(test, expiries, 100U);
	KUNIT_EXPECT_GT(test, restarts, 100U);
	KUNIT_EXPECT_GT(test, resets, 100U);
	KUNIT_EXPECT_GT(test, suspends, 100U);
	KUNIT_EXPECT_GT(test, resumes, 500U);
	kunit_info(test, "%u acked, %u failed, %u accepts, %u resumes, %u challenges, %u stale, %u expired, %u restarts, %u resets, %u suspended",
		   acked, failed, accepts, resumes, challenges, stales, expiries,
		   restarts, resets, suspends);
}

/* Without a restart, no request fails unless the network is that bad. */
static void dc_model_is_live(struct kunit *test)
{
	struct dc_model *m = kunit_kzalloc(test, sizeof(*m), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, m);
	dc_model_init(m, 1, 50);
	m->max_delay = 5;
	dc_model_run(m, 0);
	KUNIT_EXPECT_EQ(test, m->failed, 0U);
	KUNIT_EXPECT_EQ(test, m->twice, 0U);
}

#define DC_BROKEN_RUNS 100

/* A rule that runs break.  The model must find a request executed twice. */
struct dc_broken_row {
	const char *what;
	u32 rto;
	u32 events;
	u32 max_delay;
	bool no_record;
	bool short_life;
	bool never_expires;
	bool never_dies;
	bool forgets_soon;
	bool is_bad;			/* much happens */
};

static const struct dc_broken_row dc_broken_rows[] = {
	{ "no record of closed sessions", 50, 0, 20000, .no_record = true },
	{ "sessions that end while the initiator retries", 50, 0, 10,
	  .no_record = true, .short_life = true },
	{ "tokens asked for after a suspend", 50, DC_SUSPENDS, 10, .never_expires = true },
	{ "tokens asked for after a restart of the target", 3000, DC_RESTARTS, 10,
	  .never_dies = true, .is_bad = true },
	{ "a record of 12 seconds of sessions that a reset has ended", 17000, DC_RESETS, 10,
	  .forgets_soon = true, .is_bad = true },
};

static void dc_model_finds_errors(struct kunit *test)
{
	struct dc_model *m = kunit_kzalloc(test, sizeof(*m), GFP_KERNEL);
	u32 seed, twice;
	int i;

	KUNIT_ASSERT_NOT_NULL(test, m);
	for (i = 0; i < ARRAY_SIZE(dc_broken_rows); i++) {
		const struct dc_broken_row *row = &dc_broken_rows[i];

		twice = 0;
		for (seed = 1; seed <= DC_BROKEN_RUNS && !twice; seed++) {
			dc_model_init(m, seed, row->rto);
			m->max_delay = row->max_delay;
			if (row->no_record)
				m->record_time = 0;
			if (row->short_life)
				m->life = row->rto;
			if (row->is_bad) {
				m->bad_one_in = 2;
				m->every = 2 * row->rto;
			}
			m->never_expires = row->never_expires;
			m->never_dies = row->never_dies;
			m->forgets_soon = row->forgets_soon;
			dc_model_run(m, row->events);
			twice += m->twice;
			cond_resched();
		}
		KUNIT_EXPECT_GT_MSG(test, twice, 0U, "%s", row->what);
		kunit_info(test, "%s: found in run %u", row->what, seed - 1);
	}
}

static struct kunit_case dc_cases[] = {
	KUNIT_CASE(dc_writes_connect),
	KUNIT_CASE(dc_parses),
	KUNIT_CASE(dc_writes_control),
	KUNIT_CASE(dc_opcodes),
	KUNIT_CASE(dc_judges),
	KUNIT_CASE(dc_reacts),
	KUNIT_CASE(dc_would_know),
	KUNIT_CASE(dc_limits_challenges),
	KUNIT_CASE(dc_model_holds),
	KUNIT_CASE(dc_model_is_live),
	KUNIT_CASE(dc_model_finds_errors),
	{}
};

static struct kunit_suite dc_suite = {
	.name = "mxe_dc",
	.test_cases = dc_cases,
};

kunit_test_suite(dc_suite);
