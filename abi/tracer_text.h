/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The code between a tracepoint and the programs attached to it: __traceiter_NAME and
 * __bpf_trace_NAME. How many of these frames lie on a stack depends on the compiler (tail calls)
 * and on who else has attached, so they are recognised by their addresses, which user space takes
 * from kallsyms.
 */
#ifndef STACKMAP_ABI_TRACER_TEXT_H
#define STACKMAP_ABI_TRACER_TEXT_H

#include "scalar.h"

#define TRACER_TEXT_MAX 8192

struct text_range {
	u64 start;
	u64 end;
};

struct tracer_text {
	u64 count;
	struct text_range range[TRACER_TEXT_MAX]; /* in the order of their addresses */
};

#endif
