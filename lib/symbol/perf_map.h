/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Names that a runtime gives to the code it generates: /tmp/perf-PID.map, lines "START SIZE NAME"
 * in hexadecimal, with or without 0x; the name is the rest of the line.
 *
 * The runtime appends, and uses memory again: an entry that a later one overlaps, even in part, was
 * overwritten and names nothing any more.
 */
#ifndef LIB_SYMBOL_PERF_MAP_H
#define LIB_SYMBOL_PERF_MAP_H

#include <stddef.h>

#include "symbol_table.h"

#define PERF_MAP_ENTRIES_MAX (1U << 20) /* of a longer map the last ones count */

/* Any bytes may be given; lines that make no sense are left out. Fills and seals a table with what
 * lies in [base, base + bytes), as distances from base. 0, -ENOMEM or -E2BIG. */
struct perf_map_range {
	u64 base;
	u64 bytes;
};
int perf_map_parse(const char *text, size_t text_bytes, const struct perf_map_range *range,
		   struct symbol_table *table);

/* The same of an open file, from its beginning. */
int perf_map_read_open(int fd, const struct perf_map_range *range, struct symbol_table *table);

#endif
