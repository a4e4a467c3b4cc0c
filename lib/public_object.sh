#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Makes one object of all functions that the public headers declare, and of all code that these functions need. Only
# the names of these functions are global in the object. Both libraries are made of this object, so that neither shows
# more or less than the headers. A function that is declared and not defined is an error of the linker.
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
