// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Proves that the sessions of dynamically connected (DC) QPs open and close as
 * specified, that forged packets cannot open or disturb them, and that targets
 * can be destroyed while initiators use them.
 *
 * With the argument "sessions" it only opens and closes some, for t_tracing.sh.
 */
#include <endian.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "cgroup.h"
#include "dc.h"
#include "dc_wire.h"
#include "random.h"
#include "raw.h"
#include "tap.h"

/* ---- memory of sessions ------------------------------------------------- */

enum { CHARGED_SESSIONS = 200, CHARGED_BYTES = 2048 };

/*
 * Packets open sessions. Their memory is charged to the process that created
 * the target.
 */
static void test_charged(struct vt_dev *a, struct vt_dev *b)
{
	static struct dc_initiator i[CHARGED_SESSIONS];
	struct dc_target t;
	long before;
	int bad = 0;

	if (cgroup_open()) {
		skip(1, "the kernel has no memory control groups");
		return;
	}
	if (mkdir(GROUP, 0755))
		vt_bail(GROUP);
	cgroup_write(GROUP "/cgroup.procs", "0");
	dc_target_open(&t, b, a, 7, false);
	cgroup_write(CGROUP "/cgroup.procs", "0");
	before = cgroup_value(GROUP "/memory.current");
	for (int n = 0; n < CHARGED_SESSIONS; n++) {
		dc_initiator_open(&i[n], a);
		bad += dc_fadd(&i[n], &t) != IBV_WC_SUCCESS;
	}
	is_int(bad, 0, "%d initiators with a session", CHARGED_SESSIONS);
	before = cgroup_value(GROUP "/memory.current") - before;
	diag("a session costs %ld bytes", before / CHARGED_SESSIONS);
	ok(before >= (long)CHARGED_SESSIONS * CHARGED_BYTES,
	   "... their sessions are charged to the group of the target");
	for (int n = 0; n < CHARGED_SESSIONS; n++)
		dc_initiator_close(&i[n]);
	dc_target_close(&t);
	rmdir(GROUP);
	cgroup_close();
}

/* ---- sessions ---------------------------------------------------------- */

/* Waits for less time than a session lives after its last packet. */
static bool soon_has(const struct dc_target *t, const char *what)
{
	uint64_t end = vt_now_ms() + 1000;

	while (!dc_resource_has(t, what))
		if (vt_now_ms() > end)
			return false;
	return true;
}

static void test_sessions(struct vt_dev *a, struct vt_dev *b)
{
	struct dc_target t, u;
	struct dc_initiator i;
	char what[32];
	long before;

	dc_initiator_open(&i, a);
	dc_target_open(&t, b, a, 1, false);
	dc_target_open(&u, b, a, 2, false);

	before = vt_dev_counter(b, "dc_challenges");
	is_int(dc_fadd(&i, &t), IBV_WC_SUCCESS, "the first request");
	ok(vt_dev_counter(b, "dc_challenges") > before,
	   "... of an unknown initiator needs a token");
	ok(dc_resource_has(&t, "drv_dct_sessions 1 ") &&
	   dc_resource_has(&u, "drv_dct_sessions 0 "),
	   "the resources show which target has a session");
	snprintf(what, sizeof(what), "drv_dci_target %u ", t.qp->qp_num);
	ok(dc_resource_of(a, i.qp, what) && dc_resource_of(a, i.qp, "drv_dci_session 1 "),
	   "... and the target of an initiator");
	before = vt_dev_counter(a, "dc_connects");
	is_int(dc_fadd(&i, &t), IBV_WC_SUCCESS, "the next one");
	is_int(vt_dev_counter(a, "dc_connects"), before, "... needs no connect");
	is_int(dc_fadd(&i, &u), IBV_WC_SUCCESS, "another target");
	is_int(vt_dev_counter(a, "dc_connects"), before + 1, "... does");
	before = vt_dev_counter(b, "dc_challenges");
	dc_initiator_reset(&i);
	is_int(dc_fadd(&i, &t), IBV_WC_SUCCESS, "a known target");
	is_int(vt_dev_counter(b, "dc_challenges"), before, "... needs no token");

	/* With this timeout, the lifetime of a session is only the slack. */
	before = vt_dev_counter(b, "dc_expired");
	dc_timeout = 1;
	dc_initiator_reset(&i);
	is_int(dc_fadd(&i, &t), IBV_WC_SUCCESS, "a session");
	vt_dev_wait_counted(b, "dc_expired", before);
	ok(vt_dev_counter(b, "dc_expired") > before, "... ends when it is idle");
	is_int(dc_fadd(&i, &t), IBV_WC_SUCCESS, "... and another one begins");
	dc_timeout = 14;
	is_int(dc_fadd(&i, &t), IBV_WC_SUCCESS, "a session");
	ok(dc_resource_has(&t, "drv_dct_sessions 1 "), "... is open");
	dc_initiator_reset(&i);
	ok(soon_has(&t, "drv_dct_sessions 0 "), "... until the initiator is reset");
	is_int(dc_fadd(&i, &t), IBV_WC_SUCCESS, "a session");
	dc_initiator_close(&i);
	ok(soon_has(&t, "drv_dct_sessions 0 "), "... ends when the initiator is destroyed");
	dc_initiator_open(&i, a);
	is_int(dc_fadd(&i, &t), IBV_WC_SUCCESS, "a session");
	/* The target still has an open session. */
	ok(dc_word(t.buf) == 8 && dc_word(u.buf) == 1, "each request was executed once");
	is_int(ibv_destroy_qp(t.qp), 0, "a target with a session is destroyed");
	t.qp = NULL;
	dc_target_close(&u);
	dc_target_close(&t);
	dc_initiator_close(&i);
}

/* ---- kept sessions ----------------------------------------------------- */

#define KEPT	7	/* besides the session with the last target */

static int sum_sessions(const struct dc_target *t, int num)
{
	struct mxedv_dct_attr attr;
	int sum = 0;

	for (int n = 0; n < num; n++) {
		attr.comp_mask = 0;
		if (mxedv_query_dct(t[n].qp, &attr, sizeof(attr)))
			vt_bail("mxedv_query_dct");
		sum += attr.num_sessions;
	}
	return sum;
}

/* Waits for the messages that end sessions. */
static bool soon_open(const struct dc_target *t, int num, int sessions)
{
	uint64_t end = vt_now_ms() + 1000;

	while (sum_sessions(t, num) != sessions)
		if (vt_now_ms() > end)
			return false;
	return true;
}

/* Returns the number of requests that fail. */
static int fadd_all(struct dc_initiator *i, struct dc_target *t, int num, int rounds)
{
	int bad = 0;

	for (int n = 0; n < num * rounds; n++)
		bad += dc_fadd(i, &t[n % num]) != IBV_WC_SUCCESS;
	return bad;
}

/* Requests to some targets in turn, by sessions that are kept. */
static void test_kept(struct vt_dev *a, struct vt_dev *b)
{
	struct dc_target t[KEPT + 2];
	const int rounds = 5;
	struct dc_initiator i;
	int wrong = 0;
	long before;

	dc_initiator_open(&i, a);
	for (int n = 0; n < KEPT + 2; n++)
		dc_target_open(&t[n], b, a, (uint64_t)n, false);
	before = vt_dev_counter(a, "dc_connects");
	is_int(fadd_all(&i, t, KEPT + 1, rounds), 0, "requests to %d targets in turn",
	       KEPT + 1);
	is_int(vt_dev_counter(a, "dc_connects"), before + KEPT + 1,
	       "... connect to each once");
	is_int(sum_sessions(t, KEPT + 1), KEPT + 1, "... and leave none");

	/* This one takes the place of another one. */
	is_int(dc_fadd(&i, &t[KEPT + 1]), IBV_WC_SUCCESS, "one more target");
	ok(soon_open(t, KEPT + 2, KEPT + 1), "... ends a session with another");
	before = vt_dev_counter(a, "dc_connects");
	is_int(fadd_all(&i, t, KEPT + 2, 1), 0, "... to which requests connect again");
	ok(vt_dev_counter(a, "dc_connects") > before, "... as the counter says");
	for (int n = 0; n < KEPT + 2; n++)
		wrong += dc_word(t[n].buf) != (uint64_t)(n <= KEPT ? rounds + 1 : 2);
	is_int(wrong, 0, "... and all were executed once");

	dc_initiator_reset(&i);
	ok(soon_open(t, KEPT + 2, 0), "a reset of the initiator ends all sessions");
	is_int(fadd_all(&i, t, 2, 1), 0, "an initiator with two sessions");
	dc_target_close(&t[0]);
	is_int(dc_fadd(&i, &t[1]), IBV_WC_SUCCESS, "... does not need the target that it left");
	dc_initiator_close(&i);
	ok(soon_open(t + 1, KEPT + 1, 0), "... and leaves the other when it is destroyed");
	for (int n = 1; n < KEPT + 2; n++)
		dc_target_close(&t[n]);
}

/* Handles that differ in the traffic class do not make two targets of one. */
static void test_two_handles(struct vt_dev *a, struct vt_dev *b)
{
	struct ibv_ah_attr attr = {
		.is_global = 1,
		.port_num = 1,
		.grh = {
			.dgid = b->gid4, .sgid_index = (uint8_t)a->gid4_index,
			.hop_limit = 64, .traffic_class = 4,
		},
	};
	struct dc_target t[2], again;
	struct dc_initiator i;
	int bad = 0;
	long before;

	dc_initiator_open(&i, a);
	for (int n = 0; n < 2; n++)
		dc_target_open(&t[n], b, a, (uint64_t)n, false);
	again = t[0];
	again.ah = ibv_create_ah(a->pd, &attr);
	if (!again.ah)
		vt_bail("ibv_create_ah");
	before = vt_dev_counter(a, "dc_connects");
	for (int n = 0; n < 10; n++)
		bad += dc_fadd(&i, &t[0]) || dc_fadd(&i, &again) ||
		       dc_fadd(&i, &t[1]) || dc_fadd(&i, &again) ||
		       dc_fadd(&i, &t[1]);
	is_int(bad, 0, "two handles of a target, and another target");
	is_int(vt_dev_counter(a, "dc_connects"), before + 2, "... need two sessions");
	ok(dc_word(t[0].buf) == 30 && dc_word(t[1].buf) == 20,
	   "... and all requests were executed once");
	ibv_destroy_ah(again.ah);
	dc_initiator_close(&i);
	for (int n = 0; n < 2; n++)
		dc_target_close(&t[n]);
}

/*
 * A session that was idle for half of its life is not used again, because the
 * target may end it.
 */
static void test_kept_idle(struct vt_dev *a, struct vt_dev *b)
{
	struct dc_initiator i;
	struct dc_target t[2];
	long before;

	/* With this timeout, a session lives for 4 seconds. */
	dc_timeout = 1;
	dc_initiator_open(&i, a);
	for (int n = 0; n < 2; n++)
		dc_target_open(&t[n], b, a, (uint64_t)n, false);
	is_int(fadd_all(&i, t, 2, 1), 0, "sessions with two targets");
	before = vt_dev_counter(a, "dc_connects");
	usleep(2500000);
	is_int(sum_sessions(t, 2), 2, "... are still open when they have been idle");
	is_int(fadd_all(&i, t, 2, 1), 0, "... but requests");
	is_int(vt_dev_counter(a, "dc_connects"), before + 2, "... connect again");
	is_int(sum_sessions(t, 2), 2, "... and the old sessions are gone");
	dc_timeout = 14;
	dc_initiator_close(&i);
	for (int n = 0; n < 2; n++)
		dc_target_close(&t[n]);
}

/* ---- states of a target ------------------------------------------------ */

/*
 * A session does not outlive a reset of the target, after which other access
 * flags may apply.
 */
static void test_target_reset(struct vt_dev *a, struct vt_dev *b)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1 };
	struct dc_initiator i;
	struct dc_target t;

	dc_initiator_open(&i, a);
	dc_target_open(&t, b, a, 1, false);
	is_int(dc_fadd(&i, &t), IBV_WC_SUCCESS, "a session");
	if (dc_to_state(t.qp, IBV_QPS_RESET) ||
	    ibv_modify_qp(t.qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX |
			  IBV_QP_PORT | IBV_QP_ACCESS_FLAGS) ||
	    dc_to_rtr(t.qp, true))
		vt_bail("reset of a target");
	ok(dc_resource_has(&t, "drv_dct_sessions 0 "),
	   "... is closed when the target is reset");
	is_int(dc_fadd(&i, &t), IBV_WC_RETRY_EXC_ERR, "... so its next request fails");
	dc_initiator_reset(&i);
	is_int(dc_fadd(&i, &t), IBV_WC_REM_INV_REQ_ERR,
	       "a new session has the new access flags");
	ok(dc_word(t.buf) == 1, "only the first request was executed");

	dc_initiator_reset(&i);
	is_int(dc_to_state(t.qp, IBV_QPS_ERR), 0, "the target is moved to ERR");
	ok(dc_resource_has(&t, "drv_dct_sessions 0 "), "... which closes its sessions");
	dc_target_close(&t);
	dc_initiator_close(&i);
}

static int query_rd_atomic(const struct dc_target *t)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	return ibv_query_qp(t->qp, &attr, IBV_QP_MAX_DEST_RD_ATOMIC, &init) ?
	       -1 : attr.max_dest_rd_atomic;
}

/* Moves a target through RESET to RTR; -1 leaves max_dest_rd_atomic out. */
static void reset_to_rtr(struct dc_target *t, int rd_atomic)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = dc_path_mtu,
		.min_rnr_timer = dc_rnr_timer,
		.max_dest_rd_atomic = (uint8_t)rd_atomic,
	};

	if (dc_to_state(t->qp, IBV_QPS_RESET) || dc_to_init(t->qp, true) ||
	    ibv_modify_qp(t->qp, &attr, IBV_QP_STATE | IBV_QP_PATH_MTU |
			  IBV_QP_MIN_RNR_TIMER |
			  (rd_atomic < 0 ? 0 : IBV_QP_MAX_DEST_RD_ATOMIC)))
		vt_bail("reset of a target");
}

/* Optional attributes do not outlive a reset, either. */
static void test_rd_atomic(struct vt_dev *a, struct vt_dev *b)
{
	struct dc_initiator i;
	struct dc_target t;

	dc_initiator_open(&i, a);
	dc_target_open(&t, b, a, 1, false);
	is_int(query_rd_atomic(&t), 16, "max_dest_rd_atomic of a target is 16");
	reset_to_rtr(&t, 0);
	is_int(query_rd_atomic(&t), 0, "... or what it is set to");
	is_int(dc_fadd(&i, &t), IBV_WC_REM_INV_REQ_ERR, "0 refuses atomics, as on RC");
	dc_initiator_reset(&i);
	reset_to_rtr(&t, 1);
	is_int(dc_fadd(&i, &t), IBV_WC_SUCCESS, "1 does not");
	ok(dc_word(t.buf) == 1, "... and one was executed");
	reset_to_rtr(&t, -1);
	is_int(query_rd_atomic(&t), 16, "after a reset it is 16 again");
	dc_target_close(&t);
	dc_initiator_close(&i);
}

/* Lets h2 send packets for h1 to a wrong Ethernet address, or ends that. */
static void lose_answers(const struct vt_dev *a, bool lose)
{
	char command[160];

	snprintf(command, sizeof(command), "ip -n h2 neigh %s %u.%u.%u.%u dev eth0 %s",
		 lose ? "replace" : "del", a->gid4.raw[12], a->gid4.raw[13],
		 a->gid4.raw[14], a->gid4.raw[15],
		 lose ? "lladdr 02:00:00:00:00:99 nud permanent" : "");
	if (system(command))
		vt_bail("%s", command);
}

/*
 * The answer to a request is lost, and the target is reset.  With this timeout,
 * the request is sent again later than a target remembers a session that has
 * ended otherwise.  It is not executed again.
 */
static void test_reset_and_retry(struct vt_dev *a, struct vt_dev *b)
{
	enum { TIMEOUT = 22, MS = 17180 };	/* 4.096 us * 2^22 */
	uint64_t end = vt_now_ms() + VT_MS;
	struct dc_initiator i;
	struct dc_target t;
	struct ibv_wc wc;

	dc_initiator_open(&i, a);
	dc_target_open(&t, b, a, 1, false);
	is_int(dc_fadd(&i, &t), IBV_WC_SUCCESS, "a request makes the initiator known");
	dc_timeout = TIMEOUT;
	dc_initiator_reset(&i);
	dc_timeout = 14;
	lose_answers(a, true);
	if (dc_post_fadd(&i, &t, 2, 0))
		vt_bail("ibv_wr_complete");
	while (dc_word(t.buf) < 2 && vt_now_ms() < end)
		usleep(1000);
	is_int((int)dc_word(t.buf), 2, "the next one is executed");
	ok(!vt_poll(i.cq, &wc, 100), "... but its answer is lost");
	lose_answers(a, false);
	reset_to_rtr(&t, -1);
	ok(vt_poll(i.cq, &wc, 8 * MS) && wc.status == IBV_WC_RETRY_EXC_ERR,
	   "it fails after a reset of the target");
	is_int((int)dc_word(t.buf), 2, "... and is not executed again");
	dc_target_close(&t);
	dc_initiator_close(&i);
}

/* ---- hostile packets ----------------------------------------------------- */

enum {
	DC_SEND_ONLY = DC_WIRE_RC | BTH_SEND_ONLY,
	HEADERS = DC_WIRE_DCETH + DC_WIRE_DCCETH,
	FORGED = 100,
};

static uint64_t seed = 1;

/* Headers of a CONNECT of an unknown initiator. */
static struct dc_wire forged_headers(const struct dc_target *t)
{
	return (struct dc_wire){
		.connect = true,
		.qpn = random_next(&seed) & 0xffffff,
		.session = (uint32_t)random_next(&seed),
		.instance = random_next(&seed),
		.key = t->key,
		.mtu = IBV_MTU_256,
	};
}

/* A SEND with these headers. */
static struct raw forged_send(const struct dc_target *t, const struct dc_wire *h)
{
	struct raw r = { .opcode = DC_SEND_ONLY, .qpn = t->qp->qp_num };

	r.len = dc_wire_put(r.body, h);
	random_fill(&seed, r.body + r.len, 4);
	r.len += 4;
	return r;
}

static void wait_counted(const struct vt_dev *dev, const char *counter, long want)
{
	uint64_t end = vt_now_ms() + VT_MS;
	long now;

	while ((now = vt_dev_counter(dev, counter)) < want && vt_now_ms() < end)
		poll(NULL, 0, 1);
	is_int(now, want, "... are counted in %s", counter);
}

static void test_forged(struct vt_dev *a, struct vt_dev *b)
{
	int fd = raw_open();
	long accepts, challenges, versions, shorts, transports, refused, violations;
	struct dc_initiator i;
	struct dc_target t;
	int n;

	dc_initiator_open(&i, a);
	dc_target_open(&t, b, a, 0x77, false);
	is_int(dc_fadd(&i, &t), IBV_WC_SUCCESS, "a target with a session");
	accepts = vt_dev_counter(b, "dc_accepts");
	challenges = vt_dev_counter(b, "dc_challenges");
	versions = vt_dev_counter(b, "drop_version");
	shorts = vt_dev_counter(b, "drop_short");
	transports = vt_dev_counter(b, "drop_transport");

	diag("%d connects without a token, and with a wrong one", FORGED);
	for (n = 0; n < FORGED; n++) {
		struct dc_wire h = forged_headers(&t);
		struct raw r;

		h.token = n % 2 ? random_next(&seed) : 0;
		r = forged_send(&t, &h);
		raw_send(fd, a, b, &r);
	}
	wait_counted(b, "dc_challenges", challenges + FORGED);
	is_int(vt_dev_counter(b, "dc_accepts"), accepts, "... and none is accepted");

	diag("connects that ask for too long a session");
	refused = vt_dev_counter(b, "dc_refused");
	for (n = 0; n < 4; n++) {
		struct dc_wire h = forged_headers(&t);
		struct raw r;

		h.life = n % 2 ? UINT32_MAX : INT32_MAX;
		r = forged_send(&t, &h);
		raw_send(fd, a, b, &r);
	}
	wait_counted(b, "dc_refused", refused + 4);

	diag("connects with a wrong key");
	violations = vt_dev_counter(b, "dc_key_violations");
	challenges = vt_dev_counter(b, "dc_challenges");
	for (n = 0; n < 4; n++) {
		struct dc_wire h = forged_headers(&t);
		struct raw r;

		h.key ^= 1ULL << 63;
		r = forged_send(&t, &h);
		raw_send(fd, a, b, &r);
	}
	wait_counted(b, "dc_key_violations", violations + 4);
	is_int(vt_dev_counter(b, "dc_challenges"), challenges, "... and get no token");

	diag("malformed DC headers");
	for (n = 0; n < 4; n++) {
		struct dc_wire h = forged_headers(&t);
		struct raw r = forged_send(&t, &h);

		if (n == 0)
			r.body[0] = 2;		/* version */
		else if (n == 1)
			r.body[2] = 1;		/* a code, but not control */
		else if (n == 2)
			r.len = DC_WIRE_DCETH;	/* no DCCETH */
		else
			r.opcode = DC_WIRE_CONTROL;	/* with CONNECT and data */
		raw_send(fd, a, b, &r);
	}
	wait_counted(b, "drop_version", versions + 3);
	wait_counted(b, "drop_short", shorts + 1);

	diag("packets of RC to the target");
	for (n = 0; n < 4; n++) {
		struct raw r = { .opcode = BTH_SEND_ONLY, .qpn = t.qp->qp_num };

		raw_send(fd, a, b, &r);
	}
	wait_counted(b, "drop_transport", transports + 4);

	diag("packets of RC to an initiator");
	transports = vt_dev_counter(a, "drop_transport");
	for (n = 0; n < 4; n++) {
		struct raw r = { .opcode = BTH_SEND_ONLY, .qpn = i.qp->qp_num };

		raw_send(fd, b, a, &r);
	}
	wait_counted(a, "drop_transport", transports + 4);

	diag("random DC packets");
	for (n = 0; n < 3 * FORGED; n++) {
		struct dc_wire h = forged_headers(&t);
		struct raw r = forged_send(&t, &h);

		r.opcode = DC_WIRE_RC | (uint8_t)(random_next(&seed) % 32);
		random_fill(&seed, r.body + HEADERS, sizeof(r.body) - HEADERS);
		r.len = random_next(&seed) % 60 * 4;
		if (random_next(&seed) % 2)
			random_fill(&seed, r.body + 1, DC_WIRE_DCETH);
		raw_send(fd, a, b, &r);
		if (n % 25 == 0 && dc_fadd(&i, &t) != IBV_WC_SUCCESS)
			break;
	}
	is_int(n, 3 * FORGED, "do not disturb the session");
	ok(dc_word(t.buf) == 1 + 3 * FORGED / 25, "... whose requests are executed once");
	close(fd);
	dc_target_close(&t);
	dc_initiator_close(&i);
}

/* ---- other targets ------------------------------------------------------- */

/* Reads the headers of the last packet to a QP of h2.  False: there is none. */
static bool sniff(int fd, const struct ibv_qp *qp, struct dc_wire *last, uint32_t *psn)
{
	const size_t hdr_len = 20 + 8;		/* IPv4, UDP */
	bool found = false;
	uint8_t packet[2048];
	struct dc_wire h;
	ssize_t len;

	while ((len = recv(fd, packet, sizeof(packet), MSG_DONTWAIT)) > 0) {
		const uint8_t *bth = packet + hdr_len;

		if (len < (ssize_t)hdr_len ||
		    !dc_wire_get(bth, (size_t)len - hdr_len, &h) ||
		    (dc_wire_get32(bth + 4) & 0xffffff) != qp->qp_num)
			continue;
		*last = h;
		*psn = dc_wire_get32(bth + 8) & 0xffffff;
		found = true;
	}
	return found;
}

static void send_genuine(struct dc_initiator *i, struct dc_target *t, uint64_t value)
{
	memcpy(i->buf, &value, sizeof(value));
	dc_begin(i, 2);
	ibv_wr_send(i->qpx);
	if (dc_end(i, t, sizeof(value)))
		vt_bail("ibv_wr_complete");
	is_int(dc_wait(i->cq, 2), IBV_WC_SUCCESS, "a SEND to the other target");
}

/*
 * The packets that one target sees do not suffice to forge any for another one:
 * no request, no DISCONNECT, and no answer of the other target.
 */
static void test_other_target(struct vt_dev *a, struct vt_dev *b)
{
	enum { GENUINE = 4711, OFFSET = 64 };
	int fd = raw_open(), before = raw_enter("h2");
	int rx = socket(AF_INET, SOCK_RAW, IPPROTO_UDP);
	struct dc_wire seen, again, other, h;
	struct dc_initiator i;
	struct dc_target t, u;
	uint32_t psn, other_psn;
	struct ibv_wc wc;
	struct raw r;
	long dropped;

	raw_leave(before);
	if (rx < 0)
		vt_bail("raw socket");
	dc_initiator_open(&i, a);
	dc_target_open(&t, b, a, 0x1111, false);
	dc_target_open(&u, b, a, 0x2222, false);
	is_int(dc_fadd(&i, &t), IBV_WC_SUCCESS, "a request to the target that listens");
	if (!sniff(rx, t.qp, &seen, &psn))
		vt_bail("no packet was seen");
	is_int(dc_fadd(&i, &u), IBV_WC_SUCCESS, "a request to another target");
	if (!sniff(rx, u.qp, &other, &other_psn))
		vt_bail("no packet was seen");
	ok(other.instance != seen.instance, "... shows another instance");
	ok(other_psn != ((psn + 1) & 0xffffff), "... and begins with another PSN");

	dc_target_recv(&u, 1, OFFSET, 8);
	r = (struct raw){
		.opcode = DC_SEND_ONLY, .qpn = u.qp->qp_num, .psn = (psn + 2) & 0xffffff,
	};
	h = (struct dc_wire){
		.qpn = i.qp->qp_num, .session = seen.session + 1,
		.instance = seen.instance,
	};
	r.len = dc_wire_put(r.body, &h) + 8;
	raw_send(fd, a, b, &r);
	r.psn = (other_psn + 1) & 0xffffff;
	raw_send(fd, a, b, &r);
	r.opcode = DC_WIRE_CONTROL;
	h.code = DC_WIRE_DISCONNECT;
	r.len = dc_wire_put(r.body, &h);
	raw_send(fd, a, b, &r);
	send_genuine(&i, &u, GENUINE);
	ok(vt_poll(u.cq, &wc, VT_MS) && dc_word(u.buf + OFFSET) == GENUINE,
	   "... is the first that it receives, after forged ones");

	dropped = vt_dev_counter(a, "drop_address");
	r.qpn = i.qp->qp_num;
	h.qpn = u.qp->qp_num;
	for (h.code = 1; h.code <= DC_WIRE_CODES; h.code++) {
		r.len = dc_wire_put(r.body, &h);
		raw_send(fd, b, a, &r);
	}
	diag("forged answers of the other target");
	wait_counted(a, "drop_address", dropped + DC_WIRE_CODES);
	dc_initiator_reset(&i);
	is_int(dc_fadd(&i, &t), IBV_WC_SUCCESS, "after a reset, a request to the first target");
	if (!sniff(rx, t.qp, &again, &psn))
		vt_bail("no packet was seen");
	ok(again.instance == seen.instance && again.session == seen.session + 2,
	   "... shows the same instance and a newer session");
	close(rx);
	close(fd);
	dc_target_close(&u);
	dc_target_close(&t);
	dc_initiator_close(&i);
}

/* ---- query and events ---------------------------------------------------- */

static bool is_queried(const struct dc_target *t, enum ibv_qp_state state,
		       uint32_t sessions, uint64_t violations, uint32_t armed)
{
	struct mxedv_dct_attr attr;
	int ret = mxedv_query_dct(t->qp, &attr, sizeof(attr));

	if (ret)
		vt_bail("mxedv_query_dct: %s", strerror(ret));
	return !attr.comp_mask && attr.state == state && attr.num_sessions == sessions &&
	       attr.num_initiators >= sessions && attr.key_violations == violations &&
	       attr.armed_events == armed;
}

static void wrong_key(struct dc_initiator *i, const struct dc_target *t)
{
	struct dc_target wrong = *t;

	wrong.key ^= 1;
	is_int(dc_fadd(i, &wrong), IBV_WC_REM_ACCESS_ERR, "a wrong key");
	dc_initiator_reset(i);
}

/* The event comes with the QP of the target. */
static bool has_event(const struct dc_target *t)
{
	struct pollfd pfd = { .fd = t->dev->ctx->async_fd, .events = POLLIN };
	struct ibv_async_event event;
	bool found;

	do {
		if (poll(&pfd, 1, VT_MS) != 1 || ibv_get_async_event(t->dev->ctx, &event))
			return false;
		found = event.event_type == IBV_EVENT_QP_ACCESS_ERR;
		if (found && event.element.qp != t->qp)
			vt_bail("an event of another QP");
		ibv_ack_async_event(&event);
	} while (!found);
	return true;
}

static void test_armed(struct vt_dev *a, struct vt_dev *b)
{
	const uint32_t armed = MXEDV_DCT_KEY_VIOLATION;
	struct mxedv_dct_attr attr;
	struct dc_initiator i;
	struct dc_target t, other;

	dc_initiator_open(&i, a);
	dc_target_open(&t, b, a, 4, false);
	dc_target_open(&other, b, a, 6, false);
	vt_drain_async(b);
	ok(is_queried(&t, IBV_QPS_RTR, 0, 0, 0), "a new target");
	is_int(dc_fadd(&i, &t), IBV_WC_SUCCESS, "a session");
	ok(is_queried(&t, IBV_QPS_RTR, 1, 0, 0), "... is counted");

	wrong_key(&i, &t);
	ok(is_queried(&t, IBV_QPS_RTR, 0, 1, 0), "... is counted");
	is_int(vt_async(b, 50), -1, "... without an event, as the target is not armed");

	is_int(mxedv_arm_dct(t.qp, armed), 0, "the target is armed");
	is_int(mxedv_arm_dct(t.qp, armed), 0, "... twice");
	ok(is_queried(&t, IBV_QPS_RTR, 0, 1, armed), "... which the query shows");
	wrong_key(&i, &other);
	is_int(vt_async(b, 50), -1, "... of another target raises no event");
	wrong_key(&i, &t);
	ok(has_event(&t), "... raises an event of this one");
	wrong_key(&i, &t);
	is_int(vt_async(b, 50), -1, "... raises no second event");
	ok(is_queried(&t, IBV_QPS_RTR, 0, 3, 0), "... the target is not armed any more");
	is_int(mxedv_arm_dct(t.qp, armed), 0, "the target is armed again");
	wrong_key(&i, &t);
	ok(has_event(&t), "... and raises another event");
	is_int(dc_fadd(&i, &t), IBV_WC_SUCCESS, "the target still works");

	is_int(mxedv_arm_dct(t.qp, armed), 0, "armed once more");
	is_int(dc_to_state(t.qp, IBV_QPS_ERR), 0, "the target is moved to ERR");
	ok(is_queried(&t, IBV_QPS_ERR, 0, 4, armed), "... and remains armed");
	is_int(mxedv_arm_dct(t.qp, 0), EINVAL, "refused: no event");
	is_int(mxedv_arm_dct(t.qp, 2), EINVAL, "refused: an unknown event");
	is_int(mxedv_arm_dct(t.qp, armed | 1u << 31), EINVAL, "... beside a known one");
	is_int(mxedv_arm_dct(i.qp, armed), EINVAL, "refused: an initiator");
	is_int(mxedv_query_dct(i.qp, &attr, sizeof(attr)), EINVAL, "... its query, too");
	dc_target_close(&other);
	dc_target_close(&t);
	dc_initiator_close(&i);
}

/* ---- races --------------------------------------------------------------- */

struct racer {
	pthread_t thread;
	struct vt_dev *dev;
	const struct dc_target *target;
};

static atomic_bool stop_race;
static atomic_uint race_dctn;	/* number of the target, which may be gone */
static atomic_uint race_done, race_failed;

/*
 * Posts several requests at once, so that some are in flight when the target is
 * destroyed.  After an error, resets the initiator.
 */
static void *race(void *arg)
{
	const struct racer *r = arg;
	const struct dc_target *t = r->target;
	struct dc_initiator i;
	struct ibv_wc wc;

	dc_initiator_open(&i, r->dev);
	while (!stop_race) {
		bool failed = false;
		int n;

		ibv_wr_start(i.qpx);
		i.qpx->wr_flags = IBV_SEND_SIGNALED;
		for (n = 0; n < 4; n++) {
			ibv_wr_atomic_fetch_add(i.qpx, t->mr->rkey, dc_addr(t, 0), 1);
			mxedv_wr_set_dc_addr(i.mqp, t->ah, race_dctn, t->key);
			ibv_wr_set_sge(i.qpx, i.mr->lkey, (uintptr_t)i.buf, 8);
		}
		if (ibv_wr_complete(i.qpx))
			vt_bail("ibv_wr_complete");
		for (n = 0; n < 4; n++) {
			if (!vt_poll(i.cq, &wc, VT_MS))
				vt_bail("no completion");
			failed |= !!wc.status;
			atomic_fetch_add(wc.status ? &race_failed : &race_done, 1);
		}
		if (failed)
			dc_initiator_reset(&i);
	}
	dc_initiator_close(&i);
	return NULL;
}

/* Waits until requests have completed since a counter had a value. */
static void race_wait(const atomic_uint *counter, unsigned int before)
{
	uint64_t end = vt_now_ms() + VT_MS;

	while (*counter == before && vt_now_ms() < end)
		usleep(100);
}

static void test_race(struct vt_dev *a, struct vt_dev *b)
{
	enum { RACERS = 3, DESTROYED = 12 };
	struct racer racers[RACERS];
	struct dc_target t;
	int n;

	/* Initiators give up soon. */
	dc_retry_cnt = 1;
	dc_timeout = 8;
	dc_target_open(&t, b, a, 1, false);
	race_dctn = t.qp->qp_num;
	for (n = 0; n < RACERS; n++) {
		racers[n] = (struct racer){ .dev = a, .target = &t };
		if (pthread_create(&racers[n].thread, NULL, race, &racers[n]))
			vt_bail("pthread_create");
	}
	for (n = 0; n < DESTROYED; n++) {
		struct ibv_qp *old = t.qp;
		unsigned int failed;

		race_wait(&race_done, race_done);
		failed = race_failed;
		if (n % 2) {
			ibv_destroy_qp(old);
			race_wait(&race_failed, failed);
		}
		dc_target_qp(&t);
		race_dctn = t.qp->qp_num;
		if (!(n % 2))
			ibv_destroy_qp(old);
	}
	stop_race = true;
	for (n = 0; n < RACERS; n++)
		pthread_join(racers[n].thread, NULL);
	dc_retry_cnt = 7;
	dc_timeout = 14;
	ok(race_done && race_failed, "%u requests while %d targets are destroyed, and %u fail",
	   race_done, DESTROYED, race_failed);
	ok(dc_word(t.buf) >= race_done, "... and the others were executed");
	dc_target_close(&t);
}

int main(int argc, char **argv)
{
	struct vt_dev *a = vt_open(vt_name_a());
	struct vt_dev *b = vt_open(vt_name_b());

	plan(0);
	test_sessions(a, b);
	if (argc < 2 || strcmp(argv[1], "sessions")) {
		test_kept(a, b);
		test_two_handles(a, b);
		test_kept_idle(a, b);
		test_charged(a, b);
		test_target_reset(a, b);
		test_rd_atomic(a, b);
		test_reset_and_retry(a, b);
		test_forged(a, b);
		test_other_target(a, b);
		test_armed(a, b);
		test_race(a, b);
	}
	vt_close(b);
	vt_close(a);
	return done_testing();
}
