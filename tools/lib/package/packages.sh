# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
#
# Sourced, after common.sh, by the parts of the tests that build packages from
# the archive of "make dist" and install them in a root directory. Such a part
# adds to NEEDED, defines the functions build VERSION, lint, install VERSION,
# bound and purge, and calls packages_root and packages_tests. The sources that
# it builds from are in /build/VERSION/src of the root directory.

# shellcheck source=tools/lib/package/root.sh
. "$TOP/tools/lib/package/root.sh"

# Packages to build with, and those that debian/tests and mxe-vm need.
NEEDED=(build-essential dkms kmod libibverbs-dev man-db pkg-config
	linux-headers-amd64 openssl
	ibverbs-utils iproute2 tcpdump tshark busybox-static cpio qemu-system-x86)
DIR=$CACHE/packages
PART=${0##*/}

# packages_root [--fresh]: reads the arguments of the part. Sets WORK to a
# directory that the end of the script removes, with the root directory in it,
# and VERSION and OLD to the version of the tree and an older one.
packages_root()
{
	local base
	base=$DIR/$PART-$(printf '%s\n' "${NEEDED[@]}" | sha256sum | cut -c 1-8).tar
	case ${1:-} in
	-h | --help) usage && exit ;;
	--fresh) rm -f "$base" ;;
	'') ;;
	*) usage >&2 && exit 2 ;;
	esac
	need_root_tools
	cd "$TOP" || exit 2
	VERSION=$(dpkg-parsechangelog -S Version) || die "no version in debian/changelog"
	OLD=$VERSION~old
	mkdir -p "$DIR" || exit 2
	WORK=$(mktemp -d "$DIR/check.XXXXXX") || exit 2
	ROOT=$WORK/root
	trap 'rm -rf --one-file-system "$WORK"' EXIT
	mkdir "$ROOT" || exit 2
	if [ -e "$base" ]; then
		tar -C "$ROOT" -xf "$base" || die "cannot unpack $base: try --fresh"
	else
		make_base "$base" || die "cannot make a root"
	fi
}

make_base()
{
	bootstrap &&
		in_root apt-get -q update >&2 &&
		in_root apt-get -qy install --no-install-recommends \
			"${NEEDED[@]}" >&2 &&
		in_root apt-get clean || return
	rm -f "$DIR/$PART"-*.tar
	tar -C "$ROOT" -cf "$1.new" . && mv "$1.new" "$1"
}

# step NAME COMMAND...
step()
{
	local name=$1
	shift
	if "$@" >"$WORK/log" 2>&1; then
		result ok "$PART: $name"
		return
	fi
	result 'not ok' "$PART: $name"
	tail -n 30 "$WORK/log" | sed 's/^/#   /'
	return 1
}

# unpack_dist VERSION: unpacks the archive of "make dist" in /build/VERSION/src.
unpack_dist()
{
	local to=$ROOT/build/$1/src
	mkdir -p "$to" &&
		tar -C "$to" --strip-components=1 -xJf "build/mxe-$VERSION.tar.xz"
}

# kernel_of_root: prints the kernel version whose headers are in the chroot.
kernel_of_root()
{
	basename "$(dirname "$(echo "$ROOT"/lib/modules/*/build)")"
}

# modules VERSION: passes if DKMS has installed the modules of this version, and
# of no other, for the kernel whose headers are in the chroot.
modules()
{
	local kernel m
	kernel=$(kernel_of_root)
	[ "$(in_root dkms status mxe)" = "mxe/$1, $kernel, x86_64: installed" ] ||
		return
	for m in mxe ib_exp; do
		[ "$(in_root modinfo -k "$kernel" -F version $m)" = "$1" ] &&
			[ -n "$(in_root modinfo -k "$kernel" -F signer $m)" ] ||
			return
	done
	in_root modprobe --set-version "$kernel" --show-depends mxe |
		grep -q /updates/dkms/ib_exp.ko
}

# demo: runs debian/tests/demo in a virtual machine, whose root file system is
# the chroot. Uses the kernel that tools/vm has unpacked here if it is the same
# version.
demo()
{
	local kernel
	kernel=$(kernel_of_root)
	mkdir -p "$ROOT/build/cache/kernel" &&
		if [ -d "$CACHE/kernel/$kernel" ]; then
			cp -al "$CACHE/kernel/$kernel" "$ROOT/build/cache/kernel/"
		fi &&
		in_root env MXE_CACHE=/build/cache sh -exc "
			cd /build/$VERSION/src
			mxe-vm -- ibv_devices >/build/devices
			grep mxe1 /build/devices
			grep mxe2 /build/devices
			KVER=$kernel debian/tests/demo build /build/demo
			mxe-vm --timeout 600 --share /build/demo -- \\
				debian/tests/demo run /build/demo"
}

# dat_conf: passes if the configuration of uDAPL names the provider once.
dat_conf()
{
	[ "$(grep -c '^mxe-v2 ' "$ROOT/etc/dat.conf")" -eq 1 ]
}

# listing: prints names and types of all files but those that others keep about
# all packages.
listing()
{
	find "$ROOT" -xdev \( -path "$ROOT/build" -o -path "$ROOT/proc" \
		-o -path "$ROOT/var/cache" -o -path "$ROOT/var/log" \
		-o -path "$ROOT/var/lib/apt" -o -path "$ROOT/var/lib/dpkg" \
		-o -path "$ROOT/root/.rpmdb" -o -path "$ROOT/tmp" \) \
		-prune -o -printf '%P %y\n' | sort
}

# Ignores the key that DKMS makes once for all later modules, and the lists of
# depmod, which cover whatever modules exist.
nothing_left()
{
	# /lib may be a link to usr/lib.
	local modules=' \(usr/\)\?lib/modules/[^/]*'

	listing | diff "$WORK/before" - |
		grep '^[<>]' | grep -v -e ' var/lib/dkms' -e ' var/lib/systemd' \
			-e "$modules/modules\." -e "$modules d$" -e "$modules/updates" |
		tee "$WORK/left" | grep . && return 1
	! find "$ROOT/lib/modules" "$ROOT/var/lib/dkms" "$ROOT/usr/src" "$ROOT/etc" \
		-name 'mxe*' -o -name 'ib_exp*' | grep .
}

# packages_tests DEV: DEV is the suffix of the development packages.
packages_tests()
{
	step "make dist" make -s dist || return
	step "build $OLD" build "$OLD" || return
	step "build $VERSION" build "$VERSION" || return
	step "lint" lint
	listing >"$WORK/before"
	cp "$ROOT/etc/dat.conf" "$WORK/" || return
	step "install $OLD" install "$OLD" || return
	step "modules of $OLD" modules "$OLD"
	step "upgrade to $VERSION" install "$VERSION" || return
	step "modules of $VERSION alone" modules "$VERSION"
	step "the provider is bound to its libibverbs" bound
	step "debian/tests/programs" in_root sh -c \
		"cd /build/$VERSION/src && debian/tests/programs $1"
	step "debian/tests/demo by mxe-vm" demo
	step "dat.conf names the provider" dat_conf
	step "purge" purge
	step "dat.conf is as before" cmp "$WORK/dat.conf" "$ROOT/etc/dat.conf"
	step "nothing is left" nothing_left
}
