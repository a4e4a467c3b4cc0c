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

#endif
