#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# mxe and the kernel's rxe over a wire: rxe in the initial namespace on one end
# of a veth pair, mxe in the namespace h2 on the other.

# shellcheck disable=SC2015,SC2317  # functions that "check" runs

cd "$(dirname "$0")" || exit
# shellcheck source=tests/verbs/lib/topo.sh
. ../lib/topo.sh
# shellcheck source=tests/verbs/lib/rxe.sh
. ../lib/rxe.sh
# shellcheck source=tests/verbs/lib/pair.sh
. ../lib/pair.sh
# shellcheck source=tests/tap.sh
. ../../tap.sh

rxe_mxe_up || bail_out "cannot make the two hosts"

GID_RXE=$(topo_gid_index rxe0)
GID_MXE=$(topo_gid_index mxe2)

# both_ways COMMAND...: its server on mxe, its client on rxe, then the reverse.
both_ways()
{
	local rc=0 pid on_mxe="ip netns exec h2"
	# shellcheck disable=SC2086  # several words
	{
		timeout 180 $on_mxe "$@" -d mxe2 "$G" "$GID_MXE" &
		pid=$!
		listens h2 18515 &&
			timeout 180 "$@" -d rxe0 "$G" "$GID_RXE" 10.77.0.2 || rc=1
		wait "$pid" || rc=1
		timeout 180 "$@" -d rxe0 "$G" "$GID_RXE" &
		pid=$!
		listens - 18515 &&
			timeout 180 $on_mxe "$@" -d mxe2 "$G" "$GID_MXE" \
				10.77.0.1 || rc=1
		wait "$pid" || rc=1
	}
	return "$rc"
}

# by_cm PORT PREFIX SERVER CLIENT: command lines that end before the address;
# the server on mxe, then on rxe.
by_cm()
{
	local rc=0 pid enter=(ip netns exec h2)
	# shellcheck disable=SC2086  # lines of words
	{
		timeout 180 "${enter[@]}" $3 "${2}2" &
		pid=$!
		cm_listens h2 "$1" && timeout 180 $4 "${2}2" || rc=1
		wait "$pid" || rc=1
		timeout 180 $3 "${2}1" &
		pid=$!
		cm_listens - "$1" && timeout 180 "${enter[@]}" $4 "${2}1" || rc=1
		wait "$pid" || rc=1
	}
	return "$rc"
}

MXE_A=mxe2 MXE_B=rxe0 t_interop >/tmp/interop.out 2>&1
is $? 0 'data of every standard operation, both ways' ||
	grep -A3 -e '^not ok' -e '^Bail' /tmp/interop.out | sed 's/^/# /'
# rxe has ATOMIC WRITE since Linux 6.2.
if [ "$(printf '%s\n' 6.2 "$(uname -r)" | sort -V | head -n 1)" = 6.2 ]; then
	check 'ATOMIC WRITE, from mxe to rxe' \
		env MXE_A=mxe2 MXE_B=rxe0 t_placement
fi
G=-g
check 'ibv_rc_pingpong, both ways' both_ways ibv_rc_pingpong -n 50 -c
G=-x
check 'ib_write_bw, both ways' both_ways ib_write_bw -n 20 -s 16384 -p 18515 -F
check 'ib_read_bw, both ways' both_ways ib_read_bw -n 20 -s 16384 -p 18515 -F
check 'ib_atomic_lat CMP_AND_SWAP, both ways' \
	both_ways ib_atomic_lat -n 20 -A CMP_AND_SWAP -p 18515 -F
check 'ib_atomic_lat FETCH_AND_ADD, both ways' \
	both_ways ib_atomic_lat -n 20 -A FETCH_AND_ADD -p 18515 -F

G=-g
for t in uc ud srq; do
	check "ibv_${t}_pingpong, both ways" both_ways ibv_${t}_pingpong -n 50 -c
done
modprobe rdma_ucm
for a in 10.77.0. fd77::; do
	check "rping, $a, both ways" by_cm 7174 "$a" 'rping -s -C 5 -v -a' \
		'rping -c -C 5 -v -a'
done
check 'ucmatose, both ways' by_cm 7471 10.77.0. 'ucmatose -b' 'ucmatose -s'
check 'udaddy, both ways' by_cm 7174 10.77.0. 'udaddy -b' 'udaddy -s'
check 'all devices are removed' rxe_mxe_down
done_testing
