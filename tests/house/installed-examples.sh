#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Installs headers and libraries into FOLDER/installed, and builds the examples with that alone and the flags that pkg-config
# gives: in FOLDER/shared with the shared library, in FOLDER/static with the static one. A warning is an error.
#
# usage: installed-examples.sh BUILD_DIR SOURCE_DIR CLANG BPFTOOL FOLDER
set -eu

build=$1 source=$2 clang=$3 bpftool=$4 folder=$5

DESTDIR=$folder/installed meson install -C "$build" --no-rebuild --quiet --tags devel,runtime
pc=$(find "$folder/installed" -name stackmap.pc)
export PKG_CONFIG_PATH=${pc%/*} PKG_CONFIG_SYSROOT_DIR=$folder/installed
read -ra bpf_flags < <(pkg-config --cflags stackmap-bpf)
read -ra flags < <(pkg-config --cflags --libs stackmap)
read -ra static_flags < <(pkg-config --cflags --static --libs stackmap)

mkdir "$folder/source" "$folder/shared" "$folder/static"
cp "$source"/examples/*.c "$folder/source"
cd "$folder/source"
case $(uname -m) in
x86_64) arch=x86 ;;
aarch64) arch=arm64 ;;
esac
"$clang" -target bpf -mcpu=v3 -O2 -g -Wall -Werror "-D__TARGET_ARCH_$arch" -idirafter "/usr/include/$(uname -m)-linux-gnu" \
	"${bpf_flags[@]}" -c write_stacks.bpf.c -o write_stacks.bpf.o
"$bpftool" gen skeleton write_stacks.bpf.o name write_stacks_bpf >write_stacks.skel.h
for example in *.c; do
	name=${example%.c} needs=()
	case $name in
	*.bpf) continue ;;
	write_stacks) needs=(-lbpf) ;; # its skeleton
	esac
	cc -Wall -Wextra -Werror -O1 "$example" "${flags[@]}" "${needs[@]}" -o "../shared/$name"
	cc -Wall -Wextra -Werror -O1 "$example" "${static_flags[@]/-lstackmap/-l:libstackmap.a}" "${needs[@]}" -o "../static/$name"
done
