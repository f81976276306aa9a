/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * mxe-perf measures what operations cost on a verbs device, and proves that they did
 * what they should.
 *
 * An endpoint is a device with its queue pairs, which are connected one to one to
 * those of the other endpoint.  The requester measures; the responder only has its
 * memory and takes messages.  Both are in this process, or the responder is in
 * another one that is reached by TCP (session.c).
 */
#ifndef PERF_H
#define PERF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <infiniband/mxedv.h>
#include <infiniband/verbs.h>

#define PERF_MAX_QPS 64
#define PERF_MAX_PROCESSES 64
/* Of the test beside: the first has the atomics, the second the WRITEs. */
#define PERF_BESIDE_QPS 2
#define PERF_MAX_DEPTH 4096
#define PERF_MAX_SIZE (1u << 30)
#define PERF_MAX_MEMORY ((size_t)4 << 30)	/* of an endpoint */
/* A word has room for so many fields. */
#define PERF_MAX_LANES 64
/* When the poll thread goes to sleep. */
#define PERF_POLL_IDLE_US 10000

/* The exit status; also mxe-perf(1). */
enum {
	STATUS_OK = 0,
	STATUS_FAILED = 1,
	STATUS_USAGE = 2,
	STATUS_NO_DEVICE = 3,
};

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
	PERF_POST,
	PERF_UDP,
	PERF_TCP,
	PERF_NUM_TESTS,
};

/* How masked atomics are done.  Others are always native. */
enum perf_how {
	PERF_NATIVE,
	PERF_GUESS,		/* CMP_SWAP with a guess, until it was right */
	PERF_READ_FIRST,	/* READ, then CMP_SWAP, until it was right */
	PERF_AUTO,		/* native if the device can, else PERF_GUESS */
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
	uint32_t depth;		/* outstanding for each queue pair */
	uint32_t batch;		/* posted in one call */
	uint32_t qps;
	uint32_t processes;	/* bound to processors; 0: this one, not bound */
	uint32_t mtu;		/* 0: of the ports */
	uint32_t timeout;	/* seconds */
	uint16_t port;
	bool listen;
	const char *host;	/* of the responder, NULL: this process */
	bool tsc;
	bool post_send;		/* not the builders */
	bool one_doorbell;	/* for what is posted to all queue pairs */
	bool poll_thread;	/* of the requester */
	bool histogram;
	bool json;
	bool progress;
};

/* options.c: returns -1, or the exit status. */
int perf_parse(int argc, char **argv, struct perf_options *o, FILE *out,
	       FILE *err);
extern const char *const perf_op_name[PERF_NUM_OPS];
extern const char *const perf_test_name[PERF_NUM_TESTS];
extern const char *const perf_how_name[];

/* ---- stats.c ------------------------------------------------------------- */

struct perf_stats {
	uint64_t n;
	uint64_t min;
	uint64_t median;
	uint64_t p90;
	uint64_t p99;
	uint64_t p999;
	uint64_t max;
	double mean;
};

/* Sorts the samples.  None: all zero. */
void perf_summarize(uint64_t *samples, uint64_t n, struct perf_stats *stats);
/* Nearest rank, of sorted samples; permille is 1 to 1000. */
uint64_t perf_percentile(const uint64_t *sorted, uint64_t n,
			 unsigned int permille);

#define PERF_BUCKETS 16
struct perf_bucket {
	uint64_t from;
	uint64_t to;		/* inclusive */
	uint64_t count;
};

/*
 * Equal steps from the least to the 99th percentile of sorted samples, and one
 * bucket for what is above.  Returns the number of buckets.
 */
unsigned int perf_histogram(const uint64_t *sorted, uint64_t n,
			    struct perf_bucket buckets[PERF_BUCKETS]);

/* ---- endpoint.c ---------------------------------------------------------- */

struct perf_device {
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	bool masked_cas;	/* native */
	bool masked_fadd;
	bool atomics;
	int gid_index;
	union ibv_gid gid;
	uint32_t mtu;		/* bytes */
	uint8_t rd_atomic;
};

/* What one endpoint tells the other. */
struct perf_address {
	union ibv_gid gid;
	uint32_t mtu;
	uint32_t rd_atomic;
	uint32_t rkey;
	uint64_t addr;
	uint32_t qpn[PERF_MAX_QPS];
};

struct perf_endpoint {
	struct perf_device dev;
	struct ibv_cq *cq;	/* of sends, of all queue pairs */
	struct ibv_cq *rcq;
	struct ibv_mr *mr;
	uint8_t *buf;
	size_t len;
	uint32_t stride;	/* of slots in buf */
	uint32_t num_qps;
	uint32_t depth;
	uint32_t size;		/* of a message */
	struct ibv_qp *qp[PERF_MAX_QPS];
	struct ibv_qp_ex *qpx[PERF_MAX_QPS];	/* NULL: no builders */
	struct mxedv_qp_ex *mqp[PERF_MAX_QPS];
	uint64_t received[PERF_MAX_QPS];
	uint64_t wrong;		/* messages, of those received */
	bool two_sided;		/* receives are posted */
};

/*
 * All of these say on stderr what failed.  Return 0 or an exit status; then
 * perf_endpoint_close() frees what there is.
 */
int perf_endpoint_open(struct perf_endpoint *ep, const char *device, int gid,
		       const struct perf_options *o);
int perf_endpoint_connect(struct perf_endpoint *ep,
			  const struct perf_address *peer,
			  const struct perf_options *o);
/* Start the thread that polls what is posted. */
int perf_endpoint_poll(struct perf_endpoint *ep);
void perf_endpoint_close(struct perf_endpoint *ep);
void perf_endpoint_address(const struct perf_endpoint *ep,
			   struct perf_address *address);
/* Takes the messages that have come, and posts receives again. */
int perf_endpoint_receive(struct perf_endpoint *ep);
/* What READ finds at the responder, byte by byte. */
void perf_endpoint_fill(struct perf_endpoint *ep);

static inline uint8_t perf_pattern(uint64_t offset)
{
	return (uint8_t)(offset * 167 + (offset >> 8) * 13 + 5);
}

/* ---- run.c --------------------------------------------------------------- */

struct perf_result {
	const char *op;
	enum perf_how how;
	uint64_t operations;
	uint64_t posts;		/* work requests; more than operations: retries */
	uint64_t writes;	/* PERF_BESIDE: completed meanwhile */
	uint64_t total;		/* clock ticks for all operations */
	uint64_t *samples;	/* of each operation, sorted */
	struct perf_stats stats;
};

struct session;

/*
 * One operation, as often as the options say.  `responder` is the other endpoint in
 * this process, or NULL: it is behind `session`.
 */
int perf_run(struct perf_endpoint *ep, struct perf_endpoint *responder,
	     struct session *session, const struct perf_address *peer,
	     const struct perf_options *o, enum perf_op op,
	     struct perf_result *result);

/* ---- multi.c: several processes that measure at once --------------------- */

/*
 * Makes them, if the options say so: more return from it than have called it.
 * Returns 0 or an exit status; multi_finish() after both.
 */
int multi_start(const struct perf_options *o);
/* The exit status: this process's, in the first one that of any. */
int multi_finish(int status);
/* Whether it is the first; a process that is alone is. */
bool multi_prints(void);
/* Whether it has atomics in PERF_BESIDE; others have the WRITEs. */
bool multi_measures(void);
/* One operation is ready to be measured; some others are not yet. */
void multi_ready(void);
bool multi_is_gathering(void);
/* It has been measured; some others have not yet. */
void multi_measured(void);
bool multi_is_measuring(void);
/* The first one's result becomes that of all; the first has waited for them. */
int multi_gather(const struct perf_options *o, struct perf_result *result);

/* sockets.c: the tests udp and tcp. */
int perf_run_sockets(const struct perf_options *o, struct perf_result *result);

/* ---- session.c ----------------------------------------------------------- */

struct session *session_connect(const struct perf_options *o,
				const struct perf_address *own,
				struct perf_address *peer);
/* The responder gets ready for the operation. */
int session_begin(struct session *session, enum perf_op op);
/* It is over when so many messages have come; then how many were wrong. */
int session_end(struct session *session, uint64_t messages, uint64_t *wrong);
void session_close(struct session *session);
/* Serves one client; returns the exit status. */
int session_serve(const struct perf_options *o);

/* ---- print.c ------------------------------------------------------------- */

void perf_print_head(const struct perf_options *o, FILE *out);
void perf_print_result(const struct perf_options *o,
		       const struct perf_result *result, bool first, FILE *out);
void perf_print_end(const struct perf_options *o, FILE *out);

/* ---- clock --------------------------------------------------------------- */

#if defined(__x86_64__) || defined(__i386__)
#define PERF_HAS_TSC 1
static inline uint64_t perf_tsc(void)
{
	return __builtin_ia32_rdtsc();
}
#else
#define PERF_HAS_TSC 0
static inline uint64_t perf_tsc(void)
{
	return 0;
}
#endif

static inline uint64_t perf_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static inline uint64_t perf_now(bool tsc)
{
	return tsc ? perf_tsc() : perf_ns();
}

#endif /* PERF_H */
