// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The functions of libibverbs that this library interposes (interpose.c). All
 * other files call these, because a name such as ibv_destroy_qp() refers to the
 * interposing function here.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "std.h"

static struct exp_std std;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void *find_call(void *libibverbs, const char *name)
{
	void *call = dlvsym(libibverbs, name, "IBVERBS_1.1");

	if (!call) {
		fprintf(stderr, "libibverbs_exp: %s\n", dlerror());
		abort();
	}
	return call;
}

/* libibverbs is loaded, because this library is linked with it. */
static void find_calls(void)
{
	void *libibverbs = dlopen("libibverbs.so.1", RTLD_LAZY | RTLD_NOLOAD);

	std.ack_async_event = find_call(libibverbs, "ibv_ack_async_event");
	std.close_device = find_call(libibverbs, "ibv_close_device");
	std.create_qp = find_call(libibverbs, "ibv_create_qp");
	std.dereg_mr = find_call(libibverbs, "ibv_dereg_mr");
	std.destroy_cq = find_call(libibverbs, "ibv_destroy_cq");
	std.destroy_qp = find_call(libibverbs, "ibv_destroy_qp");
	std.destroy_srq = find_call(libibverbs, "ibv_destroy_srq");
	std.get_async_event = find_call(libibverbs, "ibv_get_async_event");
	std.open_device = find_call(libibverbs, "ibv_open_device");
	std.modify_qp = find_call(libibverbs, "ibv_modify_qp");
}

const struct exp_std *exp_std(void)
{
	pthread_once(&once, find_calls);
	return &std;
}
