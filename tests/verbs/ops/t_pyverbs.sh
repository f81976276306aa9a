#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Runs rdma-core's own tests, as the distribution ships them, on mxe1. No test
# may fail, and pyverbs.skips must list the reason for each skip.

cd "$(dirname "$0")" || exit
# shellcheck source=tests/verbs/lib/topo.sh
. ../lib/topo.sh
# shellcheck source=tests/verbs/lib/pyverbs.sh
. ../lib/pyverbs.sh
# shellcheck source=tests/tap.sh
. ../../tap.sh

# Tests of the drivers of other devices, and of GPUs.
OTHERS='mlx5|efa|srd|cuda'

modprobe -a rdma_ucm ib_umad || bail_out "cannot load rdma_ucm and ib_umad"
topo_up || bail_out "cannot make the two hosts"

WORK=$(mktemp -d) || exit
trap 'rm -rf "$WORK"; echo 0 >/proc/sys/vm/nr_hugepages' EXIT
echo 8 >/proc/sys/vm/nr_hugepages
pyverbs_copy "$WORK"
find "$WORK/tests" -name 'test_*' -regextype egrep -regex ".*/test_($OTHERS).*" \
	-delete

pyverbs_run "$WORK"
RC=$?
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
