/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A list of open cookies: cookies of tasks that still have to deliver their user stack, and lasting
 * cookies. Only open cookies can be given to later events (abi/deferral.h).
 */
#ifndef LIB_CAPTURE_OPEN_COOKIES_H
#define LIB_CAPTURE_OPEN_COOKIES_H

#include <stdbool.h>

#include "capture/load/loaded.h"

struct open_cookie {
	u32 tid;
	u32 cookie;
};

struct open_cookies {
	struct open_cookie *items; /* the open cookies, sorted by thread id and cookie */
	u32 count;
	u32 room;
};

/* Adds the cookies of all tasks that still have to deliver their stack. Tasks may start and exit
 * meanwhile. -ENOMEM. */
int open_cookies_read(const struct loaded *loaded, struct open_cookies *list);
/* Adds the lasting cookies, with thread id 0: cookies of tasks in execve, and of blocked tasks.
 * Adds the cookies of origins, too: stacks of threads that queued work (abi/deferral.h). -ENOMEM.
 */
int open_cookies_read_lasting(const struct loaded *loaded, struct open_cookies *list);
bool open_cookies_has(const struct open_cookies *list, u32 tid, u32 cookie);
void open_cookies_clear(struct open_cookies *list);

#endif
