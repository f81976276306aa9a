# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
#
# Sourced, after common.sh, by the scripts that download packages of other
# releases and architectures and unpack them in directories of their own below
# $DIR. Installs nothing on this machine.

DIR=$CACHE/kernels

# Prints the mirror of this machine's release, not that of its security updates.
mirror()
{
	# shellcheck disable=SC2016  # apt's variables
	apt-get indextargets --format '$(CREATED_BY) $(SUITE) $(REPO_URI)' |
		awk '$1 == "Packages" && $2 !~ /security/ &&
			$3 ~ /debian\/?$/ { print $3; exit }'
}

# private_apt SUITE ARCH [FOREIGN]: sets APT to options for apt's tools that
# select the packages of this suite (and of the suite that it extends), for ARCH
# and FOREIGN, with no package installed. Downloads are written to ARCHIVES. If
# ARCH is "source", the options select source packages.
private_apt()
{
	local apt=$DIR/apt-$1-$2 arch suite uri type="deb [arch=$2${3:+,$3}"
	local keys=/usr/share/keyrings/debian-archive-keyring.gpg
	ARCHIVES=$apt/cache/archives
	mkdir -p "$apt/lists/partial" "$ARCHIVES/partial" || return
	APT=(-q -o Dir::Etc::SourceList="$apt/sources.list"
		-o Dir::Etc::SourceParts=- -o Dir::Etc::Preferences=-
		-o Dir::Etc::PreferencesParts=- -o Dir::State="$apt"
		-o Dir::State::status="$apt/status" -o Dir::Cache="$apt/cache"
		-o Acquire::Languages=none -o APT::Sandbox::User="$(id -un)"
		-o APT::Install-Recommends=false -o Debug::NoLocking=true)
	if [ "$2" = source ]; then
		type='deb-src ['
	else
		APT+=(-o APT::Architecture="$2")
		for arch in "${@:2}"; do
			APT+=(-o "APT::Architectures::=$arch")
		done
	fi
	: >"$apt/status"
	uri=$(mirror)
	if [ -z "$uri" ]; then
		say "apt has no mirror of Debian here: run apt-get update"
		return 1
	fi
	for suite in "${1%-backports}" "$1"; do
		echo "$type signed-by=$keys] $uri $suite main"
	done | sort -u >"$apt/sources.list"
	apt-get "${APT[@]}" update >&2
}

# source_archive SUITE PACKAGE: prints the archive that upstream released of a
# source package. Downloads it once.
source_archive()
{
	local dir=$CACHE/src/$2-$1
	if [ ! -e "$dir" ]; then
		private_apt "$1" source && rm -rf "$dir.part" && mkdir -p "$dir.part" &&
			(cd "$dir.part" && apt-get "${APT[@]}" source --download-only \
				--tar-only "$2/$1") >&2 &&
			mv "$dir.part" "$dir" || return
	fi
	compgen -G "$dir/*.orig.tar.*"
}

# unpack ROOT DEB...: unpacks the useful parts of packages. Keeps links such as
# /bin, and the tests in the documents of rdma-core.
unpack()
{
	local root=$1 deb
	shift
	for deb; do
		dpkg-deb --fsys-tarfile "$deb" |
			tar -C "$root" -xf - --no-same-owner \
				--keep-directory-symlink --exclude='./dev/*' \
				--exclude='./usr/share/doc/[!r]*' \
				--exclude='./usr/share/locale/*' || return
	done
}

# unpack_all ROOT: unpacks all packages in ARCHIVES, base-files first because it
# has the links /bin, /lib and so on.
unpack_all()
{
	local first
	first=$(compgen -G "$ARCHIVES/base-files_*.deb")
	unpack "$1" ${first:+"$first"} "$ARCHIVES"/*.deb || return
	apt-get "${APT[@]}" clean
}

# in_root COMMAND...: runs a command in ROOT. This checkout has the same path in
# it. Needs no privileges.
in_root()
{
	# shellcheck disable=SC2016  # for the inner shell
	unshare --user --map-root-user --mount bash -c '
		root=$1
		top=$2
		shift 2
		mkdir -p "$root$top" &&
			mount --rbind /dev "$root/dev" &&
			mount --rbind /proc "$root/proc" &&
			mount -t tmpfs tmpfs "$root/tmp" &&
			mount --rbind "$top" "$root$top" || exit 2
		exec env -i PATH=/usr/bin:/bin HOME=/ LC_ALL=C \
			"$(command -v chroot)" "$root" "$@"' \
		bash "$ROOT" "$TOP" "$@" </dev/null
}
