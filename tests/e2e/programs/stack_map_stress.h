/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Data that the stress programs share with their loader: the frames of stack n, and the results for
 * this stack. */
#ifndef TESTS_STACK_MAP_STRESS_H
#define TESTS_STACK_MAP_STRESS_H

#include "stack.h"

#define STRESS_UNIVERSE_MAX 4096
#define STRESS_PROCESSES 4
#define STRESS_CPUS_MAX 256
#define STRESS_BATCH 32 /* inserts of one run of a program */
#define STRESS_DEPTH_MAX 40

#define STRESS_DEPTH(n) (1 + (n) % STRESS_DEPTH_MAX)
/* Stacks of one depth differ in the last frame only. Every third is wide. */
#define STRESS_TOP(n) ((n) % 3 ? FRAME_NARROW_TOP : 0xffffc90000000000ULL)
#define STRESS_LAST 0x10000 /* the last frame is a multiple of this, plus n */
#define STRESS_FRAME(n, i)                                                                         \
	(STRESS_TOP(n) + ((i) + 1 == STRESS_DEPTH(n) ? STRESS_LAST + (n) : 0x1000 + (i)))

struct stress_tally {
	s64 id; /* first result of get_id; 0: not called yet */
	u64 refs;
	u64 drops;
};

struct stress_control {
	u32 pids[STRESS_PROCESSES];
	u32 universe;
	u32 failures; /* calls with another id for the same stack, or with an unexpected error */
	u64 turn;     /* successive turns insert the same stack */
	u64 calls;
	u64 timer_runs;
};

#endif
