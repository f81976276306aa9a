// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * mxe-perf measures the cost of RDMA operations on a verbs device and checks
 * their results.  This opens and connects the endpoints, then measures one
 * operation after the other.
 */
#include <signal.h>
#include <stdlib.h>

#include "endpoint.h"
#include "multi.h"
#include "options.h"
#include "print.h"
#include "result.h"
#include "run.h"
#include "session.h"
#include "sockets.h"
#include "status.h"
#include "tags.h"

static int run_all(struct perf_endpoint *ep, struct perf_endpoint *responder,
		   struct session *session, const struct perf_address *peer,
		   const struct perf_options *o)
{
	bool first = true;
	int status = 0;

	if (multi_prints())
		perf_print_head(o, stdout);
	for (int op = 0; op < PERF_NUM_OPS && !status; op++) {
		struct perf_result result = { };

		if (!(o->ops & 1u << op))
			continue;
		status = perf_run(ep, responder, session, peer, o,
				  (enum perf_op)op, &result);
		if (!status)
			status = multi_gather(o, &result);
		if (!status && multi_prints())
			perf_print_result(o, &result, first, stdout);
		first = false;
		free(result.samples);
	}
	if (!status && multi_prints())
		perf_print_end(o, stdout);
	return status;
}

static int with_host(const struct perf_options *o)
{
	struct perf_address own, peer;
	struct session *session = NULL;
	struct perf_endpoint ep = { };
	int status = perf_endpoint_open(&ep, o->device, o->gid, o);

	if (!status) {
		perf_endpoint_address(&ep, &own);
		session = session_connect(o, &own, &peer);
		status = session ? perf_endpoint_connect(&ep, &peer, o) :
				   STATUS_FAILED;
	}
	if (!status)
		status = run_all(&ep, NULL, session, &peer, o);
	session_close(session);
	perf_endpoint_close(&ep);
	return status;
}

static int in_process(const struct perf_options *o)
{
	struct perf_endpoint ep = { }, responder = { .two_sided = true };
	struct perf_address own, peer;
	int status = multi_start(o);

	if (!status)
		status = perf_endpoint_open(&ep, o->device, o->gid, o);
	if (!status)
		status = perf_endpoint_open(&responder,
					    o->remote ? o->remote : o->device,
					    o->remote_gid >= 0 ? o->remote_gid :
					    o->remote ? -1 : o->gid, o);
	if (!status) {
		perf_endpoint_address(&ep, &own);
		perf_endpoint_address(&responder, &peer);
		status = perf_endpoint_connect(&ep, &peer, o);
	}
	if (!status)
		status = perf_endpoint_connect(&responder, &own, o);
	if (!status)
		status = run_all(&ep, &responder, NULL, &peer, o);
	perf_endpoint_close(&ep);
	perf_endpoint_close(&responder);
	return multi_finish(status);
}

/* Measures each way to match beside the others, for each number of tags. */
static int tags(const struct perf_options *o)
{
	static const uint32_t nums[] = { 1, 100, PERF_MAX_TAGS };
	int status = 0;

	perf_print_head(o, stdout);
	for (size_t i = 0; i < sizeof(nums) / sizeof(*nums) && !status; i++) {
		double device = 0;

		for (int how = PERF_DEVICE; how <= PERF_LIST && !status; how++) {
			struct perf_result result = { };

			status = perf_run_tags(o, nums[i], (enum perf_how)how,
					       &result);
			if (how == PERF_DEVICE)
				device = (double)result.total;
			result.ratio = (double)result.total / device;
			if (!status)
				perf_print_result(o, &result,
						  !i && how == PERF_DEVICE,
						  stdout);
			free(result.samples);
		}
	}
	if (!status)
		perf_print_end(o, stdout);
	return status;
}

static int sockets(const struct perf_options *o)
{
	struct perf_result result = { };
	int status = perf_run_sockets(o, &result);

	if (!status) {
		perf_print_head(o, stdout);
		perf_print_result(o, &result, true, stdout);
		perf_print_end(o, stdout);
	}
	free(result.samples);
	return status;
}

int main(int argc, char **argv)
{
	struct perf_options o;
	int status = perf_parse(argc, argv, &o, stdout, stderr);

	if (status >= 0)
		return status;
	/* Writing to a closed connection must fail with EPIPE instead. */
	signal(SIGPIPE, SIG_IGN);
	if (o.listen)
		status = session_serve(&o);
	else if (o.test == PERF_UDP || o.test == PERF_TCP)
		status = sockets(&o);
	else if (o.test == PERF_TAGS)
		status = tags(&o);
	else if (o.host)
		status = with_host(&o);
	else
		status = in_process(&o);
	if (fflush(stdout)) {
		perror("mxe-perf");
		return STATUS_FAILED;
	}
	return status;
}
