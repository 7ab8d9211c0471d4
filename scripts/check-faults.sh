#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Break, one at a time, what the test programs rely on: each fault has its one
# right outcome, and leaves nothing behind. shim.so makes the faults. First each
# program runs without one, so that the fault is what changed the verdict.
. "$(dirname "$0")/check-lib.sh"
. "$(dirname "$0")/leftovers.sh"

shim=$CHECK_DIR/shim.so
log=$CHECK_TMP/log
why=$CHECK_TMP/why

# The quickest tests, that every kernel which works passes.
pread=pread_hot_set.classic_warm.outlives_one_scan
mmap=mmap_hot_set.classic_cool.outlives_one_scan
dontcache=dontcache_hot_set.classic.evicts_nothing
buffer=dontcache_small_buffer.no_memcg_128k.reads_each_byte_once
mglru=pread_hot_set.mglru_warm.outlives_one_scan
rare=pread_hot_set.classic_rare.outlives_one_scan
fadvise=fadvise_hot_set.classic_chunk_1m.evicts_nothing
direct=odirect_hot_set.classic.evicts_nothing
random=dontcache_random.classic.evicts_nothing
uring=uring_dontcache.classic_8.evicts_nothing
shared=dontcache_shared.cached_before.spares_mapped_pages
written=dontcache_write.classic.evicts_nothing
seq=seq_hot_set.classic_warm.outlives_random_reads
repeated=repeated_scan.classic_cool_3.takes_no_more
noreuse=noreuse_hot_set.classic.is_not_counted_as_use
store=get_scan.classic_1_7.keeps_what_get_repeats
mirror=get_scan_mirror.classic.keeps_what_scan_repeats

if [ "$(id -u)" -ne 0 ]; then
	check_skip faults "needs root"
	check_done
fi
if [ ! -e "$shim" ]; then
	check_fail faults "$shim is not built"
	check_done
fi
if ! readelf -l "$PROGRAMS_DIR/pread_hot_set" | grep -q INTERP; then
	check_skip faults "the programs are static: nothing can be preloaded"
	check_done
fi
run_begin "$@"

# outcome LOG: what the results of one run come to: "ok", "not ok",
# "inconclusive", "need", "mixed", or "need" for a program that did not begin.
outcome()
{
	awk '
		function note(kind) { all = all && all != kind ? "mixed" : kind }
		/^1\.\.0 # SKIP need: / || /^ok .* # SKIP need: / { note("need"); next }
		/^ok .* # SKIP inconclusive: / { note("inconclusive"); next }
		/^ok .* # / { note("unknown"); next }
		/^ok / { note("ok") }
		/^not ok / { note("not ok") }
		END { print all ? all : "nothing" }' "$1"
}

# The skip reasons of one run, one a line.
reasons()
{
	sed -n 's/^\(ok [0-9].*\|1\.\.0\) # SKIP //p' "$1" | sort -u
}

# program_of TEST: the file that it is in; a program may have several fixtures.
program_of()
{
	case $1 in
	get_scan*) echo get_scan ;;
	*) echo "${1%%.*}" ;;
	esac
}

# trial FAULTS TEST
trial()
{
	run "$log" MM_CACHE_REPS=3 "CACHE_SHIM=$1" LD_PRELOAD="$shim" \
		"$PROGRAMS_DIR/$(program_of "$2")" -r "$2"
}

# judge NAME OUTCOME REASON [LINE...]: what the last trial must have given:
# OUTCOME in each result, REASON (a pattern of grep -x) in each skip, and LINEs
# (patterns of grep) in the output.
judge()
{
	local name=$1 want=$2 reason=$3 status=0 line complaint
	shift 3

	case $want in
	"not ok") status=1 ;;
	need | inconclusive) status=4 ;;
	esac
	{
		[ "$(outcome "$log")" = "$want" ] ||
			echo "the outcome is $(outcome "$log"), must be $want"
		[ "$RUN_STATUS" = $status ] ||
			echo "exit status $RUN_STATUS, must be $status"
		[ -z "$reason" ] || reasons "$log" | grep -vx "$reason" |
			sed 's/$/: not the reason to be given/'
		for line in "$@"; do
			grep -q -- "$line" "$log" || echo "no line has: $line"
		done
		ktap_plan "$log"
		leftovers
	} >"$why" 2>&1
	complaint=$(head -n 1 "$why" 2>&1)
	if [ -n "$complaint" ]; then
		{
			grep -v '^# \(env\|metric\) ' "$log"
			cat "$why"
		} >"$why.all"
		check_fail "$name" "$complaint" "$why.all"
		return
	fi
	check_ok "$name"
}

# Without a fault: what a program says then, it must not say with one.
declare -A base
baseline()
{
	local name=baseline-${1%.*}

	trial "" "$1"
	base[$1]=$(outcome "$log")
	case ${base[$1]} in
	need) check_skip "$name" "$(reasons "$log")" ;;
	"not ok") judge "$name" "not ok" "" ;;
	*) judge "$name" ok "" ;;
	esac
}

# fault NAME FAULTS TEST OUTCOME REASON [LINE...]
fault()
{
	local name=$1-${3%%.*} faults=$2 test=$3 want=$4

	if [ "${base[$test]}" = need ]; then
		check_skip "$name" "$test does not run here without a fault either"
		return
	fi
	if [ "${base[$test]}" = "$want" ]; then
		check_skip "$name" "$test is $want here without a fault, too"
		return
	fi
	trial "$faults" "$test"
	shift 3
	judge "$name" "$@"
}

for test in "$pread" "$mmap" "$dontcache" "$buffer" "$fadvise" "$direct" "$random" "$uring" \
	"$shared" "$written" "$rare" "$seq" "$repeated" "$noreuse" "$store" "$mirror"; do
	baseline "$test"
done

scan_lost="inconclusive: .*a set that was read once"
shrank="inconclusive: .* shrank with no scan"

# (a) The flag is lost on its way to the kernel.
fault flag-stripped dontcache-stripped "$dontcache" "not ok" "" \
	"^# why dontcache_hot_set.classic: once kept is " \
	"^# why dontcache_hot_set.classic: hot scan_left is "
fault flag-stripped dontcache-stripped "$buffer" inconclusive "inconclusive: .*"

for test in "$random" "$uring"; do
	fault flag-stripped dontcache-stripped "$test" "not ok" "" "hot scan_left is "
done
fault flag-stripped direct-stripped "$direct" "not ok" "" "hot scan_left is "

# What the scan, or another one, takes from others.
mib=1048576
fault hot-lost hot-lost-after=$((100 * mib)) "$rare" "not ok" "" "hot kept is .*evicted what is re-read"
fault hot-lost hot-lost-after=$((95 * mib)) "$seq" "not ok" "" "hot kept is .*evicted what is re-read"
fault hot-lost hot-lost-after=$((280 * mib)) "$repeated" "not ok" "" "hot kept_change is -"
# A mapping of the scan file counts as reading it: at the start.
fault hot-lost hot-lost-after=1 "$noreuse" "not ok" "" "hot kept is .*evicted what is re-read"
fault mapped-pages-lost other-loses-pages "$shared" "not ok" "" "dontcache other_faults is "
fault advice-of-a-part-ignored fadvise-of-a-part-does-nothing "$fadvise" "not ok" "" \
	"hot scan_left is .*folios"

# (b) Nothing can be dropped from the cache before a repetition.
for test in "$pread" "$mmap" "$dontcache" "$buffer"; do
	fault fadvise-does-nothing fadvise-does-nothing "$test" inconclusive \
		"inconclusive: a file cannot be dropped from the cache"
done

# (c) The hot reader reads nothing.
for test in "$pread" "$mmap" "$dontcache"; do
	fault hot-reads-nothing hot-reads-nothing "$test" inconclusive "$shrank"
done

# (d) The scan reads nothing.
fault scan-reads-nothing scan-reads-nothing "$pread" inconclusive "$scan_lost"
fault scan-reads-nothing scan-reads-nothing "$mmap" inconclusive "$scan_lost"
fault scan-reads-nothing scan-reads-nothing "$dontcache" inconclusive "$scan_lost"
fault scan-reads-nothing scan-reads-nothing "$buffer" inconclusive \
	"inconclusive: reads without the flag did not reach the device"

# Of a store: SCANs that earn what they read a place, GETs that take it from what
# SCANs read, SCANs that read nothing, GETs that never ask for a key again.
fault scan-promotes scan-promotes "$store" "not ok" "" "beside get_of_lru is .*for GETs" \
	"beside get_of_alone is "
fault gets-evict-scanned gets-evict-scanned "$mirror" "not ok" "" "beside scan_of_lru is "
fault scan-skipped scan-skipped "$store" inconclusive "inconclusive: SCANs alone left nothing cached"
fault scan-skipped scan-skipped "$mirror" inconclusive "inconclusive: the scanned part shrank with no GETs"
for test in "$store" "$mirror"; do
	fault get-never-repeats get-never-repeats "$test" inconclusive \
		"inconclusive: GETs \(alone \)\?found nothing cached"
done

# (e) No meter that tells the truth; then one of two.
eperm=1
enosys=38
for test in "$pread" "$buffer"; do
	fault no-meter cachestat-fails=$eperm,all-resident "$test" need \
		"need: a way to see what is cached" "cachestat(): Operation not permitted; mincore(): lies"
done
for test in "$pread" "$mmap" "$dontcache"; do
	trial cachestat-fails=$enosys "$test"
	judge "mincore-instead-${test%%.*}" "${base[$test]}" "" "^# env meter mincore$"
done

# (f) The file system has no RWF_DONTCACHE.
for test in "$dontcache" "$buffer"; do
	fault flag-unsupported dontcache-unsupported "$test" need \
		"need: RWF_DONTCACHE on ext4" "Operation not supported"
done

# Nor RWF_NOWAIT: how many hot reads missed is not known, and that is not 0.
no_nowait()
{
	local line="^# metric ${pread%.*} hot_missed "

	trial '' "$pread"
	grep -q "$line" "$log" || echo "without a fault there is no line: $line"
	trial nowait-unsupported "$pread"
	! grep "$line" "$log" || echo "what was not counted has a figure"
}
no_nowait >"$why.nowait" 2>&1
judge no-nowait "${base[$pread]}" "" "^# metric ${pread%.*} hot_kept "
verdict_of "$why.nowait" "$log" no-nowait-missed

# (g) The disk is full: by the shim, and really.
fault disk-full disk-full "$pread" need "need: free space for the loop image" \
	"^# need free space for the loop image: [0-9]* MiB in $RUN_DIR/images: No space left"

fault quota image-quota "$pread" need "need: free space for the loop image" "Disk quota exceeded; set TMPDIR"
fault quota-of-the-files file-quota=1048576 "$dontcache" need "need: room for the test files" \
	"^# need room for the test files: write .*/scan at 1048576: Disk quota exceeded; they take [0-9]* MiB: .*raise the quota"

# (h) No memory cgroup may be made.
for test in "$pread" "$mmap" "$dontcache"; do
	fault cgroup-denied cgroup-denied "$test" need \
		"need: permission to make memory cgroups" "Permission denied"
done

# What else a machine may lack.
fault no-io-accounting no-io-accounting "$buffer" need "need: .*CONFIG_TASK_IO_ACCOUNTING.*"
fault no-loop-control no-loop-control "$pread" need "need: a loop device" "CONFIG_BLK_DEV_LOOP"
fault no-mkfs no-mkfs "$pread" need "need: mkfs.ext4" "e2fsprogs"
fault all-at-once no-mkfs,no-loop-control,disk-full,cgroup-denied "$pread" need \
	"need: mkfs.ext4, a loop device, free space for the loop image, permission to make memory cgroups"

# Switching MGLRU, on files that stand for the kernel's.
mkdir "$CHECK_TMP/lru_gen"
fake()
{
	rm -f "$CHECK_TMP"/lru_gen/*
	[ $# -eq 0 ] || echo "$1" >"$CHECK_TMP/lru_gen/enabled"
	[ $# -eq 0 ] || echo "$2" >"$CHECK_TMP/lru_gen/min_ttl_ms"
}
fake_is()
{
	[ "$(cat "$CHECK_TMP"/lru_gen/{enabled,min_ttl_ms} | paste -sd ' ')" = "$1" ]
}
base[$mglru]=${base[$pread]}
fake
fault no-lru-gen "lru-gen=$CHECK_TMP/lru_gen" "$mglru" need "need: CONFIG_LRU_GEN"
fake 0 1000
fault lru-gen-read-only "lru-gen=$CHECK_TMP/lru_gen,lru-gen-read-only" "$mglru" need \
	"need: a writable lru_gen/enabled" "Read-only file system"
fault lru-gen-stuck "lru-gen=$CHECK_TMP/lru_gen,lru-gen-stuck" "$mglru" need \
	"need: a working lru_gen/enabled" "still says classic after switching to mglru"
if [ "${base[$mglru]}" = need ]; then
	check_skip lru-gen-restored "$mglru does not run here"
else
	trial "lru-gen=$CHECK_TMP/lru_gen" "$mglru"
	if ! grep -q "^# metric pread_hot_set.mglru_warm hot_kept" "$log"; then
		check_fail lru-gen-restored "the test did not run" "$log"
	elif ! fake_is "0 1000"; then
		check_fail lru-gen-restored "it was 0 1000, is $(cat "$CHECK_TMP"/lru_gen/*)" "$log"
	else
		check_ok lru-gen-restored
	fi
fi

# What goes wrong in the middle.
for test in "$pread" "$mmap"; do
	fault oom hot-hoards "$test" "not ok" "" \
		"^# why .*: OOM: the memcg killed the workload at a limit of 65536 KiB; memory\..* oom_kill [1-9]"
done
fault scan-eio scan-eio=1048576 "$pread" "not ok" "" \
	"^# error read .*/scan by pread at 1048576: Input/output error"
fault scan-eio scan-eio=33554432 "$dontcache" "not ok" "" \
	"^# error read .*/scan by dontcache at 33554432: Input/output error"
# Not ok on kernels that leave what was written in the cache; this is another why.
if [ "${base[$written]}" = need ]; then
	check_skip written-corrupted "$written does not run here without a fault either"
else
	trial write-corrupts=1048577 "$written"
	judge written-corrupted "not ok" "" "hot bad_words is 1 words"
fi
fault data-corrupted dontcache-corrupts=33554433 "$dontcache" "not ok" "" \
	"hot bad_words is 1 words"

check_done
