#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Open MPI over the provider mxe of libfabric, with a rank on each of two hosts:
# messages by mtl/ofi, one-sided operations by osc/rdma and btl/ofi. The second
# program runs the one-sided atomics of all operations and datatypes.
#
# With "agent ADDRESS COMMAND...", this script starts a command on a host, as
# mpirun expects of ssh.

if [ "${1:-}" = agent ]; then
	host=h${2##*.}
	shift 2
	exec ip netns exec "$host" unshare --uts sh -c "hostname $host; $*"
fi
SELF=$(readlink -f "$0")
cd "$(dirname "$0")" || exit
# shellcheck source=tests/verbs/lib/topo.sh
. ../lib/topo.sh
# shellcheck source=tests/verbs/lib/pair.sh
. ../lib/pair.sh
# shellcheck source=tests/verbs/lib/fi.sh
. ../lib/fi.sh
# shellcheck source=tests/tap.sh
. ../../tap.sh

FI_PROVIDER=mxe
OMPI_ALLOW_RUN_AS_ROOT=1
OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export FI_PROVIDER OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM
if ! fi_built mpi_check || ! fi_built mpi_ops; then
	echo "1..0 # SKIP libmxe-fi.so or Open MPI is missing"
	exit 77
fi
topo_up || bail_out "cannot make the two hosts"

# ranks COMMAND...: runs a command of mpirun, options first, with a rank on each
# host. The provider is the only way: without it, the components fail to start.
ranks()
{
	bash "$SELF" agent 10.77.0.1 timeout 300 mpirun \
		--mca plm_rsh_agent "'bash $SELF agent'" \
		--host 10.77.0.1,10.77.0.2 -np 2 \
		-x FI_PROVIDER_PATH -x FI_PROVIDER -x LD_LIBRARY_PATH \
		-x IBV_DRIVERS --mca pml cm --mca mtl ofi --mca btl self,ofi \
		--mca osc rdma "$@" 2>&1
}

BEFORE=$(counter mxe1 atomics_executed)
OUT=$(ranks "$(command -v mpi_check)")
is $? 0 'mpirun succeeds'
diag "$OUT"
like "$OUT" 'rank 0 of 2: passed' 'rank 0: messages and one-sided operations'
like "$OUT" 'rank 1 of 2: passed' 'rank 1: messages and one-sided operations'
AFTER=$(counter mxe1 atomics_executed)
# At least MPI_Fetch_and_op() and MPI_Accumulate() of rank 1.
check "the device of rank 0 has executed atomics ($((AFTER - BEFORE)))" \
	[ $((AFTER - BEFORE)) -ge 200 ]

# By default, btl/ofi of Open MPI 4.1 ends the process in MPI_MAX, MPI_MIN and
# the logical and bitwise operations. With this parameter, osc/rdma posts
# compare-and-swaps for all operations. It crashes in MPI_MINLOC and MPI_MAXLOC.
OPS='max min sum prod land lor lxor band bor bxor replace no_op cswap'
BEFORE=$(counter mxe1 atomics_executed)
# shellcheck disable=SC2086  # a list
OUT=$(ranks --mca osc_rdma_acc_use_amo 0 "$(command -v mpi_ops)" $OPS)
is $? 0 'mpirun succeeds for all operations'
diag "$OUT"
for op in $OPS; do
	like "$OUT" "$op: [1-9][0-9]* results, 0 wrong" "results of $op"
done
AFTER=$(counter mxe1 atomics_executed)
check "the device of rank 0 has executed atomics ($((AFTER - BEFORE)))" \
	[ $((AFTER - BEFORE)) -ge 2000 ]

done_testing
