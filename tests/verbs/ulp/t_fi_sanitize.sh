#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# The tests of the provider mxe of libfabric once more, with the provider and
# the programs built with the address sanitizer and with the thread sanitizer.
# The programs and the thread of the provider run at the same time.

# shellcheck disable=SC2317  # functions that "check" runs

cd "$(dirname "$0")" || exit
# shellcheck source=tests/verbs/lib/topo.sh
. ../lib/topo.sh
# shellcheck source=tests/tap.sh
. ../../tap.sh

BUILD=${LD_LIBRARY_PATH%%:*}
if [ ! -e "$BUILD/tsan/libfabric/libmxe-fi.so" ]; then
	echo "1..0 # SKIP libfabric-dev is missing, or the compiler has no thread sanitizer"
	exit 77
fi
topo_up || bail_out "cannot make the two hosts"
DIR=$(mktemp -d) || exit
trap 'rm -rf "$DIR"' EXIT

# run KIND PROGRAM: one test; prints the failures and the reports.
run()
{
	env FI_PROVIDER=mxe FI_PROVIDER_PATH="$BUILD/$1/libfabric" \
		ASAN_OPTIONS="log_path=$DIR/$1.$2" TSAN_OPTIONS="log_path=$DIR/$1.$2" \
		LSAN_OPTIONS=exitcode=0 "$BUILD/$1/$2" >"$DIR/out" 2>&1
	is $? 0 "$2 with $1" || sed -n '/^not ok/p; /^Bail/p; s/^/# /p' "$DIR/out" | head -40
	# Libraries of other projects keep memory until the process ends.
	is "$(cat "$DIR/$1.$2".* 2>/dev/null | grep -c -e 'ERROR: Add' -e 'WARNING: Thread' \
		-e '#1 .*userspace/libfabric/')" 0 '... without a report' ||
		head -n 60 "$DIR/$1.$2".* | sed 's/^/# /'
}

for kind in asan tsan; do
	for program in "$BUILD/$kind"/t_fi_*; do
		run $kind "${program##*/}"
	done
done
done_testing
