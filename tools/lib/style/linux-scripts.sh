# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
#
# Sourced, after common.sh, for scripts of the kernel's source package.

# linux_scripts: prints the folder that has checkpatch.pl and kernel-doc. They
# are extracted from the newest source package, unless the cache has a whole
# source tree.  kernel-doc is in Perl, or, in newer kernels, a link to a program
# in Python.
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
	if [ ! -e "$dir/scripts/complete" ]; then
		rm -rf "$dir"
		mkdir -p "$dir"
		# Older kernels do not have all of these, which tar reports.
		tar -C "$dir" -xf "$tarball" --strip-components=1 --no-wildcards-match-slash \
			--wildcards '*/scripts' '*/tools/docs' '*/tools/lib/python' 2>/dev/null
		[ -x "$dir/scripts/kernel-doc" ] || die "cannot unpack $tarball"
		touch "$dir/scripts/complete"
	fi
	printf '%s\n' "$dir/scripts"
}
