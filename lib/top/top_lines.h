/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A live view as a list of lines, whatever shows them: functions or stacks of one source, heaviest
 * first, one of them unfolded. A function unfolds into its heaviest stacks, a stack into its
 * frames.
 */
#ifndef LIB_TOP_TOP_LINES_H
#define LIB_TOP_TOP_LINES_H

#include "top/top_model.h"

#define TOP_STACKS_OF_FUNCTION 3

enum top_order { TOP_BY_SELF, TOP_BY_TOTAL };

struct top_choice {
	u32 kind;
	bool stacks; /* instead of functions */
	enum top_order order;
	u64 unfolded; /* the key of a function or a stack; 0: none */
};

enum top_line_type {
	TOP_LINE_FUNCTION, /* self, total, text, object */
	TOP_LINE_STACK,	   /* self; text: its innermost function; comm */
	TOP_LINE_PART,	   /* a stack of a function that is unfolded: self, comm */
	TOP_LINE_FRAME,	   /* in_kernel, text, object */
	TOP_LINE_END,	   /* in_kernel; text: why there are no more frames */
};

struct top_line {
	enum top_line_type type;
	u64 key;	    /* of what can be chosen; 0: of a part */
	double self, total; /* percent of the source */
	const char *text, *object;
	const char *comm;
	bool in_kernel;
};

struct top_lines {
	struct top_line *lines;
	u32 count, room;
};

/* Fills `lines` anew; they point into the model. -ENOMEM. */
int top_lines_make(struct top_lines *lines, const struct top_model *model,
		   const struct top_choice *choice);
void top_lines_clear(struct top_lines *lines);

#endif
