#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Unit tests that need a kernel of arm64 (units-arm64 says why), each in a folder of its own. Their names are in /units/list. A test that
# skips some of its cases is passed, and says why.
set -u

# Tests expect these files of each machine.
echo 'root:x:0:0:root:/:/bin/sh' >/etc/passwd
ln -s /proc/self/fd/1 /dev/stdout

faults=0
while read -r program; do
	echo "[ RUN      ] $program"
	mkdir "/tmp/$program" && cd "/tmp/$program" || exit
	LD_LIBRARY_PATH=/bin timeout 1200 "$program" >log 2>&1 </dev/null
	status=$?
	case $status in
	0)
		grep -v '^\[' log
		echo "[       OK ] $program"
		;;
	77)
		grep -v '^\[' log
		echo "[  SKIPPED ] $program"
		;;
	*)
		echo "it ended with $status"
		grep -v '^\[ *\(RUN\|OK\|=*\) *\]' log | tail -n 60
		echo "[  FAILED  ] $program"
		faults=$((faults + 1))
		;;
	esac
	cd / && rm -r "/tmp/$program"
done </units/list
[ "$faults" -eq 0 ]
