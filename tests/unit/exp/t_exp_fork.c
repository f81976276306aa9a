// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Mutexes of the library across fork(). Another thread of the parent has locked
 * one in a call when the process forks, and the child makes the same call.
 */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <infiniband/verbs_exp.h>

#include "backend.h"
#include "backend_mlx5_sq.h"
#include "backend_mxe_dv.h"
#include "cq_ex.h"
#include "dct.h"
#include "mr.h"
#include "tap.h"

/* ---- calls --------------------------------------------------------------- */

static struct verbs_context vctx;
static struct ibv_pd pd = { .context = &vctx.context };
static struct ibv_cq cq = { .context = &vctx.context };
static struct ibv_cq_ex cq_ex = { .context = &vctx.context };
static struct ibv_qp qp = { .context = &vctx.context };
static struct ibv_srq srq = {
	.context = &vctx.context,
	.mutex = PTHREAD_MUTEX_INITIALIZER,
};

/* ibv_open_xrc_domain() returns the address of an XRCD. */
static struct ibv_xrcd xrcd = { .context = &vctx.context };

static int f_ok(void *object)
{
	(void)object;
	return 0;
}

static int f_dereg_mr(struct ibv_mr *mr)
{
	return f_ok(mr);
}

static int f_close_device(struct ibv_context *context)
{
	return f_ok(context);
}

static int f_get_async_event(struct ibv_context *context,
			     struct ibv_async_event *event)
{
	event->event_type = IBV_EVENT_QP_ACCESS_ERR;
	event->element.qp = &qp;
	return f_ok(context);
}

static struct ibv_srq *f_create_srq_ex(struct ibv_context *context,
				       struct ibv_srq_init_attr_ex *attr)
{
	(void)context;
	(void)attr;
	return &srq;
}

static int f_get_srq_num(struct ibv_srq *object, uint32_t *num)
{
	*num = 1;
	return f_ok(object);
}

static struct ibv_cq_ex *f_create_cq_ex(struct ibv_context *context,
					struct ibv_cq_init_attr_ex *attr)
{
	(void)context;
	(void)attr;
	return &cq_ex;
}

static int dereg_mr(void)
{
	struct ibv_mr mr = { .context = &vctx.context };

	return exp_dereg_mr(&mr, f_dereg_mr);
}

static int close_device(void)
{
	return exp_close_device(&vctx.context, f_close_device);
}

static int create_cq_ex(void)
{
	exp_cq_ex_hook(&vctx.context);
	return 0;
}

static int create_xrc_srq(void)
{
	struct ibv_srq_init_attr attr = { 0 };

	return ibv_create_xrc_srq(&pd, (struct ibv_xrc_domain *)&xrcd, &cq,
				  &attr) != &srq;
}

static int modify_xrc_rcv_qp(void)
{
	struct ibv_qp_attr attr = { 0 };

	return ibv_modify_xrc_rcv_qp((struct ibv_xrc_domain *)&xrcd, 1, &attr,
				     0) != EINVAL;
}

static int get_dct_event(void)
{
	struct ibv_async_event event;

	return exp_dct_get_event(&vctx.context, &event, f_get_async_event);
}

static int find_libmxe(void)
{
	return exp_mxedv(&vctx.context) ? EEXIST : 0;
}

static int adopt_mlx5(void)
{
	exp_mlx5_sq_adopt(&vctx.context);
	return 0;
}

static int adopt_mlx5_cq(void)
{
	return exp_mlx5_sq_adopt_cq_ex(&cq_ex, 0);
}

static const struct {
	const char *name;
	int (*make)(void);
} calls[] = {
	{ "ibv_dereg_mr()", dereg_mr },
	{ "ibv_close_device()", close_device },
	{ "ibv_create_cq_ex()", create_cq_ex },
	{ "ibv_create_xrc_srq()", create_xrc_srq },
	{ "ibv_modify_xrc_rcv_qp()", modify_xrc_rcv_qp },
	{ "ibv_get_async_event()", get_dct_event },
	{ "the search for libmxe", find_libmxe },
	{ "ibv_open_device() of mlx5", adopt_mlx5 },
	{ "ibv_create_cq_ex() of mlx5", adopt_mlx5_cq },
};

/* ---- the other thread ---------------------------------------------------- */

/*
 * The other thread stops with the first mutex of its call locked, until fork()
 * wants that mutex, too, or has returned.
 */
static pthread_mutex_t *stopped_in;
static sem_t stopped, go;
static __thread bool stops;

int __real_pthread_mutex_lock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex);

int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex)
{
	int ret;

	if (mutex == stopped_in)
		sem_post(&go);
	ret = __real_pthread_mutex_lock(mutex);
	if (stops) {
		stops = false;
		stopped_in = mutex;
		sem_post(&stopped);
		while (sem_wait(&go))
			;
	}
	return ret;
}

static void *other(void *call)
{
	stops = true;
	is_int(((int (*)(void))call)(), 0, "... in the other thread");
	if (stops) {
		fail("... locks a mutex");
		sem_post(&stopped);
	}
	return NULL;
}

/* Returns the exit status of a child that makes the call, or its signal. */
static int in_child(int (*make)(void))
{
	int status = -1;
	pid_t pid;

	pid = fork();
	if (!pid) {
		/* A call that waits forever ends with SIGALRM. */
		alarm(5);
		_exit(make());
	}
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status);
}

static void test_call(const char *name, int (*make)(void))
{
	pthread_t thread;

	sem_init(&stopped, 0, 0);
	sem_init(&go, 0, 0);
	stopped_in = NULL;
	pthread_create(&thread, NULL, other, (void *)make);
	sem_wait(&stopped);
	is_int(in_child(make), 0, "%s in the child", name);
	sem_post(&go);
	pthread_join(thread, NULL);
}

int main(void)
{
	size_t i;

	plan(0);
	vctx.sz = sizeof(vctx);
	vctx.context.abi_compat = __VERBS_ABI_IS_EXTENDED;
	vctx.create_srq_ex = f_create_srq_ex;
	vctx.get_srq_num = f_get_srq_num;
	vctx.create_cq_ex = f_create_cq_ex;
	for (i = 0; i < ARRAY_SIZE(calls); i++)
		test_call(calls[i].name, calls[i].make);
	return done_testing();
}
