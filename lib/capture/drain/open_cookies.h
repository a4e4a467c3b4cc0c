/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The open cookies: those that tasks wait for, and lasting cookies. Only these can be given to
 * later events (abi/deferral.h).
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
	struct open_cookie *items; /* sorted */
	u32 count;
	u32 room;
};

/* Adds the cookies that tasks wait for. Tasks may come and go meanwhile. -ENOMEM. */
int open_cookies_read(const struct loaded *loaded, struct open_cookies *list);
/* Adds the lasting cookies, with thread id 0: those of tasks in execve, and of blocked tasks. And
 * the cookies of origins (deferral.h). -ENOMEM. */
int open_cookies_read_lasting(const struct loaded *loaded, struct open_cookies *list);
bool open_cookies_has(const struct open_cookies *list, u32 tid, u32 cookie);
void open_cookies_clear(struct open_cookies *list);

#endif
