#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Put the suite into a kernel tree, at tools/testing/selftests/mm-cache.
#
#   install-in-tree.sh [--link] KDIR
#
# Files that the project no longer has are removed there; what was built there
# stays. With --link the files are symbolic links into this project, which is
# how it builds outside a kernel tree (scripts/stage.sh).
set -eu -o pipefail

die()
{
	printf 'install-in-tree: %s\n' "$@" >&2
	exit 1
}

link=
if [ "${1:-}" = --link ]; then
	link=yes
	shift
fi
[ $# -eq 1 ] || die "usage: install-in-tree.sh [--link] KDIR"

top=$(cd "$(dirname "$0")/.." && pwd -P)
[ -d "$1" ] || die "$1: no such directory: give the top of a kernel tree"
kdir=$(cd "$1" && pwd -P)
selftests=$kdir/tools/testing/selftests
dest=$selftests/mm-cache
[ -f "$selftests/lib.mk" ] ||
	die "$selftests/lib.mk not found: $1 is not the top of a kernel tree"

# What belongs into a tree: path below mm-cache/ and file in the project.
files()
{
	local path

	for path in "$top"/mm-cache/{Makefile,config,settings,.gitignore} \
			"$top"/mm-cache/*.[ch]; do
		[ ! -e "$path" ] || echo "${path##*/} $path"
	done
	for path in "$top"/common/common.mk "$top"/common/*.[ch]; do
		[ ! -e "$path" ] || echo "common/${path##*/} $path"
	done
}

# The list of tests in the kernel's Makefile is sorted; ours comes after mm.
add_to_targets()
{
	local makefile=$selftests/Makefile

	! grep -q '^TARGETS += mm-cache$' "$makefile" || return 0
	grep -q '^TARGETS += mm$' "$makefile" ||
		die "$makefile has no line 'TARGETS += mm' to put 'TARGETS += mm-cache' after"
	sed -i '/^TARGETS += mm$/a TARGETS += mm-cache' "$makefile"
	echo "added mm-cache to TARGETS in $makefile"
}

mkdir -p "$dest/common"
declare -A wanted
changed=0
while read -r name path; do
	wanted[$name]=1
	if [ -n "$link" ]; then
		[ "$(readlink "$dest/$name")" != "$path" ] || continue
		ln -sfn "$path" "$dest/$name"
	else
		[ -L "$dest/$name" ] || ! cmp -s "$path" "$dest/$name" || continue
		rm -f "$dest/$name"
		cp -L "$path" "$dest/$name"
	fi
	changed=$((changed + 1))
done < <(files)

for path in "$dest"/*.[ch] "$dest"/common/*.[ch] "$dest"/common/*.mk; do
	[ -e "$path" ] || [ -L "$path" ] || continue
	name=${path#"$dest/"}
	[ -z "${wanted[$name]:-}" ] || continue
	echo "removing $path: the project no longer has it"
	rm "$path"
done

if [ -z "$link" ]; then
	add_to_targets
	echo "$dest: $changed of ${#wanted[@]} files new or changed"
	echo "next: make -C $kdir kselftest TARGETS=mm-cache"
fi
