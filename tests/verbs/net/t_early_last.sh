#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Rules of the lowest precedence (priority 2147483647) that are older than the
# link. mxe's early hook has the same priority, but must not take packets before
# such a rule has seen them. The same for IPv6.

# shellcheck disable=SC2317  # functions that "check" and "soon" run

cd "$(dirname "$0")" || exit
# shellcheck source=tests/verbs/lib/topo.sh
. ../lib/topo.sh
# shellcheck source=tests/tap.sh
. ../../tap.sh
# shellcheck source=tests/verbs/lib/traffic.sh
. ../lib/traffic.sh

LAST=2147483647

# relink COMMAND...: runs the command and then recreates mxe2.
relink()
{
	rdma link del mxe2 && soon topo_gone mxe2 && "$@" &&
		ip netns exec h2 rdma link add mxe2 type mxe netdev eth0 &&
		topo_gids mxe2
}

# rule: counts and accepts RoCE packets in h2.
rule()
{
	ip netns exec h2 nft -f - <<-EOF
		table inet mxe {
			chain c {
				type filter hook prerouting priority $LAST
				policy accept
				udp dport 4791 counter
			}
		}
	EOF
}

# packets: prints the counter of the rule
packets()
{
	ip netns exec h2 nft list table inet mxe |
		sed -n 's/.*counter packets \([0-9]*\).*/\1/p'
}

test_rule()
{
	local before rcvd seen
	check "nft, prerouting, made before the link ${TRAFFIC_OPTIONS[*]}" relink rule
	before=$(packets) rcvd=$(counter mxe2 rcvd_pkts)
	check '... traffic' t_traffic "${TRAFFIC_OPTIONS[@]}" -s 1 run
	rcvd=$(($(counter mxe2 rcvd_pkts) - rcvd))
	seen=$(($(packets) - before))
	is "$seen" "$rcvd" "... the rule sees all packets"
	[ "$rcvd" -gt 100 ]
	report $? "... which are $rcvd"

	traffic_start
	report $? '... traffic'
	check '... the policy becomes drop' ip netns exec h2 nft \
		'add chain inet mxe c { policy drop; }'
	traffic_test_stop
	ip netns exec h2 nft delete table inet mxe
}

topo_up || bail_out "cannot make the two hosts"
for option in '' -6; do
	TRAFFIC_OPTIONS=(${option:+$option})
	test_rule
done
done_testing
