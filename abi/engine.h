/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What instances share, so that a stack is unwound once for all of them: numbers of mappings,
 * rules, tables of whole files, and of each task the cookie that is open and its stack.
 *
 * A cookie is open from the first request in an entry into the kernel until the first instance has
 * its stack (closed). Instances that still wait for it take that stack from the unwinder. A
 * task's entry is written by programs that run in this task only, so they interrupt one another but
 * are never at it at the same time.
 */
#ifndef STACKMAP_ABI_ENGINE_H
#define STACKMAP_ABI_ENGINE_H

#include "scalar.h"

#define ENGINE_VERSION 9 /* of all that is shared; in the name of its folder */

#define UNWINDERS_MAX 256 /* stacks being unwound, or kept for others to take, at once */
#define TASKS_MAX (1U << 17)

/* Where a task entered the kernel. While these are the same it has not left it. */
struct kernel_entry {
	u64 ip;
	u64 sp;
	u64 orig_ax;
};

struct engine_state {
	u32 mapping_last; /* the last number given out */
	u32 cookie_last;
	u32 unwinder_next; /* where to look for a free one first */
	u32 reserved;
};

struct engine_task {
	u64 word;     /* cookie << 1 | closed; 0: none yet. Moves by compare-and-swap */
	u64 unwinder; /* + 1, which had the stack last; 0: none */
	struct kernel_entry entry; /* of the cookie; written before it */
};
ABI_SIZE(struct engine_task, 40);

/* A lasting cookie is one of those that events are given behind its stack, too. */
#define COOKIE_LASTING (1U << 31)

#define TASK_WORD(cookie, closed) ((u64)(cookie) << 1 | (closed))
#define TASK_COOKIE(word) ((u32)((word) >> 1))
#define TASK_CLOSED(word) ((u32)(word)&1)

#endif
