#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# The soak test on wires of all kinds, from both hosts at the same time.
#
#	t_soak.sh [NAME...]	only these wires
#	t_soak.sh wire KIND on|off	impairs both ends, called by t_soak
#
# Each wire lasts until 10,000 masked atomics are done in a direction, or for 4
# or SOAK_SECONDS seconds. On the wire that loses 5 %, SOAK_OPERATIONS masked
# atomics are done instead.

# shellcheck disable=SC2317  # functions that "check" runs

HERE=$(cd "$(dirname "$0")" && pwd -P)
cd "$HERE" || exit
# shellcheck source=tests/verbs/lib/topo.sh
. ../lib/topo.sh
# shellcheck source=tests/verbs/lib/pair.sh
. ../lib/pair.sh
# shellcheck source=tests/tap.sh
. ../../tap.sh

PORT=7710
FLAPS=/run/soak-flaps
EXTENT=(-s 4 -c 10000)
[ -z "${SOAK_SECONDS:-}" ] || EXTENT=(-s "$SOAK_SECONDS")

# The impairments of netem for the packets of either direction.
declare -A NETEM=(
	[lose_0.1]='loss 0.1%'
	[lose_1]='loss 1%'
	[lose_5]='loss 5%'
	[lose_20]='loss 20%'
	[lose_bursts]='loss gemodel 1% 20% 70% 0.1%'
	[double]='duplicate 10%'
	[reorder]='delay 2ms reorder 25% 50%'
	[corrupt]='corrupt 2%'
	[jitter]='delay 3ms 3ms'
	[rate]='rate 20mbit'
	[all]='delay 1ms 1ms loss 2% duplicate 2% corrupt 1% reorder 10%'
)
WIRES=(good lose_0.1 lose_1 lose_5 lose_20 lose_bursts double reorder corrupt jitter
	rate flap all)

# Sets the link of h1 down for a tenth of a second, repeatedly.
flaps()
{
	while [ -e $FLAPS ]; do
		on h1 ip link set eth0 down
		sleep 0.1
		on h1 ip link set eth0 up
		sleep 0.5
	done
	rm -f $FLAPS.run
}

wire()
{
	local h
	case $1,$2 in
	good,*) return ;;
	flap,on)
		touch $FLAPS $FLAPS.run
		flaps >/dev/null 2>&1 &
		return
		;;
	flap,off)
		rm -f $FLAPS
		soon [ ! -e $FLAPS.run ]
		return
		;;
	esac
	for h in h1 h2; do
		if [ "$2" = on ]; then
			# shellcheck disable=SC2086  # words
			on $h tc qdisc replace dev eth0 root netem limit 10000 ${NETEM[$1]}
		else
			on $h tc qdisc del dev eth0 root
		fi || return
	done
}

if [ "${1:-}" = wire ]; then
	wire "$2" "$3"
	exit
fi

# soak HOST PEER WIRE OPTION...: runs the traffic and prints TAP.
soak()
{
	local host=$1 peer=$2 kind=$3 timeout=16
	shift 3
	# A machine on a busy host may stall for a second.
	[ -z "${MXE_PAIR:-}" ] || timeout=17
	case $kind in
	lose_20 | lose_bursts)
		# Seven retries may all be lost.
		set -- "$@" -l
		;;
	flap)
		# The scheduler decides for how long the link is down, and it
		# has many busy workers to run.
		set -- "$@" -l
		timeout=17
		;;
	esac
	on "$host" t_soak run "$@" -t $timeout "$(dev "$host")" "$(address "$peer")" $PORT
}

# passed FILE: passes if all tests in it passed and the output is complete.
passed()
{
	grep -q '^1\.\.' "$1" && ! grep '^not ok' "$1"
}

# run_wire KIND: runs traffic from h1 to h2 and back at the same time.
run_wire()
{
	local kind=$1 pid extent=("${EXTENT[@]}") h
	[ "$kind" != lose_5 ] || [ -z "${SOAK_OPERATIONS:-}" ] ||
		extent=(-c "$SOAK_OPERATIONS")
	soak h2 h1 "$kind" "${extent[@]}" -S 2 >"$OUT.h2" 2>&1 &
	pid=$!
	soak h1 h2 "$kind" "${extent[@]}" -w "$HERE/t_soak.sh wire $kind" \
		>"$OUT.h1" 2>&1
	wait $pid
	for h in h1 h2; do
		passed "$OUT.$h"
		report $? "$kind: $(grep -c '^ok' "$OUT.$h") checks from $h" || {
			sed 's/^/#   /' "$OUT.$h"
			continue
		}
		grep -h '^# mxe.*requests' "$OUT.$h"
	done
}

[ -n "${MXE_PAIR:-}" ] || topo_up || bail_out "cannot make the two hosts"
modprobe sch_netem || bail_out "no netem"
[ -z "${MXE_PAIR:-}" ] || on h2 modprobe sch_netem || bail_out "no netem at h2"
OUT=$(mktemp)
for h in h1 h2; do
	gid_index $h >/dev/null || bail_out "$h has no GID"
	on $h t_soak serve "$(dev $h)" $PORT >"$OUT.server.$h" 2>&1 &
done
for h in h1 h2; do
	check "a server listens at $h" listens $h $PORT
done
[ $# -gt 0 ] || set -- "${WIRES[@]}"
for kind; do
	run_wire "$kind"
done
for h in h1 h2; do
	is "$(cat "$OUT.server.$h")" '' "the server at $h reports no error"
done
for h in h1 h2; do
	on $h pkill -x t_soak
done
wait
rm -f "$OUT"*
done_testing
