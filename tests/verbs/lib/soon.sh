# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
#
# Waiting for what others do in their own time, or chance. Sourced by topo.sh and
# pair.sh.

# nap SECONDS: sleeps, without a process, which takes an emulated machine as long as many
# tests wait.
exec {NAP}<> <(:)
nap()
{
	read -rt "$1" -u "$NAP"
	return 0
}

# soon COMMAND...: until it succeeds. The limit is for what never happens: a busy
# machine may stand still for many seconds, and that is no failure of the module.
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

# rounds CONDITION COMMAND...: the command, until the condition, which is a
# command too and comes by chance, holds. It fails if the command does, and after
# as many rounds as only what never happens takes.
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
