#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Fails where a tool cannot be built from what is installed alone: installs headers and library into a folder of its
# own, and builds the example there with the flags that pkg-config gives.
#
# usage: test-install.sh BUILD_DIR SOURCE_DIR CLANG BPFTOOL
set -eu

build=$1 source=$2 clang=$3 bpftool=$4
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT

DESTDIR=$root/installed meson install -C "$build" --no-rebuild --quiet --tags devel
file=$(find "$root/installed" -name stackmap.pc)
export PKG_CONFIG_PATH=${file%/*} PKG_CONFIG_SYSROOT_DIR=$root/installed
cp "$source"/examples/write_stacks* "$root"
cd "$root"
read -ra bpf_flags < <(pkg-config --cflags stackmap-bpf)
read -ra flags < <(pkg-config --cflags --static --libs stackmap)
case $(uname -m) in
x86_64) arch=x86 ;;
aarch64) arch=arm64 ;;
esac
"$clang" -target bpf -mcpu=v3 -O2 -g -Wall -Werror "-D__TARGET_ARCH_$arch" -idirafter "/usr/include/$(uname -m)-linux-gnu" \
	"${bpf_flags[@]}" -c write_stacks.bpf.c -o write_stacks.bpf.o
"$bpftool" gen skeleton write_stacks.bpf.o name write_stacks_bpf >write_stacks.skel.h
cc -Wall -Werror write_stacks.c "${flags[@]}" -o write_stacks
echo "$(find "$root/installed" -name '*.h' | wc -l) headers, and the example is built with them"
