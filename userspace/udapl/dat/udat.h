/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The name of uDAPL 1.2 for the header of uDAPL 2.0.  Programs that include
 * <dat/udat.h> and link with -ldat get libdat2.
 */
#ifndef _DAT_UDAT_H
#define _DAT_UDAT_H

#include <dat2/udat.h>

#endif /* _DAT_UDAT_H */
