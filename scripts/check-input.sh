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

# judge NAME STATUS LINE...: what the last run must have given: STATUS, and LINEs
# (patterns of grep); those that begin with ! must not be there.
judge()
{
	local name=$1 status=$2 line complaint
	shift 2

	{
		[ "$RUN_STATUS" = "$status" ] ||
			echo "exit status $RUN_STATUS, must be $status"
		for line in "$@"; do
			case $line in
			!*) ! grep -q -- "${line#!}" "$log" || echo "a line has: ${line#!}" ;;
			*) grep -q -- "$line" "$log" || echo "no line has: $line" ;;
			esac
		done
		if grep -q '^TAP version' "$log" && ! grep -q '^Bail out!' "$log"; then
			ktap_plan "$log"
		fi
		leftovers
	} >"$why" 2>&1
	complaint=$(head -n 1 "$why" 2>&1)
	if [ -n "$complaint" ]; then
		{
			grep -v '^# \(env\|metric\) ' "$log"
			cat "$why"
		} >"$why.all"
		check_fail "$name" "$complaint" "$why.all"
		return 1
	fi
	check_ok "$name"
}

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
bad_variable unknown-fs MM_CACHE_FS=btrfs "must be ext4 or xfs"
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
	# An image there would be memory; whatever it says, it must say something.
	umount "$at"
else
	check_skip tmpfs "$(cat "$why")"
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
	bad_dir too-little-room "$at" "free space in the scratch directory" "needs [0-9]* MiB, has [0-9]*$"
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
image data 400
mkfs.ext4 -q -F -L precious "$img"
if attach "$img"; then
	bad_dev dev-with-data "an empty block device" "MM_CACHE_DEV=$dev holds ext4: .*wipefs"
	if mount_at busy "$dev"; then
		bad_dev dev-mounted "an empty block device" "MM_CACHE_DEV=$dev: Device or resource busy"
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
	bad_dev dev-too-small "a larger block device" "has 100 MiB, needs [0-9]*"
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
else
	check_skip dev "$(cat "$why")"
fi
try MM_CACHE_DEV=/dev/null
judge dev-no-block-device 4 "^1\.\.0 # SKIP need: an empty block device$" "MM_CACHE_DEV=/dev/null: Block device required"
try MM_CACHE_DEV=/dev/none
judge dev-missing 4 "^1\.\.0 # SKIP need: an empty block device$" "MM_CACHE_DEV=/dev/none: No such file or directory"
if command -v mkfs.xfs >/dev/null && { modprobe -q xfs || grep -qw xfs /proc/filesystems; }; then
	try MM_CACHE_FS=xfs
	judge xfs 0 "^ok 1 $warm$" "^# env fs xfs$"
else
	check_skip xfs "needs mkfs.xfs and a kernel with xfs"
fi

# --- who runs it, and from where

# Where anybody may run it, whatever the directories above the build allow.
cp "$program" "$RUN_DIR/program"
chmod 755 "$RUN_DIR" "$RUN_DIR/program"
run "$log" setpriv --reuid 65534 --regid 65534 --clear-groups "$RUN_DIR/program" -r $warm
judge not-root 4 "^1\.\.0 # SKIP need: root$" "^# need root: .*sudo"

# shellcheck disable=SC2016 # expanded by that shell
run "$log" MM_CACHE_REPS=1 unshare -m sh -c '
	awk "/ - cgroup2? / { print \$5 }" /proc/self/mountinfo | sort -r | xargs -n 1 umount -l
	exec "$@"' sh "$program" -r $warm
judge no-memory-controller 4 "# SKIP need: a memory cgroup controller$" "^# need a memory cgroup controller: .*CONFIG_MEMCG"

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
judge few-descriptors 1 "Too many open files"

check_done
