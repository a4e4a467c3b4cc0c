/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The events between two refreshes of a live view: for each event source the functions and stacks
 * with their weights. The events come in windows (short recordings), which are added one after
 * another and are all cleared at a refresh.
 *
 * The weight of an event is its value if its source has a value with a unit (ns, bytes), else 1.
 * For each source:
 *
 *    weight = sum of all functions' self = sum of all stacks' weights + unlisted
 *           = sum of all traces' self, with profiles that are split by EVENTS_BY_TRACE; and the
 *             same for the values of an attribute, with EVENTS_BY_ATTRIBUTES
 *
 * Stacks of two traces are two stacks.
 *
 * Memory is bounded for an interval of any length: labels beyond TOP_LABELS_MAX become one label,
 * "[other]", and stacks beyond TOP_STACKS_MAX are unlisted; their functions still count.
 *
 * With values (profiles read with EVENTS_WITH_VALUES) each listed stack has the values of its
 * events. The values are exact as long as the stacks together have at most TOP_VALUES_MAX / 2
 * different values. If there are more, all values may be rounded (distribution_round()), to fewer
 * digits each time.
 */
#ifndef LIB_TOP_TOP_MODEL_H
#define LIB_TOP_TOP_MODEL_H

#include "intern.h"
#include "report/profile/profile.h"

#define TOP_LABELS_MAX (1U << 18)
#define TOP_STACKS_MAX (1U << 16)
#define TOP_VALUES_MAX (1U << 20)

/* A label of functions. Equal labels are one object. */
struct top_label {
	const char *name;
	const char *object; /* object that has the code; "": unknown */
};

struct top_function {
	struct intern_key identity; /* the key of a function: kind, label */
	u32 kind;
	const struct top_label *label;
	u64 key;   /* number that identifies the function, also after a refresh */
	u64 self;  /* weight of the stacks that have the function as innermost frame */
	u64 total; /* weight of the stacks that have the function as any frame; each stack counts
		      once */
	u64 last_stack;
};

/* A trace, or the value of an attribute, is counted as a function that is on all stacks of its
 * events: `self` and `total` are equal, the name is the id or the value, or TOP_NO_TRACE. */
#define TOP_NO_TRACE "-"

struct top_stack {
	u32 kind;
	char comm[16];
	u64 key;
	u64 weight;
	const struct top_label *trace; /* NULL: the profile was not split by trace or attribute */
	/* empty if events of the source have no values, or values were not read */
	struct distribution values;
	const struct stack_end *kernel_end, *user_end;
	/* number of kernel frames, and number of all frames */
	u32 kernel_depth, depth;
	const struct top_label *frames[]; /* labels of the frames, innermost first: kernel frames,
					     then user frames */
};

struct top_source {
	char *name;
	char *unit; /* unit of the weights; "": the weight of a stack is its number of events */
	bool has_values; /* the values may be added up and compared, unlike addresses */
	u64 weight;
	u64 unlisted;
};

struct top_model {
	/* Sources of the model, by event kind; top_model_clear() keeps them. */
	struct top_source *sources;
	u32 source_count;
	struct intern functions; /* functions of the model: struct top_function */
	struct intern traces;  /* struct top_function of each trace or value of the attribute; empty
				  if  profiles are not split by these */
	const char *attribute; /* name of the attribute, set by the caller for EVENTS_BY_ATTRIBUTES
				*/
	struct top_stack **stacks;
	u32 stack_count;
	/* significant binary digits of the values; DISTRIBUTION_DIGITS_EXACT: values are exact */
	u32 value_digits;
	bool has_aggregates; /* true: counted events of the windows are grouped by powers of two of
				their values (trace_info.has_aggregates), so histograms get a note
			      */
	struct top_index *index;
};

int top_model_create(struct top_model **out); /* -ENOMEM */
void top_model_free(struct top_model **model);

/* Adds a window to the model; all windows are of one capture. `profile` may be freed afterwards.
 * -ENOMEM: the model must be cleared. */
int top_model_add(struct top_model *model, const struct trace_reader *reader,
		  const struct profile *profile);

/* Clears the model for the next interval. */
void top_model_clear(struct top_model *model);

/* Returns the next source after `kind` that has events, cyclically; `kind` if no other source has
 * events. */
u32 top_model_next_source(const struct top_model *model, u32 kind);

/*
 * A live view as a list of lines, independent of the display: functions, traces or stacks of one
 * source, heaviest first. One of them may be unfolded: the line of a function or trace is followed
 * by the lines of its heaviest stacks, the line of a stack by the lines of its frames. A histogram
 * of the values of its events may come before these lines.
 */

#define TOP_STACKS_OF_FUNCTION 3

enum top_order {
	TOP_BY_SELF,
	TOP_BY_TOTAL,
	TOP_BY_TRACE, /* traces, or values of the attribute, instead of functions */
};

struct top_choice {
	u32 kind;
	bool stacks; /* true: the view lists stacks; false: it lists functions or traces */
	enum top_order order;
	u64 unfolded;	 /* key of the unfolded function, trace or stack; 0: all are folded */
	bool histograms; /* the unfolded line and the lines at the top get a histogram */
	/* number of lines at the top that get a histogram, folded or not */
	u32 histograms_first;
	enum histogram_scale scale;
};

enum top_line_type {
	TOP_LINE_FUNCTION, /* a function in the list; it has `self`, `total`, `text` and `object` */
	TOP_LINE_TRACE, /* a trace or value of the attribute; it has `self`, and its id as `text` */
	/* a stack in the list; it has `self`, its innermost function as `text`, `comm` and `trace`
	 */
	TOP_LINE_STACK,
	TOP_LINE_PART,	/* a stack of the unfolded function or trace; it has `self` and `comm` */
	TOP_LINE_FRAME, /* a frame of the unfolded stack; it has `in_kernel`, `text` and `object` */
	TOP_LINE_END,	/* an end with missing frames; set are in_kernel and text (the marker of the
			   end) */
	TOP_LINE_VALUES, /* a line of a histogram, which is in text */
};

struct top_line {
	enum top_line_type type;
	u64 key; /* key of the function, trace or stack of the line; 0: the line is part of an
		    unfolded function, trace or stack */
	double self, total; /* percent of the source's weight */
	const char *text, *object;
	const char *comm;
	const char *trace; /* trace id of the stack; NULL: stacks are not split by trace */
	bool in_kernel;
};

struct top_lines {
	struct top_line *lines;
	u32 count, room;
	struct arena texts; /* memory of the texts of histogram lines */
};

/* Makes the lines of the view anew; they point into the model and into `lines`. -ENOMEM. */
int top_lines_make(struct top_lines *lines, const struct top_model *model,
		   const struct top_choice *choice);
void top_lines_clear(struct top_lines *lines);

#endif
