/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The promises of a recording that is being written. Most are answered while their events still
 * wait for their block: those events then go out with the stack itself, and the file needs no
 * answer. Only a promise that went out in an event has to be answered in the file.
 *
 * A promise is kept from promise_set_add() until it is answered and no event waits for it; that an
 * index was one is never forgotten.
 */
#ifndef LIB_TRACE_PROMISE_SET_H
#define LIB_TRACE_PROMISE_SET_H

#include "trace/event.h"

struct promise {
	u32 name;      /* index + 1; 0 = free */
	u32 waiting;   /* events that name it and have not gone out */
	bool gone_out; /* an event that names it is in the file */
	bool answered;
	struct trace_answer answer;
};

struct promise_set {
	struct promise *slots; /* open addressing */
	u32 bits;
	u32 count;  /* at most half of 2^bits */
	u64 *given; /* bits by index: it is, or was, a promise */
	u32 given_words;
};

int promise_set_add(struct promise_set *set, u32 index); /* -ENOMEM */
bool promise_set_was_given(const struct promise_set *set, u32 index);
/* Valid until the next call that adds, answers or settles; NULL: it is none, or is done with. */
struct promise *promise_set_find(const struct promise_set *set, u32 index);
void promise_set_free(struct promise_set *set);

/* It must be in the set and not answered yet. True: an answer in the file is needed. */
bool promise_set_answer(struct promise_set *set, u32 index, const struct trace_answer *answer);

/* The events, which were waiting, go out: those with answers get them. */
void promise_set_settle(struct promise_set *set, struct trace_event *events, u32 count);

#endif
