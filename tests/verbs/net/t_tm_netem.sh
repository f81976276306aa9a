#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# t_tm on a wire that loses, duplicates and reorders packets.

cd "$(dirname "$0")" || exit
# shellcheck source=tests/verbs/lib/topo.sh
. ../lib/topo.sh
# shellcheck source=tests/tap.sh
. ../../tap.sh

topo_up || bail_out "cannot make the two hosts"
check 'netem: 2 % lost, 2 % duplicated, reordered, both ways' topo_netem \
	delay 200us 100us loss 2% duplicate 2% reorder 25% 50%
check 'each message matches once' t_tm order phase eager rndv many del
for counter in duplicate_requests out_of_sequence; do
	n=$(rdma statistic show link | counted $counter)
	[ "$n" -gt 0 ]
	report $? "it was a bad wire: $counter $n"
done
done_testing
