# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Linux with the series: its source, its image, and a guest that runs it. Sourced by check, compare, measure and steps.
#
# The source is Debian's package of it, fetched with apt, which checks it, by package lists of our own. Source and objects
# stay in a cache outside of the tree. The algorithm is not kept twice: core/ and abi/ are copied in.
set -eu

here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
root=$(dirname "$here")
cache=${XDG_CACHE_HOME:-~/.cache}/stackmap/linux
package=linux-source-7.3
jobs=$(nproc)
guest_seconds_max=1200

skip() {
	echo "kernel: $*"
	exit 77
}

need() {
	local tool
	for tool in make gcc bc flex bison cpio patch qemu-system-x86_64 busybox dpkg-deb; do
		command -v $tool >/dev/null || skip "$tool is missing: apt install make gcc gcc-multilib libc6-dev bc flex bison cpio" \
			'patch libelf-dev libssl-dev qemu-system-x86 busybox-static xz-utils'
	done
	[ "$(uname -m)" = x86_64 ] || skip 'it is for x86-64'
	echo 'int main(void) { return 0; }' | gcc -m32 -static -x c - -o /dev/null 2>/dev/null ||
		skip 'the compiler makes no 32-bit programs (gcc-multilib)'
}

# The source as the package has it, in $cache/pristine.
fetch_source() {
	[ ! -d "$cache/pristine" ] || return 0
	local scratch
	scratch=$(mktemp -d "$cache/fetch.XXXXXX")
	"$root/tests/vm/fetch-package" "$package" "$scratch" || skip "$package cannot be had"
	dpkg-deb --fsys-tarfile "$scratch/$package"_*.deb | tar -xO ./usr/src/$package.tar.xz >"$scratch/source.tar.xz"
	mkdir "$scratch/pristine"
	tar -xJf "$scratch/source.tar.xz" -C "$scratch/pristine" --strip-components=1
	mv "$scratch/pristine" "$cache/pristine"
	rm -r "$scratch"
}

# put FILE...: into the folder that is named first; a file that is the same keeps its time, so that it is not built again
put() {
	local folder=$1 file
	shift
	mkdir -p "$folder"
	for file; do
		cmp -s "$file" "$folder/${file##*/}" || cp "$file" "$folder"
	done
}

# What the series added the time before and does not add any more.
drop_gone() {
	(cd "$here/linux" && find . -type f | sort) >"$cache/added.new"
	[ ! -f "$cache/added" ] || comm -23 "$cache/added" "$cache/added.new" | (cd "$cache/source" && xargs -r rm -f)
	mv "$cache/added.new" "$cache/added"
}

# Files of the kernel that the series or measure changes, now or in a version before, as they were.
restore() {
	touch "$cache/changed"
	{ cat "$cache/changed"; sed -n 's,^+++ b/,,p' "$here"/patches/*.patch; } | sort -u >"$cache/changed.new"
	mv "$cache/changed.new" "$cache/changed"
	while read -r file; do
		install -D -m 644 "$cache/pristine/$file" "$1/$file"
	done <"$cache/changed"
}

# The source with the series, in $cache/source.
make_source() {
	local file patched
	[ -d "$cache/source" ] || cp -r "$cache/pristine" "$cache/source"
	patched=$(mktemp -d)
	restore "$patched"
	cat "$here"/patches/*.patch | patch -d "$patched" -p1 -s
	(cd "$patched" && find . -type f) | while read -r file; do
		put "$(dirname "$cache/source/$file")" "$patched/$file"
	done
	rm -r "$patched"
	(cd "$here/linux" && find . -type f) | while read -r file; do
		put "$(dirname "$cache/source/$file")" "$here/linux/$file"
	done
	drop_gone
	put "$cache/source/kernel/trace/stackmap" "$root"/core/stack_{element,hash,map,pack,table}.[ch] "$root"/core/{env,word_chunk}.h \
		"$root"/abi/{scalar,stack,table,stack_map_bin,mapping}.h
}

# What is added to tinyconfig for a kind. Without the series there is no stack map.
config_of() {
	case $1 in
	plain) cat "$here/config" ;;
	unpatched) grep -v STACKMAP "$here/config" ;;
	*) cat "$here/config" "$here/config.$1" ;;
	esac
}

# build KIND: in a folder of its own
build() {
	local folder=$cache/build-$1 source=$cache/source option
	[ "$1" != unpatched ] || source=$cache/pristine
	local make=(make -s -C "$source" ARCH=x86_64 "O=$folder" "-j$jobs")
	mkdir -p "$folder"
	"${make[@]}" tinyconfig
	config_of "$1" >"$folder/added"
	(cd "$folder" && "$source/scripts/kconfig/merge_config.sh" -m -O . .config added) >/dev/null
	"${make[@]}" olddefconfig
	grep '^CONFIG_' "$folder/added" | while read -r option; do
		grep -qx "$option" "$folder/.config" || { echo "kernel $1: no $option"; exit 1; }
	done
	"${make[@]}" bzImage
}

# The programs of the tests, one of 32 bits, too.
build_programs() {
	local flags=(-O2 -fno-omit-frame-pointer -static)
	gcc "${flags[@]}" -o "$1/user_stack" "$1/user_stack.c"
	gcc -m32 "${flags[@]}" -o "$1/user_stack_32" "$1/user_stack.c"
}

pack() {
	mkdir -p "$1"/{bin,dev,proc,sys,tmp}
	cp "$(command -v busybox)" "$1/bin/busybox"
	cp -r "$cache/source/tools/testing/selftests/ftrace" "$1/ftrace"
	build_programs "$1/ftrace"
	install -m 755 "$here/guest.sh" "$1/init"
	cp "$here"/{boot,retention}.sh "$1"
	(cd "$1" && find . | cpio --quiet -o -H newc -R 0:0 | gzip -1) >"$1.cpio.gz"
}

# boot KIND FOLDER CONSOLE WHAT [QEMU_OPTION]...: the guest runs what guest.sh calls so, from a packed folder. What it says
# follows what its kernel says. With CPUs that are threads the emulator may stop one at a breakpoint of a tracer that is gone
# already, and the kernel dies of it: no tracer then (run-kernel has the same).
boot() {
	local status=0
	timeout $guest_seconds_max qemu-system-x86_64 -cpu qemu64 -smp "${smp:-4,sockets=4,cores=1}" -m 1024 \
		-nodefaults -display none -no-reboot -serial "file:$3" -serial "file:$3.said" -kernel "$cache/build-$1/arch/x86/boot/bzImage" \
		-initrd "$2.cpio.gz" -append "console=ttyS0 panic=-1 ${kernel_options:-} -- $4" "${@:5}" </dev/null || status=$?
	cat "$3.said" >>"$3"
	return $status
}

# What the kernel complained of in consoles, but for what is not the series' own: a race that has nothing to do with
# tracing, and what its unwinder says of the function graph tracer's way back, which KASAN asks for stacks from interrupts.
complaints() {
	grep -haE 'BUG:|kernel BUG at|WARNING:|Oops|UBSAN:|detected stall|INFO: task .* blocked|possible recursive|suspicious RCU|data-race|GUP no longer' \
		"$@" | grep -v 'data-race in alloc_pid / copy_process\|stack going in the wrong direction? at return_to_handler'
}

# Everything but the image of a kind.
prepare() {
	need
	mkdir -p "$cache"
	exec {lock}>"$cache/lock"
	flock "$lock"
	fetch_source
	make_source
	folder=$(mktemp -d)
	trap 'rm -rf "$folder"' EXIT
	pack "$folder/root"
}
