#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# mxe-caps on mxe in two namespaces, on the kernel's rxe, and on siw, which has
# no atomics, if the kernel has siw.

# shellcheck disable=SC2015,SC2317  # functions that "check" runs

cd "$(dirname "$0")" || exit
# shellcheck source=tests/verbs/lib/topo.sh
. ../lib/topo.sh
# shellcheck source=tests/verbs/lib/rxe.sh
. ../lib/rxe.sh
# shellcheck source=tests/tap.sh
. ../../tap.sh

undo()
{
	local rc=0
	[ ! -e /sys/class/infiniband/siw0 ] || rdma link del siw0 || rc=1
	rxe_down caps0 || rc=1
	[ -z "$SIW" ] || modprobe -r siw || rc=1
	return "$rc"
}

# status WANT OPTION...: runs mxe-caps and checks its exit status.
status()
{
	local want=$1
	shift
	mxe-caps "$@" >"$OUT" 2>&1
	is $? "$want" "status of mxe-caps $*" || diag "$(cat "$OUT")"
}

# valid: passes if standard input is JSON.
valid()
{
	perl -MJSON::PP -e 'local $/; decode_json(<STDIN>)'
}

OUT=$(mktemp) || exit
topo_up || bail_out "cannot make the two hosts"
SIW=
if modprobe siw 2>/dev/null; then
	SIW=1
fi
rxe_dummy caps0 || bail_out "no rxe0"

out=$(mxe-caps)
is $? 0 'a table of all devices'
like "$out" '^mxe1 +verbs +glob +- +- +8 ' 'verbs of mxe'
like "$out" '^ +mxedv +glob +native +native +[0-9,]*8[0-9,]* +host be$' 'mxedv'
like "$out" '^ +ibv_exp +glob +native +native ' 'ibv_exp on mxe'
like "$out" '^mxe2 ' 'the other mxe'
like "$out" '^rxe0 +verbs +hca ' 'verbs of rxe'
check 'valid JSON' valid < <(mxe-caps --json)
status 0 --device mxe1 --require native --for user
like "$out" '^ +ibv_exp +hca +emulated +emulated ' 'ibv_exp on rxe'
status 0 --device rxe0 --require emulated --for user
status 1 --device rxe0 --require native --for user
status 3 --device none0
status 2 --require best
if [ -n "$SIW" ]; then
	rdma link add siw0 type siw netdev caps0
	like "$(mxe-caps -d siw0)" '^siw0 +verbs +none ' 'siw has no atomics'
	status 1 --device siw0 --require emulated --for user
fi
if [ -e /sys/class/infiniband_exp ]; then
	like "$(mxe-caps -d mxe1)" '^ +kernel +[a-z]+ +native +native ' \
		'native in the kernel on mxe'
	like "$(mxe-caps -d rxe0)" '^ +kernel +[a-z]+ +emulated +emulated ' \
		'emulated in the kernel on rxe'
	status 0 --device mxe1 --require native
	status 0 --device rxe0 --require emulated --for kernel
	status 1 --device rxe0 --require native --for kernel
else
	like "$(mxe-caps -d mxe1)" '^ +kernel +.the module ib_exp is not loaded' \
		'the kernel is not queried without ib_exp'
	status 4 --device mxe1 --require native
fi
rm -f "$OUT"
check 'all devices are removed' undo
done_testing
