#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# A PID namespace on every kernel of the matrix: each program is loaded with its level, and events have the ids of there.
set -u

faults=0

fault() {
	echo "FAULT: $*"
	faults=$((faults + 1))
}

# inside COMMAND: in a namespace that knows nobody else
inside() {
	unshare -p -f --mount-proc sh -c "$1; exit \$?"
}

# Those of tasks: an interrupt that wakes one has an id that is none.
ids() {
	stackmap report --csv --fields tid "$1" | sed '1d; s/.*,//' | grep -vx 4294967295 | sort -nu
}

programs='--wakers -e cpu-clock -e page-faults -e sched:sched_switch -e syscalls:sys_enter_getpgid'
sleep 1000 &
outside=$!
inside "stackmap doctor >doctor.out" || fault "doctor: $(tail -n 1 doctor.out)"
inside "stackmap record -a $programs -o all.data -- sh -c 'echo \$\$ >id; known_counts_static getpgid=50; sleep 0.01'" ||
	fault "record -a ended with $?"
[ "$(ids all.data | tail -n 1)" -lt "$outside" ] || fault "ids of the kernel: $(ids all.data)"
ids all.data | grep -qx "$(cat id)" || fault "$(cat id) is not among $(ids all.data)"

inside "stackmap record -e syscalls:sys_enter_getpgid -o one.data -- sh -c 'echo \$\$ >id; exec known_counts_static getpgid=50'" ||
	fault "record ended with $?"
[ "$(stackmap report --csv --fields tid,count one.data | tail -n 1)" = "$(cat id),50" ] ||
	fault "not 50 events of $(cat id): $(stackmap report --csv --fields tid,count one.data)"
stackmap script --no-inline one.data | grep -q ask_group || fault 'no user stack'
[ "$(stackmap script --no-inline one.data | grep -c 'main')" -ge 50 ] || fault 'a user stack is not whole'
kill $outside

# Its /proc would tell of other tasks.
unshare -p -f sh -c 'stackmap record -a -o none.data -- true' 2>refusal && fault 'the /proc of others was taken'
grep -q 'another PID namespace' refusal || fault "the refusal: $(cat refusal)"

[ "$(unshare -p -f stackmap doctor | tail -n 1)" = "Recording does not work here: $(sed 's/^stackmap: //' refusal)" ] ||
	fault 'doctor says something else'

[ "$faults" -eq 0 ]
