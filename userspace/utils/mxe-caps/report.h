/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The report of the self-test. */
#ifndef REPORT_H
#define REPORT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <infiniband/verbs.h>

#include "case.h"
#include "options.h"

struct caps;

struct st_report {
	struct st_options options;
	char kernel[ST_TEXT];
	char libibverbs[ST_TEXT];	/* path of the library */
	char libmlx5[ST_TEXT];		/* empty: not used */
	struct ibv_device_attr attr;
	uint8_t link_layer;		/* of the port; 0 if nothing was run */
	char gid_type[16];		/* empty: no GID is used */

	struct st_case *cases;
	size_t num;
	size_t num_of[ST_FAIL + 1];	/* by result */
};

void st_print(const struct caps *caps, const struct st_report *report,
	      FILE *out);
void st_print_json(const struct st_report *report, FILE *out);

#endif /* REPORT_H */
