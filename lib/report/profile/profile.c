/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Rows are found by (source, comm, kernel path, user path) in a hash table; event_paths.c makes
 * paths from stacks. An event takes a few lookups, whatever the depth of its stacks.
 */
#include "profile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "error.h"
#include "hash_index.h"
#include "order.h"
#include "trace/read/names.h"

struct builder {
	struct profile *profile;
	const struct trace_reader *reader;
	const struct event_counts *counts;
	struct hash_index index; /* finds rows */
	u32 room;
};

static int compare_rows(const struct profile_row *left, const struct profile_row *right)
{
	if (left->kind != right->kind)
		return order(left->kind, right->kind);
	if (left->kernel != right->kernel)
		return order(left->kernel->id, right->kernel->id);
	if (left->user != right->user)
		return order(left->user->id, right->user->id);
	if (left->tid != right->tid)
		return order(left->tid, right->tid);
	if (left->pid != right->pid)
		return order(left->pid, right->pid);
	if (left->cpu != right->cpu)
		return order(left->cpu, right->cpu);
	if (left->cgroup != right->cgroup)
		return order(left->cgroup, right->cgroup);
	if (left->trace != right->trace)
		return order(left->trace, right->trace);
	if (left->span != right->span)
		return order(left->span, right->span);
	if (left->slice != right->slice)
		return order(left->slice, right->slice);
	return strcmp(left->comm, right->comm);
}

static bool is_row(const void *rows, u32 index, const void *key)
{
	const struct profile_row *row = &((const struct profile_row *)rows)[index], *wanted = key;

	return row->kernel == wanted->kernel && row->user == wanted->user &&
	       row->kind == wanted->kind && row->tid == wanted->tid && row->pid == wanted->pid &&
	       row->cpu == wanted->cpu && row->cgroup == wanted->cgroup &&
	       row->trace == wanted->trace && row->span == wanted->span &&
	       row->slice == wanted->slice &&
	       memcmp(row->comm, wanted->comm, sizeof(row->comm)) == 0;
}

static u32 hash_row(const struct profile_row *row)
{
	u64 comm[2], hash;

	memcpy(comm, row->comm, sizeof(comm));
	hash = hash_word(hash_word(0, (uintptr_t)row->kernel), (uintptr_t)row->user);
	hash = hash_word(hash, comm[0]);
	hash = hash_word(hash, comm[1]);
	hash = hash_word(hash, (u64)row->tid << 32 | row->pid);
	hash = hash_word(hash, (u64)row->slice << 32 | row->cgroup);
	hash = hash_word(hash, (u64)row->trace << 32 | row->span);
	return hash_end(hash_word(hash, (u64)row->kind << 32 | row->cpu));
}

/* The row with this key, which is added if it is new. NULL without memory. */
static struct profile_row *find_row(struct builder *builder, const struct profile_row *key)
{
	struct profile *profile = builder->profile;
	u32 hash = hash_row(key);
	u32 index = hash_index_find(&builder->index, hash, is_row, profile->storage, key);

	if (index != HASH_INDEX_NONE)
		return &profile->storage[index];
	if (array_make_room(profile->storage, profile->row_count, builder->room) ||
	    hash_index_add(&builder->index, hash, profile->row_count))
		return NULL;
	profile->storage[profile->row_count] = *key;
	return &profile->storage[profile->row_count++];
}

/* Sets the cgroup by name, as one path may have several numbers. */
static int set_cgroup(const struct builder *builder, u32 number, struct profile_row *row)
{
	char room[TRACE_CGROUP_ROOM];

	if (builder->profile->split & EVENTS_BY_CGROUP)
		row->cgroup = frame_names_intern(builder->profile->names,
						 trace_cgroup_name(builder->reader, number, room));
	return row->cgroup == UINT32_MAX ? -ENOMEM : 0;
}

/* Sets trace and span by name. `number` counts from 1; 0: none. */
static int set_context(const struct builder *builder, u32 number, struct profile_row *row)
{
	const struct trace_context *contexts, *context;
	struct frame_names *names = builder->profile->names;
	u32 count = trace_reader_contexts(builder->reader, &contexts);
	char room[CONTEXT_NAME_ROOM];

	context = number && number <= count ? &contexts[number - 1] : NULL;
	if (!context) {
		row->trace = row->span = PROFILE_NO_LABEL;
		return 0;
	}
	if (builder->profile->split & EVENTS_BY_TRACE)
		row->trace = frame_names_intern(names, trace_name(context, room));
	if (builder->profile->split & EVENTS_BY_SPAN)
		row->span = frame_names_intern(names, span_name(context, room));
	return row->trace == UINT32_MAX || row->span == UINT32_MAX ? -ENOMEM : 0;
}

static int add_count(struct builder *builder, const struct event_count *item)
{
	const struct event_key *from = &item->key;
	struct event_paths *paths = builder->profile->paths;
	struct profile_row key = {.kind = from->kind,
				  .pid = from->pid,
				  .tid = from->tid,
				  .cpu = from->cpu,
				  .slice = from->slice};
	struct profile_row *row;

	memcpy(key.comm, builder->counts->comms[from->comm], sizeof(key.comm));
	key.kernel = event_paths_find(paths, from->kernel, from->kernel_reason,
				      from->leaf_in_kernel ? from->leaf : PATH_NO_LEAF);
	key.user = event_paths_find(paths, from->user, from->user_reason,
				    from->leaf_in_kernel ? PATH_NO_LEAF : from->leaf);
	if (!key.kernel || !key.user || set_cgroup(builder, from->cgroup, &key) ||
	    set_context(builder, from->context, &key))
		return -ENOMEM;
	row = find_row(builder, &key);
	if (!row)
		return -ENOMEM;
	row->count += item->count;
	row->value += item->value;
	row->estimates += item->estimates;
	return distribution_merge(&row->values, &item->values);
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

struct measure {
	const enum profile_weight *by;
	const u64 *totals;
};

static double share(const struct profile_row *row, const struct measure *measure)
{
	u64 total = measure->totals[row->kind];

	return total ? (double)profile_row_weight(row, measure->by[row->kind]) / (double)total : 0;
}

static int heavier(const void *a, const void *b, void *measure)
{
	double left = share(*(const struct profile_row *const *)a, measure);
	double right = share(*(const struct profile_row *const *)b, measure);

	return left != right ? (left < right) - (left > right) : hotter(a, b);
}

void profile_sort(struct profile *profile, const enum profile_weight *by, const u64 *totals)
{
	struct measure measure = {.by = by, .totals = totals};

	qsort_r(profile->rows, profile->row_count, sizeof(*profile->rows), heavier, &measure);
}

static int add_counts(struct profile *profile, const struct trace_reader *reader,
		      const struct event_counts *counts)
{
	struct builder builder = {.profile = profile, .reader = reader, .counts = counts};
	int err = 0;

	for (u32 i = 0; i < counts->count && !err; i++)
		err = add_count(&builder, &counts->items[i]);
	hash_index_free(&builder.index);
	profile->count = counts->events;
	profile->first = counts->first;
	profile->last = counts->last;
	if (err)
		return err;
	profile->rows = calloc(profile->row_count + 1UL, sizeof(struct profile_row *));
	if (!profile->rows)
		return -ENOMEM;
	for (u32 i = 0; i < profile->row_count; i++)
		profile->rows[i] = &profile->storage[i];
	qsort(profile->rows, profile->row_count, sizeof(*profile->rows), hotter);
	return 0;
}

static int profile_alloc(struct trace_reader *reader, const struct frame_naming *naming,
			 struct profile **out)
{
	struct profile *profile = calloc(1, sizeof(*profile));

	if (!profile)
		return -ENOMEM;
	if (frame_names_create(reader, naming, &profile->names) ||
	    event_paths_create(reader, profile->names, &profile->paths)) {
		profile_free(&profile);
		return -ENOMEM;
	}
	*out = profile;
	return 0;
}

int profile_create_split(struct trace_reader *reader, const struct event_filter *filter,
			 const struct frame_naming *naming, u32 split,
			 const struct time_slices *slices, struct profile **out,
			 struct stackmap_error *error)
{
	struct event_counts counts = {};
	struct profile *profile;
	int err;

	if (profile_alloc(reader, naming, &profile))
		return error_set(error, ENOMEM, "report: not enough memory");
	profile->split = split;
	err = event_counts_read(&counts, reader, profile->paths, filter, split, slices, error);
	if (!err && add_counts(profile, reader, &counts))
		err = error_set(error, ENOMEM, "report: not enough memory");
	event_counts_free(&counts);
	if (err)
		profile_free(&profile);
	else
		*out = profile;
	return err;
}

int profile_create(struct trace_reader *reader, const struct event_filter *filter,
		   const struct frame_naming *naming, struct profile **out,
		   struct stackmap_error *error)
{
	return profile_create_split(reader, filter, naming, 0, NULL, out, error);
}

void profile_free(struct profile **profile)
{
	struct profile *old = *profile;

	if (!old)
		return;
	for (u32 i = 0; i < old->row_count && old->split & EVENTS_WITH_VALUES; i++)
		distribution_clear(&old->storage[i].values);
	free(old->rows);
	free(old->storage);
	event_paths_free(&old->paths);
	frame_names_free(&old->names);
	free(old);
	*profile = NULL;
}

const char *profile_path_marker(const struct profile_path *path)
{
	return stack_end_is_cut(path->end) ? path->end->marker : NULL;
}

/* Off-CPU events are recorded for their time: the number of waits says little. Events weigh
 * their value by default where the value has a unit; addresses have no sum. */
static enum profile_weight weight_of(const struct trace_source *source, const char *by)
{
	if (by)
		return strcmp(by, "value") == 0 && trace_source_adds_up(source) ? WEIGHT_VALUE
										: WEIGHT_COUNT;
	return trace_source_adds_up(source) && source->value_unit[0] ? WEIGHT_VALUE : WEIGHT_COUNT;
}

static int alloc_weights(u32 source_count, struct profile_weights *weights)
{
	*weights = (struct profile_weights){
		.by = calloc(source_count + 1UL, sizeof(*weights->by)),
		.totals = calloc(source_count + 1UL, sizeof(u64)),
		.counts = calloc(source_count + 1UL, sizeof(u64)),
		.estimates = calloc(source_count + 1UL, sizeof(u64)),
	};
	if (weights->by && weights->totals && weights->counts && weights->estimates)
		return 0;
	profile_weights_clear(weights);
	return -ENOMEM;
}

int profile_weigh(struct profile *profile, const struct trace_source *sources, u32 source_count,
		  const char *by, struct profile_weights *weights)
{
	struct profile_weights made;

	if (alloc_weights(source_count, &made))
		return -ENOMEM;
	for (u32 i = 0; i < source_count; i++)
		made.by[i] = weight_of(&sources[i], by);
	for (u32 i = 0; i < profile->row_count; i++) {
		const struct profile_row *row = profile->rows[i];

		made.totals[row->kind] += profile_row_weight(row, made.by[row->kind]);
		made.counts[row->kind] += row->count;
		made.estimates[row->kind] += row->estimates;
	}
	profile_sort(profile, made.by, made.totals);
	*weights = made;
	return 0;
}

void profile_weights_clear(struct profile_weights *weights)
{
	free(weights->by);
	free(weights->totals);
	free(weights->estimates);
	free(weights->counts);
	*weights = (struct profile_weights){0};
}

/* Markers are interned as labels without an object. */

#define MARKERS_MAX 2 /* one for each side */

static int add_marker(struct whole_stack *stack, const struct profile *profile, const char *marker)
{
	u32 label = frame_names_intern(profile->names, marker);

	if (label == UINT32_MAX)
		return -ENOMEM;
	stack->labels[stack->depth++] = label;
	return 0;
}

static int add_side(struct whole_stack *stack, const struct profile *profile,
		    const struct profile_path *path)
{
	const char *marker = profile_path_marker(path);

	memcpy(stack->labels + stack->depth, path->labels, path->depth * sizeof(u32));
	stack->depth += path->depth;
	return marker ? add_marker(stack, profile, marker) : 0;
}

int whole_stack_set(struct whole_stack *stack, const struct profile *profile,
		    const struct profile_row *row)
{
	u32 depth = row->kernel->depth + row->user->depth + MARKERS_MAX;
	int err = array_make_rooms(stack->labels, depth, stack->room);

	stack->depth = 0;
	err = err ?: add_side(stack, profile, row->kernel);
	err = err ?: add_side(stack, profile, row->user);
	if (!err && !stack->depth)
		err = add_marker(stack, profile, row->user->end->marker);
	return err;
}

void whole_stack_free(struct whole_stack *stack)
{
	free(stack->labels);
	*stack = (struct whole_stack){};
}
