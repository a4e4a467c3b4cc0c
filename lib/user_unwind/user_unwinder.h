/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finishes in user space the user stacks that the kernel could not (abi/raw_stack.h): the native
 * embedder of the unwinder in core/.
 *
 * Nothing of the traced process has to be there any more but its files. What other users could keep
 * us waiting for is read by worker processes (user_unwind/readers.h). One unwinder is used by one
 * thread at a time.
 */
#ifndef LIB_USER_UNWINDER_H
#define LIB_USER_UNWINDER_H

#include <stdbool.h>

#include "file_table.h"
#include "mapping.h"
#include "raw_stack.h"
#include "rule_cache.h"
#include "stack.h"

struct user_unwinder;

struct user_unwinder_options {
	/* The record of a mapping number, or NULL. It stays as it is while the unwinder lives. */
	const struct mapping_record *(*mapping)(void *argument, u32 number);
	void *argument;
	struct rule_cache *rules; /* gets the rules that are found, and is asked first; or NULL */
	/* Copies the chunk of a table of a whole file that has this key (abi/file_table.h) to
	 * *chunk. Returns 0, or not 0 if there is no such chunk. NULL: there are no tables. */
	int (*chunk)(void *argument, u64 key, struct file_table_chunk *chunk);
	u32 max_depth;	 /* 1 .. STACK_WALK_DEPTH_MAX */
	bool is_foreign; /* the stacks' ids are of another PID namespace */
};

struct unwound_stack {
	u32 depth;
	u32 flags;			 /* enum stack_flag and STACK_STOP, as struct stack has */
	u64 frame[STACK_USER_DEPTH_MAX]; /* mapping and offset, innermost first */
};

int user_unwinder_create(const struct user_unwinder_options *options,
			 struct user_unwinder **unwinder);
void user_unwinder_free(struct user_unwinder **unwinder);

/* Processes that run for it: their ids; at most USER_UNWINDER_PROCESSES_MAX. */
#define USER_UNWINDER_PROCESSES_MAX 8
u32 user_unwinder_processes(const struct user_unwinder *unwinder, u32 *pids);

/* 0 and a stack, which may end early (STACK_STOP); -EINVAL: *raw contradicts itself. All
 * RAW_STACK_SIZE(raw->stack_bytes) bytes of it must be there. */
int user_unwinder_unwind(struct user_unwinder *unwinder, const struct raw_stack *raw,
			 struct unwound_stack *stack);

#endif
