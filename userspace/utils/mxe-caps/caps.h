/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * mxe-caps tells which masked atomics can be had of every RDMA device.
 *
 * A device is asked in up to four ways, its sources.  Each gives the same kind
 * of answer, and leaves open what it does not tell.
 */
#ifndef CAPS_H
#define CAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct ibv_device;
struct st_report;

/* How an operation is done.  In this order: more is better. */
enum caps_mode {
	CAPS_UNKNOWN,
	CAPS_NONE,
	CAPS_EMULATED,		/* by compare-and-swap, from the requester */
	CAPS_NATIVE,		/* by the responder, in one round trip */
};

enum caps_source_id {
	CAPS_VERBS,		/* ibv_query_device_ex() */
	CAPS_PROVIDER,		/* the direct verbs of the provider */
	CAPS_EXP,		/* ibv_exp_query_device() */
	CAPS_KERNEL,		/* /sys/class/infiniband_exp/ */
	CAPS_NUM_SOURCES,
};

#define CAPS_TEXT 256

/* What one source says.  Without `asked` only `error` means something. */
struct caps_source {
	bool asked;
	char error[CAPS_TEXT];		/* why it was not asked; empty: no need */

	char atomic_cap[16];		/* empty: not told */
	enum caps_mode cmp_swap;	/* masked */
	enum caps_mode fetch_add;
	bool has_sizes;			/* operands: bit n, 2^n bytes */
	uint64_t sizes;
	uint64_t sizes_be;		/* those always answered in big-endian */
	char reply[32];			/* byte order of answers; empty: not told */
	unsigned int max_fa_bit_boundary;	/* 0: not told */

	/* Of the standard verbs only: between PCI functions, sizes as above. */
	uint64_t pci_fetch_add;
	uint64_t pci_swap;
	uint64_t pci_compare_swap;

	/* Of the kernel's class only. */
	char reported[16];		/* masked_atomic_cap of the driver */
	char max_retries[16];
	char reason[CAPS_TEXT];
};

struct caps_device {
	char name[64];
	char provider[16];		/* whose direct verbs; empty: none known */
	struct ibv_device *ibv;		/* NULL: not seen by libibverbs */
	struct caps_source source[CAPS_NUM_SOURCES];
};

struct caps {
	struct caps_device *devices;	/* in the order of their names */
	size_t num;
	bool has_class;			/* the kernel has /sys/class/infiniband_exp */
	struct ibv_device **list;
};

/*
 * ask.c: all devices, or only the one of that name.  The sources that do not
 * answer say why.  Returns 0 or a positive errno; then there is nothing to free.
 */
int caps_ask(struct caps *caps, const char *only);
void caps_free(struct caps *caps);

/* What processes can do: the best of what the libraries say. */
enum caps_mode caps_user_cmp_swap(const struct caps_device *dev);
enum caps_mode caps_user_fetch_add(const struct caps_device *dev);

/* class.c: below $SYSFS_PATH, or /sys. */
const char *caps_sysfs(void);
bool caps_class_exists(void);
void caps_ask_class(const char *name, bool has_class,
		    struct caps_source *kernel);

/* print.c */
const char *caps_mode_name(enum caps_mode mode);
void caps_print_table(const struct caps *caps, FILE *out);
/* report: of the self-test, or NULL. */
void caps_print_json(const struct caps *caps, const struct st_report *report,
		     FILE *out);

/* main.c, without the exit. */
int caps_main(int argc, char **argv, FILE *out, FILE *err);

#endif /* CAPS_H */
