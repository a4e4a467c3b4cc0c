/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Each file has a sorted array of ranges. */
#include "symbol_cache.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "order.h"

#define NO_SYMBOL UINT32_MAX

struct cache_symbol {
	u64 start, size, address;
	u32 name; /* offset in cache->names */
	bool is_undivided;
};

struct cache_range {
	u64 start, end;
	u32 symbol; /* index of the symbol; NO_SYMBOL: no symbol covers the range */
};

void symbol_cache_free(struct symbol_cache *cache)
{
	for (u32 i = 0; i < MAPPINGS_MAX; i++)
		free(cache->files[i].ranges);
	free(cache->symbols);
	free(cache->names);
	*cache = (struct symbol_cache){};
}

int symbol_cache_find(const struct symbol_cache *cache, u32 number, u64 *addresses, u32 *count,
		      int (*each)(void *arg, const struct trace_symbol *symbol), void *arg)
{
	u32 kept = 0, last = NO_SYMBOL;
	int result = 0;

	for (u32 i = 0; i < *count && !result; i++) {
		const struct cache_range *ranges = cache->files[number].ranges, *range = NULL;
		u32 before =
			bisect(cache->files[number].count, at, ranges[at].start <= addresses[i]);
		const struct cache_symbol *symbol;

		if (before && addresses[i] < ranges[before - 1].end)
			range = &ranges[before - 1];
		if (!range) {
			addresses[kept++] = addresses[i];
		} else if (range->symbol != NO_SYMBOL && range->symbol != last) {
			last = range->symbol;
			symbol = &cache->symbols[last];
			result = each(arg,
				      &(struct trace_symbol){.mapping = number,
							     .start = symbol->start,
							     .size = symbol->size,
							     .address = symbol->address,
							     .name = cache->names + symbol->name});
		}
	}
	*count = kept;
	return result;
}

int symbol_cache_add(struct symbol_cache *cache, const struct trace_symbol *symbol,
		     bool is_undivided)
{
	size_t bytes = strlen(symbol->name) + 1;
	u64 used = cache->range_count * sizeof(struct cache_range) +
		   cache->symbol_count * sizeof(struct cache_symbol) + cache->name_bytes;

	if (cache->answer == cache->symbol_count && used > cache->most) {
		for (u32 i = 0; i < MAPPINGS_MAX && cache->range_count; i++)
			cache->files[i].count = 0;
		cache->range_count = cache->symbol_count = cache->name_bytes = cache->answer = 0;
	}
	if (array_make_room(cache->symbols, cache->symbol_count, cache->symbol_room) ||
	    array_make_rooms(cache->names, cache->name_bytes + bytes, cache->name_room))
		return -ENOMEM;
	memcpy(cache->names + cache->name_bytes, symbol->name, bytes);
	cache->symbols[cache->symbol_count++] = (struct cache_symbol){
		symbol->start, symbol->size, symbol->address, cache->name_bytes, is_undivided};
	cache->name_bytes += bytes;
	return 0;
}

void symbol_cache_drop(struct symbol_cache *cache)
{
	if (cache->answer < cache->symbol_count)
		cache->name_bytes = cache->symbols[cache->answer].name;
	cache->symbol_count = cache->answer;
}

static int add_cached_range(struct symbol_cache *cache, struct cache_file *file,
			    struct cache_range range)
{
	if (array_make_room(file->ranges, file->count, file->room))
		return -ENOMEM;
	file->ranges[file->count++] = range;
	cache->range_count++;
	return 0;
}

/* The symbol of the last answer that covers the address; of several the one with the latest start,
 * as in symbol_table.h. */
static u32 find_symbol_in_last_answer(const struct symbol_cache *cache, u64 address)
{
	const struct cache_symbol *first = cache->symbols + cache->answer;
	u32 count = bisect(cache->symbol_count - cache->answer, i, first[i].start <= address);

	while (count && address - first[count - 1].start >= first[count - 1].size)
		count--;
	return count ? cache->answer + count - 1 : NO_SYMBOL;
}

static int compare_range_starts(const void *left, const void *right)
{
	const struct cache_range *a = left, *b = right;

	return order(a->start, b->start);
}

/* Sorts the ranges of a file. If two answers have given the same range, one copy is dropped. */
static void sort_ranges(struct symbol_cache *cache, struct cache_file *file)
{
	u32 kept = 0;

	if (file->count)
		qsort(file->ranges, file->count, sizeof(*file->ranges), compare_range_starts);
	for (u32 i = 0; i < file->count; i++)
		if (!kept || file->ranges[kept - 1].start != file->ranges[i].start)
			file->ranges[kept++] = file->ranges[i];
	cache->range_count -= file->count - kept;
	file->count = kept;
}

/* A file without any symbol is not cached: it may have symbols once its build id is known. */
int symbol_cache_add_answered_ranges(struct symbol_cache *cache, u32 number, const u64 *addresses,
				     u32 count)
{
	struct cache_file *file = &cache->files[number];
	int err = 0;

	if (cache->answer == cache->symbol_count)
		return 0;
	for (u32 i = cache->answer; i < cache->symbol_count && !err; i++) {
		const struct cache_symbol *symbol = &cache->symbols[i];

		if (symbol->is_undivided)
			err = add_cached_range(cache, file,
					       (struct cache_range){symbol->start,
								    symbol->start + symbol->size,
								    i});
	}
	for (u32 i = 0; i < count && !err; i++) {
		u32 symbol = find_symbol_in_last_answer(cache, addresses[i]);

		if (symbol == NO_SYMBOL || !cache->symbols[symbol].is_undivided)
			err = add_cached_range(
				cache, file,
				(struct cache_range){addresses[i], addresses[i] + 1, symbol});
	}
	sort_ranges(cache, file);
	cache->answer = cache->symbol_count;
	return err;
}
