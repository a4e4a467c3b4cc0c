/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The frames of stacks are known; the sampled pcs stand in the events, which are gone through once
 * for them. A place is a frame, or the byte before it. Places are collected with repetitions,
 * sorted and made unique whenever their array is full; what was collected a moment ago is not
 * collected again.
 *
 * A user frame has its mapping in the upper bits, so that sorted places stand together by file.
 */
#include "frame_debug.h"

#include <errno.h>
#include <stdlib.h>

#include "array.h"
#include "code_layout.h"

#define RECENT_BITS 14

struct places {
	u64 *place;
	size_t count, room;
	u64 recent[1 << RECENT_BITS]; /* by hash */
};

struct found {
	u32 mapping; /* 0: the kernel */
	struct debug_names *names;
};

struct frame_debug {
	struct found *found; /* by mapping */
	u32 count, room;
};

static int by_value(const void *left, const void *right)
{
	u64 a = *(const u64 *)left, b = *(const u64 *)right;

	return (a > b) - (a < b);
}

static void make_unique(struct places *places)
{
	size_t kept = 0;

	if (places->count)
		qsort(places->place, places->count, sizeof(u64), by_value);
	for (size_t i = 0; i < places->count; i++)
		if (!kept || places->place[kept - 1] != places->place[i])
			places->place[kept++] = places->place[i];
	places->count = kept;
}

static int make_room(struct places *places)
{
	if (places->count < places->room)
		return 0;
	make_unique(places);
	if (places->count < places->room / 2)
		return 0;
	return array_make_room(places->place, places->room, places->room);
}

static u64 place_of(u64 frame, bool return_address)
{
	u64 offset = FRAME_IS_KERNEL(frame) ? frame : FRAME_OFFSET(frame);

	return frame - (return_address && offset);
}

static int add_place(struct places *places, u64 place)
{
	u64 *recent = &places->recent[place * 0x9e3779b97f4a7c15ULL >> (64 - RECENT_BITS)];

	if (*recent == place)
		return 0;
	if (make_room(places))
		return -ENOMEM;
	*recent = place;
	places->place[places->count++] = place;
	return 0;
}

static int add_stack(struct places *places, const struct trace_stack *stack)
{
	int result = stack->depth ? add_place(places, stack->frames[0]) : 0;

	for (u32 i = 0; i < stack->depth && !result; i++)
		result = add_place(places, place_of(stack->frames[i], true));
	return result;
}

static int add_leaf(void *arg, const struct trace_event *event)
{
	return event->leaf ? add_place(arg, event->leaf) : 0;
}

static bool has_leaves(const struct trace_reader *reader)
{
	const struct trace_source *sources;
	u32 count = trace_reader_sources(reader, &sources);

	for (u32 i = 0; i < count; i++)
		if (sources[i].extras & TRACE_EXTRA_LEAF)
			return true;
	return false;
}

/* Where the events are damaged, those before it have been seen; whoever shows them says so. */
static int collect(struct trace_reader *reader, struct places *places)
{
	const struct trace_stack *stacks;
	u32 count = trace_reader_stacks(reader, &stacks);
	struct stackmap_error error;
	int result = 0;

	for (u32 i = 0; i < count && !result; i++)
		result = add_stack(places, &stacks[i]);
	if (!result && has_leaves(reader) &&
	    trace_reader_events(reader, add_leaf, places, &error) == -ENOMEM)
		result = -ENOMEM;
	make_unique(places);
	return result;
}

static u32 mapping_of(u64 place)
{
	return FRAME_IS_KERNEL(place) ? 0 : FRAME_MAPPING(place);
}

/* Of the kernel's addresses those of its image, not of modules; all, if it is not known. */
static u32 cut_to_kernel(const struct trace_module *kernel, u64 *places, u32 count)
{
	u32 kept = 0;

	if (!kernel->start)
		return count;
	for (u32 i = 0; i < count; i++)
		if (places[i] >= kernel->start && places[i] < kernel->end)
			places[kept++] = places[i];
	return kept;
}

/* `places` all belong to one mapping. */
static int find_names(struct trace_reader *reader, struct debug_lookup *lookup, u64 *places,
		      u32 count, struct debug_names **names)
{
	u32 mapping = mapping_of(places[0]);
	struct debug_code code = {.release = trace_reader_info(reader)->kernel};

	if (mapping) {
		code.mapping = trace_reader_mapping(reader, mapping);
		code_layout_find(reader, mapping, &code.layout);
		for (u32 i = 0; i < count; i++)
			places[i] = FRAME_OFFSET(places[i]);
	} else {
		code.module = trace_reader_kernel(reader);
		count = code.module ? cut_to_kernel(code.module, places, count) : 0;
	}
	if ((!code.mapping && !code.module) || !count)
		return -ENOENT;
	return debug_lookup_find(lookup, &code, places, count, names);
}

static int add_found(struct frame_debug *debug, u32 mapping, struct debug_names *names)
{
	if (array_make_room(debug->found, debug->count, debug->room))
		return -ENOMEM;
	debug->found[debug->count++] = (struct found){.mapping = mapping, .names = names};
	return 0;
}

static int find_all(struct trace_reader *reader, struct debug_lookup *lookup, struct places *places,
		    struct frame_debug *debug)
{
	for (size_t first = 0, end; first < places->count; first = end) {
		u32 mapping = mapping_of(places->place[first]);
		struct debug_names *names;
		int result;

		end = first;
		while (end < places->count && mapping_of(places->place[end]) == mapping)
			end++;
		result = find_names(reader, lookup, &places->place[first], end - first, &names);
		if (!result && add_found(debug, mapping, names)) {
			debug_names_free(&names);
			result = -ENOMEM;
		}
		if (result == -ENOMEM)
			return result;
	}
	return 0;
}

static int by_mapping(const void *left, const void *right)
{
	const struct found *a = left, *b = right;

	return (a->mapping > b->mapping) - (a->mapping < b->mapping);
}

int frame_debug_create(struct trace_reader *reader, struct debug_lookup *lookup,
		       struct frame_debug **out)
{
	struct frame_debug *debug = calloc(1, sizeof(*debug));
	struct places *places = calloc(1, sizeof(*places));
	int result = debug && places ? collect(reader, places) : -ENOMEM;

	result = result ?: find_all(reader, lookup, places, debug);
	if (places)
		free(places->place);
	free(places);
	if (result) {
		frame_debug_free(&debug);
		return result;
	}
	if (debug->count)
		qsort(debug->found, debug->count, sizeof(*debug->found), by_mapping);
	*out = debug;
	return 0;
}

void frame_debug_free(struct frame_debug **debug)
{
	if (!*debug)
		return;
	for (u32 i = 0; i < (*debug)->count; i++)
		debug_names_free(&(*debug)->found[i].names);
	free((*debug)->found);
	free(*debug);
	*debug = NULL;
}

const struct debug_name *frame_debug_find(const struct frame_debug *debug, u64 frame,
					  bool return_address)
{
	u64 place = place_of(frame, return_address);
	const struct found key = {.mapping = mapping_of(place)};
	const struct found *found =
		debug->count ? bsearch(&key, debug->found, debug->count, sizeof(key), by_mapping)
			     : NULL;

	if (!found)
		return NULL;
	return debug_names_at(found->names, key.mapping ? FRAME_OFFSET(place) : place);
}
