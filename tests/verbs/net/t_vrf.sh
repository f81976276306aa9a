#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Netdevs in a VRF. By default, no socket outside a VRF receives from it, so a
# device or a queue pair on such a netdev is refused, and with
# net.ipv4.udp_l3mdev_accept=1 it works.

# shellcheck disable=SC2317  # functions that "check" runs

cd "$(dirname "$0")" || exit
# shellcheck source=tests/verbs/lib/topo.sh
. ../lib/topo.sh
# shellcheck source=tests/tap.sh
. ../../tap.sh

# accept 0|1: sets whether sockets receive from VRFs.
accept()
{
	local i
	for i in 1 2; do
		ip netns exec h$i sysctl -qw net.ipv4.udp_l3mdev_accept="$1" || return
	done
}

# enslave NETDEV NETWORK: moves the netdev of both hosts into their VRF. The
# kernel removes its IPv6 addresses meanwhile.
enslave()
{
	local i
	for i in 1 2; do
		ip -n h$i link set "$1" master vrf0 && ip -n h$i link set "$1" up &&
			ip -n h$i addr replace "10.77.$2.$i/24" dev "$1" &&
			ip -n h$i addr replace "fd77:$2::$i/64" dev "$1" nodad || return
	done
}

add_links()
{
	local i
	for i in 1 2; do
		ip netns exec h$i rdma link add "v$i" type mxe netdev p1 || return
	done
}

# traffic A B [OPTION...]: runs traffic between two devices.
traffic()
{
	MXE_A=$1 MXE_B=$2 t_traffic "${@:3}" -s 1 run
}

# refuses NAME COMMAND...: passes if the command fails for the given reason.
refuses()
{
	local out
	out=$("${@:2}" 2>&1)
	like "$out" 'Operation not supported' "$1"
}

if ! modprobe -nq vrf; then
	echo '1..0 # SKIP this kernel has no vrf'
	exit 77
fi
modprobe vrf
topo_up || bail_out "cannot make the two hosts"
ip link add p1 mtu 4200 netns h1 type veth peer name p1 mtu 4200 netns h2
for i in 1 2; do
	ip netns exec h$i sysctl -qw net.ipv6.conf.default.accept_dad=0
	ip -n h$i link add vrf0 type vrf table 100
	ip -n h$i link set vrf0 up
done
enslave p1 20 || bail_out "cannot make the VRFs"

refuses 'a link in a VRF is refused' add_links
check 'sockets receive from VRFs' accept 1
check '... links in the VRF' add_links
check '... their addresses' topo_gids v1 v2
check '... traffic between two hosts' traffic v1 v2
check '... over IPv6' traffic v1 v2 -6
check '... within a host' traffic v1 v1
check '... over IPv6' traffic v1 v1 -6
check '... outside the VRF' traffic mxe1 mxe2
check 'sockets do not receive from VRFs any more' accept 0
refuses '... a new queue pair in the VRF is refused' traffic v1 v2
check '... but not outside' traffic mxe1 mxe2

check 'netdevs with links are moved into the VRF' enslave eth0 0
check '... their addresses' soon topo_gid mxe1 ^fd77:
refuses '... a new queue pair is refused' traffic mxe1 mxe2
accept 1
check '... unless sockets receive from VRFs' traffic mxe1 mxe2
done_testing
