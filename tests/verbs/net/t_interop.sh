#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# mxe and the kernel's rxe over a wire: rxe in the initial namespace on one end
# of a veth pair, mxe in the namespace h2 on the other.

# shellcheck disable=SC2015,SC2317  # functions that "check" runs

cd "$(dirname "$0")" || exit
# shellcheck source=tests/verbs/lib/topo.sh
. ../lib/topo.sh
# shellcheck source=tests/tap.sh
. ../../tap.sh

undo()
{
	local rc=0
	[ ! -e /sys/class/infiniband/rxe0 ] || rdma link del rxe0 || rc=1
	[ ! -e /run/netns/h2 ] || ip netns del h2 || rc=1
	[ ! -e /sys/class/net/veth-rxe ] || ip link del veth-rxe 2>/dev/null
	modprobe -r rdma_rxe || rc=1
	return "$rc"
}

set_up()
{
	modprobe -a rdma_rxe veth &&
		ip netns add h2 &&
		ip link add veth-rxe mtu 4200 type veth \
			peer name eth0 mtu 4200 netns h2 || return
	sysctl -qw net.ipv6.conf.veth-rxe.accept_dad=0
	ip addr add 10.77.0.1/24 dev veth-rxe &&
		ip addr add fd77::1/64 dev veth-rxe nodad &&
		ip link set veth-rxe up &&
		ip -n h2 addr add 10.77.0.2/24 dev eth0 &&
		ip -n h2 addr add fd77::2/64 dev eth0 nodad &&
		ip -n h2 link set eth0 up &&
		rdma link add rxe0 type rxe netdev veth-rxe &&
		ip netns exec h2 rdma link add mxe2 type mxe netdev eth0 &&
		topo_gids rxe0 mxe2
}

topo_down
set_up || bail_out "cannot make the two hosts"

ip netns exec h2 sleep infinity &
H2=$!
GID_RXE=$(topo_gid_index rxe0)
GID_MXE=$(topo_gid_index mxe2)

# both COMMAND...: its server on mxe, its client on rxe, then the reverse.
both()
{
	local rc=0 pid on_mxe="ip netns exec h2"
	# shellcheck disable=SC2086  # several words
	{
		timeout 180 $on_mxe "$@" -d mxe2 "$G" "$GID_MXE" &
		pid=$!
		topo_listens 18515 $H2 &&
			timeout 180 "$@" -d rxe0 "$G" "$GID_RXE" 10.77.0.2 || rc=1
		wait "$pid" || rc=1
		timeout 180 "$@" -d rxe0 "$G" "$GID_RXE" &
		pid=$!
		topo_listens 18515 $$ &&
			timeout 180 $on_mxe "$@" -d mxe2 "$G" "$GID_MXE" \
				10.77.0.1 || rc=1
		wait "$pid" || rc=1
	}
	return "$rc"
}

# cm_listens PORT [COMMAND...]: somebody listens on that port of the RDMA CM, in
# the namespace that COMMAND enters.
cm_listens()
{
	local port=$1 tries
	shift
	for tries in {1..1200}; do
		! "$@" rdma resource show cm_id | grep -q "state LISTEN.*:$port " ||
			return 0
		sleep 0.1
	done
	echo "nobody listens on CM port $port after $tries tries"
	return 1
}

# by_cm PORT PREFIX SERVER CLIENT: command lines that end before the address; the
# server on mxe, then on rxe.
by_cm()
{
	local rc=0 pid enter=(ip netns exec h2)
	# shellcheck disable=SC2086  # lines of words
	{
		timeout 180 "${enter[@]}" $3 "${2}2" &
		pid=$!
		cm_listens "$1" "${enter[@]}" && timeout 180 $4 "${2}2" || rc=1
		wait "$pid" || rc=1
		timeout 180 $3 "${2}1" &
		pid=$!
		cm_listens "$1" && timeout 180 "${enter[@]}" $4 "${2}1" || rc=1
		wait "$pid" || rc=1
	}
	return "$rc"
}

MXE_A=mxe2 MXE_B=rxe0 t_interop >/tmp/interop.out 2>&1
is $? 0 'data of every standard operation, both ways' ||
	grep -A3 -e '^not ok' -e '^Bail' /tmp/interop.out | sed 's/^/# /'
# rxe has it since then.
if [ "$(printf '%s\n' 6.2 "$(uname -r)" | sort -V | head -n 1)" = 6.2 ]; then
	check 'ATOMIC WRITE, from mxe to rxe' \
		env MXE_A=mxe2 MXE_B=rxe0 t_placement
fi
G=-g
check 'ibv_rc_pingpong, both ways' both ibv_rc_pingpong -n 50 -c
G=-x
check 'ib_write_bw, both ways' both ib_write_bw -n 20 -s 16384 -p 18515 -F
check 'ib_read_bw, both ways' both ib_read_bw -n 20 -s 16384 -p 18515 -F
check 'ib_atomic_lat CMP_AND_SWAP, both ways' \
	both ib_atomic_lat -n 20 -A CMP_AND_SWAP -p 18515 -F
check 'ib_atomic_lat FETCH_AND_ADD, both ways' \
	both ib_atomic_lat -n 20 -A FETCH_AND_ADD -p 18515 -F

G=-g
for t in uc ud srq; do
	check "ibv_${t}_pingpong, both ways" both ibv_${t}_pingpong -n 50 -c
done
modprobe rdma_ucm
for a in 10.77.0. fd77::; do
	check "rping, $a, both ways" by_cm 7174 "$a" 'rping -s -C 5 -v -a' \
		'rping -c -C 5 -v -a'
done
check 'ucmatose, both ways' by_cm 7471 10.77.0. 'ucmatose -b' 'ucmatose -s'
check 'udaddy, both ways' by_cm 7174 10.77.0. 'udaddy -b' 'udaddy -s'
kill $H2
check 'all goes away' undo
done_testing
