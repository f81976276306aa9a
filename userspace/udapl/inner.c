// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* The functions of the inner provider, below all files that call them. */
#include "inner.h"

DAT_PROVIDER dm_inner;
