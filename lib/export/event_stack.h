/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The whole stack of one event as a list: leaf and kernel frames, then the user frames, innermost
 * first. Inlined functions are frames of their own. A side that is cut ends in a marker frame that
 * stands for the unknown frames. Each stack of the recording is symbolized once, however many
 * events have the stack.
 */
#ifndef LIB_EXPORT_EVENT_STACK_H
#define LIB_EXPORT_EVENT_STACK_H

#include "report/event/stack_end.h"
#include "report/name/frame_names.h"

struct event_frame {
	const struct frame_name *name; /* NULL: marker of a cut */
	const char *label;	       /* of the function, or the marker of the cut */
	u32 label_id;		       /* in the frame_names */
	u32 number; /* from 0 on without gaps; equal for equal names and equal cuts */
	bool in_kernel;
	bool inlined; /* into the next frame, which has the same frame_name and number */
};

struct event_stack {
	const struct event_frame *frames; /* valid until the next call for these stacks */
	u32 depth;
};

struct event_stacks;

/* The reader and the objects that `naming` points to must outlive the event_stacks. -ENOMEM. */
int event_stacks_create(struct trace_reader *reader, const struct frame_naming *naming,
			struct event_stacks **out);
void event_stacks_free(struct event_stacks **stacks);

int event_stacks_find(struct event_stacks *stacks, const struct trace_event *event,
		      struct event_stack *out); /* -ENOMEM */

/* The stack of an event without frames: one marker that names the reason. */
int event_stacks_missing(struct event_stacks *stacks, const struct trace_event *event,
			 struct event_stack *out); /* -ENOMEM */

#endif
