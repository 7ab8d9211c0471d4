#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Compares what the suite said on a known kernel with what is written down for
# that kernel, the "pins", in scripts/pins/.

set -euo pipefail

usage() {
	cat <<'END'
usage: scripts/pins.sh LOG PINS       compare a run's KTAP with a pin file
       scripts/pins.sh --ranges LOG...    verdicts and figures over several runs
       scripts/pins.sh --propose LOG...   the same as lines for a pin file

A pin file names the kernel, and each result with its verdict (ok, not-ok, skip,
inconclusive, xfail, any; "|" between several); below it what else must hold:

  kernel 6.12.                  its release begins so
  ok PROGRAM.VARIANT.TEST
      METRIC 990 1000           this median lies in 990..1000
  skip PROGRAM
      because WORDS             the reason contains WORDS

A result that the log has and the pins have not, or the reverse, is not as pinned.

exit status: 0 as pinned, 1 not as pinned, 4 the pins are for another kernel,
5 no such log, no results in it, or the pin file is broken
END
}

die() {
	echo "pins.sh: $*" >&2
	exit 5
}

# A KTAP log to records, fields separated by tabs:
#   kernel RELEASE
#   result NAME VERDICT REASON
#   metric OWNER METRIC UNIT MEDIAN MIN MAX BOUNDED
records() {
	tr -d '\r' <"$1" | awk -v OFS='\t' '
	function verdict_of(ok, rest) {
		reason = ""
		if (match(rest, /# SKIP ?/)) {
			reason = substr(rest, RSTART + RLENGTH)
			return reason ~ /^inconclusive:/ ? "inconclusive" : "skip"
		}
		if (rest ~ /# XFAIL/)
			return "xfail"
		return ok ? "ok" : "not-ok"
	}
	{
		line = $0
		depth = 0
		while (sub(/^# ?/, "", line))
			depth++
		sub(/^ +/, "", line)
	}
	line ~ /^selftests: / {
		program = line
		sub(/.*: /, "", program)
		results = 0
		whole = ""
		next
	}
	depth && line ~ /^1\.\.0 # SKIP/ {
		whole = line
		sub(/^1\.\.0 # SKIP ?/, "", whole)
		next
	}
	depth && line ~ /^env kernel / {
		split(line, word, " ")
		# "env kernel Linux 6.12.1 x86_64", or the release alone
		print "kernel", word[3] == "Linux" ? word[4] : word[3]
		next
	}
	depth && line ~ /^metric / {
		n = split(line, word, " ")
		median = min = max = bounded = ""
		for (i = 5; i <= n; i++) {
			if (word[i] ~ /^median=/) median = substr(word[i], 8)
			if (word[i] ~ /^min=/) min = substr(word[i], 5)
			if (word[i] ~ /^max=/) max = substr(word[i], 5)
			if (word[i] ~ /^bound/) bounded = word[i]
		}
		print "metric", word[2], word[3], word[4], median, min, max, bounded
		next
	}
	line ~ /^(not )?ok [0-9]+ / {
		ok = line ~ /^ok/
		rest = line
		sub(/^(not )?ok [0-9]+ (- )?/, "", rest)
		name = rest
		sub(/ *#.*/, "", name)
		if (name ~ /^selftests: /) {
			sub(/.*: /, "", name)
			# A program that said nothing of its own is one result.
			if (!results || rest ~ /# TIMEOUT/) {
				v = verdict_of(ok, rest)
				if (v == "skip" && whole != "") reason = whole
				if (rest ~ /# TIMEOUT/) v = "timeout"
				print "result", name, v, reason
			}
			results = 0
			next
		}
		results++
		v = verdict_of(ok, rest)
		print "result", name, v, reason
	}'
}

compare() {
	local log=$1 pins=$2

	[ -r "$log" ] || die "cannot read the log $log"
	[ -r "$pins" ] || die "cannot read the pins $pins"
	records "$log" | awk -F'\t' -v log_name="$log" -v pins="$pins" '
	function wrong(text) {
		wrongs[++nr_wrong] = "not as pinned: " text
	}
	function wrong_pins(text) {
		print "pins.sh: " text
		broken = 1
	}
	function owner(result) {
		sub(/\.[^.]*$/, "", result)
		return result
	}
	# Is v one of the verdicts of the pin, "a|b"?
	function is_one_of(v, list,    i, n, part) {
		n = split(list, part, "|")
		for (i = 1; i <= n; i++)
			if (part[i] == v || part[i] == "any")
				return 1
		return 0
	}
	BEGIN {
		while ((getline line < pins) > 0) {
			nr_line++
			sub(/#.*/, "", line)
			gsub(/\t/, " ", line)
			n = split(line, word, " ")
			if (!n)
				continue
			at = pins ":" nr_line
			if (word[1] == "kernel" && n == 2) {
				kernel_pin = word[2]
			} else if (n == 2 && word[1] ~ /^((ok|not-ok|skip|inconclusive|xfail|any)([|]|$))+$/) {
				result = word[2]
				if (result in pinned)
					wrong_pins(at ": " result " is pinned before")
				pinned[result] = word[1]
				where[result] = at
			} else if (result != "" && word[1] == "because" && n >= 2) {
				because[result] = line
				sub(/^ *because +/, "", because[result])
				sub(/[ \t]+$/, "", because[result])
			} else if (result != "" && n == 3 && word[2] ~ /^-?[0-9]+$/ && word[3] ~ /^-?[0-9]+$/) {
				nr_figures++
				figure_of[nr_figures] = result
				metric[nr_figures] = word[1]
				lowest[nr_figures] = word[2]
				highest[nr_figures] = word[3]
				figure_at[nr_figures] = at
			} else {
				wrong_pins(at ": not understood: " line)
			}
		}
		if (result == "")
			wrong_pins(pins " pins nothing")
		if (broken)
			exit
	}
	$1 == "kernel" {
		if (kernel_pin != "" && index($2, kernel_pin) != 1)
			other_kernel = $2
	}
	$1 == "metric" { median[$2, $3] = $5 }
	$1 == "result" {
		nr_results++
		if (!($2 in pinned)) {
			wrong($2 ": " $3 ($4 == "" ? "" : " (" $4 ")") ", and no line in " pins)
			next
		}
		if (seen[$2]++) {
			wrong($2 ": twice in the log")
			next
		}
		if (!is_one_of($3, pinned[$2]))
			wrong($2 ": " $3 ($4 == "" ? "" : " (" $4 ")") ", pinned " pinned[$2] " (" where[$2] ")")
		else if (($2 in because) && index($4, because[$2]) == 0)
			wrong($2 ": the reason \"" $4 "\" does not name " because[$2] " (" where[$2] ")")
	}
	END {
		if (broken)
			exit 5
		if (!nr_results) {
			print "pins.sh: no result in " log_name
			exit 5
		}
		if (other_kernel != "") {
			print "pins.sh: the kernel is " other_kernel ", the pins of " pins " are for " kernel_pin
			exit 4
		}
		for (name in pinned)
			if (!seen[name])
				wrong(name ": not in " log_name ", pinned " pinned[name] " (" where[name] ")")
		for (i = 1; i <= nr_figures; i++) {
			name = figure_of[i]
			if (!seen[name])
				continue
			at = " (" figure_at[i] ")"
			key = owner(name) SUBSEP metric[i]
			if (!(key in median))
				wrong(name ": no metric " metric[i] at)
			else if (median[key] + 0 < lowest[i] + 0 || median[key] + 0 > highest[i] + 0)
				wrong(name ": " metric[i] " " median[key] ", pinned " lowest[i] ".." highest[i] at)
		}
		for (i = 1; i <= nr_wrong; i++)
			print wrongs[i]
		if (nr_wrong)
			exit 1
		print nr_results " results and " nr_figures + 0 " figures as pinned in " pins
	}'
}

# over FORMAT LOG...: each result's verdicts and each metric's medians
over() {
	local format=$1 log

	shift
	[ $# -gt 0 ] || die "which logs? (--help tells)"
	for log; do
		[ -r "$log" ] || die "cannot read the log $log"
		printf 'log\t%s\n' "$log"
		records "$log"
	done | awk -F'\t' -v format="$format" '
	function owner(result) {
		sub(/\.[^.]*$/, "", result)
		return result
	}
	$1 == "log" { nr_logs++ }
	$1 == "kernel" { kernels[$2] = 1 }
	$1 == "result" {
		if (!($2 in order)) {
			order[$2] = ++nr
			name[nr] = $2
		}
		if (!(($2, $3) in count))
			verdicts[$2] = verdicts[$2] (verdicts[$2] == "" ? "" : "|") $3
		count[$2, $3]++
		reason[$2, $3] = $4
	}
	$1 == "metric" {
		key = $2 SUBSEP $3
		if (!(key in low)) {
			metrics[$2] = metrics[$2] " " $3
			low[key] = high[key] = $5
			min[key] = $6
			max[key] = $7
			unit[key] = $4
			bound[key] = $8
		}
		times[key]++
		if ($5 + 0 < low[key] + 0) low[key] = $5
		if ($5 + 0 > high[key] + 0) high[key] = $5
		if ($6 + 0 < min[key] + 0) min[key] = $6
		if ($7 + 0 > max[key] + 0) max[key] = $7
	}
	END {
		if (!nr) {
			print "pins.sh: no result in these logs" > "/dev/stderr"
			exit 5
		}
		for (k in kernels)
			print (format == "propose" ? "kernel " : "kernel: ") k
		if (format != "propose")
			print "runs: " nr_logs
		for (i = 1; i <= nr; i++) {
			result = name[i]
			n = split(verdicts[result], v, "|")
			if (format == "propose") {
				print "\n" verdicts[result] " " result
				if (n == 1 && reason[result, v[1]] != "")
					print "\tbecause " reason[result, v[1]]
			} else {
				line = ""
				for (j = 1; j <= n; j++)
					line = line (j > 1 ? ", " : "") v[j] " " count[result, v[j]]
				print "\n" result ": " line
				for (j = 1; j <= n; j++)
					if (reason[result, v[j]] != "")
						print "    " v[j] ": " reason[result, v[j]]
			}
			m = split(metrics[owner(result)], part, " ")
			if (verdicts[result] == "skip")
				m = 0
			for (j = 1; j <= m; j++) {
				key = owner(result) SUBSEP part[j]
				if (format == "propose")
					print "\t" part[j], low[key], high[key]
				else
					printf "    %-28s median %s..%s, all %s..%s %s %s\n", part[j],
						low[key], high[key], min[key], max[key], unit[key], bound[key]
			}
		}
	}'
}

case ${1-} in
-h | --help) usage ;;
--ranges | --propose)
	format=${1#--}
	shift
	over "$format" "$@"
	;;
-*)
	echo "pins.sh: unknown option $1 (--help tells)" >&2
	exit 64
	;;
*)
	[ $# -eq 2 ] || {
		usage >&2
		exit 64
	}
	compare "$1" "$2"
	;;
esac
