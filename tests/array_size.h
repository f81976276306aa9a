/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The length of an array, for tests in C, and for the fuzz targets, which have
 * no tap.h.
 */
#ifndef ARRAY_SIZE_H
#define ARRAY_SIZE_H

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

#endif /* ARRAY_SIZE_H */
