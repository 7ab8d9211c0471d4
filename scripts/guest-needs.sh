#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What a machine may lack, or may have set otherwise, that cannot be had on the one
# that runs the checks; inside a guest of scripts/run-vng.sh, as root:
#
#	run-vng.sh --debian 7 --set BUILD_DIR=/run/build --set STAGE_DIR=DIR -- \
#		bash scripts/guest-needs.sh
#
# BUILD_DIR must be writable there; STAGE_DIR is the built one. Prints lines as a
# section of the checks does.
. "$(dirname "$0")/check-lib.sh"
. "$(dirname "$0")/leftovers.sh"

log=$CHECK_TMP/log
program=$PROGRAMS_DIR/pread_hot_set
classic=pread_hot_set.classic_warm.outlives_one_scan
mglru=pread_hot_set.mglru_warm.outlives_one_scan
cgroups=/sys/fs/cgroup
lru_gen=/sys/kernel/mm/lru_gen
disk=$MM_CACHE_DEV

run_begin "$@"
run_alone

try() { run "$log" MM_CACHE_REPS=1 "$@" "$program" -r $classic; }

# try_in SCRIPT: the same, in a mount namespace of its own after SCRIPT.
try_in()
{
	run "$log" MM_CACHE_REPS=1 unshare -m sh -c "$1"' && exec "$@"' sh "$program" -r $classic
}

# run_seeing FILES ARGUMENT...: run, and what the FILES (a pattern) held meanwhile
# goes to $seen.
seen=$CHECK_TMP/seen
run_seeing()
{
	local files=$1 file
	shift

	run_before
	run_start "$log" "$@"
	while kill -0 "$RUN_PID" 2>/dev/null; do
		for file in $files; do
			cat "$file" 2>/dev/null
		done
		sleep 0.1
	done | sort -u >"$seen"
	run_wait
}

# --- cgroup v2, and no v1

try
judge v2-alone 0 "^ok 1 $classic$" "^# env memcg v2, " "^# env swap 0 MiB$" \
	"^# env proactive_reclaim none seen$"

denied="permission to make memory cgroups"
try_in "mount -o remount,bind,ro $cgroups"
judge v2-read-only 4 "# SKIP need: $denied$" \
	"^# need $denied: cannot write $cgroups/cgroup.subtree_control: Read-only file system; run as root outside a container, or have"

# In a container: the cgroup that it has for its root holds its processes, so none
# below can have the controller; or the one that made it kept the controller.
mkdir $cgroups/box
in_box="echo 0 >$cgroups/box/cgroup.procs && exec unshare -C sh -c 'umount $cgroups &&
	mount -t cgroup2 none $cgroups && exec \"\$@\"' sh"
echo +memory >$cgroups/cgroup.subtree_control
run "$log" MM_CACHE_REPS=1 unshare -m sh -c "$in_box"' "$@"' sh "$program" -r $classic
judge v2-not-ours-to-delegate 4 "# SKIP need: $denied$" \
	"^# need $denied: cannot write $cgroups/cgroup.subtree_control: Device or resource busy; "
echo -memory >$cgroups/cgroup.subtree_control
run "$log" MM_CACHE_REPS=1 unshare -m sh -c "$in_box"' "$@"' sh "$program" -r $classic
judge v2-without-delegation 4 "# SKIP need: a memory cgroup controller$" \
	"^# need a memory cgroup controller: .*CONFIG_MEMCG, .*in a container that it is delegated"
rmdir $cgroups/box

# --- memory

try MM_CACHE_MEM=512M
judge too-little-memory 4 "# SKIP need: more memory$" \
	"^# need more memory: needs 1024 MiB available, has [0-9]*; set MM_CACHE_MEM lower"

# Swap must not save the hot set, nor the scan: the memcg has none of it.
modprobe zram
echo 128M >/sys/block/zram0/disksize
mkswap -q /dev/zram0 && swapon /dev/zram0
run_seeing "$cgroups/mm-cache.*/trial/memory.swap.max" MM_CACHE_REPS=3 "$program" -r $classic
judge swap-on 0 "^ok 1 $classic$" "^# env swap 127 MiB$"
# A new memcg says max until it is set.
if [ "$(grep -vx max "$seen")" = 0 ]; then
	check_ok swap-not-for-the-memcg
else
	check_fail swap-not-for-the-memcg "memory.swap.max was: $(xargs <"$seen")"
fi
swapoff /dev/zram0

# --- MGLRU

# min_ttl_ms forbids to evict what was used lately.
echo 10000 >$lru_gen/min_ttl_ms
run_seeing $lru_gen/min_ttl_ms MM_CACHE_REPS=1 "$program" -r $mglru
judge min-ttl 0 "^ok 1 $mglru$"
if grep -qx 0 "$seen"; then
	check_ok min-ttl-off-meanwhile
else
	check_fail min-ttl-off-meanwhile "min_ttl_ms was: $(xargs <"$seen")"
fi

try_in "mount --bind $lru_gen $lru_gen && mount -o remount,bind,ro $lru_gen"
judge lru-gen-read-only 4 "# SKIP need: a writable lru_gen/enabled$" \
	"^# need a writable lru_gen/enabled: $lru_gen/enabled: Read-only file system; run as root outside a container"

# --- file systems

# The root of the guest, which is the host's; read-only as well.
try env -u MM_CACHE_DEV MM_CACHE_DIR=/
judge 9p 4 "^1\.\.0 # SKIP need: a writable scratch directory, a scratch directory on a block file system$" \
	"MM_CACHE_DIR=/ is on 9p; name one on ext4 or xfs"

# A quota on the directory: what it leaves counts, not what the disk has.
mount=$RUN_DIR/quota
mkdir "$mount"
modprobe -q quota_v2
mkfs.ext4 -q -F -O quota,project -E quotatype=prjquota "$disk"
mount -o prjquota "$disk" "$mount"
mkdir "$mount/dir"
chattr -p 7 +P "$mount/dir"
# quotactl(QCMD(Q_SETQUOTA, PRJQUOTA), disk, 7, struct if_dqblk: 100 MiB)
if perl -e 'exit(syscall(179, 0x80000802, $ARGV[0], 7, pack("Q8 L x4", 102400, 102400, (0) x 6, 1)) != 0)' "$disk"; then
	try env -u MM_CACHE_DEV MM_CACHE_DIR="$mount/dir" MM_CACHE_FILES=data
	judge quota 4 "^1\.\.0 # SKIP need: free space in the scratch directory$" \
		"needs [0-9]* MiB, has \(99\|100\); make room"
else
	check_fail quota "no quota can be set"
fi
umount "$mount"
wipefs -qa "$disk"

# One without RWF_DONTCACHE: who needs it says so, the others run.
modprobe -q btrfs
try MM_CACHE_FS=btrfs
judge btrfs 0 "^ok 1 $classic$" "^# env fs btrfs$"
run "$log" MM_CACHE_REPS=1 MM_CACHE_FS=btrfs "$PROGRAMS_DIR/dontcache_hot_set"
judge btrfs-dontcache 4 "# SKIP need: RWF_DONTCACHE on btrfs$" "!^ok 1 [^#]*$"
wipefs -qa "$disk"

# --- a disk that fails in the middle: an error target takes its place

modprobe dm_mod
sectors=$(blockdev --getsz "$disk")
dmsetup create fails --table "0 $sectors linear $disk 0"
run_before
run_start "$log" MM_CACHE_REPS=99 MM_CACHE_FILES=data MM_CACHE_DEV=/dev/mapper/fails \
	"$program" -r $classic
while kill -0 "$RUN_PID" 2>/dev/null && [ ! -e "$cgroups/mm-cache.$RUN_PID/trial" ]; do
	sleep 0.1
done
dmsetup suspend --noflush --nolockfs fails
dmsetup load fails --table "0 $sectors error"
dmsetup resume fails
run_wait
judge dm-error 1 "^not ok 1 $classic$" \
	"^# error read [^ ]*/\(hot\|scan\) by pread at [0-9]*: Input/output error$"
dmsetup remove --retry fails

check_done
