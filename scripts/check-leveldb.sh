#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# mm-cache-leveldb: what it refuses, what a small database gives where the answer is
# known, that a run which tells nothing says so, and that the machine is left as it
# was when it is interrupted. The requests and what is counted: unit tests, load_*.
. "$(dirname "$0")/check-lib.sh"
. "$(dirname "$0")/leftovers.sh"

leveldb=$TOOLS_DIR/mm-cache-leveldb
log=$CHECK_TMP/log
why=$CHECK_TMP/why

if [ ! -x "$leveldb" ]; then
	check_skip leveldb "mm-cache-leveldb is not built (Debian: libleveldb-dev)"
	check_done
fi
[ "$(id -u)" -ne 0 ] || run_begin "$@"

# verdict NAME: what the check NAME found wrong is in $why.
verdict()
{
	verdict_of "$why" "$log" "$1"
}

# --- without a lab

# refused STATUS WORDS ARGUMENT...
refused()
{
	refusal "$log" "$1" "$2" "$leveldb" "${@:3}"
}
{
	refused 64 "--layouts=2_3: '2_3' is none" --layouts=2_3
	refused 64 "'1_3' is none, or is there twice" --layouts=1_3,1_3
	refused 64 "--mem=16M: must be a size" --mem=16M
	refused 64 "--size=lots: must be a size" --size=lots
	refused 64 "--value=12: must be a multiple of 8" --value=12
	refused 64 "--table-size=512K: must be a size" --table-size=512K
	refused 64 "--zipf=-1: must be 0 to 10" --zipf=-1
	refused 64 "--zipf=nan: must be 0 to 10" --zipf=nan
	refused 64 "--gets-per-scan=0: must be 1 to" --gets-per-scan=0
	refused 64 "not of mixed" --gets-per-scan=free
	refused 64 "--access=mmap: must be auto, mapped or pread" --access=mmap
	refused 64 "give a larger --table-size" --access=mapped --size=1100M --table-size=1M
	refused 64 "--scan-length=10000, or more" --size=1M
	refused 64 "--reclaim=lru: must be classic or mglru" --reclaim=lru
	refused 64 "--reps=0: must be 1 to 99" --reps=0
	refused 64 "--warm-max=1: must be 2 to" --warm-max=1
	refused 64 "--make: needs --database" --make
	refused 64 "--frob" --frob
	refused 64 "x: not an option" x
	MM_CACHE_MEM=machine refused 64 "MM_CACHE_MEM=machine" --layouts=1_3
	MM_CACHE_FROB=1 refused 64 "MM_CACHE_FROB: no such variable" --layouts=1_3
	refused 0 "records 720896 value 1008 table 2097152" --print-shape
	MM_CACHE_MEM=32M refused 0 "records 360448 " --print-shape
} >"$why"
verdict refuses

# cut SIGNAL STATUS: a making that is interrupted.
cut()
{
	local status=0

	env --default-signal=INT "$leveldb" --make --database="$CHECK_TMP/cut" --size=1G --value=8 >"$log" 2>&1 &
	await "$log" 'making the database: 1[0-9][0-9] of' || echo "no progress is told"
	kill "-$1" $!
	wait $! 2>/dev/null || status=$?
	[ $status -eq "$2" ] || echo "$1: exit status $status, must be $2"
	for _ in {1..50}; do
		pgrep -f -- "--database=$CHECK_TMP/cut" >/dev/null || return
		sleep 0.1
	done
	echo "$1: the making goes on"
}

# A database that is kept, made by anybody: whole, or not there.
db=$CHECK_TMP/db
small=(--size=60M --mem=32M --quiet)
{
	setpriv --reuid 65534 --clear-groups "$leveldb" --print-shape >/dev/null 2>&1 ||
		echo "needs rights to print a shape"
	refused 0 "making the database: 60 of 60 MiB" --make --database="$db" --size=60M --mem=32M
	[ -s "$db/CURRENT" ] || echo "no database in $db"
	[ ! -e "$db.new" ] || echo "$db.new is left"
	refused 0 "" --make --database="$db" "${small[@]}"
	refused 1 "asked for were 65536, 1008" --make --database="$db" --size=64M --mem=32M
	mkdir "$CHECK_TMP/empty"
	refused 1 "is no database that this program has made" --make --database="$CHECK_TMP/empty" "${small[@]}"
	cut INT 1
	grep -q ': stopped$' "$log" || echo "an interrupted making does not say so"
	[ ! -e "$CHECK_TMP/cut" ] && [ ! -e "$CHECK_TMP/cut.new" ] || echo "an interrupted making leaves files"
	refused 0 "" --make --database="$CHECK_TMP/slash/" "${small[@]}"
	mkdir "$CHECK_TMP/killed.new"
	refused 1 "killed.new is of another making" --make --database="$CHECK_TMP/killed" "${small[@]}"
	# Without these, what it says must not go into a file of the database.
	"$leveldb" --make --database="$CHECK_TMP/closed" --size=60M --mem=32M <&- >&- 2>&- ||
		echo "without standard streams it exits with $?"
	! grep -rq "making the database" "$CHECK_TMP/closed" || echo "what it said is in the database"
	cut KILL 137
	refused 1 "cut.new is of another making" --make --database="$CHECK_TMP/cut" "${small[@]}"
} >"$why"
verdict makes

if [ "$(id -u)" -ne 0 ]; then
	check_skip measures "needs root"
	check_done
fi

# --- where the answer is known

# value NAME [LAYOUT]: the median of that metric in the log.
value()
{
	sed -n "s/^# metric leveldb\.classic_${2:-1_3} $1 .* median=\([-0-9]*\) .*/\1/p" "$log"
}

# measure ARGUMENT...: classic, of the kept database; on other memory and layouts by
# ARGUMENTs.
measure()
{
	run "$log" "$leveldb" "${small[@]}" --database="$db" --reclaim=classic --layouts=1_3 "$@"
}

measure --layouts=1_3,mixed,1_7 --measured=2
{
	[ "$RUN_STATUS" -eq 0 ] || echo "exit status $RUN_STATUS"
	ktap_plan "$log"
	for layout in 1_3 mixed 1_7; do
		grep -q "^ok [123] leveldb\.classic_$layout\.answers_all$" "$log" || echo "no ok of $layout"
		is "$layout: GETs that miss" "$(value get_miss $layout)" "v > 100 && v < 700"
		is "$layout: SCANs that miss" "$(value scan_miss $layout)" "v > 200 && v < 1500"
		is "$layout: what GETs read" "$(value get_read $layout)" "v > 4096"
		is "$layout: refaults" "$(value refaults $layout)" "v > 1000"
		is "$layout: GETs" "$(value get_throughput $layout)" "v > 0"
	done
	is "GETs to 1000 SCANs" "$(value gets_per_1000_scans)" "v > 90000 && v < 95000"
	is "GETs to 1000 SCANs, 1_7" "$(value gets_per_1000_scans 1_7)" "v > 230000 && v < 245000"
	is "GETs to 1000 SCANs, mixed" "$(value gets_per_1000_scans mixed)" "v > 150000 && v < 260000"
	is "mapped tables" "$(value tables_mapped)" "v == 1000"
	grep -q "^# access leveldb.classic_1_3: mapped, " "$log" || echo "the access is not told"
	if [ -e /proc/sys/kernel/task_delayacct ]; then
		is "waits of GETs" "$(value get_wait)" "v > 0"
		is "waits of SCANs" "$(value scan_wait)" "v > 0"
	fi
	leftovers
} >"$why" 2>&1
verdict measures
cp "$log" "$CHECK_TMP/a.log"
skewed=$(value get_miss)

measure --layouts=1_3,mixed,1_7 --measured=2 --seed=2
cp "$log" "$CHECK_TMP/b.log"
{
	"$TOOLS_DIR/ktap-table" <"$log" >"$CHECK_TMP/table" 2>&1 || echo "ktap-table exits with $?"
	grep -q "3 properties: 3 ok" "$CHECK_TMP/table" || echo "ktap-table has no 3 properties"
	if [ -x "$TOOLS_DIR/mm-cache-compare" ]; then
		"$TOOLS_DIR/mm-cache-compare" -v A="$CHECK_TMP/a.log" B="$CHECK_TMP/b.log" --across seed \
			>"$CHECK_TMP/table" 2>&1
		[ $? -le 2 ] || echo "mm-cache-compare: $(head -n 1 "$CHECK_TMP/table")"
		for figure in get_miss scan_miss throughput; do
			grep -q "^ *$figure, .*\(pass\|undecided\)" "$CHECK_TMP/table" ||
				[ "$(sed -n 's/^# env machine //p' "$log") $figure" = "tcg throughput" ] ||
				echo "$figure is not asserted"
		done
	fi
} >"$why" 2>&1
verdict compared

# The other access, in fact: no major faults but those of the filler's tables.
measure --access=pread --measured=2
{
	[ "$RUN_STATUS" -eq 0 ] || echo "exit status $RUN_STATUS"
	is "mapped tables" "$(value tables_mapped)" "v == 0"
	is "major faults of 1000 GETs" "$(value get_faults_per_1000)" "v < 20"
	is "GETs that miss" "$(value get_miss)" "v > 100 && v < 700"
	leftovers
} >"$why" 2>&1
verdict pread

# All keys alike miss as often as what does not fit.
measure --zipf=0 --measured=2
is "GETs that miss without skew" "$(value get_miss)" "v > ${skewed:-1000} + 50" >"$why"
verdict no-skew

# --- what tells nothing, or is wrong

run "$log" "$leveldb" --size=20M --mem=128M --reclaim=classic --layouts=1_3 --quiet
judge all-fits 4 "^ok 1 .* # SKIP inconclusive: nothing was read from the device$"

# spoiled COMMAND ARGUMENT...: measure another copy, in which COMMAND was done.
spoiled()
{
	rm -rf "$CHECK_TMP/spoiled"
	cp -r "$db" "$CHECK_TMP/spoiled"
	(cd "$CHECK_TMP/spoiled" && eval "$1")
	measure --database="$CHECK_TMP/spoiled" "${@:2}"
}

# Of the first value of each table the middle, which only GETs read; and the last word
# of others, which no GET asks for with such a skew.
spoiled "perl -0777 -pi -e 'substr(\$_, 500, 1) ^= qq(\\1)' *.ldb"
judge wrong-value 1 "^not ok 1 leveldb.classic_1_3.answers_all$" "^# why leveldb.classic_1_3: GET of record .* another value"
spoiled "perl -0777 -pi -e 's/\\d{16}.{1008}\\K./++\$n % 99 ? \$& : \$& ^ qq(\\1)/gse' *.ldb" --zipf=10
judge wrong-value-of-scan 1 "^not ok 1 " "^# why leveldb.classic_1_3: SCAN: record .* has another value"

# Of more records than it has: those that are popular are anywhere. The one SCAN is of a
# record that is there; then all popular ones are.
more="sed -i 's/^records [0-9]*/records 122880/' mm-cache"
spoiled "$more" --size=120M --scan-length=1 --gets-per-scan=1000000
judge absent-key 1 "^not ok 1 " "^# why leveldb.classic_1_3: GET of record .* nothing found"
spoiled "$more" --size=120M --zipf=10 --gets-per-scan=1
judge absent-key-of-scan 1 "^not ok 1 " "^# why leveldb.classic_1_3: SCAN: record .* is not there"

spoiled "find . -name '*.ldb' | head -n 1 | xargs rm"
judge lost-table 1 "^not ok 1 " "^# error .*LevelDB says: "

measure --access=pread --block-cache=1G
judge oom 1 "^not ok 1 " "^# why leveldb.classic_1_3: OOM: "

# As a disk that fails below a mapping does.
run_before
run_start "$log" "$leveldb" --size=60M --mem=32M --database="$db" --reclaim=classic --layouts=1_3 --measured=1000
await "$log" 'measured: window 2 of'
pkill -BUS -P "$RUN_PID" -x mm-cache-leveld
run_wait
judge bus-error 1 "^not ok 1 " "^# error a process died: Bus error$"

measure --database="$CHECK_TMP/empty"
judge no-database 1 "^Bail out! .*is no database that this program has made"

run "$log" setpriv --reuid 65534 --clear-groups "$leveldb" "${small[@]}"
judge not-root 4 "^1\.\.0 # SKIP need: root"

# --- interrupted

# stopped NAME WHEN SIGNAL ARGUMENT...: WHEN, words of its progress.
stopped()
{
	run_before
	run_start "$log" "$leveldb" --mem=32M --reclaim=classic --layouts=1_3 --measured=1000 "${@:4}"
	{
		await "$log" "$2" || echo "it does not say: $2"
	} >"$why"
	kill "-$3" "$RUN_PID"
	run_wait
	{
		if [ "$3" = KILL ]; then
			[ "$RUN_STATUS" -eq 137 ] || echo "exit status $RUN_STATUS, must be 137"
		else
			[ "$RUN_STATUS" -eq 1 ] || echo "exit status $RUN_STATUS, must be 1"
			grep -q "^Bail out! stopped$" "$log" || echo "does not say that it was stopped"
		fi
		for _ in {1..100}; do
			[ -n "$(run_processes)" ] || break
			sleep 0.1
		done
		[ -z "$(run_processes)" ] || echo "processes are left 10 s after the end"
		leftovers
	} >>"$why" 2>&1
	verdict "$1"
}
making=(--size=256M --value=8)
measuring=(--size=60M --database="$db")
for signal in INT TERM KILL; do
	stopped "making-$signal" 'making the database: 2[0-9] of' $signal "${making[@]}"
	stopped "measuring-$signal" 'measured: window 2 of' $signal "${measuring[@]}"
done

# In a directory, where nothing goes with a mount.
export MM_CACHE_DIR=$RUN_DIR/dir
mkdir "$MM_CACHE_DIR"
RUN_WATCH+=("$MM_CACHE_DIR")
stopped directory-KILL 'measured: window 2 of' KILL --size=60M
unset MM_CACHE_DIR

check_done
