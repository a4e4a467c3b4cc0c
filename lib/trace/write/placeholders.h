/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The placeholders of a recording that is being written. Most are resolved while their events still
 * wait for their block: those events then go out with the stack itself, and the file needs no
 * resolution. Only a placeholder that went out in an event has to be resolved in the file.
 *
 * A placeholder has a slot from placeholders_add() until it is resolved and no event waits for it.
 * Until its block goes out, an event names the slot: TRACE_PLACEHOLDER | its number, which is never
 * the index of a stack. Then the name is over: the next placeholder may get it.
 */
#ifndef LIB_TRACE_PLACEHOLDERS_H
#define LIB_TRACE_PLACEHOLDERS_H

#include "trace/event.h"

#define TRACE_PLACEHOLDER (1U << 31)

struct placeholder {
	struct trace_resolution resolution;
	u32 index;     /* in the file; of a free slot: the next free one + 1 */
	u32 waiting;   /* events that name it and have not gone out */
	bool gone_out; /* an event that names it is in the file */
	bool resolved; /* and waited for by no event: the slot is free */
};

struct placeholders {
	struct placeholder *items; /* by slot */
	u32 count, room;
	u32 free; /* the first free slot + 1; 0: none */
};

int placeholders_add(struct placeholders *placeholders, u32 index, u32 *name); /* -ENOMEM */
/* Valid until the next call that adds, resolves or flushes; NULL: none, or resolved. */
struct placeholder *placeholders_open(const struct placeholders *placeholders, u32 name);
void placeholders_free(struct placeholders *placeholders);

/* It must be open. True: a resolution in the file is needed. */
bool placeholders_resolve(struct placeholders *placeholders, u32 name,
			  const struct trace_resolution *resolution);

/* The events, which were waiting, go out: with the stack, or else with the placeholder's index. */
void placeholders_flush(struct placeholders *placeholders, struct trace_event *events, u32 count);

#endif
