# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
#
# Sourced, after common.sh, by the parts of the tests that install packages in a
# Debian root directory of their own, $ROOT.

KEYS=/usr/share/keyrings/debian-archive-keyring.gpg

# need_root_tools: installs what makes a root directory and packages. Ends the
# script if this user cannot make one.
need_root_tools()
{
	[ "$(id -u)" -eq 0 ] || die "must run as root to make a chroot"
	need_packages debootstrap dpkg-dev git xz-utils
}

# in_root COMMAND...: runs a command with a process namespace and an environment
# of its own, and the devices of this machine. All its processes and mounts end
# with it.
in_root()
{
	# shellcheck disable=SC2016  # for the inner shell
	unshare --mount --pid --fork --kill-child sh -c '
		mount -t proc proc "$0/proc" && mount --rbind /dev "$0/dev" &&
			mount --rbind /sys "$0/sys" && exec chroot "$0" "$@"' "$ROOT" \
		env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 \
		DEBIAN_FRONTEND=noninteractive "$@" </dev/null
}

# debian_sources [SUITE]: prints the Debian sources of apt on this machine, one
# a line, or those of another suite on the same mirrors.
debian_sources()
{
	# shellcheck disable=SC2016  # apt's variables
	apt-get indextargets --format \
		'$(CREATED_BY) $(ORIGIN) $(REPO_URI) $(CODENAME) $(COMPONENT)' |
		awk -v keys=$KEYS -v suite="${1:-}" '
			$1 != "Packages" || $2 != "Debian" { next }
			suite { sub(/^[a-z]+/, suite, $4) }
			# Debian sid has neither updates nor security updates.
			$4 !~ /^sid-/ { print "deb [signed-by=" keys "]", $3, $4, $5 }
		' | sort -u
}

# bootstrap [SUITE]: makes ROOT with the essential packages of this machine's
# release, or of another suite. Its apt uses the mirrors of this machine.
bootstrap()
{
	local sources uri suite include=()
	sources=$(debian_sources "$@")
	read -r uri suite < <(awk '$4 !~ /-/ { print $3, $4; exit }' <<<"$sources")
	if [ -z "${suite:-}" ]; then
		say "apt has no packages of Debian here: run apt-get update"
		return 1
	fi
	say "making a root directory of Debian $suite"
	[[ $sources != *https:* ]] || include=(--include=ca-certificates)
	debootstrap --variant=minbase --keyring=$KEYS "${include[@]}" \
		"$suite" "$ROOT" "$uri" >&2 || return
	echo "$sources" >"$ROOT/etc/apt/sources.list"
	apt-config dump Acquire >"$ROOT/etc/apt/apt.conf.d/99host"
	# The directory can be made again, so dpkg need not sync each file.
	echo force-unsafe-io >"$ROOT/etc/dpkg/dpkg.cfg.d/unsafe-io"
	cp -L /etc/resolv.conf /etc/hosts "$ROOT/etc/"
}
