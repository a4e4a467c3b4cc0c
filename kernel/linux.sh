# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Linux with the series: its source, its image, and a guest that runs it. Sourced by check, compare, measure and steps.
#
# The source is Debian's package of it, fetched with apt, which checks it, by package lists of our own. Source and objects
# stay in a cache outside of the tree.
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

# The architecture that a kind is built for, by the kernel's name.
architecture_of() {
	[ "$1" = arm64 ] && echo arm64 || echo x86_64
}

# The compiler for arm64 is clang, since Debian's gcc for arm64 cannot be installed beside gcc-multilib, which x86-64's tests need. Linux 7.3
# wants clang 17 or later.
compiler_for_arm64() {
	local version
	for version in {17..25}; do
		command -v clang-$version && return
	done
}

# need KIND
need() {
	local tool
	for tool in make gcc bc flex bison cpio git busybox dpkg-deb; do
		command -v $tool >/dev/null || skip "$tool is missing: apt install make gcc libc6-dev bc flex bison cpio git libelf-dev" \
			'libssl-dev busybox-static xz-utils'
	done
	[ "$(uname -m)" = x86_64 ] || skip 'it is for x86-64'
	case $(architecture_of "$1") in
	arm64)
		compiler_for_arm64 >/dev/null && command -v aarch64-linux-gnu-ld >/dev/null && command -v qemu-system-aarch64 >/dev/null ||
			skip 'a compiler, linker or emulator for arm64 is missing: apt install clang-19 binutils-aarch64-linux-gnu qemu-system-arm'
		;;
	*)
		command -v qemu-system-x86_64 >/dev/null || skip 'qemu-system-x86_64 is missing: apt install qemu-system-x86'
		printf '#include <linux/fs.h>\nint main(void) { return 0; }' | gcc -m32 -static -x c - -o /dev/null 2>/dev/null ||
			skip 'the compiler makes no 32-bit programs: apt install gcc-multilib'
		;;
	esac
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
	local into=$1 file
	shift
	mkdir -p "$into"
	for file; do
		cmp -s "$file" "$into/${file##*/}" || cp "$file" "$into"
	done
}

# repository_of DIR: both series as commits on the files that they touch (kernel/series). The commits have no sender but us.
repository_of() {
	GIT_AUTHOR_NAME=stackmap GIT_AUTHOR_EMAIL=stackmap@localhost GIT_COMMITTER_NAME=stackmap GIT_COMMITTER_EMAIL=stackmap@localhost \
		"$here/series" repository "$cache/pristine" "$1"
}

# Files of the source before that the series touched before and do not touch now are as they were, or gone.
drop_former() {
	local file
	while read -r file; do
		if [ -e "$cache/pristine/$file" ]; then
			put "$(dirname "$cache/source/$file")" "$cache/pristine/$file"
		else
			rm -f "$cache/source/$file"
		fi
	done
}

# The source with both series, in $cache/source.
make_source() {
	local patched
	[ -d "$cache/source" ] || cp -r "$cache/pristine" "$cache/source"
	patched=$(mktemp -d)
	repository_of "$patched/git"
	git -C "$patched/git" ls-files | sort >"$patched/touched"
	while read -r file; do
		put "$cache/source/$(dirname "$file")" "$patched/git/$file"
	done <"$patched/touched"
	[ ! -f "$cache/touched" ] || comm -23 "$cache/touched" "$patched/touched" | drop_former
	mv "$patched/touched" "$cache/touched"
	rm -rf "$patched"
}

# What is added to tinyconfig for a kind. Without the series there is no stack map.
config_of() {
	case $1 in
	plain) cat "$here"/config{,.x86_64} ;;
	unpatched) cat "$here"/config{,.x86_64} | grep -v STACKMAP ;;
	arm64) cat "$here"/config{,.arm64} ;;
	*) cat "$here"/config{,.x86_64} "$here/config.$1" ;;
	esac
}

# build KIND: in a folder of its own, which is not the one that the trap of prepare removes
build() {
	local objects=$cache/build-$1 source=$cache/source option make image=bzImage
	[ "$1" != unpatched ] || source=$cache/pristine
	make=(make -s -C "$source" "ARCH=$(architecture_of "$1")" "O=$objects" "-j$jobs")
	case $(architecture_of "$1") in
	arm64) make+=(CROSS_COMPILE=aarch64-linux-gnu- "CC=$(compiler_for_arm64)") image=Image ;;
	*) make+=("CC=${CC:-gcc}") ;;
	esac
	mkdir -p "$objects"
	"${make[@]}" tinyconfig
	config_of "$1" >"$objects/added"
	(cd "$objects" && "$source/scripts/kconfig/merge_config.sh" -m -O . .config added) >/dev/null
	"${make[@]}" olddefconfig
	grep '^CONFIG_' "$objects/added" | while read -r option; do
		grep -qx "$option" "$objects/.config" || { echo "kernel $1: no $option"; exit 1; }
	done
	"${make[@]}" $image
}

# Builds the tests' programs for user stacks, one of them of 32 bits: x86-64 alone has user stacks by id.
build_programs() {
	local flags=(-O2 -fno-omit-frame-pointer -fno-inline -fno-optimize-sibling-calls -static)
	gcc "${flags[@]}" -o "$1/user_stack" "$1/user_stack.c"
	gcc -m32 "${flags[@]}" -o "$1/user_stack_32" "$1/user_stack.c"
}

# pack_busybox FOLDER ARCHITECTURE
pack_busybox() {
	[ "$2" = arm64 ] || { cp "$(command -v busybox)" "$1/bin/busybox"; return; }
	if [ ! -e "$cache/busybox-arm64" ]; then
		architecture=arm64 "$root/tests/vm/fetch-package" busybox-static/bookworm "$1/tmp" || skip 'busybox for arm64 cannot be had'
		dpkg-deb --fsys-tarfile "$1"/tmp/busybox-static_*.deb | tar -xO ./bin/busybox >"$1/tmp/busybox" && mv "$1/tmp/busybox" "$cache/busybox-arm64"
		rm "$1"/tmp/busybox-static_*.deb
	fi
	install -m 755 "$cache/busybox-arm64" "$1/bin/busybox"
}

# pack FOLDER [ARCHITECTURE]: what the guest has
pack() {
	local architecture=${2:-x86_64}
	mkdir -p "$1"/{bin,dev,proc,sys,tmp}
	pack_busybox "$1" "$architecture"
	cp -r "$cache/source/tools/testing/selftests/ftrace" "$1/ftrace"
	[ ! -e "$1/ftrace/user_stack.c" ] || [ "$architecture" != x86_64 ] || build_programs "$1/ftrace"
	[ "$architecture" = arm64 ] && echo ttyS0 >"$1/output" || echo ttyS1 >"$1/output"
	install -m 755 "$here/guest.sh" "$1/init"
	cp "$here"/{boot,retention,user_cost}.sh "$1"
	(cd "$1" && find . | cpio --quiet -o -H newc -R 0:0 | gzip -1) >"$1.cpio.gz"
}

# boot KIND FOLDER CONSOLE WHAT [QEMU_OPTION]...: the guest runs what guest.sh calls so, from a packed folder. What it says
# follows what its kernel says. With CPUs that are threads the emulator may stop one at a breakpoint of a tracer that is gone
# already, and the kernel dies of it: no tracer then (run-kernel has the same). The kernel's check of its timer takes real
# time, which an emulator does not get on a busy machine, and the kernel dies of that, too.
boot() {
	local status=0 machine port console image
	case $(architecture_of "$1") in
	arm64)
		machine=(qemu-system-aarch64 -machine virt -cpu max,pauth-impdef=on -smp 4)
		port=(-chardev "file,id=said,path=$3.said" -device pci-serial,chardev=said)
		console=ttyAMA0 image=arm64/boot/Image
		;;
	*)
		machine=(qemu-system-x86_64 -cpu qemu64 -smp "${smp:-4,sockets=4,cores=1}")
		port=(-serial "file:$3.said")
		console='ttyS0 no_timer_check' image=x86/boot/bzImage
		;;
	esac
	timeout $guest_seconds_max "${machine[@]}" -m 1024 -nodefaults -display none -no-reboot -serial "file:$3" "${port[@]}" \
		-kernel "$cache/build-$1/arch/$image" -initrd "$2.cpio.gz" \
		-append "console=$console panic=-1 ${kernel_options:-} -- $4" "${@:5}" </dev/null || status=$?
	cat "$3.said" >>"$3"
	return $status
}

# What the kernel complained of in consoles, but for what is not the series' own: a race that has nothing to do with
# tracing, and what its unwinder says of the function graph tracer's way back, which KASAN asks for stacks from interrupts.
complaints() {
	grep -haE 'BUG:|kernel BUG at|WARNING:|Oops|UBSAN:|detected stall|INFO: task .* blocked|possible recursive|suspicious RCU|data-race|GUP no longer' \
		"$@" | grep -v 'data-race in alloc_pid / copy_process\|stack going in the wrong direction? at return_to_handler'
}

# prepare [KIND]: everything but the image of a kind
prepare() {
	need "${1:-plain}"
	mkdir -p "$cache"
	exec {lock}>"$cache/lock"
	flock "$lock"
	fetch_source
	make_source
	folder=$(mktemp -d)
	trap 'rm -rf "$folder"' EXIT
	pack "$folder/root" "$(architecture_of "${1:-plain}")"
}
