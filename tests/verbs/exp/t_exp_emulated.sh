#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# The programs of the experimental verbs on the kernel's rxe, where their masked
# atomics are emulated: against itself, and against an mxe at the other end of the
# wire, where they contend with native ones. rxe0 is in the initial namespace.

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
	modprobe -a rdma_rxe rdma_ucm veth &&
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

# run WHAT DEVICE DEVICE PROGRAM...: one line, and what has failed.
run()
{
	local what=$1 a=$2 b=$3
	shift 3
	MXE_A=$a MXE_B=$b "$@" >/tmp/emulated.out 2>&1
	is $? 0 "${1##*/}: $what" ||
		grep -A3 -e '^not ok' -e '^Bail' /tmp/emulated.out | sed 's/^/# /'
}

topo_down
set_up || bail_out "cannot make the two hosts"
run 'rxe with itself' rxe0 rxe0 t_exp_apps
run 'rxe to mxe' rxe0 mxe2 t_exp_apps
run 'rxe with itself' rxe0 rxe0 t_exp_table
run 'rxe to mxe' rxe0 mxe2 t_exp_table
run 'rxe with itself' rxe0 rxe0 t_exp_cq
run 'rxe to mxe' rxe0 mxe2 t_exp_cq
run 'rxe to mxe' rxe0 mxe2 t_exp_dm
run 'rxe' rxe0 rxe0 t_exp_cm
check 'all goes away' undo
done_testing
