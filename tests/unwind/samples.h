/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Data that test_samples.c and test_samples.bpf.c share. */
#ifndef TESTS_UNWIND_SAMPLES_H
#define TESTS_UNWIND_SAMPLES_H

#include "rule.h"
#include "scalar.h"
#include "stack.h"

#define SAMPLES_MAX 8 /* samples in use at one time, of threads that run in parallel */
#define SAMPLE_STACK_BYTES (64U << 10)
#define SAMPLE_PAGE_BYTES 4096U
#define SAMPLE_TASKS_MAX 4096

/* One thread at one moment, before it goes on in user mode. */
struct sample {
	u32 busy; /* 1 while a callback fills the sample or the reader reads it */
	u32 tgid;
	u32 tid;
	u32 is_compat;
	u64 value[REGISTER_COUNT];
	u32 depth;
	u32 stop; /* enum stop_reason */
	u32 budget_left;
	u32 stack_bytes;
	u64 frame[STACK_WORDS_MAX];
	u8 stack[SAMPLE_STACK_BYTES + SAMPLE_PAGE_BYTES]; /* copy of the stack from rsp on */
};

struct sample_counters {
	u64 requested;
	/* number of samples without a stack: the thread is exiting, and its memory is gone */
	u64 exiting;
	u64 refused; /* number of samples without a stack: the kernel refused the task work */
	u64 no_room; /* number of samples without a stack: all SAMPLES_MAX are in use */
	s64 refused_error;
};

#endif
