#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# The shorter ways of received packets and of sent ones: that they are taken, and
# that they are not where a firewall or the routes have a say.

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

# ip_counter NAME: of the IP layer of h2
ip_counter()
{
	ip netns exec h2 awk -v name="$1" '/^Ip:/ {
		if (column)
			print $column
		for (i = 2; i <= NF; i++)
			if ($i == name)
				column = i
	}' /proc/net/snmp
}

# traffic: sets RCVD and EARLY to the packets that mxe2 received meanwhile, SENT
# and DIRECT to those that it sent
traffic()
{
	local rcvd early sent direct rc
	rcvd=$(counter mxe2 rcvd_pkts) early=$(counter mxe2 rcvd_early_pkts)
	sent=$(counter mxe2 sent_pkts) direct=$(counter mxe2 sent_direct_pkts)
	mxe-perf -T 100 -d mxe1 -r mxe2 -n 100 -o write,mcas -e native >/dev/null
	rc=$?
	RCVD=$(($(counter mxe2 rcvd_pkts) - rcvd))
	EARLY=$(($(counter mxe2 rcvd_early_pkts) - early))
	SENT=$(($(counter mxe2 sent_pkts) - sent))
	DIRECT=$(($(counter mxe2 sent_direct_pkts) - direct))
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

# What is sent.
is "$DIRECT" "$SENT" "... all $SENT that are sent, past the IP layer"
for hook in postrouting output; do
	check "a rule of $hook" nft_rule $hook
	traffic
	report $? '... traffic'
	is "$(nft_packets)" "$SENT" "... it sees all $SENT packets"
	is "$DIRECT" "$SENT" '... and they go past the rest'
	ip netns exec h2 nft delete table inet mxe
done
check 'a rule of postrouting that sets the time to live' \
	ip netns exec h2 nft -f - <<-EOF2
		table inet mxe {
			chain c {
				type filter hook postrouting priority 0
				udp dport 4791 ip ttl set 3 counter accept
			}
		}
	EOF2
traffic
report $? '... traffic: who changes what the ICRC leaves out does no harm'
is "$(nft_packets)" "$SENT" '... of which all have it'
ip netns exec h2 nft delete table inet mxe

# A path with a smaller MTU, which is for the IP layer to say.
check 'a route with an MTU of 80' ip -n h2 route replace 10.77.0.1 dev eth0 \
	src 10.77.0.2 mtu lock 80
FAILS=$(ip_counter FragFails)
! timeout 60 mxe-perf -T 2 -d mxe2 -r mxe1 -n 4 -o write -s 256 >/dev/null 2>&1
report $? '... WRITEs of 256 bytes do not get through'
[ "$(ip_counter FragFails)" -gt "$FAILS" ]
report $? '... IP says that they do not fit'
ip -n h2 route del 10.77.0.1
traffic
report $? 'without that route'
is "$DIRECT" "$SENT" '... all go past the IP layer again'

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
