#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# RDS sockets between two machines, because net/rds uses only devices of the
# initial namespace. Ends with the removal of a device in use.

# shellcheck disable=SC2317  # functions that "check" runs

cd "$(dirname "$0")" || exit
# shellcheck source=tests/verbs/lib/pair.sh
. ../lib/pair.sh
# shellcheck source=tests/tap.sh
. ../../tap.sh

# refusals: prints the counter of the responder
refusals()
{
	on h2 rdma statistic show link mxe0/1 | counted sent_nak_remote_access
}

# served COMMAND...: runs a command with a server that ends with it.
served()
{
	local server rc
	rm -f /run/rds.server
	on h2 timeout 200 t_rds serve 10.77.0.2 >/run/rds.server &
	server=$!
	soon grep -q bound /run/rds.server || return
	"$@"
	rc=$?
	wait $server && return $rc
}

STOP=/run/rds.stop
EXCHANGE=(served t_rds test 10.77.0.1 10.77.0.2)

for h in h1 h2; do
	check "$h: rds_rdma" on $h modprobe rds_rdma
done
NAKS=$(refusals)
check 'messages, RDMA and atomics' "${EXCHANGE[@]}"
# Each atomic was a request that the responder answered.
[ $(($(refusals) - NAKS)) -ge 4 ]
report $? 'four refusals by the responder'
check 'messages, RDMA and atomics with packet loss' \
	bad_wire "${EXCHANGE[@]}"

removal served t_rds load 10.77.0.1 10.77.0.2 $STOP
check 'messages, RDMA and atomics again' "${EXCHANGE[@]}"
for h in h1 h2; do
	check "$h: the modules are unloaded" on $h modprobe -r rds_rdma rds
done
done_testing
