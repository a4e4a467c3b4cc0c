/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The whole stack of one event as a list, innermost frame first: the leaf, the kernel frames, the
 * user frames. Inlined functions are frames of their own. A kernel or user stack whose outer frames
 * are unknown ends in a marker frame. Each stack of the recording is symbolized once, however many
 * events have the stack.
 */
#ifndef LIB_EXPORT_EVENT_STACK_H
#define LIB_EXPORT_EVENT_STACK_H

#include "intern.h"
#include "report/event/stack_end.h"
#include "report/name/frame_names.h"
#include "trace/read/reader.h"

struct event_frame {
	const struct frame_name *name; /* the frame's names; NULL: the frame is a marker */
	const char *label;	       /* name of the function, or the text of the marker */
	u32 label_id;		       /* id of the label in the frame_names */
	/* number from 0 on without gaps; frames with the same `name`, or the same marker, have the
	 * same number */
	u32 number;
	bool in_kernel;
	/* true: a function inlined into the next frame, which has the same `name` and `number` */
	bool inlined;
};

struct event_stack {
	/* frames, innermost first; valid until the next call with the same event_stacks */
	const struct event_frame *frames;
	u32 depth;
};

struct event_stacks;

/* The reader and the objects that `naming` points to must outlive the event_stacks. -ENOMEM. */
int event_stacks_create(struct trace_reader *reader, const struct frame_naming *naming,
			struct event_stacks **out);
void event_stacks_free(struct event_stacks **stacks);

int event_stacks_find(struct event_stacks *stacks, const struct trace_event *event,
		      struct event_stack *out); /* -ENOMEM */

/* The stack to show for an event without frames: a marker that names the reason. */
int event_stacks_marker_of_missing_stack(struct event_stacks *stacks,
					 const struct trace_event *event,
					 struct event_stack *out); /* -ENOMEM */

/*
 * Addresses and lines of frames, for the formats that have addresses (pprof and OTLP).
 *
 * Code of a file has another address in each process. Its address here is the frame, mapping number
 * << 40 | offset, so each file has its own range of addresses, and the ranges do not overlap.
 * Kernel and generated code keep their addresses. A return address becomes the address of the last
 * byte of the call.
 */

/* The address range of a kernel module or a mapping. */
struct profile_range {
	/* number from 1 on, modules before mappings; 0: no range, then all other members are zero
	 */
	u32 number;
	u64 start, end;
	const char *path; /* path of the file; the text belongs to the reader or the name */
	char build_id[2 * TRACE_BUILD_ID_MAX + 1]; /* build id as hexadecimal digits; "": unknown */
};

struct profile_place {
	u64 address; /* address of the code; 0: hidden by kptr_restrict */
	struct profile_range range;
};

struct profile_line {
	const char *function, *file; /* names of the function and of its source file; "": unknown */
	u32 line;		     /* line in the source file; 0: unknown */
};

/* `mapping` NULL gives the range with number 0. */
void profile_range_of_mapping(const struct trace_reader *reader,
			      const struct trace_mapping *mapping, struct profile_range *range);
void profile_place_of_frame(const struct trace_reader *reader, const struct frame_name *name,
			    struct profile_place *place);

/* The number of functions at a frame, and the function with a number below it. Inlined functions
 * come first. */
u32 profile_count_functions_of_frame(const struct event_frame *frame);
struct profile_line profile_line_of_frame(const struct event_frame *frame, u32 number);

/*
 * Stacks as nodes of a tree, outermost frame first: stacks with the same outer frames share nodes,
 * so a stack is the number of one node.
 */

/* A thread or process: the name that was written last, and the end of the thread's last slice. */
struct named_task {
	struct intern_key key; /* thread or process id, and 1 for a process, 0 for a thread */
	char comm[16];
	u64 slices_end; /* end of the thread's last slice, ns */
};

struct frame_node {
	struct intern_key key; /* number of the parent node, id of the label, 1 for kernel code */
	u32 parent;	       /* number of the parent node; 0: the frame is outermost */
	u32 number;
	struct event_frame frame;
};

struct frame_tree;

int frame_tree_create(struct frame_tree **out); /* -ENOMEM */
void frame_tree_free(struct frame_tree **tree);

/* Sets *number to the node of the innermost frame of the stack; 0: the stack has no frames.
 * -ENOMEM. */
int frame_tree_add(struct frame_tree *tree, const struct event_stack *stack, u32 *number);

/* Calls `each` for all nodes in the order of their numbers, from 1 on. Stops at the first non-zero
 * return and returns it. */
int frame_tree_each(const struct frame_tree *tree,
		    int (*each)(void *arg, const struct frame_node *node), void *arg);

#endif
