/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The cookies that events may be given from one moment on (abi/deferral.h): those that tasks wait
 * for, and the lasting ones.
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

/* Adds those that tasks wait for; tasks come and go meanwhile. -ENOMEM. */
int open_cookies_read(const struct loaded *loaded, struct open_cookies *list);
/* Adds the lasting ones, of no thread id: of tasks in execve, and of blocked ones. -ENOMEM. */
int open_cookies_read_lasting(const struct loaded *loaded, struct open_cookies *list);
bool open_cookies_has(const struct open_cookies *list, u32 tid, u32 cookie);
void open_cookies_clear(struct open_cookies *list);

#endif
