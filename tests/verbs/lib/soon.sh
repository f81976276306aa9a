# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
#
# Repeats commands until an asynchronous or random event has occurred. Sourced
# by topo.sh and pair.sh.

# nap SECONDS: sleeps without starting a process, which is slow in an emulated
# machine.
exec {NAP}<> <(:)
nap()
{
	read -rt "$1" -u "$NAP"
	return 0
}

# soon COMMAND...: repeats a command until it succeeds. The limit catches events
# that never happen. It is long, because a busy machine may stall for many
# seconds without a fault of the module.
soon()
{
	local end=$((SECONDS + 120))
	until "$@" >/dev/null 2>&1; do
		if [ $SECONDS -ge $end ]; then
			echo "not within two minutes: $*"
			return 1
		fi
		nap 0.05
	done
}

# rounds CONDITION COMMAND...: repeats COMMAND until CONDITION, a command that
# passes at random, passes. Fails if COMMAND fails, or after so many rounds that
# CONDITION can be considered impossible.
rounds()
{
	local condition=$1 round
	shift
	for round in {1..100}; do
		"$@" || return
		! "$condition" || return 0
	done
	echo "not in $round rounds: $condition"
	return 1
}

not()
{
	! "$@"
}
