/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Joins entries of the ring to events with stacks, and writes the events to a recording. An event
 * waits until all entries of its stacks have come; at most one event waits in each context of each
 * CPU.
 */
#ifndef LIB_FTRACE_EVENTS_H
#define LIB_FTRACE_EVENTS_H

#include "ftrace/entry.h"
#include "ftrace/stacks.h"
#include "trace/write/writer.h"

struct ftrace_events;

/* Creates the joiner. Writer, files and `arg`, which goes to is_entry_code(), must outlive it.
 * -ENOMEM. */
int ftrace_events_create(struct trace_writer *writer, const struct stack_files *files,
			 ftrace_is_entry_code *is_entry_code, void *arg,
			 struct ftrace_events **out);
void ftrace_events_free(struct ftrace_events **events);

/* Takes an entry of the ring. 0; -EBADMSG: an invalid entry; or the writer's error. */
int ftrace_events_take(struct ftrace_events *events, const struct ftrace_entry *entry,
		       const void *payload);

/* Called after the last entry: writes the waiting events and the ledger. */
int ftrace_events_end(struct ftrace_events *events);

u64 ftrace_events_unresolved_stacks(const struct ftrace_events *events);
u64 ftrace_events_unknown_gaps(const struct ftrace_events *events);

#endif
