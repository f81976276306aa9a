/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The backend of mxe. */
#ifndef EXP_BACKEND_MXE_H
#define EXP_BACKEND_MXE_H

struct exp_backend;

extern const struct exp_backend exp_backend_mxe;

#endif /* EXP_BACKEND_MXE_H */
