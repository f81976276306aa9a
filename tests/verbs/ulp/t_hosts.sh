#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# The stock programs, one half on each host, and masked atomics between the
# kernels of both, in two namespaces and on two machines.

# shellcheck disable=SC2317  # functions that "check" runs

cd "$(dirname "$0")" || exit
# shellcheck source=tests/verbs/lib/topo.sh
. ../lib/topo.sh
# shellcheck source=tests/verbs/lib/pair.sh
. ../lib/pair.sh
# shellcheck source=tests/tap.sh
. ../../tap.sh

# locks: runs masked atomics between the kernels. t_ulp has more tests of them.
locks()
{
	local d=/sys/kernel/debug/masked_locks rc
	on h2 insmod "$MODULES/kernel/examples/masked_locks.ko" &&
		insmod "$MODULES/kernel/examples/masked_locks.ko" &&
		on h2 bash -c "echo listen 10.77.0.2 7472 >$d/server" &&
		echo start 10.77.0.2 7472 2 50 >$d/client || return
	soon not grep -q 'state running' $d/client
	cat $d/client
	# The table has one grant of a lock for each acquisition.
	[ "$(grep -c 'mode native .*taken 50 .*error 0' $d/client)" = 2 ] &&
		[ "$(on h2 awk '$1 == "lock" { n += $6 } END { print n }' \
			$d/table)" = 100 ]
	rc=$?
	on h2 rmmod masked_locks && rmmod masked_locks && return $rc
}

[ -n "${MXE_PAIR:-}" ] || topo_up || bail_out "cannot make the two hosts"
D1=$(dev h1) D2=$(dev h2)
G1=$(gid_index h1) && G2=$(gid_index h2) || bail_out "no GIDs"

for t in rc uc ud srq; do
	check "ibv_${t}_pingpong" pingpong ibv_${t}_pingpong -n 30 -c "$([ $t != srq ] || echo -q 4)"
done
check 'ib_send_bw' perf ib_send_bw -n 50 -s 4096
check 'ib_write_bw' perf ib_write_bw -n 50 -s 32768
check 'ib_read_bw' perf ib_read_bw -n 50 -s 32768
check 'ib_atomic_lat CMP_AND_SWAP' perf ib_atomic_lat -n 50 -A CMP_AND_SWAP
check 'ib_atomic_bw FETCH_AND_ADD' perf ib_atomic_bw -n 50 -A FETCH_AND_ADD

for h in h1 h2; do
	check "$h: rdma_ucm" on $h modprobe rdma_ucm
done
check 'rping over IPv4' both cm_listens 7174 'rping -s -a 10.77.0.2 -v -C 5' \
	'rping -c -a 10.77.0.2 -v -C 5'
check 'rping over IPv6' both cm_listens 7174 'rping -s -a fd77::2 -v -C 5' \
	'rping -c -a fd77::2 -v -C 5'
check 'ucmatose' both cm_listens 7471 'ucmatose -b 10.77.0.2' \
	'ucmatose -s 10.77.0.2'
check 'udaddy' both cm_listens 7174 'udaddy -b 10.77.0.2' 'udaddy -s 10.77.0.2'
[ -z "${MXE_PAIR:-}" ] ||
	check 'masked atomics from one kernel to the other' locks
done_testing
