# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
#
# Connects the kernel's rxe with mxe, or with another rxe. rxe works in the
# initial namespace only, so its end of a wire is there. Sourced after topo.sh.

# rxe_wire NETDEV HOST PEER NETWORK: makes a wire from NETDEV in the initial
# namespace to PEER in HOST, with the addresses NETWORK.1 and NETWORK.2.
rxe_wire()
{
	ip link add "$1" mtu 4200 type veth peer name "$3" mtu 4200 netns "$2" ||
		return
	# Make its link-local address, which becomes a GID, valid at once.
	sysctl -qw "net.ipv6.conf.$1.accept_dad=0"
	ip addr add "$4.1/24" dev "$1" && ip link set "$1" up &&
		ip -n "$2" addr add "$4.2/24" dev "$3" && ip -n "$2" link set "$3" up
}

# rxe_add NAME NETDEV: adds an rxe device on a netdev.
rxe_add()
{
	rdma link add "$1" type rxe netdev "$2"
}

# rxe_dummy NETDEV: makes rxe0 on a dummy interface.
rxe_dummy()
{
	modprobe -a rdma_rxe dummy 2>/dev/null
	ip link add "$1" type dummy && ip link set "$1" up &&
		rxe_add rxe0 "$1"
}

# rxe_down [NETDEV...]: removes rxe0 and rxe1, these netdevs and the module.
rxe_down()
{
	local name rc=0
	for name in rxe0 rxe1; do
		[ ! -e /sys/class/infiniband/$name ] || rdma link del $name || rc=1
	done
	for name; do
		ip link del "$name" || rc=1
	done
	modprobe -r rdma_rxe || rc=1
	return $rc
}

# rxe_mxe_up: replaces the two hosts by rxe0 in the initial namespace and mxe2
# in h2, joined by a wire with the addresses of the hosts.
rxe_mxe_up()
{
	topo_down
	modprobe -a rdma_rxe veth && ip netns add h2 && ip -n h2 link set lo up &&
		rxe_wire veth-rxe h2 eth0 10.77.0 &&
		ip addr add fd77::1/64 dev veth-rxe nodad &&
		ip -n h2 addr add fd77::2/64 dev eth0 nodad &&
		rxe_add rxe0 veth-rxe &&
		ip netns exec h2 rdma link add mxe2 type mxe netdev eth0 &&
		topo_gids rxe0 mxe2 && topo_resolve h2 10.77.0.1 fd77::1
}

# rxe_mxe_down: removes rxe0, mxe2 and h2. The wire is removed with h2.
rxe_mxe_down()
{
	local rc=0
	rxe_down || rc=1
	[ ! -e /run/netns/h2 ] || ip netns del h2 || rc=1
	return $rc
}

# rxe_pair_up MTU: makes rxe1 and rxe2 on the two ends of a wire, rxa and rxb:
# the network cards of tools/vm --nics, or a veth pair. Rules route packets for
# the other end over the wire instead of the loopback interface.
rxe_pair_up()
{
	local wire="link add rxa mtu $1 type veth peer name rxb mtu $1"
	[ -z "${MXE_NICS:-}" ] || wire="link set nic1 name rxa mtu $1
		link set nic2 name rxb mtu $1"
	modprobe -a rdma_rxe veth || return
	sysctl -qw net.ipv4.conf.all.rp_filter=0 net.ipv4.conf.default.rp_filter=0 \
		net.ipv4.conf.default.accept_local=1 || return
	ip -batch - <<-EOF || return
		$wire
		link set rxa address 52:54:00:78:00:01
		link set rxb address 52:54:00:78:00:02
		addr add 10.78.0.1/24 dev rxa
		addr add 10.78.0.2/24 dev rxb
		link set rxa up
		link set rxb up
		neigh replace 10.78.0.2 lladdr 52:54:00:78:00:02 dev rxa nud permanent
		neigh replace 10.78.0.1 lladdr 52:54:00:78:00:01 dev rxb nud permanent
		rule add pref 10 iif rxa lookup local
		rule add pref 10 iif rxb lookup local
		route add 10.78.0.2 dev rxa src 10.78.0.1 table 101
		route add 10.78.0.1 dev rxb src 10.78.0.2 table 102
		rule add pref 20 from 10.78.0.1 to 10.78.0.2 lookup 101
		rule add pref 20 from 10.78.0.2 to 10.78.0.1 lookup 102
		rule add pref 30 lookup local
		rule del pref 0
	EOF
	rxe_add rxe1 rxa && rxe_add rxe2 rxb || return
	# The links and the GIDs come up asynchronously.
	soon topo_active rxe1 && soon topo_active rxe2 &&
		soon topo_gid rxe1 :ffff:0a4e: && soon topo_gid rxe2 :ffff:0a4e:
}

rxe_pair_down()
{
	rdma link del rxe1 && rdma link del rxe2 && ip link del rxa &&
		modprobe -r rdma_rxe
}
