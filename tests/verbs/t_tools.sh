#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# The stock tools of rdma-core, perftest and iproute2 on mxe.

# shellcheck disable=SC2317  # functions that "check" runs

cd "$(dirname "$0")" || exit
# shellcheck source=tests/verbs/topo.sh
. ./topo.sh
# shellcheck source=tests/tap.sh
. ../tap.sh

# both PORT SERVER CLIENT: COMMAND lines with DEVICE, GID and PEER in them, the
# server in h2, the client in h1. Passes if both do.
both()
{
	local port=$1 server client out pid rc
	server=${2//DEVICE/mxe2} client=${3//DEVICE/mxe1}
	server=${server//GID/$GID2} client=${client//GID/$GID1}
	out=$(mktemp)
	# shellcheck disable=SC2086  # lines of words
	timeout 60 ip netns exec h2 $server >"$out" 2>&1 &
	pid=$!
	# shellcheck disable=SC2086
	topo_listens "$port" $H2 &&
		timeout 60 ip netns exec h1 ${client//PEER/10.77.0.2}
	rc=$?
	wait "$pid" || {
		rc=$?
		echo "server: $server"
		cat "$out"
	}
	rm -f "$out"
	return "$rc"
}

# both, the same command on both sides.
pair()
{
	local port=$1
	shift
	both "$port" "$*" "$* PEER"
}

topo_up || bail_out "cannot make the two hosts"
ip netns exec h2 sleep 1000 &
H2=$!
GID1=$(topo_gid_index mxe1)
GID2=$(topo_gid_index mxe2)

INFO=$(ip netns exec h1 ibv_devinfo -v -d mxe1)
like "$INFO" 'transport:[[:space:]]+InfiniBand' 'ibv_devinfo: transport'
like "$INFO" 'link_layer:[[:space:]]+Ethernet' 'ibv_devinfo: link layer'
like "$INFO" 'atomic_cap:[[:space:]]+ATOMIC_GLOB' 'ibv_devinfo: atomic_cap is GLOB'
like "$INFO" 'state:[[:space:]]+PORT_ACTIVE' 'ibv_devinfo: port is active'
like "$INFO" 'active_mtu:[[:space:]]+4096' 'ibv_devinfo: active MTU'
like "$INFO" 'GID.*::ffff:10\.77\.0\.1, RoCE v2' 'ibv_devinfo: GID of IPv4'
like "$INFO" 'GID.*fd77::1, RoCE v2' 'ibv_devinfo: GID of IPv6'

check 'ibv_rc_pingpong' \
	pair 18515 ibv_rc_pingpong -d DEVICE -g GID -n 30 -c
check 'ibv_rc_pingpong with events' \
	pair 18515 ibv_rc_pingpong -d DEVICE -g GID -n 20 -e -c
check 'ibv_rc_pingpong, messages of 64 KiB, path MTU 1024' \
	pair 18515 ibv_rc_pingpong -d DEVICE -g GID -n 10 -s 65536 -m 1024 -c
check 'ibv_rc_pingpong by ibv_wr_*' \
	pair 18515 ibv_rc_pingpong -d DEVICE -g GID -n 20 -N -c
check 'ib_send_lat' pair 18516 ib_send_lat -d DEVICE -x GID -n 50 -p 18516 -F
check 'ib_write_bw' \
	pair 18517 ib_write_bw -d DEVICE -x GID -n 20 -s 32768 -p 18517 -F
check 'ib_read_bw' \
	pair 18518 ib_read_bw -d DEVICE -x GID -n 20 -s 32768 -p 18518 -F
for atomic in CMP_AND_SWAP FETCH_AND_ADD; do
	check "ib_atomic_lat $atomic" pair 18519 \
		ib_atomic_lat -d DEVICE -x GID -n 50 -A $atomic -p 18519 -F
	check "ib_atomic_bw $atomic" pair 18520 \
		ib_atomic_bw -d DEVICE -x GID -n 50 -A $atomic -p 18520 -F
done

check 'ibv_srq_pingpong' pair 18515 ibv_srq_pingpong -d DEVICE -g GID -n 30 -c
check 'ibv_uc_pingpong' pair 18515 ibv_uc_pingpong -d DEVICE -g GID -n 30 -c
check 'ibv_ud_pingpong' pair 18515 ibv_ud_pingpong -d DEVICE -g GID -n 30 -c
check 'ib_write_bw over UC' \
	pair 18521 ib_write_bw -c UC -d DEVICE -x GID -n 20 -s 32768 -p 18521 -F
check 'ib_send_bw with an SRQ' pair 18522 \
	ib_send_bw -r 64 --use-srq -d DEVICE -x GID -n 20 -s 4096 -p 18522 -F

check 'ibv_xsrq_pingpong' both 18515 'ibv_xsrq_pingpong -d DEVICE -g GID -n 30' \
	'ibv_xsrq_pingpong -d DEVICE -g GID -n 30 PEER'
for test in ib_send_bw ib_write_bw ib_read_bw 'ib_atomic_bw -A FETCH_AND_ADD'; do
	check "$test over XRC" pair 18523 \
		$test -c XRC -d DEVICE -x GID -n 20 -p 18523 -F
done

like "$(rdma link show mxe1/1)" 'mxe1/1 state ACTIVE physical_state LINK_UP' \
	'rdma link'
like "$(ip netns exec h1 rdma link show mxe1/1)" 'netdev eth0' \
	'rdma link in the namespace names the interface'
like "$(rdma dev show mxe1)" 'mxe1: node_type ca' 'rdma dev'
# Something to be shown while it lives.
t_traffic -s 3 run >/tmp/traffic.out 2>&1 &
TRAFFIC=$!
for _ in {1..100}; do
	grep -q running /tmp/traffic.out 2>/dev/null && break
	sleep 0.1
done
like "$(rdma resource show mxe1)" 'mxe1: pd 2 cq 3 qp 2 .*mr 1' \
	'rdma resource counts what a process has'
like "$(rdma resource show qp link mxe1)" 'type RC state RTS .*comm t_traffic' \
	'rdma resource shows its queue pair'
STAT=$(rdma statistic show link mxe1/1)
like "$STAT" 'sent_pkts [1-9]' 'rdma statistic: packets'
like "$(rdma statistic show link mxe2/1)" 'masked_atomics_executed [1-9]' \
	'rdma statistic: masked atomics at the responder'
wait $TRAFFIC
is $? 0 'the process ended well'
like "$(rdma resource show mxe1)" 'mxe1: pd 1 cq 1 qp 1 .*mr 0' \
	'rdma resource: all but QP 1 is given back'

MODINFO=$(modinfo "$TOP/kernel/mxe/mxe.ko")
like "$MODINFO" 'license: +GPL' 'modinfo: licence'
like "$MODINFO" 'alias: +rdma-link-mxe' 'modinfo: rdma link loads it'
like "$MODINFO" 'parm: +port:' 'modinfo: parameter port'
like "$MODINFO" 'parm: +atomic_reply:' 'modinfo: parameter atomic_reply'
like "$MODINFO" 'description: .' 'modinfo: description'

kill $H2
done_testing
