#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The unit tests of the workload core, one line each; some skip without root.
. "$(dirname "$0")/check-lib.sh"

log=$CHECK_TMP/log
status=0
"$CHECK_DIR/unit" >"$log" 2>&1 </dev/null || status=$?

begin='^(not )?ok [0-9]+ '
why=$CHECK_TMP/why
: >"$why"
while IFS= read -r line; do
	if [[ ! $line =~ $begin ]]; then
		echo "$line" >>"$why"
		continue
	fi
	name=$(sed 's/.*ok [0-9]* //; s/ # SKIP.*//' <<<"$line")
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
want=0
if grep -q '^not ok ' "$log"; then
	want=1
elif ! grep -v ' # SKIP ' "$log" | grep -q '^ok '; then
	want=4
fi
if [ "$planned" != "$results" ] || [ "$results" -eq 0 ] || [ $status -ne $want ]; then
	check_fail tap "plan ${planned:-none}, $results results, exit status $status" "$log"
else
	check_ok tap
fi

check_done
