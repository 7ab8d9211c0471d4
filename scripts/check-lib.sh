# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# What every section of the checks, scripts/check-NAME.sh, is written with:
#
#   . "$(dirname "$0")/check-lib.sh"
#
#   check_ok NAME                  a test passed
#   check_fail NAME WHY [FILE]     it failed; the end of FILE tells more
#   check_skip NAME WHY            it cannot run here
#   check_run NAME COMMAND...      one of the first two, by the exit status
#   check_said NAME WANT WORDS GOT FILE   the same, of a command that was run: its
#                                  exit status, and what is in its output
#   is, await, verdict_of, refusal what is measured, said, wrong: see there
#   check_done                     last: print the counts, exit 0 or 1
#
# A section may run by itself, after make. It prints one line a test, "ok - NAME",
# "not ok - NAME: WHY" or "skip - NAME: WHY", and "done - P F S" at its end, which
# scripts/check.sh reads. Names are unique in a section and do not change.
#
# Gives the directories CHECK_TOP (the project), BUILD_DIR, STAGE_DIR, SELFTESTS
# (below STAGE_DIR), PROGRAMS_DIR (the built programs), TOOLS_DIR, CHECK_DIR (unit,
# shim.so, and what common/check/ makes besides), CHECK_TMP (new, empty, removed
# at the end; kept if KEEP=1) and KSRC_DIR (the kernel source in use).
set -u -o pipefail

CHECK_TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
BUILD_DIR=${BUILD_DIR:-$CHECK_TOP/build}
STAGE_DIR=${STAGE_DIR:-$BUILD_DIR/stage}
SELFTESTS=$STAGE_DIR/tools/testing/selftests
PROGRAMS_DIR=$SELFTESTS/mm-cache
TOOLS_DIR=$BUILD_DIR/tools
CHECK_DIR=$BUILD_DIR/check
export CHECK_TOP BUILD_DIR STAGE_DIR SELFTESTS PROGRAMS_DIR TOOLS_DIR CHECK_DIR

# What was given to the make that started this is not for the makes in here.
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES GNUMAKEFLAGS CC CFLAGS LDFLAGS \
	USERCFLAGS USERLDFLAGS LLVM ARCH CROSS_COMPILE O KBUILD_OUTPUT TARGETS \
	PROGRAMS SECTIONS KDIR INSTALL_PATH KSFT_INSTALL_PATH V

_check_passed=0
_check_failed=0
_check_skipped=0
_check_names=$'\n'
_check_section=$(basename "$0" .sh)
_check_section=${_check_section#check-}

if ! KSRC_DIR=$(cat "$STAGE_DIR/ksrc"); then
	echo "check: $STAGE_DIR is not built: run make first" >&2
	exit 1
fi
export KSRC_DIR
mkdir -p "$BUILD_DIR/check/tmp" || exit 1
CHECK_TMP=$(mktemp -d "$BUILD_DIR/check/tmp/$_check_section.XXXXXX") || exit 1
export CHECK_TMP

_check_exit()
{
	if [ "${KEEP:-0}" = 1 ]; then
		echo "# kept $CHECK_TMP"
	else
		rm -rf "$CHECK_TMP"
	fi
}
trap _check_exit EXIT

_check_name()
{
	if [[ $_check_names == *$'\n'"$1"$'\n'* ]]; then
		echo "not ok - $1: this name was used before in the section"
		_check_failed=$((_check_failed + 1))
	fi
	_check_names+=$1$'\n'
}

check_ok()
{
	_check_name "$1"
	_check_passed=$((_check_passed + 1))
	echo "ok - $1"
}

check_fail()
{
	_check_name "$1"
	_check_failed=$((_check_failed + 1))
	if [ -n "${3:-}" ] && [ -s "$3" ]; then
		tail -n 40 "$3" | sed 's/^/#   /'
	fi
	echo "not ok - $1: $2"
}

check_skip()
{
	_check_name "$1"
	_check_skipped=$((_check_skipped + 1))
	echo "skip - $1: $2"
}

check_run()
{
	local name=$1 log=$CHECK_TMP/check_run.log status=0
	shift

	"$@" >"$log" 2>&1 </dev/null || status=$?
	if [ "$status" -eq 0 ]; then
		check_ok "$name"
	else
		check_fail "$name" "$1 exited with $status" "$log"
	fi
	return "$status"
}

check_said()
{
	if [ "$4" != "$2" ]; then
		check_fail "$1" "exit $4, not $2" "$5"
	elif ! grep -q -- "$3" "$5"; then
		check_fail "$1" "no '$3' in its output" "$5"
	else
		check_ok "$1"
	fi
}

# verdict_of WHY LOG NAME: the check NAME found wrong what is in the file WHY.
verdict_of()
{
	if [ -s "$1" ]; then
		check_fail "$3" "$(head -n 1 "$1")" "$2"
	else
		check_ok "$3"
	fi
}

# refusal LOG STATUS WORDS PROGRAM ARGUMENT...: prints what is wrong when the program
# does not end with STATUS, or does not say WORDS (if any).
refusal()
{
	local log=$1 want=$2 words=$3 status=0
	shift 3

	"$@" >"$log" 2>&1 </dev/null || status=$?
	shift
	[ "$status" -eq "$want" ] || echo "$*: exit status $status, must be $want"
	[ -z "$words" ] || grep -qF -- "$words" "$log" || echo "$*: does not say: $words"
}

# is WHAT VALUE TEST: prints what is wrong unless VALUE is there and holds in the awk
# expression TEST, of v.
is()
{
	awk -v v="$2" "BEGIN { exit !(v != \"\" && ($3)) }" ||
		echo "$1 is ${2:-not there}: must hold $3, of v"
}

# await LOG PATTERN: until LOG has a line of it, for five minutes; fails without.
await()
{
	for _ in {1..3000}; do
		! grep -q -- "$2" "$1" || return 0
		sleep 0.1
	done
	return 1
}

check_done()
{
	if [ $((_check_passed + _check_failed + _check_skipped)) -eq 0 ]; then
		check_fail any "the section $_check_section ran no test"
	fi
	echo "done - $_check_passed $_check_failed $_check_skipped"
	[ "$_check_failed" -eq 0 ] || exit 1
	exit 0
}

# The files of the project, one a line, relative to its top.
check_files()
{
	if [ -e "$CHECK_TOP/.git" ]; then
		(cd "$CHECK_TOP" && git ls-files -co --exclude-standard "$@" |
			while read -r path; do
				[ ! -e "$path" ] || echo "$path"
			done)
	else
		(cd "$CHECK_TOP" && find . -path ./build -prune -o ! -type d -print |
			sed 's,^\./,,' |
			if [ $# -eq 0 ]; then cat; else
				grep -E "$(printf '%s\n' "$@" | sed 's/\./\\./g; s/\*/.*/g; s/$/$/' |
					paste -sd '|')"
			fi)
	fi | LC_ALL=C sort -u
}
