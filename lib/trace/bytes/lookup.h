/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Searches the records of a recording: mappings by number, tasks by thread and time, symbols by
 * frame. The lookup is built once, when all records are read; the arrays must not change any more.
 */
#ifndef LIB_TRACE_LOOKUP_H
#define LIB_TRACE_LOOKUP_H

#include "trace/event.h"

struct lookup {
	const struct trace_mapping *mappings;
	const struct trace_task *tasks;
	const struct trace_symbol *symbols; /* symbols, sorted by mapping and start */
	u32 mapping_count, task_count, symbol_count;
	u32 *mapping_order; /* indexes of mappings, sorted by number */
	u32 *task_order;    /* indexes of tasks, sorted by thread and time */
	/* by symbol: the highest end of this symbol and all symbols of the mapping before it */
	u64 *symbol_reach;
};

/* Builds the lookup, and sorts `symbols` in place. -ENOMEM. */
int lookup_build(struct lookup *lookup, const struct trace_mapping *mappings, u32 mapping_count,
		 const struct trace_task *tasks, u32 task_count, struct trace_symbol *symbols,
		 u32 symbol_count);
void lookup_free(struct lookup *lookup);

/* Returns the last record in the file for the number, the thread and time, or the address; NULL if
 * there is no record. */
const struct trace_mapping *lookup_mapping(const struct lookup *lookup, u32 number);
const struct trace_task *lookup_task(const struct lookup *lookup, u32 tid, u64 time);
const struct trace_symbol *lookup_symbol(const struct lookup *lookup, u32 mapping, u64 address);

#endif
