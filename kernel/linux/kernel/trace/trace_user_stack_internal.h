/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef _KERNEL_TRACE_USER_STACK_INTERNAL_H
#define _KERNEL_TRACE_USER_STACK_INTERNAL_H

#include <linux/unwind_deferred.h>

#include "trace_mappings.h"
#include "trace_user_stack.h"

struct user_stack_counts {
	unsigned long asked;
	/* number of answers by reason; [0]: answers with a stack */
	unsigned long answered[USER_STACK_REASONS];
	/* number of answers that the ring buffer had no room for */
	unsigned long lost;
};

/* The user stacks of an instance */
struct trace_user_stacks {
	struct unwind_work work;
	struct trace_array *tr;
	bool is_closed;		/* events request no stack */
	atomic_t answering;	/* number of tasks that answer now */
	struct user_stack_counts __percpu *counts;
};

/* One answer, to all events of an entry into the kernel */
struct user_stack_answer {
	struct trace_user_stacks *user;
	u64 cookie;
	struct task_struct *task;
	struct trace_process process;
	struct mm_struct *mm;
};

struct trace_user_stacks *trace_user_stacks_of(struct trace_array *tr);
bool trace_user_stack_process(struct task_struct *task,
			      struct trace_process *process);
void trace_user_stack_answer(struct user_stack_answer *answer,
			     const unsigned long *frames, unsigned int count);
void trace_user_stack_refuse(struct user_stack_answer *answer, u32 reason);

#endif
