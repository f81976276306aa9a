#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Two hosts h1 and h2 for tests that run both in namespaces (tools/two-hosts)
# and in two machines (tools/vm --pair). Sourced, it defines the functions
# below. In a pair of machines the test runs on h1 and reaches h2 through a TCP
# port on which this script listens:
#
#	pair.sh serve	run the commands of the other machine until it ends

PAIR_PORT=7700
PAIR_PEER=10.77.0.2
# shellcheck source=tests/verbs/lib/soon.sh
. "${BASH_SOURCE[0]%/*}/soon.sh"
# shellcheck source=tests/verbs/lib/counters.sh
. "${BASH_SOURCE[0]%/*}/counters.sh"

# on HOST COMMAND...: runs a command on a host and returns its exit status.
# Passes on each line of output immediately, which mawk would not do. The host
# "-" is that of this shell.
on()
{
	local host=$1
	shift
	if [ "$host" = - ]; then
		"$@"
	elif [ -z "${MXE_PAIR:-}" ]; then
		ip netns exec "$host" "$@"
	elif [ "$host" = h1 ]; then
		"$@"
	else
		printf '%q ' "$@" | { cat; echo; } |
			busybox nc $PAIR_PEER $PAIR_PORT |
			perl -ne 'BEGIN { $| = 1; $rc = 125 }
				if (/^pair: status (\d+)/) { $rc = $1 } else { print }
				END { $? = $rc }'
	fi
}

# dev HOST: prints the name of its RDMA device. address HOST: prints its IPv4
# address.
dev()
{
	[ -n "${MXE_PAIR:-}" ] && echo mxe0 || echo "mxe${1#h}"
}

address()
{
	echo "10.77.0.${1#h}"
}

# sent HOST: prints the number of packets that its device has sent. sends HOST
# NUM: passes if the device has sent 500 more than NUM.
sent()
{
	on "$1" rdma statistic show link "$(dev "$1")/1" | counted sent_pkts
}

sends()
{
	[ "$(sent "$1")" -gt $(($2 + 500)) ]
}

# ended [PID]: passes if the process, a child of this shell, has ended. Fails
# without a PID.
ended()
{
	[ -n "${1:-}" ] && ! kill -0 "$1" 2>/dev/null
}

# Scripts that a shell on a host runs for up to a second. They poll with at most
# one process for each try, because starting processes is slow on the host.
# shellcheck disable=SC2016  # for the other shell
LISTENS='for i in {1..10}; do
	for file in /proc/net/tcp /proc/net/tcp6; do
		while read -r line; do
			[[ $line != *"$0"*" 0A "* ]] || exit 0
		done <$file
	done
	sleep 0.1
done
exit 1'
# shellcheck disable=SC2016
CM_LISTENS='for i in {1..5}; do
	while IFS= read -r line; do
		[[ $line != *"state LISTEN"*":$0 "* ]] || exit 0
	done < <(rdma resource show cm_id)
	sleep 0.1
done
exit 1'

# listens_by WHAT SCRIPT HOST WORD [PID]: waits until the script succeeds on the
# host or the process has ended.
listens_by()
{
	local tries
	for tries in {1..120}; do
		! on "$3" bash -c "$2" "$4" || return 0
		! ended "${5:-}" || break
	done
	echo "no listener on $1 after $tries tries"
	return 1
}

# listens HOST PORT [PID]: waits until a process listens on that TCP port of the
# host, or until the process PID, which should listen, has ended.
listens()
{
	local hex
	printf -v hex ':%04X ' "$2"
	listens_by "port $2" "$LISTENS" "$1" "$hex" "${3:-}"
}

# cm_listens HOST PORT [PID]: does the same for a port of the RDMA CM.
cm_listens()
{
	listens_by "CM port $2" "$CM_LISTENS" "$1" "$2" "${3:-}"
}

# gid_index HOST: prints the index of its IPv4 GID once its device has it.
gid_index()
{
	# shellcheck disable=SC2016  # for the other shell
	on "$1" bash -c '
		for i in {1..1200}; do
			for f in /sys/class/infiniband/$0/ports/1/gids/*; do
				read -r gid <$f
				case $gid in
				0000:*:ffff:*) echo "${f##*/}" && exit ;;
				esac
			done
			sleep 0.1
		done
		exit 1' "$(dev "$1")"
}

# both WAIT PORT SERVER CLIENT: runs the command line SERVER on h2, and CLIENT
# on h1 once WAIT reports a listener. Passes if both commands succeed.
both()
{
	local out pid rc
	out=$(mktemp)
	# shellcheck disable=SC2086  # lines of words
	on h2 timeout 180 $3 >"$out" 2>&1 &
	pid=$!
	# shellcheck disable=SC2086
	"$1" h2 "$2" "$pid" && on h1 timeout 180 $4
	rc=$?
	wait "$pid" || {
		rc=$?
		echo "server: $3"
		cat "$out"
	}
	rm -f "$out"
	return "$rc"
}

# pingpong NAME ARGUMENT... and perf NAME ARGUMENT... run a program of
# libibverbs's examples or of perftest on both hosts. perf_cm NAME ARGUMENT...
# connects by RDMA CM. D1, D2, G1 and G2 are the devices and GID indices (dev,
# gid_index).
pingpong()
{
	local name=$1 tries out
	shift
	# The program gives up after half a second without a response, which
	# cannot be configured. On a busy host, one of two emulated machines
	# may stall for longer.
	for tries in 1 2 3 4 5; do
		out=$(both listens 18515 "$name -d $D2 -g $G2 $*" \
			"$name -d $D1 -g $G1 $* 10.77.0.2") && return
		echo "$out"
		[[ -n ${MXE_PAIR:-} && $out == *'retry counter exceeded'* ]] ||
			return 1
	done
	echo "not in $tries tries"
	return 1
}

perf()
{
	local name=$1
	shift
	# -u 18: a timeout of one second. A host may stall for longer than seven
	# retries of the default, 67 ms.
	both listens 18515 "$name -F -d $D2 -x $G2 -p 18515 -u 18 $*" \
		"$name -F -d $D1 -x $G1 -p 18515 -u 18 $* 10.77.0.2"
}

perf_cm()
{
	local name=$1
	shift
	both cm_listens 18515 "$name -F -R -d $D2 -x $G2 -p 18515 $*" \
		"$name -F -R -d $D1 -x $G1 -p 18515 $* 10.77.0.2"
}

# retries: prints the number of retransmissions of the two hosts.
retries()
{
	local host
	for host in h1 h2; do
		on $host rdma statistic show link "$(dev $host)/1" || return
	done | counted rcvd_nak_sequence implied_nak retransmit_timeouts
}

# lost: prints the number of packets that h1's end of the wire has dropped.
lost()
{
	on h1 tc -s qdisc show dev eth0 | sed -n 's/.*(dropped \([0-9]*\),.*/\1/p'
}

# Passes if packets were lost and retransmitted since RETRIES was read.
was_bad()
{
	[ "$(lost)" -gt 0 ] && [ "$(retries)" -gt "$RETRIES" ]
}

# bad_wire COMMAND...: repeats the command, while h1's end of the wire loses 1 %
# of its packets, until a packet was lost and retransmitted. The number of
# rounds is random: a GSO batch is lost as one packet, and a lost
# acknowledgement may have no effect.
bad_wire()
{
	local rc
	RETRIES=$(retries) && modprobe sch_netem &&
		on h1 tc qdisc replace dev eth0 root netem loss 1% || return
	rounds was_bad "$@"
	rc=$?
	echo "lost: $(lost); sent again: $RETRIES before, $(retries) now"
	on h1 tc qdisc del dev eth0 root
	return $rc
}

# removal COMMAND...: removes the device of h1 while the command uses it, and
# adds it again. The command goes on, and ends when the file $STOP exists.
removal()
{
	local sent load
	sent=$(sent h1)
	"$@" >/run/load 2>&1 &
	load=$!
	check 'the device is busy' soon sends h1 "$sent"
	check 'remove it' rdma link delete mxe0
	check 'add it again' rdma link add mxe0 type mxe netdev eth0
	check 'it is busy again' soon sends h1 0
	touch "$STOP"
	check 'the load ends' soon ended $load
	wait $load
	report $? '... without an error' || diag "$(tail -n 5 /run/load)"
	rm -f "$STOP" /run/load
}

# Serves one connection: reads the command line, prints its output and status.
pair_answer()
{
	local line
	IFS= read -r line || exit
	eval "$line" </dev/null 2>&1
	echo "pair: status $?"
}

if [ "${BASH_SOURCE[0]}" = "$0" ]; then
	case ${1:-} in
	answer) pair_answer ;;
	serve)
		rm -f /run/pair-end
		busybox nc -ll -p $PAIR_PORT -e "$0" answer &
		SERVER=$!
		until [ -e /run/pair-end ]; do
			sleep 0.2
		done
		kill $SERVER
		;;
	*) exit 2 ;;
	esac
fi
