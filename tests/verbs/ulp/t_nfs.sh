#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# NFS 4.2 over RDMA: the second host exports a directory in memory and the first
# one mounts it. Ends with the removal of a device in use.

# shellcheck disable=SC2317  # functions that "check" runs

cd "$(dirname "$0")" || exit
# shellcheck source=tests/verbs/lib/pair.sh
. ../lib/pair.sh
# shellcheck source=tests/tap.sh
. ../../tap.sh

MNT=/run/nfs-mnt
FILE=/run/nfs.data
STOP=/run/nfs.stop
NFSD=/proc/fs/nfsd

# Starts a server through the files of nfsd, so that no user-space server is
# needed. The answers of rpc.mountd are written in advance (domain "mxe", the
# only client, the only export with NFSEXP_INSECURE_PORT, _NOSUBTREECHECK and
# _FSID, which is 0). It supports only version 4, which needs no rpcbind, and
# ends its grace period, in which clients would reclaim open files.
serve()
{
	local rpc=/proc/net/rpc end=$((EPOCHSECONDS + 86400))
	modprobe -a nfsd rpcrdma && mkdir -p /run/export /var/lib/nfs/v4recovery ||
		return
	mount -t nfsd nfsd $NFSD 2>/dev/null
	echo "nfsd 10.77.0.1 $end mxe" >$rpc/auth.unix.ip/channel &&
		echo "mxe /run/export $end $((0x2 | 0x400 | 0x2000)) 65534 65534 0" \
			>$rpc/nfsd.export/channel &&
		echo "mxe 1 \\x00000000 $end /run/export" >$rpc/nfsd.fh/channel &&
		echo '-2 -3 +4 +4.1 +4.2' >$NFSD/versions &&
		echo 10 >$NFSD/nfsv4gracetime &&
		echo 'rdma 20049' >$NFSD/portlist &&
		echo 2 >$NFSD/threads || return
	echo Y >$NFSD/v4_end_grace
	grep rdma $NFSD/portlist
}

unserve()
{
	local cache
	echo 0 >$NFSD/threads || return
	for cache in nfsd.fh nfsd.export auth.unix.ip; do
		echo $EPOCHSECONDS >/proc/net/rpc/$cache/flush || return
	done
	umount $NFSD && modprobe -r nfsd rpcrdma
}

# write_read MIB: writes random data to the other host and reads it back.
write_read()
{
	dd if=/dev/urandom of=$FILE bs=1M count="$1" 2>/dev/null &&
		cp $FILE $MNT/data && sync -f $MNT/data || return
	echo 3 >/proc/sys/vm/drop_caches
	cmp $FILE $MNT/data &&
		[ "$(sha256sum <$FILE)" = \
			"$(on h2 sha256sum /run/export/data | sed 's/ .*/  -/')" ]
}

mounted()
{
	local options=vers=4.2,proto=rdma,port=20049
	options+=,addr=10.77.0.2,clientaddr=10.77.0.1
	mkdir -p $MNT && modprobe rpcrdma &&
		timeout 180 mount -i -t nfs4 -o $options 10.77.0.2:/ $MNT &&
		grep "$MNT.*proto=rdma" /proc/mounts
}

# Writes the data to the server until STOP exists.
writer()
{
	until [ -e $STOP ]; do
		cp $FILE $MNT/data && sync -f $MNT/data || return
	done
}

many_files()
{
	local i
	mkdir $MNT/dir || return
	for i in {1..30}; do
		echo "$i" >"$MNT/dir/$i" || return
	done
	[ "$(cat $MNT/dir/* | sort -n | tail -n 1)" = 30 ] && rm -r $MNT/dir
}

check 'start a server over RDMA' on h2 bash -c "NFSD=$NFSD; $(declare -f serve); serve"
check 'mount over RDMA' mounted || {
	on h2 dmesg | tail -n 20 | sed 's/^/# /'
	done_testing
}
check 'read the data that was written' write_read 16
check 'write and read many small files' many_files
check 'write and read with packet loss' bad_wire write_read 4

removal writer
check 'read the data that was written' write_read 4
check 'unmount' umount $MNT
check 'unload the modules of the client' modprobe -r nfsv4 nfs rpcrdma
check 'remove the server' on h2 bash -c "NFSD=$NFSD; $(declare -f unserve); unserve"
rm -f $FILE
done_testing
