#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Connections by the RDMA connection manager: QP 1 and what builds on it.

# shellcheck disable=SC2317  # functions that "check" runs

cd "$(dirname "$0")" || exit
# shellcheck source=tests/verbs/topo.sh
. ./topo.sh
# shellcheck source=tests/verbs/pair.sh
. ./pair.sh
# shellcheck source=tests/tap.sh
. ../tap.sh

# rping_between SERVER CLIENT ADDRESS
rping_between()
{
	local out pid rc
	out=$(mktemp)
	timeout 60 ip netns exec "$1" rping -s -a "$3" -v -C 5 >"$out" 2>&1 &
	pid=$!
	cm_listens "$1" 7174 &&
		timeout 60 ip netns exec "$2" rping -c -a "$3" -v -C 5
	rc=$?
	wait "$pid" || rc=$?
	cat "$out"
	rm -f "$out"
	return "$rc"
}

# The receiver has joined when its interface has.
mckey_between()
{
	local out pid rc tries
	out=$(mktemp)
	timeout 60 ip netns exec h2 mckey -b 10.77.0.2 -m 239.1.2.3 \
		>"$out" 2>&1 &
	pid=$!
	for tries in {1..200}; do
		[[ $(ip -n h2 maddr show dev eth0) != *239.1.2.3* ]] || break
		sleep 0.05
	done
	[ "$tries" -lt 200 ] && sleep 1 &&
		timeout 60 ip netns exec h1 mckey -b 10.77.0.1 -m 239.1.2.3 -s
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
done_testing
