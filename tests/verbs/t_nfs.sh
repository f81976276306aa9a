#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# NFS 4.2 over RDMA: the second host exports a directory in memory, the first one
# mounts it.

# shellcheck disable=SC2317  # functions that "check" runs

cd "$(dirname "$0")" || exit
# shellcheck source=tests/verbs/pair.sh
. ./pair.sh
# shellcheck source=tests/tap.sh
. ../tap.sh

MNT=/run/nfs-mnt
FILE=/run/nfs.data
NFSD=/proc/fs/nfsd

# Version 4 alone, which needs no rpcbind, and without a time of grace, in which
# a server that was started again would hear of files that were open.
serve()
{
	modprobe -a nfsd rpcrdma && mkdir -p /run/export /var/lib/nfs/v4recovery ||
		return
	mount -t nfsd nfsd $NFSD 2>/dev/null
	rpc.mountd -N 3 >/dev/null 2>&1 || return
	exportfs -o rw,no_root_squash,insecure,no_subtree_check,fsid=0 \
		10.77.0.0/24:/run/export || return
	rpc.nfsd -N 3 --no-udp --rdma=20049 --grace-time 10 2 || return
	echo Y >$NFSD/v4_end_grace
	grep rdma $NFSD/portlist
}

unserve()
{
	rpc.nfsd 0 && exportfs -au && pkill rpc.mountd &&
		umount $NFSD && modprobe -r nfsd rpcrdma
}

# write_read MIB: random data, as it comes back from the other host.
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
	mkdir -p $MNT && modprobe rpcrdma &&
		timeout 60 mount -t nfs4 -o vers=4.2,proto=rdma,port=20049 \
			10.77.0.2:/ $MNT && grep "$MNT.*proto=rdma" /proc/mounts
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

check 'a server over RDMA' on h2 bash -c "NFSD=$NFSD; $(declare -f serve); serve"
check 'mounted over RDMA' mounted || {
	on h2 dmesg | tail -n 20 | sed 's/^/# /'
	done_testing
}
check 'what was written is read' write_read 16
check 'many small files' many_files
modprobe sch_netem && tc qdisc replace dev eth0 root netem loss 1%
check 'over a bad wire as well' write_read 4
tc qdisc del dev eth0 root
check 'unmounted' umount $MNT
check 'the modules of the client go' modprobe -r nfsv4 nfs rpcrdma
check 'the server goes' on h2 bash -c "NFSD=$NFSD; $(declare -f unserve); unserve"
rm -f $FILE
done_testing
