// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * IAs of libdaplmxe opened and closed by several threads, with the libdat2 of
 * the system and fake_ofa.c. The script udapl_locks builds and runs it.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <dat2/udat.h>
#include <dat2/dat_registry.h>

#include "fake_ofa.h"
#include "tap.h"

static DAT_RETURN open_ia(const char *name, DAT_IA_HANDLE *ia)
{
	DAT_EVD_HANDLE evd = DAT_HANDLE_NULL;

	return dat_ia_openv((DAT_NAME_PTR)name, 8, &evd, ia, 2, 0, DAT_FALSE);
}

/* ---- libdat2 waits for this library, and the library for libdat2 ------- */

/*
 * One thread is in the inner provider's call `pause` of line1. Another one then
 * opens line2, so that libdat2 calls dat_provider_init() with its registry
 * locked. The first thread goes on when that has reached the inner provider.
 */
static enum fake_ofa_call pause_in;
static sem_t paused, initialised;
static bool waited;

static void pause_hook(enum fake_ofa_call call, const char *name)
{
	struct timespec until;

	if (call == FAKE_OFA_INIT && !strcmp(name, "line2-inner"))
		sem_post(&initialised);
	if (call != pause_in || strcmp(name, "line1-inner"))
		return;
	sem_post(&paused);
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += 10;
	waited = !sem_timedwait(&initialised, &until);
}

static void *open_close_line1(void *arg)
{
	DAT_IA_HANDLE ia;

	(void)arg;
	is_int(open_ia("line1", &ia), DAT_SUCCESS, "one thread opens an IA");
	is_int(dat_ia_close(ia, DAT_CLOSE_GRACEFUL_FLAG), DAT_SUCCESS,
	       "... and closes it");
	return NULL;
}

static void registry_is_locked(enum fake_ofa_call call, const char *name)
{
	DAT_IA_HANDLE ia;
	pthread_t thread;

	diag("libdat2 initialises another IA during %s", name);
	sem_init(&paused, 0, 0);
	sem_init(&initialised, 0, 0);
	pause_in = call;
	fake_ofa.hook = pause_hook;
	pthread_create(&thread, NULL, open_close_line1, NULL);
	sem_wait(&paused);
	is_int(open_ia("line2", &ia), DAT_SUCCESS, "another one opens an IA");
	is_int(dat_ia_close(ia, DAT_CLOSE_GRACEFUL_FLAG), DAT_SUCCESS,
	       "... and closes it");
	pthread_join(thread, NULL);
	ok(waited, "... without waiting for the first one's %s", name);
	fake_ofa.hook = NULL;
}

/* ---- many at the same time --------------------------------------------- */

enum { THREADS = 4, ROUNDS = 500 };

static atomic_int failed;

static void *open_close_many(void *name)
{
	DAT_IA_HANDLE ia;
	int i;

	for (i = 0; i < ROUNDS; i++)
		if (open_ia(name, &ia) != DAT_SUCCESS ||
		    dat_ia_close(ia, DAT_CLOSE_ABRUPT_FLAG) != DAT_SUCCESS)
			atomic_fetch_add(&failed, 1);
	return NULL;
}

static void many(const char *what, char *name1, char *name2)
{
	pthread_t threads[THREADS];
	int i;

	failed = 0;
	for (i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, open_close_many,
			       i % 2 ? name1 : name2);
	for (i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	is_int(failed, 0, "%s opened and closed by %d threads", what, THREADS);
	is_int(fake_ofa.closes, fake_ofa.opens, "... each IA is closed");
	is_int(fake_ofa.finis, fake_ofa.inits,
	       "... libdat2 has no reference on a provider");
}

/* ---- errors ------------------------------------------------------------- */

static void close_fails(void)
{
	const DAT_RETURN in_use = (DAT_RETURN)
		(DAT_CLASS_ERROR | DAT_INVALID_STATE | DAT_INVALID_STATE_IA_IN_USE);
	DAT_PROVIDER_ATTR attr;
	DAT_IA_HANDLE ia;

	open_ia("line1", &ia);
	fake_ofa.close_status = in_use;
	is_int(dat_ia_close(ia, DAT_CLOSE_GRACEFUL_FLAG), in_use,
	       "an IA that is in use is not closed");
	is_int(dat_ia_query(ia, NULL, 0, NULL, DAT_PROVIDER_FIELD_ALL, &attr),
	       DAT_SUCCESS, "... and can be queried");
	ok(!strcmp(attr.provider_name, "line1"), "... under its own name");
	is_int(dat_ia_close(ia, DAT_CLOSE_GRACEFUL_FLAG), DAT_SUCCESS,
	       "... and closed later");
	is_int(fake_ofa.finis, fake_ofa.inits,
	       "... libdat2 has no reference on the provider");
}

/*
 * libdat2 counts references without a lock. Once it has lost a decrement, it
 * refuses to remove the provider. This function stands before that of libdat2.
 */
static bool refuses;

DAT_RETURN DAT_API dat_registry_remove_provider(const DAT_PROVIDER *provider,
						const DAT_PROVIDER_INFO *info)
{
	DAT_RETURN (*real)(const DAT_PROVIDER *p, const DAT_PROVIDER_INFO *i) =
		dlsym(RTLD_NEXT, "dat_registry_remove_provider");

	if (refuses && !strcmp(info->ia_name, "line1"))
		return (DAT_RETURN)(DAT_CLASS_ERROR | DAT_PROVIDER_IN_USE);
	return real(provider, info);
}

static void reference_is_lost(void)
{
	DAT_IA_HANDLE ia;

	diag("libdat2 does not remove the provider");
	refuses = true;
	open_ia("line1", &ia);
	is_int(dat_ia_close(ia, DAT_CLOSE_GRACEFUL_FLAG), DAT_SUCCESS, "an IA is closed");
	refuses = false;
	is_int(open_ia("line1", &ia), DAT_SUCCESS, "... and opened again");
	is_int(dat_ia_close(ia, DAT_CLOSE_GRACEFUL_FLAG), DAT_SUCCESS,
	       "... and closed");
	is_int(fake_ofa.closes, fake_ofa.opens, "... each IA is closed");
	is_int(fake_ofa.finis, fake_ofa.inits,
	       "... libdat2 has no reference on the provider");
}

int main(void)
{
	char line1[] = "line1", line2[] = "line2";

	plan(0);
	/* A deadlock ends the test. */
	alarm(60);
	registry_is_locked(FAKE_OFA_OPEN, "dat_ia_openv()");
	registry_is_locked(FAKE_OFA_CLOSE, "dat_ia_close()");
	close_fails();
	reference_is_lost();
	many("IAs of one name", line1, line1);
	many("IAs of two names", line1, line2);
	return done_testing();
}
