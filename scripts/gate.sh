#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Boots two kernels, or one with two settings, in turns, runs the suite in each
# boot, and says whether the second is worse than the first. --help tells
# everything.
set -u -o pipefail

usage()
{
	cat <<'END'
usage: scripts/gate.sh A B [options] [-- options of mm-cache-compare]

A is the kernel as it was, B as it shall be. Each is KERNEL[,SETTING=VALUE]...

KERNEL
  FILE               a kernel image
  DIR                a built kernel tree (vng --build)
  6.12, 7, VER@SUITE a stock Debian kernel, if there is no file of that name

SETTING
  reclaim            classic or mglru; on both sides, or on none
  read_ahead_kb, mem, fs, block_size, mount, files, buffer, scanners,
  hot_readers        the variable MM_CACHE_... of the README
  sysctl:NAME        such as sysctl:vm.swappiness=10
  append             a kernel option: append=transparent_hugepage=never
  A comma in a VALUE is written "\,".

how much
  --blocks N         blocks of four boots, A B B A (default 2)
  --budget TIME      as many blocks as fit: 90s, 20m, 2h. Refuses when not even
                     one fits; never begins one that does not
  --more             as many blocks more as the comparison asks for
  --jobs N           boots at a time: 1, 2 (A beside B) or 4. Default 1; without
                     KVM, where a guest is one thread, 2 if there are 2 CPUs

where
  --dir DIR          default build/gate/A-vs-B
  --fresh            forget what DIR holds. Otherwise boots that are complete are
                     not made again, if kernels, suite and options are the same

passed to scripts/run-vng.sh, for A and for B
  --programs A,B --reps N --reclaim R --fs FS --set NAME=VALUE
  --workload "leveldb OPTION..." (not the suite, but GETs and SCANs of a database;
  settings are then reclaim, mem, read_ahead_kb, sysctl and append)
  --sysctl NAME=VALUE --append OPTION --memory SIZE --cpus N --disk SIZE
  --accel A --timeout SECONDS --boot-timeout SECONDS --boot-tries N

Each boot has a scratch disk of its own and a cold cache. DIR gets the logs,
A/BB-P.log and B/BB-P.log (block, position), what else the guests said in guests/,
and the verdict: report.txt, report.md, report.json, junit.xml, figure.svg,
figure.png.

A guest that dies ends the gate, and fails it if it was one of B; what it said is
kept as BB-P.died. The next start boots it again, but as long as the .died file is
there, nothing passes. Other logs that are of no use are kept as BB-P.broken.

What goes to build/tools/mm-cache-compare (its --help tells) may be another at the
next start: --allow-skips when only one kernel can run a test, --across KEY when an
"# env" line differs on purpose. Those of the settings above are known, but for
sysctl and append.

examples
  scripts/gate.sh 6.12 7 -- --allow-skips
  scripts/gate.sh ~/linux-before ~/linux-after --budget 40m
  scripts/gate.sh 7,reclaim=classic 7,reclaim=mglru --programs pread_hot_set
  scripts/gate.sh ~/linux ~/linux,sysctl:vm.vfs_cache_pressure=50
  scripts/gate.sh 7,reclaim=classic 7,reclaim=mglru --workload leveldb

exit status: 0 pass, 1 fail, 2 undecided (--more), 3 wrong usage, something
missing, a guest of A that died, or logs that cannot be compared; 130, 143, 129
ended by INT, TERM, HUP
END
}

readonly PASS=0 FAIL=1 UNDECIDED=2 BROKEN=3

here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
run_vng=$here/scripts/run-vng.sh
compare=$here/build/tools/mm-cache-compare
leveldb=$here/build/tools/mm-cache-leveldb
install=$here/build/install

# Seconds of each program, at its default repetitions: emulated (TCG), and where
# the CPU runs as it is. Good for a first guess; what boots took replaces it. A
# database's are for one measured window; what else it does takes as long as six.
boot_tcg=25 boot_kvm=8
expected_seconds()
{
	cat <<'END'
dontcache_hot_set 15 10
dontcache_random 9 8
dontcache_shared 8 4
dontcache_small_buffer 15 8
dontcache_write 21 14
fadvise_hot_set 31 12
get_scan 85 13
mmap_hot_set 65 14
noreuse_hot_set 9 5
odirect_hot_set 6 2
pread_hot_set 39 6
repeated_scan 19 3
seq_hot_set 41 5
uring_dontcache 16 5
leveldb 23 6
END
}

say()
{
	printf 'gate.sh: %s\n' "$*" >&2
}

finish()
{
	[ -z "${work-}" ] || rm -rf "$work"
	exit "$1"
}

die()
{
	say "$@"
	finish $BROKEN
}

# Bash 5.2 may lose a signal that it has a trap for, with the command that it is
# just expanding. So this process does nothing but wait; the one that works has no
# trap, ends at once, and with it what is bound() to it.
# shellcheck disable=SC2317 # called by the traps
ended()
{
	kill -TERM $! 2>/dev/null
	wait
	say "interrupted: what is complete stays; the same command goes on"
	exit "$1"
}
if [ "${1-}" != --worker ]; then
	trap 'ended 130' INT
	trap 'ended 143' TERM
	trap 'ended 129' HUP
	command -v setpriv >/dev/null || die "setpriv is missing: install util-linux"
	setpriv --pdeathsig TERM "${BASH_SOURCE[0]}" --worker "$@" </dev/null &
	wait $!
	exit
fi
shift

# ------------------------------------------------------------------- arguments

dir='' blocks='' budget='' more='' fresh='' jobs='' accel=auto programs='' workload=''
common=() limits=() specs=() compare_args=()
image_A='' image_B='' settings_A=() settings_B=()
# What run-vng.sh is told for each side.
# shellcheck disable=SC2034 # used by reference
args_A=() args_B=()

# "90s", "20m", "2h" in seconds; nothing when it is no time.
seconds_of()
{
	[[ $1 =~ ^([1-9][0-9]{0,5})([smh])$ ]] || return
	case ${BASH_REMATCH[2]} in
	s) echo "${BASH_REMATCH[1]}" ;;
	m) echo $((BASH_REMATCH[1] * 60)) ;;
	h) echo $((BASH_REMATCH[1] * 3600)) ;;
	esac
}

while [ $# -gt 0 ]; do
	case $1 in
	-h | --help)
		usage
		exit 0
		;;
	--more | --fresh)
		declare "${1#--}=yes"
		shift
		continue
		;;
	--)
		shift
		compare_args=("$@")
		break
		;;
	--*)
		[ $# -ge 2 ] || die "$1: unknown, or without its value (--help tells)"
		;;
	-*) die "$1: unknown option (--help tells)" ;;
	*)
		specs+=("$1")
		shift
		continue
		;;
	esac
	case $1 in
	--blocks) blocks=$2 ;;
	--budget) budget=$2 ;;
	--jobs) jobs=$2 ;;
	--dir) dir=$2 ;;
	--accel) accel=$2 ;;
	--programs)
		programs=$2
		common+=("$1" "$2")
		;;
	--workload)
		workload=$2
		common+=("$1" "$2")
		;;
	--reps | --reclaim | --fs | --set | --sysctl | --append | --memory | --cpus | --disk)
		common+=("$1" "$2")
		;;
	--timeout | --boot-timeout | --boot-tries) limits+=("$1" "$2") ;;
	*) die "$1: unknown option (--help tells)" ;;
	esac
	shift 2
done
[ ${#specs[@]} -eq 2 ] || die "two kernels expected, ${#specs[@]} given (--help tells)"
[[ -z $workload || " ${common[*]} " != *" --"@(programs|fs|disk)" "* ]] ||
	die "--workload has no --programs, --fs or --disk"
[ -z "$blocks" ] || [[ $blocks =~ ^[1-9][0-9]?$ ]] || die "--blocks $blocks: a number from 1 to 99 expected"
if [ -n "$budget" ]; then
	budget_text=$budget
	budget=$(seconds_of "$budget")
	[ -n "$budget" ] || die "--budget $budget_text: a time such as 90s, 20m or 2h expected"
fi
[ -z "$blocks" ] || [ -z "$budget$more" ] || die "--blocks says how many: without --budget and --more"
case $jobs in
'' | 1 | 2 | 4) ;;
*) die "--jobs $jobs: 1, 2 or 4 boots at a time" ;;
esac

# The "# env" key that a setting shows as, if it does.
env_key()
{
	case $1 in
	mem=*) echo memcg ;;
	append=transparent_hugepage=*) echo thp ;;
	sysctl:* | append=*) ;;
	*) echo "${1%%=*}" ;;
	esac
}

# parse_side A|B SPEC: what run-vng.sh is told for it; its kernel comes first.
parse_side()
{
	local side=$1 spec=$2 pieces setting name value
	local -n side_args=args_$1 settings=settings_$1

	[[ $spec != *[$'\n\t']* ]] || die "$side: a line break or a tab in '$spec'"
	if [ -e "$spec" ]; then
		pieces=("$spec")
	else
		IFS=, read -r -a pieces <<<"${spec//\\,/$'\001'}"
		pieces=("${pieces[@]//$'\001'/,}")
	fi
	if [ -e "${pieces[0]-}" ]; then
		side_args=(--kernel "$(realpath "${pieces[0]}")")
	elif [[ ${pieces[0]-} =~ ^[0-9]+(\.[0-9]+)*(@[a-z-]+)?$ ]]; then
		side_args=(--debian "${pieces[0]}")
	else
		die "$side: '${pieces[0]-}' is no file, no directory, and no Debian version such as 6.12"
	fi
	for setting in "${pieces[@]:1}"; do
		name=${setting%%=*}
		value=${setting#*=}
		[[ $setting == *=* && -n $value ]] || die "$side: '$setting': SETTING=VALUE expected (--help tells)"
		case $name in
		reclaim)
			[[ $value =~ ^(classic|mglru)$ ]] || die "$side: $setting: there is classic and mglru"
			side_args+=(--reclaim "$value")
			;;
		fs | block_size | mount | files | buffer | scanners | hot_readers)
			[ -z "$workload" ] || die "$side: $setting: is no setting of --workload (--help tells)"
			;;&
		read_ahead_kb | mem | fs | block_size | mount | files | buffer | scanners | hot_readers)
			side_args+=(--set "MM_CACHE_${name^^}=$value")
			;;
		sysctl:?*.?*) side_args+=(--sysctl "${setting#sysctl:}") ;;
		append) side_args+=(--append "$value") ;;
		*) die "$side: '$name' is no setting (--help tells)" ;;
		esac
		[ "$name" = append ] || [[ " ${settings[*]-}" != *" $name="* ]] ||
			die "$side: $name is given twice"
		settings+=("$setting")
	done
}
parse_side A "${specs[0]}"
parse_side B "${specs[1]}"

# Settings of one side only, "A reclaim=classic" a line.
differences()
{
	comm -3 <(printf '%s\n' ${settings_A[@]+"${settings_A[@]}"} | sort) \
		<(printf '%s\n' ${settings_B[@]+"${settings_B[@]}"} | sort) | sed 's/^\t//'
}
while read -r setting; do
	key=$(env_key "$setting")
	[ -z "$key" ] || [[ " ${compare_args[*]-} " == *" --across=$key "* ]] ||
		compare_args+=("--across=$key")
done < <(differences)
with_reclaim=$(printf '%s\n' "${settings_A[*]-}" "${settings_B[*]-}" | grep -cE '(^| )reclaim=')
[ "$with_reclaim" != 1 ] ||
	die "reclaim= on one side only: say for the other one, too, whether it is classic or mglru"

# Short, for directories and tables: a tree goes by its last name.
name_of()
{
	local name=$1 kernel=${1%%,*}

	[ ! -e "$kernel" ] || name=$(basename "$(realpath "$kernel")")${1#"$kernel"}
	echo "${name//[^A-Za-z0-9._+=,:-]/_}"
}
name_A=$(name_of "${specs[0]}")
name_B=$(name_of "${specs[1]}")
[ -n "$dir" ] || dir=$here/build/gate/$name_A-vs-$name_B

# Runs a command that does not outlive this process.
bound()
{
	setpriv --pdeathsig TERM "$@" </dev/null
}

# ------------------------------------------------------------------- directory

# The lock goes to all that is started here: guests that outlived a gate hold it.
open_dir()
{
	mkdir -p "$dir" 2>/dev/null || die "$dir: cannot be made"
	dir=$(cd "$dir" && pwd) || die "$dir: cannot be entered"
	: 2>/dev/null >>"$dir/gate.lock" || die "$dir: cannot be written to"
	exec {lock}>>"$dir/gate.lock"
	if ! flock -n "$lock"; then
		say "waiting for another gate in $dir, or for guests of it, to end"
		flock -w 30 "$lock" || die "$dir: another gate is at work there (fuser $dir/gate.lock tells)"
	fi
	work=$dir/.gate.tmp
	if [ -n "$fresh" ] && [ -e "$dir/gate.conf" ]; then
		rm -rf "$dir"/{A,B,guests,times,blocks,gate.conf}
		remove_reports
	fi
	rm -rf "$work"
	# Killed at its very start, a gate leaves empty directories.
	[ -e "$dir/gate.conf" ] || [ -z "$(find "$dir" ! -type d ! -name gate.lock -print -quit)" ] ||
		die "$dir: is not empty, and no gate made it: give another --dir"
	mkdir -p "$dir"/{A,B,guests} "$work" || die "$dir: cannot be written to"
	echo >"$work/room" || die "$dir: cannot be written to"
}

remove_reports()
{
	rm -f "$dir"/{report.txt,report.md,report.json,junit.xml,figure.svg,figure.png}
}

# What is booted, by content: a tree that was built again is another kernel.
kernel_sum()
{
	if [ -d "$1" ]; then
		cat "$1/arch/x86/boot/bzImage"
		[ ! -f "$1/modules.order" ] ||
			(cd "$1" && sed 's/\.o$/.ko/' modules.order | xargs -r -d '\n' stat -c '%n %s %Y')
	else
		cat "$1"
	fi 2>&1 | sha256sum | cut -c 1-32
}

suite_sum()
{
	(cd "$install" && find . -type f -print0 | LC_ALL=C sort -z | xargs -0 sha256sum &&
		sha256sum <"$here/scripts/guest-run.sh" &&
		if [ -n "$workload" ]; then sha256sum <"$leveldb"; fi) | sha256sum | cut -c 1-32
}

# All that boots must share to be compared.
configuration()
{
	printf '%s\n' \
		"A kernel: $image_A" "A kernel's sum: $(kernel_sum "$image_A")" "A settings: ${settings_A[*]-}" \
		"B kernel: $image_B" "B kernel's sum: $(kernel_sum "$image_B")" "B settings: ${settings_B[*]-}" \
		"suite's sum: $(suite_sum)" "options: ${common[*]-}" "accelerator: $accel" "boots at a time: $jobs"
}

# changed FILE: what is other than in FILE, if anything.
changed()
{
	configuration | diff "$1" - | sed -n 's/^< /  was: /p; s/^> /  is:  /p'
}

# resolve A|B: fetches the kernel, once and for all boots.
resolve()
{
	# shellcheck disable=SC2178 # by reference
	local -n side_args=args_$1
	local lines

	bound "$run_vng" "${side_args[@]}" ${workload:+--workload "$workload"} --resolve --accel "$accel" >"$work/resolved" ||
		die "$1 (${side_args[1]}): see above"
	mapfile -t lines <"$work/resolved"
	[ ${#lines[@]} -eq 3 ] || die "$run_vng --resolve printed ${#lines[@]} lines"
	say "$1:" "${lines[0]}" "${side_args[@]:2}"
	declare -g "image_$1=${lines[1]}"
	accel=${lines[2]}
	side_args=(--kernel "${lines[1]}" "${side_args[@]:2}")
}

# ------------------------------------------------------------------------ plan

# "A B B A": legs of block BB are BB-1 to BB-4, on these sides.
side_of()
{
	case $1 in
	*-[14]) echo A ;;
	*) echo B ;;
	esac
}

is_complete()
{
	[ -s "$dir/$(side_of "$1")/$1.log" ]
}

# Those that are booted at a time, a line each: "01-1 01-2".
rounds_of()
{
	printf "%02d-1 %02d-2 %02d-3 %02d-4\n" "$1" "$1" "$1" "$1" |
		xargs -n "$jobs"
}

round_complete()
{
	local leg

	for leg; do
		is_complete "$leg" || return 1
	done
}

block_complete()
{
	local block

	printf -v block %02d "$1"
	round_complete "$block"-{1..4}
}

last_block_begun()
{
	find "$dir/A" "$dir/B" -name '*.log' | sed 's,.*/\([0-9]*\)-.*,\1,; s/^0//' |
		sort -n | tail -n 1
}

# The first guess for a round.
guess()
{
	local column=2 boot=$boot_tcg list times=1

	[ "$accel" = tcg ] || {
		column=3
		boot=$boot_kvm
	}
	list=${programs//,/ }
	if [ -n "$workload" ]; then
		list=${workload%% *}
		times=$((8 + 6))
		[[ ! $workload =~ " --measured"[=\ ]([1-9][0-9]{0,5}) ]] || times=$((BASH_REMATCH[1] + 6))
	fi
	[ -n "$list" ] || list=$(sed -n 's/^mm-cache://p' "$install/kselftest-list.txt" | xargs)
	expected_seconds | awk -v list="$list" -v column=$column -v times="$times" -v sum="$boot" '
		{ known[$1] = $column }
		END {
			n = split(list, names, " ")
			for (i = 1; i <= n; i++)
				sum += names[i] in known ? times * known[names[i]] : 60
			print int(sum + 0.5)
		}'
}

# round_seconds LEG...: as those like it took; else as any took; else a guess.
round_seconds()
{
	local sides='' leg

	for leg; do
		sides+=$(side_of "$leg")
	done
	awk -v sides="$(sort_letters "$sides")" -v guess="$first_guess" '
		{ n++; sum += $2 }
		$1 == sides { like++; like_sum += $2 }
		END { print int((like ? like_sum / like : n ? sum / n : guess) + 1) }' "$dir/times"
}

sort_letters()
{
	case $1 in
	BA) echo AB ;;
	*) echo "$1" ;;
	esac
}

# seconds_left FROM TO: of the rounds of these blocks that are not complete.
seconds_left()
{
	local block sum=0 legs

	for ((block = $1; block <= $2; block++)); do
		while read -r -a legs; do
			round_complete "${legs[@]}" || sum=$((sum + $(round_seconds "${legs[@]}")))
		done < <(rounds_of "$block")
	done
	echo "$sum"
}

# How many blocks there will be when SECONDS of time are left.
blocks_within()
{
	local left=$1 block

	for ((block = 1; block <= 99; block++)); do
		left=$((left - $(seconds_left "$block" "$block")))
		[ $left -ge 0 ] || break
	done
	echo $((block - 1))
}

boots_complete()
{
	find "$dir/A" "$dir/B" -name '*.log' | wc -l
}

# "1 block", "2 blocks"
count()
{
	echo "$1 $2$([ "$1" = 1 ] || echo s)"
}

human()
{
	if [ "$1" -lt 100 ]; then
		echo "$1 s"
	elif [ "$1" -lt 5400 ]; then
		echo "$((($1 + 30) / 60)) min"
	else
		echo "$(($1 / 3600)) h $(($1 % 3600 / 60)) min"
	fi
}

until_when()
{
	printf '%(%H:%M)T' $(($(printf '%(%s)T' -1) + $1))
}

# To $work/more. It tells, too, whether what there is can be compared at all.
ask_blocks_more()
{
	bound "$compare" ${compare_args[@]+"${compare_args[@]}"} --blocks-more "${sets[@]}" >"$work/more" ||
		[ $? -le $UNDECIDED ] || die "the logs in $dir cannot be compared: see above"
}

plan()
{
	local begun planned more_blocks complete=0 block seconds source

	begun=$(last_block_begun)
	planned=$(cat "$dir/blocks" 2>/dev/null)
	while block_complete $((complete + 1)); do
		complete=$((complete + 1))
	done
	if [ -n "$more" ] && [ "${planned:-0}" -gt "$complete" ]; then
		say "first what was planned before: $(count "$planned" block)"
		target=$planned
	elif [ -n "$more" ]; then
		[ "$complete" -gt 0 ] || die "--more: there is no complete block in $dir to tell how many"
		ask_blocks_more
		more_blocks=$(cat "$work/more")
		[[ $more_blocks =~ ^[0-9]{1,6}$ ]] || die "$compare --blocks-more said '$more_blocks'"
		say "the comparison asks for $(count "$more_blocks" block) more"
		target=$((complete + more_blocks))
		if [ $target -gt 99 ]; then
			say "that is more than a gate can hold: 99 blocks in all"
			target=99
		fi
	elif [ -n "$blocks" ]; then
		target=$blocks
	elif [ -z "$budget" ]; then
		target=${planned:-2}
	else
		target=99
	fi
	if [ -n "$budget" ]; then
		block=$(blocks_within $((budget - SECONDS)))
		[ "$block" -gt "$complete" ] || [ "$target" -le "$complete" ] ||
			die "--budget $budget_text: one block of four boots takes about" \
				"$(human "$(seconds_left $((complete + 1)) $((complete + 1)))")$([ -s "$dir/times" ] || echo ", by a guess"):" \
				"give more time, or fewer --programs"
		[ "$block" -ge "$target" ] || target=$block
	fi
	[ "${begun:-0}" -le "$target" ] || {
		say "$dir has more than $(count "$target" block): $begun it is"
		target=$begun
	}
	echo "$target" >"$dir/blocks"

	seconds=$(seconds_left 1 "$target")
	source="as earlier boots took"
	[ -s "$dir/times" ] || source="a guess, which the first boot corrects"
	if [ "$seconds" -eq 0 ]; then
		say "all $((target * 4)) boots are complete in $dir"
	else
		say "$(count "$target" block), $((target * 4)) boots, $jobs at a time; $(boots_complete) complete in $dir"
		say "it takes about $(human "$seconds"), until $(until_when "$seconds") ($source)"
	fi
}

# ----------------------------------------------------------------------- boots

# What stopped the gate, if anything, and whether it was a guest that died.
trouble='' died=''

keep_as()
{
	mv --backup=numbered "$work/$2.log" "$dir/$(side_of "$2")/$2.$1" 2>/dev/null ||
		: >"$dir/$(side_of "$2")/$2.$1"
}

# The console and run-vng.sh's words, for those who want to know more.
keep_guest()
{
	local name

	name=$(side_of "$1")-$1
	mv "$work/$1.out" "$dir/guests/$name.out"
	[ ! -e "$work/$1.log.console" ] || mv "$work/$1.log.console" "$dir/guests/$name.console"
}

# leg_ended LEG CODE: of run-vng.sh. Only what is whole becomes a log.
leg_ended()
{
	local leg=$1 code=$2 side name said

	side=$(side_of "$leg")
	name="$side $leg"
	said=$(grep -v '^[[:space:]]*$' "$work/$leg.out" | tail -n 1)
	grep -A 5 'booting it again' "$work/$leg.out" >&2
	case $code in
	[0-4])
		if grep -q 'Bail out!' "$work/$leg.log" 2>/dev/null || [ ! -s "$work/$leg.log" ]; then
			said=$(grep -m 1 'Bail out!' "$work/$leg.log" 2>/dev/null)
			trouble="$name: the suite could not run: ${said:-it said nothing}"
			keep_as broken "$leg"
		elif is_complete "$leg"; then
			said+=" (left out: it was complete before)"
		else
			done_legs+=("$leg")
			keep_guest "$leg"
		fi
		;;
	70)
		died=yes
		trouble="$name: the guest died; its log: $dir/$side/$leg.died, its console: $dir/guests/$side-$leg.console"
		said=$(grep -m 1 -o 'guest died: .*' "$work/$leg.out")
		grep -A 30 'of its console' "$work/$leg.out" | sed '1d' >&2
		keep_as died "$leg"
		keep_guest "$leg"
		;;
	*)
		trouble="$name: run-vng.sh ended with status $code: see above"
		tail -n 20 "$work/$leg.out" >&2
		keep_as broken "$leg"
		;;
	esac
	say "$name: $((SECONDS - round_begin)) s: $said"
}

# Boots the legs of a round side by side. A leg that is complete is booted again
# beside one that is not, and left out: it gives its partner the load that every
# other boot had.
run_round()
{
	local leg side legs=("$@") done_legs=() round_begin=$SECONDS kind='' changes
	local -A pid_of=()

	for leg in "${legs[@]}"; do
		side=$(side_of "$leg")
		# shellcheck disable=SC2178 # by reference
		local -n side_args=args_$side
		kind+=$side
		# No function: the parent that it is bound to must be this process.
		setpriv --pdeathsig TERM "$run_vng" "${side_args[@]}" ${common[@]+"${common[@]}"} ${limits[@]+"${limits[@]}"} \
			--accel "$accel" --install "$install" --log "$work/$leg.log" </dev/null >"$work/$leg.out" 2>&1 &
		pid_of[$leg]=$!
	done
	for leg in "${legs[@]}"; do
		wait "${pid_of[$leg]}"
		leg_ended "$leg" $?
	done
	changes=$(changed "$dir/gate.conf")
	if [ -n "$changes" ]; then
		printf '%s\n' "$changes" >&2
		die "this changed while it was measured: nothing of ${legs[*]} counts"
	fi
	for leg in "${done_legs[@]}"; do
		sync "$work/$leg.log"
		mv "$work/$leg.log" "$dir/$(side_of "$leg")/$leg.log" || die "$dir: cannot be written to"
	done
	if [ -n "$died" ]; then
		say "$trouble"
		judge
		finish $?
	fi
	[ -z "$trouble" ] || die "$trouble"
	[ -z "$(find "$dir/A" -name '*.log')" ] || [ -z "$(find "$dir/B" -name '*.log')" ] || ask_blocks_more
	echo "$(sort_letters "$kind") $((SECONDS - round_begin))" >>"$dir/times"
}

run_blocks()
{
	local block legs left fits

	for ((block = 1; block <= target; block++)); do
		! block_complete "$block" || continue
		while read -r -a legs; do
			! round_complete "${legs[@]}" || continue
			run_round "${legs[@]}"
			left=$(seconds_left 1 "$target")
			[ "$left" -eq 0 ] ||
				say "$(boots_complete) of $((target * 4)) boots complete," \
					"about $(human "$left") left, until $(until_when "$left")"
		done < <(rounds_of "$block")
		if [ -z "$budget" ] || [ $block -eq "$target" ]; then
			continue
		fi
		fits=$(blocks_within $((budget - SECONDS)))
		[ "$fits" -lt "$target" ] || continue
		target=$((fits > block ? fits : block))
		echo "$target" >"$dir/blocks"
		say "within $budget_text there is time for $(count "$target" block)"
	done
}

# --------------------------------------------------------------------- verdict

judge()
{
	local format file code verdict='' dead

	remove_reports
	for format in table:report.txt markdown:report.md json:report.json junit:junit.xml; do
		file=$dir/${format#*:}
		local extra=()
		[ "$format" != table:report.txt ] || extra=(--figure "$dir/figure.svg" --figure "$dir/figure.png")
		bound "$compare" ${compare_args[@]+"${compare_args[@]}"} --format="${format%:*}" --output "$file" \
			${extra[@]+"${extra[@]}"} "${sets[@]}"
		code=$?
		[ $code -le $BROKEN ] || die "$compare ended with status $code"
		[ "${verdict:=$code}" = $code ] || die "$compare says $verdict, and $code as ${format%:*}"
		[ "$verdict" != $BROKEN ] || die "the logs in $dir cannot be compared: see above"
	done
	cat "$dir/report.txt"
	dead=$(find "$dir/A" "$dir/B" -name '*.died*' | sort | paste -sd ' ')
	if [ -n "$dead" ]; then
		say "guests died: $dead"
		[ "$verdict" = $FAIL ] || die "no verdict while those are there: remove them when you know why they died"
	fi
	case $verdict in
	"$PASS") say "pass: $name_B is not worse than $name_A" ;;
	"$FAIL") say "fail: $name_B is worse than $name_A" ;;
	"$UNDECIDED") say "undecided: the same with --more goes on" ;;
	esac
	say "all of it: $dir"
	return "$verdict"
}

for tool in flock gnuplot; do
	command -v $tool >/dev/null || die "$tool is missing: run 'make deps gate'"
done
open_dir
bound env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL make -s -C "$here" install tools \
	INSTALL_PATH="$install" >&2 || die "the suite does not build: see above ('make deps gate' may help)"
[ -z "$workload" ] || [ -x "$leveldb" ] || die "$leveldb was not built: run 'make deps gate'"
[ -x "$compare" ] || die "$compare was not built: run 'make deps gate'"
for program in ${programs//,/ }; do
	grep -qx "mm-cache:$program" "$install/kselftest-list.txt" ||
		die "--programs: no program $program; there are: $(sed -n 's/^mm-cache://p' "$install/kselftest-list.txt" | xargs)"
done
resolve A
resolve B
if [ -z "$jobs" ]; then
	jobs=1
	[ "$accel" != tcg ] || [ "$(nproc)" -lt 2 ] || jobs=2
fi
if [ -e "$dir/gate.conf" ]; then
	changes=$(changed "$dir/gate.conf")
	if [ -n "$changes" ]; then
		printf '%s\n' "$changes" >&2
		die "$dir holds another gate: give another --dir, or --fresh to forget it"
	fi
else
	configuration >"$work/gate.conf"
	mv "$work/gate.conf" "$dir/gate.conf" || die "$dir: cannot be written to"
fi
touch "$dir/times"
first_guess=$(guess)
label_A=${name_A//=/:} label_B=${name_B//=/:}
if [ "$label_A" = "$label_B" ]; then
	label_A+=-A label_B+=-B
fi
if [ "$image_A ${settings_A[*]-}" = "$image_B ${settings_B[*]-}" ]; then
	say "A and B are the same: whatever differs is chance"
fi
sets=("$label_A=$dir/A" "$label_B=$dir/B")
target=''
plan
run_blocks
judge
finish $?
