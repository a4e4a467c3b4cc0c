/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The members of a flame graph, for flamegraph.c, which fills it, and page_write.c, which writes
 * it. */
#ifndef LIB_FLAMEGRAPH_GRAPH_H
#define LIB_FLAMEGRAPH_GRAPH_H

#include "array.h"
#include "flamegraph/source_lines.h"
#include "flamegraph/stack_tree.h"
#include "flamegraph/thread_waits.h"
#include "flamegraph/time_cells.h"
#include "trace/read/reader.h"

struct frame_naming;

#define THREAD_COMM_WORDS 2

/* A thread with one name: a thread that exec renames is another graph_thread. */
struct graph_thread {
	struct intern_key key; /* pid and tid, name */
	u32 pid, tid;	       /* 0: not known */
	char comm[8 * THREAD_COMM_WORDS];
	struct tree_node *node; /* root of its stacks in the tree */
	u32 number;
	bool is_joined; /* its events are counted in another (flamegraph.c) */
};

/* The thread that stands for others of its name; the kernel has no such number. */
#define TID_OTHERS 0xfffffffeU

struct graph_source {
	const char *name;
	const char *unit; /* "": events have no value */
};

struct graph_recording {
	char *name;
	struct trace_reader *reader;
	struct time_cells cells;
	struct time_cells counts;   /* of events without a time, in one bucket */
	struct thread_waits waits;  /* none in a comparison */
	struct queued_works works;  /* none in a comparison */
	struct stack_values values; /* none in a comparison */
	u64 events;
	u64 last; /* time of the last event; the first is at the origin of the cells */
};

struct flamegraph {
	const struct frame_naming *naming;
	struct string_list idle; /* of the caller */
	struct stack_tree tree;
	struct source_lines lines; /* of all recordings */
	struct intern threads;
	struct graph_source *sources; /* sources that have events, of all recordings */
	u32 source_count, source_room;
	struct graph_recording *recordings; /* as many as flamegraph_create() was told */
	u32 recording_count;
};

/* The two parts of the page around the data. The build makes them from the files in page/. */
extern const char page_before_data[];
extern const char page_after_data[];

#endif
