// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Prints the report of the self-test. */
#include <inttypes.h>
#include <string.h>

#include "case.h"
#include "json.h"
#include "operands.h"
#include "options.h"
#include "print.h"
#include "report.h"

static const char *op_name(enum st_op op)
{
	static const char *const names[] = {
		[ST_CMP_SWAP] = "cmp-swap",
		[ST_FETCH_ADD] = "fetch-add",
		[ST_MASKED_CMP_SWAP] = "masked-cmp-swap",
		[ST_MASKED_FETCH_ADD] = "masked-fetch-add",
		[ST_WIDE_FETCH_ADD] = "wide-fetch-add",
		[ST_NUM_OPS] = "-",
	};

	return names[op];
}

static const char *qp_name(const struct st_case *c)
{
	return c->any_qp ? "-" : c->be_qp ? "be-reply" : "plain";
}

static const char *reply_name(const struct st_case *c)
{
	if (c->result == ST_NOT_OFFERED)
		return "-";
	return c->be_reply ? "be" : "host";
}

static const char *link_layer_name(const struct st_report *report)
{
	switch (report->link_layer) {
	case IBV_LINK_LAYER_INFINIBAND:
		return "InfiniBand";
	case IBV_LINK_LAYER_ETHERNET:
		return "Ethernet";
	default:
		return "unknown link layer";
	}
}

/* The operands of the operation, in the order in which they are printed. */
struct operand {
	const char *name;
	const struct st_word *word;	/* NULL: the end */
};

#define MAX_OPERANDS 6

static void list_operands(const struct st_case *c, struct operand *list)
{
	const struct st_operands *o = &c->first.operands;
	bool masked = st_op_is_masked(c->op);

	*list++ = (struct operand){ "old", &o->old };
	if (st_op_is_cmp_swap(c->op)) {
		*list++ = (struct operand){ "compare", &o->compare };
		if (masked)
			*list++ = (struct operand){ "compare_mask",
						    &o->compare_mask };
		*list++ = (struct operand){ "swap", &o->swap };
		if (masked)
			*list++ = (struct operand){ "swap_mask",
						    &o->swap_mask };
	} else {
		*list++ = (struct operand){ "add", &o->compare };
		if (masked)
			*list++ = (struct operand){ "boundary",
						    &o->compare_mask };
	}
	*list = (struct operand){ };
}

/* ---- text --------------------------------------------------------------- */

static void print_port(const struct st_report *report, FILE *out)
{
	const struct st_options *o = &report->options;

	if (!report->num_of[ST_PASS] && !report->num_of[ST_FAIL])
		return;
	fprintf(out, "port         %u, %s", o->port, link_layer_name(report));
	if (*report->gid_type)
		fprintf(out, ", GID index %d (%s)", o->gid_index,
			report->gid_type);
	fputc('\n', out);
}

static void print_mismatch(const struct st_case *c, FILE *out)
{
	const struct st_mismatch *m = &c->first;
	struct operand list[MAX_OPERANDS];
	char hex[ST_HEX];

	if (m->set < 0) {
		fprintf(out, "    %s\n", m->what);
	} else {
		fprintf(out, "    operand set %d, %s\n", m->set, m->what);
		list_operands(c, list);
		for (struct operand *o = list; o->word; o++)
			fprintf(out, "      %-13s%s\n", o->name,
				st_hex(o->word, c->size, hex));
	}
	fprintf(out, "      %-13s%s\n", "expected", m->expected);
	fprintf(out, "      %-13s%s", "got", m->got);
	if (m->note)
		fprintf(out, " (%s)", m->note);
	fputc('\n', out);
}

static void print_case(const struct st_case *c, FILE *out)
{
	char size[16] = "-";

	if (c->size)
		snprintf(size, sizeof(size), "%u", c->size);
	fprintf(out, "%-13s %-17s %-6s %-9s %-6s ", c->backend_name,
		op_name(c->op), size, qp_name(c), reply_name(c));
	switch (c->result) {
	case ST_PASS:
		fprintf(out, "pass (%u sets", c->sets);
		if (c->late)
			fprintf(out, ", %u late", c->late);
		fputs(")\n", out);
		break;
	case ST_FAIL:
		fprintf(out, "FAIL (%u of %u sets)\n", c->wrong, c->sets);
		print_mismatch(c, out);
		break;
	default:
		fprintf(out, "not offered: %s\n", c->reason);
	}
}

/**
 * st_print() - Print the report as text.
 * @caps: the abilities of the device and no other
 * @report: of st_run()
 * @out: where to
 */
void st_print(const struct caps *caps, const struct st_report *report,
	      FILE *out)
{
	const struct ibv_device_attr *attr = &report->attr;

	fprintf(out, "mxe-caps self-test\n\n");
	fprintf(out, "tool         mxe-caps %s\n", MXE_VERSION);
	fprintf(out, "kernel       %s\n", report->kernel);
	fprintf(out, "libibverbs   %s\n", report->libibverbs);
	if (*report->libmlx5)
		fprintf(out, "libmlx5      %s\n", report->libmlx5);
	fprintf(out, "device       %s, vendor 0x%06x, part %u, hardware 0x%x, firmware %s\n",
		caps->devices[0].name, attr->vendor_id, attr->vendor_part_id,
		attr->hw_ver, *attr->fw_ver ? attr->fw_ver : "-");
	print_port(report, out);
	fprintf(out, "operands     edge cases and %u random sets, seed %u\n\n",
		report->options.count, report->options.seed);
	caps_print_table(caps, out);
	fprintf(out, "\n%-13s %-17s %-6s %-9s %-6s %s\n", "BACKEND",
		"OPERATION", "BYTES", "QP", "REPLY", "RESULT");
	for (size_t i = 0; i < report->num; i++)
		print_case(&report->cases[i], out);
	fprintf(out, "\n%zu passed, %zu failed, %zu not offered\n",
		report->num_of[ST_PASS], report->num_of[ST_FAIL],
		report->num_of[ST_NOT_OFFERED]);
}

/* ---- JSON --------------------------------------------------------------- */

static const char *const result_names[] = {
	[ST_NOT_OFFERED] = "not offered",
	[ST_PASS] = "pass",
	[ST_FAIL] = "fail",
};

static void json_mismatch(const struct st_case *c, FILE *out)
{
	const struct st_mismatch *m = &c->first;
	struct operand list[MAX_OPERANDS];
	const char *comma = "";
	char hex[ST_HEX];

	fputs("{ ", out);
	json_text("what", m->what, out);
	if (m->set >= 0) {
		fprintf(out, ", \"set\": %d, \"operands\": {", m->set);
		list_operands(c, list);
		for (struct operand *o = list; o->word; o++) {
			fputs(comma, out);
			json_text(o->name, st_hex(o->word, c->size, hex), out);
			comma = ", ";
		}
		fputs("}", out);
	}
	fputs(", ", out);
	json_text("expected", m->expected, out);
	fputs(", ", out);
	json_text("got", m->got, out);
	fputs(", ", out);
	json_text("note", m->note ? m->note : "", out);
	fputs(" }", out);
}

static void json_case(const struct st_case *c, FILE *out)
{
	fputs("      { ", out);
	json_text("backend", c->backend_name, out);
	fputs(", ", out);
	json_text("operation", c->op == ST_NUM_OPS ? "" : op_name(c->op), out);
	if (c->size)
		fprintf(out, ", \"bytes\": %u, ", c->size);
	else
		fputs(", \"bytes\": null, ", out);
	json_text("qp", c->any_qp ? "" : qp_name(c), out);
	fputs(", ", out);
	json_text("reply", c->result == ST_NOT_OFFERED ? "" : reply_name(c),
		  out);
	fputs(", ", out);
	json_text("result", result_names[c->result], out);
	fputs(", ", out);
	json_text("reason", c->reason, out);
	fprintf(out, ", \"sets\": %u, \"wrong\": %u, \"late\": %u, ", c->sets,
		c->wrong, c->late);
	json_key("first_mismatch", out);
	if (c->result == ST_FAIL)
		json_mismatch(c, out);
	else
		fputs("null", out);
	fputs(" }", out);
}

static void json_port(const struct st_report *report, FILE *out)
{
	json_key("port", out);
	if (!report->num_of[ST_PASS] && !report->num_of[ST_FAIL]) {
		fputs("null", out);
		return;
	}
	fprintf(out, "{ \"number\": %u, ", report->options.port);
	json_text("link_layer", link_layer_name(report), out);
	fputs(", \"gid_index\": ", out);
	if (*report->gid_type)
		fprintf(out, "%d, ", report->options.gid_index);
	else
		fputs("null, ", out);
	json_text("gid_type", report->gid_type, out);
	fputs(" }", out);
}

/**
 * st_print_json() - Print the report as the value of a JSON key.
 * @report: of st_run()
 * @out: where to
 */
void st_print_json(const struct st_report *report, FILE *out)
{
	const struct ibv_device_attr *attr = &report->attr;

	fputs("\"selftest\": {\n    ", out);
	json_text("version", MXE_VERSION, out);
	fputs(",\n    ", out);
	json_text("kernel", report->kernel, out);
	fputs(",\n    ", out);
	json_text("libibverbs", report->libibverbs, out);
	fputs(",\n    ", out);
	json_text("libmlx5", report->libmlx5, out);
	fprintf(out, ",\n    \"vendor_id\": %u, \"vendor_part_id\": %u, \"hw_ver\": %u,\n    ",
		attr->vendor_id, attr->vendor_part_id, attr->hw_ver);
	json_text("fw_ver", attr->fw_ver, out);
	fputs(",\n    ", out);
	json_port(report, out);
	fprintf(out, ",\n    \"seed\": %u, \"random_sets\": %u,\n",
		report->options.seed, report->options.count);
	fprintf(out, "    \"passed\": %zu, \"failed\": %zu, \"not_offered\": %zu,\n",
		report->num_of[ST_PASS], report->num_of[ST_FAIL],
		report->num_of[ST_NOT_OFFERED]);
	fputs("    \"cases\": [", out);
	for (size_t i = 0; i < report->num; i++) {
		fputs(i ? ",\n" : "\n", out);
		json_case(&report->cases[i], out);
	}
	fputs("\n    ]\n  }", out);
}
