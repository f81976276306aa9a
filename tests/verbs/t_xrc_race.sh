#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# t_xrc_race with the look-up of shared receive queues held by mxe_delay.ko.

cd "$(dirname "$0")" || exit
# shellcheck source=tests/verbs/topo.sh
. ./topo.sh
# shellcheck source=tests/tap.sh
. ../tap.sh

DELAY=$MODULES/tests/kernel/mxe_delay.ko
if [ ! -e "$DELAY" ]; then
	echo '1..0 # SKIP this kernel has no kretprobes'
	exit 77
fi
topo_up || bail_out "cannot make the two hosts"
# mxe_xrc_find() may be part of mxe_xrc_select().
insmod "$DELAY" func=xa_load from=mxe_xrc_find,mxe_xrc_select ||
	bail_out "cannot load mxe_delay.ko"
t_xrc_race
RC=$?
rmmod mxe_delay || bail_out "cannot unload mxe_delay.ko"
exit $RC
