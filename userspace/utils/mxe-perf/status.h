/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Exit statuses, documented in mxe-perf(1). */
#ifndef STATUS_H
#define STATUS_H

enum {
	STATUS_OK = 0,
	STATUS_FAILED = 1,
	STATUS_USAGE = 2,
	STATUS_NO_DEVICE = 3,
};

#endif /* STATUS_H */
