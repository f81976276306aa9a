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

/*
 * A link on a netdev that nobody else has.  Adding and deleting it gives 0, errno, or
 * LINK_LOST: there was no memory for the answer, so it was done or not.
 */
enum { LINK_LOST = -1 };

void link_set_up(void);
int link_add(void);
int link_del(void);		/* the one that was looked at last */
bool link_is_there(void);
/* NULL, or what is wrong.  has_file: processes can open it, and then they can use it. */
const char *link_is_whole(bool *has_file);
/* Whether the netdev goes, too: nobody holds it any more. */
bool link_tear_down(void);

#endif /* FAULTS_H */
