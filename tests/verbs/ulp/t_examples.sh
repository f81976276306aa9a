#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# The example programs; the longer one also with devices that are private to
# their network namespaces.

cd "$(dirname "$0")" || exit
# shellcheck source=tests/verbs/lib/topo.sh
. ../lib/topo.sh
# shellcheck source=tests/verbs/lib/fi.sh
. ../lib/fi.sh
# shellcheck source=tests/tap.sh
. ../../tap.sh

# locks [OPTION]: runs mxe_lock between the two hosts.
# shellcheck disable=SC2317  # check runs it
locks()
{
	local server rc=0
	ip netns exec h2 mxe_lock -d mxe2 "$@" &
	server=$!
	timeout 150 ip netns exec h1 mxe_lock -d mxe1 "$@" 10.77.0.2 || rc=1
	[ $rc -eq 0 ] || kill "$server"
	wait "$server" || rc=1
	return "$rc"
}

# tags: runs mxe_tags between the two hosts.
# shellcheck disable=SC2317  # check runs it
tags()
{
	local server rc=0
	ip netns exec h2 mxe_tags &
	server=$!
	soon sh -c 'ip netns exec h2 rdma resource show cm_id | grep -q LISTEN' &&
		timeout 150 ip netns exec h1 mxe_tags 10.77.0.2 || rc=1
	[ $rc -eq 0 ] || kill "$server"
	wait "$server" || rc=1
	return "$rc"
}

# dc: runs mxe_dc with servers on both hosts.
# shellcheck disable=SC2317  # check runs it
dc()
{
	local servers=() rc=0 server
	ip netns exec h1 mxe_dc -d mxe1 &
	servers+=($!)
	ip netns exec h2 mxe_dc -d mxe2 &
	servers+=($!)
	ip netns exec h2 mxe_dc -d mxe2 -p 18701 &
	servers+=($!)
	timeout 150 ip netns exec h1 mxe_dc -d mxe1 10.77.0.2 10.77.0.1 \
		10.77.0.2:18701 || rc=1
	[ $rc -eq 0 ] || kill "${servers[@]}"
	for server in "${servers[@]}"; do
		wait "$server" || rc=1
	done
	return "$rc"
}

# fabric: runs mxe_fi with a server on one host and two clients on the other.
# shellcheck disable=SC2317  # check runs it
fabric()
{
	local server client rc=0
	ip netns exec h2 mxe_fi -n 2 &
	server=$!
	timeout 150 ip netns exec h1 mxe_fi 10.77.0.2 &
	client=$!
	timeout 150 ip netns exec h1 mxe_fi 10.77.0.2 || rc=1
	wait "$client" || rc=1
	[ $rc -eq 0 ] || kill "$server"
	wait "$server" || rc=1
	return "$rc"
}

# has_gid HOST: passes if its device has a GID in its own view.
# shellcheck disable=SC2317  # soon runs it
has_gid()
{
	ip netns exec "h$1" sh -c \
		"cat /sys/class/infiniband/mxe$1/ports/1/gids/*" | grep :ffff:0a4d:
}

topo_up || bail_out "cannot make the two hosts"
is "$(hello_masked)" \
	'success: old 0x1111222233334444, new 0x11112222abcd4444' hello_masked
check 'mxe_lock' locks
check 'mxe_lock -b' locks -b
check 'mxe_dc' dc
modprobe rdma_ucm
check 'mxe_tags' tags
if fi_built mxe_fi; then
	check 'mxe_fi' fabric
else
	skip 'mxe_fi' 'libmxe-fi.so is missing'
fi

topo_down
# Refused until the last namespace is deleted.
check 'rdma system set netns exclusive' soon rdma system set netns exclusive
check 'the two hosts' "$TOP/tools/two-hosts" up
is "$(rdma link | grep -c mxe)" 0 'the devices are not seen from outside'
like "$(ip netns exec h1 rdma link)" 'mxe1/1' 'each host has its own'
[[ $(ip netns exec h1 rdma link) != *mxe2* ]]
report $? '... and not the other'
for host in 1 2; do
	soon has_gid $host
done
check 'mxe_lock' locks
topo_down
check 'rdma system set netns shared' soon rdma system set netns shared
done_testing
