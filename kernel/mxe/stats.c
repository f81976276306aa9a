// SPDX-License-Identifier: GPL-2.0
/*
 * Counters of a device, for `rdma statistic`: the sums of the per-CPU counters
 * that the macros in stats.h increment.
 */
#include <rdma/ib_verbs.h>

#include "mxe.h"
#include "stats.h"

static const struct rdma_stat_desc mxe_counter_descs[MXE_CNT_COUNT] = {
#define X(counter) [MXE_CNT_##counter].name = #counter,
	MXE_COUNTERS(X)
#undef X
};

struct rdma_hw_stats *mxe_stats_alloc(struct ib_device *ibdev, u32 port)
{
	return rdma_alloc_hw_stats_struct(mxe_counter_descs, MXE_CNT_COUNT,
					  RDMA_HW_STATS_DEFAULT_LIFESPAN);
}

int mxe_stats_get(struct ib_device *ibdev, struct rdma_hw_stats *stats,
		  u32 port, int index)
{
	struct mxe_dev *dev = to_mdev(ibdev);
	int cpu, i;

	if (!port || !stats)
		return -EINVAL;

	for (i = 0; i < MXE_CNT_COUNT; i++) {
		u64 sum = 0;

		for_each_possible_cpu(cpu)
			sum += per_cpu_ptr(dev->stats, cpu)->value[i];
		stats->value[i] = sum;
	}
	return MXE_CNT_COUNT;
}
