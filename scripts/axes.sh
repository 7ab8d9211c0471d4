#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Run the suite along the axes that change the answer: file system, readahead,
# memory, buffer, readers, blocks, folios, swap. --help tells everything.
set -u -o pipefail

top=$(cd "$(dirname "$0")/.." && pwd -P)
build=${BUILD_DIR:-$top/build}
out=${AXES_DIR:-$build/axes/$(uname -r)}
fresh=''
swap_device=''
swap_device_was_there=''

usage()
{
	cat <<'END'
usage: scripts/axes.sh [--fresh] [--list] SET...

  --list   print the runs of the SETs, and end
  --fresh  forget what was run earlier; otherwise a run that is complete is not
           made again, so that an interrupted set goes on where it was

SET is full, or one or more of these axes; each has the default beside it:
END
	runs | awk '!seen[$1]++ { print "  " $1 }'
	cat <<'END'

The logs are kept in build/axes/KERNEL (AXES_DIR= elsewhere), and a table for
each axis is printed at the end, in Markdown: what each property measured, and *
where it is not ok. It takes minutes an axis, up to an hour for all.

exit status: 0 when every run was made, whatever it found; 1 when not; 64 usage
END
}

# One run a line: axis, value, variables ("-": none), programs ("all").
runs()
{
	cat <<'END'
base       default      -                                                 all
fs         xfs          MM_CACHE_FS=xfs                                   all
fs         btrfs        MM_CACHE_FS=btrfs                                 all
fs         tmpfs        MM_CACHE_DIR=@tmpfs                               dontcache_hot_set
device     directory    MM_CACHE_DIR=@directory                           all
files      data         MM_CACHE_FILES=data                               pread_hot_set,mmap_hot_set,fadvise_hot_set,seq_hot_set
read_ahead 0            MM_CACHE_READ_AHEAD_KB=0                          all
read_ahead 8192         MM_CACHE_READ_AHEAD_KB=8192,MM_CACHE_MEM=256M     all
memory     32M          MM_CACHE_MEM=32M                                  all
memory     256M         MM_CACHE_MEM=256M                                 pread_hot_set,mmap_hot_set,seq_hot_set,repeated_scan,noreuse_hot_set
memory     1G           MM_CACHE_MEM=1G                                   pread_hot_set,mmap_hot_set
memory     machine      MM_CACHE_MEM=machine                              pread_hot_set,mmap_hot_set
buffer     4K           MM_CACHE_BUFFER=4K                                pread_hot_set,dontcache_hot_set,fadvise_hot_set,odirect_hot_set
buffer     64K          MM_CACHE_BUFFER=64K                               pread_hot_set,dontcache_hot_set,fadvise_hot_set,odirect_hot_set
buffer     16M          MM_CACHE_BUFFER=16M                               pread_hot_set,dontcache_hot_set,fadvise_hot_set,odirect_hot_set
readers    4            MM_CACHE_HOT_READERS=4                            pread_hot_set,mmap_hot_set
scanners   4            MM_CACHE_SCANNERS=4                               pread_hot_set,mmap_hot_set,dontcache_hot_set,fadvise_hot_set
block      ext4_1K      MM_CACHE_BLOCK_SIZE=1024                          dontcache_hot_set,dontcache_small_buffer,fadvise_hot_set
block      ext4_16K     MM_CACHE_BLOCK_SIZE=16384                         dontcache_hot_set,dontcache_small_buffer,fadvise_hot_set
block      xfs_16K      MM_CACHE_FS=xfs,MM_CACHE_BLOCK_SIZE=16384         dontcache_hot_set,dontcache_small_buffer,fadvise_hot_set
folios     small        MM_CACHE_MOUNT=data=journal                       dontcache_hot_set,dontcache_small_buffer,fadvise_hot_set
swap       zram         @swap                                             pread_hot_set,mmap_hot_set
END
}

die()
{
	printf 'axes.sh: %s\n' "$@" >&2
	exit 64
}

# "axis value variables programs" of the sets asked for, the default first.
chosen_runs()
{
	runs | awk -v sets=" $* " '
		sets ~ / full / || index(sets, " " $1 " ") || $1 == "base"'
}

clean_up()
{
	[ -z "$swap_device" ] || swapoff "$swap_device" 2>/dev/null
	# zramctl --reset removes it.
	if [ -n "$swap_device_was_there" ]; then
		echo 1 >"/sys/block/${swap_device#/dev/}/reset"
	elif [ -n "$swap_device" ]; then
		zramctl --reset "$swap_device" 2>/dev/null
	fi
	swap_device=''
	swap_device_was_there=''
	[ ! -d "$out/directory" ] || rmdir "$out/directory"
	[ ! -d /dev/shm/mm-cache-axes ] || rmdir /dev/shm/mm-cache-axes
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# A quarter of the memory, compressed, as a laptop has it.
swap_on()
{
	local kib before

	kib=$(awk '/^MemTotal/ { print int($2 / 4) }' /proc/meminfo)
	modprobe -q zram 2>/dev/null
	before=" $(echo /sys/block/zram*) "
	swap_device=$(zramctl --find --size "${kib}K" 2>/dev/null) || {
		swap_device=''
		return 1
	}
	[[ $before != *" /sys/block/${swap_device#/dev/} "* ]] || swap_device_was_there=yes
	mkswap -q "$swap_device" >/dev/null && swapon "$swap_device"
}

# The variables of a run, one a line; fails when they cannot be had here.
variables()
{
	local pair

	for pair in ${1//,/ }; do
		case $pair in
		- | @swap) ;;
		*=@tmpfs)
			mkdir -p /dev/shm/mm-cache-axes || return 1
			echo "${pair%%=*}=/dev/shm/mm-cache-axes"
			;;
		*=@directory)
			mkdir -p "$out/directory" || return 1
			echo "${pair%%=*}=$out/directory"
			;;
		*) echo "$pair" ;;
		esac
	done
}

is_complete()
{
	[ -s "$1" ] && [ "$(tail -n 1 "$1")" = "# axes: complete" ]
}

# run_one AXIS VALUE VARIABLES PROGRAMS: to its log.
run_one()
{
	local log=$out/$1-$2.ktap pairs programs=() not=()

	if [ "$3" = @swap ] && ! swap_on; then
		clean_up
		printf '# axes: skipped: no zram device can be had\n# axes: complete\n' >"$log"
		return 0
	fi
	mapfile -t pairs < <(variables "$3")
	# A directory instead of a device, where one is set as in a guest.
	[[ $3 != MM_CACHE_DIR=* ]] || not=(-u MM_CACHE_DEV)
	[ "$4" = all ] || IFS=, read -r -a programs <<<"$4"
	env "${not[@]}" BUILD_DIR="$build" "${pairs[@]}" "$top/scripts/run.sh" "${programs[@]}" >"$log.new" 2>&1
	case $? in
	[0-4]) ;;
	*)
		tail -n 20 "$log.new" >&2
		clean_up
		return 1
		;;
	esac
	echo '# axes: complete' >>"$log.new"
	mv "$log.new" "$log"
	clean_up
}

# tables: for each axis, a row for each result and a column for each value. A cell
# is the first bounded figure of the result, which is what the property is about.
tables()
{
	chosen_runs "$@" | awk -v out="$out" '
		function read_log(run, log_name,   line, f, n, label, verdict) {
			while ((getline line < log_name) > 0) {
				sub(/^(# )+/, "", line)
				n = split(line, f, " ")
				if (f[1] == "metric" && line ~ / bound[<>]=/ && !((run, f[2]) in figure)) {
					for (i = 5; i <= n; i++)
						if (f[i] ~ /^median=/)
							figure[run, f[2]] = substr(f[i], 8)
					metric[f[2]] = f[3] " " f[4]
				}
				if (line !~ /^(ok|not ok) [0-9]+ [a-z0-9_]+\.[a-z0-9_.]+/)
					continue
				label = f[1] == "not" ? f[4] : f[3]
				sub(/\.[a-z0-9_]+$/, "", label)
				verdict = f[1] == "not" ? "*" : ""
				if (line ~ /# SKIP inconclusive/)
					verdict = "?"
				else if (line ~ /# SKIP/)
					verdict = "skip"
				if (!(label in known)) {
					known[label] = 1
					order[++labels] = label
				}
				cell[run, label] = verdict == "skip" ? "skip" : figure[run, label] verdict
				seen[run] = 1
			}
			close(log_name)
		}
		{
			run = $1 "-" $2
			read_log(run, out "/" run ".ktap")
			if ($1 != "base") {
				if (!($1 in count))
					axes[++nr_axes] = $1
				column[$1, ++count[$1]] = $2
			}
		}
		END {
			for (a = 1; a <= nr_axes; a++) {
				axis = axes[a]
				head = "| " axis " | unit | default |"
				rule = "|---|---|---|"
				for (c = 1; c <= count[axis]; c++) {
					head = head " " column[axis, c] " |"
					rule = rule "---|"
				}
				print "\n" head "\n" rule
				for (l = 1; l <= labels; l++) {
					row = ""
					any = 0
					for (c = 1; c <= count[axis]; c++) {
						value = cell[axis "-" column[axis, c], order[l]]
						any += value != "" && value != "skip"
						row = row " " (value == "" ? "-" : value) " |"
					}
					if (any)
						print "| " order[l] " | " metric[order[l]] " | " \
							cell["base-default", order[l]] " |" row
				}
			}
		}'
}

sets=()
list=''
while [ $# -gt 0 ]; do
	case $1 in
	-h | --help)
		usage
		exit 0
		;;
	--fresh) fresh=yes ;;
	--list) list=yes ;;
	-*) die "$1: unknown option (--help tells)" ;;
	*)
		[ "$1" = full ] || runs | awk '{ print $1 }' | grep -qx -- "$1" ||
			die "$1: no such axis; there are: full $(runs | awk '!seen[$1]++ { print $1 }' | paste -sd ' ')"
		sets+=("$1")
		;;
	esac
	shift
done
[ ${#sets[@]} -gt 0 ] || {
	usage >&2
	exit 64
}
if [ -n "$list" ]; then
	chosen_runs "${sets[@]}"
	exit 0
fi
[ "$(id -u)" -eq 0 ] || die "run it as root"
[ -z "$fresh" ] || rm -rf "$out"
mkdir -p "$out" || die "cannot make $out"

mapfile -t todo < <(chosen_runs "${sets[@]}")
begin=$SECONDS
made=0
failed=0
for ((i = 0; i < ${#todo[@]}; i++)); do
	read -r axis value pairs programs <<<"${todo[i]}"
	if is_complete "$out/$axis-$value.ktap"; then
		echo "axes.sh: $axis $value: was run before" >&2
		continue
	fi
	left=''
	[ $made -eq 0 ] ||
		left=", about $(((SECONDS - begin) * (${#todo[@]} - i) / made / 60 + 1)) minutes left"
	echo "axes.sh: $axis $value: run $((i + 1)) of ${#todo[@]}$left" >&2
	run_one "$axis" "$value" "$pairs" "$programs" </dev/null || {
		echo "axes.sh: $axis $value: could not be run: see $out/$axis-$value.ktap.new" >&2
		failed=$((failed + 1))
	}
	made=$((made + 1))
done

echo "# $(uname -sr), $(date -u +%Y-%m-%d), $(sed -nE 's/^(# )+env machine (.*)/\2/p' "$out/base-default.ktap" | head -n 1)"
tables "${sets[@]}"
[ $failed -eq 0 ] || exit 1
