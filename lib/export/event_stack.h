/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The whole stack of one event as a list: leaf and kernel frames, then the user frames, innermost
 * first; functions that were inlined are frames of their own, and a side that is cut ends in a
 * frame that stands for those that are not known. Each stack of the recording is named once,
 * however many events have it.
 */
#ifndef LIB_EXPORT_EVENT_STACK_H
#define LIB_EXPORT_EVENT_STACK_H

#include "report/event/stack_end.h"
#include "report/name/frame_names.h"

struct event_frame {
	const struct frame_name *name; /* NULL: frames that are not known */
	const char *label;	       /* of the function, or the marker of the cut */
	u32 label_id;		       /* in the frame_names */
	u32 number;		       /* equal for equal names and cuts, from 0 on without gaps */
	bool in_kernel;
	bool inlined; /* into the next frame, which has the same name and number */
};

struct event_stack {
	const struct event_frame *frames; /* until the next event_stacks_find() */
	u32 depth;
};

struct event_stacks;

/* The reader, and what `naming` points to, must outlive them. -ENOMEM. */
int event_stacks_create(struct trace_reader *reader, const struct frame_naming *naming,
			struct event_stacks **out);
void event_stacks_free(struct event_stacks **stacks);

int event_stacks_find(struct event_stacks *stacks, const struct trace_event *event,
		      struct event_stack *out); /* -ENOMEM */

/* For an event without frames: one that says why. */
int event_stacks_missing(struct event_stacks *stacks, const struct trace_event *event,
			 struct event_stack *out); /* -ENOMEM */

#endif
