#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# In the guest: how many events a ring of 256 KB holds, on one CPU, with whole stacks and with their ids.
cd /sys/kernel/tracing

lost() { # events that newer ones have replaced
	awk '/^overrun:/ { print $2 }' per_cpu/cpu0/stats
}

load() { # until the ring has been full for long
	local rounds=0
	while [ "$(lost)" -lt 20000 ] && [ $rounds -lt 200 ]; do
		rounds=$((rounds + 1))
		find /proc /sys/kernel -maxdepth 3 2>/dev/null | cat >/dev/null
		for i in 1 2 3 4 5 6 7 8 9 10; do
			(echo) | cat >/dev/null
		done
	done
	[ $rounds -lt 200 ] || echo "the ring was not full" >&2
}

depth() { # frames of a stack, mean of all events
	sed -n 's/^stack_id .*\[ref \([0-9]*\), depth \([0-9]*\)\].*/\1 \2/p' stack_map |
		awk '{ n += $1; frames += $1 * $2 } END { printf "%.1f\n", n ? frames / n : 0 }'
}

held() { # held NAME BEGIN END PATTERN: events in the ring after a load
	echo > trace
	eval "$2"
	echo 1 > tracing_on
	load
	echo 0 > tracing_on
	grep -c "$4" trace
	eval "$3" # a tracer that goes empties the ring
}

compare() { # compare NAME BEGIN END PATTERN
	local off on frames
	echo 0 > options/stackmap
	off=$(held "$@")
	echo 1 > options/stackmap
	on=$(held "$@")
	frames=$(depth)
	awk -v name="$1" -v off="$off" -v on="$on" -v frames="$frames" \
		'BEGIN { printf "RETENTION %s: %d events with stacks, %d with ids, %.2fx, %s frames\n", name, off, on, on / off, frames }'
}

event() { # event SYSTEM/NAME PATTERN
	compare "$1" "echo 1 > events/$1/enable" "echo 0 > events/$1/enable" "$2"
}

echo 0 > tracing_on
echo 256 > buffer_size_kb
echo 1 > options/stacktrace
event kmem/kmem_cache_alloc kmem_cache_alloc:
event sched/sched_switch sched_switch:
event raw_syscalls 'sys_\(enter\|exit\): NR'
echo 'vfs_*' > set_ftrace_filter
compare 'function tracer, vfs_*' 'echo function > current_tracer; echo 1 > options/func_stack_trace' \
	'echo 0 > options/func_stack_trace; echo nop > current_tracer' ': vfs_'
