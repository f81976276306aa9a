/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * mxe-caps lists the masked atomics that each RDMA device offers.
 *
 * Up to four sources describe a device.  All of them fill the same structure
 * and leave the attributes empty that they do not report.
 */
#ifndef CAPS_H
#define CAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct ibv_device;
struct st_report;

/* How an operation is executed.  A greater value is better. */
enum caps_mode {
	CAPS_UNKNOWN,
	CAPS_NONE,
	CAPS_EMULATED,		/* compare-and-swap loop of the requester */
	CAPS_NATIVE,		/* by the responder, in one round trip */
};

enum caps_source_id {
	CAPS_VERBS,		/* ibv_query_device_ex() */
	CAPS_PROVIDER,		/* direct verbs of the provider */
	CAPS_EXP,		/* ibv_exp_query_device() */
	CAPS_KERNEL,		/* /sys/class/infiniband_exp/ */
	CAPS_NUM_SOURCES,
};

#define CAPS_TEXT 256

/* The report of one source.  If `asked` is false, only `error` is valid. */
struct caps_source {
	bool asked;
	char error[CAPS_TEXT];		/* why there is no report */

	char atomic_cap[16];		/* empty: not reported */
	enum caps_mode cmp_swap;	/* masked */
	enum caps_mode fetch_add;
	bool has_sizes;			/* false: no sizes are reported */
	uint64_t sizes;			/* of operands: bit n, 2^n bytes */
	uint64_t sizes_be;		/* results always in big-endian */
	char reply[32];			/* byte orders; empty: not reported */
	unsigned int max_fa_bit_boundary;	/* bits; 0: not reported */

	/* CAPS_VERBS only: sizes, as above, of atomics on the PCI bus. */
	uint64_t pci_fetch_add;
	uint64_t pci_swap;
	uint64_t pci_compare_swap;

	/* CAPS_KERNEL only. */
	char reported[16];		/* masked_atomic_cap_reported */
	char max_retries[16];
	char reason[CAPS_TEXT];
};

struct caps_device {
	char name[64];
	char provider[16];		/* "mxe", "mlx5" or empty */
	struct ibv_device *ibv;		/* NULL: libibverbs does not show it */
	struct caps_source source[CAPS_NUM_SOURCES];
};

struct caps {
	struct caps_device *devices;	/* sorted by name */
	size_t num;
	bool has_class;			/* /sys/class/infiniband_exp exists */
	struct ibv_device **list;
};

/* ---- ask.c --------------------------------------------------------------- */

/**
 * caps_ask() - Finds the devices and queries all sources of each.
 * @caps: result; to be freed with caps_free() after success
 * @only: name of the only device to find; NULL finds all of them
 *
 * A source that fails is not an error of this function.
 *
 * Return: 0, or ENOMEM.
 */
int caps_ask(struct caps *caps, const char *only);

/**
 * caps_free() - Frees the devices and the list of libibverbs.
 * @caps: of caps_ask()
 */
void caps_free(struct caps *caps);

/**
 * caps_user_cmp_swap() - Returns how processes can compare and swap.
 * @dev: device of caps_ask()
 *
 * Return: the best mode that the libraries report.
 */
enum caps_mode caps_user_cmp_swap(const struct caps_device *dev);

/**
 * caps_user_fetch_add() - Returns how processes can fetch and add.
 * @dev: device of caps_ask()
 *
 * Return: the best mode that the libraries report.
 */
enum caps_mode caps_user_fetch_add(const struct caps_device *dev);

/* ---- class.c ------------------------------------------------------------- */

/**
 * caps_sysfs() - Returns where sysfs is mounted.
 *
 * Return: $SYSFS_PATH, which libibverbs uses as well, or "/sys".
 */
const char *caps_sysfs(void);

/**
 * caps_class_exists() - Returns true if sysfs has the class infiniband_exp.
 *
 * Return: false while the module ib_exp is not loaded.
 */
bool caps_class_exists(void);

/**
 * caps_ask_class() - Reads the files that the class has for a device.
 * @name: device
 * @has_class: result of caps_class_exists()
 * @kernel: result; `error` is set if the class does not have the device
 */
void caps_ask_class(const char *name, bool has_class,
		    struct caps_source *kernel);

/* ---- print.c ------------------------------------------------------------- */

/**
 * caps_mode_name() - Returns the word for a mode.
 * @mode: mode
 *
 * Return: "unknown", "none", "emulated" or "native", as the class has it.
 */
const char *caps_mode_name(enum caps_mode mode);

/**
 * caps_print_table() - Prints the devices and their sources as a table.
 * @caps: of caps_ask()
 * @out: where to
 */
void caps_print_table(const struct caps *caps, FILE *out);

/**
 * caps_print_json() - Prints the devices and their sources as JSON.
 * @caps: of caps_ask()
 * @report: report of the self-test, or NULL
 * @out: where to
 */
void caps_print_json(const struct caps *caps, const struct st_report *report,
		     FILE *out);

/* ---- main.c -------------------------------------------------------------- */

/**
 * caps_main() - Runs the program.
 * @argc: number of arguments
 * @argv: arguments
 * @out: for results
 * @err: for messages
 *
 * Return: the exit status.
 */
int caps_main(int argc, char **argv, FILE *out, FILE *err);

#endif /* CAPS_H */
