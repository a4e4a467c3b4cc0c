/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The events between two refreshes of a live view: for each event source the functions and stacks
 * with their weights. Windows are added, one recording after another, and all are cleared together
 * at a refresh.
 *
 * The weight of an event is its value if its source has a value with a unit (ns, bytes), else 1.
 * For each source:
 *
 *    weight = sum of all functions' self = sum of all stacks' weights + unlisted
 *
 * Memory is bounded for an interval of any length: labels beyond TOP_LABELS_MAX become one label,
 * "[other]", and stacks beyond TOP_STACKS_MAX are unlisted; their functions still count.
 *
 * With values (profiles read with EVENTS_WITH_VALUES) each listed stack has the values of its
 * events. The values are exact as long as the stacks together have at most TOP_VALUES_MAX / 2
 * different ones. Beyond that all may be rounded (distribution_round()), to fewer digits each time.
 */
#ifndef LIB_TOP_TOP_MODEL_H
#define LIB_TOP_TOP_MODEL_H

#include "intern.h"
#include "report/profile/profile.h"

#define TOP_LABELS_MAX (1U << 18)
#define TOP_STACKS_MAX (1U << 16)
#define TOP_VALUES_MAX (1U << 20)

/* Equal labels are one object. */
struct top_label {
	const char *name;
	const char *object; /* "": unknown */
};

struct top_function {
	struct intern_key identity; /* kind, label */
	u32 kind;
	const struct top_label *label;
	u64 key;   /* identifies the function after a refresh */
	u64 self;  /* weight of the stacks with it innermost */
	u64 total; /* weight of the stacks with it anywhere; recursion counts once */
	u64 last_stack;
};

struct top_stack {
	u32 kind;
	char comm[16];
	u64 key;
	u64 weight;
	struct distribution values; /* empty if the source has none, or none were read */
	const struct stack_end *kernel_end, *user_end;
	u32 kernel_depth, depth;	  /* frames of both sides */
	const struct top_label *frames[]; /* innermost first: kernel frames, then user frames */
};

struct top_source {
	char *name;
	char *unit;	 /* "" : events are counted */
	bool has_values; /* values are added up and compared, unlike addresses */
	u64 weight;
	u64 unlisted;
};

struct top_model {
	struct top_source *sources; /* by kind; kept when the model is cleared */
	u32 source_count;
	struct intern functions; /* struct top_function */
	struct top_stack **stacks;
	u32 stack_count;
	u32 value_digits; /* significant binary digits of the values; DISTRIBUTION_DIGITS_EXACT: all
			   */
	struct top_index *index;
};

int top_model_create(struct top_model **out); /* -ENOMEM */
void top_model_free(struct top_model **model);

/* Adds a window; all windows are of one capture. `profile` may be freed afterwards. -ENOMEM: the
 * model must be cleared. */
int top_model_add(struct top_model *model, const struct trace_reader *reader,
		  const struct profile *profile);

/* Clears the model for the next interval. */
void top_model_clear(struct top_model *model);

/* The next source with events after `kind`, cyclically; `kind` if no other source has events. */
u32 top_model_next_source(const struct top_model *model, u32 kind);

/*
 * A live view as a list of lines, independent of the display: functions or stacks of one source,
 * heaviest first, one of them unfolded. A function unfolds into its heaviest stacks, a stack into
 * its frames. A histogram of the values of its events may come before these lines.
 */

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
