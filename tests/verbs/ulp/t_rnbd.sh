#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# RNBD over RTRS: the second host exports a disk in memory, and the first one
# has a file system on it. Ends with the removal of a device in use. Debian's
# kernel does not have these modules, so tools/lib/vm/ulp-modules builds them.

# shellcheck disable=SC2317  # functions that "check" runs

cd "$(dirname "$0")" || exit
# shellcheck source=tests/verbs/lib/pair.sh
. ../lib/pair.sh
# shellcheck source=tests/tap.sh
. ../../tap.sh
# shellcheck source=tests/verbs/lib/disk.sh
. ../lib/disk.sh

CTL=/sys/devices/virtual/rnbd-client/ctl
FILE=/run/rnbd.data
STOP=/run/rnbd.stop

# load SIDE: loads the modules of the client or the server.
load()
{
	modprobe rdma_cm && insmod "$ULP/rtrs-core.ko" && insmod "$ULP/rtrs-$1.ko" &&
		insmod "$ULP/rnbd-$1.ko"
}

unload()
{
	rmmod "rnbd-$1" "rtrs-$1" rtrs-core
}

serve()
{
	modprobe brd rd_nr=1 rd_size=65536 && load server
}

unserve()
{
	unload server && modprobe -r brd
}

connect()
{
	load client &&
		echo "sessname=mxe path=ip:$(address h1)@ip:$(address h2) device_path=/dev/ram0" \
			>"$CTL/map_device" && soon [ -b /dev/rnbd0 ]
}

# A work item ends the session after the disk, and rnbd_client does not wait for
# it when it is unloaded.
disconnect()
{
	echo normal >/sys/block/rnbd0/rnbd/unmap_device &&
		soon [ ! -e /sys/block/rnbd0 ] &&
		soon [ ! -e /sys/devices/virtual/rtrs-client/mxe ] || return
	nap 1
	unload client
}

path_is()
{
	[ "$(cat /sys/devices/virtual/rtrs-client/mxe/paths/*/state)" = "$1" ]
}

# Writes the data to the disk until STOP exists. When its only path fails, the
# requests of a session fail, too.
writer()
{
	until [ -e $STOP ]; do
		dd if=$FILE of=/dev/rnbd0 bs=64k oflag=direct
	done
	return 0
}

# The client connects again after errors, but not to a device that was removed.
reconnect()
{
	for path in /sys/devices/virtual/rtrs-client/mxe/paths/*; do
		echo 1 >"$path/reconnect" || return
	done
}

ULP=${MXE_ULP_MODULES:-}
if [ ! -e "$ULP/rnbd-client.ko" ]; then
	echo 'no module rnbd-client (tools/lib/vm/ulp-modules)'
	exit 77
fi

check 'a server' on h2 bash -c "ULP=$ULP; $(declare -f load serve); serve"
check 'a client maps its disk' connect
disk_work /dev/rnbd0

dd if=/dev/urandom of=$FILE bs=1M count=4 2>/dev/null
writer >/run/rnbd.dd 2>&1 &
WRITER=$!
check 'the disk is busy' disk_busy /dev/rnbd0
check 'remove its device' rdma link delete mxe0
check 'the path is down' soon not path_is connected
touch $STOP
wait $WRITER
report $? 'requests on it end'
check 'add the device again' rdma link add mxe0 type mxe netdev eth0
check 'connect the path again' reconnect
check 'the path is connected' soon path_is connected
check 'write to the disk' dd if=$FILE of=/dev/rnbd0 bs=64k oflag=direct
check 'read the data that was written' disk_has $FILE /dev/rnbd0
rm -f $FILE $STOP

check 'the disk is unmapped, and the modules are unloaded' disconnect
check 'the server ends' on h2 bash -c "$(declare -f unload unserve); unserve"
done_testing
