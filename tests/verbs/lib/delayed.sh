#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# delayed.sh FUNCTION[,FUNCTION...] TEST...: runs a test while mxe_delay.ko
# delays look-ups with xa_load() in these functions. Name the callers of a
# function, too, because the compiler may inline it.

cd "$(dirname "$0")" || exit
# shellcheck source=tests/verbs/lib/topo.sh
. ./topo.sh
# shellcheck source=tests/tap.sh
. ../../tap.sh

DELAY=$MODULES/tests/kernel/mxe_delay.ko
if [ ! -e "$DELAY" ]; then
	echo '1..0 # SKIP this kernel has no kretprobes'
	exit 77
fi
topo_up || bail_out "cannot make the two hosts"
insmod "$DELAY" func=xa_load from="$1" || bail_out "cannot load mxe_delay.ko"
"${@:2}"
RC=$?
rmmod mxe_delay || bail_out "cannot unload mxe_delay.ko"
exit $RC
