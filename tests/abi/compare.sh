#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Fails where the shared library is not the one that programs were compiled with: abidiff compares its functions, their versions and
# the types that they take with those of the reference. What is new is a difference, too: it has to get into the reference. Types
# that only have a name in the reference are not looked into.
#
# usage: compare.sh LIBRARY REFERENCE.c COMPILER...
set -eu

library=$1 reference=$2
shift 2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

skip() {
	echo "skip: $1"
	exit 77
}
command -v abidiff >/dev/null || skip 'there is no abidiff (package abigail-tools)'
readelf -S "$library" | grep -q '\.debug_info' || skip 'the library has no debug information: types cannot be compared'

# The map of the reference, from the version that each function names.
tr '\n' ' ' <"$reference" | grep -oE 'INTERFACE\("[^"]+",[^(),]*,[[:space:]]*stackmap_\w+' |
	sed -E 's/INTERFACE\("([^"]+)",.*[[:space:]](stackmap_\w+)$/\1 \2/' >"$work/functions"
awk '{ nodes[$1] = nodes[$1] " " $2 ";" } END { for (node in nodes) print node " { global:" nodes[node] " };" }' \
	"$work/functions" >"$work/map"
"$@" -g -O0 -w -shared -fPIC -Wl,-soname,"$(basename "$reference" .c)" -Wl,--version-script="$work/map" \
	"$reference" -o "$work/reference.so"

# "struct x;": what programs have pointers to, and no more.
sed -nE 's/^struct (\w+);$/[suppress_type]\nname = \1/p' "$reference" >"$work/opaque"
abidiff --harmless --suppressions "$work/opaque" "$work/reference.so" "$library" >"$work/difference" || {
	echo "$(basename "$library") is not as $(basename "$reference") has it:"
	cat "$work/difference"
	exit 1
}
echo "$(wc -l <"$work/functions") functions are as programs know them"
