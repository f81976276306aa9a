# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
#
# Sourced, after common.sh, by the scripts that fetch packages of other releases and
# machines and unpack them in directories of their own, below $DIR: nothing is
# installed here.

DIR=$CACHE/kernels

# The mirror of this machine's own release, not of its security updates.
mirror()
{
	# shellcheck disable=SC2016  # apt's variables
	apt-get indextargets --format '$(CREATED_BY) $(SUITE) $(REPO_URI)' |
		awk '$1 == "Packages" && $2 !~ /security/ &&
			$3 ~ /debian\/?$/ { print $3; exit }'
}

# private_apt SUITE ARCH [FOREIGN]: make APT the options that give apt's tools the
# packages of this suite (and of the one it adds to), and none installed; of a machine
# of ARCH, and of FOREIGN. What it downloads is in ARCHIVES.
private_apt()
{
	local apt=$DIR/apt-$1-$2 arch suite uri
	local keys=/usr/share/keyrings/debian-archive-keyring.gpg
	ARCHIVES=$apt/cache/archives
	mkdir -p "$apt/lists/partial" "$ARCHIVES/partial" || return
	APT=(-q -o Dir::Etc::SourceList="$apt/sources.list"
		-o Dir::Etc::SourceParts=- -o Dir::Etc::Preferences=-
		-o Dir::Etc::PreferencesParts=- -o Dir::State="$apt"
		-o Dir::State::status="$apt/status" -o Dir::Cache="$apt/cache"
		-o Acquire::Languages=none -o APT::Sandbox::User="$(id -un)"
		-o APT::Architecture="$2"
		-o APT::Install-Recommends=false -o Debug::NoLocking=true)
	for arch in "${@:2}"; do
		APT+=(-o "APT::Architectures::=$arch")
	done
	: >"$apt/status"
	uri=$(mirror)
	if [ -z "$uri" ]; then
		say "apt has no mirror of Debian here: run apt-get update"
		return 1
	fi
	for suite in "${1%-backports}" "$1"; do
		echo "deb [arch=$2${3:+,$3} signed-by=$keys] $uri $suite main"
	done | sort -u >"$apt/sources.list"
	apt-get "${APT[@]}" update >&2
}

# unpack ROOT DEB...: as far as it is of use. Links like /bin are kept.
unpack()
{
	local root=$1 deb
	shift
	for deb; do
		dpkg-deb --fsys-tarfile "$deb" |
			tar -C "$root" -xf - --no-same-owner \
				--keep-directory-symlink --exclude='./dev/*' \
				--exclude='./usr/share/doc/*' \
				--exclude='./usr/share/locale/*' || return
	done
}

# unpack_all ROOT: all of ARCHIVES. base-files has the links /bin, /lib and so on, so it
# comes first.
unpack_all()
{
	local first
	first=$(compgen -G "$ARCHIVES/base-files_*.deb")
	unpack "$1" ${first:+"$first"} "$ARCHIVES"/*.deb || return
	apt-get "${APT[@]}" clean
}
