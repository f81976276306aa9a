// SPDX-License-Identifier: GPL-2.0
/*
 * Defines the tracepoints that trace.h declares.  The files that include trace.h call
 * them; they call nothing of mxe.
 */
#define CREATE_TRACE_POINTS
#include "trace.h"
