/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Three search trees (tsearch(3)) own labels, functions and stacks; the arrays are in the order of
 * their first use. A window's own numbers of labels mean nothing in the next, so texts decide. */
#include "top/top_model.h"

#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"

#define FNV_BASIS 14695981039346656037ULL
#define FNV_PRIME 1099511628211ULL

struct top_index {
	void *labels, *functions, *stacks;
	u32 label_count;
	u64 stacks_added; /* numbers the rows of all windows, from 1 */
	u32 function_room, stack_room, source_room;
};

struct owned_label {
	struct top_label label; /* first */
	char text[];		/* name, object */
};

static int order(u64 a, u64 b)
{
	return (a > b) - (a < b);
}

static int compare_labels(const void *a, const void *b)
{
	const struct top_label *left = a, *right = b;

	return strcmp(left->name, right->name) ?: strcmp(left->object, right->object);
}

static int compare_functions(const void *a, const void *b)
{
	const struct top_function *left = a, *right = b;

	return order(left->kind, right->kind)
		       ?: order((uintptr_t)left->label, (uintptr_t)right->label);
}

static int compare_stacks(const void *a, const void *b)
{
	const struct top_stack *left = a, *right = b;
	int result = order(left->kind, right->kind) ?: strcmp(left->comm, right->comm);

	result = result ?: order(left->depth, right->depth);
	result = result ?: order(left->kernel_depth, right->kernel_depth);
	result = result ?: order((uintptr_t)left->kernel_end, (uintptr_t)right->kernel_end);
	result = result ?: order((uintptr_t)left->user_end, (uintptr_t)right->user_end);
	return result ?: memcmp(left->frames, right->frames, left->depth * sizeof(*left->frames));
}

/* FNV-1a (Fowler, Noll, Vo). */
static u64 hash_text(u64 hash, const char *text)
{
	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * FNV_PRIME;
	return hash * FNV_PRIME;
}

static u64 hash_label(u64 hash, const struct top_label *label)
{
	return hash_text(hash_text(hash, label->name), label->object);
}

static struct owned_label *label_create(const struct top_label *key)
{
	size_t name_bytes = strlen(key->name) + 1, object_bytes = strlen(key->object) + 1;
	struct owned_label *owned = malloc(sizeof(*owned) + name_bytes + object_bytes);

	if (!owned)
		return NULL;
	memcpy(owned->text, key->name, name_bytes);
	memcpy(owned->text + name_bytes, key->object, object_bytes);
	owned->label.name = owned->text;
	owned->label.object = owned->text + name_bytes;
	return owned;
}

static const struct top_label *add_label(struct top_index *index, const struct top_label *key)
{
	struct owned_label *owned = label_create(key);

	if (!owned || !tsearch(owned, &index->labels, compare_labels)) {
		free(owned);
		return NULL;
	}
	index->label_count++;
	return &owned->label;
}

static const struct top_label *find_label(struct top_index *index, const char *name,
					  const char *object)
{
	static const struct top_label other = {"[other]", ""};
	const struct top_label key = {name, object ?: ""};
	const struct top_label **found = tfind(&key, &index->labels, compare_labels);

	if (found)
		return *found;
	return index->label_count < TOP_LABELS_MAX ? add_label(index, &key) : &other;
}

static struct top_function *add_function(struct top_model *model, const struct top_function *key)
{
	struct top_index *index = model->index;
	struct top_function *function;

	if (array_make_room(model->functions, model->function_count, index->function_room))
		return NULL;
	function = malloc(sizeof(*function));
	if (!function)
		return NULL;
	*function = *key;
	function->key = hash_label(FNV_BASIS, key->label) ?: 1;
	if (!tsearch(function, &index->functions, compare_functions)) {
		free(function);
		return NULL;
	}
	model->functions[model->function_count++] = function;
	return function;
}

static struct top_function *find_function(struct top_model *model, u32 kind,
					  const struct top_label *label)
{
	const struct top_function key = {.kind = kind, .label = label};
	struct top_function **found = tfind(&key, &model->index->functions, compare_functions);

	return found ? *found : add_function(model, &key);
}

static int count_function(struct top_model *model, const struct top_stack *stack,
			  const struct top_label *label, bool innermost)
{
	struct top_function *function = find_function(model, stack->kind, label);

	if (!function)
		return -ENOMEM;
	if (innermost)
		function->self += stack->weight;
	if (function->last_stack != model->index->stacks_added)
		function->total += stack->weight;
	function->last_stack = model->index->stacks_added;
	return 0;
}

/* A stack without frames stands for itself by the reason that it has none. */
static int count_functions(struct top_model *model, const struct top_stack *stack)
{
	const struct top_label *none;
	int err = 0;

	model->index->stacks_added++;
	for (u32 i = 0; i < stack->depth && !err; i++)
		err = count_function(model, stack, stack->frames[i], i == 0);
	if (stack->depth || err)
		return err;
	none = find_label(model->index, stack->user_end->marker, NULL);
	return none ? count_function(model, stack, none, true) : -ENOMEM;
}

static u64 hash_stack(const struct top_stack *stack)
{
	u64 hash = hash_text(FNV_BASIS, stack->comm);

	for (u32 i = 0; i < stack->depth; i++)
		hash = hash_label(hash, stack->frames[i]);
	return hash ?: 1;
}

static int add_stack(struct top_model *model, struct top_stack *stack)
{
	struct top_index *index = model->index;

	if (array_make_room(model->stacks, model->stack_count, index->stack_room) ||
	    !tsearch(stack, &index->stacks, compare_stacks)) {
		free(stack);
		return -ENOMEM;
	}
	stack->key = hash_stack(stack);
	model->stacks[model->stack_count++] = stack;
	return 0;
}

/* Takes the stack. */
static int list_stack(struct top_model *model, struct top_stack *stack)
{
	struct top_stack **found = tfind(stack, &model->index->stacks, compare_stacks);

	if (!found && model->stack_count < TOP_STACKS_MAX)
		return add_stack(model, stack);
	if (found)
		(*found)->weight += stack->weight;
	else
		model->sources[stack->kind].unlisted += stack->weight;
	free(stack);
	return 0;
}

/* What is being added, and its labels as ours. */
struct window {
	struct top_model *model;
	const struct profile *profile;
	const struct top_label **labels; /* by its own number; NULL: not met yet */
	u32 room;
};

static const struct top_label *label_of(struct window *window, u32 id)
{
	const struct frame_names *names = window->profile->names;

	if (array_make_zeroed(window->labels, id + 1UL, window->room))
		return NULL;
	if (!window->labels[id])
		window->labels[id] = find_label(window->model->index, frame_names_label(names, id),
						frame_names_label_object(names, id));
	return window->labels[id];
}

static int label_path(struct window *window, const struct profile_path *path,
		      const struct top_label **frames)
{
	for (u32 i = 0; i < path->depth; i++) {
		frames[i] = label_of(window, path->labels[i]);
		if (!frames[i])
			return -ENOMEM;
	}
	return 0;
}

static struct top_stack *make_stack(struct window *window, const struct profile_row *row)
{
	u32 depth = row->kernel->depth + row->user->depth;
	struct top_stack *stack = calloc(1, sizeof(*stack) + depth * sizeof(*stack->frames));

	if (!stack)
		return NULL;
	stack->kind = row->kind;
	memcpy(stack->comm, row->comm, sizeof(stack->comm));
	stack->weight = window->model->sources[row->kind].unit[0] ? row->value : row->count;
	stack->kernel_end = row->kernel->end;
	stack->user_end = row->user->end;
	stack->kernel_depth = row->kernel->depth;
	stack->depth = depth;
	if (!label_path(window, row->kernel, stack->frames) &&
	    !label_path(window, row->user, stack->frames + stack->kernel_depth))
		return stack;
	free(stack);
	return NULL;
}

static int add_row(struct window *window, const struct profile_row *row)
{
	struct top_model *model = window->model;
	struct top_stack *stack = make_stack(window, row);
	int err = stack ? count_functions(model, stack) : -ENOMEM;

	if (err) {
		free(stack);
		return err;
	}
	model->sources[row->kind].weight += stack->weight;
	return list_stack(model, stack);
}

static int add_source(struct top_model *model, const struct trace_source *source)
{
	struct top_source added = {.name = strdup(source->name),
				   .unit = strdup(source->value_unit)};

	if (!added.name || !added.unit ||
	    array_make_room(model->sources, model->source_count, model->index->source_room)) {
		free(added.name);
		free(added.unit);
		return -ENOMEM;
	}
	model->sources[model->source_count++] = added;
	return 0;
}

int top_model_add(struct top_model *model, const struct trace_reader *reader,
		  const struct profile *profile)
{
	struct window window = {.model = model, .profile = profile};
	const struct trace_source *sources;
	u32 count = trace_reader_sources(reader, &sources);
	int err = 0;

	while (!err && model->source_count < count)
		err = add_source(model, &sources[model->source_count]);
	for (u32 i = 0; i < profile->row_count && !err; i++)
		err = add_row(&window, profile->rows[i]);
	free(window.labels);
	return err;
}

void top_model_clear(struct top_model *model)
{
	struct top_index *index = model->index;

	tdestroy(index->functions, free);
	tdestroy(index->stacks, free);
	tdestroy(index->labels, free);
	free(model->functions);
	free(model->stacks);
	*index = (struct top_index){0};
	model->functions = NULL;
	model->stacks = NULL;
	model->function_count = model->stack_count = 0;
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
