/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * An event takes two hash lookups: of its leaf and of its combination. The name of its task is
 * found by thread and time and mapped to a number through a small cache, since most threads keep
 * their name from event to event.
 */
#include "event_counts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "error.h"
#include "hash_index.h"
#include "report/event/sampled.h"

#define TASK_CACHE_SLOTS 4096
#define BATCH_EVENTS 64
#define COMBINATION_BYTES 256 /* memory of a combination here and of its row in a profile */

struct known_task {
	const struct trace_task *task;
	u32 comm;
};

/* An event that passed the filter, and its key. */
struct pending {
	struct trace_event event;
	struct event_key key;
	u32 hash; /* of the key */
};

struct counter {
	struct trace_reader *reader;
	struct event_paths *paths;
	const struct event_filter *filter;
	u32 split;
	const struct time_slices *slices; /* or NULL */
	u64 *every;			  /* sampled_every() by source */
	struct event_counts *counts;
	struct hash_index index, comm_index;
	u32 room, comm_room;
	struct known_task tasks[TASK_CACHE_SLOTS];
	struct pending batch[BATCH_EVENTS];
	u32 pending;
};

_Static_assert(sizeof(struct event_key) == 48, "keys have no padding");

static bool is_count(const void *items, u32 index, const void *key)
{
	return memcmp(&((const struct event_count *)items)[index].key, key,
		      sizeof(struct event_key)) == 0;
}

static bool is_comm(const void *comms, u32 index, const void *comm)
{
	return memcmp(((const char(*)[16])comms)[index], comm, 16) == 0;
}

/* HASH_INDEX_NONE without memory. */
static u32 find_comm(struct counter *counter, const struct trace_task *task)
{
	char comm[16] = "";
	u32 hash, index;

	if (task)
		strcpy(comm, task->comm);
	hash = hash_end(hash_words(0, comm, sizeof(comm)));
	index = hash_index_find(&counter->comm_index, hash, is_comm, counter->counts->comms, comm);
	if (index != HASH_INDEX_NONE)
		return index;
	index = counter->comm_index.count;
	if (array_make_room(counter->counts->comms, index, counter->comm_room) ||
	    hash_index_add(&counter->comm_index, hash, index))
		return HASH_INDEX_NONE;
	memcpy(counter->counts->comms[index], comm, 16);
	return index;
}

static int set_task(struct counter *counter, const struct trace_event *event, struct event_key *key)
{
	const struct trace_task *task = trace_reader_task(counter->reader, event->tid, event->time);
	struct known_task *known = &counter->tasks[event->tid % TASK_CACHE_SLOTS];

	if (!task || known->task != task)
		*known = (struct known_task){.task = task, .comm = find_comm(counter, task)};
	key->comm = known->comm;
	if (task && counter->split & EVENTS_BY_PID)
		key->pid = task->tgid;
	if (task && counter->split & EVENTS_BY_CGROUP)
		key->cgroup = task->cgroup;
	if (counter->split & EVENTS_BY_TID)
		key->tid = event->tid;
	return key->comm == HASH_INDEX_NONE ? -ENOMEM : 0;
}

static struct event_count *find_count(struct counter *counter, const struct event_key *key,
				      u32 hash)
{
	struct event_counts *counts = counter->counts;
	u32 index = hash_index_find(&counter->index, hash, is_count, counts->items, key);

	if (index != HASH_INDEX_NONE)
		return &counts->items[index];
	if (trace_reader_take(counter->reader, COMBINATION_BYTES) ||
	    array_make_room(counts->items, counts->count, counter->room) ||
	    hash_index_add(&counter->index, hash, counts->count))
		return NULL;
	counts->items[counts->count] = (struct event_count){.key = *key};
	return &counts->items[counts->count++];
}

static int set_key(struct counter *counter, struct pending *pending)
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
		key->leaf = event_paths_leaf(counter->paths, event->leaf);
		key->leaf_in_kernel = FRAME_IS_KERNEL(event->leaf);
		if (key->leaf == PATH_NO_LEAF)
			return -ENOMEM;
	}
	if (set_task(counter, event, key))
		return -ENOMEM;
	if (counter->split & EVENTS_BY_CPU)
		key->cpu = event->cpu;
	if (counter->split & (EVENTS_BY_TRACE | EVENTS_BY_SPAN) && event->has_context)
		key->context = event->context + 1;
	if (counter->slices)
		key->slice = (u16)time_slice_of(counter->slices, event->time);
	pending->hash = hash_end(hash_words(0, key, sizeof(*key)));
	hash_index_expect(&counter->index, pending->hash);
	return 0;
}

static int add_value(struct counter *counter, struct event_count *item,
		     const struct trace_event *event)
{
	if (event->is_counted)
		return 0;
	if (event_stands_for(event) != 1)
		return -ENODATA;
	return trace_reader_take(counter->reader, sizeof(struct value_count))
		       ?: distribution_add(&item->values, event->value, 1);
}

/* Each step of a batch prefetches the memory of the next step. */
static int count_batch(struct counter *counter)
{
	struct event_counts *counts = counter->counts;
	struct pending *batch = counter->batch;
	int err = 0;

	for (u32 i = 0; i < counter->pending; i++)
		event_paths_expect_leaf(counter->paths, batch[i].event.leaf);
	for (u32 i = 0; i < counter->pending && !err; i++)
		err = set_key(counter, &batch[i]);
	for (u32 i = 0; i < counter->pending && !err; i++) {
		u32 index = hash_index_first(&counter->index, batch[i].hash);

		if (index != HASH_INDEX_NONE)
			__builtin_prefetch(&counts->items[index], 1);
	}
	for (u32 i = 0; i < counter->pending && !err; i++) {
		const struct trace_event *event = &batch[i].event;
		struct event_count *item = find_count(counter, &batch[i].key, batch[i].hash);

		if (!item) {
			err = -ENOMEM;
			break;
		}
		item->count += event_stands_for(event);
		item->value += event->value;
		item->estimates += sampled_estimates(counter->every[event->kind], event);
		if (counter->split & EVENTS_WITH_VALUES)
			err = add_value(counter, item, event);
		if (!counts->events)
			counts->first = event->time;
		counts->events += event_stands_for(event);
		counts->last = event->time;
	}
	counter->pending = 0;
	return err;
}

static int add_event(void *arg, const struct trace_event *event)
{
	struct counter *counter = arg;

	if (!event_filter_passes(counter->filter, counter->reader, event))
		return 0;
	counter->batch[counter->pending++].event = *event;
	return counter->pending == BATCH_EVENTS ? count_batch(counter) : 0;
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
		counter->counts = counts;
		count = trace_reader_sources(counter->reader, &sources);
		counter->every = calloc(count + 1UL, sizeof(*counter->every));
		for (u32 i = 0; counter->every && i < count; i++)
			counter->every[i] = sampled_every(sources[i].name);
		err = counter->every ? 0 : -ENOMEM;
		err = err ?: trace_reader_events(reader, add_event, counter, error);
		err = err ?: count_batch(counter);
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
