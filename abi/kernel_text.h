/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Functions of the kernel that programs recognise on a stack by their addresses. User space takes
 * the addresses from kallsyms.
 *
 * TEXT_TRACER: functions between a tracepoint and its programs: __traceiter_NAME and
 * __bpf_trace_NAME. The number of these frames on a stack depends on the compiler (tail calls) and
 * on other tracers at the same tracepoint.
 *
 * TEXT_INTERRUPT: the first C function of the kernel for an interrupt.
 *
 * TEXT_SOFT_INTERRUPT: the function that runs soft interrupts, at the end of an interrupt, in a
 * task that enables them again, or in a task of their own.
 *
 * TEXT_ENTRY: assembler code that the CPU enters for an interrupt or an exception: asm_exc_NAME,
 * asm_sysvec_NAME... The next frame further out is kernel code that was interrupted; on the
 * kernel's stack that frame is the pc itself.
 */
#ifndef STACKMAP_ABI_KERNEL_TEXT_H
#define STACKMAP_ABI_KERNEL_TEXT_H

#include "scalar.h"

#define KERNEL_TEXT_MAX 8192

enum text_kind {
	TEXT_OTHER = 0,
	TEXT_TRACER = 1,
	TEXT_INTERRUPT = 2,
	TEXT_ENTRY = 3,
	TEXT_SOFT_INTERRUPT = 4
};

struct text_range {
	u64 start;
	u32 bytes;
	u32 kind; /* enum text_kind */
};

struct kernel_text {
	u64 count;
	struct text_range range[KERNEL_TEXT_MAX]; /* sorted by address */
};

#endif
