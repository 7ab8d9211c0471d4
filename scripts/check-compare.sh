#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# mm-cache-compare: verdicts and numbers that were computed by hand, every kind of
# input that it must refuse, its outputs, its speed, and by tools/check/compare_sim.c
# how often the whole procedure is wrong.
#
# UPDATE=1 writes tools/check/compare_cases anew; read the difference before you
# keep it. COMPARISONS, DETECTIONS: of each kind in the simulation (2000, 300).
# shellcheck disable=SC2317 # most functions here are called by their name
. "$(dirname "$0")/check-lib.sh"

compare=$TOOLS_DIR/mm-cache-compare
cases=$CHECK_TOP/tools/check/compare_cases
out=$CHECK_TMP/out
err=$CHECK_TMP/err
export LC_ALL=C.UTF-8
if [ ! -x "$compare" ]; then
	check_fail built "$compare is not there: make says which library is missing"
	check_done
fi
mkdir "$CHECK_TMP/sets"
cd "$CHECK_TMP/sets" || exit 1

# ----- logs made by hand -----

env=()
# conditions KEY VALUE: of all logs made from now on; none: back to the first ones
conditions()
{
	local i

	if [ $# -eq 0 ]; then
		env=("kernel Linux 7.0 x86_64" "taint 0" "machine kvm" "cpus 2" "page_size 4096"
			"memory 960 MiB" "fs ext4" "read_ahead_kb 128")
		return
	fi
	for i in "${!env[@]}"; do
		[ "${env[i]%% *}" != "$1" ] || env[i]="$1 $2"
	done
}
conditions

# make_log FILE RESULT...: RESULT is "VERDICT OWNER.TEST [| METRIC UNIT MEDIAN [MIN MAX]]...",
# VERDICT ok, not, skip, inconclusive or xfail.
make_log()
{
	local file=$1 result verdict name part nr=0 metric unit median min max
	local -A count=([ok]=0 [not]=0 [skip]=0 [xfail]=0)
	local -a parts
	shift

	mkdir -p "$(dirname "$file")"
	{
		echo "TAP version 13"
		printf '# env %s\n' "${env[@]}"
		echo "1..$#"
		for result; do
			nr=$((nr + 1))
			IFS='|' read -ra parts <<<"$result"
			read -r verdict name <<<"${parts[0]}"
			for part in "${parts[@]:1}"; do
				read -r metric unit median min max <<<"$part"
				echo "# metric ${name%.*} $metric $unit n=3 median=$median min=${min:-$median} max=${max:-$median}"
			done
			case $verdict in
			ok) echo "ok $nr $name" ;;
			not) echo "# why ${name%.*}: too little" && echo "not ok $nr $name" ;;
			skip) echo "ok $nr $name # SKIP need: a thing" ;;
			inconclusive) echo "ok $nr $name # SKIP inconclusive: the control failed" && verdict=skip ;;
			xfail) echo "ok $nr $name # XFAIL expected" ;;
			esac
			count[$verdict]=$((count[$verdict] + 1))
		done
		echo "# Totals: pass:${count[ok]} fail:${count[not]} xfail:${count[xfail]} xpass:0 skip:${count[skip]} error:0"
	} >"$file"
}

# gate DIR "OWNER METRIC UNIT" "V1 V2 V3 V4"...: an ABBA gate of one test, a block each
gate()
{
	local dir=$1 owner metric unit block=0 values p sets=(A B B A)
	read -r owner metric unit <<<"$2"
	shift 2

	for values; do
		block=$((block + 1))
		read -ra values <<<"$values"
		for p in 0 1 2 3; do
			make_log "$dir/${sets[p]}/$(printf %02d $block)-$((p + 1)).log" \
				"ok $owner.holds | $metric $unit ${values[p]} | hot_settle_time us $block$p"
		done
	done
}

# verdicts DIR "V1 V2 V3 V4"...: the same of a test with that verdict and no numbers
verdicts()
{
	local dir=$1 block=0 values p sets=(A B B A)
	shift

	for values; do
		block=$((block + 1))
		read -ra values <<<"$values"
		for p in 0 1 2 3; do
			make_log "$dir/${sets[p]}/$(printf %02d $block)-$((p + 1)).log" \
				"ok other.test.holds | hot_settle_time us $block$p" "${values[p]} a.mglru.holds"
		done
	done
}

# exits NAME STATUS WORDS ARGUMENT...: the status, and the words in what it says
exits()
{
	local name=$1 status=$2 words=$3 got
	shift 3

	timeout 60 "$compare" "$@" >"$out" 2>&1 </dev/null
	got=$?
	if [ $got -ne "$status" ]; then
		check_fail "$name" "exit status $got, not $status" "$out"
	elif ! tr -s ' \n' ' ' <"$out" | grep -qF -- "$words"; then
		check_fail "$name" "it does not say: $words" "$out"
	else
		check_ok "$name"
	fi
}

# number NAME DIR FIELDS VALUES [OPTION...]: of the first asserted number in the JSON
number()
{
	local name=$1 dir=$2 fields=$3 want=$4
	shift 4

	"$compare" -f json "$@" "$dir/A" "$dir/B" >"$out" 2>"$err"
	python3 - "$out" "$fields" >"$CHECK_TMP/values" 2>>"$err" <<-'EOF'
		import json, sys
		numbers = json.load(open(sys.argv[1]))["comparisons"][0]["numbers"]
		first = [n for n in numbers if n["asserted"]][0]
		print(*(round(v, 4) if isinstance(v, float) else v for v in (first[f] for f in sys.argv[2].split())))
	EOF
	if [ "$(cat "$CHECK_TMP/values")" = "$want" ]; then
		check_ok "$name"
	else
		check_fail "$name" "$fields: $(cat "$CHECK_TMP/values"), not $want" "$err"
	fi
}

# ----- numbers computed by hand -----

# Three blocks. B less A: -10 -30, -20 -10, +40 -10; losses 10 30 20 10 -40 10.
# Their mean is 40 / 6; at positions 1-2 the change is 10 / 3, at 4-3 -50 / 3.
gate three "a.mglru hot_kept permille" "700 690 680 710" "720 700 705 715" "700 740 690 700"
number effect three "effect pair_1_2 pair_4_3" "-6.6667 3.3333 -16.6667"
# 63 sets of pairs: 2.5 % of 64 is 1 and a bit, so that the limits are the least and
# the greatest mean of a set: -40 and 30, each of one pair.
number interval three "low high" "-30.0 40.0"
# Margin 50: all of 50 - loss are above 0, so no set but the empty one is against.
number p-margin-50 three "p_pass p_fail verdict" "0.0156 1.0 pass"
# Margin 25: 15 -5 5 15 65 15: {-5} and {-5, 5}: 3 of 64.
number p-margin-25 three "p_pass verdict" "0.0469 pass" --margin kept=25
# Margin 15: 5 -15 -5 5 55 5: 4 with -5 alone, 8 with -15 alone, 8 with both: 21 of 64.
number p-margin-15 three "p_pass verdict" "0.3281 undecided" --margin kept=15
# Margin 1: it is lost: 9 29 19 9 -41 9, whose sets at 0 or below have -41 in them, and
# of the others what is 41 at most: of {29} with up to one 9, of {19} with up to two 9,
# of the 9 alone all: 1 + 3, 1 + 3 + 3, 8: 19, and the empty one: 20 of 64.
number p-fail three "p_fail verdict" "0.3125 undecided" --margin kept=1
number margin-percent three "margin" 70.75 --margin hot_kept=10%
number margin-owner three "margin" 30.0 --margin kept=40 --margin a.mglru.hot_kept=30

# A loss of 100 in every pair: 4 blocks have p = 1/256, below 0.005, and 3 have not.
lost="700 600 600 700"
gate lost3 "a.mglru hot_kept permille" "$lost" "$lost" "$lost"
gate lost4 "a.mglru hot_kept permille" "$lost" "$lost" "$lost" "$lost"
exits lost-3-blocks 2 "1 more block of four boots" lost3/A lost3/B
exits lost-4-blocks 1 "worse by 10.0 points, by 10.0 points at least (95 %), margin 5.0 points (p = 0.0039, one of 1)" lost4/A lost4/B
number lost-p lost4 "p_fail low high" "0.0039 -100.0 -100.0"
exits blocks-more-1 2 "1" --blocks-more lost3/A lost3/B
exits blocks-more-0 1 "0" --blocks-more lost4/A lost4/B
exits gained 0 "PASS: A against B" B=lost4/B A=lost4/A
# Lower is better: the same numbers are a gain.
gate amplified "a.mglru hot_amplification permille" "$lost" "$lost" "$lost" "$lost"
exits lower-is-better 0 "PASS" amplified/A amplified/B
exits lower-is-worse 1 "hot_amplification: 60.0 % in B, 70.0 % in A; worse by 10.0 points" B=amplified/B A=amplified/A

# Holm: two numbers with 1/256 each are 2/256 > 0.005; a fifth block has 2/1024.
for block in 1 2 3 4 5; do
	for p in "1 A 700" "2 B 600" "3 B 600" "4 A 700"; do
		read -r position set value <<<"$p"
		make_log "holm5/$set/0$block-$position.log" "ok a.mglru.holds | hot_kept permille $value | hot_settle_time us $block$position" \
			"ok b.mglru.holds | hot_kept permille $value"
		[ $block -eq 5 ] || make_log "holm4/$set/0$block-$position.log" \
			"ok a.mglru.holds | hot_kept permille $value | hot_settle_time us $block$position" "ok b.mglru.holds | hot_kept permille $value"
	done
done
exits holm-4-blocks 2 "2 of 2 asserted numbers undecided" holm4/A holm4/B
exits holm-5-blocks 1 "one of 2)" holm5/A holm5/B
exits only-makes-the-family-smaller 1 "(p = 0.0039, one of 1)" --only 'a.*' holm4/A holm4/B

# Samples: 1 of 252 relabellings of 5 and 5 is as bad; 1 of 70 of 4 and 4 is too many.
for i in 1 2 3 4 5; do
	make_log samples5/A/run$i.log "ok a.mglru.holds | hot_kept permille 70$i"
	make_log samples5/B/run$i.log "ok a.mglru.holds | hot_kept permille 60$i"
	[ $i -eq 5 ] || make_log samples4/A/run$i.log "ok a.mglru.holds | hot_kept permille 70$i"
	[ $i -eq 5 ] || make_log samples4/B/run$i.log "ok a.mglru.holds | hot_kept permille 60$i"
done
exits samples-5 1 "independent samples, no blocks: the labels of 5 and 5 logs are permuted" samples5/A samples5/B
number samples-5-p samples5 "effect p_fail" "-100.0 0.004"
exits samples-4 2 "1 more block" samples4/A samples4/B
exits samples-same 0 PASS samples5/B samples5/A

# p against what python counts: of 16 pairs all choices one by one, of 6 and 30 boots
# by sums, for these are drawn at random.
counted()
{
	"$compare" -f json "$1/A" "$1/B" >"$out" 2>"$err"
	python3 - "$out" "$2" "${@:3}" 2>>"$err" <<-'EOF'
		import json, math, sys
		p = [n for n in json.load(open(sys.argv[1]))["comparisons"][0]["numbers"] if n["asserted"]][0]["p_pass"]
		rows = [[int(v) for v in arg.split()] for arg in sys.argv[3:]]
		if sys.argv[2] == "pairs":
		    x = [50 - loss for a, b, c, d in rows for loss in (a - b, d - c)]
		    sums = [0]
		    for v in x:
		        sums += [s + v for s in sums]
		    want, slack = sum(s <= 0 for s in sums) / len(sums), 1e-9
		else:
		    a, b = [-v for v in rows[0]], [-v for v in rows[1]]
		    # choices of so many boots as A has: how many, by how many of B and sum
		    ways = {(0, 0, 0): 1}
		    for of_b, values in ((0, a), (1, b)):
		        for v in values:
		            for (size, moved, s), n in list(ways.items()):
		                key = (size + 1, moved + of_b, s + v)
		                ways[key] = ways.get(key, 0) + n
		    all = [(moved, s, n) for (size, moved, s), n in ways.items() if size == len(a)]
		    want = sum(n for moved, s, n in all if sum(a) - s <= -50 * moved) / math.comb(len(a) + len(b), len(a))
		    slack = 0.5 * want
		print(f"# {sys.argv[2]}: p {p}, counted {want:.5f}")
		sys.exit(not (0.005 < want < 0.2 and abs(p - want) <= slack))
	EOF
}
rows=("700 640 655 690" "712 690 640 700" "690 650 644 720" "688 679 690 655"
	"731 655 692 718" "644 700 671 720" "701 688 666 650" "715 699 675 702")
gate many_pairs "a.mglru hot_kept permille" "${rows[@]}"
check_run p-of-16-pairs counted many_pairs pairs "${rows[@]}"
a=(700 731 655 688 712 690)
b=(655 690 630 701 666 648 712 639 671 684 662 695 641 707 659 688 673 626 699 650
	667 703 644 681 658 692 636 675 711 653)
for i in "${!a[@]}"; do
	make_log "many_samples/A/run$i.log" "ok a.mglru.holds | hot_kept permille ${a[i]} | hot_settle_time us 1$i"
done
for i in "${!b[@]}"; do
	make_log "many_samples/B/run$i.log" "ok a.mglru.holds | hot_kept permille ${b[i]} | hot_settle_time us 2$i"
done
check_run p-of-36-samples counted many_samples samples "${a[*]}" "${b[*]}"

# ----- what is exact decides in one block, and nothing else does -----

gate exact "a.classic hot_kept permille" "1000 1000 1000 1000"
gate exact_lost "a.classic hot_kept permille" "1000 400 400 1000"
gate mglru "a.mglru hot_kept permille" "1000 1000 1000 1000"
gate clock "a.classic hot_throughput KiB/s" "1000 1000 1000 1000"
gate wavers "a.classic hot_kept permille" "1000 1000 1000 1000 1000" && gate wavers "a.classic hot_kept permille" "1000 990 1000 1000"
gate spread "a.classic hot_kept permille" "1000 1000 1000 1000 990" && sed -i 's/min=1000/min=990/' spread/B/01-2.log
exits exact-same 0 "1 more asserted, with no spread and no difference" exact/A exact/B
exits exact-lost 1 "100.0 % in A, 40.0 % in B, without spread" exact_lost/A exact_lost/B
exits mglru-is-not-exact 2 "2 more blocks" mglru/A mglru/B
exits equal-but-undecided 2 "1 more asserted, with no spread and no difference (1 of them undecided)" mglru/A mglru/B
exits clock-is-not-exact 2 "2 more blocks" clock/A clock/B
exits wavers-is-not-exact 2 undecided wavers/A wavers/B
exits spread-is-not-exact 2 undecided spread/A spread/B
exits one-log-is-not-exact 2 undecided exact/A/01-1.log exact/B/01-2.log
conditions machine tcg
gate tcg "a.classic hot_throughput KiB/s" "1000 100 100 1000"
conditions
exits no-clock-on-tcg 0 "(clock on an emulated CPU)" -v tcg/A tcg/B
gate control "a.classic once_kept permille" "1000 100 100 1000"
exits control-is-shown 0 "(control)" -v control/A control/B
gate opposed "a.classic twice_kept permille" "100 0 0 100" && sed -i '/twice_kept/s/$/ bound<=100/' opposed/*/*
exits opposed-is-shown 0 "(its bound is the other way)" -v opposed/A opposed/B

# ----- results -----

verdicts worse "ok not not ok" "ok not not ok"
verdicts better "not ok ok not"
verdicts both "not not not not"
verdicts mixed "ok not ok ok" "ok ok ok ok"
verdicts skipped "ok skip skip ok"
verdicts unskipped "skip ok ok skip"
verdicts doubtful "ok inconclusive inconclusive ok"
verdicts one_doubt "ok ok inconclusive ok" "ok ok ok ok"
verdicts kinds "skip inconclusive inconclusive skip"
verdicts xfail "ok xfail xfail ok"
exits result-worse 1 "a.mglru.holds: ok in A, not ok in B (too little)" worse/A worse/B
exits result-better 0 "1 better" better/A better/B
exits result-not-ok-in-both 0 "the same" both/A both/B
exits result-mixed 2 "a.mglru.holds ok ok 3, not ok 1 not stable" mixed/A mixed/B
exits result-skipped 1 "1 result was told in one set only" skipped/A skipped/B
exits result-unskipped 1 "1 result was told in one set only" unskipped/A unskipped/B
exits result-skips-allowed 0 "differs, allowed" --allow-skips skipped/A skipped/B
exits result-skips-allowed-only 1 "in one set only" --allow-inconclusive skipped/A skipped/B
exits result-inconclusive 1 "in one set only" doubtful/A doubtful/B
exits result-inconclusive-allowed 0 "differs, allowed" --allow-inconclusive doubtful/A doubtful/B
exits result-inconclusive-once 2 "not stable" one_doubt/A one_doubt/B
exits result-two-kinds-of-silence 1 "in one set only" kinds/A kinds/B
exits result-xfail 1 "a.mglru.holds: ok in A, xfail in B" xfail/A xfail/B
make_log absent/A.log "ok a.mglru.holds" "ok b.mglru.holds"
make_log absent/B.log "ok a.mglru.holds"
exits result-absent 1 "1 result was told in one set only" absent/A.log absent/B.log
cp absent/A.log absent/C.log && make_log absent/D.log "ok a.mglru.holds" "ok b.mglru.holds" "ok c.mglru.holds"
exits result-of-a-third-set 0 "results 2 the same" --allow-skips absent/A.log absent/C.log absent/D.log
make_log silent/A.log "skip a.mglru.holds | hot_kept permille 3"
make_log silent/B.log "skip a.mglru.holds"
exits nothing-judged 3 "nothing is compared" silent/A.log silent/B.log
exits nothing-matches 3 "no test that matches nope* was judged" --only 'nope*' worse/A worse/B

# What a kernel did to a program is a result.
runner()
{
	mkdir -p runner
	{
		printf 'TAP version 13\n1..2\n# selftests: mm-cache: one\n'
		sed 's/^/# /' "$1"
		echo "$2"
		printf '# selftests: mm-cache: two\n# TAP version 13\n'
		printf '# # env %s\n' "${env[@]}"
		printf '# 1..1\n# ok 1 two.mglru.holds\n'
		printf '# # Totals: pass:1 fail:0 xfail:0 xpass:0 skip:0 error:0\nok 2 selftests: mm-cache: two\n'
	} >"$3"
}
make_log runner/inner "ok a.mglru.holds" "ok b.mglru.holds"
runner runner/inner "ok 1 selftests: mm-cache: one" runner/ok.log
sed '/^ok 2/d; /Totals/d' runner/inner >runner/cut
runner runner/cut "not ok 1 selftests: mm-cache: one # TIMEOUT 45 seconds" runner/timeout.log
runner runner/cut "not ok 1 selftests: mm-cache: one # exit=139" runner/killed.log
exits program-timeout 1 "one (whole program): ok in A, not ok in B" runner/ok.log runner/timeout.log
exits program-killed 1 "one (whole program): ok in A, not ok in B" runner/ok.log runner/killed.log
: >runner/nothing
runner runner/nothing "not ok 1 selftests: mm-cache: one # exit=139" runner/early.log
exits program-killed-at-once 1 "one (whole program): ok in A, not ok in B (exit=139)" --allow-skips runner/ok.log runner/early.log
sed '1,2d' runner/ok.log >runner/lost_plan.log
exits refuse-lost-plan 3 "no plan: nobody can tell whether all ran" runner/ok.log runner/lost_plan.log
printf %s "$(cat exact/B/01-2.log)" >no_end.log
exits last-line-without-end 2 "no_end.log:14: the last line has no end: was it cut?" exact/A/01-1.log no_end.log

# A guest that died
cp -r exact died && mv died/B/01-3.log died/B/01-3.died && echo "Kernel panic - not syncing: Fatal <exception>" >>died/B/01-3.died
cp -r exact died_in_a && mv died_in_a/A/01-1.log died_in_a/A/01-1.died
mkdir died_in_b && cp -r died/B died_in_b/B && head -n 1 exact/B/01-2.log >died_in_b/B/01-3.died
exits died-in-b 1 "Kernel panic - not syncing: Fatal <exception>" died/A died/B
exits died-in-a 3 "a guest of A, the base, died; its last lines: # env read_ahead_kb 128|1..1|" died_in_a/A died_in_a/B
mkdir died_all && cp -r exact/A died_all/A && mkdir died_all/B && cp died/B/01-3.died died_all/B
exits died-in-both 3 "B died as well; its last lines: TAP version 13" died_in_a/A died_in_b/B
exits died-all-of-b 1 "a guest of B died" died_all/A died_all/B

# ----- across -----

make_log classic/r.log "ok a.classic_warm.holds | hot_kept permille 1000 | hot_settle_time us 1" "skip a.mglru_warm.holds" "ok b.plain.holds"
make_log mglru_r/r.log "skip a.classic_warm.holds" "not a.mglru_warm.holds | hot_kept permille 17" "ok b.plain.holds"
exits across-reclaim 1 "a.*_warm.holds: ok in A, not ok in B" --across reclaim classic mglru_r
exits across-reclaim-same 3 "both A and B ran classic" --across reclaim classic/r.log exact/B
make_log both_r/r.log "ok a.classic_warm.holds" "ok a.mglru_warm.holds"
exits across-reclaim-both-in-one 3 "it ran both reclaims" --across reclaim classic both_r
exits without-across 1 "2 results were told in one set only" classic mglru_r
conditions read_ahead_kb 0
gate ra0 "a.classic hot_kept permille" "1000 1000 1000 1000"
conditions
exits across-key 0 PASS --across read_ahead_kb exact/A ra0/B
exits across-unknown-key 3 "no log has a line # env colour" --across colour exact/A exact/B

# ----- what must be refused, by name -----

refused_env()
{
	conditions "$1" "$2"
	make_log "env_$1/r.log" "ok a.classic.holds | hot_kept permille 1000 | hot_settle_time us 7"
	conditions
	exits "refuse-env-$1" 3 "$1 is \"$3\" in A and \"$2\" in B" exact/A/01-1.log "env_$1"
}
refused_env memory "2048 MiB" "960 MiB"
refused_env fs xfs ext4
refused_env page_size 65536 4096
refused_env machine tcg kvm
refused_env cpus 4 2
refused_env read_ahead_kb 0 128
sed '/env fs/d' exact/B/01-2.log >no_fs.log
exits refuse-env-missing 3 'fs is "ext4" in A and "(not given)" in B' exact/A/01-1.log no_fs.log
conditions memory "967 MiB" && conditions kernel "Linux 6.12 x86_64"
gate other_kernel "a.classic hot_kept permille" "1000 1000 1000 1000"
conditions
exits kernel-and-a-little-memory-may-differ 0 PASS exact/A other_kernel/B
mkdir two_kernels && cp exact/B/01-2.log two_kernels/ && cp other_kernel/B/01-3.log two_kernels/
exits refuse-two-kernels-in-a-set 3 'kernel is "Linux 6.12 x86_64", and "Linux 7.0 x86_64" before' exact/A two_kernels

head -c 200 exact/B/01-2.log >cut_byte.log
sed '/^ok/,$d' exact/B/01-2.log >cut_line.log
: >empty.log
echo "the quick brown fox" >text.log
make_log units.log "ok a.classic.holds | hot_kept pages 1000"
exits refuse-cut 3 "cut_byte.log" exact/A/01-1.log cut_byte.log
exits refuse-cut-at-line 3 "the log ends early" exact/A/01-1.log cut_line.log
exits refuse-empty 3 "empty.log:0: not one test result" exact/A/01-1.log empty.log
exits refuse-text 3 "text.log" exact/A/01-1.log text.log
exits refuse-units 3 "a.classic hot_kept is in pages, and in permille" exact/A/01-1.log units.log
exits refuse-missing-file 3 "nowhere: No such file" exact/A nowhere
exits refuse-same-file 3 "are one file" exact/A exact/A
ln -s exact linked
exits refuse-same-file-linked 3 "are one file" exact/A linked/A
mkdir again && cp three/A/*.log again/ && cp three/A/01-1.log again/copy.log
exits refuse-doubled 3 "have the same content: one run, twice" again three/B
mkdir -p place/A/more && cp three/A/*.log place/A/ && sed 's/ us 10 / us 99 /' three/A/01-1.log >place/A/more/01-1.log
sed -i 's/hot_settle_time us n=3 median=10/hot_settle_time us n=3 median=9/' place/A/more/01-1.log
sed -i 's/median=9 min=10/median=9 min=9/' place/A/more/01-1.log
exits refuse-place-twice 3 "are both block 1, position 1" place/A three/B
mkdir shared && cp -r three/A three/B shared/ && mv shared/B/01-2.log shared/B/01-1.log
exits refuse-place-in-both 3 "are both block 1, position 1" shared/A shared/B
check_run refuse-place-once test "$(grep -c '^mm-cache-compare: ' "$out")" = 1
mkdir -p crossed/A crossed/B && cp three/A/01-*.log crossed/A/ && mv crossed/A/01-4.log crossed/A/01-2.log &&
	cp three/B/01-2.log crossed/B/01-3.log && cp three/B/01-3.log crossed/B/01-4.log
exits refuse-aabb 3 "must have one boot of each set" crossed/A crossed/B
make_log fewer/1.log "ok a.mglru.holds" "ok b.mglru.holds | hot_settle_time us 1"
make_log fewer/2.log "ok a.mglru.holds | hot_settle_time us 2"
exits refuse-fewer-results 3 "b.mglru.holds is not in it, but in fewer/1.log" fewer absent/A.log
sed 's/median=1000/median=10/' exact/B/01-2.log >order.log
exits refuse-impossible-metric 3 "order.log:" exact/A/01-1.log order.log
mkdir nothing && echo x >nothing/README
exits refuse-no-log 3 "no *.log and no *.txt" exact/A nothing
sed 's/hot_kept permille/hot_part_kept permille/' exact/B/01-2.log >metric_b.log
exits metric-in-one-set 1 "a.classic hot_kept: only in A, though both judged the test" exact/A/01-1.log metric_b.log
exits metric-in-one-set-allowed 0 "1+0 one set only" --allow-skips exact/A/01-1.log metric_b.log
exits refuse-a-fifo 3 "neither a file nor a directory" exact/A <(cat exact/B/01-2.log)
if [ "$(id -u)" -ne 0 ] || ! command -v setpriv >/dev/null; then
	check_skip refuse-unreadable "needs root and setpriv, to be somebody else"
else
	mkdir unreadable && cp exact/B/*.log unreadable/ && chmod 0 unreadable/01-2.log && chmod 755 "$CHECK_TMP"
	setpriv --reuid 65534 --clear-groups --inh-caps=-all "$compare" exact/A unreadable >"$out" 2>&1
	if [ $? -eq 3 ] && grep -q "01-2.log: Permission denied" "$out"; then
		check_ok refuse-unreadable
	else
		check_fail refuse-unreadable "a file that cannot be read is passed over" "$out"
	fi
fi
mkdir incomplete && cp -r three/A three/B incomplete/ && rm incomplete/B/03-3.log
exits incomplete-block 2 "1 block of A and B not complete" incomplete/A incomplete/B

# NUL bytes, noise, CRLF and time stamps do no harm, nor control characters any.
sed 's/^/[   12.345678] /; s/$/\r/; s/1\.\.1/&\n\x00\xff\xfe noise\x00/' exact/B/01-2.log >nul.log
exits nul-and-noise 2 undecided exact/A/01-1.log nul.log
sed $'s/a\\.classic/a.cl\\x1b]0;<\\&>\\xffassic/' exact/B/01-2.log >control.log
for format in table markdown json junit; do
	"$compare" -f $format exact/A/01-1.log control.log >"$out" 2>&1
	if LC_ALL=C grep -q $'[^ -~\t]' "$out" || ! grep -q 'x1b' "$out"; then
		check_fail "control-characters-$format" "they are not shown by their number" "$out"
	elif [ $format = junit ] && ! python3 -c 'import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])' "$out" 2>"$err"; then
		check_fail "control-characters-$format" "no XML" "$err"
	elif [ $format = json ] && ! python3 -m json.tool "$out" >/dev/null 2>"$err"; then
		check_fail "control-characters-$format" "no JSON" "$err"
	else
		check_ok "control-characters-$format"
	fi
done

sed 's/holds/ho\x1blds/' exact/A/01-1.log >control_a.log
sed 's/holds/ho\x1blds/' exact/B/01-2.log >control_b.log
exits control-characters-in-both 2 "1 the same" control_a.log control_b.log
exits control-characters-in-a-pattern 3 '"only": "\\xff*"' -f json --only $'\xff*' control_a.log control_b.log

# Archives: anywhere in them, whatever their names.
tar -czf set.tgz -C three/B .
mkdir -p deep/a/b/c && cp three/B/*.log deep/a/b/c/ && cp three/B/01-2.log deep/a/01-2.log.console && tar -cJf deep.tar.xz deep
for archive in set.tgz deep.tar.xz deep; do
	exits "reads-$archive" 0 "3 complete blocks" three/A $archive
done
head -c 300 set.tgz >cut.tgz
# archive FILE NAME=LOG|NAME=(s|h):TARGET...: a tarball of logs by any NAME, and of links
archive()
{
	python3 - "$@" <<-'EOF'
		import sys, tarfile
		tar = tarfile.open(sys.argv[1], "w")
		for entry in sys.argv[2:]:
		    name, source = entry.split("=", 1)
		    info = tar.gettarinfo(source if source[1] != ":" else ".")
		    info.name = name
		    if source[1] == ":":
		        info.type = {"s": tarfile.SYMTYPE, "h": tarfile.LNKTYPE}[source[0]]
		        info.linkname = source[2:]
		    tar.addfile(info, open(source, "rb") if info.isreg() else None)
		tar.close()
	EOF
}
# Nothing is written or read where a name leads out of the directory: no logs are there.
outside=$PWD/outside
mkdir -p outside/{in,linked} && tee outside/{01-2,01-3,linked/02-2}.log <<<"no log" >/dev/null
from=three/B
archive leads_out.tar ../01-2.log=$from/01-2.log "$outside/01-3.log=$from/01-3.log" "link=s:$outside/linked" \
	link/02-2.log=$from/02-2.log 02-3.log=$from/02-3.log 03-2.log=$from/03-2.log 03-3.log=$from/03-3.log
state_outside()
{
	find "$outside" -printf '%p %y %s %T@\n' | sort
}
before=$(state_outside)
cd outside/in || exit 1
exits archive-leads-out 0 "3 complete blocks" ../../three/A ../../leads_out.tar
cd ../.. || exit 1
check_run archive-writes-nothing test "$before" = "$(state_outside)"
archive soft.tar 01-2.log="s:$PWD/$from/01-2.log" 01-3.log=$from/01-3.log
archive hard.tar 01-3.log=$from/01-3.log 01-2.log=h:01-3.log
for kind in soft hard; do
	exits "refuse-a-$kind-link-in-an-archive" 3 "$kind.tar:01-2.log: a link within an archive" three/A $kind.tar
done
exits refuse-cut-archive 3 "cut.tgz" three/A cut.tgz
exits refuse-no-archive 3 "no.tar" three/A <(:) no.tar
# Packed logs, as CI systems leave them, in a directory or one alone
for log in three/B/*.log; do
	mkdir -p packed && gzip -c "$log" >"packed/${log##*/}.gz"
done
xz -c exact/B/01-2.log >one.log.xz && head -c 60 packed/01-2.log.gz >cut.log.gz && : >empty.log.gz && tar -cf nested.tar packed
exits reads-packed 0 "3 complete blocks" three/A packed
exits reads-one-packed 2 "independent samples" exact/A/01-1.log one.log.xz
exits refuse-cut-packed 3 "cut.log.gz: cannot be unpacked" exact/A cut.log.gz
exits refuse-empty-packed 3 "empty.log.gz: cannot be unpacked" exact/A empty.log.gz
exits refuse-packed-in-an-archive 3 "nested.tar:packed/01-2.log.gz: packed within an archive" three/A nested.tar
cp -r three/B both_packed && cp packed/01-2.log.gz both_packed/
exits refuse-doubled-packed 3 "one run, twice" three/A both_packed

mkdir pair && cp three/B/01-2.log pair/ && tar -cf doubled.tar -C three/B . -C "$PWD/pair" --transform 's,01-2,09-2,' ./01-2.log
exits refuse-doubled-in-archive 3 "one run, twice" three/A doubled.tar

# ----- usage -----

exits help 0 "how many more blocks it takes" --help
exits usage-one-set 3 "two sets or more" three/A
exits usage-format 3 "table, markdown, json or junit" -f xml three/A three/B
exits usage-margin 3 "a number above 0" --margin kept=-3 three/A three/B
exits usage-margin-name 3 "no number with a direction" --margin evicted=3 three/A three/B
exits usage-figure 3 "neither .svg nor .png" --figure x.pdf three/A three/B
exits usage-names 3 "two sets have the name X" X=three/A X=three/B
exits broken-in-json 3 '"verdict": "broken input"' -f json exact/A empty.log
exits broken-in-junit 3 '<error message="empty.log:0: not one test result"/>' -f junit exact/A empty.log
if "$compare" three/A three/B >/dev/full 2>"$out" || ! grep -q 'No space left' "$out"; then
	check_fail full-disk "a report that was not written counts as success" "$out"
else
	check_ok full-disk
fi
exits three-sets 1 "FAIL: W against A" exact/A exact/B W=exact_lost/B

# ----- every format, as it was read and found right -----

make_log show/A/01-1.log "ok a.mglru.holds | hot_kept permille 700 690 710" "ok b.classic.holds | hot_kept permille 1000" "ok c.<x>&.holds" "skip d.mglru.holds"
make_log show/B/01-2.log "ok a.mglru.holds | hot_kept permille 690 680 700" "ok b.classic.holds | hot_kept permille 900" "not c.<x>&.holds" "ok d.mglru.holds"
make_log show/B/01-3.log "ok a.mglru.holds | hot_kept permille 680 680 700" "ok b.classic.holds | hot_kept permille 900" "not c.<x>&.holds" "ok d.mglru.holds"
make_log show/A/01-4.log "ok a.mglru.holds | hot_kept permille 710 690 710" "ok b.classic.holds | hot_kept permille 1000" "ok c.<x>&.holds" "skip d.mglru.holds"
for format in table markdown json junit; do
	"$compare" -f $format old=show/A new=show/B >"$out" 2>&1
	printf 'exit status: %d\n' $? >>"$out"
	[ "${UPDATE:-0}" != 1 ] || cp "$out" "$cases/show.$format.expected"
	if diff -u "$cases/show.$format.expected" "$out" >"$CHECK_TMP/diff" 2>&1; then
		check_ok "format-$format"
	else
		check_fail "format-$format" "not the output expected" "$CHECK_TMP/diff"
	fi
done

# A mail is at most 78 columns wide, whatever the names and the units.
mail()
{
	exits "$1" "$2" "$3" -f markdown "${@:4}"
	if ! awk 'length > 78 { exit 1 }' "$out"; then
		check_fail "$1-width" "$(awk 'length > 78' "$out" | head -n 1)"
	else
		check_ok "$1-width"
	fi
}
long=dontcache_throughput.no_memcg
for p in "1 A 7345678 12" "2 B 5123456 -1234" "3 B 5234567 -1200" "4 A 7456789 20"; do
	read -r position set rate pages <<<"$p"
	make_log "mail/$set/01-$position.log" \
		"ok $long.reads_as_fast_as_the_device | dontcache_throughput KiB/s $rate $((rate - 99999)) $((rate + 99999)) | hot_kept permille 700 690 71$position | hot_settle_time us 1$position" \
		"ok b.mglru.holds | hot_kept permille 70$position 690 710 | hot_kept_change permille $pages -1500 99" \
		"$([ "$position" = 2 ] && echo not || echo ok) c.mglru_rare_no_readahead.outlives_one_scan"
done
mail mail-names 2 "| 6.12 | 7.3 | change | verdict |" 6.12=mail/A 7.3=mail/B
mail mail-rate 2 "| 7228 [7076..7380] | 5058 [4906..5210] | -2170 (-30 %) | undecided |" 6.12=mail/A 7.3=mail/B
mail mail-long-names 2 "- B is 7,sysctl:vm.swappiness:10: Linux" 7,sysctl:vm.swappiness:60=mail/A 7,sysctl:vm.swappiness:10=mail/B
mail mail-in-columns 2 "| A | B | change | verdict |" 7,sysctl:vm.swappiness:60=mail/A 7,sysctl:vm.swappiness:10=mail/B
mail mail-pairs 2 "| 2 | unbounded | -2170 | -2170 | 2 pairs |" 6.12=mail/A 7.3=mail/B
mail mail-unstable 2 "- c.mglru_rare_no_readahead.outlives_one_scan: not stable (ok in 6.12, ok 1, not ok 1 in 7.3)" 6.12=mail/A 7.3=mail/B
mail mail-quiet-pass 0 "- 1 more passed, changed by less than the margin" three/A three/B
mail mail-loud-pass 0 "1: a.mglru hot_kept, %" A=lost4/B B=lost4/A
exits mail-verbose 0 "1: a.mglru hot_kept, %" -v -f markdown three/A three/B

if ! command -v gnuplot >/dev/null; then
	check_skip figure "needs gnuplot"
else
	exits figure 1 FAIL --figure f.svg --figure "it's.png" old=show/A new=show/B
	if python3 -c 'import xml.dom.minidom; xml.dom.minidom.parse("f.svg")' 2>"$err" && grep -q 'a.mglru hot_kept (5.0 points)' f.svg; then
		check_ok figure-svg
	else
		check_fail figure-svg "no SVG, or without its labels" "$err"
	fi
	check_run figure-png grep -q PNG "it's.png"
	exits figure-not-written 3 "not drawn" --figure nowhere/f.svg old=show/A new=show/B
fi
ln -s "$(command -v sh)" sh
PATH=$PWD "$compare" --figure f.svg old=show/A new=show/B >"$out" 2>&1
if [ $? -eq 3 ] && grep -q 'gnuplot is missing' "$out"; then
	check_ok figure-without-gnuplot
else
	check_fail figure-without-gnuplot "it does not say that gnuplot is missing" "$out"
fi

# ----- size and speed -----

# 1000 logs of 65 results and 455 numbers: 70 KiB each, as of the whole suite.
many()
{
	awk -v dir="$1" -v name="$2" 'BEGIN {
		for (i = 0; i < 1000; i++) {
			position = i % 4 + 1
			set = position == 1 || position == 4 ? "A" : "B"
			file = name == "" ? sprintf("%s/%s/%02d-%d.log", dir, set, i / 4 + 1, position) : sprintf("%s/%s/run%d.log", dir, set, i)
			print "TAP version 13\n# env kernel Linux 7.0 x86_64\n1..65" >file
			for (r = 1; r <= 65; r++) {
				owner = sprintf("program_%d_hot_set.mglru_variant_%d", r % 13, r)
				for (m = 0; m < 7; m++) {
					value = 500 + int(100 * rand())
					printf "# metric %s %s_%s permille n=5 median=%d min=%d max=%d\n", owner, (m > 3 ? "once" : "hot" m), "kept", value, value - 9, value + 9 >file
					if (m > 3)
						break
				}
				for (m = 0; m < 5; m++)
					printf "# metric %s hot_%s pages n=5 median=%d min=0 max=9999\n", owner, m ? "refaults" m : "evicted", 999 * rand() >file
				printf "ok %d %s.outlives_one_scan\n", r, owner >file
			}
			print "# Totals: pass:65 fail:0 xfail:0 xpass:0 skip:0 error:0" >file
			close(file)
		}
	}' /dev/null
}
# quickly NAME LIMIT STATUS ARGUMENT...: within so many ms of CPU time, for the
# machine may be busy with something else
quickly()
{
	local name=$1 limit=$2 status=$3 took got TIMEFORMAT='%U %S'
	shift 3

	took=$({ time prlimit --as="${memory:-unlimited}" "$compare" "$@" >"$out" 2>"$err"; } 2>&1
		echo $?)
	got=${took##*$'\n'}
	took=$(awk 'NF == 2 { print int(1000 * ($1 + $2)) }' <<<"$took")
	echo "# $name: $took ms; $(head -n 1 "$out")"
	if [ "$got" -ne "$status" ]; then
		check_fail "$name" "exit status $got, not $status" "$err"
	elif [ "${took:-0}" -eq 0 ] || [ "$took" -gt "$limit" ]; then
		check_fail "$name" "takes $took ms, not 1 to $limit"
	else
		check_ok "$name"
	fi
}
mkdir -p many/{blocks,samples}/{A,B}
many many/blocks ""
quickly speed-1000-logs 2000 0 many/blocks/A many/blocks/B
rm -r many/blocks
many many/samples run
quickly speed-1000-samples 2000 0 many/samples/A many/samples/B
rm -r many/samples
yes "[   12.345678] ok so far, # and on 1..4 goes the kernel" | head -c 100000000 >noise.log
memory=400000000 quickly refuse-noise-100-mb 20000 3 exact/A noise.log
rm noise.log

# ----- sanitizers, and how often the procedure is wrong -----

libs=$(pkg-config --cflags --libs gsl jansson libarchive 2>/dev/null || echo -lgsl -lgslcblas -ljansson -larchive -lm)
sources=("$CHECK_TOP"/tools/{mm-cache-compare,compare,compare_read,compare_stat,compare_print,compare_figure,gnuplot,ktap_parse,printable,text}.c)
sanitized()
{
	# shellcheck disable=SC2086 # several options
	gcc -std=gnu11 -g -O1 -Wall -Wextra -Werror -Wno-missing-field-initializers -D_GNU_SOURCE= \
		-fsanitize=address,undefined -fno-sanitize-recover=all "${sources[@]}" $libs -o "$CHECK_TMP/sanitized"
}
every_set()
{
	local a b options

	for options in -v "-f json" "-f junit" "-f markdown" "--across reclaim"; do
		for a in three exact samples5 show mixed; do
			for b in "$a"/B control.log cut.tgz doubled.tar runner; do
				# shellcheck disable=SC2086 # several options
				"$CHECK_TMP/sanitized" $options $a/A $b 2>&1
			done
		done
	done | grep -A 20 'Sanitizer\|runtime error'
	[ "${PIPESTATUS[1]}" -eq 1 ]
}
if check_run sanitizers-build sanitized; then
	check_run sanitized every_set
fi

simulation()
{
	# shellcheck disable=SC2086 # several options
	gcc -std=gnu11 -O2 -Wall -Wextra -Werror -D_GNU_SOURCE= -I"$CHECK_TOP/tools" \
		"$CHECK_TOP"/tools/{check/compare_sim,compare_stat}.c $libs -o "$CHECK_TMP/compare_sim"
}
if check_run simulation-build simulation; then
	nice "$CHECK_TMP/compare_sim" "${COMPARISONS:-2000}" "${DETECTIONS:-300}" >"$out" 2>"$err"
	status=$?
	kinds=0
	while read -r line; do
		echo "# $line"
		name=${line#not }
		name=${name#ok }
		name=${name%%:*}
		kinds=$((kinds + 1))
		case $line in
		ok*) check_ok "simulation-$name" ;;
		*) check_fail "simulation-$name" "wrong too often: ${line#*: }" ;;
		esac
	done <"$out"
	if [ $kinds -eq 18 ] && { [ $status -eq 0 ] || grep -q '^not ok' "$out"; }; then
		check_ok simulation-ended
	else
		check_fail simulation-ended "exit status $status, $kinds lines" "$err"
	fi
fi

check_done
