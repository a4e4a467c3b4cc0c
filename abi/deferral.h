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
#ifndef STACKMAP_ABI_DEFERRAL_H
#define STACKMAP_ABI_DEFERRAL_H

#include "scalar.h"

/*
 * The version of the shared state, which is a part of the name of the engine's folder. The number
 * grows with each change of the layout, or of what tables of files hold: a rule of an older table
 * would hide a mark of a newer table.
 */
#define ENGINE_VERSION 22

/*
 * number of unwinders; each unwinder holds one stack, which is being unwound or is kept for other
 * instances
 */
#define UNWINDERS_MAX 256
#define TASKS_MAX (1U << 17)

/*
 * The registers with which a task entered the kernel. While these registers are unchanged, the
 * task has not left the kernel.
 */
struct kernel_entry {
	u64 ip;
	u64 sp;
	s64 syscall;
};

struct engine_state {
	u32 mapping_last; /* the last mapping number that was given out */
	u32 cookie_last;
	u32 unwinder_next; /* index at which the search for a free unwinder begins */
	u32 script_last;   /* the last id of a script's function */
	u64 script_seed;   /* secret seed of the hashes of script functions; 0: not made yet */
	/* number of the current generation of cached steps (rule_cache.h); user space adds 1 */
	u32 step_generation;
	u32 leaves_generated; /* 1: the callback walks through generated code (a table of libjvm, of
			       * V8 or of Perl was added); user space sets this */
};

struct engine_task {
	/* cookie << 1 | closed; 0: the task has had no cookie yet. Changes by compare-and-swap */
	u64 word;
	u64 unwinder; /* 1 + index of the unwinder that had the last stack; 0: none */
	/* entry into the kernel to which the cookie belongs; written before `word` */
	struct kernel_entry entry;
};
ABI_SIZE(struct engine_task, 40);

/* A lasting cookie may also be named by events that come after its stack. */
#define COOKIE_LASTING (1U << 31)

#define TASK_WORD(cookie, closed) ((u64)(cookie) << 1 | (closed))
#define TASK_COOKIE(word) ((u32)((word) >> 1))
#define TASK_CLOSED(word) ((u32)(word)&1)

/*
 * The requests of one instance: for each task, the cookie whose stack the task has yet to deliver.
 *
 *   IDLE --request--> PENDING --callback--> RUNNING --delivered--> IDLE
 *                        |                     |
 *                        |                     +--request after the stack---> PENDING
 *                        +--unwound from outside, at exit or at exec--> IDLE
 *
 * A reader keeps a deferred stack until all events that can name the stack have come: events that
 * began before the stack was written. A request that interrupts the callback while it writes the
 * stack comes later, and so gets another cookie.
 *
 * `word` is cookie << 2 | state; an IDLE word keeps the last delivered cookie. The word changes by
 * compare-and-swap, because a task that wakes up and the recorder that unwinds the task may act at
 * the same time. The side that takes the word out of PENDING delivers the stack of the cookie. The
 * callback runs before the task is back in user mode, so a stack that was read while the word
 * stayed PENDING is the stack of the request.
 */

enum deferral_state { DEFERRAL_IDLE = 0, DEFERRAL_PENDING = 1, DEFERRAL_RUNNING = 2 };

#define DEFERRAL_WORD(cookie, state) ((u64)(cookie) << 2 | (state))
#define DEFERRAL_STATE(word) ((u32)(word)&3)
#define DEFERRAL_COOKIE(word) ((u32)((word) >> 2))

struct deferral {
	u64 word;
	/* the task's entry into the kernel to which the cookie belongs */
	struct kernel_entry entry;
	/* its parity selects the one of the task's two deferral_works that is scheduled next */
	u32 turn;
	u32 ready; /* --user-at-syscall: id of the stack taken at the entry; 0: none */
	/*
	 * generation of the stack map that has the id `ready`: ids repeat when the tag of the
	 * generation wraps
	 */
	u64 ready_generation;
	struct kernel_entry ready_entry;
	u32 delivered;	/* cookie of the stack that is being written, or was written last */
	u32 kernel_tid; /* the task's id in the initial namespace, for bpf_task_from_pid() */
	/* the last cookie whose stack begins with the registers at a user probe; 0: none */
	u32 probed;
	u32 context;	    /* cookie whose callback reads trace and span, too; 0: none */
	u64 thread_pointer; /* the task's thread pointer when `context` was set */
	/* address and length of a script's name whose page the callback waits for; length 0: it
	 * has waited */
	u64 name;
	u64 name_bytes;
};
ABI_SIZE(struct deferral, 112);

/*
 * Each task has two elements of the map `works`, struct deferral_work, that take turns
 * (task_work.h).
 */
#define WORK_KEY(tid, turn) ((tid) << 1 | ((turn)&1))
#define WORK_TID(key) ((key) >> 1)
#define WORK_TURN(key) ((key)&1)

/* The last execve of a task. */
struct execve_call {
	u32 cookie;  /* cookie of the stack from which the task called execve; has COOKIE_LASTING */
	u32 is_done; /* 1: the task has the new program's registers */
	u64 start;   /* first pc of the new program, if is_done */
};

/* A blocked task, as it was when it left its CPU. */
struct blocked {
	/*
	 * CLOCK_MONOTONIC, ns: time when the task left its CPU; in struct thread_time: when the
	 * thread's current state began
	 */
	u64 since;
	u64 user;	/* stack field of the event's user stack | state << 32 */
	u64 generation; /* generation of the stack map, if `user` is an id */
	u64 switches;	/* number of the task's switches when the wait began */
	u64 ran;	/* ns: sum_exec_runtime when the wait began; 0: not known */
};

#define BLOCKED_FIELD(user) ((u32)(user))
#define BLOCKED_STATE(user) ((u32)((user) >> 32) & 3)

/* --origins: the queueing of a work item, a timer or an io_uring request (bpf/event/origin.h). */
/* most objects whose origin is remembered: queued objects, and some that are no longer queued */
#define ORIGINS_MAX 16384U
#define ORIGIN_WORKS_MAX 16384U /* most workers that execute a work item at once */
#define ORIGIN_CALLS 4U		/* most callbacks that are under way at once on one CPU */
/* index, in struct origin_cpu_calls, of the callback in a hard interrupt */
#define ORIGIN_CALL_HARD (ORIGIN_CALLS - 1)

struct origin {
	u64 object; /* address of the work item, timer or request */
	/* CLOCK_MONOTONIC, ns: time when the object was queued; 0: the time is not known */
	u64 time;
	/* generation of the stack map to which the ids in `kernel` and `user` belong */
	u64 generation;
	u64 kernel;  /* stack field of the kernel stack | state << 32: STACK_FIELD_WORD() */
	u64 user;    /* stack field of the user stack | state << 32 */
	u64 running; /* address of a word of the kernel that holds the object while its callback
			runs; 0: not known */
	u32 tid;     /* id of the task that queued the object; or TID_INTERRUPT */
	u32 reserved;
};

/*
 * Callbacks that are under way on one CPU. Each callback has its element of `call`: the last
 * element is for hard interrupts, the others are for soft interrupts. Only with PREEMPT_RT are soft
 * interrupts preempted, and more than one under way.
 */
struct origin_cpu_calls {
	struct {
		u64 task;	/* address of the current task_struct; 0: free */
		u64 is_hrtimer; /* 1: the callback is that of a high-resolution timer */
		struct origin origin;
	} call[ORIGIN_CALLS];
	u64 ended; /* address of the object whose callback ended last */
	/*
	 * address of the word that held the object `ended` while its callback ran (`running` of its
	 * origin)
	 */
	u64 ended_running;
};

#endif
