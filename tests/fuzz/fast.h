/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Included before each file of the benchmark. The kernel is configured for one
 * CPU, for which atomic instructions have no lock prefix, and a per-CPU counter
 * is incremented with interrupts disabled. Both are replaced by the
 * instructions of a kernel for several CPUs on this architecture.
 */
#ifndef FUZZ_FAST_H
#define FUZZ_FAST_H

#ifndef __ASSEMBLY__
#include <asm/alternative.h>

#undef LOCK_PREFIX
#define LOCK_PREFIX "lock; "

#define this_cpu_add_4(var, val) raw_cpu_generic_to_op(var, val, +=)
#define this_cpu_add_8(var, val) raw_cpu_generic_to_op(var, val, +=)
#endif

#endif /* FUZZ_FAST_H */
