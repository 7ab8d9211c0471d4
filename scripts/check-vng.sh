#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The suite in guests: run-vng.sh tells a dead guest from a verdict in every way
# that a guest can die, ends when it is told to and leaves nothing; pins.sh sees
# every difference; and the suite gives the pinned verdicts on the stock kernels.
#
# QUICK=1 leaves out the real guests, and with them nine tenths of the time.
# shellcheck disable=SC2317 # most functions here are called by their name
. "$(dirname "$0")/check-lib.sh"

run_vng=$CHECK_TOP/scripts/run-vng.sh
pins=$CHECK_TOP/scripts/pins.sh
vng_dir=$CHECK_TOP/build/vng
out=$CHECK_TMP/out
new_kernel=7
old_kernel=6.12

# Runs run-vng.sh, its output to $out, its exit status to $code.
guest() {
	code=0
	timeout -k 20 "${LIMIT:-1000}" "$run_vng" --log "$CHECK_TMP/log" "$@" \
		>"$out" 2>&1 </dev/null || code=$?
}

# expect NAME CODE WORDS: of the guest before.
expect() {
	check_said "$1" "$2" "$3" "$code" "$out"
}

# --------------------------------------------- run-vng.sh with a false guest

# A stand-in for virtme-ng: it says what a guest would say, in every bad way.
mkdir -p "$CHECK_TMP/bin"
cat >"$CHECK_TMP/bin/vng" <<'END'
#!/bin/bash
# --exec "exec bash .../guest-run.sh JOB_DIRECTORY"
while [ $# -gt 0 ] && [ "$1" != --exec ]; do shift; done
job=${2##* }
. "$job/job"
echo "a line of the console" >&2
begin() { echo "mm-cache-guest-begin $token"; }
end() { echo "mm-cache-guest-end $token $1"; }
echo $$ >>"$FALSE_GUEST_PIDS"
case $FALSE_GUEST in
lives) begin; echo said; end 7; exit 7 ;;
glued) begin; printf said; end 0; exit 0 ;;
silent) begin; end 0; exit 0 ;;
no-end) begin; echo said; exit 0 ;;
other-end) begin; echo "mm-cache-guest-end 1-2 0"; exit 0 ;;
differs) begin; end 0; exit 3 ;;
255) begin; echo said; exit 255 ;;
panics) begin; echo 'Kernel panic - not syncing: sysrq triggered crash' >&2; exit 255 ;;
hangs) begin; sleep 1000; end 0; exit 0 ;;
ends-and-hangs) begin; end 0; sleep 1000; exit 0 ;;
never-up) sleep 1000; exit 0 ;;
deaf) trap '' TERM; begin; while :; do sleep 1; done ;;
second-boot)
	[ "$(wc -l <"$FALSE_GUEST_PIDS")" -gt 1 ] || exit 255
	begin; end 0; exit 0
	;;
suite-litter) begin; cat "$FALSE_GUEST_LOG"; end 3; exit 3 ;;
suite-no-start) begin; cat "$FALSE_GUEST_LOG"; end 125; exit 125 ;;
suite-*) begin; cat "$FALSE_GUEST_LOG"; end 0; exit 0 ;;
esac
END
chmod +x "$CHECK_TMP/bin/vng"
export FALSE_GUEST_PIDS=$CHECK_TMP/pids FALSE_GUEST_LOG=$CHECK_TMP/suite.ktap
touch "$CHECK_TMP/image"

false_guest() {
	FALSE_GUEST=$1
	export FALSE_GUEST
	shift
	: >"$FALSE_GUEST_PIDS"
	LIMIT=40 PATH=$CHECK_TMP/bin:$PATH guest --kernel "$CHECK_TMP/image" --accel tcg "$@"
}

# NAME GUEST CODE WORDS [OPTIONS]
false_case() {
	local name=$1 kind=$2 expected=$3 words=$4

	shift 4
	false_guest "$kind" "$@" -- true
	expect "false-guest-$name" "$expected" "$words"
}

if ! "$run_vng" --help >"$out" 2>&1; then
	check_fail help "--help fails" "$out"
fi
missing=$("$run_vng" --packages | xargs)
if [ -n "$missing" ]; then
	check_fail packages "missing here: $missing"
	check_done
fi

false_case lives lives 7 '^said$'
false_case no-newline glued 0 '^said$'
false_case says-nothing silent 0 'booting'
false_case no-last-line no-end 70 'guest died: its last line never came'
false_case other-last-line other-end 70 'guest died: its last line never came'
false_case two-exit-codes differs 70 'guest died: .* said exit 0, virtme-ng said 3'
false_case exit-255 255 70 'guest died: it went down'
false_case panic panics 70 'guest died: .*not syncing: sysrq triggered crash'
false_case hang hangs 70 'guest died: not finished within 2 s' --timeout 2
false_case hang-at-end ends-and-hangs 70 'guest died: not finished within 2 s' --timeout 2
false_case never-up never-up 70 'guest died: not up within 2 s' --boot-timeout 2
false_case one-try second-boot 70 'guest died: it never came up'
false_case second-try second-boot 0 'booting it again' --boot-tries 2
# A log that cannot be written to: the disk is full.
ln -s /dev/full "$CHECK_TMP/full"
false_case full-disk lives 69 'cannot write all of the log' --log "$CHECK_TMP/full"
rm -f /dev/full.console
false_case console-shown no-end 70 'a line of the console'

# ended NAME SIGNAL KIND CODE: a run that gets the signal ends at once, and
# neither its files nor its guest outlive it.
ended() {
	local name=$1 signal=$2 kind=$3 expected=$4 pid code=0 begin guest_pid left

	: >"$FALSE_GUEST_PIDS"
	# A shell starts its background jobs deaf to SIGINT; env does not.
	FALSE_GUEST=$kind PATH=$CHECK_TMP/bin:$PATH env --default-signal=INT \
		"$run_vng" --kernel "$CHECK_TMP/image" --accel tcg --log "$CHECK_TMP/log" \
		-- true >"$out" 2>&1 </dev/null &
	pid=$!
	for _ in $(seq 100); do
		[ ! -s "$FALSE_GUEST_PIDS" ] || break
		sleep 0.1
	done
	guest_pid=$(cat "$FALSE_GUEST_PIDS")
	begin=$SECONDS
	kill -s "$signal" "$pid"
	for _ in $(seq 250); do
		kill -0 "$pid" 2>/dev/null || break
		sleep 0.1
	done
	kill -KILL "$pid" 2>/dev/null
	wait "$pid" 2>/dev/null || code=$?
	left=$(grep -ls "^token=[^ ]*$pid-" "$vng_dir"/run.*/job)
	if [ "$code" != "$expected" ]; then
		check_fail "$name" "exit $code, not $expected" "$out"
	elif [ $((SECONDS - begin)) -gt 20 ]; then
		check_fail "$name" "took $((SECONDS - begin)) s to end"
	elif [ -d "/proc/$guest_pid" ] && ! grep -q '^State:.*Z' "/proc/$guest_pid/status"; then
		check_fail "$name" "the guest's process $guest_pid is still there"
	elif [ -n "$left" ]; then
		check_fail "$name" "files are left: $left"
	else
		check_ok "$name"
	fi
}

ended ended-by-TERM TERM hangs 143
ended ended-by-INT INT hangs 130
ended ended-by-HUP HUP hangs 129
ended ended-before-it-is-up TERM never-up 143
ended deaf-guest-ended TERM deaf 143

# The verdict of a suite run is ktap-table's.
verdict_case() {
	local name=$1 expected=$2 words=$3

	cat >"$FALSE_GUEST_LOG"
	false_guest "suite-$name" --install "$CHECK_TMP/install"
	expect "verdict-$name" "$expected" "$words"
}
mkdir -p "$CHECK_TMP/install"
printf '#!/bin/sh\n' >"$CHECK_TMP/install/run_kselftest.sh"
chmod +x "$CHECK_TMP/install/run_kselftest.sh"
echo mm-cache:pread_hot_set >"$CHECK_TMP/install/kselftest-list.txt"
cat >"$CHECK_TMP/good.ktap" <<'END'
TAP version 13
1..1
# timeout set to 600
# selftests: mm-cache: pread_hot_set
# TAP version 13
# 1..1
# ok 1 pread_hot_set.classic_warm.outlives_one_scan
# # Totals: pass:1 fail:0 xfail:0 xpass:0 skip:0 error:0
ok 1 selftests: mm-cache: pread_hot_set
END
verdict_case ok 0 '1 ok' <"$CHECK_TMP/good.ktap"
verdict_case litter 1 'left the guest otherwise' <"$CHECK_TMP/good.ktap"
verdict_case no-start 5 'could not be started in the guest (exit 125)' <"$CHECK_TMP/good.ktap"
verdict_case not-ok 1 'not ok' <<'END'
TAP version 13
1..1
# timeout set to 600
# selftests: mm-cache: pread_hot_set
# TAP version 13
# 1..1
# not ok 1 pread_hot_set.classic_warm.outlives_one_scan
# # Totals: pass:0 fail:1 xfail:0 xpass:0 skip:0 error:0
not ok 1 selftests: mm-cache: pread_hot_set # exit=1
END
verdict_case nothing 5 '' </dev/null

# Wrong usage says what is wrong, before anything is started.
usage_case() {
	local name=$1 expected=$2 words=$3

	shift 3
	guest "$@"
	expect "usage-$name" "$expected" "$words"
}
usage_case no-kernel 64 'which kernel'
usage_case two-kernels 64 'exclude each other' --debian 7 --kernel x
usage_case unknown-option 64 "'--frob'" --frob
usage_case no-value 64 '--memory needs a value' --memory
usage_case little-memory 64 '256M is too little: 512M' --debian 7 --memory 256M
usage_case memory-no-size 64 'lots is no size' --debian 7 --memory lots
usage_case cpus 64 '--cpus 0' --debian 7 --cpus 0
usage_case reclaim 64 'classic and mglru' --debian 7 --reclaim lru
usage_case fs 64 'ext4, xfs and btrfs' --debian 7 --fs tmpfs
usage_case accel 64 'auto, kvm and tcg' --debian 7 --accel hvf
usage_case set 64 'NAME=VALUE' --debian 7 --set MM_CACHE_REPS
usage_case sysctl 64 'one such as vm.swappiness=10' --debian 7 --sysctl swappiness=1
usage_case workload 64 'there is leveldb' --debian 7 --workload rocksdb
usage_case workload-and-command 64 'not both' --debian 7 --workload leveldb -- true
usage_case workload-and-programs 64 'has no --programs' --debian 7 --workload leveldb --programs get_scan
usage_case no-command 64 'no command' --debian 7 --
usage_case version 64 'a version such as' --debian trixie
usage_case no-image 69 'no such file' --kernel "$CHECK_TMP/nothing"
usage_case empty-tree 69 'no kernel is built' --kernel "$CHECK_TMP"
usage_case no-install 69 'no installed suite' --kernel "$CHECK_TMP/image" --install "$CHECK_TMP"
usage_case program 64 'no program nothing; there are: pread_hot_set' \
	--kernel "$CHECK_TMP/image" --install "$CHECK_TMP/install" --programs nothing

# ------------------------------------------------------------------- pins.sh

pinned=$CHECK_TMP/pinned.txt
pinned_log=$CHECK_TMP/pinned.ktap
cat >"$pinned_log" <<'END'
# selftests: mm-cache: a
# # env kernel Linux 6.12.3+deb x86_64
# # metric a.classic hot_kept permille n=3 median=990 min=980 max=1000 bound>=950
# ok 1 a.classic.holds
# # metric a.mglru hot_kept permille n=3 median=17 min=16 max=17 bound>=950
# not ok 2 a.mglru.holds
# ok 3 a.rare.holds # SKIP inconclusive: the scan spared a set that was read once
not ok 1 selftests: mm-cache: a # exit=1
# selftests: mm-cache: b
# 1..0 # SKIP need: RWF_DONTCACHE
ok 2 selftests: mm-cache: b # SKIP
END
cat >"$pinned" <<'END'
kernel 6.12.
ok a.classic.holds
	hot_kept 950 1000
not-ok a.mglru.holds
	hot_kept 10 20
inconclusive|ok a.rare.holds
skip b
	because RWF_DONTCACHE
END

# pins_case NAME CODE WORDS SED-OF-PINS [SED-OF-LOG]
pins_case() {
	code=0
	sed -e "$4" "$pinned" >"$CHECK_TMP/pins"
	sed -e "${5-}" "$pinned_log" >"$CHECK_TMP/ktap"
	"$pins" "$CHECK_TMP/ktap" "$CHECK_TMP/pins" >"$out" 2>&1 || code=$?
	expect "pins-$1" "$2" "$3"
}
pins_case equal 0 '4 results and 2 figures as pinned' ''
pins_case verdict 1 'a.classic.holds: not-ok, pinned ok' '' 's/ok 1 a/not ok 1 a/'
pins_case inconclusive 1 'a.classic.holds: inconclusive' '' 's/\(ok 1 a.*\)/\1 # SKIP inconclusive: x/'
pins_case lower 1 'hot_kept 949, pinned 950..1000' '' s/median=990/median=949/
pins_case higher 1 'hot_kept 21, pinned 10..20' '' s/median=17/median=21/
pins_case no-metric 1 'no metric hot_kept' '' '/median=990/d'
pins_case no-result 1 'a.mglru.holds: not in' '' '/a.mglru.holds/d'
pins_case new-result 1 'a.rare.holds: .*no line in' '/a.rare/d'
pins_case reason 1 'does not name RWF_DONTCACHE' '' s/RWF_DONTCACHE/memory/
pins_case timeout 1 ': timeout' '' 's/exit=1/TIMEOUT 600 seconds/'
pins_case kernel 4 'the kernel is 6.12.3+deb' 's/kernel 6.12./kernel 7./'
pins_case bad-line 5 'not understood' 's/hot_kept 10 20/hot_kept 10/'
pins_case twice 5 'is pinned before' 's/a.mglru/a.classic/'
pins_case empty-log 5 'no result in' '' d
pins_case empty-pins 5 'pins nothing' d

code=0
"$pins" --ranges "$pinned_log" <(sed 's/median=990/median=960/; s/not ok 2/ok 2/' "$pinned_log") \
	>"$out" 2>&1 || code=$?
expect ranges-figure "0" 'hot_kept  *median 960..990, all 980..1000'
expect ranges-verdicts "0" '^a.mglru.holds: not-ok 1, ok 1$'
"$pins" --propose "$pinned_log" >"$CHECK_TMP/pins" 2>"$out"
code=0
"$pins" "$pinned_log" "$CHECK_TMP/pins" >"$out" 2>&1 || code=$?
expect proposed-pins-hold 0 'as pinned'

# ------------------------------------------- the configuration, completely

# Whatever option a need can name is in the fragment.
code=0
(cd "$CHECK_TOP" && grep -ohE 'CONFIG_[A-Z0-9_]+' common/*.[ch] mm-cache/*.[ch] 2>/dev/null |
	sort -u | while read -r option; do
	grep -qx "$option=[ym]" config || echo "$option"
done) >"$out"
if [ -s "$out" ]; then
	check_fail config-names-all-needs "not in config: $(xargs <"$out")"
else
	check_ok config-names-all-needs
fi

# --------------------------------------------------------------- real guests

if [ "$(uname -m)" != x86_64 ]; then
	check_skip real-guests "run-vng.sh is for x86_64"
	check_done
fi
if [ "${QUICK:-0}" = 1 ]; then
	check_skip real-guests "QUICK=1"
	check_done
fi

check_run install make -s -C "$CHECK_TOP" install tools INSTALL_PATH="$BUILD_DIR/install" ||
	check_done

# suite_boot KERNEL MEMORY: the suite there, judged further below. Emulated, also
# where KVM works: the pins are for that.
suite_boot() {
	local dir=$CHECK_TMP/suite-$1 begin=$SECONDS status=0

	mkdir "$dir"
	"$run_vng" --debian "$1" --memory "$2" --accel tcg --boot-tries 2 --timeout 1500 \
		--install "$BUILD_DIR/install" --log "$dir/log" >"$dir/out" 2>&1 </dev/null || status=$?
	echo "$status $((SECONDS - begin))" >"$dir/end"
}

# A guest of the suite keeps one CPU busy: both, and beside them the small ones.
suites=()
suite_boot $new_kernel 1G &
suites+=($!)
suite_boot $old_kernel 512M &
suites+=($!)
trap 'kill "${suites[@]}" 2>/dev/null; wait; _check_exit' EXIT

begin=$SECONDS
head -c 200000 /dev/zero >"$CHECK_TMP/garbage"
guest --kernel "$CHECK_TMP/garbage" --boot-timeout 12 -- true
expect garbage-image 70 "guest died: "

# In the background of a terminal, where touching it would stop the run for ever.
background_on_terminal() {
	timeout 150 script -qec "bash -ic 'stty tostop; \"$run_vng\" --debian $new_kernel \
		--log $CHECK_TMP/log -- sh -c \"echo alive; exit 9\" >$out 2>&1 </dev/null & wait \$!'" \
		/dev/null >/dev/null 2>&1 </dev/null
}
code=0
background_on_terminal || code=$?
expect background-run-finishes 9 '^alive'

# The same kernel, made to spin before it says a word.
image=$(echo "$vng_dir"/kernels/*/"$new_kernel".*/lib/modules/*/vmlinuz)
if [ -f "$image" ]; then
	# The entry of the real-mode code is a short jump at 0x200; spin at its target.
	at=$((0x202 + $(od -An -tu1 -j $((0x201)) -N1 "$image")))
	cp "$image" "$CHECK_TMP/spinning"
	printf '\353\376' | dd of="$CHECK_TMP/spinning" bs=1 seek=$at conv=notrunc status=none
	guest --kernel "$CHECK_TMP/spinning" --boot-timeout 12 -- true
	expect spinning-image 70 'guest died: not up within 12 s'
else
	check_fail spinning-image "no $new_kernel kernel below $vng_dir/kernels"
fi

guest --debian $new_kernel -- sh -c 'echo c >/proc/sysrq-trigger; sleep 60'
expect panic 70 'guest died: .*not syncing: sysrq triggered crash'

# The unit tests where MGLRU and cgroup v2 are, and a bitmask that is not "y".
cat >"$CHECK_TMP/in-guest.sh" <<'END'
# They work with files that can leave the cache, and with cgroups: this is a guest
# of their own, so give them both, and take both back.
mkfs.ext4 -q "$MM_CACHE_DEV" && mkdir /run/disk && mount "$MM_CACHE_DEV" /run/disk
echo +memory >/sys/fs/cgroup/cgroup.subtree_control
TMPDIR=/run/disk "$CHECK_DIR/unit"
echo "unit exit $?"
echo -memory >/sys/fs/cgroup/cgroup.subtree_control
umount /run/disk
wipefs -qa "$MM_CACHE_DEV"
enabled=/sys/kernel/mm/lru_gen/enabled
echo 5 >$enabled
echo "lru_gen before $(cat $enabled)"
MM_CACHE_REPS=1 "$PROGRAMS_DIR/pread_hot_set" -r pread_hot_set.classic_warm.outlives_one_scan
echo "lru_gen after $(cat $enabled)"
poweroff -f
sleep 60
END
guest --debian $old_kernel --set "CHECK_DIR=$CHECK_DIR" --set "PROGRAMS_DIR=$PROGRAMS_DIR" \
	-- bash "$CHECK_TMP/in-guest.sh"
expect power-off 70 'guest died: it went down before its last line'
expect unit-tests-in-guest 70 '^unit exit 0$'
grep -E '^ok .* # SKIP' "$out" | sed 's/^ok [0-9]* /# skipped in the guest: /'
expect classic-beside-a-bitmask 70 '^ok 1 pread_hot_set.classic_warm.outlives_one_scan$'
if grep -q '^lru_gen before 0x0005$' "$out" && grep -q '^lru_gen after 0x0005$' "$out"; then
	check_ok bitmask-restored
else
	check_fail bitmask-restored "not 0x0005 before and after: $(grep '^lru_gen' "$out" | xargs)" "$out"
fi
# Every option that says what runs, at once; 7.x loses the rare set under MGLRU.
guest --debian $new_kernel --install "$BUILD_DIR/install" --memory 2G --cpus 1 --programs pread_hot_set --reclaim mglru \
	--reps 2 --fs xfs --set MM_CACHE_MEM=96M
expect options-in-guest 1 '8 properties: 2 ok, 2 not ok, 0 inconclusive, 4 skip'
for line in '# env fs xfs$' '# env cpus 1$' '# env memcg v2, limit 96 MiB$' \
	'mglru_warm hot_kept permille n=2 ' 'classic_warm.* # SKIP need: another MM_CACHE_RECLAIM$'; do
	grep -q -- "$line" "$CHECK_TMP/log" || echo "no line has: $line"
done >"$CHECK_TMP/missing"
if [ -s "$CHECK_TMP/missing" ]; then
	check_fail options-reach-the-guest "$(head -n 1 "$CHECK_TMP/missing")" "$CHECK_TMP/log"
else
	check_ok options-reach-the-guest
fi

guest --debian $new_kernel --install "$BUILD_DIR/install" --programs odirect_hot_set --reps 1 \
	--sysctl vm.swappiness=11 --append transparent_hugepage=never
expect settings-in-guest 0 'guest-run.sh: sysctl vm.swappiness is 11$'
if grep -q '# env thp always madvise \[never\]$' "$CHECK_TMP/log"; then
	check_ok kernel-option-in-guest
else
	check_fail kernel-option-in-guest "the kernel did not heed it" "$CHECK_TMP/log"
fi
# A database that is made here, and read there.
if [ -x "$TOOLS_DIR/mm-cache-leveldb" ]; then
	guest --debian $new_kernel --reclaim mglru --set MM_CACHE_READ_AHEAD_KB=64 \
		--workload "leveldb --size=60M --mem=32M --layouts=1_3 --measured=1"
	expect workload-in-guest 0 '1 property: 1 ok'
	for line in '# env memcg v2, limit 32 MiB$' '# env read_ahead_kb 64, as found$' '# env delay_accounting on$' \
		'mglru_1_3 get_wait us n=1 median=[1-9]' 'mglru_1_3: mapped, \([0-9]*\) of \1 tables'; do
		grep -q -- "$line" "$CHECK_TMP/log" || echo "no line has: $line"
	done >"$CHECK_TMP/missing"
	if [ -s "$CHECK_TMP/missing" ]; then
		check_fail workload-as-asked "$(head -n 1 "$CHECK_TMP/missing")" "$CHECK_TMP/log"
	else
		check_ok workload-as-asked
	fi
else
	check_skip workload-in-guest "mm-cache-leveldb is not built (Debian: libleveldb-dev)"
fi

guest --debian $new_kernel --append transparent_hugepages=never -- true
expect unknown-kernel-option 125 'kernel option transparent_hugepages=never: this kernel does not know it'

# What a machine may lack: the lines of the script are checks of this section.
guest --debian $new_kernel --timeout 800 --set BUILD_DIR=/run/build --set "STAGE_DIR=$STAGE_DIR" \
	-- bash "$CHECK_TOP/scripts/guest-needs.sh"
while read -r line; do
	name=needs-${line#* - }
	why=${name#*: }
	name=${name%%: *}
	case $line in
	"ok - "*) check_ok "$name" ;;
	"skip - "*) check_skip "$name" "$why" ;;
	*) check_fail "$name" "$why" "$out" ;;
	esac
done < <(grep -E '^(ok|not ok|skip) - ' "$out")
case $(grep '^done - ' "$out"),$code in
"done - "*,[01]) check_ok needs-to-the-end ;;
*) check_fail needs-to-the-end "exit $code" "$out" ;;
esac

guest --debian $new_kernel --timeout 40 -- sh -c 'echo up; sleep 1000'
expect hang 70 'guest died: not finished within 40 s'
echo "# guests in trouble: $((SECONDS - begin)) s"

# ------------------------------------------------------ the suite, as pinned

# suite_judge KERNEL: what its boot gave.
suite_judge() {
	local dir=$CHECK_TMP/suite-$1 seconds

	read -r code seconds <"$dir/end"
	cp "$dir/log" "$CHECK_DIR/log/vng-$1.ktap" 2>/dev/null
	echo "# the suite on Debian's $1: $seconds s, exit $code"
	case $code in
	[0-2]) check_ok "suite-$1-runs" ;;
	*) check_fail "suite-$1-runs" "exit $code" "$dir/out" ;;
	esac
	"$pins" "$dir/log" "$CHECK_TOP/scripts/pins/debian-$1.txt" >"$out" 2>&1
	code=$?
	if [ $code = 4 ]; then
		# The suite of Debian has a newer kernel than the pins know.
		check_skip "suite-$1-as-pinned" "$(tail -n 1 "$out"): see scripts/pin-ranges.sh"
	else
		expect "suite-$1-as-pinned" 0 'as pinned'
	fi
	if grep -E 'Out of memory: Killed|Kernel panic|BUG: |Bad page state' \
		"$dir/log.console" >"$out"; then
		check_fail "suite-$1-kernel-healthy" "the kernel complained" "$out"
	else
		check_ok "suite-$1-kernel-healthy"
	fi
}

wait "${suites[@]}"
suite_judge $new_kernel
suite_judge $old_kernel

# ------------------------------ killed, beside the kernel's own lru_gen and v2

begin=$SECONDS
# One CPU: while lru_gen is switched, the kernel rewrites code that another one may
# run: an emulated guest once died of an int3 left in folio_add_lru().
guest --debian $new_kernel --cpus 1 -- bash "$CHECK_TOP/scripts/kill-runs.sh" --alone --kills 6 \
	--kinds program-KILL,test-KILL,keeper-KILL,keeper-and-program-KILL,everything-KILL,runner-group-KILL
expect kills-in-guest 0 '^6 kills, 0 left something$'
echo "# kills in a guest: $((SECONDS - begin)) s"

# Nothing of all this is left.
left=$(find "$vng_dir" -maxdepth 1 -name 'run.*' -newer "$CHECK_TMP/image" 2>/dev/null)
for dir in $left; do
	# Another run of somebody else's may be under way: its lock is held.
	if flock -n "$dir/lock" true; then
		check_fail nothing-left "$dir"
		check_done
	fi
done
check_ok nothing-left

check_done
