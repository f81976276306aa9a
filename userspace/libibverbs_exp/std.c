// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The calls of libibverbs that this library interposes (interpose.c).  All other files call
 * these instead, because a name like ibv_destroy_qp() means the interposed call here.
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

/* This library is linked with libibverbs: it is loaded, and has them all. */
static void find_calls(void)
{
	void *libibverbs = dlopen("libibverbs.so.1", RTLD_LAZY | RTLD_NOLOAD);

	std.close_device = find_call(libibverbs, "ibv_close_device");
	std.dereg_mr = find_call(libibverbs, "ibv_dereg_mr");
	std.destroy_cq = find_call(libibverbs, "ibv_destroy_cq");
	std.destroy_qp = find_call(libibverbs, "ibv_destroy_qp");
	std.open_device = find_call(libibverbs, "ibv_open_device");
	std.modify_qp = find_call(libibverbs, "ibv_modify_qp");
}

const struct exp_std *exp_std(void)
{
	pthread_once(&once, find_calls);
	return &std;
}
