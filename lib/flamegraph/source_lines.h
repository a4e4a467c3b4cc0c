/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Source lines of the frames of a flame graph, with the number of events that have the line on
 * their stack. A frame of the graph is a function, so a frame has many lines: where the function
 * ran, and where the function called other functions.
 *
 * Events are first counted by stack and leaf, so the line of each distinct address is looked up
 * once.
 */
#ifndef LIB_FLAMEGRAPH_SOURCE_LINES_H
#define LIB_FLAMEGRAPH_SOURCE_LINES_H

#include "flamegraph/stack_tree.h"
#include "trace/read/reader.h"

/* The most lines of one frame that the page shows, and the most lines of all frames. Frames with
 * most events come first. */
#define LINES_OF_FRAME_MAX 4
#define LINES_MAX 16384U

struct source_line {
	struct intern_key key; /* the key of a line: frame, file, line */
	const struct tree_frame *frame;
	/* path of the source file; NULL: the item is the sum of the frame's other lines, and `line`
	 * is their number */
	const char *file;
	u32 line;
	u64 count;
	u64 whole; /* while lines are chosen: sum of `count` of all lines of the frame */
};

struct source_lines {
	struct text_set files;
	struct intern lines;

	/* The lines to show, which source_lines_choose() sets: sorted by frame, the line with most
	 * events first. */
	struct text_set shown_files;
	struct source_line *shown;
	u32 shown_count;
};

void source_lines_init(struct source_lines *lines);
void source_lines_clear(struct source_lines *lines);

/* Adds `count` events to a source line of the frame. -ENOMEM. */
int source_lines_add(struct source_lines *lines, const struct tree_frame *frame, const char *file,
		     u32 line, u64 count);

/* Chooses the lines that the page shows. Called once, after stack_tree_sort(). -ENOMEM. */
int source_lines_choose(struct source_lines *lines);

/* Counts, for each address, how many events have it as leaf or on their stacks. */

struct address_counts;

int address_counts_create(struct trace_reader *reader, struct address_counts **out); /* -ENOMEM */
void address_counts_free(struct address_counts **counts);
int address_counts_add(struct address_counts *counts, const struct trace_event *event,
		       u64 events); /* -ENOMEM */

/* Calls `each` for all addresses that events have. Stops at the first non-zero return and returns
 * it; -ENOMEM. */
int address_counts_each(struct address_counts *counts,
			int (*each)(void *arg, u64 frame, bool return_address, u64 events),
			void *arg);

#endif
