#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# The guarantees of Documentation/security.rst that no other test covers: memory
# keys, and the rights of an unprivileged process.

# shellcheck disable=SC2317  # functions that "check" runs

cd "$(dirname "$0")" || exit
# shellcheck source=tests/verbs/lib/topo.sh
. ../lib/topo.sh
# shellcheck source=tests/tap.sh
. ../../tap.sh

# whole COMMAND...: passes if the command printed complete TAP without failures.
whole()
{
	local out
	out=$("$@" 2>&1)
	echo "$out"
	[[ $out == *1..[1-9]* && $out != *'not ok'* ]]
}

nobody()
{
	setpriv --reuid 65534 --regid 65534 --clear-groups "$@"
}

# refused COMMAND...: passes if the command fails as nobody for lack of
# privileges.
refused()
{
	local out
	! out=$(nobody "$@" 2>&1) && [[ $out == *'not permitted'* ]] && return
	echo "$out"
	return 1
}

# in_group MAXIMUM COMMAND...: runs a command in a control group with this limit
# for mxe1.
in_group()
{
	local max=$1
	shift
	echo "mxe1 $max" >"$GROUP/rdma.max" || return
	# shellcheck disable=SC2016  # for the other shell
	bash -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$GROUP" "$@"
}

cannot_open()
{
	local out
	out=$(in_group 'hca_handle=0 hca_object=100' t_security objects 64)
	echo "$out"
	[[ $out == *'Bail out!  cannot open mxe1'* ]]
}

topo_up || bail_out "cannot make the two hosts"
PROGRAMS=$PATH

check 'keys' whole t_security keys
check 'a user without privileges' whole t_security nobody

PATH=/usr/sbin:/usr/bin:/sbin:/bin
ip link add dummy7 type dummy || bail_out "no netdev"
check 'the user nobody may not add a link' refused rdma link add mxe7 type mxe netdev dummy7
check '... root may' rdma link add mxe7 type mxe netdev dummy7
check 'the user nobody may not delete it' refused rdma link del mxe7
check '... root may' rdma link del mxe7
ip link del dummy7
# The root user of a user namespace may make a netdev in it, but no RDMA device.
check 'the user nobody may add a netdev in a new namespace' nobody unshare -Urn \
	ip link add dummy7 type dummy
check '... but no link on it' refused unshare -Urn sh -c \
	'ip link add dummy7 type dummy &&
		rdma link add mxe7 type mxe netdev dummy7'
PATH=$PROGRAMS

mkdir -p /run/cgroup && mount -t cgroup2 none /run/cgroup &&
	echo +rdma >/run/cgroup/cgroup.subtree_control ||
	bail_out "no control groups"
GROUP=/run/cgroup/mxe
mkdir $GROUP
check 'a control group with 0 contexts cannot open the device' cannot_open
check 'a control group with 5 objects' whole in_group \
	'hca_handle=2 hca_object=5' t_security objects 5
is "$(cat $GROUP/rdma.current | grep -c 'mxe1.*=[1-9]')" 0 \
	'... none of which remains charged'
rmdir $GROUP
umount /run/cgroup
done_testing
