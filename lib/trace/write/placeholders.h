/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The placeholders of a recording that is being written. Most are resolved while their events still
 * wait for their block: those events then go out with the stack itself, and the file needs no
 * resolution. Only a placeholder that went out in an event has to be resolved in the file.
 *
 * A placeholder is kept from placeholders_add() until it is resolved and no event waits for it;
 * that an index was one is never forgotten.
 */
#ifndef LIB_TRACE_PLACEHOLDERS_H
#define LIB_TRACE_PLACEHOLDERS_H

#include "trace/event.h"

struct placeholder {
	u32 name;      /* index + 1; 0 = free */
	u32 waiting;   /* events that name it and have not gone out */
	bool gone_out; /* an event that names it is in the file */
	bool resolved;
	struct trace_resolution resolution;
};

struct placeholders {
	struct placeholder *slots; /* open addressing */
	u32 bits;
	u32 count;  /* at most half of 2^bits */
	u64 *given; /* bits by index: it is, or was, a placeholder */
	u32 given_words;
};

int placeholders_add(struct placeholders *set, u32 index); /* -ENOMEM */
bool placeholders_was_given(const struct placeholders *set, u32 index);
/* Valid until the next call that adds, resolves or settles; NULL: none, or done with. */
struct placeholder *placeholders_find(const struct placeholders *set, u32 index);
void placeholders_free(struct placeholders *set);

/* It must be in the set and not resolved yet. True: a resolution in the file is needed. */
bool placeholders_resolve(struct placeholders *set, u32 index,
			  const struct trace_resolution *resolution);

/* The events, which were waiting, go out: those with resolutions get them. */
void placeholders_settle(struct placeholders *set, struct trace_event *events, u32 count);

#endif
