/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The object around a member. */
#ifndef MXEFI_CONTAINER_H
#define MXEFI_CONTAINER_H

#include <stddef.h>

/* libfabric 1 defines it, too. */
#ifndef container_of
#define container_of(ptr, type, field) \
	((type *)((char *)(ptr) - offsetof(type, field)))
#endif

#endif /* MXEFI_CONTAINER_H */
