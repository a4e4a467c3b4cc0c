/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Labels, functions and stacks are in the order of first use. The label ids of a window have no
 * meaning in the next window, so labels are compared by their texts. */
#include "top/top_model.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "format/value_text.h"
#include "order.h"
#include "report/name/process_attributes.h"

#define FNV_BASIS 14695981039346656037ULL
#define FNV_PRIME 1099511628211ULL

struct top_index {
	struct arena texts; /* the labels of the model, and their texts */
	const struct top_label **labels;
	struct hash_index label_index, stack_index;
	u64 stacks_added; /* number of rows of all windows that were added so far */
	u32 label_room, stack_room, source_room;
};

static bool is_same_label(const void *labels, u32 index, const void *key)
{
	const struct top_label *label = ((const struct top_label *const *)labels)[index];
	const struct top_label *wanted = key;

	return strcmp(label->name, wanted->name) == 0 && strcmp(label->object, wanted->object) == 0;
}

static bool is_same_stack(const void *stacks, u32 index, const void *key)
{
	const struct top_stack *stack = ((const struct top_stack *const *)stacks)[index];
	const struct top_stack *wanted = key;

	return stack->kind == wanted->kind && stack->trace == wanted->trace &&
	       strcmp(stack->comm, wanted->comm) == 0 && stack->depth == wanted->depth &&
	       stack->kernel_depth == wanted->kernel_depth &&
	       stack->kernel_end == wanted->kernel_end && stack->user_end == wanted->user_end &&
	       memcmp(stack->frames, wanted->frames, stack->depth * sizeof(*stack->frames)) == 0;
}

/* The hash function is FNV-1a (Fowler, Noll, Vo). */
static u64 hash_text_fnv(u64 hash, const char *text)
{
	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * FNV_PRIME;
	return hash * FNV_PRIME;
}

static u64 hash_label(u64 hash, const struct top_label *label)
{
	return hash_text_fnv(hash_text_fnv(hash, label->name), label->object);
}

/* Returns the label with these texts, which is added if it is new; "[other]" if there are too many.
 * NULL: no memory. */
static const struct top_label *find_or_add_label(struct top_index *index, const char *name,
						 const char *object)
{
	static const struct top_label other = {"[other]", ""};
	const struct top_label key = {name, object ?: ""};
	u32 hash = hash_end(hash_word(hash_text(key.name), hash_text(key.object)));
	u32 found = hash_index_find(&index->label_index, hash, is_same_label, index->labels, &key);
	u32 count = index->label_index.count;
	struct top_label *label;

	if (found != HASH_INDEX_NONE)
		return index->labels[found];
	if (count >= TOP_LABELS_MAX)
		return &other;
	label = arena_alloc(&index->texts, sizeof(*label));
	if (!label || array_make_room(index->labels, count, index->label_room))
		return NULL;
	label->name = arena_string(&index->texts, key.name);
	label->object = arena_string(&index->texts, key.object);
	if (!label->name || !label->object || hash_index_add(&index->label_index, hash, count))
		return NULL;
	return index->labels[count] = label;
}

static int add_stack_to_counts_of_label(struct top_model *model, struct intern *functions,
					const struct top_stack *stack,
					const struct top_label *label, bool innermost)
{
	const struct intern_key identity = {{stack->kind, intern_word_of_address(label)}};
	struct top_function *function = intern_find_or_add_entry(functions, &identity);

	if (!function)
		return -ENOMEM;
	if (!function->key) {
		function->kind = stack->kind;
		function->label = label;
		function->key = hash_label(FNV_BASIS, label) ?: 1;
	}
	if (innermost)
		function->self += stack->weight;
	if (function->last_stack != model->index->stacks_added)
		function->total += stack->weight;
	function->last_stack = model->index->stacks_added;
	return 0;
}

/* Counts the functions of a stack, and its trace. A stack without frames counts as a function whose
 * name is the marker of the reason. */
static int add_stack_to_counts_of_functions(struct top_model *model, const struct top_stack *stack)
{
	const struct top_label *none;
	int err = 0;

	model->index->stacks_added++;
	if (stack->trace)
		err = add_stack_to_counts_of_label(model, &model->traces, stack, stack->trace,
						   true);
	for (u32 i = 0; i < stack->depth && !err; i++)
		err = add_stack_to_counts_of_label(model, &model->functions, stack,
						   stack->frames[i], i == 0);
	if (stack->depth || err)
		return err;
	none = find_or_add_label(model->index, stack->user_end->marker, NULL);
	return none ? add_stack_to_counts_of_label(model, &model->functions, stack, none, true)
		    : -ENOMEM;
}

static void free_stack(struct top_stack *stack)
{
	if (stack)
		distribution_clear(&stack->values);
	free(stack);
}

/* Adds a new stack to the model, or adds the weight of a known stack and frees `stack`. */
static int add_or_merge_stack(struct top_model *model, struct top_stack *stack)
{
	int err = 0;
	u64 identity = hash_word(hash_text(stack->comm), stack->kind);
	u32 hash, found;

	identity = hash_word(identity, intern_word_of_address(stack->kernel_end));
	identity = hash_word(identity, intern_word_of_address(stack->user_end));
	identity = hash_word(identity, intern_word_of_address(stack->trace));
	hash = hash_end(hash_words(identity, stack->frames, stack->depth * sizeof(*stack->frames)));
	found = hash_index_find(&model->index->stack_index, hash, is_same_stack, model->stacks,
				stack);
	if (found == HASH_INDEX_NONE && model->stack_count < TOP_STACKS_MAX) {
		struct top_index *index = model->index;

		if (array_make_room(model->stacks, model->stack_count, index->stack_room) ||
		    hash_index_add(&index->stack_index, hash, model->stack_count)) {
			free_stack(stack);
			return -ENOMEM;
		}
		stack->key = hash_text_fnv(FNV_BASIS, stack->comm);
		if (stack->trace)
			stack->key = hash_label(stack->key, stack->trace);
		for (u32 i = 0; i < stack->depth; i++)
			stack->key = hash_label(stack->key, stack->frames[i]);
		stack->key = stack->key ?: 1;
		model->stacks[model->stack_count++] = stack;
		return 0;
	}
	if (found != HASH_INDEX_NONE) {
		model->stacks[found]->weight += stack->weight;
		err = distribution_merge(&model->stacks[found]->values, &stack->values);
	} else {
		model->sources[stack->kind].unlisted += stack->weight;
	}
	free_stack(stack);
	return err;
}

/* The state of adding a window to the model. */
struct window {
	struct top_model *model;
	const struct trace_reader *reader;
	const struct profile *profile;
	/* labels of the attribute, since reading it takes long (attribute_numbers_slot()) */
	struct {
		struct attribute_numbers from; /* all 0: the slot is free */
		const struct top_label *label;
	} attributes[256];
	struct kept_process kept;
	const struct top_label *
		/* by id of a label in the profile: the label in the model; NULL: not looked up
		 * yet */
		*labels;
	u32 room;
};

static int set_labels_of_path_frames(struct window *window, const struct profile_path *path,
				     const struct top_label **frames)
{
	const struct frame_names *names = window->profile->names;

	for (u32 i = 0; i < path->depth; i++) {
		u32 id = path->labels[i];

		if (array_make_zeroed(window->labels, id + 1UL, window->room))
			return -ENOMEM;
		if (!window->labels[id])
			window->labels[id] = find_or_add_label(window->model->index,
							       frame_names_label(names, id),
							       frame_names_label_object(names, id));
		frames[i] = window->labels[id];
		if (!frames[i])
			return -ENOMEM;
	}
	return 0;
}

static const struct top_label *find_trace_label(struct window *window,
						const struct profile_row *row)
{
	return find_or_add_label(window->model->index,
				 row->trace == PROFILE_NO_LABEL
					 ? TOP_NO_TRACE
					 : frame_names_label(window->profile->names, row->trace),
				 NULL);
}

static const struct top_label *find_attribute_label(struct window *window,
						    const struct profile_row *row)
{
	u32 slots = sizeof(window->attributes) / sizeof(*window->attributes);
	u32 slot = attribute_numbers_slot(row->attributes, slots);
	const struct top_label *label = NULL;
	struct process_attributes published;

	if (!row->attributes.process)
		return find_or_add_label(window->model->index, TOP_NO_TRACE, NULL);
	if (!memcmp(&window->attributes[slot].from, &row->attributes, sizeof(row->attributes)))
		return window->attributes[slot].label;
	if (!event_attributes_read(&window->kept, window->reader, row->attributes, &published))
		label = find_or_add_label(
			window->model->index,
			process_attributes_find(&published, window->model->attribute)
				?: TOP_NO_TRACE,
			NULL);
	process_attributes_clear(&published);
	window->attributes[slot].from = row->attributes;
	window->attributes[slot].label = label;
	return label;
}

static struct top_stack *create_stack(struct window *window, const struct profile_row *row)
{
	const struct profile *profile = window->profile;
	u32 depth = row->kernel->depth + row->user->depth;
	struct top_stack *stack = calloc(1, sizeof(*stack) + depth * sizeof(*stack->frames));

	if (!stack)
		return NULL;
	if (profile->split & (EVENTS_BY_TRACE | EVENTS_BY_ATTRIBUTES)) {
		stack->trace = profile->split & EVENTS_BY_TRACE ? find_trace_label(window, row)
								: find_attribute_label(window, row);
		if (!stack->trace) {
			free_stack(stack);
			return NULL;
		}
	}
	stack->kind = row->kind;
	memcpy(stack->comm, row->comm, sizeof(stack->comm));
	stack->weight = window->model->sources[row->kind].unit[0] ? row->value : row->count;
	stack->kernel_end = row->kernel->end;
	stack->user_end = row->user->end;
	stack->kernel_depth = row->kernel->depth;
	stack->depth = depth;
	if (!set_labels_of_path_frames(window, row->kernel, stack->frames) &&
	    !set_labels_of_path_frames(window, row->user, stack->frames + stack->kernel_depth) &&
	    (!window->model->sources[row->kind].has_values ||
	     !distribution_merge(&stack->values, &row->values)))
		return stack;
	free_stack(stack);
	return NULL;
}

static int add_profile_row(struct window *window, const struct profile_row *row)
{
	struct top_model *model = window->model;
	struct top_stack *stack = create_stack(window, row);
	int err = stack ? add_stack_to_counts_of_functions(model, stack) : -ENOMEM;

	if (err) {
		free_stack(stack);
		return err;
	}
	model->sources[row->kind].weight += stack->weight;
	return add_or_merge_stack(model, stack);
}

static int add_event_source(struct top_model *model, const struct trace_source *source)
{
	struct top_source added = {.name = strdup(source->name),
				   .unit = strdup(source->value_unit),
				   .has_values = trace_source_adds_up(source)};

	if (!added.name || !added.unit ||
	    array_make_room(model->sources, model->source_count, model->index->source_room)) {
		free(added.name);
		free(added.unit);
		return -ENOMEM;
	}
	model->sources[model->source_count++] = added;
	return 0;
}

static u64 count_stored_values_of_stacks(const struct top_model *model)
{
	u64 count = 0;

	for (u32 i = 0; i < model->stack_count; i++)
		count += model->stacks[i]->values.item_count;
	return count;
}

int top_model_add(struct top_model *model, const struct trace_reader *reader,
		  const struct profile *profile)
{
	struct window window = {.model = model, .reader = reader, .profile = profile};
	const struct trace_source *sources;
	u32 count = trace_reader_sources(reader, &sources);
	int err = 0;

	model->has_aggregates = trace_reader_info(reader)->has_aggregates;
	while (!err && model->source_count < count)
		err = add_event_source(model, &sources[model->source_count]);
	for (u32 i = 0; i < profile->row_count && !err; i++)
		err = add_profile_row(&window, profile->rows[i]);
	free(window.labels);
	kept_process_clear(&window.kept);
	if (!err) {
		u32 *digits = &model->value_digits;

		/*
		 * If more than TOP_VALUES_MAX values are kept: joins equal values, and rounds until
		 * at most half of TOP_VALUES_MAX are left, so that this is rarely done, or until
		 * each value has one digit.
		 */
		if (count_stored_values_of_stacks(model) > TOP_VALUES_MAX) {
			for (u32 i = 0; i < model->stack_count; i++)
				distribution_sort(&model->stacks[i]->values);
			while (count_stored_values_of_stacks(model) > TOP_VALUES_MAX / 2 &&
			       *digits > 1) {
				*digits = distribution_next_digits(*digits);
				for (u32 i = 0; i < model->stack_count; i++)
					distribution_round(&model->stacks[i]->values, *digits);
			}
		}
	}
	return err;
}

void top_model_clear(struct top_model *model)
{
	struct top_index *index = model->index;

	for (u32 i = 0; i < model->stack_count; i++)
		free_stack(model->stacks[i]);
	free(model->stacks);
	free(index->labels);
	arena_free(&index->texts);
	hash_index_free(&index->label_index);
	hash_index_free(&index->stack_index);
	intern_clear(&model->functions);
	intern_clear(&model->traces);
	*index = (struct top_index){.texts.limit = UINT64_MAX};
	model->stacks = NULL;
	model->stack_count = 0;
	model->value_digits = DISTRIBUTION_DIGITS_EXACT;
	for (u32 kind = 0; kind < model->source_count; kind++)
		model->sources[kind].weight = model->sources[kind].unlisted = 0;
}

u32 top_model_next_source(const struct top_model *model, u32 kind)
{
	for (u32 i = 1; i < model->source_count; i++) {
		u32 next = (kind + i) % model->source_count;

		if (model->sources[next].weight)
			return next;
	}
	return kind;
}

int top_model_create(struct top_model **out)
{
	struct top_model *model = calloc(1, sizeof(*model));

	if (model)
		model->index = calloc(1, sizeof(*model->index));
	if (!model || !model->index) {
		free(model);
		return -ENOMEM;
	}
	model->functions = INTERN(struct top_function);
	model->traces = INTERN(struct top_function);
	model->value_digits = DISTRIBUTION_DIGITS_EXACT;
	model->index->texts.limit = UINT64_MAX;
	*out = model;
	return 0;
}

void top_model_free(struct top_model **model)
{
	if (!*model)
		return;
	top_model_clear(*model);
	for (u32 kind = 0; kind < (*model)->source_count; kind++) {
		free((*model)->sources[kind].name);
		free((*model)->sources[kind].unit);
	}
	free((*model)->sources);
	free((*model)->index);
	free(*model);
	*model = NULL;
}

/* top_lines_make() sorts the functions or stacks at each call: some thousand pointers for each
 * pressed key or refresh. */

/* Functions, traces or stacks of one source, in descending order of weight. */
struct ranking {
	const void **items;
	u32 count;
};

static double percentage(u64 part, u64 whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

static int compare_names(const struct top_function *a, const struct top_function *b)
{
	return strcmp(a->label->name, b->label->name) ?: strcmp(a->label->object, b->label->object);
}

static int compare_by_self_weight(const void *a, const void *b)
{
	const struct top_function *left = *(const struct top_function *const *)a;
	const struct top_function *right = *(const struct top_function *const *)b;

	return order(right->self, left->self)
		       ?: order(right->total, left->total) ?: compare_names(left, right);
}

static int compare_by_total_weight(const void *a, const void *b)
{
	const struct top_function *left = *(const struct top_function *const *)a;
	const struct top_function *right = *(const struct top_function *const *)b;

	return order(right->total, left->total)
		       ?: order(right->self, left->self) ?: compare_names(left, right);
}

static int compare_by_stack_weight(const void *a, const void *b)
{
	const struct top_stack *left = *(const struct top_stack *const *)a;
	const struct top_stack *right = *(const struct top_stack *const *)b;

	return order(right->weight, left->weight) ?: order(left->key, right->key);
}

static int sort_functions_by_weight(const struct top_model *model, const struct top_choice *choice,
				    struct ranking *ranking)
{
	const struct intern *functions =
		choice->order == TOP_BY_TRACE ? &model->traces : &model->functions;

	ranking->items = calloc(functions->count + 1UL, sizeof(void *));
	if (!ranking->items)
		return -ENOMEM;
	for (u32 i = 0; i < functions->count; i++) {
		const struct top_function *function = functions->entries[i];

		if (function->kind == choice->kind)
			ranking->items[ranking->count++] = function;
	}
	qsort(ranking->items, ranking->count, sizeof(void *),
	      choice->order == TOP_BY_TOTAL ? compare_by_total_weight : compare_by_self_weight);
	return 0;
}

static bool stack_has_frame(const struct top_stack *stack, const struct top_label *label)
{
	for (u32 i = 0; i < stack->depth; i++)
		if (stack->frames[i] == label)
			return true;
	return false;
}

/* `function`: in the order TOP_BY_TRACE, a trace. */
static bool stack_has_function_or_trace(const struct top_stack *stack,
					const struct top_function *function, enum top_order order)
{
	return order == TOP_BY_TRACE ? stack->trace == function->label
				     : stack_has_frame(stack, function->label);
}

/* Ranks all stacks of the source; if `function` is given, only the stacks of this function or
 * trace. */
static int sort_stacks_by_weight(const struct top_model *model, const struct top_choice *choice,
				 const struct top_function *function, struct ranking *ranking)
{
	ranking->items = calloc(model->stack_count + 1UL, sizeof(void *));
	if (!ranking->items)
		return -ENOMEM;
	for (u32 i = 0; i < model->stack_count; i++) {
		const struct top_stack *stack = model->stacks[i];

		if (stack->kind == choice->kind &&
		    (!function || stack_has_function_or_trace(stack, function, choice->order)))
			ranking->items[ranking->count++] = stack;
	}
	qsort(ranking->items, ranking->count, sizeof(void *), compare_by_stack_weight);
	return 0;
}

static int append_line(struct top_lines *lines, struct top_line line)
{
	if (array_make_room(lines->lines, lines->count, lines->room))
		return -ENOMEM;
	lines->lines[lines->count++] = line;
	return 0;
}

static int append_line_of_stack_end(struct top_lines *lines, const struct stack_end *end,
				    bool in_kernel)
{
	return append_line(lines, (struct top_line){.type = TOP_LINE_END,
						    .text = end->marker,
						    .object = end->meaning,
						    .in_kernel = in_kernel});
}

/* Appends the frames of a stack, and a line for each end with missing frames. A complete end has a
 * line only if the stack has no frames. */
static int append_frame_lines(struct top_lines *lines, const struct top_stack *stack)
{
	int err = 0;

	for (u32 i = 0; i < stack->depth && !err; i++) {
		if (i == stack->kernel_depth && stack_end_is_cut(stack->kernel_end))
			err = append_line_of_stack_end(lines, stack->kernel_end, true);
		err = err
			      ?: append_line(lines, (struct top_line){
							    .type = TOP_LINE_FRAME,
							    .text = stack->frames[i]->name,
							    .object = stack->frames[i]->object,
							    .in_kernel = i < stack->kernel_depth});
	}
	if (!err && stack->depth == stack->kernel_depth && stack_end_is_cut(stack->kernel_end))
		err = append_line_of_stack_end(lines, stack->kernel_end, true);
	if (!err && (!stack->depth || stack_end_is_cut(stack->user_end)))
		err = append_line_of_stack_end(lines, stack->user_end, false);
	return err;
}

static int append_histogram_line(void *arg, const char *line)
{
	struct top_lines *lines = arg;
	const char *text = arena_string(&lines->texts, line);

	return text ? append_line(lines, (struct top_line){.type = TOP_LINE_VALUES,
							   .text = text,
							   .object = ""})
		    : -ENOMEM;
}

/* Appends the lines of a histogram, and clears `values`. */
static int append_histogram(struct top_lines *lines, const struct top_model *model,
			    const struct top_choice *choice, struct distribution *values)
{
	char rounded[96];
	int err = 0;

	distribution_sort(values);
	if (values->count)
		err = histogram_text(values, choice->scale, model->sources[choice->kind].unit,
				     append_histogram_line, lines);
	if (values->count && !err && model->value_digits < DISTRIBUTION_DIGITS_EXACT) {
		snprintf(rounded, sizeof(rounded),
			 "too many different values: rounded down to %u binary digit%s",
			 model->value_digits, model->value_digits == 1 ? "" : "s");
		err = append_histogram_line(lines, rounded);
	}
	if (values->count && !err && model->has_aggregates)
		err = append_histogram_line(lines, HISTOGRAM_OF_AGGREGATES);
	distribution_clear(values);
	return err;
}

/* Appends the histogram of a function's or trace's events. The events of a function are those whose
 * innermost function it is or, in the order TOP_BY_TOTAL, those that have it anywhere on their
 * stack. */
static int append_function_histogram(struct top_lines *lines, const struct top_model *model,
				     const struct top_choice *choice,
				     const struct top_function *function)
{
	const struct top_label *label = function->label;
	struct distribution values = {};
	int err = 0;

	/* The label of a stack without frames is the marker of its end. */
	for (u32 i = 0; i < model->stack_count && !err; i++) {
		const struct top_stack *stack = model->stacks[i];

		bool is_innermost;

		if (stack->kind != function->kind)
			continue;
		is_innermost = stack->depth ? stack->frames[0] == label
					    : !strcmp(stack->user_end->marker, label->name) &&
						      !label->object[0];
		if ((choice->order != TOP_BY_TRACE && is_innermost) ||
		    (choice->order != TOP_BY_SELF &&
		     stack_has_function_or_trace(stack, function, choice->order)))
			err = distribution_merge(&values, &stack->values);
	}
	if (!err)
		return append_histogram(lines, model, choice, &values);
	distribution_clear(&values);
	return err;
}

/* An unfolded function or trace is followed by its heaviest stacks. */
static int append_function_lines(struct top_lines *lines, const struct top_model *model,
				 const struct top_choice *choice,
				 const struct top_function *function, bool is_first)
{
	bool is_unfolded = function->key == choice->unfolded;
	u64 whole = model->sources[function->kind].weight;
	const struct top_line line = {
		.type = choice->order == TOP_BY_TRACE ? TOP_LINE_TRACE : TOP_LINE_FUNCTION,
		.key = function->key,
		.self = percentage(function->self, whole),
		.total = percentage(function->total, whole),
		.text = function->label->name,
		.object = function->label->object,
	};
	struct ranking ranking = {};
	int err = append_line(lines, line);

	if (!err && choice->histograms && (is_first || is_unfolded))
		err = append_function_histogram(lines, model, choice, function);
	if (err || !is_unfolded)
		return err;
	err = sort_stacks_by_weight(model, choice, function, &ranking);
	for (u32 i = 0; i < ranking.count && i < TOP_STACKS_OF_FUNCTION && !err; i++) {
		const struct top_stack *stack = ranking.items[i];

		err = append_line(lines, (struct top_line){.type = TOP_LINE_PART,
							   .self = percentage(stack->weight, whole),
							   .text = "",
							   .object = "",
							   .comm = stack->comm})
			      ?: append_frame_lines(lines, stack);
	}
	free(ranking.items);
	return err;
}

static int append_stack_lines(struct top_lines *lines, const struct top_model *model,
			      const struct top_choice *choice, const struct top_stack *stack,
			      bool is_first)
{
	bool is_unfolded = stack->key == choice->unfolded;
	const struct top_line line = {
		.type = TOP_LINE_STACK,
		.key = stack->key,
		.self = percentage(stack->weight, model->sources[stack->kind].weight),
		.text = stack->depth ? stack->frames[0]->name : stack->user_end->marker,
		.object = stack->depth ? stack->frames[0]->object : "",
		.comm = stack->comm,
		.trace = stack->trace ? stack->trace->name : NULL,
	};
	struct distribution values = {};
	int err = append_line(lines, line);

	if (!err && choice->histograms && (is_first || is_unfolded)) {
		err = distribution_merge(&values, &stack->values);
		if (!err)
			err = append_histogram(lines, model, choice, &values);
		else
			distribution_clear(&values);
	}
	if (!err && is_unfolded)
		err = append_frame_lines(lines, stack);
	return err;
}

int top_lines_make(struct top_lines *lines, const struct top_model *model,
		   const struct top_choice *choice)
{
	struct ranking ranking = {};
	int err = choice->stacks ? sort_stacks_by_weight(model, choice, NULL, &ranking)
				 : sort_functions_by_weight(model, choice, &ranking);

	lines->count = 0;
	arena_free(&lines->texts);
	lines->texts = (struct arena){.limit = UINT64_MAX};
	for (u32 i = 0; i < ranking.count && !err; i++) {
		bool is_first = i < choice->histograms_first;

		err = choice->stacks
			      ? append_stack_lines(lines, model, choice, ranking.items[i], is_first)
			      : append_function_lines(lines, model, choice, ranking.items[i],
						      is_first);
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
