/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Rows are found by (source, comm, kernel path, user path) in a hash table; event_paths.c makes
 * paths from stacks. An event takes a few lookups, whatever the depth of its stacks.
 */
#include "profile.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "error.h"
#include "hash_index.h"
#include "order.h"
#include "question.h"
#include "trace/read/names.h"

/*
 * An event takes two hash lookups: of its leaf and of its key. The name of its task is found by
 * thread and time; a small cache gives the number of the name, since most threads keep their name
 * from event to event.
 */

#define TASK_CACHE_SLOTS 4096
#define BATCH_EVENTS 64
#define COMBINATION_BYTES 256 /* bytes that an event_count and its row in a profile take */

struct known_task {
	const struct trace_task *task;
	u32 comm;
};

/* An event that passed the filter, and its key. */
struct pending {
	struct trace_event event;
	struct event_key key;
	u32 hash; /* hash of `key` */
};

struct counter {
	struct trace_reader *reader;
	struct event_paths *paths;
	const struct event_filter *filter;
	u32 split;
	const struct time_slices *slices; /* slices of time; NULL: time is not divided */
	u64 *every;			  /* by source: its sampling period, or 0 */
	bool has_aggregates;		  /* as in the recording's struct trace_info */
	struct event_counts *counts;
	struct hash_index index, comm_index;
	u32 room, comm_room;
	struct known_task tasks[TASK_CACHE_SLOTS];
	struct pending batch[BATCH_EVENTS];
	u32 pending;
};

_Static_assert(sizeof(struct event_key) == 48, "keys have no padding");

static bool is_same_key(const void *items, u32 index, const void *key)
{
	return memcmp(&((const struct event_count *)items)[index].key, key,
		      sizeof(struct event_key)) == 0;
}

static bool is_same_comm(const void *comms, u32 index, const void *comm)
{
	return memcmp(((const char(*)[16])comms)[index], comm, 16) == 0;
}

/* The index of the task's name in `comms`. HASH_INDEX_NONE without memory. */
static u32 find_or_add_comm(struct counter *counter, const struct trace_task *task)
{
	char comm[16] = "";
	u32 hash, index;

	if (task)
		strcpy(comm, task->comm);
	hash = hash_end(hash_words(0, comm, sizeof(comm)));
	index = hash_index_find(&counter->comm_index, hash, is_same_comm, counter->counts->comms,
				comm);
	if (index != HASH_INDEX_NONE)
		return index;
	index = counter->comm_index.count;
	if (array_make_room(counter->counts->comms, index, counter->comm_room) ||
	    hash_index_add(&counter->comm_index, hash, index))
		return HASH_INDEX_NONE;
	memcpy(counter->counts->comms[index], comm, 16);
	return index;
}

static int set_task_of_event_key(struct counter *counter, const struct trace_event *event,
				 struct event_key *key)
{
	const struct trace_task *task = trace_reader_task(counter->reader, event->tid, event->time);
	struct known_task *known = &counter->tasks[event->tid % TASK_CACHE_SLOTS];

	if (!task || known->task != task)
		*known = (struct known_task){.task = task, .comm = find_or_add_comm(counter, task)};
	key->comm = known->comm;
	if (task && counter->split & EVENTS_BY_PID)
		key->pid = task->tgid;
	if (task && counter->split & EVENTS_BY_CGROUP)
		key->cgroup = task->cgroup;
	if (counter->split & EVENTS_BY_ATTRIBUTES)
		key->attributes = trace_reader_attribute_numbers(counter->reader, event, task);
	if (counter->split & EVENTS_BY_TID)
		key->tid = event->tid;
	return key->comm == HASH_INDEX_NONE ? -ENOMEM : 0;
}

static struct event_count *find_or_add_event_count(struct counter *counter,
						   const struct event_key *key, u32 hash)
{
	struct event_counts *counts = counter->counts;
	u32 index = hash_index_find(&counter->index, hash, is_same_key, counts->items, key);

	if (index != HASH_INDEX_NONE)
		return &counts->items[index];
	if (trace_reader_count_memory(counter->reader, COMBINATION_BYTES) ||
	    array_make_room(counts->items, counts->count, counter->room) ||
	    hash_index_add(&counter->index, hash, counts->count))
		return NULL;
	counts->items[counts->count] = (struct event_count){.key = *key};
	return &counts->items[counts->count++];
}

static int set_key_of_pending_event(struct counter *counter, struct pending *pending)
{
	const struct trace_event *event = &pending->event;
	struct event_key *key = &pending->key;

	*key = (struct event_key){.kind = event->kind,
				  .kernel = event->kernel,
				  .user = event->user,
				  .leaf = PATH_NO_LEAF};
	if (event->kernel == TRACE_NO_STACK)
		key->kernel_reason = event->kernel_reason;
	if (event->user == TRACE_NO_STACK)
		key->user_reason = event->user_reason;
	if (event->leaf) {
		key->leaf = event_paths_leaf_key(counter->paths, event->leaf);
		key->leaf_in_kernel = FRAME_IS_KERNEL(event->leaf);
		if (key->leaf == PATH_NO_LEAF)
			return -ENOMEM;
	}
	if (set_task_of_event_key(counter, event, key))
		return -ENOMEM;
	if (counter->split & EVENTS_BY_CPU)
		key->cpu = (u16)event->cpu;
	if (counter->split & (EVENTS_BY_TRACE | EVENTS_BY_SPAN) && event->has_context)
		key->context = event->context + 1;
	if (counter->slices)
		key->slice = (u16)find_time_slice(counter->slices, event->time);
	pending->hash = hash_end(hash_words(0, key, sizeof(*key)));
	hash_index_prefetch_slot(&counter->index, pending->hash);
	return 0;
}

/* Each step of a batch prefetches the memory of the next step. */
static int count_batched_events(struct counter *counter)
{
	struct event_counts *counts = counter->counts;
	struct pending *batch = counter->batch;
	int err = 0;

	for (u32 i = 0; i < counter->pending; i++)
		event_paths_prefetch_leaf(counter->paths, batch[i].event.leaf);
	for (u32 i = 0; i < counter->pending && !err; i++)
		err = set_key_of_pending_event(counter, &batch[i]);
	for (u32 i = 0; i < counter->pending && !err; i++) {
		u32 index = hash_index_first_candidate(&counter->index, batch[i].hash);

		if (index != HASH_INDEX_NONE)
			__builtin_prefetch(&counts->items[index], 1);
	}
	for (u32 i = 0; i < counter->pending && !err; i++) {
		const struct trace_event *event = &batch[i].event;
		struct event_count *item =
			find_or_add_event_count(counter, &batch[i].key, batch[i].hash);

		if (!item) {
			err = -ENOMEM;
			break;
		}
		item->count += event_stands_for(event);
		item->value += event->value;
		item->estimates += count_estimated_events(counter->every[event->kind], event);
		if (counter->split & EVENTS_WITH_VALUES && !event->is_counted &&
		    event_stands_for(event) != 1)
			err = -ENODATA;
		else if (counter->split & EVENTS_WITH_VALUES &&
			 event_values_fit_histogram(event, counter->has_aggregates))
			err = trace_reader_count_memory(counter->reader,
							(1 + event->is_counted) *
								sizeof(struct value_count))
				      ?: distribution_add_sum(&item->values, event->value,
							      event_stands_for(event));
		if (!counts->events)
			counts->first = event->time;
		counts->events += event_stands_for(event);
		counts->last = event->time;
	}
	counter->pending = 0;
	return err;
}

static int add_event_to_batch(void *arg, const struct trace_event *event)
{
	struct counter *counter = arg;

	if (!event_filter_passes(counter->filter, counter->reader, event))
		return 0;
	counter->batch[counter->pending++].event = *event;
	return counter->pending == BATCH_EVENTS ? count_batched_events(counter) : 0;
}

int event_counts_read(struct event_counts *counts, struct trace_reader *reader,
		      struct event_paths *paths, const struct event_filter *filter, u32 split,
		      const struct time_slices *slices, struct stackmap_error *error)
{
	struct counter *counter = calloc(1, sizeof(*counter));
	int err = -ENOMEM;

	*counts = (struct event_counts){};
	if (counter) {
		const struct trace_source *sources;
		u32 count;

		counter->reader = reader;
		counter->paths = paths;
		counter->filter = filter;
		counter->split = split;
		counter->slices = slices;
		counter->has_aggregates = trace_reader_info(reader)->has_aggregates;
		counter->counts = counts;
		count = trace_reader_sources(counter->reader, &sources);
		counter->every = calloc(count + 1UL, sizeof(*counter->every));
		for (u32 i = 0; counter->every && i < count; i++)
			counter->every[i] = read_sampling_period_of_source(sources[i].name);
		err = counter->every ? 0 : -ENOMEM;
		err = err ?: trace_reader_events(reader, add_event_to_batch, counter, error);
		err = err ?: count_batched_events(counter);
		hash_index_free(&counter->index);
		hash_index_free(&counter->comm_index);
		free(counter->every);
		free(counter);
	}
	if (err)
		event_counts_free(counts);
	if (err == -ENODATA)
		return error_set(error, ENODATA,
				 "--hist: this is a summary, which has sums and no single values");
	return err == -ENOMEM ? error_set(error, ENOMEM, "report: not enough memory") : err;
}

void event_counts_free(struct event_counts *counts)
{
	for (u32 i = 0; i < counts->count; i++)
		distribution_clear(&counts->items[i].values);
	free(counts->items);
	free(counts->comms);
	*counts = (struct event_counts){};
}

u64 read_sampling_period_of_source(const char *name)
{
	const char *key = NULL;
	char *end;
	u64 every;

	if (strncmp(name, "alive:", strlen("alive:")) != 0)
		return 0;
	for (const char *next = strstr(name, TRACE_EVERY_KEY); next;
	     next = strstr(next + 1, TRACE_EVERY_KEY))
		key = next + strlen(TRACE_EVERY_KEY);
	if (!key)
		return 0;
	every = strtoull(key, &end, 10);
	return end > key && !strcmp(end, "/") && every <= ALIVE_EVERY_MAX ? every : 0;
}

u64 estimate_error_of_sampled_sum(u64 every, u64 estimates)
{
	return (u64)ceil((double)every * sqrt((double)estimates));
}

struct builder {
	struct profile *profile;
	const struct trace_reader *reader;
	const struct event_counts *counts;
	struct hash_index index; /* finds a row by its key */
	u32 room;
};

static bool has_same_row_key(const void *rows, u32 index, const void *key)
{
	const struct profile_row *row = &((const struct profile_row *)rows)[index], *wanted = key;

	return row->kernel == wanted->kernel && row->user == wanted->user &&
	       row->kind == wanted->kind && row->tid == wanted->tid && row->pid == wanted->pid &&
	       row->cpu == wanted->cpu && row->cgroup == wanted->cgroup &&
	       row->trace == wanted->trace && row->span == wanted->span &&
	       row->slice == wanted->slice &&
	       row->attributes.process == wanted->attributes.process &&
	       row->attributes.thread == wanted->attributes.thread &&
	       memcmp(row->comm, wanted->comm, sizeof(row->comm)) == 0;
}

/* The row with this key, which is added if it is new. NULL without memory. */
static struct profile_row *find_or_add_profile_row(struct builder *builder,
						   const struct profile_row *key)
{
	struct profile *profile = builder->profile;
	u64 comm[2], sum = hash_word(hash_word(0, (uintptr_t)key->kernel), (uintptr_t)key->user);
	u32 hash, index;

	memcpy(comm, key->comm, sizeof(comm));
	sum = hash_word(hash_word(sum, comm[0]), comm[1]);
	sum = hash_word(sum, (u64)key->tid << 32 | key->pid);
	sum = hash_word(sum, (u64)key->slice << 32 | key->cgroup);
	sum = hash_word(sum, (u64)key->trace << 32 | key->span);
	sum = hash_word(sum, (u64)key->attributes.process << 32 | key->attributes.thread);
	hash = hash_end(hash_word(sum, (u64)key->kind << 32 | key->cpu));
	index = hash_index_find(&builder->index, hash, has_same_row_key, profile->storage, key);
	if (index != HASH_INDEX_NONE)
		return &profile->storage[index];
	if (array_make_room(profile->storage, profile->row_count, builder->room) ||
	    hash_index_add(&builder->index, hash, profile->row_count))
		return NULL;
	profile->storage[profile->row_count] = *key;
	return &profile->storage[profile->row_count++];
}

/*
 * Sets trace and span of a row to the labels of their ids. `number`: number of the context, from 1
 * on; 0: the events have no context.
 */
static int set_trace_and_span(const struct builder *builder, u32 number, struct profile_row *row)
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
		row->trace = frame_names_intern_text(names, format_trace_id_name(context, room));
	if (builder->profile->split & EVENTS_BY_SPAN)
		row->span = frame_names_intern_text(names, format_span_id_name(context, room));
	return row->trace == UINT32_MAX || row->span == UINT32_MAX ? -ENOMEM : 0;
}

static int add_count_to_row(struct builder *builder, const struct event_count *item)
{
	const struct event_key *from = &item->key;
	struct event_paths *paths = builder->profile->paths;
	char room[TRACE_CGROUP_ROOM];
	struct profile_row key = {.kind = from->kind,
				  .pid = from->pid,
				  .tid = from->tid,
				  .cpu = from->cpu,
				  .attributes = from->attributes,
				  .slice = from->slice};
	struct profile_row *row;

	memcpy(key.comm, builder->counts->comms[from->comm], sizeof(key.comm));
	key.kernel = event_paths_find(paths, from->kernel, from->kernel_reason,
				      from->leaf_in_kernel ? from->leaf : PATH_NO_LEAF);
	key.user = event_paths_find(paths, from->user, from->user_reason,
				    from->leaf_in_kernel ? PATH_NO_LEAF : from->leaf);
	/* Rows are split by the path of the cgroup, because one path may have several numbers. */
	if (builder->profile->split & EVENTS_BY_CGROUP)
		key.cgroup = frame_names_intern_text(
			builder->profile->names,
			trace_cgroup_name(builder->reader, from->cgroup, room));
	if (!key.kernel || !key.user || key.cgroup == UINT32_MAX ||
	    set_trace_and_span(builder, from->context, &key))
		return -ENOMEM;
	row = find_or_add_profile_row(builder, &key);
	if (!row)
		return -ENOMEM;
	row->count += item->count;
	row->value += item->value;
	row->estimates += item->estimates;
	return distribution_merge(&row->values, &item->values);
}

static int compare_rows_by_count_and_value(const void *a, const void *b)
{
	const struct profile_row *left = *(const struct profile_row *const *)a;
	const struct profile_row *right = *(const struct profile_row *const *)b;

	if (left->count != right->count)
		return order(right->count, left->count);
	if (left->value != right->value)
		return order(right->value, left->value);
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
	if (left->attributes.process != right->attributes.process)
		return order(left->attributes.process, right->attributes.process);
	if (left->attributes.thread != right->attributes.thread)
		return order(left->attributes.thread, right->attributes.thread);
	if (left->slice != right->slice)
		return order(left->slice, right->slice);
	return strcmp(left->comm, right->comm);
}

static double row_share_of_source_total(const struct profile_row *row,
					const struct profile_weights *weights)
{
	u64 total = weights->totals[row->kind];

	return total ? (double)profile_row_weight(row, weights->by[row->kind]) / (double)total : 0;
}

static int compare_rows_by_share(const void *a, const void *b, void *weights)
{
	double left = row_share_of_source_total(*(const struct profile_row *const *)a, weights);
	double right = row_share_of_source_total(*(const struct profile_row *const *)b, weights);

	return left != right ? (left < right) - (left > right)
			     : compare_rows_by_count_and_value(a, b);
}

static int make_profile_rows(struct profile *profile, const struct trace_reader *reader,
			     const struct event_counts *counts)
{
	struct builder builder = {.profile = profile, .reader = reader, .counts = counts};
	int err = 0;

	for (u32 i = 0; i < counts->count && !err; i++)
		err = add_count_to_row(&builder, &counts->items[i]);
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
	qsort(profile->rows, profile->row_count, sizeof(*profile->rows),
	      compare_rows_by_count_and_value);
	return 0;
}

int profile_create_split(struct trace_reader *reader, const struct event_filter *filter,
			 const struct frame_naming *naming, u32 split,
			 const struct time_slices *slices, struct profile **out,
			 struct stackmap_error *error)
{
	struct event_counts counts = {};
	struct profile *profile = calloc(1, sizeof(*profile));
	int err;

	if (!profile || frame_names_create(reader, naming, &profile->names) ||
	    event_paths_create(reader, profile->names, &profile->paths)) {
		profile_free(&profile);
		return error_set(error, ENOMEM, "report: not enough memory");
	}
	profile->split = split;
	err = event_counts_read(&counts, reader, profile->paths, filter, split, slices, error);
	if (!err && make_profile_rows(profile, reader, &counts))
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

int profile_weigh(struct profile *profile, const struct trace_source *sources, u32 source_count,
		  const char *by, struct profile_weights *weights)
{
	struct profile_weights made = {
		.by = calloc(source_count + 1UL, sizeof(*made.by)),
		.totals = calloc(source_count + 1UL, sizeof(u64)),
		.counts = calloc(source_count + 1UL, sizeof(u64)),
		.estimates = calloc(source_count + 1UL, sizeof(u64)),
	};

	if (!made.by || !made.totals || !made.counts || !made.estimates) {
		profile_weights_clear(&made);
		return -ENOMEM;
	}
	/* Off-CPU events are recorded for their time: the number of waits says little. Events weigh
	 * their value by default where the value has a unit; addresses have no sum. */
	for (u32 i = 0; i < source_count; i++) {
		bool prefers_value = by ? strcmp(by, "value") == 0 : sources[i].value_unit[0];

		made.by[i] = prefers_value && trace_source_adds_up(&sources[i]) ? WEIGHT_VALUE
										: WEIGHT_COUNT;
	}
	for (u32 i = 0; i < profile->row_count; i++) {
		const struct profile_row *row = profile->rows[i];

		made.totals[row->kind] += profile_row_weight(row, made.by[row->kind]);
		made.counts[row->kind] += row->count;
		made.estimates[row->kind] += row->estimates;
	}
	qsort_r(profile->rows, profile->row_count, sizeof(*profile->rows), compare_rows_by_share,
		&made);
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

/* Appends the marker of a path, if it has one. Markers are interned as labels without an object. */

#define MARKERS_MAX 2 /* room for the markers of the kernel part and the user part */

static int append_marker(struct whole_stack *stack, const struct profile *profile,
			 const char *marker)
{
	u32 label = frame_names_intern_text(profile->names, marker);

	if (label == UINT32_MAX)
		return -ENOMEM;
	stack->labels[stack->depth++] = label;
	return 0;
}

static int append_stack_part(struct whole_stack *stack, const struct profile *profile,
			     const struct profile_path *path)
{
	const char *marker = profile_path_marker(path);

	memcpy(stack->labels + stack->depth, path->labels, path->depth * sizeof(u32));
	stack->depth += path->depth;
	return marker ? append_marker(stack, profile, marker) : 0;
}

int whole_stack_set_labels_of_row(struct whole_stack *stack, const struct profile *profile,
				  const struct profile_row *row)
{
	u32 depth = row->kernel->depth + row->user->depth + MARKERS_MAX;
	int err = array_make_rooms(stack->labels, depth, stack->room);

	stack->depth = 0;
	err = err ?: append_stack_part(stack, profile, row->kernel);
	err = err ?: append_stack_part(stack, profile, row->user);
	if (!err && !stack->depth)
		err = append_marker(stack, profile, row->user->end->marker);
	return err;
}

void whole_stack_free(struct whole_stack *stack)
{
	free(stack->labels);
	*stack = (struct whole_stack){};
}
