#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Code that is replaced by other code at the same address (tests/e2e/programs/mapping_swap.c), on every kernel of the matrix:
# each stack says by its callers what was mapped, and not one frame may be of what was there before. Without
# mm->mm_lock_seq (6.1) nothing may be remembered from one event to the next.
set -u

faults=0

fault() {
	echo "FAULT: $*"
	faults=$((faults + 1))
}

# How many runs the kernel skipped, says a recording's log.
skipped() {
	awk '/ lost: .* recursion: / { gsub(/.* lost: |,.*/, ""); sum += $0 } END { print sum + 0 }' "$1"
}

# check FILE EVENTS SKIPPED: so many stacks of leaf(), each with three functions of one turn and none of the other, and
# main(). While another thread is stopped in the middle of changing the mappings, nothing can be told of them: from there on
# the frames of a stack are unknown, or it ends there, and they are never others. That is rare.
# While a task is preempted within a program, which from 7.0 on a tracepoint's can be, the kernel skips that program for
# all others on its CPU: those events are missing, and the ledger counts them (with some that were filtered).
check() {
	stackmap script "$1" | awk -v RS= -v wanted="$2" -v skipped="$3" '
	!/^ *mapping_swap.* (u:[^ ]*:leaf|syscalls:sys_enter_getppid):/ { next }
	{
		events++
		first = gsub(/_first[+]/, "&")
		second = gsub(/_second[+]/, "&")
		is_whole = !/ \[unknown\] \(\[unknown\]\)| \[not_code\] /
		untold += !is_whole
		if (first * second || is_whole && (first + second != 3 || !/ main[+]/)) {
			if (!wrong++)
				print
		}
	}
	END {
		print "    " events " events, " wrong + 0 " wrong, " untold + 0 " untold"
		exit wrong || events > wanted || events + skipped < wanted || 2 * events < wanted || 20 * untold > wanted
	}'
}

# swap BUILD UNWIND: all ways in one recording
swap() {
	local target=/bin/mapping_swap_$1 ways='dlopen mmap threads munmap mremap fork' rounds=60
	echo "$*"
	stackmap record -o swap.data -e "u:$target:leaf" -e syscalls:sys_enter_getppid --user-unwind "$2" -- \
		sh -c "for way in $ways; do $target \$way $rounds /bin/libfirst_$1.so /bin/libsecond_$1.so || exit; done" \
		>swap.log 2>&1 || {
		fault "$*: record ended with $?: $(tail -n 3 swap.log)"
		return
	}
	check swap.data $((2 * rounds * $(echo $ways | wc -w))) "$(skipped swap.log)" || fault "$*: $(tail -n 3 swap.log)"
}

swap plain fp
swap optimised auto
[ "$faults" -eq 0 ]
