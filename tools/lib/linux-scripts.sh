# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
#
# Sourced, after common.sh, for scripts of the kernel's source package.

# linux_scripts: prints the folder that has checkpatch.pl and kernel-doc. They
# are extracted from the newest source package, unless the cache has a whole
# source tree.
linux_scripts()
{
	local dir tarball
	dir=$(compgen -G "$CACHE/src/*/scripts/kernel-doc" | sort -V | tail -n 1)
	if [ -n "$dir" ]; then
		printf '%s\n' "${dir%/*}"
		return
	fi
	tarball=$(compgen -G '/usr/src/linux-source-*.tar.xz' | sort -V | tail -n 1)
	[ -n "$tarball" ] || die "linux-source is not installed: run tools/deps"
	dir=$CACHE/linux-scripts/$(basename "$tarball" .tar.xz)
	if [ ! -e "$dir/complete" ]; then
		mkdir -p "$dir"
		tar -C "$dir" -xf "$tarball" --strip-components=2 --wildcards \
			'*/scripts/checkpatch.pl' '*/scripts/spelling.txt' \
			'*/scripts/const_structs.checkpatch' '*/scripts/kernel-doc*' ||
			die "cannot unpack $tarball"
		touch "$dir/complete"
	fi
	printf '%s\n' "$dir"
}
