#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Who makes a release: builds the packages from the source archive, on a minimal Debian, with nothing installed but
# what debian/control names. Then who builds a tool with them.
#
# usage: builder.sh TARBALL once|twice     twice: another build must give the same bytes
set -u
exec 2>&1 # what a case took, too

. "$(dirname "$0")/cases.sh"
tarball=$1 builds=$2

# build DIRECTORY
build() {
	mkdir -p "$1" && tar -xz -C "$1" --strip-components=1 -f "$tarball" && "$1/scripts/build-packages"
}

packages_are_built() {
	local name
	build /home/builder || return
	for name in stackmap stackmap-dbgsym libstackmap0 libstackmap-dev; do
		compgen -G "/home/builder/build/packages/${name}_*.deb" || fault "no package $name" || return
	done
}

another_build_gives_the_same_bytes() {
	local deb
	(umask 0027 && TZ=Pacific/Auckland LC_ALL=C.UTF-8 DEB_BUILD_OPTIONS=parallel=1 build /srv/of/somebody/else) || return
	for deb in /home/builder/build/packages/*.deb; do
		cmp "$deb" "/srv/of/somebody/else/build/packages/${deb##*/}" || fault "$deb differs" || return
	done
}

programs_name_no_folder_of_the_build() {
	dpkg-deb --fsys-tarfile stackmap_*.deb | tar -x -C /tmp ./usr/bin/stackmap || return
	! grep -a -o '/home/builder[[:print:]]*' /tmp/usr/bin/stackmap
}

lintian_finds_no_error() {
	install lintian >/dev/null || return
	lintian --version | sed 's/^/NOTE: /'
	lintian --allow-root --fail-on error --display-level ">=warning" stackmap_*.changes | sed 's/^/NOTE: /'
	return "${PIPESTATUS[0]}"
}

# Like docs/internals/engine.md says, of the example that the package brings.
a_tool_is_built_with_them() {
	install ./libstackmap0_*.deb ./libstackmap-dev_*.deb >/dev/null || return
	mkdir -p /tmp/tool && cp /usr/share/doc/libstackmap-dev/examples/write_stacks* /tmp/tool && cd /tmp/tool || return
	# shellcheck disable=SC2046 # flags are meant to be split
	"$(command -v clang-14 || command -v clang)" -target bpf -mcpu=v3 -O2 -g -D__TARGET_ARCH_x86 $(pkg-config --cflags stackmap-bpf) \
		-idirafter "/usr/include/$(uname -m)-linux-gnu" -c write_stacks.bpf.c -o write_stacks.bpf.o &&
		/usr/sbin/bpftool gen skeleton write_stacks.bpf.o name write_stacks_bpf >write_stacks.skel.h &&
		cc -Wall write_stacks.c $(pkg-config --cflags --libs stackmap) -lbpf -o write_stacks &&
		ldd write_stacks | grep 'libstackmap.so.0 => /' && starts ./write_stacks &&
		cc -Wall write_stacks.c $(pkg-config --cflags --static --libs stackmap | sed 's/-lstackmap/-l:libstackmap.a/') \
			-o write_stacks_static && ! ldd write_stacks_static | grep libstackmap && starts ./write_stacks_static
}

# The programs that need no BPF of their own, each with both libraries; this one runs without privileges, too.
the_other_examples_are_built_with_them() {
	local example name
	cd /usr/share/doc/libstackmap-dev/examples || return
	for example in follow.c hot_functions.c own_stacks.c record.c; do
		name=${example%.c}
		# shellcheck disable=SC2046 # flags are meant to be split
		cc -Wall "$example" $(pkg-config --cflags --libs stackmap) -o "/tmp/tool/$name" &&
			cc -Wall "$example" $(pkg-config --cflags --static --libs stackmap | sed 's/-lstackmap/-l:libstackmap.a/') \
				-o "/tmp/tool/${name}_static" || return
	done
	/tmp/tool/own_stacks | grep '^3 calls' && /tmp/tool/own_stacks_static | grep '^3 calls'
}

# man FUNCTION shows the page of its header.
functions_have_pages() {
	dpkg -L libstackmap-dev | grep '/man3/stackmap_map_find\.3' && dpkg -L libstackmap-dev | grep '/man3/stackmap_recording\.3'
}

# Without an argument it says how it is used: its libraries are all there.
starts() {
	"$1" 2>&1 | grep -qx 'write_stacks: usage: write_stacks PID' || fault "$("$1" 2>&1)"
}

export DPKG_DEB_COMPRESSOR_LEVEL=1 # how small they are is not tested
apt-get -qq update
try packages_are_built
cd /home/builder/build/packages || exit
[ "$builds" = once ] || try another_build_gives_the_same_bytes
for step in programs_name_no_folder_of_the_build lintian_finds_no_error a_tool_is_built_with_them \
	the_other_examples_are_built_with_them functions_have_pages; do
	try $step
done
[ "$faults" -eq 0 ]
