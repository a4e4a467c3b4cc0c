#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The account of time on every kernel of the matrix: the states of each thread add up to its life, to what its waits add up to,
# and tasks that sleep since before the recording are there.
set -u

faults=0

fault() {
	echo "FAULT: $*"
	faults=$((faults + 1))
}

# record NAME ARGUMENT...
record() {
	local name=$1
	shift
	echo "record $*"
	stackmap record -o "$name.data" "$@" >"$name.log" 2>&1 || fault "$name: record ended with $?: $(tail -n 3 "$name.log")"
}

# adds_up NAME: each thread's states add up to its life, and its waits to its events
adds_up() {
	local state account events
	stackmap report --thread-time --csv "$1.data" >"$1.csv" || fault "$1: report ended with $?"
	awk -F, 'NR > 1 && $5 != $6 + $7 + $8 + $9 + $10 { exit 1 }' "$1.csv" || fault "$1: a thread's states are not its life: $(cat "$1.csv")"
	[ "$(wc -l <"$1.csv")" -gt 1 ] || fault "$1: no thread has an account"
	stackmap report --thread-time "$1.data" >"$1.txt" || fault "$1: report ended with $?"
	grep -q 'difference 0 ns' "$1.txt" || fault "$1: a difference: $(cat "$1.txt")"
	grep -q ' recorded + 0 lost' "$1.txt" || fault "$1: events are lost: $(cat "$1.txt")"
	stackmap report --csv -s event -F event,value "$1.data" >"$1.events" || fault "$1: report ended with $?"
	for state in 7:runnable 8:interruptible 9:uninterruptible 10:stopped; do
		account=$(awk -F, -v column="${state%%:*}" 'NR > 1 { sum += $column } END { printf "%d", sum }' "$1.csv")
		events=$(awk -F, -v event="time:${state#*:}" '$1 == event { sum += $2 } END { printf "%d", sum }' "$1.events")
		[ "$account" = "$events" ] || fault "$1: $account ns ${state#*:}, but $events ns in events"
	done
	grep -E '^# (time|ledger):' "$1.txt"
	tail -n 4 "$1.txt"
}

record command --time -- sh -c 'i=0; while [ $i -lt 20 ]; do ls /bin | cat >/dev/null; i=$((i + 1)); done; sleep 0.1'
adds_up command
record machine --time -a -- sh -c 'sleep 0.2; ls /bin >/dev/null'
adds_up machine

# Asleep since before, with its whole stack where the kernel can be asked for it.
sleep 1000 &
sleeper=$!
stackmap doctor >doctor.out
for option in --time --off-cpu; do
	record "before$option" "$option" -p $sleeper -- sleep 0.2
	stackmap script "before$option.data" >"before$option.txt"
	grep -q 'since before$' "before$option.txt" || fault "$option: no wait from before: $(cat "before$option.txt")"
	grep -q nanosleep "before$option.txt" || fault "$option: the wait has no kernel stack: $(cat "before$option.txt")"
	! grep -q '^User stacks are deferred' doctor.out || grep -q '(/bin/busybox)$' "before$option.txt" ||
		fault "$option: the wait has no user stack: $(cat "before$option.txt")"
done
adds_up before--time
kill $sleeper
[ "$faults" -eq 0 ]
