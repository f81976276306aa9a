#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# A netdev moves to another network namespace while a queue pair of its link is
# a member of multicast groups. mxe leaves these groups when it removes the
# link, which is after the move. In its new namespace the netdev is a member of
# some of the same groups, because the kernel joins them. mxe must not end these
# memberships.
#
# A second netdev without a link shows the number of users of the groups.

# shellcheck disable=SC2016,SC2317  # awk programs, functions that "soon" runs

cd "$(dirname "$0")" || exit
# shellcheck source=tests/verbs/lib/topo.sh
. ../lib/topo.sh
# shellcheck source=tests/tap.sh
. ../../tap.sh

# users NETDEV GROUP: prints the number of users of the group on the netdev in
# h3. GROUP is IPv4 or IPv6, in the form of the files in /proc/net.
users()
{
	ip netns exec h3 awk -v netdev="$1" -v group="$2" '
		FILENAME ~ /igmp6$/ && $2 == netdev && $3 == group { print $4 }
		FILENAME ~ /igmp$/ && /^[0-9]/ { device = $2 }
		FILENAME ~ /igmp$/ && device == netdev && $1 == group { print $2 }
	' /proc/net/igmp /proc/net/igmp6
}

topo_up || bail_out "cannot make the two hosts"
ip netns add h3 || bail_out "cannot make a namespace"
ip link add other netns h2 type veth peer name other netns h1 ||
	bail_out "cannot make another netdev"

coproc JOIN { exec t_mcast join 224.0.0.1 ff01::1 ff02::1; }
MEMBER=$JOIN_PID LINE=''
read -r -u "${JOIN[0]}" LINE
is "$LINE" joined 'a queue pair of mxe2 joins three groups'

# The same message sets it up, so the link is not removed in between.
check 'the other netdev moves' ip -n h2 link set other up netns h3
check 'the netdev of mxe2 moves' ip -n h2 link set eth0 up netns h3
check '... the link is removed' soon topo_gone mxe2

while read -r group name; do
	check "$name: the kernel is a member of it" test -n "$(users other "$group")"
	is "$(users eth0 "$group")" "$(users other "$group")" \
		'... on the netdev of the link, too'
done <<EOF
010000E0 224.0.0.1
ff010000000000000000000000000001 ff01::1
ff020000000000000000000000000001 ff02::1
EOF

echo >&"${JOIN[1]}"
wait "$MEMBER"
is $? 0 'the process ends'
ip netns del h3
done_testing
