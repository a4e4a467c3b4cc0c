# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Steps of a shell script as cases of a test. Sourced by what runs in a root of its own.
faults=0

fault() {
	echo "FAULT: $*"
	return 1
}

# What apt says where the archive does not answer any more, which is no fault of what is tested.
archive_is_gone() {
	grep -m 1 -E '^E: (Failed to fetch|Unable to fetch)|Temporary failure resolving' "$1"
}

# try CASE [ARGUMENT...]: a function, as a case; of one that fails, the end of what it said. Without the archive this is the
# last one.
try() {
	local output=/tmp/$1.out what='      OK' TIMEFORMAT='%0R s, %0U + %0S s of CPU'
	echo "[ RUN      ] $1"
	time "$@" >"$output" 2>&1 </dev/null || {
		if archive_is_gone "$output"; then
			echo "[  SKIPPED ] $1"
			exit $((faults ? 1 : 77))
		fi
		tail -n 60 "$output" | sed 's/^/    /'
		what=' FAILED '
		faults=$((faults + 1))
	}
	sed -n 's/^NOTE: //p' "$output"
	echo "[ $what ] $1"
}

# install WHAT...: packages of the archive, or ./FILE.deb with what it depends on
install() {
	DEBIAN_FRONTEND=noninteractive apt-get -qq -o Dpkg::Use-Pty=0 install -y --no-install-recommends "$@"
}
