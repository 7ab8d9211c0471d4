#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The project builds without a warning, with every compiler and for every target
# that it is meant for, and without the libraries that it can do without.
. "$(dirname "$0")/check-lib.sh"

arch=$(uname -m)

# build NAME MAKE-ARGUMENT...: everything, into $CHECK_TMP/NAME; the output of
# make stays in $CHECK_TMP/NAME.log.
build()
{
	local name=$1
	shift

	make -j "$(nproc)" -C "$CHECK_TOP" all check-programs KSRC="$KSRC_DIR" \
		BUILD_DIR="$CHECK_TMP/$name" STAGE_DIR="$CHECK_TMP/$name/stage" \
		"$@" >"$CHECK_TMP/$name.log" 2>&1 </dev/null
}

# The same, as a test: it builds, and nothing warned. -Werror makes the compiler's
# word final; what is left are the warnings of make and of the linker.
test_build()
{
	local name=$1 status=0
	shift

	build "$name" USERCFLAGS="-Werror $flags" "$@" || status=$?
	if [ "$status" -ne 0 ]; then
		grep -v '^  CC ' "$CHECK_TMP/$name.log" >"$CHECK_TMP/why"
		check_fail "$name" "make exited with $status" "$CHECK_TMP/why"
	elif grep 'warning:' "$CHECK_TMP/$name.log" | grep -v "$allowed" >"$CHECK_TMP/warnings"; then
		check_fail "$name" "it builds with warnings" "$CHECK_TMP/warnings"
	else
		check_ok "$name"
		return 0
	fi
	return 1
}

# The unit tests of a build: exit status and TAP agree.
test_unit()
{
	local name=$1 build=$2 status=0 log=$CHECK_TMP/unit.log

	if [ ! -x "$CHECK_TMP/$build/check/unit" ]; then
		check_fail "$name" "there is no unit program to run"
		return
	fi
	"$CHECK_TMP/$build/check/unit" >"$log" 2>&1 </dev/null || status=$?
	if [ "$status" -ne 0 ]; then
		check_fail "$name" "unit exited with $status" "$log"
	elif ! grep -q '^ok ' "$log" || grep -q '^not ok ' "$log"; then
		check_fail "$name" "unit exited with 0, but its TAP has no ok or a not ok" "$log"
	else
		check_ok "$name"
	fi
}

# The names of the tests of every program, by the programs themselves.
list_tests()
{
	local program

	for program in "$1"/stage/tools/testing/selftests/mm-cache/*.c; do
		program=${program%.c}
		echo "${program##*/}:"
		"$program" -l 2>&1
	done
}

none='^$'
no_library='links no lib\(mount\|uring\|jansson\)\|mm-cache-\(compare\|leveldb\) is not built'
flags="-Wall -Wextra"
allowed=$none
test_build gcc CC=gcc
test_build clang CC=clang
test_build llvm LLVM=1
test_unit unit-gcc gcc
test_unit unit-clang clang

flags="-fsanitize=address,undefined -fno-sanitize-recover=all"
test_build sanitizers CC=gcc USERLDFLAGS="$flags"
test_unit unit-sanitizers sanitizers

# The suite once through, briefly: whatever it says of this kernel, no sanitizer
# has a word in it.
(cd "$CHECK_TMP/sanitizers/stage/tools/testing/selftests/mm-cache" &&
	for program in *.c; do
		MM_CACHE_REPS=1 MM_CACHE_MEM=32M KSFT_MACHINE_SLOW=1 "./${program%.c}"
	done) >"$CHECK_TMP/suite.log" 2>&1 </dev/null
if grep -E 'Sanitizer|runtime error:' "$CHECK_TMP/suite.log" >"$CHECK_TMP/wrong"; then
	check_fail suite-sanitizers "findings of a sanitizer" "$CHECK_TMP/wrong"
elif ! grep -qE '^(not )?ok [0-9]|^1\.\.0 # SKIP' "$CHECK_TMP/suite.log"; then
	check_fail suite-sanitizers "no program gave a result" "$CHECK_TMP/suite.log"
else
	check_ok suite-sanitizers
fi

# Debian has no archive of libmount.
flags=
allowed=$no_library
test_build static CC=gcc USERLDFLAGS=-static
if file_type=$(LC_ALL=C readelf -l "$CHECK_TMP/static/stage/tools/testing/selftests/mm-cache/pread_hot_set" 2>&1) &&
		[[ $file_type != *INTERP* ]]; then
	check_ok static-has-no-interpreter
else
	check_fail static-has-no-interpreter "pread_hot_set is not static"
fi
test_unit unit-static static

# Another machine's compiler finds none of this one's libraries.
allowed=$no_library
test_build arm64 ARCH=arm64 CROSS_COMPILE=aarch64-linux-gnu-
test_build arm64-clang ARCH=arm64 CROSS_COMPILE=aarch64-linux-gnu- LLVM=1
machine=$(readelf -h "$CHECK_TMP/arm64/stage/tools/testing/selftests/mm-cache/pread_hot_set" |
	awk '$1 == "Machine:" { print $2 }')
if [ "$machine" = AArch64 ]; then
	check_ok arm64-is-arm64
else
	check_fail arm64-is-arm64 "pread_hot_set was made for ${machine:-nothing}"
fi

# 32 bits: static, so that it runs on a 64-bit machine without its libraries.
test_build 32-bit CROSS_COMPILE=i686-linux-gnu- USERLDFLAGS=-static
if [ "$arch" = x86_64 ]; then
	test_unit unit-32-bit 32-bit
	list_tests "$CHECK_TMP/gcc" >"$CHECK_TMP/list.64"
	list_tests "$CHECK_TMP/32-bit" >"$CHECK_TMP/list.32"
	if ! grep -v "^global" "$CHECK_TMP/list.64" | grep -qE "^[a-z0-9_]+ .*[a-z]"; then
		check_fail 32-bit-plan "the programs list no test" "$CHECK_TMP/list.64"
	else
		check_run 32-bit-plan diff -u "$CHECK_TMP/list.64" "$CHECK_TMP/list.32"
	fi
else
	check_skip unit-32-bit "this machine is $arch, which does not run i686 programs"
	check_skip 32-bit-plan "this machine is $arch, which does not run i686 programs"
fi

# A compiler that finds none of the libraries: everything is built, make says what is
# missing, and a program that needs one skips and names it.
cat >"$CHECK_TMP/cc-without-libraries" <<'END'
#!/bin/sh
for arg in "$@"; do
	case $arg in -lmount | -lblkid | -luring | -lgsl | -ljansson | -larchive) exit 1 ;; esac
done
exec gcc "$@"
END
chmod +x "$CHECK_TMP/cc-without-libraries"
test_build without-libraries CC="$CHECK_TMP/cc-without-libraries"
for library in libmount liburing libjansson; do
	if grep -q "links no $library" "$CHECK_TMP/without-libraries.log"; then
		check_ok "without-$library-is-said"
	else
		check_fail "without-$library-is-said" "make warned of nothing" \
			"$CHECK_TMP/without-libraries.log"
	fi
done
if grep -q 'mm-cache-compare is not built.*: libgsl-dev libjansson-dev libarchive-dev$' "$CHECK_TMP/without-libraries.log" &&
		[ -x "$CHECK_TMP/without-libraries/tools/ktap-table" ] &&
		[ ! -e "$CHECK_TMP/without-libraries/tools/mm-cache-compare" ]; then
	check_ok without-libraries-of-compare
else
	check_fail without-libraries-of-compare "it is built, or make does not name what it lacks" \
		"$CHECK_TMP/without-libraries.log"
fi
log=$CHECK_TMP/skip.log
status=0
(cd "$CHECK_TMP/without-libraries/stage/tools/testing/selftests/mm-cache" &&
	./pread_hot_set) >"$log" 2>&1 </dev/null || status=$?
if [ "$status" -ne 4 ]; then
	check_fail without-libraries-skips "pread_hot_set exited with $status, not with 4" "$log"
elif ! grep -q 'SKIP.*libmount' "$log"; then
	check_fail without-libraries-skips "its reason does not name libmount" "$log"
else
	check_ok without-libraries-skips
fi

check_done
