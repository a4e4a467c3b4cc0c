/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Pairs and steps of chains are nodes of one tree. A hash table finds a node by its parent and by
 * both ends of its waits. The waits of all threads are sorted by thread and time, so a step of a
 * chain takes a binary search.
 */
#include "report/event/wait_pairs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "intern.h"
#include "order.h"
#include "ring.h"

#define CHAIN_WAITS_MAX 100000U /* the most waits that one chain follows */

struct node {
	struct intern_key key; /* addresses of the parent node and of both ends */
	struct wait_pair pair;
	const struct node *above;
};

struct pairs {
	struct wait_pairs shown; /* first member: wait_pairs_create() returns its address */
	struct trace_reader *reader;
	struct wakeups *wakeups;
	const struct trace_event **waits; /* waits of all threads, sorted by thread and time */
	u32 wait_count;
	struct wait_ends *ends;
	struct intern nodes;
	const struct node **sorted;
	const struct wait_pair **rows;
};

static struct node *find_or_add_pair_node(struct pairs *pairs, const struct node *above,
					  const struct trace_event *wait,
					  const struct trace_event *other)
{
	const struct wait_end *sleeper = wait_ends_find(pairs->ends, wait);
	const struct wait_end *waker = wait_ends_find(pairs->ends, other);
	const struct intern_key key = {{intern_word_of_address(above),
					intern_word_of_address(sleeper),
					intern_word_of_address(waker)}};
	struct node *node = sleeper && waker ? intern_find_or_add_entry(&pairs->nodes, &key) : NULL;

	if (!node || node->pair.count)
		return node;
	node->above = above;
	node->pair.depth = above ? above->pair.depth + 1 : 0;
	node->pair.sleeper = *sleeper;
	node->pair.waker = *waker;
	return node;
}

/* --- the waits of all threads, and their pairs --- */

static int compare_waits_by_thread_and_time(const void *left, const void *right)
{
	const struct trace_event *a = *(const struct trace_event *const *)left;
	const struct trace_event *b = *(const struct trace_event *const *)right;

	return order(a->tid, b->tid) ?: order(a->time, b->time);
}

static int add_all_waits(struct pairs *pairs, const struct event_filter *filter)
{
	const struct trace_event *events;
	u32 count = wakeups_events(pairs->wakeups, &events);

	pairs->waits = calloc(count + 1UL, sizeof(*pairs->waits));
	if (!pairs->waits)
		return -ENOMEM;
	for (u32 i = 0; i < count; i++) {
		const struct trace_event *wait = &events[i], *other;
		struct node *node;

		if (!wakeups_is_wait(pairs->wakeups, wait))
			continue;
		pairs->waits[pairs->wait_count++] = wait;
		if (!event_filter_passes(filter, pairs->reader, wait))
			continue;
		other = wakeups_other_event_of_wait(pairs->wakeups, wait);
		node = find_or_add_pair_node(pairs, NULL, wait, other);
		if (!node)
			return -ENOMEM;
		wait_pair_add(&node->pair, wait, other, wait->value);
		pairs->shown.waits++;
		pairs->shown.total += wait->value;
		pairs->shown.idle += node->pair.sleeper.is_idle;
		pairs->shown.idle_total += node->pair.sleeper.is_idle ? wait->value : 0;
		pairs->shown.unknown += !other;
		pairs->shown.unknown_total += other ? 0 : wait->value;
	}
	qsort(pairs->waits, pairs->wait_count, sizeof(*pairs->waits),
	      compare_waits_by_thread_and_time);
	return 0;
}

/* --- chains --- */

/* The state while the waits of one chain are followed. */
struct chain {
	struct pairs *pairs;
	u32 steps, left; /* `steps`: most steps of the chain; `left`: number of waits that may still
			    be followed */
	u32 threads[WAIT_CHAIN_MAX + 1];
};

/* Adds the waits of the thread of `other`, each cut to the time between `from` and `to`. */
static int add_steps_of_waker(struct chain *chain, struct node *above,
			      const struct trace_event *other, u64 from, u64 to)
{
	struct pairs *pairs = chain->pairs;
	u32 tid = other->tid;
	int err = 0;

	for (u32 i = 0; i <= above->pair.depth; i++)
		if (chain->threads[i] == tid && wakeups_is_holder(pairs->wakeups, other)) {
			above->pair.is_cycle = true;
			return 0;
		}
	if (tid == TID_INTERRUPT || above->pair.depth == chain->steps)
		return 0;
	for (size_t at = bisect(pairs->wait_count, i,
				pairs->waits[i]->tid < tid || (pairs->waits[i]->tid == tid &&
							       pairs->waits[i]->time <= from));
	     at < pairs->wait_count && pairs->waits[at]->tid == tid && !err; at++) {
		const struct trace_event *wait = pairs->waits[at], *next;
		u64 begin = wait_begin_time(wait) > from ? wait_begin_time(wait) : from;
		u64 end = wait->time < to ? wait->time : to;
		struct node *node;

		if (wait_begin_time(wait) >= to)
			break;
		if (!chain->left) {
			above->pair.is_partial = true;
			break;
		}
		chain->left--;
		next = wakeups_other_event_of_wait(pairs->wakeups, wait);
		node = find_or_add_pair_node(pairs, above, wait, next);
		if (!node)
			return -ENOMEM;
		wait_pair_add(&node->pair, wait, next, end - begin);
		chain->threads[node->pair.depth] = wait->tid;
		if (next)
			err = add_steps_of_waker(chain, node, next, begin,
						 end < next->time ? end : next->time);
	}
	return err;
}

/* --- rows of the table --- */

static int compare_nodes_by_parent_and_time(const void *left, const void *right)
{
	const struct node *a = *(const struct node *const *)left;
	const struct node *b = *(const struct node *const *)right;

	return order((uintptr_t)a->above, (uintptr_t)b->above)
		       ?: order(a->pair.sleeper.is_idle, b->pair.sleeper.is_idle)
		       ?: order(b->pair.total, a->pair.total)
		       ?: order(b->pair.count, a->pair.count)
		       ?: order(a->pair.longest->time, b->pair.longest->time)
		       ?: order(a->pair.longest->tid, b->pair.longest->tid);
}

/* Sorts all nodes. The pairs come first, since they have no parent. */
static int sort_nodes(struct pairs *pairs)
{
	u32 count = pairs->nodes.count;

	free(pairs->sorted);
	pairs->sorted = calloc(count + 1UL, sizeof(*pairs->sorted));
	if (!pairs->sorted)
		return -ENOMEM;
	for (u32 i = 0; i < count; i++)
		pairs->sorted[i] = pairs->nodes.entries[i];
	qsort(pairs->sorted, count, sizeof(*pairs->sorted), compare_nodes_by_parent_and_time);
	return 0;
}

/* Appends the rows of the children of `above`, or of the pairs if `above` is NULL. Each row is
 * followed by the rows of its own children. */
static void append_rows_of_children(struct pairs *pairs, const struct node *above)
{
	size_t at = bisect(pairs->nodes.count, i,
			   (uintptr_t)pairs->sorted[i]->above < (uintptr_t)above);

	for (; at < pairs->nodes.count && pairs->sorted[at]->above == above; at++) {
		pairs->rows[pairs->shown.count++] = &pairs->sorted[at]->pair;
		append_rows_of_children(pairs, pairs->sorted[at]);
	}
}

/* Makes chains of at most `steps` steps for the first `chained` pairs, then the rows. */
static int make_pair_rows(struct pairs *pairs, u32 steps, u64 chained)
{
	u32 roots = pairs->nodes.count;
	int err = sort_nodes(pairs);

	for (u32 i = 0; steps && i < roots && i < chained && !err; i++) {
		struct chain chain = {.pairs = pairs, .steps = steps, .left = CHAIN_WAITS_MAX};
		struct node *node = (struct node *)pairs->sorted[i];
		const struct trace_event *wait = node->pair.longest;
		const struct trace_event *other = wakeups_other_event_of_wait(pairs->wakeups, wait);

		chain.threads[0] = wait->tid;
		if (other)
			err = add_steps_of_waker(&chain, node, other, wait_begin_time(wait),
						 wait->time < other->time ? wait->time
									  : other->time);
	}
	err = err ?: sort_nodes(pairs);
	pairs->rows = calloc(pairs->nodes.count + 1UL, sizeof(*pairs->rows));
	if (err || !pairs->rows)
		return -ENOMEM;
	append_rows_of_children(pairs, NULL);
	pairs->shown.rows = pairs->rows;
	return 0;
}

int wait_pairs_create(struct trace_reader *reader, const struct event_filter *filter,
		      const struct string_list *idle, struct frame_names *names,
		      struct event_paths *paths, u32 chain, u64 chained, struct wait_pairs **out)
{
	struct pairs *pairs = calloc(1, sizeof(*pairs));
	struct wait_pairs *shown = (struct wait_pairs *)pairs;
	int err;

	if (!pairs)
		return -ENOMEM;
	*pairs = (struct pairs){.reader = reader, .nodes = INTERN(struct node)};
	err = wakeups_create(reader, &pairs->wakeups);
	if (!err && !wakeups_has_wakers(pairs->wakeups))
		err = -ENODATA;
	err = err ?: wait_ends_create(reader, names, paths, pairs->wakeups, idle, &pairs->ends);
	err = err ?: add_all_waits(pairs, filter) ?: make_pair_rows(pairs, chain, chained);
	if (err)
		wait_pairs_free(&shown);
	else
		*out = shown;
	return err;
}

void wait_pairs_free(struct wait_pairs **shown)
{
	struct pairs *pairs = (struct pairs *)*shown;

	if (!pairs)
		return;
	wait_ends_free(&pairs->ends);
	intern_clear(&pairs->nodes);
	wakeups_free(&pairs->wakeups);
	free(pairs->waits);
	free(pairs->sorted);
	free(pairs->rows);
	free(pairs);
	*shown = NULL;
}
