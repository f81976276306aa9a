#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Devices that were added with coherent=N, and those added before and after.

cd "$(dirname "$0")" || exit
# shellcheck source=tests/verbs/lib/topo.sh
. ../lib/topo.sh
# shellcheck source=tests/tap.sh
. ../../tap.sh

PARAM=/sys/module/mxe/parameters/coherent
trap 'echo Y >$PARAM' EXIT

# run NAME COMMAND...: runs a test on the two hosts.
run()
{
	local name=$1
	shift
	../lib/topo.sh "$@"
	report $? "$name"
}

is "$(cat $PARAM)" Y 'devices are coherent by default'
run 'on coherent devices' t_coherence coherent
topo_down
echo N >$PARAM
run 'with coherent=N' t_coherence
# Only kernels with fault injection have it.
if [ -e /proc/self/fail-nth ]; then
	run 'memory failures with coherent=N' t_faults mr rereg sync
fi
echo Y >$PARAM
is "$(cat $PARAM)" Y 'the parameter is restored'
run 'devices with coherent=N stay so' t_coherence
topo_down
run 'new devices are coherent' t_coherence coherent
done_testing
