#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# What must hold on every kernel of the matrix: doctor finds the features, each kind of source records,
# its ledger balances to the last event, and the stacks are those of the workload. Runs inside the
# guest, with busybox and stackmap only.
set -u

faults=0

case $(uname -m) in
# A probe behind a return probe of the same function finds no return address, so its stack has no ksys_read.
aarch64) entry=el0t_64_sync call=__arm64_sys libc=/lib/libc.so.6 read_caller=__arm64_sys_read ;;
*) entry=do_syscall_64 call=__x64_sys libc=/lib/x86_64-linux-gnu/libc.so.6 read_caller=ksys_read ;;
esac

fault() {
	echo "FAULT: $*"
	faults=$((faults + 1))
}

# From 6.18 on the kernel unwinds a stack when the task returns to user mode, if it is asked to.
best_way() {
	awk -F. '{ print ($1 > 6 || $1 == 6 && $2 >= 18) ? "deferred" : "assisted" }' /proc/sys/kernel/osrelease
}

# All these kernels have what these features need: a "no" is a fault of the probe or of its program. On arm64 6.1 has no fentry.
doctor() {
	local feature fentry=fentry
	[ "$(uname -m)" != aarch64 ] || case $(uname -r) in 6.1.*) fentry= ;; esac
	stackmap doctor >doctor.out || fault "doctor ended with $?"
	cat doctor.out
	for feature in bpf 'kernel BTF' 'perf events' 'raw tracepoints' tracefs uprobes $fentry kprobes 'kernel addresses'; do
		grep -q "^yes *$feature  " doctor.out || fault "doctor: $feature does not work"
	done
	grep -q "^User stacks are $(best_way) here" doctor.out || fault "doctor: user stacks are not $(best_way)"
}

# Prints how many events the ledger of a JSON report says were recorded; fails unless produced =
# recorded + all lost.
recorded_events() {
	tr -d ' \n' <"$1" | awk '
	match($0, /"ledger":[{][^{}]*[{][^{}]*[}]/) {
		count = split(substr($0, RSTART, RLENGTH), field, /[{},]/)
		for (i = 1; i <= count; i++)
			if (split(field[i], part, ":") == 2 && part[2] ~ /^[0-9]+$/) {
				value[part[1]] = part[2]
				sum += part[2]
			}
		produced = value["\"produced\""]
		print value["\"recorded\""] + 0
		exit produced + produced != sum
	}
	END { if (!count) exit 1 }'
}

# skipped NAME: how many runs of its programs the kernel has skipped, those that would have left their event out among them. While a task is
# preempted in the middle of such a program, or of a system call that reads or changes a map, other programs are skipped on its CPU, however
# long that takes: a busy machine decides how many.
skipped() {
	local runs
	runs=$(tr -d ' \n' <"$1.json" | sed -n 's/.*"recursion":\([0-9]*\).*/\1/p')
	echo $((runs))
}

# recording NAME EVENTS_MIN FUNCTION RECORD_ARGUMENT...: so many events were recorded or skipped, and FUNCTION is in their stacks
recording() {
	local name=$1 events_min=$2 function=$3 recorded
	shift 3
	echo "record $*"
	stackmap record -o "$name.data" "$@" >"$name.log" 2>&1 || {
		fault "$name: record ended with $?: $(tail -n 3 "$name.log")"
		return
	}
	stackmap report --json "$name.data" >"$name.json" || { fault "$name: report ended with $?"; return; }
	tr -d ' \n' <"$name.json" | sed 's/.*"stacks":\[//; s/{"count":/\n&/g' >"$name.lines"
	recorded=$(recorded_events "$name.json") || fault "$name: the ledger does not balance"
	[ $((recorded + $(skipped "$name"))) -ge "$events_min" ] || fault "$name: only $recorded events"
	grep -q "\"$function" "$name.json" || fault "$name: no stack has $function: $(tail -n 3 "$name.log")"
	echo "    $recorded events"
}

# stacks_of NAME EVENT: a line for each stack of the events that the glob matches. A command that reads a recording takes seconds in an
# emulator, so the report is made once.
stacks_of() {
	local event
	sed -n 's/.*"event":"\([^"]*\)".*/\1/p' "$1.lines" | sort -u | while read -r event; do
		# shellcheck disable=SC2254 # a glob
		case $event in $2) grep -F "\"event\":\"$event\"" "$1.lines" ;; esac
	done
}

# has NAME EVENT EVENTS_MIN FUNCTION: so many events were recorded or skipped, and those that were recorded have FUNCTION in a stack
has() {
	local events
	stacks_of "$1" "$2" >of_event
	events=$(sed 's/{"count":\([0-9]*\).*/\1/' of_event | awk '{ sum += $1 } END { print sum + 0 }')
	[ $((events + $(skipped "$1"))) -ge "$3" ] || fault "$1: only $events events $2"
	[ "$events" -eq 0 ] || grep -q "\"$4" of_event || fault "$1: no stack of $2 has $4"
}

# report_of NAME: prints the report of a recording, which is made once
report_of() {
	[ -e "$1.report" ] || stackmap report "$1.data" >"$1.report"
	cat "$1.report"
}

# values NAME EVENT EVENTS EACH UNIT: so many events were recorded or skipped, each with the value EACH
values() {
	local line events
	line=$(report_of "$1" | sed -n "s/^# events: *\([0-9]*\) $2, together \([0-9]*\) $5\$/\1 \2/p")
	events=${line% *}
	[ $((events * $4)) -eq $((${line#* })) ] && [ $((events)) -le "$3" ] && [ $((events + $(skipped "$1"))) -ge "$3" ] ||
		fault "$1: not $3 events $2 of $4 $5: $(report_of "$1" | grep '^# events')"
}

# Each recording has programs verified, and reads the names of the kernel: so few of them, of many sources.
samples_and_calls() {
	local copy='dd if=/bin/busybox of=/dev/null bs=16 count=50' malloc=u:$libc:malloc
	recording calls 200 $entry -F 99 -e cpu-clock -e page-faults -e 'syscalls:sys_enter_*' -e $malloc -- \
		sh -c "dd if=/dev/zero of=/dev/null bs=1M count=200; $copy; stackmap list"
	has calls cpu-clock 1 $entry
	has calls page-faults 1 ''
	has calls syscalls:sys_enter_write 50 $entry
	has calls $malloc 100 malloc
}

# Timers end sleeps in interrupts, whatever these meet; with real-time patches threads of the kernel may do that.
wakers() {
	stackmap script "$1" | awk '
		/ offcpu-waker:/ { task = $1 }
		/ hrtimer_wakeup/ { timers++ }
		/ hrtimer_wakeup/ && task !~ /^(interrupt|ktimers\/|ksoftirqd\/)/ { print "not by " task }
		END { if (timers < 5) print timers + 0 " timers" }' >wakers.faults
	[ ! -s wakers.faults ] || fault "wakers: $(cat wakers.faults)"
}

# A value of a system call, and functions. More busy tasks than CPUs: who is preempted in the middle of a function's program does
# not keep it from the others.
functions() {
	recording functions 103 $entry -e syscalls:sys_enter_write/value=count:bytes/ -e k:vfs_read -e kr:vfs_read \
		-e k:${call}_getpgid -- sh -c '
		for i in 1 2 3; do echo 123456789; done >/dev/null; read -r byte_by_byte </proc/version
		for i in 1 2 3 4 5 6; do known_counts_static getpgid=300 & done; wait'
	has functions k:vfs_read 50 $read_caller
	has functions kr:vfs_read 50 ksys_read
	! grep -q '^yes *kprobe multi  ' doctor.out || has functions k:${call}_getpgid 1800 $entry
	values functions syscalls:sys_enter_write 3 10 bytes
}

# Arguments and results of functions, by name where the kernel's types have it, conditions on them, spans, also with the stacks of their begin, and
# what is alive: of the keys 1 to 6 that a thread puts, another one takes 1 to 5.
questions() {
	dd if=/dev/zero of=of_2310_bytes bs=2310 count=1 2>/dev/null
	recording questions 1000 ksys_read -e 'k:vfs_read/value=count,if=count==77&&file->f_inode->i_size==2310/,kr:vfs_read/value=ret,if=ret==77||ret<-4095/' \
		-e 'u:known_counts_static:ask_group/value=arg1,if=arg1==700&&comm~known*/,u:known_counts_static:ask_parent/if=arg1!=5/' \
		-e 'syscalls:sys_exit_read/if=ret==77/,sched:sched_process_exec/if=comm~dd/' \
		-e 'span:u:known_counts_static:ask_group..ur:known_counts_static:ask_group/if=time>1us/' \
		-e 'usdt:usdt_probes_static:known:counted/value=arg5,if=arg2==-7||arg2==-8/' \
		-e 'usdt:usdt_probes_static:known:guarded/if=arg1>=490/' \
		-e 'span:u:known_counts_static:put_key..u:known_counts_static:take_key/by=arg1,stack=begin/' \
		-e 'alive:u:known_counts_static:put_key..u:known_counts_static:take_key/by=arg1,value=arg1:keys,every=6/' \
		-e "span:k:${call}_getpgid..kr:${call}_getpgid/if=time>0/" -- sh -c '
		dd if=of_2310_bytes of=/dev/null bs=77 count=30; known_counts_static getpgid=700 getpgid=701 getppid=5 handed=6
		usdt_probes_static 500'
	has questions syscalls:sys_exit_read 30 $entry
	values questions k:vfs_read 30 77 count
	values questions kr:vfs_read 30 77 ret
	report_of questions | grep -q '1 u:.*:ask_group, together 700 arg1' || fault "questions: not one call with 700"
	! stackmap script -e 'u:*:ask_parent' questions.data | grep -q . || fault "questions: a call with 5"
	report_of questions | grep -q '2 usdt:.*:known:counted, together 15 arg5' || fault "questions: not USDT probes 7 and 8"
	report_of questions | grep -q '10 usdt:.*:known:guarded' || fault "questions: not 10 probes with a semaphore"
	has questions 'span:u:*:ask_group*' 2 main
	has questions 'span:u:*:put_key*' 5 hand_over
	report_of questions | grep -q '1 alive:u:.*:put_key/every=6/, together 6 keys +- 6 keys' || fault "questions: not the key that stays"
	has questions 'span:k:*' 1000 $entry
	report_of questions | grep '^# events'
}

# kernel_stacks NAME EVENT: the kernel stack of each event, its addresses in one line
kernel_stacks() {
	stackmap script --no-inline -e "$2" "$1.data" | awk '
		$1 ~ /^ffff[0-9a-f]*$/ { stack = stack " " $1; next }
		stack { print stack; stack = "" }
		END { if (stack) print stack }' | sort
}

# A value of a record, and stacks that are the same with and without; who waits, and who wakes.
records() {
	local exec=sched:sched_process_exec command='for i in 1 2 3 4 5 6 7 8 9 10; do sleep 0.01 | cat; done; dd --help'
	recording plain 20 bprm_execve -a -e $exec -e sched:sched_switch --wakers -- sh -c "$command"
	has plain sched:sched_switch 1 __schedule
	has plain offcpu-time 20 '\(anon_\)\?pipe_read'
	wakers plain.data
	recording value 2 bprm_execve -a -e $exec/value=pid/ -e kmem:kmalloc/value=bytes_alloc/ -- sh -c "$command"
	report_of value | grep -q 'kmem:kmalloc, together [1-9][0-9.]* \(bytes\|KiB\|MiB\)' || fault "value: no sum"
	kernel_stacks plain $exec >plain.stacks
	kernel_stacks value $exec >value.stacks
	# A kernel that preempts programs skips events: then each stack is compared once.
	if grep -q 'recorded + 0 lost' plain.log && grep -q 'recorded + 0 lost' value.log; then
		cmp plain.stacks value.stacks
	else
		sort -u -o plain.stacks plain.stacks && sort -u value.stacks | cmp - plain.stacks
	fi || fault "exec: other kernel stacks with a value"
	[ -s plain.stacks ] || fault "exec: no kernel stacks"
}

doctor
samples_and_calls
functions
questions
records
[ "$faults" -eq 0 ]
