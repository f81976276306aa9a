// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Measures processes that use one word or a word each, for tools/bench --many:
 *
 *	bench-words DEVICE REMOTE PROCESSES own|one MILLISECONDS
 *
 * Each process has a queue pair of DEVICE that is connected to one of REMOTE,
 * and executes one fetch-and-add after the other, on its own word or on the one
 * of all.  Prints the mean time of an operation of all processes together, in
 * the form of mxe-perf --json.  Process n is bound to CPU n, modulo the number
 * of CPUs.
 */
#include <inttypes.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rc.h"

#define MAX_PROCESSES 64
#define WORD_STRIDE 64		/* bytes; a cache line each */

struct shared {
	atomic_int ready, failed;
	_Atomic uint64_t begin;
	_Atomic uint64_t ops[MAX_PROCESSES];
	struct {
		uint64_t word;
		uint8_t pad[WORD_STRIDE - sizeof(uint64_t)];
	} words[MAX_PROCESSES];
};

struct params {
	const char *device, *remote;
	int processes;
	bool one_word;
	uint64_t ns;
};

struct end {
	struct rc_device rc;
	struct ibv_mr *mr;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
};

static struct shared *shared;

static void open_end(struct end *e, const char *device, void *mem, size_t len)
{
	struct ibv_qp_init_attr_ex attr = {
		.cap = { .max_send_wr = 1, .max_recv_wr = 1,
			 .max_send_sge = 1, .max_recv_sge = 1 },
		.qp_type = IBV_QPT_RC,
		.sq_sig_all = 1,
		.comp_mask = IBV_QP_INIT_ATTR_PD,
	};

	rc_open(&e->rc, device);
	e->mr = ibv_reg_mr(e->rc.pd, mem, len, RC_ACCESS);
	e->cq = ibv_create_cq(e->rc.ctx, 1, NULL, NULL, 0);
	if (!e->mr || !e->cq)
		rc_fail("no region or completion queue");
	attr.pd = e->rc.pd;
	attr.send_cq = e->cq;
	attr.recv_cq = e->cq;
	e->qp = ibv_create_qp_ex(e->rc.ctx, &attr);
	if (!e->qp)
		rc_fail("a queue pair cannot be created");
}

static void bind_to_cpu(int n)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(n % (int)sysconf(_SC_NPROCESSORS_ONLN), &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		rc_fail("a process cannot be bound to a CPU");
}

static void execute(struct end *a, uint64_t *result, uint64_t remote, uint32_t rkey)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)result, .length = 8, .lkey = a->mr->lkey,
	};
	struct ibv_send_wr wr = {
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD,
		.wr.atomic = {
			.remote_addr = remote, .rkey = rkey, .compare_add = 1,
		},
	}, *bad;
	struct ibv_wc wc;

	if (ibv_post_send(a->qp, &wr, &bad))
		rc_fail("an operation cannot be posted");
	while (!ibv_poll_cq(a->cq, 1, &wc))
		;
	if (wc.status != IBV_WC_SUCCESS)
		rc_fail(ibv_wc_status_str(wc.status));
}

static void run(const struct params *p, int n)
{
	uint64_t *word = &shared->words[p->one_word ? 0 : n].word;
	struct end a = { 0 }, b = { 0 };
	uint64_t result, ops = 0, end;

	open_end(&a, p->device, &result, sizeof(result));
	open_end(&b, p->remote, word, sizeof(*word));
	rc_connect(&a.rc, a.qp, &b.rc, b.qp);
	bind_to_cpu(n);
	if (++shared->ready == p->processes)
		shared->begin = rc_now();
	while (!shared->begin && !shared->failed)
		sched_yield();
	for (end = shared->begin + p->ns; rc_now() < end; ops++)
		execute(&a, &result, (uintptr_t)word, b.mr->rkey);
	shared->ops[n] = ops;
}

static void wait_for_all(const struct params *p)
{
	int status;

	for (int n = 0; n < p->processes; n++) {
		if (wait(&status) < 0 || !WIFEXITED(status) || WEXITSTATUS(status))
			shared->failed = 1;
	}
	if (shared->failed)
		rc_fail("a process has failed");
}

/* Each word must have the number of operations that were executed on it. */
static uint64_t count_ops(const struct params *p)
{
	uint64_t ops = 0, sum = 0;

	for (int n = 0; n < p->processes; n++) {
		if (!p->one_word && shared->words[n].word != shared->ops[n])
			rc_fail("a word is wrong");
		ops += shared->ops[n];
		sum += shared->words[n].word;
	}
	if (!ops || sum != ops)
		rc_fail("the words are wrong");
	return ops;
}

int main(int argc, char **argv)
{
	struct params p;
	uint64_t ops;

	if (argc != 6)
		rc_fail("usage: bench-words DEVICE REMOTE PROCESSES own|one MILLISECONDS");
	p = (struct params){
		.device = argv[1],
		.remote = argv[2],
		.processes = atoi(argv[3]),
		.one_word = !strcmp(argv[4], "one"),
		.ns = strtoull(argv[5], NULL, 0) * 1000000,
	};
	if (p.processes < 1 || p.processes > MAX_PROCESSES || !p.ns)
		rc_fail("an argument is wrong");
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		rc_fail("no memory");
	for (int n = 0; n < p.processes; n++) {
		pid_t pid = fork();

		if (pid < 0)
			rc_fail("a process cannot be created");
		if (!pid) {
			run(&p, n);
			exit(0);
		}
	}
	wait_for_all(&p);
	ops = count_ops(&p);
	printf("{ \"size\": 8, \"unit\": \"ns\", \"results\": [\n"
	       "  { \"op\": \"fadd\", \"operations\": %" PRIu64 ", \"per_op\": %.1f } ] }\n",
	       ops, (double)p.ns / (double)ops);
	return 0;
}
