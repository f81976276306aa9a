#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# The shorter way of received packets: that it is taken, and that it is not
# where a firewall or the routes have a say.

cd "$(dirname "$0")" || exit
# shellcheck source=tests/verbs/topo.sh
. ./topo.sh
# shellcheck source=tests/tap.sh
. ../tap.sh

# nft_packets: what the rule in h2 has counted
nft_packets()
{
	ip netns exec h2 nft list table inet mxe |
		sed -n 's/.*counter packets \([0-9]*\).*/\1/p'
}

# nft_rule HOOK: count RoCE packets in h2 there
nft_rule()
{
	ip netns exec h2 nft -f - <<-EOF2
		table inet mxe {
			chain c {
				type filter hook $1 priority 0
				udp dport 4791 counter accept
			}
		}
	EOF2
}

# traffic: sets RCVD and EARLY to the packets that mxe2 received meanwhile
traffic()
{
	local rcvd early rc
	rcvd=$(counter mxe2 rcvd_pkts) early=$(counter mxe2 rcvd_early_pkts)
	mxe-perf -T 100 -d mxe1 -r mxe2 -n 100 -o write,mcas -e native >/dev/null
	rc=$?
	RCVD=$(($(counter mxe2 rcvd_pkts) - rcvd))
	EARLY=$(($(counter mxe2 rcvd_early_pkts) - early))
	return $rc
}

topo_up || bail_out "cannot make the two hosts"
traffic
report $? 'traffic'
[ "$EARLY" -ge $((RCVD - 4)) ] && [ "$EARLY" -gt 200 ]
report $? "... $EARLY of $RCVD packets go the short way"

for hook in prerouting input; do
	check "a rule of $hook" nft_rule $hook
	traffic
	report $? '... traffic'
	is "$(nft_packets)" "$RCVD" "... it sees all $RCVD packets"
	if [ $hook = input ]; then
		is "$EARLY" 0 '... none goes past it'
	else
		[ "$EARLY" -ge $((RCVD - 4)) ]
		report $? "... $EARLY go the short way after it"
	fi
	ip netns exec h2 nft delete table inet mxe
done
traffic
report $? 'without rules'
[ "$EARLY" -ge $((RCVD - 4)) ]
report $? "... $EARLY of $RCVD packets go the short way again"

# Packets that are sent in one go: together, taken apart by mxe; by the stack,
# if it is to look at them one by one; and not together.

# shellcheck disable=SC2317  # soon runs it
early_more_than()
{
	[ "$(counter mxe2 rcvd_early_pkts)" -gt "$1" ]
}

# trains: 16 requests in one call, several times. Sets SENT and RCVD to how many
# trains mxe1 sent and mxe2 took apart meanwhile.
trains()
{
	local sent rcvd rc
	sent=$(counter mxe1 sent_trains)
	rcvd=$(counter mxe2 rcvd_trains)
	mxe-perf -T 100 -d mxe1 -r mxe2 -t rate -q 16 -b 16 -n 160 -o write,read,mcas \
		-e native >/dev/null
	rc=$?
	SENT=$(counter mxe1 sent_trains)
	SENT=$((SENT - sent)) RCVD=$(($(counter mxe2 rcvd_trains) - rcvd))
	return $rc
}

trains
report $? 'requests posted together'
[ "$SENT" -ge 20 ] && [ "$RCVD" -ge $((SENT - 1)) ]
report $? "... $SENT trains are sent, $RCVD taken apart"
nft_rule input
trains
report $? 'the same with a rule of input'
is "$RCVD" 0 "... $SENT trains are taken apart by the stack"
ip netns exec h2 nft delete table inet mxe
ip netns exec h2 tcpdump -i eth0 -w /dev/null 2>"/tmp/tcpdump.$$" &
TCPDUMP=$!
soon grep -q 'listening on' "/tmp/tcpdump.$$"
trains
report $? 'the same while a packet socket looks at them'
kill $TCPDUMP
wait $TCPDUMP
rm "/tmp/tcpdump.$$"
echo N >/sys/module/mxe/parameters/trains
trains
report $? 'the same with trains=N'
is "$SENT" 0 '... no train is sent'
echo Y >/sys/module/mxe/parameters/trains

# An address goes while a connection uses it: so does the route to it, and what
# is sent there has no right to arrive.
mxe-perf -d mxe1 -r mxe2 -n 10000000 -o write >/dev/null 2>&1 &
PERF=$!
EARLY=$(counter mxe2 rcvd_early_pkts)
check 'traffic to an address' soon early_more_than "$EARLY"
ip -n h2 addr del 10.77.0.2/24 dev eth0
sleep 0.3
EARLY=$(counter mxe2 rcvd_early_pkts)
sleep 1
is "$(counter mxe2 rcvd_early_pkts)" "$EARLY" 'no packet to an address that is gone'
kill $PERF
wait $PERF
done_testing
