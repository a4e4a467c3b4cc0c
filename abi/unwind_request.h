/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the recorder asks of a task that is asleep in the kernel and waits for a cookie, from a
 * program that it runs itself.
 *
 *   PEEK    registers and mappings; the stack is read out of the living process then
 *   CHECK   whether the task has not left the kernel since
 *   TAKE    the same, and takes the cookie out of PENDING (abi/deferral.h)
 *
 * A CHECK changes nothing: the task answers for itself later, too.
 */
#ifndef STACKMAP_ABI_UNWIND_REQUEST_H
#define STACKMAP_ABI_UNWIND_REQUEST_H

#include "raw_stack.h"
#include "scalar.h"

enum unwind_blocked_operation { UNWIND_BLOCKED_PEEK, UNWIND_BLOCKED_CHECK, UNWIND_BLOCKED_TAKE };

struct unwind_blocked_request {
	u32 tid;
	u32 cookie;
	u32 operation; /* enum unwind_blocked_operation */
	s32 result;    /* 0, -ENOENT: not pending any more, -EAGAIN: registers are not those,
			  -ENOSPC: no room to look now */
	u64 raw[RAW_STACK_SIZE(0) / 8]; /* PEEK: a struct raw_stack without a copy of the stack */
};
ABI_SIZE(struct unwind_blocked_request, RAW_STACK_SIZE(0) + 16);

#endif
