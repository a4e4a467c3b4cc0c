#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# 40 instances that are started, work and are stopped at once: each has its own events, and nothing of them is left.
set -u

# The memory that a load takes cannot be told while other processes load programs, too.
unset WATCH_LOADS

home=/sys/fs/bpf/stackmap
count=40
faults=0

fault() {
	echo "FAULT: $*"
	faults=$((faults + 1))
}

# at_once COMMAND: with each number, all at the same time
at_once() {
	local number=0 waited
	rm -f failed.*
	while [ $number -lt $count ]; do
		number=$((number + 1))
		{ "$1" $number >log.$number 2>&1 || mv log.$number failed.$number; } &
	done
	wait
	for waited in failed.*; do
		[ ! -e "$waited" ] || fault "$1 ${waited#failed.}: $(tail -n 3 "$waited")"
	done
}

start() {
	stackmap start n$1 -e syscalls:sys_enter_getppid --comm known$1 --no-user --bits 10 --flight 64K
}

stop() {
	stackmap stop n$1
}

# As many calls as its number, by a program of its name.
work() {
	cp /bin/known_counts_static known$1 && ./known$1 getppid=$1
}

# ledger_of NUMBER FIELD: of the instance. Its text file does not have the events that the kernel has skipped.
ledger_of() {
	stackmap status --json n$1 | sed -n "s/.*\"$2\": *\([0-9]*\).*/\1/p" | head -n 1
}

# While a task is preempted within a program, which from 7.0 on a tracepoint's can be, the kernel skips that program for all
# others on its CPU: the ledger counts them.
has_its_events() {
	local recorded skipped
	recorded=$(ledger_of $1 recorded) skipped=$(ledger_of $1 recursion)
	[ "$recorded" -le $1 ] && [ $((recorded + skipped)) -ge $1 ] || {
		echo "$recorded recorded, $skipped skipped"
		return 1
	}
}

for step in start work has_its_events stop; do
	at_once $step
	echo "    $step: $count at once, $faults faults so far"
done
[ ! -e $home ] || fault "left: $(find $home | head)"
[ "$faults" -eq 0 ]
