#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# mxe-caps --selftest on mxe, on mxe with big-endian replies only, on the
# kernel's rxe, where masked atomics are emulated, and on siw, which has no
# atomics. tests/unit/caps/t_selftest.c tests that the self-test detects wrong
# results.

# shellcheck disable=SC2015,SC2120,SC2317  # functions that "check" runs

cd "$(dirname "$0")" || exit
# shellcheck source=tests/verbs/lib/topo.sh
. ../lib/topo.sh
# shellcheck source=tests/verbs/lib/rxe.sh
. ../lib/rxe.sh
# shellcheck source=tests/tap.sh
. ../../tap.sh

# selftest WANT DEVICE OPTION...: runs the self-test and sets REPORT to its
# output.
selftest()
{
	local want=$1
	shift
	REPORT=$(mxe-caps --seed 1 --count 50 --selftest "$@" 2>&1)
	is $? "$want" "status of mxe-caps --selftest $*" || diag "$REPORT"
}

# line BACKEND OPERATION BYTES QP REPLY RESULT: passes if the report has this
# line.
line()
{
	like "$REPORT" "^$1 +$2 +$3 +$4 +$5 +$6" "$1: $2 of $3 bytes, $4: $6"
}

# with_module PARAMETER...: reloads mxe with the parameters, without hosts.
with_module()
{
	topo_down && rmmod mxe && insmod "$MODULES/kernel/mxe/mxe.ko" "$@"
}

# valid: passes if standard input is JSON.
valid()
{
	perl -MJSON::PP -e 'local $/; decode_json(<STDIN>)'
}

undo()
{
	local rc=0
	[ ! -e /sys/class/infiniband/siw0 ] || rdma link del siw0 || rc=1
	rxe_down self0 || rc=1
	[ -z "$SIW" ] || modprobe -r siw || rc=1
	with_module || rc=1
	return "$rc"
}

topo_up || bail_out "cannot make the two hosts"
SIW=
if modprobe siw 2>/dev/null; then
	SIW=1
fi
rxe_dummy self0 && soon topo_active rxe0 || bail_out "no rxe0"

selftest 0 mxe1
diag "$REPORT"
line verbs fetch-add 8 plain host pass
line mxedv cmp-swap 8 be-reply be pass
line mxedv masked-cmp-swap 4 plain be pass
line mxedv masked-cmp-swap 8 plain host pass
line mxedv masked-fetch-add 1 plain be pass
line exp-mxe masked-fetch-add 8 be-reply be pass
line exp-mxe wide-fetch-add 32 plain be pass
like "$REPORT" '^66 passed, 0 failed, 0 not offered$' 'mxe passes everything'
like "$REPORT" '^kernel +Linux ' 'the kernel is named'
like "$REPORT" '^port +1, Ethernet, GID index [0-9]+ .RoCE v2.$' 'the port, too'
check 'valid JSON' valid < <(mxe-caps --selftest mxe1 --count 0 --json)

selftest 0 rxe0
diag "$REPORT"
line verbs cmp-swap 8 plain host pass
line mxedv - - - - 'not offered: not an mxe device'
line exp-emulated masked-cmp-swap 8 plain host pass
line exp-emulated masked-fetch-add 8 be-reply be pass
line exp-emulated masked-fetch-add 4 be-reply be pass
line exp-emulated masked-fetch-add 16 - - 'not offered: not in masked_log'
like "$REPORT" '^22 passed, 0 failed, 7 not offered$' 'rxe passes 1 to 8 bytes'

selftest 3 none0
like "$REPORT" 'no RDMA device none0$' 'a device that does not exist'
selftest 4 rxe0 --port 9
like "$REPORT" '^mxe-caps: rxe0 has no port 9' 'a port that does not exist'
selftest 4 rxe0 --gid-index 255
like "$REPORT" 'has no GID with index 255$' 'a GID that does not exist'
ip link set self0 down && soon eval '! topo_active rxe0'
selftest 4 rxe0
like "$REPORT" 'no port of rxe0 is active' 'a link that is down'
if [ -n "$SIW" ]; then
	rdma link add siw0 type siw netdev self0
	selftest 4 siw0
	like "$REPORT" 'siw0 offers no atomics$' 'siw has nothing to test'
fi

check 'mxe is loaded with atomic_reply=be' with_module atomic_reply=be &&
	topo_up || bail_out "cannot make the two hosts again"
selftest 0 mxe1
line verbs cmp-swap 8 - - 'not offered'
line mxedv masked-cmp-swap 8 plain - 'not offered: .* big-endian only'
line mxedv masked-cmp-swap 8 be-reply be pass
line exp-mxe fetch-add 8 be-reply be pass
like "$REPORT" '^32 passed, 0 failed, 34 not offered$' 'no case replies in host order'

check 'all devices are removed' undo
done_testing
