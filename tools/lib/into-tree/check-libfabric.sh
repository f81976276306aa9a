# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
#
# Sourced by "tools/check in-tree": the provider in libfabric's source tree.

# shellcheck disable=SC2034  # LABEL is used by the script that sources this

MXE=$WORK/mxe
# Programs of libfabric's test suite and of tests/verbs that
# tools/lib/guest/in-tree runs.
FABTESTS=(functional/fi_rdm_atomic functional/fi_rdm_tagged_peek)
TESTS=(t_fi_msg t_fi_cm t_fi_atomic)

# Installs mxe below a prefix of its own.
install_mxe()
{
	local library
	rm -rf "$MXE"
	for library in libmxe libibverbs_exp; do
		make -s -C "$TOP/userspace/$library" "-j$(nproc)" install PREFIX="$MXE" \
			LIBDIR="$MXE/lib" SYSCONFDIR="$MXE/etc" || return
	done
}

# build ENABLE: builds libfabric, with tcp as another provider, and installs it.
build()
(
	mkdir "$OUT" && cd "$OUT" &&
		"$SRC/configure" --prefix="$OUT/prefix" --enable-only --enable-tcp \
			--enable-mxe="$1" &&
		make "-j$(nproc)" && make install && ls -l prefix/share/man/man7/fi_mxe.7 &&
		! grep '/prov/mxe/.*warning:' "$OUT.log"
)

build_fabtests()
(
	mkdir "$OUT.fabtests" && cd "$OUT.fabtests" &&
		"$SRC/fabtests/configure" --with-libfabric="$OUT/prefix" &&
		make "-j$(nproc)" "${FABTESTS[@]}" && cp "${FABTESTS[@]}" "$OUT/prefix/bin/"
)

# The operations and datatypes that they test are those of the headers.
build_tests()
{
	make -s -C "$TOP/tests/verbs" "-j$(nproc)" O="$OUT.tests" \
		CPPFLAGS="-I$OUT/prefix/include" LDFLAGS="-L$OUT/prefix/lib" \
		"${TESTS[@]/#/$OUT.tests/bin/}" &&
		cp "${TESTS[@]/#/$OUT.tests/bin/}" "$OUT/prefix/bin/"
}

# check_variant NAME ENABLE: builds libfabric with --enable-mxe=ENABLE.
check_variant()
{
	LABEL="libfabric, $1"
	OUT=$WORK/libfabric-$1
	rm -rf "$OUT"*
	built "builds without warnings of mxe" build "$2" &&
		built "make check" make -C "$OUT" check &&
		built "builds fabtests" build_fabtests &&
		built "builds tests" build_tests &&
		PREFIXES+=("$1=$OUT/prefix")
}

autogen()
(
	cd "$1" && ./autogen.sh
)

need_packages autoconf automake libtool
unpack_source trixie libfabric || exit 2
copied . || exit 2
OUT=$SRC
built "installs mxe" install_mxe && built "autogen.sh" autogen "$SRC" &&
	built "fabtests/autogen.sh" autogen "$SRC/fabtests"
# The linker and programs look for libibverbs_exp there.
PREFIXES=() SEARCHED=${LD_LIBRARY_PATH:-}
export LD_LIBRARY_PATH=$MXE/lib
check_variant built-in "$MXE"
check_variant plugin "dl:$MXE"
LD_LIBRARY_PATH=$SEARCHED
[ ${#PREFIXES[@]} -eq 0 ] || run libfabric "${PREFIXES[@]}"
