/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The memory that peers see of a region on a device with coherent=N (shadow.c).
 *
 * The model is a host whose caches are not coherent with DMA: the memory of the
 * process is the cache, and the shadow is the main memory. A byte that the
 * process has changed is a dirty byte of the cache.
 */
#ifndef MXE_SHADOW_H
#define MXE_SHADOW_H

#include <linux/mutex.h>
#include <linux/types.h>

struct mxe_pin;

/*
 * Lifetime: owned by the region of the remote key, which peers access. It is
 * freed before the pin.
 */
struct mxe_shadow {
	struct mutex lock;		/* serialises synchronisations */
	/* Immutable after creation. */
	const struct mxe_pin *pin;	/* memory of the process */
	unsigned long charged;		/* pages, to pinned_vm of the process */
	void *area;			/* allocation of mem and base */
	u8 *mem;			/* for peers; same offset in a page as the pin */
	u8 *base;			/* memory when it was last synchronised */
};

struct mxe_shadow *mxe_shadow_create(const struct mxe_pin *pin, u64 length);
void mxe_shadow_free(struct mxe_shadow *shadow);
int mxe_shadow_sync(struct mxe_shadow *shadow, u64 offset, u64 len, u32 flags);

#endif /* MXE_SHADOW_H */
