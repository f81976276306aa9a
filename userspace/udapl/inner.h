/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The inner provider: libdaplofa. */
#ifndef DM_INNER_H
#define DM_INNER_H

#include <dat2/udat.h>
#include <dat2/dat_registry.h>

/* A DAT_RETURN of a type and a subtype of dat_error.h. */
#define DM_ERROR(type, subtype) \
	((DAT_RETURN)(DAT_CLASS_ERROR | (type) | (subtype)))

/*
 * The functions of the inner provider. All its tables have the same functions.
 * Written when the first IA is opened, before any handle exists.
 */
extern DAT_PROVIDER dm_inner;

#endif /* DM_INNER_H */
