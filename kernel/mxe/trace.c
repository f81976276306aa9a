// SPDX-License-Identifier: GPL-2.0
/*
 * Defines the tracepoints that trace.h declares. Files that include trace.h
 * call them.
 */
#define CREATE_TRACE_POINTS
#include "trace.h"
