/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The answer comes from a sandbox and is checked: each place is a requested one and occurs once; a
 * symbol covers its place; of the functions of a place only the outermost is not inlined; an offset
 * of a text is the begin of a text, and each text ends. Items are read twice: the first pass counts
 * the functions.
 */
#include "debug_items.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "debug_service.h"

/* The state of parsing an answer. */
struct taking {
	const char *at, *end; /* the items that are left to parse */
	const char *texts; /* the texts of the answer, each with its NUL; the first text is empty */
	u32 text_bytes;
	const u64 *places;
	u32 count; /* number of requested places */
	bool is_kernel;
	struct debug_names *names;
	u32 room; /* number of functions for which memory is allocated; 0 = this pass only counts
		     them */
};

static bool read_item_bytes(struct taking *taking, void *data, size_t bytes)
{
	if ((size_t)(taking->end - taking->at) < bytes)
		return false;
	memcpy(data, taking->at, bytes);
	taking->at += bytes;
	return true;
}

static bool are_answered_texts_valid(const struct taking *taking)
{
	const char *at = taking->texts, *end = taking->texts + taking->text_bytes;

	if (!taking->text_bytes || *at++)
		return false;
	while (at < end) {
		size_t length = strnlen(at, end - at);

		if (!length || length >= DEBUG_TEXT_BYTES_MAX || at + length == end)
			return false;
		at += length + 1;
	}
	return true;
}

static bool text_of_answer_at_offset(const struct taking *taking, u32 offset, const char **text)
{
	*text = offset ? taking->texts + offset : NULL;
	return offset < taking->text_bytes && (!offset || !taking->texts[offset - 1]);
}

static bool read_item(struct taking *taking, struct debug_name *name)
{
	struct debug_names *names = taking->names;
	struct code_place function;
	struct debug_function raw;
	struct debug_item item;
	u64 place;

	if (!read_item_bytes(taking, &item, sizeof(item)) || item.place >= taking->count ||
	    (taking->is_kernel && item.symbol) || item.functions > CODE_PLACES_MAX)
		return false;
	place = taking->places[item.place];
	if (item.symbol &&
	    (place < item.symbol_start || place - item.symbol_start >= item.symbol_size))
		return false;
	*name = (struct debug_name){.place = place,
				    .symbol_start = item.symbol_start,
				    .symbol_size = item.symbol_size,
				    .count = item.functions};
	if (!text_of_answer_at_offset(taking, item.symbol, &name->symbol))
		return false;
	if (taking->room)
		name->functions = names->functions + names->function_count;
	for (u32 i = 0; i < item.functions; i++) {
		bool is_inlined = i + 1 < item.functions;

		if (!read_item_bytes(taking, &raw, sizeof(raw)) || raw.inlined != is_inlined)
			return false;
		function = (struct code_place){.line = raw.line, .inlined = is_inlined};
		if (!text_of_answer_at_offset(taking, raw.name, &function.function) ||
		    !text_of_answer_at_offset(taking, raw.file, &function.file))
			return false;
		if (taking->room)
			names->functions[names->function_count] = function;
		names->function_count++;
	}
	return true;
}

static bool read_items(struct taking *taking, const struct debug_answer *answer)
{
	struct debug_names *names = taking->names;

	taking->at = names->data + answer->text_bytes;
	taking->end = names->data + answer->bytes;
	names->function_count = 0;
	for (u32 i = 0; i < answer->items; i++)
		if (!read_item(taking, &names->names[i]))
			return false;
	names->count = answer->items;
	return taking->at == taking->end;
}

static int compare_name_places(const void *left, const void *right)
{
	const struct debug_name *a = left, *b = right;

	return (a->place > b->place) - (a->place < b->place);
}

static int read_answer(struct taking *taking, const struct debug_answer *answer)
{
	struct debug_names *names = taking->names;

	names->names = calloc(answer->items + 1UL, sizeof(*names->names));
	if (!names->names)
		return -ENOMEM;
	taking->texts = names->data;
	taking->text_bytes = answer->text_bytes;
	if (answer->text_bytes > answer->bytes || !are_answered_texts_valid(taking) ||
	    !read_items(taking, answer))
		return -EBADMSG;
	taking->room = names->function_count;
	names->functions = calloc(taking->room + 1UL, sizeof(*names->functions));
	if (!names->functions)
		return -ENOMEM;
	if (!read_items(taking, answer))
		return -EBADMSG;
	if (names->count)
		qsort(names->names, names->count, sizeof(*names->names), compare_name_places);
	for (u32 i = 1; i < names->count; i++)
		if (names->names[i - 1].place == names->names[i].place)
			return -EBADMSG;
	return 0;
}

int debug_items_parse_answer(char *data, const struct debug_answer *answer, const u64 *places,
			     u32 count, bool is_kernel, struct debug_names **out)
{
	struct debug_names *names = calloc(1, sizeof(*names));
	struct taking taking = {
		.places = places, .count = count, .is_kernel = is_kernel, .names = names};
	int result;

	if (!names || answer->items > count) {
		free(names);
		return names ? -EBADMSG : -ENOMEM;
	}
	names->data = data;
	result = read_answer(&taking, answer);
	if (result) {
		names->data = NULL;
		debug_names_free(&names);
	} else {
		*out = names;
	}
	return result;
}

void debug_names_free(struct debug_names **names)
{
	if (!*names)
		return;
	free((*names)->names);
	free((*names)->functions);
	free((*names)->data);
	free(*names);
	*names = NULL;
}

const struct debug_name *debug_names_at(const struct debug_names *names, u64 place)
{
	const struct debug_name key = {.place = place};

	return names ? bsearch(&key, names->names, names->count, sizeof(key), compare_name_places)
		     : NULL;
}
