# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
#
# A file system on a disk of the other host. Sourced, after pair.sh and tap.sh.

# shellcheck disable=SC2317  # functions that "check" runs

DISK_MNT=/run/disk
DISK_FILE=/run/disk.data

disk_mount()
{
	mkdir -p $DISK_MNT && mount -t ext4 "$1" $DISK_MNT
}

disk_make()
{
	modprobe ext4
	mkfs.ext4 -q "$1" && disk_mount "$1"
}

# disk_write_read DISK MIB: writes random data to the other host and reads it
# back.
disk_write_read()
{
	dd if=/dev/urandom of=$DISK_FILE bs=1M count="$2" 2>/dev/null &&
		cp $DISK_FILE $DISK_MNT/data && umount $DISK_MNT || return
	# Drops the page cache, so that the data is read from the disk.
	echo 3 >/proc/sys/vm/drop_caches
	disk_mount "$1" && cmp $DISK_FILE $DISK_MNT/data
}

disk_check()
{
	umount $DISK_MNT && fsck.ext4 -fn "$1" && disk_mount "$1"
}

# Only the kernel log shows a failed writeback.
disk_no_errors()
{
	! dmesg | grep "I/O error, dev ${1#/dev/}"
}

# disk_written DISK: prints the number of sectors that were written to it.
disk_written()
{
	local fields
	read -ra fields <"/sys/block/${1#/dev/}/stat"
	echo "${fields[6]}"
}

disk_more_than()
{
	[ "$(disk_written "$1")" -gt "$2" ]
}

# disk_busy DISK: waits until a thousand more sectors are written to the disk.
disk_busy()
{
	soon disk_more_than "$1" $(($(disk_written "$1") + 1000))
}

# disk_writer DISK: writes the data to the disk until it fails.
disk_writer()
{
	while dd if=$DISK_FILE of="$1" bs=64k oflag=direct conv=nocreat; do
		:
	done
}

disk_is_gone()
{
	[ ! -e "$1" ]
}

# disk_has FILE DISK: passes if the disk begins with the 4 MiB of the file.
disk_has()
{
	cmp "$1" <(dd if="$2" bs=64k count=64 iflag=direct 2>/dev/null)
}

disk_write_direct()
{
	dd if=$DISK_FILE of="$1" bs=64k oflag=direct conv=nocreat 2>/dev/null
}

# disk_removal DISK: removes the device under the writes to a disk, which ends
# with it, and calls connect() for another device.
disk_removal()
{
	local writer sent
	sent=$(sent h1)
	dd if=/dev/urandom of=$DISK_FILE bs=1M count=4 2>/dev/null
	disk_writer "$1" >/run/disk.dd 2>&1 &
	writer=$!
	# The statistics of a disk with several paths do not change.
	check 'the disk is busy' soon sends h1 "$sent"
	check 'remove its device' rdma link delete mxe0
	check 'the disk is gone' soon disk_is_gone "$1"
	check 'its writes have ended' soon ended $writer
	check 'add the device again' rdma link add mxe0 type mxe netdev eth0
	check 'it has its address' gid_index h1
	check 'connect again' connect
	check 'write to the disk' disk_write_direct "$1"
	check 'read the data that was written' disk_has $DISK_FILE "$1"
	rm -f $DISK_FILE
}

# disk_work DISK: runs all tests, also with packet loss.
disk_work()
{
	check 'make and mount a file system' disk_make "$1"
	check 'read the data that was written' disk_write_read "$1" 16
	check 'fsck finds no errors' disk_check "$1"
	check 'write and read with packet loss' bad_wire disk_write_read "$1" 4
	check 'the kernel log has no I/O errors' disk_no_errors "$1"
	check 'unmount' umount $DISK_MNT
	rm -f $DISK_FILE
}
