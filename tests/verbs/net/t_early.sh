#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# The early hooks for received packets: they are used, except where a rule or
# hook could act on the packet or observe it. All tests are done for IPv4, then
# for IPv6.

cd "$(dirname "$0")" || exit
# shellcheck source=tests/verbs/lib/topo.sh
. ../lib/topo.sh
# shellcheck source=tests/tap.sh
. ../../tap.sh

# nft_packets: prints the counter of the rule in h2
nft_packets()
{
	ip netns exec h2 nft list table inet mxe |
		sed -n 's/.*counter packets \([0-9]*\).*/\1/p'
}

# nft_rule HOOK: counts RoCE packets of the family in h2 at a hook
nft_rule()
{
	ip netns exec h2 nft -f - <<-EOF2
		table inet mxe {
			chain c {
				type filter hook $1 priority 0
				meta nfproto ipv$V udp dport 4791 counter accept
			}
		}
	EOF2
}

# ip_counter NAME: prints a counter of the IP layer of h2
ip_counter()
{
	if [ $V = 6 ]; then
		ip netns exec h2 awk -v name="Ip6$1" '$1 == name { print $2 }' \
			/proc/net/snmp6
		return
	fi
	ip netns exec h2 awk -v name="$1" '/^Ip:/ {
		if (column)
			print $column
		for (i = 2; i <= NF; i++)
			if ($i == name)
				column = i
	}' /proc/net/snmp
}

# perf OPTION...: runs mxe-perf with the addresses of the family.
perf()
{
	mxe-perf "${GIDS[@]}" "$@"
}

# traffic: sets RCVD to the packets that mxe2 received during the traffic, EARLY
# to those that took the early hook, IP to those that the IP layer of h2
# counted, and SENT to the packets that mxe2 sent
traffic()
{
	local rcvd early ip sent rc
	rcvd=$(counter mxe2 rcvd_pkts) early=$(counter mxe2 rcvd_early_pkts)
	ip=$(ip_counter InReceives) sent=$(counter mxe2 sent_pkts)
	perf -T 100 -d mxe1 -r mxe2 -n 100 -o write,mcas -e native >/dev/null
	rc=$?
	RCVD=$(($(counter mxe2 rcvd_pkts) - rcvd))
	EARLY=$(($(counter mxe2 rcvd_early_pkts) - early))
	IP=$(($(ip_counter InReceives) - ip))
	SENT=$(($(counter mxe2 sent_pkts) - sent))
	return $rc
}

# saw_all COUNT NUM: passes if COUNT packets were seen of the NUM that mxe2
# received or sent. A repeated request may arrive after its queue pair was
# destroyed, and mxe2 does not count it.
saw_all()
{
	[ "$1" -ge "$2" ] && [ "$1" -le $(($2 + 2)) ]
	report $? "... it sees all $2 packets"
	[ "$1" = "$2" ] || diag "it saw $1"
}

# all COUNT: passes if COUNT is nearly all received packets. The first packets
# of a connection take the slow path.
all()
{
	[ "$1" -ge $((RCVD - 4)) ] && [ "$1" -gt 200 ]
}

# shellcheck disable=SC2317  # soon runs it
early_more_than()
{
	[ "$(counter mxe2 rcvd_early_pkts)" -gt "$1" ]
}

# batches: posts 16 requests in one call, several times. Sets SENT and RCVD to
# the GSO batches that mxe1 sent and mxe2 split.
batches()
{
	local sent rcvd rc
	sent=$(counter mxe1 sent_gso_batches)
	rcvd=$(counter mxe2 rcvd_gso_batches)
	perf -T 100 -d mxe1 -r mxe2 -t rate -q 16 -b 16 -n 160 -o write,read,mcas \
		-e native >/dev/null
	rc=$?
	SENT=$(counter mxe1 sent_gso_batches)
	SENT=$((SENT - sent)) RCVD=$(($(counter mxe2 rcvd_gso_batches) - rcvd))
	return $rc
}

test_received()
{
	traffic
	report $? 'traffic'
	all "$EARLY"
	report $? "... $EARLY of $RCVD packets take the early hook"
	check "... and IP counts $IP" test "$IP" -ge "$RCVD"

	for hook in prerouting input; do
		check "a rule of $hook" nft_rule $hook
		traffic
		report $? '... traffic'
		saw_all "$(nft_packets)" "$RCVD"
		if [ $hook = input ]; then
			is "$EARLY" 0 '... none bypasses it'
		else
			all "$EARLY"
			report $? "... $EARLY take the early hook after it"
		fi
		ip netns exec h2 nft delete table inet mxe
	done
	traffic
	report $? 'without rules'
	all "$EARLY"
	report $? "... $EARLY of $RCVD packets take the early hook again"
}

# IPsec policies that do not match the packets.
test_ipsec()
{
	check 'an IPsec policy' ip -n h2 xfrm policy add src "$OTHER" dst "$OWN" dir in \
		action block
	traffic
	report $? '... traffic'
	is "$EARLY" 0 '... no packet bypasses it'
	ip -n h2 xfrm policy flush
}

# Rules that see and change sent packets.
test_sent()
{
	for hook in postrouting output; do
		check "a rule of $hook" nft_rule $hook
		traffic
		report $? '... traffic'
		saw_all "$(nft_packets)" "$SENT"
		ip netns exec h2 nft delete table inet mxe
	done
	check "a rule of postrouting: $TTL" \
		ip netns exec h2 nft -f - <<-EOF2
			table inet mxe {
				chain c {
					type filter hook postrouting priority 0
					udp dport 4791 $TTL counter accept
				}
			}
		EOF2
	traffic
	report $? '... traffic: the ICRC does not cover it'
	is "$(nft_packets)" "$SENT" '... it changes all packets'
	ip netns exec h2 nft delete table inet mxe
}

# Packets that are sent as a GSO batch: split by mxe; split by the stack if it
# must see them one by one; and not batched.
test_batches()
{
	batches
	report $? 'requests posted together'
	check "... $SENT GSO batches are sent, $RCVD split" \
		test $((SENT >= 20 && RCVD >= SENT - 1)) -eq 1
	nft_rule input
	batches
	report $? 'the same with a rule of input'
	is "$RCVD" 0 "... $SENT GSO batches are split by the stack"
	ip netns exec h2 nft delete table inet mxe
	ip netns exec h2 tcpdump -i eth0 -w /dev/null 2>"/tmp/tcpdump.$$" &
	TCPDUMP=$!
	soon grep -q 'listening on' "/tmp/tcpdump.$$"
	batches
	report $? 'the same with a packet socket on the netdev'
	kill $TCPDUMP
	wait $TCPDUMP
	rm "/tmp/tcpdump.$$"
	echo N >/sys/module/mxe/parameters/gso
	batches
	report $? 'the same with gso=N'
	is "$SENT" 0 '... no GSO batch is sent'
	echo Y >/sys/module/mxe/parameters/gso
}

# An address is removed while a connection uses it, and with it the route.
# Packets to it must no longer arrive.
test_removal()
{
	perf -d mxe1 -r mxe2 -n 10000000 -o write >/dev/null 2>&1 &
	PERF=$!
	EARLY=$(counter mxe2 rcvd_early_pkts)
	check 'traffic to an address' soon early_more_than "$EARLY"
	ip -n h2 addr del "$OWN/$PREFIX" dev eth0
	sleep 0.3
	EARLY=$(counter mxe2 rcvd_early_pkts)
	sleep 1
	is "$(counter mxe2 rcvd_early_pkts)" "$EARLY" 'no packet is received for a removed address'
	kill $PERF
	wait $PERF
}

# traffic_to_h1: the same traffic; sets RCVD to the packets that mxe1 received,
# and EARLY to those that took the early hook
traffic_to_h1()
{
	local early rcvd rc
	early=$(counter mxe1 rcvd_early_pkts) rcvd=$(counter mxe1 rcvd_pkts)
	traffic
	rc=$?
	EARLY=$(($(counter mxe1 rcvd_early_pkts) - early))
	RCVD=$(($(counter mxe1 rcvd_pkts) - rcvd))
	return $rc
}

# A lightweight tunnel of the route to the own address, which may be a program
# that acts on received packets. On the other host, because the address of this
# one is removed later, and the kernel would not remove the new route with it.
test_tunnel()
{
	local encap=ip
	[ $V = 4 ] || encap=ip6
	ip -n h1 -$V route del local "$PEER" dev eth0 table local
	check 'a tunnel of the route to the own address' \
		ip -n h1 -$V route add local "$PEER" dev eth0 table local \
		encap $encap id 1 dst "$OTHER"
	traffic_to_h1
	report $? '... traffic'
	is "$EARLY" 0 "... none of $RCVD packets bypasses it"
	ip -n h1 -$V route del local "$PEER" dev eth0 table local
	check 'a route without it' \
		ip -n h1 -$V route add local "$PEER" dev eth0 table local
	traffic_to_h1
	report $? '... traffic'
	all "$EARLY"
	report $? "... $EARLY of $RCVD packets take the early hook again"
}

# A routing rule, on the other host, because the kernel never forgets that an
# IPv6 rule existed.
test_rule()
{
	check 'a routing rule' ip -n h1 -$V rule add from "$OTHER" blackhole
	traffic_to_h1
	report $? '... traffic'
	if [ $V = 4 ]; then
		all "$EARLY"
		report $? "... $EARLY of $RCVD packets take the early hook, as it resets the routes"
	else
		is "$EARLY" 0 "... none of $RCVD packets bypasses it"
	fi
	ip -n h1 -$V rule del from "$OTHER" blackhole
}

test_family()
{
	test_received
	test_ipsec
	test_sent
	test_batches
	test_tunnel
	test_rule
	test_removal
}

topo_up || bail_out "cannot make the two hosts"
V=4 GIDS=() OWN=10.77.0.2 PEER=10.77.0.1 OTHER=10.77.0.99 PREFIX=24
TTL='ip ttl set 3'
test_family
GID1=$(topo_gid_index mxe1 ^fd77:) GID2=$(topo_gid_index mxe2 ^fd77:)
V=6 GIDS=(-x "$GID1" -X "$GID2")
OWN=fd77::2 PEER=fd77::1 OTHER=fd77::99 PREFIX=64
TTL='ip6 hoplimit set 3'
test_family
done_testing
