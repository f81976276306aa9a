// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * mxe-caps: parses the options, and returns the exit status for what --require asks.
 * It calls ask.c and print.c.
 */
#include <getopt.h>
#include <string.h>

#include "caps.h"

/* The exit status; also mxe-caps(1). */
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
	enum caps_mode require;		/* CAPS_UNKNOWN: nothing */
	bool for_user;
	bool for_kernel;
};

static const char usage_text[] =
"Usage: mxe-caps [OPTION]...\n"
"Says, for every RDMA device, who can do masked atomics and how.\n"
"\n"
"  -d, --device NAME       only this device\n"
"  -j, --json              as JSON\n"
"  -r, --require native|emulated\n"
"                          exit with 0 only if a device has both operations,\n"
"                          native, or at least emulated\n"
"  -f, --for user|kernel|both\n"
"                          who requires them (default: both)\n"
"  -h, --help              this\n"
"  -V, --version           the version\n"
"\n"
"Exit status: 0 all well, 1 the requirement is not met, 2 wrong usage,\n"
"3 no such device, or none at all, 4 it is not known if the requirement is met.\n";

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
	fprintf(err, "mxe-caps: -%c %s? See 'mxe-caps --help'.\n", opt, optarg);
	return STATUS_USAGE;
}

static int parse(int argc, char **argv, struct options *o, FILE *out, FILE *err)
{
	static const struct option longopts[] = {
		{ "device", required_argument, NULL, 'd' },
		{ "json", no_argument, NULL, 'j' },
		{ "require", required_argument, NULL, 'r' },
		{ "for", required_argument, NULL, 'f' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ }
	};
	int opt;

	optind = 0;
	while ((opt = getopt_long(argc, argv, "d:jr:f:hV", longopts, NULL)) != -1) {
		int status = parse_option(opt, o, out, err);

		if (status >= 0)
			return status;
	}
	if (optind < argc) {
		fprintf(err, "mxe-caps: what is '%s'? See 'mxe-caps --help'.\n",
			argv[optind]);
		return STATUS_USAGE;
	}
	return -1;
}

/* An answer that is open makes the whole open, unless the other denies it. */
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

/* One device that meets the requirement is enough. */
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
	fprintf(err, "mxe-caps: %s masked atomics for %s: %s\n",
		caps_mode_name(o->require),
		!o->for_kernel ? "user space" :
		!o->for_user ? "the kernel" : "user space and the kernel",
		status == STATUS_UNMET ? "no" : "not known");
	if (status == STATUS_UNKNOWN && o->for_kernel && !caps->has_class)
		fputs("mxe-caps: the kernel answers when the module ib_exp is loaded\n",
		      err);
	return status;
}

int caps_main(int argc, char **argv, FILE *out, FILE *err)
{
	struct options o = { .for_user = true, .for_kernel = true };
	struct caps caps;
	int status = parse(argc, argv, &o, out, err);

	if (status >= 0)
		return status;
	status = caps_ask(&caps, o.device);
	if (status) {
		fprintf(err, "mxe-caps: %s\n", strerror(status));
		return STATUS_UNKNOWN;
	}

	if (o.json)
		caps_print_json(&caps, out);
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
