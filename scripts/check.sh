#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Run the project's own tests, every scripts/check-*.sh, after make.
#
#   check.sh [SECTION...]
#
# The last line is "P passed, F failed, S skipped", over all sections. Exit
# status 1 if a test failed, a section ended early, or no test ran.
#
# Environment: CHECK_TIMEOUT, seconds for a section (1800).
set -u -o pipefail

top=$(cd "$(dirname "$0")/.." && pwd -P)
logs=${BUILD_DIR:-$top/build}/check/log
limit=${CHECK_TIMEOUT:-1800}

# Quick ones first; those that are not named here come last.
order="style ktap compare unit gate build memory faults input explore leveldb kills tree vng"

sections()
{
	local name path

	for name in $order; do
		[ ! -e "$top/scripts/check-$name.sh" ] || echo "$name"
	done
	for path in "$top"/scripts/check-*.sh; do
		name=$(basename "$path" .sh)
		name=${name#check-}
		[[ " $order lib " == *" $name "* ]] || echo "$name"
	done
}

mapfile -t all < <(sections)
if [ $# -eq 0 ]; then
	set -- "${all[@]}"
fi
for section in "$@"; do
	if [[ " ${all[*]} " != *" $section "* ]]; then
		echo "check: $section: no such section; there are: ${all[*]}" >&2
		exit 64
	fi
done
mkdir -p "$logs" || exit 1

passed=0
failed=0
skipped=0
failures=()
begin=$SECONDS

for section in "$@"; do
	log=$logs/$section.log
	start=$SECONDS
	echo "== $section"
	timeout -k 10 "$limit" bash "$top/scripts/check-$section.sh" </dev/null 2>&1 | tee "$log"
	status=${PIPESTATUS[0]}

	p=$(grep -c '^ok - ' "$log")
	f=$(grep -c '^not ok - ' "$log")
	s=$(grep -c '^skip - ' "$log")
	while read -r line; do
		failures+=("$section: ${line#not ok - }")
	done < <(grep '^not ok - ' "$log")

	# What it counted, what it printed and how it ended must agree.
	expected=0
	[ "$f" -eq 0 ] || expected=1
	if [ "$(tail -n 1 "$log")" != "done - $p $f $s" ] || [ "$status" -ne "$expected" ]; then
		why="ended early with status $status"
		[ "$status" -ne 124 ] || why="ran into its limit of $limit s"
		echo "not ok - $section: $why"
		failures+=("$section: $why; its output: $log")
		f=$((f + 1))
	fi
	echo "== $section: $p passed, $f failed, $s skipped, $((SECONDS - start)) s"
	echo
	passed=$((passed + p))
	failed=$((failed + f))
	skipped=$((skipped + s))
done

if [ "$((passed + failed))" -eq 0 ]; then
	failures+=("no test ran")
	failed=1
fi
[ ${#failures[@]} -eq 0 ] || printf 'failed: %s\n' "${failures[@]}"
echo "took $((SECONDS - begin)) s; logs: $logs"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
