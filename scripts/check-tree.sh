#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The suite inside a real kernel tree: every way in which kernel developers build,
# install and run selftests. The tree is the kernel source that the build took the
# harness from, without what none of these reads (drivers, file systems, ...).
# shellcheck disable=SC2317 # make_tree is called by its name
. "$(dirname "$0")/check-lib.sh"

tree=$CHECK_TMP/linux
log=$CHECK_TMP/log
jobs=$(nproc)
mapfile -t programs < <(sed -n 's/^TEST_GEN_PROGS [:+]= //p' "$CHECK_TOP/mm-cache/Makefile")

# One short repetition of everything: here it matters that the programs run and
# report, not what they find.
export MM_CACHE_REPS=1 MM_CACHE_MEM=32M KSFT_MACHINE_SLOW=1

# What is left out of a tree that is some GiB large; $1 is the name before it.
leave_out()
{
	printf -- "--exclude=$1/%s\n" 'drivers/*.[ch]' 'sound/*.[ch]' 'fs/*.[ch]' \
		'net/*.[ch]' 'Documentation/*/*' 'arch/*/boot/dts/*' 'tools/perf/*' '.git'
}

make_tree()
{
	local source name
	local options=()

	mkdir "$tree"
	if [ -f "$KSRC_DIR/Kconfig" ]; then
		mapfile -t options < <(leave_out .)
		tar -c -C "$KSRC_DIR" --anchored "${options[@]}" . | tar -x -C "$tree"
	elif [ -f "$KSRC_DIR/.unpacked-from" ]; then
		source=$(cut -d ' ' -f 1 "$KSRC_DIR/.unpacked-from")
		name=$(basename "$source")
		name=${name%.tar.*}
		mapfile -t options < <(leave_out "$name")
		xz -dc -T0 "$source" | tar -x -C "$tree" --strip-components=1 \
			--no-same-owner --anchored "${options[@]}"
	else
		echo "$KSRC_DIR is neither a whole kernel source nor unpacked from one"
		return 1
	fi
}

if ! check_run unpack make_tree; then
	check_done
fi
cd "$tree" || exit 1
version=$(make -s kernelversion 2>/dev/null)
echo "# Linux $version: $(du -sm . | cut -f 1) MiB of tree"

check_run install-in-tree "$CHECK_TOP/scripts/install-in-tree.sh" "$tree"
if [ "$(grep -c '^TARGETS += mm-cache$' tools/testing/selftests/Makefile)" -eq 1 ] &&
		[ "$(grep -A 1 '^TARGETS += mm$' tools/testing/selftests/Makefile | tail -n 1)" = \
			'TARGETS += mm-cache' ]; then
	check_ok targets-sorted
else
	check_fail targets-sorted "mm-cache is not in its place among TARGETS"
fi
"$CHECK_TOP/scripts/install-in-tree.sh" "$tree" >"$log" 2>&1
if grep -q ' 0 of [0-9]* files' "$log"; then
	check_ok install-again
else
	check_fail install-again "a second installation is not without effect" "$log"
fi

# missing FILE-LIST DIR: names of the programs that are not executable in DIR.
missing()
{
	local program

	for program in "${programs[@]}"; do
		[ -x "$1/$program" ] || echo "$program is not in $1"
	done
}

# The steps of one way to build: all, install, gen_tar and clean, by a way to name
# the target and a place for the output. $1: name, $2: where it is built, then the
# command up to the target's name.
walk()
{
	local name=$1 built=$2 step
	local installed=$2/kselftest_install
	shift 2

	for step in all install gen_tar clean; do
		if ! "${@/%@/$step}" TARGETS=mm-cache >"$log" 2>&1 </dev/null; then
			check_fail "$name-$step" "make failed" "$log"
			return
		fi
		case $step in
		all)
			missing "$built/mm-cache"
			[[ $built != /* ]] || find "$tree/tools/testing/selftests/mm-cache" \
				-name '*.o' -o -type f -executable
			;;
		install)
			missing "$installed/mm-cache"
			diff <(sort "$installed/kselftest-list.txt") \
				<(printf 'mm-cache:%s\n' "${programs[@]}")
			for file in settings config; do
				cmp "$installed/mm-cache/$file" "$CHECK_TOP/mm-cache/$file"
			done
			;;
		gen_tar)
			mkdir -p "$CHECK_TMP/untar"
			tar -xf "$installed/kselftest-packages/kselftest.tar.gz" -C "$CHECK_TMP/untar"
			missing "$CHECK_TMP/untar/mm-cache"
			[ -x "$CHECK_TMP/untar/run_kselftest.sh" ] || echo "no runner in the tarball"
			rm -rf "$CHECK_TMP/untar"
			;;
		clean)
			find "$built/mm-cache" -type f -executable
			find "$built/mm-cache" -name '*.o'
			;;
		esac >"$CHECK_TMP/wrong" 2>&1
		if [ -s "$CHECK_TMP/wrong" ]; then
			check_fail "$name-$step" "not what was expected" "$CHECK_TMP/wrong"
		elif grep -i 'warning:' "$log" >"$CHECK_TMP/wrong"; then
			check_fail "$name-$step" "it warns" "$CHECK_TMP/wrong"
		else
			check_ok "$name-$step"
		fi
	done
}

# ran NAME: the KTAP in $log tells of every program, and none hung. What they say
# of this kernel is no matter here.
ran()
{
	local program

	for program in "${programs[@]}"; do
		[ "$(grep -cE "^(ok|not ok) [0-9]+ selftests: mm-cache: $program( |$)" "$log")" -eq 1 ] ||
			echo "no result of $program"
	done >"$CHECK_TMP/wrong"
	grep -E 'TIMEOUT|Bail out' "$log" >>"$CHECK_TMP/wrong"
	"$TOOLS_DIR/ktap-table" <"$log" >"$CHECK_TMP/table" 2>&1
	[ $? -ne 5 ] || cat "$CHECK_TMP/table" >>"$CHECK_TMP/wrong"
	if [ -s "$CHECK_TMP/wrong" ]; then
		check_fail "$1" "the programs did not all run" "$CHECK_TMP/wrong"
	else
		check_ok "$1"
	fi
}

out=$CHECK_TMP/out
check_run defconfig make O="$out" defconfig

# Every option that the suite asks for exists, and can be had, in this kernel.
if check_run merge-config scripts/kconfig/merge_config.sh -O "$out" "$out/.config" \
		tools/testing/selftests/mm-cache/config; then
	if grep -vxF -f "$out/.config" tools/testing/selftests/mm-cache/config >"$log"; then
		check_fail config-in-force "not in the final configuration" "$log"
	else
		check_ok config-in-force
	fi
fi

make -j "$jobs" O="$out" kselftest TARGETS=mm-cache >"$log" 2>&1 </dev/null
ran kselftest-O

walk kselftest-O-abs "$out/kselftest" make -j "$jobs" O="$out" kselftest-@
walk C-O-abs "$out/kselftest" make -j "$jobs" O="$out" -C tools/testing/selftests @
walk kselftest-O-rel "$out/kselftest" make -j "$jobs" O=../out kselftest-@
walk C-O-rel "$out/kselftest" make -j "$jobs" O=../out -C tools/testing/selftests @

# Flags and compilers.
C_all=(make -j "$jobs" -C tools/testing/selftests TARGETS=mm-cache all)
check_run usercflags "${C_all[@]}" KBUILD_OUTPUT="$CHECK_TMP/o.flags" \
	USERCFLAGS="-Werror -Wextra -Wno-sign-compare"
check_run static "${C_all[@]}" KBUILD_OUTPUT="$CHECK_TMP/o.static" USERLDFLAGS=-static
check_run arm64 "${C_all[@]}" O="$CHECK_TMP/o.arm64" ARCH=arm64 \
	CROSS_COMPILE=aarch64-linux-gnu-
check_run llvm "${C_all[@]}" O="$CHECK_TMP/o.llvm" LLVM=1
for target in flags static arm64 llvm; do
	missing "$CHECK_TMP/o.$target/kselftest/mm-cache"
done >"$log"
if [ -s "$log" ]; then
	check_fail built-where-asked "a program is not where it was to be built" "$log"
else
	check_ok built-where-asked
fi

# The kernel's own Makefile wants a newer clang than a distribution may have.
if make O="$out.llvm" LLVM=1 defconfig >"$log" 2>&1 </dev/null; then
	check_run kselftest-llvm make -j "$jobs" O="$out.llvm" LLVM=1 \
		kselftest-all TARGETS=mm-cache
elif grep -q 'C compiler is too old' "$log"; then
	check_skip kselftest-llvm "clang is too old for Linux $version"
else
	check_fail kselftest-llvm "defconfig failed" "$log"
fi

# Without O=, last: it leaves files in the tree that O= does not want.
check_run defconfig-in-tree make defconfig
walk kselftest-in-tree tools/testing/selftests make -j "$jobs" kselftest-@
walk C-in-tree tools/testing/selftests make -j "$jobs" -C tools/testing/selftests @

# Installed elsewhere, with the kernel's runner.
check_run install-elsewhere make -C tools/testing/selftests TARGETS=mm-cache install \
	INSTALL_PATH="$CHECK_TMP/installed"
runner=$CHECK_TMP/installed/run_kselftest.sh
"$runner" -l >"$log" 2>&1
check_run runner-lists diff <(sort "$log") <(printf 'mm-cache:%s\n' "${programs[@]}")
"$runner" -c mm-cache 2>&1 </dev/null | cat >"$log"
ran runner-collection
"$runner" -t mm-cache:pread_hot_set 2>&1 </dev/null | cat >"$log"
programs=(pread_hot_set)
ran runner-one

check_done
