#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# In which cgroup a task was, on every kernel of the matrix: it is moved, its child is born in one, and one is gone.
set -u

faults=0

fault() {
	echo "FAULT: $*"
	faults=$((faults + 1))
}

root=/sys/fs/cgroup
data=/tmp/cgroups.data

# calls COUNT: shell words that make so many system calls
calls() {
	local i=0
	while [ $i -lt "$1" ]; do
		echo "cd /;"
		i=$((i + 1))
	done
}

enter() {
	echo "echo \$\$ >$root/$1/cgroup.procs;"
}

# counted CGROUP: events in it
counted() {
	stackmap report --csv --fields cgroup,count $data | sed -n "s,^$1\,,,p"
}

mkdir $root/first
stackmap record -o $data -e syscalls:sys_enter_chdir -- sh -c "
	$(calls 2) $(enter first) $(calls 3) mkdir $root/first/inner; $(enter first/inner) $(calls 4) ( $(calls 5) )
	$(enter first) rmdir $root/first/inner; $(calls 6) $(enter .)" || fault "record ended with $?"
[ "$(counted /) $(counted /first) $(counted /first/inner)" = '2 9 9' ] ||
	fault "$(stackmap report --csv --fields cgroup,count $data)"
[ "$(stackmap script --ids --cgroup $root/first $data | wc -l)" = 18 ] || fault 'the filter finds others'
rmdir $root/first

[ "$faults" -eq 0 ]
