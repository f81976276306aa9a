#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# t_contend on a wire that loses, duplicates and reorders packets.

cd "$(dirname "$0")" || exit
# shellcheck source=tests/verbs/lib/topo.sh
. ../lib/topo.sh
# shellcheck source=tests/tap.sh
. ../../tap.sh

# both NAME: prints the sum of that counter over both devices.
both()
{
	rdma statistic show link | counted "$1"
}

COUNTERS='retransmit_timeouts rcvd_nak_sequence duplicate_requests out_of_sequence'

# Passes if every impairment of the wire has occurred, which is chance.
# shellcheck disable=SC2317  # rounds runs it
was_bad()
{
	local counter
	for counter in $COUNTERS; do
		[ "$(both "$counter")" -gt 0 ] || return
	done
}

topo_up || bail_out "cannot make the two hosts"
check 'a good wire' t_contend 16
check 'netem: 5 % lost, 5 % duplicated, reordered, both ways' topo_netem \
	delay 1ms 500us loss 5% duplicate 5% reorder 25% 50%
check 'every change is made exactly once' rounds was_bad t_contend 100
for counter in $COUNTERS; do
	n=$(both $counter)
	[ "$n" -gt 0 ]
	report $? "it was a bad wire: $counter $n"
done
done_testing
