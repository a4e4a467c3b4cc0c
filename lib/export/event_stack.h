/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The whole stack of one event as a list: leaf and kernel frames, then the user frames, innermost
 * first. Inlined functions are frames of their own. A side that is cut ends in a marker frame that
 * stands for the unknown frames. Each stack of the recording is symbolized once, however many
 * events have the stack.
 */
#ifndef LIB_EXPORT_EVENT_STACK_H
#define LIB_EXPORT_EVENT_STACK_H

#include "intern.h"
#include "report/event/stack_end.h"
#include "report/name/frame_names.h"
#include "trace/read/reader.h"

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

/*
 * Addresses and lines of frames, for the formats that have addresses (pprof and OTLP).
 *
 * User code of a file has no address that holds for all processes. Its address here is the frame,
 * mapping number << 40 | offset, in a range of its own for each file, so addresses of two files
 * never meet. Kernel and generated code keep their addresses. The address of a return address is
 * the last byte of the call.
 */

/* The address range of a kernel module or a mapping. */
struct profile_range {
	u32 number; /* from 1 on, modules before mappings; 0: no range, all other members are zero
		     */
	u64 start, end;
	const char *path;			   /* belongs to the reader or the name */
	char build_id[2 * TRACE_BUILD_ID_MAX + 1]; /* hexadecimal digits; "": unknown */
};

struct profile_place {
	u64 address; /* 0: hidden */
	struct profile_range range;
};

struct profile_line {
	const char *function, *file; /* "": not known */
	u32 line;		     /* 0: not known */
};

/* `mapping` NULL gives the range with number 0. */
void profile_range_of(const struct trace_reader *reader, const struct trace_mapping *mapping,
		      struct profile_range *range);
void profile_place_of(const struct trace_reader *reader, const struct frame_name *name,
		      struct profile_place *place);

/* The number of functions at a frame, and the function with an index below that; inlined
 * functions come first. */
u32 profile_lines_at(const struct event_frame *frame);
struct profile_line profile_line_at(const struct event_frame *frame, u32 number);

/*
 * Stacks as nodes of a tree, outermost frame first: stacks with the same outer frames share nodes,
 * so a stack is the number of one node.
 */

/* The last written name of a thread or process, and the end of the last slice of the thread. */
struct named_task {
	struct intern_key key; /* id, whether it is a process */
	char comm[16];
	u64 slices_end; /* ns */
};

struct frame_node {
	struct intern_key key; /* parent, label, whether it is the kernel's */
	u32 parent;	       /* 0: outermost */
	u32 number;
	struct event_frame frame;
};

struct frame_tree;

int frame_tree_create(struct frame_tree **out); /* -ENOMEM */
void frame_tree_free(struct frame_tree **tree);

/* *number is 0 for a stack without frames. -ENOMEM. */
int frame_tree_add(struct frame_tree *tree, const struct event_stack *stack, u32 *number);

/* All nodes, by number from 1 on. Stops at the first non-zero return and returns it. */
int frame_tree_each(const struct frame_tree *tree,
		    int (*each)(void *arg, const struct frame_node *node), void *arg);

#endif
