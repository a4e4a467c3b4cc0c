/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Functions for the frames of an imported recording. The kernel's come from where the caller says,
 * those of user code from the files here that have the build id of the mapping: of others nothing
 * is taken.
 */
#ifndef LIB_FTRACE_NAMES_H
#define LIB_FTRACE_NAMES_H

#include <stdbool.h>

#include "format/mappings_reader.h"
#include "symbol/symbolizer/symbol_lookup.h"
#include "symbol/table/symbol_table.h"
#include "trace/write/writer.h"

struct ftrace_naming {
	void *arg;
	bool (*kernel)(void *arg, u64 address, struct symbol *symbol);
	const struct mappings *mappings; /* or NULL */
	struct symbol_lookup *lookup;
};

/* Behind the last event. What cannot be named has no name: 0, or the writer's error. */
int ftrace_names_write(struct trace_writer *writer, const struct ftrace_naming *naming);

#endif
