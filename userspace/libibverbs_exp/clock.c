// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The clock of completions: ibv_exp_query_values() and ibv_exp_cqe_ts_to_ns().
 */
#include <time.h>
#include <infiniband/verbs_exp.h>

#include "calls.h"

#define EXP_VALUES_ALL							\
	(IBV_EXP_VALUES_HW_CLOCK_NS | IBV_EXP_VALUES_HW_CLOCK |		\
	 IBV_EXP_VALUES_CLOCK_INFO)

/* Precise enough, and mult fits into 32 bits for a clock of 1 MHz or more. */
#define CLOCK_SHIFT 21

static uint64_t to_ns(const struct timespec *ts)
{
	return ts->tv_sec * 1000000000ull + ts->tv_nsec;
}

/* hca_core_clock is in kHz. */
static uint64_t cycles_to_ns(uint64_t cycles, uint64_t khz)
{
	return (__uint128_t)cycles * 1000000 / khz;
}

/* cycles was just read, so it corresponds to the current system time. */
static void fill_clock_info(struct ibv_exp_clock_info *info, uint64_t cycles,
			    const struct ibv_device_attr_ex *device)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	info->cycles = cycles;
	info->nsec = to_ns(&now);
	info->frac = 0;
	info->mask = device->completion_timestamp_mask;
	info->shift = CLOCK_SHIFT;
	info->mult = (1000000ull << CLOCK_SHIFT) / device->hca_core_clock;
	info->comp_mask = 0;
}

EXP_EXPORT
int ibv_exp_query_values(struct ibv_context *context, int q_values,
			 struct ibv_exp_values *values)
{
	struct ibv_values_ex std = { .comp_mask = IBV_VALUES_MASK_RAW_CLOCK };
	struct ibv_device_attr_ex device;
	uint64_t cycles;
	int err;

	values->comp_mask = 0;
	if (q_values & ~EXP_VALUES_ALL)
		return exp_err(EINVAL);
	err = ibv_query_device_ex(context, NULL, &device);
	if (err)
		return exp_err(err);
	if (device.hca_core_clock < 1000 || !device.completion_timestamp_mask)
		return exp_err(ENOSYS);
	err = exp_errno_from_std(ibv_query_rt_values_ex(context, &std));
	if (err)
		return exp_err(err);
	if (!(std.comp_mask & IBV_VALUES_MASK_RAW_CLOCK))
		return exp_err(ENOSYS);

	/* Providers return cycles in the form of a struct timespec. */
	cycles = to_ns(&std.raw_clock);
	if (q_values & IBV_EXP_VALUES_HW_CLOCK)
		values->hwclock = cycles;
	if (q_values & IBV_EXP_VALUES_HW_CLOCK_NS)
		values->hwclock_ns = cycles_to_ns(cycles,
						  device.hca_core_clock);
	if (q_values & IBV_EXP_VALUES_CLOCK_INFO)
		fill_clock_info(&values->clock_info, cycles, &device);
	values->comp_mask = q_values;
	return 0;
}

/* A timestamp is at most half of the counter range before or after cycles. */
EXP_EXPORT
uint64_t ibv_exp_cqe_ts_to_ns(struct ibv_exp_clock_info *info, uint64_t ts)
{
	uint64_t delta = (ts - info->cycles) & info->mask;
	__uint128_t ns;

	if (delta <= info->mask / 2) {
		ns = (__uint128_t)delta * info->mult + info->frac;
		return info->nsec + (uint64_t)(ns >> info->shift);
	}
	delta = (info->cycles - ts) & info->mask;
	ns = (__uint128_t)delta * info->mult - info->frac;
	return info->nsec - (uint64_t)(ns >> info->shift);
}
