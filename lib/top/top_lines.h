/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A live view as a list of lines, independent of the display: functions or stacks of one source,
 * heaviest first, one of them unfolded. A function unfolds into its heaviest stacks, a stack into
 * its frames. A histogram of the values of its events may come before these lines.
 */
#ifndef LIB_TOP_TOP_LINES_H
#define LIB_TOP_TOP_LINES_H

#include "top/top_model.h"

#define TOP_STACKS_OF_FUNCTION 3

enum top_order { TOP_BY_SELF, TOP_BY_TOTAL };

struct top_choice {
	u32 kind;
	bool stacks; /* lists stacks, not functions */
	enum top_order order;
	u64 unfolded;	      /* key of the unfolded function or stack; 0: all are folded */
	bool histograms;      /* the unfolded line and the first lines have a histogram */
	u32 histograms_first; /* number of first lines that have one, folded or not */
	enum histogram_scale scale;
};

enum top_line_type {
	TOP_LINE_FUNCTION, /* self, total, text, object */
	TOP_LINE_STACK,	   /* self; text: its innermost function; comm */
	TOP_LINE_PART,	   /* a stack of the unfolded function: self, comm */
	TOP_LINE_FRAME,	   /* in_kernel, text, object */
	TOP_LINE_END,	   /* in_kernel; text: marker of the end of the stack */
	TOP_LINE_VALUES,   /* text: a line of a histogram */
};

struct top_line {
	enum top_line_type type;
	u64 key;	    /* of a function or stack; 0: a part */
	double self, total; /* percent of the source */
	const char *text, *object;
	const char *comm;
	bool in_kernel;
};

struct top_lines {
	struct top_line *lines;
	u32 count, room;
	struct arena texts; /* of histograms */
};

/* Replaces the lines, which point into the model and into `lines`. -ENOMEM. */
int top_lines_make(struct top_lines *lines, const struct top_model *model,
		   const struct top_choice *choice);
void top_lines_clear(struct top_lines *lines);

#endif
