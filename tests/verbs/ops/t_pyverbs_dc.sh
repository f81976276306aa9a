#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Runs rdma-core's own tests of the dynamically connected transport on mxe1.
# They call mlx5dv, so a preloaded library maps these calls to mxedv.

cd "$(dirname "$0")" || exit
# shellcheck source=tests/verbs/lib/topo.sh
. ../lib/topo.sh
# shellcheck source=tests/verbs/lib/pyverbs.sh
. ../lib/pyverbs.sh
# shellcheck source=tests/tap.sh
. ../../tap.sh

# Those for which mxe has all that they need. The others need on-demand paging,
# streams, or the mapping of addresses to QPs.
TRAFFIC='test_dc_rdma_write test_dc_send'

OVER=$(command -v mlx5dv-over-mxe.so) || bail_out "no mlx5dv-over-mxe.so"
topo_up || bail_out "cannot make the two hosts"
WORK=$(mktemp -d) || exit
trap 'rm -rf "$WORK"' EXIT
pyverbs_copy "$WORK"
find "$WORK/tests" -name 'test_*' ! -name 'test_mlx5_dc.py' -delete
# A device without on-demand paging makes this test fail.
sed -i '/def test_odp_dc_traffic(/i \
    @unittest.skip("no on-demand paging")' "$WORK/tests/test_mlx5_dc.py"
# Two modules import each other, which works only in the order of the whole
# suite.
sed -i '1i import tests.utils' "$WORK/tests/test_mlx5_dc.py"
before=$(ip netns exec h1 rdma statistic show link mxe1/1 | counted dc_connects)
pyverbs_run "$WORK" LD_PRELOAD="$OVER"
is $? 0 'the suite exits with status 0' || sed 's/^/# /' "$WORK/out"
for name in $TRAFFIC; do
	grep -q "^ok	$name " "$WORK/verdicts"
	report $? "$name"
done
sed -n 's/^skipped/# skipped/p' "$WORK/verdicts"
after=$(ip netns exec h1 rdma statistic show link mxe1/1 | counted dc_connects)
check 'they used DC' test "$after" -gt "$before"
done_testing
