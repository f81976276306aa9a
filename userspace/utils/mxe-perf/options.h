/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The options of the command line. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define PERF_MAX_QPS 64
#define PERF_MAX_PROCESSES 64
/* PERF_BESIDE: the first QP has the atomics, the second the WRITEs. */
#define PERF_BESIDE_QPS 2
#define PERF_MAX_DEPTH 4096
#define PERF_MAX_SIZE (1u << 30)

enum perf_op {
	PERF_WRITE,
	PERF_READ,
	PERF_SEND,
	PERF_CAS,
	PERF_FADD,
	PERF_MCAS,
	PERF_MFADD,
	PERF_NUM_OPS,
};

enum perf_test {
	PERF_LATENCY,
	PERF_RATE,
	PERF_BANDWIDTH,
	PERF_CONTENTION,
	PERF_BESIDE,
	PERF_TAGS,
	PERF_UDP,
	PERF_TCP,
	PERF_NUM_TESTS,
};

/* How masked atomics are executed.  Other operations are always native. */
enum perf_how {
	PERF_NATIVE,
	PERF_GUESS,		/* CMP_SWAP with a guess until it succeeds */
	PERF_READ_FIRST,	/* READ and CMP_SWAP until it succeeds */
	PERF_AUTO,		/* PERF_NATIVE if supported, else PERF_GUESS */
	/* The matcher of the messages of PERF_TAGS. */
	PERF_DEVICE,
	PERF_HASH,		/* this program, with a hash table */
	PERF_LIST,		/* this program, with one list */
};

struct perf_options {
	enum perf_test test;
	uint32_t ops;		/* a bit for each enum perf_op */
	enum perf_how how;
	const char *device;
	const char *remote;	/* of the responder in this process */
	int gid;		/* index; -1: chosen */
	int remote_gid;
	uint32_t size;
	uint64_t iterations;
	uint64_t warmup;
	uint32_t depth;		/* operations in flight on each queue pair */
	uint32_t batch;		/* operations posted in one call */
	uint32_t qps;
	uint32_t processes;	/* bound to CPUs; 0: this one, not bound */
	uint32_t mtu;		/* bytes; 0: of the ports */
	uint32_t timeout;	/* seconds */
	uint16_t port;
	bool listen;
	const char *host;	/* of the responder; NULL: this process */
	bool tsc;
	bool post_send;		/* instead of the builders */
	bool one_doorbell;	/* for the requests of all queue pairs */
	bool new_masks;		/* in each masked atomic */
	bool histogram;
	bool json;
	bool progress;
};

extern const char *const perf_op_name[PERF_NUM_OPS];
extern const char *const perf_test_name[PERF_NUM_TESTS];
extern const char *const perf_how_name[];

int perf_parse(int argc, char **argv, struct perf_options *o, FILE *out,
	       FILE *err);

#endif /* OPTIONS_H */
