#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Boots one kernel several times, runs the suite in each boot, and prints which
# verdict every test gave how often and between which values the figures lay.

set -euo pipefail

usage() {
	cat <<'END'
usage: scripts/pin-ranges.sh [--boots N] [--keep] OPTIONS-OF-RUN-VNG...
       scripts/pin-ranges.sh --boots 10 --debian 6.12

  --boots N   how many boots (default 10)
  --keep      go on from the logs of an earlier run that was interrupted

The logs stay in build/vng/ranges/KERNEL/; a guest that died is counted, said
aloud, and its log left out. scripts/pins.sh --propose prints them as pins.

exit status: 0 every boot gave the same verdicts as the first, 1 some did not,
70 a guest died
END
}

here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
boots=10
keep=0
args=()
kernel=
while [ $# -gt 0 ]; do
	case $1 in
	-h | --help)
		usage
		exit 0
		;;
	--keep) keep=1 ;;
	--boots)
		boots=${2-}
		[[ $boots =~ ^[1-9][0-9]*$ ]] || {
			echo "pin-ranges.sh: --boots $boots: a number expected" >&2
			exit 64
		}
		shift
		;;
	--log)
		echo "pin-ranges.sh: --log is set here, for each boot" >&2
		exit 64
		;;
	--debian | --kernel)
		kernel=${2-}
		args+=("$1" "$kernel")
		shift
		;;
	*) args+=("$1") ;;
	esac
	shift
done
[ -n "$kernel" ] || {
	usage >&2
	exit 64
}

name=$(basename "$kernel")
dir=$here/build/vng/ranges/${name//[^A-Za-z0-9._+-]/_}
[ $keep = 1 ] || rm -rf "$dir"
mkdir -p "$dir"

died=0
logs=()
for boot in $(seq "$boots"); do
	log=$dir/$boot.log
	if [ ! -s "$log" ]; then
		code=0
		"$here/scripts/run-vng.sh" "${args[@]}" --log "$log.new" >"$dir/$boot.out" 2>&1 ||
			code=$?
		case $code in
		[0-5])
			mv "$log.new" "$log"
			;;
		70)
			died=$((died + 1))
			mv "$log.new" "$dir/$boot.died"
			grep -A 12 'guest died' "$dir/$boot.out" >&2
			continue
			;;
		*)
			tail -n 20 "$dir/$boot.out" >&2
			exit "$code"
			;;
		esac
		echo "boot $boot of $boots: $(tail -n 1 "$dir/$boot.out")" >&2
	fi
	logs+=("$log")
done
[ ${#logs[@]} -gt 0 ] || {
	echo "pin-ranges.sh: all $died guests died" >&2
	exit 70
}

"$here/scripts/pins.sh" --ranges "${logs[@]}"
[ $died = 0 ] || echo "guests that died: $died of $boots"

# Different verdicts show as more than one after the colon.
different=$("$here/scripts/pins.sh" --ranges "${logs[@]}" | grep -cE '^[^ ]+: [a-z-]+ [0-9]+, ' || true)
echo "results whose verdict was not the same in all ${#logs[@]} boots: $different"
[ $died = 0 ] || exit 70
[ "$different" = 0 ] || exit 1
