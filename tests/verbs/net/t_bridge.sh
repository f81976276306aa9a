#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# A link on a bridge whose host calls iptables for bridged frames
# (net.bridge.bridge-nf-call-iptables=1), and the same for IPv6. mxe must leave
# a frame to the bridge until the bridge has learned its source and filtered it.
# Each filter is set while a connection is in use and must stop it.

# shellcheck disable=SC2317  # functions that "check" and "soon" run

cd "$(dirname "$0")" || exit
# shellcheck source=tests/verbs/lib/topo.sh
. ../lib/topo.sh
# shellcheck source=tests/tap.sh
. ../../tap.sh
# shellcheck source=tests/verbs/lib/traffic.sh
. ../lib/traffic.sh

# The address of h2 moves from eth0 to a bridge above eth0, and so does mxe2.
bridge_up()
{
	modprobe -a bridge br_netfilter &&
		rdma link del mxe2 &&
		ip -n h2 -batch - <<-EOF &&
			addr flush dev eth0
			link add br0 type bridge forward_delay 0
			link set eth0 master br0
			link set br0 up
			addr add 10.77.0.2/24 dev br0
			addr add fd77::2/64 dev br0 nodad
		EOF
		ip netns exec h2 rdma link add mxe2 type mxe netdev br0 &&
		topo_gids mxe1 mxe2
}

# Neither host resolves the address of the other, so only RoCE frames teach the
# bridge.
neighbours()
{
	ip -n h1 -batch - <<-EOF && ip -n h2 -batch - <<-EOF2
		neigh replace 10.77.0.2 lladdr $(mac h2 br0) dev eth0
		neigh replace fd77::2 lladdr $(mac h2 br0) dev eth0
	EOF
		neigh replace 10.77.0.1 lladdr $MAC1 dev br0
		neigh replace fd77::1 lladdr $MAC1 dev br0
	EOF2
}

# mac HOST NETDEV: prints the MAC address.
mac()
{
	ip netns exec "$1" cat "/sys/class/net/$2/address"
}

# more_than COUNT: passes if mxe2 has received more packets than that.
more_than()
{
	[ "$(counter mxe2 rcvd_pkts)" -gt "$1" ]
}

# stops NAME COMMAND...: tests that the filter that the command sets stops the
# traffic.
stops()
{
	local name=$1
	shift
	traffic_start
	report $? "$name: traffic"
	check '... the filter is set' "$@"
	traffic_test_stop
}

learned()
{
	bridge -n h2 fdb show br br0 | grep -i "^$MAC1 dev eth0" | grep -qv permanent
}

# learns_again: tests that the bridge learns the source of the traffic from the
# next packets after its entry was deleted. Repeated, because the bridge may
# also learn it from another frame once.
learns_again()
{
	local round rcvd
	for round in {1..8}; do
		bridge -n h2 fdb del "$MAC1" dev eth0 master || return
		rcvd=$(counter mxe2 rcvd_pkts)
		soon more_than $((rcvd + 200)) || return
		if ! learned; then
			echo "round $round: the bridge has not learned $MAC1"
			return 1
		fi
	done
}

# nft_drop HOOK: drops frames after br_netfilter, whose hooks have priority 0.
nft_drop()
{
	ip netns exec h2 nft -f - <<-EOF
		table bridge mxe {
			chain c {
				type filter hook $1 priority 10
				policy drop
				udp dport 4791 counter
			}
		}
	EOF
}

nft_packets()
{
	ip netns exec h2 nft list table bridge mxe |
		sed -n 's/.*counter packets \([0-9]*\).*/\1/p'
}

if ! modprobe -anq bridge br_netfilter; then
	echo '1..0 # SKIP this kernel has no br_netfilter'
	exit 77
fi
topo_up || bail_out "cannot make the two hosts"
MAC1=$(mac h1 eth0)
bridge_up || bail_out "cannot make the bridge"
neighbours || bail_out "cannot set the neighbours"
ip netns exec h2 sysctl -qw net.bridge.bridge-nf-call-{ip,ip6}tables=1

# test_family [-6]
test_family()
{
	local name=net.bridge.bridge-nf-call-ip${1:+6}tables
	TRAFFIC_OPTIONS=("$@")
	is "$(ip netns exec h2 sysctl -n "$name")" 1 "$name"
	traffic_start
	report $? 'traffic through the bridge'
	check '... the bridge learns its source each time' learns_again
	traffic_test_end

	for hook in prerouting input; do
		stops "nft, family bridge, $hook with policy drop" nft_drop $hook
		check "... it counts $(nft_packets) packets" test "$(nft_packets)" -gt 0
		ip netns exec h2 nft delete table bridge mxe
	done

	ip -n h2 link set br0 type bridge vlan_filtering 1
	stops 'a port without a VLAN for untagged frames' \
		bridge -n h2 vlan add dev eth0 vid 1 untagged
	bridge -n h2 vlan add dev eth0 vid 1 pvid untagged
	traffic_start
	report $? 'with that VLAN again: traffic'
	traffic_test_end
	ip -n h2 link set br0 type bridge vlan_filtering 0
}

test_family
test_family -6
ip -n h2 link del br0
done_testing
