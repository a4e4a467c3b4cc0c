#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# What this kernel's verifier has spent on each program of stackmap's that the scripts before this one have loaded
# (watch_loads.c), in every configuration in which they did: at most so many instructions, states and bytes. All programs must
# be among them: those that no script before loads are loaded here.
set -u

instructions_max=120000
states_max=12000
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

too_much() {
	awk -v instructions=$instructions_max -v states=$states_max -v kib=$kib_max \
		'$4 > instructions || $5 > states || $7 > kib' costs
}

stackmap record -o load.data -e cpu-clock -e 'k:vfs_*' -e syscalls:sys_exit_read -e ur:/bin/known_counts_static:counted \
	--user-at-syscall -- true >load.log 2>&1 || fault "record: $(tail -n 3 load.log)"
costs >costs
cat costs
[ -z "$(too_much)" ] || fault "more than $instructions_max instructions, $states_max states or $kib_max KiB: $(too_much)"

# Of some there are two forms, as the kernel has it.
for program in on_sample on_tracepoint on_syscall_enter on_syscall_exit 'on_user_functions?' on_kernel_entry on_kernel_return \
	'on_kernel_(functions|probe)' on_switch on_wake on_valued on_valued_call task_leave task_fork task_rename task_exec \
	task_exit task_free task_move cgroup_made take_at_syscall drop_at_syscall show_stack_map show_stack_map_bin \
	show_stack_map_stat show_mappings show_trace; do
	grep -Eq "^cost $program " costs || fault "no script has loaded $program"
done
[ "$faults" -eq 0 ]
