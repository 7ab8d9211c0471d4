#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Run the suite's quickest test again and again, and see that the kernel keeps none
# of the memory cgroups that were made for it. --help tells everything.

usage()
{
	cat <<'END'
usage: scripts/repeat-runs.sh [--alone] [--build DIR] RUNS

  --alone      nobody else uses this machine, a guest: a single cgroup more is
               one too many at once
  --build DIR  where it was built (default: build)

A removed cgroup is dying until nothing refers to it: cached pages, for example.
Cgroup v2 counts those (nr_dying_descendants); with v1 they are the memory cgroups
that /proc/cgroups counts and that have no directory. The kernel frees them a while
later, so after RUNS runs their number must be what it was within 30 s. Cgroups of
others die, too: unless --alone, it must be so in one of three tries.

exit status: 0 it was so, 1 it was not, 4 it cannot run here, 64 wrong usage
END
}

. "$(dirname "${BASH_SOURCE[0]}")/leftovers.sh"
set -u -o pipefail

deadline=30 # seconds until the dead must be gone
top=$(cd "$(dirname "$0")/.." && pwd -P)
arguments=("$@")
build=$top/build tries=3 runs=''
while [ $# -gt 0 ]; do
	case $1 in
	--help)
		usage
		exit 0
		;;
	--alone) tries=1 ;;
	--build)
		build=${2:-}
		shift
		;;
	*) runs=$1 ;;
	esac
	shift
done
if [[ ! $runs =~ ^[1-9][0-9]{0,4}$ ]]; then
	usage >&2
	exit 64
fi
program=$build/stage/tools/testing/selftests/mm-cache/pread_hot_set
if [ "$(id -u)" -ne 0 ] || [ ! -e "$program" ]; then
	echo "repeat-runs: needs root, and $program: run make" >&2
	exit 4
fi
run_begin "${arguments[@]}"
[ $tries -ne 1 ] || run_alone
log=$RUN_DIR/log

# A hierarchy with the memory controller: "cgroup /sys/fs/cgroup/memory".
hierarchy()
{
	local type at options

	sed -n 's/^[0-9]* [0-9]* [^ ]* [^ ]* \([^ ]*\) .* - \(cgroup2\?\) [^ ]* \(.*\)/\2 \1 \3/p' /proc/self/mountinfo |
		while read -r type at options; do
			if [[ ,$options, == *,memory,* ]] || grep -qsw memory "$at/cgroup.controllers"; then
				echo "$type $at"
				break
			fi
		done
}
read -r type at < <(hierarchy)

dying()
{
	if [ "$type" = cgroup2 ]; then
		sed -n 's/^nr_dying_descendants //p' "$at/cgroup.stat"
	else
		echo $(($(awk '$1 == "memory" { print $3 }' /proc/cgroups) - $(find "$at" -type d | wc -l)))
	fi
}

if [ -z "${type:-}" ]; then
	echo "repeat-runs: no memory cgroup controller" >&2
	exit 4
fi
for ((try = 1; try <= tries; try++)); do
	before=$(dying)
	for ((i = 1; i <= runs; i++)); do
		run "$log" MM_CACHE_REPS=1 "$program" -v classic_warm
		if [ "$RUN_STATUS" -ne 0 ] || ! leftovers; then
			grep -v '^# \(env\|metric\) ' "$log"
			echo "run $i of $runs: exit status $RUN_STATUS"
			exit 1
		fi
		[ $((i % 20)) -ne 0 ] || echo "# run $i of $runs: $(dying) dying cgroups, $before before"
	done
	after=$(dying)
	begin=$SECONDS
	for ((now = after; now > before && SECONDS - begin < deadline; now = $(dying))); do
		sleep 0.2
	done
	echo "$runs runs: $before dying cgroups ($type) before, $after after, $now $((SECONDS - begin)) s later"
	[ "$now" -gt "$before" ] || exit 0
done
exit 1
