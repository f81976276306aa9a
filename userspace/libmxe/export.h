/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The functions that programs call. */
#ifndef MXE_EXPORT_H
#define MXE_EXPORT_H

#define MXE_EXPORT __attribute__((visibility("default")))

#endif /* MXE_EXPORT_H */
