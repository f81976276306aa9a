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

# by_dc COMMAND...: runs a command on the two hosts with FI_MXE_DC=1. Passes if
# the command does, and h2 has accepted sessions of DC. Needs counters.sh.
by_dc()
{
	local before
	before=$(counter mxe2 dc_accepts)
	env FI_MXE_DC=1 "$@" && [ "$(counter mxe2 dc_accepts)" -gt "$before" ]
}
