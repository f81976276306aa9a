#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# The path MTU of DC initiators, on netdevs whose MTU leaves room for the
# headers of RC, but not for the longer ones of DC.

cd "$(dirname "$0")" || exit
# shellcheck source=tests/verbs/lib/topo.sh
. ../lib/topo.sh
# shellcheck source=tests/tap.sh
. ../../tap.sh

# with_mtu BYTES CODE: runs t_dc with a netdev MTU.
with_mtu()
{
	ip -n h1 link set eth0 mtu "$1" && ip -n h2 link set eth0 mtu "$1" &&
		soon topo_active mxe1 && soon topo_active mxe2 ||
		bail_out "cannot set the MTU $1"
	check "netdev MTU $1" t_dc mtu "$2"
}

topo_up || bail_out "cannot make the two hosts"
with_mtu 4223 4
with_mtu 4224 5
# Less than 1280 bytes also remove the IPv6 addresses.
with_mtu 383 0
done_testing
