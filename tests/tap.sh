# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
#
# Test Anything Protocol for test scripts, the counterpart of tap.h. Scripts
# source this file.

TAP_RUN=0
TAP_FAILED=0

# diag TEXT...: prints lines of diagnostics.
diag()
{
	printf '%s\n' "$*" | sed 's/^/# /'
}

# report STATUS NAME: prints one check, which passes if STATUS is 0. Returns
# STATUS.
report()
{
	TAP_RUN=$((TAP_RUN + 1))
	if [ "$1" -eq 0 ]; then
		echo "ok $TAP_RUN - $2"
	else
		TAP_FAILED=$((TAP_FAILED + 1))
		echo "not ok $TAP_RUN - $2"
	fi
	return "$1"
}

# check NAME COMMAND...: passes if the command succeeds, otherwise prints its
# output.
check()
{
	local name=$1 out rc
	shift
	out=$("$@" 2>&1)
	rc=$?
	report $rc "$name" || diag "status $rc: $*
$out"
	return $rc
}

# is GOT WANT NAME: passes if the two strings are equal.
is()
{
	if [ "$1" = "$2" ]; then
		report 0 "$3"
	else
		report 1 "$3"
		diag "got \"$1\", expected \"$2\""
		return 1
	fi
}

# like TEXT PATTERN NAME: passes if a line of TEXT matches the extended regular
# expression.
like()
{
	if printf '%s\n' "$1" | grep -Eq -- "$2"; then
		report 0 "$3"
	else
		report 1 "$3"
		diag "nothing like \"$2\" in:
$(printf '%s\n' "$1" | head -n 40)"
		return 1
	fi
}

# skip REASON NAME: reports a check that cannot run here.
skip()
{
	report 0 "$2 # SKIP $1"
}

# bail_out MESSAGE: ends a script that cannot continue.
bail_out()
{
	echo "Bail out!  $*"
	exit 1
}

# Prints the plan and ends the script. The exit status is 0 if checks ran and
# all of them passed.
done_testing()
{
	echo "1..$TAP_RUN"
	[ $TAP_FAILED -eq 0 ] || diag "$TAP_FAILED of $TAP_RUN checks failed"
	[ $TAP_FAILED -eq 0 ] && [ $TAP_RUN -gt 0 ]
	exit
}
