/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The requests of one instance: of each task the cookie it waits for.
 *
 *   IDLE --request--> PENDING --callback--> RUNNING --delivered--> IDLE
 *                        |                     |
 *                        |                     +--request behind the stack--> PENDING
 *                        +--unwound from outside, at exit or at exec--> IDLE
 *
 * A reader keeps a deferred stack only as long as events can name it that began before it. So a
 * request that comes while the stack is being written, from what interrupts the callback, gets
 * another cookie.
 *
 * `word` is cookie << 2 | state; an idle one keeps the last cookie that has got its stack. It moves
 * by compare-and-swap, because a task that wakes up and the recorder that unwinds it meet there.
 * Whoever takes it out of PENDING delivers the stack of the cookie. As the callback runs before the
 * task is back in user mode, a stack that was read while the word stayed PENDING is the right one.
 */
#ifndef STACKMAP_ABI_DEFERRAL_H
#define STACKMAP_ABI_DEFERRAL_H

#include "engine.h"
#include "scalar.h"

enum deferral_state { DEFERRAL_IDLE = 0, DEFERRAL_PENDING = 1, DEFERRAL_RUNNING = 2 };

#define DEFERRAL_WORD(cookie, state) ((u64)(cookie) << 2 | (state))
#define DEFERRAL_STATE(word) ((u32)(word)&3)
#define DEFERRAL_COOKIE(word) ((u32)((word) >> 2))

struct deferral {
	u64 word;
	struct kernel_entry entry; /* of the cookie */
	u32 turn;		   /* which of its two works is scheduled next */
	u32 ready;		   /* --user-at-syscall: a stack id; 0: none */
	u64 ready_generation;	   /* an id alone comes again when its tag wraps */
	struct kernel_entry ready_entry;
	u32 delivered;	/* the cookie whose stack is being written; the last one */
	u32 kernel_tid; /* by which the kernel finds it, whatever the namespace */
};
ABI_SIZE(struct deferral, 80);

/* Each task has two works in turn (task_work.h). */
#define WORK_KEY(tid, turn) ((tid) << 1 | ((turn)&1))
#define WORK_TID(key) ((key) >> 1)
#define WORK_TURN(key) ((key)&1)

/* Of a task that has begun another program: the cookie of where it did. */
struct execve_call {
	u32 cookie;  /* a lasting one */
	u32 is_done; /* the task has the new program's registers */
	u64 start;   /* where that begins, if so */
};

/* A task that is blocked: what was known of it when it left its CPU. */
struct blocked {
	u64 since;	/* ns, CLOCK_MONOTONIC */
	u64 user;	/* its user stack as in an event: field and state << 32 */
	u64 generation; /* of the stack map, for an id */
};

#define BLOCKED_FIELD(user) ((u32)(user))
#define BLOCKED_STATE(user) ((u32)((user) >> 32) & 3)

#endif
