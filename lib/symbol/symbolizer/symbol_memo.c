/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A list of ranges for each file, searched by halves. */
#include "symbol_memo.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "bisect.h"
#include "order.h"

#define NO_SYMBOL UINT32_MAX

struct memo_symbol {
	u64 start, size, address;
	u32 name; /* offset in the names */
	bool is_alone;
};

struct memo_range {
	u64 start, end;
	u32 symbol; /* NO_SYMBOL: there is none */
};

static void forget(struct symbol_memo *memo)
{
	for (u32 i = 0; i < MAPPINGS_MAX && memo->range_count; i++)
		memo->files[i].count = 0;
	memo->range_count = memo->symbol_count = memo->name_bytes = memo->answer = 0;
}

void symbol_memo_free(struct symbol_memo *memo)
{
	for (u32 i = 0; i < MAPPINGS_MAX; i++)
		free(memo->files[i].ranges);
	free(memo->symbols);
	free(memo->names);
	*memo = (struct symbol_memo){};
}

/* --- what is known --- */

static u32 ranges_before(const struct memo_file *file, u64 address)
{
	return bisect(file->count, i, file->ranges[i].start <= address);
}

static const struct memo_range *range_at(const struct memo_file *file, u64 address)
{
	u32 before = ranges_before(file, address);

	return before && address < file->ranges[before - 1].end ? &file->ranges[before - 1] : NULL;
}

static struct trace_symbol symbol_of(const struct symbol_memo *memo, u32 number, u32 index)
{
	const struct memo_symbol *symbol = &memo->symbols[index];

	return (struct trace_symbol){.mapping = number,
				     .start = symbol->start,
				     .size = symbol->size,
				     .address = symbol->address,
				     .name = memo->names + symbol->name};
}

int symbol_memo_recall(const struct symbol_memo *memo, u32 number, u64 *addresses, u32 *count,
		       int (*each)(void *arg, const struct trace_symbol *symbol), void *arg)
{
	u32 kept = 0, last = NO_SYMBOL;
	int result = 0;

	for (u32 i = 0; i < *count && !result; i++) {
		const struct memo_range *range = range_at(&memo->files[number], addresses[i]);
		struct trace_symbol symbol;

		if (!range) {
			addresses[kept++] = addresses[i];
		} else if (range->symbol != NO_SYMBOL && range->symbol != last) {
			last = range->symbol;
			symbol = symbol_of(memo, number, last);
			result = each(arg, &symbol);
		}
	}
	*count = kept;
	return result;
}

/* --- an answer --- */

static u64 bytes_of(const struct symbol_memo *memo)
{
	return memo->range_count * sizeof(struct memo_range) +
	       memo->symbol_count * sizeof(struct memo_symbol) + memo->name_bytes;
}

int symbol_memo_add(struct symbol_memo *memo, const struct trace_symbol *symbol, bool is_alone)
{
	size_t bytes = strlen(symbol->name) + 1;

	if (memo->answer == memo->symbol_count && bytes_of(memo) > memo->most)
		forget(memo);
	if (array_make_room(memo->symbols, memo->symbol_count, memo->symbol_room) ||
	    array_make_rooms(memo->names, memo->name_bytes + bytes, memo->name_room))
		return -ENOMEM;
	memcpy(memo->names + memo->name_bytes, symbol->name, bytes);
	memo->symbols[memo->symbol_count++] = (struct memo_symbol){
		symbol->start, symbol->size, symbol->address, memo->name_bytes, is_alone};
	memo->name_bytes += bytes;
	return 0;
}

void symbol_memo_drop(struct symbol_memo *memo)
{
	if (memo->answer < memo->symbol_count)
		memo->name_bytes = memo->symbols[memo->answer].name;
	memo->symbol_count = memo->answer;
}

static int add_range(struct symbol_memo *memo, struct memo_file *file, struct memo_range range)
{
	if (array_make_room(file->ranges, file->count, file->room))
		return -ENOMEM;
	file->ranges[file->count++] = range;
	memo->range_count++;
	return 0;
}

static bool covers(const struct memo_symbol *symbol, u64 address)
{
	return address >= symbol->start && address - symbol->start < symbol->size;
}

/* Of those that cover an address the one that starts nearest before it is meant:
 * symbol/table/symbol_table.h. */
static u32 symbol_at(const struct symbol_memo *memo, u64 address)
{
	const struct memo_symbol *first = memo->symbols + memo->answer;
	u32 index = bisect(memo->symbol_count - memo->answer, i, first[i].start <= address);

	while (index && !covers(&first[index - 1], address))
		index--;
	return index ? memo->answer + index - 1 : NO_SYMBOL;
}

static int add_functions(struct symbol_memo *memo, struct memo_file *file)
{
	int err = 0;

	for (u32 i = memo->answer; i < memo->symbol_count && !err; i++) {
		const struct memo_symbol *symbol = &memo->symbols[i];

		if (symbol->is_alone)
			err = add_range(memo, file,
					(struct memo_range){symbol->start,
							    symbol->start + symbol->size, i});
	}
	return err;
}

static int add_address(struct symbol_memo *memo, struct memo_file *file, u64 address)
{
	u32 symbol = symbol_at(memo, address);

	if (symbol != NO_SYMBOL && memo->symbols[symbol].is_alone)
		return 0;
	return add_range(memo, file, (struct memo_range){address, address + 1, symbol});
}

static int by_start(const void *left, const void *right)
{
	const struct memo_range *a = left, *b = right;

	return order(a->start, b->start);
}

/* The same range may have been answered twice. */
static void sort(struct symbol_memo *memo, struct memo_file *file)
{
	u32 kept = 0;

	if (file->count)
		qsort(file->ranges, file->count, sizeof(*file->ranges), by_start);
	for (u32 i = 0; i < file->count; i++)
		if (!kept || file->ranges[kept - 1].start != file->ranges[i].start)
			file->ranges[kept++] = file->ranges[i];
	memo->range_count -= file->count - kept;
	file->count = kept;
}

/* A file without any symbol may have one when its build id is known. */
int symbol_memo_answered(struct symbol_memo *memo, u32 number, const u64 *addresses, u32 count)
{
	struct memo_file *file = &memo->files[number];
	int err;

	if (memo->answer == memo->symbol_count)
		return 0;
	err = add_functions(memo, file);
	for (u32 i = 0; i < count && !err; i++)
		err = add_address(memo, file, addresses[i]);
	sort(memo, file);
	memo->answer = memo->symbol_count;
	return err;
}
