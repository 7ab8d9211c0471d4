#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Kill runs of the suite at random moments, in every part, and see that the machine
# is as before each time. --help tells everything.

usage()
{
	cat <<'END'
usage: scripts/kill-runs.sh [OPTION...]

  --kills N      how many (default: each kind once)
  --seed N       of the moments; it is printed, and repeats them
  --kinds A,B    these, instead of most (see below)
  --explorer     runs of mm-cache-explore, instead of a test program
  --alone        nobody else uses this machine, a guest: use the kernel's own
                 lru_gen, and count whatever is otherwise. Without it, files stand
                 for lru_gen, and the runs have a /run of their own
  --build DIR    where it was built (default: build)
  --help         this text

Needs make, and make install. In a guest:

  scripts/run-vng.sh --debian 7 -- bash scripts/kill-runs.sh --alone --kills 100

A kind is WHAT-SIGNAL. What is killed: the "program"; its "test" process; the
"body" of that and the "trial" in it; the "keeper"; "keeper-and-program";
"everything" of the run; the program's process "group"; the "runner-group", which
is that of the kernel's runner. The explorer has a "worker", which has the lab, in
place of test and body, and no runner. Then there are ends that are no kill: timeout
of the runner, memcg-oom, and failed-assertion.

The state of the machine, by scripts/machine-state.sh, must be as before within
2 s of the end; where keeper and program are both killed, of the next run's end.

Runs measure on MM_CACHE_DEV, if that is set; else by turns on a loop device and in
a directory below TMPDIR (/var/tmp).

exit status: 0 nothing was left, 1 something was, 4 it cannot run here, 64 wrong usage
END
}

. "$(dirname "${BASH_SOURCE[0]}")/leftovers.sh"
set -u -o pipefail

die()
{
	local status=$1
	shift

	echo "kill-runs: $*" >&2
	exit "$status"
}

kinds=(
	program-{KILL,TERM,INT,HUP,QUIT,ALRM} test-{KILL,TERM,INT} body-KILL trial-KILL
	keeper-{KILL,TERM} keeper-and-program-KILL everything-{KILL,TERM}
	group-{KILL,TERM,INT,HUP} runner-group-{KILL,TERM,INT,HUP}
	runner-timeout memcg-oom failed-assertion
)
explorer_kinds=(
	program-{KILL,TERM,INT,HUP,QUIT} worker-{KILL,TERM,INT} trial-KILL
	keeper-{KILL,TERM} keeper-and-program-KILL everything-{KILL,TERM}
	group-{KILL,TERM,INT,HUP}
)
parts="program|test|body|worker|trial|keeper|keeper-and-program|everything|group|runner-group"
kill_pattern="^($parts)-(KILL|TERM|INT|HUP|QUIT|ALRM)$"
top=$(cd "$(dirname "$0")/.." && pwd -P)
arguments=("$@")
kills='' seed=$RANDOM alone='' build=$top/build
name=pread_hot_set levels=(program test body trial)
if [[ " $* " == *" --explorer "* ]]; then
	name=mm-cache-explore levels=(program worker trial)
	kinds=("${explorer_kinds[@]}")
fi
while [ $# -gt 0 ]; do
	case $1 in
	--help)
		usage
		exit 0
		;;
	--alone)
		alone=yes
		shift
		continue
		;;
	--explorer)
		shift
		continue
		;;
	--kills | --seed | --kinds | --build) [ $# -ge 2 ] || die 64 "$1 needs a value (--help tells)" ;;
	*) die 64 "unknown argument '$1' (--help tells)" ;;
	esac
	case $1 in
	--kills) kills=$2 ;;
	--seed) seed=$2 ;;
	--build) build=$2 ;;
	--kinds)
		all=" ${kinds[*]} "
		IFS=, read -ra kinds <<<"$2"
		for kind in "${kinds[@]}"; do
			[[ $kind =~ $kill_pattern || $all == *" $kind "* ]] ||
				die 64 "--kinds $kind: there are$all, and others such as test-QUIT"
		done
		;;
	esac
	shift 2
done
kills=${kills:-${#kinds[@]}}
for number in "$kills" "$seed"; do
	[[ $number =~ ^[0-9]{1,5}$ ]] || die 64 "$number is no number, or a large one"
done

program=$build/install/mm-cache/$name
[ $name = pread_hot_set ] || program=$build/tools/$name
runner=$build/install/run_kselftest.sh
shim=$build/check/shim.so
[ "$(id -u)" -eq 0 ] || die 4 "needs root"
for path in "$program" "$runner" "$shim"; do
	[ -e "$path" ] || die 4 "$path is not there: run make install check-programs"
done

run_begin "${arguments[@]}"
log=$RUN_DIR/log
left=$RUN_DIR/left

# What must be found again, and what no device has. Five is a bitmask that is
# neither "y" nor "n".
enabled=5
min_ttl_ms=1000
read_ahead_kb=516
if [ -n "$alone" ]; then
	lru_gen=/sys/kernel/mm/lru_gen
	[ -d "$lru_gen" ] || die 4 "--alone needs a kernel with MGLRU"
	read -r enabled_before <"$lru_gen/enabled"
	read -r min_ttl_before <"$lru_gen/min_ttl_ms"
	run_alone
else
	lru_gen=$RUN_DIR/lru_gen
	mkdir "$lru_gen"
	RUN_LRU_GEN=$lru_gen
	run_apart
fi
mkdir "$RUN_DIR/directory"
RUN_WATCH+=("$RUN_DIR/directory")

finish()
{
	if [ -n "$alone" ]; then
		echo "$enabled_before" >"$lru_gen/enabled"
		echo "$min_ttl_before" >"$lru_gen/min_ttl_ms"
	fi
	_run_end
}
trap finish EXIT
trap 'exit 1' INT TERM HUP

# Both kinds of reclaim, so that lru_gen is switched off and on, and no readahead.
variants=(classic_rare mglru_rare mglru_rare_no_readahead)

# --- who is who

declare -A part
phase=

is_alive()
{
	local stat

	read -r stat 2>/dev/null <"/proc/$1/stat" && [[ ${stat##*) } != Z* ]]
}

is_planned()
{
	local plan='^1\.\.'

	[[ $1 != runner* ]] || plan='^# 1\.\.'
	# The explorer tells of its first trial.
	[ $name = pread_hot_set ] || plan='^[0-9]* of '
	grep -q "$plan" "$log"
}

# look KIND: the processes of the run by their part, and its phase, from one look.
look()
{
	local kind=$1 pid parent comm stat level programs=" "
	local -A parent_of=()

	part=([program]='' [keeper]='' [test]='' [body]='' [worker]='' [trial]='' [everything]='')
	for pid in $(run_processes); do
		read -r stat 2>/dev/null <"/proc/$pid/stat" || continue
		comm=${stat#*\(}
		comm=${comm%)*}
		read -r _ parent _ <<<"${stat##*) }"
		part[everything]+="$pid "
		parent_of[$pid]=$parent
		case $comm in
		"${name:0:15}") programs+="$pid " ;; # all that the kernel keeps of it
		mm-cache-keeper) part[keeper]+="$pid " ;;
		esac
	done
	# A test program has a process for each test, that one for its body, which has
	# one for each trial. The explorer has one for each lab, that one for each trial.
	for pid in $programs; do
		level=0
		parent=${parent_of[$pid]}
		while [[ $programs == *" $parent "* ]]; do
			level=$((level + 1))
			parent=${parent_of[$parent]}
		done
		part[${levels[level]:-trial}]+="$pid "
	done
	# It is the program from the start, whatever is before it.
	if is_alive "$RUN_PID"; then
		[[ " ${part[everything]}" == *" $RUN_PID "* ]] || part[everything]+="$RUN_PID "
		[[ $kind == runner* ]] || part[program]="$RUN_PID "
	fi

	if [ -z "${part[everything]}" ]; then
		phase="after its end"
	elif [ -z "${part[program]}" ] || ! is_planned "$kind"; then
		phase="before the keeper"
		[ -z "${part[keeper]}" ] || phase="setting up"
	elif [ -n "${part[trial]}" ]; then
		phase="in a trial"
	elif [ -n "${part[test]}${part[worker]}" ]; then
		phase="between trials"
	else
		phase="between tests"
	fi
}

# kill_some KIND: as soon as there is such a process.
kill_some()
{
	local kind=$1 signal=${1##*-} pids=

	while :; do
		look "$kind"
		case ${kind%-*} in
		keeper-and-program) pids=${part[keeper]}${part[program]} ;;
		group) pids=${part[program]:+-${part[program]}} ;;
		runner-group) pids=-$RUN_PID ;;
		*) pids=${part[${kind%-*}]} ;;
		esac
		[ -z "$pids" ] || break
		[ -n "${part[everything]}" ] || break
	done
	# shellcheck disable=SC2086 # several
	[ -z "$pids" ] || kill -s "$signal" -- $pids 2>/dev/null
}

# --- one run

now_ms() { echo $((${EPOCHREALTIME/[.,]/} / 1000)); }
seconds() { printf '%d.%03d' $(($1 / 1000)) $(($1 % 1000)); }
# draw VARIABLE BELOW: not by $(), for a subshell has a RANDOM of its own.
draw() { printf -v "$1" %d $(((RANDOM << 15 | RANDOM) % $2)); }

# explorer KIND LOG REPETITIONS VARIABLE...: with data and without, for it takes its
# time to write them; under both kinds of reclaim.
explorer()
{
	local kind=$1 to=$2 reps=$3 data=0 arguments
	shift 3

	if [ "$kind" != next ]; then
		draw data 2
		reps=$((reps + 3))
	fi
	arguments=(--mem=32M --touches=1 "--reclaim=classic,mglru" "--reps=$reps")
	[ "$data" -eq 1 ] || arguments+=(--files=sparse)
	[[ " $*" == *" MM_CACHE_DIR="* ]] || arguments+=("--read-ahead=$read_ahead_kb")
	run_start "$to" "$@" setsid "$program" "${arguments[@]}"
}

# start KIND FAULT STORAGE-VARIABLE...: half of the runs go from test to test; the
# others have one, which lasts so long that it is no end of its own that is seen.
start()
{
	local kind=$1 faults=$2 to=$log tests reps=1 long variant
	shift 2

	tests=("${variants[@]/#/-v}")
	case $kind in
	next)
		tests=(-v classic_warm)
		to=$log.next
		;;
	program-* | worker-* | group-* | runner-* | everything-* | keeper-and-*)
		draw long 2
		draw variant ${#variants[@]}
		if [ "$long" -eq 1 ]; then
			tests=(-v "${variants[variant]}")
			reps=30
		fi
		;;
	esac

	[ -z "$RUN_LRU_GEN" ] || faults+=${faults:+,}lru-gen=$RUN_LRU_GEN
	[ -z "$faults" ] || set -- "$@" "CACHE_SHIM=$faults" "LD_PRELOAD=$shim"
	if [ $name = mm-cache-explore ]; then
		explorer "$kind" "$to" "$reps" "$@"
		return
	fi
	set -- "$@" "MM_CACHE_REPS=$reps" "MM_CACHE_READ_AHEAD_KB=$read_ahead_kb" \
		"KSELFTEST_${name^^}_ARGS=${tests[*]}" setsid
	case $kind in
	runner-timeout) set -- "$@" "$runner" -t "mm-cache:$name" -o "$(seconds "$delay")" ;;
	runner-*) set -- "$@" "$runner" -t "mm-cache:$name" ;;
	*) set -- "$@" "$program" "${tests[@]}" ;;
	esac
	run_start "$to" "$@"
}

show_log() { grep -v '^\(# \)*\(env\|metric\) ' "$log" | sed 's/^/    /'; }

wait_for_moment()
{
	while [ "$from_plan" -eq 1 ] && ! is_planned "$1" && is_alive "$RUN_PID"; do
		sleep 0.01
	done
	sleep "$(seconds "$delay")"
}

# Where it measures: sets where, and the variable for it in storage.
choose_storage()
{
	storage=()
	if [ -n "${MM_CACHE_DEV:-}" ]; then
		where="on $MM_CACHE_DEV"
	elif [ "$1" -eq 0 ]; then
		where="in a directory"
		storage=("MM_CACHE_DIR=$RUN_DIR/directory")
	else
		where="on a loop device"
	fi
}

# run_and_kill KIND: sets phase and where; prints what did not go as planned.
run_and_kill()
{
	local kind=$1 line='' storage_nr from_plan delay storage

	draw storage_nr 3
	choose_storage "$storage_nr"
	# A third of the moments are before the plan, the others after it. Another run
	# may be quicker: few of them are to be after its end.
	draw from_plan 3
	from_plan=$((from_plan > 0))
	draw delay 1000
	if [ "$from_plan" -eq 1 ]; then
		delay=$((delay * (ended_ms[$where] - planned_ms[$where]) * 3 / 4 / 1000))
	else
		delay=$((delay * planned_ms[$where] / 1000))
	fi
	phase="its own end"
	case $kind in
	memcg-oom)
		start "$kind" hot-hoards "${storage[@]}"
		line="^# why .*OOM"
		;;
	failed-assertion)
		start "$kind" scan-eio=1048576 "${storage[@]}"
		line="^# error read .*Input/output error"
		;;
	runner-timeout)
		# Of no seconds it would be none.
		delay=$((1 + delay + from_plan * planned_ms[$where]))
		phase="timeout"
		start "$kind" "" "${storage[@]}"
		;;
	*)
		start "$kind" "" "${storage[@]}"
		wait_for_moment "$kind"
		kill_some "$kind"
		;;
	esac
	run_wait
	[ -z "$line" ] || grep -q "$line" "$log" || echo "no line has: $line"
	case $kind in
	# Nobody is left to restore anything; the next run does.
	keeper-and-program-KILL | everything-KILL)
		start next ""
		run_wait
		if [ "$RUN_STATUS" -ne 0 ]; then
			echo "exit status $RUN_STATUS of the next run:"
			grep -v '^# \(env\|metric\) ' "$log.next"
		fi
		;;
	esac
}

# What one left is not for the next to find.
repair()
{
	local pid

	for pid in $(run_processes); do
		kill -KILL "$pid" 2>/dev/null
	done
	start next ""
	run_wait
}

if ! echo "$enabled" >"$lru_gen/enabled" || ! echo "$min_ttl_ms" >"$lru_gen/min_ttl_ms"; then
	die 4 "cannot write to $lru_gen"
fi
# Runs that nobody disturbs tell the span from which the moments are.
declare -A planned_ms=() ended_ms=()
time_run()
{
	local begin storage

	choose_storage "$1"
	run_before
	begin=$(now_ms)
	start undisturbed "" "${storage[@]}"
	while ! is_planned undisturbed && is_alive "$RUN_PID"; do
		sleep 0.01
	done
	planned_ms[$where]=$(($(now_ms) - begin))
	run_wait
	ended_ms[$where]=$(($(now_ms) - begin))
	if grep -q '^1\.\.0 # SKIP need: ' "$log"; then
		die 4 "$(sed -n 's/^1\.\.0 # SKIP //p' "$log")"
	fi
	[ "$RUN_STATUS" -ne 4 ] || die 4 "$(grep -m 1 '^not measured' "$log")"
	if ! is_planned undisturbed || ! leftovers; then
		show_log
		die 1 "a run that nobody disturbs does not end well"
	fi
}
# The first run of all may have to load modules of the kernel.
time_run 1
time_run 1
[ -n "${MM_CACHE_DEV:-}" ] || time_run 0
for where in "${!ended_ms[@]}"; do
	echo "# $where a run takes ${ended_ms[$where]} ms, its plan comes after ${planned_ms[$where]} ms"
done
echo "# --seed $seed"

RANDOM=$seed
declare -A of_kind=() of_phase=() left_of_kind=() left_of_phase=()
failed=0
slowest=0
for ((i = 0; i < kills; i++)); do
	kind=${kinds[i % ${#kinds[@]}]}
	run_before
	run_and_kill "$kind" >"$left"
	begin=$(now_ms)
	leftovers >>"$left"
	took=$(($(now_ms) - begin))
	of_kind[$kind]=$((${of_kind[$kind]:-0} + 1))
	of_phase[$phase]=$((${of_phase[$phase]:-0} + 1))
	verdict="as before in $(seconds "$took") s"
	if [ ! -s "$left" ]; then
		[ "$took" -lt "$slowest" ] || slowest=$took
	else
		verdict="NOT as before"
		failed=$((failed + 1))
		left_of_kind[$kind]=$((${left_of_kind[$kind]:-0} + 1))
		left_of_phase[$phase]=$((${left_of_phase[$phase]:-0} + 1))
	fi
	echo "# $((i + 1)) of $kills: $kind, $phase, $where: $verdict"
	if [ -s "$left" ]; then
		sed 's/^/  /' "$left"
		show_log
		repair
	fi
done

echo "# kills, of them left something"
for kind in "${kinds[@]}"; do
	printf '%6d %5d  %s\n' "${of_kind[$kind]:-0}" "${left_of_kind[$kind]:-0}" "$kind"
done
echo "# in which phase of the run"
for phase in "${!of_phase[@]}"; do
	printf '%6d %5d  %s\n' "${of_phase[$phase]}" "${left_of_phase[$phase]:-0}" "$phase"
done | sort -k 3
echo "# slowest to be as before: $(seconds "$slowest") s, --seed $seed"
echo "$kills kills, $failed left something"
[ "$failed" -eq 0 ]
