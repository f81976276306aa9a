#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Devices that belong to one network namespace: rdma system set netns exclusive.

# shellcheck disable=SC2317  # functions that "check" runs

cd "$(dirname "$0")" || exit
# shellcheck source=tests/verbs/lib/topo.sh
. ../lib/topo.sh
# shellcheck source=tests/tap.sh
. ../../tap.sh

in_ns()
{
	local ns=$1
	shift
	ip netns exec "$ns" "$@"
}

links()
{
	in_ns "$1" rdma link | cut -d ' ' -f 2 | tr '\n' ' '
}

sees()
{
	rdma link | grep -q "$1"
}

# Prints the index of the IPv4 GID of a device that is visible only in its
# namespace.
index()
{
	# shellcheck disable=SC2016
	in_ns "$1" bash -c '
		for f in /sys/class/infiniband/'"$2"'/ports/1/gids/*; do
			case $(<$f) in
			0000:*:ffff:*) echo "${f##*/}" && exit ;;
			esac
		done'
}

has_index()
{
	[ -n "$(index "$@")" ]
}

pingpong()
{
	local pid sleeper rc
	soon has_index h1 mxe1 && soon has_index h2 mxe2 || return
	in_ns h2 timeout 100 ibv_rc_pingpong -p 18601 -d mxe2 -n 50 \
		-g "$(index h2 mxe2)" >/run/pingpong.out 2>&1 &
	pid=$!
	ip netns exec h2 sleep 100 &
	sleeper=$!
	topo_listens 18601 $sleeper && in_ns h1 timeout 100 ibv_rc_pingpong \
		-p 18601 -d mxe1 -n 50 -g "$(index h1 mxe1)" 10.77.0.2
	rc=$?
	kill $sleeper
	wait $pid || rc=$?
	[ "$rc" -eq 0 ] || cat /run/pingpong.out
	return "$rc"
}

topo_down
# Refused until the last namespace is deleted.
soon rdma system set netns exclusive
trap 'topo_down; soon rdma system set netns shared' EXIT
like "$(rdma system)" 'netns exclusive' 'exclusive mode'
check 'two hosts' "$TOP/tools/two-hosts" up

is "$(rdma link | grep -c mxe)" 0 'the initial namespace sees no device'
is "$(links h1)" 'mxe1/1 ' 'the first host sees its own'
is "$(links h2)" 'mxe2/1 ' 'so does the second'
check 'traffic between them' pingpong

ip netns add h3
check 'a device is moved' in_ns h1 rdma dev set mxe1 netns h3
is "$(links h1)" '' '... it is no longer in h1'
is "$(links h3)" 'mxe1/1 ' '... but in h3'
# Its netdev has stayed, and its packets use it.
check '... and back' in_ns h3 rdma dev set mxe1 netns h1
check 'traffic again' pingpong

in_ns h1 rdma dev set mxe1 netns h3
check 'the namespace it was moved to ends' ip netns del h3
soon sees mxe1
is "$(rdma link | cut -d ' ' -f 2)" mxe1/1 \
	'the device moves to the initial namespace'
check 'the namespace of its netdev ends' ip netns del h1
soon not sees mxe1
is "$(rdma link | grep -c mxe1)" 0 'the device is removed with it'
done_testing
