# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
#
# Sourced by the scripts in tools/: paths, packages and test results.

# shellcheck disable=SC2034  # used by the scripts that source this
TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)

# Directory of large files that can be rebuilt. They are never in the checkout.
CACHE=${MXE_CACHE:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/mxe}

ME=${0##*/}
[[ $0 != */check.d/* ]] || ME="check $ME"

say()
{
	printf '%s: %s\n' "$ME" "$*" >&2
}

die()
{
	say "$@"
	exit 2
}

# no_arguments "$@" <<TEXT: rejects all arguments but --help, which prints the
# text.
no_arguments()
{
	case ${1:-} in
	'') return ;;
	-h | --help)
		printf 'Usage: %s\n' "tools/$ME"
		cat
		exit
		;;
	esac
	die "takes no arguments (see --help)"
}

# Prints the newest kernel version whose headers are installed. KVER overrides
# it.
kernel_version()
{
	if [ -n "${KVER:-}" ]; then
		printf '%s\n' "$KVER"
		return
	fi
	local d
	for d in /lib/modules/*/build /usr/src/linux-headers-*; do
		[ -e "$d/Module.symvers" ] || continue
		case $d in
		/lib/modules/*)
			d=${d#/lib/modules/}
			printf '%s\n' "${d%/build}"
			;;
		*)
			printf '%s\n' "${d#/usr/src/linux-headers-}"
			;;
		esac
	done | sort -uV | tail -n 1
}

# Prints the build directory of kernel version $1.
kernel_dir()
{
	local d
	for d in "/lib/modules/$1/build" "/usr/src/linux-headers-$1"; do
		if [ -e "$d/Module.symvers" ]; then
			printf '%s\n' "$d"
			return
		fi
	done
	return 1
}

# installed PACKAGE: passes if the package is installed on this machine.
installed()
{
	[ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

# system_apt ARGUMENT...: runs apt-get on this machine without questions.
system_apt()
{
	local sudo=()
	[ "$(id -u)" -eq 0 ] || sudo=(sudo)
	"${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -y \
		-o DPkg::Lock::Timeout=300 "$@" </dev/null
}

# need_packages PACKAGE...: installs missing packages that are not part of "make
# deps" with apt-get.
need_packages()
{
	local p missing=()
	for p; do
		installed "$p" || missing+=("$p")
	done
	[ ${#missing[@]} -gt 0 ] || return 0
	say "installing with apt-get: ${missing[*]}"
	system_apt install --no-install-recommends "${missing[@]}" >&2 ||
		die "apt-get cannot install them"
}

# gnu_arch ARCH: prints the GNU name of a Debian architecture.
gnu_arch()
{
	case $1 in
	arm64) echo aarch64 ;;
	*) echo "$1" ;;
	esac
}

# now_ms: prints the time since the epoch in milliseconds.
now_ms()
{
	printf '%s\n' "$((${EPOCHREALTIME/./} / 1000))"
}

# waited: prints the total time, in microseconds, for which tasks of this
# machine have waited for a CPU. Prints nothing if the kernel does not count it.
waited()
{
	sed -n 's/^some .*total=//p' /proc/pressure/cpu 2>/dev/null
}

# copy_sources DIR: updates the kernel sources in DIR and keeps the build
# products. A file with the same content keeps its time, so that only changes
# are rebuilt, even if another clone is at the same path.
copy_sources()
{
	local f
	local products=(-name '.*' -o -name '*.o' -o -name '*.ko' -o -name '*.a'
		-o -name '*.mod' -o -name '*.mod.c' -o -name '*.d'
		-o -name '*.order' -o -name '*.symvers' -o -name '*.log')
	mkdir -p "$1"
	find "$1" -type f ! \( "${products[@]}" \) -printf '%P\n' | while read -r f; do
		[ -e "$TOP/$f" ] || rm "$1/$f"
	done
	(cd "$TOP" && find Kbuild kernel include tests/bth.h tests/kernel tests/kunit -type f \
		! \( "${products[@]}" \)) | while read -r f; do
		cmp -s "$TOP/$f" "$1/$f" || {
			mkdir -p "$(dirname "$1/$f")"
			cp "$TOP/$f" "$1/$f"
		}
	done
}

# style_dir: prints the directory in which "tools/check style" builds for the
# kernel KVER. The unit tests of "tools/check" use its build of user space.
style_dir()
{
	printf '%s\n' "$CACHE/style/$(printf '%s' "$TOP" | sha256sum | cut -c 1-8)-$KVER"
}

# result ok|"not ok"|skip NAME [REASON]: prints one line, and adds one to the
# results that are counted.
result()
{
	case $1 in
	skip) printf 'ok - %s # SKIP %s\n' "$2" "${3:-}" ;;
	*) printf '%s - %s\n' "$1" "$2" ;;
	esac
	printf '%s\t%s\n' "$1" "$2${3:+ ($3)}" >>"${MXE_RESULTS:-/dev/null}"
}

# tap_results PREFIX FILE STATUS: adds the results of a program that printed
# FILE and exited with STATUS. Its TAP lines are tests. Without any, the program
# is one test. A non-zero status is a failure even if no line reports one. With
# PREFIX "unit", FILE is the output of several programs, with lines "# NAME"
# between them, and failures are printed in full. Other callers print FILE
# themselves.
tap_results()
{
	local verdict name reason status=$3 bad=0 lines=0
	while IFS='	' read -r verdict name reason; do
		lines=$((lines + 1))
		[ "$verdict" != 'not ok' ] || bad=1
		result "$verdict" "$name" "$reason"
		[ "$verdict" != 'not ok' ] || [ "$1" != unit ] ||
			sed -n "/^not ok/,/^\\(ok\\|1\\.\\.\\)/s/^# */#   /p" "$2"
	done < <(awk -v prefix="$1" -v OFS='\t' '
		prefix == "unit" && /^# [a-z0-9_]+$/ { section = " " $2; next }
		/^Bail out!/ { print "not ok", prefix ":" section " " $0; next }
		/^(not )?ok( |$)/ {
			verdict = $1 == "not" ? "not ok" : "ok"
			name = $0
			reason = ""
			sub(/^(not )?ok *[0-9]* *(- *)?/, "", name)
			if (match(name, / *# *[Ss][Kk][Ii][Pp]/)) {
				verdict = verdict == "ok" ? "skip" : verdict
				reason = substr(name, RSTART + RLENGTH + 1)
				name = substr(name, 1, RSTART - 1)
			}
			gsub(/\t/, " ", name)
			print verdict, prefix ":" section " " name, reason
		}' "$2")
	if [ $lines -eq 0 ]; then
		case $status in
		0) result ok "$1" ;;
		4 | 77) result skip "$1" "$(tail -n 1 "$2")" ;;
		124 | 137) result 'not ok' "$1: time-out" ;;
		*) result 'not ok' "$1 (exit status $status)" ;;
		esac
		[ "$status" -eq 0 ] || [ "$1" != unit ] || sed 's/^/#   /' "$2"
	elif [ "$status" -ne 0 ] && [ $bad -eq 0 ] && [ "$status" -ne 77 ] &&
		[ "$status" -ne 4 ]; then
		result 'not ok' "$1 (exit status $status)"
		[ "$1" != unit ] || sed 's/^/#   /' "$2"
	fi
}

# guest_results PREFIX FILE: adds the results that tests/verbs/run-in-vm
# printed.
guest_results()
{
	local line verdict name reason
	while IFS= read -r line; do
		reason=''
		case $line in
		'not ok - '*) verdict='not ok' name=${line#not ok - } ;;
		'ok - '*' # SKIP'*)
			verdict=skip name=${line#ok - }
			reason=${name#*# SKIP} name=${name%% # SKIP*}
			;;
		'ok - '*) verdict=ok name=${line#ok - } ;;
		*) continue ;;
		esac
		result "$verdict" "$1: $name" "${reason# }" >/dev/null
	done <"$2"
}

# Each part of the tests calls this first. A part that runs alone counts its
# results and prints the counts at the end.
results_begin()
{
	[ -z "${MXE_RESULTS:-}" ] || return 0
	MXE_RESULTS=$(mktemp "${TMPDIR:-/tmp}/mxe-results.XXXXXX") || exit 2
	export MXE_RESULTS
	RESULTS_OWN=1
}

# results_end: prints the counts if results_begin started the count here. Fails
# if a test failed or none ran.
results_end()
{
	local passed failed skipped
	[ -n "${RESULTS_OWN:-}" ] || return 0
	passed=$(grep -c '^ok	' "$MXE_RESULTS")
	failed=$(grep -c '^not ok	' "$MXE_RESULTS")
	skipped=$(grep -c '^skip	' "$MXE_RESULTS")
	if [ "$failed" -gt 0 ]; then
		echo "Failed:"
		sed -n 's/^not ok	/  /p' "$MXE_RESULTS"
	fi
	if [ "$skipped" -gt 0 ]; then
		echo "Skipped:"
		sed -n 's/^skip	/  /p' "$MXE_RESULTS"
	fi
	rm -f "$MXE_RESULTS"
	echo "$passed passed, $failed failed, $skipped skipped"
	[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
}

# clang_arguments VERSION: prints the arguments of kbuild, one a line, with
# which clang VERSION builds modules for headers that are configured for
# Debian's gcc. (These headers name the segment of per-CPU data twice, which
# only gcc ignores.) The modules are built for the warnings of clang and are not
# loadable.
clang_arguments()
{
	printf '%s\n' LLVM=1 CC=clang LD=ld.lld \
		CONFIG_CC_IS_GCC= CONFIG_GCC_VERSION=0 CONFIG_CC_IS_CLANG=y \
		"CONFIG_CLANG_VERSION=$(awk -F . '{ print $1 * 10000 + $2 * 100 + $3 }' <<<"$1")" \
		CONFIG_CC_IMPLICIT_FALLTHROUGH=-Wimplicit-fallthrough \
		CONFIG_FTRACE_MCOUNT_USE_CC= CONFIG_RETHUNK= CONFIG_SLS= \
		CONFIG_INIT_STACK_ALL_ZERO= CONFIG_CC_HAS_MIN_FUNCTION_ALIGNMENT= \
		CONFIG_UBSAN_BOUNDS_STRICT= \
		"KCFLAGS=-Wno-address-of-packed-member -Wno-duplicate-decl-specifier"
}
