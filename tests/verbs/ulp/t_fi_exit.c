// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * A program ends without having closed a domain of the provider mxe. libfabric
 * unloads the provider in a destructor, while the thread of the domain runs.
 *
 * t_fi.sh runs it.
 */
#include <stdlib.h>
#include <sys/wait.h>
#include "fi_end.h"

/* The C library flushes its streams after it has run all destructors. */
static ssize_t write_slowly(void *cookie, const char *buf, size_t size)
{
	usleep(*(const useconds_t *)cookie);
	return buf ? (ssize_t)size : 0;
}

static void run_child(void)
{
	cookie_io_functions_t functions = { .write = write_slowly };
	/* The thread wakes up several times. */
	static useconds_t time = 300000;
	FILE *f = fopencookie(&time, "w", functions);
	struct end e;

	enter("h1");
	open_end(&e, FI_MSG);
	if (!f || fputs("slow", f) < 0)
		exit(2);
	exit(0);
}

int main(void)
{
	int status = -1;
	pid_t pid;

	plan(0);
	fflush(stdout);
	pid = fork();
	if (!pid)
		run_child();
	waitpid(pid, &status, 0);
	ok(WIFEXITED(status), "a program ends with an open domain");
	is_int(WEXITSTATUS(status), 0, "... with status 0");
	return done_testing();
}
