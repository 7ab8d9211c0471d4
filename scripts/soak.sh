#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Run the suite again and again, and compare the verdicts.
#
#   soak.sh [--busy] RUNS [PROGRAM...]
#
#   --busy  beside compilers that keep every CPU busy
#
# Exit status: 0 when every run gave the same verdict for every test, 1 when
# not, 64 for wrong usage. What the runs printed is kept under build/soak.
set -u -o pipefail

top=$(cd "$(dirname "$0")/.." && pwd -P)
build=${BUILD_DIR:-$top/build}
out=$build/soak
busy=
load=()

usage()
{
	echo "usage: soak.sh [--busy] RUNS [PROGRAM...]" >&2
	exit 64
}

if [ "${1:-}" = --busy ]; then
	busy=yes
	shift
fi
runs=${1:-}
case $runs in
'' | *[!0-9]* | 0) usage ;;
esac
shift

# The verdict of each test, by name: all that must not change.
verdicts()
{
	sed -nE 's/^(# )+//; s/^(ok|not ok) [0-9]+ ([a-z0-9_]+\.[a-z0-9_.]+)( # (SKIP|XFAIL) (inconclusive)?.*)?$/\2 \1 \4 \5/p' "$1" |
		sort
}

compile_for_ever()
{
	while :; do
		for source in "$top"/common/*.c; do
			"${CC:-cc}" -std=gnu11 -D_GNU_SOURCE -O2 -w -c "$source" -o /dev/null || sleep 1
		done
	done
}

stop_load()
{
	[ "${#load[@]}" -eq 0 ] || kill "${load[@]}"
	load=()
}
trap stop_load EXIT
trap 'exit 1' INT TERM HUP

rm -rf "$out"
mkdir -p "$out" || exit 64
if [ -n "$busy" ]; then
	for ((i = 0; i < $(nproc); i++)); do
		compile_for_ever &
		load+=($!)
	done
fi

different=0
for ((run = 1; run <= runs; run++)); do
	start=$SECONDS
	"$top/scripts/run.sh" "$@" >"$out/$run.log" 2>&1
	status=$?
	verdicts "$out/$run.log" >"$out/$run.verdicts"
	if [ ! -s "$out/$run.verdicts" ]; then
		echo "soak: run $run has no verdict; see $out/$run.log" >&2
		exit 1
	fi
	note=same
	if ! cmp -s "$out/1.verdicts" "$out/$run.verdicts"; then
		note=DIFFERENT
		different=$((different + 1))
	fi
	echo "run $run of $runs: $((SECONDS - start)) s, status $status, $(wc -l <"$out/$run.verdicts") verdicts, $note"
	[ "$note" = same ] || diff "$out/1.verdicts" "$out/$run.verdicts" | sed -n 's/^[<>]/  &/p'
done

echo
echo "least and most of each median over the runs:"
cat "$out"/*.log | sed -nE 's/^(# )+metric ([^ ]+) ([^ ]+) ([^ ]+) n=[0-9]+ median=(-?[0-9]+) .*/\2 \3 \4 \5/p' |
	awk '{
		name = $1 " " $2 " " $3
		if (!(name in least) || $4 < least[name]) least[name] = $4
		if (!(name in most) || $4 > most[name]) most[name] = $4
		count[name]++
	}
	END { for (name in count) print "  " name, least[name] ".." most[name], "n=" count[name] }' |
	sort
echo
echo "$((runs - different)) of $runs runs gave the verdicts of the first"
[ "$different" -eq 0 ]
