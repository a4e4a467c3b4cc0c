/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A task that is blocked in the kernel, perhaps for days, cannot deliver the user stack of its
 * event before a file ends; its cookie is still open then. These functions unwind such a stack from
 * outside, from the memory of the process. A check afterwards proves that the stack is that of the
 * event: the cookie is open only while the task has not left the kernel (abi/raw_stack.h).
 */
#ifndef LIB_CAPTURE_UNWIND_BLOCKED_H
#define LIB_CAPTURE_UNWIND_BLOCKED_H

#include "capture/drain/deferred.h"
#include "capture/drain/recording.h"

/* Called when the sources are detached: unwinds all tasks with an open cookie, joins their stacks
 * to the events, and closes the cookies. Running tasks deliver their stacks themselves; the call
 * waits at most a second for them. 0 or the first error; cookies may stay open in both cases. */
int unwind_blocked_at_end(struct recording *recording);

/*
 * For an instance that goes on: unwinds the tasks of the list from index *next on, for about `ms`
 * milliseconds, and joins the stacks that events of the file wait, or may wait, for. *next becomes
 * the index of the next task. The cookies stay open, so the tasks deliver their stacks later, too.
 * -ENOMEM.
 */
int unwind_blocked_peek(struct recording *recording, const struct open_cookies *list, u32 *next,
			u32 ms);

#endif
