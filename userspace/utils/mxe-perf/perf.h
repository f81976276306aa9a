/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * mxe-perf measures the cost of RDMA operations on a verbs device and checks
 * their results.
 *
 * An endpoint is a device with queue pairs, which are connected one to one to
 * those of the other endpoint.  The requester measures.  The responder provides
 * memory and receives messages.  Both are in this process, or the responder is
 * in another process that is reached by TCP (session.c).
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
/* PERF_BESIDE: the first QP has the atomics, the second the WRITEs. */
#define PERF_BESIDE_QPS 2
#define PERF_MAX_DEPTH 4096
#define PERF_MAX_SIZE (1u << 30)
#define PERF_MAX_MEMORY ((size_t)4 << 30)	/* of an endpoint */
/* Fields of a word. */
#define PERF_MAX_LANES 64
/* Tags that PERF_TAGS posts, at most. */
#define PERF_MAX_TAGS 1000

/* Exit status, documented in mxe-perf(1). */
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
	/* What matches the messages of PERF_TAGS to tags. */
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

/* ---- options.c ----------------------------------------------------------- */

/**
 * perf_parse() - Parses and checks the command line.
 * @argc: number of arguments
 * @argv: arguments
 * @o: result, with defaults for options that are not given
 * @out: for --help and --version
 * @err: for messages
 *
 * Return: -1 to go on, or the exit status.
 */
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

/**
 * perf_summarize() - Sorts samples and computes their statistics.
 * @samples: any unit
 * @n: number of samples; without samples all statistics are 0
 * @stats: result, in the unit of the samples
 */
void perf_summarize(uint64_t *samples, uint64_t n, struct perf_stats *stats);

/**
 * perf_percentile() - Returns a percentile by the nearest-rank method.
 * @sorted: samples in ascending order
 * @n: number of samples
 * @permille: 1 to 1000
 *
 * Return: one of the samples, or 0 if there are none.
 */
uint64_t perf_percentile(const uint64_t *sorted, uint64_t n,
			 unsigned int permille);

#define PERF_BUCKETS 16
struct perf_bucket {
	uint64_t from;
	uint64_t to;		/* inclusive */
	uint64_t count;
};

/**
 * perf_histogram() - Counts samples in buckets.
 * @sorted: samples in ascending order
 * @n: number of samples
 * @buckets: result: buckets of equal width up to the 99th percentile, and one
 *	for the samples above it
 *
 * Return: the number of buckets that are used.
 */
unsigned int perf_histogram(const uint64_t *sorted, uint64_t n,
			    struct perf_bucket buckets[PERF_BUCKETS]);

/* ---- endpoint.c ---------------------------------------------------------- */

struct perf_device {
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	bool masked_cas;	/* native masked operations */
	bool masked_fadd;
	bool atomics;
	int gid_index;
	union ibv_gid gid;
	uint32_t mtu;		/* bytes */
	uint8_t rd_atomic;
};

/* What an endpoint must know about the other one. */
struct perf_address {
	union ibv_gid gid;
	uint32_t mtu;		/* bytes */
	uint32_t rd_atomic;
	uint32_t rkey;
	uint64_t addr;
	uint32_t qpn[PERF_MAX_QPS];
};

struct perf_endpoint {
	struct perf_device dev;
	struct ibv_cq *cq;	/* of sends, of all queue pairs */
	struct ibv_cq *rcq;
	/* Only with num_tags.  rcqx is rcq. */
	struct ibv_cq_ex *rcqx;
	struct ibv_srq *srq;
	struct ibv_mr *mr;
	uint8_t *buf;
	size_t len;
	uint32_t stride;	/* bytes of a slot in buf */
	uint32_t num_qps;
	uint32_t depth;
	uint32_t size;		/* bytes of a message */
	struct ibv_qp *qp[PERF_MAX_QPS];
	struct ibv_qp_ex *qpx[PERF_MAX_QPS];	/* NULL: no builders */
	struct mxedv_qp_ex *mqp[PERF_MAX_QPS];
	uint64_t received[PERF_MAX_QPS];
	uint64_t wrong;		/* received messages with wrong contents */
	bool two_sided;		/* receives are posted */
	uint32_t num_tags;	/* 0: there is no SRQ */
	bool matches;		/* the SRQ matches tags */
};

/*
 * Functions that return an exit status print a message to stderr if they fail.
 * perf_endpoint_close() also closes an endpoint that is partly open.
 */

/**
 * perf_endpoint_open() - Opens the device and creates memory and queue pairs.
 * @ep: result; two_sided, num_tags and matches are set by the caller, the rest
 *	is zero
 * @device: name; NULL: the first device
 * @gid: GID index; negative: chosen
 * @o: options
 *
 * With num_tags, the queue pairs receive from an SRQ, and the memory has
 * num_tags more slots at the end.
 *
 * Return: 0 or an exit status.
 */
int perf_endpoint_open(struct perf_endpoint *ep, const char *device, int gid,
		       const struct perf_options *o);

/**
 * perf_endpoint_connect() - Connects each queue pair to one of the peer.
 * @ep: open
 * @peer: address of the other endpoint
 * @o: options
 *
 * Return: 0 or an exit status.
 */
int perf_endpoint_connect(struct perf_endpoint *ep,
			  const struct perf_address *peer,
			  const struct perf_options *o);

/**
 * perf_endpoint_close() - Destroys everything that the endpoint has.
 * @ep: open, partly open, or zero
 */
void perf_endpoint_close(struct perf_endpoint *ep);

/**
 * perf_endpoint_address() - Fills in what the other endpoint must know.
 * @ep: open
 * @address: result
 */
void perf_endpoint_address(const struct perf_endpoint *ep,
			   struct perf_address *address);

/**
 * perf_endpoint_receive() - Checks the messages that have arrived.
 * @ep: responder, two-sided
 *
 * Polls once and posts a receive for each message.
 *
 * Return: 0, or STATUS_FAILED if a receive failed.  Wrong contents are counted
 * in @ep->wrong.
 */
int perf_endpoint_receive(struct perf_endpoint *ep);

/**
 * perf_endpoint_fill() - Fills the memory with the pattern that READ expects.
 * @ep: responder
 */
void perf_endpoint_fill(struct perf_endpoint *ep);

/**
 * perf_pattern() - Returns the byte that READ expects.
 * @offset: bytes from the start of the slot
 *
 * Return: the byte.
 */
static inline uint8_t perf_pattern(uint64_t offset)
{
	return (uint8_t)(offset * 167 + (offset >> 8) * 13 + 5);
}

/* ---- run.c --------------------------------------------------------------- */

struct perf_result {
	const char *op;
	enum perf_how how;
	uint32_t tags;		/* PERF_TAGS: number that is posted */
	double ratio;		/* PERF_TAGS: rate of the device / this rate */
	uint64_t operations;
	uint64_t posts;		/* work requests; emulation posts several */
	uint64_t writes;	/* PERF_BESIDE: WRITEs completed meanwhile */
	uint64_t total;		/* clock ticks for all operations */
	uint64_t *samples;	/* of each operation, sorted */
	struct perf_stats stats;
};

struct session;

/**
 * perf_run() - Measures one operation as often as the options say.
 * @ep: requester, connected
 * @responder: the other endpoint if it is in this process, else NULL
 * @session: connection to the responder's process if @responder is NULL
 * @peer: address of the responder
 * @o: options
 * @op: operation
 * @result: result; the caller frees its samples
 *
 * Prints a message to stderr if it fails.
 *
 * Return: 0 or an exit status.
 */
int perf_run(struct perf_endpoint *ep, struct perf_endpoint *responder,
	     struct session *session, const struct perf_address *peer,
	     const struct perf_options *o, enum perf_op op,
	     struct perf_result *result);

/* ---- multi.c: several processes that measure at once --------------------- */

/**
 * multi_start() - Forks the other processes if the options ask for several.
 * @o: options
 *
 * Returns in every process.  Each of them calls multi_finish() at its end, also
 * after a failure.
 *
 * Return: 0, or STATUS_FAILED after a message to stderr.
 */
int multi_start(const struct perf_options *o);

/**
 * multi_finish() - Ends the common work of the processes.
 * @status: exit status of this process
 *
 * The first process waits for the others.
 *
 * Return: the exit status of this process; in the first one, if that is 0, the
 * status of one that failed.
 */
int multi_finish(int status);

/**
 * multi_prints() - Returns true in the process that prints the results.
 *
 * Return: true in the first process, and in one that is alone.
 */
bool multi_prints(void);

/**
 * multi_measures() - Returns true if this process measures operations.
 *
 * Return: false in those processes of PERF_BESIDE that only have WRITEs.
 */
bool multi_measures(void);

/**
 * multi_ready() - Tells the other processes that this one can measure.
 *
 * Called once for each operation.
 */
void multi_ready(void);

/**
 * multi_is_gathering() - Returns true while another process is not ready.
 *
 * Return: false also if a process has failed.
 */
bool multi_is_gathering(void);

/**
 * multi_measured() - Tells the other processes that this one has measured.
 *
 * Called once for each operation.
 */
void multi_measured(void);

/**
 * multi_is_measuring() - Returns true while another process measures.
 *
 * Return: false also if a process has failed.
 */
bool multi_is_measuring(void);

/**
 * multi_gather() - Merges the results of all processes in the first one.
 * @o: options
 * @result: result of this process; in the first one, that of all afterwards
 *
 * Waits for all processes.
 *
 * Return: 0, or STATUS_FAILED if a process has failed.
 */
int multi_gather(const struct perf_options *o, struct perf_result *result);

/* ---- match.c ------------------------------------------------------------- */

#define PERF_MATCH_BUCKETS 1024

struct perf_tag {
	struct perf_tag *next;
	uint64_t tag;
	uint64_t mask;
};

/* Posted tags in the order of posting: in one list, or in one for each hash. */
struct perf_match {
	uint32_t num_buckets;
	struct {
		struct perf_tag *first;
		struct perf_tag **end;
	} buckets[PERF_MATCH_BUCKETS];
};

/**
 * perf_match_init() - Makes an empty table of tags.
 * @m: result; must not be moved afterwards
 * @hash: use a hash table, for tags whose masks have all bits set
 */
void perf_match_init(struct perf_match *m, bool hash);

/**
 * perf_match_add() - Adds a tag behind all others.
 * @m: table
 * @tag: with tag and mask; in the table until perf_match_take() returns it
 */
void perf_match_add(struct perf_match *m, struct perf_tag *tag);

/**
 * perf_match_take() - Removes the tag that matches a message.
 * @m: table
 * @value: tag of the message
 *
 * Return: the first tag with @value & mask == tag, or NULL.
 */
struct perf_tag *perf_match_take(struct perf_match *m, uint64_t value);

/* ---- tags.c -------------------------------------------------------------- */

/**
 * perf_run_tags() - Runs the test tags with one number of tags.
 * @o: options
 * @tags: number of tags that are posted, at most PERF_MAX_TAGS
 * @how: PERF_DEVICE, PERF_HASH or PERF_LIST
 * @result: result; the caller frees its samples
 *
 * Prints a message to stderr if it fails.
 *
 * Return: 0 or an exit status.
 */
int perf_run_tags(const struct perf_options *o, uint32_t tags,
		  enum perf_how how, struct perf_result *result);

/* ---- sockets.c ----------------------------------------------------------- */

/**
 * perf_run_sockets() - Runs the test udp or tcp.
 * @o: options
 * @result: result; the caller frees its samples
 *
 * Prints a message to stderr if it fails.
 *
 * Return: 0 or an exit status.
 */
int perf_run_sockets(const struct perf_options *o, struct perf_result *result);

/* ---- session.c ----------------------------------------------------------- */

/*
 * All of these print a message to stderr if they fail.  They block until the
 * other side answers.
 */

/**
 * session_connect() - Connects to the server and exchanges addresses.
 * @o: options, with the host
 * @own: address of this endpoint
 * @peer: result: address of the server's endpoint
 *
 * Return: the session, or NULL.
 */
struct session *session_connect(const struct perf_options *o,
				const struct perf_address *own,
				struct perf_address *peer);

/**
 * session_begin() - Has the responder prepare for an operation.
 * @session: of session_connect()
 * @op: operation
 *
 * Return: 0 or STATUS_FAILED.
 */
int session_begin(struct session *session, enum perf_op op);

/**
 * session_end() - Has the responder finish an operation.
 * @session: of session_connect()
 * @messages: number of messages that were sent; the responder waits for them
 * @wrong: result: number of messages with wrong contents
 *
 * Return: 0 or STATUS_FAILED.
 */
int session_end(struct session *session, uint64_t messages, uint64_t *wrong);

/**
 * session_close() - Closes the connection.
 * @session: of session_connect(), or NULL
 */
void session_close(struct session *session);

/**
 * session_serve() - Is the responder for one client.
 * @o: options of this side; the client's replace some of them
 *
 * Return: the exit status.
 */
int session_serve(const struct perf_options *o);

/* ---- print.c ------------------------------------------------------------- */

/**
 * perf_print_head() - Prints the head of the table, or the start of the JSON.
 * @o: options
 * @out: where to
 */
void perf_print_head(const struct perf_options *o, FILE *out);

/**
 * perf_print_result() - Prints one line of the table, or one JSON object.
 * @o: options
 * @result: with sorted samples
 * @first: true for the first result of the run
 * @out: where to
 */
void perf_print_result(const struct perf_options *o,
		       const struct perf_result *result, bool first, FILE *out);

/**
 * perf_print_end() - Prints the end of the JSON.
 * @o: options
 * @out: where to
 */
void perf_print_end(const struct perf_options *o, FILE *out);

/* ---- clock --------------------------------------------------------------- */

#if defined(__x86_64__) || defined(__i386__)
#define PERF_HAS_TSC 1
/**
 * perf_tsc() - Reads the time stamp counter.
 *
 * Return: ticks; 0 without PERF_HAS_TSC.
 */
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

/**
 * perf_ns() - Reads the monotonic clock.
 *
 * Return: nanoseconds.
 */
static inline uint64_t perf_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

/**
 * perf_now() - Reads the clock that the options choose.
 * @tsc: options' tsc
 *
 * Return: ticks or nanoseconds.
 */
static inline uint64_t perf_now(bool tsc)
{
	return tsc ? perf_tsc() : perf_ns();
}

#endif /* PERF_H */
