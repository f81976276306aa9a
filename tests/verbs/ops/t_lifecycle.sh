#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Kills the process, and removes queue pairs, devices, interfaces and network
# namespaces, while traffic runs. Afterwards the module can be unloaded.
#
#	t_lifecycle.sh [PROGRAM]
#
# PROGRAM is t_traffic, the default, or t_traffic_dc.

# shellcheck disable=SC2317  # functions that "check" runs

cd "$(dirname "$0")" || exit
# shellcheck source=tests/verbs/lib/topo.sh
. ../lib/topo.sh
# shellcheck source=tests/tap.sh
. ../../tap.sh

PROGRAM=${1:-t_traffic}
OUT=$(mktemp)
trap 'rm -f "$OUT"' EXIT

# start MODE: starts traffic in the background and returns once it is running.
start()
{
	: >"$OUT"
	"$PROGRAM" -s "${SECS:-1000}" "$1" >"$OUT" 2>&1 &
	TRAFFIC=$!
	soon runs_or_ended && grep -q running "$OUT" && return
	diag "no traffic: $(<"$OUT")"
	return 1
}

runs_or_ended()
{
	grep -q running "$OUT" || ! kill -0 $TRAFFIC
}

# ends STATUS NAME: tests that the traffic ends soon with this status.
ends()
{
	local rc
	if ! soon not kill -0 $TRAFFIC; then
		report 1 "$2"
		diag "still running: $(<"$OUT")"
		kill -9 $TRAFFIC
		wait $TRAFFIC 2>/dev/null
		return
	fi
	wait $TRAFFIC 2>/dev/null
	rc=$?
	is $rc "$1" "$2" || diag "$(<"$OUT")"
}

# empty DEVICE: passes if only the objects of the kernel's QP 1 are left.
empty()
{
	soon shows_nothing "$1" && return
	rdma resource show "$1"
	return 1
}

shows_nothing()
{
	rdma resource show "$1" | grep -q 'pd 1 cq 1 qp 1.*mr 0'
}

again()
{
	topo_down && topo_up
}

topo_up || bail_out "cannot make the two hosts"

if [ "$PROGRAM" = t_traffic ]; then
	SECS=3 start fork
	ends 0 'traffic continues while the process forks'
fi

SECS=3 start destroy
ends 0 'queue pairs are destroyed with requests in flight'
check 'no object is left on mxe1' empty mxe1
check 'no object is left on mxe2' empty mxe2

for i in 1 2 3; do
	start run
	kill -9 $TRAFFIC
	ends 137 "kill -9 in flight, $i"
	check 'no object is left on mxe1' empty mxe1
done

start run
check 'rdma link del of the requester in use' rdma link del mxe1
ends 3 'the traffic ends'
check 'the other device is not disturbed' empty mxe2
check 'set up the two hosts again' again

start run
check 'rdma link del of the responder in use' rdma link del mxe2
ends 3 'the traffic ends'
check 'set up the two hosts again' again

start run
check 'ip link del of an interface in use' ip -n h1 link del eth0
ends 3 'the traffic ends'
is "$(rdma link | grep -c mxe)" 0 'both devices are removed'
check 'set up the two hosts again' again

start run
check 'ip netns del of a namespace in use' ip netns del h2
ends 3 'the traffic ends'
soon [ ! -e /sys/class/infiniband/mxe1 ]
soon [ ! -e /sys/class/infiniband/mxe2 ]
is "$(rdma link | grep -c mxe)" 0 'both devices are removed'
check 'set up the two hosts again' again

start run
rmmod mxe 2>/dev/null
is $? 1 'rmmod is refused while a process uses a device'
ip -n h1 link set eth0 down
sleep 0.3
ip -n h1 link set eth0 up
kill -0 $TRAFFIC
is $? 0 'traffic continues after the interface was down for a while'
kill -9 $TRAFFIC
ends 137 'the process is killed'

check 'remove the two hosts' topo_down
check 'rmmod' rmmod mxe
check 'insmod' insmod "$MODULES/kernel/mxe/mxe.ko"
check 'set up the two hosts again' topo_up
SECS=1 start run
ends 0 'traffic runs after the module is loaded again'
check 'remove the two hosts' topo_down
done_testing
