/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "kernel_symbols.h"

#include <errno.h>
#include <string.h>

#include "symbol/kernel/kallsyms.h"

static struct {
	bool is_read;
	struct kallsyms_static code;
} kernel;

bool kernel_symbols_is_static_code(u64 address)
{
	const struct module_list *ranges = &kernel.code.ranges;

	for (u32 i = 0; i < ranges->count; i++)
		if (address >= ranges->modules[i].start && address < ranges->modules[i].end)
			return true;
	return false;
}

static bool has_same_modules(int modules)
{
	const struct module_list *before = &kernel.code.ranges;
	struct module_list now = {};
	bool same;

	if (module_list_read_open(modules, &now))
		return false;
	same = now.count + 1 == before->count;
	for (u32 i = 0; i < now.count && same; i++) {
		const struct module *a = &now.modules[i], *b = &before->modules[i];

		same = a->start == b->start && a->end == b->end && !strcmp(a->name, b->name);
	}
	module_list_clear(&now);
	return same;
}

static int read_static_symbols(const int files[2], bool is_copy)
{
	struct kallsyms_static code;
	int result = kallsyms_read_static_symbols(files[0], files[1], &code);

	if (result)
		return result;
	kallsyms_static_clear(&kernel.code);
	kernel.code = code;
	kernel.code.is_copy = is_copy;
	kernel.is_read = true;
	return 0;
}

static int read_passing_symbols(int kallsyms, struct symbol_table **passing)
{
	struct symbol_table *table;
	int result = symbol_table_create(&table);

	if (result)
		return result;
	result = kallsyms_read_passing(kallsyms, &kernel.code, table);
	if (result)
		symbol_table_free(&table);
	else
		*passing = table;
	return result;
}

int kernel_symbols_load(const u64 *addresses, u32 count, const int files[4],
			struct symbol_table *table, struct symbol_table **passing)
{
	bool known = (kernel.is_read ||
		      (files[2] >= 0 && files[3] >= 0 && !read_static_symbols(files + 2, true))) &&
		     has_same_modules(files[1]);
	int result = known ? 0 : read_static_symbols(files, false);
	u32 i = 0;

	*passing = NULL;
	while (!result && i < count && kernel_symbols_is_static_code(addresses[i]))
		i++;
	if (!result && i < count)
		result = read_passing_symbols(files[0], passing);
	if (result == -ESTALE && known) {
		result = read_static_symbols(files, false);
		result = result ?: read_passing_symbols(files[0], passing);
	}
	if (result && result != -ESTALE)
		return result;
	return kallsyms_fill_table_for_addresses(&kernel.code, addresses, count, table);
}
