/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The object around a member. */
#ifndef MXE_CONTAINER_H
#define MXE_CONTAINER_H

#include <stddef.h>

#define mxe_container(ptr, type, member) \
	((type *)((char *)(ptr) - offsetof(type, member)))

#endif /* MXE_CONTAINER_H */
