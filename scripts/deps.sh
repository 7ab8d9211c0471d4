#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Install what the goals of make need and the machine lacks.
#
#   deps.sh [GOAL...]
#
# On Debian it installs packages; elsewhere it says what to install, and fails
# only if nothing works without it.
#
# Environment: CC, LLVM, CROSS_COMPILE, KSRC as make takes them; BUILD_DIR for
# the log of apt-get.
set -eu -o pipefail

# Where mkfs is, for those who are not root.
PATH=$PATH:/usr/sbin:/sbin

# One line for each need: goals, how to see it, Debian package, what goes
# without it ("-": nothing works). Goals: build is part of every other one.
needs()
{
	cat <<-'EOF'
	build    cmd:make                    make                    -
	build    cc                          gcc                     -
	build    hdr:stdio.h                 libc6-dev               -
	build    hdr:libmount/libmount.h     libmount-dev            tests with a scratch file system of their own skip
	build    hdr:blkid/blkid.h           libblkid-dev            tests with a scratch file system of their own skip
	build    hdr:liburing.h              liburing-dev            tests of io_uring skip
	build    cmd:pkg-config              pkg-config              libraries are looked for where they usually are
	build    hdr:gsl/gsl_rng.h           libgsl-dev              build/tools/mm-cache-compare is not built
	build    hdr:jansson.h               libjansson-dev          mm-cache-compare is not built, mm-cache-explore writes no JSON
	build    hdr:archive.h               libarchive-dev          build/tools/mm-cache-compare is not built
	build    hdr:leveldb/c.h             libleveldb-dev          build/tools/mm-cache-leveldb is not built
	build    source                      linux-source            -
	build    cmd:xz                      xz-utils                -
	run      cmd:perl                    perl                    the runner prints whole lines only
	run      cmd:mkfs.ext4               e2fsprogs               tests with a scratch file system of their own skip
	compare  cmd:gnuplot                 gnuplot-nox             mm-cache-compare draws no figures
	install  cmd:rsync                   rsync                   -
	bench    cmd:fio                     fio                     -
	explore  cmd:gnuplot                 gnuplot-nox             mm-cache-explore draws no figures
	check    cmd:git                     git                     -
	check    perl:Term::ANSIColor        perl                    -
	check    perl:JSON::PP               perl                    -
	check    cmd:shellcheck              shellcheck              -
	check    cmd:clang                   clang                   -
	check    clang-asan                  libclang-rt-dev         -
	check    cmd:valgrind                valgrind                -
	check    valgrind                    libc6-dbg               -
	check    cmd:clang-format            clang-format            -
	format   cmd:clang-format            clang-format            -
	check    cmd:ld.lld                  lld                     -
	check    cmd:llvm-ar                 llvm                    -
	check    cmd:sparse                  sparse                  -
	check    cmd:aarch64-linux-gnu-gcc   gcc-aarch64-linux-gnu   -
	check    dir:/usr/aarch64-linux-gnu/include  libc6-dev-arm64-cross  -
	check    cmd:i686-linux-gnu-gcc      gcc-i686-linux-gnu      -
	check    dir:/usr/i686-linux-gnu/include     libc6-dev-i386-cross   -
	check    cmd:flex                    flex                    -
	check    cmd:bison                   bison                   -
	check    cmd:bc                      bc                      -
	check    cmd:rsync                   rsync                   -
	vng      cmd:mkfs.xfs                xfsprogs                --fs xfs skips
	vng      cmd:mkfs.btrfs              btrfs-progs             --fs btrfs skips
	EOF
}

die()
{
	printf 'deps: %s\n' "$@" >&2
	exit 1
}

# The compiler of the build, as lib.mk chooses it.
compiler()
{
	if [ -n "${CC:-}" ]; then
		echo "${CC%% *}"
	elif [ -n "${LLVM:-}" ]; then
		case $LLVM in
		*/) echo "${LLVM}clang" ;;
		-*) echo "clang$LLVM" ;;
		*) echo clang ;;
		esac
	else
		echo "${CROSS_COMPILE:-}gcc"
	fi
}

# Which groups of needs() the goals take.
groups_of()
{
	local goal groups=build

	for goal in "$@"; do
		case $goal in
		all | tools) groups+=" compare" ;;
		install-in-tree | clean | clean-machine | help | stage | suite) ;;
		format) groups+=" format" ;;
		run) groups+=" run" ;;
		bench) groups+=" run bench" ;;
		explore) groups+=" run explore" ;;
		install | gen_tar) groups+=" install" ;;
		vng) groups+=" install vng" ;;
		gate) groups+=" install vng compare" ;;
		check) groups+=" run install bench explore vng compare check" ;;
		*) die "$goal: no goal that deps.sh knows; its list is in groups_of()" ;;
		esac
	done
	echo "$groups"
}

# Is there a kernel source with the harness, or a package of one?
have_source()
{
	local path

	[ -z "${KSRC:-}" ] || return 0
	for path in /usr/src/linux-source-*; do
		[ ! -e "$path" ] || return 0
	done
	return 1
}

have()
{
	local cc

	cc=$(compiler)
	case $1 in
	cmd:*) command -v "${1#cmd:}" >/dev/null ;;
	perl:*) perl "-M${1#perl:}" -e 1 2>/dev/null ;;
	dir:*) [ -d "${1#dir:}" ] ;;
	cc) command -v "$cc" >/dev/null ;;
	hdr:*) command -v "$cc" >/dev/null &&
		echo "#include <${1#hdr:}>" | "$cc" -E -x c - >/dev/null 2>&1 ;;
	clang-asan)
		command -v clang >/dev/null &&
			echo "int main(void) { return 0; }" |
			clang -fsanitize=address -x c - -o /dev/null 2>/dev/null
		;;
	valgrind) command -v valgrind >/dev/null && valgrind -q true 2>/dev/null ;;
	source) have_source ;;
	*) die "$1: no such kind of need" ;;
	esac
}

# The package for the compiler that was asked for; the name of the program is
# the best guess for those that are not Debian's default.
compiler_package()
{
	local cc

	cc=$(basename "$(compiler)")
	case $cc in
	cc) echo gcc ;;
	*-gcc) echo "gcc-${cc%-gcc}" ;;
	*) echo "$cc" ;;
	esac
}

# The newest kernel source of the installed suite; a suite may have several.
newest_source_package()
{
	local found

	found=$(apt-cache search --names-only '^linux-source-[0-9.]+$' |
		awk '{ print $1 }' | sort -V | tail -n 1)
	[ -n "$found" ] || die "apt knows no linux-source-VERSION package: give KSRC=directory of a kernel source"
	echo "$found"
}

apt_log()
{
	echo "${BUILD_DIR:-build}/deps.log"
}

# Quiet while it works; the whole story when it does not.
apt_get()
{
	echo "deps: apt-get $*"
	if ! DEBIAN_FRONTEND=noninteractive apt-get -y -q \
			-o DPkg::Lock::Timeout=300 "$@" \
			</dev/null >"$(apt_log)" 2>&1; then
		cat "$(apt_log)" >&2
		die "apt-get $* failed: its output is above and in $(apt_log)"
	fi
}

# What guests need; the script that boots them knows it best.
guest_packages()
{
	[[ " $1 " != *" vng "* ]] || [ "$(uname -m)" != x86_64 ] ||
		"$(dirname "$0")/run-vng.sh" --packages
}

install_missing()
{
	local groups goal probe package without name
	local packages=() names=() required=0

	groups=$(groups_of "$@")
	while read -r package; do
		packages+=("$package")
		names+=("$package, for guests")
		required=$((required + 1))
	done < <(guest_packages "$groups")
	while read -r goal probe package without; do
		[[ " $groups " == *" $goal "* ]] || continue
		! have "$probe" || continue
		name=${probe#*:}
		case $probe in
		cc)
			name=$(compiler)
			package=$(compiler_package)
			;;
		clang-asan) name="the sanitizers of clang" ;;
		valgrind) name="the symbols of libc, for valgrind" ;;
		source) name="a kernel source, for its test harness (or KSRC=directory)" ;;
		esac
		packages+=("$package")
		names+=("$name (Debian: $package)$([ "$without" = - ] ||
			echo "; without it, $without")")
		[ "$without" != - ] || required=$((required + 1))
	done < <(needs)

	if [ ${#packages[@]} -eq 0 ]; then
		echo "deps: nothing is missing"
		return 0
	fi
	if ! command -v apt-get >/dev/null; then
		printf 'deps: missing: %s\n' "${names[@]}" >&2
		[ "$required" -eq 0 ] || die "install these with the package manager of this system"
		return 0
	fi
	if [ "$(id -u)" -ne 0 ]; then
		printf 'deps: missing: %s\n' "${names[@]}" >&2
		die "run as root: apt-get update && apt-get install --no-install-recommends ${packages[*]}"
	fi

	mkdir -p "$(dirname "$(apt_log)")"
	apt_get update
	if [[ " ${packages[*]} " == *" linux-source "* ]]; then
		package=$(newest_source_package)
		packages=("${packages[@]/#linux-source/$package}")
	fi
	apt_get install --no-install-recommends "${packages[@]}"

	# A package may not hold what its line in needs() promises.
	package=$(guest_packages "$groups")
	[ -z "$package" ] || die "still missing for guests after it was installed: $package"
	while read -r goal probe package without; do
		[[ " $groups " == *" $goal "* ]] || continue
		have "$probe" || die "${probe#*:} is still missing after $package was installed"
	done < <(needs)
}

install_missing "$@"
