#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# The programs of perftest over the dynamically connected transport. They call
# mlx5dv, so a preloaded library maps these calls to mxedv.

# shellcheck disable=SC2317  # functions that "check" runs

cd "$(dirname "$0")" || exit
# shellcheck source=tests/verbs/lib/topo.sh
. ../lib/topo.sh
# shellcheck source=tests/verbs/lib/pair.sh
. ../lib/pair.sh
# shellcheck source=tests/tap.sh
. ../../tap.sh

topo_up || bail_out "cannot make the two hosts"
# shellcheck disable=SC2034  # for pair.sh
D1=$(dev h1) D2=$(dev h2)
# shellcheck disable=SC2034
G1=$(gid_index h1) && G2=$(gid_index h2) || bail_out "no GIDs"
OVER=$(command -v mlx5dv-over-mxe.so) || bail_out "no mlx5dv-over-mxe.so"

# dc NAME ARGUMENT...: runs a program over DC.
dc()
{
	local name=$1
	shift
	perf "env LD_PRELOAD=$OVER $name" -c DC "$@"
}

# Prints the sessions that both hosts have opened.
connects()
{
	local host
	for host in h1 h2; do
		on $host rdma statistic show link "$(dev $host)/1" || return
	done | counted dc_connects
}

for name in write read send 'atomic -A CMP_AND_SWAP' 'atomic -A FETCH_AND_ADD'; do
	for what in lat bw; do
		before=$(connects)
		check "ib_${name%% *}_$what${name#"${name%% *}"}" \
			dc "ib_${name%% *}_$what" "${name#"${name%% *}"}" -n 50
		check '... over DC' test "$(connects)" -gt "$before"
	done
done
check 'ib_write_bw of all sizes' dc ib_write_bw -a -n 5
check 'ib_read_bw of all sizes' dc ib_read_bw -a -n 5
check 'ib_send_bw of all sizes' dc ib_send_bw -a -n 5
check 'ib_write_bw, inline' dc ib_write_bw -I 64 -s 64 -n 50
check 'ib_write_bw, 8 initiators' dc ib_write_bw -q 8 -s 4096 -n 20
check 'ib_send_bw in both directions' dc ib_send_bw -b -n 50
check 'ib_write_bw with streams' dc ib_write_bw --log_dci_streams=1 -n 50
done_testing
