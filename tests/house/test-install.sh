#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Fails where a tool cannot be built from what is installed alone, where the libraries show more or less than their headers
# declare, or where a function has no version and no page.
#
# usage: test-install.sh BUILD_DIR SOURCE_DIR CLANG BPFTOOL
set -eu

build=$1 source=$2 clang=$3 bpftool=$4
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT

"${0%/*}/installed-examples.sh" "$build" "$source" "$clang" "$bpftool" "$root"
include=$(find "$root/installed" -path '*/include/stackmap')
shared=$(find "$root/installed" -name libstackmap.so)
static=${shared%.so}.a

# The functions that the installed headers declare; bpf.h is for BPF programs, which have no library.
find "$include" -maxdepth 1 -name '*.h' ! -name bpf.h -exec cat {} + | cc -E -P "-I${include%/*}" - |
	grep -oE '\bstackmap_\w+ *\(' | tr -d ' (' | sort -u >"$root/declared"

# has_what_is_declared WHAT, with names on standard input
has_what_is_declared() {
	sort -u | diff "$root/declared" - >"$root/difference" && return
	echo "$1 (>) has not what the headers declare (<):"
	cat "$root/difference"
	return 1
}

# The functions and objects on nm's output.
shown() {
	awk '$2 ~ /^[A-Z]$/ && $2 != "A" { print $3 }'
}

# dynamic_lines FILE PATTERN: how many lines of its dynamic section match
dynamic_lines() {
	readelf -d "$1" | grep -c "$2" || true
}

nm -D --defined-only --without-symbol-versions "$shared" | shown | has_what_is_declared libstackmap.so
nm -g --defined-only "$static" | shown | has_what_is_declared libstackmap.a
grep -oE '\bstackmap_\w+;' "$source/lib/libstackmap.map" | tr -d ';' | has_what_is_declared libstackmap.map
# A synopsis has each function of its header.
sed -n 's/^\.Fo //p' "$source"/docs/man/*.3 | has_what_is_declared 'a page of section 3'
[ "$(nm -D --defined-only "$shared" | shown | grep -vc '@@STACKMAP_[0-9.]*$')" -eq 0 ]

[ "$(dynamic_lines "$shared" 'SONAME.*\[libstackmap\.so\.0\]')" -eq 1 ]
for example in "$root"/shared/*; do
	[ "$(dynamic_lines "$example" 'NEEDED.*\[libstackmap\.so\.0\]')" -eq 1 ]
	[ "$(dynamic_lines "$root/static/${example##*/}" libstackmap)" -eq 0 ]
done
echo "$(find "$root/installed" -name '*.h' | wc -l) headers, $(wc -l <"$root/declared") functions, and" \
	"$(find "$root/shared" -type f | wc -l) examples are built with them and each library"
