#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# The programs of the experimental verbs on the kernel's rxe, where their masked
# atomics are emulated: rxe against itself, and against an mxe device at the
# other end of the wire, where emulated and native atomics contend. Static
# programs have the providers of both. rxe0 is in the initial namespace.

# shellcheck disable=SC2015,SC2317  # functions that "check" runs

cd "$(dirname "$0")" || exit
# shellcheck source=tests/verbs/lib/topo.sh
. ../lib/topo.sh
# shellcheck source=tests/verbs/lib/rxe.sh
. ../lib/rxe.sh
# shellcheck source=tests/tap.sh
. ../../tap.sh

# run WHAT DEVICE DEVICE PROGRAM...: one test; prints the failures of the
# program.
run()
{
	local what=$1 a=$2 b=$3
	shift 3
	MXE_A=$a MXE_B=$b "$@" >/tmp/emulated.out 2>&1
	is $? 0 "${1##*/}: $what" ||
		grep -A3 -e '^not ok' -e '^Bail' /tmp/emulated.out | sed 's/^/# /'
}

modprobe rdma_ucm && rxe_mxe_up || bail_out "cannot make the two hosts"
run 'rxe with itself' rxe0 rxe0 t_exp_apps
run 'rxe to mxe' rxe0 mxe2 t_exp_apps
run 'rxe with itself' rxe0 rxe0 t_exp_table
run 'rxe to mxe' rxe0 mxe2 t_exp_table
run 'rxe with itself' rxe0 rxe0 t_exp_cq
run 'rxe to mxe' rxe0 mxe2 t_exp_cq
run 'rxe to mxe' rxe0 mxe2 t_exp_dm
run 'rxe' rxe0 rxe0 t_exp_cm
if command -v t_exp_apps_static >/dev/null; then
	run 'mxe with itself' mxe2 mxe2 t_exp_apps_static
	run 'rxe to mxe' rxe0 mxe2 t_exp_apps_static
else
	skip 'static programs' 'no libibverbs.a'
fi
# orders [ARGUMENT]: in each order of the libraries.
orders()
{
	run "preloaded $*" rxe0 rxe0 env LD_PRELOAD=libibverbs_exp.so.1 \
		t_exp_orders preloaded "$@"
	run "behind libibverbs $*" rxe0 rxe0 \
		env LD_PRELOAD='libibverbs.so.1 libibverbs_exp.so.1' \
		t_exp_orders behind "$@"
	run "dlopened $*" rxe0 rxe0 t_exp_orders dlopened "$@"
}
orders
orders fork-init
check 'all devices are removed' rxe_mxe_down
done_testing
