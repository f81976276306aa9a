// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Proves that a process may bind a memory window repeatedly, with the same key,
 * while the queue pairs of peers write through it without a pause. Every bind
 * completes, binding delays nothing else on its CPU, the peers get no error
 * until the window is closed, and no peer writes after that.
 *
 *	t_hostile_rebind [loop] [wire]	peers on the same or another device
 */
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "tap.h"
#include "hostile.h"

enum {
	CPU = 1,
	PEERS = 4,
	IN_FLIGHT = 8,
	LEN = 64 * 1024,
	BINDS = 64,		/* entries of the owner's send queue */
	ROUND_MS = 1500,
	ROUND_MS_FULL = 15000,
	LATE_MS = 10,
	QUIET_MS = 50,
};

#define BIND_ID	0x62696e6400000000ULL

struct peer {
	pthread_t thread;
	struct vt_pair p;	/* from the peer to the owner */
	uint64_t good;
	int status;		/* the first error */
};

static struct {
	struct hostile_steps steps;
	uint64_t rounds, good, max_ns;
	const char *wrong;
	char text[128];
} *sh;

static const char *peer_name;
static struct peer peers[PEERS];
static struct vt_pair own;	/* end b is the owner's */
static struct hostile_rings rings;
static struct ibv_mw *mw;
static uint32_t key;

/* ---- peers --------------------------------------------------------------- */

/* Writes until the window is closed. */
static void *be_peer(void *arg)
{
	struct peer *peer = arg;
	struct vt_end *e = &peer->p.a;
	struct ibv_sge sge = vt_sge(e, 0, LEN);
	struct vt_wr wr = {
		.op = VT_WRITE, .via = VT_WR, .flags = IBV_SEND_SIGNALED,
		.sge = &sge, .num_sge = 1, .raddr = vt_addr(&own.b, 0),
		.rkey = key,
	};
	struct ibv_wc wc;
	int open = 0;

	hostile_pin(0);
	for (;;) {
		for (; !peer->status && open < IN_FLIGHT; open++)
			if (vt_post(e, &wr))
				vt_bail("cannot post");
		if (!open)
			return NULL;
		if (!vt_poll(e->cq, &wc, VT_MS)) {
			peer->status = -1;
			return NULL;
		}
		open--;
		peer->good += !wc.status;
		if (wc.status && !peer->status)
			peer->status = wc.status;
	}
}

/* ---- the owner ----------------------------------------------------------- */

static void open_all(void)
{
	struct vt_dev *b = vt_open(vt_name_b()), *a = vt_open(peer_name);
	struct vt_conf conf = vt_defaults();

	conf.size = LEN;
	conf.depth = BINDS;
	conf.mr_access |= IBV_ACCESS_MW_BIND;
	for (int i = 0; i < PEERS; i++)
		vt_pair_open(&peers[i].p, a, b, &conf);
	conf.create_flags = MXEDV_QP_CREATE_DEFER_DOORBELL;
	vt_pair_open(&own, a, b, &conf);
}

/* Fills the ring with binds to the same memory with the same key. */
static void prepare_binds(void)
{
	struct ibv_mw_bind bind = {
		.send_flags = IBV_SEND_SIGNALED,
		.bind_info = {
			.mr = own.b.mr, .addr = vt_addr(&own.b, 0),
			.length = LEN,
			.mw_access_flags = IBV_ACCESS_REMOTE_WRITE,
		},
	};

	mw = ibv_alloc_mw(own.b.dev->pd, IBV_MW_TYPE_1);
	if (!mw)
		vt_bail("ibv_alloc_mw");
	key = mw->rkey;
	for (uint64_t i = 0; i < BINDS; i++) {
		bind.wr_id = BIND_ID + i;
		if (ibv_bind_mw(own.b.qp, mw, &bind))
			vt_bail("ibv_bind_mw");
		vt_change_wqe(bind.wr_id, offsetof(struct mxe_send_wqe, rkey),
			      sizeof(uint32_t), key);
	}
	hostile_add_ring(&rings, BIND_ID, BINDS);
	rings.doorbell_fd = vt_doorbell_fd();
	rings.doorbell = (struct mxe_doorbell){
		own.b.qp->qp_num, MXE_DOORBELL_SEND,
	};
}

/* Fills the ring with binds. Returns NULL or a description of the error. */
static const char *bind_all(void)
{
	uint64_t ns = vt_now_ns();
	struct ibv_wc wc;

	hostile_feed_once(&rings);
	if (hostile_ring(&rings) < 0)
		return "doorbell";
	ns = vt_now_ns() - ns;
	if (ns > sh->max_ns)
		sh->max_ns = ns;
	for (uint64_t i = 0; i < BINDS; i++) {
		if (!vt_poll(own.b.cq, &wc, VT_MS))
			return "a bind does not complete";
		if (wc.status)
			return vt_status(wc.status);
		if (wc.wr_id != BIND_ID + i)
			return "a wrong completion";
	}
	return NULL;
}

/*
 * Executes binds with a length of 0 and checks that no peer writes afterwards.
 * Returns NULL or a description of the error.
 */
static const char *close_window(void)
{
	const char *wrong;

	for (uint64_t i = 0; i < BINDS; i++)
		vt_change_wqe(BIND_ID + i,
			      offsetof(struct mxe_send_wqe, bind.length),
			      sizeof(uint64_t), 0);
	wrong = bind_all();
	if (wrong)
		return wrong;
	memset(own.b.buf, 0x5a, LEN);
	hostile_sleep_ms(QUIET_MS);
	for (int i = 0; i < LEN; i++)
		if (own.b.buf[i] != 0x5a)
			return "written to after it was closed";
	return NULL;
}

static const char *check_peers(void)
{
	const char *wrong = NULL;

	for (int i = 0; i < PEERS; i++) {
		pthread_join(peers[i].thread, NULL);
		sh->good += peers[i].good;
		if (peers[i].status != IBV_WC_REM_ACCESS_ERR)
			wrong = vt_status(peers[i].status);
		else if (!peers[i].good)
			wrong = "a peer wrote nothing";
	}
	return wrong;
}

static const char *rebind(void)
{
	uint64_t end;
	const char *wrong;

	open_all();
	prepare_binds();
	wrong = bind_all();
	if (wrong)
		return wrong;
	sh->max_ns = 0;
	sh->steps.ready = 1;
	hostile_wait(&sh->steps.go, "meter");
	for (int i = 0; i < PEERS; i++)
		if (pthread_create(&peers[i].thread, NULL, be_peer, &peers[i]))
			vt_bail("pthread_create");
	end = vt_now_ms() + (hostile_full() ? ROUND_MS_FULL : ROUND_MS);
	for (; !wrong && vt_now_ms() < end; sh->rounds++) {
		wrong = bind_all();
		for (int i = 0; i < PEERS; i++)
			if (peers[i].status)
				wrong = vt_status(peers[i].status);
	}
	sh->steps.done = 1;
	if (!wrong)
		wrong = close_window();
	return wrong ? wrong : check_peers();
}

static void owner(void *arg)
{
	const char *wrong;

	(void)arg;
	hostile_pin(CPU);
	wrong = rebind();
	sh->steps.done = 1;
	snprintf(sh->text, sizeof(sh->text), "%s", wrong ? wrong : "");
}

/* ---- measurement -------------------------------------------------------- */

static uint64_t measure(const void *arg)
{
	const char *name = arg;
	struct hostile_lateness late;
	int status;

	memset(sh, 0, sizeof(*sh));
	status = hostile_join(hostile_late_of(&late, CPU, &sh->steps, owner));
	diag("%s: %llu binds, a doorbell call takes at most %.1f ms, peers wrote %llu times; a timer is late by %.1f ms",
	     name, (unsigned long long)sh->rounds * BINDS,
	     (double)sh->max_ns / 1e6, (unsigned long long)sh->good,
	     (double)hostile_late_ns(&late) / 1e6);
	ok(!status && !*sh->text && sh->rounds,
	   "%s: every bind completes, peers write until the window is closed%s%s",
	   name, *sh->text ? ": " : "", sh->text);
	return hostile_late_ns(&late);
}

static void check(const char *name, const char *device, uint64_t base_ns)
{
	uint64_t limit = hostile_limit(LATE_MS) + 2 * base_ns;

	peer_name = device;
	if (!hostile_judges_time()) {
		measure(name);
		return;
	}
	ok(hostile_least(measure, name, limit) <= limit,
	   "%s: binding delays a timer by less than %.1f ms", name,
	   (double)limit / 1e6);
}

int main(int argc, char **argv)
{
	uint64_t base_ns;

	(void)argc;
	sh = hostile_begin(sizeof(*sh));
	plan(0);
	base_ns = hostile_base_late_ns(CPU);
	if (vt_wanted("loop", argv + 1))
		check("loop", vt_name_b(), base_ns);
	if (vt_wanted("wire", argv + 1))
		check("wire", vt_name_a(), base_ns);
	return done_testing();
}
