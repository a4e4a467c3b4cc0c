/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Source lines of the frames of a flame graph, by how often events have them on their stacks. A
 * frame of the graph is a function, so it stands for many lines: where the function ran, and where
 * it called others.
 *
 * Events are counted by stack and leaf, and lines are found once for each distinct address.
 */
#ifndef LIB_FLAMEGRAPH_SOURCE_LINES_H
#define LIB_FLAMEGRAPH_SOURCE_LINES_H

#include "flamegraph/stack_tree.h"
#include "trace/read/reader.h"

/* The most lines of one frame that the page shows, and the most of all frames; frames with most
 * events come first. */
#define LINES_OF_FRAME_MAX 4
#define LINES_MAX 16384U

struct source_line {
	struct intern_key key; /* frame, file, line */
	const struct tree_frame *frame;
	const char *file; /* NULL: all lines of the frame that are left out, `line` of them */
	u32 line;
	u64 count;
	u64 whole; /* of all lines of the frame, while lines are chosen */
};

struct source_lines {
	struct text_set files;
	struct intern lines;

	/* Set by source_lines_choose(): by frame, most events first. */
	struct text_set shown_files;
	struct source_line *shown;
	u32 shown_count;
};

void source_lines_begin(struct source_lines *lines);
void source_lines_clear(struct source_lines *lines);

/* -ENOMEM. */
int source_lines_add(struct source_lines *lines, const struct tree_frame *frame, const char *file,
		     u32 line, u64 count);

/* Called once, when the frames have their numbers: chooses the lines that the page has. -ENOMEM. */
int source_lines_choose(struct source_lines *lines);

/* Counts the addresses of events. */

struct address_counts;

int address_counts_create(struct trace_reader *reader, struct address_counts **out); /* -ENOMEM */
void address_counts_free(struct address_counts **counts);
int address_counts_add(struct address_counts *counts, const struct trace_event *event,
		       u64 events); /* -ENOMEM */

/* Calls `each` for all addresses. Stops at the first non-zero return and returns it; -ENOMEM. */
int address_counts_each(struct address_counts *counts,
			int (*each)(void *arg, u64 frame, bool return_address, u64 events),
			void *arg);

#endif
