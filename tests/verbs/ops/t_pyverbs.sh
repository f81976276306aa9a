#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Runs rdma-core's own tests, as the distribution ships them, on mxe1. No test
# may fail, and pyverbs.skips must list the reason for each skip.

cd "$(dirname "$0")" || exit
# shellcheck source=tests/verbs/lib/topo.sh
. ../lib/topo.sh
# shellcheck source=tests/tap.sh
. ../../tap.sh

SUITE=/usr/share/doc/rdma-core/tests
# Tests of the drivers of other devices, and of GPUs.
OTHERS='mlx5|efa|srd|cuda'

[ -e $SUITE/run_tests.py ] ||
	bail_out "no $SUITE: does dpkg exclude /usr/share/doc here?"
modprobe -a rdma_ucm ib_umad || bail_out "cannot load rdma_ucm and ib_umad"
topo_up || bail_out "cannot make the two hosts"

WORK=$(mktemp -d) || exit
trap 'rm -rf "$WORK"; echo 0 >/proc/sys/vm/nr_hugepages' EXIT
echo 8 >/proc/sys/vm/nr_hugepages
cp -r $SUITE "$WORK/tests"
gunzip "$WORK"/tests/*.gz 2>/dev/null
# Longer time limits for a machine that is slow or stalls. The tests allow 10 s
# for a completion, 15 s for the other side, 30 s in all, and 67 ms for an
# acknowledgement.
sed -i -e 's/^POLL_CQ_TIMEOUT = 10 /POLL_CQ_TIMEOUT = 100 /' "$WORK/tests/utils.py"
sed -i -e 's/^TIMEOUT = 14$/TIMEOUT = 17/' -e 's/, timeout=15)$/, timeout=100)/' \
	-e 's/repeat_times=150 /repeat_times=1500 /' \
	"$WORK/tests/base.py"
# The tests of the RDMA CM look for the address of the netdev below the PCI
# device. A software device has none, but ib_core lists the netdev of each GID.
sed -i -e 's|/device/net/|/ports/1/gid_attrs/ndevs/0|' \
	-e "s/check_output(\['ls',/check_output(['cat',/" "$WORK/tests/base.py"
# A test starts processes that inherit a context. Python 3.14 does not fork for
# them by default.
sed -i '1i import multiprocessing; multiprocessing.set_start_method("fork")' \
	"$WORK/tests/run_tests.py"
# rdma_resolve_addrinfo() writes an event to rdma_ucm, which takes it since
# Linux 6.17.
if ! printf '%s\n' 6.17 "$(uname -r)" | sort -CV; then
	sed -i '/def test_rdmacm_async_resolve_addrinfo(/i \
    @unittest.skip("no RDMA_USER_CM_CMD_WRITE_CM_EVENT")' \
		"$WORK/tests/test_rdmacm.py"
fi
find "$WORK/tests" -name 'test_*' -regextype egrep -regex ".*/test_($OTHERS).*" \
	-delete

# Prevents the tests from finding other devices, and from writing in the
# directory.
cd "$WORK" || exit
ip netns exec h1 env PYTHONDONTWRITEBYTECODE=1 timeout $((700 * ${MXE_FACTOR:-1})) \
	/usr/bin/python3 tests/run_tests.py --dev mxe1 -v >"$WORK/out" 2>&1
RC=$?

# A line is "test_name (module.Class...) ... verdict". A line of documentation
# may precede the dots.
sed -n 's/^\([^ ].*\) \.\.\. \(ok\|FAIL\|ERROR\|skipped .*\)$/\2\t\1/p' \
	"$WORK/out" >"$WORK/verdicts"
while IFS=$'\t' read -r verdict name; do
	case $verdict in
	ok) report 0 "$name" ;;
	FAIL | ERROR) report 1 "$name" ;;
	esac
done <"$WORK/verdicts"
is $RC 0 'the suite exits with status 0' || grep -A30 -E '^(FAIL|ERROR):' "$WORK/out" |
	head -200 | sed 's/^/# /'

mapfile -t KNOWN < <(sed '/^#/d; s/\t.*//' "$TOP/tests/verbs/ops/pyverbs.skips")
sed -n "s/^skipped ['\"]\(.*\)['\"]\t.*/\1/p" "$WORK/verdicts" | sort |
	uniq -c >"$WORK/skips"
while read -r count reason; do
	known=1
	for k in "${KNOWN[@]}"; do
		[[ $reason != "$k"* ]] || known=0
	done
	diag "$count tests skipped: $reason"
	report $known "the reason for a skip is documented: $reason"
done <"$WORK/skips"
PASSED=$(grep -c '^ok' "$WORK/verdicts")
check 'at least 100 tests passed' test "$PASSED" -ge 100
done_testing
