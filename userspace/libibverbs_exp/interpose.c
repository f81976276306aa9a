// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Interposed calls: calls of libibverbs that this library defines, too.  Programs and
 * libraries call them instead of those of libibverbs; they call the file that keeps
 * account of the object, which calls libibverbs.
 *
 * They have the names and the symbol version of those of libibverbs.  The dynamic linker
 * therefore binds every loaded object to them, librdmacm for one, if the program is linked
 * with this library before libibverbs.  The linker script and pkg-config do so.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>

#include "calls.h"
#include "emu.h"

static struct {
	int (*close_device)(struct ibv_context *context);
	int (*dereg_mr)(struct ibv_mr *mr);
	int (*destroy_cq)(struct ibv_cq *cq);
	int (*destroy_qp)(struct ibv_qp *qp);
	struct ibv_context *(*open_device)(struct ibv_device *device);
	int (*modify_qp)(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask);
} std;

static pthread_once_t once = PTHREAD_ONCE_INIT;

static void *std_call(void *libibverbs, const char *name)
{
	void *call = dlvsym(libibverbs, name, "IBVERBS_1.1");

	if (!call) {
		fprintf(stderr, "libibverbs_exp: %s\n", dlerror());
		abort();
	}
	return call;
}

/* This library is linked with libibverbs: it is there, and has them all. */
static void find_std(void)
{
	void *libibverbs = dlopen("libibverbs.so.1", RTLD_LAZY | RTLD_NOLOAD);

	std.close_device = std_call(libibverbs, "ibv_close_device");
	std.dereg_mr = std_call(libibverbs, "ibv_dereg_mr");
	std.destroy_cq = std_call(libibverbs, "ibv_destroy_cq");
	std.destroy_qp = std_call(libibverbs, "ibv_destroy_qp");
	std.open_device = std_call(libibverbs, "ibv_open_device");
	std.modify_qp = std_call(libibverbs, "ibv_modify_qp");
}

EXP_EXPORT
int ibv_close_device(struct ibv_context *context)
{
	pthread_once(&once, find_std);
	return exp_close_device(context, std.close_device);
}

EXP_EXPORT
int ibv_dereg_mr(struct ibv_mr *mr)
{
	pthread_once(&once, find_std);
	return exp_dereg_mr(mr, std.dereg_mr);
}

static int destroy_cq(struct ibv_cq *cq)
{
	return exp_destroy_cq(cq, std.destroy_cq);
}

EXP_EXPORT
int ibv_destroy_cq(struct ibv_cq *cq)
{
	pthread_once(&once, find_std);
	return emu_destroy_cq(cq, destroy_cq);
}

EXP_EXPORT
int ibv_destroy_qp(struct ibv_qp *qp)
{
	pthread_once(&once, find_std);
	return exp_destroy_qp(qp, std.destroy_qp);
}

EXP_EXPORT
int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	pthread_once(&once, find_std);
	return exp_modify_qp(qp, attr, mask, std.modify_qp);
}

EXP_EXPORT
struct ibv_context *ibv_open_device(struct ibv_device *device)
{
	struct ibv_context *context;

	pthread_once(&once, find_std);
	context = std.open_device(device);
	if (context)
		exp_context_seen(context);
	return context;
}
