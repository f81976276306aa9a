#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# All programs of perftest, with each transport that has the operation,
# connected by TCP and by the RDMA connection manager.

# shellcheck disable=SC2317  # functions that "check" runs

cd "$(dirname "$0")" || exit
# shellcheck source=tests/verbs/lib/topo.sh
. ../lib/topo.sh
# shellcheck source=tests/verbs/lib/pair.sh
. ../lib/pair.sh
# shellcheck source=tests/tap.sh
. ../../tap.sh

modprobe rdma_ucm || bail_out "no rdma_ucm"
topo_up || bail_out "cannot make the two hosts"
# shellcheck disable=SC2034  # for pair.sh
D1=$(dev h1) D2=$(dev h2)
# shellcheck disable=SC2034
G1=$(gid_index h1) && G2=$(gid_index h2) || bail_out "no GIDs"

# all NAME TRANSPORT...: tests latency and bandwidth with the default sizes.
all()
{
	local name=$1 what transport
	shift
	for transport in "$@"; do
		for what in lat bw; do
			check "ib_${name%% *}_$what${name#"${name%% *}"} over $transport" \
				perf "ib_${name%% *}_$what" \
				"${name#"${name%% *}"}" -c "$transport" -n 50
			# perftest refuses to connect these by RDMA CM.
			[[ $transport != UC && $transport != XRC ]] || continue
			check '... with -R' perf_cm "ib_${name%% *}_$what" \
				"${name#"${name%% *}"}" -c "$transport" -n 50
		done
	done
}

all send RC UC UD XRC
all write RC UC XRC
all read RC XRC
all 'atomic -A CMP_AND_SWAP' RC XRC
all 'atomic -A FETCH_AND_ADD' RC XRC

for name in send write read; do
	check "ib_${name}_bw of all sizes" perf "ib_${name}_bw" -a -n 5
done
check 'ib_send_lat of all sizes over UD' perf ib_send_lat -c UD -a -n 5
check 'ib_send_lat with events' perf ib_send_lat -e -n 50
check 'ib_send_bw in both directions' perf ib_send_bw -b -n 50
check 'ib_write_bw, inline' perf ib_write_bw -I 64 -s 64 -n 50
check 'ib_write_bw, 16 queue pairs' perf ib_write_bw -q 16 -s 4096 -n 20
check 'ib_send_bw with an SRQ' perf ib_send_bw -r 64 --use-srq -s 4096 -n 50
check 'ib_read_bw, 16 outstanding' perf ib_read_bw -o 16 -n 50
check 'ib_atomic_bw, 16 outstanding' perf ib_atomic_bw -o 16 -n 50
done_testing
