#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# UCX, libfabric and uDAPL between two machines. They use any device that they
# find, so there must be only one.

# shellcheck disable=SC2317  # functions that "check" runs

cd "$(dirname "$0")" || exit
# shellcheck source=tests/verbs/lib/pair.sh
. ../lib/pair.sh
# shellcheck source=tests/tap.sh
. ../../tap.sh

# both READY SERVER ARGUMENT...: runs the line SERVER on h2 and, once the line
# READY reports a listener, the same with the arguments on h1.
both()
{
	local out pid rc ready=$1 server=$2
	shift 2
	out=$(mktemp)
	# shellcheck disable=SC2086  # lines of words
	on h2 timeout 150 $server >"$out" 2>&1 &
	pid=$!
	# shellcheck disable=SC2086
	$ready && timeout 150 $server "$@"
	rc=$?
	wait "$pid" || {
		rc=$?
		echo "server:"
		cat "$out"
	}
	rm -f "$out"
	return "$rc"
}

# Selects the device by number, so that UCX uses no other transport.
ucx()
{
	both 'listens h2 13337' "env UCX_NET_DEVICES=mxe0:1 $1" 10.77.0.2
}

# Runs messages of all sizes up to 1 MiB.
fabric()
{
	both 'listens h2 47592' "fi_pingpong -I 10 $*" 10.77.0.2
}

# dapl_by READY SERVER ARGUMENT...: "both" for a program of uDAPL. Both hosts
# configure the device in a file. dtestx waits a second for its peer, which is
# sometimes too short for two machines on a busy host. Leaves the output of the
# client in $DAPL.
dapl_by()
{
	local ready=$1 server=$2
	shift 2
	for _ in 1 2 3 4 5; do
		both "$ready" "env DAT_OVERRIDE=/run/dat.conf $server" "$@" >"$DAPL" &&
			return
		cat "$DAPL"
	done
	return 1
}

dapl()
{
	dapl_by 'listens h2 15828' "$@"
}

# run_dtestsrq IA: runs dtestsrq with four connections, whose receives are from
# one SRQ. Its exit status is not its verdict.
run_dtestsrq()
{
	dapl_by 'cm_listens h2 45248' "dtestsrq -P $1 -c 4" -h 10.77.0.2 &&
		grep 'SRQ Test Complete' "$DAPL"
}

# run_dapltest IA: runs transactions of dapltest, which validates the data, and
# ends its server.
run_dapltest()
{
	local pid rc
	on h2 env DAT_OVERRIDE=/run/dat.conf timeout 150 dapltest -T S -D "$1" \
		>"$DAPL.server" 2>&1 &
	pid=$!
	cm_listens h2 62000 "$pid" && on h1 env DAT_OVERRIDE=/run/dat.conf \
		timeout 150 dapltest -T T -V -s 10.77.0.2 -D "$1" -i 100 -t 2 -w 2 \
		client RW 4096 1 server RR 2048 2 \
		client SR 1024 2 server SR 4096 1 >"$DAPL"
	rc=$?
	on h1 env DAT_OVERRIDE=/run/dat.conf timeout 60 dapltest -T Q -s 10.77.0.2 \
		-D "$1" || rc=$?
	wait "$pid" || rc=$?
	cat "$DAPL" "$DAPL.server"
	grep 'Transaction Test Finished' "$DAPL.server" || rc=1
	return "$rc"
}

# lasting: prints the output of the last program without the name of the IA and
# what depends on the speed.
lasting()
{
	sed -E 's/mxe-(ofa|v2)/IA/; s/ - .*Sec//; /Total (WQE|Time)/d' "$DAPL"
}

DAPL=$(mktemp) || exit
trap 'rm -f "$DAPL" "$DAPL.server"' EXIT

for h in h1 h2; do
	check "$h: rdma_ucm" on $h modprobe rdma_ucm
	on $h bash -c 'cat >/run/dat.conf <<-END
		mxe-ofa u2.0 nonthreadsafe default libdaplofa.so.2 dapl.2.0 "eth0 0" ""
		mxe-v2 u2.0 nonthreadsafe default libdaplmxe.so.2 dapl.2.0 "eth0 0" ""
		END'
	# dtest writes its buffer 2000 times, 4 MiB by default. Its exit status
	# is not its verdict.
	on $h bash -c 'cat >/run/dtest <<-"END"
		dtest -b 8192 "$@" | tee /dev/stderr | grep -q "Complete. PASSED"
		END'
	check "$h: the device has its addresses" gid_index $h
done

for t in rc_verbs ud_verbs; do
	check "ucx_perftest am_lat by $t" ucx "ucx_perftest -n 100 -t am_lat -d mxe0:1 -x $t"
done
check 'ucx_perftest tag_lat by ud_verbs' \
	ucx 'env UCX_TLS=ud_verbs ucx_perftest -n 100 -t tag_lat'
check 'ucx_perftest tag_bw by rc_verbs, wired up by ud_verbs' \
	ucx 'env UCX_TLS=rc_verbs,ud_verbs ucx_perftest -n 100 -t tag_bw'
check 'ucx_perftest put_lat' \
	ucx 'env UCX_TLS=rc_verbs,ud_verbs ucx_perftest -n 100 -t ucp_put_lat'

check 'fi_pingpong, verbs, msg' fabric -p verbs -e msg
check 'fi_pingpong, verbs, dgram' fabric -p verbs -e dgram
check 'fi_pingpong, verbs;ofi_rxm, rdm' fabric -p 'verbs;ofi_rxm' -e rdm

if command -v dtest >/dev/null; then
	check 'dtestx' dapl 'dtestx -P mxe-ofa' -h 10.77.0.2
	check 'dtest' dapl 'bash /run/dtest -P mxe-ofa' -h 10.77.0.2
	check 'dtestx through libdaplmxe' dapl 'dtestx -P mxe-v2' -h 10.77.0.2
	check 'dtest through libdaplmxe' dapl 'bash /run/dtest -P mxe-v2' -h 10.77.0.2
	for t in dtestsrq dapltest; do
		check "$t" "run_$t" mxe-ofa
		plain=$(lasting)
		check "$t through libdaplmxe" "run_$t" mxe-v2
		is "$(lasting)" "$plain" '... with the output of the plain run'
	done
else
	for t in dtestx dtest dtestsrq dapltest; do
		skip "$t" 'no dapl2-utils, which Debian 13 does not have'
		skip "$t through libdaplmxe" 'no dapl2-utils, which Debian 13 does not have'
	done
fi
done_testing
