/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The paths on which t_faults lets every call fail in turn. */
#ifndef FAULTS_H
#define FAULTS_H

#include "vt.h"

struct path {
	const char *name;
	int (*make)(void);	/* 0 or errno */
	int (*undo)(void);	/* the same, or NULL */
	/*
	 * What undo is: to take the object away, which fails like making it (or
	 * alone does); to bring things back, also if making has failed; or to
	 * look.
	 */
	enum { DESTROY, ONLY_DESTROY, RESTORE, LOOK } undo_is;
};

extern const struct path paths[];	/* up to one without a name */
extern struct vt_pair wire;		/* between the two devices, connected */

/* All that the paths need on the two devices. */
void paths_set_up(void);
void paths_tear_down(void);

#endif /* FAULTS_H */
