/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The masked atomics that each RDMA device offers.
 *
 * Up to four sources describe a device.  All of them fill the same structure
 * and leave the attributes empty that they do not report.
 */
#ifndef CAPS_H
#define CAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ibv_device;

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

#endif /* CAPS_H */
