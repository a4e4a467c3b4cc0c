/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Unwinds tasks that are blocked in the kernel, perhaps for days, with an open cookie when a file
 * ends. Their stacks are unwound from outside, from the memory of the process. A check afterwards
 * proves that the stack is that of the event: the cookie is open only while the task has not left
 * the kernel (abi/raw_stack.h).
 */
#ifndef LIB_CAPTURE_UNWIND_BLOCKED_H
#define LIB_CAPTURE_UNWIND_BLOCKED_H

#include "capture/drain/deferred.h"
#include "capture/drain/recording.h"

/* Unwinds all waiting tasks when the sources are off, joins their stacks, and closes their cookies.
 * Running tasks deliver their stacks themselves; the call waits for them for at most a second. 0 or
 * the first error; cookies may stay open in both cases. */
int unwind_blocked_take(struct recording *recording);

/*
 * The same while the instance goes on: unwinds tasks of the list, from index *next on, for about
 * `ms` milliseconds, and joins their stacks if events of the file wait, or may wait, for them.
 * *next becomes the index of the next task. The tasks still deliver their stacks. -ENOMEM.
 */
int unwind_blocked_peek(struct recording *recording, const struct open_cookies *list, u32 *next,
			u32 ms);

#endif
