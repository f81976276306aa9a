/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Prints devices and their sources. */
#ifndef PRINT_H
#define PRINT_H

#include <stdio.h>

#include "caps.h"

struct st_report;

/**
 * caps_mode_name() - Get the word for a mode.
 * @mode: mode
 *
 * Return: "unknown", "none", "emulated" or "native", as the class has it.
 */
const char *caps_mode_name(enum caps_mode mode);

/**
 * caps_print_table() - Print the devices and their sources as a table.
 * @caps: of caps_ask()
 * @out: where to
 */
void caps_print_table(const struct caps *caps, FILE *out);

/**
 * caps_print_json() - Print the devices and their sources as JSON.
 * @caps: of caps_ask()
 * @report: report of the self-test, or NULL
 * @out: where to
 */
void caps_print_json(const struct caps *caps, const struct st_report *report,
		     FILE *out);

#endif /* PRINT_H */
