/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A k-way merge on a binary heap of open blocks. Blocks of one CPU may overlap a little, because an
 * interrupted program commits late; both blocks are then open at the same time.
 */
#include "trace/read/event_merge.h"

#include <errno.h>
#include <stdlib.h>

#include "error.h"
#include "order.h"
#include "trace/block/event_block.h"

struct open_block {
	struct trace_event *events;
	u32 next;
	u32 count;
	u32 sequence;
};

struct event_merge {
	struct block_opener *opener;
	const struct event_file *file;
	struct open_block *heap; /* open blocks as a binary heap, with room for all blocks */
	u32 open;
};

static u64 memory_bytes_of_events(u32 events)
{
	return events * sizeof(struct trace_event);
}

static int compare_blocks_by_first_time(const void *a, const void *b)
{
	const struct event_block *x = a, *y = b;

	return order(x->first_time, y->first_time) ?: order(x->cpu, y->cpu) ?: order(x->sequence, y->sequence);
}

void event_blocks_sort(struct event_block *blocks, u32 count)
{
	if (count)
		qsort(blocks, count, sizeof(*blocks), compare_blocks_by_first_time);
}

static bool is_next_event_before(const struct open_block *a, const struct open_block *b)
{
	const struct trace_event *x = &a->events[a->next], *y = &b->events[b->next];

	if (x->time != y->time)
		return x->time < y->time;
	if (x->cpu != y->cpu)
		return x->cpu < y->cpu;
	return a->sequence < b->sequence;
}

static void swap_blocks(struct open_block *a, struct open_block *b)
{
	struct open_block held = *a;

	*a = *b;
	*b = held;
}

static void sift_first_block_down_heap(struct event_merge *merge)
{
	u32 place = 0;

	for (;;) {
		u32 least = place;

		for (u32 child = 2 * place + 1; child <= 2 * place + 2 && child < merge->open;
		     child++)
			if (is_next_event_before(&merge->heap[child], &merge->heap[least]))
				least = child;
		if (least == place)
			return;
		swap_blocks(&merge->heap[place], &merge->heap[least]);
		place = least;
	}
}

static int decode_block(struct event_merge *merge, const struct event_block *block,
			struct trace_event *events, struct stackmap_error *error)
{
	const bool *is_swapped = merge->file->is_swapped;
	struct trace_block_header header;
	struct block_view view;
	int err = block_load(merge->opener, merge->file->fd, block->offset, merge->file->end,
			     &header, error);

	if (!err && header.records != block->records)
		return error_set_at(error, EBADMSG, block->offset,
				    "changed at byte %llu while it was read",
				    (unsigned long long)block->offset);
	if (!err)
		err = block_open(merge->opener, block->offset, &view, error);
	if (err)
		return err;
	err = event_block_decode(&view, &block->limits, events);
	for (u32 i = 0; i < block->records && !err && is_swapped; i++) {
		u64 value = events[i].value;

		if (!is_swapped[events[i].kind])
			continue;
		events[i].value = events[i].further;
		events[i].further = value;
	}
	return err ? error_set_at(error, -err, block->offset,
				  "damaged at byte %llu: the block's events make no sense",
				  (unsigned long long)block->offset)
		   : 0;
}

static int open_block(struct event_merge *merge, const struct event_block *block,
		      struct stackmap_error *error)
{
	struct open_block *heap = merge->heap;
	struct trace_event *events;
	u32 place = merge->open;
	int err;

	if (!arena_charge_other_memory(merge->file->limit, memory_bytes_of_events(block->records)))
		return error_set_at(error, EBADMSG, block->offset,
				    "damaged at byte %llu: too many blocks cover the same time",
				    (unsigned long long)block->offset);
	events = calloc(block->records, sizeof(*events));
	err = events ? decode_block(merge, block, events, error)
		     : error_set(error, ENOMEM, "no memory for the events of a block");
	if (err) {
		arena_uncharge_other_memory(merge->file->limit,
					    memory_bytes_of_events(block->records));
		free(events);
		return err;
	}
	heap[merge->open++] = (struct open_block){
		.events = events, .count = block->records, .sequence = block->sequence};
	for (; place && is_next_event_before(&heap[place], &heap[(place - 1) / 2]);
	     place = (place - 1) / 2)
		swap_blocks(&heap[place], &heap[(place - 1) / 2]);
	return 0;
}

static void remove_first_block(struct event_merge *merge)
{
	arena_uncharge_other_memory(merge->file->limit,
				    memory_bytes_of_events(merge->heap[0].count));
	free(merge->heap[0].events);
	merge->heap[0] = merge->heap[--merge->open];
	sift_first_block_down_heap(merge);
}

static const struct trace_event *next_event_of_first_block(const struct event_merge *merge)
{
	return &merge->heap[0].events[merge->heap[0].next];
}

static int merge_blocks(struct event_merge *merge, const struct event_block *blocks, u32 count,
			int (*each)(void *arg, const struct trace_event *event), void *arg,
			struct stackmap_error *error)
{
	u32 next = 0;
	int err = 0;

	while (!err && (merge->open || next < count)) {
		bool is_due = next < count &&
			      (!merge->open ||
			       blocks[next].first_time <= next_event_of_first_block(merge)->time);

		if (is_due) {
			err = open_block(merge, &blocks[next++], error);
			/* Commands read several files, so the error needs the file's path. */
			if (err && error) {
				struct stackmap_error why = *error;

				error_set_at(error, -err, why.offset, "%s: %s", merge->file->path,
					     why.message);
			}
			continue;
		}
		err = each(arg, next_event_of_first_block(merge));
		if (++merge->heap[0].next == merge->heap[0].count)
			remove_first_block(merge);
		else
			sift_first_block_down_heap(merge);
	}
	return err;
}

int event_merge_run(const struct event_block *blocks, u32 count, const struct event_file *file,
		    int (*each)(void *arg, const struct trace_event *event), void *arg,
		    struct stackmap_error *error)
{
	struct event_merge merge = {.file = file};
	int err;

	merge.heap = calloc((size_t)count + 1, sizeof(*merge.heap));
	if (!merge.heap || block_opener_create(&merge.opener)) {
		free(merge.heap);
		return error_set(error, ENOMEM, "no memory to read events");
	}
	err = merge_blocks(&merge, blocks, count, each, arg, error);
	while (merge.open)
		remove_first_block(&merge);
	block_opener_free(&merge.opener);
	free(merge.heap);
	return err;
}
