#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# The module with atomic_reply=be. The test restores the module afterwards.

cd "$(dirname "$0")" || exit
# shellcheck source=tests/verbs/lib/topo.sh
. ../lib/topo.sh

with_module()
{
	rmmod mxe
	insmod "$MODULES/kernel/mxe/mxe.ko" "$@"
}

topo_down
if insmod "$MODULES/kernel/mxe/mxe.ko" atomic_reply=nonsense 2>/dev/null ||
	! with_module atomic_reply=be; then
	echo "Bail out!  cannot load the module with atomic_reply=be"
	exit 1
fi
../lib/topo.sh t_reply_be
rc=$?
with_module || rc=1
exit $rc
