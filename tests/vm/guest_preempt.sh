#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# A kernel that preempts programs (real-time, or preempt=full since 7.0, when the programs of tracepoints may be preempted): the data
# that they keep for a CPU stay those of one task, though other tasks of that CPU run the same programs meanwhile. Several tasks do one of two
# calls, each in a function of its own: no event has the call of the one and the stack of the other, in the ring or as a count.
set -u

calls=4000 # of each task
tasks=6
faults=0

fault() {
	echo "FAULT: $*"
	faults=$((faults + 1))
}

# check NAME PERCENT: no event that the ledger has not lost has another task's stack, and PERCENT of these events at least have a user
# stack. The percentage is low for a stopped recorder, where the recorder unwinds the first user stacks.
check() {
	tail -n 2 "$1.log"
	stackmap report --csv --top 0 --no-inline "$1.data" >"$1.csv" || fault "$1: report ended with $?"
	awk -F, -v calls=$((calls * tasks / 2)) -v percent="$2" '
		$5 !~ /known_counts/ { next }
		$4 ~ /getppid/ { events["parent"] += $2; if (/ask_group/) mixed += $2 }
		$4 ~ /getpgid/ { events["group"] += $2; if (/ask_parent/) mixed += $2 }
		/ask_parent/ || /ask_group/ { whole += $2 }
		END {
			sum = events["parent"] + events["group"]
			print sum " of " 2 * calls " events, " whole + 0 " with their function"
			if (mixed)
				print "MIXED: " mixed " events have the stack of another task"
			if (events["parent"] > calls || events["group"] > calls || sum < 100 || whole < sum * percent / 100)
				print "WRONG NUMBERS"
		}' "$1.csv" >"$1.sums"
	cat "$1.sums"
	! grep -q 'MIXED\|WRONG' "$1.sums" || fault "$1: $(cat "$1.sums")"
	stackmap report --json "$1.data" | tr -d '\n ' | grep -o '"ledger":{[^}]*}' | awk -F'[:,{}]' '
		{
			for (i = 1; i < NF; i++)
				if ($i ~ /produced|recorded|counted_only/)
					number[$i] = $(i + 1)
				else if (is_lost || $i ~ /lost/) {
					is_lost = 1
					if ($(i + 1) ~ /^[0-9]+$/)
						lost += $(i + 1)
				}
			exit number["\"produced\""] != number["\"recorded\""] + number["\"counted_only\""] + lost
		}' || fault "$1: the ledger does not balance"
}

load='i=0; while [ $i -lt '$((tasks / 2))' ]; do
	taskset -c 0 known_counts_static getppid='$calls' & taskset -c 0 known_counts_static getpgid='$calls' & i=$((i + 1)); done; wait'
events='-e syscalls:sys_enter_getppid -e syscalls:sys_enter_getpgid'

mkdir -p /debug && mount -t debugfs debugfs /debug 2>/dev/null
cat /debug/sched/preempt /sys/kernel/realtime 2>/dev/null
# shellcheck disable=SC2086 # options are meant to be split
stackmap record -o ring.data $events -- sh -c "$load" >ring.log 2>&1 || fault "record ended with $?: $(cat ring.log)"
check ring 90
# shellcheck disable=SC2086
stackmap record --ring 16K -o counted.data $events -- sh -c "kill -STOP \$PPID; $load; kill -CONT \$PPID" >counted.log 2>&1 ||
	fault "record with a stopped reader ended with $?: $(cat counted.log)"
check counted 1
grep -q ' [1-9][0-9]* counted only' counted.log || fault "no event is counted only: $(cat counted.log)"

exit $faults
