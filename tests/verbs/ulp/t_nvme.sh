#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# NVMe over RDMA: the second host exports a RAM disk, and the first one has a
# file system on it. Needs two machines, because the target works in the initial
# namespace. Ends with the removal of a device in use.

# shellcheck disable=SC2317  # functions that "check" runs

cd "$(dirname "$0")" || exit
# shellcheck source=tests/verbs/lib/pair.sh
. ../lib/pair.sh
# shellcheck source=tests/tap.sh
. ../../tap.sh
# shellcheck source=tests/verbs/lib/disk.sh
. ../lib/disk.sh

NQN=nqn.2014-08.org.example:mxe
CONFIG=/sys/kernel/config/nvmet

serve()
{
	modprobe -a nvmet nvmet-rdma &&
		modprobe brd rd_nr=1 rd_size=65536 || return
	# nvmet makes its directory in configfs.
	[ -d $CONFIG ] || mount -t configfs none /sys/kernel/config || return
	mkdir "$CONFIG/subsystems/$NQN" &&
		cd "$CONFIG/subsystems/$NQN" &&
		echo 1 >attr_allow_any_host &&
		mkdir namespaces/1 &&
		echo /dev/ram0 >namespaces/1/device_path &&
		echo 1 >namespaces/1/enable &&
		mkdir $CONFIG/ports/1 &&
		cd $CONFIG/ports/1 &&
		echo rdma >addr_trtype &&
		echo ipv4 >addr_adrfam &&
		echo 10.77.0.2 >addr_traddr &&
		echo 4420 >addr_trsvcid &&
		ln -s "$CONFIG/subsystems/$NQN" subsystems/
}

unserve()
{
	cd $CONFIG || return
	rm "ports/1/subsystems/$NQN" &&
		rmdir ports/1 &&
		echo 0 >"subsystems/$NQN/namespaces/1/enable" &&
		rmdir "subsystems/$NQN/namespaces/1" "subsystems/$NQN" &&
		cd / &&
		modprobe -r nvmet-rdma nvmet brd
}

connect()
{
	local host="hostnqn=$NQN-h1" id
	modprobe nvme-rdma || return
	# Since Linux 6.5 the default ID belongs to the default name only.
	id=$(</proc/sys/kernel/random/uuid)
	echo "transport=rdma,traddr=10.77.0.2,trsvcid=4420,nqn=$NQN,$host,hostid=$id,nr_io_queues=2" \
		>/dev/nvme-fabrics || return
	soon [ -b /dev/nvme0n1 ]
}

check 'a target over RDMA' on h2 bash -c "
	NQN=$NQN CONFIG=$CONFIG; $(declare -f serve); serve"
check 'a host connects to it' connect || done_testing
disk_work /dev/nvme0n1
disk_removal /dev/nvme0n1
check 'disconnected' bash -c 'echo 1 >/sys/class/nvme/nvme0/delete_controller'
check 'the module of the host is unloaded' modprobe -r nvme-rdma
check 'the target is removed' on h2 bash -c "
	NQN=$NQN CONFIG=$CONFIG; $(declare -f unserve); unserve"
done_testing
