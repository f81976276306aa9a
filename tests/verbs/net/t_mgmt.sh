#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Management: netdevs, links and namespaces, and the messages for the
# administrator (Documentation/management.rst).

# shellcheck disable=SC2317  # functions that "check" runs

cd "$(dirname "$0")" || exit
# shellcheck source=tests/verbs/lib/topo.sh
. ../lib/topo.sh
# shellcheck source=tests/tap.sh
. ../../tap.sh

R=$(mktemp -d)

no_device()
{
	[ ! -e "/sys/class/infiniband/$1" ]
}

# kind NAME SUBNET: tests links on the netdevs NAME of both hosts.
kind()
{
	local name=$1 net=$2 i
	for i in 1 2; do
		ip -n h$i addr add "10.77.$net.$i/24" dev "$name" &&
			ip -n h$i addr add "fd77:$net::$i/64" dev "$name" nodad &&
			ip -n h$i link set "$name" up &&
			ip netns exec h$i rdma link add "k$i" type mxe \
				netdev "$name" || return
	done
	topo_gids k1 k2 || return
	MXE_A=k1 MXE_B=k2 t_traffic -s 1 run || return
	MXE_A=k1 MXE_B=k2 t_traffic -6 -s 1 run || return
	# The other links are not disturbed.
	MXE_A=mxe1 MXE_B=mxe2 t_traffic -s 1 run || return
	for i in 1 2; do
		ip -n h$i link del "$name" || return
	done
	soon no_device k1 && soon no_device k2
}

modprobe -a 8021q bonding bridge macvlan dummy 2>/dev/null
topo_up || bail_out "cannot make the two hosts"

# ---- links on netdevs of all kinds, beside that on eth0

for i in 1 2; do
	ip -n h$i link add link eth0 name macvl type macvlan mode bridge
	ip -n h$i link add bond0 type bond mode active-backup
	ip -n h$i link add br0 type bridge
	ip -n h$i link set br0 type bridge forward_delay 0
done
check 'a second link, on a macvlan' kind macvl 11

# A pair of netdevs for ports.
ip link add p1 mtu 4200 netns h1 type veth peer name p1 mtu 4200 netns h2
ip link add p2 mtu 4200 netns h1 type veth peer name p2 mtu 4200 netns h2
for i in 1 2; do
	ip -n h$i link set p1 master bond0
	ip -n h$i link set p2 master br0
	ip -n h$i link set p1 up
	ip -n h$i link set p2 up
	ip -n h$i link set br0 up
done
check 'a second link, on a bond' kind bond0 12
check 'a second link, on a bridge' kind br0 13

# ---- one link for the VLANs above its netdev

gid_index()
{
	local f
	for f in "/sys/class/infiniband/$1/ports/1/gids/"*; do
		[ "$(<"$f")" != "$2" ] || ! grep -q 'RoCE v2' \
			"${f%/gids/*}/gid_attrs/types/${f##*/}" || echo "${f##*/}"
	done | tail -n 1
}

over_vlan()
{
	local i pid rc
	for i in 1 2; do
		ip -n h$i link add link eth0 name vlan20 type vlan id 20 &&
			ip -n h$i addr add 10.77.20.$i/24 dev vlan20 &&
			ip -n h$i link set vlan20 up &&
			soon topo_gid mxe$i "ffff:0a4d:140$i" || return
	done
	soon ip netns exec h1 busybox ping -c 1 10.77.20.2 || return
	ip netns exec h2 timeout 150 ibv_rc_pingpong -p 18600 -d mxe2 -n 50 -g \
		"$(gid_index mxe2 0000:0000:0000:0000:0000:ffff:0a4d:1402)" \
		>"$R/server" 2>&1 &
	pid=$!
	topo_listens 18600 $pid && ip netns exec h1 timeout 100 \
		ibv_rc_pingpong -p 18600 -d mxe1 -n 50 -g \
		"$(gid_index mxe1 0000:0000:0000:0000:0000:ffff:0a4d:1401)" \
		10.77.0.2
	rc=$?
	wait $pid || rc=$?
	[ "$rc" -eq 0 ] || cat "$R/server"
	return "$rc"
}
check 'a link has the GIDs of the VLANs above it, and carries them' over_vlan
is "$(ip -n h1 -s -j link show vlan20 | grep -c '"packets":0[,}]')" 0 \
	'... through the VLAN'
for i in 1 2; do
	ip -n h$i link del vlan20
done

# ---- refused commands

check_fails()
{
	local name=$1
	shift
	if "$@" >"$R/out" 2>&1; then
		report 1 "$name"
	else
		report 0 "$name"
	fi
}
check_fails 'a second link on one netdev' \
	ip netns exec h1 rdma link add twice type mxe netdev eth0
ip -n h1 link add link eth0 name vlan30 type vlan id 30
check_fails 'a link on a VLAN' \
	ip netns exec h1 rdma link add vl0 type mxe netdev vlan30
ip -n h1 link del vlan30
check_fails 'a link on the loopback' \
	ip netns exec h1 rdma link add lo0 type mxe netdev lo
check_fails 'a link by a name that is taken' \
	ip netns exec h2 rdma link add mxe1 type mxe netdev p1
both_at_once()
{
	local i pids=() good=0
	ip -n h1 link add dum type dummy && ip -n h1 link set dum up || return
	for i in 1 2 3 4; do
		ip netns exec h1 rdma link add d$i type mxe netdev dum \
			>/dev/null 2>&1 &
		pids+=($!)
	done
	for i in "${pids[@]}"; do
		! wait "$i" || good=$((good + 1))
	done
	ip -n h1 link del dum
	[ $good -eq 1 ] || echo "$good links"
	[ $good -eq 1 ]
}
check 'four at once on one netdev: one succeeds' both_at_once

# ---- events, MTU, carrier, addresses

MXE_A=mxe1 t_hold events >"$R/events" &
EVENTS=$!
soon grep -q waiting "$R/events"
ip -n h1 link set eth0 down
check 'event: the port is down' soon grep -qi 'port error' "$R/events"
like "$(rdma link show mxe1/1)" 'state DOWN' '... and rdma link shows that'
ip -n h1 link set eth0 up
check 'event: the port is up' soon grep -qi 'port active' "$R/events"
: >"$R/events"
ip -n h2 link set eth0 down
check 'event: the carrier is lost' soon grep -qi 'port error' "$R/events"
ip -n h2 link set eth0 up
check 'event: ... and found' soon grep -qi 'port active' "$R/events"
: >"$R/events"
ip -n h1 addr add 10.77.0.77/24 dev eth0
check 'event: another GID' soon grep -qi 'gid table' "$R/events"
check '... is in the table' soon topo_gid mxe1 ffff:0a4d:004d
ip -n h1 addr del 10.77.0.77/24 dev eth0
# shellcheck disable=SC2016
check '... and is removed' soon bash -c \
	'! grep -q ffff:0a4d:004d /sys/class/infiniband/mxe1/ports/1/gids/*'
ip -n h1 link set eth0 mtu 1500
like "$(ibv_devinfo -d mxe1)" 'active_mtu:[[:space:]]+1024' \
	'the MTU of the port follows the netdev'
ip -n h1 link set eth0 mtu 4200
like "$(ibv_devinfo -d mxe1)" 'active_mtu:[[:space:]]+4096' '... both ways'
# An interface that was down has lost its IPv6 addresses.
for i in 1 2; do
	ip -n h$i addr replace fd77::$i/64 dev eth0 nodad
done
topo_gids mxe1 mxe2

# ---- resources and counters

t_traffic -s 1000 run >"$R/traffic" &
TRAFFIC=$!
soon grep -q running "$R/traffic"
QPS=$(rdma -dd res show qp link mxe1/1 type RC)
like "$QPS" "pid $TRAFFIC comm t_traffic" 'rdma resource: the owner of a queue pair'
like "$QPS" 'state RTS' '... its state'
like "$QPS" 'drv_sq_depth 64 ' '... its queues'
like "$QPS" 'drv_path_mtu 4096' '... its path'
like "$QPS" 'drv_psn_next 0x' '... and to root its PSNs'
QPS=$(setpriv --reuid 65534 --regid 65534 --clear-groups \
	rdma -dd res show qp link mxe1/1 type RC)
like "$QPS" 'rq-psn 0 sq-psn 0 .* drv_path_mtu 4096' \
	'... to others without the PSNs of ib_core'
[[ $QPS != *drv_psn* ]]
report $? '... and without those of mxe'
like "$(rdma -dd res show mr dev mxe1)" 'drv_access 0x[0-9a-f]+ drv_valid 1' \
	'rdma resource: regions'
like "$(rdma -dd res show cq dev mxe1)" 'drv_produced [0-9]+' \
	'rdma resource: completion queues'
kill $TRAFFIC
wait $TRAFFIC
is $? 0 'traffic meanwhile'
STAT=$(rdma statistic show link mxe2/1)
like "$STAT" 'masked_atomics_executed [1-9]' 'rdma statistic: executed masked atomics'
for c in short version opcode length icrc qpn address state pkey no_memory; do
	[[ $STAT == *" drop_$c "* ]] || break
done
like "$STAT" "drop_$c " 'rdma statistic: the reasons of drops'

# ---- removal never waits

hold()
{
	mkfifo "$R/go"
	t_hold <"$R/go" >"$R/hold" 2>&1 &
	HOLD=$!
	exec 5>"$R/go"
	soon grep -q holding "$R/hold"
}
hold
check 'rdma link del while a process holds everything' \
	timeout 100 rdma link del mxe1
echo >&5
wait $HOLD
RC=$?
exec 5>&-
sed -n '/^ok\|^not ok/s/^/# /p' "$R/hold"
report $RC 'every call of the process ends with an error' || diag "$(<"$R/hold")"
check 'the process has got the fatal event' soon grep -q catastrophic "$R/events"
kill $EVENTS 2>/dev/null
wait $EVENTS 2>/dev/null

# ---- moving a netdev

ip netns add h3
check 'a link is made again' \
	ip netns exec h1 rdma link add mxe1 type mxe netdev eth0
check 'the netdev moves to another namespace' \
	ip -n h1 link set eth0 netns h3
check 'the link is removed' soon no_device mxe1
ip -n h3 addr add 10.77.0.1/24 dev eth0
ip -n h3 addr add fd77::1/64 dev eth0 nodad
ip -n h3 link set eth0 up
check 'a link there' ip netns exec h3 rdma link add mxe1 type mxe netdev eth0
topo_gids mxe1 mxe2
check '... carries traffic' t_traffic -s 1 run
ip netns del h3

topo_down
rm -rf "$R"
done_testing
