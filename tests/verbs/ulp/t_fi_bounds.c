// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The provider mxe of libfabric bounds the memory that peers and the program
 * itself make it use: unexpected messages at the receiver, and requests of a
 * peer that does not answer. Nothing is lost when the bound is reached. The two
 * processes are on the hosts of tools/two-hosts.
 *
 * t_fi.sh runs it.
 */
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include "fi_end.h"

#define CAPS (FI_MSG | FI_RMA | FI_ATOMIC)
#define SIZE 4096
/* Messages in the 64 MiB that are kept, without the headers in these. */
#define BOUND ((60UL << 20) / SIZE)
/* More than the bound, the receive buffers and the sender's operations. */
#define MESSAGES (BOUND + 4096)
#define MAX_OPS 512			/* of an endpoint */
#define ELEMENTS 64			/* of an atomic, a request each */
#define MAX_REQUESTS 8192
#define QUIET_MS 3000

struct target {
	uint8_t name[64];
	size_t name_len;
	uint64_t key;
};

static double *memory;		/* of the target, shared */
static struct end end;
static fi_addr_t peer;

/* ---- the other process ------------------------------------------------- */

/* Receives all messages when it is told to, and checks their order. */
static void run_target(int to, int from)
{
	struct target t = { .name_len = sizeof(t.name) };
	uint32_t buf[SIZE / 4];
	struct fid_mr *mr;
	uint32_t bad = 0;
	struct end e;
	char byte;

	enter("h2");
	open_end(&e, CAPS);
	must(fi_mr_reg(e.domain, memory, ELEMENTS * sizeof(*memory),
		       FI_REMOTE_READ | FI_REMOTE_WRITE, 0, 0, 0, &mr, NULL),
	     "fi_mr_reg");
	must(fi_getname(&e.ep->fid, t.name, &t.name_len), "fi_getname");
	t.key = fi_mr_key(mr);
	if (write(to, &t, sizeof(t)) != sizeof(t) || read(from, &byte, 1) != 1)
		exit(1);
	for (uint32_t i = 0; i < MESSAGES; i++) {
		must(fi_recv(e.ep, buf, sizeof(buf), NULL, FI_ADDR_UNSPEC, buf),
		     "fi_recv");
		must(-wait_one(e.cq, buf), "wait for a message");
		bad += buf[0] != i || buf[SIZE / 4 - 1] != i;
	}
	if (write(to, &bad, sizeof(bad)) != sizeof(bad) ||
	    read(from, &byte, 1) < 0)
		exit(1);
	must(fi_close(&mr->fid), "fi_close mr");
	must(close_end(&e), "fi_close");
	exit(0);
}

/* ---- messages ---------------------------------------------------------- */

/* Sends a message with a number. Returns false if that is not possible now. */
static bool send_message(uint32_t i)
{
	uint32_t buf[SIZE / 4];
	ssize_t ret;

	buf[0] = i;
	buf[SIZE / 4 - 1] = i;
	/* Copied at once, as it is short and not registered. */
	ret = fi_send(end.ep, buf, sizeof(buf), NULL, peer, &end);
	if (ret && ret != -FI_EAGAIN)
		must(ret, "fi_send");
	return !ret;
}

/* Takes completions. Returns their number, after QUIET_MS without one 0. */
static size_t completions(void)
{
	struct fi_cq_tagged_entry entries[64];
	ssize_t ret = fi_cq_sread(end.cq, entries, 64, NULL, QUIET_MS);

	if (ret == -FI_EAGAIN)
		return 0;
	must(ret, "fi_cq_sread");
	return (size_t)ret;
}

static void test_unexpected(int to, int from)
{
	size_t sent = 0, done = 0, n;
	uint32_t bad = 1;

	do {
		while (sent < MESSAGES && send_message((uint32_t)sent))
			sent++;
		n = completions();
		done += n;
	} while (n);
	ok(done >= BOUND, "60 MiB of messages arrive without a receive (%zu)",
	   done);
	ok(done < MESSAGES, "... and not all, because the receiver takes no more");
	is_u64(sent - done, MAX_OPS, "... the other operations wait");
	if (write(to, "", 1) != 1)
		exit(1);
	while (done < MESSAGES) {
		while (sent < MESSAGES && send_message((uint32_t)sent))
			sent++;
		n = completions();
		if (!n)
			break;
		done += n;
	}
	is_u64(done, MESSAGES, "all messages arrive when they are received");
	if (read(from, &bad, sizeof(bad)) != sizeof(bad))
		exit(1);
	is_int((int)bad, 0, "... in order");
}

/* ---- requests ---------------------------------------------------------- */

/* Pinned memory of this process in KiB. */
static unsigned long pinned(void)
{
	FILE *f = fopen("/proc/self/status", "r");
	unsigned long kib = 0;
	char line[256];

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "VmPin: %lu", &kib) == 1)
			break;
	if (f)
		fclose(f);
	return kib;
}

/* The peer is stopped, so it does not connect, and requests are queued. */
static void test_requests(pid_t pid, const struct target *t)
{
	unsigned long before = pinned(), grown;
	double ones[ELEMENTS];
	size_t calls = 0, done = 0;
	ssize_t ret;

	for (size_t i = 0; i < ELEMENTS; i++)
		ones[i] = 1;
	kill(pid, SIGSTOP);
	do
		ret = fi_atomic(end.ep, ones, ELEMENTS, NULL, peer,
				(uintptr_t)memory, t->key, FI_DOUBLE, FI_SUM,
				&end);
	while (!ret && ++calls < MAX_OPS);
	is_int((int)ret, -FI_EAGAIN, "atomics to a peer that is stopped are refused in the end");
	is_u64(calls, MAX_REQUESTS / ELEMENTS, "... when there are 8192 requests");
	grown = pinned() - before;
	ok(grown > 30 << 10 && grown < 40 << 10,
	   "... whose buffers are 32 MiB of pinned memory (%lu KiB)", grown);
	kill(pid, SIGCONT);
	while (done < calls) {
		size_t n = completions();

		if (!n)
			break;
		done += n;
	}
	is_u64(done, calls, "they complete when the peer continues");
	ok(memory[0] == calls && memory[ELEMENTS - 1] == calls,
	   "... and have added");
}

int main(void)
{
	int status = -1;
	struct target t;
	struct child child;

	plan(0);
	memory = mmap(NULL, ELEMENTS * sizeof(*memory), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		must(-errno, "mmap");
	fork_target(&child, run_target, &t, sizeof(t));
	enter("h1");
	open_end(&end, CAPS);
	must(fi_av_insert(end.av, t.name, 1, &peer, 0, NULL) - 1,
	     "fi_av_insert");
	test_requests(child.pid, &t);
	test_unexpected(child.to, child.from);
	close(child.to);
	is_int(close_end(&end), 0, "all objects are closed");
	waitpid(child.pid, &status, 0);
	is_int(status, 0, "the target exits with 0");
	return done_testing();
}
