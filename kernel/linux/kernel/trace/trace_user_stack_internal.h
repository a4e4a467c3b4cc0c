/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef _KERNEL_TRACE_USER_STACK_INTERNAL_H
#define _KERNEL_TRACE_USER_STACK_INTERNAL_H

#include <linux/unwind_deferred.h>

#include "trace_user_stack.h"

/* The user stacks of an instance */
struct trace_user_stacks {
	struct unwind_work work;
	struct trace_array *tr;
};

/* One answer, to all events of an entry into the kernel */
struct user_stack_answer {
	struct trace_user_stacks *user;
	u64 cookie;
};

#endif
