// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The provider mxe of libfabric when a host or the device is gone. A host that
 * does not exist delays only operations to it. When the device is removed, all
 * operations end, all waiting threads return, and the thread of the domain does
 * not spin.
 */
#define TIMEOUT_MS 10000
#include <poll.h>
#include "fake_device.h"
#include "fi_end.h"
#include "wire.h"

#define LONG_SIZE 100000	/* bytes: read by the receiver */
#define CAPS (FI_MSG | FI_TAGGED | FI_RMA | FI_ATOMIC)

static struct end a, b;
static uint8_t out[LONG_SIZE], in[LONG_SIZE];

/* ---- threads that wait ------------------------------------------------- */

struct waiter {
	pthread_t thread;
	void *(*run)(void *waiter);
	struct fid_cq *cq;
	struct fid_cntr *cntr;
	struct fid_eq *eq;
	int fd;
	int ret;
};

static void *wait_cq(void *arg)
{
	struct fi_cq_tagged_entry entry;
	struct waiter *w = arg;

	w->ret = (int)fi_cq_sread(w->cq, &entry, 1, NULL, -1);
	return NULL;
}

static void *wait_cntr(void *arg)
{
	struct waiter *w = arg;

	w->ret = fi_cntr_wait(w->cntr, 1, -1);
	return NULL;
}

static void *wait_eq(void *arg)
{
	struct fi_eq_cm_entry entry;
	struct waiter *w = arg;
	uint32_t type;

	w->ret = (int)fi_eq_sread(w->eq, &type, &entry, sizeof(entry), -1, 0);
	return NULL;
}

static void *wait_fd(void *arg)
{
	struct waiter *w = arg;
	struct pollfd p = { .fd = w->fd, .events = POLLIN };

	w->ret = poll(&p, 1, -1);
	return NULL;
}

static void start(struct waiter *w, void *(*run)(void *waiter))
{
	w->run = run;
	must(-pthread_create(&w->thread, NULL, run, w), "pthread_create");
}

static void joins(struct waiter *w, int want, const char *name)
{
	struct timespec end;
	int err;

	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_sec += TIMEOUT_MS / 1000;
	err = pthread_timedjoin_np(w->thread, NULL, &end);
	is_int(err, 0, "a thread returns: %s", name);
	if (err)
		exit(1);
	is_int(w->ret, want, "... with the right result");
}

/* ---- hosts that do not exist ------------------------------------------- */

#define ABSENT_HOST 99
#define NUM_ROUNDS 1000

/* Inserts the address of b, but at a host that does not exist. */
static fi_addr_t insert_absent(void)
{
	struct mxefi_addr name;
	size_t len = sizeof(name);
	fi_addr_t addr;

	must(fi_getname(&b.ep->fid, &name, &len), "fi_getname");
	name.gid[15] = ABSENT_HOST;
	must(fi_av_insert(a.av, &name, 1, &addr, 0, NULL) - 1, "fi_av_insert");
	return addr;
}

/* Operations of either kind of endpoint, to b or to the absent host. */
static void operate(bool dc, fi_addr_t to, struct fid_mr *mr, void *context)
{
	if (dc)
		must(fi_write(a.ep, out, 8, NULL, to, (uintptr_t)in,
			      fi_mr_key(mr), context), "fi_write");
	else
		must(fi_send(a.ep, out, 8, NULL, to, context), "fi_send");
}

static bool round_trip(bool dc, fi_addr_t to_b, struct fid_mr *mr)
{
	if (!dc)
		must(fi_recv(b.ep, in, 8, NULL, FI_ADDR_UNSPEC, in), "fi_recv");
	operate(dc, to_b, mr, out);
	return (dc || !wait_one(b.cq, in)) && !wait_one(a.cq, out);
}

static void test_absent(bool dc)
{
	fi_addr_t to_b, to_absent;
	unsigned int attempts;
	struct fid_mr *mr;
	int rounds = 0;

	setenv("FI_MXE_CONNECT_TIMEOUT", "3500", 1);
	fake_device_use_dc(dc);
	fake_device.absent_host = ABSENT_HOST;
	fake_device.is_resolving = true;
	fake_device.num_attempts = 0;
	open_end(&a, dc ? FI_RMA : FI_MSG);
	open_end(&b, dc ? FI_RMA : FI_MSG);
	to_b = insert(&a, b.ep);
	to_absent = insert_absent();
	must(fi_mr_reg(b.domain, in, 8, FI_REMOTE_WRITE, 0, 0, 0, &mr, NULL),
	     "fi_mr_reg");
	/* A call that blocks ends the test. */
	alarm(TIMEOUT_MS / 1000);
	operate(dc, to_absent, mr, &out[1]);
	while (!fake_device_get(num_attempts))
		sched_yield();
	while (rounds < NUM_ROUNDS && round_trip(dc, to_b, mr))
		rounds++;
	alarm(0);
	is_int(rounds, NUM_ROUNDS,
	       "%s go on while an address is resolved", dc ? "writes" : "sends");
	fake_device_set(is_resolving, false);
	is_int(wait_one(a.cq, &out[1]), FI_EHOSTUNREACH,
	       "an operation to a host that does not exist fails");
	attempts = fake_device_get(num_attempts);
	ok(attempts > 1 && attempts < 5, "... after %u attempts", attempts);

	/* A host that appears while its address is resolved. */
	fake_device_set(absent_host, 1);
	fake_device_set(is_resolving, true);
	fake_device_set(num_attempts, 0);
	must(fi_close(&mr->fid), "fi_close mr");
	is_int(close_end(&a), 0, "an endpoint is closed");
	open_end(&a, dc ? FI_RMA : FI_MSG);
	must(fi_mr_reg(b.domain, in, 8, FI_REMOTE_WRITE, 0, 0, 0, &mr, NULL),
	     "fi_mr_reg");
	to_b = insert(&a, b.ep);
	if (!dc)
		must(fi_recv(b.ep, in, 8, NULL, FI_ADDR_UNSPEC, in), "fi_recv");
	operate(dc, to_b, mr, out);
	while (!fake_device_get(num_attempts))
		sched_yield();
	fake_device_set(absent_host, 0);
	fake_device_set(is_resolving, false);
	is_int(wait_one(a.cq, out), 0,
	       "an operation to a host that appears succeeds");

	/* A thread frees what it has created for a closed endpoint. */
	fake_device_set(absent_host, ABSENT_HOST);
	fake_device_set(is_resolving, true);
	fake_device_set(num_attempts, 0);
	operate(dc, insert_absent(), mr, NULL);
	while (!fake_device_get(num_attempts))
		sched_yield();
	is_int(fi_close(&a.ep->fid), 0,
	       "an endpoint is closed while an address is resolved");
	a.ep = NULL;
	fake_device_set(is_resolving, false);
	must(fi_close(&mr->fid), "fi_close mr");
	is_int(close_end(&a), 0, "... and its domain");
	is_int(close_end(&b), 0, "... and the other endpoint");
	is_int(fake_device.num_mrs, 0, "... without memory regions left");
	fake_device.absent_host = 0;
	fake_device_use_dc(false);
	unsetenv("FI_MXE_CONNECT_TIMEOUT");
}

/* ---- removed devices --------------------------------------------------- */

/* Operations in flight, or that wait for the peer, and receives. */
static void test_operations(bool by_event)
{
	fi_addr_t to_b;
	long cpu;

	open_end(&a, CAPS);
	open_end(&b, CAPS);
	to_b = insert(&a, b.ep);
	must(fi_recv(b.ep, in, 8, NULL, FI_ADDR_UNSPEC, in), "fi_recv");
	must(fi_send(a.ep, out, 8, NULL, to_b, out), "fi_send");
	must(-wait_one(b.cq, in), "the first receive");
	must(-wait_one(a.cq, out), "the first send");
	/* A READ of b is in flight, and a waits for a FIN. */
	fake_device_set(reads_stop, true);
	must(fi_recv(b.ep, in, LONG_SIZE, NULL, FI_ADDR_UNSPEC, &in[1]),
	     "fi_recv");
	must(fi_send(a.ep, out, LONG_SIZE, NULL, to_b, &out[1]), "fi_send");
	while (!fake_device_get(num_stopped))
		sched_yield();
	must(fi_recv(b.ep, in, 8, NULL, FI_ADDR_UNSPEC, &in[2]), "fi_recv");
	fake_device_remove(by_event);
	is_int(wait_one(a.cq, &out[1]), FI_ENODEV,
	       "a send ends when the device is removed, by %s",
	       by_event ? "event" : "hang-up");
	is_int(wait_one(b.cq, &in[2]), FI_ECANCELED, "... a receive");
	is_int(wait_one(b.cq, &in[1]), FI_ENODEV, "... and one in progress");
	is_int((int)fi_send(a.ep, out, 8, NULL, to_b, NULL), -FI_ENODEV,
	       "no further send");
	is_int((int)fi_recv(a.ep, in, 8, NULL, FI_ADDR_UNSPEC, NULL),
	       -FI_ENODEV, "... nor receive");
	is_int((int)fi_write(a.ep, out, 8, NULL, to_b, 0, 0, NULL), -FI_ENODEV,
	       "... nor write");
	is_int((int)fi_atomic(a.ep, out, 1, NULL, to_b, 0, 0, FI_UINT64, FI_SUM,
			      NULL), -FI_ENODEV, "... nor atomic");
	is_int((int)fi_cq_read(a.cq, in, 1), -FI_ENODEV, "... nor completion");
	cpu = cpu_ms();
	poll(NULL, 0, 1000);
	cpu = cpu_ms() - cpu;
	ok(cpu < 500, "the thread does not spin: %ld ms of 1 s", cpu);
	is_int(close_end(&a), 0, "an endpoint is closed");
	is_int(close_end(&b), 0, "... and the other one");
	is_int(fake_device.num_mrs, 0, "... without memory regions left");
	fake_device.removed = false;
	fake_device.reads_stop = false;
}

/* Requests to DC targets, one of which does not answer. */
static void test_dc(void)
{
	struct mxefi_addr name;
	size_t len = sizeof(name);
	fi_addr_t to_b;
	struct fid_mr *mr;
	int ended = 0;

	fake_device_use_dc(true);
	open_end(&a, FI_RMA);
	open_end(&b, FI_RMA);
	to_b = insert(&a, b.ep);
	must(fi_mr_reg(b.domain, in, 8, FI_REMOTE_WRITE, 0, 0, 0, &mr, NULL),
	     "fi_mr_reg");
	must(fi_getname(&b.ep->fid, &name, &len), "fi_getname");
	must(fi_write(a.ep, out, 8, NULL, to_b, (uintptr_t)in, fi_mr_key(mr),
		      out), "fi_write");
	is_int(wait_one(a.cq, out), 0, "a write by DC");
	fake_device_set(stopped_dct, name.dct & MXEFI_DCT_NUMBER);
	/* More than the initiator takes at once. */
	for (int i = 0; i < 100; i++)
		must(fi_write(a.ep, out, 8, NULL, to_b, (uintptr_t)in,
			      fi_mr_key(mr), out), "fi_write");
	fake_device_remove(true);
	while (ended < 100 && wait_one(a.cq, out) == FI_ENODEV)
		ended++;
	is_int(ended, 100, "all writes end when the device is removed");
	is_int((int)fi_write(a.ep, out, 8, NULL, to_b, (uintptr_t)in,
			     fi_mr_key(mr), out), -FI_ENODEV,
	       "no further write");
	must(fi_close(&mr->fid), "fi_close mr");
	is_int(close_end(&a), 0, "an endpoint is closed");
	is_int(close_end(&b), 0, "... and the other one");
	is_int(fake_device.num_mrs, 0, "... without memory regions left");
	fake_device.stopped_dct = 0;
	fake_device.removed = false;
	fake_device_use_dc(false);
}

/* Threads that wait for what will never come. */
static void test_waiters(void)
{
	struct fi_cntr_attr attr = { .events = FI_CNTR_EVENTS_COMP,
				     .wait_obj = FI_WAIT_FD };
	struct waiter cq = { 0 }, cntr = { 0 }, eq = { 0 }, cq_fd = { 0 },
		      cntr_fd = { 0 };
	struct fi_eq_err_entry err = { 0 };
	struct fid_cntr *with_fd;
	struct fid_pep *pep;
	struct fid *fid;

	open_end_of(&a, FI_EP_MSG, CAPS);
	must(fi_cntr_open(a.domain, &attr, &with_fd, NULL), "fi_cntr_open");
	must(fi_passive_ep(a.fabric, a.info, &pep, NULL), "fi_passive_ep");
	must(fi_pep_bind(pep, &a.eq->fid, 0), "fi_pep_bind");
	must(fi_listen(pep), "fi_listen");
	cq.cq = a.cq;
	cntr.cntr = a.cntr;
	eq.eq = a.eq;
	must(fi_control(&a.cq->fid, FI_GETWAIT, &cq_fd.fd), "FI_GETWAIT");
	must(fi_control(&with_fd->fid, FI_GETWAIT, &cntr_fd.fd), "FI_GETWAIT");
	start(&cq, wait_cq);
	start(&cntr, wait_cntr);
	start(&eq, wait_eq);
	start(&cq_fd, wait_fd);
	start(&cntr_fd, wait_fd);
	poll(NULL, 0, 100);
	fake_device_remove(true);
	joins(&cq, -FI_ENODEV, "fi_cq_sread()");
	joins(&cntr, -FI_ENODEV, "fi_cntr_wait()");
	joins(&eq, -FI_EAVAIL, "fi_eq_sread()");
	must(fi_eq_readerr(a.eq, &err, 0), "fi_eq_readerr");
	is_int(err.err, FI_ENODEV, "... the error");
	ok(err.fid == &pep->fid, "... of the passive endpoint");
	joins(&cq_fd, 1, "poll() of a completion queue");
	joins(&cntr_fd, 1, "poll() of a counter");
	fid = &a.cq->fid;
	is_int(fi_trywait(a.fabric, &fid, 1), -FI_EAGAIN,
	       "a program may not wait for completions");
	fid = &with_fd->fid;
	is_int(fi_trywait(a.fabric, &fid, 1), -FI_EAGAIN,
	       "... nor for a counter");
	must(fi_close(&with_fd->fid), "fi_close cntr");
	must(fi_close(&pep->fid), "fi_close pep");
	is_int(close_end(&a), 0, "all objects are closed");
	fake_device.removed = false;
}

int main(void)
{
	plan(0);
	test_absent(false);
	test_absent(true);
	test_operations(true);
	test_operations(false);
	test_dc();
	test_waiters();
	return done_testing();
}
