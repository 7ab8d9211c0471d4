#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Boots a kernel with virtme-ng, runs the suite (or a command) in it on a
# scratch disk of its own, and turns what the guest said into one exit code.
# --help tells everything.

set -uo pipefail

usage() {
	cat <<'END'
usage: scripts/run-vng.sh KERNEL [options]                 run the suite
       scripts/run-vng.sh KERNEL [options] -- COMMAND...   run COMMAND instead

KERNEL is one of
  --debian VER       a stock Debian kernel, fetched and unpacked under build/,
                     not installed: 6.1 or 6.12 (bookworm), 7 or 7.3 (newest in
                     trixie-backports); VER@SUITE looks elsewhere
  --kernel FILE      a kernel image; its modules are found beside it
                     (lib/modules/RELEASE in a directory above the image)
  --kernel DIR       a built kernel tree (vng --build)

what runs
  --programs A,B     only these test programs (default: all)
  --reclaim R        classic or mglru (default: both, one after the other)
  --reps N           repetitions of every measurement (default: each program's)
  --fs FS            file system on the scratch disk: ext4 (default), xfs or btrfs
  --workload "leveldb OPTION..."
                     instead of the suite: build/tools/mm-cache-leveldb with these
                     options (its --help tells). The database is made here, once,
                     and lies on the scratch disk, of which each run has a copy; so
                     there is no --programs, --fs or --disk, and no MM_CACHE_ variable
                     of the file system
  --set NAME=VALUE   one more variable for the guest (MM_CACHE_..., any number)
  --sysctl NAME=VALUE
                     set in the guest, and read back, before anything runs, such
                     as vm.swappiness=10 (any number)
  --install DIR      an installed suite (default: build/install, made by
                     'make install', brought up to date first)

the machine
  --memory SIZE      guest memory, 512M and up (default 1G)
  --cpus N           virtual CPUs (default 2)
  --disk SIZE        size of the scratch disk, sparse (default 1G)
  --accel A          auto (default), kvm or tcg. auto uses KVM if a guest starts
                     with it, else emulation (TCG), and says which
  --append OPTION    one more kernel option (any number); one that the kernel
                     does not know ends the run
  --timeout SECONDS  limit for the whole run, boot included (default 1800)
  --boot-timeout SECONDS
                     limit for the boot alone (default 240)
  --boot-tries N     boot again when a guest never came up, which is said aloud
                     (default 1: no second try)

output
  --log FILE         default build/vng/log/KERNEL.log, replaced by every run;
                     the guest's console goes to FILE.console
  --verbose          show the guest's console on stderr as well
  --packages         print the Debian packages that are missing here, and stop
  --resolve          fetch or make what a boot needs, print the kernel's name, its image
                     (or tree), and kvm or tcg, a line each, and stop
  --help             this text

Without KVM a guest is up after 15 to 20 s (on idle CPUs) and runs the suite in
a few minutes. It is root on this machine's own file tree, read-only (writes go
to memory and are gone afterwards); the checkout is at the same path. The scratch
disk is a raw image on virtio-blk, new and empty for each run, named in
MM_CACHE_DEV. Standard input is not passed on. All files go to build/vng/.

examples
  scripts/run-vng.sh --debian 7
  scripts/run-vng.sh --debian 6.12 --reclaim mglru --programs pread_hot_set
  scripts/run-vng.sh --kernel ~/linux --memory 2G --set MM_CACHE_MEM=256M
  scripts/run-vng.sh --debian 7 -- sh -c 'uname -r; lsblk'

exit status
  with a COMMAND: its own; else the verdict, as tools/ktap-table gives it:
    0 every property holds       2 inconclusive        5 the output is broken
    1 a property does not hold   4 everything skipped
    1 also when the suite did not leave the guest as it found it
  64 wrong usage   69 something needed is missing
  70 guest died: it never said its last line (panic, power off, no boot, hang)
  130, 143, 129 ended by INT, TERM, HUP
END
}

# Lines of a kernel in trouble.
readonly complaints='Kernel panic|BUG: |Bad page state|Oops: |general protection fault|Out of memory: Killed|soft lockup|hung_task'

readonly EX_USAGE=64 EX_MISSING=69 EX_DIED=70

say() {
	echo "run-vng.sh: $*" >&2
}

die() {
	local code=$1

	shift
	say "$@"
	exit "$code"
}

here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
vng_dir=$here/build/vng

debian='' kernel='' programs='' reclaim='' reps='' fs='' install='' workload=''
memory=1G cpus=2 disk='' accel=auto timeout=1800 boot_timeout=240 boot_tries=1
log='' verbose=0
append=() set_vars=() sysctls=() command=()
mode=suite resolve=''

need_value() {
	[ "$2" -ge 2 ] || die $EX_USAGE "$1 needs a value (--help tells)"
}

missing_packages() {
	command -v qemu-system-x86_64 >/dev/null || echo qemu-system-x86
	[ -x /usr/lib/systemd/systemd-udevd ] || [ -x /lib/systemd/systemd-udevd ] || echo udev
	PATH=$PATH:/usr/sbin:/sbin command -v depmod >/dev/null || echo kmod
	command -v file >/dev/null || echo file
	# The guest's root is this one: it sets its network up, and turns itself off.
	PATH=$PATH:/usr/sbin:/sbin command -v ip >/dev/null || echo iproute2
	PATH=$PATH:/usr/sbin:/sbin command -v poweroff >/dev/null || echo systemd-sysv
	command -v vng >/dev/null || {
		# The distribution's python3, which is the one its virtme-ng starts.
		[ -x /usr/bin/python3 ] || echo python3
		/usr/bin/python3 -c 'import argcomplete' 2>/dev/null || echo python3-argcomplete
		/usr/bin/python3 -c 'import requests' 2>/dev/null || echo python3-requests
	}
}

while [ $# -gt 0 ]; do
	case $1 in
	-h | --help)
		usage
		exit 0
		;;
	--packages)
		missing_packages
		exit 0
		;;
	--resolve)
		resolve=yes
		shift
		continue
		;;
	--verbose)
		verbose=1
		shift
		continue
		;;
	--)
		shift
		[ $# -gt 0 ] || die $EX_USAGE "no command after --"
		command=("$@")
		mode='command'
		break
		;;
	--debian | --kernel | --programs | --reclaim | --reps | --fs | --workload | --set | --sysctl | \
		--install | --memory | --cpus | --disk | --accel | --append | --timeout | --boot-timeout | \
		--boot-tries | --log)
		need_value "$1" $#
		;;
	*) die $EX_USAGE "unknown argument '$1' (--help tells)" ;;
	esac
	case $1 in
	--debian) debian=$2 ;;
	--kernel) kernel=$2 ;;
	--programs) programs=$2 ;;
	--reclaim) reclaim=$2 ;;
	--reps) reps=$2 ;;
	--fs) fs=$2 ;;
	--workload) workload=$2 ;;
	--set) set_vars+=("$2") ;;
	--sysctl) sysctls+=("$2") ;;
	--install) install=$2 ;;
	--memory) memory=$2 ;;
	--cpus) cpus=$2 ;;
	--disk) disk=$2 ;;
	--accel) accel=$2 ;;
	--append) append+=("$2") ;;
	--timeout) timeout=$2 ;;
	--boot-timeout) boot_timeout=$2 ;;
	--boot-tries) boot_tries=$2 ;;
	--log) log=$2 ;;
	esac
	shift 2
done

# "512M", "1G", "700" (MiB) to MiB; nothing when it is no size.
mib() {
	case $1 in
	*[!0-9MG]* | '' | [MG]*) ;;
	*G) echo $((10#${1%G} * 1024)) ;;
	*M) echo $((10#${1%M})) ;;
	*[!0-9]*) ;;
	*) echo $((10#$1)) ;;
	esac
}

is_number() {
	[[ $1 =~ ^[1-9][0-9]{0,6}$ ]]
}

if [ -n "$workload" ]; then
	[ "$mode" = suite ] || die $EX_USAGE "--workload, or a command after --, but not both"
	[ -z "$programs$fs$disk" ] || die $EX_USAGE "--workload has no --programs, --fs or --disk"
	mode=workload
	read -r -a words <<<"$workload"
	[ "${words[0]-}" = leveldb ] || die $EX_USAGE "--workload '$workload': there is leveldb"
fi
: "${disk:=1G}"
if [ -n "$debian" ] && [ -n "$kernel" ]; then
	die $EX_USAGE "--debian and --kernel exclude each other"
fi
[ -n "$debian$kernel" ] ||
	die $EX_USAGE "which kernel? --debian 6.12, --debian 7 or --kernel FILE (--help tells)"
memory_mib=$(mib "$memory")
[ -n "$memory_mib" ] || die $EX_USAGE "--memory $memory is no size: use one such as 512M or 1G"
[ "$memory_mib" -ge 512 ] || die $EX_USAGE "--memory $memory is too little: 512M and up"
disk_mib=$(mib "$disk")
[ -n "$disk_mib" ] || die $EX_USAGE "--disk $disk is no size: use one such as 1G"
[ "$disk_mib" -ge 64 ] || die $EX_USAGE "--disk $disk is too little: 64M and up"
is_number "$cpus" || die $EX_USAGE "--cpus $cpus is no number of CPUs"
is_number "$timeout" || die $EX_USAGE "--timeout $timeout is no number of seconds"
is_number "$boot_timeout" || die $EX_USAGE "--boot-timeout $boot_timeout is no number of seconds"
is_number "$boot_tries" || die $EX_USAGE "--boot-tries $boot_tries is no number of tries"
[ -z "$reps" ] || is_number "$reps" || die $EX_USAGE "--reps $reps is no number of repetitions"
case $reclaim in
'' | classic | mglru) ;;
*) die $EX_USAGE "--reclaim $reclaim: there is classic and mglru" ;;
esac
case $fs in
'' | ext4 | xfs | btrfs) ;;
*) die $EX_USAGE "--fs $fs: there is ext4, xfs and btrfs" ;;
esac
case $accel in
auto | kvm | tcg) ;;
*) die $EX_USAGE "--accel $accel: there is auto, kvm and tcg" ;;
esac
for var in ${set_vars[@]+"${set_vars[@]}"}; do
	[[ $var =~ ^[A-Za-z_][A-Za-z0-9_]*= ]] || die $EX_USAGE "--set $var: NAME=VALUE expected"
done
for var in ${sysctls[@]+"${sysctls[@]}"}; do
	[[ $var =~ ^[a-z0-9_-]+([./][A-Za-z0-9_-]+)+= ]] ||
		die $EX_USAGE "--sysctl $var: one such as vm.swappiness=10 expected"
done
case $here in
*[\ ,=\'\"]*) die $EX_MISSING "the path $here has a character that virtme-ng cannot pass on" ;;
/run/* | /dev/* | /var/tmp/* | /var/cache/* | /var/log/*)
	die $EX_MISSING "the guest has its own ${here%%/"${here#/*/}"}: move the checkout elsewhere"
	;;
esac
[ "$(uname -m)" = x86_64 ] || die $EX_MISSING "only x86_64 machines are supported, this is $(uname -m)"
missing=$(missing_packages | xargs)
[ -z "$missing" ] || die $EX_MISSING "missing here; as root: apt-get install $missing"
export PATH=$PATH:/usr/sbin:/sbin

mkdir -p "$vng_dir/log" || die $EX_MISSING "cannot write to $vng_dir"

# ------------------------------------------------------------------ tools

fetch() {
	"$here/scripts/fetch-debian.sh" "$@"
}

# Runs "$@" so that a signal to this script ends it at once: bash handles
# signals between commands only, unless it waits for a job.
interruptibly() {
	local code

	set -m
	"$@" </dev/null &
	job_pid=$!
	set +m
	wait "$job_pid"
	code=$?
	job_pid=''
	return $code
}

# Runs "$@" with nobody else filling the caches under build/vng at the time.
with_caches() {
	(
		flock 8
		"$@" 8>&-
	) 8>"$vng_dir/caches.lock"
}

caches_locked() {
	interruptibly with_caches "$@"
}

unpack_once() {
	local dir=$1 suite=$2

	shift 2
	[ -e "$dir/.complete" ] && return 0
	rm -rf "$dir" "$dir.new"
	fetch --unpack "$dir.new" "$suite" "$@" >/dev/null || return 1
	touch "$dir.new/.complete"
	mv "$dir.new" "$dir"
}

find_vng() {
	if command -v vng >/dev/null; then
		return
	fi
	caches_locked unpack_once "$vng_dir/virtme-ng" trixie virtme-ng ||
		die $EX_MISSING "no virtme-ng here, and none to be fetched: install it (pip, or your distribution)"
	PATH=$vng_dir/virtme-ng/usr/bin:$PATH
	export PYTHONPATH=$vng_dir/virtme-ng/usr/lib/python3/dist-packages
}

# Stock kernels have 9p as a module: virtme-ng's initramfs needs a static busybox.
find_busybox() {
	local candidate

	for candidate in "$(command -v busybox)" "$(command -v busybox-static)" \
		"$vng_dir/busybox/usr/bin/busybox" "$vng_dir/busybox/bin/busybox"; do
		if [ -x "$candidate" ] && file -L "$candidate" | grep -q 'static'; then
			busybox=$candidate
			return
		fi
	done
	caches_locked unpack_once "$vng_dir/busybox" trixie busybox-static ||
		die $EX_MISSING "no static busybox: install busybox-static"
	busybox=$vng_dir/busybox/usr/bin/busybox
	[ -x "$busybox" ] || busybox=$vng_dir/busybox/bin/busybox
}

# ----------------------------------------------------------------- kernel

# Newest stock kernel of version $1 in suite $2: "RELEASE PACKAGE...".
newest_debian_kernel() {
	local version=$1 suite=$2 release

	release=$(fetch --list "$suite" '^linux-image-[0-9].*-amd64$' |
		sed -n 's/^linux-image-\([0-9][^ ]*-amd64\) .*/\1/p' |
		grep -E "^${version//./\\.}[.][0-9.]*[+][a-z0-9]*-amd64$" | sort -V | tail -n 1)
	[ -n "$release" ] || return 1
	if [ -n "$(fetch --list "$suite" "^linux-binary-${release//[+.]/.}\$")" ]; then
		echo "$release linux-binary-$release linux-modules-$release linux-base-$release"
	else
		echo "$release linux-image-$release"
	fi
}

unpack_debian_kernel() {
	local version=$1 suite=$2 newest release dir

	if ! newest=$(newest_debian_kernel "$version" "$suite"); then
		release=$(cd "$vng_dir/kernels/$suite" 2>/dev/null &&
			printf '%s\n' "$version".*/.complete | sort -V | tail -n 1)
		[ -e "$vng_dir/kernels/$suite/$release" ] ||
			die $EX_MISSING "$suite has no stock kernel $version (or cannot be read): see scripts/fetch-debian.sh --list $suite linux-image"
		newest=${release%/.complete}
		say "$suite cannot be read: using $newest, fetched earlier"
	fi
	read -r release newest <<<"$newest"
	dir=$vng_dir/kernels/$suite/$release
	if [ ! -e "$dir/.complete" ]; then
		say "unpacking $release of $suite"
		mkdir -p "$vng_dir/kernels/$suite"
		rm -rf "$dir" "$dir.new"
		# shellcheck disable=SC2086 # a list of package names
		fetch --unpack "$dir.new" "$suite" $newest >/dev/null ||
			die $EX_MISSING "cannot fetch $release of $suite"
		# Newer packages have usr/lib/modules; tools look in lib/modules.
		[ -e "$dir.new/lib" ] || ln -s usr/lib "$dir.new/lib"
		depmod -b "$dir.new" "$release" || die $EX_MISSING "depmod failed for $release"
		touch "$dir.new/.complete"
		mv "$dir.new" "$dir"
	fi
	echo "$dir" >"$run_dir/kernel"
}

use_debian_kernel() {
	local version=${1%@*} suite dir

	[[ $version =~ ^[0-9]+(\.[0-9]+)*$ ]] || die $EX_USAGE "--debian $1: a version such as 6.12 or 7 expected"
	case $1 in
	*@*) suite=${1#*@} ;;
	6.1 | 6.12) suite=bookworm ;;
	*) suite=trixie-backports ;;
	esac
	caches_locked unpack_debian_kernel "$version" "$suite" || exit
	dir=$(cat "$run_dir/kernel")
	kernel_name=debian-$(basename "$dir")
	for kernel in "$dir"/boot/vmlinuz-* "$dir"/lib/modules/*/vmlinuz; do
		[ -f "$kernel" ] && return
	done
	die $EX_MISSING "no kernel image in $dir: remove it and try again"
}

use_given_kernel() {
	if [ -d "$kernel" ]; then
		[ -f "$kernel/arch/x86/boot/bzImage" ] ||
			die $EX_MISSING "no kernel is built in $kernel (arch/x86/boot/bzImage): run 'vng --build' there"
		kernel=$(cd "$kernel" && pwd)
		kernel_name=$(basename "$kernel")
	elif [ -f "$kernel" ]; then
		kernel=$(realpath "$kernel")
		kernel_name=$(basename "$kernel")
	else
		die $EX_MISSING "--kernel $kernel: no such file or directory"
	fi
	kernel_name=${kernel_name//[^A-Za-z0-9._+-]/_}
}

# The configuration that lies with the image, if any.
kernel_config() {
	local dir config

	if [ -d "$kernel" ]; then
		echo "$kernel/.config"
		return
	fi
	dir=$(dirname "$kernel")
	for config in "$dir/config" "$dir/config-${kernel##*/vmlinuz-}" "$dir/../../../.config"; do
		if [ -f "$config" ]; then
			echo "$config"
			return
		fi
	done
}

# The guest's root comes over 9p, or by virtiofs where the kernel lacks that.
choose_root_fs() {
	local config

	root_fs=9p
	config=$(kernel_config)
	if [ -z "$config" ] || grep -q '^CONFIG_NET_9P_VIRTIO=' "$config"; then
		return
	fi
	root_fs=virtiofs
	grep -q '^CONFIG_VIRTIO_FS=' "$config" ||
		die $EX_MISSING "$kernel has neither 9p nor virtiofs ($config): 'vng --kconfig' sets what virtme-ng needs"
	command -v virtiofsd >/dev/null || [ -x /usr/libexec/virtiofsd ] || [ -x /usr/lib/virtiofsd ] ||
		die $EX_MISSING "$kernel has no 9p, and there is no virtiofsd here: install virtiofsd"
}

# ------------------------------------------------------------ acceleration

# /dev/kvm may exist and yet kill every guest: start one for a moment.
kvm_works() {
	local said

	kvm_reason="no /dev/kvm"
	[ -e /dev/kvm ] || return 1
	kvm_reason="/dev/kvm may not be opened by this user"
	[ -r /dev/kvm ] && [ -w /dev/kvm ] || return 1
	said=$({
		sleep 0.5
		printf 'info status\n'
		sleep 0.2
		printf 'quit\n'
	} | timeout -k 2 15 qemu-system-x86_64 -accel kvm -cpu host -machine q35 -m 64 \
		-nodefaults -no-user-config -display none -monitor stdio 2>&1)
	case $said in
	*'VM status: running'*) return 0 ;;
	esac
	kvm_reason="/dev/kvm is there, but QEMU fails with it: $(printf '%s' "$said" |
		sed -n 's/^.*qemu-system-x86_64: *//p' | head -n 1)"
	return 1
}

choose_accel() {
	case $accel in
	tcg)
		say "no KVM by request: the CPU is emulated (TCG)"
		;;
	kvm | auto)
		if kvm_works; then
			accel=kvm
			say "using KVM"
			return
		fi
		[ "$accel" = auto ] || die $EX_MISSING "--accel kvm: $kvm_reason"
		accel=tcg
		say "no KVM ($kvm_reason): the CPU is emulated (TCG), everything takes longer"
		;;
	esac
}

# --------------------------------------------------------------- workload

leveldb=$here/build/tools/mm-cache-leveldb

# In the guest with the variables that this has here.
in_workload_env() {
	env MM_CACHE_RECLAIM="${reclaim:-classic}" MM_CACHE_REPS="${reps:-1}" \
		${set_vars[@]+"${set_vars[@]}"} "$@"
}

# One at a time is kept: another shape replaces it.
make_database() {
	local shape=$1 dir=$vng_dir/leveldb

	[ "$(cat "$dir.shape" 2>/dev/null)" != "$shape" ] || return 0
	rm -rf "$dir" "$dir.new" "$dir.shape" "$dir.img"
	say "making the database, once: $shape"
	in_workload_env "$leveldb" "${words[@]:1}" --make --database="$dir" >&2 &&
		mkdir "$dir.new" && mv "$dir" "$dir.new/database" &&
		truncate -s "$(($(du -sm "$dir.new" | cut -f 1) * 23 / 10 + 128))M" "$dir.img.new" &&
		mkfs.ext4 -q -F -m 0 -L mm-cache -E lazy_itable_init=0,lazy_journal_init=0,nodiscard \
			-d "$dir.new" "$dir.img.new" >&2 &&
		rm -rf "$dir.new" && mv "$dir.img.new" "$dir.img" && echo "$shape" >"$dir.shape"
}

prepare_workload() {
	local shape

	[ -x "$leveldb" ] || die $EX_MISSING "no build/tools/mm-cache-leveldb: run 'make deps tools' first"
	shape=$(in_workload_env "$leveldb" "${words[@]:1}" --print-shape) ||
		die $EX_USAGE "--workload '$workload': see above"
	caches_locked make_database "$shape" ||
		die $EX_MISSING "the database cannot be made in $vng_dir: see above"
}

# -------------------------------------------------------------------- run

# Nothing of this run may outlive it, whatever ends it.
stop_guest() {
	if [ -n "$vng_pid" ]; then
		kill -TERM "$vng_pid" 2>/dev/null
		kill -TERM -- "-$vng_pid" 2>/dev/null
		wait "$vng_pid" 2>/dev/null
		for _ in 1 2 3 4 5; do
			kill -0 -- "-$vng_pid" 2>/dev/null || break
			sleep 0.1
		done
		kill -KILL -- "-$vng_pid" 2>/dev/null
		vng_pid=
	fi
}

cleanup() {
	trap '' INT TERM HUP
	[ -z "$job_pid" ] || kill -TERM -- "-$job_pid" 2>/dev/null
	stop_guest
	[ -z "$filter_pid" ] || wait "$filter_pid" 2>/dev/null
	[ -z "$console_pid" ] || wait "$console_pid" 2>/dev/null
	[ -z "$run_dir" ] || rm -rf "$run_dir"
}

# What a run that was killed outright left behind: its lock is free.
remove_stale_runs() {
	local dir

	for dir in "$vng_dir"/run.*; do
		[ -d "$dir" ] || continue
		(
			flock -n 9 || exit 0
			rm -rf "$dir"
		) 9>>"$dir/lock"
	done
}

# The lock on it says that the directory is in use, by whatever of this run.
make_run_dir() {
	exec 8>"$vng_dir/runs.lock"
	flock 8
	remove_stale_runs
	run_dir=$(mktemp -d "$vng_dir/run.XXXXXX") && exec 9>"$run_dir/lock" && flock 9
	exec 8>&-
	[ -n "$run_dir" ]
}

write_job() {
	local var

	printf 'token=%q mode=%q install=%q\n' "$token" "$mode" "$install"
	if [ "$mode" = workload ]; then
		printf 'workload=('
		printf ' %q' "$leveldb" "${words[@]:1}"
		printf ' )\n'
	fi
	printf 'programs=('
	# shellcheck disable=SC2086 # one word for each program
	[ -z "$programs" ] || printf ' %q' ${programs//,/ }
	printf ' )\ncommand=('
	[ ${#command[@]} -eq 0 ] || printf ' %q' "${command[@]}"
	printf ' )\nsysctls=('
	[ ${#sysctls[@]} -eq 0 ] || printf ' %q' "${sysctls[@]}"
	printf ' )\nkernel_options=('
	[ ${#append[@]} -eq 0 ] || printf ' %q' "${append[@]}"
	printf ' )\n'
	[ -z "$reclaim" ] || printf 'export MM_CACHE_RECLAIM=%q\n' "$reclaim"
	[ -z "$reps" ] || printf 'export MM_CACHE_REPS=%q\n' "$reps"
	[ -z "$fs" ] || printf 'export MM_CACHE_FS=%q\n' "$fs"
	for var in ${set_vars[@]+"${set_vars[@]}"}; do
		printf 'export %s=%q\n' "${var%%=*}" "${var#*=}"
	done
	printf 'cd %q 2>/dev/null\n' "$PWD"
}

# Passes the guest's words on as they come; its first and its last line, which
# guest-run.sh prints, go to files instead.
pass_on() {
	sed -u -e "/mm-cache-guest-begin $token\$/{w $run_dir/begin" -e 'd}' \
		-e "/mm-cache-guest-end $token [0-9]*\$/{h;s/.* //;w $run_dir/end" \
		-e 'g;s/mm-cache-guest-end .*$//;/^$/d}' | tee -p -- "$log"
}

# What of the console tells most: from the first complaint on, else its end.
console_excerpt() {
	local from

	from=$(grep -n -m 1 -E "$complaints" "$run_dir/console" | cut -d: -f1)
	if [ -n "$from" ]; then
		tail -n "+$from" "$run_dir/console" | head -n 12
		echo ...
		tail -n 3 "$run_dir/console"
	else
		tail -n 20 "$run_dir/console"
	fi | tr -d '\r' | grep -v '^[[:space:]]*$' | sed 's/^/    /'
}

guest_died() {
	local why=$1 panic

	panic=$(grep -m 1 -o 'Kernel panic - not syncing.*' "$run_dir/console" | tr -d '\r')
	[ -z "$panic" ] || why+=": $panic"
	{
		echo "run-vng.sh: guest died: $why"
		echo "run-vng.sh: of its console (all of it: $log.console):"
		console_excerpt
	} >&2
	echo "# guest died: $why" >>"$log"
	exit $EX_DIED
}

# Waits for the guest's end, or for the limit of its boot.
wait_for_guest() {
	local deadline=$((SECONDS + boot_timeout))

	while kill -0 "$vng_pid" 2>/dev/null; do
		if [ ! -s "$run_dir/begin" ] && [ $SECONDS -ge $deadline ]; then
			stop_guest
			return 1
		fi
		sleep 0.2
	done
	return 0
}

boot() {
	local options=() tcg='' said vng_code opt booted=1 log_written=1

	rm -rf "$run_dir"/{out,err,tmp,scratch.img,begin,end}
	mkfifo "$run_dir/out" "$run_dir/err"
	mkdir "$run_dir/tmp"
	if [ $mode = workload ]; then
		cp --reflink=auto --sparse=always "$vng_dir/leveldb.img" "$run_dir/scratch.img"
	else
		truncate -s "${disk_mib}M" "$run_dir/scratch.img"
	fi || die $EX_MISSING "cannot make the scratch disk in $run_dir"
	write_job >"$run_dir/job"
	: >"$log" || die $EX_MISSING "cannot write the log $log"
	: >"$run_dir/console"
	rm -f "$log.console"

	options=(-r "$kernel" --memory "${memory_mib}M" --cpus "$cpus" --busybox "$busybox"
		--disable-microvm --verbose)
	[ "$root_fs" != 9p ] || options+=(--force-9p)
	# Drivers of devices that nothing here uses; without them it boots sooner.
	options+=(--append "modprobe.blacklist=ahci,kvm_amd,kvm_intel,psmouse,pcspkr,i2c_i801,lpc_ich,iTCO_wdt,sr_mod,powernow_k8,acpi_cpufreq")
	# With a thread for each CPU, TCG may run code that the kernel is patching (a
	# static key, such as that of lru_gen): an int3 that nobody expects, a panic.
	# Without RDRAND the first mkfs waits 5 s for random numbers. On a busy machine
	# the timer may be late when the kernel tries it: a panic.
	[ "$accel" = kvm ] || {
		options+=(--disable-kvm --append no_timer_check)
		tcg="-accel tcg,thread=single -cpu qemu64,+rdrand"
	}
	for opt in ${append[@]+"${append[@]}"}; do
		options+=(--append "$opt")
	done
	# The leading blank keeps argparse from reading it as an option.
	options+=("--qemu-opts= $tcg -drive if=none,id=scratch,file=$run_dir/scratch.img,format=raw,cache=unsafe -device virtio-blk-pci,drive=scratch,serial=mm-cache-scratch")
	options+=(--exec "exec bash $here/scripts/guest-run.sh $run_dir")

	pass_on <"$run_dir/out" &
	filter_pid=$!
	if [ $verbose = 1 ]; then
		tee "$run_dir/console" <"$run_dir/err" >&2 &
	else
		cat <"$run_dir/err" >"$run_dir/console" &
	fi
	console_pid=$!

	# timeout makes a process group of its own: QEMU and all else is in it,
	# and a terminal's signals reach this script only.
	TMPDIR=$run_dir/tmp timeout --kill-after=10 "$timeout" vng "${options[@]}" \
		</dev/null >"$run_dir/out" 2>"$run_dir/err" &
	vng_pid=$!
	local waited_for=$vng_pid
	wait_for_guest || booted=0
	wait "$waited_for" 2>/dev/null
	vng_code=$?
	stop_guest
	wait "$filter_pid" || log_written=0
	wait "$console_pid"
	filter_pid='' console_pid=''
	[ $log_written = 1 ] || die $EX_MISSING "cannot write all of the log $log: is its disk full?"
	cp "$run_dir/console" "$log.console"

	if [ ! -s "$run_dir/begin" ] && [ "$boot_tries" -gt 1 ]; then
		boot_tries=$((boot_tries - 1))
		say "the guest never came up: booting it again"
		tail -n 5 "$run_dir/console" | tr -d '\r' | sed 's/^/    /' >&2
		boot
		return
	fi
	[ $booted = 1 ] || guest_died "not up within $boot_timeout s (--boot-timeout)"
	if [ -s "$run_dir/end" ]; then
		said=$(cat "$run_dir/end")
		[ "$said" = "$vng_code" ] && {
			guest_code=$said
			return
		}
		[ "$vng_code" = 124 ] || guest_died \
			"the guest's last line said exit $said, virtme-ng said $vng_code"
	fi
	case $vng_code in
	124 | 137) guest_died "not finished within $timeout s (--timeout)" ;;
	255)
		[ -s "$run_dir/begin" ] || guest_died "it never came up (virtme-ng exit 255)"
		guest_died "it went down before its last line (virtme-ng exit 255)"
		;;
	*) guest_died "its last line never came (virtme-ng exit $vng_code)" ;;
	esac
}

# As it is now; but what is the same stays, for a guest may be running it.
install_checkout() {
	env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL make -s -C "$here" install tools \
		INSTALL_PATH="$install.new" >&2 || return 1
	if ! diff -rq "$install.new" "$install" >/dev/null 2>&1; then
		rm -rf "$install"
		mv "$install.new" "$install"
	fi
	rm -rf "$install.new"
}

# The suite in the guest is the one of this checkout.
install_suite() {
	if [ -n "$install" ]; then
		install=$(realpath -m "$install")
	else
		install=$here/build/install
		caches_locked install_checkout ||
			die $EX_MISSING "the suite does not build: see above ('make deps install' may help)"
	fi
	[ -x "$install/run_kselftest.sh" ] || die $EX_MISSING "no installed suite in $install"
	[ -x "$here/build/tools/ktap-table" ] ||
		die $EX_MISSING "no build/tools/ktap-table: run 'make tools' first"
	for program in ${programs//,/ }; do
		grep -qx "mm-cache:$program" "$install/kselftest-list.txt" ||
			die $EX_USAGE "--programs: no program $program; there are:" \
				"$(sed -n 's/^mm-cache://p' "$install/kselftest-list.txt" | xargs)"
	done
}

main() {
	local code

	run_dir='' job_pid='' vng_pid='' filter_pid='' console_pid='' guest_code=''
	trap cleanup EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM
	trap 'exit 129' HUP
	make_run_dir || die $EX_MISSING "cannot write to $vng_dir"

	if [ -n "$debian" ]; then
		use_debian_kernel "$debian"
	else
		use_given_kernel
	fi
	choose_root_fs
	find_vng
	find_busybox
	[ $mode != workload ] || prepare_workload
	[ $mode != suite ] || [ -n "$resolve" ] || install_suite
	choose_accel
	if [ -n "$resolve" ]; then
		printf '%s\n' "$kernel_name" "$kernel" "$accel"
		exit 0
	fi

	: "${log:=$vng_dir/log/$kernel_name.log}"
	mkdir -p "$(dirname "$log")" || die $EX_MISSING "cannot write to the directory of $log"
	log=$(realpath "$log")
	token=$$-$RANDOM$RANDOM

	[ $mode != workload ] || disk_mib=$(($(stat -c %s "$vng_dir/leveldb.img") / 1048576))
	say "booting $kernel_name: ${memory_mib} MiB, $cpus CPUs, scratch disk $disk_mib MiB, log $log"
	boot
	grep -q -E "$complaints" "$log.console" && {
		say "the guest's kernel complained (all of it: $log.console):"
		console_excerpt >&2
	}
	[ $mode != 'command' ] || exit "$guest_code"
	echo
	"$here/build/tools/ktap-table" <"$log"
	code=$?
	if [ "$guest_code" = 3 ]; then
		say "the suite left the guest otherwise than it found it:"
		grep '^# the suite left this machine otherwise' "$log" >&2
		[ $code != 0 ] || code=1
	elif [ "$guest_code" != 0 ]; then
		say "the suite could not be started in the guest (exit $guest_code)"
		[ $code != 0 ] || code=5
	fi
	return $code
}

main
