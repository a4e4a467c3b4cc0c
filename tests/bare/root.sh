# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Minimal installations of a Debian release, each in a folder, to be used as a machine is. Of this system nothing gets in
# but the kernel, the way to the package archive, and packages fetched before: they are kept beside the tarball of
# fetch-release, as far as the release still has them. What is mounted goes with a mount namespace.
#
# Sourced with `source` (the tree) and `release` set, and, from make_root on, `dir`, a folder for all of it.
umask 022
packages=${XDG_CACHE_HOME:-~/.cache}/stackmap/bare/$release.packages

skip() {
	echo "Debian $release: $*"
	exit 77
}

# need_roots STACKMAP: skips where there can be none; the program tells whether this kernel records
need_roots() {
	local tool
	[ "$(id -u)" -eq 0 ] || skip 'a system in a folder of its own needs root'
	for tool in mmdebstrap apt-get git unshare; do
		command -v $tool >/dev/null || skip "$tool is missing (./setup check installs it)"
	done
	git -c 'safe.directory=*' -C "$source" rev-parse -q --verify HEAD >/dev/null 2>&1 || skip 'this is not a git checkout'
	unshare --mount --propagation private true 2>/dev/null || skip 'mount namespaces are not allowed here'
	"$1" doctor >/dev/null || skip 'this kernel does not let record: see stackmap doctor'
	tarball=$("$source/tests/bare/fetch-release" "$release") || { status=$?; echo "$tarball"; exit $status; }
}

# The way to the archive: names of hosts, and a proxy, if there is one.
show_way_to_archive() {
	cp -L /etc/resolv.conf /etc/hosts "$1/etc"
	{
		apt-config dump | grep '^Acquire::[a-z]*::Proxy '
		[ -z "${http_proxy:-}" ] || echo "Acquire::http::Proxy \"$http_proxy\";"
		[ -z "${https_proxy:-}" ] || echo "Acquire::https::Proxy \"$https_proxy\";"
	} >"$1/etc/apt/apt.conf.d/proxy"
	# What is installed need not outlast a power failure.
	echo force-unsafe-io >"$1/etc/dpkg/dpkg.cfg.d/unsafe-io"
}

# make_root ROOT
make_root() {
	mkdir "$1" && tar -x -C "$1" -f "$tarball" && show_way_to_archive "$1" && offer_packages "$1"
}

# Packages that were fetched before: apt looks whether they are what it wants.
offer_packages() {
	mkdir -p "$packages"
	flock "$packages" cp -a "$packages/." "$1/var/cache/apt/archives"
	find "$packages" -name '*.deb' -printf '%f\n' >"$1.offered"
}

has_packages() {
	[ -n "$(find "$packages" -name '*.deb' -print -quit)" ]
}

# need_archive ROOT: skips without one, and without packages of another time
need_archive() {
	local uri
	uri=$(awk '/^deb / { sub("/*$", "", $2); print $2 "/dists/" $3 "/InRelease"; exit }' "$1/etc/apt/sources.list")
	has_packages || inside "$1" /usr/lib/apt/apt-helper -qq download-file "$uri" /tmp/InRelease ||
		skip 'the archive cannot be reached'
}

# Of those that were offered, what the archive has replaced goes. Another test may have brought others meanwhile.
keep_packages() {
	inside "$1" apt-get -qq autoclean
	flock "$packages" sh -c 'while read -r deb; do [ -e "$1/$deb" ] || rm -f "$2/$deb"; done <"$3"; mv "$1"/*.deb "$2"' \
		sh "$1/var/cache/apt/archives" "$packages" "$1.offered"
}

# inside ROOT COMMAND...: with nothing of our environment. A root of its own, as a machine has: in a chroot, the kernel names
# files from outside. Not in a namespace of process ids: there the machine has other tasks than are seen.
inside() {
	env -i HOME=/root LANG=C.UTF-8 PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
		unshare --mount --propagation private /bin/sh -ec '
			cd "$1"
			shift
			mount --bind . .
			cd "$PWD"
			mount -o remount,bind,dev,exec,suid .
			pivot_root . mnt
			mount -t proc proc /proc
			mount -t sysfs sysfs /sys
			umount --lazy /mnt
			exec "$@"' sh "$@"
}

# left_behind ROOT...: ends and names the processes that were started in there, and are still.
left_behind() {
	local roots process
	roots=$(stat -L -c %d:%i -- "$@")
	for process in /proc/[0-9]*; do
		grep -qxF "$(stat -L -c %d:%i "$process/root" 2>/dev/null)" <<<"$roots" || continue
		echo "left behind: $(tr '\0' ' ' <"$process/cmdline")"
		kill -KILL "${process##*/}"
	done 2>/dev/null
}
