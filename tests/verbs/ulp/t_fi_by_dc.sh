#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# The provider mxe of libfabric: tests of t_fi.sh with messages once more, over
# the dynamically connected (DC) transport.

# shellcheck disable=SC2317  # functions that "check" runs

cd "$(dirname "$0")" || exit
# shellcheck source=tests/verbs/lib/topo.sh
. ../lib/topo.sh
# shellcheck source=tests/verbs/lib/counters.sh
. ../lib/counters.sh
# shellcheck source=tests/verbs/lib/fi.sh
. ../lib/fi.sh
# shellcheck source=tests/tap.sh
. ../../tap.sh

export FI_PROVIDER=mxe
if ! fi_built t_fi_death; then
	echo "1..0 # SKIP libmxe-fi.so is missing"
	exit 77
fi
topo_up || bail_out "cannot make the two hosts"

check 'peers that are killed' by_dc t_fi_death
check 'forged hellos' by_dc t_fi_hello
check 'bounds of messages and requests' by_dc t_fi_bounds
check 'the kernel memory of a connection' by_dc t_fi_memory
check 'netem: 3 % lost, 3 % duplicated, reordered, both ways' topo_netem \
	delay 200us 100us loss 3% duplicate 3% reorder 25% 50%
check '... messages' by_dc t_fi_msg

done_testing
