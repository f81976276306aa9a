#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# 9P over RDMA: the first host mounts a file of a server on the second one.
#
# Neither packets are lost here nor is the device removed, because no device
# could pass. net/9p/trans_rdma.c connects with a retry count of 0, so the first
# lost packet ends the connection. It then neither wakes the waiting requests
# nor frees the buffers of its receive requests, which umount reports. When the
# device is removed, it keeps the connection, which rdma_cm waits for until the
# file system is unmounted.

# shellcheck disable=SC2317  # functions that "check" runs

cd "$(dirname "$0")" || exit
# shellcheck source=tests/verbs/lib/pair.sh
. ../lib/pair.sh
# shellcheck source=tests/tap.sh
. ../../tap.sh

MNT=/run/9p-mnt
FILE=/run/9p.data

mounted()
{
	modprobe -a 9p 9pnet_rdma && mkdir -p $MNT || return
	mount -t 9p -o trans=rdma,port=5640,version=9p2000.L,msize=65536 \
		10.77.0.2 $MNT && grep "$MNT.*trans=rdma" /proc/mounts
}

# Copies random data to the other host and reads it back.
write_read()
{
	dd if=/dev/urandom of=$FILE bs=1M count="$1" 2>/dev/null &&
		cp $FILE $MNT/data && sync $MNT/data || return
	echo 3 >/proc/sys/vm/drop_caches
	cmp $FILE $MNT/data
}

on h2 modprobe rdma_ucm
on h2 timeout 300 t_9p 10.77.0.2 >/run/9p.server 2>&1 &
SERVER=$!
check 'a server over RDMA' cm_listens h2 5640 $SERVER
check 'mount over RDMA' mounted || {
	diag "$(dmesg | tail -n 5)"
	done_testing
}
check 'read the data that was written' write_read 8
check 'shorter data replaces it' write_read 1
check 'unmount' umount $MNT
wait $SERVER
report $? 'the server sees the end of the connection' || diag "$(</run/9p.server)"
check 'the module is unloaded' modprobe -r 9pnet_rdma
rm -f $FILE
done_testing
