#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Under valgrind, in all their processes: no program of the suite, nor a unit test,
# touches memory that is not its own, or depends on what was never written; and no
# program loses memory or leaves a descriptor open. (The sanitizers, which see other
# things, are built and run by the section build.)
. "$(dirname "$0")/check-lib.sh"
. "$(dirname "$0")/leftovers.sh"

if [ "$(id -u)" -ne 0 ]; then
	check_skip memory "needs root"
	check_done
fi
run_begin "$@"

log=$CHECK_TMP/log
why=$CHECK_TMP/why
words=$CHECK_TMP/words
# mkfs is not ours.
valgrind=(valgrind "--log-file=$words/%p" --error-exitcode=99 --leak-check=full
	--track-fds=yes --trace-children=yes "--trace-children-skip=*/mkfs.*")

# What valgrind says of a process, one log each. It knows neither cachestat() nor
# the ioctls of the loop device, and goes on without.
errors()
{
	local file

	for file in "$words"/*; do
		grep -q 'ERROR SUMMARY: [1-9]' "$file" || continue
		echo "process ${file##*/}:"
		sed 's/^==[0-9]*== //' "$file"
	done
}

# Descriptors that a process opened and has at its end, each with the function that
# opened it: there is none but the keeper's socket and lock, which every process
# inherits, and the program itself has not even these.
descriptors()
{
	local file of_all

	for file in "$words"/*; do
		of_all='keeper_(start|lock) '
		[ "${file##*/}" != "$RUN_PID" ] || of_all='^$'
		sed 's/^==[0-9]*== *//' "$file" | awk -v RS= -v of_all="$of_all" '
			/^FILE DESCRIPTORS/ { sub(/^[^\n]*\n/, "") }
			/^Open / && !/<inherited from parent>/ && $0 !~ of_all {
				gsub(/\n[ab][ty] 0x[0-9A-F]*:/, "")
				gsub(/\([^)]*\)/, "")
				print
			}'
	done
}

# memory NAME RESULT: what the run under valgrind left in its logs; RESULT is empty
# if it came to none.
memory()
{
	local name=$1 result=$2

	errors >"$why"
	if [ -z "$result" ]; then
		check_fail "$name-memory" "no result, exit status $RUN_STATUS" "$log"
	elif [ -s "$why" ]; then
		check_fail "$name-memory" "valgrind has errors" "$why"
	else
		check_ok "$name-memory"
	fi
}

# The first test of each program, whatever it says of this kernel.
for program in "$PROGRAMS_DIR"/*.c; do
	program=${program%.c}
	name=${program##*/}
	test=$("$program" -l 2>&1 | awk '/^---/ {
		getline
		print $3 == "" ? $1 "." $2 : $1 "." $2 "." $3
		exit
	}')
	rm -rf "$words"
	mkdir "$words"
	run "$log" MM_CACHE_REPS=1 KSFT_MACHINE_SLOW=1 "${valgrind[@]}" "$program" -r "$test"
	memory "$name" "$(grep -E '^(not )?ok 1 |^1\.\.0 # SKIP need' "$log")"
	descriptors >"$why"
	if [ -s "$why" ]; then
		check_fail "$name-descriptors" "$(head -n 1 "$why")" "$why"
	else
		check_ok "$name-descriptors"
	fi
done

# But for one: where valgrind refuses a descriptor, the file was made all the same.
mapfile -t tests < <("$CHECK_DIR/unit" -l | grep -vx keeper_start_fails)
rm -rf "$words"
mkdir "$words"
run "$log" "${valgrind[@]}" "$CHECK_DIR/unit" "${tests[@]}"
memory unit "$(grep '^ok ' "$log")"

check_done
