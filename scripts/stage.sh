#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Make a miniature kernel tree in which the suite builds as it does in a real
# one: the kernel's selftest files as they are, and links to the project.
#
#   stage.sh STAGE CACHE [KSRC]
#
# STAGE  where the tree is made, or brought up to date
# CACHE  where the needed files of a source tarball are unpacked to
# KSRC   top of a kernel source; without it, the newest /usr/src/linux-source-*
set -eu -o pipefail

die()
{
	printf 'stage: %s\n' "$@" >&2
	exit 1
}

if [ $# -lt 2 ] || [ $# -gt 3 ]; then
	die "usage: stage.sh STAGE CACHE [KSRC]"
fi
top=$(cd "$(dirname "$0")/.." && pwd -P)
stage=$1
cache=$2
ksrc=${3:-}

# Version, kind and path of every kernel source that the distribution's package
# put here, a directory before a tarball of the same version.
sources()
{
	local path version

	for path in /usr/src/linux-source-*; do
		version=${path#/usr/src/linux-source-}
		if [ -f "$path/tools/testing/selftests/lib.mk" ]; then
			echo "$version 2 $path"
		elif [ -f "$path" ] && [[ $path == *.tar.* ]]; then
			echo "${version%.tar.*} 1 $path"
		fi
	done
}

# Only what the build and the checks read: a tarball holds 1.5 GiB.
unpack()
{
	local tarball=$1 dir=$2 name

	name=$(basename "$tarball")
	name=${name%.tar.*}
	echo "stage: unpacking the test harness from $tarball"
	rm -rf "$dir"
	mkdir -p "$dir"
	case $tarball in
	*.xz) xz -dc -T0 "$tarball" ;;
	*.zst) zstd -dc "$tarball" ;;
	*.bz2) bzip2 -dc "$tarball" ;;
	*.gz) gzip -dc "$tarball" ;;
	*) die "$tarball: not a kind of tarball that is known here" ;;
	esac | tar -x -C "$dir" --strip-components=1 --no-same-owner --no-recursion \
		--wildcards --no-wildcards-match-slash \
		"$name/.clang-format" \
		"$name/Makefile" \
		"$name/scripts/checkpatch.pl" \
		"$name/scripts/const_structs.checkpatch" \
		"$name/scripts/spelling.txt" \
		"$name/scripts/subarch.include" \
		"$name/tools/testing/selftests/*" \
		"$name/tools/testing/selftests/kselftest/*" ||
		die "could not unpack $tarball into $dir"
}

if [ -z "$ksrc" ]; then
	newest=$(sources | sort -k 1,1V -k 2,2n | tail -n 1)
	[ -n "$newest" ] ||
		die "no /usr/src/linux-source-*: run 'make deps', or give KSRC=top of a kernel source"
	ksrc=${newest##* }
	if [ -f "$ksrc" ]; then
		identity="$ksrc $(stat -L -c '%s %Y' "$ksrc")"
		if [ "$(cat "$cache/.unpacked-from" 2>/dev/null)" != "$identity" ]; then
			unpack "$ksrc" "$cache"
			echo "$identity" >"$cache/.unpacked-from"
		fi
		ksrc=$cache
	fi
fi

[ -d "$ksrc" ] || die "$ksrc: no such directory: KSRC= is the top of a kernel source"
ksrc=$(cd "$ksrc" && pwd -P)
from=$ksrc/tools/testing/selftests
to=$stage/tools/testing/selftests
for path in "$from/lib.mk" "$from/Makefile" "$from/kselftest_harness.h" \
		"$from/run_kselftest.sh" "$ksrc/scripts/subarch.include"; do
	[ -f "$path" ] || die "$path not found: $ksrc is not the top of a kernel source"
done

# Copies, so that the tree stands alone; a file that did not change keeps its
# time, so that nothing is built again for it.
put()
{
	! cmp -s "$1" "$2" || return 0
	cp "$1" "$2"
}

mkdir -p "$to/kselftest" "$stage/scripts"
put "$ksrc/scripts/subarch.include" "$stage/scripts/subarch.include"
for path in "$from"/*.mk "$from"/*.h "$from"/*.sh "$from/Makefile" "$from"/kselftest/*; do
	[ -f "$path" ] || continue
	put "$path" "$to/${path#"$from/"}"
done

"$top/scripts/install-in-tree.sh" --link "$stage"
echo "$ksrc" >"$stage/ksrc"
