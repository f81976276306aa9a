#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# t_dc on a wire that loses, duplicates and reorders packets.

cd "$(dirname "$0")" || exit
# shellcheck source=tests/verbs/lib/topo.sh
. ../lib/topo.sh
# shellcheck source=tests/tap.sh
. ../../tap.sh

topo_up || bail_out "cannot make the two hosts"
check 'netem: 2 % lost, 2 % duplicated, reordered, both ways' topo_netem \
	delay 200us 100us loss 2% duplicate 2% reorder 25% 50%
check 'each request is executed once' t_dc stress
for counter in duplicate_requests dc_accepts; do
	n=$(rdma statistic show link | counted $counter)
	[ "$n" -gt 0 ]
	report $? "it was a bad wire with many sessions: $counter $n"
done
done_testing
