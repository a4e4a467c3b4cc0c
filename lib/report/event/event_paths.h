/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The stacks of an event as lists of labels. Equal lists are one object, so stacks of any depth are
 * compared, counted and kept by address. On demand recursion is folded
 * (frame_naming.fold_recursion): a sequence of up to 8 labels that repeats is kept once.
 */
#ifndef LIB_REPORT_EVENT_PATHS_H
#define LIB_REPORT_EVENT_PATHS_H

#include "report/name/frame_names.h"
#include "stack_end.h"

/* The labels of the kernel stack or of the user stack of an event. If the event's leaf (the sampled
 * pc) is on this side, it is the innermost frame. */
struct profile_path {
	u32 id; /* number of the path, from 0 */
	u32 depth;
	const struct stack_end *end;
	/* ids of labels, innermost first; without a stack only the labels of the leaf
	 */
	u32 labels[];
};

struct event_paths;

/* The reader and the names must outlive the paths. */
int event_paths_create(struct trace_reader *reader, struct frame_names *names,
		       struct event_paths **out);
void event_paths_free(struct event_paths **paths);

#define PATH_NO_LEAF UINT32_MAX

/* The key of a leaf for event_paths_find(): leaves with equal labels have the same key.
 * PATH_NO_LEAF: out of memory. */
u32 event_paths_leaf_key(struct event_paths *paths, u64 frame);

/* Prefetches the memory that event_paths_leaf_key() reads for this frame. */
void event_paths_prefetch_leaf(const struct event_paths *paths, u64 frame);

/* The path of one side of an event: its stack or the reason for a missing stack, and the leaf if
 * it is on this side, else PATH_NO_LEAF. The path belongs to `paths`. NULL without memory. */
const struct profile_path *event_paths_find(struct event_paths *paths, u32 stack, u8 reason,
					    u32 leaf);

const struct profile_path *event_paths_by_id(const struct event_paths *paths, u32 id);

#endif
