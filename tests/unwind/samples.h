/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What test_samples.c and test_samples.bpf.c share. */
#ifndef TESTS_UNWIND_SAMPLES_H
#define TESTS_UNWIND_SAMPLES_H

#include "rule.h"
#include "scalar.h"
#include "stack.h"

#define SAMPLES_MAX 8 /* at once: of threads that run at the same time */
#define SAMPLE_STACK_BYTES (64U << 10)
#define SAMPLE_PAGE_BYTES 4096U
#define SAMPLE_TASKS_MAX 4096

/* One thread at one moment, before it goes on in user mode. */
struct sample {
	u32 busy; /* a callback fills it, or the reader has it */
	u32 tgid;
	u32 tid;
	u32 is_compat;
	u64 value[REGISTER_COUNT];
	u32 depth;
	u32 stop; /* enum stop_reason */
	u32 budget_left;
	u32 stack_bytes;
	u64 frame[STACK_WORDS_MAX];
	u8 stack[SAMPLE_STACK_BYTES + SAMPLE_PAGE_BYTES]; /* from rsp on */
};

struct sample_counters {
	u64 requested;
	u64 exiting; /* the thread had given up its memory */
	u64 refused; /* the kernel took no task work */
	u64 no_room; /* more than SAMPLES_MAX at once */
	s64 refused_error;
};

#endif
