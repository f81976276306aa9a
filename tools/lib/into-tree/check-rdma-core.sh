# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
#
# Sourced by "tools/check in-tree": libmxe in rdma-core's source tree.

# shellcheck disable=SC2034  # LABEL is used by the script that sources this

# configure DIRECTORY [OPTION...]: as rdma-core's CI does.
configure()
{
	local out=$1
	shift
	mkdir "$out" && (cd "$out" && cmake -GNinja -DIOCTL_MODE=both -DENABLE_WERROR=1 \
		-DNO_PYVERBS=1 -DCMAKE_INSTALL_PREFIX="$out/prefix" \
		-DCMAKE_INSTALL_LIBDIR=lib -DCMAKE_INSTALL_SYSCONFDIR="$out/prefix/etc" \
		"$@" "$SRC")
}

# check_build: runs the checks of rdma-core. The log must show that they have
# checked the header and the static library of libmxe.
check_build()
{
	# Python 3.13 has no module pipes.
	mkdir "$OUT.python" && echo 'from shlex import quote' >"$OUT.python/pipes.py" &&
		PYTHONPATH=$OUT.python python3 "$SRC/buildlib/check-build" \
			--src "$SRC" --build "$OUT" || return
	grep -q 'Header C++ check for .*/mxedv.h' "$OUT.log" &&
		grep -q 'Compile and link providers-mxe-static-out' "$OUT.log"
}

# sparse DIRECTORY: prints the warnings about libmxe.
sparse()
{
	CC=cgcc configure "$1" "${OPTIONS[@]}" >"$OUT.log" 2>&1 &&
		grep -q 'HAVE_NO_SPARSE - Failed' "$OUT.log" &&
		ninja -C "$1" mxe | sed '/^\[/d; /^ninja: Entering/d'
}

installed_files()
{
	local file
	ninja -C "$OUT" install || return
	for file in include/infiniband/mxedv.h lib/pkgconfig/libmxe.pc lib/libmxe.a \
		etc/libibverbs.d/mxe.driver ${MAN_PAGES:+share/man/man3/mxedv_arm_dct.3 \
		share/man/man7/mxe.7}; do
		ls -lL "$OUT/prefix/$file" || return
	done
}

# check_release SUITE: builds and checks the rdma-core of a release.
check_release()
{
	LABEL="rdma-core of $1"
	unpack_source "$1" rdma-core || exit 2
	OUT=$SRC.build
	rm -rf "$OUT"*
	# The archives of some releases lack the pages that pandoc makes.
	OPTIONS=() MAN_PAGES=1
	[ -d "$SRC/buildlib/pandoc-prebuilt" ] || OPTIONS=(-DNO_MAN_PAGES=1) MAN_PAGES=''
	copied . || exit 2
	# The ABI of earlier versions of the other libraries, which check-build
	# would compare by a program that is not installed.
	rm -rf "$SRC/ABI"
	built "configures" configure "$OUT" -DENABLE_STATIC=1 "${OPTIONS[@]}" &&
		built "builds without warnings" ninja -C "$OUT" &&
		built "buildlib/check-build" check_build &&
		built "installs" installed_files &&
		PREFIXES+=("$1=$OUT/prefix")
	quiet "sparse" sparse "$OUT.sparse"
}

need_packages cmake ninja-build sparse libnl-3-dev libnl-route-3-dev libudev-dev \
	python3-docutils python3-pkg-resources
PREFIXES=()
check_release trixie
check_release sid
[ ${#PREFIXES[@]} -eq 0 ] || run rdma-core "${PREFIXES[@]}"
