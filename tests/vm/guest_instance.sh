#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# An instance without a process, on every kernel of the matrix: it starts, its files show what happened and agree with
# one another, a reset empties it, kernel addresses that are hidden are not shown, an event
# stops it, and it leaves nothing.
set -u

home=/sys/fs/bpf/stackmap
faults=0
# The system call that makes a folder, and how addresses of the kernel's code begin.
case $(uname -m) in
aarch64) mkdir=mkdirat kernel=0xffff ;;
*) mkdir=mkdir kernel=0xffffffff ;;
esac

fault() {
	echo "FAULT: $*"
	faults=$((faults + 1))
}

# stat NAME FIELD: of stack_map_stat
stat_of() {
	sed -n "s/^$2: \([0-9]*\).*/\1/p" $home/$1/stack_map_stat
}

work() {
	local i=0
	while [ $i -lt 20 ]; do
		ls / >/dev/null
		i=$((i + 1))
	done
}

start() {
	local name=$1
	shift
	stackmap start "$name" "$@" || fault "start $name ended with $?"
}

stop() {
	stackmap stop "$1" || fault "stop $1 ended with $?"
	[ ! -e $home ] || fault "left behind: $(find $home)"
}

# The stacks of the text, of the binary form and of the counters.
check_files() {
	local folder=$home/$1 text binary entries
	stackmap pause "$1" || fault "pause $1 ended with $?"
	text=$(grep -c '^stack_id ' $folder/stack_map)
	binary=$(cat $folder/stack_map_bin | stackmap dump - 2>&1 >/dev/null)
	entries=$(stat_of "$1" entries)
	[ "$binary" = "Total: $text unique stacks" ] && [ "$entries" = "$text" ] && [ "$text" -gt 0 ] ||
		fault "$1: stack_map $text, stack_map_bin $binary, stack_map_stat $entries"
	grep -q '^  \[0\] [a-z_0-9.]*+0x[0-9a-f]*/0x' $folder/stack_map || fault "$1: no kernel frame has a name"
	grep -q '^  \[[0-9]*\] busybox+0x' $folder/stack_map || fault "$1: no frame of the user's code"
	[ "$(grep -c ': sys_enter_' $folder/trace)" = "$(stat_of "$1" recorded)" ] ||
		fault "$1: $(stat_of "$1" recorded) recorded, trace $(wc -l <$folder/trace)"
	[ "$(stat_of "$1" produced)" -gt 100 ] || fault "$1: $(stat_of "$1" produced) produced"
	grep -q "^kernel vmlinux $kernel" $folder/mappings || fault "$1: where is the kernel"
	grep -q '^[0-9]* [0-9a-f-]* /bin/busybox$' $folder/mappings || fault "$1: where is busybox"
	stackmap resume "$1" || fault "resume $1 ended with $?"
}

# way NAME: in which an instance takes user stacks
way() {
	stackmap status --json "$1" | tr -d ' \n' | sed 's/.*"user_stacks":"\([a-z]*\)".*/\1/'
}

# From 6.18 on the kernel unwinds a stack when the task returns to user mode, if it is asked to. An instance before has no
# process that would finish one.
best_way() {
	awk -F. '{ print ($1 > 6 || $1 == 6 && $2 >= 18) ? "deferred" : "fp" }' /proc/sys/kernel/osrelease
}

# live WAY OPTION...
live() {
	local wanted=$1
	shift
	echo "$*"
	start live "$@"
	[ "$(way live)" = "$wanted" ] || fault "user stacks: $(way live), not $wanted"
	work
	check_files live
	stackmap reset live || fault "reset ended with $?"
	[ "$(stat_of live generation)" = 2 ] || fault "generation $(stat_of live generation) after one reset"
	work
	[ "$(stat_of live entries)" -gt 0 ] || fault 'nothing is recorded after a reset'
	stop live
}

hidden() {
	echo 'kptr_restrict 2'
	echo 2 >/proc/sys/kernel/kptr_restrict
	start hidden -e syscalls:sys_enter_openat
	echo 0 >/proc/sys/kernel/kptr_restrict
	work
	grep -q '^  \[0\] [a-z_0-9.]*+0x' $home/hidden/stack_map || fault 'hidden: names are no addresses'
	grep -q ' 0xffff' $home/hidden/stack_map $home/hidden/mappings && fault 'hidden: an address is shown'
	cat $home/hidden/stack_map_bin | stackmap dump - 2>/dev/null | grep -q 0xffff && fault 'hidden: stack_map_bin shows one'
	stop hidden
}

stopped() {
	echo 'stopped by an event'
	start stopper -e syscalls:sys_enter_openat --flight 1M --stop-when syscalls:sys_enter_$mkdir
	work
	grep -q '^stopped_by' $home/stopper/stack_map_stat && fault 'stopped before the event'
	mkdir /tmp/stops
	local recorded=$(stat_of stopper recorded)
	work
	[ "$(stat_of stopper recorded)" = "$recorded" ] || fault 'events came after the stop'
	[ "$recorded" -gt 10 ] || fault "only $recorded events before the stop"
	grep -q '^stopped_by: ' $home/stopper/stack_map_stat || fault 'no line of the stop'
	stackmap status stopper | grep -q "^  stopped by   syscalls:sys_enter_$mkdir at " || fault 'status tells no stop'
	stackmap resume stopper || fault "resume ended with $?"
	work
	[ "$(stat_of stopper recorded)" -gt "$recorded" ] || fault 'nothing is recorded after resume'
	stop stopper
}

live fp -e 'syscalls:sys_enter_*' --flight 8M --user-unwind fp
live "$(best_way)" -e syscalls:sys_enter_openat -e syscalls:sys_enter_getdents64 -e syscalls:sys_enter_read
hidden
stopped
[ "$faults" -eq 0 ]
