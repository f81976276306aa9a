# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
#
# rdma-core's own tests, as the distribution ships them. Sourced after topo.sh.

PYVERBS=/usr/share/doc/rdma-core/tests

# pyverbs_copy DIRECTORY: copies the tests to DIRECTORY/tests, with changes for
# an emulated machine and a software device.
pyverbs_copy()
{
	local to=$1/tests
	[ -e $PYVERBS/run_tests.py ] ||
		bail_out "no $PYVERBS: does dpkg exclude /usr/share/doc here?"
	cp -r $PYVERBS "$to"
	gunzip "$to"/*.gz 2>/dev/null
	# Longer time limits for a machine that is slow or stalls. The tests
	# allow 10 s for a completion, 15 s for the other side, 30 s in all, and
	# 67 ms for an acknowledgement.
	sed -i -e 's/^POLL_CQ_TIMEOUT = 10 /POLL_CQ_TIMEOUT = 100 /' "$to/utils.py"
	sed -i -e 's/^TIMEOUT = 14$/TIMEOUT = 17/' \
		-e 's/, timeout=15)$/, timeout=100)/' \
		-e 's/repeat_times=150 /repeat_times=1500 /' "$to/base.py"
	# The tests of the RDMA CM look for the address of the netdev below the
	# PCI device. A software device has none, but ib_core lists the netdev
	# of each GID.
	sed -i -e 's|/device/net/|/ports/1/gid_attrs/ndevs/0|' \
		-e "s/check_output(\['ls',/check_output(['cat',/" "$to/base.py"
	# A test starts processes that inherit a context. Python 3.14 does not
	# fork for them by default.
	sed -i '1i import multiprocessing; multiprocessing.set_start_method("fork")' \
		"$to/run_tests.py"
	# rdma_resolve_addrinfo() writes an event to rdma_ucm, which takes it
	# since Linux 6.17.
	if ! printf '%s\n' 6.17 "$(uname -r)" | sort -CV; then
		sed -i '/def test_rdmacm_async_resolve_addrinfo(/i \
    @unittest.skip("no RDMA_USER_CM_CMD_WRITE_CM_EVENT")' \
			"$to/test_rdmacm.py"
	fi
}

# pyverbs_run DIRECTORY [VARIABLE=VALUE...]: runs the tests in DIRECTORY/tests
# with these variables. Writes their output to DIRECTORY/out, and lines of
# verdict, tab and name to DIRECTORY/verdicts. Returns the status of the suite.
# In a network namespace, and with the device named, the tests find no other
# device.
pyverbs_run()
{
	local dir=$1 rc
	shift
	(
		cd "$dir" && exec ip netns exec h1 env PYTHONDONTWRITEBYTECODE=1 \
			"$@" timeout $((700 * ${MXE_FACTOR:-1})) \
			/usr/bin/python3 tests/run_tests.py --dev mxe1 -v
	) >"$dir/out" 2>&1
	rc=$?
	# A line is "test_name (module.Class...) ... verdict". A line of
	# documentation may precede the dots.
	sed -n 's/^\([^ ].*\) \.\.\. \(ok\|FAIL\|ERROR\|skipped .*\)$/\2\t\1/p' \
		"$dir/out" >"$dir/verdicts"
	return $rc
}
