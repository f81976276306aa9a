#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Connections by the RDMA connection manager: QP 1 and what builds on it.

# shellcheck disable=SC2317  # functions that "check" runs

cd "$(dirname "$0")" || exit
# shellcheck source=tests/verbs/topo.sh
. ./topo.sh
# shellcheck source=tests/tap.sh
. ../tap.sh

# cm_listens HOST PORT: somebody listens on that port of the RDMA CM.
cm_listens()
{
	local tries
	for tries in {1..200}; do
		[[ $(ip netns exec "$1" rdma resource show cm_id) == *":$2 "* ]] &&
			return
		sleep 0.05
	done
	echo "nobody listens on port $2 after $tries tries"
	return 1
}

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

modprobe rdma_ucm || bail_out "no rdma_ucm"
topo_up || bail_out "cannot make the two hosts"

check 'rping over IPv4' rping_between h1 h2 10.77.0.1
check 'rping over IPv6' rping_between h2 h1 fd77::2
check 'rping to itself' rping_between h1 h1 10.77.0.1
done_testing
