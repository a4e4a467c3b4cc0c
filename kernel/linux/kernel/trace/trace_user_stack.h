/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef _KERNEL_TRACE_USER_STACK_H
#define _KERNEL_TRACE_USER_STACK_H

#include <linux/types.h>

struct trace_array;
struct trace_buffer;

/* Why a request got no user stack; a part of the format of user_stack_id */
enum user_stack_reason {
	USER_STACK_CHANGED = 1,	/* it is replaced, or could not be unwound */
	USER_STACK_FULL,	/* the map has refused the stack */
	USER_STACK_NO_MEMORY,
};

#ifdef CONFIG_FTRACE_USER_STACKMAP
const char *trace_user_stack_reason(u32 reason);
int trace_user_stacks_enable(struct trace_array *tr);
void trace_user_stacks_disable(struct trace_array *tr);
bool trace_user_stack_request(struct trace_array *tr,
			      struct trace_buffer *buffer,
			      unsigned int trace_ctx);
#else
static inline const char *trace_user_stack_reason(u32 reason) { return "unknown"; }
static inline int trace_user_stacks_enable(struct trace_array *tr) { return -EOPNOTSUPP; }
static inline void trace_user_stacks_disable(struct trace_array *tr) {}

static inline bool trace_user_stack_request(struct trace_array *tr,
					    struct trace_buffer *buffer,
					    unsigned int trace_ctx)
{
	return false;
}
#endif

#endif
