/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Trace, span and attributes of events (--trace-ids). A slot has them, or the cookie whose callback
 * delivers them in a slot of its own (abi/thread_context.h). The callback comes when the thread
 * returns to user mode: soon after the event, or after the system call in which the thread blocks.
 * A drain holds an event until its trace and span come; a snapshot has all that it will ever have.
 *
 * An event whose trace and span do not come is written without them and counted. A slot has the
 * hash of the attributes; their bytes are read when the file does not have that hash yet. They may
 * be overwritten in the programs' table by then, and such an event is counted, too.
 */
#ifndef LIB_CAPTURE_LATE_CONTEXTS_H
#define LIB_CAPTURE_LATE_CONTEXTS_H

#include "capture/drain/recording.h"

/* Sets the trace and span of an event from its slot. *late: the cookie that the event has to wait
 * for with late_contexts_hold(); 0 = it need not wait. An error of the writer. */
int context_set_from_slot(struct recording *recording, const struct event_slot *slot,
			  struct trace_event *event, u32 *late);

/* Holds an event until the trace and span of its cookie come. -ENOMEM, or an error of the writer.
 */
int late_contexts_hold(struct recording *recording, const struct trace_event *event, u32 cookie);

/* Writes the events that were held back for their trace and span, as far as these have come. Called
 * when all rings were read. */
int late_contexts_end_round(struct recording *recording);

/* Writes all held events. Called when the file has no more placeholders. */
int late_contexts_write_all(struct recording *recording);

#endif
