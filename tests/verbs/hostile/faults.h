/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The paths on which t_faults makes every call fail in turn. */
#ifndef FAULTS_H
#define FAULTS_H

#include "vt.h"

struct path {
	const char *name;
	int (*make)(void);	/* 0 or errno */
	int (*undo)(void);	/* the same, or NULL */
	/*
	 * Purpose of undo(). DESTROY: destroys the object and can fail as
	 * make() can. ONLY_DESTROY: the same, but only undo() can fail.
	 * RESTORE: restores the state, even if make() has failed. LOOK: checks
	 * the state.
	 */
	enum { DESTROY, ONLY_DESTROY, RESTORE, LOOK } undo_is;
};

extern const struct path paths[];	/* the last one has no name */
extern struct vt_pair wire;		/* between the two devices, connected */

/**
 * paths_set_up() - Create the objects that the paths need on the two devices.
 */
void paths_set_up(void);

/**
 * paths_tear_down() - Destroy the objects of paths_set_up().
 */
void paths_tear_down(void);

/*
 * A link on a netdev of its own. LINK_LOST means that there was no memory for
 * the netlink answer, so that the result of the request is unknown.
 */
enum { LINK_LOST = -1 };

/**
 * link_set_up() - Create the netdev for the link and open the netlink socket.
 */
void link_set_up(void);

/**
 * link_add() - Add the link.
 *
 * Return: 0, an errno value, or LINK_LOST.
 */
int link_add(void);

/**
 * link_del() - Delete the link that link_is_there() found last.
 *
 * Return: 0, an errno value, or LINK_LOST.
 */
int link_del(void);

/**
 * link_is_there() - Check whether the link exists, and remember its index.
 *
 * Return: true if it exists.
 */
bool link_is_there(void);

/**
 * link_is_whole() - Check that the link is complete.
 * @has_file: is set to true if processes can open the device, which is then
 *	checked too
 *
 * Return: NULL, or a description of the error.
 */
const char *link_is_whole(bool *has_file);

/**
 * link_tear_down() - Delete the netdev and check that nothing holds a
 *	reference to it.
 *
 * Return: true if it was deleted.
 */
bool link_tear_down(void);

#endif /* FAULTS_H */
