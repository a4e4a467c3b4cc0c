/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Binary searches. Symbols may overlap (aliases, nested code), so the search goes back from the
 * last symbol that starts at or before the address, as long as an earlier symbol can reach the
 * address; the innermost symbol that covers the address wins. A symbol with a name is preferred to
 * a symbol without a name: a merged recording may have symbols of a file and of its stripped copy.
 */
#include "trace/bytes/lookup.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "order.h"

static u32 *make_index_order(u32 count)
{
	u32 *order = calloc((size_t)count + 1, sizeof(*order));

	for (u32 i = 0; order && i < count; i++)
		order[i] = i;
	return order;
}

static int compare_mappings_by_number(const void *a, const void *b, void *mappings)
{
	const struct trace_mapping *mapping = mappings;
	u32 x = *(const u32 *)a, y = *(const u32 *)b;

	return order(mapping[x].number, mapping[y].number) ?: order(x, y);
}

static int compare_tasks_by_thread_and_time(const void *a, const void *b, void *tasks)
{
	const struct trace_task *task = tasks;
	u32 x = *(const u32 *)a, y = *(const u32 *)b;

	return order(task[x].tid, task[y].tid) ?: order(task[x].time, task[y].time) ?: order(x, y);
}

static int compare_symbols_by_address(const void *a, const void *b)
{
	const struct trace_symbol *x = a, *y = b;

	return order(x->mapping, y->mapping) ?: order(x->start, y->start) ?:
	       order(y->size, x->size) ?: strcmp(x->name, y->name);
}

static u64 symbol_end(const struct trace_symbol *symbol)
{
	return symbol->size > UINT64_MAX - symbol->start ? UINT64_MAX
							 : symbol->start + symbol->size;
}

int lookup_build(struct lookup *lookup, const struct trace_mapping *mappings, u32 mapping_count,
		 const struct trace_task *tasks, u32 task_count, struct trace_symbol *symbols,
		 u32 symbol_count)
{
	struct lookup built = {
		.mappings = mappings,
		.tasks = tasks,
		.symbols = symbols,
		.mapping_count = mapping_count,
		.task_count = task_count,
		.symbol_count = symbol_count,
		.mapping_order = make_index_order(mapping_count),
		.task_order = make_index_order(task_count),
		.symbol_reach = calloc((size_t)symbol_count + 1, sizeof(*built.symbol_reach)),
	};
	u64 *reach = built.symbol_reach;

	if (symbol_count)
		qsort(symbols, symbol_count, sizeof(*symbols), compare_symbols_by_address);
	for (u32 i = 0; reach && i < symbol_count; i++) {
		reach[i] = symbol_end(&symbols[i]);
		if (i && symbols[i - 1].mapping == symbols[i].mapping && reach[i - 1] > reach[i])
			reach[i] = reach[i - 1];
	}
	if (!built.mapping_order || !built.task_order || !built.symbol_reach) {
		lookup_free(&built);
		return -ENOMEM;
	}
	if (built.mapping_count)
		qsort_r(built.mapping_order, built.mapping_count, sizeof(u32),
			compare_mappings_by_number, (void *)built.mappings);
	if (built.task_count)
		qsort_r(built.task_order, built.task_count, sizeof(u32),
			compare_tasks_by_thread_and_time, (void *)built.tasks);
	*lookup = built;
	return 0;
}

void lookup_free(struct lookup *lookup)
{
	free(lookup->mapping_order);
	free(lookup->task_order);
	free(lookup->symbol_reach);
	memset(lookup, 0, sizeof(*lookup));
}

const struct trace_mapping *lookup_mapping(const struct lookup *lookup, u32 number)
{
	const u32 *order = lookup->mapping_order;
	u32 low = bisect(lookup->mapping_count, i, lookup->mappings[order[i]].number <= number);
	const struct trace_mapping *last = low ? &lookup->mappings[order[low - 1]] : NULL;
	return last && last->number == number ? last : NULL;
}

const struct trace_task *lookup_task(const struct lookup *lookup, u32 tid, u64 time)
{
	const u32 *order = lookup->task_order;
	u32 low = bisect(lookup->task_count, i,
			 ((&lookup->tasks[order[i]])->tid < tid ||
			  ((&lookup->tasks[order[i]])->tid == tid &&
			   (&lookup->tasks[order[i]])->time <= time)));
	const struct trace_task *last = low ? &lookup->tasks[order[low - 1]] : NULL;
	return last && last->tid == tid ? last : NULL;
}

const struct trace_symbol *lookup_symbol(const struct lookup *lookup, u32 mapping, u64 address)
{
	const struct trace_symbol *symbols = lookup->symbols, *nameless = NULL;
	/* The number of symbols of lower mappings, and of symbols that start at or before the
	 * address. */
	u32 i = bisect(lookup->symbol_count, at,
		       symbols[at].mapping < mapping ||
			       (symbols[at].mapping == mapping && symbols[at].start <= address));

	while (i--) {
		const struct trace_symbol *symbol = &symbols[i];

		if (symbol->mapping != mapping || lookup->symbol_reach[i] <= address)
			return nameless;
		if (symbol_end(symbol) <= address)
			continue;
		if (symbol->name[0])
			return symbol;
		nameless = nameless ?: symbol;
	}
	return nameless;
}
