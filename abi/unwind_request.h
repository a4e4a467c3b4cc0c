/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A request that the recorder makes about a task which is asleep in the kernel and waits for a
 * cookie. The recorder runs the program with this request itself.
 *
 *   PEEK    registers and mappings; the recorder then reads the stack out of the living process
 *   CHECK   says whether the task has stayed in the kernel since
 *   TAKE    the same, and takes the cookie out of PENDING (abi/deferral.h)
 *
 * A CHECK changes no state: the task itself still delivers its stack later.
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
	/*
	 * 0; -ENOENT: not pending any more; -EAGAIN: other registers; -ENOSPC: no memory to look
	 * now
	 */
	s32 result;
	u64 raw[RAW_STACK_SIZE(0) / 8]; /* PEEK: a struct raw_stack without a copy of the stack */
};
ABI_SIZE(struct unwind_blocked_request, RAW_STACK_SIZE(0) + 16);

#endif
