/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Sums over the per-CPU counters of a stack map's generation. */
#ifndef BPF_TABLE_LINES_H
#define BPF_TABLE_LINES_H

#include "stack_map.h"
#include "state/instance.h"

struct line_sums {
	void *table;
	u64 inserts;
	u64 drops;
};

static long line_add(u32 i, struct line_sums *sums)
{
	const struct table_cpu *line;
	u32 cause;

	if (i >= geometry.cpus)
		return 1;
	line = table_line(sums->table, &geometry, i);
	sums->inserts += line->inserts;
	for (cause = 0; cause < TABLE_DROP_COUNT; cause++)
		sums->drops += line->drops[cause];
	return 0;
}

static __always_inline struct line_sums table_sums(void *table)
{
	struct line_sums sums = {.table = table};

	bpf_loop(CONFIG_CPUS_MAX + 1, line_add, &sums, 0);
	return sums;
}

static __always_inline u64 table_inserts(void *table)
{
	return table_sums(table).inserts;
}

#endif
