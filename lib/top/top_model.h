/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What happened between two refreshes of a live view: of each event source the functions and the
 * stacks, with what they weigh. Windows are added, one recording after another, and all of it goes
 * at once: nothing is kept from refresh to refresh but by the next one's own windows.
 *
 * The weight of an event is its value where its source has one with a unit (ns, bytes), else 1. Per
 * source:
 *
 *   weight = sum of all functions' self = sum of all stacks' weights + unlisted
 *
 * Memory is bounded, however long and wild an interval is: labels beyond TOP_LABELS_MAX are one,
 * "[other]", and stacks beyond TOP_STACKS_MAX are unlisted; their functions still count.
 */
#ifndef LIB_TOP_TOP_MODEL_H
#define LIB_TOP_TOP_MODEL_H

#include "intern.h"
#include "report/profile/profile.h"

#define TOP_LABELS_MAX (1U << 18)
#define TOP_STACKS_MAX (1U << 16)

/* Equal labels are one object. */
struct top_label {
	const char *name;
	const char *object; /* "" where there is none */
};

struct top_function {
	struct intern_key identity; /* kind, label */
	u32 kind;
	const struct top_label *label;
	u64 key;   /* tells it again after a refresh */
	u64 self;  /* it was the innermost */
	u64 total; /* it was anywhere in the stack; recursion counts once */
	u64 last_stack;
};

struct top_stack {
	u32 kind;
	char comm[16];
	u64 key;
	u64 weight;
	const struct stack_end *kernel_end, *user_end;
	u32 kernel_depth, depth;	  /* of both together */
	const struct top_label *frames[]; /* innermost first: those of the kernel, then the user's
					   */
};

struct top_source {
	char *name;
	char *unit; /* "" : events are counted */
	u64 weight;
	u64 unlisted;
};

struct top_model {
	struct top_source *sources; /* by kind; they stay when the model is cleared */
	u32 source_count;
	struct intern functions; /* struct top_function */
	struct top_stack **stacks;
	u32 stack_count;
	struct top_index *index;
};

int top_model_create(struct top_model **out); /* -ENOMEM */
void top_model_free(struct top_model **model);

/* One more window; all are of the same capture. `profile` may go then. -ENOMEM: the model is to be
 * cleared. */
int top_model_add(struct top_model *model, const struct trace_reader *reader,
		  const struct profile *profile);

/* Begins the next interval. */
void top_model_clear(struct top_model *model);

/* The source behind `kind` in turn that has events, or `kind` if no other has. */
u32 top_model_next_source(const struct top_model *model, u32 kind);

#endif
