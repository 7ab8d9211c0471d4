#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Run the suite, built by make, through the kernel's runner, then print the
# table of verdicts.
#
#   run.sh [PROGRAM...]
#
# Exit status: that of ktap-table. 0: nothing is not ok and nothing was
# inconclusive; 1: something is not ok; 2: something was inconclusive; 4: all
# skipped; 5: no test ran, or what was printed is broken. 64: wrong usage.
#
# Environment: BUILD_DIR (build), STAGE_DIR (build/stage).
set -u -o pipefail

top=$(cd "$(dirname "$0")/.." && pwd -P)
build=${BUILD_DIR:-$top/build}
selftests=${STAGE_DIR:-$build/stage}/tools/testing/selftests
table=$build/tools/ktap-table
log=$build/run/ktap.log

die()
{
	printf 'run: %s\n' "$@" >&2
	exit 64
}

for path in "$selftests/run_kselftest.sh" "$table"; do
	[ -x "$path" ] || die "$path not found: run make first"
done
mkdir -p "$build/run" || die "cannot make $build/run"

# The runner reads the list of tests that an installation would have.
list=$selftests/kselftest-list.txt
env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL make -s --no-print-directory -C "$selftests/mm-cache" emit_tests \
	OUTPUT="$selftests/mm-cache" COLLECTION=mm-cache >"$list" ||
	die "could not list the tests"

tests=(-c mm-cache)
if [ $# -gt 0 ]; then
	tests=()
	for program in "$@"; do
		grep -qx "mm-cache:$program" "$list" ||
			die "$program: no such program; there are: $(sed 's/.*://' "$list" | paste -sd ' ')"
		tests+=(-t "mm-cache:$program")
	done
fi

# Into a pipe: into a file, the runner loses the nested lines. Its exit status
# says nothing before Linux 6.19; the verdict is read from what it printed.
start=$SECONDS
"$selftests/run_kselftest.sh" "${tests[@]}" </dev/null 2>&1 | tee "$log"
elapsed=$((SECONDS - start))

echo
"$table" <"$log"
verdict=$?
echo
echo "ran for $elapsed s; KTAP: $log"
exit "$verdict"
