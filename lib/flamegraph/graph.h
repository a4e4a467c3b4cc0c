/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a flame graph consists of, for those who fill it and those who write it. */
#ifndef LIB_FLAMEGRAPH_GRAPH_H
#define LIB_FLAMEGRAPH_GRAPH_H

#include "flamegraph/flamegraph.h"
#include "flamegraph/stack_tree.h"
#include "flamegraph/time_cells.h"

#define THREAD_COMM_WORDS 2

/* A thread under one name: exec makes it another. */
struct graph_thread {
	struct intern_key key; /* pid and tid, name */
	u32 pid, tid;	       /* 0: not known */
	char comm[8 * THREAD_COMM_WORDS];
	struct tree_node *node; /* where its stacks begin */
	u32 number;
};

struct graph_source {
	const char *name;
	const char *unit; /* "" without a value */
};

struct graph_recording {
	char *name;
	struct trace_reader *reader;
	struct time_cells cells;
	u64 events;
	u64 last; /* time of the last event; the first is at the origin of the cells */
};

struct flamegraph {
	const struct frame_naming *naming;
	struct stack_tree tree;
	struct intern threads;
	struct graph_source *sources; /* those that have events */
	u32 source_count, source_room;
	struct graph_recording recordings[FLAMEGRAPH_RECORDINGS_MAX];
	u32 recording_count;
};

#endif
