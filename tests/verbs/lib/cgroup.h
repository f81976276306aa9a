/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Memory control groups for the end-to-end tests. */
#ifndef CGROUP_H
#define CGROUP_H

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>
#include "vt.h"

#define CGROUP "/run/test-cgroup"
/* The caller makes and removes it. */
#define GROUP CGROUP "/group"

/**
 * cgroup_write() - Write a file of a group.
 * @path: the file
 * @text: new content of the file
 */
static inline void cgroup_write(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	if (!f || fputs(text, f) < 0 || fclose(f))
		vt_bail("%s", path);
}

/**
 * cgroup_value() - Read a number from a file of a group.
 * @path: the file
 *
 * Return: the number.
 */
static inline long cgroup_value(const char *path)
{
	FILE *f = fopen(path, "r");
	long value = -1;

	if (!f || fscanf(f, "%ld", &value) != 1)
		vt_bail("%s", path);
	fclose(f);
	return value;
}

/**
 * cgroup_open() - Mount the hierarchy and give groups the memory controller.
 *
 * Return: 0, ENODEV if the kernel has no control groups, or EOPNOTSUPP if it
 * has none for memory. Nothing is left after an error.
 */
static inline int cgroup_open(void)
{
	char line[256] = "";
	int err = 0;
	FILE *f;

	if (mkdir(CGROUP, 0755))
		vt_bail(CGROUP);
	if (mount("none", CGROUP, "cgroup2", 0, NULL)) {
		err = ENODEV;
		goto remove;
	}
	f = fopen(CGROUP "/cgroup.controllers", "r");
	if (!f)
		vt_bail(CGROUP "/cgroup.controllers");
	if (!fgets(line, sizeof(line), f))
		line[0] = '\0';
	fclose(f);
	if (strstr(line, "memory")) {
		cgroup_write(CGROUP "/cgroup.subtree_control", "+memory");
		return 0;
	}
	err = EOPNOTSUPP;
	umount(CGROUP);
remove:
	rmdir(CGROUP);
	return err;
}

/**
 * cgroup_close() - Undo cgroup_open(). The caller has removed its groups.
 */
static inline void cgroup_close(void)
{
	if (umount(CGROUP) || rmdir(CGROUP))
		vt_bail(CGROUP);
}

#endif /* CGROUP_H */
