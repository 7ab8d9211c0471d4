#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The KTAP parser and ktap-table: logs of every kind in tools/check/ktap_cases,
# each with the output expected of it; the same log in the shapes that consoles
# and runners give it; and the parser under attack by tools/check/ktap_fuzz.c.
#
# UPDATE=1 writes the expected outputs anew; read the difference before you keep
# it. FUZZ_ROUNDS: random changes to try (20000, some 10 s).
# shellcheck disable=SC2317 # most functions here are called by their name
. "$(dirname "$0")/check-lib.sh"

table=$TOOLS_DIR/ktap-table
cases=$CHECK_TOP/tools/check/ktap_cases
out=$CHECK_TMP/out
export LC_ALL=C.UTF-8
unset NO_COLOR
cd "$cases" || exit 1
used=()

# expected NAME ARGUMENT...: the output, messages and exit status are as written
# down in NAME.expected.
expected()
{
	local name=$1
	shift

	used+=("$name")
	"$table" "$@" >"$out" 2>&1 </dev/null
	printf 'exit status: %d\n' $? >>"$out"
	if [ "${UPDATE:-0}" = 1 ]; then
		cp "$out" "$name.expected"
	fi
	if diff -u "$name.expected" "$out" >"$CHECK_TMP/diff" 2>&1; then
		check_ok "case-$name"
	else
		check_fail "case-$name" "not the output expected" "$CHECK_TMP/diff"
	fi
}

for log in *.ktap; do
	expected "${log%.ktap}" "$log"
done
expected mixed,markdown --markdown mixed.ktap
expected mixed,verbose -v mixed.ktap
expected markup,markdown -m markup.ktap
expected metrics,verbose -v metrics.ktap
expected words,strict --strict words.ktap
expected nothing,strict --strict nothing.ktap
expected two_files ok.ktap alone.ktap
expected two_files,markdown -m mixed.ktap alone.ktap
expected worst_of_files skipped.ktap inconclusive.ktap ok.ktap
expected nothing_in_one_file ok.ktap nothing.ktap
expected same_names_in_two_files alone.ktap alone.ktap

# Every expected output belongs to a case above, and every exit status occurs.
all_used()
{
	local name

	for name in *.expected; do
		[[ " ${used[*]} " == *" ${name%.expected} "* ]] ||
			echo "$name belongs to no case"
	done
	for name in 0 1 2 4 5; do
		grep -qx "exit status: $name" ./*.expected ||
			echo "no case has the exit status $name"
	done
}
all_used >"$out"
if [ -s "$out" ]; then
	check_fail all-cases-used "a file too many, or a status too few" "$out"
else
	check_ok all-cases-used
fi

# same NAME LOG COMMAND...: the log through the command comes to the same table.
# The numbers of the lines may differ, so the log has no problems.
same()
{
	local name=$1 log=$2 status
	shift 2

	"$table" <"$log" >"$CHECK_TMP/plain" 2>&1
	status=$?
	"$@" <"$log" >"$CHECK_TMP/changed"
	"$table" <"$CHECK_TMP/changed" >"$out" 2>&1
	if [ $? -ne $status ] || ! diff -u "$CHECK_TMP/plain" "$out" >"$CHECK_TMP/diff"; then
		check_fail "$name" "another table than of $log" "$CHECK_TMP/diff"
	elif cmp -s "$log" "$CHECK_TMP/changed"; then
		check_fail "$name" "the log was not changed"
	else
		check_ok "$name"
	fi
}

noise()
{
	awk '{
		print
		print "[  " NR ".123456] EXT4-fs (loop0): mounted filesystem"
		print "systemd[1]: Started Session " NR
		print "  ok 1 indented: no result"
		print "okay"
		print ""
	}'
}
bytes() { sed 's/$/\n\xff\xfe\x00\x01\n\xc2ok 1 a/'; }
stamp() { sed "s/^/$1/"; }
escapes() { sed $'s/^/\033[0m/; s/ok/\033[1;32mok\033[0m/'; }
first_nul() { sed 's/^/\x00\x00/'; }
bom() { printf '\xef\xbb\xbf' && cat; }

for log in mixed.ktap alone.ktap; do
	name=${log%.ktap}
	same "shape-crlf-$name" $log sed 's/$/\r/'
	same "shape-cr-cr-lf-$name" $log sed 's/$/\r\r/'
	same "shape-printk-$name" $log stamp '[   12.345678] '
	same "shape-printk-caller-$name" $log stamp '<6>[   12.345678][  T123] '
	same "shape-lava-$name" $log stamp '2026-01-31T12:34:56.789012 '
	same "shape-github-$name" $log stamp '2026-01-31T12:34:56.7890123Z '
	same "shape-offset-$name" $log stamp '2026-01-31 12:34:56,789+01:00 '
	same "shape-gitlab-$name" $log stamp '2026-01-31T12:34:56.789012Z 00O '
	same "shape-clock-$name" $log stamp '12:34:56.789012  '
	same "shape-bracket-$name" $log stamp '[2026-01-31T12:34:56.789Z] '
	same "shape-two-stamps-$name" $log stamp '2026-01-31T12:34:56Z [   12.345678] '
	same "shape-nested-once-more-$name" $log stamp '# '
	same "shape-noise-$name" $log noise
	same "shape-bytes-$name" $log bytes
	same "shape-escapes-$name" $log escapes
	same "shape-first-nul-$name" $log first_nul
	same "shape-bom-$name" $log bom
done

# The mark is not part of the plan behind it.
sed 1d alone.ktap >"$CHECK_TMP/plan_first"
same shape-bom-plan "$CHECK_TMP/plan_first" bom

# Nothing in a log reaches the terminal as a control character.
printf 'TAP version 13\n1..1\nnot ok 1 a.\033]0;title\a.\302\233.\377.\000.c # \033\n' >"$CHECK_TMP/control"
"$table" <"$CHECK_TMP/control" >"$out" 2>&1
if LC_ALL=C grep -q $'[^ -~]' "$out" || ! grep -q 'a\.\\x1b\]0;title\\x07\.\\xc2\\x9b\.\\xff\.?\.c' "$out"; then
	check_fail control-characters "they are not shown by their number" "$out"
else
	check_ok control-characters
fi

# Columns stay aligned and within 100 where the names allow it.
width=$(grep -h -v '^| \|^  - \|^- ' mixed.expected ok.expected timeout.expected metrics.expected \
	disagree.expected no_begin.expected | wc -L)
if [ "$width" -le 100 ]; then
	check_ok width
else
	check_fail width "a line takes $width columns"
fi

if ! command -v script >/dev/null; then
	check_skip colour "needs script, of util-linux or bsdutils"
else
	escape=$'\033'
	# The log has a not ok: the status is 1 when the table came.
	coloured()
	{
		TERM=xterm "$@" script -qec "$table mixed.ktap" /dev/null </dev/null >"$out" 2>&1
		[ $? -eq 1 ]
	}
	if ! coloured env || ! grep -qF "${escape}[1;31mNOT OK${escape}[0m" "$out"; then
		check_fail colour "no colour on a terminal" "$out"
	elif ! coloured env NO_COLOR=1 || grep -q "$escape" "$out"; then
		check_fail colour "colour although NO_COLOR is set" "$out"
	elif ! coloured env TERM=dumb || grep -q "$escape" "$out"; then
		check_fail colour "colour on a dumb terminal" "$out"
	elif grep -q "$escape" ./*.expected; then
		check_fail colour "colour although it is no terminal"
	else
		check_ok colour
	fi
fi

# exits STATUS NAME WORDS ARGUMENT...: the status, and the words in the messages
exits()
{
	local status=$1 name=$2 words=$3 got
	shift 3

	"$table" "$@" >"$out" 2>&1 </dev/null
	got=$?
	if [ $got -ne "$status" ]; then
		check_fail "$name" "exit status $got, not $status" "$out"
	elif ! grep -q -- "$words" "$out"; then
		check_fail "$name" "it does not say: $words" "$out"
	else
		check_ok "$name"
	fi
}
exits 0 help '4   everything was skipped' --help
exits 64 unknown-option 'unrecognized option' --colour
exits 5 empty-input 'not one test result'
exits 5 missing-file 'no_such_file: No such file' no_such_file ok.ktap
exits 1 missing-file-and-not-ok 'no_such_file: No such file' no_such_file mixed.ktap
exits 5 directory 'Is a directory' .
exits 0 dash '6 properties: 4 ok' ok.ktap

# A last line without an end is doubted if it says how many or which came.
log=$CHECK_TMP/cut
printf 'ok 1 a.b.c\n# Totals: pass:1 fail:0 xfail:0 xpass:0 skip:0 error:0\n1..1' >"$log"
exits 1 cut-plan ':3: the last line has no end' "$log"
printf '1..1\nok 1 a.b.c\n# Totals: pass:1 fail:0 xfail:0 xpass:0 skip:0 error:0' >"$log"
exits 0 cut-totals ':3: note: the last line has no end' "$log"
printf '1..1\nok 1 a.b.c\n# Totals: pass:1 fail:0 xfail:0 xpass:0 skip:0 error:0\nlogin: ' >"$log"
exits 0 cut-noise '1 property: 1 ok, 0 not ok, 0 inconclusive, 0 skip$' "$log"

if "$table" ok.ktap >/dev/full 2>"$out" || ! grep -q 'No space left' "$out"; then
	check_fail full-disk "a table that was not written counts as success" "$out"
else
	check_ok full-disk
fi

# Time grows with the input and no faster: 100 MB of noise, in lines and in one
# line, a result of 10 MB, 200,000 results twice. The limit is for a machine that
# is slow and busy.
quickly()
{
	local name=$1 limit=$2 begin took
	shift 2

	begin=${EPOCHREALTIME/./}
	"$@" | timeout "$limit" "$table" >"$out" 2>&1
	if [ "${PIPESTATUS[1]}" -ne 124 ]; then
		took=$(((${EPOCHREALTIME/./} - begin) / 1000))
		echo "# $name: $took ms; $(tail -n 1 "$out")"
		check_ok "$name"
	else
		check_fail "$name" "takes more than $limit s"
	fi
}
long_noise() { yes "[   12.345678] ok so far, # and on 1..4 goes the kernel" | head -c 100000000; }
long_line() { printf '[    1.0] # ' && head -c 100000000 /dev/zero | tr '\0' '#'; }
long_result() { printf 'ok 1 ' && head -c 10000000 /dev/zero | tr '\0' '#'; }
many_results()
{
	echo 1..400000
	seq 200000 | sed 's/.*/ok & a.b&.c/'
	seq 200000 | sed 's/.*/ok & a.b&.c # SKIP need: &/'
}
quickly noise-100-mb 60 long_noise
quickly line-100-mb 60 long_line
quickly result-10-mb 60 long_result
quickly results-400000 60 many_results

# With sanitizers; of clang where there is one, for it knows more of what is
# undefined.
compiler=$(command -v clang || echo gcc)
sanitized()
{
	"$compiler" -std=gnu11 -g -O1 -Wall -Wextra -Werror -D_GNU_SOURCE= \
		-fsanitize=address,undefined -fno-sanitize-recover=all \
		"$@" "$CHECK_TOP/tools/ktap_parse.c"
}

# What a sanitizer says is printed, and the rest is not.
every_case()
{
	local options

	for options in -vs -ms -mv "-- ok.ktap"; do
		for log in *.ktap "$CHECK_TMP/control" /dev/null; do
			# shellcheck disable=SC2086 # several options
			"$CHECK_TMP/ktap-table" $options "$log" 2>&1
		done
	done | grep -A 20 'Sanitizer\|runtime error'
	[ "${PIPESTATUS[1]}" -eq 1 ]
}
if check_run table-build sanitized "$CHECK_TOP"/tools/{ktap-table,printable,text}.c -o "$CHECK_TMP/ktap-table"; then
	check_run table-sanitized every_case
fi

wrap=-Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=reallocarray
if check_run fuzz-build sanitized $wrap "$CHECK_TOP/tools/check/ktap_fuzz.c" -o "$CHECK_TMP/ktap_fuzz"; then
	# "levels" has lines that look like results and are none.
	logs=()
	for log in *.ktap; do
		[ "$log" = levels.ktap ] || logs+=("$log")
	done
	nice "$CHECK_TMP/ktap_fuzz" "${FUZZ_ROUNDS:-20000}" "${logs[@]}" >"$out" 2>"$CHECK_TMP/err"
	status=$?
	while read -r check log; do
		case $check in
		not) check_fail "fuzz-${log/ /-}" "a success where there is none, or a crash" "$CHECK_TMP/err" ;;
		*) check_ok "fuzz-$check-$log" ;;
		esac
	done < <(sed 's/^ok //; s/^not ok /not /; s/\.ktap$//' "$out")
	if [ $status -eq 0 ] && grep -q '^ok mutate' "$out"; then
		check_ok fuzz-ended
	else
		check_fail fuzz-ended "exit status $status" "$CHECK_TMP/err"
	fi
fi

check_done
