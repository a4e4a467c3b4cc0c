/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Threads of one name that are not among the hottest become one thread, in which their later events
 * are counted, too. The idle tasks (thread 0) stay, since the page hides them.
 */
#include "flamegraph/cell_levels.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "order.h"

#define ALL UINT32_MAX

static const struct level {
	u32 buckets, threads; /* at most */
} levels[] = {{64, ALL}, {64, 256}, {64, 32}, {32, 8}, {16, 4}, {8, 1}, {2, 1}, {1, 1}};
#define LEVELS (sizeof(levels) / sizeof(*levels))

struct thread_weight {
	u32 thread;
	u64 events;
};

static int by_events(const void *left, const void *right)
{
	const struct thread_weight *a = left, *b = right;

	return order(b->events, a->events) ?: order(a->thread, b->thread);
}

/* The thread that stands for the others of its name. NULL without memory. */
static struct graph_thread *others_of(struct flamegraph *graph, const struct graph_thread *thread)
{
	struct intern_key key = {{TID_OTHERS}};
	struct graph_thread *others;

	memcpy(&key.word[1], thread->comm, sizeof(thread->comm));
	others = intern_entry(&graph->threads, &key);
	if (!others || others->node)
		return others;
	others->tid = TID_OTHERS;
	memcpy(others->comm, thread->comm, sizeof(others->comm));
	others->number = graph->threads.count - 1;
	others->node = thread->node;
	return others;
}

static int join(struct flamegraph *graph, struct time_cells *cells, u32 number)
{
	struct graph_thread *thread = graph->threads.entries[number], *others;

	if (!thread->tid || thread->tid == TID_OTHERS || thread->tid == TID_INTERRUPT)
		return 0;
	others = others_of(graph, thread);
	if (!others)
		return -ENOMEM;
	thread->is_joined = true;
	cells->joined[number] = others->number;
	return 0;
}

static struct thread_weight *weigh_threads(const struct time_cells *cells, u32 count)
{
	struct thread_weight *weights = calloc(count + 1UL, sizeof(*weights));

	if (!weights)
		return NULL;
	for (u32 i = 0; i < count; i++)
		weights[i].thread = i;
	for (u32 i = 0; i < cells->cells.count; i++)
		weights[time_cells_at(cells, i)->thread].events += time_cells_at(cells, i)->count;
	qsort(weights, count, sizeof(*weights), by_events);
	return weights;
}

static int join_threads(struct flamegraph *graph, struct time_cells *cells, u32 most)
{
	u32 count = graph->threads.count;
	struct thread_weight *weights = weigh_threads(cells, count);
	u32 *joined = weights ? reallocarray(cells->joined, count + 1UL, sizeof(*joined)) : NULL;
	int err = joined ? 0 : -ENOMEM;

	if (joined) {
		cells->joined = joined;
		for (u32 i = cells->joined_count; i < count; i++)
			joined[i] = i;
		cells->joined_count = count;
	}
	for (u32 i = most; i < count && !err; i++)
		err = join(graph, cells, weights[i].thread);
	free(weights);
	return err;
}

static u32 shift_for(const struct time_cells *cells, u32 buckets)
{
	u32 shift = cells->shift;

	while (cells->bucket >> (shift - cells->shift) >= buckets)
		shift++;
	return shift;
}

int cell_levels_bound(struct flamegraph *graph, struct graph_recording *recording, u32 most)
{
	struct time_cells *cells = &recording->cells;
	int err = 0;

	while (cells->cells.count > most && cells->level < LEVELS && !err) {
		const struct level *level = &levels[cells->level++];

		cells->joins_cpus = true;
		if (level->threads != ALL)
			err = join_threads(graph, cells, level->threads);
		err = err ?: time_cells_rebuild(cells, shift_for(cells, level->buckets));
	}
	return err;
}
