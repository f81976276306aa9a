// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Tests of the statistics, options, tag lists and sockets of mxe-perf. */
#include <errno.h>
#include <getopt.h>
#include <sys/socket.h>
#include <time.h>

#include "match.h"
#include "options.h"
#include "result.h"
#include "sockets.h"
#include "stats.h"
#include "status.h"
#include "tap.h"

/* ---- statistics ---------------------------------------------------------- */

static void test_percentile(void)
{
	uint64_t v[1000];

	for (unsigned int i = 0; i < 1000; i++)
		v[i] = i + 1;
	is_int(perf_percentile(v, 0, 500), 0, "no samples: 0");
	for (unsigned int permille = 1; permille <= 1000; permille += 333)
		is_int(perf_percentile(v, 1, permille), 1,
		       "percentile %u of one sample", permille);
	is_int(perf_percentile(v, 1000, 1), 1, "0.1 %% of 1000");
	is_int(perf_percentile(v, 1000, 500), 500, "the median of 1000");
	is_int(perf_percentile(v, 1000, 999), 999, "99.9 %% of 1000");
	is_int(perf_percentile(v, 1000, 1000), 1000, "100 %% of 1000");
	is_int(perf_percentile(v, 3, 500), 2, "the median of 3");
	is_int(perf_percentile(v, 4, 500), 2, "the lower median of 4");
	is_int(perf_percentile(v, 10, 900), 9, "90 %% of 10");
	is_int(perf_percentile(v, 10, 901), 10, "90.1 %% of 10");
	is_int(perf_percentile(v, 10, 999), 10, "99.9 %% of 10");
}

static void test_summary(void)
{
	uint64_t v[] = { 7, 3, UINT64_MAX / 2, 1, 3 };
	struct perf_stats s;

	perf_summarize(v, 0, &s);
	is_int(s.n, 0, "no samples: number is 0");
	is_int(s.max, 0, "... and the maximum");
	perf_summarize(v, 5, &s);
	is_int(s.n, 5, "number of unsorted samples");
	is_int(s.min, 1, "... minimum");
	is_int(s.median, 3, "... median");
	is_u64(s.max, UINT64_MAX / 2, "... maximum, of 63 bits");
	is_u64(s.p90, UINT64_MAX / 2, "... 90th percentile");
	ok(s.mean > 1.8e18 && s.mean < 1.9e18, "... mean");
	is_int(v[1], 3, "the samples are sorted");
}

static uint64_t counted(const struct perf_bucket *b, unsigned int n)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < n; i++)
		sum += b[i].count;
	return sum;
}

static void test_histogram(void)
{
	struct perf_bucket b[PERF_BUCKETS];
	uint64_t v[1000] = { };
	unsigned int n;

	is_int(perf_histogram(v, 0, b), 0, "no samples: no bucket");
	for (unsigned int i = 0; i < 1000; i++)
		v[i] = 5;
	n = perf_histogram(v, 1000, b);
	is_int(n, 1, "equal samples: one bucket");
	is_int(b[0].from, 5, "... starts at their value");
	is_int(b[0].count, 1000, "... has all of them");

	for (unsigned int i = 0; i < 1000; i++)
		v[i] = 100 + i;
	n = perf_histogram(v, 1000, b);
	ok(n <= PERF_BUCKETS, "%u buckets fit the array", n);
	is_int(counted(b, n), 1000, "each sample is in one bucket");
	is_int(b[0].from, 100, "the first bucket starts at the minimum");
	for (unsigned int i = 1; i < n; i++)
		if (b[i].from != b[i - 1].to + 1)
			fail("a gap before bucket %u", i);

	v[999] = 1000000;
	n = perf_histogram(v, 1000, b);
	is_int(b[n - 1].to, 1000000, "an outlier is in the last bucket");
	ok(b[n - 2].to < 1200, "... the others are not wider");
	is_int(counted(b, n), 1000, "... and have the other samples");

	v[0] = 0;
	v[1] = UINT64_MAX;
	n = perf_histogram(v, 2, b);
	is_int(counted(b, n), 2, "the whole range");
	v[0] = UINT64_MAX;
	n = perf_histogram(v, 2, b);
	is_int(counted(b, n), 2, "samples at the end of the range");
}

/* ---- tags ---------------------------------------------------------------- */

static struct perf_match match;

static void test_match(bool hash)
{
	static struct perf_tag tags[1000];
	const char *what = hash ? "hash" : "list";
	unsigned int right = 0;

	perf_match_init(&match, hash);
	ok(!perf_match_take(&match, 0), "%s: nothing matches without tags", what);
	for (unsigned int i = 0; i < 1000; i++) {
		/* Each value twice. */
		tags[i] = (struct perf_tag){ .tag = i / 2, .mask = UINT64_MAX };
		perf_match_add(&match, &tags[i]);
	}
	ok(!perf_match_take(&match, 500), "%s: no such tag", what);
	/* From both ends, so that the first and the last of a list leave it. */
	for (unsigned int i = 0; i < 500; i++) {
		unsigned int value = i % 2 ? i / 2 : 499 - i / 2;

		right += perf_match_take(&match, value) == &tags[2 * value];
	}
	is_int(right, 500, "%s: of two tags, the first one matches", what);
	perf_match_add(&match, &tags[0]);
	ok(perf_match_take(&match, 0) == &tags[1], "%s: a new tag is the last", what);
	ok(perf_match_take(&match, 0) == &tags[0], "%s: ... and can be taken", what);
	ok(!perf_match_take(&match, 0), "%s: a tag matches once", what);
}

static void test_wildcard(void)
{
	struct perf_tag exact = { .tag = 0x12, .mask = UINT64_MAX };
	struct perf_tag wild = { .tag = 0x10, .mask = 0xf0 };

	perf_match_init(&match, false);
	perf_match_add(&match, &wild);
	perf_match_add(&match, &exact);
	ok(perf_match_take(&match, 0x12) == &wild, "a mask in front of a tag");
	ok(perf_match_take(&match, 0x12) == &exact, "... then the tag");
	perf_match_add(&match, &exact);
	perf_match_add(&match, &wild);
	ok(perf_match_take(&match, 0x12) == &exact, "a tag in front of a mask");
	ok(!perf_match_take(&match, 0x22), "... another tag");
	ok(perf_match_take(&match, 0x31f) == &wild, "... a tag of which bits differ");
}

/* ---- options ------------------------------------------------------------- */

static char out_text[8192], err_text[1024];

/* Parses a command line.  The output is in out_text and err_text. */
static int parse(const char *args, struct perf_options *o)
{
	static char words[512];
	char *argv[40];
	int argc = 0, status;
	FILE *out, *err;

	memset(out_text, 0, sizeof(out_text));
	memset(err_text, 0, sizeof(err_text));
	out = fmemopen(out_text, sizeof(out_text) - 1, "w");
	err = fmemopen(err_text, sizeof(err_text) - 1, "w");
	/* getopt_long() itself prints to the real stderr. */
	snprintf(words, sizeof(words), "mxe-perf %s", args);
	for (char *w = strtok(words, " "); w; w = strtok(NULL, " "))
		argv[argc++] = w;
	argv[argc] = NULL;
	status = perf_parse(argc, argv, o, out, err);
	fclose(out);
	fclose(err);
	return status;
}

static void test_defaults(void)
{
	struct perf_options o;

	is_int(parse("", &o), -1, "no options");
	is_int(o.test, PERF_LATENCY, "... test");
	is_int(o.ops, (1 << PERF_NUM_OPS) - 1, "... all operations");
	is_int(o.how, PERF_AUTO, "... native if possible");
	is_int(o.size, 8, "... size");
	is_int(o.depth, 1, "... depth");
	is_int(o.qps, 1, "... queue pairs");
	is_int(o.iterations, 1000, "... iterations");
	is_int(o.warmup, 100, "... warm-up");
	is_int(o.gid, -1, "... GID");
	is_int(o.processes, 0, "... processes");
	ok(!o.tsc && !o.json && !o.listen && !o.host, "... flags");

	is_int(parse("-t bandwidth", &o), -1, "bandwidth");
	is_int(o.ops, 1 << PERF_WRITE | 1 << PERF_READ | 1 << PERF_SEND,
	       "... has no atomics");
	is_int(o.size, 65536, "... size");
	is_int(o.depth, 16, "... depth");
	is_int(parse("-t contention", &o), -1, "contention");
	is_int(o.qps, 4, "... queue pairs");
	is_int(o.ops & 1 << PERF_WRITE, 0, "... has no write");
	is_int(parse("-t beside", &o), -1, "beside");
	ok(o.size == 1 << 20 && o.qps == 2 && o.depth == 2 && o.batch == 1 &&
	   o.ops == (1u << PERF_CAS | 1u << PERF_FADD | 1u << PERF_MCAS |
		     1u << PERF_MFADD), "... atomics, and WRITEs of 1 MiB");
	is_int(parse("-t rate -b 32", &o), -1, "a batch of 32");
	is_int(o.depth, 32, "... raises the depth");
	is_int(parse("-t tags", &o), -1, "tags");
	is_int(o.ops, 1 << PERF_SEND, "... has only send");
	ok(o.size == 8 && o.depth == 16 && o.qps == 1, "... size, depth, qps");
	is_int(parse("-t udp", &o), -1, "udp");
	is_int(o.size, 64, "... size");
	is_int(parse("-t tcp", &o), -1, "tcp");
	is_int(o.size, 65536, "... size");
}

static void test_values(void)
{
	struct perf_options o;

	is_int(parse("-o mcas,write -e native -d mxe1 -r mxe2 -x 3 -X 4 -s 2K",
		     &o), -1, "operations and devices");
	is_int(o.ops, 1 << PERF_MCAS | 1 << PERF_WRITE, "operations");
	is_int(o.how, PERF_NATIVE, "emulation");
	is_str(o.device, "mxe1", "device");
	is_str(o.remote, "mxe2", "remote device");
	ok(o.gid == 3 && o.remote_gid == 4, "GIDs");
	is_int(o.size, 2048, "size with a K");
	is_int(parse("-t rate -n 5000000 -w 0 -q 8 -b 4 -Q 2 -m 1024 -p 99 -T 3 -PDHjv",
		     &o), -1, "numbers and flags");
	is_int(o.iterations, 5000000, "iterations");
	is_int(o.warmup, 0, "no warm-up");
	ok(o.depth == 8 && o.batch == 4 && o.qps == 2, "depth, batch, qps");
	is_int(o.mtu, 1024, "MTU");
	ok(o.port == 99 && o.timeout == 3, "port, timeout");
	ok(o.post_send && o.one_doorbell && o.histogram && o.json && o.progress, "flags");
	is_int(parse("-J 64", &o), -1, "processes");
	is_int(o.processes, 64, "... number");
	is_int(parse("--processes 2 -t beside", &o), -1,
	       "two processes and WRITEs beside");
	ok(o.processes == 2 && o.qps == 2 && o.depth == 2,
	   "... defaults as with one");
	is_int(parse("--size 1M --test bandwidth peer", &o), -1,
	       "long options and a host");
	is_int(o.size, 1 << 20, "size with an M");
	is_str(o.host, "peer", "the host");
	is_int(parse("-e read", &o), -1, "emulation");
	is_int(o.how, PERF_READ_FIRST, "... with READ");
	is_int(parse("-o all", &o), -1, "all operations");
	is_int(o.ops, (1 << PERF_NUM_OPS) - 1, "... every bit is set");
}

static void test_texts(void)
{
	struct perf_options o;

	is_int(parse("--help", &o), STATUS_OK, "--help");
	ok(strstr(out_text, "Usage: mxe-perf"), "... prints to standard output");
	is_int(parse("-V", &o), STATUS_OK, "--version");
	is_str(out_text, "mxe-perf 9.9\n", "... prints it");
}

static void test_refusals(void)
{
	static const char *const lines[] = {
		"-t fast", "-o", "-o fly", "-o write,", "-o ,write", "-o cas,,fadd",
		"-e auto", "-e best", "-x -1", "-x 256", "-s 0", "-s 8x", "-s -8",
		"-s 2000M", "-s 99999999999999999999", "-n 0", "-n 1.5", "-q 0",
		"-q 5000", "-Q 65", "-m 1500", "-m 128", "-p 0", "-p 65536",
		"-c sundial", "-T 0", "-b 0", "a b", "--nonsense",
		/* Conflicts of options that are valid alone. */
		"-q 2", "-t rate -q 4 -b 8", "-t bandwidth -o cas",
		"-t contention -o read", "-t beside -o write",
		"-t beside -Q 3", "-t beside -b 2 -q 2", "-t udp host", "-t tcp -l",
		"-t tags host", "-t tags -l", "-t tags -J 2", "-t tags -Q 2",
		"-t tags -P", "-t tags -D", "-t tags -o write",
		"-t tags -e device", "-t udp -s 65508", "-l host", "-r mxe2 host",
		"-J 0", "-J 65", "-J 2 host", "-J 2 -l", "-J 1 -t udp", "-t tcp -J 2",
		"-t rate -b 2 -e guess", "-t rate -b 2 -o mcas -e read",
	};
	struct perf_options o;

	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		is_int(parse(lines[i], &o), STATUS_USAGE, "refused: %s",
		       lines[i]);
		ok(strstr(err_text, "--help"), "... the message names --help");
	}
}

/* ---- sockets ------------------------------------------------------------- */

static unsigned int seconds;	/* the clock: each reading takes one */

int __wrap_clock_gettime(clockid_t clock, struct timespec *ts);

int __wrap_clock_gettime(clockid_t clock, struct timespec *ts)
{
	(void)clock;
	*ts = (struct timespec){ .tv_sec = ++seconds };
	return 0;
}

ssize_t __wrap_recv(int fd, void *buf, size_t len, int flags);

/* Nothing ever arrives. */
ssize_t __wrap_recv(int fd, void *buf, size_t len, int flags)
{
	(void)fd;
	(void)buf;
	(void)len;
	(void)flags;
	errno = EAGAIN;
	return -1;
}

static void test_stall(void)
{
	static const uint32_t timeouts[] = { 3, 50 };

	for (size_t i = 0; i < ARRAY_SIZE(timeouts); i++) {
		struct perf_options o = {
			.test = PERF_TCP, .size = 8, .iterations = 1,
			.timeout = timeouts[i],
		};
		struct perf_result result = { };
		unsigned int start = seconds;

		is_int(perf_run_sockets(&o, &result), STATUS_FAILED,
		       "a stream that stalls");
		ok(seconds - start >= o.timeout && seconds - start <= o.timeout + 5,
		   "... fails after %u s, the limit is %u", seconds - start,
		   o.timeout);
		free(result.samples);
	}
}

int main(void)
{
	plan(0);
	opterr = 0;
	test_percentile();
	test_summary();
	test_histogram();
	test_match(false);
	test_match(true);
	test_wildcard();
	test_defaults();
	test_values();
	test_texts();
	test_refusals();
	test_stall();
	return done_testing();
}
