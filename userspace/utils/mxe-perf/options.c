// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Parses and checks the command line. */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "options.h"
#include "status.h"

const char *const perf_op_name[PERF_NUM_OPS] = {
	[PERF_WRITE] = "write",
	[PERF_READ] = "read",
	[PERF_SEND] = "send",
	[PERF_CAS] = "cas",
	[PERF_FADD] = "fadd",
	[PERF_MCAS] = "mcas",
	[PERF_MFADD] = "mfadd",
};

const char *const perf_test_name[PERF_NUM_TESTS] = {
	[PERF_LATENCY] = "latency",
	[PERF_RATE] = "rate",
	[PERF_BANDWIDTH] = "bandwidth",
	[PERF_CONTENTION] = "contention",
	[PERF_BESIDE] = "beside",
	[PERF_TAGS] = "tags",
	[PERF_UDP] = "udp",
	[PERF_TCP] = "tcp",
};

const char *const perf_how_name[] = {
	[PERF_NATIVE] = "native",
	[PERF_GUESS] = "guess",
	[PERF_READ_FIRST] = "read",
	[PERF_AUTO] = "auto",
	[PERF_DEVICE] = "device",
	[PERF_HASH] = "hash",
	[PERF_LIST] = "list",
};

#define ATOMICS (1u << PERF_CAS | 1u << PERF_FADD | 1u << PERF_MCAS | \
		 1u << PERF_MFADD)
#define ALL_OPS ((1u << PERF_NUM_OPS) - 1)

static const char usage_text[] =
"Usage: mxe-perf [OPTION]... [HOST]\n"
"       mxe-perf -l [-d DEVICE] [-p PORT]\n"
"Measure the cost of RDMA operations on a device, and check their results.\n"
"The other endpoint is in this process, or on HOST, where mxe-perf -l runs.\n"
"\n"
"  -t, --test TEST         what to measure:\n"
"                            latency     one operation in flight (default)\n"
"                            rate        many operations in flight\n"
"                            bandwidth   large operations\n"
"                            contention  several queue pairs, atomics to one word\n"
"                            beside      one atomic in flight beside large WRITEs\n"
"                                        of another queue pair\n"
"                            tags        messages that are matched to 1, 100 and\n"
"                                        1000 tags, by the device and by this\n"
"                                        program\n"
"                            udp, tcp    for comparison: sockets of the kernel\n"
"  -o, --op OP,...         write, read, send, cas, fadd, mcas, mfadd or all\n"
"                          (default: all that TEST supports); mcas and mfadd are\n"
"                          the masked atomics\n"
"  -e, --emulate native|guess|read\n"
"                          execute masked atomics by the device, by a loop of\n"
"                          compare-and-swap, or by a loop of READ and\n"
"                          compare-and-swap (default: native, or guess if the\n"
"                          device does not support them)\n"
"  -d, --device NAME       device (default: the first one); with udp and tcp:\n"
"                          ADDRESS[@NETNS]\n"
"  -r, --remote NAME       device of the other endpoint (default: the same one)\n"
"  -x, --gid INDEX         GID (default: RoCE v2 of IPv4, if possible)\n"
"  -X, --remote-gid INDEX  GID of the other endpoint\n"
"  -s, --size BYTES        size of write, read and send (default: 8; bandwidth\n"
"                          and tcp: 65536; udp: 64; beside: 1M), with suffix K or\n"
"                          M if needed\n"
"  -n, --iterations N      operations to measure (default: 1000)\n"
"  -w, --warmup N          operations before these (default: a tenth); with 0,\n"
"                          the first one follows the connection at once\n"
"  -q, --depth N           operations in flight on each queue pair (default: 1;\n"
"                          rate, bandwidth and tags: 16; beside: 2 WRITEs)\n"
"  -b, --batch N           operations posted in one call (default: 1)\n"
"  -Q, --qps N             queue pairs (default: 1; contention: 4)\n"
"  -J, --processes N       measure in N processes at once, each bound to a CPU;\n"
"                          with beside, the first has the atomics and the others\n"
"                          the WRITEs\n"
"  -m, --mtu BYTES         path MTU (default: that of the ports)\n"
"  -l, --listen            be the other endpoint for one client, then exit\n"
"  -p, --port PORT         TCP port of mxe-perf -l (default: 18540)\n"
"  -c, --clock monotonic|tsc\n"
"                          measure in nanoseconds (default), or in ticks of the\n"
"                          time stamp counter\n"
"  -P, --post-send         post with ibv_post_send() instead of ibv_wr_*()\n"
"  -D, --one-doorbell      ring once for the requests of all queue pairs\n"
"  -M, --new-masks         give each masked atomic other masks (with latency)\n"
"  -T, --timeout SECONDS   time limit of a completion (default: 10)\n"
"  -H, --histogram         print a histogram for each operation\n"
"  -j, --json              print JSON\n"
"  -v, --progress          print the progress to standard error\n"
"  -h, --help              print this text\n"
"  -V, --version           print the version\n"
"\n"
"Exit status: 0 success, 1 an operation failed or its result is wrong, 2 wrong\n"
"usage, 3 the device does not exist or cannot be used.\n";

/* Returns false unless the text is a number from `least` to `most`. */
static bool number(const char *text, uint64_t least, uint64_t most,
		   uint64_t *value)
{
	char *end;

	errno = 0;
	if (*text < '0' || *text > '9')
		return false;
	*value = strtoull(text, &end, 0);
	if ((*end == 'K' || *end == 'k' || *end == 'M') && *value < 1ull << 40)
		*value <<= *end++ == 'M' ? 20 : 10;
	return !errno && !*end && *value >= least && *value <= most;
}

static bool number32(const char *text, uint32_t least, uint32_t most,
		     uint32_t *value)
{
	uint64_t v;

	if (!number(text, least, most, &v))
		return false;
	*value = (uint32_t)v;
	return true;
}

static bool choice(const char *text, const char *const *names, int num,
		   int *value)
{
	for (int i = 0; i < num; i++) {
		if (!strcmp(text, names[i])) {
			*value = i;
			return true;
		}
	}
	return false;
}

static bool op_list(const char *text, uint32_t *ops)
{
	*ops = 0;
	while (*text) {
		size_t len = strcspn(text, ",");
		uint32_t found = 0;

		for (int i = 0; i < PERF_NUM_OPS; i++)
			if (strlen(perf_op_name[i]) == len &&
			    !strncmp(text, perf_op_name[i], len))
				found = 1u << i;
		if (len == 3 && !strncmp(text, "all", len))
			found = ALL_OPS;
		if (!found)
			return false;
		*ops |= found;
		text += len;
		if (*text == ',' && !*++text)
			return false;
	}
	return *ops;
}

static bool is_mtu(uint32_t mtu)
{
	return mtu >= 256 && mtu <= 4096 && !(mtu & (mtu - 1));
}

/*
 * Takes an option with an argument.  Returns false if the argument is invalid.
 */
static bool take(int opt, const char *arg, struct perf_options *o)
{
	uint32_t value;
	int which;

	switch (opt) {
	case 't':
		if (!choice(arg, perf_test_name, PERF_NUM_TESTS, &which))
			return false;
		o->test = (enum perf_test)which;
		return true;
	case 'o':
		return op_list(arg, &o->ops);
	case 'e':
		if (!choice(arg, perf_how_name, PERF_AUTO, &which))
			return false;
		o->how = (enum perf_how)which;
		return true;
	case 'x':
		if (!number32(arg, 0, 255, &value))
			return false;
		o->gid = (int)value;
		return true;
	case 'X':
		if (!number32(arg, 0, 255, &value))
			return false;
		o->remote_gid = (int)value;
		return true;
	case 's':
		return number32(arg, 1, PERF_MAX_SIZE, &o->size);
	case 'n':
		return number(arg, 1, 1ull << 32, &o->iterations);
	case 'w':
		return number(arg, 0, 1ull << 32, &o->warmup);
	case 'q':
		return number32(arg, 1, PERF_MAX_DEPTH, &o->depth);
	case 'b':
		return number32(arg, 1, PERF_MAX_DEPTH, &o->batch);
	case 'Q':
		return number32(arg, 1, PERF_MAX_QPS, &o->qps);
	case 'J':
		return number32(arg, 1, PERF_MAX_PROCESSES, &o->processes);
	case 'm':
		return number32(arg, 256, 4096, &o->mtu) && is_mtu(o->mtu);
	case 'p':
		if (!number32(arg, 1, 65535, &value))
			return false;
		o->port = (uint16_t)value;
		return true;
	case 'T':
		return number32(arg, 1, 3600, &o->timeout);
	case 'c':
		o->tsc = !strcmp(arg, "tsc");
		return o->tsc || !strcmp(arg, "monotonic");
	default:
		return false;
	}
}

/* Returns false if the option is not one without an argument. */
static bool take_flag(int opt, struct perf_options *o)
{
	switch (opt) {
	case 'l':
		o->listen = true;
		return true;
	case 'P':
		o->post_send = true;
		return true;
	case 'D':
		o->one_doorbell = true;
		return true;
	case 'M':
		o->new_masks = true;
		return true;
	case 'H':
		o->histogram = true;
		return true;
	case 'j':
		o->json = true;
		return true;
	case 'v':
		o->progress = true;
		return true;
	default:
		return false;
	}
}

static void set_defaults(struct perf_options *o)
{
	bool deep = o->test == PERF_RATE || o->test == PERF_BANDWIDTH ||
		    o->test == PERF_TAGS;

	if (o->test == PERF_BESIDE) {
		o->size = o->size ? o->size : 1 << 20;
		o->qps = o->qps ? o->qps : PERF_BESIDE_QPS;
		o->depth = o->depth ? o->depth : 2;
	}
	if (!o->ops)
		o->ops = o->test == PERF_BANDWIDTH ? ALL_OPS & ~ATOMICS :
			 o->test == PERF_CONTENTION ||
			 o->test == PERF_BESIDE ? ATOMICS :
			 o->test == PERF_TAGS ? 1u << PERF_SEND : ALL_OPS;
	if (!o->size)
		o->size = o->test == PERF_BANDWIDTH || o->test == PERF_TCP ?
			  65536 : o->test == PERF_UDP ? 64 : 8;
	if (!o->qps)
		o->qps = o->test == PERF_CONTENTION ? 4 : 1;
	if (!o->depth)
		o->depth = deep && o->batch <= 16 ? 16 : o->batch;
	if (o->warmup == UINT64_MAX)
		o->warmup = o->iterations / 10;
}

/* Returns the reason why the options cannot be combined, or NULL. */
static const char *conflict(const struct perf_options *o)
{
	if (o->batch > o->depth)
		return "--batch must not exceed --depth";
	if (o->test == PERF_LATENCY && o->depth != 1)
		return "the test latency needs --depth 1: use the test rate";
	if (o->test != PERF_LATENCY && o->new_masks)
		return "--new-masks needs the test latency";
	if (o->test == PERF_BANDWIDTH && (o->ops & ATOMICS))
		return "the test bandwidth has only write, read and send";
	if (o->test == PERF_CONTENTION && (o->ops & ~ATOMICS))
		return "the test contention has only atomics";
	if (o->test == PERF_BESIDE && (o->ops & ~ATOMICS))
		return "the test beside measures only atomics";
	if (o->test == PERF_BESIDE &&
	    (o->qps != PERF_BESIDE_QPS || o->batch != 1))
		return "the test beside needs --qps 2 and --batch 1";
	if (o->test == PERF_TAGS && o->ops != 1u << PERF_SEND)
		return "the test tags supports only --op send";
	if (o->test == PERF_TAGS &&
	    (o->qps != 1 || o->post_send || o->one_doorbell))
		return "the test tags needs --qps 1 and cannot be combined with --post-send or --one-doorbell";
	if (o->test >= PERF_TAGS && (o->host || o->listen))
		return "the tests tags, udp and tcp run on one host: remove HOST or --listen";
	if (o->processes && (o->test >= PERF_TAGS || o->host || o->listen))
		return "--processes cannot be combined with HOST, --listen, tags, udp or tcp";
	if (o->test == PERF_UDP && o->size > 65507)
		return "the test udp needs --size 65507 or less";
	if (o->listen && o->host)
		return "--listen cannot be combined with HOST";
	if (o->host && o->remote)
		return "--remote cannot be combined with HOST: name the device there";
	if (o->tsc && !PERF_HAS_TSC)
		return "this architecture has no time stamp counter";
	if (o->batch > 1 && (o->ops & (1u << PERF_MCAS | 1u << PERF_MFADD)) &&
	    (o->how == PERF_GUESS || o->how == PERF_READ_FIRST))
		return "emulated operations need --batch 1";
	return NULL;
}

static const struct option longopts[] = {
	{ "test", required_argument, NULL, 't' },
	{ "op", required_argument, NULL, 'o' },
	{ "emulate", required_argument, NULL, 'e' },
	{ "device", required_argument, NULL, 'd' },
	{ "remote", required_argument, NULL, 'r' },
	{ "gid", required_argument, NULL, 'x' },
	{ "remote-gid", required_argument, NULL, 'X' },
	{ "size", required_argument, NULL, 's' },
	{ "iterations", required_argument, NULL, 'n' },
	{ "warmup", required_argument, NULL, 'w' },
	{ "depth", required_argument, NULL, 'q' },
	{ "batch", required_argument, NULL, 'b' },
	{ "qps", required_argument, NULL, 'Q' },
	{ "processes", required_argument, NULL, 'J' },
	{ "mtu", required_argument, NULL, 'm' },
	{ "listen", no_argument, NULL, 'l' },
	{ "port", required_argument, NULL, 'p' },
	{ "clock", required_argument, NULL, 'c' },
	{ "post-send", no_argument, NULL, 'P' },
	{ "one-doorbell", no_argument, NULL, 'D' },
	{ "new-masks", no_argument, NULL, 'M' },
	{ "timeout", required_argument, NULL, 'T' },
	{ "histogram", no_argument, NULL, 'H' },
	{ "json", no_argument, NULL, 'j' },
	{ "progress", no_argument, NULL, 'v' },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'V' },
	{ }
};

static int parse_words(int argc, char **argv, struct perf_options *o,
		       FILE *out, FILE *err)
{
	int opt;

	optind = 0;
	while ((opt = getopt_long(argc, argv,
				  "t:o:e:d:r:x:X:s:n:w:q:b:Q:J:m:lp:c:PDMT:HjvhV",
				  longopts, NULL)) != -1) {
		if (opt == 'h') {
			fputs(usage_text, out);
			return STATUS_OK;
		}
		if (opt == 'V') {
			fprintf(out, "mxe-perf %s\n", MXE_VERSION);
			return STATUS_OK;
		}
		if (opt == '?') {
			fputs("Try 'mxe-perf --help'.\n", err);
			return STATUS_USAGE;
		}
		if (opt == 'd') {
			o->device = optarg;
		} else if (opt == 'r') {
			o->remote = optarg;
		} else if (!take_flag(opt, o) && !take(opt, optarg, o)) {
			fprintf(err,
				"mxe-perf: invalid argument of -%c: '%s'. See 'mxe-perf --help'.\n",
				opt, optarg);
			return STATUS_USAGE;
		}
	}
	if (optind < argc)
		o->host = argv[optind++];
	if (optind == argc)
		return -1;
	fprintf(err, "mxe-perf: unexpected argument '%s'. See 'mxe-perf --help'.\n",
		argv[optind]);
	return STATUS_USAGE;
}

/**
 * perf_parse() - Parse and check the command line.
 * @argc: number of arguments
 * @argv: arguments
 * @o: result, with defaults for options that are not given
 * @out: for --help and --version
 * @err: for messages
 *
 * Return: -1 to go on, or the exit status.
 */
int perf_parse(int argc, char **argv, struct perf_options *o, FILE *out,
	       FILE *err)
{
	const char *wrong;
	int status;

	*o = (struct perf_options){
		.how = PERF_AUTO,
		.gid = -1,
		.remote_gid = -1,
		.iterations = 1000,
		.warmup = UINT64_MAX,
		.batch = 1,
		.timeout = 10,
		.port = 18540,
	};
	status = parse_words(argc, argv, o, out, err);
	if (status >= 0)
		return status;
	set_defaults(o);
	wrong = conflict(o);
	if (!wrong)
		return -1;
	fprintf(err, "mxe-perf: %s. See 'mxe-perf --help'.\n", wrong);
	return STATUS_USAGE;
}
