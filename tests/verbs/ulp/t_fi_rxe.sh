#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# The provider mxe of libfabric on the kernel's rxe, which has standard atomics
# of 8 bytes, and libibverbs_exp emulates masked ones: rxe with itself, and with
# an mxe device at the other end of the wire.

# shellcheck disable=SC2317  # functions that "check" runs

cd "$(dirname "$0")" || exit
# shellcheck source=tests/verbs/lib/topo.sh
. ../lib/topo.sh
# shellcheck source=tests/verbs/lib/rxe.sh
. ../lib/rxe.sh
# shellcheck source=tests/verbs/lib/fi.sh
. ../lib/fi.sh
# shellcheck source=tests/tap.sh
. ../../tap.sh

export FI_PROVIDER=mxe
if ! fi_built fi_info; then
	echo "1..0 # SKIP libmxe-fi.so or libfabric-bin is missing"
	exit 77
fi
rxe_mxe_up || bail_out "cannot make the two hosts"

like "$(fi_info -p mxe -c FI_ATOMIC)" 'domain: rxe0' 'fi_info: rxe0, with atomics'
export MXE_FI_EMULATED=1
export MXE_FI_STAY=h1,h2
check 'rxe with itself: all pairs of operation and datatype up to 8 bytes' t_fi_atomic
check '... messages' t_fi_msg
check '... connections' t_fi_cm
check '... without messages, by connections, as rxe has no DC' \
	env MXE_FI_ONE_SIDED=1 t_fi_atomic
OUT=$(FI_MXE_DC=1 MXE_FI_ONE_SIDED=1 FI_LOG_LEVEL=warn t_fi_atomic 2>&1)
like "$OUT" 'device rxe0 has no DC' '... FI_MXE_DC=1 gives a warning'
like "$OUT" 'Bail out!  fi_enable: Operation not supported' '... and an error'
MXE_FI_STAY=h1
check 'rxe to mxe: all pairs of operation and datatype up to 8 bytes' t_fi_atomic
check '... messages' t_fi_msg
check '... connections' t_fi_cm
check 'all devices are removed' rxe_mxe_down
done_testing
