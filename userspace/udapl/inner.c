// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The functions of the inner provider. provider.c writes them, and all files
 * call them.
 */
#include "daplmxe.h"

DAT_PROVIDER dm_inner;
