#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# What this kernel's verifier spends on each program of stackmap's (watch_loads.c): at most so many instructions, states and
# bytes. Of the programs that the command is built with, in every configuration in which the scripts before this one have
# loaded them, too; of those that other compilers make, in the ones below.
set -u

home=/sys/fs/bpf/stackmap

instructions_max=100000
states_max=9000
kib_max=204800
faults=0

fault() {
	echo "FAULT: $*"
	faults=$((faults + 1))
}

# The most that any load of a program took: name, loads, instructions, states, most states at once, KiB, us.
costs() {
	awk '
	$2 != "stackmap" || $4 { next }
	{
		loads[$3]++
		for (i = 5; i <= 9; i++)
			if ($i + 0 > most[$3, i])
				most[$3, i] = $i + 0
	}
	END {
		for (name in loads) {
			printf "cost %s %d", name, loads[name]
			for (i = 5; i <= 9; i++)
				printf " %d", most[name, i]
			print ""
		}
	}' "$WATCH_LOADS" | sort
}

# record ARGUMENT...
record() {
	stackmap record -o load.data "$@" >load.log 2>&1 || fault "record $*: $(tail -n 3 load.log)"
}

# is_missing PROGRAM...: whether nothing has loaded one of these yet; each is a pattern
is_missing() {
	local program
	costs >costs 2>/dev/null
	for program; do
		grep -Eq "^cost $program " costs || return 0
	done
	return 1
}

# load_all: all programs, each in some configuration, in as few recordings as do: beside many functions of the kernel, few have no
# programs of their own. A recording takes an emulator many seconds, so programs that the scripts before this one have loaded are not
# loaded again.
load_all() {
	local others='-e kmem:kmalloc/value=bytes_alloc/ --wakers' with_many=
	[ -n "$function_programs" ] || with_many=$others
	# shellcheck disable=SC2086 # options are meant to be split
	if is_missing on_sample on_tracepoint on_syscall_exit on_wake on_field_value 'on_user_functions?' 'on_kernel_(functions|probe)'; then
		record -e cpu-clock -e 'k:vfs_*' -e syscalls:sys_exit_read -e ur:/bin/known_counts_static:counted --user-at-syscall $with_many -- true
	else
		record -e syscalls:sys_exit_read --user-at-syscall -- true
	fi
	# shellcheck disable=SC2086
	! is_missing $function_programs || record $others -e k:vfs_read -e kr:vfs_read -- true
	! is_missing on_time_switch on_time_wakeup on_time_new on_time_exec "on_time_start$plain" on_time_stop || record --time --off-cpu -a -- true
	record --origins -e sched:sched_switch -a -- true
	record --trace-ids --off-cpu -e cpu-clock -a -- true
	record -e cpu-clock/value=+page-faults/ -a -- true
	! is_missing show_stack_map show_stack_map_bin show_stack_map_stat show_mappings show_trace || load_instance
}

load_instance() {
	stackmap start load -e syscalls:sys_enter_openat -e sched:sched_switch --comm '*[a-z]*' --flight 1M || fault "start ended with $?"
	cat $home/load/stack_map $home/load/stack_map_stat $home/load/stack_map_bin $home/load/trace $home/load/mappings >/dev/null
	stackmap stop load || fault "stop ended with $?"
}

too_much() {
	awk -v instructions=$instructions_max -v states=$states_max -v kib=$kib_max \
		'$4 > instructions || $5 > states || $7 > kib' costs
}

# Programs that nothing has loaded. Of some there are two forms, as the kernel has it.
missing() {
	local program
	for program in on_sample on_tracepoint on_syscall_enter on_syscall_exit 'on_user_functions?' $function_programs \
		'on_kernel_(functions|probe)' on_switch on_wake "on_start$plain" on_stop on_time_switch \
		on_time_wakeup on_time_new on_time_exec on_count_switch "on_time_start$plain" on_time_stop on_queue_work on_queue_timer \
		on_queue_request on_work_begin on_work_end on_timer_begin on_timer_end on_hrtimer_begin on_hrtimer_end on_field_value on_field_call task_leave task_fork \
		task_rename task_exec task_exit task_free task_move cgroup_made take_at_syscall drop_at_syscall \
		show_stack_map show_stack_map_bin show_stack_map_stat show_mappings show_trace number_running_code; do
		grep -Eq "^cost $program " costs || echo "$program"
	done
}

# check COMPILER
check() {
	load_all
	costs >costs
	missing >missing
	echo "costs of $1"
	cat costs
	[ -z "$(too_much)" ] ||
		fault "$1: more than $instructions_max instructions, $states_max states or $kib_max KiB: $(too_much)"
	[ ! -s missing ] || fault "nothing has loaded $(cat missing)"
}

stackmap --version --verbose >version # which tries a recording
cat version
# What serves functions of the kernel: these also serve few of them, or fentry does.
function_programs=
grep -q '^kernel functions: *one link' version || function_programs='on_kernel_entry on_kernel_return'
# The visit of all tasks: where the kernel calls back, it asks for user stacks.
plain=_plain
! grep -q '^user stacks: *deferred' version || plain=

check "$(sed -n 's/^BPF compiler: *//p' version)"
for OBJECTS in /objects/*; do
	[ -d "$OBJECTS" ] || continue
	export OBJECTS WATCH_LOADS=$PWD/loads.${OBJECTS##*/}
	check "${OBJECTS##*/}"
done
[ "$faults" -eq 0 ]
