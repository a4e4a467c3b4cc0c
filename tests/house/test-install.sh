#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Fails where a tool cannot be built from what is installed alone, or where the libraries show more or less than
# their headers declare: installs headers and libraries into a folder of its own, and builds the example there with
# the flags that pkg-config gives, once with each library.
#
# usage: test-install.sh BUILD_DIR SOURCE_DIR CLANG BPFTOOL
set -eu

build=$1 source=$2 clang=$3 bpftool=$4
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT

# The functions that the installed headers declare; bpf.h is for BPF programs, which have no library.
declared() {
	find "$include" -maxdepth 1 -name '*.h' ! -name bpf.h -exec cat {} + | cc -E -P "-I${include%/*}" - |
		grep -oE '\bstackmap_\w+ *\(' | tr -d ' (' | sort -u
}

# The functions and objects on nm's output.
shown() {
	awk '$2 ~ /^[A-Z]$/ && $2 != "A" { print $3 }' | sort
}

# shows_what_is_declared LIBRARY, with nm's output on standard input
shows_what_is_declared() {
	diff <(declared) <(shown) >"$root/difference" && return
	echo "$1 (>) does not show what the headers declare (<):"
	cat "$root/difference"
	return 1
}

# dynamic_lines FILE PATTERN: how many lines of its dynamic section match
dynamic_lines() {
	readelf -d "$1" | grep -c "$2" || true
}

DESTDIR=$root/installed meson install -C "$build" --no-rebuild --quiet --tags devel,runtime
file=$(find "$root/installed" -name stackmap.pc)
include=$(find "$root/installed" -path '*/include/stackmap')
shared=$(find "$root/installed" -name libstackmap.so)
static=${shared%.so}.a
export PKG_CONFIG_PATH=${file%/*} PKG_CONFIG_SYSROOT_DIR=$root/installed

nm -D --defined-only --without-symbol-versions "$shared" | shows_what_is_declared libstackmap.so
nm -g --defined-only "$static" | shows_what_is_declared libstackmap.a
[ "$(dynamic_lines "$shared" 'SONAME.*\[libstackmap\.so\.0\]')" -eq 1 ]

cp "$source"/examples/write_stacks* "$root"
cd "$root"
read -ra bpf_flags < <(pkg-config --cflags stackmap-bpf)
read -ra flags < <(pkg-config --cflags --libs stackmap)
read -ra static_flags < <(pkg-config --cflags --static --libs stackmap)
case $(uname -m) in
x86_64) arch=x86 ;;
aarch64) arch=arm64 ;;
esac
"$clang" -target bpf -mcpu=v3 -O2 -g -Wall -Werror "-D__TARGET_ARCH_$arch" -idirafter "/usr/include/$(uname -m)-linux-gnu" \
	"${bpf_flags[@]}" -c write_stacks.bpf.c -o write_stacks.bpf.o
"$bpftool" gen skeleton write_stacks.bpf.o name write_stacks_bpf >write_stacks.skel.h
cc -Wall -Werror write_stacks.c "${flags[@]}" -lbpf -o write_stacks
[ "$(dynamic_lines write_stacks 'NEEDED.*\[libstackmap\.so\.0\]')" -eq 1 ]
cc -Wall -Werror write_stacks.c "${static_flags[@]/-lstackmap/-l:libstackmap.a}" -o write_stacks_static
[ "$(dynamic_lines write_stacks_static libstackmap)" -eq 0 ]
echo "$(find "$root/installed" -name '*.h' | wc -l) headers, and the example is built with them and each library"
