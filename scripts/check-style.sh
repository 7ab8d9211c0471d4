#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# How the project is written: the kernel's style for C, shellcheck for scripts,
# and the rules of the layout that a compiler does not see.
# shellcheck disable=SC2317 # most functions here are called by their name
. "$(dirname "$0")/check-lib.sh"

cd "$CHECK_TOP" || exit 1
mapfile -t c_files < <(check_files '*.c' '*.h')
mapfile -t headers < <(check_files '*.h')
mapfile -t sh_files < <(check_files '*.sh' .ci/run)
mapfile -t make_files < <(check_files Makefile '*/Makefile' '*.mk')
mapfile -t all_files < <(check_files)
log=$CHECK_TMP/log

# What a command prints is what is wrong; nothing printed is a pass.
quiet()
{
	local name=$1 why=$2
	shift 2

	"$@" >"$log" 2>&1
	if [ -s "$log" ]; then
		check_fail "$name" "$why" "$log"
	else
		check_ok "$name"
	fi
}

check_run shellcheck shellcheck -x -P SCRIPTDIR "${sh_files[@]}"

# checkpatch knows the kernel, not programs: the types, macros and functions that
# it proposes with these are the kernel's own (u64 for uint64_t, __printf, strscpy),
# PRIu64 is no CamelCase of ours, and volatile is what a signal handler and a read
# for its effect need. The compiler's architecture has no CONFIG_ name here. Where a
# line ends with "(", clang-format put it so.
ignored=PREFER_KERNEL_TYPES,PREFER_DEFINED_ATTRIBUTE_MACRO,STRCPY,CAMELCASE
ignored+=,VOLATILE,ARCH_DEFINES,OPEN_ENDED_LINE
checkpatch()
{
	local file

	# It leaves a file where it runs, and looks for kernel headers.
	mkdir -p "$CHECK_TMP/patch/include"
	cd "$CHECK_TMP/patch" || exit 1
	ln -sfn "$CHECK_TOP"/{common,mm-cache,tools} .
	for file in "${c_files[@]}"; do
		perl "$KSRC_DIR/scripts/checkpatch.pl" --strict --no-tree --root=. \
			--terse --show-types --no-summary --ignore "$ignored" -f "$file"
	done
}
if [ -f "$KSRC_DIR/scripts/checkpatch.pl" ]; then
	quiet checkpatch "findings of checkpatch --strict" checkpatch
	cd "$CHECK_TOP" || exit 1
else
	check_fail checkpatch "$KSRC_DIR has no scripts/checkpatch.pl"
fi

if [ -f "$KSRC_DIR/.clang-format" ]; then
	check_run clang-format clang-format --style="file:$KSRC_DIR/.clang-format" \
		--dry-run -Werror "${c_files[@]}"
else
	check_fail clang-format "$KSRC_DIR has no .clang-format"
fi

# The first line, or the second of a script, names the licence, in the comment
# style that the kernel wants for the kind of file.
spdx()
{
	local file want

	for file in "${c_files[@]}" "${sh_files[@]}" "${make_files[@]}"; do
		case $file in
		*.c) want='^1:// SPDX' ;;
		*.h) want='^1:/\* SPDX' ;;
		*.sh | .ci/run) want='^2:# SPDX' ;;
		*) want='^1:# SPDX' ;;
		esac
		head -n 2 "$file" | grep -n '' | grep -q "$want-License-Identifier: GPL-2.0\( \*/\)\?$" ||
			echo "$file: no SPDX line where it belongs"
	done
}
quiet spdx "a file does not name its licence" spdx

whitespace()
{
	local file

	for file in "${all_files[@]}"; do
		case $file in COPYING | *.expected | *.png | *.svg) continue ;; esac
		[ -L "$file" ] || grep -HnP '[ \t]+$' "$file"
		[ -z "$(tail -c 1 "$file")" ] || echo "$file: no newline at the end"
	done
}
quiet whitespace "blanks at the end of a line" whitespace

# Each header brings what it needs: it compiles alone.
flags=(-std=gnu11 -Wall -Wextra -Werror -D_GNU_SOURCE= -Icommon -Itools -isystem "$SELFTESTS")
headers_alone()
{
	local file

	for file in "${headers[@]}"; do
		echo "#include \"$file\"" |
			gcc -fsyntax-only "${flags[@]}" -I. -x c - ||
			echo "$file: does not compile alone"
	done
}
quiet headers-alone "a header needs another before it" headers_alone

# Sparse reads the core as it is built without libraries, whose headers are not
# written for it; a header of the compiler's own has 0 for a null pointer.
sparse_all()
{
	local file

	for file in common/*.c tools/*.c; do
		sparse -D_GNU_SOURCE= '-DRECIPES_DIR="recipes"' -Icommon -Itools -Wno-vla -Wno-non-pointer-null "$file"
	done
}
quiet sparse "findings of sparse" sparse_all

# The direction of includes: downwards, by the layers below; a module that is in
# none may be included by all, but nothing may go in a circle.
layer()
{
	case $1 in
	knob | need | permille) echo 0 ;;
	reader | residency | memcg | scratch | reclaim) echo 1 ;;
	hot_set | scan) echo 2 ;;
	trial) echo 3 ;;
	experiment | ktap) echo 4 ;;
	*) echo - ;;
	esac
}

include_pairs()
{
	grep -Hno '^#include "[^"]*"' common/*.[ch] tools/*.[ch] mm-cache/*.c |
		sed 's/^\([^:]*\):[0-9]*:#include "\(.*\)"/\1 \2/'
}

includes()
{
	local file header from to

	while read -r file header; do
		from=$(layer "$(basename "${file%.[ch]}")")
		to=$(layer "$(basename "${header%.h}")")
		if [ "$from" != - ] && [ "$to" != - ] && [ "$to" -gt "$from" ]; then
			echo "$file includes $header, which is above it"
		fi
		case $header in
		*/*) echo "$file includes $header: by its name only, it lies elsewhere in a kernel tree" ;;
		kselftest*) [ "$file" = common/ktap.h ] ||
			echo "$file includes $header: only common/ktap.h does" ;;
		ktap.h) [[ $file == mm-cache/* ]] ||
			echo "$file includes ktap.h: only test programs do" ;;
		*)
			[[ $file == tools/* && -e tools/$header ]] || [ -e "common/$header" ] ||
				echo "$file includes $header, which is not in reach"
			;;
		esac
	done < <(include_pairs)
	grep -Hn '^#include <\(lib\(uring\|mount\)\|blkid\).*>' "${headers[@]}" |
		sed 's/$/: only a .c file may/'

	# A module is a .c and .h pair; tsort names the modules of a circle.
	include_pairs | grep -v kselftest | while read -r file header; do
		from=$(basename "${file%.[ch]}")
		to=$(basename "${header%.h}")
		[ "$from" = "$to" ] || echo "$from $to"
	done | tsort 2>&1 >/dev/null | sed 's/^tsort: -: /in a circle: /; s/^tsort: /in a circle: /'
}
quiet includes "an include goes the wrong way" includes

# Every program is listed, in order, and git ignores what is built from it in a
# kernel tree.
lists()
{
	local programs
	programs=$(cd mm-cache && printf '%s\n' *.c | sed 's/\.c$//' | LC_ALL=C sort)

	diff <(sed -n 's/^TEST_GEN_PROGS [:+]= //p' mm-cache/Makefile) <(echo "$programs") ||
		echo "mm-cache/Makefile: TEST_GEN_PROGS (<) are not the sources in order (>)"
	diff <(grep -v '^#' mm-cache/.gitignore) <(echo "$programs") ||
		echo "mm-cache/.gitignore: its names (<) are not the programs in order (>)"
	[ "$(readlink mm-cache/config)" = ../config ] ||
		echo "mm-cache/config is no link to ../config"
	grep -nv '^CONFIG_[A-Z0-9_]*=[ym]$' config
	LC_ALL=C sort -cu config
}
quiet lists "a list does not match the files" lists

# Whoever opens the project sees these and nothing else.
layout()
{
	local path

	for path in "${all_files[@]}"; do
		echo "${path%%/*}"
	done | LC_ALL=C sort -u | grep -vx \
		'tools\|mm-cache\|common\|scripts\|config\|Makefile\|README.md\|COPYING\|\.[a-z-]*' |
		sed 's/$/: does not belong to the top/'
	for path in tools mm-cache common scripts config Makefile README.md COPYING; do
		[ -e "$path" ] || echo "$path: is missing"
	done
}
quiet layout "the top level is not as agreed" layout

# The project works on every machine and from every mirror, so it names none.
own_words()
{
	grep -HnE '(^|[^A-Za-z0-9_.$}/-])/(work|root|home|Users)/' "${all_files[@]}"
	grep -HnE '[a-z0-9-]+\.(debian|ubuntu|fedoraproject|archlinux)\.(org|com|net)' "${all_files[@]}"
}
quiet own-words "a path or a host of one machine" own_words

# argp fills lines to 79 columns: one that is longer in the source ends as a stump.
help_fits()
{
	local program

	for program in "$TOOLS_DIR"/mm-cache-*; do
		[[ $program != *.o ]] || continue
		ARGP_HELP_FMT=rmargin=200 "$program" --help | grep -v '^Mandatory or optional' |
			grep -E '^[^ ].{78}' | sed "s/^/$(basename "$program"): /"
	done
}
quiet help-fits "a line of --help is too long" help_fits

check_done
