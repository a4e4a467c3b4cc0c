/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Spans with the stacks of their begin (stack=begin, stack=both). The begin and the end of such a
 * span are two events in the rings with the same mark (abi/question.h), perhaps in the rings of two
 * CPUs. The reader holds the begins until their ends come.
 *
 * stack=begin: the reader writes the end with the thread and the stacks of the begin. The file has
 * no event for a begin, and the ledger does not count it.
 *
 * stack=both: the end is an event like any other. When its begin is there, too, the reader writes a
 * second event of the begin's source with the time and the CPU of the end, the value of the end,
 * and the thread and the stacks of the begin (lib/report/event/origins.h joins both again). The
 * ledger counts this event on the CPU of the end.
 *
 * A begin whose span ended without an event is dropped: when many begins are held, the reader
 * compares them with the map `spans`, which has the marks of all open spans.
 */
#ifndef LIB_CAPTURE_SPAN_STACKS_H
#define LIB_CAPTURE_SPAN_STACKS_H

#include "capture/drain/recording.h"

struct stack_ref;

/* Allocates recording->spans. -ENOMEM. */
int span_stacks_create(struct recording *recording);
void span_stacks_free(struct recording *recording);
void span_stacks_begin_file(struct recording *recording);

/* True if the events of a source are begins of spans that have the stacks of their begin. */
bool span_stacks_is_begin(const struct recording *recording, u32 kind);

/* Returns which stacks the spans have whose ends are events of this source; SPAN_STACKS_END also if
 * the events are no ends of spans. */
enum span_side span_stacks_at_end_of_source(const struct recording *recording, u32 kind);

/* The first function holds the begin of a span, an event whose value is the mark, until its end
 * comes. The second function takes the end of a span: with the held begin it writes an event that
 * has the stacks of the begin; without the begin it holds the end. With stack=both the end itself
 * is written already. -ENOMEM, or an error of the writer. */
int span_stacks_hold_begin(struct recording *recording, const struct trace_event *event,
			   const struct stack_ref *user);
int span_stacks_take_end(struct recording *recording, const struct trace_event *event);

/* Called when all rings were read: writes the ends of spans whose begins were read. -ENOMEM, or an
 * error of the map or of the writer. */
int span_stacks_end_round(struct recording *recording);

/* Writes all ends of spans that still wait for their begin. An end whose begin was lost has no
 * stacks with stack=begin, and no second event with stack=both. */
int span_stacks_write_all_ends(struct recording *recording);

#endif
