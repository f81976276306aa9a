#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Neighbours that do not answer any more (ARP and neighbour discovery are lost):
# acknowledged traffic confirms them in both directions.

cd "$(dirname "$0")" || exit
# shellcheck source=tests/verbs/lib/topo.sh
. ../lib/topo.sh
# shellcheck source=tests/tap.sh
. ../../tap.sh

# short_lived HOST: neighbour entries expire after about two seconds without
# confirmation, and six probes precede the loss of an entry. A busy machine that
# stalls for some of this time must not lose them.
short_lived()
{
	local dir
	for dir in ipv4 ipv6; do
		ip netns exec "$1" sh -c "cd /proc/sys/net/$dir/neigh/eth0 &&
			echo 2000 >base_reachable_time_ms &&
			echo 2 >delay_first_probe_time &&
			echo 6 >ucast_solicit &&
			echo 500 >retrans_time_ms" || return
	done
	ip -n "$1" neigh flush dev eth0
}

# deaf HOST: makes a host ignore neighbour requests.
deaf()
{
	ip netns exec "$1" sh -c 'echo 8 >/proc/sys/net/ipv4/conf/eth0/arp_ignore' &&
		ip netns exec "$1" nft -f - <<-EOF2
			table ip6 deaf {
				chain c {
					type filter hook input priority 0
					icmpv6 type nd-neighbor-solicit drop
				}
			}
		EOF2
}

# known HOST ADDRESS: passes if the host has the neighbour, perhaps after a
# while
known()
{
	ip -n "$1" neigh show "$2" dev eth0 | grep -qE 'REACHABLE|STALE|DELAY'
}

# lost HOST ADDRESS: passes if the host has lost the neighbour
# shellcheck disable=SC2317  # soon runs it
lost()
{
	ip netns exec "$1" busybox ping -c 1 -W 1 "$2" >/dev/null
	ip -n "$1" neigh show "$2" dev eth0 | grep -qE 'FAILED|INCOMPLETE'
}

topo_up || bail_out "cannot make the two hosts"
OUT=$(mktemp -d)
# Before the traffic: existing entries keep their original lifetime.
for n in h1 h2; do
	check "neighbours of $n live for two seconds" short_lived $n
done
t_traffic -s 20 run >"$OUT/4" &
V4=$!
t_traffic -6 -s 20 run >"$OUT/6" &
V6=$!
check 'traffic over IPv4' soon grep -q running "$OUT/4"
check 'traffic over IPv6' soon grep -q running "$OUT/6"
for n in h1 h2; do
	check "$n ignores neighbour requests" deaf $n
done
wait $V4
report $? 'seconds later IPv4 works'
wait $V6
report $? 'seconds later IPv6 works'
for n in 1 2; do
	for a in 10.77.0. fd77::; do
		check "... h$n knows $a$((3 - n))" known h$n $a$((3 - n))
	done
done
# Without traffic the entries expire, so the traffic has kept them.
for a in 10.77.0.2 fd77::2; do
	check "afterwards $a is lost" soon lost h1 $a
done

# IPv4 uses a gateway that only IPv6 can resolve.
for n in 1 2; do
	ip netns exec h$n nft delete table ip6 deaf &&
		ip -n h$n neigh flush dev eth0 &&
		ip -n h$n route replace 10.77.0.$((3 - n)) \
			via inet6 fd77::$((3 - n)) dev eth0 src 10.77.0.$n
	report $? "h$n sends IPv4 to a gateway of IPv6"
done
check '... traffic over IPv4' t_traffic -s 1 run
rm -r "$OUT"
done_testing
