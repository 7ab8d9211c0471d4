#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# mm-cache-explore: what it refuses, what it measures where the answer is known,
# the clock's pace, its tables and figures, and that it leaves the machine as it was
# when it is interrupted; killed it is by check-kills.sh.
. "$(dirname "$0")/check-lib.sh"
. "$(dirname "$0")/leftovers.sh"

[ "$(id -u)" -ne 0 ] || run_begin "$@"

explore=$TOOLS_DIR/mm-cache-explore
log=$CHECK_TMP/log
why=$CHECK_TMP/why

# verdict NAME: what the check NAME found wrong is in $why.
verdict()
{
	verdict_of "$why" "$log" "$1"
}

# --- without a lab

# refused STATUS WORDS ARGUMENT...
refused()
{
	refusal "$log" "$1" "$2" "$explore" "${@:3}"
}
{
	refused 64 "--mem=x: must be a size, none or machine" --mem=x
	refused 64 "--period=y: must be seconds" --period=1,y
	refused 64 "no such figure" --show=warmth
	refused 64 "must be 1/N" --scale=2/0
	refused 64 "must be 1 to 99" --reps=0
	refused 64 "No such file" no-such-recipe
	refused 64 "one recipe at a time" report1 report2
	refused 1 "btrfs has no RWF_DONTCACHE" --dry-run --fs=btrfs --scan-by=dontcache
	refused 1 "a set that does not fit cannot be kept" --dry-run --hot=64M
	refused 1 "the limit by --high is 20.0 MiB" --dry-run --high=20M
	refused 1 "in logical time nothing waits" --dry-run --throttle=50
	refused 1 "more than any machine does" --dry-run --pace=clock --rate=5000000
	refused 0 "hot 25.6 MiB" --dry-run
	refused 1 "GETs and SCANs are all" --dry-run --workers=4 --touches=1
	refused 64 "recipes/report9" report9
	MM_CACHE_DIR=$CHECK_TMP refused 64 "no --fs" --fs=xfs
	MM_CACHE_MEM=128M refused 64 "give --mem" --dry-run
	refused 1 "shrinks no machine" --dry-run --mem=machine --scale=1/4
	refused 0 "2000 hot reads a second" --dry-run --pace=clock --rate=2000
	refused 0 "GETs only" --dry-run --workers=2 --run=0
	# Before it measures, not after.
	refused 64 "/no/such/csv: No such file" --csv=/no/such/csv
	refused 64 "/no/such/figure.svg: No such file" --figure=/no/such/figure
	refused 64 "$CHECK_TMP: Is a directory" --json="$CHECK_TMP"
	refusal "$log" 64 "gnuplot is missing" env PATH=/nowhere "$explore" --curve="$CHECK_TMP/curve"
} >"$why"
verdict refuses

# recipe WORDS TEXT: refused for that.
recipe()
{
	printf '%b' "$2" >"$CHECK_TMP/recipe"
	refused 64 "$1" --dry-run "$CHECK_TMP/recipe"
}
{
	recipe "recipe:1: mem: no value" 'set mem=\nrun touches=1\n'
	recipe "recipe:1: the line is too long" "run $(printf 'touches=1 %.0s' {1..150})\n"
	recipe "recipe:2: foo: no such knob" 'run touches=1\nrow a kept pass=1 foo=1\n'
	recipe "recipe:1: too many words, or a quote left open" 'run "touches=1\n'
	recipe "has no run line" ""
	refused 64 "$CHECK_TMP:1: Is a directory" --dry-run "$CHECK_TMP"
} >"$why"
verdict refuses-recipes

# Of the second pass of a run that had one, and of repetitions without figures, there
# is nothing to tell.
saved()
{
	printf '{"scale": 1, "complete": true, "runs": [
		{"knobs": {"passes": "1"}, "not_measured": "", "repetitions": 1,
		 "passes": [{"kept": {"values": [0.25]}}]},
		{"knobs": {"passes": "2"}, "not_measured": "", "repetitions": 1, "passes": [%s]}]}' "$1"
}
{
	saved '{"kept": {"values": [0.5]}}, {"kept": {"values": [0.75]}}' >"$CHECK_TMP/saved"
	refused 0 "" --passes=1,2 --reps=1 --load="$CHECK_TMP/saved"
	grep -q '^| passes 1, pass 1 *| 25\.0 *|$' "$log" || echo "the loaded figure is not shown"
	grep -q '^| passes 1, pass 2 *| - *|$' "$log" || echo "what was not measured has a figure"
	saved '' >"$CHECK_TMP/saved"
	refused 64 "is of another plan" --passes=1,2 --reps=1 --load="$CHECK_TMP/saved"
} >"$why"
verdict loads-nothing-else

# A scaled recipe keeps its ratios: reads of each page, hot and scan by limit.
ratios()
{
	"$explore" "$1" --dry-run --pace=logical --scale="$2" |
		sed -n 's/^\(.*\): limit \([0-9.]*\) MiB, hot \([0-9.]*\) MiB, scan \([0-9.]*\) MiB, \([0-9.]*\) .*/\1|\2 \3 \4 \5/p' |
		awk -F'|' '{ split($2, n, " ")
			printf "%s %.3f %.2f %.3f\n", $1,
				n[1] ? n[2] / n[1] : 0, n[1] ? n[3] / n[1] : 0, n[4] }'
}
for recipe in report1:36 report2:36 report3:6; do
	runs=${recipe#*:}
	recipe=${recipe%:*}
	ratios "$recipe" 1 >"$CHECK_TMP/full"
	ratios "$recipe" 1/16 >"$CHECK_TMP/scaled"
	: >"$why"
	[ "$(wc -l <"$CHECK_TMP/full")" -ge "$runs" ] || echo "$recipe has $(wc -l <"$CHECK_TMP/full") runs" >"$why"
	diff "$CHECK_TMP/full" "$CHECK_TMP/scaled" >"$log" || echo "$recipe: the ratios differ" >>"$why"
	verdict "$recipe-keeps-its-ratios"
done

if [ "$(id -u)" -ne 0 ]; then
	check_skip measures "needs root"
	check_done
fi

# --- where the answer is known

# value FILE RUN PASS FIGURE: of the first repetition, from the CSV.
value()
{
	awk -F, -v run="$2" -v pass="$3" -v figure="$4_measured" '
		NR == 1 { for (i = 1; i <= NF; i++) if ($i == figure) at = i }
		$1 == run && $2 == 1 && $3 == pass { print $at }' "$1"
}

csv=$CHECK_TMP/csv
json=$CHECK_TMP/json
# A set read once and left alone is lost.
run "$log" "$explore" --mem=32M --warm=1 --reps=1 --csv="$csv"
{
	[ "$RUN_STATUS" -eq 0 ] || echo "exit status $RUN_STATUS"
	is "kept of a set read once" "$(value "$csv" 1 1 kept)" "v <= 0.1"
	is "evicted" "$(value "$csv" 1 1 evicted)" "v > 2900"
	is "left by the scan" "$(value "$csv" 1 1 left)" "v > 20"
	leftovers
} >"$why" 2>&1
verdict loses

# A file system without RWF_NOWAIT does not tell of misses: that is not 0.
run "$log" CACHE_SHIM=nowait-unsupported LD_PRELOAD="$CHECK_DIR/shim.so" \
	"$explore" --mem=32M --warm=1 --touches=0.2 --reps=1 --csv="$csv" --curve="$CHECK_TMP/blind"
{
	[ "$RUN_STATUS" -eq 1 ] || echo "exit status $RUN_STATUS, must be 1: there is no curve"
	is "hot reads" "$(value "$csv" 1 1 reads)" "v > 600"
	[ -z "$(value "$csv" 1 1 missed)" ] || echo "missed is $(value "$csv" 1 1 missed)"
	grep -q "blind is not drawn: nothing of it was measured" "$log" || echo "a curve without misses"
	leftovers
} >"$why" 2>&1
verdict blind

# What is not scanned stays; of a set that is read now and then, what was lost is
# missed; and the table has a row for each of the three.
run "$log" "$explore" --mem=32M --warm=1 --touches=0.2 --passes=2 \
	--scan-by=none,pread,direct --reps=1 --csv="$csv" --json="$json" \
	--figure="$CHECK_TMP/figure" --timeline="$CHECK_TMP/timeline" --curve="$CHECK_TMP/curve"
{
	[ "$RUN_STATUS" -eq 0 ] || echo "exit status $RUN_STATUS"
	[ "$(wc -l <"$csv")" -eq 7 ] || echo "the CSV has $(wc -l <"$csv") lines, must have 7"
	head -n 1 "$csv" | tr , '\n' | sort | uniq -d | sed 's/^/two columns of the CSV have the name /'
	is "kept without a scan" "$(value "$csv" 1 2 kept)" "v >= 0.95"
	is "missed without a scan" "$(value "$csv" 1 2 missed)" "v <= 0.05"
	is "kept by exact LRU without a scan" "$(value "$csv" 1 2 lru_kept)" "v == 1"
	is "kept by exact LRU beside a scan by O_DIRECT" "$(value "$csv" 3 2 lru_kept)" "v == 1"
	[ -z "$(value "$csv" 1 1 throughput)$(value "$csv" 1 1 amplification)" ] ||
		echo "no scan has a throughput, or an amplification"
	grep -q "^# env reclaim \(classic\|mglru\)$" "$log" || echo "which reclaim there was is not told"
	# What is read now and then, another reclaimer of the machine may find idle.
	is "kept beside a scan by O_DIRECT" "$(value "$csv" 3 2 kept)" "v >= 0.95"
	is "kept beside a plain scan" "$(value "$csv" 2 1 kept)" "v <= 0.9"
	is "kept by exact LRU" "$(value "$csv" 2 1 lru_kept)" "v > 0.03 && v < 0.25"
	is "missed in the second pass" "$(value "$csv" 2 2 missed)" "v >= 0.1 && v <= 0.9"
	is "missed by exact LRU" "$(value "$csv" 2 2 lru_missed)" "v >= 0.9"
	is "missed by an optimal policy" "$(value "$csv" 2 1 opt_missed)" "v == 0"
	is "hot reads of a pass" "$(value "$csv" 2 1 reads)" "v > 600 && v < 680"
	is "amplification" "$(value "$csv" 2 1 amplification)" "v >= 0.95 && v <= 1.1"
	is "refaults" "$(value "$csv" 2 2 refaults)" "v > 100"
	is "p99 is not below p50" "$(value "$csv" 2 2 p99)" "v >= $(value "$csv" 2 2 p50)"
	for what in none pread direct; do
		grep -q "^| scan-by $what, pass 2 *|" "$log" || echo "no row for $what"
	done
	leftovers
} >"$why" 2>&1
verdict measures

{
	perl -MJSON::PP -e '
		local $/;
		my $all = decode_json(<>);
		my $runs = $all->{runs};
		print "runs: " . @$runs . "\n" if @$runs != 3;
		print "no kernel\n" if $all->{env}{kernel} !~ /^Linux/;
		print "not complete\n" if !$all->{complete};
		print "kept: $runs->[0]{passes}[1]{kept}{median}\n"
			if $runs->[0]{passes}[1]{kept}{median} < 0.95;
		print "timeline: " . @{$runs->[1]{timeline}} . "\n"
			if @{$runs->[1]{timeline}} < 60;
		my $reads = 0;
		$reads += $_->{reads} for @{$runs->[1]{curve}};
		print "curve: $reads\n" if $reads < 1200;' "$json"
} >"$why" 2>&1
verdict json

{
	for figure in figure timeline curve; do
		for kind in svg png; do
			[ -s "$CHECK_TMP/$figure.$kind" ] || echo "no $figure.$kind"
		done
		grep -q "Linux $(uname -r)" "$CHECK_TMP/$figure.svg" || echo "$figure.svg does not name the kernel"
	done
	[ "$(head -c 8 "$CHECK_TMP/figure.png" | od -An -tx1 | tr -d ' ')" = 89504e470d0a1a0a ] ||
		echo "figure.png is no PNG"
	grep -q "hot set still cached, %" "$CHECK_TMP/figure.svg" || echo "its axis has no unit"
	grep -q "reuse distance" "$CHECK_TMP/curve.svg" || echo "the curve has no axis"
	# More runs than lines that can be told apart: said.
	"$explore" --mem=32M --warm=1 --scan=48M --files=sparse --touches=1,2,3,4,5,6,7,8,9 \
		--reps=1 -q --timeline="$CHECK_TMP/nine" >/dev/null 2>&1 </dev/null
	grep -q "the first 8 of 9 runs" "$CHECK_TMP/nine.svg" || echo "that a run is not drawn is not said"
} >"$why" 2>&1
verdict figures

# What was saved gives the same table, without a measurement, and no other plan's.
{
	"$explore" --mem=32M --warm=1 --touches=0.2 --passes=2 --scan-by=none,pread,direct \
		--reps=1 --load="$json" --csv="$CHECK_TMP/csv.loaded" >"$CHECK_TMP/loaded" 2>&1 </dev/null ||
		echo "--load exits with $?"
	grep '^|' "$log" | diff - <(grep '^|' "$CHECK_TMP/loaded") >/dev/null || echo "the loaded table is another one"
	diff "$csv" "$CHECK_TMP/csv.loaded" >/dev/null ||
		echo "the loaded CSV is another one"
	! "$explore" --mem=32M --warm=2 --touches=0.2 --passes=2 --scan-by=none,pread,direct \
		--reps=1 --load="$json" >"$CHECK_TMP/loaded" 2>&1 </dev/null || echo "another plan is loaded"
	grep -q "is of another plan" "$CHECK_TMP/loaded" || echo "why another plan is not loaded is not said"
	# Runs of one pass beside runs of two: of the second pass the first have nothing.
	for load in "--json=$json" "--load=$json"; do
		"$explore" --mem=32M --warm=1 --files=sparse --scan-by=none --passes=1,2 --reps=1 -q \
			"$load" >"$CHECK_TMP/passes.${load:2:4}" 2>&1 </dev/null || echo "$load exits with $?"
	done
	grep -q "^| passes 1, pass 2 *| - *|" "$CHECK_TMP/passes.load" || echo "a pass that was not made is loaded"
	diff <(grep '^|' "$CHECK_TMP/passes.json") <(grep '^|' "$CHECK_TMP/passes.load") >/dev/null ||
		echo "the loaded table of passes is another one"
} >"$why" 2>&1
verdict load

# --- GETs and SCANs

# GETs to which all records are alike find next to none of a store of 11 times the
# memory; those by Zipf's law do. The table has the change from one to the other.
cat >"$CHECK_TMP/recipe" <<'END'
set mem=32M scan=1100% buffer=16K files=sparse workers=4
run zipf=0.99,0
column skewed zipf=0.99
column alike zipf=0
change by
row GET missed pass=1
row rate gets pass=1
figure missed
END
change()
{
	awk -F, '
		NR == 1 { for (i = 1; i <= NF; i++) if ($i == "missed_measured") at = i; next }
		{ v[$1, $2] = $at; sum[$1] += $at }
		END {
			a = 100 * (v[2, 1] / v[1, 1] - 1)
			b = 100 * (v[2, 2] / v[1, 2] - 1)
			printf "%+.2f %% [%+.2f..%+.2f]\n", 100 * (sum[2] / sum[1] - 1),
				a < b ? a : b, a < b ? b : a
		}' "$1"
}
run "$log" "$explore" "$CHECK_TMP/recipe" --reps=2 --csv="$csv" --figure="$CHECK_TMP/store"
{
	[ "$RUN_STATUS" -eq 0 ] || echo "exit status $RUN_STATUS"
	is "missed of what all are alike" "$(value "$csv" 2 1 missed)" "v > 0.8 && v < 0.97"
	is "the same by exact LRU" "$(value "$csv" 2 1 lru_missed)" "v > 0.85 && v < 0.97"
	is "missed by Zipf's law" "$(value "$csv" 1 1 missed)" "v > 0.4 && v < 0.75"
	is "the same by exact LRU" "$(value "$csv" 1 1 lru_missed)" "v > 0.5 && v < 0.75"
	is "scan_missed" "$(value "$csv" 1 1 scan_missed)" "v > 0.75 && v < 1"
	is "GETs by SCAN" "$(awk "BEGIN { print $(value "$csv" 1 1 gets) / $(value "$csv" 1 1 scans) }")" \
		"v > 85 && v < 100"
	is "the wait of a GET" "$(value "$csv" 1 1 wait)" "v > 0"
	grep -qF "| $(change "$csv") " "$log" || echo "the table does not have the change, $(change "$csv")"
	[ -s "$CHECK_TMP/store.svg" ] || echo "no figure"
	leftovers
} >"$why" 2>&1
verdict gets-and-scans

# --- by the clock

# Others may take the CPU: one of ten tries must be right.
for try in 1 2 3 4 5 6 7 8 9 10; do
	run "$log" "$explore" --mem=32M --pace=clock --rate=2000 --readers=2 --lead=1 --gap=1 \
		--passes=2 --throttle=100 --reps=1 --csv="$csv"
	{
		[ "$RUN_STATUS" -eq 0 ] || echo "exit status $RUN_STATUS"
		is "the rate" "$(value "$csv" 1 1 rate)" "v >= 1980 && v <= 2020"
		is "late reads" "$(value "$csv" 1 1 late)" "v >= 0 && v < 1"
		is "the throttled scan" "$(value "$csv" 1 1 throughput)" "v > 30 && v <= 100.5"
		is "hot reads of a pass" "$(value "$csv" 1 1 reads)" "v > 1900"
		leftovers
	} >"$why" 2>&1
	[ -s "$why" ] || break
	echo "# pace, try $try: $(head -n 1 "$why")"
done
verdict pace
# 900000 reads a second, each a system call or two, are more than one thread makes.
run "$log" "$explore" --mem=32M --pace=clock --rate=900000 --throttle=100 --reps=1 --csv="$csv"
{
	is "late reads" "$(value "$csv" 1 1 late)" "v > 0.9 && v <= 1"
	is "the rate" "$(value "$csv" 1 1 rate)" "v > 0 && v < 891000"
	grep -q "^as set: .* this machine cannot keep the pace" "$log" || echo "a rate that is not had is not said"
	grep -q "^    as set: [0-9]* of 900000 hot reads a second" "$log" || echo "nor is it below the table"
} >"$why" 2>&1
verdict pace-is-said

# A terminal shows what goes on within a repetition; a file has a line for each.
run "$log" script -qec "$explore --mem=32M --passes=2 --throttle=100 --pace=clock --rate=500 --reps=1" /dev/null
{
	[ "$RUN_STATUS" -eq 0 ] || echo "exit status $RUN_STATUS"
	grep -q "0 of 1, [0-9]* s so far: as set: pass 2 of 2, [1-9][0-9]* % scanned" "$log" || echo "no live progress"
	grep -q "1 of 1, [0-9]* s: as set: kept" "$log" || echo "no result of the repetition"
	leftovers
} >"$why" 2>&1
verdict live-progress

# --- what a run lacks is said, and the others run

run "$log" "$explore" --fs=btrfs --mem=32M --scan-by=dontcache,dontneed --reps=1
{
	[ "$RUN_STATUS" -eq 1 ] || echo "exit status $RUN_STATUS, must be 1"
	grep -q "not measured: --scan-by=dontcache on --fs=btrfs" "$log" || echo "the reason is not told"
	if command -v mkfs.btrfs >/dev/null; then
		grep -q "^| scan-by dontneed *| [0-9]" "$log" || echo "the other one was not measured"
	fi
	leftovers
} >"$why" 2>&1
verdict refused-run

# So it is of a lab: other settings have another one. No btrfs has blocks of 1 KiB.
run "$log" MM_CACHE_BLOCK_SIZE=1024 "$explore" --fs=btrfs,ext4 --mem=32M --reps=1
{
	[ "$RUN_STATUS" -eq 1 ] || echo "exit status $RUN_STATUS, must be 1"
	grep -q "not measured: needs " "$log" || echo "the reason is not told"
	grep -q "^| fs ext4 *| [0-9]" "$log" || echo "the other one was not measured"
	leftovers
} >"$why" 2>&1
verdict refused-lab

run "$log" sh -c "ulimit -f 2000; exec $explore --mem=32M --reps=1"
{
	[ "$RUN_STATUS" -eq 4 ] || echo "exit status $RUN_STATUS, must be 4"
	grep -q "not measured: needs .*File too large" "$log" || echo "the reason is not told"
	leftovers
} >"$why" 2>&1
verdict small-file-limit

# Nothing measured, and no word why, is what no script could tell from a skip.
run_before
run_start "$log" "$explore" --mem=32M --touches=1000 --scan=16M --reps=9
for _ in {1..600}; do
	worker=$(pgrep -P "$RUN_PID") && [ -n "$(pgrep -P "$worker" mm-cache-explor)" ] && break
	sleep 0.1
done
kill -KILL "$worker"
run_wait
{
	[ "$RUN_STATUS" -eq 1 ] || echo "exit status $RUN_STATUS, must be 1"
	grep -q "the process that measures was killed: Killed" "$log" || echo "does not say that it was killed"
	leftovers
} >"$why" 2>&1
verdict killed-worker

run "$log" sh -c "exec $explore --mem=32M --reps=2 --csv=$csv <&- >&- 2>&-"
{
	[ "$RUN_STATUS" -eq 0 ] || echo "exit status $RUN_STATUS"
	[ "$(wc -l <"$csv")" -eq 3 ] || echo "the CSV has $(wc -l <"$csv") lines, must have 3"
	leftovers
} >"$why" 2>&1
verdict no-descriptors

# --- interrupted

# stop WHEN SIGNAL WANTED: WHEN, a word of its progress or seconds; then the table.
stop()
{
	local when=$1 signal=$2 rows=$3

	run_before
	run_start "$log" "$explore" --mem=64M --touches=1 --reps=50
	case $when in
	[0-9]*) sleep "$when" ;;
	*) await "$log" "$when" || echo "it does not say: $when" ;;
	esac
	kill "-$signal" "$RUN_PID"
	run_wait
	[ "$RUN_STATUS" -eq 1 ] || echo "$when, $signal: exit status $RUN_STATUS, must be 1"
	grep -q "stopped early" "$log" || echo "$when, $signal: no table"
	[ -z "$rows" ] || grep -q "^| as set *| 1\?[0-9.]* " "$log" || echo "$when, $signal: what was measured is not there"
	leftovers
}
for when in 0.3 1.5 "^1 of 50" "^3 of 50"; do
	stop "$when" INT "$(tr -dc '^' <<<"$when")" >"$why" 2>&1
	verdict "stopped-at-$(tr -dc '0-9.a-z' <<<"$when")"
done
stop "^2 of 50" TERM yes >"$why" 2>&1
verdict stopped-by-term

check_done
