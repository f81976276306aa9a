#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# iSCSI Extensions for RDMA: the second host exports a disk in memory, and the
# first one has a file system on it. Ends with the removal of a device in use.

# shellcheck disable=SC2317  # functions that "check" runs

cd "$(dirname "$0")" || exit
# shellcheck source=tests/verbs/lib/pair.sh
. ../lib/pair.sh
# shellcheck source=tests/tap.sh
. ../../tap.sh
# shellcheck source=tests/verbs/lib/disk.sh
. ../lib/disk.sh

IQN=iqn.2003-01.org.example:mxe
CONFIG=/sys/kernel/config/target
NAME=/etc/iscsi/initiatorname.iscsi
FILE=/run/iser.data
STOP=/run/iser.stop

# Without immediate data, all data moves by READ and WRITE. With it, a lost
# acknowledgement makes ib_iser send from a region that the target has already
# invalidated, on any device (Documentation/conformance.rst).
serve()
{
	local tpg=$CONFIG/iscsi/$IQN/tpgt_1
	modprobe -a target_core_mod iscsi_target_mod ib_isert || return
	[ -d $CONFIG ] || mount -t configfs none /sys/kernel/config || return
	mkdir -p $CONFIG/core/rd_mcp_0/disk &&
		echo rd_pages=16384 >$CONFIG/core/rd_mcp_0/disk/control &&
		echo 1 >$CONFIG/core/rd_mcp_0/disk/enable &&
		mkdir $CONFIG/iscsi && mkdir "$CONFIG/iscsi/$IQN" "$tpg" "$tpg/lun/lun_0" &&
		ln -s $CONFIG/core/rd_mcp_0/disk "$tpg/lun/lun_0/disk" &&
		echo 0 >"$tpg/attrib/authentication" &&
		echo 1 >"$tpg/attrib/generate_node_acls" &&
		echo 0 >"$tpg/attrib/demo_mode_write_protect" &&
		echo No >"$tpg/param/ImmediateData" &&
		mkdir "$tpg/np/10.77.0.2:3260" &&
		echo 1 >"$tpg/np/10.77.0.2:3260/iser" &&
		echo 1 >"$tpg/enable"
}

unserve()
{
	local tpg=$CONFIG/iscsi/$IQN/tpgt_1
	echo 0 >"$tpg/enable" &&
		rmdir "$tpg/np/10.77.0.2:3260" &&
		rm "$tpg/lun/lun_0/disk" && rmdir "$tpg/lun/lun_0" &&
		rmdir "$tpg" "$CONFIG/iscsi/$IQN" $CONFIG/iscsi \
			$CONFIG/core/rd_mcp_0/disk $CONFIG/core/rd_mcp_0 &&
		modprobe -r ib_isert iscsi_target_mod
}

# iscsid reconnects a session that has failed. When it ends, it kills its
# process group, so it gets one of its own. iscsiadm keeps its lock in
# /run/lock, which the virtual machine does not have.
connect()
{
	modprobe -a ib_iser sd_mod && mkdir -p /run/lock || return
	[ -s $NAME ] || echo "InitiatorName=$IQN-h1" >$NAME || return
	setsid iscsid -f >/run/iscsid.log 2>&1 &
	ISCSID=$!
	# iscsiadm would start it through systemd.
	soon grep -q ISCSIADM_ABSTRACT_NAMESPACE /proc/net/unix || return
	iscsiadm -m node -o new -T $IQN -p 10.77.0.2:3260,1 -I iser &&
		iscsiadm -m node -T $IQN -p 10.77.0.2 -l &&
		soon [ -b /dev/sda ]
}

disconnect()
{
	iscsiadm -m node -T $IQN -p 10.77.0.2 -u || return
	kill $ISCSID && modprobe -r ib_iser
}

# Writes the data to the disk until STOP exists.
writer()
{
	until [ -e $STOP ]; do
		dd if=$FILE of=/dev/sda bs=64k oflag=direct || return
	done
}

session_is()
{
	[ "$(cat /sys/class/iscsi_session/session*/state)" = "$1" ]
}

command -v iscsid >/dev/null || {
	echo 'no iscsid (open-iscsi)'
	exit 77
}

check 'a target' on h2 bash -c "
	IQN=$IQN CONFIG=$CONFIG; $(declare -f serve); serve"
connect
report $? 'an initiator connects to it' || {
	diag "$(</run/iscsid.log)"
	done_testing
}
disk_work /dev/sda

dd if=/dev/urandom of=$FILE bs=1M count=4 2>/dev/null
writer >/run/iser.dd 2>&1 &
WRITER=$!
check 'the disk is busy' disk_busy /dev/sda
check 'remove its device' rdma link delete mxe0
check 'the session fails' soon session_is FAILED
check 'add the device again' rdma link add mxe0 type mxe netdev eth0
check 'the session recovers' soon session_is LOGGED_IN
touch $STOP
wait $WRITER
report $? 'all writes succeed' || diag "$(tail -n 5 /run/iser.dd)"
check 'read the data that was written' disk_has $FILE /dev/sda
rm -f $FILE $STOP

check 'disconnected, and the module is unloaded' disconnect
check 'the target is removed' on h2 bash -c "
	IQN=$IQN CONFIG=$CONFIG; $(declare -f unserve); unserve"
done_testing
