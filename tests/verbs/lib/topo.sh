#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# The two hosts of tools/two-hosts for a test. Sourced, it defines the functions
# below. Executed, it makes the hosts and runs a command:
#
#	topo.sh COMMAND [ARGUMENT...]

TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd -P)
# The directory of the modules of the running kernel, kernel/*/*.ko.
# shellcheck disable=SC2034  # used by scripts that source this
MODULES=${MXE_MODULES:-$TOP}
# shellcheck source=tests/verbs/lib/soon.sh
. "$TOP/tests/verbs/lib/soon.sh"
# shellcheck source=tests/verbs/lib/counters.sh
. "$TOP/tests/verbs/lib/counters.sh"

# topo_gid DEVICE PATTERN: passes if a GID of the device matches. topo_active
# DEVICE: passes if its port is active. topo_gone DEVICE: passes if it is
# removed. These are called often and start no processes, which would take a
# tenth of a second each in an emulated machine.
topo_gid()
{
	local file gid
	for file in "/sys/class/infiniband/$1/ports/1/gids/"*; do
		read -r gid <"$file" || continue
		[[ ! $gid =~ $2 ]] || return 0
	done 2>/dev/null
	return 1
}

topo_active()
{
	local state
	read -r state <"/sys/class/infiniband/$1/ports/1/state" &&
		[[ $state == *ACTIVE* ]]
}

topo_gone()
{
	[ ! -e "/sys/class/infiniband/$1" ]
}

# topo_gids DEVICE...: waits until each device is active and has the GIDs of its
# IPv4 and IPv6 addresses.
topo_gids()
{
	local dev
	for dev in "$@"; do
		soon topo_active "$dev" &&
			soon topo_gid "$dev" :ffff:0a4d: &&
			soon topo_gid "$dev" ^fd77: || return
	done
}

# topo_resolve HOST ADDRESS...: resolves the addresses at both ends. When a
# queue pair is connected, the core waits only a second for that.
topo_resolve()
{
	local host=$1 address
	shift
	for address; do
		soon ip netns exec "$host" busybox ping -c 1 "$address" || return
	done
}

# Uses existing hosts, as tests/verbs/run-in-vm has made them, without changes.
topo_up()
{
	[ -e /run/netns/h1 ] || "$TOP/tools/two-hosts" up || return
	topo_gids mxe1 mxe2 && topo_resolve h1 10.77.0.2 fd77::2
}

topo_down()
{
	"$TOP/tools/two-hosts" down
}

# topo_gid_index DEVICE [PATTERN]: prints the index of the GID that matches,
# without a pattern that of its IPv4 GID.
topo_gid_index()
{
	local f gid
	for f in "/sys/class/infiniband/$1/ports/1/gids/"*; do
		read -r gid <"$f"
		[[ ! $gid =~ ${2:-^0000:.*:ffff:} ]] || { echo "${f##*/}" && return; }
	done
}

# topo_listens PORT PID: waits until a process listens on that TCP port in the
# network namespace of process PID. (ss takes seconds in an emulated machine.)
topo_listens()
{
	local hex tries line file
	printf -v hex ':%04X ' "$1"
	for tries in {1..2400}; do
		for file in "/proc/$2/net/tcp" "/proc/$2/net/tcp6"; do
			while read -r line; do
				[[ $line != *"$hex"*' 0A '* ]] || return 0
			done <"$file"
		done
		nap 0.05
	done
	echo "no listener on port $1 after $tries tries"
	return 1
}

# topo_neighbours: adds permanent neighbour entries, so that no resolution is
# needed.
topo_neighbours()
{
	local i peer mac
	for i in 1 2; do
		peer=$((3 - i))
		mac=$(ip netns exec h$peer cat /sys/class/net/eth0/address) &&
			ip -n h$i -batch - <<-EOF || return
				neigh replace 10.77.0.$peer lladdr $mac dev eth0
				neigh replace fd77::$peer lladdr $mac dev eth0
			EOF
	done
}

# topo_netem ARGUMENT...: sets the queueing discipline in both directions. Only
# RoCE packets can be lost, because neighbour entries are permanent.
topo_netem()
{
	local n
	modprobe sch_netem && topo_neighbours || return
	for n in h1 h2; do
		tc -n $n qdisc replace dev eth0 root netem "$@" || return
	done
}

if [ "${BASH_SOURCE[0]}" = "$0" ]; then
	if ! topo_up; then
		echo "Bail out!  cannot make the two hosts"
		exit 1
	fi
	exec "$@"
fi
