/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Stack ids for ftrace: each unique stack of a trace instance is stored once, and its events
 * carry 4 bytes. User stacks are unwound when the task returns to user mode: its events carry
 * the cookie of that entry into the kernel, and one answer says which stack it stands for.
 */
#ifndef _KERNEL_TRACE_STACKMAP_H
#define _KERNEL_TRACE_STACKMAP_H

#include <linux/types.h>

struct dentry;
struct trace_array;
struct trace_buffer;

/* Why an answer has no user stack. 0: it has. */
enum user_stack_reason {
	USER_STACK_CHANGED = 1, /* the task has another user mode by now: it runs a new program */
	USER_STACK_BUSY,	/* its mappings were being changed */
	USER_STACK_RUNNING,	/* it was still running in the kernel when tracing stopped */
	USER_STACK_FULL,	/* the map refused it */
	USER_STACK_NO_MEMORY,
	USER_STACK_REASONS,
};

/* Nested contexts of a CPU that may record a stack: task, softirq, interrupt, NMI. */
#define TRACE_STACKMAP_NESTING 4

#ifdef CONFIG_FTRACE_STACKMAP

/*
 * The id of a stack, innermost frame first, or a negative error: -ENOENT (the instance has no
 * map), -E2BIG (deeper than the map takes), -ENOSPC (no room), -EINVAL (no frames). @nesting is
 * below TRACE_STACKMAP_NESTING and the caller's own on this CPU. Any context, NMI included,
 * with preemption disabled and RCU watching.
 */
s64 trace_stackmap_get_id(struct trace_array *tr, int nesting, const unsigned long *frames,
			  unsigned int count);

/*
 * Counts a stack that the map has refused, and for which the ring has no room either. As
 * trace_stackmap_get_id().
 */
void trace_stackmap_lost(struct trace_array *tr);

/*
 * Gives an instance a map, if it has none: 0 or -ENOMEM. Sleeps; the caller holds
 * trace_types_lock.
 */
int trace_stackmap_enable(struct trace_array *tr);

/*
 * Takes it away. Open files keep what they show. Sleeps; the caller holds trace_types_lock.
 */
void trace_stackmap_disable(struct trace_array *tr);

/*
 * An empty generation in place of the current one, while tracing goes on: 0, -ENODEV, -ENOMEM.
 * Sleeps.
 */
int trace_stackmap_reset(struct trace_array *tr);

/* The files of an instance's folder in tracefs. */
void trace_stackmap_create_files(struct trace_array *tr, struct dentry *folder);

#else

static inline s64 trace_stackmap_get_id(struct trace_array *tr, int nesting,
					const unsigned long *frames, unsigned int count)
{
	return -ENOENT;
}

static inline void trace_stackmap_lost(struct trace_array *tr)
{
}

static inline int trace_stackmap_enable(struct trace_array *tr)
{
	return 0;
}

static inline void trace_stackmap_disable(struct trace_array *tr)
{
}

static inline void trace_stackmap_create_files(struct trace_array *tr, struct dentry *folder)
{
}

#endif

#ifdef CONFIG_FTRACE_USER_STACKMAP

/* Its word; "unknown" for what is none. */
const char *trace_user_stack_reason(u32 reason);

/*
 * The instance takes user stacks from now on: 0, -ENOMEM, or -EBUSY (too many that unwind).
 * Sleeps; under trace_types_lock.
 */
int trace_user_stacks_enable(struct trace_array *tr);

/*
 * It takes none any more; those that are asked for are answered first. Sleeps; under
 * trace_types_lock.
 */
void trace_user_stacks_disable(struct trace_array *tr);

/*
 * Asks for the current task's user stack, for the event before, and records the cookie of the
 * answer. False: the instance takes none by cookie. Any context, NMI included.
 */
bool trace_user_stack_ask(struct trace_array *tr, struct trace_buffer *buffer,
			  unsigned int trace_ctx);

/*
 * Before the ring is switched off: nobody may ask any more, and who has asked is answered,
 * asleep or not; after 100 ms nobody is waited for. trace_user_stacks_open() undoes it. Sleeps;
 * under trace_types_lock.
 */
void trace_user_stacks_close(struct trace_array *tr);
void trace_user_stacks_open(struct trace_array *tr);

#else

static inline const char *trace_user_stack_reason(u32 reason)
{
	return "unknown";
}

static inline int trace_user_stacks_enable(struct trace_array *tr)
{
	return -EOPNOTSUPP;
}

static inline void trace_user_stacks_disable(struct trace_array *tr)
{
}

static inline bool trace_user_stack_ask(struct trace_array *tr, struct trace_buffer *buffer,
					unsigned int trace_ctx)
{
	return false;
}

static inline void trace_user_stacks_close(struct trace_array *tr)
{
}

static inline void trace_user_stacks_open(struct trace_array *tr)
{
}

#endif
#endif
