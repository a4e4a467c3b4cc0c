/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Frames of stacks are in tables of the reader; sampled pcs are in the events, which are read once
 * for them. A place is a frame, or the byte before a return address. Places are collected with
 * repetitions, and sorted and made unique whenever their array is full; a small cache skips places
 * that were just collected.
 *
 * A user frame has its mapping in the upper bits, so sorted places are grouped by file.
 */
#include "frame_debug.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "array.h"
#include "order.h"

/* The reader has the symbols sorted by mapping and start. A recording may come from an attacker:
 * symbols whose addresses would wrap are left out. */

static void add(struct elf_segments *layout, const struct trace_symbol *symbol)
{
	struct elf_segment *last = layout->count ? &layout->segment[layout->count - 1] : NULL;
	u64 reach;

	if (last && last->address - last->offset == symbol->address - symbol->start) {
		reach = symbol->start + symbol->size - last->offset;
		last->bytes = reach > last->bytes ? reach : last->bytes;
	} else if (layout->count < ELF_SEGMENTS_MAX) {
		layout->segment[layout->count++] =
			(struct elf_segment){symbol->address, symbol->start, symbol->size};
	}
}

void code_layout_find(const struct trace_reader *reader, u32 mapping, struct elf_segments *layout)
{
	const struct trace_symbol *symbols;
	u32 count = trace_reader_symbols(reader, &symbols);
	u32 first = bisect(count, i, symbols[i].mapping < mapping);

	layout->count = 0;
	for (u32 i = first; i < count && symbols[i].mapping == mapping; i++)
		if (symbols[i].address && symbols[i].size < UINT64_MAX - symbols[i].start &&
		    symbols[i].size < UINT64_MAX - symbols[i].address)
			add(layout, &symbols[i]);
}

#define RECENT_BITS 14

struct places {
	u64 *place;
	size_t count, room;
	u64 recent[1 << RECENT_BITS]; /* last place of each hash value */
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

static int add_leaf(void *arg, const struct trace_event *event)
{
	return event->leaf ? add_place(arg, event->leaf) : 0;
}

/* True if events have the pc of the sample apart from their stack. */
static bool any_source_has_leaf(const struct trace_reader *reader)
{
	const struct trace_source *sources;
	u32 count = trace_reader_sources(reader, &sources);

	for (u32 i = 0; i < count; i++)
		if (sources[i].extras & TRACE_EXTRA_LEAF)
			return true;
	return false;
}

/* Damaged events end the collection without an error here: the pass that shows the events
 * reports it. */
static int collect(struct trace_reader *reader, struct places *places)
{
	const struct trace_stack *stacks;
	u32 count = trace_reader_stacks(reader, &stacks);
	struct stackmap_error error;
	int result = 0;

	for (u32 i = 0; i < count && !result; i++) {
		result = stacks[i].depth ? add_place(places, stacks[i].frames[0]) : 0;
		for (u32 j = 0; j < stacks[i].depth && !result; j++)
			result = add_place(places, place_of(stacks[i].frames[j], true));
	}
	if (!result && any_source_has_leaf(reader) &&
	    trace_reader_events(reader, add_leaf, places, &error) == -ENOMEM)
		result = -ENOMEM;
	make_unique(places);
	return result;
}

static u32 mapping_of(u64 place)
{
	return FRAME_IS_KERNEL(place) ? 0 : FRAME_MAPPING(place);
}

/* Keeps the addresses of the kernel image, without those of modules; keeps all if the range of
 * the image is unknown. */
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

/* Looks up places of one mapping. */
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
		if (!result && array_make_room(debug->found, debug->count, debug->room)) {
			debug_names_free(&names);
			result = -ENOMEM;
		}
		if (result == -ENOMEM)
			return result;
		if (!result)
			debug->found[debug->count++] =
				(struct found){.mapping = mapping, .names = names};
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

bool frame_debug_found(const struct frame_debug *debug)
{
	return debug->count > 0;
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
