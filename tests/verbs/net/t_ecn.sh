#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Congestion control in a network that marks packets instead of dropping them.

cd "$(dirname "$0")" || exit
# shellcheck source=tests/verbs/lib/topo.sh
. ../lib/topo.sh
# shellcheck source=tests/tap.sh
. ../../tap.sh

COUNTERS=(mxe2/rcvd_ecn_marked mxe2/sent_cnp mxe1/rcvd_cnp)

# Passes if packets were marked and the sender was notified. This is chance,
# because notifications can be lost where requests are marked.
# shellcheck disable=SC2317  # rounds runs it
was_told()
{
	local c
	for c in "${COUNTERS[@]}"; do
		[ "$(counter "${c%/*}" "${c#*/}")" -gt 0 ] || return
	done
}

# arrived: passes if mxe2 received what mxe1 sent, but for notifications, which
# a queue drops instead of marking. The device may drop a packet later because
# the queue pair is busy or was destroyed.
# shellcheck disable=SC2317  # soon runs it
arrived()
{
	local sent received
	sent=$(($(counter mxe1 sent_pkts) - $(counter mxe1 sent_cnp)))
	received=$(($(counter mxe2 rcvd_pkts) + $(counter mxe2 drop_qpn) -
		    $(counter mxe2 rcvd_cnp)))
	[ "$received" -ge "$sent" ]
}

topo_up || bail_out "cannot make the two hosts"
# On a busy host, the default of 1,000 packets would not always do.
topo_netem limit 10000 loss 5% ecn
# Capable of ECN (ECT(0)): nothing is lost.
check 'traffic with ECN' rounds was_told t_traffic -s 1 -c 0x6a run
for c in "${COUNTERS[@]}"; do
	v=$(counter "${c%/*}" "${c#*/}")
	check "$c: $v" test "$v" -gt 0
done
check '... nothing was lost' soon arrived
SENT=$(counter mxe2 sent_cnp)
check 'traffic without ECN' t_traffic -s 1 -c 0x68 run
is "$(counter mxe2 sent_cnp)" "$SENT" '... no more CNPs'
done_testing
