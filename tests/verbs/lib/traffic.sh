#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# For tests that stop the traffic of a connection: t_traffic in the background, whose
# output is in $TRAFFIC_OUT.  Sourced behind topo.sh and tap.sh.

TRAFFIC_OUT=$(mktemp)
trap 'rm -f "$TRAFFIC_OUT"' EXIT

traffic_runs()
{
	grep -q running "$TRAFFIC_OUT"
}

# The connection is in use when this returns.
traffic_start()
{
	t_traffic -s 60 run >"$TRAFFIC_OUT" 2>&1 &
	TRAFFIC=$!
	soon traffic_runs
}

# The traffic ends because packets are lost, not because its time is up.
traffic_stopped()
{
	wait "$TRAFFIC"
	[ $? -eq 3 ] &&
		grep -q 'stopped: transport retry counter exceeded' "$TRAFFIC_OUT"
}

# traffic_test_stop: a test that it does
traffic_test_stop()
{
	traffic_stopped
	report $? '... it stops the traffic' || diag "$(<"$TRAFFIC_OUT")"
}

# traffic_test_end: a test that nothing has gone wrong until now
traffic_test_end()
{
	kill "$TRAFFIC"
	wait "$TRAFFIC"
	is $? 0 '... and all went well'
}
