#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# The result of `make install`: modprobe and rdma find the modules with all
# their dependencies. Runs in a virtual machine, whose file system is temporary.

# shellcheck disable=SC2015,SC2317  # functions that "check" runs

cd "$(dirname "$0")" || exit
# shellcheck source=tests/verbs/lib/topo.sh
. ../lib/topo.sh
# shellcheck source=tests/tap.sh
. ../../tap.sh

KVER=$(uname -r)
UPDATES=/lib/modules/$KVER/updates
SRC=/usr/src/mxe
DIR=$(mktemp -d) || exit

# Does not rebuild existing build products.
in_tree()
{
	make -s -C "$TOP" -o all -o kernel-headers KVER="$KVER" "$@"
}

# small_tree: copies only the needed modules of the kernel, so that depmod does
# not read all of them.
small_tree()
{
	local kind file
	mkdir -p "$DIR/root"
	modprobe -a --show-depends ib_uverbs udp_tunnel ip6_udp_tunnel dummy |
		while read -r kind file _; do
			[ "$kind" != insmod ] || echo "$file"
		done | sort -u | xargs cp --parents -t "$DIR/root" &&
		cp --parents -t "$DIR/root" "/lib/modules/$KVER/"modules.{builtin*,order} &&
		mount --bind "$DIR/root/lib/modules/$KVER" "/lib/modules/$KVER"
}

loaded()
{
	[ -e /sys/module/"$1" ]
	report $? "$1 is loaded"
}

[ -z "${MXE_UML:-}" ] || bail_out "this needs a file system to write to"
topo_down
check 'rmmod' rmmod mxe ib_exp
small_tree || bail_out "no modules"
check 'make install' in_tree install
for m in mxe ib_exp; do
	cmp "$TOP/kernel/$m/$m.ko" "$UPDATES/$m.ko"
	report $? "$m.ko"
done
cmp "$TOP/include/rdma/ib_exp.h" $SRC/include/rdma/ib_exp.h &&
	grep -q '	ib_exp_qp_enable	' "$SRC/$KVER/Module.symvers"
report $? 'the files that another module needs to use ib_exp'

check 'modprobe mxe' modprobe mxe
loaded ib_exp
is "$(readlink -f /sys/module/ib_exp/holders/mxe)" /sys/module/mxe '... because mxe uses it'
check 'modprobe -r mxe' modprobe -r mxe
check '... unloads mxe' test ! -e /sys/module/mxe
check '... unloads ib_exp' test ! -e /sys/module/ib_exp

modprobe dummy 2>/dev/null
ip link add inst0 type dummy && ip link set inst0 up
check 'rdma link add loads them' rdma link add mxe0 type mxe netdev inst0
loaded mxe
is "$(</sys/class/infiniband_exp/mxe0/masked_cmp_swap)" native 'ib_exp knows it'

rdma link del mxe0
ip link del inst0

check 'make uninstall' in_tree uninstall
is "$(find $UPDATES $SRC 2>/dev/null | grep -e '/mxe' -e ib_exp)" '' \
	'nothing is left'
check 'unload' rmmod mxe ib_exp
insmod "$TOP/kernel/ib_exp/ib_exp.ko"
check 'mxe is loaded again' insmod "$TOP/kernel/mxe/mxe.ko"
umount "/lib/modules/$KVER" && rm -rf "$DIR"
done_testing
