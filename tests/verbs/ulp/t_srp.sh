#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# SCSI RDMA Protocol: the second host exports a disk in memory over the RDMA CM,
# and the first one has a file system on it. Ends with the removal of a device
# in use.

# shellcheck disable=SC2317  # functions that "check" runs

cd "$(dirname "$0")" || exit
# shellcheck source=tests/verbs/lib/pair.sh
. ../lib/pair.sh
# shellcheck source=tests/tap.sh
. ../../tap.sh
# shellcheck source=tests/verbs/lib/disk.sh
. ../lib/disk.sh

PORT=5555
CONFIG=/sys/kernel/config/target

# The first GID of the port names the target. The address of the connection
# names the allowed initiator.
serve()
{
	local guid tpg
	guid=$(cut -d : -f 5-8 /sys/class/infiniband/mxe0/ports/1/gids/0)
	tpg=$CONFIG/srpt/$guid/tpgt_1
	modprobe -a target_core_mod ib_srpt || return
	[ -d $CONFIG ] || mount -t configfs none /sys/kernel/config || return
	mkdir -p $CONFIG/core/rd_mcp_0/disk &&
		echo rd_pages=16384 >$CONFIG/core/rd_mcp_0/disk/control &&
		echo 1 >$CONFIG/core/rd_mcp_0/disk/enable &&
		mkdir $CONFIG/srpt && echo $PORT >$CONFIG/srpt/discovery_auth/rdma_cm_port &&
		mkdir "$CONFIG/srpt/$guid" "$tpg" "$tpg/lun/lun_0" &&
		ln -s $CONFIG/core/rd_mcp_0/disk "$tpg/lun/lun_0/disk" &&
		mkdir "$tpg/acls/10.77.0.2" "$tpg/acls/10.77.0.2/lun_0" &&
		ln -s "$tpg/lun/lun_0" "$tpg/acls/10.77.0.2/lun_0/disk" &&
		echo 1 >"$tpg/enable"
}

unserve()
{
	local guid
	cd $CONFIG/srpt/*:*/tpgt_1 || return
	guid=${PWD%/*}
	rm acls/10.77.0.2/lun_0/disk &&
		rmdir acls/10.77.0.2/lun_0 acls/10.77.0.2 &&
		rm lun/lun_0/disk && rmdir lun/lun_0 && cd / &&
		rmdir "$guid/tpgt_1" "$guid" $CONFIG/srpt \
			$CONFIG/core/rd_mcp_0/disk $CONFIG/core/rd_mcp_0 &&
		modprobe -r ib_srpt
}

connect()
{
	local guid
	modprobe -a ib_srp sd_mod || return
	guid=$(on h2 cat /sys/module/ib_srpt/parameters/srpt_service_guid)
	guid=${guid#0x}
	echo "id_ext=$guid,ioc_guid=$guid,dest=10.77.0.2:$PORT" \
		>/sys/class/infiniband_srp/srp-mxe0-1/add_target || return
	soon [ -b /dev/sda ]
}

check 'a target' on h2 bash -c "
	PORT=$PORT CONFIG=$CONFIG; $(declare -f serve); serve"
check 'an initiator connects to it' connect || done_testing
disk_work /dev/sda
disk_removal /dev/sda
check 'disconnected' bash -c \
	'for p in /sys/class/srp_remote_ports/*; do echo 1 >$p/delete; done'
check 'the module of the initiator is unloaded' modprobe -r ib_srp
check 'the target is removed' on h2 bash -c "
	PORT=$PORT CONFIG=$CONFIG; $(declare -f unserve); unserve"
done_testing
