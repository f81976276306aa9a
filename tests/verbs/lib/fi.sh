# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
#
# Lets programs of libfabric find the provider of the build tree, wherever that
# is. Sourced by the tests that use it.

export FI_PROVIDER_PATH=${LD_LIBRARY_PATH%%:*}/libfabric

# fi_built PROGRAM: passes if the provider and the program exist.
fi_built()
{
	[ -e "$FI_PROVIDER_PATH/libmxe-fi.so" ] && command -v "$1" >/dev/null
}

# fi_hosts PROGRAM: makes the two hosts for programs that use only the provider
# mxe, because others take seconds to start in an emulated machine. Skips the
# test if the provider or PROGRAM is missing. Needs topo.sh and tap.sh.
fi_hosts()
{
	export FI_PROVIDER=mxe
	if ! fi_built "$1"; then
		echo "1..0 # SKIP libmxe-fi.so or $1 is missing"
		exit 77
	fi
	topo_up || bail_out "cannot make the two hosts"
}

# by_dc COMMAND...: runs a command on the two hosts with FI_MXE_DC=1. Passes if
# the command does, and h2 has accepted sessions of DC. Needs counters.sh.
by_dc()
{
	local before
	before=$(counter mxe2 dc_accepts)
	env FI_MXE_DC=1 "$@" && [ "$(counter mxe2 dc_accepts)" -gt "$before" ]
}
