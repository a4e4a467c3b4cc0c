#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Records each kind of source on arm64: no event is lost, counts are those of the workload, and both stacks reach their ends, the user
# stacks by unwind tables. A function without a frame of its own, and one that calls in its last instruction, are no hole in a stack.
set -u

faults=0

fault() {
	echo "FAULT: $*"
	faults=$((faults + 1))
}

# recording NAME RECORD_ARGUMENT...: its ledger balances, and nothing is lost
recording() {
	local name=$1
	shift
	echo "record $*"
	stackmap record -o "$name.data" "$@" >"$name.log" 2>&1 || fault "$name: record ended with $?: $(tail -n 3 "$name.log")"
	grep -q 'recorded + 0 lost' "$name.log" || fault "$name: $(cat "$name.log")"
}

# events NAME EVENT: how many there are
events() {
	stackmap script --ids -e "$2" "$1.data" | wc -l
}

# counts NAME EVENT EVENTS FUNCTIONS: exactly as many events, all of the stack that ends with these functions, outermost first
counts() {
	local found
	found=$(events "$1" "$2")
	[ "$found" -eq "$3" ] || fault "$1: $found events $2, not $3"
	found=$(stackmap export --format folded -e "$2" "$1.data" | awk -v end="$4" '
		{ stack = $0; sub(/ [0-9]+$/, "", stack); if (substr(stack, length(stack) - length(end) + 1) == end) sum += $NF }
		END { print sum + 0 }')
	[ "$found" -eq "$3" ] || fault "$1: $found events $2 end with $4: $(stackmap export --format folded -e "$2" "$1.data" | head -n 3)"
}

# whole NAME: no user stack ends early, and none is taken by frame pointers
whole() {
	! grep -q 'by frame pointers\|of unknown end\|user stack ends early' "$1.log" || fault "$1: user stacks are not whole: $(cat "$1.log")"
}

# calls_from PROGRAM FUNCTIONS COUNT: PROGRAM called mark() so often from FUNCTIONS, a regular expression
calls_from() {
	local found
	found=$(awk -v end=";main;$2;mark\$" '{ stack = $0; sub(/ [0-9]+$/, "", stack); if (stack ~ end) sum += $NF } END { print sum + 0 }' "$1.folded")
	[ "$found" -eq "$3" ] || fault "$1: $found calls from $2, not $3: $(cat "$1.folded")"
}

stackmap doctor | tee doctor.out
for feature in bpf 'kernel BTF' 'perf events' 'raw tracepoints' tracefs uprobes kprobes 'kernel addresses'; do
	grep -q "^yes *$feature  " doctor.out || fault "doctor: $feature does not work"
done
! grep -q '^User stacks are taken by frame pointers' doctor.out || fault 'doctor: user stacks are taken by frame pointers'

recording samples -F 999 -- known_counts_static getppid=300000
[ "$(events samples "$(stackmap report samples.data | sed -n 's/^# events: *[0-9]* //p')")" -ge 10 ] || fault 'samples: fewer than 10'
stackmap report samples.data | grep -q '\[u\] main$' || fault 'samples: no stack has main()'
stackmap report samples.data | grep -q '\[k\] el0t_64_sync$' || fault 'samples: no kernel stack reaches the entry'
whole samples

kernel='el0t_64_sync_\[k\];el0t_64_sync_handler'
recording calls -e syscalls:sys_enter_getppid -e syscalls:sys_exit_getpgid -e u:/bin/known_counts_static:counted \
	-e ur:/bin/known_counts_static:counted -- known_counts_static getppid=1000 getpgid=500 calls=700
stackmap export --format folded calls.data | cut -c1-200
counts calls u:/bin/known_counts_static:counted 700 'main;work;call;counted'
counts calls ur:/bin/known_counts_static:counted 700 'main;work;call'
[ "$(events calls syscalls:sys_enter_getppid)" -eq 1000 ] || fault "calls: $(events calls syscalls:sys_enter_getppid) getppid, not 1000"
[ "$(events calls syscalls:sys_exit_getpgid)" -eq 500 ] || fault "calls: $(events calls syscalls:sys_exit_getpgid) getpgid, not 500"
! stackmap script calls.data | grep -q 'bpf_trace_run\|bpf_prog' || fault 'calls: frames of the tracer itself'

# The flight recorder keeps the last events, 24 bytes each, in its memory, of which each of two CPUs has half.
stackmap record --flight 256K -e u:/bin/known_counts_static:counted -o flight.data -- taskset 1 known_counts_static calls=20000 2>flight.log ||
	fault "flight: $(cat flight.log)"
kept=$(events flight u:/bin/known_counts_static:counted)
[ "$kept" -gt 4500 ] && [ "$kept" -le 5461 ] || fault "flight: $kept events"
grep -q "ledger: 20000 events = $kept recorded + $((20000 - kept)) lost" flight.log || fault "flight: $kept events, $(cat flight.log)"
counts flight u:/bin/known_counts_static:counted "$kept" 'main;work;call;counted'

recording waits --off-cpu -e sched:sched_switch -- sh -c 'for i in 1 2 3 4 5; do sleep 0.01 | cat; done'
[ "$(events waits offcpu-time)" -ge 10 ] || fault "waits: $(events waits offcpu-time) waits"
stackmap report -e offcpu-time waits.data | grep -q '\[k\] hrtimer_nanosleep$' || fault 'waits: no stack of a sleep'

recording functions -e k:ksys_write -- known_counts_static faults=10
[ "$(events functions k:ksys_write)" -ge 1 ] || fault 'functions: no ksys_write'
stackmap report functions.data | grep -q '\[k\] __arm64_sys_write$' || fault "functions: ksys_write has no caller: $(stackmap report functions.data)"

# Each kind of frame of programs without frame pointers; one signs its return addresses, and the code of the last one has no unwind tables.
for program in frame_kinds frame_kinds_static frame_kinds_protected frame_kinds_no_tables; do
	recording "$program" -e "u:/bin/$program:mark" -- "$program" 20
	whole "$program"
	stackmap export --format folded "$program.data" >"$program.folded"
	calls_from "$program" small_frame 40
	calls_from "$program" large_frame 20
	calls_from "$program" variable_frame 20
	calls_from "$program" 'deep_frame;deep_frame;deep_frame;deep_frame;deep_frame;deep_frame;large_frame' 20
	calls_from "$program" 'interrupted_frame;[^;]*kill;__kernel_rt_sigreturn;on_signal' 20
	calls_from "$program" 'called_back;.*;compare' 20

	# Functions that return into the kernel's memory are in the stack, by their own callers. The copy of the C library has no table
	# yet, so the first stacks of a dynamic program are those that user space finishes.
	mkdir "copies_of_$program"
	cp /lib/libc.so.6 "copies_of_$program"
	recording returns -e "u:/bin/$program:mark" -e "ur:/bin/$program:deep_frame" -e "ur:/bin/$program:large_frame" -- \
		env "LD_LIBRARY_PATH=$PWD/copies_of_$program" "$program" 20
	whole returns
	stackmap export --format folded -e "u:/bin/$program:mark" returns.data >returns.folded
	calls_from returns large_frame 20
	calls_from returns 'deep_frame;deep_frame;deep_frame;deep_frame;deep_frame;deep_frame;large_frame' 20

	recording spins -F 99 -- "$program" 1 50000000
	whole spins
	stackmap export --format folded spins.data >spins.folded
	[ "$(grep -c ';main;spin;spin_without_calls' spins.folded)" -ge 1 ] || fault "$program: no sample of a function without calls"
	! grep ';spin_without_calls' spins.folded | grep -qv ';main;spin;spin_without_calls' || fault "$program: $(cat spins.folded)"
done

# Vectors of SVE behind a signal frame, tags in addresses (TBI), in code whose pages are guarded (BTI) and that signs its return addresses.
recording arm64_frames -e u:/bin/arm64_frames:mark -- arm64_frames 20
whole arm64_frames
stackmap export --format folded arm64_frames.data >arm64_frames.folded
calls_from arm64_frames 'faulting_frame;__kernel_rt_sigreturn;on_fault' 20
calls_from arm64_frames call_tagged_address 20
for frame in return pointer stack; do
	calls_from arm64_frames "call_tagged_frames;tagged_${frame}_frame" 20
done
recording clock -F 199 -- arm64_frames 1 1000000
grep -q "^vectors of [1-9][0-9]* bytes, pages are guarded" clock.log || fault "arm64_frames: $(cat clock.log)"
whole clock
stackmap export --format folded clock.data >clock.folded
[ "$(grep -c ';main;read_clock;[^;]*clock_gettime[^;]*;__kernel_clock_gettime' clock.folded)" -ge 1 ] || fault "no sample of the vdso: $(cat clock.folded)"
! grep __kernel_clock_gettime clock.folded | grep -qv ';main;read_clock;' || fault "the vdso: $(cat clock.folded)"

# narrow NAME FUNCTIONS: each user stack of compat_stack is one function of these, and says why it ends there
narrow() {
	stackmap script "$1.data" | awk -v functions="^($2)[+]" '
		/^[^\t]/ { comm = $1 }
		/\(\/bin\/compat_stack\)$/ && comm == "compat_stack" { frames++; known += $2 ~ functions }
		/\[unsupported\] \(\[user stack\]\)$/ { ends++ }
		END {
			print frames + 0 " frames, " known + 0 " of known functions, " ends + 0 " ends"
			exit frames < 2001 || frames != known || frames != ends
		}' >narrow.sums || fault "$1: $(cat narrow.sums)"
	grep -q 'user stack ends early: .* 32-bit code runs on arm64' "$1.log" || fault "$1: $(cat "$1.log")"
}

# A task of 32-bit code: the first frame of its user stacks is known, its system calls have other numbers and are left out, and the
# kernel runs no probes in it.
for unwind in auto fp; do
	recording compat --user-unwind $unwind -F 99 -e raw_syscalls:sys_enter -e cpu-clock -- compat_stack
	[ "$(events compat raw_syscalls:sys_enter)" -eq 2001 ] || fault "compat: $(events compat raw_syscalls:sys_enter) system calls, not 2001"
	narrow compat 'call|work|inner|middle|outer|enter|_start'
done
stackmap record -o probes.data -e 'syscalls:sys_enter_*' -e u:compat_stack:work -- compat_stack >probes.log 2>&1 && fault 'a probe in a program of 32-bit code'
grep -q 'u:compat_stack:work: a 32-bit program, in which kernels for arm64 run no probes' probes.log || fault "probes: $(cat probes.log)"
recording calls -e 'syscalls:sys_enter_*' -- compat_stack
[ "$(events calls '*')" -eq 0 ] || fault "calls of 32-bit code: $(stackmap report calls.data)"
grep -q ': 2001 system calls of 32-bit tasks have no event' calls.log || fault "calls of 32-bit code: $(cat calls.log)"

test_here_plain || fault 'stackmap_here()'

# traced COMMAND...: events in span_N() have span N, but for those from before the search of the process. The process is searched after
# its first event, when the library is loaded: a second search may come late, since an emulated CPU takes long for the first.
traced() {
	recording spans --trace-ids -e syscalls:sys_enter_getppid -- "$@"
	stackmap script --no-inline spans.data | awk -v RS= '
		match($0, /(span|nothing)_[0-9][+]/) {
			function_span = substr($0, RSTART, RLENGTH) ~ /^span/ ? substr($0, RSTART + 5, 1) + 0 : 0
			events += function_span > 0
			if (match($0, / span [0-9a-f]+/)) {
				right += substr($0, RSTART + RLENGTH - 1, 1) + 0 == function_span
				wrong += substr($0, RSTART + RLENGTH - 1, 1) + 0 != function_span
			}
		}
		END {
			print right + 0 " right, " wrong + 0 " wrong, of " events + 0 " events in spans"
			exit wrong || 2 * right < events || right < 100
		}' >spans.sums || fault "$*: $(cat spans.sums)"
	echo "    $(cat spans.sums)"
}

traced spans 3
for library in descriptor module initial; do
	traced spans_loader 3 /bin/libspans_$library.so
done

# Attributes that a process publishes of itself.
recording attributes --trace-ids -e syscalls:sys_enter_getppid -- process_context 15
stackmap report attributes.data | grep -q '^# process: *[0-9]* service\.name=shop service\.version=[12]\.0$' ||
	fault "attributes: $(stackmap report attributes.data | grep '^#')"

[ "$faults" -eq 0 ]
