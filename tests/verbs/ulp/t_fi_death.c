// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The provider mxe of libfabric: peers that are killed. All operations end,
 * most of them with an error, and nothing hangs. The peers are processes on
 * host h2 of tools/two-hosts, and this one is on h1.
 *
 * t_fi.sh runs it.
 */
#include <signal.h>
#include <sys/wait.h>
#include "fi_end.h"

#define CAPS (FI_MSG | FI_TAGGED | FI_RMA | FI_ATOMIC)
#define NUM_OPS 200
#define SOON_MS 10000

/* Message of a peer, written to its pipe. */
struct peer {
	uint8_t name[64];
	uint64_t addr, key;
};

static uint8_t data[100000];

/* Runs until it is killed, and takes no message. */
static void run_peer(int to)
{
	struct peer p = { .addr = (uintptr_t)data };
	size_t len = sizeof(p.name);
	struct fid_mr *mr;
	struct end e;

	enter("h2");
	open_end(&e, CAPS);
	must(fi_mr_reg(e.domain, data, sizeof(data),
		       FI_REMOTE_READ | FI_REMOTE_WRITE, 0, 0, 0, &mr, NULL),
	     "fi_mr_reg");
	must(fi_getname(&e.ep->fid, p.name, &len), "fi_getname");
	p.key = fi_mr_key(mr);
	if (write(to, &p, sizeof(p)) != sizeof(p))
		exit(1);
	for (;;)
		pause();
}

/* Connects to the passive endpoint whose name comes from the pipe. */
static void run_msg_peer(int from)
{
	uint8_t name[64];
	struct fid_ep *ep;
	struct end e;

	enter("h2");
	open_end_of(&e, FI_EP_MSG, CAPS);
	ep = open_ep_of(&e, e.cq, e.info);
	if (read(from, name, sizeof(name)) != sizeof(name))
		exit(1);
	must(fi_connect(ep, name, NULL, 0), "fi_connect");
	for (;;)
		pause();
}

static pid_t start(void (*run)(int fd), int fd)
{
	pid_t pid = fork();

	if (!pid) {
		run(fd);
		exit(1);
	}
	return pid;
}

static pid_t start_peer(struct end *e, struct peer *p, fi_addr_t *addr)
{
	int fds[2];
	pid_t pid;

	if (pipe(fds))
		exit(1);
	pid = start(run_peer, fds[1]);
	close(fds[1]);
	if (read(fds[0], p, sizeof(*p)) != sizeof(*p)) {
		printf("Bail out!  the peer has failed\n");
		exit(1);
	}
	close(fds[0]);
	must(fi_av_insert(e->av, p->name, 1, addr, 0, NULL) - 1,
	     "fi_av_insert");
	return pid;
}

static void kill_peer(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* Returns the error of the next completion, or 0; -1 if there is none soon. */
static int next(struct end *e)
{
	struct fi_cq_tagged_entry entry;
	struct fi_cq_err_entry err = { 0 };
	ssize_t ret = fi_cq_sread(e->cq, &entry, 1, NULL, SOON_MS);

	if (ret == 1)
		return 0;
	if (ret != -FI_EAVAIL)
		return -1;
	fi_cq_readerr(e->cq, &err, 0);
	return err.err;
}

/* Two operations that wait for the peer's program, with nothing in flight. */
static void test_waiting(struct end *e)
{
	struct iovec iov = { data, 8 };
	struct fi_msg m = { .msg_iov = &iov, .iov_count = 1 };
	struct fi_cq_tagged_entry entry;
	struct peer p;
	pid_t pid = start_peer(e, &p, &m.addr);

	must(fi_send(e->ep, data, sizeof(data), NULL, m.addr, NULL), "fi_send");
	must(fi_sendmsg(e->ep, &m, FI_DELIVERY_COMPLETE), "fi_sendmsg");
	is_int((int)fi_cq_sread(e->cq, &entry, 1, NULL, 1500), -FI_EAGAIN,
	       "sends wait while the peer takes no message");
	kill_peer(pid);
	is_int(next(e), FI_ECONNABORTED, "a long send to a killed peer ends");
	is_int(next(e), FI_ECONNABORTED, "... and a short one");
	must(fi_send(e->ep, data, 8, NULL, m.addr, NULL), "fi_send");
	is_int(next(e), FI_EHOSTUNREACH, "... and one that connects anew");
}

static void test_in_flight(struct end *e)
{
	float one = 1, result[NUM_OPS];
	int ended = 0, failed = 0;
	fi_addr_t addr;
	struct peer p;
	pid_t pid = start_peer(e, &p, &addr);

	for (int i = 0; i < NUM_OPS; i++) {
		must(fi_fetch_atomic(e->ep, &one, 1, NULL, &result[i], NULL,
				     addr, p.addr, p.key, FI_FLOAT, FI_SUM,
				     NULL), "fi_fetch_atomic");
		/* The first one has connected. */
		if (!i)
			must(-next(e), "the first atomic");
		if (i == NUM_OPS / 2)
			kill_peer(pid);
	}
	for (int i = 1; i < NUM_OPS; i++) {
		int err = next(e);

		if (err < 0)
			break;
		ended++;
		failed += err == FI_ECONNABORTED || err == FI_EHOSTUNREACH ||
			  err == FI_EACCES;
	}
	is_int(ended, NUM_OPS - 1, "all atomics to a killed peer end");
	ok(failed >= NUM_OPS / 2 - 1, "... with errors: %d", failed);
}

static void wait_cm(struct end *e, uint32_t want, struct fi_eq_cm_entry *entry)
{
	uint32_t type = 0;
	ssize_t ret = fi_eq_sread(e->eq, &type, entry, sizeof(*entry), SOON_MS,
				  0);

	is_int((int)ret, sizeof(*entry), "an event");
	is_u64(type, want, "... of type %u", want);
}

static void test_msg(void)
{
	struct fi_eq_cm_entry entry;
	struct fid_pep *pep;
	struct fid_ep *ep;
	uint8_t name[64];
	size_t len = sizeof(name);
	struct end e;
	int fds[2];
	pid_t pid;

	if (pipe(fds))
		exit(1);
	pid = start(run_msg_peer, fds[0]);
	open_end_of(&e, FI_EP_MSG, CAPS);
	must(fi_passive_ep(e.fabric, e.info, &pep, NULL), "fi_passive_ep");
	must(fi_pep_bind(pep, &e.eq->fid, 0), "fi_pep_bind");
	must(fi_listen(pep), "fi_listen");
	must(fi_getname(&pep->fid, name, &len), "fi_getname");
	if (write(fds[1], name, sizeof(name)) != sizeof(name))
		exit(1);
	wait_cm(&e, FI_CONNREQ, &entry);
	ep = open_ep_of(&e, e.cq, entry.info);
	fi_freeinfo(entry.info);
	must(fi_accept(ep, NULL, 0), "fi_accept");
	wait_cm(&e, FI_CONNECTED, &entry);
	must(fi_recv(ep, data, 8, NULL, 0, NULL), "fi_recv");
	kill_peer(pid);
	wait_cm(&e, FI_SHUTDOWN, &entry);
	is_int(next(&e), FI_ECANCELED, "a posted receive ends");
	must(fi_close(&ep->fid), "fi_close ep");
	must(fi_close(&pep->fid), "fi_close pep");
	is_int(close_end(&e), 0, "all objects are closed");
}

/* An endpoint is closed while a killed peer has not acknowledged. */
static void test_close(struct end *e)
{
	fi_addr_t addr;
	struct peer p;
	pid_t pid = start_peer(e, &p, &addr);

	must(fi_send(e->ep, data, 8, NULL, addr, NULL), "fi_send");
	must(-next(e), "connect");
	kill_peer(pid);
	must(fi_send(e->ep, data, sizeof(data), NULL, addr, NULL), "fi_send");
	alarm(SOON_MS / 1000);
	is_int(close_end(e), 0, "an endpoint is closed soon");
	alarm(0);
}

int main(void)
{
	struct end e;

	plan(0);
	setenv("FI_MXE_CONNECT_TIMEOUT", "2000", 1);
	enter("h1");
	test_msg();
	open_end(&e, CAPS);
	test_waiting(&e);
	test_in_flight(&e);
	test_close(&e);
	return done_testing();
}
