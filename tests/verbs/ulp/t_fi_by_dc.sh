#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# The provider mxe of libfabric: tests of t_fi.sh once more over the dynamically
# connected (DC) transport, many peers by t_fi_dc, bounds by t_fi_bounds and
# t_fi_memory over RC and DC, and connections, messages and all atomics on a
# wire that loses, repeats and reorders packets.

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

fi_hosts t_fi_death

check 'all pairs of operation and datatype' \
	by_dc env MXE_FI_ONE_SIDED=1 t_fi_atomic
check 'a thousand peers, and peers that do not answer' t_fi_dc
check 'tagged messages and atomics, peeks, directed and multiple receives' \
	by_dc t_fi_msg
check 'peers that are killed' by_dc t_fi_death
check 'forged hellos' by_dc t_fi_hello
check 'bounds of messages and requests' by_dc t_fi_bounds
check '... over RC' t_fi_bounds
check 'the kernel memory of a connection' by_dc t_fi_memory
check '... over RC' t_fi_memory
check 'netem: 3 % lost, 3 % duplicated, reordered, both ways' topo_netem \
	delay 200us 100us loss 3% duplicate 3% reorder 25% 50%
check '... connections' t_fi_cm
check '... messages' by_dc t_fi_msg
check '... all pairs of operation and datatype' \
	by_dc env MXE_FI_ONE_SIDED=1 MXE_FI_LOSSY=1 t_fi_atomic

done_testing
