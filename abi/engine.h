/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The state that all instances share, so that a stack is unwound once for all of them: numbers of
 * mappings, rules, tables of whole files, and for each task its open cookie and the cookie's stack.
 *
 * A cookie is open from the first request in an entry into the kernel until the first instance has
 * its stack; then the cookie is closed. Other instances that wait for the same cookie copy the
 * stack from the unwinder. Only programs that run in a task write the task's entry: such programs
 * may interrupt one another, but never run at the same time.
 */
#ifndef STACKMAP_ABI_ENGINE_H
#define STACKMAP_ABI_ENGINE_H

#include "scalar.h"

#define ENGINE_VERSION 13 /* version of everything shared; part of the engine folder's name */

#define UNWINDERS_MAX 256 /* stacks that are being unwound or kept for others, at once */
#define TASKS_MAX (1U << 17)

/*
 * The registers with which a task entered the kernel. While they are equal, the task has not left
 * it.
 */
struct kernel_entry {
	u64 ip;
	u64 sp;
	s64 syscall;
};

struct engine_state {
	u32 mapping_last; /* the last number given out */
	u32 cookie_last;
	u32 unwinder_next;   /* index at which the search for a free unwinder begins */
	u32 script_last;     /* the last id of a script's function */
	u64 script_seed;     /* secret; 0: not made yet */
	u32 step_generation; /* step_cache.h; user space adds 1 */
	u32 reserved;
};

struct engine_task {
	u64 word;     /* cookie << 1 | closed; 0: no cookie yet. Changes by compare-and-swap */
	u64 unwinder; /* 1 + index of the unwinder that had the last stack; 0: none */
	struct kernel_entry entry; /* entry of the cookie; written before `word` */
};
ABI_SIZE(struct engine_task, 40);

/* A lasting cookie may also be named by events that come after its stack. */
#define COOKIE_LASTING (1U << 31)

#define TASK_WORD(cookie, closed) ((u64)(cookie) << 1 | (closed))
#define TASK_COOKIE(word) ((u32)((word) >> 1))
#define TASK_CLOSED(word) ((u32)(word)&1)

#endif
