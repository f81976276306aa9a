// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Proves that an XRC shared receive queue is not freed before a look-up by its
 * number has ended. The queue is destroyed while mxe_delay.ko holds the look-up
 * between finding the queue and using it.
 *
 * The destroy visits the targets of the queue's domain anyway. It does not
 * visit a target of another domain, which nevertheless reads the domain of the
 * queue that it has found.
 */
#include <fcntl.h>
#include "tap.h"
#include "delay.h"
#include "vt.h"
#include "xrc.h"

enum { ROUNDS = 3, MAX_TRIES = 30, MIN_DELAY_US = 300000, MAX_DELAY_US = 5000000 };

static struct vt_dev *a, *b;
static unsigned long delay_us;

/*
 * Returns the time in microseconds to destroy a queue that no packet looks up.
 */
static unsigned long measure_destroy(void)
{
	struct vt_conf conf = xrc_defaults();
	struct ibv_xrcd *xrcd = xrc_open_domain(b, -1, O_CREAT);
	struct vt_end e;
	uint64_t ns;

	xrc_receiver_open(&e, b, xrcd, &conf);
	ns = vt_now_ns();
	if (ibv_destroy_srq(e.xsrq))
		vt_bail("ibv_destroy_srq");
	ns = vt_now_ns() - ns;
	e.xsrq = NULL;
	xrc_receiver_close(&e);
	if (ibv_close_xrcd(xrcd))
		vt_bail("ibv_close_xrcd");
	return ns / 1000;
}

struct request {
	struct vt_pair pair;
	uint32_t srqn;
	int status;
};

/* Sends a WRITE that names the queue. */
static void send_request(void *arg)
{
	struct request *r = arg;
	struct ibv_sge sge = vt_sge(&r->pair.a, 0, 8);
	struct vt_wr wr = {
		.op = VT_WRITE, .sge = &sge, .num_sge = 1, .srqn = r->srqn,
		.raddr = vt_addr(&r->pair.b, 0), .rkey = r->pair.b.mr->rkey,
	};

	r->status = vt_do(&r->pair.a, &wr, NULL);
}

/*
 * Destroys the queue of `owner` while the look-up is held. Returns 1 if the
 * destroy waited for the end of the look-up, 0 if it did not, and -1 if the
 * look-up had ended before the destroy began, which shows nothing.
 */
static int destroy_during_lookup(struct request *r, struct vt_end *owner)
{
	struct delay d = { .send = send_request, .arg = r };
	int waited = -1;

	r->srqn = owner->srqn;
	delay_request(&d, delay_us);
	if (delay_is_held(&d)) {
		if (ibv_destroy_srq(owner->xsrq))
			vt_bail("ibv_destroy_srq");
		waited = !delay_is_held(&d);
		owner->xsrq = NULL;
	}
	delay_end(&d);
	return waited;
}

/* Runs one round. Returns the result of destroy_during_lookup(). */
static int one_round(bool own_domain, int *status)
{
	struct vt_conf conf = xrc_defaults();
	struct ibv_xrcd *xrcd = xrc_open_domain(b, -1, O_CREAT);
	struct ibv_xrcd *other = xrc_open_domain(b, -1, O_CREAT);
	struct vt_end stranger;
	struct request r = { 0 };
	int waited;

	if (!xrcd || !other)
		vt_bail("ibv_open_xrcd");
	xrc_pair_open(&r.pair, a, b, xrcd, &conf);
	xrc_receiver_open(&stranger, b, own_domain ? xrcd : other, &conf);
	waited = destroy_during_lookup(&r, &stranger);
	*status = r.status;
	xrc_receiver_close(&stranger);
	xrc_pair_close(&r.pair);
	vt_drain_async(b);
	if (ibv_close_xrcd(xrcd) || ibv_close_xrcd(other))
		vt_bail("ibv_close_xrcd");
	return waited;
}

static void test_domain(bool own_domain, const char *what)
{
	int round, tries, waited, status = -1;

	for (round = 0; round < ROUNDS; round++) {
		for (tries = 0; tries < MAX_TRIES; tries++) {
			waited = one_round(own_domain, &status);
			if (waited >= 0)
				break;
		}
		if (tries == MAX_TRIES)
			vt_bail("every look-up ended before the destroy began");
		is_int(waited, 1, "round %d, %s: the destroy waits for the look-up",
		       round, what);
		if (!own_domain)
			is_str(vt_status(status), vt_status(IBV_WC_REM_INV_REQ_ERR),
			       "... and the request is refused");
	}
}

int main(void)
{
	unsigned long destroy_us;

	delay_begin();
	plan(0);
	a = vt_open(vt_name_a());
	b = vt_open(vt_name_b());
	destroy_us = measure_destroy();
	delay_us = 20 * destroy_us;
	if (delay_us < MIN_DELAY_US)
		delay_us = MIN_DELAY_US;
	if (delay_us > MAX_DELAY_US)
		delay_us = MAX_DELAY_US;
	diag("a destroy takes %lu us, each look-up is held for %lu us", destroy_us,
	     delay_us);
	test_domain(true, "a queue of the target's domain");
	test_domain(false, "a queue of another domain");
	vt_close(a);
	vt_close(b);
	return done_testing();
}
