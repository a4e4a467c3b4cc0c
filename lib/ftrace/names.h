/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Functions for the frames of an imported recording. Kernel functions come from the caller's
 * callback, user functions from files of this machine that have the mapping's build id.
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

/* Writes the symbols after the last event; some frames may stay without a name. 0, or the writer's
 * error. */
int ftrace_names_write(struct trace_writer *writer, const struct ftrace_naming *naming);

#endif
