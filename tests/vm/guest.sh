#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# What must hold on every kernel of the matrix. Runs inside the guest, with busybox and stackmap only.
set -u

faults=0

fault() {
	echo "FAULT: $*"
	faults=$((faults + 1))
}

# All these kernels have what these features need: a "no" is a fault of the probe or of its program.
doctor() {
	local feature
	stackmap doctor >doctor || fault "doctor ended with $?"
	cat doctor
	for feature in bpf 'kernel BTF' 'perf events' 'raw tracepoints' tracefs uprobes fentry kprobes \
		'kernel addresses'; do
		grep -q "^yes *$feature  " doctor || fault "doctor: $feature does not work"
	done
}

echo "kernel $(uname -r)"
doctor
[ "$faults" -eq 0 ]
