/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Lines are sorted at each call: some thousand pointers for each key or refresh. */
#include "top/top_lines.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "format/value_text.h"
#include "order.h"

/* Functions or stacks of one source, heaviest first. */
struct ranking {
	const void **items;
	u32 count;
};

static double percent(u64 part, u64 whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

static int compare_names(const struct top_function *a, const struct top_function *b)
{
	return strcmp(a->label->name, b->label->name) ?: strcmp(a->label->object, b->label->object);
}

static int by_self(const void *a, const void *b)
{
	const struct top_function *left = *(const struct top_function *const *)a;
	const struct top_function *right = *(const struct top_function *const *)b;

	return order(right->self, left->self)
		       ?: order(right->total, left->total) ?: compare_names(left, right);
}

static int by_total(const void *a, const void *b)
{
	const struct top_function *left = *(const struct top_function *const *)a;
	const struct top_function *right = *(const struct top_function *const *)b;

	return order(right->total, left->total)
		       ?: order(right->self, left->self) ?: compare_names(left, right);
}

static int by_weight(const void *a, const void *b)
{
	const struct top_stack *left = *(const struct top_stack *const *)a;
	const struct top_stack *right = *(const struct top_stack *const *)b;

	return order(right->weight, left->weight) ?: order(left->key, right->key);
}

static int rank_functions(const struct top_model *model, const struct top_choice *choice,
			  struct ranking *ranking)
{
	ranking->items = calloc(model->functions.count + 1UL, sizeof(void *));
	if (!ranking->items)
		return -ENOMEM;
	for (u32 i = 0; i < model->functions.count; i++) {
		const struct top_function *function = model->functions.entries[i];

		if (function->kind == choice->kind)
			ranking->items[ranking->count++] = function;
	}
	qsort(ranking->items, ranking->count, sizeof(void *),
	      choice->order == TOP_BY_SELF ? by_self : by_total);
	return 0;
}

static bool has_frame(const struct top_stack *stack, const struct top_label *label)
{
	for (u32 i = 0; i < stack->depth; i++)
		if (stack->frames[i] == label)
			return true;
	return false;
}

/* All stacks of the source, or those that pass through a function. */
static int rank_stacks(const struct top_model *model, u32 kind, const struct top_label *through,
		       struct ranking *ranking)
{
	ranking->items = calloc(model->stack_count + 1UL, sizeof(void *));
	if (!ranking->items)
		return -ENOMEM;
	for (u32 i = 0; i < model->stack_count; i++) {
		const struct top_stack *stack = model->stacks[i];

		if (stack->kind == kind && (!through || has_frame(stack, through)))
			ranking->items[ranking->count++] = stack;
	}
	qsort(ranking->items, ranking->count, sizeof(void *), by_weight);
	return 0;
}

static int append(struct top_lines *lines, struct top_line line)
{
	if (array_make_room(lines->lines, lines->count, lines->room))
		return -ENOMEM;
	lines->lines[lines->count++] = line;
	return 0;
}

static int append_end(struct top_lines *lines, const struct stack_end *end, bool in_kernel)
{
	return append(lines, (struct top_line){.type = TOP_LINE_END,
					       .text = end->marker,
					       .object = end->meaning,
					       .in_kernel = in_kernel});
}

/* An end that is not a cut has a line only if the stack has no other line. */
static int append_frames(struct top_lines *lines, const struct top_stack *stack)
{
	int err = 0;

	for (u32 i = 0; i < stack->depth && !err; i++) {
		if (i == stack->kernel_depth && stack_end_is_cut(stack->kernel_end))
			err = append_end(lines, stack->kernel_end, true);
		err = err
			      ?: append(lines,
					(struct top_line){.type = TOP_LINE_FRAME,
							  .text = stack->frames[i]->name,
							  .object = stack->frames[i]->object,
							  .in_kernel = i < stack->kernel_depth});
	}
	if (!err && stack->depth == stack->kernel_depth && stack_end_is_cut(stack->kernel_end))
		err = append_end(lines, stack->kernel_end, true);
	if (!err && (!stack->depth || stack_end_is_cut(stack->user_end)))
		err = append_end(lines, stack->user_end, false);
	return err;
}

static int append_values_line(void *arg, const char *line)
{
	struct top_lines *lines = arg;
	const char *text = arena_string(&lines->texts, line);

	return text ? append(lines,
			     (struct top_line){.type = TOP_LINE_VALUES, .text = text, .object = ""})
		    : -ENOMEM;
}

/* Appends the lines of a histogram, and clears `values`. */
static int append_values(struct top_lines *lines, const struct top_model *model,
			 const struct top_choice *choice, struct distribution *values)
{
	char rounded[96];
	int err = 0;

	distribution_sort(values);
	if (values->count)
		err = histogram_text(values, choice->scale, model->sources[choice->kind].unit,
				     append_values_line, lines);
	if (values->count && !err && model->value_digits < DISTRIBUTION_DIGITS_EXACT) {
		snprintf(rounded, sizeof(rounded),
			 "too many different values: rounded down to %u binary digit%s",
			 model->value_digits, model->value_digits == 1 ? "" : "s");
		err = append_values_line(lines, rounded);
	}
	distribution_clear(values);
	return err;
}

/* True if the label is a stack's innermost function, or the end marker of a stack without frames.
 */
static bool is_innermost(const struct top_stack *stack, const struct top_label *label)
{
	return stack->depth ? stack->frames[0] == label
			    : !strcmp(stack->user_end->marker, label->name) && !label->object[0];
}

/* Appends the values of the events with the function innermost; in the order by total, of the
 * events with the function anywhere. */
static int append_function_values(struct top_lines *lines, const struct top_model *model,
				  const struct top_choice *choice,
				  const struct top_function *function)
{
	struct distribution values = {};
	int err = 0;

	for (u32 i = 0; i < model->stack_count && !err; i++) {
		const struct top_stack *stack = model->stacks[i];

		if (stack->kind != function->kind)
			continue;
		if (is_innermost(stack, function->label) ||
		    (choice->order == TOP_BY_TOTAL && has_frame(stack, function->label)))
			err = distribution_merge(&values, &stack->values);
	}
	if (!err)
		return append_values(lines, model, choice, &values);
	distribution_clear(&values);
	return err;
}

static int append_stack_values(struct top_lines *lines, const struct top_model *model,
			       const struct top_choice *choice, const struct top_stack *stack)
{
	struct distribution values = {};
	int err = distribution_merge(&values, &stack->values);

	if (!err)
		return append_values(lines, model, choice, &values);
	distribution_clear(&values);
	return err;
}

static int append_part(struct top_lines *lines, const struct top_model *model,
		       const struct top_stack *stack)
{
	const struct top_source *source = &model->sources[stack->kind];
	const struct top_line head = {
		.type = TOP_LINE_PART,
		.self = percent(stack->weight, source->weight),
		.text = "",
		.object = "",
		.comm = stack->comm,
	};

	return append(lines, head) ?: append_frames(lines, stack);
}

/* An unfolded function is followed by its heaviest stacks. */
static int append_function(struct top_lines *lines, const struct top_model *model,
			   const struct top_choice *choice, const struct top_function *function,
			   bool is_first)
{
	bool is_unfolded = function->key == choice->unfolded;
	u64 whole = model->sources[function->kind].weight;
	const struct top_line line = {
		.type = TOP_LINE_FUNCTION,
		.key = function->key,
		.self = percent(function->self, whole),
		.total = percent(function->total, whole),
		.text = function->label->name,
		.object = function->label->object,
	};
	struct ranking ranking = {};
	int err = append(lines, line);

	if (!err && choice->histograms && (is_first || is_unfolded))
		err = append_function_values(lines, model, choice, function);
	if (err || !is_unfolded)
		return err;
	err = rank_stacks(model, function->kind, function->label, &ranking);
	for (u32 i = 0; i < ranking.count && i < TOP_STACKS_OF_FUNCTION && !err; i++)
		err = append_part(lines, model, ranking.items[i]);
	free(ranking.items);
	return err;
}

static int append_stack(struct top_lines *lines, const struct top_model *model,
			const struct top_choice *choice, const struct top_stack *stack,
			bool is_first)
{
	bool is_unfolded = stack->key == choice->unfolded;
	const struct top_line line = {
		.type = TOP_LINE_STACK,
		.key = stack->key,
		.self = percent(stack->weight, model->sources[stack->kind].weight),
		.text = stack->depth ? stack->frames[0]->name : stack->user_end->marker,
		.object = stack->depth ? stack->frames[0]->object : "",
		.comm = stack->comm,
	};
	int err = append(lines, line);

	if (!err && choice->histograms && (is_first || is_unfolded))
		err = append_stack_values(lines, model, choice, stack);
	if (!err && is_unfolded)
		err = append_frames(lines, stack);
	return err;
}

int top_lines_make(struct top_lines *lines, const struct top_model *model,
		   const struct top_choice *choice)
{
	struct ranking ranking = {};
	int err = choice->stacks ? rank_stacks(model, choice->kind, NULL, &ranking)
				 : rank_functions(model, choice, &ranking);

	lines->count = 0;
	arena_free(&lines->texts);
	lines->texts = (struct arena){.limit = UINT64_MAX};
	for (u32 i = 0; i < ranking.count && !err; i++) {
		bool is_first = i < choice->histograms_first;

		err = choice->stacks
			      ? append_stack(lines, model, choice, ranking.items[i], is_first)
			      : append_function(lines, model, choice, ranking.items[i], is_first);
	}
	free(ranking.items);
	return err;
}

void top_lines_clear(struct top_lines *lines)
{
	arena_free(&lines->texts);
	free(lines->lines);
	*lines = (struct top_lines){0};
}
