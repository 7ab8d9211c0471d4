#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# gate.sh, in a project of its own with false guests: the order of the boots, what
# an interruption leaves, what is refused, and that its exit status is the verdict.
# shellcheck disable=SC2317 # most functions here are called by their name
. "$(dirname "$0")/check-lib.sh"

out=$CHECK_TMP/out
fake=$CHECK_TMP/fake
dir=$CHECK_TMP/dir

# ------------------------------------------------------------ a false project

mkdir -p "$fake"/{scripts,build/tools,legs}
cp "$CHECK_TOP/scripts/gate.sh" "$CHECK_TOP/scripts/guest-run.sh" "$fake/scripts"
cat >"$fake/Makefile" <<'END'
install:
	@mkdir -p $(INSTALL_PATH)
	@echo mm-cache:pread_hot_set >$(INSTALL_PATH)/kselftest-list.txt
	@cp program $(INSTALL_PATH)
tools:
	@cp mm-cache-compare build/tools
	@[ ! -e leveldb ] || cp leveldb build/tools/mm-cache-leveldb
END

# A guest, by the kernel's words: permille of the hot set that it keeps.
cat >"$fake/scripts/run-vng.sh" <<'END'
#!/bin/bash
fake=$(cd "$(dirname "$0")/.." && pwd)
printf '[%s]' "$@" >>"$fake/arguments"
echo >>"$fake/arguments"
if [ -n "$(cat)" ]; then
	echo "there is something on standard input" >&2
	exit 69
fi
resolve=''
while [ $# -gt 0 ]; do
	case $1 in
	--resolve)
		resolve=yes
		shift
		continue
		;;
	--debian) kernel=$fake/debian-$2 ;;
	--kernel) kernel=$2 ;;
	--log) log=$2 ;;
	--accel) accel=$2 ;;
	esac
	shift 2
done
if [ -n "$resolve" ]; then
	[ "$accel" != auto ] || accel=$(cat "$fake/accel")
	printf '%s\n' "${kernel##*/}" "$kernel" "$accel"
	exit 0
fi
leg=$(basename "$log" .log)
echo "begin $leg $$" >>"$fake/calls"
trap 'kill $! 2>/dev/null; exit 143' TERM
# Where so many are up at a time, each waits for the others of its round.
together=$(cat "$fake/together")
mine=$(sed "/ $$\$/q" "$fake/calls" | grep -c ^begin)
for _ in $(seq 200); do
	[ "$(grep -c ^begin "$fake/calls")" -lt $(((mine + together - 1) / together * together)) ] || break
	sleep 0.1
done
kept=$(cat "$kernel")
code=0
[ ! -e "$fake/legs/$leg" ] || . "$fake/legs/$leg"
cat >"$log" <<LOG
TAP version 13
1..1
# timeout set to 600
# selftests: mm-cache: pread_hot_set
# TAP version 13
# # env kernel Linux ${kernel##*[/ ]} x86_64
# # env machine tcg
# # env fs ext4
# 1..1
# # metric pread_hot_set.classic_warm hot_kept permille n=3 median=$kept min=$kept max=$kept bound>=750
LOG
ok='ok' end='' passed=1
if [ "$kept" -lt 750 ] 2>/dev/null; then
	ok='not ok' end=' # exit=1' passed=0 code=1
fi
sleep "$(cat "$fake/seconds")" &
wait $!
[ $code = 70 ] || cat >>"$log" <<LOG
# $ok 1 pread_hot_set.classic_warm.outlives_one_scan
# # Totals: pass:$passed fail:$((1 - passed)) xfail:0 xpass:0 skip:0 error:0
# boot $$
$ok 1 selftests: mm-cache: pread_hot_set$end
LOG
[ ! -e "$fake/second-try" ] || echo "run-vng.sh: the guest never came up: booting it again"
if [ $code = 70 ]; then
	echo "run-vng.sh: guest died: Kernel panic" >&2
	echo "run-vng.sh: of its console (all of it: $log.console):" >&2
	echo "    the last line of its console" >&2
	echo "console" >"$log.console"
fi
echo "1 properties: 1 ok"
echo "end $leg $$" >>"$fake/calls"
exit $code
END

# A comparison that says what it is told to, of sets that are whole.
cat >"$fake/mm-cache-compare" <<'END'
#!/bin/bash
fake=$(cd "$(dirname "$0")/../.." && pwd)
printf '[%s]' "$@" >>"$fake/compared"
echo >>"$fake/compared"
output=/dev/stdout text="the table" whole=yes
sets=()
while [ $# -gt 0 ]; do
	case $1 in
	--output) output=$2; shift ;;
	--figure) echo figure >"$2"; shift ;;
	--blocks-more) text=$(cat "$fake/blocks-more") whole='' ;;
	--across=refuse) exit 3 ;;
	--format=* | --across=*) ;;
	*) sets+=("${1#*=}") ;;
	esac
	shift
done
if [ -n "$whole" ] && compgen -G "${sets[1]}/*.died" >/dev/null; then
	echo "a guest died" >"$output"
	exit 1
fi
for leg in ${whole:+A:1 A:4 B:2 B:3}; do
	set=${sets[0]}
	[[ $leg == A:* ]] || set=${sets[1]}
	for log in "$set"/*.log; do
		block=${log##*/}
		[ -s "$set/${block%-*}-${leg#*:}.log" ] || exit 3
	done
done
echo "$text" >"$output"
exit "$(cat "$fake/verdict")"
END
chmod +x "$fake/scripts/run-vng.sh" "$fake/mm-cache-compare"

# As at first: quick guests, that all live; nothing measured.
afresh() {
	rm -rf "$dir" "$fake"/{calls,compared,arguments} "$fake"/legs/*
	: >"$fake/calls"
	echo 0.02 >"$fake/seconds"
	echo 1 >"$fake/together"
	echo kvm >"$fake/accel"
	echo 0 >"$fake/verdict"
	echo 0 >"$fake/blocks-more"
	echo 990 >"$fake/debian-6.12"
	echo 980 >"$fake/debian-7"
	echo one >"$fake/program"
	echo one >"$fake/leveldb"
	chmod +x "$fake/leveldb"
}

# Runs gate.sh, its output to $out, its exit status to $code.
gate() {
	code=0
	timeout -k 5 100 "$fake/scripts/gate.sh" --dir "$dir" "$@" >"$out" 2>&1 <<<"words" || code=$?
}

expect() {
	check_said "$1" "$2" "$3" "$code" "$out"
}

# equal NAME WANT GOT
equal() {
	if [ "$2" = "$3" ]; then
		check_ok "$1"
	else
		check_fail "$1" "'$3', must be '$2'" "$out"
	fi
}

begun() {
	sed -n 's/^begin \([^ ]*\) .*/\1/p' "$fake/calls" | xargs
}

logs() {
	(cd "$dir" && find A B -name '*.log' | sort | xargs)
}

sums() {
	(cd "$dir" && find A B -name '*.log' -print0 | sort -z | xargs -0r md5sum)
}

# ---------------------------------------------------------------------- boots

afresh
gate 6.12 7
expect verdict-pass 0 '^gate.sh: pass: 7 is not worse than 6.12'
equal order-abba "01-1 01-2 01-3 01-4 02-1 02-2 02-3 02-4" "$(begun)"
equal logs-of-two-blocks "A/01-1.log A/01-4.log A/02-1.log A/02-4.log B/01-2.log B/01-3.log B/02-2.log B/02-3.log" "$(logs)"
equal sides-have-their-kernel "4 Linux debian-6.12 4 Linux debian-7" \
	"$(grep -rho 'Linux debian[^ ]*' "$dir/A" | sort | uniq -c | xargs) $(grep -rho 'Linux debian[^ ]*' "$dir/B" | sort | uniq -c | xargs)"
equal one-at-a-time "$(printf 'begin\nend\n%.0s' 1 2 3 4 5 6 7 8)" "$(cut -d ' ' -f 1 "$fake/calls")"
expect says-before-how-long 0 'it takes about .*, until [0-9]*:[0-9]* (a guess, which the first boot corrects)$'
equal says-after-each-boot 7 "$(grep -c '^gate.sh: [1-7] of 8 boots complete, about .* left, until [0-9]*:[0-9]*$' "$out")"
expect prints-the-table 0 '^the table$'
equal leaves-reports "figure.png figure.svg junit.xml report.json report.md report.txt" \
	"$(cd "$dir" && find . -name 'report*' -o -name junit.xml -o -name 'figure*' | sed 's,^./,,' | sort | xargs)"
equal compared-as-agreed "[--format=table][--output][$dir/report.txt][--figure][$dir/figure.svg][--figure][$dir/figure.png][6.12=$dir/A][7=$dir/B]" \
	"$(grep -m 1 table "$fake/compared")"
gate 6.12 7
expect complete-is-not-booted-again 0 'all 8 boots are complete'
equal complete-logs-stay 8 "$(begun | wc -w)"

for verdict in 1:fail 2:undecided 3:'cannot be compared'; do
	echo "${verdict%:*}" >"$fake/verdict"
	gate 6.12 7
	expect "verdict-${verdict%:*}" "${verdict%:*}" "${verdict#*:}"
done
echo 9 >"$fake/verdict"
gate 6.12 7
expect verdict-unheard-of 3 'ended with status 9'

# Each waits for the other: unless both are booted, nothing goes on.
afresh
echo 2 >"$fake/together"
gate --blocks 1 --jobs 2 6.12 7
expect pairs 0 'pass'
equal pairs-side-by-side "01-1 01-2 / 01-3 01-4 /" \
	"$(awk '$1 == "begin" { print $2; n++ } $1 == "end" && !--n { print "/" }' "$fake/calls" | xargs | sed 's/01-2 01-1/01-1 01-2/; s/01-4 01-3/01-3 01-4/')"

# One of a pair is lost: it is booted beside its partner, as it was at first.
rm "$dir/A/01-1.log"
before=$(md5sum "$dir/B/01-2.log")
: >"$fake/calls"
gate --blocks 1 --jobs 2 6.12 7
expect partner-left-out 0 'B 01-2: .*left out: it was complete before'
equal lost-leg-beside-its-partner "01-1 01-2" "$(begun | xargs -n 1 | sort | xargs)"
equal partner-keeps-its-log "$before" "$(md5sum "$dir/B/01-2.log")"

afresh
echo 4 >"$fake/together"
gate --blocks 1 --jobs 4 6.12 7
equal four-at-a-time "begin begin begin begin end end end end" "$(cut -d ' ' -f 1 "$fake/calls" | xargs)"

# Without --jobs, as the accelerator and the CPUs have it.
for case in kvm:1 tcg:$(($(nproc) < 2 ? 1 : 2)); do
	afresh
	echo "${case%:*}" >"$fake/accel"
	gate --blocks 1 6.12 7
	equal "default-jobs-${case%:*}" "boots at a time: ${case#*:}" "$(grep '^boots at' "$dir/gate.conf")"
done

# ------------------------------------------------------- settings and options

# What the boots of side A, or B, are told, less what is the same for all.
told() {
	grep "/$1\.log" "$fake/arguments" | sed 's/\[--accel.*//'
}

afresh
gate "7,reclaim=classic,append=a=1\,2,append=b,sysctl:vm.swappiness=10" 7,reclaim=mglru,read_ahead_kb=0,mem=128M \
	--blocks 1 --programs pread_hot_set --reps 3 --memory 2G --cpus 1 --fs xfs --set X=1 --set Y=2 --boot-tries 2
expect settings 0 pass
equal settings-of-a "[--kernel][$fake/debian-7][--reclaim][classic][--append][a=1,2][--append][b][--sysctl][vm.swappiness=10][--programs][pread_hot_set][--reps][3][--memory][2G][--cpus][1][--fs][xfs][--set][X=1][--set][Y=2][--boot-tries][2]" "$(told 01-1)"
equal settings-of-b "[--kernel][$fake/debian-7][--reclaim][mglru][--set][MM_CACHE_READ_AHEAD_KB=0][--set][MM_CACHE_MEM=128M][--programs][pread_hot_set][--reps][3][--memory][2G][--cpus][1][--fs][xfs][--set][X=1][--set][Y=2][--boot-tries][2]" "$(told 01-3)"
equal across-what-differs "memcg read_ahead_kb reclaim" \
	"$(grep -o '\[--across=[a-z_]*' "$fake/compared" | sed 's/.*=//' | sort -u | xargs)"
afresh
gate 7,reclaim=classic,mem=128M 7,reclaim=mglru,mem=128M --blocks 1 --workload "leveldb --size=1G"
expect workload 0 pass
equal workload-is-told "[--kernel][$fake/debian-7][--reclaim][classic][--set][MM_CACHE_MEM=128M][--workload][leveldb --size=1G]" "$(told 01-1)"
equal workload-is-prepared "[--debian][7][--reclaim][classic][--set][MM_CACHE_MEM=128M][--workload][leveldb --size=1G][--resolve]" \
	"$(head -n 1 "$fake/arguments" | sed 's/\[--accel.*//')"
expect workload-has-its-time 0 'it takes about 6 min'
gate 6.12 7 --blocks 1 --fresh --workload "leveldb --size=1G --measured=3 --zipf=0"
expect workload-has-less-time 0 'it takes about 4 min'
afresh
gate 7,reclaim=mglru 7,reclaim=mglru --blocks 1 -- --across=thp
expect a-against-a 0 'A and B are the same'
equal options-of-the-comparison "[--across=thp]" "$(grep -o '\[--across[^]]*\]' "$fake/compared" | sort -u)"
equal names-differ "[7,reclaim:mglru-A=$dir/A][7,reclaim:mglru-B=$dir/B]" \
	"$(head -n 1 "$fake/compared" | grep -o '\[7,.*')"
afresh
gate 6.12 7 -- --across=refuse
expect not-comparable 3 'cannot be compared'
equal not-comparable-is-seen-early "01-1 01-2" "$(begun)"

# refused NAME WORDS ARGUMENT...: before anything is booted.
refused() {
	local name=$1 words=$2

	shift 2
	: >"$fake/calls"
	gate "$@"
	if [ -s "$fake/calls" ]; then
		check_fail "refused-$name" "something was booted" "$out"
	else
		expect "refused-$name" 3 "$words"
	fi
}
afresh
refused one-kernel 'two kernels expected, 1 given' 7
refused three-kernels 'two kernels expected, 3 given' 7 7 7
refused option "--frob: unknown" 7 7 --frob 1
refused no-value '--blocks: unknown, or without its value' 7 7 --blocks
refused blocks '--blocks 0: a number from 1 to 99' 7 7 --blocks 0
refused budget '--budget 20: a time such as' 7 7 --budget 20
refused blocks-and-budget 'without --budget' 7 7 --budget 20m --blocks 2
refused jobs '--jobs 3: 1, 2 or 4' 7 7 --jobs 3
refused kernel "B: 'x' is no file, no directory, and no Debian version" 7 x
refused setting "A: 'frob' is no setting" 7,frob=1 7
refused setting-without-value "A: 'mem': SETTING=VALUE expected" 7,mem 7
refused setting-twice 'A: mem is given twice' 7,mem=1G,mem=2G 7
refused reclaim 'there is classic and mglru' 7,reclaim=lru 7,reclaim=mglru
refused reclaim-on-one-side 'reclaim= on one side only' 7 7,reclaim=mglru
refused workload-and-programs 'has no --programs' 7 7 --workload leveldb --programs pread_hot_set
rm "$fake"/{,build/tools/mm-cache-}leveldb
refused workload-is-not-built 'mm-cache-leveldb was not built' 7 7 --workload leveldb
refused workload-of-a-file-system 'fs=xfs: is no setting of --workload' 7 7,fs=xfs --workload leveldb
refused program 'no program nothing; there are: pread_hot_set' 7 7 --programs nothing
afresh
refused more-of-nothing 'no complete block' 7 7 --more
afresh
mkdir "$dir"
touch "$dir/letter"
refused foreign-directory 'is not empty, and no gate made it' 7 7

# ----------------------------------------------- what must not be averaged

afresh
gate 6.12 7 --blocks 1
refused other-options 'is:  options: --reps 3' 6.12 7 --blocks 1 --reps 3
refused other-kernel 'holds another gate' 6.12 6.12
refused other-setting 'is:  B settings: mem=128M' 6.12 7,mem=128M
refused other-workload 'is:  options: --workload leveldb' 6.12 7 --workload leveldb
refused other-jobs 'is:  boots at a time: 2' 6.12 7 --jobs 2
echo 970 >"$fake/debian-7"
refused kernel-built-again "is:  B kernel's sum" 6.12 7
echo 980 >"$fake/debian-7"
echo two >"$fake/program"
refused other-suite "is:  suite's sum" 6.12 7
gate 6.12 7 --blocks 1 --fresh --workload leveldb
expect workload-begins-anew 0 pass
echo two >"$fake/leveldb"
refused other-database-program "is:  suite's sum" 6.12 7 --blocks 1 --workload leveldb
: >"$fake/calls"
gate 6.12 7 --blocks 1 --fresh
expect fresh-forgets 0 pass
equal fresh-boots-all 4 "$(begun | wc -w)"

afresh
echo "echo 970 >'$fake/debian-7'" >"$fake/legs/01-3"
gate 6.12 7 --blocks 1
expect kernel-changed-under-way 3 'this changed while it was measured: nothing of 01-3 counts'
equal changed-leg-does-not-count "A/01-1.log B/01-2.log" "$(logs)"

# ------------------------------------------------------- guests in trouble

afresh
echo 'code=70' >"$fake/legs/01-3"
gate 6.12 7 --blocks 1
expect guest-of-b-died 1 'B 01-3: the guest died'
expect died-reason-shown 1 'B 01-3: [0-9]* s: guest died: Kernel panic'
expect died-console-shown 1 'the last line of its console'
equal died-ends-the-gate "01-1 01-2 01-3" "$(begun)"
equal died-log-kept "A/01-1.log B/01-2.log / B/01-3.died 10" \
	"$(logs) / B/$(basename "$dir"/B/*.died) $(wc -l <"$dir/B/01-3.died")"
afresh
echo 'code=70' >"$fake/legs/01-4"
gate 6.12 7 --blocks 1
expect guest-of-a-died 3 'A 01-4: the guest died'
rm "$fake/legs/01-4"
gate 6.12 7 --blocks 1
expect died-withholds-a-pass 3 "guests died: $dir/A/01-4.died"
equal died-is-booted-by-the-next-start "01-1 01-2 01-3 01-4 01-4" "$(begun)"
echo 1 >"$fake/verdict"
gate 6.12 7 --blocks 1
expect died-leaves-a-fail 1 fail
echo 0 >"$fake/verdict"
rm "$dir/A/01-4.died"
gate 6.12 7 --blocks 1
expect died-forgiven 0 pass

touch "$fake/second-try"
gate 6.12 7 --blocks 2
expect second-try-is-said-aloud 0 'the guest never came up: booting it again'
rm "$fake/second-try"

# trouble NAME LEG-SNIPPET WORDS
trouble() {
	afresh
	echo "$2" >"$fake/legs/01-2"
	gate 6.12 7 --blocks 1
	expect "$1" 3 "$3"
	equal "$1-does-not-count" "A/01-1.log" "$(logs)"
}
trouble output-broken 'code=5' 'B 01-2: run-vng.sh ended with status 5'
trouble needs-missing 'code=69' 'B 01-2: run-vng.sh ended with status 69'
trouble no-log 'exit 1' 'B 01-2: the suite could not run: it said nothing'
trouble bail-out 'kept="Bail out! MM_CACHE_X: no such variable"' 'B 01-2: the suite could not run: .*Bail out! MM_CACHE_X'
trouble killed 'kill -KILL $$' 'B 01-2: run-vng.sh ended with status 137'

# ------------------------------------------------------------- interruptions

# Wait until no false guest of this project is there any more.
guests_gone() {
	local pid alive

	for _ in $(seq 100); do
		alive=''
		while read -r pid; do
			! grep -qs run-vng.sh "/proc/$pid/cmdline" || alive=$pid
		done < <(awk '$1 == "begin" { print $3 }' "$fake/calls")
		[ -n "$alive" ] || return 0
		sleep 0.1
	done
	return 1
}

# gate_begins ARGUMENT...: in the background, its process id in $gate_pid. A signal
# before the program is another would end a copy of this section, traps and all.
gate_begins() {
	# A shell starts its background jobs deaf to SIGINT; env does not.
	env --default-signal=INT "$fake/scripts/gate.sh" --dir "$dir" "$@" >"$out" 2>&1 </dev/null &
	gate_pid=$!
	while cmp -s "/proc/$gate_pid/comm" "/proc/$$/comm"; do
		sleep 0.01
	done
}

# interrupted NAME JOBS SIGNAL...: by one signal after the other, each a random
# number of events and a moment after the start, until all is complete. What was
# complete at a signal is the same at the end.
interrupted() {
	local name=$1 jobs=$2 signal complete='' wrong='' cut=0 until_event pause when want

	shift 2
	afresh
	echo 0.2 >"$fake/seconds"
	while :; do
		signal=$1
		shift
		set -- "$@" "$signal"
		until_event=$(($(wc -l <"$fake/calls") + RANDOM % 6))
		pause=0.$((RANDOM % 4))$((RANDOM % 10))
		when="event $until_event and $pause s"
		gate_begins --jobs "$jobs" 6.12 7
		while [ "$(wc -l <"$fake/calls")" -lt $until_event ] && kill -0 "$gate_pid" 2>/dev/null; do
			sleep 0.02
		done
		sleep $pause
		kill -s "$signal" "$gate_pid" 2>/dev/null
		code=0
		wait "$gate_pid" 2>/dev/null || code=$?
		guests_gone || wrong+=" a guest outlived $signal at $when;"
		[ ! -d "$dir/A" ] || [ -z "$complete" ] ||
			(cd "$dir" && md5sum --quiet -c <<<"$complete") >/dev/null 2>&1 ||
			wrong+=" a complete log changed or went after $signal at $when;"
		[ ! -d "$dir/A" ] || complete=$(sums)
		[ "$code" != 0 ] || break
		cut=$((cut + 1))
		case $signal in
		INT) want=130 ;;
		TERM) want=143 ;;
		HUP) want=129 ;;
		KILL) want=137 ;;
		esac
		[ "$code" = $want ] || wrong+=" exit $code after $signal at $when;"
		[ $cut -lt 60 ] || break
	done
	[ $cut -ge 2 ] || wrong+=" only $cut interruptions;"
	[ "$(logs | wc -w)" = 8 ] || wrong+=" $(logs | wc -w) logs;"
	[ "$(grep -rh '^# boot' "$dir/A" "$dir/B" | sort -u | wc -l)" = 8 ] || wrong+=" not 8 boots in the logs;"
	[ "$(grep -rl '^ok 1 selftests' "$dir/A" "$dir/B" | wc -l)" = 8 ] || wrong+=" a log is cut;"
	[ ! -e "$dir/.gate.tmp" ] || wrong+=" $dir/.gate.tmp is left;"
	if [ -n "$wrong" ]; then
		check_fail "$name" "$wrong" "$out"
	else
		check_ok "$name"
		echo "# $name: $cut interruptions, $(begun | wc -w) boots for 8 logs"
	fi
}
interrupted interrupted-by-signals 1 INT TERM HUP
interrupted killed-outright 1 KILL
interrupted interrupted-pairs 2 KILL INT

# Guests that would go on for long are ended with their gate, whatever ends it.
for signal in INT TERM HUP KILL; do
	afresh
	echo 60 >"$fake/seconds"
	gate_begins --jobs 2 6.12 7
	for _ in $(seq 200); do
		[ "$(begun | wc -w)" -lt 2 ] || break
		sleep 0.1
	done
	kill -s $signal "$gate_pid"
	wait "$gate_pid" 2>/dev/null
	if [ "$(begun | wc -w)" = 2 ] && guests_gone; then
		check_ok guests-end-by-$signal
	else
		check_fail guests-end-by-$signal "$(begun | wc -w) guests begun, and one is there" "$out"
	fi
done

# Killed before it had written anything but directories.
afresh
mkdir -p "$dir"/{A,B,guests}
touch "$dir/gate.lock"
gate 6.12 7 --blocks 1
expect killed-at-its-start 0 pass

# A second gate waits for the first.
afresh
echo 0.5 >"$fake/seconds"
gate_begins 6.12 7 --blocks 1
until [ -s "$fake/calls" ]; do
	sleep 0.05
done
out=$CHECK_TMP/second
gate 6.12 7 --blocks 1
expect second-gate-waits 0 'waiting for another gate'
wait "$gate_pid"
out=$CHECK_TMP/out
equal second-gate-boots-nothing 4 "$(begun | wc -w)"

# --------------------------------------------------------------- how many

# By what boots took: a block of A 100, B 50 twice each, and a second each for the rest.
measured() {
	afresh
	gate 6.12 7 --blocks 1
	printf 'A 99\nB 49\n' >"$dir/times"
}
measured
gate 6.12 7 --budget 19m
expect budget-picks-blocks 0 '^gate.sh: 4 blocks, 16 boots, 1 at a time; 4 complete'
expect budget-says-how-long 0 'it takes about 15 min, until .* (as earlier boots took)'
measured
refused budget-too-little '--budget 295s: one block of four boots takes about 5 min: give more time' 6.12 7 --budget 295s
measured
gate 6.12 7 --budget 330s
expect budget-just-enough 0 '^gate.sh: 2 blocks, 8 boots'
afresh
echo tcg >"$fake/accel"
guess=$(grep -m 1 '^pread_hot_set ' "$fake/scripts/gate.sh" | awk '{ print 4 * ($2 + 1) }')
guess=$((guess + 4 * $(sed -n 's/^boot_tcg=\([0-9]*\) .*/\1/p' "$fake/scripts/gate.sh")))
refused budget-by-a-guess 'by a guess' 6.12 7 --jobs 1 --budget $((guess - 1))s
gate 6.12 7 --jobs 1 --budget $((guess + 9))s --jobs 1
expect budget-of-one-guessed-block 0 '^gate.sh: 1 block, 4 boots'
measured
printf 'A 0\nB 0\n' >"$dir/times"
echo 2 >"$fake/seconds"
gate 6.12 7 --budget 20s
expect budget-begins-no-late-block 0 'within 20s there is time for [23] blocks'

for program in "$CHECK_TOP"/mm-cache/*.c; do
	program=$(basename "$program" .c)
	grep -q "^$program [0-9]* [0-9]*$" "$fake/scripts/gate.sh" || echo "$program"
done >"$out"
equal a-guess-for-each-program "" "$(xargs <"$out")"

afresh
gate 6.12 7 --blocks 1
echo 2 >"$fake/verdict"
echo 2 >"$fake/blocks-more"
gate 6.12 7 --more
expect more-as-asked 2 'asks for 2 blocks more$'
equal more-blocks 12 "$(logs | wc -w)"
echo 0 >"$fake/verdict"
echo 0 >"$fake/blocks-more"
gate 6.12 7 --more
expect more-of-what-is-decided 0 'asks for 0 blocks more'
equal more-of-what-is-decided-boots-nothing 12 "$(begun | wc -w)"
rm "$dir/B/03-2.log"
gate 6.12 7 --more
expect more-finishes-first 0 'first what was planned before: 3 blocks'
equal more-finishes-what-is-lost 12 "$(logs | wc -w)"

# ------------------------------------------------- with the real comparison

mv "$fake/mm-cache-compare" "$fake/false-compare"
cp "$TOOLS_DIR/mm-cache-compare" "$fake/mm-cache-compare"
afresh
gate 7 7 --blocks 1
expect real-pass 0 '^gate.sh: pass'
for file in report.txt report.md report.json junit.xml figure.svg figure.png; do
	[ -s "$dir/$file" ] || echo "$file"
done >"$CHECK_TMP/missing"
equal real-reports "" "$(xargs <"$CHECK_TMP/missing")"
afresh
echo 500 >"$fake/debian-7"
gate 6.12 7 --blocks 1
expect real-fail 1 '^gate.sh: fail'
afresh
for leg in 01-1:990 01-2:870 01-3:960 01-4:930; do
	echo "kept=${leg#*:}" >"$fake/legs/${leg%:*}"
done
gate 6.12 7 --blocks 1
expect real-undecided 2 '^gate.sh: undecided'
gate 6.12 7 --more --budget 1s
expect real-more 3 'the comparison asks for [1-9][0-9]* blocks* more'
afresh
echo 'code=70' >"$fake/legs/01-3"
gate 6.12 7 --blocks 1
expect real-guest-of-b-died 1 '^gate.sh: fail'
mv "$fake/false-compare" "$fake/mm-cache-compare"

# ------------------------------------------------------------------- places

afresh
mkdir "$CHECK_TMP/with blank"
cp "$fake/debian-7" "$CHECK_TMP/with blank/my kernel, old"
dir="$CHECK_TMP/with blank/its dir" gate "$CHECK_TMP/with blank/my kernel, old" 7 --blocks 1
expect paths-with-blanks 0 "all of it: $CHECK_TMP/with blank/its dir"
mkdir -p "$CHECK_TMP/a/linux/arch/x86/boot" "$CHECK_TMP/b/linux/arch/x86/boot"
echo a >"$CHECK_TMP/a/linux/arch/x86/boot/bzImage"
echo b >"$CHECK_TMP/b/linux/arch/x86/boot/bzImage"

touch "$CHECK_TMP/file"
dir=$CHECK_TMP/file/dir refused no-directory "$CHECK_TMP/file/dir: cannot be made" 6.12 7

# on_tmpfs COMMANDS: with a small file system of its own at $mnt, where "gate" runs
# gate.sh, with the real comparison.
mnt=$CHECK_TMP/mnt
cat >"$CHECK_TMP/on-tmpfs.sh" <<'END'
mkdir -p "$1" && mount -t tmpfs -o size=2m none "$1" || exit 44
fill()
{
	cat /dev/zero >"$mnt/full" 2>/dev/null
	true
}
make_room()
{
	rm "$mnt/full"
}
# Room for a gate to begin, and for no report.
fill_up()
{
	rm "$mnt"/dir/{report.*,junit.xml,figure.*} && fill && truncate -s -24K "$mnt/full"
}
read_only()
{
	mount -o remount,ro "$mnt"
}
gate()
{
	"$fake/scripts/gate.sh" --dir "$mnt/dir" 6.12 7 --blocks 1 </dev/null
}
mnt=$1 fake=$2
eval "$3"
END
on_tmpfs() {
	code=0
	timeout 60 unshare -m bash "$CHECK_TMP/on-tmpfs.sh" "$mnt" "$fake" "$1" >"$out" 2>&1 </dev/null || code=$?
}
cp "$TOOLS_DIR/mm-cache-compare" "$fake/mm-cache-compare"
afresh
cp "$fake/debian-7" "$fake/debian-6.12"
on_tmpfs true
if [ "$code" != 0 ]; then
	for name in read-only{,-later} full-disk{,-at-the-verdict,-forgotten}; do
		check_skip "$name" "no tmpfs can be mounted here"
	done
else
	on_tmpfs 'read_only && gate'
	expect read-only 3 "$mnt/dir: cannot be made"
	on_tmpfs 'gate && read_only && gate'
	expect read-only-later 3 "$mnt/dir: cannot be written to"
	on_tmpfs 'fill; gate'
	expect full-disk 3 "$mnt/dir: cannot be written to"
	on_tmpfs 'gate && fill_up && gate'
	expect full-disk-at-the-verdict 3 'No space left\|not drawn'
	on_tmpfs 'gate && fill && ! gate && make_room && gate'
	expect full-disk-forgotten 0 'pass'
fi

# ------------------------------------------------ settings inside the guest

# guest-run.sh here, in a namespace where one sysctl is not the machine's.
guest_run() {
	local job=$CHECK_TMP/job-$1

	mkdir "$job"
	printf 'token=1 mode=command command=(hostname)\n%s\n' "$2" >"$job/job"
	unshare -u bash "$CHECK_TOP/scripts/guest-run.sh" "$job" >"$job/out" 2>&1 </dev/null
	echo $? >"$job/code"
}
guest_said() {
	check_said "guest-$1" "$2" "$3" "$(cat "$CHECK_TMP/job-$1/code")" "$CHECK_TMP/job-$1/out"
}
if unshare -u true 2>/dev/null; then
	guest_run sysctl-set 'sysctls=(kernel.hostname=gate)' &
	guest_run sysctl-unknown 'sysctls=(vm.nothing=1)' &
	guest_run sysctl-other "sysctls=(kernel.hostname=$(printf 'x%.0s' $(seq 80)))" &
	guest_run option-lost 'kernel_options=(no_such_option)' &
	wait
	guest_said sysctl-set 0 '^gate$'
	guest_said sysctl-unknown 125 'sysctl vm.nothing: this kernel has none'
	guest_said sysctl-other 125 'sysctl kernel.hostname: is x* after x* was written'
	guest_said option-lost 125 'kernel option no_such_option: is not in /proc/cmdline'
else
	check_skip guest-settings "no namespace for a sysctl"
fi

check_done
