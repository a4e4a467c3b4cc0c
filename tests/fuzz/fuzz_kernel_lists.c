/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * libFuzzer target of the readers of the kernel's lists (/proc/modules, then behind a NUL
 * /proc/kallsyms), of kernel notes, and of perf maps. Any bytes give a valid table of names.
 */
#include <stdlib.h>
#include <string.h>

#include "fuzz_generated_code.h"
#include "symbol/elf/file_identity.h"
#include "symbol/jit/perf_map.h"
#include "symbol/kernel/kallsyms.h"
#include "trace/event.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t bytes);

static void look_at_modules(const struct module_list *list)
{
	for (u32 i = 0; i < list->count; i++) {
		const struct module *module = &list->modules[i];

		demand(strlen(module->name) < sizeof(module->name));
		demand(module->start <= module->end);
		demand(!i || module[-1].start <= module->start);
		demand(!i || module[-1].end <= module->start || module[-1].start == module[-1].end);
		demand(module_list_find(list, module->name, strlen(module->name)));
	}
}

static void read_kallsyms(const char *modules, size_t module_bytes, const char *text, size_t bytes)
{
	struct symbol_table *table = table_create();
	struct module_list list = {};

	demand(!module_list_parse(modules, module_bytes, &list));
	look_at_modules(&list);
	demand(!kallsyms_parse(text, bytes, &list, table));
	table_check(table);
	symbol_table_free(&table);
	module_list_clear(&list);
}

static void read_perf_map(const char *text, size_t bytes, u64 base, u64 range_bytes)
{
	struct generated_code code = {};

	demand(!perf_map_parse(text, bytes, &code));
	generated_code_check(&code, base, range_bytes);
	generated_code_clear(&code);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t bytes)
{
	const u8 *end = data + bytes, *middle = bytes ? memchr(data, 0, bytes) : NULL;
	const u8 *second = middle ? middle + 1 : end;
	u8 build_id[TRACE_BUILD_ID_MAX];
	int id_bytes = build_id_from_notes(data, bytes, build_id);

	demand(id_bytes >= 0 && id_bytes <= TRACE_BUILD_ID_MAX);
	read_kallsyms((const char *)data, (middle ? middle : end) - data, (const char *)second,
		      end - second);
	read_perf_map((const char *)data, bytes, 0, UINT64_MAX);
	read_perf_map((const char *)data, bytes, 0x7f0000000000, 1ULL << 40);
	return 0;
}
