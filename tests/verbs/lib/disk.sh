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
