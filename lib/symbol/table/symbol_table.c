/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A sorted array and a pool of names. Sealing sorts by start, keeps the best symbol of each start,
 * gives symbols of unknown size their end, and links each symbol to the nearest earlier one that
 * reaches beyond its start ("outer"). A search is a binary search for the last start before the
 * address; while the symbol found has ended before the address, the search goes on to its outer
 * symbol. This finds the outer function after a nested entry point.
 */
#include "symbol_table.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "order.h"

#define NO_OUTER UINT32_MAX
#define ENTRIES_MAX (1U << 26)
#define NAMES_MAX (1U << 31)
#define DIGIT_BITS 11
#define DIGITS (1U << DIGIT_BITS)
#define OUTER_STEPS_MAX                                                                            \
	64 /* real symbols lie one or two deep inside others; more is a hostile file */

struct entry {
	u64 start;
	u64 end;  /* end of the symbol; until the table is sealed, the limit of a symbol of unknown
		     size */
	u32 name; /* offset of the name in the pool; 0 = the entry is a bound, which only ends the
		     symbol before it */
	u32 outer;
	u32 rank;
	bool sized, is_label, takes_labels;
};

struct symbol_table {
	struct entry *entries;
	u32 count;
	u32 capacity;
	char *names;
	size_t name_bytes;
	size_t name_capacity;
};

int symbol_table_create(struct symbol_table **out)
{
	struct symbol_table *table = calloc(1, sizeof(*table));

	if (!table)
		return -ENOMEM;
	table->name_bytes = 1;
	*out = table;
	return 0;
}

size_t symbol_table_bytes(const struct symbol_table *table)
{
	return sizeof(*table) + table->capacity * sizeof(*table->entries) + table->name_capacity;
}

void symbol_table_free(struct symbol_table **table)
{
	if (!*table)
		return;
	free((*table)->entries);
	free((*table)->names);
	free(*table);
	*table = NULL;
}

int symbol_table_add(struct symbol_table *table, const struct symbol *symbol)
{
	size_t bytes = symbol->name ? symbol->name_bytes + 1 : 0;
	struct entry entry = {
		.start = symbol->start,
		.end = symbol->start,
		.rank = symbol->rank,
		.sized = symbol->name && symbol->size,
		.is_label = symbol->is_label,
		.takes_labels = symbol->takes_labels,
	};

	if (symbol->name && symbol->limit <= symbol->start)
		return 0;
	if (table->count >= ENTRIES_MAX || bytes > NAMES_MAX - table->name_bytes)
		return -E2BIG;
	if (array_make_room(table->entries, table->count, table->capacity) ||
	    array_make_rooms(table->names, table->name_bytes + bytes, table->name_capacity))
		return -ENOMEM;
	if (symbol->name) {
		bool is_limited = !symbol->size || symbol->size > symbol->limit - symbol->start;

		entry.end = is_limited ? symbol->limit : symbol->start + symbol->size;
		entry.name = table->name_bytes;
		memcpy(table->names + entry.name, symbol->name, symbol->name_bytes);
		table->names[entry.name + symbol->name_bytes] = 0;
		table->name_bytes += bytes;
	}
	table->entries[table->count++] = entry;
	return 0;
}

/* Orders symbols of one start, the best one first: see symbol_table.h. */
static int compare_symbols_of_start(const void *left, const void *right, void *arg)
{
	const struct entry *a = left, *b = right;
	const char *names = arg;
	int by = order(!a->name, !b->name);

	if (!by)
		by = order(b->rank, a->rank);
	if (!by)
		by = order(b->end, a->end);
	if (!by && a->name)
		by = order(strspn(names + a->name, "_"), strspn(names + b->name, "_"));
	return by ? by : order(a->name, b->name);
}

struct place {
	u64 start;
	u32 entry;
};

/* Sorts by one digit of the start; elements with the same digit keep their order. */
static void sort_by_start_digit(const struct place *from, struct place *to, u32 count, u32 shift)
{
	u32 next[DIGITS] = {}, sum = 0;

	for (u32 i = 0; i < count; i++)
		next[from[i].start >> shift & (DIGITS - 1)]++;
	for (u32 digit = 0; digit < DIGITS; digit++) {
		u32 places = next[digit];

		next[digit] = sum;
		sum += places;
	}
	for (u32 i = 0; i < count; i++)
		to[next[from[i].start >> shift & (DIGITS - 1)]++] = from[i];
}

/* Moves the entries to the order of their starts, digit by digit (a radix sort): starts of a table
 * differ in 20 to 30 bits, so two or three passes do. False: no memory. */
static bool sort_by_start(struct symbol_table *table)
{
	u32 count = table->count;
	struct place *places = reallocarray(NULL, count, 2 * sizeof(*places)), *from = places;
	struct entry *sorted = reallocarray(NULL, count, sizeof(*sorted));
	struct place *to = places ? places + count : NULL;
	u64 differ = 0;

	for (u32 i = 0; places && i < count; i++) {
		from[i] = (struct place){table->entries[i].start, i};
		differ |= from[i].start ^ from[0].start;
	}
	for (u32 shift = 0; places && sorted && shift < 64; shift += DIGIT_BITS) {
		struct place *sorted_places = to;

		if (!(differ >> shift & (DIGITS - 1)))
			continue;
		sort_by_start_digit(from, to, count, shift);
		to = from;
		from = sorted_places;
	}
	for (u32 i = 0; places && sorted && i < count; i++)
		sorted[i] = table->entries[from[i].entry];
	free(places);
	if (!places || !sorted) {
		free(sorted);
		return false;
	}
	free(table->entries);
	table->entries = sorted;
	table->capacity = count;
	return true;
}

static int compare_starts(const void *left, const void *right, void *arg)
{
	const struct entry *a = left, *b = right;

	return order(a->start, b->start) ?: compare_symbols_of_start(left, right, arg);
}

static void sort_symbols(struct symbol_table *table)
{
	struct entry *entries = table->entries;
	u32 ascending = 1;

	while (ascending < table->count && entries[ascending - 1].start <= entries[ascending].start)
		ascending++;
	if (ascending < table->count && !sort_by_start(table)) {
		qsort_r(entries, table->count, sizeof(*entries), compare_starts, table->names);
		return;
	}
	entries = table->entries;
	for (u32 i = 0, end; i < table->count; i = end) {
		for (end = i + 1; end < table->count && entries[end].start == entries[i].start;)
			end++;
		if (end - i > 1)
			qsort_r(entries + i, end - i, sizeof(*entries), compare_symbols_of_start,
				table->names);
	}
}

static bool is_label_in_function(const struct symbol_table *table, const struct entry *entry,
				 const struct entry *function)
{
	const char *name;
	size_t bytes;

	if (!entry->is_label || function->sized || !function->name || entry->start >= function->end)
		return false;
	name = table->names + function->name;
	bytes = strlen(name);
	return function->takes_labels || (!strncmp(table->names + entry->name, name, bytes) &&
					  table->names[entry->name + bytes] == '.');
}

/* Drops symbols after the best one of their start, symbols without a size inside one with a size,
 * and labels of functions. */
static void drop_symbols_hidden_by_others(struct symbol_table *table)
{
	u64 covered = 0;
	u32 kept = 0;

	for (u32 i = 0; i < table->count; i++) {
		const struct entry *entry = &table->entries[i];

		if (kept && table->entries[kept - 1].start == entry->start)
			continue;
		if (!entry->sized && entry->start < covered)
			continue;
		if (kept && is_label_in_function(table, entry, &table->entries[kept - 1]))
			continue;
		if (entry->sized && entry->end > covered)
			covered = entry->end;
		table->entries[kept++] = *entry;
	}
	table->count = kept;
}

/* Symbols without a size end where the next entry starts. Entries that are only bounds are then
 * removed. */
static void set_ends_of_symbols_without_size(struct symbol_table *table)
{
	u32 kept = 0;

	for (u32 i = 0; i < table->count; i++) {
		struct entry entry = table->entries[i];

		if (!entry.name)
			continue;
		if (!entry.sized && i + 1 < table->count && entry.end > table->entries[i + 1].start)
			entry.end = table->entries[i + 1].start;
		table->entries[kept++] = entry;
	}
	table->count = kept;
}

static void set_enclosing_symbol_of_each(struct symbol_table *table)
{
	for (u32 i = 0; i < table->count; i++) {
		u32 outer = i ? i - 1 : NO_OUTER;

		while (outer != NO_OUTER && table->entries[outer].end <= table->entries[i].start)
			outer = table->entries[outer].outer;
		table->entries[i].outer = outer;
	}
}

/* Gives back the room that growing arrays have beyond their content; if realloc() fails, the room
 * stays. */
static void shrink_arrays(struct symbol_table *table)
{
	struct entry *entries =
		reallocarray(table->entries, table->count + 1UL, sizeof(*table->entries));
	char *names = realloc(table->names, table->name_bytes);

	if (entries) {
		table->entries = entries;
		table->capacity = table->count + 1;
	}
	if (names) {
		table->names = names;
		table->name_capacity = table->name_bytes;
	}
}

void symbol_table_seal(struct symbol_table *table)
{
	if (!table->count)
		return;
	sort_symbols(table);
	drop_symbols_hidden_by_others(table);
	set_ends_of_symbols_without_size(table);
	set_enclosing_symbol_of_each(table);
	shrink_arrays(table);
}

/* Returns the number of symbols with start <= address. */
static u32 count_symbols_starting_up_to(const struct symbol_table *table, u64 address)
{
	return bisect(table->count, i, table->entries[i].start <= address);
}

bool symbol_table_at_index(const struct symbol_table *table, u32 index, struct symbol *symbol)
{
	const struct entry *entry;

	if (index >= table->count)
		return false;
	entry = &table->entries[index];
	*symbol = (struct symbol){
		.start = entry->start,
		.size = entry->end - entry->start,
		.limit = entry->end,
		.rank = entry->rank,
		.name = table->names + entry->name,
		.name_bytes = strlen(table->names + entry->name),
	};
	return true;
}

bool symbol_table_find(const struct symbol_table *table, u64 address, struct symbol *found)
{
	u32 index = count_symbols_starting_up_to(table, address) - 1;

	for (u32 steps = 0; index < table->count && steps < OUTER_STEPS_MAX; steps++) {
		if (address < table->entries[index].end)
			return symbol_table_at_index(table, index, found);
		index = table->entries[index].outer;
	}
	return false;
}

bool symbol_table_is_one_symbol(const struct symbol_table *table, u64 start, u64 end)
{
	u32 count = count_symbols_starting_up_to(table, start);

	return count && table->entries[count - 1].start == start &&
	       table->entries[count - 1].end >= end &&
	       count_symbols_starting_up_to(table, end - 1) == count;
}

bool symbol_table_touches(const struct symbol_table *table, u64 start, u64 end)
{
	struct symbol symbol;

	return count_symbols_starting_up_to(table, end - 1) !=
		       count_symbols_starting_up_to(table, start) ||
	       symbol_table_find(table, start, &symbol);
}
