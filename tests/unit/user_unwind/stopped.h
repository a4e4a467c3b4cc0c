/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A stopped process, and the stack snapshot that the BPF programs would have saved. */
#ifndef TESTS_UNIT_USER_UNWIND_STOPPED_H
#define TESTS_UNIT_USER_UNWIND_STOPPED_H

#include <stdbool.h>
#include <sys/types.h>

#include "chain.h"
#include "mapping.h"
#include "raw_stack.h"

struct stopped {
	pid_t pid;
	struct raw_stack raw;
	struct chain chain;
	u32 vdso; /* its mapping number */
	u64 orig_ax;
	struct mapping_record record[RAW_MAPPINGS_MAX + 1];
};

/* Starts a build of chain.c and saves its stack at the breakpoint. */
void stopped_start(struct stopped *stopped, const char *program);

/* Steps on to the first instruction in the vdso, and saves the stack there. */
void stopped_step_to_vdso(struct stopped *stopped);

/* Resumes the process and waits for its end. */
void stopped_go_on(struct stopped *stopped);

/* Kills the process: only the snapshot is left. */
void stopped_end(struct stopped *stopped);

/* Has the type of user_unwinder_options.mapping. */
const struct mapping_record *stopped_record(void *stopped, u32 number);

/* Converts an address to mapping and offset. */
u64 stopped_frame(const struct stopped *stopped, u64 address);

#endif
