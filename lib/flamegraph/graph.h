/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The members of a flame graph, for flamegraph.c, which fills the graph, and page_write.c, which
 * writes the graph as a page. */
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
	struct intern_key key; /* key of the thread: pid and tid, name */
	u32 pid, tid;	       /* ids of process and thread; 0: not known */
	char comm[8 * THREAD_COMM_WORDS];
	/* the node of the tree that has the thread's name, with which all stacks of the thread
	 * begin */
	struct tree_node *node;
	u32 number;
	/* later events of the thread are counted in the thread TID_OTHERS of the same name */
	bool is_joined;
};

/* The tid of a graph_thread that stands for several threads of one name; no thread of the kernel
 * has this tid. */
#define TID_OTHERS 0xfffffffeU

struct graph_source {
	const char *name;
	const char *unit; /* unit of the source's values; "": its events have no values */
};

struct graph_recording {
	char *name;
	struct trace_reader *reader;
	struct time_cells cells;
	struct time_cells counts;  /* counts of events that have no time; all are in one bucket */
	struct thread_waits waits; /* single waits of threads; none in a comparison */
	struct queued_works works; /* sums of queued work; none in a comparison */
	/* values of single events, by stack and source; none in a comparison */
	struct stack_values values;
	u64 events;
	u64 last; /* time of the last event; that of the first event is cells.origin */
};

struct flamegraph {
	const struct frame_naming *naming;
	struct string_list idle; /* globs of functions in which a thread is idle; the list belongs
				    to the caller */
	struct stack_tree tree;
	struct source_lines lines; /* source lines of all recordings */
	struct intern threads;
	struct graph_source *sources; /* sources that have events, of all recordings */
	u32 source_count, source_room;
	/* The recordings; the array has room for the number that was given to flamegraph_create().
	 */
	struct graph_recording *recordings;
	u32 recording_count;
};

/* The two parts of the page around the data. The build makes them from the files in page/. */
extern const char page_before_data[];
extern const char page_after_data[];

#endif
