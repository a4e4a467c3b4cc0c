/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Sorting by address makes the differences between symbols small, and drops repetitions by
 * comparing neighbours; of those, one with a name comes first. */
#include "trace/write/symbol_list.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "order.h"

struct symbol_entry {
	u64 start;
	u64 size;
	u64 address;
	size_t name; /* offset in names */
	u32 mapping;
	bool is_named;
};

int symbol_list_add(struct symbol_list *list, const struct trace_symbol *symbol)
{
	struct symbol_entry entry = {
		.start = symbol->start,
		.size = symbol->size,
		.address = symbol->address,
		.name = list->names.used,
		.mapping = symbol->mapping,
		.is_named = *symbol->name,
	};

	if (array_make_room(list->entries, list->count, list->room))
		return -ENOMEM;
	byte_buffer_string(&list->names, symbol->name);
	if (list->names.failed)
		return -ENOMEM;
	list->entries[list->count++] = entry;
	return 0;
}

static int by_address(const void *a, const void *b)
{
	const struct symbol_entry *x = a, *y = b;

	return order(x->mapping, y->mapping)
		       ?: order(x->start, y->start)
		       ?: order(y->is_named, x->is_named) ?: order(x->name, y->name);
}

static bool is_repetition(const struct symbol_list *list, u32 i)
{
	const struct symbol_entry *entry = &list->entries[i];

	return i && entry[-1].mapping == entry->mapping && entry[-1].start == entry->start;
}

int symbol_list_each(struct symbol_list *list,
		     int (*each)(void *arg, const struct trace_symbol *symbol), void *arg)
{
	int result = 0;

	if (!list->count)
		return 0;
	qsort(list->entries, list->count, sizeof(*list->entries), by_address);
	for (u32 i = 0; i < list->count && !result; i++) {
		struct trace_symbol symbol = {
			.mapping = list->entries[i].mapping,
			.start = list->entries[i].start,
			.size = list->entries[i].size,
			.address = list->entries[i].address,
			.name = (const char *)list->names.data + list->entries[i].name,
		};

		if (!is_repetition(list, i))
			result = each(arg, &symbol);
	}
	return result;
}

void symbol_list_clear(struct symbol_list *list)
{
	list->count = 0;
	byte_buffer_clear(&list->names);
}

void symbol_list_free(struct symbol_list *list)
{
	free(list->entries);
	byte_buffer_free(&list->names);
	memset(list, 0, sizeof(*list));
}
