#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# SMC-R sockets between two machines, because net/smc uses the devices of the
# initial namespace. Ends with the removal of a device in use.

# shellcheck disable=SC2317  # functions that "check" runs

cd "$(dirname "$0")" || exit
# shellcheck source=tests/verbs/lib/pair.sh
. ../lib/pair.sh
# shellcheck source=tests/tap.sh
. ../../tap.sh

# by_rdma MIB: passes if the data was right and the device carried it.
by_rdma()
{
	local before
	before=$(sent h1)
	t_smc echo 10.77.0.2 "$1" || return
	# A packet has at most 4 KiB of data.
	[ $(($(sent h1) - before)) -ge $(($1 * 256)) ]
}

for h in h1 h2; do
	check "$h: SMC" on $h bash -c 'modprobe smc && t_smc setup MXE' ||
		done_testing
done
# shellcheck disable=SC2016  # for the other shell
on h2 bash -c 'setsid t_smc serve 10.77.0.2 >/run/smc.server 2>&1 & echo $! >/run/smc.pid'
check 'a server' listens h2 4100
# On a busy machine the first handshake may time out, and SMC falls back to TCP.
check 'data comes back through RDMA' soon by_rdma 4 || done_testing
check 'data comes back with packet loss' bad_wire by_rdma 2

SENT=$(sent h1)
t_smc load 10.77.0.2 >/run/smc.load &
LOAD=$!
check 'a connection is busy' soon sends h1 "$SENT"
check 'remove its device' rdma link delete mxe0
check 'the connection fails' soon ended $LOAD
wait $LOAD
report $? 'and its data was right until then' || diag "$(</run/smc.load)"
check 'add the device again' rdma link add mxe0 type mxe netdev eth0
check 'it has its address' gid_index h1
# The server still has the link group of the old device and wants to use it for
# the first connection, which therefore falls back to TCP.
check 'data comes back through the new device' soon by_rdma 1

# The process of a connection that has lost its peer may wait for data forever.
# shellcheck disable=SC2016
on h2 bash -c 'kill -KILL -- -$(cat /run/smc.pid)'
# After the removal of a device on a busy machine, the module of 6.1 may remain
# in use with no socket or process left.
for h in h1 h2; do
	on $h modprobe -r smc 2>/dev/null || diag "$h: smc remains loaded"
done
done_testing
