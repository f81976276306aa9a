# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
#
# Sourced by "tools/check in-tree": the modules in a kernel source tree.

SRC=$WORK/linux
CHANGED=(drivers/infiniband include/rdma include/uapi/rdma)
DIRS=(drivers/infiniband/sw/mxe/ drivers/infiniband/ulp/ib_exp/
	drivers/infiniband/ulp/masked_locks/)

# fragment m|y: prints the needed options, on top of allnoconfig.
fragment()
{
	cat <<-EOF
		CONFIG_64BIT=y
		CONFIG_SMP=y
		CONFIG_MODULES=y
		CONFIG_NET=y
		CONFIG_INET=y
		CONFIG_IPV6=y
		CONFIG_PCI=y
		CONFIG_NETDEVICES=y
		CONFIG_DEBUG_FS=y
		CONFIG_FTRACE=y
		CONFIG_ENABLE_DEFAULT_TRACERS=y
		CONFIG_INFINIBAND=$1
		CONFIG_INFINIBAND_USER_ACCESS=$1
		CONFIG_INFINIBAND_ADDR_TRANS=y
		CONFIG_INFINIBAND_MXE=$1
		CONFIG_INFINIBAND_EXP=$1
		CONFIG_INFINIBAND_MASKED_LOCKS=$1
	EOF
}

# Unpacks the sources once for each version of the package, because they are
# large.
unpack_linux()
{
	local tarball version
	tarball=$(compgen -G '/usr/src/linux-source-*.tar.xz' | sort -V | tail -n 1)
	[ -n "$tarball" ] || die "linux-source is not installed: run tools/deps"
	version=$(stat -c '%n %s' "$tarball")
	[ "$(cat "$SRC.version" 2>/dev/null)" != "$version" ] || return 0
	say "unpacking $tarball"
	rm -rf "$SRC"
	mkdir -p "$SRC"
	tar -C "$SRC" -xf "$tarball" --strip-components=1 &&
		listing "${CHANGED[@]}" >"$SRC.listing" || exit 2
	echo "$version" >"$SRC.version"
}

# compile NAME: builds with the options of standard input in a separate
# directory.
compile()
{
	local out=$WORK/$1 line
	mkdir -p "$out"
	cat >"$out/fragment"
	make -s -C "$SRC" O="$out" KCONFIG_ALLCONFIG="$out/fragment" allnoconfig >/dev/null &&
		make -s -C "$SRC" O="$out" "-j$(nproc)" modules_prepare || return
	while read -r line; do
		grep -qx "$line" "$out/.config" || echo "not configured: $line"
	done <"$out/fragment"
	make -s -C "$SRC" O="$out" "-j$(nproc)" W=1 "${DIRS[@]}"
}

unpack_linux
copied "${CHANGED[@]}" || exit 2
quiet "modules" compile m < <(
	fragment m
	echo CONFIG_NETFILTER=y
)
quiet "built in, with KUnit suites" compile y < <(
	fragment y
	printf '%s\n' CONFIG_NETFILTER=y CONFIG_KUNIT=y \
		CONFIG_INFINIBAND_MXE_KUNIT_TEST=y CONFIG_INFINIBAND_EXP_KUNIT_TEST=y
)
quiet "built in, without netfilter" compile bare < <(fragment y)
