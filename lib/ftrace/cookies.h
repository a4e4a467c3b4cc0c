/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * User stacks by cookie. All events of one entry into the kernel have one cookie and one answer,
 * which comes behind them; behind an answer of the task itself more of them may follow.
 *
 * The kernel counts cookies by 32 bits for each CPU. One that comes of another thread is of a later
 * entry: what it stood for before is over.
 */
#ifndef LIB_FTRACE_COOKIES_H
#define LIB_FTRACE_COOKIES_H

#include <stdbool.h>

#include "hash_index.h"
#include "trace/event.h"

struct cookie {
	u64 cookie;
	u32 tid;
	u32 name;   /* the writer's placeholder, or TRACE_NO_STACK: none was made */
	u32 events; /* that wait for the answer */
	u32 stack;  /* the answer */
	u8 reason;
	bool is_answered;
};

/* All zero: empty. */
struct cookies {
	struct hash_index index;
	struct cookie *items;
	u32 count, room;
};

/* HASH_INDEX_NONE: it was not met. */
u32 cookies_find(const struct cookies *cookies, u64 cookie);
/* Anew and unanswered, in place of one that was met. -ENOMEM. */
int cookies_make(struct cookies *cookies, u64 cookie, u32 tid, u32 *index);
void cookies_free(struct cookies *cookies);

#endif
