#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Tests the poll thread of the kernel. Kills the process and removes the device
# while the thread polls and while it sleeps.

# shellcheck disable=SC2317  # functions that "check" runs

cd "$(dirname "$0")" || exit
# shellcheck source=tests/verbs/lib/topo.sh
. ../lib/topo.sh
# shellcheck source=tests/tap.sh
. ../../tap.sh

OUT=$(mktemp)
trap 'rm -f "$OUT"' EXIT

# start MODE: starts t_poll in the background. Returns once its thread exists.
start()
{
	: >"$OUT"
	t_poll hold "$1" >"$OUT" 2>&1 &
	PID=$!
	soon runs_or_ended && grep -q running "$OUT" && return
	diag "no thread: $(<"$OUT")"
	return 1
}

runs_or_ended()
{
	grep -q running "$OUT" || ! kill -0 $PID
}

# ends STATUS NAME: tests that the process ends soon with this status.
ends()
{
	local rc
	if ! soon not kill -0 $PID; then
		report 1 "$2"
		diag "still running: $(<"$OUT")"
		kill -9 $PID
	fi
	wait $PID 2>/dev/null
	rc=$?
	is $rc "$1" "$2" || diag "$(<"$OUT")"
}

shows_nothing()
{
	rdma resource show mxe1 | grep -q 'pd 1 cq 1 qp 1.*mr 0'
}

stopped()
{
	grep -q '^State:.*T' /proc/$PID/status
}

again()
{
	topo_down && topo_up
}

topo_up || bail_out "cannot make the two hosts"

check 't_poll' t_poll
for mode in busy idle; do
	start $mode
	kill -9 $PID
	ends 137 "$mode: kill -9"
	check "$mode: no object is left" soon shows_nothing

	start $mode
	kill -TERM $PID
	ends 143 "$mode: SIGTERM"

	start $mode
	check "$mode: rdma link del" timeout 60 rdma link del mxe1
	ends 3 "$mode: the process gets the event, and its thread has ended"
	check 'set up the two hosts again' again

	start $mode
	kill -STOP $PID
	check "$mode: the process is stopped" soon stopped
	check "$mode: rdma link del while it is stopped" timeout 60 rdma link del mxe1
	kill -CONT $PID
	ends 3 "$mode: after SIGCONT it gets the event, and its thread has ended"
	check 'set up the two hosts again' again
done
done_testing
