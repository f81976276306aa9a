#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Kernel queue pairs that contend with native and emulated masked atomics;
# checks the sums. Then devices and modules are removed while requests are in
# flight. rxe0 is in the initial namespace, because rxe works only there, and
# its wire ends at mxe3.

# shellcheck disable=SC2015,SC2317  # functions that "check" runs

cd "$(dirname "$0")" || exit
# shellcheck source=tests/verbs/lib/topo.sh
. ../lib/topo.sh
# shellcheck source=tests/verbs/lib/rxe.sh
. ../lib/rxe.sh
# shellcheck source=tests/tap.sh
. ../../tap.sh

C=/sys/class/infiniband_exp
D=/sys/kernel/debug/ib_exp_test

set_up()
{
	modprobe rdma_rxe 2>/dev/null
	topo_up && rxe_wire exp0 h1 eth1 10.78.0 && rxe_add rxe0 exp0 &&
		ip netns exec h1 rdma link add mxe3 type mxe netdev eth1
}

# load PARAMETER...: loads the test module. Details are in the kernel log.
load()
{
	echo "mxe-test: load $*" >/dev/kmsg
	insmod "$MODULES/tests/kernel/ib_exp_test.ko" "$@"
	local rc=$?
	[ $rc -eq 0 ] || dmesg | sed "1,/mxe-test: load $*/d" | grep ib_exp_test
	return $rc
}

unload()
{
	rmmod ib_exp_test
}

# contend PARAMETER...: runs the test module to its end and unloads it.
contend()
{
	check "contend $*" load "$@" || return
	is "$(cat $D/wrong $D/errors | tr '\n' ' ')" '0 0 ' '... no wrong value, no error'
	is "$(<$D/posted)" "$(<$D/completed)" '... and all requests completed'
	diag "$(<$D/posted) requests, $(<$D/out_of_retries) out of retries"
	check '... unloaded' unload
}

# runs: passes if requests complete.
runs()
{
	soon completed_more_than $(($(<$D/completed) + 20))
}

completed_more_than()
{
	[ "$(<$D/completed)" -gt "$1" ]
}

# ended: passes if every request has completed with the correct value.
ended()
{
	soon grep -qx 0 $D/running && [ "$(<$D/posted)" = "$(<$D/completed)" ] &&
		[ "$(<$D/wrong)" = 0 ] && return
	grep . $D/*
	return 1
}

# takes_away NAME PARAMETER... -- COMMAND...: the command removes a device while
# requests are in flight.
takes_away()
{
	local name=$1 args=()
	shift
	while [ "$1" != -- ]; do
		args+=("$1")
		shift
	done
	shift
	check "$name: begins" load forever=1 depth=$DEPTH "${args[@]}" || return
	check '... requests complete' runs
	check "... $*" timeout 60 "$@"
	if [ "$1" = true ]; then
		is "$(<$D/told)" 0 '... without a callback of ib_exp'
	else
		check '... all have ended' ended
		# A client of ib_core has no callback of ib_exp.
		[[ ${args[*]} == *client=1* ]] ||
			check '... after the callback of ib_exp' [ "$(<$D/told)" -gt 0 ]
	fi
	check '... unloaded' unload
}

set_up || bail_out "no devices"
soon topo_gid mxe1 :ffff:0a4d: && soon topo_gid rxe0 :ffff:0a4e: &&
	soon topo_gid mxe3 :ffff:0a4e: || bail_out "no GIDs"
# A waiter polls the lock all the time, so there are few waiters. User Mode
# Linux has one CPU and stalls easily.
N=${MXE_UML:+10}
DEPTH=8
[ -z "${MXE_UML:-}" ] || DEPTH=1
contend device=mxe1 depth=2 rounds="${N:-500}"
contend device=rxe0 depth=2 rounds="${N:-400}"
contend device=rxe0 peer=mxe3 depth=2 rounds="${N:-100}"
contend device=rxe0 depth=2 rounds="${N:-100}" poll_ctx=2
contend device=rxe0 qps=1 depth=$((6 * DEPTH)) rounds=5
echo 1 >$C/rxe0/max_retries
contend device=rxe0 depth=2 rounds="${N:-100}"
echo 1024 >$C/rxe0/max_retries

takes_away 'emulated, rmmod' device=rxe0 -- true
takes_away 'emulated, the device is deleted' device=rxe0 -- rdma link del rxe0
check 'rxe0 again' rxe_add rxe0 exp0
takes_away 'emulated, the peer is deleted' device=rxe0 peer=mxe3 client=1 -- \
	rdma link del mxe3
takes_away 'native, the device is deleted' device=mxe1 -- rdma link del mxe1
takes_away 'native, a client of ib_core' device=mxe2 peer=mxe2 client=1 -- \
	rdma link del mxe2
check 'all devices are removed' rxe_down exp0
done_testing
