#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# In the guest: what a stack costs that an event of a system call has. The emulator's clock counts instructions, one a nanosecond.
cd /sys/kernel/tracing
program=/ftrace/user_stack
calls=20000

clock() { # microseconds
	awk '/^now ts:/ { printf "%.0f\n", $3 * 1000000 }' per_cpu/cpu0/stats
}

nanoseconds() { # nanoseconds FRAMES: of one call, below that many frames
	local before after
	echo 1 >tracing_on
	$program calls-below "$1" 10 # the files are in memory now, and the stack is in the map
	before=$(clock)
	$program calls-below "$1" $calls
	after=$(clock)
	echo 0 >tracing_on
	echo >trace
	echo $(((after - before) * 1000 / calls))
}

of() { # of WORDS FRAMES OPTION...: the options that are on
	local words=$1 frames=$2 option
	shift 2
	for option; do
		echo 1 >options/$option
	done
	echo "COST $words, below $frames frames: $(nanoseconds "$frames")"
	for option; do
		echo 0 >options/$option
	done
}

echo 0 >tracing_on
echo 1024 >buffer_size_kb
for frames in 0 10 30; do
	of 'no event' $frames
	echo "id == $($program number getppid) && comm == \"user_stack\"" >events/raw_syscalls/sys_enter/filter
	echo 1 >events/raw_syscalls/sys_enter/enable
	of 'an event alone' $frames
	of 'its kernel stack' $frames stacktrace
	of 'its kernel stack by id' $frames stacktrace stackmap
	of 'its user stack at the event' $frames userstacktrace
	of 'its user stack by id' $frames userstacktrace userstackmap
	echo 0 >events/raw_syscalls/sys_enter/enable
done
echo 1 >options/userstacktrace
echo 1 >options/userstackmap
echo 1 >events/raw_syscalls/sys_enter/enable
nanoseconds 0 >/dev/null
nanoseconds 10 >/dev/null
nanoseconds 30 >/dev/null
sed -n 's/^stack_id .*, depth \([0-9]*\)\]$/COST frames of a user stack: \1/p' stack_map | sort -u
