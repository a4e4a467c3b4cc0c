/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tasks that are in the kernel, asleep in read() perhaps for days, wait with a cookie when a file
 * ends. They are unwound from outside, out of their living memory. That it was the right stack is
 * proven afterwards: the cookie waits only while the task has not left the kernel
 * (abi/unwind_request.h).
 */
#ifndef LIB_CAPTURE_UNWIND_BLOCKED_H
#define LIB_CAPTURE_UNWIND_BLOCKED_H

#include "capture/drain/deferred.h"
#include "capture/drain/recording.h"

/* The sources are off: joins a stack for each task that could be unwound, and takes its cookie.
 * Those that run on deliver by themselves, and are waited for, a second at most. 0 or the first
 * error; cookies may be left either way. */
int unwind_blocked_take(struct recording *recording);

/*
 * The instance goes on, with deferred stacks: joins one for tasks of the list that events of the
 * file wait for, or may, from *next on, for about so many milliseconds. *next is where to go on.
 * Each waits still, and will answer for itself. -ENOMEM.
 */
int unwind_blocked_peek(struct recording *recording, const struct open_cookies *list, u32 *next,
			u32 ms);

#endif
