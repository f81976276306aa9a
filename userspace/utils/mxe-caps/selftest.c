// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Lists the cases of the self-test, decides which of them a device offers, and
 * runs these.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

#include <infiniband/mxedv.h>
#include <infiniband/verbs_exp.h>

#include "caps.h"
#include "case.h"
#include "loop.h"
#include "operands.h"
#include "options.h"
#include "post.h"
#include "report.h"
#include "selftest.h"

#define MAX_CASES 96
#define ST_SET_MS 100		/* added for each pseudo-random operand set */
#define ST_LATE_MS 20

static const uint32_t sizes[] = { 1, 2, 4, 8, 16, 32 };

#define NUM_SIZES (sizeof(sizes) / sizeof(sizes[0]))

/* ---- which cases the device offers -------------------------------------- */

/* The abilities of a backend with the device.  An empty reason: it can. */
struct offer {
	enum st_backend backend;
	char name[16];
	char no_standard[ST_TEXT];	/* why there are no standard atomics */
	char no_masked[ST_TEXT];
	char no_plain[ST_TEXT];		/* no queue pairs without the flag */
	char no_be[ST_TEXT];		/* no queue pairs with it */
	uint64_t sizes;			/* masked operands: bit n, 2^n bytes */
	uint64_t sizes_be;
	const char *sizes_name;
	bool be_only;			/* for all sizes */
};

static struct st_case *add_case(struct st_report *report,
				const struct offer *offer, enum st_op op,
				uint32_t size)
{
	struct st_case *c = &report->cases[report->num++];

	*c = (struct st_case){
		.backend = offer->backend, .op = op, .size = size,
	};
	snprintf(c->backend_name, sizeof(c->backend_name), "%s", offer->name);
	return c;
}

static void add_refused(struct st_report *report, const struct offer *offer,
			enum st_op op, uint32_t size, const char *reason)
{
	struct st_case *c = add_case(report, offer, op, size);

	c->any_qp = true;
	snprintf(c->reason, sizeof(c->reason), "%s", reason);
}

/* One operation and size, on both kinds of queue pair. */
static void add_both(struct st_report *report, const struct offer *offer,
		     enum st_op op, uint32_t size)
{
	for (int be = 0; be < 2; be++) {
		struct st_case *c = add_case(report, offer, op, size);
		const char *reason = be ? offer->no_be : offer->no_plain;

		c->be_qp = be;
		c->be_reply = be || offer->be_only ||
			      (st_op_is_masked(op) && offer->sizes_be & size);
		snprintf(c->reason, sizeof(c->reason), "%s", reason);
	}
}

static void add_masked(struct st_report *report, const struct offer *offer,
		       enum st_op op)
{
	char reason[ST_TEXT];

	if (*offer->no_masked) {
		add_refused(report, offer, op, 0, offer->no_masked);
		return;
	}
	for (size_t i = 0; i < NUM_SIZES; i++) {
		if (op == ST_WIDE_FETCH_ADD && sizes[i] <= 8)
			continue;
		if (offer->sizes & sizes[i]) {
			add_both(report, offer, op, sizes[i]);
			continue;
		}
		snprintf(reason, sizeof(reason), "not in %s (0x%llx)",
			 offer->sizes_name, (unsigned long long)offer->sizes);
		add_refused(report, offer, op, sizes[i], reason);
	}
}

static void add_cases(struct st_report *report, const struct offer *offer)
{
	for (int op = 0; op < ST_NUM_OPS; op++) {
		if (st_op_is_masked(op))
			add_masked(report, offer, op);
		else if (*offer->no_standard)
			add_refused(report, offer, op, 8, offer->no_standard);
		else
			add_both(report, offer, op, 8);
	}
}

static void add_verbs(struct st_report *report)
{
	struct offer offer = {
		.backend = ST_VERBS, .name = "verbs",
		.no_be = "the standard verbs have no such flag",
	};

	if (report->attr.atomic_cap == IBV_ATOMIC_NONE)
		snprintf(offer.no_standard, ST_TEXT,
			 "atomic_cap of ibv_query_device is none");
	for (int op = 0; op < ST_MASKED_CMP_SWAP; op++) {
		if (*offer.no_standard)
			add_refused(report, &offer, op, 8, offer.no_standard);
		else
			add_case(report, &offer, op, 8);
	}
}

static void add_mxedv(struct st_report *report, struct ibv_context *context)
{
	struct offer offer = {
		.backend = ST_MXEDV, .name = "mxedv",
		.sizes_name = "log_arg_sizes",
	};
	const uint32_t both = MXEDV_MASKED_ATOMIC_CMP_SWP |
			      MXEDV_MASKED_ATOMIC_FETCH_ADD;
	struct mxedv_device_attr attr;
	char reason[ST_TEXT];
	int err;

	if (!mxedv_is_supported(context->device)) {
		add_refused(report, &offer, ST_NUM_OPS, 0,
			    "not an mxe device");
		return;
	}
	err = mxedv_query_device(context, &attr, sizeof(attr));
	if (err) {
		snprintf(reason, sizeof(reason), "mxedv_query_device: %s",
			 strerror(err));
		add_refused(report, &offer, ST_NUM_OPS, 0, reason);
		return;
	}
	if (attr.atomic_cap == IBV_ATOMIC_NONE)
		snprintf(offer.no_standard, ST_TEXT,
			 "atomic_cap of mxedv_query_device is none");
	if ((attr.masked_ops & both) != both)
		snprintf(offer.no_masked, ST_TEXT,
			 "not in masked_ops of mxedv_query_device (0x%x)",
			 attr.masked_ops);
	if (!(attr.reply_modes & MXEDV_ATOMIC_REPLY_HOST))
		snprintf(offer.no_plain, ST_TEXT,
			 "the device replies in big-endian only");
	if (!(attr.reply_modes & MXEDV_ATOMIC_REPLY_BE))
		snprintf(offer.no_be, ST_TEXT,
			 "the device has no big-endian replies");
	offer.sizes = attr.log_arg_sizes;
	offer.sizes_be = attr.log_arg_sizes_be;
	add_cases(report, &offer);
}

static void add_exp(struct st_report *report, struct ibv_context *context,
		    bool is_mlx5)
{
	struct offer offer = {
		.backend = ST_EXP, .name = "exp",
		.sizes_name = "masked_log_atomic_arg_sizes",
	};
	struct ibv_exp_device_attr attr = {
		.comp_mask = IBV_EXP_DEVICE_ATTR_EXP_CAP_FLAGS |
			     IBV_EXP_DEVICE_ATTR_MASKED_ATOMICS,
	};
	int err = ibv_exp_query_device(context, &attr);
	bool masked, emulated;
	char reason[ST_TEXT];

	if (err) {
		snprintf(reason, sizeof(reason), "ibv_exp_query_device: %s",
			 strerror(err));
		add_refused(report, &offer, ST_NUM_OPS, 0, reason);
		return;
	}
	masked = attr.comp_mask & IBV_EXP_DEVICE_ATTR_MASKED_ATOMICS &&
		 attr.exp_device_cap_flags & IBV_EXP_DEVICE_EXT_MASKED_ATOMICS;
	emulated = attr.exp_device_cap_flags &
		   IBV_EXP_DEVICE_MASKED_ATOMICS_EMULATED;
	offer.be_only = attr.exp_atomic_cap == IBV_EXP_ATOMIC_HCA_REPLY_BE;
	if (is_mlx5 && (emulated || !masked)) {
		snprintf(offer.name, sizeof(offer.name), "exp-mlx5");
		add_refused(report, &offer, ST_NUM_OPS, 0,
			    "libibverbs_exp cannot use it: no DEVX, rdma-core before 36, or an adapter without masked atomics");
	}
	snprintf(offer.name, sizeof(offer.name), "exp-%s",
		 emulated ? "emulated" :
		 mxedv_is_supported(context->device) ? "mxe" :
		 is_mlx5 && masked ? "mlx5" : "verbs");
	if (attr.exp_atomic_cap == IBV_EXP_ATOMIC_NONE)
		snprintf(offer.no_standard, ST_TEXT,
			 "exp_atomic_cap of ibv_exp_query_device is none");
	if (!masked)
		snprintf(offer.no_masked, ST_TEXT,
			 "not in exp_device_cap_flags of ibv_exp_query_device");
	if (!masked)
		snprintf(offer.no_be, ST_TEXT,
			 "only for devices with masked atomics");
	if (offer.be_only)
		snprintf(offer.no_plain, ST_TEXT,
			 "the device replies in big-endian only");
	offer.sizes = attr.masked_atomic.masked_log_atomic_arg_sizes;
	offer.sizes_be =
		attr.masked_atomic.masked_log_atomic_arg_sizes_network_endianness;
	add_cases(report, &offer);
}

/* ---- running a case ----------------------------------------------------- */

static const char *expected_opcode(const struct st_case *c, int opcode)
{
	static const char *const names[] = {
		[IBV_WC_COMP_SWAP] = "compare-and-swap",
		[IBV_WC_FETCH_ADD] = "fetch-and-add",
		[IBV_EXP_WC_MASKED_COMP_SWAP] = "masked compare-and-swap",
		[IBV_EXP_WC_MASKED_FETCH_ADD] = "masked fetch-and-add",
	};
	bool is_exp = c->backend == ST_EXP && st_op_is_masked(c->op);
	int expected;

	if (st_op_is_cmp_swap(c->op))
		expected = is_exp ? (int)IBV_EXP_WC_MASKED_COMP_SWAP :
				    (int)IBV_WC_COMP_SWAP;
	else
		expected = is_exp ? (int)IBV_EXP_WC_MASKED_FETCH_ADD :
				    (int)IBV_WC_FETCH_ADD;
	return opcode == expected ? NULL : names[expected];
}

/*
 * Returns false and describes what is wrong with the completion itself.  The
 * standard verbs of some providers leave byte_len 0.
 */
static bool check_completion(const struct st_case *c,
			     const struct st_completion *wc,
			     struct st_mismatch *m)
{
	const char *opcode;

	if (wc->status != IBV_WC_SUCCESS) {
		m->what = "status of the completion";
		snprintf(m->expected, ST_TEXT, "success");
		snprintf(m->got, ST_TEXT, "%d (%s), vendor_err 0x%x",
			 wc->status, ibv_wc_status_str(wc->status),
			 wc->vendor_err);
		return false;
	}
	opcode = expected_opcode(c, wc->opcode);
	if (opcode) {
		m->what = "opcode of the completion";
		snprintf(m->expected, ST_TEXT, "%s", opcode);
		snprintf(m->got, ST_TEXT, "%d", wc->opcode);
		return false;
	}
	if (c->backend != ST_VERBS && wc->byte_len != c->size) {
		m->what = "byte_len of the completion";
		snprintf(m->expected, ST_TEXT, "%u", c->size);
		snprintf(m->got, ST_TEXT, "%u", wc->byte_len);
		return false;
	}
	return true;
}

/*
 * Posts the request and waits for its completion.  Returns false if the queue
 * pair cannot be used any more; *m is written if anything is wrong.
 */
static bool execute(struct st_pair *pair, const struct st_case *c,
		    const struct st_report *report, unsigned int set,
		    const struct st_operands *o, struct st_mismatch *m)
{
	struct st_completion wc;
	const char *call;
	int err = st_post(pair, c, set, o, &call);

	m->set = (int)set;
	m->operands = *o;
	if (err) {
		m->what = call;
		snprintf(m->expected, ST_TEXT, "success");
		snprintf(m->got, ST_TEXT, "errno %d (%s)", err, strerror(err));
		return false;
	}
	err = st_pair_wait(pair, report->options.completion_ms, &wc);
	if (err) {
		m->what = "completion";
		snprintf(m->expected, ST_TEXT, "success");
		if (err == ETIMEDOUT)
			snprintf(m->got, ST_TEXT, "none within %u ms",
				 report->options.completion_ms);
		else
			snprintf(m->got, ST_TEXT, "polling failed");
		return false;
	}
	if (check_completion(c, &wc, m))
		return true;
	return wc.status == IBV_WC_SUCCESS;
}

/*
 * An adapter may complete the request before its write to memory is visible to
 * the CPU.  A wrong result is therefore checked once more after ST_LATE_MS.
 */
static void check_areas(struct st_case *c, const struct st_loop *loop,
			unsigned int set, const struct st_operands *o,
			struct st_mismatch *m)
{
	struct st_mismatch first;

	if (st_check(c, set, o, loop->memory, loop->result, &first))
		return;
	nanosleep(&(struct timespec){ .tv_nsec = ST_LATE_MS * 1000000 }, NULL);
	if (st_check(c, set, o, loop->memory, loop->result, m))
		c->late++;
}

static void run_sets(struct st_pair *pair, struct st_case *c,
		     const struct st_report *report)
{
	const struct st_options *options = &report->options;
	unsigned int num = st_num_edges(c->op) + options->count;
	uint64_t end = st_now_ms() + options->case_ms +
		       (uint64_t)options->count * ST_SET_MS;
	const struct st_loop *loop = pair->loop;
	struct st_operands o;
	bool usable = true;

	for (unsigned int set = 0; usable && set < num; set++) {
		struct st_mismatch m = { };

		st_operands_make(c->op, c->size, options->seed, set, &o);
		st_areas_fill(c->size, set, &o, loop->memory, loop->result);
		usable = execute(pair, c, report, set, &o, &m);
		if (!m.what)
			check_areas(c, loop, set, &o, &m);
		c->sets++;
		if (usable && st_now_ms() > end && set + 1 < num) {
			usable = false;
			if (!m.what) {
				m.what = "time limit of the case";
				snprintf(m.expected, ST_TEXT, "%u operand sets",
					 num);
				snprintf(m.got, ST_TEXT, "%u", c->sets);
			}
		}
		if (!m.what)
			continue;
		if (!c->wrong++)
			c->first = m;
	}
}

static void run_case(struct st_case *c, const struct st_loop *loop,
		     const struct st_report *report)
{
	struct st_pair pair;

	if (st_pair_open(&pair, loop, c, &c->first))
		run_sets(&pair, c, report);
	else
		c->wrong = 1;
	st_pair_close(&pair);
	c->result = c->wrong ? ST_FAIL : ST_PASS;
}

/* ---- the report --------------------------------------------------------- */

/* The file of the library that defines the symbol. */
static void library_of(const void *symbol, char *text)
{
	Dl_info info;
	char *path;

	if (!dladdr(symbol, &info) || !info.dli_fname)
		return;
	path = realpath(info.dli_fname, NULL);
	snprintf(text, ST_TEXT, "%s", path ? path : info.dli_fname);
	free(path);
}

static void fill_host(struct st_report *report, bool is_mlx5)
{
	struct utsname name;
	void *mlx5, *symbol;

	if (!uname(&name))
		snprintf(report->kernel, ST_TEXT, "%.60s %.100s %.60s",
			 name.sysname, name.release, name.machine);
	library_of((void *)ibv_get_device_list, report->libibverbs);
	if (!is_mlx5)
		return;
	mlx5 = dlopen("libmlx5.so.1", RTLD_LAZY | RTLD_LOCAL);
	if (!mlx5)
		return;
	symbol = dlsym(mlx5, "mlx5dv_is_supported");
	if (symbol)
		library_of(symbol, report->libmlx5);
	dlclose(mlx5);
}

static bool run_cases(struct st_report *report, struct ibv_context *context,
		      char *error)
{
	struct st_loop loop;
	bool is_open;

	is_open = st_loop_open(&loop, context, &report->options,
			       report->attr.phys_port_cnt, error);
	if (is_open) {
		report->options.port = loop.port;
		report->options.gid_index = loop.has_gid ?
					    (int)loop.gid_index : -1;
		report->link_layer = loop.port_attr.link_layer;
		snprintf(report->gid_type, sizeof(report->gid_type), "%s",
			 loop.gid_type);
		for (size_t i = 0; i < report->num; i++)
			if (!*report->cases[i].reason)
				run_case(&report->cases[i], &loop, report);
	}
	st_loop_close(&loop);
	return is_open;
}

static bool run_device(struct st_report *report, struct ibv_context *context,
		       bool is_mlx5, char *error)
{
	int err = ibv_query_device(context, &report->attr);
	bool offered = false;

	if (err) {
		snprintf(error, ST_TEXT, "%s: ibv_query_device: %s",
			 ibv_get_device_name(context->device), strerror(err));
		return false;
	}
	add_verbs(report);
	add_mxedv(report, context);
	add_exp(report, context, is_mlx5);
	for (size_t i = 0; i < report->num; i++)
		offered |= !*report->cases[i].reason;
	if (offered && !run_cases(report, context, error))
		return false;
	for (size_t i = 0; i < report->num; i++)
		report->num_of[report->cases[i].result]++;
	return true;
}

/**
 * st_run() - Run the self-test on one device.
 * @dev: device, as caps_ask() found it
 * @options: copied into the report
 * @report: result; to be freed with st_free()
 * @error: ST_TEXT bytes; says why nothing could be run
 *
 * Returns true also if cases have failed.
 *
 * Return: false if the test could not be run; @report is empty then.
 */
bool st_run(const struct caps_device *dev, const struct st_options *options,
	    struct st_report *report, char *error)
{
	bool is_mlx5 = !strcmp(dev->provider, "mlx5");
	struct ibv_context *context;
	bool done;

	*report = (struct st_report){ .options = *options };
	if (!dev->ibv) {
		snprintf(error, ST_TEXT,
			 "libibverbs does not show %s: its provider is not installed, or it belongs to another network namespace",
			 dev->name);
		return false;
	}
	report->cases = calloc(MAX_CASES, sizeof(*report->cases));
	context = ibv_open_device(dev->ibv);
	if (!context || !report->cases) {
		snprintf(error, ST_TEXT, "%s cannot be opened: %s", dev->name,
			 strerror(context ? ENOMEM : errno));
		done = false;
	} else {
		fill_host(report, is_mlx5);
		done = run_device(report, context, is_mlx5, error);
	}
	if (context)
		ibv_close_device(context);
	if (!done)
		st_free(report);
	return done;
}

/**
 * st_free() - Free the cases of a report.
 * @report: of st_run()
 */
void st_free(struct st_report *report)
{
	free(report->cases);
	*report = (struct st_report){ };
}
