#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The unit tests of the workload core, one line each; some skip without root. Then
# all of them again where the C library says that pages have 64 KiB.
. "$(dirname "$0")/check-lib.sh"

log=$CHECK_TMP/log
why=$CHECK_TMP/why
begin='^(not )?ok [0-9]+ '

# unit PROGRAM PREFIX
unit()
{
	local program=$1 prefix=$2 status=0 line name planned results want=0

	"$program" >"$log" 2>&1 </dev/null || status=$?
	: >"$why"
	while IFS= read -r line; do
		if [[ ! $line =~ $begin ]]; then
			echo "$line" >>"$why"
			continue
		fi
		name=$prefix$(sed 's/.*ok [0-9]* //; s/ # SKIP.*//' <<<"$line")
		case $line in
		"not ok "*) check_fail "$name" "$(tail -n 1 "$why")" "$why" ;;
		*" # SKIP "*) check_skip "$name" "${line#* # SKIP }" ;;
		*) check_ok "$name" ;;
		esac
		: >"$why"
	done < <(grep -v '^TAP version\|^1\.\.' "$log")

	# What it planned, printed and returned agree.
	planned=$(sed -n 's/^1\.\.//p' "$log")
	results=$(grep -cE "$begin" "$log")
	if grep -q '^not ok ' "$log"; then
		want=1
	elif ! grep -v ' # SKIP ' "$log" | grep -q '^ok '; then
		want=4
	fi
	if [ "$planned" != "$results" ] || [ "$results" -eq 0 ] || [ $status -ne $want ]; then
		check_fail "${prefix}tap" "plan ${planned:-none}, $results results, exit status $status" "$log"
	else
		check_ok "${prefix}tap"
	fi
}

unit "$CHECK_DIR/unit" ""
unit "$CHECK_DIR/unit-64k" "64k-"

check_done
