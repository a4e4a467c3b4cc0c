#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# What nobody wants to do to a machine that is in use: the clock is set forth and back, and CPUs come and go, while a
# recorder drains, with rotation and without, while an agent records, and while an instance has no process. No event is lost or
# dated by the wrong clock.
set -u

faults=0
source=u:/bin/known_counts_static:counted
cpu=/sys/devices/system/cpu/cpu1/online

fault() {
	echo "FAULT: $*"
	faults=$((faults + 1))
}

calls() {
	known_counts_static calls=1000 >/dev/null
}

# again COUNT COMMAND: so often
again() {
	local left=$1
	while [ "$left" -gt 0 ]; do
		left=$((left - 1))
		"$2"
	done
}

# 6000 calls.
disturb() {
	calls
	date -s @$(($(date +%s) + 86400)) >/dev/null && calls
	date -s @$(($(date +%s) - 2 * 86400)) >/dev/null && calls
	echo 0 >$cpu && calls
	echo 1 >$cpu && calls
	taskset 2 known_counts_static calls=1000 >/dev/null
}

# in_order FILE: times go forth, by seconds and not by days.
in_order() {
	stackmap script --ids "$1" | awk '{
		for (i = 1; i < NF; i++)
			if ($i ~ /^\[[0-9]+\]$/)
				time = $(i + 1) + 0
		if (NR == 1)
			first = time
		if (time < last)
			backwards++
		last = time
	}
	END {
		print "    " NR " events in " last - first " s, " backwards + 0 " backwards"
		exit backwards || NR == 0 || last - first > 3600
	}'
}

record_disturbed() {
	echo "record $*"
	stackmap record -o f.data "$@" -- sh "$0" disturb >record.log 2>&1 ||
		fault "record $*: $(tail -n 3 record.log)"
	in_order f.data || fault "$*: times"
}

# events FILE...: of the program, in all of them
events() {
	local file
	for file; do
		stackmap script --ids -e "$source" "$file" 2>/dev/null # a file may have none
	done | wc -l
}

# A file for each second while the clock is set: together they have each event once.
rotate_disturbed() {
	local file
	echo "record --rotate 1s $*"
	stackmap record --rotate 1s -o r.data "$@" -- sh "$0" disturb 3 >rotate.log 2>&1 ||
		fault "rotation: $(tail -n 3 rotate.log)"
	for file in r.data.*; do
		[ "$(events "$file")" = 0 ] || in_order "$file" || fault "$file: times"
	done
	! grep -q 'recorded + [1-9][0-9]* lost' rotate.log || fault "rotation: $(grep lost rotate.log)"
	[ "$(events r.data.*)" = 18000 ] || fault "rotation: $(events r.data.*) events"
	echo "    $(ls r.data.* | wc -l) files"
}

# An agent, which has nobody to send to: its windows have each event once, and its spool keeps them.
agent_disturbed() {
	local agent
	echo "agent $*"
	ls /bin/libcurl* >/dev/null 2>&1 || {
		echo '    there is no libcurl: left out'
		return
	}
	LD_LIBRARY_PATH=/bin stackmap agent --config /dev/null --host guest --to http://127.0.0.1:1 --spool spool \
		--exemplars windows --window 1 --batch 2 "$@" 2>agent.log &
	agent=$!
	while ! grep -q ': recording as ' agent.log && kill -0 $agent; do sleep 0.1; done
	again 3 disturb
	kill -TERM $agent
	wait $agent || fault "the agent ended with $?: $(tail -n 3 agent.log)"
	[ "$(events windows/window.data.*)" = 18000 ] || fault "agent: $(events windows/window.data.*) events: $(cat agent.log)"
	grep -q ' 0 batches sent, .* [1-9][0-9]* in the spool' agent.log || fault "$(cat agent.log)"
	echo "    $(ls windows | wc -l) windows"
}

# stat NAME: a line of stack_map_stat
stat_of() {
	sed -n "s/^$1: //p" /sys/fs/bpf/stackmap/x/stack_map_stat
}

# An instance without a process, started while a CPU is not there.
instance_disturbed() {
	echo "start $*"
	echo 0 >$cpu
	stackmap start x "$@" || fault "start $*"
	echo 1 >$cpu
	disturb
	[ "$(stat_of produced)" = 6000 ] || fault "$*: $(stat_of produced) produced"
	[ "$(stat_of recorded)" = 6000 ] || fault "$*: $(stat_of recorded) recorded"
	stackmap stop x || fault "stop $*"
	[ ! -e /sys/fs/bpf/stackmap ] || fault "left: $(find /sys/fs/bpf/stackmap)"
}

if [ "${1:-}" = disturb ]; then
	again "${2:-1}" disturb
else
	record_disturbed -a -F 99 -e cpu-clock -e "$source"
	grep -q 'recorded + 0 lost' record.log || fault "$(cat record.log)"
	[ "$(stackmap script --ids -e "$source" f.data | wc -l)" = 6000 ] || fault "not 6000 events: $(cat record.log)"
	rotate_disturbed -e "$source"
	agent_disturbed -e "$source"
	instance_disturbed -e "$source" --flight 4M --bits 10
	[ "$faults" -eq 0 ]
fi
