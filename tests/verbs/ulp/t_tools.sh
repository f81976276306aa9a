#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# The stock tools of rdma-core, perftest and iproute2 on mxe.

# shellcheck disable=SC2317  # functions that "check" runs

cd "$(dirname "$0")" || exit
# shellcheck source=tests/verbs/lib/topo.sh
. ../lib/topo.sh
# shellcheck source=tests/verbs/lib/pair.sh
. ../lib/pair.sh
# shellcheck source=tests/tap.sh
. ../../tap.sh

topo_up || bail_out "cannot make the two hosts"
# shellcheck disable=SC2034  # for pair.sh
D1=$(dev h1) D2=$(dev h2) G1=$(gid_index h1) G2=$(gid_index h2)

INFO=$(ip netns exec h1 ibv_devinfo -v -d mxe1)
like "$INFO" 'transport:[[:space:]]+InfiniBand' 'ibv_devinfo: transport'
like "$INFO" 'link_layer:[[:space:]]+Ethernet' 'ibv_devinfo: link layer'
like "$INFO" 'atomic_cap:[[:space:]]+ATOMIC_GLOB' 'ibv_devinfo: atomic_cap is GLOB'
like "$INFO" 'state:[[:space:]]+PORT_ACTIVE' 'ibv_devinfo: port is active'
like "$INFO" 'active_mtu:[[:space:]]+4096' 'ibv_devinfo: active MTU'
like "$INFO" 'GID.*::ffff:10\.77\.0\.1, RoCE v2' 'ibv_devinfo: GID of IPv4'
like "$INFO" 'GID.*fd77::1, RoCE v2' 'ibv_devinfo: GID of IPv6'

for t in rc uc ud srq; do
	check "ibv_${t}_pingpong" pingpong ibv_${t}_pingpong -n 30 -c
done
check 'ibv_xsrq_pingpong' pingpong ibv_xsrq_pingpong -n 30
check 'ibv_rc_pingpong with events' pingpong ibv_rc_pingpong -n 20 -e -c
check 'ibv_rc_pingpong, messages of 64 KiB, path MTU 1024' \
	pingpong ibv_rc_pingpong -n 10 -s 65536 -m 1024 -c
check 'ibv_rc_pingpong by ibv_wr_*' pingpong ibv_rc_pingpong -n 20 -N -c

like "$(rdma link show mxe1/1)" 'mxe1/1 state ACTIVE physical_state LINK_UP' \
	'rdma link'
like "$(ip netns exec h1 rdma link show mxe1/1)" 'netdev eth0' \
	'rdma link in the namespace names the interface'
like "$(rdma dev show mxe1)" 'mxe1: node_type ca' 'rdma dev'
# Objects for the tools to show.
t_traffic -s 1000 run >/tmp/traffic.out 2>&1 &
TRAFFIC=$!
soon grep -q running /tmp/traffic.out
like "$(rdma resource show mxe1)" 'mxe1: pd 2 cq 3 qp 2 .*mr 1' \
	'rdma resource counts the objects of a process'
like "$(rdma resource show qp link mxe1)" 'type RC state RTS .*comm t_traffic' \
	'rdma resource shows its queue pair'
STAT=$(rdma statistic show link mxe1/1)
like "$STAT" 'sent_pkts [1-9]' 'rdma statistic: packets'
like "$(rdma statistic show link mxe2/1)" 'masked_atomics_executed [1-9]' \
	'rdma statistic: masked atomics at the responder'
kill $TRAFFIC
wait $TRAFFIC
is $? 0 'the process exits with 0'
like "$(rdma resource show mxe1)" 'mxe1: pd 1 cq 1 qp 1 .*mr 0' \
	'rdma resource: only QP 1 and its objects remain'

MODINFO=$(modinfo "$TOP/kernel/mxe/mxe.ko")
like "$MODINFO" 'license: +GPL' 'modinfo: licence'
like "$MODINFO" 'alias: +rdma-link-mxe' 'modinfo: rdma link loads it'
like "$MODINFO" 'parm: +port:' 'modinfo: parameter port'
like "$MODINFO" 'parm: +atomic_reply:' 'modinfo: parameter atomic_reply'
like "$MODINFO" 'description: .' 'modinfo: description'

done_testing
