/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A libdaplofa without a device (fake_ofa.c): IAs can be opened, queried and
 * closed.
 */
#ifndef FAKE_OFA_H
#define FAKE_OFA_H

#include <stdatomic.h>
#include <dat2/udat.h>

/* Where the fake calls the hook. */
enum fake_ofa_call { FAKE_OFA_INIT, FAKE_OFA_OPEN, FAKE_OFA_CLOSE };

struct fake_ofa {
	/* Called in each call, with the name of the IA. */
	void (*hook)(enum fake_ofa_call call, const char *name);
	DAT_RETURN close_status;	/* of the next dat_ia_close() */
	atomic_int inits, finis, opens, closes;
};

extern struct fake_ofa fake_ofa;

#endif /* FAKE_OFA_H */
