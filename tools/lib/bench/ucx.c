// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * bench-ucx tsc|monotonic DEVICE COUNT
 *
 * Measures fetch-and-adds and compare-and-swaps of UCX, one at a time.  Both
 * workers are in this thread, which drives them in turn.  UCX chooses the
 * device by its environment (UCX_TLS, UCX_NET_DEVICES); DEVICE is only the name
 * in the output, which has the form of mxe-perf --json.
 */
#include <ucp/api/ucp.h>

#include "one.h"

struct end {
	ucp_worker_h worker;
	ucp_ep_h ep;		/* connected to the other worker */
};

static ucp_context_h context;
static struct end a, b;
static ucp_rkey_h rkey;
static uint64_t word;		/* of worker b */

static void must(const char *what, ucs_status_t status)
{
	if (status == UCS_OK)
		return;
	fprintf(stderr, "bench-ucx: %s: %s\n", what, ucs_status_string(status));
	exit(1);
}

/* Drives both workers until the request is complete. */
static void await(const char *what, ucs_status_ptr_t request)
{
	ucs_status_t status = UCS_PTR_STATUS(request);

	if (UCS_PTR_IS_PTR(request)) {
		do {
			ucp_worker_progress(a.worker);
			ucp_worker_progress(b.worker);
			status = ucp_request_check_status(request);
		} while (status == UCS_INPROGRESS);
		ucp_request_free(request);
	}
	must(what, status);
}

static void start(void)
{
	ucp_params_t params = {
		.field_mask = UCP_PARAM_FIELD_FEATURES,
		.features = UCP_FEATURE_AMO64,
	};
	ucp_config_t *config;

	must("ucp_config_read", ucp_config_read(NULL, NULL, &config));
	must("ucp_init", ucp_init(&params, config, &context));
	ucp_config_release(config);
}

static void make(struct end *end)
{
	ucp_worker_params_t params = {
		.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE,
		.thread_mode = UCS_THREAD_MODE_SINGLE,
	};

	must("ucp_worker_create",
	     ucp_worker_create(context, &params, &end->worker));
}

static void know(struct end *end, struct end *peer)
{
	ucp_ep_params_t params = {
		.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS,
	};
	ucp_address_t *address;
	size_t len;

	must("ucp_worker_get_address",
	     ucp_worker_get_address(peer->worker, &address, &len));
	params.address = address;
	must("ucp_ep_create", ucp_ep_create(end->worker, &params, &end->ep));
	ucp_worker_release_address(peer->worker, address);
}

/* Gives worker a access to the word. */
static void share(void)
{
	ucp_mem_map_params_t params = {
		.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS |
			      UCP_MEM_MAP_PARAM_FIELD_LENGTH,
		.address = &word,
		.length = sizeof(word),
	};
	ucp_mem_h mem;
	void *buffer;
	size_t len;

	must("ucp_mem_map", ucp_mem_map(context, &params, &mem));
	must("ucp_rkey_pack", ucp_rkey_pack(context, mem, &buffer, &len));
	must("ucp_ep_rkey_unpack", ucp_ep_rkey_unpack(a.ep, buffer, &rkey));
	ucp_rkey_buffer_release(buffer);
}

static uint64_t add(uint64_t expected)
{
	const uint64_t one = 1;
	uint64_t old = ~expected;
	ucp_request_param_t params = {
		.op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE |
				UCP_OP_ATTR_FIELD_REPLY_BUFFER,
		.datatype = ucp_dt_make_contig(sizeof(word)),
		.reply_buffer = &old,
	};

	await("fetch-and-add",
	      ucp_atomic_op_nbx(a.ep, UCP_ATOMIC_OP_ADD, &one, 1,
				(uintptr_t)&word, rkey, &params));
	return old;
}

static uint64_t swap(uint64_t expected)
{
	uint64_t swapped = expected + 1;	/* replaced by the old value */
	ucp_request_param_t params = {
		.op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE |
				UCP_OP_ATTR_FIELD_REPLY_BUFFER,
		.datatype = ucp_dt_make_contig(sizeof(word)),
		.reply_buffer = &swapped,
	};

	await("compare-and-swap",
	      ucp_atomic_op_nbx(a.ep, UCP_ATOMIC_OP_CSWAP, &expected, 1,
				(uintptr_t)&word, rkey, &params));
	return swapped;
}

int main(int argc, char **argv)
{
	struct bench bench = { .test = "ucx" };
	uint64_t count;

	if (argc != 4) {
		fputs("Usage: bench-ucx tsc|monotonic DEVICE COUNT\n", stderr);
		return 2;
	}
	bench.tsc = !strcmp(argv[1], "tsc");
	bench.device = argv[2];
	bench.n = strtoul(argv[3], NULL, 0);
	if (!bench.n)
		return 2;
	start();
	make(&a);
	make(&b);
	know(&a, &b);
	know(&b, &a);
	share();
	count = bench_run(&bench, "fadd", 0, add);
	count = bench_run(&bench, "cas", count, swap);
	bench_end();
	if (word == count)
		return 0;
	fprintf(stderr, "bench-ucx: the word is %llu, not %llu\n",
		(unsigned long long)word, (unsigned long long)count);
	return 1;
}
