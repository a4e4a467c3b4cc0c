/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Three search trees (tsearch(3)). An event's (stack, leaf) leads to a path by `joins`; a path is
 * made once per such pair and kept once per content in `paths`; (source, comm, kernel path, user
 * path) is the key of a row. So the cost per event is three lookups in small trees, whatever the
 * depth of its stacks.
 */
#include "profile.h"

#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"

#define NO_LABEL UINT32_MAX

struct join {
	u32 stack; /* index, or TRACE_NO_STACK */
	u32 reason;
	u32 leaf; /* label, or NO_LABEL */
	const struct profile_path *path;
};

struct builder {
	struct trace_reader *reader;
	const struct event_filter *filter;
	const struct trace_stack *stacks;
	struct profile *profile;
	void *joins;
	void *rows;
	u32 room;
};

/* The paths outlive the builder: rows point at them. */
struct owned_profile {
	struct profile profile; /* first */
	void *paths;
	u32 path_count;
};

static int order(u64 a, u64 b)
{
	return (a > b) - (a < b);
}

static int compare_joins(const void *a, const void *b)
{
	const struct join *left = a, *right = b;

	if (left->stack != right->stack)
		return order(left->stack, right->stack);
	if (left->leaf != right->leaf)
		return order(left->leaf, right->leaf);
	return order(left->reason, right->reason);
}

static int compare_paths(const void *a, const void *b)
{
	const struct profile_path *left = a, *right = b;

	if (left->depth != right->depth)
		return order(left->depth, right->depth);
	if (left->end != right->end)
		return left->end < right->end ? -1 : 1;
	return memcmp(left->labels, right->labels, left->depth * sizeof(u32));
}

static int compare_rows(const void *a, const void *b)
{
	const struct profile_row *left = a, *right = b;

	if (left->kind != right->kind)
		return order(left->kind, right->kind);
	if (left->kernel != right->kernel)
		return order(left->kernel->id, right->kernel->id);
	if (left->user != right->user)
		return order(left->user->id, right->user->id);
	return strcmp(left->comm, right->comm);
}

static int fill_labels(struct builder *builder, const struct join *join,
		       const struct trace_stack *stack, struct profile_path *path)
{
	u32 next = 0;

	if (join->leaf != NO_LABEL)
		path->labels[next++] = join->leaf;
	for (u32 i = 0; stack && i < stack->depth; i++) {
		const struct frame_name *name =
			frame_names_find(builder->profile->names, stack->frames[i], next > 0);

		if (!name)
			return -ENOMEM;
		path->labels[next++] = name->label;
	}
	return 0;
}

static struct profile_path *path_create(struct builder *builder, const struct join *join)
{
	const struct trace_stack *stack =
		join->stack == TRACE_NO_STACK ? NULL : &builder->stacks[join->stack];
	u32 depth = (stack ? stack->depth : 0) + (join->leaf != NO_LABEL);
	struct profile_path *path = calloc(1, sizeof(*path) + depth * sizeof(u32));

	if (!path)
		return NULL;
	path->depth = depth;
	path->end = stack_end_of(stack, join->reason);
	if (fill_labels(builder, join, stack, path)) {
		free(path);
		return NULL;
	}
	return path;
}

static const struct profile_path *path_intern(struct builder *builder, const struct join *join)
{
	struct owned_profile *owned = (struct owned_profile *)builder->profile;
	struct profile_path *path = path_create(builder, join);
	struct profile_path **found = path ? tsearch(path, &owned->paths, compare_paths) : NULL;

	if (!found) {
		free(path);
		return NULL;
	}
	if (*found == path)
		path->id = owned->path_count++;
	else
		free(path);
	return *found;
}

static const struct join *join_add(struct builder *builder, const struct join *key)
{
	struct join *join = malloc(sizeof(*join));

	if (!join)
		return NULL;
	*join = *key;
	join->path = path_intern(builder, key);
	if (join->path && tsearch(join, &builder->joins, compare_joins))
		return join;
	free(join);
	return NULL;
}

static const struct profile_path *join_path(struct builder *builder, u32 stack, u32 reason,
					    u32 leaf)
{
	struct join key = {.stack = stack, .leaf = leaf};
	struct join **found;
	const struct join *join;

	if (stack == TRACE_NO_STACK)
		key.reason = reason;
	found = tfind(&key, &builder->joins, compare_joins);
	join = found ? *found : join_add(builder, &key);
	return join ? join->path : NULL;
}

static int set_paths(struct builder *builder, const struct trace_event *event,
		     struct profile_row *row)
{
	const struct frame_name *leaf = NULL;
	bool in_kernel = FRAME_IS_KERNEL(event->leaf);

	if (event->leaf) {
		leaf = frame_names_find(builder->profile->names, event->leaf, false);
		if (!leaf)
			return -ENOMEM;
	}
	row->kernel = join_path(builder, event->kernel, event->kernel_reason,
				leaf && in_kernel ? leaf->label : NO_LABEL);
	row->user = join_path(builder, event->user, event->user_reason,
			      leaf && !in_kernel ? leaf->label : NO_LABEL);
	return row->kernel && row->user ? 0 : -ENOMEM;
}

static int append_row(struct builder *builder, struct profile_row *row)
{
	struct profile *profile = builder->profile;
	u32 room = builder->room ? 2 * builder->room : 256;
	struct profile_row **rows;

	if (profile->row_count == builder->room) {
		rows = reallocarray(profile->rows, room, sizeof(struct profile_row *));
		if (!rows)
			return -ENOMEM;
		profile->rows = rows;
		builder->room = room;
	}
	profile->rows[profile->row_count++] = row;
	return 0;
}

static struct profile_row *add_row(struct builder *builder, const struct profile_row *key)
{
	struct profile_row *row = malloc(sizeof(*row));

	if (!row)
		return NULL;
	*row = *key;
	if (append_row(builder, row)) {
		free(row);
		return NULL;
	}
	return tsearch(row, &builder->rows, compare_rows) ? row : NULL;
}

static struct profile_row *find_row(struct builder *builder, const struct profile_row *key)
{
	struct profile_row **found = tfind(key, &builder->rows, compare_rows);

	return found ? *found : add_row(builder, key);
}

static int add_event(void *arg, const struct trace_event *event)
{
	struct builder *builder = arg;
	struct profile *profile = builder->profile;
	struct profile_row key = {.kind = event->kind}, *row;
	const struct trace_task *task;

	if (!event_filter_passes(builder->filter, builder->reader, event))
		return 0;
	task = trace_reader_task(builder->reader, event->tid, event->time);
	if (task)
		memcpy(key.comm, task->comm, sizeof(key.comm) - 1);
	if (set_paths(builder, event, &key))
		return -ENOMEM;
	row = find_row(builder, &key);
	if (!row)
		return -ENOMEM;
	row->count++;
	row->value += event->value;
	if (profile->count++ == 0)
		profile->first = event->time;
	profile->last = event->time;
	return 0;
}

static int hotter(const void *a, const void *b)
{
	const struct profile_row *left = *(const struct profile_row *const *)a;
	const struct profile_row *right = *(const struct profile_row *const *)b;

	if (left->count != right->count)
		return order(right->count, left->count);
	if (left->value != right->value)
		return order(right->value, left->value);
	return compare_rows(left, right);
}

static void keep(void *node)
{
	(void)node;
}

static int build(struct builder *builder, struct stackmap_error *error)
{
	struct profile *profile = builder->profile;
	int err = trace_reader_events(builder->reader, add_event, builder, error);

	tdestroy(builder->joins, free);
	tdestroy(builder->rows, keep);
	if (err == -ENOMEM)
		error_set(error, ENOMEM, "report: not enough memory");
	if (!err && profile->row_count)
		qsort(profile->rows, profile->row_count, sizeof(*profile->rows), hotter);
	return err;
}

int profile_create(struct trace_reader *reader, const struct event_filter *filter,
		   const struct frame_naming *naming, struct profile **out,
		   struct stackmap_error *error)
{
	struct owned_profile *owned = calloc(1, sizeof(*owned));
	struct builder builder = {.reader = reader, .filter = filter};
	struct profile *profile = (struct profile *)owned;
	int err;

	if (!owned || frame_names_create(reader, naming, &profile->names)) {
		free(owned);
		return error_set(error, ENOMEM, "report: not enough memory");
	}
	builder.profile = profile;
	trace_reader_stacks(reader, &builder.stacks);
	err = build(&builder, error);
	if (err) {
		profile_free(&profile);
		return err;
	}
	*out = profile;
	return 0;
}

void profile_free(struct profile **profile)
{
	struct owned_profile *owned = (struct owned_profile *)*profile;

	if (!owned)
		return;
	for (u32 i = 0; i < owned->profile.row_count; i++)
		free(owned->profile.rows[i]);
	free(owned->profile.rows);
	tdestroy(owned->paths, free);
	frame_names_free(&owned->profile.names);
	free(owned);
	*profile = NULL;
}

const char *profile_path_marker(const struct profile_path *path)
{
	return stack_end_is_cut(path->end) ? path->end->marker : NULL;
}
