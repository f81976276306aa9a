#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Connections of the RDMA connection manager: QP 1 and its users.

# shellcheck disable=SC2317  # functions that "check" runs

cd "$(dirname "$0")" || exit
# shellcheck source=tests/verbs/lib/topo.sh
. ../lib/topo.sh
# shellcheck source=tests/verbs/lib/pair.sh
. ../lib/pair.sh
# shellcheck source=tests/tap.sh
. ../../tap.sh

# rping_between SERVER CLIENT ADDRESS
rping_between()
{
	local out pid rc
	out=$(mktemp)
	timeout 150 ip netns exec "$1" rping -s -a "$3" -v -C 5 >"$out" 2>&1 &
	pid=$!
	cm_listens "$1" 7174 "$pid" &&
		timeout 150 ip netns exec "$2" rping -c -a "$3" -v -C 5
	rc=$?
	wait "$pid" || rc=$?
	cat "$out"
	rm -f "$out"
	return "$rc"
}

# rping_lossy SERVER CLIENT ADDRESS: the same, but the disconnect request of the
# client may be lost. The client has ended by then and does not retransmit it,
# and the server waits forever. The test requires only that the server has
# received all data.
rping_lossy()
{
	local out pid rc pings
	out=$(mktemp)
	ip netns exec "$1" stdbuf -oL rping -s -a "$3" -v -C 5 >"$out" 2>&1 &
	pid=$!
	cm_listens "$1" 7174 "$pid" &&
		timeout 120 ip netns exec "$2" rping -c -a "$3" -v -C 5
	rc=$?
	kill "$pid" 2>/dev/null
	wait "$pid"
	cat "$out"
	pings=$(grep -c 'server ping data: rdma-ping-' "$out")
	rm -f "$out"
	[ "$rc" -eq 0 ] && [ "$pings" -eq 5 ]
}

# The receiver has joined with its queue pair when it prints "joined".
mckey_between()
{
	local out pid rc
	out=$(mktemp)
	timeout 150 ip netns exec h2 stdbuf -oL mckey -b 10.77.0.2 -m 239.1.2.3 \
		>"$out" 2>&1 &
	pid=$!
	soon grep -q joined "$out" &&
		timeout 150 ip netns exec h1 mckey -b 10.77.0.1 -m 239.1.2.3 -s
	rc=$?
	wait "$pid" || rc=$?
	cat "$out"
	rm -f "$out"
	return "$rc"
}

modprobe rdma_ucm || bail_out "no rdma_ucm"
topo_up || bail_out "cannot make the two hosts"

check 'rping over IPv4' rping_between h1 h2 10.77.0.1
check 'rping over IPv6' rping_between h2 h1 fd77::2
check 'rping to itself' rping_between h1 h1 10.77.0.1
for a in 10.77.0.2 fd77::2; do
	check "udaddy, $a" both cm_listens 7174 "udaddy -b $a" "udaddy -s $a"
done
check 'ucmatose' both cm_listens 7471 'ucmatose -b 10.77.0.2' 'ucmatose -s 10.77.0.2'
check 'rdma_server and rdma_client' both cm_listens 7471 'rdma_server -p 7471' \
	'rdma_client -s 10.77.0.2 -p 7471'
check 'rdma_xserver and rdma_xclient over XRC' both cm_listens 7471 \
	'rdma_xserver -p 7471 -c x' 'rdma_xclient -s 10.77.0.2 -p 7471 -c x'
check 'mckey' mckey_between
# The connection manager retransmits its datagrams, and RC its packets.
check 'a wire that loses 5 %' topo_netem loss 5%
check 'rping over it, IPv4' rping_lossy h2 h1 10.77.0.2
check 'rping over it, IPv6' rping_lossy h1 h2 fd77::1
done_testing
