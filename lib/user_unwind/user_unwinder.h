/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Unwinds, in user space, the user stacks that the kernel could not finish (abi/raw_stack.h), with
 * the unwinder in core/.
 *
 * Only the files of the traced process must still exist. Worker processes read files and memory
 * that other users could delay (user_unwind/readers.h). One thread at a time uses an unwinder.
 */
#ifndef LIB_USER_UNWINDER_H
#define LIB_USER_UNWINDER_H

#include <stdbool.h>

#include "file_table.h"
#include "mapping.h"
#include "raw_stack.h"
#include "rule_cache.h"
#include "stack.h"
#include "user_unwind/readers.h"

struct user_unwinder;

struct user_unwinder_options {
	/*
	 * Returns the record of a mapping number, or NULL. The record must outlive the unwinder and
	 * must not change.
	 */
	const struct mapping_record *(*mapping)(void *argument, u32 number);
	void *argument;
	/* Cache in which unwind rules are looked up and stored; NULL: none. */
	struct rule_cache *rules;
	/*
	 * Copies the chunk with this key of a whole-file table (abi/file_table.h). The result is
	 * non-zero if there is no such chunk. A NULL pointer means that no tables exist.
	 */
	int (*chunk)(void *argument, u64 key, struct file_table_chunk *chunk);
	u32 max_depth;	 /* limit of a stack's frames, 1 to STACK_WALK_DEPTH_MAX */
	bool is_foreign; /* ids of processes and threads in stacks are those of another PID
			    namespace */
};

struct unwound_stack {
	u32 depth;
	u32 flags; /* flags of the stack, as in struct stack: enum stack_flag and STACK_STOP */
	u64 frame[STACK_USER_DEPTH_MAX]; /* the frames, each a mapping and an offset, innermost
					    first */
};

int user_unwinder_create(const struct user_unwinder_options *options,
			 struct user_unwinder **unwinder);
void user_unwinder_free(struct user_unwinder **unwinder);

/*
 * Stores the process ids of the worker processes, at most USER_UNWINDER_PROCESSES_MAX. Returns
 * their number.
 */
#define USER_UNWINDER_PROCESSES_MAX READERS_MAX
u32 user_unwinder_worker_pids(const struct user_unwinder *unwinder, u32 *pids);

/* Unwinds a stack, which may end early (STACK_STOP). *raw must have all
 * RAW_STACK_SIZE(raw->stack_bytes) bytes. 0; -EINVAL: *raw contradicts itself. */
int user_unwinder_unwind(struct user_unwinder *unwinder, const struct raw_stack *raw,
			 struct unwound_stack *stack);

#endif
