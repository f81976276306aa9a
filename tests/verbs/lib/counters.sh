# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
#
# What devices have counted. From netlink, for which the driver is asked: sysfs
# repeats what it read in the last 10 ms, by a clock that may stand still for longer
# where a processor of an emulated machine does. Sourced by topo.sh and pair.sh.

# counted NAME...: the sum of these counters in what "rdma statistic show" prints.
counted()
{
	awk -v RS='[ \n]+' -v names="$*" '
		BEGIN { n = split(names, list); for (i = 1; i <= n; i++) want[list[i]] }
		before in want { sum += $1; seen++ }
		{ before = $1 }
		END { printf "%.0f\n", sum; exit !seen }'
}

# counter DEVICE NAME
counter()
{
	rdma statistic show link "$1/1" | counted "$2"
}
