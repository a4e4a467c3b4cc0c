#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Processes whose tables and stacks lie (tests/unwind/hostile.c) beside an honest run of the same program, on every kernel of the
# matrix: all get right what they work out, no event is lost, and each stack of the honest one reaches the start of its program.
set -u

faults=0

fault() {
	echo "FAULT: $*"
	faults=$((faults + 1))
}

# check FILE PID MODE: the samples of the honest process in user code
check() {
	stackmap script "$1" | awk -v RS= -v pid="$2" -v mode="$3" '
	$2 != pid || !/ (work|library_work|leaf|compare)[+]/ { next }
	{ stacks++ }
	!/ main[+].*\n.* _start[+][^\n]*$/ { if (!cut++) print }
	END {
		print "    " mode ": " stacks + 0 " stacks of the honest process, " cut + 0 " not whole"
		exit stacks < 20 || 200 * cut > stacks
	}'
}

lie() {
	rm -f h.data
	stackmap record -o h.data -a -F 199 -e cpu-clock -- \
		sh -c "hostile honest & echo \$! >honest.pid; hostile $1 && wait \$(cat honest.pid)" >h.log 2>&1 ||
		fault "$1: ended with $?: $(tail -n 3 h.log)"
	grep -q 'recorded + 0 lost' h.log || fault "$1: $(cat h.log)"
	check h.data "$(cat honest.pid)" "$1" || fault "$1: stacks of the honest process"
}

for mode in random self unsorted overlap poison loop unmap sframe_unsorted sframe_overlap sframe_cfa sframe_truncated; do
	lie $mode
done
[ "$faults" -eq 0 ]
