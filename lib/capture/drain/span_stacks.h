/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Spans with the stacks of their begin (stack=begin). The begin and the end of such a span are two
 * events in the rings with the same mark (abi/question.h), perhaps in the rings of two CPUs. The
 * reader holds the begins, and writes an end with the thread and the stacks of its begin.
 *
 * The file has no event for a begin, and the ledger does not count it. A begin whose span ended
 * without an event is dropped: when many begins are held, the reader compares them with the map
 * `spans`, which has the marks of all open spans.
 */
#ifndef LIB_CAPTURE_SPAN_STACKS_H
#define LIB_CAPTURE_SPAN_STACKS_H

#include "capture/drain/recording.h"

struct stack_ref;

/* Allocates recording->spans. -ENOMEM. */
int span_stacks_create(struct recording *recording);
void span_stacks_free(struct recording *recording);
void span_stacks_begin_file(struct recording *recording);

/* True if the events of a source are begins, or ends, of such spans. */
bool span_stacks_want_begin(const struct recording *recording, u32 kind);
bool span_stacks_want_end(const struct recording *recording, u32 kind);

/* Takes an event of a ring, whose value is the mark. -ENOMEM, or an error of the writer. */
int span_stacks_begin(struct recording *recording, const struct trace_event *event,
		      const struct stack_ref *user);
int span_stacks_end(struct recording *recording, const struct trace_event *event);

/* After all rings were read: writes the ends whose begins have come. -ENOMEM, or an error of the
 * map or of the writer. */
int span_stacks_round(struct recording *recording);

/* Writes all ends; those whose begin was lost have no stacks. */
int span_stacks_finish(struct recording *recording);

#endif
