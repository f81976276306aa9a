#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Every tracepoint of Documentation/tracing.rst fires with the documented
# fields, and packet headers match the address vector.

cd "$(dirname "$0")" || exit
# shellcheck source=tests/verbs/lib/topo.sh
. ../lib/topo.sh
# shellcheck source=tests/tap.sh
. ../../tap.sh

T=/sys/kernel/tracing
R=$(mktemp -d)
topo_up || bail_out "cannot make the two hosts"
[ -e $T/events ] || mount -t tracefs tracefs $T || bail_out "no tracefs"

# traced COMMAND...: runs a command and writes its trace to $R/trace.
traced()
{
	echo 1 >$T/events/mxe/enable
	echo >$T/trace
	"$@" >"$R/out" 2>&1
	report $? "with tracing: $*" || diag "$(<"$R/out")"
	echo 0 >$T/events/mxe/enable
	cat $T/trace >"$R/trace"
}

saw()
{
	if grep -Eq "$1" "$R/trace"; then
		report 0 "$2"
	else
		report 1 "$2"
		diag "$(tail -n 20 "$R/trace")"
	fi
}

# Passes if both sides have detected a lost packet, which is chance.
# shellcheck disable=SC2317  # rounds runs it
was_lossy()
{
	local what
	for what in 'mxe_retry: mxe1' 'mxe_nak_sent: mxe2 .*=0x60' \
		'mxe_nak_received: mxe1 .*=0x60'; do
		grep -q "$what" $T/trace || return
	done
}

# shellcheck disable=SC2317  # rounds runs it
traffic_anew()
{
	echo >$T/trace
	t_traffic -s 1 run
}

echo 8192 >$T/buffer_size_kb
DOC=$(sed -n 's/^``\(mxe_[a-z_]*\)``.*/\1/p' "$TOP/Documentation/tracing.rst" |
	sort -u | tr '\n' ' ')
HAVE=$(find $T/events/mxe -mindepth 1 -maxdepth 1 -type d -printf '%f\n' |
	sort | tr '\n' ' ')
is "$HAVE" "$DOC" 'the tracepoints are the documented ones'

topo_netem loss 2%
traced rounds was_lossy traffic_anew
topo_netem limit 1000
X='0x[0-9a-f]+'
saw "mxe_post: mxe1 qpn=[0-9]+ wr_id=$X opcode=13 length=8 flags=$X error=0" \
	'mxe_post'
saw "mxe_send: mxe1 qpn=[0-9]+ opcode=0xd4 psn=$X length=0" \
	'mxe_send: a masked fetch-and-add'
saw "mxe_send: mxe1 qpn=[0-9]+ opcode=0x0a psn=$X length=3000" \
	'mxe_send: a WRITE'
saw "mxe_receive: mxe2 qpn=[0-9]+ opcode=0xd4 psn=$X" 'mxe_receive'
saw "mxe_atomic: mxe2 qpn=[0-9]+ psn=$X op=masked_fetch_add size=8 va=$X rkey=$X" \
	'mxe_atomic'
saw "mxe_retry: mxe1 qpn=[0-9]+ psn=$X left=[0-7]" 'mxe_retry'
saw "mxe_nak_sent: mxe2 qpn=[0-9]+ psn=$X syndrome=0x60" 'mxe_nak_sent'
saw "mxe_nak_received: mxe1 qpn=[0-9]+ psn=$X syndrome=0x60" \
	'mxe_nak_received'

MXE_B=mxe1 traced t_traffic -s 1 run
saw "mxe_loop: mxe1 qpn=[0-9]+ peer=[0-9]+ opcode=13 psn=$X length=8" \
	'mxe_loop: a masked fetch-and-add'

traced t_dc_sessions sessions
Y='qpn=[0-9]+ peer=[0-9]+ session=[0-9]+'
saw "mxe_dc_connect: mxe1 $Y" 'mxe_dc_connect'
saw "mxe_dc_answer: mxe2 $Y code=challenge" 'mxe_dc_answer'
saw "mxe_dc_accept: mxe2 $Y" 'mxe_dc_accept'
saw "mxe_dc_disconnect: mxe1 $Y" 'mxe_dc_disconnect'
saw "mxe_dc_expire: mxe2 $Y" 'mxe_dc_expire'
saw "mxe_dc_close: mxe2 $Y" 'mxe_dc_close'

# ---- fields of the address vector

# capture COUNT FILTER ARGUMENT...: captures COUNT packets of traffic with these
# options.
capture()
{
	local count=$1 filter=$2 pid
	shift 2
	ip netns exec h2 timeout 120 tcpdump -i eth0 -c "$count" -vn "$filter" \
		>"$R/dump" 2>"$R/tcpdump" &
	pid=$!
	soon grep -q 'listening on' "$R/tcpdump"
	while kill -0 $pid 2>/dev/null; do
		t_traffic -s 1 "$@" >"$R/out" 2>&1 || diag "$(<"$R/out")"
	done
	wait $pid
}

# The core uses the hop limit of the route and ignores that of the process.
for i in 1 2; do
	ip -n h$i route replace 10.77.0.0/24 dev eth0 src 10.77.0.$i hoplimit 17
done
capture 60 'ip and udp port 4791' -c 0x68 run
diag "$(head -n 3 "$R/dump")"
is "$(grep -c 'IP (tos 0x68, ttl 17,' "$R/dump")" 60 \
	'IPv4: traffic class and hop limit, both directions'
# Each queue pair sends 32 requests, and may retransmit them.
capture 300 'ip and udp dst port 4791 and src host 10.77.0.1' destroy
PORTS=$(sed -n 's/^ *10\.77\.0\.1\.\([0-9]*\) > .*/\1/p' "$R/dump" | sort -nu)
ok=0
for p in $PORTS; do
	[ "$p" -ge 49152 ] || ok=1
done
report $ok 'UDP source ports are 49152 or above'
is "$([ "$(wc -w <<<"$PORTS")" -gt 1 ] && echo several)" several \
	'... and differ between queue pairs'
rm -rf "$R"
done_testing
