/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Spans (pairs of a begin and an end) whose event has the stacks of the begin (stack=begin). The
 * begin and the end of such a span are two events in the rings with the same mark, a number that
 * identifies the span (abi/question.h); they may be in the rings of two CPUs. The reader holds the
 * begin back, and writes the end with the thread and the stacks of the begin.
 *
 * The file has no event for the begin, and the ledger does not count it. A span may also end
 * without an event. When many begins are held, the reader therefore compares them with the BPF map
 * `spans`, which has the marks of all open spans, and drops the begins of spans that are not open.
 */
#ifndef LIB_CAPTURE_SPAN_STACKS_H
#define LIB_CAPTURE_SPAN_STACKS_H

#include "capture/drain/recording.h"

struct stack_ref;

/* Allocates recording->spans. -ENOMEM. */
int span_stacks_create(struct recording *recording);
void span_stacks_free(struct recording *recording);
void span_stacks_begin_file(struct recording *recording);

/* True if the events of the source number `kind` are begins, or ends, of such spans. */
bool span_stacks_is_begin(const struct recording *recording, u32 kind);
bool span_stacks_is_end(const struct recording *recording, u32 kind);

/* Take a begin or an end that was read from a ring; the event's value is the mark. -ENOMEM, or an
 * error of the writer. */
int span_stacks_take_begin(struct recording *recording, const struct trace_event *event,
			   const struct stack_ref *user);
int span_stacks_take_end(struct recording *recording, const struct trace_event *event);

/* Called when all rings were read: writes the ends whose begins were read. -ENOMEM, or an error of
 * the map or of the writer. */
int span_stacks_end_round(struct recording *recording);

/* Writes all ends that wait; an end whose begin was lost has no stacks. */
int span_stacks_write_all_ends(struct recording *recording);

#endif
