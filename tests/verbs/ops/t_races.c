// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Proves that objects can be destroyed or changed while they are in use, and
 * used by two threads at once. Each race is repeated for $RACE_SECONDS (default
 * 2), checks a condition in each round or at the end, and prints the number of
 * rounds.
 *
 *	t_races [NAME...]	all races, or only those
 *
 * t_lifecycle.sh tests the exit of processes and the removal of devices and
 * netns.
 */
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <rdma/mxe-abi.h>
#include "tap.h"
#include "ud.h"
#include "vt.h"

enum { BURST = 32, WORD = 4096, TARGET = 8192, LEN = 3000 };

static struct vt_dev *a, *b;
static uint64_t deadline;

static bool time_left(void)
{
	return vt_now_ms() < deadline;
}

/* Lets other threads and the kernel run for a random time. */
static void some_time(void)
{
	usleep((unsigned int)(vt_random_u64() % 3000));
}

static int post(struct vt_pair *p, enum vt_opcode op, uint32_t rkey,
		size_t offset, uint64_t wr_id)
{
	struct ibv_sge sge = vt_sge(&p->a, 0, op == VT_MFADD ? 8 : LEN);
	struct vt_wr wr = {
		.op = op, .via = VT_WR, .flags = IBV_SEND_SIGNALED,
		.wr_id = wr_id, .sge = &sge, .num_sge = 1,
		.raddr = vt_addr(&p->b, offset), .rkey = rkey,
		.compare_add = 1,
	};

	return vt_post(&p->a, &wr);
}

static void post_burst(struct vt_pair *p, enum vt_opcode op, uint32_t rkey)
{
	size_t offset = op == VT_MFADD ? WORD : TARGET;

	for (uint64_t i = 0; i < BURST; i++)
		if (post(p, op, rkey, offset, i))
			vt_bail("post");
}

/*
 * Checks that each request of a burst completes once and in order, and that
 * none succeeds after one that failed. Returns NULL or an error message.
 */
static const char *drain_burst(struct vt_pair *p, unsigned int *good)
{
	enum ibv_wc_status last = IBV_WC_SUCCESS;
	struct ibv_wc wc;

	*good = 0;
	for (uint64_t i = 0; i < BURST; i++) {
		if (!vt_poll(p->a.cq, &wc, VT_MS))
			return "a completion is missing";
		if (wc.wr_id != i)
			return "a completion twice, or out of order";
		if (wc.status == IBV_WC_SUCCESS && last != IBV_WC_SUCCESS)
			return "success after an error";
		last = wc.status;
		*good += !wc.status;
	}
	return vt_poll(p->a.cq, &wc, 0) ? "one completion too many" : NULL;
}

/*
 * A thread that keeps BURST requests in flight until the first one fails, and
 * then waits for the completions of the others.
 */
struct stream {
	pthread_t thread;
	struct vt_pair *p;
	enum vt_opcode op;
	uint32_t rkey;
	uint64_t posted, good;
	atomic_uint completed;
	const char *_Atomic wrong;
};

static void *keep_posting(void *arg)
{
	struct stream *s = arg;
	size_t offset = s->op == VT_MFADD ? WORD : TARGET;
	bool failed = false;
	struct ibv_wc wc;

	for (;;) {
		while (!failed && s->posted - s->completed < BURST)
			if (post(s->p, s->op, s->rkey, offset, s->posted++))
				vt_bail("post");
		if (s->posted == s->completed)
			break;
		if (!vt_poll(s->p->a.cq, &wc, VT_MS)) {
			s->wrong = "a completion is missing";
			break;
		}
		if (wc.wr_id != s->completed++)
			s->wrong = "a completion twice, or out of order";
		if (!wc.status && failed)
			s->wrong = "success after an error";
		failed |= wc.status != IBV_WC_SUCCESS;
		s->good += !wc.status;
	}
	return NULL;
}

/* Returns a random time after the first requests have completed. */
static void stream_start(struct stream *s, struct vt_pair *p,
			 enum vt_opcode op, uint32_t rkey)
{
	*s = (struct stream){ .p = p, .op = op, .rkey = rkey };
	if (pthread_create(&s->thread, NULL, keep_posting, s))
		vt_bail("pthread_create");
	while (s->completed < 4 && !s->wrong)
		sched_yield();
	some_time();
}

/*
 * Moves the requester to ERR and checks that each request has completed, once
 * and in order.
 */
static const char *stream_end(struct stream *s)
{
	if (vt_to_state(&s->p->a, IBV_QPS_ERR))
		vt_bail("to ERR");
	pthread_join(s->thread, NULL);
	return s->wrong;
}

/* Returns an error message if something still writes to the target. */
static const char *is_quiet(uint8_t *target)
{
	memset(target, 0x5a, LEN);
	usleep(1000);
	for (int i = 0; i < LEN; i++)
		if (target[i] != 0x5a)
			return "written to afterwards";
	return NULL;
}

/* ---- states ------------------------------------------------------------- */

/*
 * Moves the requester to ERR. Each request completes, and those that succeeded
 * were executed.
 */
static const char *race_error(unsigned int *rounds)
{
	struct vt_conf conf = vt_defaults();
	const char *wrong = NULL;
	struct stream stream;
	struct vt_pair p;

	vt_pair_open(&p, a, b, &conf);
	while (time_left() && !wrong) {
		uint64_t before = *vt_word(&p.b, WORD), done;

		stream_start(&stream, &p, VT_MFADD, p.b.mr->rkey);
		wrong = stream_end(&stream);
		/* After its reset the responder executes nothing more. */
		vt_pair_reconnect(&p, &conf);
		done = *vt_word(&p.b, WORD) - before;
		if (!wrong && (done < stream.good || done > stream.posted))
			wrong = "executed less often than completed, or too often";
		++*rounds;
	}
	vt_pair_close(&p);
	return wrong;
}

/* Moves the responder to RESET, after which it writes nothing. */
static const char *race_reset(unsigned int *rounds)
{
	struct vt_conf conf = vt_defaults();
	const char *wrong = NULL, *ended;
	struct stream stream;
	uint64_t old, sum;
	struct vt_pair p;

	vt_pair_open(&p, a, b, &conf);
	while (time_left() && !wrong) {
		struct vt_wr wr = {
			.op = VT_MFADD, .via = VT_WR, .compare_add = 1,
		};

		stream_start(&stream, &p, VT_WRITE, p.b.mr->rkey);
		if (vt_to_state(&p.b, IBV_QPS_RESET))
			vt_bail("to RESET");
		wrong = is_quiet(p.b.buf + TARGET);
		ended = stream_end(&stream);
		if (!wrong)
			wrong = ended;
		vt_pair_reconnect(&p, &conf);
		sum = *vt_word(&p.b, WORD);
		if (!wrong && (vt_atomic(&p, &wr, WORD, &old) || old != sum ||
			       *vt_word(&p.b, WORD) != sum + 1))
			wrong = "does not work afterwards";
		++*rounds;
	}
	vt_pair_close(&p);
	return wrong;
}

/* Destroys both while packets and responses are in flight and timers run. */
static const char *race_timer(unsigned int *rounds)
{
	struct vt_conf conf = vt_defaults();
	const char *wrong;
	unsigned int good;
	struct vt_pair p;

	while (time_left()) {
		struct vt_end *first, *second;

		conf.timeout = (uint8_t)(1 + vt_random_u64() % 8);
		conf.min_rnr_timer = 1;
		vt_pair_open(&p, a, b, &conf);
		/* Without a receive request, SENDs get RNR NAKs. */
		post_burst(&p, *rounds & 1 ? VT_SEND : VT_WRITE, p.b.mr->rkey);
		first = *rounds & 2 ? &p.a : &p.b;
		second = *rounds & 2 ? &p.b : &p.a;
		some_time();
		if (ibv_destroy_qp(first->qp))
			vt_bail("destroy");
		some_time();
		if (ibv_destroy_qp(second->qp))
			vt_bail("destroy");
		p.a.qp = NULL;
		p.b.qp = NULL;
		vt_pair_close(&p);
		++*rounds;
	}
	conf = vt_defaults();
	vt_pair_open(&p, a, b, &conf);
	post_burst(&p, VT_MFADD, p.b.mr->rkey);
	wrong = drain_burst(&p, &good);
	if (!wrong && good != BURST)
		wrong = "does not work afterwards";
	vt_pair_close(&p);
	return wrong;
}

/* ---- memory ------------------------------------------------------------- */

/* Deregisters a region, or revokes its rights, while a peer writes to it. */
static const char *race_mr(unsigned int *rounds)
{
	struct vt_conf conf = vt_defaults();
	const char *wrong = NULL, *ended;
	struct stream stream;
	struct vt_pair p;

	vt_pair_open(&p, a, b, &conf);
	while (time_left() && !wrong) {
		struct ibv_mr *mr = ibv_reg_mr(b->pd, p.b.buf, p.b.size,
					       VT_ACCESS_ALL);
		bool changes = *rounds & 1;

		if (!mr)
			vt_bail("ibv_reg_mr");
		stream_start(&stream, &p, VT_WRITE, mr->rkey);
		if (changes &&
		    ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0,
				 IBV_ACCESS_LOCAL_WRITE))
			vt_bail("ibv_rereg_mr");
		if (!changes && ibv_dereg_mr(mr))
			vt_bail("ibv_dereg_mr");
		wrong = is_quiet(p.b.buf + TARGET);
		if (changes && ibv_dereg_mr(mr))
			vt_bail("ibv_dereg_mr");
		ended = stream_end(&stream);
		if (!wrong)
			wrong = ended;
		vt_pair_reconnect(&p, &conf);
		++*rounds;
	}
	vt_pair_close(&p);
	return wrong;
}

static void bind_window(struct vt_pair *p, struct ibv_mw *mw)
{
	struct ibv_send_wr *bad, wr = {
		.opcode = IBV_WR_BIND_MW, .send_flags = IBV_SEND_SIGNALED,
		.bind_mw = {
			.mw = mw,
			.rkey = ibv_inc_rkey(mw->rkey),
			.bind_info = {
				.mr = p->b.mr, .addr = vt_addr(&p->b, TARGET),
				.length = LEN,
				.mw_access_flags = IBV_ACCESS_REMOTE_WRITE,
			},
		},
	};
	struct ibv_wc wc;

	if (ibv_post_send(p->b.qp, &wr, &bad) ||
	    !vt_poll(p->b.cq, &wc, VT_MS) || wc.status)
		vt_bail("bind");
	mw->rkey = wr.bind_mw.rkey;
}

/* Invalidates a window while a peer writes through it. */
static const char *race_mw(unsigned int *rounds)
{
	struct vt_conf conf = vt_defaults();
	const char *wrong = NULL, *ended;
	struct stream stream;
	struct vt_pair p;

	conf.mr_access |= IBV_ACCESS_MW_BIND;
	vt_pair_open(&p, a, b, &conf);
	while (time_left() && !wrong) {
		struct ibv_mw *mw = ibv_alloc_mw(b->pd, IBV_MW_TYPE_2);
		struct ibv_send_wr *bad, wr = {
			.opcode = IBV_WR_LOCAL_INV,
			.send_flags = IBV_SEND_SIGNALED,
		};
		struct ibv_wc wc;

		if (!mw)
			vt_bail("ibv_alloc_mw");
		bind_window(&p, mw);
		wr.invalidate_rkey = mw->rkey;
		stream_start(&stream, &p, VT_WRITE, mw->rkey);
		if (ibv_post_send(p.b.qp, &wr, &bad))
			vt_bail("LOCAL_INV");
		/* It is flushed if a WRITE of the peer was refused before. */
		if (!vt_poll(p.b.cq, &wc, VT_MS))
			wrong = "LOCAL_INV does not complete";
		else if (wc.status && wc.status != IBV_WC_WR_FLUSH_ERR)
			wrong = "LOCAL_INV fails";
		else if (!wc.status)
			wrong = is_quiet(p.b.buf + TARGET);
		ended = stream_end(&stream);
		if (!wrong)
			wrong = ended;
		vt_pair_reconnect(&p, &conf);
		if (ibv_dealloc_mw(mw))
			vt_bail("ibv_dealloc_mw");
		++*rounds;
	}
	vt_pair_close(&p);
	return wrong;
}

/* ---- two threads -------------------------------------------------------- */

struct worker {
	pthread_t thread;
	struct vt_pair *p;
	unsigned int number;
	atomic_uint posted, completed;
};

static atomic_bool stop;

static void *post_field(void *arg)
{
	struct worker *w = arg;
	struct ibv_sge sge = vt_sge(&w->p->a, 64 * w->number, 8);
	struct vt_wr wr = {
		.op = VT_MFADD, .via = VT_WR, .flags = IBV_SEND_SIGNALED,
		.wr_id = w->number, .sge = &sge, .num_sge = 1,
		.raddr = vt_addr(&w->p->b, WORD), .rkey = w->p->b.mr->rkey,
		.compare_add = w->number ? 1ULL << 32 : 1,
		.compare_mask = 0x8000000080000000,
	};

	while (!stop) {
		if (w->posted - w->completed >= 16) {
			sched_yield();
			continue;
		}
		if (vt_post(&w->p->a, &wr))
			vt_bail("post");
		w->posted++;
	}
	return NULL;
}

/* Two threads post to one queue pair; each adds to a field of its own. */
static const char *race_post(unsigned int *rounds)
{
	struct vt_conf conf = vt_defaults();
	struct worker w[2] = { { .number = 0 }, { .number = 1 } };
	struct vt_pair p;
	struct ibv_wc wc;
	uint64_t sum;

	vt_pair_open(&p, a, b, &conf);
	*vt_word(&p.b, WORD) = 0;
	stop = false;
	for (int i = 0; i < 2; i++) {
		w[i].p = &p;
		if (pthread_create(&w[i].thread, NULL, post_field, &w[i]))
			vt_bail("pthread_create");
	}
	while (time_left())
		if (vt_poll(p.a.cq, &wc, 10)) {
			if (wc.status || wc.wr_id > 1)
				vt_bail("completion: %s", vt_status(wc.status));
			w[wc.wr_id].completed++;
		}
	stop = true;
	pthread_join(w[0].thread, NULL);
	pthread_join(w[1].thread, NULL);
	while (w[0].posted + w[1].posted > w[0].completed + w[1].completed) {
		if (!vt_poll(p.a.cq, &wc, VT_MS) || wc.wr_id > 1)
			return "a completion is missing";
		w[wc.wr_id].completed++;
	}
	*rounds = w[0].posted + w[1].posted;
	sum = *vt_word(&p.b, WORD);
	vt_pair_close(&p);
	if (w[0].posted != w[0].completed || w[1].posted != w[1].completed)
		return "completions of the wrong requests";
	return sum == (w[0].posted | (uint64_t)w[1].posted << 32) ?
	       NULL : "wrong sums";
}

/* ---- the doorbell ------------------------------------------------------- */

static atomic_uint doorbell_qpn;
static int doorbell_fd = -1;

static void *ring(void *arg)
{
	(void)arg;
	while (!stop) {
		struct mxe_doorbell db = {
			doorbell_qpn, MXE_DOORBELL_SEND | MXE_DOORBELL_RECV,
		};

		/* ENOENT: the queue pair has been destroyed. */
		if (write(doorbell_fd, &db, sizeof(db)) < 0 && errno != ENOENT)
			vt_bail("the doorbell");
	}
	return NULL;
}

/*
 * Two threads ring the doorbells of queue pairs that are created, used and
 * destroyed.
 */
static const char *race_doorbell(unsigned int *rounds)
{
	struct vt_conf conf = vt_defaults();
	const char *wrong = NULL;
	pthread_t thread[2];

	doorbell_fd = vt_doorbell_fd();
	if (doorbell_fd < 0)
		vt_bail("no doorbell");
	stop = false;
	for (int i = 0; i < 2; i++)
		if (pthread_create(&thread[i], NULL, ring, NULL))
			vt_bail("pthread_create");
	while (time_left() && !wrong) {
		unsigned int good;
		struct vt_pair p;

		vt_pair_open(&p, a, b, &conf);
		doorbell_qpn = p.a.qp->qp_num;
		*vt_word(&p.b, WORD) = 0;
		post_burst(&p, VT_MFADD, p.b.mr->rkey);
		/* Every other one is destroyed with requests in flight. */
		if (*rounds & 1) {
			wrong = drain_burst(&p, &good);
			if (!wrong && (good != BURST ||
				       *vt_word(&p.b, WORD) != BURST))
				wrong = "not all executed once";
		}
		vt_pair_close(&p);
		++*rounds;
	}
	stop = true;
	pthread_join(thread[0], NULL);
	pthread_join(thread[1], NULL);
	return wrong;
}

/* ---- completion and receive queues -------------------------------------- */

struct poller {
	pthread_t thread;
	struct ibv_cq *cq;
	atomic_uint *seen;
	atomic_uint *total;
};

static void *poll_all(void *arg)
{
	struct poller *poller = arg;
	struct ibv_wc wc[4];

	while (!stop) {
		int n = ibv_poll_cq(poller->cq, 4, wc);

		if (n < 0)
			vt_bail("ibv_poll_cq");
		for (int i = 0; i < n; i++) {
			if (wc[i].status || wc[i].wr_id >= BURST)
				vt_bail("completion: %s",
					vt_status(wc[i].status));
			poller->seen[wc[i].wr_id]++;
			++*poller->total;
		}
		if (!n)
			sched_yield();
	}
	return NULL;
}

/* Two threads poll a queue that is resized while it fills. */
static const char *race_cq(unsigned int *rounds)
{
	struct vt_conf conf = vt_defaults();
	atomic_uint seen[BURST] = { 0 }, total = 0;
	struct poller poller[2];
	struct vt_pair p;

	vt_pair_open(&p, a, b, &conf);
	stop = false;
	for (int i = 0; i < 2; i++) {
		poller[i] = (struct poller){
			.cq = p.a.cq, .seen = seen, .total = &total,
		};
		if (pthread_create(&poller[i].thread, NULL, poll_all,
				   &poller[i]))
			vt_bail("pthread_create");
	}
	while (time_left()) {
		uint64_t quiet = vt_now_ms() + VT_MS;

		post_burst(&p, VT_MFADD, p.b.mr->rkey);
		if (ibv_resize_cq(p.a.cq, *rounds & 1 ? 64 : 200))
			vt_bail("ibv_resize_cq");
		++*rounds;
		while (total < *rounds * BURST && vt_now_ms() < quiet)
			sched_yield();
		if (total != *rounds * BURST)
			break;
	}
	usleep(1000);
	stop = true;
	pthread_join(poller[0].thread, NULL);
	pthread_join(poller[1].thread, NULL);
	vt_pair_close(&p);
	if (total != *rounds * BURST)
		return "not as many completions as requests";
	for (int i = 0; i < BURST; i++)
		if (seen[i] != *rounds)
			return "a completion is missing or was seen twice";
	return NULL;
}

static void *post_receives(void *arg)
{
	struct ibv_srq *srq = arg;
	struct ibv_recv_wr *bad, wr = { .wr_id = 7 };

	while (!stop)
		if (ibv_post_srq_recv(srq, &wr, &bad))
			sched_yield();
	return NULL;
}

/*
 * Sets the limit of an SRQ that two threads fill and messages empty. The SRQ is
 * destroyed directly after the queue pair that receives from it.
 */
static const char *race_srq(unsigned int *rounds)
{
	struct vt_conf conf = vt_defaults();
	const char *wrong = NULL;

	conf.depth = 256;
	while (time_left() && !wrong) {
		struct ibv_srq_init_attr init = {
			.attr = { .max_wr = 16, .max_sge = 1 },
		};
		struct ibv_srq_attr attr = { .srq_limit = 3 };
		pthread_t thread[2];
		unsigned int good;
		struct vt_pair p;

		conf.srq_b = ibv_create_srq(b->pd, &init);
		if (!conf.srq_b)
			vt_bail("ibv_create_srq");
		vt_pair_open(&p, a, b, &conf);
		stop = false;
		for (int i = 0; i < 2; i++)
			if (pthread_create(&thread[i], NULL, post_receives,
					   conf.srq_b))
				vt_bail("pthread_create");
		for (uint64_t i = 0; i < BURST; i++) {
			struct vt_wr wr = {
				.op = VT_SEND, .via = VT_WR, .wr_id = i,
				.flags = IBV_SEND_SIGNALED,
			};

			if (vt_post(&p.a, &wr))
				vt_bail("post");
		}
		if (ibv_modify_srq(conf.srq_b, &attr, IBV_SRQ_LIMIT))
			vt_bail("ibv_modify_srq");
		if (ibv_destroy_srq(conf.srq_b) != EBUSY)
			vt_bail("a queue in use is destroyed");
		if (*rounds & 1)
			wrong = drain_burst(&p, &good);
		if (!wrong && (*rounds & 1) && good != BURST)
			wrong = "not all received";
		stop = true;
		pthread_join(thread[0], NULL);
		pthread_join(thread[1], NULL);
		if (ibv_destroy_qp(p.b.qp) || ibv_destroy_srq(conf.srq_b))
			vt_bail("destroy");
		p.b.qp = NULL;
		vt_pair_close(&p);
		while (vt_async(b, 0) >= 0)
			;
		++*rounds;
	}
	return wrong;
}

/*
 * Overruns a CQ that is not polled, which moves the queue pair to ERR, and
 * destroys the queue pair.
 */
static const char *race_overrun(unsigned int *rounds)
{
	struct vt_conf conf = vt_defaults();

	while (time_left()) {
		struct vt_pair p;

		vt_pair_open(&p, a, b, &conf);
		if (ibv_resize_cq(p.a.cq, 4))
			vt_bail("ibv_resize_cq");
		for (int i = 0; i < 2; i++)
			post_burst(&p, VT_MFADD, p.b.mr->rkey);
		some_time();
		vt_pair_close(&p);
		while (vt_async(a, 0) >= 0)
			;
		++*rounds;
	}
	return race_timer(rounds);
}

enum { MCAST_BATCH = 8, MCAST_LEN = 100 };

/*
 * Takes the datagrams that have arrived. Waits for the first one until the
 * timeout has expired. Returns false if there is none.
 */
static bool take_datagrams(struct ud *to, int ms)
{
	bool any = false;
	struct ibv_wc wc;

	for (; vt_poll(to->rcq, &wc, ms); ms = 0) {
		if (wc.status || wc.byte_len != UD_GRH + MCAST_LEN)
			vt_bail("datagram: %s, %u bytes", vt_status(wc.status),
				wc.byte_len);
		ud_must_recv(to, UD_RECV, UD_SLOT);
		any = true;
	}
	return any;
}

/*
 * Attaches and detaches a queue pair while datagrams to the group arrive. In
 * every second round, one of them arrives first.
 */
static const char *race_mcast(unsigned int *rounds)
{
	union ibv_gid group = { .raw = { 0xff, 0x0e, [15] = 0x43 } };
	const char *wrong = NULL;
	struct ud from, to;
	struct ibv_ah *ah;

	ud_open(&from, a);
	ud_open(&to, b);
	ah = ud_ah_gid(a, a->gid6_index, &group);
	if (!ah)
		vt_bail("ibv_create_ah");
	for (int i = 0; i < MCAST_BATCH; i++)
		ud_must_recv(&to, UD_RECV, UD_SLOT);
	while (time_left() && !wrong) {
		struct ud_wr wr = {
			.ah = ah, .qpn = 0xffffff, .qkey = UD_QKEY,
			.len = MCAST_LEN,
		};

		if (ibv_attach_mcast(to.qp, &group, 0))
			vt_bail("ibv_attach_mcast");
		for (int i = 0; i < MCAST_BATCH && !wrong; i++)
			if (ud_send_wait(&from, wr))
				wrong = "a datagram is not sent";
		if (!wrong && *rounds % 2 == 0 && !take_datagrams(&to, VT_MS))
			wrong = "no datagram arrives";
		if (ibv_detach_mcast(to.qp, &group, 0))
			vt_bail("ibv_detach_mcast");
		take_datagrams(&to, 0);
		++*rounds;
	}
	if (ibv_destroy_ah(ah))
		wrong = "ibv_destroy_ah";
	ud_close(&from);
	ud_close(&to);
	return wrong;
}

/* ---- address handles ---------------------------------------------------- */

enum { COPIES = 64, COPY_LEN = 128 };

/*
 * Copies of libmxe's address handles, which identify the kernel's handle by a
 * number. A copy can be passed in a request after the handle is destroyed.
 */
struct handles {
	pthread_t thread;
	_Atomic(struct ibv_ah *) now;
	atomic_bool ended;
	_Alignas(16) char copies[COPIES][COPY_LEN];
};

static void *keep_making(void *arg)
{
	struct handles *h = arg;

	for (unsigned int n = 0; !h->ended; n = (n + 1) % COPIES) {
		struct ibv_ah *ah = ud_ah(a, b, n & 1);
		size_t len = malloc_usable_size(ah);

		memcpy(h->copies[n], ah, len < COPY_LEN ? len : COPY_LEN);
		h->now = (struct ibv_ah *)h->copies[n];
		some_time();
		if (ibv_destroy_ah(ah))
			vt_bail("ibv_destroy_ah");
	}
	return NULL;
}

/* A destroyed handle only makes the request fail. */
static const char *race_ah(unsigned int *rounds)
{
	static struct handles h;
	const char *wrong = NULL;
	struct ud from, to;

	h.now = NULL;
	h.ended = false;
	ud_open(&from, a);
	ud_open(&to, b);
	if (pthread_create(&h.thread, NULL, keep_making, &h))
		vt_bail("pthread_create");
	while (!h.now)
		sched_yield();
	while (time_left() && !wrong) {
		struct ud_wr wr = {
			.ah = h.now, .qpn = to.qp->qp_num, .qkey = UD_QKEY,
			.len = 100,
		};
		int status = ud_send_wait(&from, wr);

		if (status == IBV_WC_LOC_QP_OP_ERR) {
			ud_close(&from);
			ud_open(&from, a);
		} else if (status) {
			wrong = "a datagram is not sent";
		}
		++*rounds;
	}
	h.ended = true;
	pthread_join(h.thread, NULL);
	ud_close(&from);
	ud_close(&to);
	return wrong;
}

static const struct race {
	const char *name;
	const char *(*run)(unsigned int *rounds);
	const char *what;
} races[] = {
	{ "error", race_error, "requesters moved to ERR under traffic" },
	{ "reset", race_reset, "responders moved to RESET under traffic" },
	{ "timer", race_timer, "queue pairs destroyed with timers running" },
	{ "mr", race_mr, "regions deregistered and changed under traffic" },
	{ "mw", race_mw, "windows invalidated under traffic" },
	{ "post", race_post, "two threads post to one queue pair" },
	{ "doorbell", race_doorbell, "two threads ring doorbells" },
	{ "cq", race_cq, "two threads poll, a third resizes" },
	{ "srq", race_srq, "shared receive queues filled, emptied and destroyed" },
	{ "overrun", race_overrun, "completion queues overrun" },
	{ "mcast", race_mcast, "members of a group attached and detached" },
	{ "ah", race_ah, "address handles destroyed while they are used" },
};

int main(int argc, char **argv)
{
	const char *env = getenv("RACE_SECONDS");
	unsigned int seconds = env ? (unsigned int)atoi(env) : 2;

	(void)argc;
	plan(0);
	a = vt_open(vt_name_a());
	b = vt_open(vt_name_b());
	for (size_t i = 0; i < ARRAY_SIZE(races); i++) {
		unsigned int rounds = 0;
		const char *wrong;

		if (!vt_wanted(races[i].name, argv + 1))
			continue;
		do {
			deadline = vt_now_ms() + seconds * 1000;
			wrong = races[i].run(&rounds);
		} while (!wrong && !rounds);
		ok(!wrong && rounds, "%s: %s, %u times", races[i].name,
		   races[i].what, rounds);
		if (wrong)
			diag("  %s", wrong);
	}
	vt_close(a);
	vt_close(b);
	return done_testing();
}
