/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Kernel memory, for tests that measure how much of it objects take. */
#ifndef KMEM_H
#define KMEM_H

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "array_size.h"
#include "vt.h"

/**
 * kmem_bytes() - Return the size of slab, per-CPU and vmalloc memory.
 *
 * Return: the bytes.  Rings are in vmalloc memory.  The scatter list by which
 * ib_umem describes a region is in none of them.  It has 32 bytes for each
 * contiguous piece of memory.
 */
static inline int64_t kmem_bytes(void)
{
	static const char *const names[] = { "SUnreclaim", "Percpu", "VmallocUsed" };
	int64_t sum = 0, kib;
	char line[128], name[64];
	FILE *f = fopen("/proc/meminfo", "r");

	if (!f)
		vt_bail("/proc/meminfo");
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%63[^:]: %" SCNd64, name, &kib) != 2)
			continue;
		for (size_t i = 0; i < ARRAY_SIZE(names); i++)
			if (!strcmp(name, names[i]))
				sum += kib * 1024;
	}
	fclose(f);
	return sum;
}

/**
 * kmem_settled() - Wait until memory that was freed has been returned.
 *
 * Return: the bytes, as kmem_bytes().
 */
static inline int64_t kmem_settled(void)
{
	int64_t last, bytes = kmem_bytes();

	for (int i = 0; i < 60; i++) {
		last = bytes;
		usleep(500 * 1000);
		bytes = kmem_bytes();
		if (i && bytes >= last)
			break;
	}
	return bytes;
}

/**
 * kmem_drop_caches() - Free the page cache, dentries and inodes.
 */
static inline void kmem_drop_caches(void)
{
	FILE *f = fopen("/proc/sys/vm/drop_caches", "w");

	if (!f || fputs("3", f) < 0 || fclose(f))
		vt_bail("/proc/sys/vm/drop_caches");
}

#endif /* KMEM_H */
