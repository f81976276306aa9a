/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Prints devices and their sources. */
#ifndef PRINT_H
#define PRINT_H

#include <stdio.h>

#include "caps.h"

struct st_report;

const char *caps_mode_name(enum caps_mode mode);
void caps_print_table(const struct caps *caps, FILE *out);
void caps_print_json(const struct caps *caps, const struct st_report *report,
		     FILE *out);

#endif /* PRINT_H */
