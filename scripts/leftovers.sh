# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# Run test programs of the suite, and see what they leave on the machine. For
# sections of the checks, after check-lib.sh:
#
#   run_begin              once; needs root
#   run_start LOG COMMAND... start it in the background: RUN_PID
#   run_wait               wait for it: RUN_STATUS
#   run LOG COMMAND...     both
#   leftovers PID          print what process PID left, and what is not as it was
#                          at run_begin, 2 s later; else nothing
#   run_apart              give the runs that follow a /run of their own: they wait
#                          for nobody, and nobody else repairs what they leave
#   ktap_plan LOG          print what is wrong with plan, results and names
#
# Others may use the machine, and the suite, meanwhile: what is looked for is told
# apart by the process, by the directory of its images, RUN_DIR, and by a variable
# in its environment.
# shellcheck disable=SC2034 # RUN_STATUS is for those who include this

_run_keeper_dir=/run/mm-cache
_run_apart=()
RUN_LIMIT=${RUN_LIMIT:-900} # seconds for a command, its wait for other runs included

# Values of read_ahead_kb that only a run of the suite sets.
_run_read_ahead="0 512 516"
_run_id=
_run_before=

_run_end()
{
	umount -l "$RUN_DIR"/* 2>/dev/null
	rm -rf "$RUN_DIR"
	_check_exit
}

# On the disk that the suite would use, for its images need direct I/O.
run_begin()
{
	RUN_DIR=$(mktemp -d "${TMPDIR:-/var/tmp}/mm-cache-check.XXXXXX") || exit 1
	RUN_DIR=$(cd "$RUN_DIR" && pwd -P)
	trap _run_end EXIT
	mkdir "$RUN_DIR/images" || exit 1
	_run_id=$(basename "$RUN_DIR")
	_run_before=$(_run_knobs)
}

run_apart()
{
	mkdir "$RUN_DIR/run" || exit 1
	_run_keeper_dir=$RUN_DIR/run/mm-cache
	# shellcheck disable=SC2016 # expanded by that shell
	_run_apart=(unshare -m sh -c 'mount --bind "$0" /run && exec env "$@"' "$RUN_DIR/run")
}

_run_knobs()
{
	local knob loop

	for knob in /sys/kernel/mm/lru_gen/{enabled,min_ttl_ms}; do
		[ ! -e "$knob" ] || echo "$knob $(cat "$knob")"
	done
	# A loop device in use belongs to somebody, who may set its knob.
	for loop in /sys/block/loop*; do
		[ -d "$loop/loop" ] || echo "$loop/queue/read_ahead_kb $(cat "$loop/queue/read_ahead_kb")"
	done 2>/dev/null
}

run_start()
{
	local log=$1
	shift

	# Bash has its background commands ignore SIGINT and SIGQUIT.
	env --default-signal TMPDIR="$RUN_DIR/images" "CACHE_CHECK=$_run_id" "${_run_apart[@]}" "$@" \
		>"$log" 2>&1 </dev/null &
	RUN_PID=$!
}

run_wait()
{
	# It ends by itself when the command has.
	{
		timeout "$RUN_LIMIT" tail -f --pid="$RUN_PID" /dev/null ||
			kill -KILL "$RUN_PID"
	} >/dev/null 2>&1 &
	RUN_STATUS=0
	wait "$RUN_PID" 2>/dev/null || RUN_STATUS=$?
}

run()
{
	run_start "$@"
	run_wait
}

# Processes of the command, which inherited its environment.
run_processes()
{
	grep -lzxsF "CACHE_CHECK=$_run_id" /proc/[0-9]*/environ | sed 's,/proc/\(.*\)/environ,\1,'
}

_run_left()
{
	local pid=$1 knob value now is dir

	for value in $(run_processes); do
		echo "process $value: $(tr '\0' ' ' 2>/dev/null <"/proc/$value/cmdline")($(cat "/proc/$value/comm" 2>/dev/null))"
	done
	while read -r dir; do
		[ ! -e "$dir/mm-cache.$pid" ] || echo "cgroup $dir/mm-cache.$pid"
	done < <(awk '/ - cgroup2? / { print $5 }' /proc/self/mountinfo)
	[ ! -e "$_run_keeper_dir/journal.$pid" ] || echo "file $_run_keeper_dir/journal.$pid"
	awk -v mnt=/run/mm-cache/mnt '$5 == mnt { print "mount " $5 " from " $10 }' /proc/self/mountinfo
	grep -lF "$RUN_DIR/images" /sys/block/loop*/loop/backing_file 2>/dev/null | sed 's/^/loop device /'
	find "$RUN_DIR/images" -mindepth 1 | sed 's/^/file /'
	now=$(_run_knobs)
	while read -r knob value; do
		is=$(sed -n "s,^$knob ,,p" <<<"$now")
		case $knob in
		# The kernel sets it, too, for whoever attaches a file.
		*/read_ahead_kb) [[ " $_run_read_ahead " == *" $is "* ]] || continue ;;
		esac
		if [ -n "$is" ] && [ "$is" != "$value" ]; then
			echo "knob $knob: was $value, is $is"
		fi
	done <<<"$_run_before"
}

leftovers()
{
	local pid=$1 left

	for _ in {1..20}; do
		left=$(_run_left "$pid")
		[ -n "$left" ] || return 0
		sleep 0.1
	done
	echo "$left"
}

ktap_plan()
{
	awk '
		/^1\.\.[0-9]+/ { plans++; plan = substr($1, 4) }
		/^(not )?ok [0-9]+ / {
			sub(/^not /, "")
			results++
			if ($2 != results)
				print "result " results " has the number " $2
			if (seen[$3]++)
				print $3 " is there twice"
		}
		END {
			if (plans != 1)
				print plans + 0 " plans"
			if (plan != results + 0)
				print "plan of " plan + 0 ", " results + 0 " results"
		}' "$1"
}
