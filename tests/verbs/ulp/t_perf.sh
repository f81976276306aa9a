#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# mxe-perf runs each operation in each of its tests and finds correct results,
# in one process and in two. tools/bench measures the speed.

# shellcheck disable=SC2317  # functions that "check" runs

cd "$(dirname "$0")" || exit
# shellcheck source=tests/verbs/lib/topo.sh
. ../lib/topo.sh
# shellcheck source=tests/tap.sh
. ../../tap.sh

OUT=$(mktemp)
trap 'rm -f "$OUT"' EXIT

# sane TEST HOW OPERATIONS POSTS OPTION...: passes if the JSON output has
# OPERATIONS results with these values. POSTS is the number for each operation,
# or "more" than one.
sane()
{
	local test=$1 how=$2 num=$3 posts=$4
	shift 4
	mxe-perf -T 100 -t "$test" -n 64 -j -H "$@" >"$OUT" || return
	python3 - "$OUT" "$test" "$how" "$num" "$posts" <<'END'
import json, sys
path, test, how, num, posts = sys.argv[1:]
run = json.load(open(path))
assert run["schema"] == 1 and run["test"] == test, run
measuring = 1 if test == "beside" else run["processes"]
assert len(run["results"]) == int(num), run
for r in run["results"]:
    order = [r[k] for k in ("min", "median", "p90", "p99", "p99_9", "max")]
    assert 0 < order[0] and order == sorted(order), r
    assert r["min"] <= r["mean"] <= r["max"], r
    count = 64 * measuring
    assert r["operations"] == count and r["total"] > r["min"], r
    assert sum(b[2] for b in r["histogram"]) == count, r
    assert (test == "beside") == ("writes" in r), r
    emulated = how != "native" and r["op"] in ("mcas", "mfadd")
    assert r["how"] == (how if emulated else "native"), r
    if emulated and posts == "more":
        assert r["posts"] > count, r
    elif emulated:
        assert r["posts"] == int(posts) * count, r
    else:
        assert r["posts"] == count, r
END
}

# refused STATUS TEXT OPTION...
refused()
{
	local want=$1 text=$2
	shift 2
	mxe-perf "$@" >"$OUT" 2>&1
	[ $? -eq "$want" ] && grep -q "$text" "$OUT"
}

# two OPTION...: runs a process on each host.
two()
{
	local pid rc
	ip netns exec h2 timeout 150 mxe-perf -T 100 -l -d mxe2 &
	pid=$!
	topo_listens 18540 $H2 &&
		ip netns exec h1 timeout 150 mxe-perf -T 100 -d mxe1 "$@" 10.77.0.2
	rc=$?
	[ $rc -eq 0 ] || kill "$pid"
	wait "$pid" && return $rc
}

topo_up || bail_out "cannot make the two hosts"
ip netns exec h2 sleep infinity &
H2=$!
A=(-d mxe1 -r mxe2)

check 'latency, one device' sane latency native 7 1 -d mxe1
check 'latency, two devices' sane latency native 7 1 "${A[@]}"
check 'latency by ibv_post_send' sane latency native 7 1 "${A[@]}" -P
check 'rate, 16 in a batch' sane rate native 7 1 "${A[@]}" -q 32 -b 16
check 'rate, one by one, 2 queue pairs' sane rate native 7 1 "${A[@]}" -q 8 -Q 2
check 'one doorbell for 16 queue pairs' sane rate native 2 1 "${A[@]}" -q 4 -Q 16 -D \
	-o write,mfadd
check 'bandwidth' sane bandwidth native 3 1 "${A[@]}" -s 20001 -q 4
check 'messages of 3 bytes' sane latency native 3 1 "${A[@]}" -s 3 -o write,read,send
check 'contention of 4' sane contention native 4 1 "${A[@]}"
check 'contention of 64' sane contention native 4 1 "${A[@]}" -Q 64
check 'one requester guesses right' sane latency guess 2 1 "${A[@]}" \
	-o mcas,mfadd -e guess
check 'one requester that reads first' sane latency read 2 2 "${A[@]}" \
	-o mcas,mfadd -e read
check 'four requesters that guess' sane contention guess 2 more "${A[@]}" \
	-o mcas,mfadd -e guess
check 'four requesters that read first, two at a time' sane contention read 2 more "${A[@]}" \
	-o mcas,mfadd -e read -q 2
check 'atomics beside large WRITEs' sane beside native 2 1 "${A[@]}" -s 32K \
	-o cas,mfadd
check 'two processes at once, all operations' sane latency native 7 1 "${A[@]}" -J 2
check 'three processes on two CPUs, many outstanding' sane rate native 3 1 "${A[@]}" \
	-J 3 -q 8 -b 4 -o send,cas,mfadd
check 'one process that is bound to a CPU' sane latency native 2 1 -d mxe1 -J 1 -o write,mcas
check 'two processes that guess' sane contention guess 1 more "${A[@]}" -J 2 -o mfadd -e guess
check 'atomics beside the WRITEs of two processes' sane beside native 2 1 "${A[@]}" \
	-s 32K -o cas,mfadd -J 3
# tags SIZE OPTION...: passes if each number of tags has a result by the device,
# by a hash table and by a list, and the device has counted its matches.
tags()
{
	local size=$1 before
	shift
	before=$(counter mxe2 tm_matched)
	mxe-perf -T 100 -t tags -n 64 -w 8 -j -s "$size" "${A[@]}" "$@" >"$OUT" || return
	[ $(($(counter mxe2 tm_matched) - before)) -eq $((3 * 72)) ] || return
	python3 - "$OUT" <<'END'
import json, sys
results = json.load(open(sys.argv[1]))["results"]
ways = [(r["tags"], r["how"]) for r in results]
assert ways == [(n, how) for n in (1, 100, 1000)
                for how in ("device", "hash", "list")], ways
for i, r in enumerate(results):
    device = results[i - i % 3]
    assert r["op"] == "match" and r["operations"] == r["posts"] == 64, r
    assert 0 < r["min"] <= r["median"] <= r["max"] < r["total"], r
    assert abs(r["ratio"] - r["total"] / device["total"]) < 0.001, r
END
}

check 'tags, one by one' tags 8
check 'tags, 16 in a batch, 3 bytes' tags 3 -b 16
check 'tags, messages of several packets' tags 20001 -q 4
like "$(mxe-perf -t tags -n 10 "${A[@]}")" $'\n1000 +list +10 .* [0-9.]+$' 'tags, as a table'
check 'udp and tcp' eval 'sane udp native 1 1 -d 10.77.0.1@h1 -r 10.77.0.2@h2 &&
	sane tcp native 1 1 -d 10.77.0.1@h1 -r 10.77.0.2@h2'

check 'two processes' two -n 100
check 'two processes, bandwidth' two -n 20 -t bandwidth
check 'two processes, contention' two -n 200 -t contention
like "$(mxe-perf -d mxe1 -n 10 -H -o fadd)" '\*{40}' 'a histogram'
like "$(mxe-perf -d mxe1 -n 10 -c tsc)" '^mfadd +native +10 +1\.00' 'ticks'

check 'no such device' refused 3 'no RDMA device nowhere' -d nowhere
check 'no such device, of two processes' refused 3 'no RDMA device nowhere' -d nowhere -J 2
check 'no such GID' refused 3 'no such GID' -d mxe1 -x 200
check 'only messages have tags' refused 2 'supports only --op send' -d mxe1 -t tags -o cas
check 'no such host' refused 1 'refused' -d mxe1 127.0.0.1
check 'too many for one word' refused 2 'has 64 fields' -d mxe1 -t contention \
	-o mcas -e guess -Q 64 -q 2

kill $H2
done_testing
