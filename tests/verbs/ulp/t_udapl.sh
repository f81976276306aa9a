#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# libdaplmxe, the uDAPL provider: t_udapl opens the IA mxe-v2 of a dat.conf that
# userspace/udapl/dat-conf has written, on mxe, on mxe with memory that is not
# coherent, and on rxe, which has no masked atomics. The example mxe_dapl runs
# between the two hosts, and its output is that of Documentation/udapl.rst.

# shellcheck disable=SC2317  # functions that "check" runs

cd "$(dirname "$0")" || exit
# shellcheck source=tests/verbs/lib/topo.sh
. ../lib/topo.sh
# shellcheck source=tests/verbs/lib/rxe.sh
. ../lib/rxe.sh
# shellcheck source=tests/tap.sh
. ../../tap.sh

if ! command -v t_udapl >/dev/null; then
	echo 'built without libdapl-dev, which Debian 13 does not have'
	exit 77
fi
DIR=$(mktemp -d) || exit
PARAM=/sys/module/mxe/parameters/coherent
# The next test needs coherent devices, however this one ends.
trap 'rm -rf "$DIR"; echo Y >$PARAM' EXIT
CONF=$TOP/userspace/udapl/dat-conf
cat >"$DIR/dat.conf" <<-END
	# The netdev of rxe_mxe_up.
	rxe-v2 u2.0 nonthreadsafe default libdaplmxe.so.2 dapl.2.0 "veth-rxe 0" ""

	# A comment, and blank lines at the end.


END
cp "$DIR/dat.conf" "$DIR/before"

check 'dat-conf adds the line' "$CONF" add "$DIR/dat.conf"
check '... once' "$CONF" add "$DIR/dat.conf"
is "$(grep -c '^mxe-v2 ' "$DIR/dat.conf")" 1 '... one line'
sed 's/eth0/eth1/' "$DIR/dat.conf" >"$DIR/changed.conf"
cp "$DIR/changed.conf" "$DIR/changed"
check 'dat-conf add, if a line was changed' "$CONF" add "$DIR/changed.conf"
check '... keeps the change' cmp "$DIR/changed" "$DIR/changed.conf"
check '... and removes the line' "$CONF" remove "$DIR/changed.conf"
check '... and nothing else' cmp "$DIR/before" "$DIR/changed.conf"
printf 'without a newline' >"$DIR/bare.conf"
cp "$DIR/bare.conf" "$DIR/bare"
check 'dat-conf adds to a file without a newline at its end' "$CONF" add "$DIR/bare.conf"
is "$(grep -c '^mxe-v2 ' "$DIR/bare.conf")" 1 '... one line'
check '... and removes the line' "$CONF" remove "$DIR/bare.conf"
check '... and nothing else' cmp "$DIR/bare" "$DIR/bare.conf"
grep -v '^# mxe: end' "$DIR/dat.conf" >"$DIR/open.conf"
echo 'another-v2 u2.0 nonthreadsafe default libother.so.2 dapl.2.0 "" ""' >>"$DIR/open.conf"
cp "$DIR/open.conf" "$DIR/open"
check 'dat-conf remove, if the last mark is missing' "$CONF" remove "$DIR/open.conf"
check '... removes nothing' cmp "$DIR/open" "$DIR/open.conf"
: >"$DIR/empty.conf"
check 'dat-conf adds to an empty file' "$CONF" add "$DIR/empty.conf"
is "$(wc -l <"$DIR/empty.conf")" 3 '... its lines only'
check '... and removes them' "$CONF" remove "$DIR/empty.conf"
check '... the file is empty again' cmp /dev/null "$DIR/empty.conf"
topo_up || bail_out "cannot make the two hosts"
check 'rdma_ucm' modprobe rdma_ucm
export DAT_OVERRIDE=$DIR/dat.conf

# run NAME COMMAND...: prints the results of a test program, and whether it
# exits with 0.
run()
{
	local name=$1 rc
	shift
	timeout 300 "$@" >"$DIR/out" 2>&1
	rc=$?
	cat "$DIR/out"
	report $rc "$name"
}

# transcript COMMAND: prints the output of the command in the document.
transcript()
{
	awk -v command="   $1" '
		found && !/^   / { exit }
		found { print substr($0, 4) }
		$0 == command { found = 1 }' "$TOP/Documentation/udapl.rst"
}

# example [-n]: runs mxe_dapl between the two hosts.
example()
{
	local server rc=0
	ip netns exec h2 timeout 150 mxe_dapl "$@" mxe-v2 >"$DIR/server" &
	server=$!
	soon sh -c 'ip netns exec h2 rdma resource show cm_id | grep -q LISTEN' &&
		ip netns exec h1 timeout 150 mxe_dapl mxe-v2 10.77.0.2 \
			>"$DIR/client" || rc=1
	[ $rc -eq 0 ] || kill "$server"
	wait "$server" || rc=1
	return "$rc"
}

run 't_udapl on mxe' ip netns exec h1 t_udapl mxe-v2
# libdaplofa and its libraries keep memory until the process ends, so only what
# libdaplmxe has allocated itself is a leak.
ASAN=$(dirname "$(command -v t_udapl)")/../asan
if [ -x "$ASAN/t_udapl" ]; then
	run 't_udapl with the address sanitizer' ip netns exec h1 env \
		LD_LIBRARY_PATH="$ASAN:${LD_LIBRARY_PATH:-}" \
		LSAN_OPTIONS="exitcode=0:log_path=$DIR/report" \
		MXE_KEEP_LIBRARIES=1 "$ASAN/t_udapl" mxe-v2
	check '... which reports no error, and no leak of libdaplmxe' not grep -h -A 9 \
		-e 'ERROR: AddressSanitizer' -e '#1 .*libdaplmxe' \
		-e '#1 .*userspace/udapl/' -r "$DIR" --include='report.*'
	check '... but has checked for leaks' grep -q LeakSanitizer -r "$DIR" \
		--include='report.*'
else
	skip 't_udapl with the address sanitizer' 'the compiler has no sanitizer'
fi
check 'mxe_dapl' example
is "$(cat "$DIR/client")" "$(transcript 'host1$ mxe_dapl mxe-v2 10.77.0.2')" \
	'... the client prints what the document says'
is "$(cat "$DIR/server")" "$(transcript 'host2$ mxe_dapl mxe-v2')" \
	'... and the server'
sed s/DAT_FALSE/DAT_TRUE/ "$DIR/server" >"$DIR/coherent"
topo_down
echo N >$PARAM
topo_up || bail_out "cannot make the two hosts with coherent=N"
echo Y >$PARAM
run 't_udapl on mxe with coherent=N' ip netns exec h1 t_udapl mxe-v2 noncoherent
check 'mxe_dapl with coherent=N' example
check '... the calls make all data visible' diff "$DIR/coherent" "$DIR/server"
check 'mxe_dapl -n with coherent=N' example -n
is "$(cat "$DIR/server")" "$(transcript 'host2$ mxe_dapl -n mxe-v2')" \
	'... the server prints old data, as the document says'
is "$(tail -n 1 "$DIR/client")" '    the text is "written by the client again"' \
	'... and the client reads old data'
topo_down
rxe_mxe_up || bail_out "cannot make the two hosts with rxe"
run 't_udapl on rxe' t_udapl rxe-v2 plain
check 'rxe is removed' rxe_mxe_down
check 'dat-conf removes the line' "$CONF" remove "$DIR/dat.conf"
check '... and nothing else' cmp "$DIR/before" "$DIR/dat.conf"
done_testing
