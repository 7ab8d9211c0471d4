#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Print the state of the machine, as far as a run of the suite could change it:
# one fact a line, sorted. Or compare it with what was printed earlier.
#
#   machine-state.sh [OPTION...] [DIRECTORY...]
#
#   DIRECTORY       whose entries count; and loop devices over files in it
#   --mark NAME=VALUE
#                   processes with this in their environment are of the runs
#   --lru-gen DIR   stands for the kernel's lru_gen
#   --shared        others use the machine, and the suite on it: leave out what may
#                   be theirs
#   --since FILE    print only what is otherwise than in FILE, 2 s later; exit status
#                   1 if there is such. Where more processes want to run than there
#                   are CPUs, it is as many times 2 s, up to 10
#
# What is left out with --shared: cgroups below those at the top of a hierarchy,
# where runs make none; loop devices over files that are not in a DIRECTORY; and
# what bears the number of a program that runs without the mark. Mounts are those of
# the namespace that this runs in: give the runs one of their own.
set -u -o pipefail

keeper_dir=/run/mm-cache
settle_us=2000000
settle_most=5

# The kernel itself sets read_ahead_kb of a loop device for whoever attaches a file
# (2560 on a rotational disk), and whoever has it in use may set it, too. So of one
# that is idle, only a value tells something that nobody but the suite sets.
suite_read_ahead=" 0 512 516 "

mark='' lru_gen=/sys/kernel/mm/lru_gen shared='' since='' directories=()
while [ $# -gt 0 ]; do
	case $1 in
	--shared)
		shared=yes
		shift
		continue
		;;
	--mark) mark=$2 ;;
	--lru-gen) lru_gen=$2 ;;
	--since) since=$2 ;;
	-*)
		echo "machine-state: $1: unknown option" >&2
		exit 64
		;;
	*)
		directories+=("${1%/}")
		shift
		continue
		;;
	esac
	shift 2
done

# Programs of other people's runs that are under way: those which have a keeper. A
# number alone tells nothing, for what was left long ago may bear it, too.
others()
{
	local path stat life parent

	[ -n "$shared" ] || return
	grep -lsx mm-cache-keeper /proc/[0-9]*/comm | while read -r path; do
		! grep -qzxsF -- "$mark" "${path%/comm}/environ" || continue
		read -r stat <"${path%/comm}/stat" || continue
		read -r life parent _ <<<"${stat##*) }"
		# One that has ended has no environment to tell whose it was.
		[ "$life" = Z ] || echo "$parent"
	done 2>/dev/null
}

# "name.PID" of such a program.
is_anothers() { [[ $others == *" ${1##*.} "* ]]; }

# An emulated guest needs long to start a program: read is none.
knobs()
{
	local path value

	for path in "$lru_gen"/{enabled,min_ttl_ms} \
		/sys/kernel/mm/transparent_hugepage/enabled /proc/sys/vm/swappiness; do
		[ -e "$path" ] || continue
		read -r value <"$path"
		echo "knob $path $value"
	done
	# Where others run the suite, they may have it on.
	path=/proc/sys/kernel/task_delayacct
	if [ -e $path ] && read -r value <$path && [ "$value" != 0 ] && [ -z "${others// /}" ]; then
		echo "knob $path $value"
	fi
	for path in /sys/block/*; do
		read -r value <"$path/queue/read_ahead_kb" || continue
		case $path in
		*/loop[0-9]*)
			[ ! -d "$path/loop" ] || continue
			[[ $suite_read_ahead == *" $value "* ]] || continue
			;;
		esac
		echo "knob $path/queue/read_ahead_kb $value"
	done 2>/dev/null
}

cgroups()
{
	local path value depth=()

	[ -z "$shared" ] || depth=(-maxdepth 1)
	sed -n 's/^\([^ ]* \)\{4\}\([^ ]*\) .* - cgroup2\? .*/\2/p' /proc/self/mountinfo |
		xargs -d '\n' -I MOUNT find MOUNT -mindepth 1 "${depth[@]}" \
			'(' -type d -o -name cgroup.subtree_control ')' 2>/dev/null |
		while read -r path; do
			case $path in
			*/cgroup.subtree_control)
				read -r value <"$path"
				echo "knob $path $value"
				;;
			*) is_anothers "$path" || echo "cgroup $path" ;;
			esac
		done 2>/dev/null
}

is_ours()
{
	local dir

	for dir in "${directories[@]}"; do
		[[ $1 != "$dir"/* ]] || return 0
	done
	[ -z "$shared" ]
}

loop_devices()
{
	local path file

	for path in /sys/block/loop*/loop; do
		read -r file 2>/dev/null <"$path/backing_file" || continue
		path=${path%/loop}
		! is_ours "$file" || echo "loop device /dev/${path##*/} over $file"
	done
}

files()
{
	local path

	# What stays there for good: the lock, and the empty place for a mount.
	for path in "$keeper_dir"/* "$keeper_dir"/mnt/*; do
		case $path in
		"$keeper_dir/lock" | "$keeper_dir/mnt" | */\*) continue ;;
		esac
		is_anothers "$path" || echo "file $path"
	done
	[ ${#directories[@]} -eq 0 ] ||
		find "${directories[@]}" -mindepth 1 -maxdepth 1 -printf 'file %p\n'
}

processes()
{
	local pid comm words

	[ -n "$mark" ] || return
	grep -lzxsF -- "$mark" /proc/[0-9]*/environ | while IFS=/ read -r _ _ pid _; do
		read -r comm <"/proc/$pid/comm"
		mapfile -d '' words <"/proc/$pid/cmdline"
		echo "process $pid: ${words[*]} ($comm)"
	done 2>/dev/null
}

state()
{
	others=" $(others | xargs) "
	{
		knobs
		cgroups
		loop_devices
		files
		processes
		awk '{ sub(/.* - /, "on " $5 " from ", $0); print "mount " $0 }' /proc/self/mountinfo
	} | LC_ALL=C sort
}

if [ -z "$since" ]; then
	state
	exit
fi
begin=${EPOCHREALTIME/[.,]/}
read -r load _ </proc/loadavg
busy=$((${load%.*} / $(nproc)))
busy=$((busy < 1 ? 1 : busy > settle_most ? settle_most : busy))
while :; do
	now=${EPOCHREALTIME/[.,]/}
	# That an idle loop device has no longer a value of the suite's is no loss; nor
	# that somebody's run, which was just ending, has ended.
	left=$(state | diff "$since" - | sed -n -e '\,^< knob /sys/block/loop\|^< knob .*delayacct,d' \
		${shared:+-e '/^< .*\/\(mm-cache\|journal\)\.[0-9]*$/d'} \
		-e 's/^< /gone: /p' -e 's/^> /new: /p')
	[ -n "$left" ] || exit 0
	[ $((now - begin)) -lt $((settle_us * busy)) ] || break
	sleep 0.1
done
echo "$left"
exit 1
