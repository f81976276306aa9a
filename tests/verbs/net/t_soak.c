// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Proves that operations are executed exactly once, even if the wire loses,
 * repeats or reorders packets. Processes execute masked and plain atomics,
 * READs, WRITEs and SENDs on the memory of another host and check every result,
 * every byte and every completion.
 *
 *	t_soak serve DEVICE PORT
 *	t_soak run [OPTION...] DEVICE SERVER PORT
 *	  -n WORKERS     processes, 1 to 8 (default 4)
 *	  -s SECONDS     of traffic (default 5 without -c)
 *	  -c OPERATIONS  number of masked atomics; with -s, for at most SECONDS
 *	  -w COMMAND     impairs the wire: called as "COMMAND on" before the
 *	                 traffic and as "COMMAND off" after it
 *	  -l             running out of retries is not a failure: the worker
 *	                 ends, and its requests in flight may be done or not
 *	  -t TIMEOUT     local ACK timeout, 4.096 us << TIMEOUT
 *	                 (default 14: 67 ms)
 *	  -S SEED        seed of the choices of the workers
 */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "tap.h"
#include "soak.h"

/* A stage that takes longer hangs. */
#define STAGE_MS 120000

static struct soak_options opt = {
	.workers = 4, .seed = 1, .timeout = 14,
};
static struct soak_shared *sh;
static pid_t workers[SOAK_WORKERS];

static void wire(const char *how)
{
	char command[512];

	if (!opt.wire)
		return;
	snprintf(command, sizeof(command), "%s %s", opt.wire, how);
	ok(!system(command), "wire: %s", command);
}

/*
 * Waits for all workers to end the stage. Returns false if one exits or hangs.
 */
static bool await_workers(void)
{
	for (int ms = 0; ms < STAGE_MS; ms += 20) {
		if (atomic_load(&sh->arrived) >= (int)opt.workers) {
			atomic_store(&sh->arrived, 0);
			return true;
		}
		for (unsigned int i = 0; i < opt.workers; i++)
			if (workers[i] && waitpid(workers[i], NULL, WNOHANG)) {
				workers[i] = 0;
				return false;
			}
		usleep(20000);
	}
	return false;
}

static bool soaked(uint64_t start)
{
	if (opt.operations && atomic_load(&sh->masked) >= opt.operations)
		return true;
	return opt.seconds && vt_now_ms() - start >= 1000ULL * opt.seconds;
}

static bool somebody_works(void)
{
	return atomic_load(&sh->arrived) < (int)opt.workers;
}

static uint64_t run_traffic(void)
{
	uint64_t start = vt_now_ms(), told = start;

	atomic_store(&sh->stage, SOAK_TRAFFIC);
	while (!soaked(start) && somebody_works()) {
		usleep(20000);
		if (vt_now_ms() - told < 10000)
			continue;
		told = vt_now_ms();
		diag("%s: %" PRIu64 " s, %" PRIu64 " masked atomics",
		     opt.device, (told - start) / 1000, atomic_load(&sh->masked));
	}
	atomic_store(&sh->stage, SOAK_DRAIN);
	return vt_now_ms() - start;
}

static bool run_workers(uint64_t *ms)
{
	fflush(stdout);
	for (unsigned int i = 0; i < opt.workers; i++) {
		workers[i] = fork();
		if (workers[i] < 0)
			bail_out("fork: %s", strerror(errno));
		if (!workers[i])
			_exit(soak_work(&opt, sh, i));
	}
	if (!ok(await_workers(), "%u workers are connected", opt.workers))
		return false;
	wire("on");
	*ms = run_traffic();
	ok(await_workers(), "nothing hangs");
	wire("off");
	atomic_store(&sh->stage, SOAK_VERIFY);
	for (unsigned int i = 0; i < opt.workers; i++) {
		int status = 0;

		if (workers[i] && waitpid(workers[i], &status, 0) < 0)
			bail_out("waitpid: %s", strerror(errno));
		ok(!status && !sh->workers[i].failed,
		   "worker %u: every result is right", i);
	}
	return true;
}

/* ---- checks of the memory ----------------------------------------------- */

static uint64_t sum(enum soak_kind kind, bool unknown)
{
	uint64_t n = 0;

	for (unsigned int i = 0; i < opt.workers; i++)
		n += unknown ? sh->workers[i].unknown[kind] :
			       sh->workers[i].done[kind];
	return n;
}

/*
 * Returns true if value, modulo 2^bits, is the number of operations done, plus
 * possibly unknown ones.
 */
static bool within(uint64_t value, unsigned int bits, uint64_t done,
		   uint64_t unknown)
{
	uint64_t mask = bits < 64 ? (1ULL << bits) - 1 : UINT64_MAX;

	return ((value - done) & mask) <= unknown;
}

static void verify_own(const struct soak_words *words, unsigned int i)
{
	const struct soak_worker_state *w = &sh->workers[i];
	unsigned int shift = 16 * (i % 4);

	ok(within(words->fields[i / 4] >> shift, 16, w->done[SOAK_FIELD],
		  w->unknown[SOAK_FIELD]),
	   "worker %u: %" PRIu64 " additions, each once", i,
	   w->done[SOAK_FIELD]);
	ok(within(words->swaps[i / 4] >> shift, 16, w->done[SOAK_SWAP],
		  w->unknown[SOAK_SWAP]),
	   "worker %u: %" PRIu64 " swaps, each once", i, w->done[SOAK_SWAP]);
	if (i < 4)
		ok(within(words->wide[0] >> shift, 16, w->done[SOAK_WIDE],
			  w->unknown[SOAK_WIDE]),
		   "worker %u: %" PRIu64 " additions of 32 bytes, each once", i,
		   w->done[SOAK_WIDE]);
	if (w->lost) {
		diag("worker %u lost its connection", i);
		return;
	}
	ok(w->received.messages == w->done[SOAK_SEND] && !w->received.wrong,
	   "worker %u: %" PRIu64 " messages have arrived, in order", i,
	   w->done[SOAK_SEND]);
}

static void verify_history(const struct soak_history *h, uint64_t total,
			   enum soak_kind kind, const char *name)
{
	uint64_t unknown = sum(kind, true), n = 0;

	for (uint64_t i = 0; i <= total / 64 && i < SOAK_TICKETS / 64; i++)
		n += (uint64_t)__builtin_popcountll(atomic_load(&h->seen[i]));
	ok(within(total, 64, n, unknown) && n == sum(kind, false),
	   "%s: %" PRIu64 " numbers given out, each once, in order", name, n);
}

static void verify_locks(const struct soak_words *words)
{
	uint64_t unknown = sum(SOAK_CHANGE, true);

	for (int l = 0; l < SOAK_LOCKS; l++) {
		uint64_t taken = 0;

		for (unsigned int i = 0; i < opt.workers; i++)
			taken += sh->workers[i].taken[l];
		ok(within(words->records[l].version, 64, taken, unknown),
		   "lock %d: held %" PRIu64 " times, by one at a time", l, taken);
	}
	/* A worker that lost its connection could not release its lock. */
	for (int l = 0; l < SOAK_LOCKS; l++) {
		uint64_t holder = words->locks >> 16 * l & 0xffff;

		ok(!holder || (holder <= opt.workers &&
			       sh->workers[holder - 1].lost),
		   "lock %d: not held by a connected worker", l);
	}
}

static void verify_words(void)
{
	struct soak_hello hello = { .request = SOAK_REPORT };
	int fd = soak_ask(&opt, &hello);
	struct soak_words words;

	if (!soak_read(fd, &words, sizeof(words)))
		bail_out("no report of the server");
	close(fd);
	for (unsigned int i = 0; i < opt.workers; i++)
		verify_own(&words, i);
	ok(words.wide[0] == words.wide[1] && words.wide[0] == words.wide[2] &&
	   words.wide[0] == words.wide[3], "32 bytes were changed as one");
	verify_history(&sh->tickets, words.tickets, SOAK_TICKET, "tickets");
	is_u64(words.twins >> 48, words.twins & 0xffff,
	       "two fields of a word were changed as one");
	verify_history(&sh->twins, words.twins & 0xffffffffffff, SOAK_TWIN,
		       "twins");
	verify_locks(&words);
}

/*
 * ---- the program -----------------------------------------------------------
 */

static unsigned long number(const char *text, unsigned long low,
			    unsigned long high)
{
	char *end;
	unsigned long n;

	errno = 0;
	n = strtoul(text, &end, 10);
	if (errno || *end || end == text || n < low || n > high) {
		fprintf(stderr, "t_soak: \"%s\" is not between %lu and %lu\n",
			text, low, high);
		exit(2);
	}
	return n;
}

static void options(int argc, char **argv)
{
	int c;

	while ((c = getopt(argc, argv, "n:s:c:w:lS:t:")) != -1) {
		switch (c) {
		case 'n':
			opt.workers = (unsigned int)number(optarg, 1, SOAK_WORKERS);
			break;
		case 's':
			opt.seconds = (unsigned int)number(optarg, 1, 1000000);
			break;
		case 'c':
			opt.operations = number(optarg, 1, 100000000);
			break;
		case 'w':
			opt.wire = optarg;
			break;
		case 'l':
			opt.may_lose = true;
			break;
		case 't':
			opt.timeout = (uint8_t)number(optarg, 1, 31);
			break;
		case 'S':
			opt.seed = number(optarg, 0, ULONG_MAX);
			break;
		default:
			exit(2);
		}
	}
	if (argc - optind != 3) {
		fprintf(stderr, "Usage: t_soak run [OPTION...] DEVICE SERVER PORT\n");
		exit(2);
	}
	if (!opt.seconds && !opt.operations)
		opt.seconds = 5;
	opt.device = argv[optind];
	opt.server = argv[optind + 1];
	opt.port = argv[optind + 2];
}

int main(int argc, char **argv)
{
	struct soak_hello reset = { .request = SOAK_RESET };
	uint64_t ms = 0, all = 0, completions = 0;
	char done;
	int fd;

	if (argc == 4 && !strcmp(argv[1], "serve"))
		return soak_serve(argv[2], (uint16_t)number(argv[3], 1, 65535));
	if (argc < 2 || strcmp(argv[1], "run")) {
		fprintf(stderr, "t_soak: \"serve\" or \"run\"?\n");
		return 2;
	}
	options(argc - 1, argv + 1);
	/*
	 * If SIGCHLD was inherited as ignored, waitpid() could not return the
	 * children.
	 */
	signal(SIGCHLD, SIG_DFL);
	plan(0);
	sh = mmap(NULL, sizeof(*sh), PROT_READ | PROT_WRITE,
		  MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (sh == MAP_FAILED)
		bail_out("mmap: %s", strerror(errno));
	fd = soak_ask(&opt, &reset);
	if (!soak_read(fd, &done, 1))
		bail_out("the server cannot be reset");
	close(fd);
	if (run_workers(&ms))
		verify_words();
	for (unsigned int i = 0; i < opt.workers; i++)
		completions += sh->workers[i].completions;
	for (enum soak_kind kind = 0; kind < SOAK_KINDS; kind++)
		all += sum(kind, false);
	diag("%s: %" PRIu64 " requests, %" PRIu64 " of them masked atomics, %"
	     PRIu64 " completions, in %" PRIu64 ".%" PRIu64 " s; seed %" PRIu64,
	     opt.device, all, atomic_load(&sh->masked), completions, ms / 1000,
	     ms % 1000 / 100, opt.seed);
	return done_testing();
}
