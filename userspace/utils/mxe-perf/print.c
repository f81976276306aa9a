// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Prints results as a table or as JSON. */
#include <inttypes.h>
#include <string.h>

#include "options.h"
#include "print.h"
#include "result.h"
#include "stats.h"

static const char *unit(const struct perf_options *o)
{
	return o->tsc ? "ticks" : "ns";
}

static bool is_bulk(const struct perf_options *o)
{
	return o->test == PERF_BANDWIDTH || o->test == PERF_TCP;
}

static void json_string(const char *s, FILE *out)
{
	if (!s) {
		fputs("null", out);
		return;
	}
	fputc('"', out);
	for (; *s; s++) {
		if ((unsigned char)*s < 0x20)
			fprintf(out, "\\u%04x", (unsigned char)*s);
		else if (*s == '"' || *s == '\\')
			fprintf(out, "\\%c", *s);
		else
			fputc(*s, out);
	}
	fputc('"', out);
}

/**
 * perf_print_head() - Print the head of the table, or the start of the JSON.
 * @o: options
 * @out: where to
 */
void perf_print_head(const struct perf_options *o, FILE *out)
{
	if (!o->json) {
		fprintf(out, "%s: %u queue pair%s, depth %u, batch %u, %u bytes; in %s\n",
			perf_test_name[o->test], o->qps, o->qps == 1 ? "" : "s",
			o->depth, o->batch, o->size, unit(o));
		fprintf(out, "%-6s %-6s %9s %6s %9s %9s %9s %9s %9s %9s",
			o->test == PERF_TAGS ? "TAGS" : "OP", "HOW", "COUNT", "POSTS", "MIN", "MEDIAN", "90%",
			"99%", "99.9%", "PER OP");
		if (is_bulk(o) || !o->tsc)
			fprintf(out, " %12s", !is_bulk(o) ? "PER SECOND" :
				o->tsc ? "TICKS/KiB" : "MB/s");
		fputs(o->test == PERF_BESIDE ? "    WRITES\n" :
		      o->test == PERF_TAGS ? "     RATIO\n" : "\n", out);
		return;
	}
	fputs("{\n  \"schema\": 1,\n  \"test\": ", out);
	json_string(perf_test_name[o->test], out);
	fputs(",\n  \"device\": ", out);
	json_string(o->device, out);
	fputs(",\n  \"remote\": ", out);
	json_string(o->remote, out);
	fputs(",\n  \"host\": ", out);
	json_string(o->host, out);
	fprintf(out, ",\n  \"unit\": \"%s\",\n  \"qps\": %u,\n  \"depth\": %u,\n",
		unit(o), o->qps, o->depth);
	fprintf(out, "  \"processes\": %u,\n", o->processes ? o->processes : 1);
	fprintf(out, "  \"batch\": %u,\n  \"size\": %u,\n  \"results\": [",
		o->batch, o->size);
}

static double per_op(const struct perf_result *r)
{
	return (double)r->total / (double)r->operations;
}

static void print_histogram(const struct perf_result *r, FILE *out)
{
	struct perf_bucket buckets[PERF_BUCKETS];
	unsigned int n = perf_histogram(r->samples, r->operations, buckets);
	uint64_t most = 1;

	for (unsigned int i = 0; i < n; i++)
		if (buckets[i].count > most)
			most = buckets[i].count;
	for (unsigned int i = 0; i < n; i++) {
		int stars = (int)((double)buckets[i].count * 40 / (double)most);

		if (buckets[i].count && !stars)
			stars = 1;
		fprintf(out, "%10" PRIu64 " - %10" PRIu64 " %9" PRIu64 " %.*s\n",
			buckets[i].from, buckets[i].to, buckets[i].count, stars,
			"****************************************");
	}
}

static void print_row(const struct perf_options *o, const struct perf_result *r,
		      FILE *out)
{
	const struct perf_stats *s = &r->stats;
	char tags[12];

	snprintf(tags, sizeof(tags), "%u", r->tags);
	fprintf(out, "%-6s %-6s %9" PRIu64 " %6.2f %9" PRIu64 " %9" PRIu64
		" %9" PRIu64 " %9" PRIu64 " %9" PRIu64 " %9.0f",
		o->test == PERF_TAGS ? tags : r->op, perf_how_name[r->how],
		r->operations,
		(double)r->posts / (double)r->operations, s->min, s->median,
		s->p90, s->p99, s->p999, per_op(r));
	if (is_bulk(o) && o->tsc)
		fprintf(out, " %12.1f", per_op(r) * 1024 / o->size);
	else if (is_bulk(o))
		fprintf(out, " %12.1f", o->size * 1e3 / per_op(r));
	else if (!o->tsc)
		fprintf(out, " %12.0f", 1e9 / per_op(r));
	if (o->test == PERF_BESIDE)
		fprintf(out, " %9" PRIu64, r->writes);
	if (o->test == PERF_TAGS)
		fprintf(out, " %9.2f", r->ratio);
	fputc('\n', out);
	if (o->histogram)
		print_histogram(r, out);
}

static void print_json(const struct perf_options *o,
		       const struct perf_result *r, bool first, FILE *out)
{
	struct perf_bucket buckets[PERF_BUCKETS];
	const struct perf_stats *s = &r->stats;
	unsigned int n;

	fprintf(out, "%s\n    {\"op\": \"%s\", \"how\": \"%s\", \"operations\": %"
		PRIu64 ", \"posts\": %" PRIu64 ", \"total\": %" PRIu64 ",\n",
		first ? "" : ",", r->op, perf_how_name[r->how], r->operations,
		r->posts, r->total);
	fprintf(out, "     \"per_op\": %.1f, \"min\": %" PRIu64
		", \"median\": %" PRIu64 ", \"p90\": %" PRIu64 ", \"p99\": %"
		PRIu64 ", \"p99_9\": %" PRIu64 ", \"max\": %" PRIu64
		", \"mean\": %.1f",
		per_op(r), s->min, s->median, s->p90, s->p99, s->p999, s->max,
		s->mean);
	if (o->test == PERF_BESIDE)
		fprintf(out, ", \"writes\": %" PRIu64, r->writes);
	if (o->test == PERF_TAGS)
		fprintf(out, ", \"tags\": %u, \"ratio\": %.3f", r->tags,
			r->ratio);
	if (o->histogram) {
		n = perf_histogram(r->samples, r->operations, buckets);
		fputs(",\n     \"histogram\": [", out);
		for (unsigned int i = 0; i < n; i++)
			fprintf(out, "%s[%" PRIu64 ", %" PRIu64 ", %" PRIu64 "]",
				i ? ", " : "", buckets[i].from, buckets[i].to,
				buckets[i].count);
		fputc(']', out);
	}
	fputc('}', out);
}

/**
 * perf_print_result() - Print one line of the table, or one JSON object.
 * @o: options
 * @r: with sorted samples
 * @first: true for the first result of the run
 * @out: where to
 */
void perf_print_result(const struct perf_options *o,
		       const struct perf_result *r, bool first, FILE *out)
{
	if (o->json)
		print_json(o, r, first, out);
	else
		print_row(o, r, out);
	fflush(out);
}

/**
 * perf_print_end() - Print the end of the JSON.
 * @o: options
 * @out: where to
 */
void perf_print_end(const struct perf_options *o, FILE *out)
{
	if (o->json)
		fputs("\n  ]\n}\n", out);
}
