# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Debian's archive by package lists of our own; to be sourced. The system's lists are those of one release. These are of every
# suite that has kernels, from the mirror that the system uses, under Debian's keys. They are kept in a cache outside of the
# tree, those of each architecture apart, and looked up once a day. A script may set `architecture`, by Debian's
# name, before it reads this file.

architecture=${architecture:-amd64}

keys=/usr/share/keyrings/debian-archive-keyring.gpg
suites='bookworm bookworm-backports trixie trixie-backports sid experimental'
own=${XDG_CACHE_HOME:-~/.cache}/stackmap/kernels/apt-$architecture # lists, and what apt makes of them

# Nothing of the system's but the keys; its unprivileged user could not write into the cache.
apt_options=(-o "APT::Sandbox::User=$(id -un)" -o "APT::Architecture=$architecture" -o "APT::Architectures=$architecture" -o Acquire::http::Timeout=30 -o Acquire::Retries=1
	-o "Dir::Etc::SourceList=$own/sources.list" -o Dir::Etc::SourceParts=/dev/null
	-o Dir::Etc::Preferences=/dev/null -o Dir::Etc::PreferencesParts=/dev/null
	-o "Dir::State::Lists=$own/lists" -o "Dir::State::status=$own/status" -o "Dir::Cache=$own"
	-o Dir::Cache::pkgcache=pkgcache.bin -o Dir::Cache::srcpkgcache=srcpkgcache.bin)

# younger_than_a_day FILE: a link counts by itself
younger_than_a_day() {
	[ -n "$(find "$1" -maxdepth 0 -mtime -1 2>/dev/null)" ]
}

# mirror debian | debian-security: the system's, whatever form its configuration has; also where it has no lists
mirror() {
	apt-get --print-uris update 2>/dev/null | sed -n "s,^'\([^']*/$1\)/dists/.*,\1,p" | head -n 1
}

write_sources() {
	local debian security suite
	debian=$(mirror debian)
	security=$(mirror debian-security)
	[ -n "$debian" ] || return 1
	for suite in $suites; do
		echo "deb [arch=$architecture signed-by=$keys] $debian $suite main"
	done
	echo "deb [arch=$architecture signed-by=$keys] ${security:-$debian-security} bookworm-security main"
} >"$own/sources.list"

# What cannot be fetched keeps its last state, or stays away: apt says which, and the other suites are there.
update_lists() {
	! younger_than_a_day "$own/updated" || return 0
	mkdir -p "$own"/lists/partial "$own"/archives/partial
	: >"$own/status"
	write_sources || return 1
	apt-get -qq "${apt_options[@]}" --error-on=any update >&2 && : >"$own/updated"
}
