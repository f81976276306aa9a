#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# masked_locks, the kernel consumer of masked atomics (kernel/examples). Checks
# exact sums of counters and the exact history of every lock, with clients whose
# device executes masked atomics, with clients for which ib_exp emulates them,
# and with both at the same time. Removes every object that can be removed while
# the clients run.
#
# mxe1 is in h1 and mxe2 in h2. A second wire joins the initial namespace
# (10.78.0.1, rxe0) and h2 (10.78.0.2, mxe3). rxe1 is on a separate interface.

# shellcheck disable=SC2015,SC2317  # functions that "check" runs

cd "$(dirname "$0")" || exit
# shellcheck source=tests/verbs/lib/topo.sh
. ../lib/topo.sh
# shellcheck source=tests/verbs/lib/rxe.sh
. ../lib/rxe.sh
# shellcheck source=tests/tap.sh
. ../../tap.sh

D=/sys/kernel/debug/masked_locks
MODULE=${MXE_MODULES:-$TOP}/kernel/examples/masked_locks.ko
PORT=7471
# Rounds of each client that runs to its end.
ROUNDS=${MXE_UML:+40}
ROUNDS=${ROUNDS:-75}

# tell NAMESPACE FILE WORD...: writes a command to the module from a namespace.
# "-" is the initial one. (ip netns exec would hide debugfs.)
tell()
{
	local enter=() file=$2
	[ "$1" = - ] || enter=(nsenter --net="/run/netns/$1")
	shift 2
	"${enter[@]}" bash -c 'echo "$1" >"$2"' - "$*" "$D/$file"
}

# start NAMESPACE ADDRESS CLIENTS ROUNDS
start()
{
	tell "$1" client start "$2" $PORT "$3" "$4"
}

# Passes once all clients have ended.
idle()
{
	soon not grep -q 'state running' $D/client && return
	cat $D/client
	return 1
}

# Passes once locks have been taken.
busy()
{
	soon has_history 50 && return
	cat $D/client
	return 1
}

has_history()
{
	[ "$(wc -l <$D/history)" -ge "$1" ]
}

# field NAME: prints the sum of a field over all clients.
field()
{
	awk -v name="$1" '{ for (i = 1; i < NF; i++) if ($i == name) sum += $(i + 1) }
		END { print sum + 0 }' $D/client
}

# values NAME: prints each distinct value of a field of the clients.
values()
{
	awk -v name="$1" '{ for (i = 1; i < NF; i++) if ($i == name) print $(i + 1) }' \
		$D/client | sort -u | paste -sd ' '
}

# exact_locks [LOST]: checks that each grant of every lock occurred once, that
# no lock is held, and that the guarded counters match. LOST is the number that
# may be missing because of disconnected clients.
exact_locks()
{
	awk -v lost="${1:-0}" '
		FNR == NR && $1 == "lock" {
			grants[$2] = $6
			total += $6
			if ($4 != 0 || $6 != $8)
				bad = bad "\n" $0
		}
		FNR == NR { next }
		$2 >= grants[$1] || seen[$1 "," $2]++ { bad = bad "\ngrant " $0 }
		{ had++ }
		END {
			if (total - had > lost || had > total)
				bad = bad "\n" had " of " total " grants"
			if (bad) {
				print bad
				exit 1
			}
		}' $D/table $D/history | head -n 8
	return "${PIPESTATUS[0]}"
}

# Checks that the counters were increased by 1, 2, 3 and 4 for each addition of
# a client.
exact_counters()
{
	awk -v counted="$(field counted)" '
		$1 == "counters" { for (i = 1; i <= 4; i++) sum[i] += $(i + 2) }
		END {
			for (i = 1; i <= 4; i++)
				if ((sum[i] - i * counted) % 65536) {
					print i ": " sum[i] ", counted " counted
					exit 1
				}
		}' $D/table
}

# all_well NAME MODES ROUNDS: tests the results after clients ended normally.
all_well()
{
	check "$1: clients end" idle
	is "$(values error)" 0 "$1: none has an error"
	is "$(values mode)" "$2" "$1: $2"
	is "$(field taken)" "$3" "$1: every lock is taken" || diag "$(cat $D/client)"
	is "$(field wrong)" 0 "$1: no client sees a wrong value"
	check "$1: the history of locks is exact" exact_locks
	check "$1: the sums of counters are exact" exact_counters
}

# Waits until the server's statistics match.
server_says()
{
	soon grep -q "^$1\$" $D/server && return
	cat $D/server
	return 1
}

# gone NAME: tests the results after four clients lost their connection.
gone()
{
	check "$1: clients end" idle
	is "$(field wrong)" 0 "$1: no client has seen a wrong value"
	like "$(values error)" '^-[0-9]+( -[0-9]+)*$' "$1: all have an error"
	check "$1: no connection is left" server_says 'connections 0'
	check "$1: no lock was held twice, or still is" exact_locks 4
}

forget()
{
	tell - client stop && tell - server stop
}

# refused NAMESPACE ADDRESS ERROR NAME: tests that a client ends with this
# error.
refused()
{
	start "$1" "$2" 1 1
	idle
	is "$(values error)" "$3" "$4"
}

# ---- scenes ------------------------------------------------------------------

# work: name, namespaces of clients and server, address of the server, mode.
work()
{
	check "$1: listen" tell "$3" server listen "$4" $PORT
	check "$1: four clients" start "$2" "$4" 4 $ROUNDS
	all_well "$1" "$5" $((4 * ROUNDS))
	tell - client stop

	start "$2" "$4" 3 100000
	check "$1: long-running clients" busy
	check "$1: ... are stopped halfway" tell - client stop
	is "$(awk '$1 == "lock" && ($4 || $6 != $8)' $D/table)" '' \
		"$1: ... and leave no lock behind"
	check "$1: the server stops" tell - server stop
}

# The device of each address, if it has only one.
declare -A DEVICE=([10.77.0.2]=mxe2 [10.78.0.2]=mxe3 [10.79.0.1]=rxe1)

# torn: the first four arguments of work, and the command that disconnects.
torn()
{
	check "$1: listen" tell "$3" server listen "$4" $PORT
	start "$2" "$4" 4 100000
	check "$1: clients work" busy
	check "$1" "${@:5}"
	gone "$1"
	[ "$5 $6 $7" != "rdma link del" ] || [ "$8" != "${DEVICE[$4]}" ] ||
		check "$1: no server listens" server_says 'listening 0'
	forget
}

# Makes the second wire and the rxe devices.
wire()
{
	rxe_wire ulp0 h2 ulp0 10.78.0 &&
		ip link add ulp1 mtu 4200 type dummy &&
		ip addr add 10.79.0.1/24 dev ulp1 && ip link set ulp1 up
}

devices()
{
	[ -e /sys/class/infiniband/rxe0 ] || rxe_add rxe0 ulp0 || return
	[ -e /sys/class/infiniband/rxe1 ] || rxe_add rxe1 ulp1 || return
	[ -e /sys/class/infiniband/mxe1 ] ||
		ip netns exec h1 rdma link add mxe1 type mxe netdev eth0 || return
	[ -e /sys/class/infiniband/mxe2 ] ||
		ip netns exec h2 rdma link add mxe2 type mxe netdev eth0 || return
	[ -e /sys/class/infiniband/mxe3 ] ||
		ip netns exec h2 rdma link add mxe3 type mxe netdev ulp0 || return
	topo_gids mxe1 mxe2 &&
		gid_of 10.78.0.1 rxe0 && gid_of 10.79.0.1 rxe1 &&
		gid_of 10.78.0.2 mxe3
}

# gid_of ADDRESS DEVICE: waits until the device has the GID.
gid_of()
{
	local hex a b c d
	IFS=. read -r a b c d <<<"$1"
	printf -v hex '%02x%02x:%02x%02x' "$a" "$b" "$c" "$d"
	soon topo_gid "$2" "ffff:$hex"
}

# A device without atomics, if the kernel has it.
on_siw()
{
	ip link add ulp2 type dummy && ip addr add 10.80.0.1/24 dev ulp2 &&
		ip link set ulp2 up && rdma link add siw0 type siw netdev ulp2
	report $? 'siw0'
	tell - server listen 10.80.0.1 $PORT
	refused - 10.80.0.1 -95 'no client on siw, which has no atomics'
	forget
	rdma link del siw0
	ip link del ulp2
	modprobe -r siw
}

undo()
{
	local rc=0
	[ ! -e /sys/module/masked_locks ] || rmmod masked_locks || rc=1
	rxe_down ulp0 ulp1 || rc=1
	return "$rc"
}

topo_up || bail_out "cannot make the two hosts"
modprobe -a rdma_rxe dummy 2>/dev/null
modprobe rdma_cm 2>/dev/null
wire && devices || bail_out "cannot make the second wire"
check 'insmod masked_locks.ko' insmod "$MODULE" || done_testing

work native h1 h2 10.77.0.2 native
work emulated - - 10.79.0.1 emulated

# Atomics of mxe are atomic with all other accesses, so a table may have two
# devices.
tell h2 server listen 0.0.0.0 $PORT
start h1 10.77.0.2 3 $ROUNDS
start - 10.78.0.2 3 $ROUNDS
all_well both 'emulated native' $((6 * ROUNDS))
tell - client stop

refused h2 10.78.0.2 0 'mxe to itself'
tell - client stop
tell - server stop
refused h1 10.77.0.2 -111 'no server listens'
tell - client stop

# Atomics of rxe are not, and rxe has no masked atomics.
tell - server listen 0.0.0.0 $PORT
refused h2 10.78.0.1 -95 'native masked atomics are not sent to rxe'
tell - client stop
start - 10.79.0.1 1 100000
busy
start - 10.78.0.1 1 1
soon grep -q 'error -95' $D/client
like "$(cat $D/client)" 'error -95' 'a table cannot have two rxe devices'
forget

! modprobe siw 2>/dev/null || on_siw

torn 'native: the server stops' h1 h2 10.77.0.2 tell - server stop
torn 'emulated: the server stops' - - 10.79.0.1 tell - server stop
torn "native: the clients' device is deleted" h1 h2 10.77.0.2 rdma link del mxe1
devices
torn "native: the server's device is deleted" h1 h2 10.77.0.2 rdma link del mxe2
devices
torn "emulated: the clients' device is deleted" - h2 10.78.0.2 rdma link del rxe0
devices
torn "emulated: the server's device is deleted" - h2 10.78.0.2 rdma link del mxe3
devices
torn 'emulated: the device of both is deleted' - - 10.79.0.1 rdma link del rxe1
devices

tell h2 server listen 0.0.0.0 $PORT
start h1 10.77.0.2 4 100000
start - 10.78.0.2 4 100000
check 'clients work' busy
check 'rmmod masked_locks' timeout 60 rmmod masked_locks
check 'all devices are removed' undo
done_testing
