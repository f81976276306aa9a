# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
#
# Sourced by the scripts that build programs of tests/fuzz, after common.sh.

# tests/fuzz/kernel.c stands in for functions of this release. Later ones have
# other names for them.
# shellcheck disable=SC2034  # used by the scripts that source this
FUZZ_RELEASE=6.1

# fuzz_kernel: configures the kernel sources that tools/uml unpacks, for their
# headers. Sets KSRC and KOBJ for tests/fuzz/Makefile.
fuzz_kernel()
{
	local config=tests/fuzz/kernel.config key line
	KSRC=$(compgen -G "$CACHE/src/linux-source-*/.mxe-version" | sort -V |
		tail -n 1)
	if [ -z "$KSRC" ]; then
		tools/uml source >/dev/null || exit 2
		KSRC=$(compgen -G "$CACHE/src/linux-source-*/.mxe-version" |
			sort -V | tail -n 1)
	fi
	KSRC=${KSRC%/.mxe-version}
	key=$(cat "$KSRC/.mxe-version" "$config" | sha256sum | cut -c 1-12)
	KOBJ=$CACHE/fuzz/headers-$key
	[ ! -e "$KOBJ/.mxe-done" ] || return 0
	mkdir -p "$KOBJ"
	cp "$config" "$KOBJ/.config"
	make -C "$KSRC" O="$KOBJ" ARCH=um LLVM=1 olddefconfig prepare \
		>"$KOBJ/build.log" 2>&1 </dev/null ||
		die "the kernel cannot be configured; see $KOBJ/build.log"
	while read -r line; do
		case $line in
		CONFIG_*=n) ! grep -q "^${line%n}" "$KOBJ/.config" ;;
		CONFIG_*) grep -qx "$line" "$KOBJ/.config" ;;
		esac || die "the kernel configuration has no $line"
	done < <(grep ^CONFIG "$config")
	touch "$KOBJ/.mxe-done"
}
