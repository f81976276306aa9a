// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * mxe-caps lists the masked atomics that each RDMA device offers.  This parses
 * the options and determines the exit status.
 */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "ask.h"
#include "caps.h"
#include "case.h"
#include "main.h"
#include "options.h"
#include "print.h"
#include "report.h"
#include "selftest.h"

/* Exit status, documented in mxe-caps(1). */
enum {
	STATUS_OK = 0,
	STATUS_UNMET = 1,
	STATUS_USAGE = 2,
	STATUS_NO_DEVICE = 3,
	STATUS_UNKNOWN = 4,
};

struct options {
	const char *device;
	bool json;
	enum caps_mode require;		/* CAPS_UNKNOWN: no requirement */
	bool for_user;
	bool for_kernel;

	const char *selftest;		/* device; NULL: no self-test */
	struct st_options st;
	const char *st_option;		/* last option that needs --selftest */
};

/* Options without a letter. */
enum {
	OPT_PORT = 256,
	OPT_GID_INDEX,
	OPT_SEED,
	OPT_COUNT,
};

#define DEFAULT_COUNT 300

static const char usage_text[] =
"Usage: mxe-caps [-j] [-d DEVICE] [-r native|emulated] [-f user|kernel|both]\n"
"       mxe-caps -s DEVICE [-j] [OPTION]...\n"
"List the masked RDMA atomics of every device, or test those of one device.\n"
"\n"
"  -d, --device DEVICE     list only this device\n"
"  -j, --json              print JSON\n"
"  -r, --require native|emulated\n"
"                          succeed only if a device has both masked operations,\n"
"                          executed by the responder, or at least emulated\n"
"  -f, --for user|kernel|both\n"
"                          require them in user space, in the kernel, or in both\n"
"                          (default)\n"
"  -s, --selftest DEVICE   execute every operation that DEVICE offers, check the\n"
"                          results and print a report\n"
"      --port NUMBER       port for the self-test (default: first active one)\n"
"      --gid-index NUMBER  GID of that port (default: RoCE v2 if it has one)\n"
"      --seed NUMBER       seed of the pseudo-random operands (default: random)\n"
"      --count NUMBER      pseudo-random operand sets per case (default: 300)\n"
"  -h, --help              print this text\n"
"  -V, --version           print the version\n"
"\n"
"Exit status: 0 success, 1 the requirement is not met or a case failed, 2 wrong\n"
"usage, 3 no such device, 4 not known or nothing could be tested.\n";

/* Returns false unless the text is a number from 0 to max. */
static bool parse_number(const char *text, unsigned long max,
			 unsigned long *number)
{
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	*number = strtoul(text, &end, 0);
	return !errno && !*end && *number <= max;
}

/* Returns false if the argument is invalid. */
static bool parse_st_option(int opt, struct options *o)
{
	unsigned long number;

	switch (opt) {
	case OPT_PORT:
		o->st_option = "--port";
		if (!parse_number(optarg, UINT8_MAX, &number) || !number)
			return false;
		o->st.port = number;
		return true;
	case OPT_GID_INDEX:
		o->st_option = "--gid-index";
		if (!parse_number(optarg, UINT8_MAX, &number))
			return false;
		o->st.gid_index = (int)number;
		return true;
	case OPT_SEED:
		o->st_option = "--seed";
		if (!parse_number(optarg, UINT32_MAX, &number))
			return false;
		o->st.seed = number;
		return true;
	default:
		o->st_option = "--count";
		if (!parse_number(optarg, 1000000, &number))
			return false;
		o->st.count = number;
		return true;
	}
}

/* Returns -1, or the exit status. */
static int parse_option(int opt, struct options *o, FILE *out, FILE *err)
{
	switch (opt) {
	case 'd':
		o->device = optarg;
		return -1;
	case 'j':
		o->json = true;
		return -1;
	case 'r':
		if (!strcmp(optarg, "native"))
			o->require = CAPS_NATIVE;
		else if (!strcmp(optarg, "emulated"))
			o->require = CAPS_EMULATED;
		else
			break;
		return -1;
	case 'f':
		o->for_user = strcmp(optarg, "kernel");
		o->for_kernel = strcmp(optarg, "user");
		if (o->for_user && o->for_kernel && strcmp(optarg, "both"))
			break;
		return -1;
	case 's':
		o->selftest = optarg;
		return -1;
	case OPT_PORT:
	case OPT_GID_INDEX:
	case OPT_SEED:
	case OPT_COUNT:
		if (parse_st_option(opt, o))
			return -1;
		fprintf(err, "mxe-caps: invalid argument of %s: '%s'. See 'mxe-caps --help'.\n",
			o->st_option, optarg);
		return STATUS_USAGE;
	case 'h':
		fputs(usage_text, out);
		return STATUS_OK;
	case 'V':
		fprintf(out, "mxe-caps %s\n", MXE_VERSION);
		return STATUS_OK;
	default:
		fputs("Try 'mxe-caps --help'.\n", err);
		return STATUS_USAGE;
	}
	fprintf(err, "mxe-caps: invalid argument of -%c: '%s'. See 'mxe-caps --help'.\n",
		opt, optarg);
	return STATUS_USAGE;
}

static int parse(int argc, char **argv, struct options *o, FILE *out, FILE *err)
{
	static const struct option longopts[] = {
		{ "device", required_argument, NULL, 'd' },
		{ "json", no_argument, NULL, 'j' },
		{ "require", required_argument, NULL, 'r' },
		{ "for", required_argument, NULL, 'f' },
		{ "selftest", required_argument, NULL, 's' },
		{ "port", required_argument, NULL, OPT_PORT },
		{ "gid-index", required_argument, NULL, OPT_GID_INDEX },
		{ "seed", required_argument, NULL, OPT_SEED },
		{ "count", required_argument, NULL, OPT_COUNT },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ }
	};
	int opt;

	optind = 0;
	while ((opt = getopt_long(argc, argv, "d:jr:f:s:hV", longopts, NULL)) != -1) {
		int status = parse_option(opt, o, out, err);

		if (status >= 0)
			return status;
	}
	if (optind < argc) {
		fprintf(err, "mxe-caps: unexpected argument '%s'. See 'mxe-caps --help'.\n",
			argv[optind]);
		return STATUS_USAGE;
	}
	if (o->selftest && (o->device || o->require != CAPS_UNKNOWN)) {
		fprintf(err, "mxe-caps: --selftest cannot be combined with %s\n",
			o->device ? "--device" : "--require");
		return STATUS_USAGE;
	}
	if (!o->selftest && o->st_option) {
		fprintf(err, "mxe-caps: %s needs --selftest DEVICE\n",
			o->st_option);
		return STATUS_USAGE;
	}
	return -1;
}

/*
 * Two operations are required.  If one mode is unknown, so is the verdict,
 * unless the other mode already fails to meet the requirement.
 */
static int verdict(enum caps_mode cmp_swap, enum caps_mode fetch_add,
		   enum caps_mode require)
{
	enum caps_mode worse = cmp_swap < fetch_add ? cmp_swap : fetch_add;
	enum caps_mode best = cmp_swap < fetch_add ? fetch_add : cmp_swap;

	if (worse >= require)
		return STATUS_OK;
	if (worse == CAPS_UNKNOWN && (best == CAPS_UNKNOWN || best >= require))
		return STATUS_UNKNOWN;
	return STATUS_UNMET;
}

static int device_verdict(const struct caps_device *dev,
			  const struct options *o)
{
	const struct caps_source *kernel = &dev->source[CAPS_KERNEL];
	int user = STATUS_OK, in_kernel = STATUS_OK;

	if (o->for_user)
		user = verdict(caps_user_cmp_swap(dev),
			       caps_user_fetch_add(dev), o->require);
	if (o->for_kernel)
		in_kernel = verdict(kernel->cmp_swap, kernel->fetch_add,
				    o->require);
	if (user == STATUS_UNMET || in_kernel == STATUS_UNMET)
		return STATUS_UNMET;
	return user == STATUS_OK ? in_kernel : user;
}

/* Returns STATUS_OK if at least one device meets the requirement. */
static int require(const struct caps *caps, const struct options *o, FILE *err)
{
	int status = STATUS_UNMET;

	for (size_t i = 0; i < caps->num; i++) {
		int of_device = device_verdict(&caps->devices[i], o);

		if (of_device == STATUS_OK)
			return STATUS_OK;
		if (of_device == STATUS_UNKNOWN)
			status = STATUS_UNKNOWN;
	}
	fprintf(err, "mxe-caps: %s device offers %s masked atomics to %s\n",
		status == STATUS_UNMET ? "no" : "it is unknown whether a",
		caps_mode_name(o->require),
		!o->for_kernel ? "user space" :
		!o->for_user ? "the kernel" : "user space and the kernel");
	if (status == STATUS_UNKNOWN && o->for_kernel && !caps->has_class)
		fputs("mxe-caps: load the module ib_exp to query the kernel\n",
		      err);
	return status;
}

/* Returns the exit status.  The report is printed also if a case failed. */
static int selftest(const struct caps *caps, const struct options *o, FILE *out,
		    FILE *err)
{
	struct st_report report;
	char error[ST_TEXT];
	int status = STATUS_OK;

	if (!st_run(&caps->devices[0], &o->st, &report, error)) {
		fprintf(err, "mxe-caps: %s\n", error);
		return STATUS_UNKNOWN;
	}
	if (o->json)
		caps_print_json(caps, &report, out);
	else
		st_print(caps, &report, out);
	if (report.num_of[ST_FAIL]) {
		status = STATUS_UNMET;
	} else if (!report.num_of[ST_PASS]) {
		fprintf(err, "mxe-caps: nothing was tested: %s offers no atomics\n",
			o->selftest);
		status = STATUS_UNKNOWN;
	}
	st_free(&report);
	return status;
}

/**
 * caps_main() - Run the program.
 * @argc: number of arguments
 * @argv: arguments
 * @out: for results
 * @err: for messages
 *
 * Return: the exit status.
 */
int caps_main(int argc, char **argv, FILE *out, FILE *err)
{
	struct options o = {
		.for_user = true,
		.for_kernel = true,
		.st = {
			.gid_index = -1,
			.count = DEFAULT_COUNT,
			.completion_ms = ST_COMPLETION_MS,
			.case_ms = ST_CASE_MS,
		},
	};
	struct caps caps;
	int status;

	/* The report contains the seed, so it need not be unpredictable. */
	if (getrandom(&o.st.seed, sizeof(o.st.seed), GRND_NONBLOCK) < 0)
		o.st.seed = time(NULL);
	status = parse(argc, argv, &o, out, err);
	if (status >= 0)
		return status;
	if (o.selftest)
		o.device = o.selftest;
	status = caps_ask(&caps, o.device);
	if (status) {
		fprintf(err, "mxe-caps: %s\n", strerror(status));
		return STATUS_UNKNOWN;
	}

	if (o.selftest && caps.num) {
		status = selftest(&caps, &o, out, err);
		caps_free(&caps);
		return status;
	}
	if (o.json)
		caps_print_json(&caps, NULL, out);
	else
		caps_print_table(&caps, out);

	status = STATUS_OK;
	if (!caps.num) {
		if (o.device)
			fprintf(err, "mxe-caps: there is no RDMA device %s\n",
				o.device);
		else
			fputs("mxe-caps: there is no RDMA device\n", err);
		status = STATUS_NO_DEVICE;
	} else if (o.require != CAPS_UNKNOWN) {
		status = require(&caps, &o, err);
	}
	caps_free(&caps);
	return status;
}

#ifndef CAPS_TEST
int main(int argc, char **argv)
{
	int status = caps_main(argc, argv, stdout, stderr);

	if (fflush(stdout)) {
		perror("mxe-caps");
		return STATUS_UNKNOWN;
	}
	return status;
}
#endif
