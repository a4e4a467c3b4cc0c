# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Minimal installations of a Debian release, each in a folder, to be prepared as a machine is. Of this system nothing gets
# in but the kernel, the way to the package archive, and packages fetched before. Sourced, with `release` set.
#
# Not in a namespace of process ids: there nothing tells of the other tasks of the machine. What is mounted goes with a mount
# namespace.

# need_roots: exits with 77 and the reason where there can be none
need_roots() {
	local tool
	[ "$(id -u)" -eq 0 ] || skip 'a system in a folder of its own needs root'
	for tool in mmdebstrap apt-get git unshare; do
		command -v $tool >/dev/null || skip "$tool is missing (./setup check installs it)"
	done
	git -c 'safe.directory=*' -C "$source" rev-parse -q --verify HEAD >/dev/null 2>&1 || skip 'this is not a git checkout'
	unshare --mount --propagation private true 2>/dev/null || skip 'mount namespaces are not allowed here'
	minimal=$("$source/tests/bare/fetch-release" "$release") || { echo "$minimal"; exit 77; }
}

skip() {
	echo "Debian $release: $*"
	exit 77
}

# make_root ROOT: with the way to the archive, which is names of hosts, and a proxy, if there is one
make_root() {
	mkdir "$1" && tar -x -C "$1" -f "$minimal" || return
	cp -L /etc/resolv.conf /etc/hosts "$1/etc"
	apt-config dump | grep '^Acquire::[a-z]*::Proxy ' >"$1/etc/apt/apt.conf.d/proxy"
	# It needs not outlast a power failure.
	echo force-unsafe-io >"$1/etc/dpkg/dpkg.cfg.d/unsafe-io"
}

# inside ROOT COMMAND...: with nothing of our environment, and with the packages of the folder `fetched`. A root of its own, as a
# machine has: in a chroot, the kernel names files from outside.
inside() {
	env -i HOME=/root LANG=C.UTF-8 PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
		unshare --mount --propagation private /bin/sh -ec '
			cd "$1"
			mount --bind . .
			mount --bind "$2" var/cache/apt/archives
			readlink /proc/self/ns/mnt >>"$3"
			shift 3
			cd "$PWD"
			pivot_root . mnt
			mount -t proc proc /proc
			mount -t sysfs sysfs /sys
			umount --lazy /mnt
			exec "$@"' sh "$1" "$fetched" "$dir/namespaces" "${@:2}"
}

# Ends and names the processes that were started in there, and are still.
left_behind() {
	local namespace pid
	while read -r namespace; do
		find /proc/[0-9]*/ns/mnt -maxdepth 0 -lname "*${namespace//[!0-9]/}*" 2>/dev/null
	done <"$dir/namespaces" | while IFS=/ read -r _ _ pid _; do
		echo "left behind: $(tr '\0' ' ' <"/proc/$pid/cmdline")"
		kill -KILL "$pid"
	done
}
