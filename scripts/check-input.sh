#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Bad input, and a machine that lacks what the suite needs: each has one clear
# skip or error, which names the thing and what would do, and leaves nothing
# behind.
. "$(dirname "$0")/check-lib.sh"
. "$(dirname "$0")/leftovers.sh"

log=$CHECK_TMP/log
why=$CHECK_TMP/why
program=$PROGRAMS_DIR/pread_hot_set
warm=pread_hot_set.classic_warm.outlives_one_scan

if [ "$(id -u)" -ne 0 ]; then
	check_skip input "needs root"
	check_done
fi
run_begin "$@"

# The quickest test, with these variables set.
try()
{
	run "$log" MM_CACHE_REPS=1 "$@" "$program" -r $warm
}

# Without anything wrong, it runs; or else nothing below would tell anything.
try
if grep -q '# SKIP need: ' "$log"; then
	check_skip input "$(sed -n 's/.*# SKIP //p' "$log" | head -n 1)"
	check_done
fi
judge baseline 0 "^ok 1 $warm$"

# Where the memory controller is, as that run told.
memcg=$(sed -n 's/^# env memcg \(v[12]\),.*/\1/p' "$log")
memory_root()
{
	if [ "$memcg" = v1 ]; then
		awk '/ - cgroup .*[ ,]memory(,|$)/ { print $5; exit }' /proc/self/mountinfo
	else
		awk '/ - cgroup2 / { print $5; exit }' /proc/self/mountinfo
	fi
}

# --- variables: an error, exit status 1, before anything is touched

bad_variable()
{
	local name=$1 pair=$2
	shift 2

	try "$pair"
	judge "$name" 1 "^Bail out! ${pair%%=*}" "$@" "!^# waiting" "!^1\.\."
}
bad_variable unknown-value MM_CACHE_MEM=lots "must be a size from 32M to 64G"
bad_variable out-of-range MM_CACHE_REPS=100 "must be a number from 1 to 99"
bad_variable unknown-name MM_CACHE_REP=3 "no such variable"
bad_variable relative-dir MM_CACHE_DIR=scratch "must be an absolute path"
bad_variable relative-dev MM_CACHE_DEV=loop7 "must be an absolute path"
bad_variable unknown-fs MM_CACHE_FS=reiserfs "must be ext4, xfs or btrfs"
bad_variable line-in-a-value MM_CACHE_RECLAIM=$'x\nok 1 forged' "!^ok"
try MM_CACHE_DIR="$RUN_DIR" MM_CACHE_DEV=/dev/null
judge dir-and-dev 1 "^Bail out! MM_CACHE_DIR and MM_CACHE_DEV are both set"
# Asking for the list of tests needs nothing and touches nothing.
run "$log" MM_CACHE_MEM=lots setpriv --reuid 65534 --clear-groups "$program" -l
judge list-only 4 "!Bail out"

# --- directories: a skip, exit status 4

dir=$RUN_DIR/dir
mkdir "$dir"
bad_dir()
{
	local name=$1 path=$2 what=$3
	shift 3

	try MM_CACHE_DIR="$path" MM_CACHE_FILES=data
	judge "$name" 4 "^1\.\.0 # SKIP need: $what$" "^# need $what: MM_CACHE_DIR=" "$@"
}
writable="a writable scratch directory"
bad_dir missing-dir "$dir/none" "$writable" "No such file or directory" "unset MM_CACHE_DIR"
bad_dir file-for-dir /etc/passwd "$writable" "Not a directory"
bad_dir line-in-a-dir "$dir"$'/x\nok 1 forged' "$writable" "!^ok 1 forged"

# mount_at NAME MOUNT-ARGUMENT...: at a new directory, $at; false when this kernel
# cannot. Goes at the end.
mount_at()
{
	at=$RUN_DIR/$1
	mkdir "$at"
	mount "${@:2}" "$at" 2>"$why"
}
if mount_at tmpfs -t tmpfs none; then
	bad_dir tmpfs "$at" "a scratch directory on a block file system" " is on tmpfs;"
	run "$log" MM_CACHE_REPS=1 TMPDIR="$at" "$program" -r $warm
	judge tmpfs-for-an-image 4 "^1\.\.0 # SKIP need: a disk for the loop image$" \
		"$at is on tmpfs, and an image in memory measures nothing; set TMPDIR"
	umount "$at"
else
	check_skip tmpfs "$(cat "$why")"
	check_skip tmpfs-for-an-image "$(cat "$why")"
fi
mkdir "$RUN_DIR"/{lower,upper,work}
if mount_at overlay -t overlay -o "lowerdir=$RUN_DIR/lower,upperdir=$RUN_DIR/upper,workdir=$RUN_DIR/work" none; then
	bad_dir overlayfs "$at" "a scratch directory on a block file system" " is on overlay;"
	umount "$at"
else
	check_skip overlayfs "$(cat "$why")"
fi
if mount_at read-only --bind "$dir" && mount -o remount,bind,ro "$at"; then
	bad_dir read-only "$at" "$writable" "Read-only file system"
	umount "$at"
else
	check_skip read-only "$(cat "$why")"
fi

# image NAME MIB: an empty file for a loop device, $img.
image()
{
	img=$RUN_DIR/$1.img
	truncate -s "$2M" "$img"
}
image small 40
mkfs.ext4 -q -F "$img"
if mount_at small -o loop "$img"; then
	bad_dir too-little-room "$at" "free space in the scratch directory" \
		"needs [0-9]* MiB, has [0-9]*; make room"
	run "$log" MM_CACHE_REPS=1 TMPDIR="$at" "$program" -r $warm
	judge too-little-room-for-an-image 4 "^1\.\.0 # SKIP need: free space for the loop image$" \
		"MiB in $at: No space left on device; set TMPDIR"
	umount "$at"
else
	check_skip too-little-room "$(cat "$why")"
	check_skip too-little-room-for-an-image "$(cat "$why")"
fi
run "$log" MM_CACHE_REPS=1 TMPDIR="$dir/none" "$program" -r $warm
judge no-image-dir 4 "^1\.\.0 # SKIP need: a writable directory for the loop image$" "set TMPDIR"

# A file system without RWF_DONTCACHE: the test that needs it names both.
image btrfs 512
if ! command -v mkfs.btrfs >/dev/null || ! grep -qw btrfs /proc/filesystems; then
	check_skip btrfs "needs mkfs.btrfs and a kernel with btrfs"
elif mkfs.btrfs -q "$img" && mount_at btrfs -o loop "$img"; then
	run "$log" MM_CACHE_REPS=1 MM_CACHE_DIR="$at" "$PROGRAMS_DIR/dontcache_hot_set" -v classic
	judge btrfs 4 "# SKIP need: RWF_DONTCACHE on btrfs$"
	umount "$at"
else
	check_skip btrfs "$(cat "$why")"
fi

# All that is wrong with a directory, at once.
if mount_at little-read-only -t tmpfs -o size=1m,ro none; then
	try MM_CACHE_DIR="$at" MM_CACHE_FILES=data
	judge three-needs-of-a-dir 4 "^1\.\.0 # SKIP need: $writable, a scratch directory on a block file system, free space in the scratch directory$"
	umount "$at"
else
	check_skip three-needs-of-a-dir "$(cat "$why")"
fi

# Any name will do, and other people's files there are left alone.
odd=$dir/$'a b\nc\t"d" \\040'
mkdir "$odd"
echo precious >"$odd/hot"
ln -s /etc/passwd "$odd/scan"
try MM_CACHE_DIR="$odd"
judge odd-dir 0 "^ok 1 $warm$"
left=$(cd "$odd" && find . -mindepth 1 | LC_ALL=C sort | paste -sd ' ')
if [ "$left" = "./hot ./scan" ] && [ "$(cat "$odd/hot")" = precious ]; then
	check_ok odd-dir-as-before
else
	check_fail odd-dir-as-before "it holds $left"
fi

# Where everybody may write, somebody else has planted links: of those on the way
# none is followed, and of those inside none is met.
redirect="a path that nobody else can redirect"
mkdir -m 1777 "$RUN_DIR/shared"
mkdir "$RUN_DIR/target" "$RUN_DIR/target/in"
for name in theirs hot scan probe mm-cache.aaaaaa; do
	ln -s "$RUN_DIR/target" "$RUN_DIR/shared/$name"
done
chown -h 65534 "$RUN_DIR"/shared/*
target_state() { stat -c %y "$RUN_DIR/target" "$RUN_DIR/target/in"; }
before=$(target_state)
theirs=$RUN_DIR/shared/theirs
bad_dir planted-dir "$theirs" "$redirect" "link $theirs belongs to user 65534, and is not followed"
bad_dir planted-on-the-way "$theirs/in" "$redirect" "link $theirs belongs to user 65534"
run "$log" MM_CACHE_REPS=1 TMPDIR="$theirs" "$program" -r $warm
judge planted-image-dir 4 "^1\.\.0 # SKIP need: $redirect$" "^# need $redirect: TMPDIR=$theirs"
try MM_CACHE_DEV="$theirs"
judge planted-dev 4 "^1\.\.0 # SKIP need: $redirect$" "^# need $redirect: MM_CACHE_DEV=$theirs"
try MM_CACHE_DIR="$RUN_DIR/shared"
judge planted-in-the-dir 0 "^ok 1 $warm$"
if [ "$(target_state)" = "$before" ]; then
	check_ok planted-links-not-followed
else
	check_fail planted-links-not-followed "what they point to was touched"
fi

# A hot file that somebody else maps, or goes on writing: no limit of ours holds
# those pages. He comes when the files are there, before the first repetition.
meddled()
{
	local how=$1 reason=$2 scan meddler

	run_before
	run_start "$log" MM_CACHE_REPS=3 MM_CACHE_FILES=data MM_CACHE_DIR="$dir" "$program" -r $warm
	while kill -0 "$RUN_PID" 2>/dev/null && ! scan=$(compgen -G "$dir/mm-cache.*/scan"); do
		sleep 0.02
	done
	"$CHECK_DIR/meddle" "$how" "${scan%scan}hot" 2>"$why.meddle" &
	meddler=$!
	run_wait
	kill "$meddler" 2>/dev/null
	wait "$meddler" 2>/dev/null
	judge "hot-file-$how" 4 "# SKIP inconclusive: $reason$"
}
meddled map "a file cannot be dropped from the cache"
meddled write "somebody else wrote to a file of the test"

# Somebody who reads the statistics of every cgroup all the time, as monitors do:
# the kernel then knows its LRU lists better, and must not decide otherwise.
rare=repeated_scan.classic_rare_6
run_before
run_start "$log" MM_CACHE_REPS=5 "$PROGRAMS_DIR/repeated_scan" -r $rare.takes_no_more
while kill -0 "$RUN_PID" 2>/dev/null; do
	cat "$(memory_root)/mm-cache.$RUN_PID/trial/memory.stat"
done >"$why.stat" 2>&1
run_wait
judge reader-of-statistics 0 "^ok 1 $rare" "^# metric $rare hot_kept .* min=\(9..\|1000\) "
if ! grep -q '^active_file' "$why.stat"; then
	check_fail reader-of-statistics-read "it never read any: $(tail -n 1 "$why.stat")"
fi

# --- devices

# attach FILE: $dev is a loop device over it.
attach()
{
	dev=$(losetup --find --show "$1" 2>"$why")
}
# detach, and what the device holds is as it was.
sum_of()
{
	sha256sum "$1" | cut -d ' ' -f 1
}
bad_dev()
{
	local name=$1 reason=$2 before
	shift 2

	before=$(sum_of "$img")
	try MM_CACHE_DEV="$dev"
	judge "$name" 4 "^1\.\.0 # SKIP need: $reason$" "$@"
	if [ "$(sum_of "$img")" = "$before" ]; then
		check_ok "$name-untouched"
	else
		check_fail "$name-untouched" "$dev was written to"
	fi
}
# A disk that fails in the middle: what lies behind the device goes.
failing_disk()
{
	local test=$1 reader=$2 trial

	image "failing-${test%%_*}" 400
	attach "$img"
	run_before
	run_start "$log" MM_CACHE_REPS=99 MM_CACHE_FILES=data MM_CACHE_DEV="$dev" \
		"$PROGRAMS_DIR/${test%%.*}" -r "$test"
	trial=$(memory_root)/mm-cache.$RUN_PID/trial
	while kill -0 "$RUN_PID" 2>/dev/null && [ ! -e "$trial" ]; do
		sleep 0.02
	done
	truncate -s 8M "$img"
	run_wait
	judge "disk-fails-${test%%.*}" 1 "^not ok 1 $test$" \
		"^# error read [^ ]*/\(hot\|scan\) by $reader at [0-9]*: Input/output error$"
	losetup -d "$dev"
}
would_do="name a block device that is empty and not in use, or unset MM_CACHE_DEV"
image data 400
mkfs.ext4 -q -F -L precious "$img"
if attach "$img"; then
	bad_dev dev-with-data "an empty block device" "MM_CACHE_DEV=$dev holds ext4: .*wipefs"
	if mount_at busy "$dev"; then
		bad_dev dev-mounted "an empty block device" \
			"MM_CACHE_DEV=$dev: Device or resource busy; $would_do"
		umount "$at"
	else
		check_fail dev-mounted "cannot mount $dev" "$why"
	fi
	losetup -d "$dev"

	# One partition, and nothing else in the first block.
	image parted 400
	printf '\x80\0\0\0\x83\0\0\0\0\x08\0\0\0\0\x02\0' |
		dd of="$img" bs=1 seek=446 conv=notrunc status=none
	printf '\x55\xaa' | dd of="$img" bs=1 seek=510 conv=notrunc status=none
	attach "$img"
	bad_dev dev-with-partitions "an empty block device" "MM_CACHE_DEV=$dev holds "
	losetup -d "$dev"

	image little 100
	attach "$img"
	bad_dev dev-too-small "a larger block device" "has 100 MiB, needs [0-9]*: name a larger one"
	losetup -d "$dev"

	image empty 400
	attach "$img"
	for name in dev-empty dev-of-an-earlier-run; do
		knob=/sys/block/${dev#/dev/}/queue/read_ahead_kb
		before=$(cat "$knob")
		try MM_CACHE_DEV="$dev" MM_CACHE_READ_AHEAD_KB=512
		judge $name 0 "^ok 1 $warm$" "^# env device $dev$"
		now=$(cat "$knob")
		if [ "$now" != "$before" ]; then
			check_fail $name-read-ahead "it was $before, is $now"
		else
			check_ok $name-read-ahead
		fi
	done
	losetup -d "$dev"

	failing_disk $warm pread
	failing_disk mmap_hot_set.classic_cool.outlives_one_scan '\(mmap\|pread\)'
else
	check_skip dev "$(cat "$why")"
fi
try MM_CACHE_DEV=/dev/null
judge dev-no-block-device 4 "^1\.\.0 # SKIP need: an empty block device$" "MM_CACHE_DEV=/dev/null: Block device required; $would_do"
try MM_CACHE_DEV=/dev/none
judge dev-missing 4 "^1\.\.0 # SKIP need: an empty block device$" "MM_CACHE_DEV=/dev/none: No such file or directory; $would_do"
if command -v mkfs.xfs >/dev/null && { modprobe -q xfs || grep -qw xfs /proc/filesystems; }; then
	try MM_CACHE_FS=xfs
	judge xfs 0 "^ok 1 $warm$" "^# env fs xfs$"
else
	check_skip xfs "needs mkfs.xfs and a kernel with xfs"
fi

# --- the axes

try MM_CACHE_BLOCK_SIZE=1024
judge block-size 0 "^ok 1 $warm$" "^# env block_size 1024$"
try MM_CACHE_MOUNT=frob
judge mount-option 4 "^1\.\.0 # SKIP need: the scratch file system as asked for$" 'options "frob"'
try MM_CACHE_MOUNT=data=journal
judge mount-options 0 "^ok 1 $warm$" "^# env mount data=journal$"
try MM_CACHE_SCANNERS=3 MM_CACHE_HOT_READERS=2 MM_CACHE_BUFFER=64K
judge in-turns 0 "^ok 1 $warm$" "^# env scanners 3$" "^# env hot_readers 2$" "^# env buffer 64 KiB$"
if [ "$(awk '/^MemAvailable/ { print int($2 / 1024) }' /proc/meminfo)" -gt 5000 ]; then
	try MM_CACHE_MEM=machine
	judge machine-too-large 4 "^1\.\.0 # SKIP need: a smaller machine$"
else
	check_skip machine-too-large "it is small enough"
fi

# --- who runs it, and from where

# Where anybody may run it, whatever the directories above the build allow.
cp "$program" "$RUN_DIR/program"
chmod 755 "$RUN_DIR" "$RUN_DIR/program"
run "$log" setpriv --reuid 65534 --regid 65534 --clear-groups "$RUN_DIR/program" -r $warm
judge not-root 4 "^1\.\.0 # SKIP need: root$" "^# need root: .*sudo"

# without_mounts WORDS: with no mount that has WORDS (a pattern of awk) behind its
# root in mountinfo.
without_mounts()
{
	# shellcheck disable=SC2016 # expanded by that shell
	run "$log" MM_CACHE_REPS=1 unshare -m sh -c '
		awk -v words="$1" "\$0 ~ words { print \$5 }" /proc/self/mountinfo | sort -r |
			xargs -n 1 umount -l
		shift
		exec "$@"' sh "$1" "$program" -r $warm
}
no_controller() { judge "$1" 4 "# SKIP need: a memory cgroup controller$" "^# need a memory cgroup controller: .*CONFIG_MEMCG"; }
without_mounts ' - cgroup2? '
no_controller no-memory-controller
# The controller is on one of two hierarchies; the other one is of no use.
if [ "$memcg" = v1 ] && grep -q ' - cgroup2 ' /proc/self/mountinfo; then
	try
	judge hybrid 0 "^ok 1 $warm$" "^# env memcg v1, "
	without_mounts ' - cgroup2 '
	judge v1-alone 0 "^ok 1 $warm$" "^# env memcg v1, "
	without_mounts ' - cgroup .*[ ,]memory'
	no_controller v2-without-the-controller
else
	for name in hybrid v1-alone v2-without-the-controller; do
		check_skip $name "the memory controller is on $memcg, or there is no cgroup2 beside it"
	done
fi

try MM_CACHE_MEM=64G MM_CACHE_DIR="$dir/none"
judge two-needs-at-once 4 "^1\.\.0 # SKIP need: $writable, more memory$" "^# need more memory: .*MM_CACHE_MEM"

# A shell that is set up badly.
in_shell()
{
	run "$log" MM_CACHE_REPS=1 sh -c "$1"' exec "$@"' sh "$program" -r $warm
}
in_shell "umask 0777;"
judge hostile-umask 0 "^ok 1 $warm$"
in_shell "trap '' CHLD PIPE;"
judge ignored-signals 0 "^ok 1 $warm$"
in_shell "exec 0<&-;"
judge no-stdin 0 "^ok 1 $warm$"
in_shell "exec >&-;"
judge no-stdout 0
in_shell "exec 0<&- >&- 2>&-;"
judge no-descriptors 0
in_shell "ulimit -f 2000;"
judge small-file-limit 4 "^1\.\.0 # SKIP need: .*" "File too large"
in_shell "ulimit -n 5;"
judge few-descriptors 4 "^1\.\.0 # SKIP need: more file descriptors$" "RLIMIT_NOFILE is 5, needs [0-9]*: ulimit -n"
in_shell "ulimit -Sn 5;"
judge few-descriptors-for-now 0 "^ok 1 $warm$"
in_shell "ulimit -l 0;"
judge no-locked-memory 0 "^ok 1 $warm$"
run "$log" MM_CACHE_REPS=1 "$CHECK_DIR/meddle" deny "$program" -r $warm
judge cachestat-by-seccomp 0 "^ok 1 $warm$" "^# env meter mincore$"

check_done
