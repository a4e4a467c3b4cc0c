/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Most of the cost is the list's 100,000 lines, parsed and sorted. */
#include "kernel_symbols.h"

#include <errno.h>
#include <string.h>

#include "symbol/kernel/kallsyms.h"

static struct {
	struct symbol_table *table; /* NULL: none */
	struct kallsyms_lasting lasting;
} kernel;

bool kernel_symbols_last(u64 address)
{
	const struct module_list *ranges = &kernel.lasting.ranges;

	for (u32 i = 0; i < ranges->count; i++)
		if (address >= ranges->modules[i].start && address < ranges->modules[i].end)
			return true;
	return false;
}

static bool all_last(const u64 *addresses, u32 count)
{
	for (u32 i = 0; i < count; i++)
		if (!kernel_symbols_last(addresses[i]))
			return false;
	return true;
}

static bool is_same_module(const struct module *a, const struct module *b)
{
	return a->start == b->start && a->end == b->end && !strcmp(a->name, b->name);
}

static bool has_same_modules(int modules)
{
	const struct module_list *before = &kernel.lasting.ranges;
	struct module_list now = {};
	bool same;

	if (module_list_read_open(modules, &now))
		return false;
	same = now.count + 1 == before->count;
	for (u32 i = 0; i < now.count && same; i++)
		same = is_same_module(&now.modules[i], &before->modules[i]);
	module_list_clear(&now);
	return same;
}

static int read_lasting(const int files[2])
{
	struct kallsyms_lasting lasting;
	struct symbol_table *table;
	int result = symbol_table_create(&table);

	if (result)
		return result;
	result = kallsyms_read_open(files[0], files[1], table, &lasting);
	if (result) {
		symbol_table_free(&table);
		return result;
	}
	symbol_table_free(&kernel.table);
	kallsyms_lasting_clear(&kernel.lasting);
	kernel.table = table;
	kernel.lasting = lasting;
	return 0;
}

static int read_passing(int kallsyms, struct symbol_table **passing)
{
	struct symbol_table *table;
	int result = symbol_table_create(&table);

	if (result)
		return result;
	result = kallsyms_read_passing(kallsyms, &kernel.lasting, table);
	if (result)
		symbol_table_free(&table);
	else
		*passing = table;
	return result;
}

int kernel_symbols_load(const u64 *addresses, u32 count, const int files[2],
			struct symbol_table **kept, struct symbol_table **passing)
{
	bool known = kernel.table && has_same_modules(files[1]);
	int result = known ? 0 : read_lasting(files);

	*passing = NULL;
	if (!result && !all_last(addresses, count))
		result = read_passing(files[0], passing);
	if (result == -ESTALE && known) {
		result = read_lasting(files);
		result = result ?: read_passing(files[0], passing);
	}
	if (result && result != -ESTALE)
		return result;
	*kept = kernel.table;
	return 0;
}
