#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Runs t_traffic in the background, with its output in $TRAFFIC_OUT, for tests
# that stop the traffic of a connection. Sourced after topo.sh and tap.sh.
# TRAFFIC_OPTIONS are more options of t_traffic, such as -6 for IPv6.

TRAFFIC_OPTIONS=()
TRAFFIC_OUT=$(mktemp)
trap 'rm -f "$TRAFFIC_OUT"' EXIT

traffic_runs()
{
	grep -q running "$TRAFFIC_OUT"
}

# Returns when the connection carries traffic.
traffic_start()
{
	t_traffic "${TRAFFIC_OPTIONS[@]}" -s 60 run >"$TRAFFIC_OUT" 2>&1 &
	TRAFFIC=$!
	soon traffic_runs
}

# Passes if the traffic ended because its retries were exhausted, and not
# because its time was up.
traffic_stopped()
{
	wait "$TRAFFIC"
	[ $? -eq 3 ] &&
		grep -q 'stopped: transport retry counter exceeded' "$TRAFFIC_OUT"
}

# traffic_test_stop: tests that the traffic stops.
traffic_test_stop()
{
	traffic_stopped
	report $? '... it stops the traffic' || diag "$(<"$TRAFFIC_OUT")"
}

# traffic_test_end: ends the traffic and tests that no error has occurred.
traffic_test_end()
{
	kill "$TRAFFIC"
	wait "$TRAFFIC"
	is $? 0 '... and the traffic had no errors'
}
