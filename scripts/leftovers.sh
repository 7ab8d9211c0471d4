# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# Run test programs of the suite, and see what they leave on the machine:
#
#   run_begin "$@"         once, by root, before anything else: starts the script
#                          again in a mount namespace of its own, where no mount is
#                          anybody else's
#   run_apart              give the runs a /run and a /dev/shm of their own: they
#                          wait for nobody, and nobody else repairs what they leave
#   run_alone              nobody else uses this machine: whatever is otherwise
#                          after a run was done by it
#   run_before             note the state of the machine
#   run_start LOG COMMAND... start it in the background: RUN_PID, RUN_LOG
#   run_wait               wait for it: RUN_STATUS
#   run LOG COMMAND...     all three
#   leftovers              print what is not as it was at run_before, 2 s later; else
#                          nothing
#   ktap_plan LOG          print what is wrong with plan, results and names
#   judge NAME STATUS LINE...
#                          in a section of the checks, the check NAME: what the last
#                          run must have given: exit STATUS, LINEs (patterns of grep;
#                          those that begin with ! must not be there), a plan that
#                          holds, and no leftovers
#
# The runs have their images in RUN_DIR/images; RUN_WATCH are the directories that
# must hold what they held. RUN_LRU_GEN, if set, stands for the kernel's lru_gen.
# Others may use the machine, and the suite, meanwhile: machine-state.sh tells what
# is theirs.
# shellcheck disable=SC2034 # RUN_STATUS is for those who include this

_run_scripts=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
_run_shared=(--shared)
RUN_LIMIT=${RUN_LIMIT:-900} # seconds for a command, its wait for other runs included
RUN_LRU_GEN=

_run_clean()
{
	! declare -F _check_exit >/dev/null || _check_exit
}

# Also what a faulty suite left there.
_run_end()
{
	sed -n "s,^\([^ ]* \)\{4\}\($RUN_DIR/[^ ]*\) .*,\2,p" /proc/self/mountinfo |
		sort -r | xargs -r umount -l
	grep -lsF "$RUN_DIR/" /sys/block/loop*/loop/backing_file |
		sed 's,^/sys/block/\([^/]*\)/.*,/dev/\1,' | xargs -r losetup -d
	rm -rf "$RUN_DIR"
	_run_clean
}

# On the disk that the suite would use, for its images need direct I/O.
run_begin()
{
	if [ -z "${CACHE_CHECK_NAMESPACE:-}" ]; then
		_run_clean
		CACHE_CHECK_NAMESPACE=1 exec unshare -m --propagation private "$BASH" "$0" "$@"
	fi
	unset CACHE_CHECK_NAMESPACE
	# So that a mount which a run forgets to make private is seen out here.
	mount --make-rshared / || exit 1
	RUN_DIR=$(mktemp -d "${TMPDIR:-/var/tmp}/mm-cache-check.XXXXXX") || exit 1
	RUN_DIR=$(cd "$RUN_DIR" && pwd -P)
	trap _run_end EXIT
	mkdir "$RUN_DIR/images" || exit 1
	RUN_WATCH=("$RUN_DIR/images")
	_run_mark=CACHE_CHECK=$(basename "$RUN_DIR")
}

run_apart()
{
	mkdir "$RUN_DIR/run" && mount --bind "$RUN_DIR/run" /run &&
		mount -t tmpfs none /dev/shm || exit 1
	RUN_WATCH+=(/dev/shm)
}

run_alone()
{
	_run_shared=()
	RUN_WATCH+=(/dev/shm)
}

_run_state()
{
	"$_run_scripts/machine-state.sh" "${_run_shared[@]}" --mark "$_run_mark" \
		${RUN_LRU_GEN:+--lru-gen "$RUN_LRU_GEN"} "$@" "${RUN_WATCH[@]}"
}

run_before()
{
	_run_state >"$RUN_DIR/state"
}

run_start()
{
	RUN_LOG=$1
	shift

	# The kernel's runner opens its output anew, and appends.
	: >"$RUN_LOG"
	# Bash has its background commands ignore SIGINT and SIGQUIT.
	env --default-signal TMPDIR="$RUN_DIR/images" "$_run_mark" "$@" \
		>>"$RUN_LOG" 2>&1 </dev/null &
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
	run_before
	run_start "$@"
	run_wait
}

# Processes of the command, which inherited its environment.
run_processes()
{
	local pid

	grep -lzxsF "$_run_mark" /proc/[0-9]*/environ | while IFS=/ read -r _ _ pid _; do
		echo "$pid"
	done
}

leftovers()
{
	_run_state --since "$RUN_DIR/state"
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

judge()
{
	local name=$1 status=$2 line complaint why=$CHECK_TMP/judge
	shift 2

	{
		[ "$RUN_STATUS" = "$status" ] ||
			echo "exit status $RUN_STATUS, must be $status"
		for line in "$@"; do
			case $line in
			!*) ! grep -q -- "${line#!}" "$RUN_LOG" || echo "a line has: ${line#!}" ;;
			*) grep -q -- "$line" "$RUN_LOG" || echo "no line has: $line" ;;
			esac
		done
		if grep -q '^TAP version' "$RUN_LOG" && ! grep -q '^Bail out!' "$RUN_LOG"; then
			ktap_plan "$RUN_LOG"
		fi
		leftovers
	} >"$why" 2>&1
	complaint=$(head -n 1 "$why" 2>&1)
	if [ -n "$complaint" ]; then
		{
			grep -v '^# \(env\|metric\) ' "$RUN_LOG"
			cat "$why"
		} >"$why.all"
		check_fail "$name" "$complaint" "$why.all"
		return 1
	fi
	check_ok "$name"
}
