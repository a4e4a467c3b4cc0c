#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# One object of all functions that the public headers declare, and of what they need: those names are global in it, all
# others are its own. Both libraries are made of it, so that neither shows more or less than the headers, whatever
# is called how inside. A function that is declared and not defined is an error of the linker.
#
# usage: public_object.sh OBJECT ARCHIVE INCLUDE_DIR HEADER... -- COMPILER...
set -eu

object=$1 archive=$2 include=$3
shift 3
headers=()
while [ "$1" != -- ]; do
	headers+=("$1")
	shift
done
shift

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# Declarations without comments: a name of ours before a parenthesis is a function.
cat "${headers[@]}" | "$@" -E -P -I "$include" -x c - |
	grep -oE '\bstackmap_[a-z0-9_]+ *\(' | tr -d ' (' | sort -u >"$scratch/names"
sed 's/^/-Wl,--require-defined=/' "$scratch/names" >"$scratch/required"
"$@" -r -nostdlib -o "$object" "@$scratch/required" "$archive"
"$("$@" -print-prog-name=objcopy)" --keep-global-symbols="$scratch/names" "$object"
