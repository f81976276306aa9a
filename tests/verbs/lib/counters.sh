# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
#
# Counters of devices. Reads them through netlink, which asks the driver. sysfs
# caches a value for 10 ms of a clock that may stall in an emulated machine.
# Sourced by topo.sh and pair.sh.

# counted NAME...: prints the sum of these counters in "rdma statistic show".
counted()
{
	awk -v RS='[ \n]+' -v names="$*" '
		BEGIN { n = split(names, list); for (i = 1; i <= n; i++) want[list[i]] }
		before in want { sum += $1; seen++ }
		{ before = $1 }
		END { printf "%.0f\n", sum; exit !seen }'
}

# counter DEVICE NAME: prints a counter.
counter()
{
	rdma statistic show link "$1/1" | counted "$2"
}
