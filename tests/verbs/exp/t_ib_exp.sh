#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Tests the sysfs class of ib_exp: its values for mxe, for the kernel's rxe and
# for a device without atomics, with network namespaces, when devices are
# renamed, added or removed, and with the module parameter.

# shellcheck disable=SC2015,SC2317  # functions that "check" runs

cd "$(dirname "$0")" || exit
# shellcheck source=tests/verbs/lib/topo.sh
. ../lib/topo.sh
# shellcheck source=tests/verbs/lib/rxe.sh
. ../lib/rxe.sh
# shellcheck source=tests/tap.sh
. ../../tap.sh

C=/sys/class/infiniband_exp

# says DEVICE CMP_SWAP FETCH_ADD ATOMIC_CAP MASKED_CAP SIZES REPLY RETRIES
# REASON: checks the attributes of a device.
says()
{
	local dev=$1 file
	shift
	for file in masked_cmp_swap masked_fetch_add atomic_cap \
		masked_atomic_cap_reported log_arg_sizes reply_endianness \
		max_retries reason; do
		is "$(<$C/$dev/$file)" "$1" "$dev: $file"
		shift
	done
}

# load PARAMETER...: reloads ib_exp, and mxe without devices.
load()
{
	topo_down
	rmmod mxe ib_exp &&
		insmod "$MODULES/kernel/ib_exp/ib_exp.ko" "$@" &&
		insmod "$MODULES/kernel/mxe/mxe.ko"
}

undo()
{
	local rc=0
	[ ! -e $C/siw0 ] || rdma link del siw0 || rc=1
	rxe_down exp0 || rc=1
	! grep -q '^siw ' /proc/modules || modprobe -r siw || rc=1
	return "$rc"
}

# gone DEVICE: passes once the device is removed, which is asynchronous.
gone()
{
	soon [ ! -e $C/"$1" ]
}

topo_up || bail_out "cannot make the two hosts"
rxe_dummy exp0 || bail_out "no rxe0"

says mxe1 native native glob glob "$(<$C/mxe1/log_arg_sizes)" host 1024 ''
check 'mxe1 supports operands of 8 bytes' \
	test $(($(<$C/mxe1/log_arg_sizes) & 8)) -ne 0
says rxe0 emulated emulated hca none 0x8 host 1024 \
	'the device has standard atomics only'
is "$(cat $C/{mxe1,rxe0}/masked_* | tr '\n' ' ')" \
	'glob native native none emulated emulated ' 'masked_* of mxe1 and rxe0'
if modprobe siw 2>/dev/null && rdma link add siw0 type siw netdev exp0; then
	says siw0 none none none none 0x0 none 1024 'the device reports no atomics'
else
	echo 'ok - siw has no atomics # SKIP this kernel has no siw'
fi

is "$(ip netns exec h1 ls $C | grep -c -e mxe -e rxe)" 3 \
	'another network namespace sees all devices'
is "$(ip netns exec h2 cat $C/mxe1/masked_cmp_swap)" native \
	'... and their capabilities'

check 'rename a device' rdma dev set mxe1 name foo
is "$(cd $C && echo mxe1 foo*)" 'mxe1 foo' 'the class has the new name' ||
	ls $C | sed 's/^/# /'
check 'the old name is free' test ! -e $C/mxe1
is "$(<$C/foo/masked_fetch_add)" native 'the renamed device is native'
check 'add a device with the old name' ip netns exec h1 sh -c \
	'ip link add dummy7 type dummy && rdma link add mxe1 type mxe netdev dummy7'
is "$(<$C/mxe1/masked_cmp_swap)" native '... which appears in the class as native'
check 'delete it' rdma link del mxe1
check '... which removes it from the class' gone mxe1
check 'rename the other device back' rdma dev set foo name mxe1

echo 7 >$C/rxe0/max_retries
is "$(<$C/rxe0/max_retries)" 7 'max_retries can be set'
(echo many >$C/rxe0/max_retries) 2>/dev/null
is "$? $(<$C/rxe0/max_retries)" '1 7' 'max_retries cannot be set to a word'
ip netns exec h2 ip link del eth0
check 'a device is removed with its netdev' gone mxe2

rmmod ib_exp 2>/dev/null
is $? 1 'rmmod is refused as long as mxe is loaded'
check 'load ib_exp with the parameter override' load override=mxe1=emulated,rxe0=none
check 'set up the two hosts' topo_up
says mxe1 emulated emulated glob glob "$(<$C/mxe2/log_arg_sizes)" host 1024 \
	'set by the module parameter override of ib_exp'
says rxe0 none none hca none 0x0 none 1024 \
	'set by the module parameter override of ib_exp'
is "$(<$C/mxe2/masked_cmp_swap)" native 'the other devices are unchanged'
topo_down
check 'unload both modules' rmmod mxe ib_exp
for bad in mxe1 mxe1= mxe1=fast =none mxe1=native=; do
	! insmod "$MODULES/kernel/ib_exp/ib_exp.ko" override=$bad 2>/dev/null
	report $? "override=$bad is refused"
done
check 'load ib_exp' insmod "$MODULES/kernel/ib_exp/ib_exp.ko"
is "$(<$C/rxe0/masked_cmp_swap)" emulated 'ib_exp finds a device that exists already'
check 'load mxe' insmod "$MODULES/kernel/mxe/mxe.ko"
check 'all devices are removed' undo
[ ! -e $C/rxe0 ]
report $? '... and disappear from the class'
done_testing
