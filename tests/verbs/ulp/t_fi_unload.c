// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * A program unloads libfabric, as the end of a program does, too, without having
 * closed a domain of the provider mxe, whose thread still runs.
 *
 * t_fi.sh runs it on a host.
 */
#include <dlfcn.h>
#include <unistd.h>
#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include "tap.h"

/* Finds a function of libfabric. */
#define FIND(lib, name) ((__typeof__(name) *)dlsym(lib, #name))

int main(void)
{
	void *lib = dlopen("libfabric.so.1", RTLD_NOW);
	struct fid_fabric *fabric = NULL;
	struct fid_domain *domain = NULL;
	struct fi_info *info = NULL;

	plan(0);
	if (!lib) {
		printf("Bail out!  %s\n", dlerror());
		return 1;
	}
	is_int(FIND(lib, fi_getinfo)(FI_VERSION(1, 15), NULL, NULL, 0, NULL,
				     &info), 0, "fi_getinfo()");
	is_int(FIND(lib, fi_fabric)(info->fabric_attr, &fabric, NULL), 0,
	       "fi_fabric()");
	is_int(fi_domain(fabric, info, &domain, NULL), 0, "fi_domain()");
	FIND(lib, fi_freeinfo)(info);
	is_int(dlclose(lib), 0, "libfabric is unloaded");
	/* The thread wakes up several times. */
	usleep(300000);
	ok(true, "... and the thread of the domain does no harm");
	return done_testing();
}
