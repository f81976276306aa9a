// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Prints devices and their sources as a table or as JSON. */
#include <inttypes.h>
#include <string.h>

#include "ask.h"
#include "caps.h"
#include "json.h"
#include "print.h"
#include "report.h"

/**
 * caps_mode_name() - Get the word for a mode.
 * @mode: mode
 *
 * Return: "unknown", "none", "emulated" or "native", as the class has it.
 */
const char *caps_mode_name(enum caps_mode mode)
{
	static const char *const names[] = {
		[CAPS_UNKNOWN] = "unknown",
		[CAPS_NONE] = "none",
		[CAPS_EMULATED] = "emulated",
		[CAPS_NATIVE] = "native",
	};

	return names[mode];
}

/* Returns "mxedv" or "mlx5dv" for a known provider, else the kind of source. */
static const char *source_name(const struct caps_device *dev, int source,
			       char *buf, size_t size)
{
	static const char *const names[CAPS_NUM_SOURCES] = {
		[CAPS_VERBS] = "verbs",
		[CAPS_PROVIDER] = "provider",
		[CAPS_EXP] = "ibv_exp",
		[CAPS_KERNEL] = "kernel",
	};

	if (source != CAPS_PROVIDER || !*dev->provider)
		return names[source];
	snprintf(buf, size, "%sdv", dev->provider);
	return buf;
}

/* ---- table ------------------------------------------------------------- */

/* Room for 64 numbers of at most 20 digits and a comma. */
#define SIZES_TEXT (64 * 21)

/* Returns a list such as "4,8", or "-". */
static const char *sizes_text(uint64_t sizes, char *buf, size_t size)
{
	size_t len = 0;

	snprintf(buf, size, "-");
	for (int n = 0; n < 64; n++)
		if (sizes >> n & 1)
			len += snprintf(buf + len, size - len, "%s%" PRIu64,
					len ? "," : "", (uint64_t)1 << n);
	return buf;
}

static const char *or_dash(const char *text)
{
	return *text ? text : "-";
}

static const char *mode_text(enum caps_mode mode)
{
	return mode == CAPS_UNKNOWN ? "-" : caps_mode_name(mode);
}

static void print_row(const char *device, const char *source,
		      const char *atomics, const char *cmp_swap,
		      const char *fetch_add, const char *bytes,
		      const char *reply, FILE *out)
{
	fprintf(out, "%-10s %-9s %-8s %-16s %-17s %-8s %s\n", device, source,
		atomics, cmp_swap, fetch_add, bytes, reply);
}

static void print_pci(const struct caps_source *s, FILE *out)
{
	char fetch_add[SIZES_TEXT], swap[SIZES_TEXT], cmp_swap[SIZES_TEXT];

	if (!s->pci_fetch_add && !s->pci_swap && !s->pci_compare_swap)
		return;
	fprintf(out, "%-20s PCI atomics, bytes: fetch-add %s, swap %s, cmp-swap %s\n",
		"", sizes_text(s->pci_fetch_add, fetch_add, sizeof(fetch_add)),
		sizes_text(s->pci_swap, swap, sizeof(swap)),
		sizes_text(s->pci_compare_swap, cmp_swap, sizeof(cmp_swap)));
}

static void print_source(const struct caps_device *dev, int i, FILE *out)
{
	const struct caps_source *s = &dev->source[i];
	char sizes[SIZES_TEXT], name[32];

	if (!s->asked) {
		fprintf(out, "%-10s %-9s (%s)\n", i ? "" : dev->name,
			source_name(dev, i, name, sizeof(name)), s->error);
		return;
	}
	print_row(i ? "" : dev->name, source_name(dev, i, name, sizeof(name)),
		  or_dash(s->atomic_cap), mode_text(s->cmp_swap),
		  mode_text(s->fetch_add), sizes_text(s->sizes, sizes, sizeof(sizes)),
		  or_dash(s->reply), out);
	print_pci(s, out);
	if (*s->reason)
		fprintf(out, "%-20s %s\n", "", s->reason);
}

/**
 * caps_print_table() - Print the devices and their sources as a table.
 * @caps: of caps_ask()
 * @out: where to
 */
void caps_print_table(const struct caps *caps, FILE *out)
{
	if (caps->num)
		print_row("DEVICE", "SOURCE", "ATOMICS", "MASKED CMP-SWAP",
			  "MASKED FETCH-ADD", "BYTES", "REPLY", out);
	for (size_t d = 0; d < caps->num; d++)
		for (int i = 0; i < CAPS_NUM_SOURCES; i++)
			print_source(&caps->devices[d], i, out);
}

/* ---- JSON -------------------------------------------------------------- */

static void json_mode(const char *key, enum caps_mode mode, FILE *out)
{
	json_text(key, mode == CAPS_UNKNOWN ? "" : caps_mode_name(mode), out);
}

/* Prints a list of sizes in bytes. */
static void json_sizes(const char *key, bool has, uint64_t sizes, FILE *out)
{
	const char *comma = "";

	json_key(key, out);
	if (!has) {
		fputs("null", out);
		return;
	}
	fputc('[', out);
	for (int n = 0; n < 64; n++) {
		if (!(sizes >> n & 1))
			continue;
		fprintf(out, "%s%" PRIu64, comma, (uint64_t)1 << n);
		comma = ", ";
	}
	fputc(']', out);
}

static void json_comma(FILE *out)
{
	fputs(",\n        ", out);
}

static void json_source(const struct caps_source *s, int source, FILE *out)
{
	fputs("{\n        ", out);
	json_text("error", s->asked ? "" : s->error, out);
	json_comma(out);
	json_text("atomic_cap", s->atomic_cap, out);
	json_comma(out);
	json_mode("masked_cmp_swap", s->cmp_swap, out);
	json_comma(out);
	json_mode("masked_fetch_add", s->fetch_add, out);
	json_comma(out);
	json_sizes("arg_bytes", s->has_sizes, s->sizes, out);
	json_comma(out);
	json_sizes("arg_bytes_be", s->has_sizes, s->sizes_be, out);
	json_comma(out);
	json_text("reply", s->reply, out);
	json_comma(out);
	json_key("max_fa_bit_boundary", out);
	if (s->max_fa_bit_boundary)
		fprintf(out, "%u", s->max_fa_bit_boundary);
	else
		fputs("null", out);
	if (source == CAPS_VERBS) {
		json_comma(out);
		json_sizes("pci_fetch_add_bytes", s->asked, s->pci_fetch_add,
			   out);
		json_comma(out);
		json_sizes("pci_swap_bytes", s->asked, s->pci_swap, out);
		json_comma(out);
		json_sizes("pci_compare_swap_bytes", s->asked,
			   s->pci_compare_swap, out);
	}
	if (source == CAPS_KERNEL) {
		json_comma(out);
		json_text("masked_atomic_cap_reported", s->reported, out);
		json_comma(out);
		json_text("max_retries", s->max_retries, out);
		json_comma(out);
		json_text("reason", s->reason, out);
	}
	fputs("\n      }", out);
}

static void json_device(const struct caps_device *dev, FILE *out)
{
	static const char *const keys[CAPS_NUM_SOURCES] = {
		[CAPS_VERBS] = "verbs",
		[CAPS_PROVIDER] = "provider",
		[CAPS_EXP] = "ibv_exp",
		[CAPS_KERNEL] = "kernel",
	};

	fputs("    {\n      ", out);
	json_text("name", dev->name, out);
	fputs(",\n      ", out);
	json_text("provider_name", dev->provider, out);
	fputs(",\n      \"user\": { ", out);
	json_mode("masked_cmp_swap", caps_user_cmp_swap(dev), out);
	fputs(", ", out);
	json_mode("masked_fetch_add", caps_user_fetch_add(dev), out);
	fputs(" }", out);
	for (int i = 0; i < CAPS_NUM_SOURCES; i++) {
		fputs(",\n      ", out);
		json_key(keys[i], out);
		json_source(&dev->source[i], i, out);
	}
	fputs("\n    }", out);
}

/**
 * caps_print_json() - Print the devices and their sources as JSON.
 * @caps: of caps_ask()
 * @report: report of the self-test, or NULL
 * @out: where to
 */
void caps_print_json(const struct caps *caps, const struct st_report *report,
		     FILE *out)
{
	fprintf(out, "{\n  \"schema\": 1,\n  \"kernel_class\": %s,\n"
		"  \"devices\": [", caps->has_class ? "true" : "false");
	for (size_t d = 0; d < caps->num; d++) {
		fputs(d ? ",\n" : "\n", out);
		json_device(&caps->devices[d], out);
	}
	fputs(caps->num ? "\n  ]" : "]", out);
	if (report) {
		fputs(",\n  ", out);
		st_print_json(report, out);
	}
	fputs("\n}\n", out);
}
