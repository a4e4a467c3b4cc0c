#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The source archive of a commit is the same bytes, whoever makes it, when and where, and it holds what git holds.
#
# usage: test-tarball.sh SOURCE_DIR
set -eu

source=$1
top=$(mktemp -d)
trap 'rm -rf "$top"' EXIT
export GIT_CONFIG_GLOBAL=$top/gitconfig
printf '[safe]\n\tdirectory = *\n[user]\n\tname = test\n\temail = test@localhost\n' >"$GIT_CONFIG_GLOBAL"
git -C "$source" rev-parse -q --verify HEAD >/dev/null 2>&1 || { echo 'this is not a git checkout'; exit 77; }

fail() {
	echo "$*"
	exit 1
}

# clone NAME: a checkout whose scripts are those under test
clone() {
	mkdir -p "$(dirname "$top/$1")"
	git clone --quiet --no-hardlinks "$source" "$top/$1"
	cp "$source/scripts/release-tarball" "$top/$1/scripts"
}

clone here
first=$("$top/here/scripts/release-tarball")
[ "$first" = "$(readlink -f "$top/here/build/stackmap-"*.tar.gz)" ] || fail "made $first"

# Of another user: another mask and time zone, files of another age, and settings of git.
umask 0077
clone there/and/deeper
git -C "$top/there/and/deeper" config tar.umask 0077
git -C "$top/there/and/deeper" config core.autocrlf true
find "$top/there" -exec touch -d '2001-02-03' {} +
second=$(TZ=Pacific/Auckland LC_ALL=C "$top/there/and/deeper/scripts/release-tarball" "$top/elsewhere")
[ "$second" = "$top/elsewhere/${first##*/}" ] || fail "made $second, not ${first##*/}"
cmp "$first" "$second"

diff <(tar -tzf "$first" | sed -n 's|^[^/]*/||; /[^/]$/p' | sort) \
	<(git -C "$top/here" -c core.quotePath=false ls-tree -r --name-only HEAD | sort) || fail 'it does not hold what git holds'

echo "${first##*/}: $(stat -c %s "$first") bytes, the same from two clones"
