#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Fetches packages of another Debian suite without touching this machine's apt:
# the source is derived from the Debian source that is installed, the lists and
# caches live under build/, nothing is installed.

set -euo pipefail

usage() {
	cat <<'END'
usage: scripts/fetch-debian.sh SUITE PACKAGE...     download; print one .deb path per line
       scripts/fetch-debian.sh --list SUITE REGEX   print "NAME VERSION" of the matches
       scripts/fetch-debian.sh --unpack DIR SUITE PACKAGE...
                                                    download and unpack into DIR

SUITE is a Debian suite such as trixie or trixie-backports; the security suite
of a stable release is searched with it. PACKAGE is a name, or NAME=VERSION.
Everything is kept under build/vng/debian/ of this project; the lists are
renewed when they are older than a day, or when FETCH_APT_UPDATE=1.
END
}

die() {
	echo "fetch-debian.sh: $*" >&2
	exit 1
}

here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
state=$here/build/vng/debian

mode=download
unpack_to=
case ${1-} in
-h | --help)
	usage
	exit 0
	;;
--list)
	mode=list
	shift
	;;
--unpack)
	mode=unpack
	[ $# -ge 2 ] || die "--unpack needs a directory (--help tells)"
	unpack_to=$2
	shift 2
	;;
-*) die "unknown option $1 (--help tells)" ;;
esac
[ $# -ge 2 ] || {
	usage >&2
	exit 2
}
suite=$1
shift
[[ $suite =~ ^[a-z][a-z-]*$ ]] || die "'$suite' is no suite name: use one such as trixie"

command -v apt-get >/dev/null || die "no apt-get here: this needs Debian, or give an image with --kernel"

# The address of the installed Debian source (label $1), without naming any host.
installed_uri() {
	# shellcheck disable=SC2016 # apt expands these
	apt-get indextargets --format '$(LABEL)|$(REPO_URI)' \
		'Created-By: Packages' 2>/dev/null |
		awk -F'|' -v label="$1" '$1 == label { print $2; exit }'
}

keyring=/usr/share/keyrings/debian-archive-keyring.gpg
[ -r "$keyring" ] || die "no $keyring: install debian-archive-keyring"
main_uri=$(installed_uri Debian)
[ -n "$main_uri" ] ||
	die "apt knows no Debian source: run 'apt-get update' once, or give an image with --kernel"
security_uri=$(installed_uri Debian-Security)

base=$state/$suite
mkdir -p "$base/lists/partial" "$base/cache/archives/partial" "$base/debs" "$base/etc/none.d"
{
	echo "deb [signed-by=$keyring] $main_uri $suite main"
	case $suite in
	*-*) ;;
	*) [ -z "$security_uri" ] ||
		echo "deb [signed-by=$keyring] $security_uri $suite-security main" ;;
	esac
} >"$base/etc/sources.list.new"
: >"$base/status"

private_apt=(
	-o "Dir::Etc=$base/etc" -o "Dir::Etc::sourcelist=$base/etc/sources.list"
	-o "Dir::Etc::sourceparts=none.d" -o "Dir::Etc::preferencesparts=none.d"
	-o "Dir::Etc::preferences=none" -o "Dir::State=$base"
	-o "Dir::State::lists=$base/lists" -o "Dir::State::status=$base/status"
	-o "Dir::Cache=$base/cache" -o "Dir::Cache::archives=$base/cache/archives"
	-o "Dir::Cache::pkgcache=$base/cache/pkgcache.bin" -o "Dir::Cache::srcpkgcache=$base/cache/srcpkgcache.bin"
	-o "APT::Sandbox::User=" -o "Acquire::Languages=none"
	-o "APT::Get::List-Cleanup=false" -o "APT::Update::Post-Invoke::=true"
)

# One at a time: apt's own lock would make a second run fail, not wait.
exec 9>"$base/lock"
flock 9

if ! cmp -s "$base/etc/sources.list.new" "$base/etc/sources.list" ||
	[ "${FETCH_APT_UPDATE-0}" = 1 ] ||
	[ -z "$(find "$base/updated" -mmin -1440 2>/dev/null)" ]; then
	mv "$base/etc/sources.list.new" "$base/etc/sources.list"
	echo "fetch-debian.sh: reading the package lists of $suite" >&2
	rm -f "$base/updated"
	apt-get "${private_apt[@]}" -qq update >&2 9>&- ||
		die "cannot read the package lists of $suite: is it still a suite of this Debian mirror?"
	touch "$base/updated"
fi
rm -f "$base/etc/sources.list.new"

if [ $mode = list ]; then
	apt-cache "${private_apt[@]}" search --names-only "$1" | awk '{ print $1 }' |
		xargs -r apt-cache "${private_apt[@]}" show --no-all-versions |
		awk '$1 == "Package:" { name = $2 } $1 == "Version:" { print name, $2 }'
	exit 0
fi

for package; do
	file=$(cd "$base/etc/none.d" && apt-get "${private_apt[@]}" --print-uris download "$package" 2>&1 9>&- |
		awk 'substr($1, 1, 1) == "\047" { print $2 }')
	[ -n "$file" ] || die "$suite has no package $package (list names with --list $suite REGEX)"
	if [ ! -s "$base/debs/$file" ]; then
		echo "fetch-debian.sh: downloading $file" >&2
		(cd "$base/debs" && apt-get "${private_apt[@]}" -qq download "$package" >&2 9>&-) ||
			die "downloading $package of $suite failed: see above, then try again"
		[ -s "$base/debs/$file" ] || die "apt-get left no $base/debs/$file"
	fi
	if [ $mode = unpack ]; then
		mkdir -p "$unpack_to"
		dpkg-deb -x "$base/debs/$file" "$unpack_to" || {
			rm -f "$base/debs/$file"
			die "$file does not unpack and was removed: try again"
		}
	fi
	echo "$base/debs/$file"
done
