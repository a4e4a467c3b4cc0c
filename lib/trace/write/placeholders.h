/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The placeholders of a recording that is being written. Most placeholders are resolved while their
 * events still wait for their block; these events are written with the stack itself, and the file
 * needs no resolution. Only a placeholder that was written with an event needs a resolution in the
 * file.
 *
 * A placeholder has a slot from placeholders_add() until it is resolved and no event waits for it.
 * Until the block of an event is written, the event names the slot: TRACE_PLACEHOLDER | slot, which
 * is never the index of a stack. A later placeholder may get the same name.
 */
#ifndef LIB_TRACE_PLACEHOLDERS_H
#define LIB_TRACE_PLACEHOLDERS_H

#include "trace/event.h"

#define TRACE_PLACEHOLDER (1U << 31)

struct placeholder {
	struct trace_resolution resolution;
	u32 index;     /* stack index in the file; in a free slot: the next free slot + 1 */
	u32 waiting;   /* number of buffered and held events that name the placeholder */
	bool gone_out; /* true: an event that names the placeholder is in the file */
	bool resolved; /* true: the placeholder is resolved; the slot is free if `waiting` is 0, too
			*/
};

struct placeholders {
	struct placeholder *items; /* placeholders; index: slot */
	u32 count, room;
	u32 free; /* number of the first free slot, plus 1; 0: no slot is free */
};

int placeholders_add(struct placeholders *placeholders, u32 index, u32 *name); /* -ENOMEM */
/* Returns the placeholder if it is unresolved, or NULL. Valid until the next call that adds,
 * resolves or flushes. */
struct placeholder *placeholders_find_unresolved(const struct placeholders *placeholders, u32 name);
void placeholders_free(struct placeholders *placeholders);

/* Resolves an open placeholder. True if the file needs a resolution. */
bool placeholders_resolve(struct placeholders *placeholders, u32 name,
			  const struct trace_resolution *resolution);

/* If `name` is a placeholder: counts an event that is held for it. The slot is not reused before
 * the event's placeholders_resolve_waiting_event(). */
void placeholders_count_waiting_event(struct placeholders *placeholders, u32 name);

/* Ends placeholders_count_waiting_event() for an event that is written or dropped next. If the
 * placeholder's stack is known, the event gets the stack. */
void placeholders_resolve_waiting_event(struct placeholders *placeholders,
					struct trace_event *event);

/* Prepares buffered events for writing: each gets the resolved stack or the placeholder's index. */
void placeholders_flush(struct placeholders *placeholders, struct trace_event *events, u32 count);

#endif
