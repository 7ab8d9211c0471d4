#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The machine is left as it was found, whatever happens: runs that are killed at
# random moments, many runs in a row, and runs at the same time.
#
# KILLS: how many runs to kill (each kind once), SEED: of their moments (random,
# printed). RUNS: how many in a row (10). The full counts are 300 and 200.
. "$(dirname "$0")/check-lib.sh"
. "$(dirname "$0")/leftovers.sh"

log=$CHECK_TMP/log
why=$CHECK_TMP/why
program=$PROGRAMS_DIR/pread_hot_set

if [ "$(id -u)" -ne 0 ]; then
	check_skip kills "needs root"
	check_done
fi
run_begin "$@"

# watched NAME COMMAND...: what it prints as it goes; exit status 4 is a skip.
watched()
{
	local name=$1 status
	shift

	"$@" </dev/null 2>&1 | tee "$log"
	status=${PIPESTATUS[0]}
	case $status in
	0) check_ok "$name" ;;
	4) check_skip "$name" "$(tail -n 1 "$log")" ;;
	*) check_fail "$name" "$(tail -n 1 "$log")" ;;
	esac
}

# --- killed

check_run install make -s -C "$CHECK_TOP" install INSTALL_PATH="$BUILD_DIR/install" ||
	check_done
watched kills "$CHECK_TOP/scripts/kill-runs.sh" --build "$BUILD_DIR" ${KILLS:+--kills "$KILLS"} \
	--seed "${SEED:-$RANDOM}"

watched explorer-kills "$CHECK_TOP/scripts/kill-runs.sh" --explorer --build "$BUILD_DIR" \
	${KILLS:+--kills "$KILLS"} --seed "${SEED:-$RANDOM}"

# --- in a row

watched runs-in-a-row "$CHECK_TOP/scripts/repeat-runs.sh" --build "$BUILD_DIR" "${RUNS:-10}"

# --- at the same time

# No test here changes what is not the run's own: /run is, and lru_gen is not touched.
run_apart
variants=(-v classic_warm -v classic_rare)
lru_gen=$CHECK_TMP/lru_gen
mkdir "$lru_gen"
echo 5 >"$lru_gen/enabled"
echo 1000 >"$lru_gen/min_ttl_ms"
RUN_LRU_GEN=$lru_gen

shimmed=("CACHE_SHIM=lru-gen=$lru_gen" "LD_PRELOAD=$CHECK_DIR/shim.so")

start()
{
	run_start "$1" MM_CACHE_REPS=3 "${shimmed[@]}" "$program" "${variants[@]}"
}

verdicts() { grep -E '^(not )?ok [0-9]+ ' "$1"; }

# at_once N: all give the verdicts of the run that was alone, and all but one say
# for which of the others they wait.
at_once()
{
	local nr=$1 pids=() holder pid waited=0 i

	run_before
	for ((i = 0; i < nr; i++)); do
		start "$log.$i"
		pids+=("$RUN_PID")
	done
	for ((i = 0; i < nr; i++)); do
		RUN_PID=${pids[i]}
		run_wait
		if [ "$RUN_STATUS" -ne "$solo_status" ]; then
			echo "exit status $RUN_STATUS, alone $solo_status"
		fi
		diff <(verdicts "$log") <(verdicts "$log.$i")
		holder=$(sed -n 's/^# waiting .*process \([0-9]*\).*/\1/p' "$log.$i")
		[ -n "$holder" ] || continue
		waited=$((waited + 1))
		for pid in "${pids[@]}"; do
			[ "$pid" = "$holder" ] && [ "$pid" != "$RUN_PID" ] && holder=
		done
		[ -z "$holder" ] || echo "process $RUN_PID waited for $holder, which is none of ${pids[*]}"
	done
	[ $waited -eq $((nr - 1)) ] || echo "$waited said for whom they wait"
	leftovers
}

run_before
start "$log"
run_wait
solo_status=$RUN_STATUS
if ! verdicts "$log" >"$why" || grep -q '# SKIP need: ' "$log"; then
	check_skip at-once "$(grep -m 1 '# SKIP' "$log")"
	check_done
fi
for nr in 2 4; do
	at_once $nr >"$why" 2>&1
	if [ -s "$why" ]; then
		check_fail "at-once-$nr" "$(head -n 1 "$why")" "$why"
	else
		check_ok "at-once-$nr"
	fi
done

# --- put back without another run

clean=$TOOLS_DIR/mm-cache-clean

# said STATUS WORDS: mm-cache-clean must end so, and say that.
said()
{
	local status=0

	env "${shimmed[@]}" "$clean" >"$CHECK_TMP/said" 2>&1 </dev/null || status=$?
	[ $status = "$1" ] || echo "mm-cache-clean: exit status $status, must be $1"
	grep -q -- "$2" "$CHECK_TMP/said" || echo "mm-cache-clean does not say: $2; but: $(cat "$CHECK_TMP/said")"
}

keeper()
{
	local pid

	for pid in $(run_processes); do
		[ "$(cat "/proc/$pid/comm" 2>/dev/null)" != mm-cache-keeper ] || echo "$pid"
	done
}

killed_and_put_back()
{
	run_before
	start "$log"
	for _ in {1..200}; do
		! grep -q '^# metric' "$log" || break
		sleep 0.1
	done
	said 1 "process $RUN_PID runs the suite now"
	# shellcheck disable=SC2046 # one
	kill -KILL $(keeper) "$RUN_PID"
	run_wait
	said 0 "mm-cache.$RUN_PID: removed the cgroup"
	leftovers
	said 0 "nothing was left by any run"
}
killed_and_put_back >"$why" 2>&1
if [ -s "$why" ]; then
	check_fail put-back-without-a-run "$(head -n 1 "$why")" "$why"
else
	check_ok put-back-without-a-run
fi

check_done
